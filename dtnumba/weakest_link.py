"""Cost-complexity pruning (Breiman et al. 1984): the nested trees that minimise risk + alpha * leaves, for every alpha.

The weakest link is the inner node t that gives up least risk a leaf when it becomes one: its strength is
(risk(t) - risk of the leaves below t) / (leaves below t - 1). Weakest links collapse one after the other, and alpha is
the largest strength so far. The tree itself finds the next one: each node keeps the least strength below it, and a
collapse refreshes the nodes above it alone. So a step costs the depth, and a tree of 200k nodes a fraction of a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.collapse import Below, Shape, Steps, collapse_trees
from dtnumba.subtrees import class_weights_of, errors_as_leaf, levels_of, parents, rebuilt, tree_of_nodes
from dtnumba.trees import LEAF, last_children

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.subtrees import Level
    from dtnumba.trees import Trees

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
    levels = levels_of(trees) if levels is None else levels
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
    levels = levels_of(trees) if levels is None else levels
    return rebuilt(trees, levels, links_of(trees, risk, levels).at <= alpha)


def steps_of(links: Links, floor: float = 0.0) -> NDArray[np.float64]:
    """Return the different alphas of one tree above ``floor``, ascending, with ``floor`` before them."""
    alpha = links.alpha[links.alpha > floor * (1.0 + SAME)]
    if not len(alpha):
        return np.array([floor])
    is_last = np.append(alpha[1:] > alpha[:-1] * (1.0 + SAME), True)
    return np.concatenate([[floor], alpha[is_last]])


def nested_sums(
    trees: Trees, levels: list[Level], at: NDArray[Any], each: NDArray[np.float64], marks: NDArray[Any]
) -> NDArray[np.float64]:
    """Return, for every mark, the sum over the leaves of the subtree that keeps the inner nodes with ``at`` above it.

    All subtrees cost one sort: going on from one to the next swaps a node's number for those of its children.

    Parameters
    ----------
    trees : Trees
        One tree.
    levels : list of Level
        Its levels.
    at : array of shape (nodes,)
        Nowhere larger than at the parent, so that the subtrees are nested; not read at leaves.
    each : array of shape (nodes,)
        What a node adds as a leaf.
    marks : array
        Any numbers.

    """
    if not levels:
        return np.full(len(marks), each[0])
    inner = np.concatenate([level.inner for level in levels])
    swapped = np.concatenate([np.add.reduceat(each[level.children], level.starts) for level in levels]) - each[inner]
    order = np.argsort(-at[inner], kind="stable")
    sums = np.concatenate([[each[0]], each[0] + np.cumsum(swapped[order])])
    n_kept = len(inner) - np.searchsorted(at[inner][order][::-1], marks, side="right")
    return np.asarray(sums[n_kept])
