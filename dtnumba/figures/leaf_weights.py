"""Partial dependence by the leaves of trees, in one descent of all rows.

At a test of the column in question rows go down every branch, each for its range of values; at all other tests they go
where they go. So a leaf says its number for the rows that reach it, in the range of values that leads there. That is
as much work as the rows have leaves, whereas asking a forest at each of its cuts is as much as rows times cuts.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dtnumba.export.reading import AMONG, BY_RANGE, UP_TO, ReadTrees, absent_of, kinds_of
from dtnumba.trees.layout import n_entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dtnumba.export.reading import ReadRules


def leaves_add_up(found: ReadTrees | ReadRules) -> bool:
    """Tell whether an answer is the mean of what leaves say, each reached by one branch after another."""
    if not isinstance(found, ReadTrees) or found.is_shared or found.late_votes is not None:
        return False
    return len(found.trees.surrogates.feature) == 0


def by_leaves(
    found: ReadTrees, rows: NDArray[np.float64], j: int, asked: NDArray[np.float64], k: int, kept: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what trees say on average, and of some rows, where column j has given values and the rest is as it is.

    Parameters
    ----------
    found : ReadTrees
        The trees.
    rows : array of shape (rows, columns)
        Numbers, and categories as the numbers of their levels.
    j : int
        The column.
    asked : array of shape (places,)
        Its values, ascending.
    k : int
        Which share or number of an answer.
    kept : array of int
        The rows whose own curves are returned.

    Returns
    -------
    means, curves : arrays of shape (places,) and (rows kept, places)

    """
    said = found.said[:, 0 if found.says_second else k]
    if found.says_second and k == 0:
        said = 1.0 - said
    means, curves = np.zeros(len(asked) + 1), np.zeros((len(kept), len(asked) + 1))
    place_of = np.full(len(rows), -1)
    place_of[kept] = np.arange(len(kept))
    descent = _Descent(found, rows, j, asked)
    for root in found.trees.root[:-1].tolist():
        for node, own, low, high in descent.ends(root):
            value = said[node]
            means[low] += value * len(own)
            means[high] -= value * len(own)
            if len(kept):
                here = place_of[own]
                here = here[here >= 0]
                curves[here, low] += value
                curves[here, high] -= value
    n_trees = found.trees.n_trees
    return means.cumsum()[:-1] / (n_trees * len(rows)), curves.cumsum(axis=1)[:, :-1] / n_trees


class _Descent:
    """Rows on their way down, and the range of values that each group of them stands for."""

    def __init__(self, found: ReadTrees, rows: NDArray[np.float64], j: int, asked: NDArray[np.float64]) -> None:
        self._trees, self._rows, self._j, self._asked = found.trees, rows, j, asked
        self._kind, self._absent = kinds_of(found.trees), absent_of(found.trees)
        self._has_map = n_entries(found.trees.branch_start, found.trees.n_nodes) > 0

    def ends(self, root: int) -> Iterator[tuple[int, NDArray[np.int64], int, int]]:
        """Yield where rows end: the node, the rows, and the first and last place (exclusive) that leads there."""
        waiting = [(root, np.arange(len(self._rows)), 0, len(self._asked))]
        while waiting:
            node, own, low, high = waiting.pop()
            if self._kind[node] == 0:
                yield node, own, low, high
                continue
            feature = int(self._trees.feature[node])
            if feature == self._j:
                going = self._children(node, self._asked[low:high])
                ends = [0, *(np.flatnonzero(np.diff(going)) + 1).tolist(), len(going)]
                groups = [(int(going[a]), own, low + a, low + b) for a, b in pairwise(ends)]
            else:
                going = self._children(node, self._rows[own, feature])
                groups = [(int(child), own[going == child], low, high) for child in np.unique(going)]
            for group in groups:
                if group[0] == node:  # where a missing value stays
                    yield group
                else:
                    waiting.append(group)

    def _children(self, node: int, x: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the node that each value goes to; the node itself where it stays."""
        trees, kind = self._trees, self._kind[node]
        if kind == UP_TO:
            way = np.where(x <= trees.threshold[node], 0, 1)
        elif kind == AMONG:
            way = np.where(np.isin(x, trees.level[trees.level_start[node] : trees.level_start[node + 1]]), 0, 1)
        else:
            way = np.zeros(len(x), np.int64)
            place = np.where(np.isnan(x), 0, x).astype(np.int64)
            if kind == BY_RANGE:
                way = place = np.searchsorted(trees.cut[trees.cut_start[node] : trees.cut_start[node + 1]], x)
            if self._has_map[node]:
                ways = trees.branch[trees.branch_start[node] : trees.branch_start[node + 1]]
                way = np.where((place >= 0) & (place < len(ways)), ways[np.clip(place, 0, len(ways) - 1)], -1)
        return np.asarray(np.where(np.isnan(x) | (way < 0), self._absent[node], trees.left[node] + way), np.int64)
