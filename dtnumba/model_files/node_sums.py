"""The columns that explain trees: values, weights, rows, impurities and gains, and the rules by which they follow.

What nodes hold of their rows is what their children hold together. So leaves are stored, as counts of each class where
they are whole numbers, and inner nodes follow: ``counts`` gives shares and weights, ``gini`` impurities of counts,
``decrease`` gains of impurities. A rule is named in the header where it gave every bit when the file was written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.trees.layout import LEAF, last_children, leaf_values
from dtnumba.trees.subtrees import below, depth_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.model_files.tree_columns import StoredTrees
    from dtnumba.model_files.values import Writer
    from dtnumba.trees.layout import Trees
    from dtnumba.trees.subtrees import Level

TYPES: dict[str, Any] = {"n_samples": np.int64, "weight": np.float64, "impurity": np.float64, "gain": np.float64}
_EXACT = 2.0**52  # sums of whole numbers up to it are exact, and do not depend on their order


def dump(trees: Trees, writer: Writer, name: str, n_classes: list[int], *, dense: bool) -> dict[str, Any]:
    """Return the statistics of trees as the header says them, the columns that do not follow stored."""
    said: dict[str, Any] = {}
    if trees.is_graph:  # its nodes do not hold what their children hold
        for column in ("value", *TYPES):
            said[f"graph_{column}"] = writer.column(f"{name}.{column}", getattr(trees, column))
        return said
    is_leaf, levels = trees.feature == LEAF, depth_levels(trees)
    counts = _counts(trees, is_leaf, levels, n_classes) if dense else None

    def put(column: str, array: NDArray[Any]) -> None:
        said[column] = writer.column(f"{name}.{column}", array)

    if counts is not None:
        put("leaf_counts", counts[is_leaf].astype(np.int64))
    else:
        if dense:
            put("leaf_value", trees.value[is_leaf])
            put("inner_value", trees.value[~is_leaf])
        _put_sums(put, "weight", trees.weight, is_leaf, levels)
    _put_sums(put, "n_samples", trees.n_samples, is_leaf, levels)
    if counts is not None and _same(gini(counts, trees.weight, n_classes), trees.impurity):
        said["impurity"] = "gini"
    else:
        put("leaf_impurity", trees.impurity[is_leaf])
        put("inner_impurity", trees.impurity[~is_leaf])
    inner = np.flatnonzero(~is_leaf)
    with np.errstate(all="ignore"):
        found = decrease(trees, inner)
    if _same(found, trees.gain):
        said["gain"] = "decrease"
    elif trees.gain[is_leaf].any() or np.signbit(trees.gain[is_leaf]).any():
        put("gain", trees.gain)
    else:
        put("inner_gain", trees.gain[inner])
    return said


def _put_sums(put: Any, name: str, column: NDArray[Any], is_leaf: NDArray[np.bool_], levels: list[Level]) -> None:
    is_whole = bool((column == np.rint(column)).all()) and abs(column).max() < _EXACT
    follows = is_whole and _same(_summed(levels, column), column)
    put(f"leaf_{name}" if follows else name, column[is_leaf] if follows else column)


def _summed(levels: list[Level], column: NDArray[Any]) -> NDArray[Any]:
    """Return for every node what the leaves below it have together; a leaf has its own."""
    if any((level.fan != 2).any() for level in levels):
        return below(levels, column)
    total = column.copy()
    for level in reversed(levels):
        total[level.inner] = total[level.children[::2]] + total[level.children[1::2]]
    return total


def _same(found: NDArray[Any], wanted: NDArray[Any]) -> bool:
    words = f"u{wanted.dtype.itemsize}"
    return bool((found.view(words) == np.ascontiguousarray(wanted).view(words)).all())


def _counts(
    trees: Trees, is_leaf: NDArray[np.bool_], levels: list[Level], n_classes: list[int]
) -> NDArray[np.float64] | None:
    """Return how much of each class every node has, where these are whole numbers that give values and weights."""
    if max(n_classes) == 1 or not bool((trees.weight > 0).all()) or float(trees.weight.max()) > _EXACT:
        return None
    counts = np.zeros(trees.value.shape)
    counts[is_leaf] = np.rint(trees.value[is_leaf] * trees.weight[is_leaf, None])
    counts = _summed(levels, counts)
    weight = counts[:, : n_classes[0]].sum(axis=1)
    return counts if _same(weight, trees.weight) and _same(shares(counts, weight), trees.value) else None


def shares(counts: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of each class of counts and their sum."""
    return counts / weight[:, None]


def gini(counts: NDArray[Any], weight: NDArray[np.float64], n_classes: list[int]) -> NDArray[np.float64]:
    """Return ``1 - sum of count**2 / weight**2``, the mean over outputs, by the operations of growth."""
    total, first = np.zeros(len(weight)), 0
    for k in n_classes:
        squares = np.zeros(len(weight))
        for column in range(first, first + k):
            count = counts[:, column].astype(np.float64)
            squares += count * count
        total += 1.0 - squares / (weight * weight)
        first += k
    return total / len(n_classes)


