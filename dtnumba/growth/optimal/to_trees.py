"""The tests that a search found, with what nodes hold, as Trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.tables.floats import midpoint
from dtnumba.trees.layout import LEAF, NO_LEVELS, NO_MAP, Trees

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.growth.optimal.columns import OrderedColumn
    from dtnumba.growth.optimal.greedy import Tree


class Described(NamedTuple):
    """What a node says of its rows."""

    value: NDArray[np.float64]
    weight: float
    impurity: float


def to_trees(tree: Tree, columns: list[OrderedColumn], n_rows: int, describe: Callable[[Any], Described]) -> Trees:
    """Return Trees of tests (column, last code left), by places in heap order; ``describe(rows)`` says the rest."""
    rows = [np.arange(n_rows)]
    places = [0]
    # Children stand side by side, numbered when their parent is reached; left subtrees first, as in all Trees.
    stack, feature, left = [0], [LEAF], [LEAF]
    threshold, missing_left, levels = [np.nan], [0], [list[int]()]
    described = [describe(rows[0])]
    while stack:
        node = stack.pop()
        heap = places[node]
        if heap not in tree:
            continue
        column, code = columns[tree[heap][0]], tree[heap][1]
        goes_left = column.codes[rows[node]] <= code
        sides = [rows[node][goes_left], rows[node][~goes_left]]
        heaps = [2 * heap + 1, 2 * heap + 2]
        parts = [describe(side) for side in sides]
        swaps, threshold[node], levels[node] = _test(column, code, rows[node], parts)
        lacks = column.missing >= 0 and bool((column.codes[rows[node]] == column.missing).any())
        if swaps:
            sides, heaps, parts = sides[::-1], heaps[::-1], parts[::-1]
        if column.missing >= 0 and lacks:
            missing_left[node] = int((column.missing <= code) != swaps)
        else:
            missing_left[node] = int(parts[0].weight > parts[1].weight)
        feature[node], left[node] = column.feature, len(rows)
        stack += [len(rows) + 1, len(rows)]
        rows, places, described = rows + sides, places + heaps, described + parts
        feature, left, missing_left = feature + [LEAF] * 2, left + [LEAF] * 2, missing_left + [0] * 2
        threshold, levels = threshold + [np.nan] * 2, [*levels, [], []]
    return _trees(rows, feature, left, threshold, missing_left, levels, described)


def _test(
    column: OrderedColumn, code: int, rows: NDArray[np.int64], parts: list[Described]
) -> tuple[bool, float, list[int]]:
    """Return whether the sides change places, the threshold of a number, and the levels left of a category."""
    if column.n_levels:
        # The levels left are those of the lighter side, of rows that are here; one side may hold missing values alone.
        here, is_left = column.level[rows], column.codes[rows] <= code
        sides = [np.unique(here[side & (here >= 0)]).tolist() for side in (is_left, ~is_left)]
        swaps = parts[0].weight > parts[1].weight if all(sides) else not sides[0]
        return swaps, np.nan, sides[int(swaps)]
    codes = column.codes[rows]
    if column.missing == len(column.last) - 1 and column.last[-1] < 0 and code == column.missing - 1:
        return False, np.inf, []
    # Halfway between the values that rows of the node have on both sides.
    known = codes[codes != column.missing] if column.last[-1] < 0 else codes
    low, high = known[known <= code], known[known > code]
    if len(high) == 0 or len(low) == 0:
        return False, float(np.inf), []
    below, above = column.last[low.max()], column.last[high.min() - 1] + 1
    return False, float(midpoint(column.values[below : below + 1], column.values[above : above + 1])[0]), []


def _trees(
    rows: list[Any],
    feature: list[int],
    left: list[int],
    threshold: list[float],
    missing_left: list[int],
    levels: list[list[int]],
    described: list[Described],
) -> Trees:
    first = np.array(left, np.int32)
    inner = first != LEAF
    weight = np.array([one.weight for one in described])
    impurity = np.array([one.impurity for one in described])
    gain = np.zeros(len(first))
    children = first[inner]
    below = weight[children] * impurity[children] + weight[children + 1] * impurity[children + 1]
    gain[inner] = np.maximum(impurity[inner] - below / weight[inner], 0.0)
    level_start, level = NO_MAP, NO_LEVELS
    if any(levels):
        level_start = np.concatenate([[0], np.cumsum([len(one) for one in levels])]).astype(np.int64)
        level = np.array([number for one in levels for number in one], np.int32)
    return Trees(
        np.array([0, len(first)], np.int64),
        np.array(feature, np.int32),
        np.array(threshold),
        first,
        np.where(inner, first + 1, LEAF).astype(np.int32),
        np.array(missing_left, np.uint8),
        np.array([one.value for one in described]),
        NO_MAP,
        np.empty(0, np.int32),
        NO_MAP,
        np.empty(0),
        np.array([len(one) for one in rows], np.int64),
        weight,
        impurity,
        gain,
        level_start=level_start,
        level=level,
    )


def weighted_median(y: NDArray[np.float64], weight: NDArray[Any]) -> float:
    """Return the weighted median: the middle of two numbers where half of the weight ends between them."""
    order = np.argsort(y, kind="stable")
    below = np.cumsum(weight[order])
    at = int(np.searchsorted(2 * below, below[-1]))
    low = float(y[order[at]])
    if 2 * below[at] > below[-1] or at + 1 == len(y):
        return low
    return low / 2 + float(y[order[at + 1]]) / 2
