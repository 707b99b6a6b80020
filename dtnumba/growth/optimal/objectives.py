"""What a leaf loses, made ready for the searches: whole numbers a row, and the unit they are in."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.optimal.columns import rows_alike
from dtnumba.growth.optimal.losses.absolute import AbsoluteLost
from dtnumba.growth.optimal.losses.labels import LabelCosts, ManyErrors, TwoErrors
from dtnumba.growth.optimal.losses.message import MessageLength
from dtnumba.growth.optimal.losses.spreads import (
    EntropyLost,
    ManyGini,
    SquaresLost,
    TwoGini,
    WideGini,
    least_squares,
)
from dtnumba.growth.targets.fixed_point import moments_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.optimal.columns import OrderedColumn
    from dtnumba.tables.weights import Weights

_NARROW = 1 << 31  # sums below this are added up in 32 bits
_TABLED = 1 << 20  # up to which sums of whole numbers are looked up
_WIDE = 58  # bits of any sum
_FINE = 45  # bits of the loss of all rows, where it is no whole number
_MOST_PARTS = 1 << 14
_SPARE = 8  # units that rounding may take of a tree
_LEAST_SPREAD = 1e-140  # of targets, whose squares can still be told apart


class Objective(NamedTuple):
    """A loss for the searches."""

    loss: Any
    values: NDArray[np.int64]  # (rows, sums): what each row adds
    unit: float  # of one loss
    worst: NDArray[np.int64]  # of each row, what it can lose at most; empty where nobody can say
    labels: NDArray[np.int64] | None  # of each row, where rows of different classes or targets must stay apart
    price: int  # of a test, in units, or of the cheapest one
    root: int  # what all rows lose as one leaf, in units
    is_sum: bool = True  # whether sums say what rows lose, and all tests cost alike


def lost_alike(columns: NDArray[Any], values: NDArray[np.int64], loss: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return one row of each kind that no column (columns, rows) parts, and what its rows lose at least in any tree."""
    first, kind = rows_alike(np.ascontiguousarray(columns.T))
    sums = np.zeros((len(first), values.shape[1]), np.int64)
    np.add.at(sums, kind, values)
    if isinstance(loss, SquaresLost):
        return first, least_squares(loss, sums)
    loses = np.zeros(len(first), np.int64)
    mixed = sums.min(axis=1) > 0 if isinstance(loss, LabelCosts) else np.count_nonzero(sums, axis=1) > 1
    for k in np.flatnonzero(mixed):
        loses[k] = type(loss).leaf(loss, sums[k])
    return first, loses


def class_objective(
    codes: NDArray[np.int64], n_classes: int, weights: Weights, name: str, costs: NDArray[Any] | None, price: Any
) -> Objective:
    """Return the loss of classes; ``price(root)`` is what a test costs where a tree of one leaf loses ``root``."""
    counts = weights.integers[weights.kept].astype(np.int64)
    values = _by_class(codes, counts, max(n_classes, 2))
    total = int(counts.sum())
    if name in {"gini", "entropy"}:
        return _of_impurity(values, weights, codes, name, price)
    if costs is not None:
        return _of_costs(costs[codes], counts * weights.unit, price)
    root = total - int(values.sum(axis=0).max())
    wanted = price(root * weights.unit)
    parts = _parts(wanted / weights.unit, total)
    unit, values, worst = weights.unit / parts, values * parts, counts * parts
    loss, labels = (TwoErrors(unit), None) if n_classes <= 2 else (ManyErrors(unit), codes)
    return Objective(loss, values, unit, worst, labels, _in_units(wanted, unit, root * parts), root * parts)


def _in_units(price: float, unit: float, root: int) -> int:
    """Return the price of a test; one above what a leaf loses is as good as the least of these, and fits its type."""
    return round(min(float(price) / float(unit), root + 1))


def _by_class(codes: NDArray[np.int64], counts: NDArray[np.int64], n_sums: int) -> NDArray[np.int64]:
    values = np.zeros((len(counts), n_sums), np.int64)
    values[np.arange(len(counts)), codes] = counts
    return values