def decrease(trees: Trees, inner: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return by how much the impurity of inner nodes is above that of their children; what rounding leaves is 0."""
    own, first = trees.impurity[inner], trees.left[inner].astype(np.int64)
    n_children, gain = last_children(trees)[inner] - first + 1, own.copy()
    for v in range(int(n_children.max(initial=0))):
        has = v < n_children
        child = first[has] + v
        gain[has] -= trees.weight[child] / trees.weight[inner[has]] * trees.impurity[child]
    found = np.zeros(trees.n_nodes)
    found[inner] = np.where((-1e-12 * own < gain) & (gain < 1e-15 * own), 0.0, gain)
    return found


def leaf_rows(stored: StoredTrees, n_leaves: int) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
    """Return rows of values, and which of them each leaf has; empty where each has its own."""
    if "graph_value" in stored.said:
        value = stored.column("graph_value", np.float64, stored.n_nodes, stored.width)
        stored.reader.demand(np.isfinite(value).all(), "its values must be finite numbers")
        tested = stored.column("tested", np.int32, stored.n_nodes)
        return value[tested == 0], np.zeros(0, np.uint32)
    if "leaf_counts" not in stored.said:
        return stored.column("leaf_value", np.float64, n_leaves, stored.width), np.zeros(0, np.uint32)
    table, codes = stored.reader.parts(stored.said["leaf_counts"], np.float64, (n_leaves, stored.width))
    rows = table.astype(np.float64)
    weight = rows[:, : stored.n_classes[0]].sum(axis=1)
    legal = (rows >= 0).all() and (weight > 0).all() and (weight < _EXACT).all() and (rows == np.rint(rows)).all()
    stored.reader.demand(legal, "its leaves have no counts of rows")
    return shares(rows, weight), np.zeros(0, np.uint32) if codes is None else codes.astype(np.uint32)


def load(stored: StoredTrees, walked: Trees) -> Trees:
    """Return trees with their statistics, of those that predict."""
    said, m, is_leaf = stored.said, stored.n_nodes, walked.feature == LEAF
    if walked.is_graph:
        columns: dict[str, Any] = {name: stored.column(f"graph_{name}", dtype, m) for name, dtype in TYPES.items()}
        return walked._replace(value=stored.column("graph_value", np.float64, m, stored.width), **columns)
    levels = depth_levels(walked)
    n_leaves, counts = int(np.count_nonzero(is_leaf)), None
    value: Any = walked.value
    if "leaf_counts" in said:
        counts = np.zeros((m, stored.width))
        counts[is_leaf] = stored.column("leaf_counts", np.float64, n_leaves, stored.width)
        counts = _summed(levels, counts)
        weight = counts[:, : stored.n_classes[0]].sum(axis=1)
        value = shares(counts, weight)
    else:
        if "sparse_value" in said:
            value = stored.sparse_values()
        else:
            value = np.empty((m, stored.width))
            value[is_leaf] = leaf_values(walked)
            value[~is_leaf] = stored.column("inner_value", np.float64, m - n_leaves, stored.width)
            stored.reader.demand(np.isfinite(value).all(), "its values must be finite numbers")
        weight = _sums(stored, "weight", is_leaf, levels)
    trees = walked._replace(value=value, weight=weight, n_samples=_sums(stored, "n_samples", is_leaf, levels))
    impurity, gain = said.get("impurity"), said.get("gain")
    if impurity == "gini" and counts is not None:
        trees = trees._replace(impurity=gini(counts, weight, stored.n_classes))
    else:
        own = np.empty(m)
        own[is_leaf] = stored.column("leaf_impurity", np.float64, n_leaves)
        own[~is_leaf] = stored.column("inner_impurity", np.float64, m - n_leaves)
        trees = trees._replace(impurity=own)
    if gain == "decrease":
        return trees._replace(gain=decrease(trees, np.flatnonzero(~is_leaf)))
    if "gain" in said:
        return trees._replace(gain=stored.column("gain", np.float64, m))
    found = np.zeros(m)
    found[~is_leaf] = stored.column("inner_gain", np.float64, m - n_leaves)
    return trees._replace(gain=found)


def _sums(stored: StoredTrees, name: str, is_leaf: NDArray[np.bool_], levels: list[Level]) -> NDArray[Any]:
    if name in stored.said:
        return stored.column(name, TYPES[name], stored.n_nodes)
    column = np.zeros(stored.n_nodes, TYPES[name])
    column[is_leaf] = stored.column(f"leaf_{name}", TYPES[name], int(np.count_nonzero(is_leaf)))
    return _summed(levels, column)
