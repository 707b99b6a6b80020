"""How many leaves a tree with cases in parts has: those that have rows, and others that rows may still come to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtnumba.trees.layout import LEAF
from dtnumba.trees.subtrees import depth_levels, parents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.trees.layout import Trees

_NO_CASE = 1e-7  # weight of a leaf without cases


def with_rows(trees: Trees) -> int:
    """Return how many leaves of one tree have rows: what C5.0 prints as its size."""
    return max(int((trees.weight[trees.feature == LEAF] > _NO_CASE).sum()), 1)


def within_reach(trees: Trees) -> int:
    """Return how many leaves of one tree have rows, or are of levels that no test above keeps away."""
    empty = np.flatnonzero((trees.feature == LEAF) & (trees.weight <= _NO_CASE))
    if not len(empty) or trees.n_nodes == 1:
        return with_rows(trees)
    parent = parents(trees, depth_levels(trees))
    return with_rows(trees) + sum(len(_levels_of(trees, parent, leaf)) > 0 for leaf in empty.tolist())


def _levels_of(trees: Trees, parent: NDArray[np.int64], leaf: int) -> NDArray[np.int64]:
    """Return the levels of the column tested last with which a row can come to a leaf."""
    feature, node, left = trees.feature[parent[leaf]], leaf, None
    while parent[node] >= 0:
        above = int(parent[node])
        if trees.feature[above] == feature:
            own = trees.branch[trees.branch_start[above] : trees.branch_start[above + 1]]
            is_own = own == node - trees.left[above]
            left = is_own if left is None else left & is_own
        node = above
    return np.zeros(0, np.int64) if left is None else np.flatnonzero(left)
