"""A fitted C5.0 as the trees that it is of: how many, how large, and where rows end in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.estimators.bases.classical import ClassicalTree
from dtnumba.trees.leaf_counts import with_rows, within_reach

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.prediction.tree_view import TreeView


class FittedTrials(ClassicalTree):
    """A model of one tree, or of trials: trees, or rules made of trees, that vote."""

    @property
    def _views(self) -> list[TreeView]:
        views: list[TreeView] = vars(self.check_fitted())["trial_trees_"]
        return views

    @property
    def trees_vote(self) -> bool:
        """Whether trees answer by votes, each by how sure it is."""
        return len(self._views) > 1 and "rules_" not in vars(self)

    def _demand_one_tree(self, what: str, kind: type[ValueError] = ValueError) -> None:
        """Raise where no single tree says what the model does."""
        learned = vars(self.check_fitted())
        n = len(learned["trial_trees_"])
        if n == 1 and "rules_" not in learned:
            return
        how = f"{n} trials" if n > 1 else f"{len(learned['rules_'][0])} rules"
        raise kind(
            f"{what}: this {type(self).__name__} answers by the votes of {how}, and no single tree says what it does; "
            "ask one of estimators_, which are models of one tree each"
        )

    def refuse_compact(self, what: str) -> None:
        """Raise where several trees or rules answer, which the work called ``what`` does not read."""
        self._demand_one_tree(what)

    def apply(self, X: Any, check_input: bool = True) -> NDArray[np.int64]:
        """Return the leaf of every row, or the first rule that holds (as many as there are where none does).

        Of several trials a column each; ids count from the tree's root.
        """
        table, rules = self.table_of(X), vars(self.check_fitted()).get("rules_")
        if rules is not None:
            found = [own.answers(table, self.n_jobs)[0] for own in rules]
        else:
            found = [view.leaves(table, self.n_jobs) for view in self._views]
        return np.asarray(found[0] if len(found) == 1 else np.stack(found, axis=1))

    def decision_path(self, X: Any, check_input: bool = True) -> Any:
        """Return a SciPy CSR matrix (rows, nodes) with ones at the nodes that a row passes.

        Of several trials as of a forest: nodes of all trees, and where the nodes of each tree begin.
        """
        if "rules_" in vars(self.check_fitted()):
            self._demand_one_tree("decision_path")
        leaves = self.apply(X)
        if len(self._views) == 1:
            return self._views[0].paths(leaves)
        from scipy.sparse import hstack

        paths = [view.paths(own) for view, own in zip(self._views, leaves.T, strict=True)]
        return hstack(paths).tocsr(), self.trees_.root.copy()

    @property
    def n_trials_(self) -> int:
        """Number of trials that vote."""
        return len(self._views)

    @property
    def sizes_(self) -> list[int]:
        """Leaves that have rows, or rules, of each trial; of a single tree what ``n_leaves_`` says."""
        views, rules = self._views, vars(self).get("rules_")
        if rules is not None:
            return [len(own) for own in rules]
        return [within_reach(views[0].trees)] if len(views) == 1 else [with_rows(view.trees) for view in views]

    def compact(self) -> Self:
        """Return the estimator as it is: what it states of a row depends on how many rows every leaf has."""
        return self.check_fitted()

    @property
    def n_leaves_(self) -> int:
        """Number of leaves in all: those that have rows; of a single tree also others that rows may come to."""
        views = self._views
        return within_reach(views[0].trees) if len(views) == 1 else sum(with_rows(view.trees) for view in views)

    n_nodes_ = property(lambda self: sum(view.node_count for view in self._views), doc="Number of nodes, in all.")
    depth_ = property(lambda self: max(view.max_depth for view in self._views), doc="Tests on the longest path.")

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the decrease of impurity, the mean of all trees."""
        shares = np.mean([view.compute_feature_importances() for view in self._views], axis=0)
        return np.asarray(shares / max(shares.sum(), 1e-300) if shares.sum() > 0 else shares)

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return int(self.n_leaves_)
