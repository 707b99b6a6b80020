# mypy: ignore-errors
"""Cost-complexity pruning (Breiman et al. 1984): the nested trees that minimise risk + alpha * leaves, for every alpha.

The weakest link is the inner node t that gives up least risk a leaf when it becomes one: its strength is
(risk(t) - risk of the leaves below t) / (leaves below t - 1). Weakest links collapse one after the other, and alpha is
the largest strength so far. The tree itself finds the next one: each node keeps the least strength below it, and a
collapse refreshes the nodes above it alone. So a step costs the depth, and a tree of 200k nodes a fraction of a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnumba.runtime.kernels import inline, kernel
from dtnumba.trees.layout import LEAF, last_children
from dtnumba.trees.subtrees import class_weights_of, depth_levels, errors_as_leaf, parents, rebuilt, tree_of_nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.trees.layout import Trees
    from dtnumba.trees.subtrees import Level


class Shape(NamedTuple):
    """The columns of trees that the loop reads; -1 for no node."""

    root: np.ndarray  # (trees + 1,) int64
    left: np.ndarray  # (m,) int64
    last: np.ndarray  # (m,) int64
    parent: np.ndarray  # (m,) int64
    risk: np.ndarray  # (m,) float64: of each node as a leaf


class Below(NamedTuple):
    """Risk and number of the leaves below each node, kept up to date while nodes collapse."""

    risk: np.ndarray  # (m,) float64: theirs
    n_leaves: np.ndarray  # (m,) int64
    strength: np.ndarray  # (m,) float64: of the node's own link, infinite at leaves
    least: np.ndarray  # (m,) float64: least strength at the node or below it


class Steps(NamedTuple):
    """The nodes that collapsed, in their order, and the alpha of each."""

    first: np.ndarray  # (trees + 1,) int64: where the steps of each tree begin
    start: np.ndarray  # (trees,) float64: risk of each tree before them
    node: np.ndarray  # (m,) int64
    alpha: np.ndarray  # (m,) float64
    risk: np.ndarray  # (m,) float64: of the tree after the step


@inline
def _refresh(shape, below, node):
    """Add up the children of a node, and find the least strength at or below it."""
    risk, n_leaves, least = 0.0, np.int64(0), np.inf
    for child in range(shape.left[node], shape.last[node] + 1):
        risk += below.risk[child]
        n_leaves += below.n_leaves[child]
        least = min(least, below.least[child])
    below.risk[node], below.n_leaves[node] = risk, n_leaves
    below.strength[node] = (shape.risk[node] - risk) / np.float64(n_leaves - 1)
    below.least[node] = min(below.strength[node], least)


@kernel
def collapse_trees(shape, below, steps):
    """Collapse every tree, its weakest link first, until its root is left.

    shape in · below scratch · steps out
    """
    step = np.int64(0)
    for node in range(len(shape.left) - 1, -1, -1):  # children stand after their parents
        below.risk[node], below.n_leaves[node] = shape.risk[node], 1
        below.strength[node] = below.least[node] = np.inf
        if shape.left[node] >= 0:
            _refresh(shape, below, node)
    for tree in range(len(shape.root) - 1):
        top, alpha = shape.root[tree], 0.0
        steps.first[tree], steps.start[tree] = step, below.risk[top]
        while below.n_leaves[top] > 1:
            node, weakest = top, below.least[top]
            while below.strength[node] != weakest:  # the topmost of equals, then the leftmost
                node = shape.left[node]
                while below.least[node] != weakest:
                    node += 1
            alpha = max(alpha, weakest)  # rounding must not let it descend
            steps.node[step], steps.alpha[step] = node, alpha
            below.risk[node], below.n_leaves[node] = shape.risk[node], 1
            below.strength[node] = below.least[node] = np.inf
            node = shape.parent[node]
            while node >= 0:
                _refresh(shape, below, node)
                node = shape.parent[node]
            steps.risk[step] = below.risk[top]
            step += 1
    steps.first[len(shape.root) - 1] = step


SAME = 1e-12  # alphas closer than this share of each other are the same one, but for rounding


class Links(NamedTuple):
    """The steps by which trees collapse, tree after tree."""

    first: NDArray[np.int64]  # (trees + 1,): steps of tree t are first[t] .. first[t + 1]
    alpha: NDArray[np.float64]  # of each step, never descending within a tree
    risk: NDArray[np.float64]  # of the tree after each step
    start: NDArray[np.float64]  # (trees,): risk of each tree before the first step
    at: NDArray[np.float64]  # (nodes,): the alpha at which a node stops being an inner one; -inf at leaves


class PruningPath(NamedTuple):
    """What ``cost_complexity_pruning_path`` returns, under scikit-learn's names.

    The first entry is the whole tree; each further one is a weakest link that collapsed. Links that are equally weak
    follow each other with the same alpha (but for rounding), the topmost and leftmost first.
    """

    ccp_alphas: NDArray[np.float64]
    impurities: NDArray[np.float64]  # of the leaves of each tree, weighted


def impurity_risk(trees: Trees) -> NDArray[np.float64]:
    """Return what every node, as a leaf, adds to the impurity of its tree: scikit-learn's risk."""
    root = trees.root[:-1][tree_of_nodes(trees)]
    return np.asarray(trees.weight * trees.impurity / trees.weight[root])


