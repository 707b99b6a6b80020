"""Choose the target kind that growth sums up, in exact integers, from the labels or numbers, weights and criterion."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.criteria.regression import Poisson
from dtnumba.growth.targets.counted_classes import FEW_CLASSES, CountedTwoClasses, few_classes
from dtnumba.growth.targets.many_classes import Classes, ManyClasses
from dtnumba.growth.targets.ranked import Ranked
from dtnumba.growth.targets.regression import CountedNumber, Number, Numbers
from dtnumba.growth.targets.two_classes import TwoClasses, WeightedTwoClasses
from dtnumba.tables.labels import Labels, row_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.labels import Values
    from dtnumba.tables.weights import Weights


def target_of(outcome: Labels | Values, weights: Weights, criterion: Any, counts: Any = None, most: int = 0) -> Any:
    """Return the target kind of class labels or numbers for a criterion.

    ``counts`` is the type of the counts that a tree of a forest will bring, and ``most`` what they sum to at most.
    """
    if isinstance(outcome, Labels):
        return _class_target(outcome, weights, counts, most)
    return _number_target(outcome.y, weights, criterion, counts, most)


def _class_target(labels: Labels, weights: Weights, counts: Any, most: int) -> Any:
    sizes = labels.sizes
    offsets = np.array([0, *itertools.accumulate(sizes)], np.int64)
    unit, n_stats = weights.unit, int(offsets[-1])
    if counts is None:
        is_unread = weights.are_one and n_stats <= 2 and len(sizes) == 1
        integers = np.empty(0, np.int64) if is_unread else weights.integers
    else:
        integers = np.ones(1, counts)  # never read: its type is
    if len(sizes) > 1:
        return ManyClasses(labels.codes.astype(np.int32, copy=False), offsets, integers, unit, n_stats, sizes[0])
    codes = labels.codes[:, 0]
    if 2 < n_stats <= FEW_CLASSES and counts is not None and unit == 1.0 and most < 1 << 31:
        return few_classes(codes, offsets, integers)
    if n_stats > 2:
        return Classes(codes.astype(np.int32, copy=False), offsets, integers, unit, n_stats, n_stats)
    if counts is not None and unit == 1.0 and most < 1 << 31:
        return CountedTwoClasses(codes.astype(counts, copy=False), offsets, 1.0, 1, 1, 2)
    kind = TwoClasses if weights.are_one and counts is None else WeightedTwoClasses
    return kind(codes, offsets, integers, unit, 2, 2)


class Moments(NamedTuple):
    """Weighted powers of the targets as integers that add up exactly, and what rounding them took off."""

    moments: NDArray[np.int64]  # (n, n_outputs * n_moments)
    units: NDArray[np.float64]  # of each column
    centres: NDArray[np.float64]  # (n_outputs,) what powers are measured from
    centred: NDArray[np.float64]  # (n, n_outputs)
    rounded_off: NDArray[np.float64]  # (n, n_outputs) of the first power
    multiplier: NDArray[np.int64] | None  # how often each row counts; None: once each
    most: int  # what the rows count together at most


def moments_of(y: NDArray[np.float64], weights: Weights, n_moments: int, *, centred: bool, most: int = 0) -> Moments:
    """Return the weighted targets, and with two moments their squares beside them, as exact integers."""
    centres = _centres(y[weights.kept]) if centred else np.zeros(y.shape[1])
    distance = y - centres
    if len(weights.kept) < len(y):
        distance[weights.integers == 0] = 0.0  # may be huge, and would make the unit of all others coarse
    weighted, multiplier = distance, None if weights.are_one else weights.integers
    if weights.unit != 1.0:
        weighted = distance * (weights.integers * weights.unit)[:, None]
        multiplier = (weights.integers > 0).astype(np.int64)
    most, rounded_off = max(most, len(y) if multiplier is None else int(multiplier.sum())), np.empty(y.shape)
    moments, units = _fixed(weighted, multiplier, most, rounded_off)
    if n_moments == 2:
        squares, square_units = _fixed(weighted * distance, multiplier, most)
        moments = np.stack([moments, squares], axis=2).reshape(len(y), -1)
        units = np.stack([units, square_units], axis=1).ravel()
    return Moments(moments, units, centres, distance, rounded_off, multiplier, most)


def _number_target(y: NDArray[np.float64], weights: Weights, criterion: Any, counts: Any, most: int) -> Any:
    if isinstance(criterion, Poisson):
        _check_counts(y[weights.kept])
    kind, n_outputs = type(criterion), y.shape[1]
    own_weights = weights.integers if counts is None else np.ones(1, counts)
    if getattr(kind, "target", "numbers") == "ranks":
        found = moments_of(y, weights, 1, centred=True, most=most)
        return Ranked(
            moments=found.moments,
            units=found.units,
            centred=found.centred,
            rank=np.zeros(y.shape, np.int64),
            merged=np.zeros(len(y), np.int64),
            by_rank=np.zeros(y.shape),
            weights=own_weights,
            unit=weights.unit,
            y=y,
            n_stats=1,
            n_weights=0,
        )
    n_moments = getattr(kind, "moments", 1)
    found = moments_of(y, weights, n_moments, centred=getattr(kind, "centred", False), most=most)
    found = found._replace(centred=np.empty((0, 0)))  # 8 bytes a row and output that nobody reads below
    residuals, residual_units = _fixed(found.rounded_off, found.multiplier, found.most)
    make: Any = Numbers
    if n_outputs == n_moments == 1 and weights.are_one:
        make = Number if counts is None else CountedNumber
    return make(
        moments=found.moments,
        units=found.units,
        n_moments=n_moments,
        residuals=residuals,
        residual_units=residual_units,
        offsets=found.centres,
        moment_unit=float(found.units[0]),
        weights=own_weights,
        unit=weights.unit,
        y=y,
        n_stats=1 + n_outputs * n_moments,
        n_weights=1,
    )


def counted_once(target: Any) -> Any:
    """Return the same target with rows that count once, where that is another kind; for histograms of a forest."""
    if isinstance(target, TwoClasses):
        return CountedTwoClasses(target.label | np.uint8(2), target.offsets, 1.0, 1, 1, 2)
    if isinstance(target, Number):
        return CountedNumber(*target._replace(weights=np.ones(len(target.moments), np.uint8)))
    if isinstance(target, Classes) and target.n_stats <= FEW_CLASSES and target.unit == 1.0:
        weights = target.weights
        if weights.sum() < 1 << 31:
            largest = int(weights.max(initial=0))
            narrow = weights.astype(np.uint8 if largest < 1 << 8 else np.int64)
            return few_classes(target.label.astype(np.uint8), target.offsets, narrow)
    return target


def _check_counts(y: NDArray[np.float64]) -> None:
    if (y < 0).any():
        raise ValueError(
            f"Some value(s) of y are negative which is not allowed for Poisson regression: {y[y < 0][0]}. "
            "Use criterion='squared_error'"
        )
    if (y.sum(axis=0) <= 0).any():
        raise ValueError(
            "Sum of y is not positive which is necessary for Poisson regression. Use criterion='squared_error'"
        )


def _centres(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a centre of every output: any value near the middle serves, so the range's, which no order changes."""
    low, high = y.min(axis=0), y.max(axis=0)
    # Rounded to a coarse power of two: whole numbers stay whole numbers after it is taken off.
    grain = np.exp2(np.floor(np.log2(np.where(high > low, high - low, 1.0))))
    return np.asarray(np.where(high > low, np.rint((low / 2 + high / 2) / grain) * grain, low))


def _fixed(
    values: NDArray[np.float64],
    multiplier: NDArray[np.int64] | None,
    most: int,
    rounded_off: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return multiplier * values as integers (None: one each), and the unit of each column.

    ``most`` is what the rows count together at most; ``rounded_off`` becomes what rounding the values took off. A value
    is rounded before it is multiplied, so that a weight of two is exactly two rows. Sums stay below 2**61; units are
    powers of two, so exact to undo.
    """
    _, exponents = np.frexp(np.maximum(values.max(axis=0), -values.min(axis=0)))
    units = np.ldexp(1.0, np.maximum(exponents + most.bit_length() - 61, -1074))
    integers = np.empty(values.shape, np.int64)
    for block in row_blocks(len(values)):
        rounded = np.rint(values[block] / units)
        integers[block] = rounded
        if multiplier is not None:
            integers[block] *= multiplier[block, None]
        if rounded_off is not None:
            rounded_off[block] = values[block] - rounded * units
    return integers, units
