"""Fitted trees and forests of which a file holds the arrays, made when they are asked for.

They are what ``fit`` makes in all but this: what predicts is read without what explains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dtnumba.prediction.forest_view import ForestView
from dtnumba.prediction.tree_view import TreeView

if TYPE_CHECKING:

    from dtnumba.model_files.tree_columns import StoredTrees
    from dtnumba.trees.layout import Trees


class StoredTree(TreeView):
    """One tree of a file."""

    def __init__(self, stored: StoredTrees, importances: Any) -> None:
        self._stored = stored
        self._take(stored.n_features, stored.n_classes, importances)

    @property
    def trees(self) -> Trees:  # type: ignore[override]
        """The arrays behind the columns."""
        return self._stored.whole

    @property
    def walked(self) -> Trees:
        """What prediction reads."""
        return self._stored.walked


class StoredForest(ForestView):
    """The trees of a file."""

    def __init__(self, stored: StoredTrees, importances: Any) -> None:
        self._stored = stored
        self._take(stored.n_features, stored.n_classes, importances)

    @property
    def trees(self) -> Trees:  # type: ignore[override]
        """All trees, end to end."""
        return self._stored.whole

    @property
    def walked(self) -> Trees:
        """What prediction reads."""
        return self._stored.walked
