"""Fitted forests: their trees, their votes and the importances of features."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from dtnumba.estimators.bases.prunable import Prunable, drawn_by
from dtnumba.prediction.forest_view import ForestView
from dtnumba.prediction.tree_view import TreeView
from dtnumba.runtime import rng
from dtnumba.runtime.tasks import n_workers
from dtnumba.trees.layout import one_tree

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.explain.importances import Importances
    from dtnumba.growth.forest.drawn_rows import Drawing
    from dtnumba.prediction.row_predictor import RowPredictor
    from dtnumba.tables.costs import LeastCost
    from dtnumba.trees.layout import Trees

# What a forest's trees are not told again: it is in their rows' weights, or the forest's alone.
_OF_FORESTS = {"random_state", "n_jobs", "class_weight", "costs", "priors", "splitter", "validation_fraction"}


class FittedForest(Prunable):
    """A model of many trees.

    Attributes
    ----------
    estimators_ : list of trees
        The trees as estimators of their own, made when asked for.
    trees_ : Trees
        The arrays of all trees.
    n_estimators_ : int
        How many trees there are: fewer than asked for where ``max_seconds`` or a callback stopped the work.
    estimators_samples_ : list of array
        The rows that each tree drew; ``clone(estimators_[t])`` fitted to these becomes that tree, where no column
        has more than ``max_bins`` values.

    """

    _tree_class: ClassVar[Any]
    forest_: ForestView
    importances_: Importances
    n_estimators_: int
    categories_: list[Any]
    seed_: int
    max_features_: int
    _drawing: Drawing | None  # None: which rows the trees drew is not known

    voting: str

    def _votes(self, rule: LeastCost | None) -> str | LeastCost:
        """Return how a tree votes: by shares, or for its label."""
        return self.voting if rule is None or self.voting == "soft" else rule

    def _rule_of_votes(self, rule: LeastCost | None) -> LeastCost | None:
        """Return how rows are labelled: votes are for labels already, so costs are counted and the commonest wins."""
        return rule if self.voting == "soft" else None

    def _voting(self) -> str | LeastCost:
        return self._votes(self.check_fitted().label_rule)

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the id of the leaf of every row in every tree, a column a tree; ids count from the tree's root."""
        table = self.table_of(X)
        return self.forest_.leaves(table, n_workers(self.n_jobs))

    def decision_path(self, X: Any) -> tuple[Any, NDArray[np.int64]]:
        """Return a SciPy CSR matrix (rows, nodes of all trees), and where each tree's nodes begin."""
        from scipy.sparse import hstack

        paths = [tree.tree_.paths(leaves) for tree, leaves in zip(self.estimators_, self.apply(X).T, strict=True)]
        return hstack(paths).tocsr(), self.trees_.root.copy()

    def compile_predictor(self) -> RowPredictor:
        """Return a function ``p(row, out=None)`` that answers one row in microseconds.

        Its answer is a row of ``predict_proba`` or of ``predict`` of a regressor, to the bit, several outputs end to
        end. Fitting the model again does not change it. Only the length of the row is checked.
        """
        return self.check_fitted().forest_.row_predictor(self._voting())

    def compact(self) -> Self:
        """Drop the columns that only explain the trees, for good; return the estimator.

        What predicts stays, and so do ``feature_importances_`` and out-of-bag results. What reads impurities, counts
        of rows or values of inner nodes raises afterwards. Rows held to be forgotten are dropped, too.
        """
        self.forest_ = self.check_fitted().forest_.compact()
        vars(self).pop("estimators_", None)
        self.drop_rows_held()
        return self

    def drop_rows_held(self) -> None:
        """Hold no rows any longer: the trees are not those that a fit of them has grown."""
        for name in ("_held", "_by_row"):
            vars(self).pop(name, None)

    def _drawn_by(self) -> Callable[[int], NDArray[np.int64]] | None:
        if self._drawing is None:
            return lambda tree: self._known_drawing("prune").counts(self.seed_, tree)
        return drawn_by(self._drawing, self.seed_)

    def _known_drawing(self, asked: str) -> Drawing:
        if self._drawing is None:
            raise ValueError(
                f"{asked}: which rows the trees drew is not known, as they were grown by scikit-learn; ask "
                "estimators_samples_ of the forest they came from"
            )
        return self._drawing

    def _with_trees(self, trees: Trees) -> Self:
        model = copy.copy(self)
        for name in ("estimators_", "oob_score_", "oob_decision_function_", "oob_prediction_"):  # of other trees
            vars(model).pop(name, None)
        model.drop_rows_held()
        model.forest_ = ForestView(trees, self.n_features_in_, self.target_seen.sizes)
        return model

    @property
    def trees_(self) -> Trees:
        """The arrays of all trees, end to end."""
        return self.check_fitted().forest_.trees

    @cached_property
    def estimators_(self) -> list[Any]:
        """Each tree as an estimator of its own, made when asked for."""
        return [self._one_estimator(t) for t in range(self.trees_.n_trees)]

    @property
    def estimators_samples_(self) -> list[NDArray[np.int32]]:
        """The rows that each tree drew, ascending and as often as it drew them; drawn again whenever asked for."""
        n_trees = self.trees_.n_trees  # asked first, because it says where a forest is not fitted
        return self._known_drawing("estimators_samples_").rows(self.seed_, n_trees)

    @property
    def estimator(self) -> Any:
        """A tree with the parameters of the forest's trees, not fitted."""
        return self._tree_class(**self._tree_params())

    def _one_estimator(self, t: int) -> Any:
        tree = self._tree_class(**self._tree_params(), random_state=rng.seed_of_tree(self.seed_, t))
        view = TreeView(one_tree(self.trees_, t), self.n_features_in_, self.forest_.n_classes.tolist())
        learned = {"tree_": view, "max_features_": self.max_features_, "n_features_in_": self.n_features_in_}
        if "categories_" in vars(self):
            learned["categories_"] = self.categories_
        vars(tree).update(learned | self._learned_by_trees())
        return tree

    def _tree_params(self) -> dict[str, Any]:
        own, shared = vars(self), self._tree_class.__dataclass_fields__
        return {name: own[name] for name in shared if name in own and name not in _OF_FORESTS}

    def _learned_by_trees(self) -> dict[str, Any]:
        return {"n_outputs_": self.n_outputs_}

    def __len__(self) -> int:
        """Return the number of trees."""
        return self.trees_.n_trees

    def __getitem__(self, index: int) -> Any:
        """Return one tree as an estimator."""
        return self.estimators_[index]

    def __iter__(self) -> Any:
        """Iterate over the trees as estimators."""
        return iter(self.estimators_)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The importance of each feature, a mean over the trees, in the sense that ``importance`` had in ``fit``."""
        found = vars(self.check_fitted()).get("importances_")
        return self.forest_.impurity_importances()[0] if found is None else found.values

    @property
    def importances_std_(self) -> NDArray[np.float64]:
        """The standard deviation of ``feature_importances_`` between the trees."""
        found = vars(self.check_fitted()).get("importances_")
        return self.forest_.impurity_importances()[1] if found is None else found.std

    def proximity(self, X: Any, Y: Any = None) -> NDArray[np.float32]:
        """Return in which share of the trees two rows fall into one leaf.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, features)
            As in ``fit``.
        Y : the same, of any number of rows, optional
            The rows to compare with; by default those of X. ``proximity(X[a:b], X)`` is a part of ``proximity(X)``, to
            the bit: where the whole is too large for memory, it can be made in parts.

        Returns
        -------
        array of shape (rows of X, rows of Y), float32
            1 where two rows share a leaf in every tree, 0 where in none; ``1 - proximity`` is a distance.

        """
        table = self.table_of(X)
        other = None if Y is None else self.table_of(Y)
        from dtnumba.explain.proximity import shares_of_trees

        return shares_of_trees(self.forest_, table, other, n_workers(self.n_jobs))

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what cannot be derived."""
        derived = {"estimators_", "_by_row"}
        return {name: value for name, value in super().__getstate__().items() if name not in derived}
