"""Trees without the columns that only explain them: prediction needs a third of the memory or less.

Kept are the splits and the values of leaves. Pure leaves of the same class share a row where that saves memory; a
feature takes two bytes where its number fits; the right child is the one behind the left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.trees.layout import ONE_A_LEAF, Trees, leaf_values
from dtnumba.trees.sparse_rows import SparseValues

if TYPE_CHECKING:
    from numpy.typing import NDArray


_STATISTICS = ("n_samples", "weight", "impurity", "gain")


def compacted(trees: Trees) -> Trees:
    """Return trees that predict the same and hold no statistics."""
    if trees.is_compact or trees.may_stay or trees.is_graph:  # inner nodes give values; places share rows already
        return trees
    value: Any = leaf_values(trees)
    value, value_row = (value, ONE_A_LEAF) if isinstance(value, SparseValues) else _shared(value)
    dropped = {name: getattr(trees, name)[:0].copy() for name in _STATISTICS}
    if trees.has_two_children:
        dropped["right"] = trees.right[:0].copy()
        if trees.feature.max() < 1 << 15:
            dropped["feature"] = trees.feature.astype(np.int16)
    return trees._replace(value=value, value_row=value_row, **dropped)


def _shared(value: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
    """Return rows, and which of them each leaf has: rows of a single one stand once."""
    width = value.shape[1]
    is_one = (value == 1.0).any(axis=1) & (np.count_nonzero(value, axis=1) == 1)
    if (np.count_nonzero(is_one) - width) * 8 * width <= 4 * len(value):
        return np.ascontiguousarray(value), ONE_A_LEAF
    row = np.empty(len(value), np.uint32)
    row[is_one] = value[is_one].argmax(axis=1)
    row[~is_one] = width + np.arange(len(value) - np.count_nonzero(is_one))
    return np.concatenate([np.eye(width), value[~is_one]]), row