def _of_costs(costs: NDArray[Any], weight: NDArray[Any], price: Any) -> Objective:
    """Return the loss of rows that cost so much under each label."""
    weighed = costs * weight[:, None]
    if weighed.shape[1] == 1:
        weighed = np.repeat(weighed, 2, axis=1)
    most = math.fsum(weighed.max(axis=1))
    unit = 1.0 if _are_whole(weighed, most) else 2.0 ** (math.frexp(most)[1] - _WIDE)
    values = np.rint(weighed / unit).astype(np.int64)
    root = int(values.sum(axis=0).min())
    wanted = price(root * unit)
    parts = 1
    if unit == 1.0:
        parts = _parts(wanted, int(values.max(axis=1).sum()))
        values, unit = values * parts, 1.0 / parts
    worst = values.max(axis=1)
    loss = TwoErrors(unit) if values.shape[1] == 2 else LabelCosts(unit)
    return Objective(loss, values, unit, worst, None, _in_units(wanted, unit, root * parts), root * parts)


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


def _of_impurity(
    values: NDArray[np.int64], weights: Weights, codes: NDArray[np.int64], name: str, price: Any
) -> Objective:
    sums = [int(x) for x in values.sum(axis=0)]
    total, counts = sum(sums), values.sum(axis=1)
    share = np.array([x / total for x in sums if x])
    root = float(1.0 - share @ share if name == "gini" else -(share @ np.log2(share))) * total * weights.unit
    unit = max(root, weights.unit) * 2.0**-_FINE
    weighed = counts * weights.unit
    labels: NDArray[np.int64] | None = codes
    loss: Any
    if name == "entropy":
        is_small = weights.unit == 1.0 and total <= _TABLED
        table = np.zeros(0, np.int64)
        if is_small:
            unit = _bit_unit(total)
            x = np.arange(total + 1)
            table = np.rint(x * np.log2(np.maximum(x, 1)) / unit).astype(np.int64)
        loss = EntropyLost(unit, weights.unit, table, table, values.shape[1])
        # A row of a class that a leaf has not yet costs most.
        most = weighed * (np.log2((total * weights.unit + weighed) / weighed) + math.log2(math.e))
    else:
        most = 2.0 * weighed
        loss = TwoGini(unit, weights.unit)
        if values.shape[1] == 2:
            labels = None
        else:
            loss = (ManyGini if total < _NARROW else WideGini)(unit, weights.unit)
    found = int(type(loss).leaf(loss, values.sum(axis=0)))
    return Objective(loss, values, unit, _at_most(most, unit), labels, _in_units(price(root), unit, found), found)


def _at_most(most: NDArray[np.float64], unit: float) -> NDArray[np.int64]:
    """Return what rows can lose at most, in units; nothing where that would be too much to add up."""
    if most.sum() / unit >= 2.0**_WIDE:
        return np.zeros(0, np.int64)
    return np.ceil(most / unit * (1.0 + 2.0**-20)).astype(np.int64) + _SPARE


def _bit_unit(total: int) -> float:
    """Return so small a part of a bit that the bits of so many labels are a whole number that fits."""
    most = total * math.log2(max(total, 2)) + 64.0
    return 2.0 ** -min(40, _WIDE - 1 - math.frexp(most)[1])


