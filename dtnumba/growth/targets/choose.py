"""Choose the target kind that growth sums up, in exact integers, from the labels or numbers, weights and criterion."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.criteria.contract import is_centred, shows_away
from dtnumba.criteria.regression import Poisson
from dtnumba.growth.targets.counted_classes import FEW_CLASSES, CountedTwoClasses, few_classes
from dtnumba.growth.targets.fixed_point import moments_of, sums_of_numbers
from dtnumba.growth.targets.many_classes import WIDE_CLASSES, Classes, ManyClasses, WideClasses
from dtnumba.growth.targets.ranked import Ranked
from dtnumba.growth.targets.regression import CountedNumber, Number, Numbers, WideNumber
from dtnumba.growth.targets.two_classes import TwoClasses, WeightedTwoClasses
from dtnumba.tables.labels import Labels

# Histograms of so many numbers, and leaves of so many rows for each class, serve where classes are many.
_MOST_CELLS, _ROWS_A_CLASS = 1 << 23, 4

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.settings import Settings
    from dtnumba.tables.labels import Values
    from dtnumba.tables.weights import Weights


def target_of(outcome: Labels | Values, weights: Weights, criterion: Any, counts: Any = None, most: int = 0) -> Any:
    """Return the target kind of class labels or numbers for a criterion.

    ``counts`` is the type of the counts that a tree of a forest will bring, and ``most`` what they sum to at most.
    """
    if isinstance(outcome, Labels):
        return _class_target(outcome, weights, counts, most)
    return _number_target(outcome.y, weights, criterion, counts, most)


def with_tables(target: Any, settings: Settings, n_rows: int, n_features: int) -> Any:
    """Return a target of very many classes as one that is added up in histograms, where leaves have rows for that.

    200,000 rows x 20 of 31 classes to depth 8: 0.11 s, not 0.33 (2026-11-19); fully grown it is the other way.
    """
    if not isinstance(target, WideClasses) or settings.max_bins is None or settings.splitter != "best":
        return target
    n_leaves = min(2 ** min(settings.max_depth, 62), settings.max_leaves)
    rows_a_leaf = max(settings.min_samples_leaf, n_rows / n_leaves)
    is_large = n_features * settings.max_bins * target.n_stats > _MOST_CELLS
    return target if is_large or rows_a_leaf < _ROWS_A_CLASS * target.n_stats else Classes(*target)


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
        many = Classes if n_stats < WIDE_CLASSES else WideClasses
        return many(codes.astype(np.int32, copy=False), offsets, integers, unit, n_stats, n_stats)
    if counts is not None and unit == 1.0 and most < 1 << 31:
        return CountedTwoClasses(codes.astype(counts, copy=False), offsets, 1.0, 1, 1, 2)
    kind = TwoClasses if weights.are_one and counts is None else WeightedTwoClasses
    return kind(codes, offsets, integers, unit, 2, 2)


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
            centred=found.distance,
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
    found = sums_of_numbers(y, weights, n_moments, centred=is_centred(kind), most=most)
    make: Any = Numbers
    if n_outputs == n_moments == 1:
        if found.n_limbs > 1:
            make = WideNumber
        elif weights.are_one:
            make = Number if counts is None else CountedNumber
    return make(
        moments=found.moments,
        units=found.units,
        n_moments=n_moments,
        n_limbs=found.n_limbs,
        n_seen=2 if shows_away(kind) else n_moments,
        offsets=found.centres,
        moment_unit=float(found.units[0]),
        weights=own_weights,
        unit=weights.unit,
        y=y,
        n_stats=1 + found.moments.shape[1],
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
