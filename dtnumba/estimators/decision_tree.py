"""One tree: DecisionTree and ExtraTree, for classes and for numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.binned_table import read_features
from dtnumba.criteria import resolve_criterion
from dtnumba.estimators._base import Classifier, Estimator, Regressor
from dtnumba.estimators._parameters import (
    CLASS_WEIGHT,
    TreeParams,
    criterion_for,
    parameter,
    redeclared,
)
from dtnumba.training import numbers_seen, train_tree
from dtnumba.tree_view import TreeView
from dtnumba.user_criterion import refuse
from dtnumba.weights import fixed_weights, read_weight

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.predictor import RowPredictor
    from dtnumba.trees import Trees


class OneTree(Estimator):
    """What classifiers and regressors of one tree share."""

    # From TreeParams, and from Classifier or Regressor
    criterion: Any
    max_bins: int | None
    n_jobs: int | None
    n_outputs_: int
    _resolve: Any
    _read_y: Any
    _weigh: Any
    _learned_from: Any

    tree_: TreeView
    max_features_: int

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, features)
            Numbers; NaN, None and a frame's nulls are missing values. float64 keeps its precision. A column in which
            float64 would make two different integers equal is an error. With ``max_bins``, a BinnedTable is taken, too.
        y : array of shape (rows,) or (rows, outputs)
            Labels of any hashable kind for a classifier, finite numbers for a regressor.
        sample_weight : array of shape (rows,) or number, optional
            What each row counts; rows of weight 0 do not influence anything.
        check_input : bool
            Accepted for scikit-learn's sake; input is always checked.

        Returns
        -------
        estimator
            The estimator itself; as it was if anything fails.

        """
        self._check_params()
        table = read_features(X, type(self).__name__, self.max_bins)
        known = self._read_y(y, table.n_rows)
        weights = fixed_weights(self._weigh(known, read_weight(sample_weight, table.n_rows)), table.n_rows)
        criterion = resolve_criterion(self.criterion, known.kind, weights.total)
        settings = self._resolve(table.n_rows, table.n_features, weights.total)
        target = known.target(weights, criterion)
        try:
            trees = train_tree(table, target, criterion, weights, known.width, settings)
        except Exception:
            refuse(criterion, target, numbers_seen(target))
            raise
        tree = TreeView(trees, table.n_features, known.sizes)
        return self._learn(table, **self._learned_from(known), tree_=tree, max_features_=settings.n_drawn)

    def apply(self, X: Any, check_input: bool = True) -> NDArray[np.int64]:
        """Return the id of the leaf that every row ends in."""
        table = self._table(X)
        return self.tree_.leaves(table, self.n_jobs)

    def decision_path(self, X: Any, check_input: bool = True) -> Any:
        """Return a SciPy CSR matrix (rows, nodes) with ones at the nodes that a row passes."""
        leaves = self.apply(X)
        return self.tree_.paths(leaves)

    def get_depth(self) -> int:
        """Return the number of tests on the longest path."""
        return self.depth_

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return self.n_leaves_

    def compile_predictor(self) -> RowPredictor:
        """Return a function ``p(row, out=None)`` that answers one row in microseconds.

        Its answer is a row of ``predict_proba`` or of ``predict`` of a regressor, to the bit, several outputs end to
        end. Fitting the model again does not change it. Only the length of the row is checked.
        """
        return self._fitted().tree_.row_predictor()

    def compact(self) -> Self:
        """Drop the columns that only explain the tree, for good; return the estimator.

        What predicts stays, and so does ``feature_importances_``. What reads impurities, counts of rows or values of
        inner nodes raises afterwards.
        """
        self.tree_ = self._fitted().tree_.compact()
        return self

    @property
    def trees_(self) -> Trees:
        """The arrays behind ``tree_``, in the layout that trees and forests share."""
        return self._fitted().tree_.trees

    @property
    def depth_(self) -> int:
        """Number of tests on the longest path."""
        return self._fitted().tree_.max_depth

    @property
    def n_nodes_(self) -> int:
        """Number of nodes."""
        return self._fitted().tree_.node_count

    @property
    def n_leaves_(self) -> int:
        """Number of leaves."""
        return self._fitted().tree_.n_leaves

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the decrease of impurity."""
        return self._fitted().tree_.compute_feature_importances()


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTreeClassifier(OneTree, Classifier, TreeParams):
    """A decision tree for classes. See TreeParams for the shared parameters.

    Parameters
    ----------
    criterion : str, criterion object or function
        "gini", "entropy", "log_loss", "gain_ratio", "error", "twoing", "chi2"; or your own (see ``dtnumba.criteria``).
    class_weight : dict, list of dict, "balanced" or None
        Weight of each class, multiplied into the rows' weights.

    Attributes
    ----------
    classes_ : array, or a list of one for each of several outputs
        The labels, sorted.
    n_classes_ : int, or array of one for each of several outputs
        How many there are.
    n_outputs_, n_features_in_ : int
        Columns of the target and of the table in ``fit``.
    feature_names_in_ : array of str
        Names of the columns; only where all of them are text.
    tree_ : TreeView
        The tree under scikit-learn's column names.

    Examples
    --------
    >>> from dtnumba import DecisionTreeClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
    >>> DecisionTreeClassifier().fit(X, y).predict([[0, 1], [1, 1]]).tolist()
    ['yes', 'no']

    """

    criterion: Any = parameter("gini", criterion_for("classes"))  # noqa: RUF009  a field
    class_weight: Any = parameter(None, CLASS_WEIGHT)  # noqa: RUF009

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """Return the label of every row: the commonest class of its leaf, the first on ties."""
        table = self._table(X)
        codes = self.tree_.label_codes(table, self.n_jobs)
        labels = [classes[codes[:, o]] for o, classes in enumerate(self._classes())]
        return labels[0] if len(labels) == 1 else np.stack(labels, axis=1)

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """Return the share of each class in every row's leaf; a list of arrays for several outputs."""
        table = self._table(X)
        shares = self.tree_.shares(table, self.n_jobs)
        return shares[0] if len(shares) == 1 else shares

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of ``predict_proba``."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(share) for share in shares]


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTreeRegressor(OneTree, Regressor, TreeParams):
    """A decision tree for numbers. See TreeParams for the shared parameters.

    Parameters
    ----------
    criterion : str, criterion object or function
        "squared_error", "friedman_mse", "absolute_error", "poisson"; or your own (see ``dtnumba.criteria``).

    Attributes
    ----------
    n_outputs_, n_features_in_ : int
        Columns of the target and of the table in ``fit``.
    feature_names_in_ : array of str
        Names of the columns; only where all of them are text.
    tree_ : TreeView
        The tree under scikit-learn's column names.

    Examples
    --------
    >>> from dtnumba import DecisionTreeRegressor
    >>> DecisionTreeRegressor(max_depth=1).fit([[1], [2], [8], [9]], [1.0, 1.0, 5.0, 6.0]).predict([[0], [10]]).tolist()
    [1.0, 5.5]

    """

    criterion: Any = parameter("squared_error", criterion_for("numbers"))  # noqa: RUF009

    def predict(self, X: Any, check_input: bool = True) -> NDArray[np.float64]:
        """Return the value of every row's leaf."""
        table = self._table(X)
        values = self.tree_.numbers(table, self.n_jobs)
        return values[:, 0] if self.n_outputs_ == 1 else values


@dataclass(kw_only=True, eq=False, repr=False)
class ExtraTreeClassifier(DecisionTreeClassifier):
    """An extremely randomised tree for classes: random thresholds, a random subset of the features at each node."""

    splitter: str = redeclared("splitter", "random")
    max_features: int | float | str | None = redeclared("max_features", "sqrt")


@dataclass(kw_only=True, eq=False, repr=False)
class ExtraTreeRegressor(DecisionTreeRegressor):
    """An extremely randomised tree for numbers: random thresholds, at each node for every feature."""

    splitter: str = redeclared("splitter", "random")
    max_features: int | float | str | None = redeclared("max_features", 1.0)
