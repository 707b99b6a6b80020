"""Growth that stops where rows held out say so, or at the number of leaves that cross-validation prefers.

What a node's split is depends on its rows and its path alone. So a tree may be grown whole and cut afterwards, from the
root down, and is the tree whose branches stopped early; where the number of leaves is limited, the order of best-first
growth is replayed over the splits that stay, so that a branch that stopped early takes nothing of the budget.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.prediction.walk_tree import leaves_of, pack
from dtnumba.runtime import rng
from dtnumba.tables.table import Table
from dtnumba.trees.layout import LEAF, Trees, depths
from dtnumba.trees.subtrees import Level, below, cut_below, depth_levels, squares_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.tables.binned_table import Features
    from dtnumba.tables.costs import LeastCost


# An improvement below this share of a node's loss is rounding.
_ROUNDING = 1e-12


class ValidationRows(NamedTuple):
    """Rows that growth did not see, with their targets, weights and costs; splits are judged by their loss."""

    table: Features
    target: NDArray[Any]  # (n, outputs): codes of classes, or numbers
    weight: NDArray[np.float64]  # (n,)
    sizes: Sequence[int] | None  # classes of each output; None where the target is numbers
    rule: LeastCost | None = None  # how nodes label, and what a wrong label costs; None: the commonest class, and 1

    def of(self, trees: Trees) -> NDArray[Any]:
        """Return the prediction of every node of trees over these classes: codes, a column an output, or numbers."""
        if self.sizes is None:
            return trees.value
        shares = np.split(trees.value, np.cumsum(self.sizes)[:-1], axis=1)
        return np.stack([of.argmax(axis=1) if self.rule is None else self.rule.codes(of) for of in shares], axis=1)


class Losses(NamedTuple):
    """The loss of held-out rows at each node, if it were a leaf."""

    as_leaf: NDArray[np.float64]  # (nodes,)
    size: NDArray[np.float64]  # (nodes,): what rounding is measured against


def losses_of(
    trees: Trees, held_out: ValidationRows, values: NDArray[Any], levels: list[Level], workers: int = 1
) -> Losses:
    """Return the weight (or cost) of wrong labels, or the squared error, of the rows at each node, over all outputs.

    Parameters
    ----------
    trees : Trees
        The trees whose nodes are scored.
    held_out : ValidationRows
        The rows.
    values : array of shape (nodes, outputs)
        The predictions of the nodes, in the codes of the rows.
    levels : list of Level
        Those of the trees.
    workers : int
        Threads.

    """
    packed = pack(trees, int(depths(trees).max())) if trees.is_binary else None
    as_leaf, size = np.zeros(trees.n_nodes), np.zeros(trees.n_nodes)
    is_counted = held_out.weight > 0.0
    leaves = np.empty((trees.n_trees, len(held_out.weight)), np.int64)
    for first, cells in held_out.table.row_blocks():
        block = Table.block(cells)
        for t in range(trees.n_trees):
            leaves[t, first : first + cells.n_rows] = leaves_of(block, trees, packed, workers, t)
    rows = np.tile(np.flatnonzero(is_counted), trees.n_trees)
    at = leaves[:, is_counted].ravel()
    for o in range(held_out.target.shape[1]):
        parts = (values[:, o], at, held_out.target[rows, o], held_out.weight[rows], levels)
        costs = None if held_out.rule is None else held_out.rule.costs
        if held_out.sizes is None:
            loss = scale = squares_below(levels, *parts[1:4], values[:, o])
        else:
            loss, scale = _errors(*parts, held_out.sizes[o], costs)
        as_leaf, size = as_leaf + loss, size + scale
    return Losses(as_leaf, size)


def _errors(
    values: NDArray[np.int64],
    at: NDArray[np.int64],
    codes: NDArray[Any],
    weight: NDArray[np.float64],
    levels: list[Level],
    n_classes: int,
    costs: NDArray[np.float64] | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    m = len(values)
    cell = at * n_classes + codes
    counts = below(levels, np.bincount(cell, weights=weight, minlength=m * n_classes).reshape(m, n_classes))
    total = below(levels, np.bincount(at, weights=weight, minlength=m))
    if costs is not None:
        return (counts * costs.T[values]).sum(axis=1), total * costs.max()
    return total - counts[np.arange(m), values], total


def improvements(losses: Losses, trees: Trees, levels: list[Level]) -> NDArray[np.float64]:
    """Return by how much each node's split lowers the loss of the rows held out; 0 at leaves, and for rounding."""
    lower = np.zeros(trees.n_nodes)
    for level in levels:
        if len(level.inner):
            apart = np.add.reduceat(losses.as_leaf[level.children], level.starts)
            gain = losses.as_leaf[level.inner] - apart
            lower[level.inner] = np.where(np.abs(gain) > _ROUNDING * losses.size[level.inner], gain, 0.0)
    return lower


