"""What a leaf loses, made ready for the searches: whole numbers a row, and the unit they are in."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.optimal.losses import Impurity, LabelCosts, ManyErrors, SquaresLost, TwoErrors
from dtnumba.growth.targets.fixed_point import moments_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.weights import Weights

_NARROW = 1 << 31  # sums below this are added up sixteen at a time
_WIDE = 58  # bits of any sum
_FINE = 45  # bits of the loss of all rows, where it is no whole number
_MOST_PARTS = 1 << 14


class Objective(NamedTuple):
    """A loss for the searches."""

    loss: Any
    values: NDArray[np.int64]  # (rows, sums): what each row adds
    unit: float  # of one loss
    worst: NDArray[np.int64]  # of each row, what it can lose at most; empty where nobody can say
    labels: NDArray[np.int64] | None  # of each row, where rows of different classes must stay apart
    price: int  # of a test, in units


def class_objective(
    codes: NDArray[np.int64], n_classes: int, weights: Weights, name: str, costs: NDArray[Any] | None, price: Any
) -> Objective:
    """Return the loss of classes; ``price(root)`` is what a test costs where a tree of one leaf loses ``root``."""
    counts = weights.integers[weights.kept].astype(np.int64)
    values = np.zeros((len(counts), max(n_classes, 2)), np.int64)
    values[np.arange(len(counts)), codes] = counts
    total = int(counts.sum())
    if name in {"gini", "entropy"}:
        return _of_impurity(values, weights, name, price)
    if costs is None and total < _NARROW:
        root = total - int(values.sum(axis=0).max())
        wanted = price(root * weights.unit)
        parts = _parts(wanted / weights.unit, total)
        unit, values, worst = weights.unit / parts, values * parts, counts * parts
        loss, labels = (TwoErrors(unit), None) if n_classes <= 2 else (ManyErrors(unit), codes)
        return Objective(loss, values, unit, worst, labels, round(wanted / unit))
    costs = 1.0 - np.eye(values.shape[1]) if costs is None else costs
    return _of_costs(costs[codes], counts * weights.unit, price)


def _of_costs(costs: NDArray[Any], weight: NDArray[Any], price: Any) -> Objective:
    """Return the loss of rows that cost so much under each label."""
    weighed = costs * weight[:, None]
    if weighed.shape[1] == 1:
        weighed = np.repeat(weighed, 2, axis=1)
    most = math.fsum(weighed.max(axis=1))
    unit = 1.0 if _are_whole(weighed, most) else 2.0 ** (math.frexp(most)[1] - _WIDE)
    values = np.rint(weighed / unit).astype(np.int64)
    root = int(values.sum(axis=0).min()) * unit
    wanted = price(root)
    if unit == 1.0:
        parts = _parts(wanted, int(values.max(axis=1).sum()))
        values, unit = values * parts, 1.0 / parts
    worst = values.max(axis=1)
    is_narrow = values.shape[1] == 2 and int(worst.sum()) < _NARROW
    loss = TwoErrors(unit) if is_narrow else LabelCosts(unit)
    return Objective(loss, values, unit, worst, None, round(wanted / unit))


def _are_whole(values: NDArray[np.float64], most: float) -> bool:
    return most < _NARROW and bool((values == np.floor(values)).all())


def _parts(price: float, total: int) -> int:
    """Return into how many parts a row's weight is divided, so that the price of a test is a whole number of them."""
    if price == 0.0:
        return 1
    most = max(1, (_NARROW - 1) // max(total, 1))
    exact = Fraction(price).limit_denominator(max(1, min(most, _MOST_PARTS)))
    if abs(float(exact) - price) <= 1e-12 * price:
        return exact.denominator
    return 1 << (most.bit_length() - 1)


def _of_impurity(values: NDArray[np.int64], weights: Weights, name: str, price: Any) -> Objective:
    whole = Impurity(int(name == "entropy"), 1.0, weights.unit * 2.0**20)
    root = int(whole.leaf(values.sum(axis=0))) * 2.0**-20
    unit = max(root, weights.unit) * 2.0**-_FINE
    loss = Impurity(int(name == "entropy"), unit, weights.unit)
    return Objective(loss, values, unit, np.zeros(0, np.int64), None, round(price(root) / unit))


def number_objective(y: NDArray[np.float64], weights: Weights, price: Any) -> Objective:
    """Return the squares about the means; see ``class_objective``."""
    found = moments_of(y[:, None], weights, 2, centred=True)
    values = np.column_stack([weights.integers, found.moments])[weights.kept].astype(np.int64)
    units = [float(one) for one in found.units]
    sums = [float(one) for one in values.sum(axis=0)]
    root = max(sums[2] * units[1] - (sums[1] * units[0]) ** 2 / (sums[0] * weights.unit), 0.0)
    unit = max(root, np.finfo(float).tiny * 2.0 ** (_FINE + 1)) * 2.0**-_FINE
    loss = SquaresLost(unit, weights.unit, units[0], units[1])
    return Objective(loss, values, unit, np.zeros(0, np.int64), None, round(price(root) / unit))
