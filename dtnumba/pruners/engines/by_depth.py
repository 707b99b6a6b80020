"""The template of pruning (Shalev-Shwartz & Ben-David 2014, section 18.2.2) where the estimate is a sum over leaves.

From the leaves up, every inner node becomes the best of a leaf and what is left of its subtree. A sum over leaves makes
the choices at one depth independent of each other, so that a pass per level makes them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.trees.layout import LEAF
from dtnumba.trees.subtrees import rebuilt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.trees.layout import Trees
    from dtnumba.trees.subtrees import Level


# What rounding leaves between two equal sums, as a share of them; the simpler of two equal trees wins.
ROUNDING = 1e-12


def cut_where_cheaper(
    trees: Trees,
    levels: list[Level],
    at_leaf: NDArray[np.float64],
    at_test: NDArray[np.float64] | float = 0.0,
    slack: float = 0.0,
) -> Trees:
    """Return the trees in which a leaf takes the place of every subtree that costs as much or more.

    Parameters
    ----------
    trees, levels : Trees, list of Level
        The trees and their levels.
    at_leaf : array, by node
        What each node costs as a leaf.
    at_test : array, by node, or a number
        What the test of each node costs; a subtree costs its leaves and its tests.
    slack : float
        By how much a leaf may cost more and still win.

    """
    best, is_leaf = at_leaf.copy(), trees.feature == LEAF
    tests: Any = np.broadcast_to(at_test, at_leaf.shape)
    for level in reversed(levels):
        kept = tests[level.inner] + np.add.reduceat(best[level.children], level.starts)
        leaf = at_leaf[level.inner]
        wins = leaf <= kept + slack + ROUNDING * np.abs(kept)
        is_leaf[level.inner] = wins
        best[level.inner] = np.where(wins, leaf, kept)
    return rebuilt(trees, levels, is_leaf)
