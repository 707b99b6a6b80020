"""A tree to begin with: tests that look best by themselves. In Python: milliseconds, and nothing to compile."""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.optimal.columns import has_many_levels, rows_alike
from dtnumba.growth.optimal.losses.absolute import AbsoluteLost
from dtnumba.growth.optimal.losses.message import MessageLength
from dtnumba.growth.optimal.losses.spreads import SquaresLost

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.growth.optimal.columns import OrderedColumn
    from dtnumba.growth.optimal.objectives import Objective

_NANOSECONDS, _OF_DISTANCES = 150, 4000  # of a row, a column and a level
_LEAST_GAIN = 1e-12  # as a share of what a node's rows lose

Tree = dict[int, tuple[int, int]]  # place in heap order: column, and the last code that goes left


def measures_of(goal: Objective) -> list[Callable[[NDArray[Any]], NDArray[np.float64]]]:
    """Return how mixed rows of such sums are, in the ways that greedy trees ask."""
    if isinstance(goal.loss, AbsoluteLost):
        return [_distances]
    if isinstance(goal.loss, MessageLength):  # whose last sum counts rows
        return [lambda sums: _gini(sums[..., :-1]), lambda sums: _entropy(sums[..., :-1])]
    if isinstance(goal.loss, SquaresLost):
        loss = goal.loss
        return [
            lambda sums: (
                sums[..., 2] * loss.second
                - (sums[..., 1] * loss.first) ** 2 / np.maximum(sums[..., 0] * loss.weight, loss.weight)
            )
        ]
    return [_gini, _entropy]


def _distances(sums: NDArray[Any]) -> NDArray[np.float64]:
    """Stand for distances from the median, of which sums do not tell."""
    raise NotImplementedError


def _gini(sums: NDArray[Any]) -> NDArray[np.float64]:
    total = np.maximum(sums.sum(axis=-1), 1)
    return np.asarray(total - (sums * (sums / total[..., None])).sum(axis=-1))


def _entropy(sums: NDArray[Any]) -> NDArray[np.float64]:
    total = np.maximum(sums.sum(axis=-1), 1)
    return np.asarray((sums * np.log2(total[..., None] / np.maximum(sums, 1))).sum(axis=-1))


def seconds_of_growth(columns: list[OrderedColumn], goal: Objective, depth: int) -> float:
    """Return about how long greedy trees take."""
    each = _OF_DISTANCES if isinstance(goal.loss, AbsoluteLost) else _NANOSECONDS
    return len(measures_of(goal)) * len(goal.values) * len(columns) * min(depth, 12) * each * 1e-9


def running_distances(target: list[int], weight: list[int]) -> NDArray[np.int64]:
    """Return what the first rows lose, none to all of them: distances from their weighted median."""
    low, high, found = list[tuple[int, int]](), list[tuple[int, int]](), [0]
    below = above = low_sum = high_sum = 0
    for x, w in zip(target, weight, strict=True):
        if low and x > -low[0][0]:
            heapq.heappush(high, (x, w))
            above, high_sum = above + w, high_sum + w * x
        else:
            heapq.heappush(low, (-x, w))
            below, low_sum = below + w, low_sum + w * x
        while below < above:
            y, v = heapq.heappop(high)
            heapq.heappush(low, (-y, v))
            below, above, low_sum, high_sum = below + v, above - v, low_sum + v * y, high_sum - v * y
        while below - low[0][1] >= above + low[0][1]:
            y, v = heapq.heappop(low)
            heapq.heappush(high, (-y, v))
            below, above, low_sum, high_sum = below - v, above + v, low_sum + v * y, high_sum - v * y
        found.append(-low[0][0] * (below - above) - low_sum + high_sum)
    return np.array(found, np.int64)


