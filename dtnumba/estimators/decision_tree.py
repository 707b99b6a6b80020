"""One tree: DecisionTree and ExtraTree, for classes and for numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.estimators.bases.docs import documented
from dtnumba.estimators.bases.fit import TrainingData, train_tree
from dtnumba.estimators.bases.held_out_rows import size_by_folds
from dtnumba.estimators.bases.one_tree import ClassTree, NumberTree, OneTree
from dtnumba.estimators.bases.parameters import (
    CLASS_WEIGHT,
    COSTS,
    PRIORS,
    TreeParams,
    criterion_for,
    parameter,
    redeclared,
)
from dtnumba.prediction.tree_view import TreeView
from dtnumba.runtime.tasks import n_workers
from dtnumba.tables.weights import Weights, fixed_weights
from dtnumba.validation.model_protocol import ModelProtocol

if TYPE_CHECKING:
    from typing_extensions import Self

    from dtnumba.growth.settings import Settings
    from dtnumba.trees.layout import Trees


@dataclass(kw_only=True, eq=False, repr=False)
class OfClasses(ModelProtocol):
    """Parameters of a tree for classes.

    Parameters
    ----------
    criterion : str, criterion object or function
        "gini", "entropy", "log_loss", "gain_ratio", "error", "twoing", "chi2", "mdl"; or your own (see
        ``dtnumba.criteria``).
    class_weight : dict, list of dict, "balanced" or None
        Weight of each class, multiplied into the rows' weights.
    priors : array of shape (classes,), dict of class to prior, or None
        How common each class truly is, in the order of the sorted classes; None: as common as its weight among the
        rows. They sum to one.
    costs : array of shape (classes, classes), dict or None
        What it costs to call a row of one class (row) another (column), in the order of the sorted classes; or a dict
        of (true, predicted) to cost, or of true to a dict of predicted to cost, in which a pair left out costs 1. None:
        every wrong label costs 1.

    """

    criterion: Any = parameter("gini", criterion_for("classes"))  # noqa: RUF009  a field
    class_weight: Any = parameter(None, CLASS_WEIGHT)  # noqa: RUF009
    priors: Any = parameter(None, PRIORS)  # noqa: RUF009
    costs: Any = parameter(None, COSTS)  # noqa: RUF009


@dataclass(kw_only=True, eq=False, repr=False)
class OfNumbers(ModelProtocol):
    """Parameters of a tree for numbers.

    Parameters
    ----------
    criterion : str, criterion object or function
        "squared_error", "friedman_mse", "absolute_error", "poisson"; or your own (see ``dtnumba.criteria``).

    """

    criterion: Any = parameter("squared_error", criterion_for("numbers"))  # noqa: RUF009  a field


class DecisionTree(OneTree):
    """One tree that grows as TreeParams say.

    Attributes
    ----------
    max_leaf_nodes_, cv_errors_ : int, array
        With ``max_leaf_nodes="cv"``: the size chosen, and the mean loss of rows held out at 1, 2, ... leaves.

    """

    max_features_: int

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        check_input: bool = True,
        *,
        X_val: Any = None,
        y_val: Any = None,
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, features)
            Numbers and categories (see ``categorical_features``); NaN, None and a frame's nulls are missing values.
            float64 keeps its precision. A column in which float64 would make two different integers equal is an error.
            With ``max_bins``, a BinnedTable is taken, too.
        y : array of shape (rows,) or (rows, outputs)
            Labels of any hashable kind for a classifier, finite numbers for a regressor.
        sample_weight : array of shape (rows,) or number, optional
            What each row counts; rows of weight 0 do not influence anything.
        check_input : bool
            Accepted for scikit-learn's sake; input is always checked.
        X_val, y_val : arrays, optional
            Rows that growth does not see: a branch ends where a split does not strictly improve their prediction.

        Returns
        -------
        estimator
            The estimator itself; as it was if anything fails.

        """
        data = self._read(X, y, sample_weight, X_val, y_val)
        size, learned = self._size(data)
        trees, settings = self.grown(data, size)
        learned |= self._learned_from(data.outcome, data.class_costs)
        learned["tree_"] = TreeView(trees, data.table.n_features, data.outcome.sizes)
        return self._learn(data.table, **learned, max_features_=settings.n_drawn)

    def grown(self, data: TrainingData, size: int | None) -> tuple[Trees, Settings]:
        """Return the tree that grows of rows that were read, of so many leaves at most, and the settings of growth."""
        weights = self._weights(data)
        criterion, settings = self._policy(data, weights.total, weights.total, size)
        trees = train_tree(data.table, data.outcome, criterion, weights, settings)
        return self._finished(data, trees, size, settings.workers), settings

    def finished(self, trees: Trees, X: Any, y: Any, sample_weight: Any = None) -> Trees:
        """Return trees that grew of rows elsewhere as a fit of these rows would leave them: pruned."""
        data = self._read(X, y, sample_weight)
        return self._finished(data, trees, None, n_workers(self.n_jobs))

    def _weights(self, data: TrainingData) -> Weights:
        n_rows, class_costs = data.table.n_rows, data.class_costs
        weights = fixed_weights(self.row_weights(data.outcome, data.weight, class_costs), n_rows)
        if class_costs.priors is None and class_costs.factors is None:
            return weights
        plain = self.row_weights(data.outcome, data.weight)
        return replace(weights, plain=np.ones(n_rows) if plain is None else plain)

    def _size(self, data: TrainingData) -> tuple[int | None, dict[str, Any]]:
        """Return the most leaves that the tree may have, None for any number, and what was learned on the way."""
        if self.max_leaf_nodes != "cv":
            return (None if self.max_leaf_nodes is None else int(self.max_leaf_nodes)), {}
        if data.validation_rows is not None:
            raise ValueError(
                "max_leaf_nodes='cv' and a validation set both decide how large the tree is; pass one of them"
            )
        size, errors = size_by_folds(self, data)
        return size, {"max_leaf_nodes_": size, "cv_errors_": errors}


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTreeClassifier(DecisionTree, ClassTree, OfClasses, TreeParams):
    """A decision tree for classes.

    Examples
    --------
    >>> from dtnumba import DecisionTreeClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
    >>> DecisionTreeClassifier().fit(X, y).predict([[0, 1], [1, 1]]).tolist()
    ['yes', 'no']

    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTreeRegressor(DecisionTree, NumberTree, OfNumbers, TreeParams):
    """A decision tree for numbers.

    Numbers may lie far apart: they are told apart down to 2**-400 of the largest one.

    Examples
    --------
    >>> from dtnumba import DecisionTreeRegressor
    >>> DecisionTreeRegressor(max_depth=1).fit([[1], [2], [8], [9]], [1.0, 1.0, 5.0, 6.0]).predict([[0], [10]]).tolist()
    [1.0, 5.5]

    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ExtraTreeClassifier(DecisionTreeClassifier):
    """An extremely randomised tree for classes: random thresholds, a random subset of the features at each node."""

    splitter: str = redeclared("splitter", "random")
    max_features: int | float | str | None = redeclared("max_features", "sqrt")


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ExtraTreeRegressor(DecisionTreeRegressor):
    """An extremely randomised tree for numbers: random thresholds, at each node for every feature."""

    splitter: str = redeclared("splitter", "random")
    max_features: int | float | str | None = redeclared("max_features", 1.0)
