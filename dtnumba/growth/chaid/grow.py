"""The loop of CHAID: test all predictors at a node, divide its rows by the best one, go on with the children."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.chaid.chi_squared_and_f import N_FINDING, STATISTIC
from dtnumba.growth.chaid.merge_categories import MergeRules, new_scratch
from dtnumba.growth.chaid.test_node import Findings, NodeStudy, NodeTables, study_node
from dtnumba.runtime.addresses import call_entry, code_for, compile_entries
from dtnumba.trees.layout import LEAF, STAYS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.chaid.outcome import ChaidOutcome
    from dtnumba.growth.chaid.predictors import Predictors


# Columns of GrownChaid.best: a finding, and its adjusted chance
N_BEST = N_FINDING + 1
ADJUSTED = N_FINDING


class ChaidLimits(NamedTuple):
    """When to stop."""

    log_alpha: float  # of the adjusted chance of a split
    max_depth: float
    min_parent: float
    min_child: float


class ChaidSplit(NamedTuple):
    """The split of a node: the child that each code goes to."""

    feature: int
    child: NDArray[np.int32]  # number of the child; LEAF for codes that no row of the node has
    n_children: int


class GrownChaid(NamedTuple):
    """The nodes of a tree in canonical order: the children of a node stand side by side, first subtrees first."""

    start: NDArray[np.int64]  # rows[start:stop] are those of a node
    stop: NDArray[np.int64]
    left: NDArray[np.int64]
    splits: list[ChaidSplit | None]
    best: NDArray[np.float64]  # (m, N_BEST) of the best predictor, NaN where none was tested
    rows: NDArray[np.int64]
    root: Findings  # the tests of all predictors at the root; no categories where there were none


def new_findings(n_codes: NDArray[np.int64]) -> Findings:
    """Return empty findings of predictors with so many codes."""
    p = len(n_codes)
    first = np.concatenate([[0], np.cumsum(n_codes + 1)]).astype(np.int64)
    return Findings(
        np.zeros((p, N_FINDING)),
        np.zeros(p),
        np.zeros(p, np.int64),
        np.zeros(p, np.int64),
        first,
        np.full(first[-1], LEAF, np.int32),
    )


class ChaidGrowth:
    """A tree under construction."""

    def __init__(self, predictors: Predictors, outcome: ChaidOutcome, rules: MergeRules, limits: ChaidLimits) -> None:
        n_codes, n = predictors.n_codes, len(outcome.label)
        most, width = int(n_codes.max()) + 2, len(outcome.units)
        counts = np.zeros((most, width), np.int64)
        self._cells = NodeTables(predictors.codes, n_codes, predictors.kinds, *outcome[:4], counts)
        self._y, self._rules, self._limits = outcome.y, rules, limits
        self._scratch, self._found = new_scratch(most, width), new_findings(n_codes)
        self._rows = np.arange(n)
        self._study = NodeStudy(self._cells, self._rules, self._scratch, self._found, self._rows)
        self._start, self._stop, self._depth, self._left = [0], [n], [0], [LEAF]
        self._splits: list[ChaidSplit | None] = [None]
        self._best = [np.full(N_BEST, np.nan)]

    def grown(self) -> GrownChaid:
        """Return the nodes of the tree, grown to the end."""
        root, waiting = new_findings(self._cells.n_codes), [0]
        study = code_for(study_node, self._study)
        compile_entries([study])
        while waiting:
            node = waiting.pop()
            if self._is_finished(node):
                continue
            extent = self._start[node], self._stop[node]
            call_entry(study, *extent, 0)
            if node == 0:
                root = Findings(*(column.copy() for column in self._found))
            split = self._choose(node)
            if split is not None:
                children = self._divide(node, split)
                waiting += reversed(children)
        start, stop, left = (np.array(one, np.int64) for one in (self._start, self._stop, self._left))
        return GrownChaid(start, stop, left, self._splits, np.array(self._best), self._rows, root)

    def _is_finished(self, node: int) -> bool:
        """Tell whether a node is a leaf by its depth, its weight or its target."""
        if self._depth[node] >= self._limits.max_depth:
            return True
        rows = self._rows[self._start[node] : self._stop[node]]
        weight = int(self._cells.weight[rows].sum()) * self._cells.units[0] * (1.0 + 1e-12)
        if weight < max(self._limits.min_parent, 2.0 * self._limits.min_child):
            return True
        y = self._y[rows]
        return bool((y == y[0]).all())

    def _choose(self, node: int) -> ChaidSplit | None:
        """Return the split on the best predictor of a node, None where it is not significant; keep its finding."""
        found = self._found
        usable = np.flatnonzero(found.n_groups)
        if not len(usable):
            return None
        # The least adjusted chance; of equal ones, as where all are below the smallest number, the largest statistic.
        best = int(usable[np.lexsort((-found.finding[usable, STATISTIC], found.adjusted[usable]))[0]])
        self._best[node] = np.append(found.finding[best], found.adjusted[best])
        if found.adjusted[best] > self._limits.log_alpha:
            return None
        child = found.child[found.first[best] : found.first[best + 1]].copy()
        return ChaidSplit(best, child, int(found.n_groups[best]))

    def _divide(self, node: int, split: ChaidSplit) -> range:
        """Sort the rows of a node by child, add the children, and return them."""
        start, stop = self._start[node], self._stop[node]
        rows = self._rows[start:stop]
        codes = self._cells.codes[split.feature, rows]
        if split.n_children >= STAYS:
            split = self._with_missing_first(split, codes, rows)
        row_child = split.child[codes]
        self._rows[start:stop] = rows[np.argsort(row_child, kind="stable")]
        ends = start + np.cumsum(np.bincount(row_child, minlength=split.n_children))
        first = len(self._start)
        self._left[node], self._splits[node] = first, split
        self._start += [start, *ends[:-1].tolist()]
        self._stop += ends.tolist()
        self._depth += [self._depth[node] + 1] * split.n_children
        self._left += [LEAF] * split.n_children
        self._splits += [None] * split.n_children
        self._best += [np.full(N_BEST, np.nan)] * split.n_children
        return range(first, first + split.n_children)

    def _with_missing_first(self, split: ChaidSplit, codes: NDArray[Any], rows: NDArray[np.int64]) -> ChaidSplit:
        """Return a split with the child of missing values in front: its number must fit into a byte."""
        lead = split.child[-1]
        if lead == LEAF:  # later ones will go to the heaviest child
            lead = np.bincount(split.child[codes], self._cells.weight[rows]).argmax()
        child = np.where((split.child != LEAF) & (split.child < lead), split.child + 1, split.child)
        child[split.child == lead] = 0
        return split._replace(child=child.astype(np.int32))


def log_of(alpha: float) -> float:
    """Return the logarithm of a significance level, -inf for 0."""
    return math.log(alpha) if alpha > 0.0 else -math.inf
