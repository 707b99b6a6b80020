# mypy: ignore-errors
# ruff: noqa: D102
"""C5.0 (Quinlan 1997, release 2.07 of 2010): the choice of a test, and whole trees.

It differs from C4.5 in what a cut and a grouping of categories pay, in which gains are enough, and in when to stop. All
columns are codes; nothing of them is used up by growth, so that one ``C50Columns`` serves any number of trees, and
subtrees that are grown anew over some rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.criteria.classification import Entropy
from dtnumba.criteria.contract import NO_GAIN, TIE
from dtnumba.growth import columns as grown
from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.arrays import with_context, with_room
from dtnumba.growth.multiway.c45 import at_values
from dtnumba.growth.multiway.coded_columns import coded
from dtnumba.growth.multiway.grow import grow_general
from dtnumba.growth.multiway.grow_together import grow_alone
from dtnumba.growth.multiway.to_trees import to_trees
from dtnumba.growth.multiway.train import grow_rows, rules_of, sums_of, work_on
from dtnumba.growth.nodes import Limits
from dtnumba.growth.policies.monotonic import AnyShape
from dtnumba.growth.policies.significance_test import NoTest
from dtnumba.growth.settings import GROUPED, Options
from dtnumba.runtime import rng
from dtnumba.runtime.addresses import caller_of, code_for
from dtnumba.runtime.kernels import inline, kernel_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.multiway.coded_columns import CodedColumns
    from dtnumba.tables.labels import Labels
    from dtnumba.tables.table import Table
    from dtnumba.trees.layout import Trees


_HAIR = 1e-7  # sums of weights are compared with so much play
_LEAST_SHARE, _MOST_OF_CUT = 0.1, 25.0  # of the rows of an average class; a side of a cut never needs more rows
_LEAST_GAIN = 1e-4  # bits a case, of a test that counts
_NEARLY = 0.999  # of the least gain, or of the rows of a node, is enough
_SAME_RATIO = 1e-3  # of a ratio; no farther below the best one fewer branches win
_FEW_CASES, _MANY_CASES = 500.0, 1000.0  # of an average class: below, gains are compared with their average ...
_SHARE_OF_BITS = 0.9  # ... above, with this part of what it takes to say which test was chosen
_WIDE = 0.3  # of the cases are its levels
_HALF = 0.5  # leaves that a node may have are rounded
_LEAST_LEAVES = 2 - _HALF  # that it may have to be divided
_MOST_TABLED = 128  # categories whose groupings are counted exactly


class _C50Fields(NamedTuple):
    table: np.ndarray  # as in Entropy
    values: np.ndarray  # (v,) float64 of the codes of all columns end to end
    first_code: np.ndarray  # (p + 1,) int64: where those of a column begin
    is_ordered: np.ndarray  # (p,) bool: columns of categories in order, whose cuts are looked up, not measured
    is_wide: np.ndarray  # (p,) bool: columns of so many categories that they are no part of the average
    stirling: np.ndarray  # see ``log_stirling``
    min_cases: float
    n_classes: int
    of_average: float  # a test must gain so much of the average, ...
    of_bits: float  # ... and so much of what it takes to say which test was chosen
    leaves_a_case: float  # so many leaves, rounded, a node may have for a case; no test has more branches


@kernel_type
class C50Ratio(_C50Fields):
    """Gain ratio among columns that gain enough; of ratios that are nearly the same, the one of fewer branches."""

    __slots__ = ()
    target = "classes"
    impurity = Entropy.impurity
    score = Entropy.score

    term, score_of_terms = Entropy.term, Entropy.score_of_terms

    def information(self, share):
        return -share * math.log2(share) if share > 0.0 else 0.0

    def is_parted(self, feature, last, following):
        return True

    def least_side(self, weight, feature):
        if self.is_ordered[feature]:
            return self.min_cases - _HAIR
        return max(self.min_cases, min(_LEAST_SHARE * weight / self.n_classes, _MOST_OF_CUT)) - _HAIR

    def penalised_gain(self, gain, n_allowed, weight, feature, codes):
        if gain == NO_GAIN:
            return gain
        if n_allowed > 1:
            cost, at = math.log2(n_allowed), self.first_code[feature]
            if not self.is_ordered[feature]:
                span = self.values[at + codes[3]] - self.values[at + codes[0]]
                gap = self.values[at + codes[2]] - self.values[at + codes[1]]
                cost = min(cost, math.log2(span / gap)) if gap < math.inf else 0.0  # a gap up to infinity is all
            gain -= cost / weight
        return gain

    def is_finished(self, counts, weight):
        most = 0.0
        for k in range(self.n_classes):
            most = max(most, counts[k])
        return most >= _NEARLY * weight or weight * self.leaves_a_case < _LEAST_LEAVES

    def choose_test(self, work, weight, n):
        gains, informations, features = work.scratch.gain, work.scratch.information, work.scratch.listed
        total, total_wide, n_narrow, n_tests = 0.0, 0.0, 0, 0
        # No more branches than leaves, and that of missing values
        most_fan = weight * self.leaves_a_case + _HALF + _HAIR + 1.0
        for i in range(n):
            f = features[i]
            if fan_of(work, f) > most_fan:
                gains[f] = NO_GAIN
            if gains[f] >= _LEAST_GAIN and informations[f] > 0.0:
                n_tests += 1
                if self.is_wide[f]:
                    total_wide += gains[f]
                else:
                    n_narrow += 1
                    total += gains[f]
        if n_tests == 0:
            return -1
        average = total / n_narrow if n_narrow > 0 else total_wide / n_tests
        floor = self.of_average * average + self.of_bits * math.log2(n_tests) / weight
        best, best_ratio, best_fan, best_gain = -1, 0.0, 0, 0.0
        for i in range(n):
            f = features[i]
            gain, information = gains[f], informations[f]
            if gain < max(_LEAST_GAIN, _NEARLY * floor) or information <= 0.0:
                continue
            fan = fan_of(work, f)
            ratio = gain / information
            is_near = ratio > best_ratio * (1.0 - _SAME_RATIO)
            is_simpler = fan < best_fan or (fan == best_fan and gain > best_gain * (1.0 + TIE))
            if best < 0 or ratio > best_ratio * (1.0 + TIE) or (is_near and is_simpler):
                best, best_ratio, best_fan, best_gain = i, ratio, fan, gain
        return best


@inline
def fan_of(work, feature):
    """Return the branches of a test, that of missing values counted."""
    if work.nominal[feature] == 0:
        return np.int64(3)
    is_each = work.rules.categorical == col.EACH_CATEGORY
    return work.n_codes[feature] + 1 if is_each else work.scratch.fan[feature]


@cache
def _stirling_table(most):
    """Return log2 of the Stirling numbers of the second kind (n, k) for n up to ``most``, at n * (n + 1) / 2 + k."""
    row, found = [1], [0.0]
    for n in range(1, most + 1):
        row = [0, *[k * row[k] + row[k - 1] if k < n else 1 for k in range(1, n + 1)]]
        found += [math.log2(one) if one else -math.inf for one in row]
    return np.array(found)


def least_gain(n_cases: float, n_classes: int) -> tuple[float, float]:
    """Return the parts that the average gain, and the bits that say which test was chosen, have in the least gain."""
    many = min(max((n_cases / n_classes - _FEW_CASES) / (_MANY_CASES - _FEW_CASES), 0.0), 1.0)
    return 1.0 - many, _SHARE_OF_BITS * many


@dataclass(frozen=True, eq=False)
class C50Columns:
    """A table as growth reads it, made once for any number of trees over its rows."""

    columns: CodedColumns
    values: NDArray[np.float64]
    is_ordered: NDArray[np.bool_]
    labels: Labels
    bits: int  # of the table's floats
    workers: int

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return int(self.labels.sizes[0])

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.labels.codes)

    def without(self, features: Any) -> C50Columns:
        """Return the table in which no test is on these columns."""
        own, codes = self.columns, self.columns.codes.copy()
        for f in np.asarray(features, np.int64).tolist():
            codes[own.code_at[f]] = own.n_codes[f]  # that of a missing value
        return replace(self, columns=replace(own, codes=codes))


def c50_columns(table: Table, labels: Labels, kept: NDArray[np.uint32], workers: int) -> C50Columns:
    """Return a table as codes of the values that its kept rows have."""
    own = coded(table, kept, None, workers)
    is_ordered = np.zeros(table.n_features, bool)
    if table.levels is not None:
        is_ordered = np.array([levels is not None for levels in table.levels]) & (own.nominal == 0)
    values = np.asarray(own.bins.low, np.float64)
    return C50Columns(own, values, is_ordered, labels, table.bits, workers)


@dataclass(frozen=True, kw_only=True)
class C50Growth:
    """What growth is asked for: see ``C50Classifier`` and ``least_gain``."""

    subset: bool
    min_cases: float
    min_gain: tuple[float, float]
    n_cases: float  # of the whole table: that weights sum to, at most
    leaves_a_case: float = math.inf
    class_cases: NDArray[np.float64] | None = None  # of each class, that a row counts without costs for what it weighs


class C50Grower:
    """Growth over the rows of a table: of a tree, and of what hangs below a test whose cases have changed."""

    def __init__(self, given: C50Columns, asked: C50Growth, n: int) -> None:
        self.given, self.n = given, n
        own, n_classes = given.columns, given.n_classes
        n_codes = own.n_codes
        most = int((n_codes * own.nominal).max(initial=0)) if asked.subset else 0
        self._criterion = C50Ratio(
            table=Entropy.for_fit(float(n), len(n_codes)).table,
            values=given.values,
            first_code=np.asarray(own.bins.first_code, np.int64),
            is_ordered=given.is_ordered,
            is_wide=(own.nominal == 1) & (n_codes >= _WIDE * asked.n_cases),
            stirling=_stirling_table(min(most, _MOST_TABLED)),
            min_cases=float(asked.min_cases),
            n_classes=n_classes,
            of_average=float(asked.min_gain[0]),
            of_bits=float(asked.min_gain[1]),
            leaves_a_case=float(asked.leaves_a_case),
        )
        split = GROUPED if asked.subset else "multiway"
        self._tests = Options(missing="fractional", categorical_split=split, empty_leaves=True, two_suffice=True)
        no_limit = int(grown.NO_LIMIT)
        draws = rng.stream(0, rng.FEATURES), rng.stream(0, rng.CUTS)
        small = no_limit, 0, 0, float(asked.min_cases), 0.0, float(asked.n_cases), no_limit
        self._limits = Limits(*small, len(n_codes), *draws, NoTest(), AnyShape())
        self._class_cases = np.empty(0) if asked.class_cases is None else asked.class_cases
        self._work: Any = None

    def _new_work(self, n: int) -> Any:
        sums = sums_of(self.given.labels, self._criterion)
        rules = rules_of(self._tests, self._criterion, sums)
        work = work_on(self.given.columns, sums, self._criterion, self._limits, rules, n)
        return with_context(work, class_cases=self._class_cases)

    def tree(self, rows: NDArray[np.uint32], weights: NDArray[np.float64]) -> Trees:
        """Return the tree over rows of positive weight, not pruned."""
        trees = grow_rows(self._new_work(len(rows)), self.given.columns, rows, weights, self.given.workers)
        return self._with_cuts(trees)

    def below(self, lists: list[tuple[NDArray[np.int64], NDArray[np.float64]]]) -> Trees:
        """Return a tree whose root stands for a test, with a subtree grown over each list of (rows, weights)."""
        total, fan = sum(len(rows) for rows, _ in lists), len(lists)
        if self._work is None or total > len(self._work.grown.row) or fan >= len(self._work.grown.nodes):
            self._bind(self._new_work(max(self.n, total, fan)))
        arrays, at = self._work.grown, 0
        nodes = arrays.nodes
        arrays.state[:] = 0
        nodes[: fan + 1] = 0
        for v, (rows, weights) in enumerate(lists):
            stop = at + len(rows)
            arrays.row[at:stop], arrays.weight[at:stop], arrays.part[at:stop] = rows, weights, 1.0
            nodes[v + 1, [grown.START, grown.STOP, grown.DEPTH]] = at, stop, 1
            nodes[v + 1, col.ARE_ONE], arrays.keys[v + 1] = (weights == 1.0).all(), v
            at = stop
        arrays.outcome[:at] = self._work.target.places[0, arrays.row[:at]]
        nodes[0, [grown.LEFT, col.FAN_OUT, grown.FEATURE, col.ROWS, grown.PARENT]] = 1, fan, 0, total, grown.LEAF
        arrays.numbers[0], arrays.sums[0] = 0.0, 0.0
        arrays.sums[0, : self.given.n_classes] = np.bincount(
            arrays.outcome[:at], arrays.weight[:at], self.given.n_classes
        )
        arrays.sums[0, self.given.n_classes :] = arrays.weight[:at].sum(), total
        arrays.state[[col.N_NODES, col.N_SOUGHT, col.N_LEAVES, col.N_CASES]] = fan + 1, 1, fan, total
        self._go(total, 0, 0)
        if arrays.state[col.STATUS] != col.DONE:
            larger = with_context(self._work, grown=with_room(arrays, keeps_order=True))
            self._bind(grow_alone(larger, total)[1])
        trees = to_trees(self._work.grown, self._work.target, self.given.columns.bins, is_fractional=True)
        return self._with_cuts(trees)

    def _bind(self, work: Any) -> None:
        """Keep the arguments of what grows below tests, and what calls it with them."""
        self._work, self._go = work, caller_of(code_for(grow_general, work))

    def _with_cuts(self, trees: Trees) -> Trees:
        """Return the trees with cuts at values of the table; between ordered categories, below the upper one."""
        given, middle = self.given, trees.threshold
        trees = at_values(trees, given.columns.bins, given.bits)
        first = given.columns.bins.first_code
        for f in np.flatnonzero(given.is_ordered):
            own = np.flatnonzero((trees.feature == f) & np.isfinite(middle))
            values = given.values[first[f] : first[f + 1]]
            trees.threshold[own] = values[np.searchsorted(values, middle[own], side="right")] - 1.0
        return trees