def expansions(trees: Trees, is_open: NDArray[np.bool_], most_leaves: int) -> list[NDArray[np.int64]]:
    """Return the nodes of each tree in the order in which best-first growth divides them.

    Parameters
    ----------
    trees : Trees
        Grown to the end.
    is_open : array of bool, by node
        Nodes that may be divided; what hangs below others is never met.
    most_leaves : int
        Of a tree.

    """
    keys = _keys(trees)
    # As growth weighs it, so that ties are the same.
    worth = trees.weight / np.repeat(trees.weight[trees.root[:-1]], np.diff(trees.root)) * trees.gain
    found = []
    for root in trees.root[:-1].tolist():
        order: list[int] = []
        waiting: list[tuple[float, int, int]] = []
        born = [root]
        while len(order) + 1 < most_leaves:
            for node in born:
                if is_open[node]:
                    heapq.heappush(waiting, (-float(worth[node]), int(keys[node]), node))
            if not waiting:
                break
            order.append(heapq.heappop(waiting)[2])
            born = list(range(int(trees.left[order[-1]]), int(trees.right[order[-1]]) + 1))
        found.append(np.array(order, np.int64))
    return found


def _keys(trees: Trees) -> NDArray[np.uint64]:
    """Return the path from the root to each node as growth spells it; it decides between nodes of equal gain."""
    keys = np.full(trees.n_nodes, rng.ROOT_KEY, np.uint64)
    for level in depth_levels(trees):
        parent = np.repeat(keys[level.inner], level.fan)
        side = (level.children - np.repeat(level.children[level.starts], level.fan)).astype(np.uint64)
        is_short = parent < np.uint64(1 << 62)
        keys[level.children] = np.where(is_short, parent * np.uint64(2) + side, rng.mix_all(parent, side))
    return keys


def stopped_early(trees: Trees, held_out: ValidationRows, most_leaves: int | None, workers: int = 1) -> Trees:
    """Return the trees whose branches end where a split does not improve the prediction of the rows held out.

    ``most_leaves`` limits the leaves of each tree, in the order of best-first growth; None does not.
    """
    levels = depth_levels(trees)
    stays = improvements(losses_of(trees, held_out, held_out.of(trees), levels, workers), trees, levels) > 0.0
    if most_leaves is not None:
        divided = np.zeros(trees.n_nodes, bool)
        divided[np.concatenate(expansions(trees, stays, most_leaves))] = True
        stays = divided
    return cut_below(trees, (trees.feature != LEAF) & ~stays)


def losses_by_size(
    trees: Trees, held_out: ValidationRows, values: NDArray[Any], workers: int = 1
) -> NDArray[np.float64]:
    """Return what the rows held out lose in the trees of 1, 2, ... leaves that best-first growth passes through."""
    levels = depth_levels(trees)
    losses = losses_of(trees, held_out, values, levels, workers)
    lower = improvements(losses, trees, levels)
    order = expansions(trees, trees.feature != LEAF, trees.n_nodes)[0]
    return np.asarray(losses.as_leaf[0] - np.concatenate([[0.0], np.cumsum(lower[order])]))


def preferred_size(curves: list[NDArray[np.float64]]) -> tuple[int, NDArray[np.float64]]:
    """Return the number of leaves that loses least over all folds, the smallest on ties, and the sum of the curves.

    A fold whose tree ends earlier stays at its last loss.
    """
    longest = max(map(len, curves))
    total = np.sum([np.pad(curve, (0, longest - len(curve)), mode="edge") for curve in curves], axis=0)
    least = total.min()
    return int(np.argmax(total <= least + _ROUNDING * total.max())) + 1, total
