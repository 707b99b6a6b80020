# mypy: ignore-errors
# ruff: noqa: D102
"""C4.5 (Quinlan 1993, release 8 of 1996) and Weka's version of it, J48: the choice of a test, and whole trees.

The cut of largest gain stands for a numeric column, and pays for having been chosen among others. Of the columns whose
gain is average or more, the one of largest gain ratio wins. Cuts are then moved to values of the table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.criteria.classification import Entropy
from dtnumba.criteria.contract import NO_GAIN, TIE
from dtnumba.growth import columns as col
from dtnumba.growth.multiway.coded_columns import coded, in_order
from dtnumba.growth.multiway.train import grow_rows, rules_of, sums_of, work_on
from dtnumba.growth.nodes import Limits
from dtnumba.growth.policies.monotonic import AnyShape
from dtnumba.growth.policies.significance_test import NoTest
from dtnumba.growth.settings import MERGED, Options
from dtnumba.runtime import rng
from dtnumba.runtime.kernels import kernel, kernel_type
from dtnumba.runtime.tasks import n_workers
from dtnumba.runtime.threads.hands import Hands
from dtnumba.tables.floats import AtFloats
from dtnumba.trees.layout import count_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dtnumba.growth.multiway.coded_columns import CodedColumns
    from dtnumba.tables.binned_table import Features
    from dtnumba.tables.floats import Bits
    from dtnumba.tables.labels import Labels
    from dtnumba.tables.weights import Weights
    from dtnumba.trees.layout import Trees


_FEW_VALUES = 100_000  # NumPy searches them before a kernel is compiled
_HAIR = 1e-6  # sums of weights are compared with so much play
_BELOW_AVERAGE = 1e-3  # a gain may lack so much of the average
_LEAST_SHARE, _MOST_OF_CUT = 0.1, 25.0  # of the rows of an average class; a side of a cut never needs more rows


class _QuinlanFields(NamedTuple):
    table: np.ndarray  # as in Entropy
    steps: np.ndarray  # of the codes of all columns end to end: by how many codes another must be above it
    first_code: np.ndarray  # (p + 1,) int64: where those of a column begin
    far: np.ndarray  # (p,) int64: the most steps of a column
    is_wide: np.ndarray  # (p,) bool: columns of so many categories that they are no part of the average
    min_objects: float
    n_classes: int
    is_charged: bool  # whether a cut pays for the choice among cuts
    has_floor: bool  # whether a gain below average disqualifies
    margin: float  # by which a later gain, or ratio, must be larger
    least_information: float
    bar: float  # a gain ratio must be above it


@kernel_type
class QuinlanRatio(_QuinlanFields):
    """Gain ratio among columns of at least average gain, the cuts of numbers penalised."""

    __slots__ = ()
    target = "classes"
    impurity = Entropy.impurity
    score = Entropy.score

    term, score_of_terms = Entropy.term, Entropy.score_of_terms

    def information(self, share):
        return -share * math.log2(share) if share > 0.0 else 0.0

    def is_parted(self, feature, last, following):
        return following - last >= np.int64(self.steps[np.uint64(self.first_code[feature] + last)])

    def surely_parted(self, feature):
        return np.int64(self.far[feature])

    def least_side(self, weight, feature):
        least = _LEAST_SHARE * weight / self.n_classes
        return (self.min_objects if least <= self.min_objects else min(least, _MOST_OF_CUT)) - _HAIR

    def min_margin(self, weight):
        return self.margin * weight

    def penalised_gain(self, gain, n_allowed, weight, feature, codes):
        if gain == NO_GAIN:
            return gain
        if self.is_charged and n_allowed > 1:
            gain -= math.log2(n_allowed) / weight
        return gain if gain > self.margin else NO_GAIN

    def selection_score(self, score, below, above, weight_below, weight_above, weight):
        outcome, whole = weight_below + weight_above, 0.0
        for k in range(len(below)):
            both = below[k] + above[k]
            whole += both * math.log2(both) if both > 0.0 else 0.0
        gain = (score - whole + outcome * math.log2(outcome)) / weight
        information = 0.0
        for part_of in (weight_below, weight_above, weight - outcome):
            if part_of > 0.0:
                information -= part_of / weight * math.log2(part_of / weight)
        return gain / information if information > self.least_information else 0.0

    def choose(self, gains, informations, features, n):
        total, n_counted, floor = 0.0, 0, NO_GAIN
        for i in range(n):
            if gains[features[i]] > NO_GAIN and not self.is_wide[features[i]]:
                total += gains[features[i]]
                n_counted += 1
        if self.has_floor:
            if n_counted == 0:
                return -1
            floor = total / n_counted - _BELOW_AVERAGE
        best, bar = -1, self.bar
        for i in range(n):
            f = features[i]
            if gains[f] > NO_GAIN and gains[f] >= floor and informations[f] > self.least_information:
                ratio = gains[f] / informations[f]
                if ratio > bar:
                    best, bar = i, ratio + max(self.margin, TIE * abs(ratio))
        return best


def quinlan_ratio(bins, nominal, n_rows, total, n_classes, options):
    """Return the criterion for a table as codes: ``n_rows`` of weight ``total``, and the options of a C45Classifier."""
    is_j48 = options.variant == "j48"
    # Columns of three values to ten rows say little by gaining much; where all are such, they must do.
    is_wide = nominal & (bins.n_codes >= 0.3 * n_rows)
    if is_wide.all():
        is_wide[:] = False
    steps, far = _steps_to_part(bins.low, bins.first_code, float(options.min_gap), n_workers(options.n_jobs))
    return QuinlanRatio(
        table=Entropy.for_fit(total, len(nominal)).table,
        steps=steps,
        far=far,
        first_code=np.asarray(bins.first_code, np.int64),
        is_wide=is_wide,
        min_objects=float(options.min_objects),
        n_classes=n_classes,
        is_charged=bool(options.mdl_correction),
        has_floor=bool(options.average_gain_rule),
        margin=1e-6 if is_j48 else 0.0,
        least_information=1e-6 if is_j48 else 1e-3,
        bar=1e-6 if is_j48 else -1e-3,
    )


def _steps_to_part(low, first_code, min_gap, workers):
    """Return how many codes above each one the first is whose value is more than ``min_gap`` above its own.

    And the most of each column. A byte each, where that suffices: nodes look them up at random.
    """
    n_codes = np.diff(first_code)
    parts, far = [np.empty(0, np.uint8)] * len(n_codes), np.ones(len(n_codes), np.int64)

    def write(f, _=0):
        own, steps = low[first_code[f] : first_code[f + 1]].astype(np.float64), np.ones(n_codes[f], np.uint32)
        if min_gap > 0.0 and len(low) < _FEW_VALUES:
            steps[:] = np.searchsorted(own, own + min_gap, side="right") - np.arange(len(own))
        elif min_gap > 0.0:
            _write_steps(own, min_gap, steps)
        most = far[f] = int(steps.max(initial=1))
        parts[f] = steps.astype(np.uint8 if most < 1 << 8 else np.uint16 if most < 1 << 16 else np.uint32)

    with Hands(workers if len(low) >= _FEW_VALUES else 1) as hands:
        hands.each(write, len(n_codes))
    return np.concatenate(parts), far


@kernel
def _write_steps(values, min_gap, steps):
    """Do as ``_steps_to_part`` for one column, in one walk along it.

    values (v,) float64 · steps (v,) uint32 out
    """
    reach = np.int64(0)
    for code in range(len(values)):
        while reach < len(values) and values[reach] <= values[code] + min_gap:
            reach += 1
        steps[code] = reach - code


@dataclass(frozen=True, kw_only=True)
class C45Options:
    """The options of a C45Classifier that growth reads."""

    min_objects: float
    min_gap: float
    max_bins: int | None
    subset: bool
    binary_splits: bool
    mdl_correction: bool
    average_gain_rule: bool
    variant: str
    n_jobs: int | None

    def tests(self) -> Options:
        """Return which tests there are."""
        split = MERGED if self.subset else "one_vs_rest" if self.binary_splits else "multiway"
        return Options(missing="fractional", categorical_split=split, empty_leaves=True, two_suffice=True)


def grow_c45(table: Features, outcome: Labels, weights: Weights, options: C45Options) -> tuple[Trees, list[int]]:
    """Grow one tree over the rows of positive weight; return it, and which columns ``min_gap`` keeps from being cut."""
    kept = weights.kept
    workers = n_workers(options.n_jobs)
    own = _coded(table, kept, options.max_bins, workers)
    n_classes = int(outcome.sizes[0])
    criterion = quinlan_ratio(own.bins, own.nominal.astype(bool), len(kept), weights.total, n_classes, options)
    sums = sums_of(outcome, criterion)
    limits = Limits(
        int(col.NO_LIMIT),
        0,
        0,
        options.min_objects,
        0.0,
        weights.total,
        int(col.NO_LIMIT),
        table.n_features,
        rng.stream(0, rng.FEATURES),
        rng.stream(0, rng.CUTS),
        NoTest(),
        AnyShape(),
    )
    work = work_on(own, sums, criterion, limits, rules_of(options.tests(), criterion, sums), len(kept))
    weight = np.asarray(weights.integers[kept] * weights.unit, np.float64)
    trees = grow_rows(work, own, kept, weight, workers)
    return at_values(trees, own.bins, table.bits), _uncut(own, criterion.steps)


def _coded(table: Features, kept: NDArray[np.uint32], max_bins: int | None, workers: int) -> CodedColumns:
    if max_bins is None:
        return in_order(table, kept, workers, in_parts=True)
    return coded(table, kept, max_bins, workers)


def uncut_columns(table: Features, weights: Weights, min_gap: float, max_bins: int | None, workers: int) -> list[int]:
    """Return the columns of several numbers no two of which, side by side, lie farther apart than ``min_gap``."""
    own = _coded(table, weights.kept, max_bins, workers)
    return _uncut(own, _steps_to_part(own.bins.low, own.bins.first_code, min_gap, workers)[0])


def _uncut(own: CodedColumns, steps: NDArray[Any]) -> list[int]:
    first, ends = own.bins.first_code[:-1], own.bins.first_code[1:]
    numbers = np.flatnonzero((own.nominal == 0) & (own.n_codes > 1))
    return [int(f) for f in numbers if (steps[first[f] : ends[f] - 1] > 1).all()]


def at_values(trees: Trees, bins: Any, bits: Bits) -> Trees:
    """Return the trees with every threshold at the largest value of the table, of such floats, that is not above it."""
    threshold = trees.threshold.copy()
    nodes = np.flatnonzero((trees.feature >= 0) & np.isfinite(threshold))
    for f in np.unique(trees.feature[nodes]):
        own = nodes[trees.feature[nodes] == f]
        values = bins.high[bins.first_code[f] : bins.first_code[f] + bins.n_codes[f]].astype(np.float64)
        threshold[own] = values[np.searchsorted(values, threshold[own], side="right") - 1]
    return trees._replace(threshold=threshold, cuts_at=AtFloats(bits))


def window_size(n_rows: int) -> int:
    """Return how many rows a window has to begin with."""
    return min(int(max(2.0 * math.sqrt(n_rows), n_rows / 5)), n_rows)


def first_windows(codes: NDArray[np.int64], counts: Weights, seed: int, n: int) -> Iterator[NDArray[np.int64]]:
    """Yield drawn orders of the rows that count, in which the classes take turns while they last."""
    generator = np.random.default_rng(seed)
    for _ in range(n):
        order = generator.permutation(counts.kept.astype(np.int64))
        by_class = np.argsort(codes[order], kind="stable")
        n_each = np.bincount(codes[order])
        turn = np.empty(len(order), np.int64)  # the how manieth of its class each row is
        turn[by_class] = count_up(n_each)
        yield order[np.argsort(turn, kind="stable")]
