"""Grow a tree of CHAID: study a node, divide its rows by the predictor least likely by chance, study its children."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.chaid.association import N_FINDING, STATISTIC
from dtnumba.chaid.merging import MergeRules, new_desk
from dtnumba.chaid.study import Findings, NodeTables, study_node
from dtnumba.trees import LEAF, STAYS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.chaid.outcomes import Outcome
    from dtnumba.chaid.predictors import Predictors

# Columns of what is known about a node's best predictor
N_KNOWN = N_FINDING + 1
ADJUSTED = N_FINDING


class ChaidLimits(NamedTuple):
    """When to stop."""

    log_alpha: float  # of the adjusted chance of a split
    max_depth: float
    min_parent: float
    min_child: float


class Parting(NamedTuple):
    """A node's division: which child each code goes to."""

    feature: int
    way: NDArray[np.int32]  # LEAF of codes that no row of the node has
    n_children: int


class GrownChaid(NamedTuple):
    """Nodes in their canonical order: the children of a node stand side by side, first subtrees first."""

    start: NDArray[np.int64]  # rows[start:stop] are those of a node
    stop: NDArray[np.int64]
    left: NDArray[np.int64]
    splits: list[Parting | None]
    known: NDArray[np.float64]  # (m, N_KNOWN) of the best predictor, NaN where none was looked at
    rows: NDArray[np.int64]
    root: Findings  # what every predictor says at the root; of no categories where it was not looked at


def new_findings(n_codes: NDArray[np.int64]) -> Findings:
    """Allocate for so many codes."""
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


class Growth:
    """A tree under construction."""

    def __init__(self, predictors: Predictors, outcome: Outcome, rules: MergeRules, limits: ChaidLimits) -> None:
        n_codes, n = predictors.n_codes, len(outcome.label)
        most, width = int(n_codes.max()) + 2, len(outcome.units)
        counts = np.zeros((most, width), np.int64)
        self._cells = NodeTables(predictors.codes, n_codes, predictors.kinds, *outcome[:4], counts)
        self._y, self._rules, self._limits = outcome.y, rules, limits
        self._desk, self._found = new_desk(most, width), new_findings(n_codes)
        self._rows = np.arange(n)
        self._start, self._stop, self._depth, self._left = [0], [n], [0], [LEAF]
        self._splits: list[Parting | None] = [None]
        self._known = [np.full(N_KNOWN, np.nan)]

    def grown(self) -> GrownChaid:
        """Grow to the end."""
        root, waiting = new_findings(self._cells.n_codes), [0]
        while waiting:
            node = waiting.pop()
            if self._is_finished(node):
                continue
            extent = self._start[node], self._stop[node]
            study_node(self._cells, self._rules, self._desk, self._found, self._rows, *extent)
            if node == 0:
                root = Findings(*(column.copy() for column in self._found))
            split = self._choose(node)
            if split is not None:
                children = self._divide(node, split)
                waiting += reversed(children)
        start, stop, left = (np.array(one, np.int64) for one in (self._start, self._stop, self._left))
        return GrownChaid(start, stop, left, self._splits, np.array(self._known), self._rows, root)

    def _is_finished(self, node: int) -> bool:
        """Tell whether a node is a leaf whatever the predictors say."""
        if self._depth[node] >= self._limits.max_depth:
            return True
        rows = self._rows[self._start[node] : self._stop[node]]
        weight = int(self._cells.weight[rows].sum()) * self._cells.units[0] * (1.0 + 1e-12)
        if weight < max(self._limits.min_parent, 2.0 * self._limits.min_child):
            return True
        y = self._y[rows]
        return bool((y == y[0]).all())

    def _choose(self, node: int) -> Parting | None:
        """Keep what the best predictor of a node says, and return its split if it is significant."""
        found = self._found
        usable = np.flatnonzero(found.n_groups)
        if not len(usable):
            return None
        # The least adjusted chance; of equal ones, as where all are below the smallest number, the largest statistic.
        best = int(usable[np.lexsort((-found.finding[usable, STATISTIC], found.adjusted[usable]))[0]])
        self._known[node] = np.append(found.finding[best], found.adjusted[best])
        if found.adjusted[best] > self._limits.log_alpha:
            return None
        way = found.way[found.first[best] : found.first[best + 1]].copy()
        return Parting(best, way, int(found.n_groups[best]))

    def _divide(self, node: int, split: Parting) -> range:
        """Sort the rows of a node by child, and return the children."""
        start, stop = self._start[node], self._stop[node]
        rows = self._rows[start:stop]
        codes = self._cells.codes[split.feature, rows]
        if split.n_children >= STAYS:
            split = self._with_missing_first(split, codes, rows)
        child = split.way[codes]
        self._rows[start:stop] = rows[np.argsort(child, kind="stable")]
        ends = start + np.cumsum(np.bincount(child, minlength=split.n_children))
        first = len(self._start)
        self._left[node], self._splits[node] = first, split
        self._start += [start, *ends[:-1].tolist()]
        self._stop += ends.tolist()
        self._depth += [self._depth[node] + 1] * split.n_children
        self._left += [LEAF] * split.n_children
        self._splits += [None] * split.n_children
        self._known += [np.full(N_KNOWN, np.nan)] * split.n_children
        return range(first, first + split.n_children)

    def _with_missing_first(self, split: Parting, codes: NDArray[Any], rows: NDArray[np.int64]) -> Parting:
        """Return a split with the child of missing values in front: its number must fit into a byte."""
        lead = split.way[-1]
        if lead == LEAF:  # later ones will go to the heaviest child
            lead = np.bincount(split.way[codes], self._cells.weight[rows]).argmax()
        way = np.where((split.way != LEAF) & (split.way < lead), split.way + 1, split.way)
        way[split.way == lead] = 0
        return split._replace(way=way.astype(np.int32))


def log_of(alpha: float) -> float:
    """Return the logarithm of a level, which may be 0."""
    return math.log(alpha) if alpha > 0.0 else -math.inf