def message_objective(
    codes: NDArray[np.int64],
    n_classes: int,
    weights: Weights,
    columns: list[OrderedColumn],
    n_features: int,
    depth: int,
) -> Objective:
    """Return the bits of trees and labels, of trees over these columns of a table of so many features."""
    counts = weights.integers[weights.kept].astype(np.int64)
    total = int(counts.sum())
    is_small = weights.unit == 1.0 and total <= _TABLED
    unit = _bit_unit(math.ceil(total * weights.unit) + 1)
    of_class = of_size = np.zeros(0, np.int64)
    if is_small:
        x = np.arange(total + 1)
        of_class = np.cumsum(np.rint(np.log2(np.maximum(x, 1)) / unit).astype(np.int64))
    if is_small and n_classes <= 2:
        naming = 1.0 if n_classes < 2 else 2.0 + np.log2((x + 1) // 2 + 1)
        of_size = of_class + np.rint(np.broadcast_to(naming / unit, len(x))).astype(np.int64)
    cuts, levels = _offered(columns)
    left = np.maximum(n_features - np.arange(depth + 1), 1)[:, None]
    bits = 1.0 + np.log2(left) + np.where(levels > 0, 0.0, np.log2(cuts))
    prices = np.rint(bits / unit).astype(np.int64)
    is_single = ((cuts == 1) & (levels == 0)).astype(np.int64)
    loss = MessageLength(unit, weights.unit, of_size, of_class, n_classes, prices, levels, is_single)
    values = np.column_stack([_by_class(codes, counts, max(n_classes, 2)), np.ones(len(codes), np.int64)])
    root = int(type(loss).leaf(loss, values.sum(axis=0)))
    cheapest = int(prices.min()) if prices.size else 0
    return Objective(loss, values, unit, np.zeros(0, np.int64), codes, cheapest, root, is_sum=False)


def _offered(columns: list[OrderedColumn]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return of each column how many cuts its feature offers, and how many levels it has, missing values among them."""
    cuts: dict[int, int] = {}
    for column in columns:
        cuts[column.feature] = max(cuts.get(column.feature, 1), column.last_code)
    levels = [len(np.unique(column.level)) if column.n_levels else 0 for column in columns]
    return np.array([cuts[column.feature] for column in columns], np.int64), np.array(levels, np.int64)


def priced(goal: Objective, columns: list[OrderedColumn]) -> Objective:
    """Return an objective that knows prices of all columns: appended ones cost what others of their feature cost."""
    loss = goal.loss
    if not isinstance(loss, MessageLength) or len(loss.levels) == len(columns):
        return goal
    first = {column.feature: k for k, column in reversed(list(enumerate(columns)))}
    like = [k if k < len(loss.levels) else first[column.feature] for k, column in enumerate(columns)]
    priced_loss = loss._replace(price=loss.price[:, like], levels=loss.levels[like], is_single=loss.is_single[like])
    return goal._replace(loss=priced_loss)


def number_objective(y: NDArray[np.float64], weights: Weights, name: str, price: Any) -> Objective:
    """Return the squares about the means, or the distances from the medians; see ``class_objective``."""
    kept = y[weights.kept]
    counts = weights.integers[weights.kept].astype(np.int64)
    if name == "absolute_error":
        return _of_distances(kept, counts, weights, price)
    spread = float(kept.max() / 2 - kept.min() / 2) * 2
    if 0.0 < spread < _LEAST_SPREAD:
        raise ValueError(
            f"y: its values differ by {spread:.3g} at most, too little for squares in float64, which hold differences "
            f"from {_LEAST_SPREAD:g} on; multiply y by a large number, or pass objective='absolute_error'"
        )
    mean = math.fsum(kept * (counts / int(counts.sum())))
    is_far = not np.isfinite(kept - mean).all()
    moments = moments_of((y if is_far else y - mean)[:, None], weights, 2, centred=is_far)
    values = np.column_stack([weights.integers, moments.moments])[weights.kept].astype(np.int64)
    units = [float(one) for one in moments.units]
    sums = values.sum(axis=0)
    root = max(float(sums[2]) * units[1] - (float(sums[1]) * units[0]) ** 2 / (float(sums[0]) * weights.unit), 0.0)
    unit = max(root, np.finfo(float).tiny * 2.0 ** (_FINE + 1)) * 2.0**-_FINE
    loss = SquaresLost(unit, weights.unit, units[0], units[1])
    farthest = np.maximum(kept - kept.min(), kept.max() - kept)
    worst = _at_most(farthest**2 * (counts * weights.unit), unit)
    found = int(type(loss).leaf(loss, sums))
    return Objective(loss, values, unit, worst, None, _in_units(price(root), unit, found), found)


def _of_distances(y: NDArray[np.float64], counts: NDArray[np.int64], weights: Weights, price: Any) -> Objective:
    total, share = int(counts.sum()), weights.unit
    if total >= _NARROW:  # no whole numbers: half of the digits to weights, half to targets
        share = total * weights.unit / (_NARROW - 1)
        counts = np.maximum(np.rint(counts * (weights.unit / share)), 1.0).astype(np.int64)
        total = int(counts.sum())
    low, high = float(y.min()), float(y.max())
    distance = y - (low / 2 + high / 2)
    unit = 2.0 ** (math.frexp(max(float(np.abs(distance).max()), 1e-300))[1] - (_WIDE - total.bit_length()))
    target, labels = np.unique(np.rint(distance / unit).astype(np.int64), return_inverse=True)
    values = np.zeros((len(y), 3), np.int64)
    values[:, 0] = counts
    loss = AbsoluteLost(unit * share, target)
    exact = target[labels]
    order = np.argsort(exact, kind="stable")
    middle = exact[order[np.searchsorted(2 * np.cumsum(counts[order]), total)]]
    root = int((counts * np.abs(exact - middle)).sum())
    worst = counts * np.maximum(exact - target[0], target[-1] - exact)
    wanted = _in_units(price(root * loss.unit), loss.unit, root)
    return Objective(loss, values, loss.unit, worst, labels.ravel().astype(np.int64), wanted, root, is_sum=False)
