"""A fitted forest: its arrays, the packed forms that predict, and what can be read off them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba import _jit
from dtnumba.trees import LEAF
from dtnumba.votes import add_votes, note_leaves, pack_forest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.table import Table
    from dtnumba.trees import Trees


class ForestView:
    """The trees of a forest and the way of rows through them.

    Parameters
    ----------
    trees : Trees
        All trees, end to end.
    n_features : int
        Columns of the table they were grown on.
    n_classes : sequence of int
        Classes of each output, 1 where it is a number.

    """

    def __init__(self, trees: Trees, n_features: int, n_classes: Sequence[int]) -> None:
        self.trees = trees
        self.n_features = n_features
        self.n_classes = np.asarray(n_classes, dtype=np.int64)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what cannot be derived."""
        return ForestView, (self.trees, self.n_features, self.n_classes)

    @cached_property
    def _packed(self) -> dict[Any, Any]:
        return {}

    def packed(self, dtype: Any) -> Any:
        """Return the nodes for rows of a dtype, packed when first asked for."""
        if dtype not in self._packed:
            self._packed[dtype] = pack_forest(self.trees, self.n_features, dtype)
        return self._packed[dtype]

    @cached_property
    def _roots(self) -> NDArray[np.int64]:
        return self.trees.root[:-1].copy()

    @cached_property
    def _steps(self) -> float:
        """About how many nodes a row visits: a tree of m leaves is some log2(m) deep."""
        return float(np.log2(np.diff(self.trees.root) + 1).sum())

    @cached_property
    def _hard(self) -> NDArray[np.float64]:
        """One vote for the commonest class of each output, the first on ties."""
        votes, start = np.zeros_like(self.trees.value), 0
        for k in self.n_classes:
            winner = self.trees.value[:, start : start + k].argmax(axis=1)
            votes[np.arange(len(votes)), start + winner] = 1.0
            start += k
        return votes

    def says(self, voting: str) -> NDArray[np.float64]:
        """Return what every node says: shares or numbers, or one vote."""
        return self._hard if voting == "hard" else self.trees.value

    def means(self, table: Table, voting: str, n_jobs: int | None) -> NDArray[np.float64]:
        """Return the mean of what the leaves of every row say, a column a class or output."""
        out, says = np.zeros((table.n_rows, self.trees.value.shape[1])), self.says(voting)
        for first, cells in table.row_blocks():
            part = out[first : first + cells.n_rows]
            packed = self.packed(cells.flat.dtype)
            add_votes(cells, packed, self._roots, says, part, self._steps, _jit.n_workers(n_jobs))
        out /= self.trees.n_trees
        return out

    def leaves(self, table: Table, n_jobs: int | None) -> NDArray[np.int64]:
        """Return the leaf of every row in every tree, counted from the tree's root."""
        parts = [
            note_leaves(cells, self.packed(cells.flat.dtype), self._roots, self._steps, _jit.n_workers(n_jobs))
            for _, cells in table.row_blocks()
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def impurity_importances(self) -> NDArray[np.float64]:
        """Return the share of each feature in the decrease of impurity: a tree's shares, averaged over the trees."""
        trees = self.trees
        inner = np.flatnonzero(trees.feature != LEAF)
        tree = np.searchsorted(trees.root, inner, side="right") - 1
        decrease = trees.weight[inner] * trees.gain[inner] / trees.weight[trees.root[tree]]
        p, n = self.n_features, trees.n_trees
        table = np.bincount(tree * p + trees.feature[inner], weights=decrease, minlength=n * p).reshape(n, p)
        total = table.sum(axis=1)
        if not (total > 0).any():
            return np.zeros(p)
        mean = (table[total > 0] / total[total > 0, None]).mean(axis=0)
        return np.asarray(mean / mean.sum())
