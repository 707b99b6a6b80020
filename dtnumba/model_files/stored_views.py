"""Fitted trees and forests of which a file holds the arrays, made when they are asked for.

They are what ``fit`` makes in all but this: what predicts is read without what explains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dtnumba.model_files.few_rows import FewRows
from dtnumba.prediction.forest_view import ForestView
from dtnumba.prediction.tree_view import TreeView

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dtnumba.model_files.tree_columns import StoredTrees
    from dtnumba.tables.costs import LeastCost
    from dtnumba.tables.table import Table
    from dtnumba.trees.layout import Trees


class _InFile:
    """What views of the trees of a file share."""

    _stored: StoredTrees

    @property
    def trees(self) -> Trees:
        """The arrays behind the columns, all trees end to end."""
        return self._stored.whole

    @property
    def walked(self) -> Trees:
        """What prediction reads."""
        return self._stored.walked


class StoredTree(_InFile, TreeView):  # type: ignore[override]  # what is an attribute there is made when it is asked for
    """One tree of a file."""

    def __init__(self, stored: StoredTrees, importances: Any) -> None:
        self._stored = stored
        self._take(stored.n_features, stored.n_classes, importances)


class StoredForest(_InFile, ForestView):  # type: ignore[override]
    """The trees of a file."""

    def __init__(self, stored: StoredTrees, importances: Any) -> None:
        self._stored, self._few = stored, FewRows(stored)
        self._take(stored.n_features, stored.n_classes, importances)

    def means(self, table: Table, voting: str | LeastCost, n_jobs: int | None) -> NDArray[np.float64]:
        """Return the mean of what the leaves of every row say, a column a class or output."""
        if self._few.takes(table):
            with self._stored.reader.objecting("trees"):
                found = self._few.means(table, voting)
            if found is not None:
                return found
        return super().means(table, voting, n_jobs)

    def leaves(self, table: Table, workers: int, first: int = 0, last: int | None = None) -> NDArray[np.int64]:
        """Return the leaf of every row in trees first .. last - 1, by default all, counted from the tree's root."""
        if last is None and first == 0 and self._few.takes(table):
            with self._stored.reader.objecting("trees"):
                found = self._few.leaves(table)
            if found is not None:
                return found
        return super().leaves(table, workers, first, last)
