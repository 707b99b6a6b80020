"""A tree to begin with: tests that look best by themselves. In Python: milliseconds, and nothing to compile."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.optimal.losses.spreads import SquaresLost

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.growth.optimal.columns import OrderedColumn
    from dtnumba.growth.optimal.objectives import Objective

_NANOSECONDS = 150  # of a row, a column and a level
_LEAST_GAIN = 1e-12  # as a share of what a node's rows lose

Tree = dict[int, tuple[int, int]]  # place in heap order: column, and the last code that goes left


def measures_of(goal: Objective) -> list[Callable[[NDArray[Any]], NDArray[np.float64]]]:
    """Return how mixed rows of such sums are, in the ways that greedy trees ask."""
    if not goal.is_sum:
        return []
    if isinstance(goal.loss, SquaresLost):
        loss = goal.loss
        return [
            lambda sums: (
                sums[..., 2] * loss.second
                - (sums[..., 1] * loss.first) ** 2 / np.maximum(sums[..., 0] * loss.weight, loss.weight)
            )
        ]
    return [_gini, _entropy]


def _gini(sums: NDArray[Any]) -> NDArray[np.float64]:
    total = np.maximum(sums.sum(axis=-1), 1)
    return np.asarray(total - (sums * (sums / total[..., None])).sum(axis=-1))


def _entropy(sums: NDArray[Any]) -> NDArray[np.float64]:
    total = np.maximum(sums.sum(axis=-1), 1)
    return np.asarray((sums * np.log2(total[..., None] / np.maximum(sums, 1))).sum(axis=-1))


def seconds_of_growth(columns: list[OrderedColumn], goal: Objective, depth: int) -> float:
    """Return about how long greedy trees take."""
    return len(measures_of(goal)) * len(goal.values) * len(columns) * min(depth, 12) * _NANOSECONDS * 1e-9


class Greedy:
    """Greedy trees over the rows of a loss."""

    def __init__(
        self, columns: list[OrderedColumn], goal: Objective, least: int, is_over: Callable[[], bool] = lambda: False
    ) -> None:
        self.columns, self.goal, self.least, self.is_over = columns, goal, least, is_over

    def leaf(self, rows: NDArray[np.int64]) -> int:
        """Return what rows lose as a leaf."""
        return int(type(self.goal.loss).leaf(self.goal.loss, self.goal.values[rows].sum(axis=0)))

    def best_test(self, rows: NDArray[np.int64], measure: Any) -> tuple[float, int, int]:
        """Return what the best test of some rows gains, its column and last code left; column -1 for none."""
        values = self.goal.values[rows]
        total = values.sum(axis=0)
        whole = float(measure(total))
        best, column, code = whole * (1.0 - _LEAST_GAIN), -1, -1
        for j, one in enumerate(self.columns):
            if self.is_over():
                break
            codes = one.codes[rows]
            order = np.argsort(codes, kind="stable")
            ranked = codes[order]
            cuts = np.flatnonzero(ranked[1:] != ranked[:-1]) + 1
            cuts = cuts[(cuts >= self.least) & (len(rows) - cuts >= self.least)]
            if len(cuts) == 0:
                continue
            left = np.cumsum(values[order], axis=0)[cuts - 1]
            found = measure(left) + measure(total - left)
            k = int(found.argmin())
            if found[k] < best:
                best, column, code = float(found[k]), j, int(ranked[cuts[k] - 1])
        return whole - best, column, code

    def grow(self, depth: int, most: int, measure: Any, tree: Tree | None = None) -> Tree:
        """Return a tree of so many levels and tests, the tests that gain most first; and pruned to the price of tests.

        It begins with the tests of a given tree.
        """
        tree = {} if tree is None else tree
        waiting: list[tuple[float, int, int, int, NDArray[np.int64]]] = []

        def wait(heap: int, rows: NDArray[np.int64], level: int) -> None:
            if level < depth and len(rows) >= 2 * self.least:
                gain, column, code = self.best_test(rows, measure)
                if column >= 0:
                    heapq.heappush(waiting, (-gain, heap, column, code, rows))

        for heap, rows in self.leaves(tree):
            wait(heap, rows, (heap + 1).bit_length() - 1)
        while waiting and len(tree) < most:
            _, heap, column, code, rows = heapq.heappop(waiting)
            tree[heap] = column, code
            goes_left = self.columns[column].codes[rows] <= code
            level = (heap + 1).bit_length()
            wait(2 * heap + 1, rows[goes_left], level)
            wait(2 * heap + 2, rows[~goes_left], level)
        self.prune(tree)
        return tree

    def leaves(self, tree: Tree) -> list[tuple[int, NDArray[np.int64]]]:
        """Return the places of leaves, and their rows."""
        found, waiting = [], [(0, np.arange(len(self.goal.values)))]
        while waiting:
            heap, rows = waiting.pop()
            if heap not in tree:
                found.append((heap, rows))
                continue
            goes_left = self.columns[tree[heap][0]].codes[rows] <= tree[heap][1]
            waiting += [(2 * heap + 1, rows[goes_left]), (2 * heap + 2, rows[~goes_left])]
        return found

    def extended(self, tree: Tree, depth: int, most: int) -> Tree:
        """Return a tree grown on below its leaves."""
        return self.grow(depth, most, measures_of(self.goal)[0], tree)

    def prune(self, tree: Tree, heap: int = 0, rows: NDArray[np.int64] | None = None) -> int:
        """Take away tests that lose no less than a leaf with what they cost; return what the tree loses with them."""
        rows = np.arange(len(self.goal.values)) if rows is None else rows
        as_leaf = self.leaf(rows)
        if heap not in tree:
            return as_leaf
        column, code = tree[heap]
        goes_left = self.columns[column].codes[rows] <= code
        both = self.prune(tree, 2 * heap + 1, rows[goes_left]) + self.prune(tree, 2 * heap + 2, rows[~goes_left])
        if both + self.goal.price < as_leaf:
            return both + self.goal.price
        del tree[heap]  # both sides are leaves already, or were as good as one
        for below in _below(tree, heap):
            del tree[below]
        return as_leaf

    def best(self, depth: int, most: int) -> tuple[Tree, int]:
        """Return the tree that loses least of those grown by each measure, and what it loses, tests included."""
        grown = [self.grow(depth, most, measure) for measure in measures_of(self.goal)]
        losses = [self.prune(tree) for tree in grown]
        k = int(np.argmin(losses))
        return grown[k], losses[k]


def _below(tree: Tree, heap: int) -> list[int]:
    found, waiting = list[int](), [heap]
    while waiting:
        k = waiting.pop()
        for child in (2 * k + 1, 2 * k + 2):
            if child in tree:
                found.append(child)
                waiting.append(child)
    return found


def same_rows(columns: list[OrderedColumn], goal: Objective) -> int:
    """Return what rows lose that no test parts from rows of another class or target: no tree loses less."""
    if not goal.is_sum or not columns:
        return 0
    codes = np.ascontiguousarray(np.stack([column.codes for column in columns]).T)
    _, first, inverse = np.unique(
        codes.view([("", codes.dtype)] * codes.shape[1]).ravel(), return_index=True, return_inverse=True
    )
    sums = np.zeros((len(first), goal.values.shape[1]), np.int64)
    np.add.at(sums, inverse.ravel(), goal.values)
    several = sums[np.bincount(inverse.ravel()) > 1]
    if not isinstance(goal.loss, SquaresLost):
        several = several[np.count_nonzero(several, axis=1) > 1]
    leaf = type(goal.loss).leaf
    return sum(int(leaf(goal.loss, one)) for one in several)
