"""Greedy trees in the tests of a search, to begin with; and what rows lose that no test parts."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.optimal.columns import rows_alike
from dtnumba.growth.optimal.losses.absolute import AbsoluteLost
from dtnumba.growth.optimal.losses.message import MessageLength
from dtnumba.growth.optimal.losses.spreads import SquaresLost

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.growth.optimal.columns import OrderedColumn
    from dtnumba.growth.optimal.objectives import Objective
    from dtnumba.trees.layout import Trees

Tree = dict[int, tuple[int, int]]  # place in heap order: column, and the last code that goes left


@dataclass(frozen=True)
class Grower:
    """How our greedy learners grow trees of the rows of a search."""

    # (rows, levels, tests): trees of so many at most; rows None: all
    grow: Callable[[NDArray[np.int64] | None, int, int], list[Trees]]
    # Of a feature, what trees compare: numbers, or levels of a category; NaN where it is missing
    values: Callable[[int], NDArray[np.float64]]
    n_features: int
    nanoseconds: float  # of a row, a feature and a level

    def seconds(self, n_rows: int, depth: int) -> float:
        """Return about how long greedy trees take."""
        return n_rows * self.n_features * min(depth, 12) * self.nanoseconds * 1e-9


class Greedy:
    """Greedy trees over the rows of a loss."""

    def __init__(self, columns: list[OrderedColumn], goal: Objective, grower: Grower | None) -> None:
        self.columns, self.goal, self.grower = list(columns), goal, grower
        self.of_feature = defaultdict[int, list[int]](list)
        for k, column in enumerate(columns):
            self.of_feature[column.feature].append(k)
        self._values = dict[int, Any]()
        self._divisions: dict[bytes, int] | None = None

    def trees(self, depth: int, most: int) -> list[tuple[Tree, int]]:
        """Return greedy trees, pruned to the price of tests, and what they lose, tests included."""
        found = [self.tests_of(trees) for trees in self.grower.grow(None, depth, most)] if self.grower else []
        return [(tree, self.prune(tree)) for tree in found]

    def extended(self, tree: Tree, depth: int, most: int, is_over: Callable[[], bool]) -> Tree:
        """Return a tree grown on below its leaves, those that lose most first."""
        leaves = [(self.leaf(rows), heap, rows) for heap, rows in self.leaves(tree)]
        for loss, heap, rows in sorted(leaves, key=lambda one: (-one[0], one[1])):
            levels, left = depth + 1 - (heap + 1).bit_length(), most - len(tree)
            if loss <= self.goal.price or min(levels, left) <= 0 or self.grower is None or is_over():
                continue
            grown = [self.tests_of(trees, heap, rows) for trees in self.grower.grow(rows, levels, left)]
            losses = [self.prune(below, heap, rows) for below in grown]
            tree |= grown[int(np.argmin(losses))]
        return tree

    def leaf(self, rows: NDArray[np.int64]) -> int:
        """Return what rows lose as a leaf."""
        loss = self.goal.loss
        if isinstance(loss, AbsoluteLost):
            assert self.goal.labels is not None  # which target each row has
            target, weight = loss.target[self.goal.labels[rows]], self.goal.values[rows, 0]
            order = np.argsort(target, kind="stable")
            at = int(np.searchsorted(2 * np.cumsum(weight[order]), weight.sum()))
            return int((weight * np.abs(target - target[order[at]])).sum())
        return int(type(loss).leaf(loss, self.goal.values[rows].sum(axis=0)))

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

    def tests_of(self, trees: Trees, heap: int = 0, rows: NDArray[np.int64] | None = None) -> Tree:
        """Return a tree that grew of some rows as tests of the search, from some place on."""
        tree = Tree()
        waiting = [(0, heap, np.arange(len(self.goal.values)) if rows is None else rows)]
        while waiting:
            node, heap, here = waiting.pop()
            feature = int(trees.feature[node])
            if feature < 0:
                continue
            goes_left = self._goes_left(trees, node, self._values_of(feature)[here])
            column, code, swaps = self._test(feature, here, goes_left)
            tree[heap] = column, code
            child, step = int(trees.left[node]) + swaps, 1 - 2 * swaps
            sides = (here[~goes_left], here[goes_left]) if swaps else (here[goes_left], here[~goes_left])
            waiting += [(child, 2 * heap + 1, sides[0]), (child + step, 2 * heap + 2, sides[1])]
        return tree

    def _values_of(self, feature: int) -> NDArray[np.float64]:
        if feature not in self._values:
            assert self.grower is not None  # which has grown what asks for them
            self._values[feature] = self.grower.values(feature)
        return np.asarray(self._values[feature])

    @staticmethod
    def _goes_left(trees: Trees, node: int, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        if len(trees.level) > 0 and np.isnan(trees.threshold[node]):
            left = trees.level[trees.level_start[node] : trees.level_start[node + 1]]
            goes_left = np.isin(values, left)
        else:
            goes_left = values <= trees.threshold[node]
        return np.where(np.isnan(values), trees.missing_left[node] != 0, goes_left)

    def _test(self, feature: int, rows: NDArray[np.int64], goes_left: NDArray[np.bool_]) -> tuple[int, int, int]:
        """Return the column and the last code left that part some rows so, and 1 if the sides change places."""
        for k in self.of_feature[feature]:
            codes = self.columns[k].codes[rows]
            left, right = codes[goes_left], codes[~goes_left]
            if left.max() < right.min():
                return k, int(left.max()), 0
            if right.max() < left.min():
                return k, int(right.max()), 1
        return self._division(feature, rows, goes_left)

    def _division(self, feature: int, rows: NDArray[np.int64], goes_left: NDArray[np.bool_]) -> tuple[int, int, int]:
        """Return likewise what parts all rows by which values go left here; it is appended where it is new."""
        if self._divisions is None:
            binary = [(k, column) for k, column in enumerate(self.columns) if column.last_code == 1]
            self._divisions = {_bits(column.codes): k for k, column in reversed(binary)}
        values = self._values_of(feature)
        lacks, here = np.isnan(values), values[rows]
        group = np.unique(here[goes_left & ~lacks[rows]])
        missing = int(not goes_left[lacks[rows]].any())
        codes = np.where(lacks, missing, ~np.isin(values, group)).astype(np.int32)
        name = _bits(codes)
        if name not in self._divisions:
            like = self.columns[self.of_feature[feature][0]]
            self._divisions[name] = len(self.columns)
            levels = tuple(group.astype(np.int64).tolist())
            self.columns.append(replace(like, codes=codes, levels=levels, missing=missing if lacks.any() else -1))
        k = self._divisions[name]
        return k, 0, int(self.columns[k].codes[rows][goes_left].max())

    def _price(self, column: int, rows: NDArray[np.int64], spent: int) -> tuple[int, int]:
        """Return what a test on a column costs, and whether it spends the column, which changes prices below."""
        loss = self.goal.loss
        if not isinstance(loss, MessageLength):
            return self.goal.price, 0
        if column >= len(loss.levels):  # appended
            column = self.of_feature[self.columns[column].feature][0]
        price = loss.test_price(None, column, spent, self.goal.values[rows].sum(axis=0))
        return int(price), int(loss.spends(column))

    def prune(self, tree: Tree, heap: int = 0, rows: NDArray[np.int64] | None = None, spent: int = 0) -> int:
        """Take away tests that lose no less than a leaf with what they cost; return what the tree loses with them."""
        rows = np.arange(len(self.goal.values)) if rows is None else rows
        as_leaf = self.leaf(rows)
        if heap not in tree:
            return as_leaf
        column, code = tree[heap]
        goes_left = self.columns[column].codes[rows] <= code
        price, spends = self._price(column, rows, spent)
        both = self.prune(tree, 2 * heap + 1, rows[goes_left], spent + spends)
        both += self.prune(tree, 2 * heap + 2, rows[~goes_left], spent + spends)
        if both + price < as_leaf:
            return both + price
        del tree[heap]  # both sides are leaves already, or were as good as one
        for below in _below(tree, heap):
            del tree[below]
        return as_leaf


def _bits(codes: NDArray[Any]) -> bytes:
    return np.packbits(codes != codes[0]).tobytes()


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
    first, kind = rows_alike(np.stack([column.codes for column in columns]).T)
    sums = np.zeros((len(first), goal.values.shape[1]), np.int64)
    np.add.at(sums, kind, goal.values)
    several = sums[np.bincount(kind) > 1]
    if not isinstance(goal.loss, SquaresLost):
        several = several[np.count_nonzero(several, axis=1) > 1]
    leaf = type(goal.loss).leaf
    return sum(int(leaf(goal.loss, one)) for one in several)
