"""Bits that describe a tree, and the labels of rows for one who knows the tree (Quinlan & Rivest 1989).

A test says its column, and then what it does with it: thresholds and cuts name themselves among those there are. A
category that was split into all its values is spent for the nodes below. Leaves say their class, and which rows are
exceptions. Wallace & Patrick (1993) count the shape of the tree, and the labels in a leaf, differently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtnumba.criteria.special_functions import LOG2_E, log2_choose, log_gamma
from dtnumba.trees.layout import LEAF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.trees.layout import Trees
    from dtnumba.trees.subtrees import Level


def test_bits(
    trees: Trees, levels: list[Level], n_features: int, cuts: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the bits that say what each inner node tests; 0 at leaves.

    Parameters
    ----------
    trees, levels : Trees, list of Level
        The trees and their levels.
    n_features : int
        Columns that a test may choose from.
    cuts : array of shape (features,), optional
        How many cuts each column offers; a column of one cut is spent by its test. None: one fewer than the node has
        rows, which is as many as there can be.

    """
    inner = trees.feature != LEAF
    n_cuts, n_entries, n_levels = (
        _lengths(start, trees.n_nodes) for start in (trees.cut_start, trees.branch_start, trees.level_start)
    )
    fan = np.where(inner, trees.right - trees.left + 1, 1)
    splits_all = (n_entries == fan) & (n_cuts == 0) & inner
    is_threshold = inner & (n_cuts == 0) & (n_entries == 0) & (n_levels == 0)
    offered = np.maximum(trees.n_samples - 1, 1) if cuts is None else np.maximum(cuts, 1)[trees.feature]
    bits = np.where(inner, np.where(is_threshold, 1, n_cuts) * np.log2(offered), 0.0)
    groups = inner & (n_entries > 0) & (n_cuts == 0) & ~splits_all
    bits[groups] += n_entries[groups] * np.log2(fan[groups])  # which group each category belongs to
    # Which of two sides: a bit for each level that the rows of the node may have, at most one a row.
    offered_levels = trees.n_samples if cuts is None else np.minimum(cuts[trees.feature] + 1, trees.n_samples)
    bits[n_levels > 0] = np.maximum(offered_levels, n_levels)[n_levels > 0]
    spends = splits_all if cuts is None else splits_all | (is_threshold & (offered <= 1))
    spent = np.zeros(trees.n_nodes, np.int64)
    for level in levels:
        spent[level.children] = np.repeat((spent + spends)[level.inner], level.fan)
    return bits + np.where(inner, np.log2(np.maximum(n_features - spent, 1)), 0.0)


def _lengths(start: NDArray[np.int64], n_nodes: int) -> NDArray[np.int64]:
    return np.diff(start) if len(start) == n_nodes + 1 else np.zeros(n_nodes, np.int64)


def arity_bits(trees: Trees, levels: list[Level], n_features: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bits that say of each node that it is a leaf, or a test, by Wallace & Patrick.

    Below a test of b branches a node is a leaf with probability (b - 1) / b, which is what trees must have on average
    to end; the root with 1 / columns.
    """
    fan = np.full(trees.n_nodes, float(max(n_features, 2)))
    leaf = np.log2(fan)
    test = -np.log2(1.0 - 1.0 / fan)
    for level in levels:
        b = np.repeat(level.fan, level.fan)
        leaf[level.children], test[level.children] = np.log2(b / (b - 1)), np.log2(b)
    return leaf, test


def whole_leaf_bits(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the bits of the labels in each leaf: its class, how many rows are exceptions, which, and so on for them.

    With n rows of K classes there are at most b = (n + 1)(K - 1) / K exceptions, rounded down, and k of them take
    log(b + 1) + log C(n, k). The criterion ``mdl`` has this code as a kernel (``description_length.leaf_bits``), for
    nodes that hold rows: there an empty leaf takes no bits, and here it still says its class. Weights that are no whole
    numbers may leave more exceptions than b, which growth overlooks and this does not.
    """
    ordered = -np.sort(-counts, axis=1)
    n_classes, bits = counts.shape[1], np.zeros(len(counts))
    n = ordered.sum(axis=1)
    for j in range(n_classes - 1):
        exceptions, left = np.maximum(n - ordered[:, j], 0.0), n_classes - j
        most = np.maximum(np.floor((n + 1.0) * (left - 1) / left), exceptions)
        code = np.log2(left) + np.log2(most + 1.0) + log2_choose(n, exceptions)
        bits += code if j == 0 else np.where(n > 0, code, 0.0)
        n = exceptions
    return bits


def dirichlet_bits(counts: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Return the bits of the labels in each leaf, one by one, each by the shares of those before and alpha more."""
    n, n_classes = counts.sum(axis=1), counts.shape[1]
    nats = log_gamma(n + n_classes * alpha) - log_gamma(n_classes * alpha)
    nats -= (log_gamma(counts + alpha) - log_gamma(alpha)).sum(axis=1)
    return np.asarray(nats * LOG2_E)