class Greedy:
    """Greedy trees over the rows of a loss."""

    def __init__(
        self, columns: list[OrderedColumn], goal: Objective, least: int, is_over: Callable[[], bool] = lambda: False
    ) -> None:
        self.columns, self.goal, self.least, self.is_over = list(columns), goal, least, is_over
        self.divisible = list({one.feature: one for one in columns if has_many_levels(one)}.values())

    def leaf(self, rows: NDArray[np.int64]) -> int:
        """Return what rows lose as a leaf."""
        if isinstance(self.goal.loss, AbsoluteLost):
            target, weight = self._targets(rows)
            order = np.argsort(target, kind="stable")
            at = int(np.searchsorted(2 * np.cumsum(weight[order]), weight.sum()))
            return int((weight * np.abs(target - target[order[at]])).sum())
        return int(type(self.goal.loss).leaf(self.goal.loss, self.goal.values[rows].sum(axis=0)))

    def _targets(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        assert self.goal.labels is not None  # which target each row has
        return self.goal.loss.target[self.goal.labels[rows]], self.goal.values[rows, 0]

    def best_test(self, rows: NDArray[np.int64], measure: Any) -> tuple[float, int, int]:
        """Return what the best test of some rows gains, its column and last code left; column -1 for none."""
        values = self.goal.values[rows]
        total = values.sum(axis=0)
        by_distance = measure is _distances
        target, weight = self._targets(rows) if by_distance else (rows, rows)
        whole = float(self.leaf(rows) if by_distance else measure(total))
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
            if by_distance:
                t, w = target[order].tolist(), weight[order].tolist()
                found = (running_distances(t, w) + running_distances(t[::-1], w[::-1])[::-1])[cuts]
            else:
                left = np.cumsum(values[order], axis=0)[cuts - 1]
                found = measure(left) + measure(total - left)
            k = int(found.argmin())
            if found[k] < best:
                best, column, code = float(found[k]), j, int(ranked[cuts[k] - 1])
        for one in self.divisible if self.goal.is_sum else []:
            lost, group, side = self._best_division(one, rows, values, measure)
            if lost < best:
                best, column, code = lost, self._place_of(one, group, side), 0
        return whole - best, column, code

    def _best_division(
        self, one: OrderedColumn, rows: NDArray[np.int64], values: NDArray[np.int64], measure: Any
    ) -> tuple[float, tuple[int, ...], int]:
        """Return the best division of a category's levels in the order of a class's share, or of the mean target.

        What its sides lose, the levels of one side, and where rows go that lack it: 0 with these.
        """
        present, which = np.unique(one.level[rows], return_inverse=True)
        sums = np.zeros((len(present), values.shape[1]), np.int64)
        np.add.at(sums, which, values)
        counts, total = np.bincount(which), values.sum(axis=0)
        lacks, n_lack = np.zeros_like(total), 0
        if present[0] < 0:
            lacks, n_lack, present, sums, counts = sums[0], counts[0], present[1:], sums[1:], counts[1:]
        best: tuple[float, tuple[int, ...], int] = (np.inf, (), 0)
        is_number = isinstance(self.goal.loss, SquaresLost)
        of_all = np.maximum(sums[:, 0] if is_number else sums.sum(axis=1), 1)
        for k in [1] if is_number or values.shape[1] == 2 else range(values.shape[1]):
            order = np.argsort(sums[:, k] / of_all, kind="stable")
            for side in (0, 1) if n_lack else (1,):
                left = np.cumsum(sums[order], axis=0)[:-1] + (lacks if side == 0 else 0)
                n_left = np.cumsum(counts[order])[:-1] + (n_lack if side == 0 else 0)
                is_legal = (n_left >= self.least) & (len(rows) - n_left >= self.least)
                found = np.where(is_legal, measure(left) + measure(total - left), np.inf)
                if len(found) and found.min() < best[0]:
                    at = int(found.argmin())
                    best = float(found[at]), tuple(sorted(present[order[: at + 1]].tolist())), side
        return best

    def _place_of(self, one: OrderedColumn, group: tuple[int, ...], side: int) -> int:
        """Return the number of the column that divides a category so, which is appended where it is new."""
        missing = side if one.missing >= 0 else -1
        for k, other in enumerate(self.columns):
            if other.feature == one.feature and other.levels == group and other.missing == missing:
                return k
        codes = np.where(np.isin(one.level, group), 0, 1).astype(np.int32)
        codes[one.level < 0] = side
        self.columns.append(replace(one, codes=codes, levels=group, missing=missing))
        return len(self.columns) - 1

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

    def _price(self, column: int, rows: NDArray[np.int64], spent: int) -> tuple[int, int]:
        """Return what a test on a column costs, and whether it spends the column, which changes prices below."""
        if not isinstance(self.goal.loss, MessageLength):
            return self.goal.price, 0
        price = self.goal.loss.test_price(None, column, spent, self.goal.values[rows].sum(axis=0))
        return int(price), int(self.goal.loss.spends(column))

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
    first, kind = rows_alike(np.stack([column.codes for column in columns]).T)
    sums = np.zeros((len(first), goal.values.shape[1]), np.int64)
    np.add.at(sums, kind, goal.values)
    several = sums[np.bincount(kind) > 1]
    if not isinstance(goal.loss, SquaresLost):
        several = several[np.count_nonzero(several, axis=1) > 1]
    leaf = type(goal.loss).leaf
    return sum(int(leaf(goal.loss, one)) for one in several)