def lost_as_leaf(
    trees: Trees, sizes: Sequence[int], costs: NDArray[np.float64] | None = None, *, is_classes: bool
) -> NDArray[np.float64]:
    """Return what every node loses as a leaf.

    The weight of its wrong labels, or what they cost; of numbers its deviance, which is weight times impurity.
    """
    if not is_classes:
        return np.asarray(trees.weight * trees.impurity)
    return errors_as_leaf(class_weights_of(trees, sizes), costs)


def relative_risk(
    trees: Trees, sizes: Sequence[int], costs: NDArray[np.float64] | None = None, *, is_classes: bool
) -> NDArray[np.float64]:
    """Return what every node, as a leaf, adds to the risk of its tree, where the root alone has 1: rpart's risk.

    See ``lost_as_leaf`` for what a node loses.
    """
    lost = lost_as_leaf(trees, sizes, costs, is_classes=is_classes)
    whole = lost[trees.root[:-1]][tree_of_nodes(trees)]
    return np.asarray(np.divide(lost, whole, out=np.zeros(len(lost)), where=whole > 0))


def links_of(trees: Trees, risk: NDArray[np.float64], levels: list[Level] | None = None) -> Links:
    """Return the steps by which trees collapse to their roots.

    Parameters
    ----------
    trees : Trees
        Of one tree or many, with tests of any kind.
    risk : array of shape (nodes,)
        Of each node as a leaf.
    levels : list of Level, optional
        Those of the trees, where they are known.

    """
    levels = depth_levels(trees) if levels is None else levels
    if not np.isfinite(risk).all():
        node = int((~np.isfinite(risk)).argmax())
        raise ValueError(f"node {node} has an impurity of {trees.impurity[node]}: cost complexity needs finite ones")
    m, roots = trees.n_nodes, np.asarray(trees.root)
    left, last = trees.left.astype(np.int64), last_children(trees).astype(np.int64)
    shape = Shape(roots, left, last, parents(trees, levels), risk)
    below = Below(np.empty(m), np.empty(m, np.int64), np.empty(m), np.empty(m))
    first, start = np.empty(len(roots), np.int64), np.empty(len(roots) - 1)
    steps = Steps(first, start, np.empty(m, np.int64), np.empty(m), np.empty(m))
    collapse_trees(shape, below, steps)
    n_steps = int(first[-1])
    at = np.where(trees.feature == LEAF, -np.inf, np.inf)
    at[steps.node[:n_steps]] = steps.alpha[:n_steps]
    for level in levels:  # what hangs below a link goes with it
        children = level.children
        at[children] = np.minimum(at[children], np.repeat(at[level.inner], level.fan))
    return Links(first, steps.alpha[:n_steps], steps.risk[:n_steps], start, at)


def pruning_path(trees: Trees) -> PruningPath:
    """Return the path of one tree in impurity, a step an entry."""
    links = links_of(trees, impurity_risk(trees))
    return PruningPath(np.concatenate([[0.0], links.alpha]), np.concatenate([links.start, links.risk]))


def cut_weak(trees: Trees, risk: NDArray[np.float64], alpha: float, levels: list[Level] | None = None) -> Trees:
    """Return the subtrees that minimise risk + alpha * leaves: of equal ones the smallest, as in scikit-learn."""
    levels = depth_levels(trees) if levels is None else levels
    return rebuilt(trees, levels, links_of(trees, risk, levels).at <= alpha)


def steps_of(links: Links, floor: float = 0.0) -> NDArray[np.float64]:
    """Return the different alphas of one tree above ``floor``, ascending, with ``floor`` before them."""
    alpha = links.alpha[links.alpha > floor * (1.0 + SAME)]
    if not len(alpha):
        return np.array([floor])
    is_last = np.append(alpha[1:] > alpha[:-1] * (1.0 + SAME), True)
    return np.concatenate([[floor], alpha[is_last]])
