"""Leaves of one class below a test of categories, made one: the categories share its branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.trees.assemble import ragged
from dtnumba.trees.layout import LEAF, Trees
from dtnumba.trees.subtrees import depth_levels, parents, rebuilt

if TYPE_CHECKING:
    from numpy.typing import NDArray


_NONE = 1e-7  # weight of a leaf without cases


def with_leaves_joined(trees: Trees, is_nominal: NDArray[np.bool_], *, keeps_empty: bool) -> Trees:
    """Return one tree, shares of classes at its nodes, in which such sibling leaves are one; the first takes all cases.

    Parameters
    ----------
    trees : Trees
        A tree that tests thresholds and maps of categories.
    is_nominal : array of bool
        Of each column, whether its tests are joined.
    keeps_empty : bool
        Whether leaves without cases are joined with each other alone; they have the class of their parent.

    """
    m, n_classes, parent = trees.n_nodes, trees.value.shape[1], parents(trees, depth_levels(trees))
    is_leaf = trees.feature == LEAF
    inner = np.maximum(parent, 0)
    joins = np.flatnonzero(is_leaf & (parent >= 0) & is_nominal[trees.feature[inner]])
    if not len(joins):
        return trees
    is_empty = trees.weight <= _NONE
    label = trees.value[np.where(is_empty, inner, np.arange(m))].argmax(axis=1)
    key = (parent[joins] * n_classes + label[joins]) * 2 + (is_empty[joins] & keeps_empty)
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    if len(first) == len(joins):
        return trees
    takes = np.arange(m)  # the leaf that has the cases of each
    takes[joins] = joins[first][which]
    kept = takes == np.arange(m)
    number = np.cumsum(kept) - 1
    sums = _added(trees.value * trees.weight[:, None], takes)
    weight, share, n_samples = (_added(column, takes) for column in (trees.weight, trees.share, trees.n_samples))
    value = np.divide(sums, weight[:, None], out=trees.value.copy(), where=weight[:, None] > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        impurity = -np.where(value > 0, value * np.log2(value), 0.0).sum(axis=1)
    is_changed = np.bincount(takes, minlength=m) > 1
    is_test = ~is_leaf
    fan = np.bincount(parent[kept & (parent >= 0)], minlength=m)
    left = np.where(is_test, number[np.maximum(trees.left, 0)], LEAF)  # a first child joins none before it
    columns: dict[str, Any] = {
        "left": left,
        "right": np.where(is_test, left + fan - 1, LEAF),
        "value": np.where(is_changed[:, None], value, trees.value),
        "impurity": np.where(is_changed, impurity, trees.impurity),
        "weight": weight,
        "share": share,
        "n_samples": n_samples,
    }
    has_map = np.diff(trees.branch_start) > 0
    at = np.where(has_map, trees.left + trees.missing_left, 0)
    columns["missing_left"] = np.where(has_map, number[takes[at]] - left, trees.missing_left).astype(np.uint8)
    joined = trees._replace(branch=_branches(trees, takes, number), **columns)
    return _alone_as_leaves(_picked(joined, kept))


def _added(column: NDArray[Any], takes: NDArray[np.int64]) -> NDArray[Any]:
    total = np.zeros_like(column)
    np.add.at(total, takes, column)
    return total


def _branches(trees: Trees, takes: NDArray[np.int64], number: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the maps with the new numbers of children."""
    node = np.repeat(np.arange(trees.n_nodes), np.diff(trees.branch_start))
    first = trees.left[node].astype(np.int64)
    child = takes[first + np.maximum(trees.branch, 0)]
    return np.where(trees.branch < 0, trees.branch, number[child] - number[first]).astype(np.int32)


def _picked(trees: Trees, kept: NDArray[np.bool_]) -> Trees:
    """Return a tree of the kept nodes, whose numbers the columns of children hold already."""
    names = "feature", "threshold", "missing_left", "value", "n_samples", "weight", "impurity", "gain", "share"
    columns: dict[str, Any] = {name: getattr(trees, name)[kept] for name in names}
    columns |= {name: getattr(trees, name)[kept].astype(np.int32) for name in ("left", "right")}
    lengths = np.diff(trees.branch_start)
    columns["branch_start"], places = ragged(trees.branch_start[:-1][kept], lengths[kept])
    columns["branch"] = trees.branch[places]
    return trees._replace(root=np.array([0, kept.sum()], np.int64), **columns)


def _alone_as_leaves(trees: Trees) -> Trees:
    """Return a tree in which a test with one branch is a leaf."""
    alone = np.flatnonzero((trees.feature != LEAF) & (trees.left == trees.right))
    if not len(alone):
        return trees
    is_leaf = np.zeros(trees.n_nodes, bool)
    is_leaf[alone] = True
    return rebuilt(trees, depth_levels(trees), is_leaf)
