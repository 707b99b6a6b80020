"""One tree: DecisionTree and ExtraTree, for classes and for numbers."""

from dataclasses import dataclass

import numpy as np

from dtnumba import _jit
from dtnumba.criteria import resolve_criterion
from dtnumba.estimators._base import Classifier, Estimator, Regressor
from dtnumba.estimators._parameters import TreeParams, check_class_weight, criterion_of, features_drawn, parameter
from dtnumba.labels import class_target, class_weights, fixed_weights, number_target, read_labels, read_numbers, read_weight
from dtnumba.predict import decision_paths, leaves_of, pack
from dtnumba.table import read_table
from dtnumba.training import feature_importances, train_tree
from dtnumba.tree_view import TreeView
from dtnumba.trees import depths


class _OneTree(Estimator):
    """What classifiers and regressors of one tree share."""

    def _grow(self, table, target, criterion, weights, width):
        settings = self._resolve(table.n_rows, table.n_features, weights.total)
        return train_tree(table, target, criterion, weights, width, settings)

    def _learned(self, table, trees):
        self.trees_ = trees
        self.n_features_in_ = table.n_features
        if table.names is not None:
            self.feature_names_in_ = table.names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.max_features_ = features_drawn(self.max_features, table.n_features)
        self.depth_ = int(depths(trees).max())
        self.n_nodes_, self.n_leaves_ = trees.n_nodes, trees.n_leaves
        self._packed = pack(trees, self.depth_)
        return self

    def _table(self, X):
        self._check_fitted()
        names = getattr(self, "feature_names_in_", None)
        return read_table(X, type(self).__name__, expected=(self.n_features_in_, names))

    def _leaves(self, table):
        if not hasattr(self, "_packed"):
            self._packed = pack(self.trees_, self.depth_) if self.trees_.is_binary else None
        return leaves_of(table, self.trees_, self._packed, _jit.n_workers(self.n_jobs))

    def apply(self, X, check_input=True):
        """Return the id of the leaf that every row ends in."""
        return self._leaves(self._table(X))

    def decision_path(self, X, check_input=True):
        """Return a SciPy CSR matrix (rows, nodes) with ones at the nodes a row passes."""
        try:
            from scipy.sparse import csr_matrix
        except ImportError as error:
            msg = "decision_path returns a SciPy matrix, and SciPy is not installed: pip install scipy"
            raise ImportError(msg) from error
        indptr, indices = decision_paths(self.trees_, self.apply(X))
        ones = np.ones(len(indices), np.int64)
        return csr_matrix((ones, indices, indptr), shape=(len(indptr) - 1, self.n_nodes_))

    def get_depth(self):
        """Return the number of tests on the longest path."""
        self._check_fitted()
        return self.depth_

    def get_n_leaves(self):
        """Return the number of leaves."""
        self._check_fitted()
        return self.n_leaves_

    @property
    def feature_importances_(self):
        """Share of each feature in the decrease of impurity."""
        self._check_fitted()
        return feature_importances(self.trees_, self.n_features_in_)

    @property
    def tree_(self):
        """The tree under scikit-learn's column names."""
        self._check_fitted()
        counts = [len(classes) for classes in self._classes] if hasattr(self, "_classes") else [1] * self.n_outputs_
        return TreeView(self.trees_, self.n_features_in_, counts, self.apply)


class _TreeClassifier(Classifier, _OneTree):
    def fit(self, X, y, sample_weight=None, check_input=True):
        """Grow the tree.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, features)
            NaN is a missing value.
        y : array of shape (rows,) or (rows, outputs)
            Labels of any hashable kind.
        sample_weight : array of shape (rows,), optional
            Rows of weight 0 do not influence anything.
        check_input : bool
            Accepted for scikit-learn's sake; input is always checked.

        """
        self._check_params()
        caller = type(self).__name__
        table = read_table(X, caller)
        labels = read_labels(y, table.n_rows, caller)
        weight = class_weights(self.class_weight, labels, read_weight(sample_weight, table.n_rows))
        weights = fixed_weights(weight, table.n_rows)
        target = class_target(labels, weights)
        criterion = resolve_criterion(self.criterion, "classes", weights.total)
        trees = self._grow(table, target, criterion, weights, sum(len(classes) for classes in labels.classes))
        self._classes = labels.classes
        self.n_outputs_ = len(labels.classes)
        flat = labels.is_flat
        self.classes_ = labels.classes[0] if flat else labels.classes
        self.n_classes_ = len(labels.classes[0]) if flat else [len(classes) for classes in labels.classes]
        self._is_flat = flat
        return self._learned(table, trees)

    def _shares(self, X):
        """Return the class shares of every row's leaf, one array an output."""
        value = self.trees_.value[self._leaves(self._table(X))] if hasattr(self, "trees_") else self._check_fitted()
        ends = np.cumsum([len(classes) for classes in self._classes])
        return np.split(value, ends[:-1], axis=1)

    def predict_proba(self, X, check_input=True):
        """Return the share of each class in every row's leaf; a list of arrays for several outputs."""
        shares = self._shares(X)
        return shares[0] if self._is_flat else shares

    def predict_log_proba(self, X):
        """Return the logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            shares = self._shares(X)
            return np.log(shares[0]) if self._is_flat else [np.log(share) for share in shares]

    def predict(self, X, check_input=True):
        """Return the label of every row: the commonest class of its leaf, the first on ties."""
        self._check_fitted()
        leaves = self._leaves(self._table(X))
        labels = [classes[codes[leaves]] for classes, codes in zip(self._classes, self._leaf_codes(), strict=True)]
        return labels[0] if self._is_flat else np.stack(labels, axis=1)

    def _leaf_codes(self):
        """Return the class index of every node, one array an output."""
        ends = np.cumsum([len(classes) for classes in self._classes])
        return [share.argmax(axis=1) for share in np.split(self.trees_.value, ends[:-1], axis=1)]


class _TreeRegressor(Regressor, _OneTree):
    def fit(self, X, y, sample_weight=None, check_input=True):
        """Grow the tree.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, features)
            NaN is a missing value.
        y : array of shape (rows,) or (rows, outputs)
            Numbers.
        sample_weight : array of shape (rows,), optional
            Rows of weight 0 do not influence anything.
        check_input : bool
            Accepted for scikit-learn's sake; input is always checked.

        """
        self._check_params()
        caller = type(self).__name__
        table = read_table(X, caller)
        values, is_flat = read_numbers(y, table.n_rows, caller)
        weights = fixed_weights(read_weight(sample_weight, table.n_rows), table.n_rows)
        criterion = resolve_criterion(self.criterion, "numbers", weights.total)
        _check_counts(self.criterion, values[weights.kept])
        trees = self._grow(table, number_target(values, weights, criterion), criterion, weights, values.shape[1])
        self.n_outputs_, self._is_flat = values.shape[1], is_flat
        return self._learned(table, trees)

    def predict(self, X, check_input=True):
        """Return the value of every row's leaf."""
        self._check_fitted()
        leaves = self._leaves(self._table(X))
        return self.trees_.value[:, 0][leaves] if self._is_flat else self.trees_.value[leaves]


def _check_counts(criterion, values):
    if criterion != "poisson":
        return
    if (values < 0).any():
        msg = "Some value(s) of y are negative which is not allowed for Poisson regression. Use criterion='squared_error'"
        raise ValueError(msg)
    if (values.sum(axis=0) <= 0).any():
        msg = "Sum of y is not strictly positive which is necessary for Poisson regression. Use criterion='squared_error'"
        raise ValueError(msg)


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTreeClassifier(_TreeClassifier, TreeParams):
    """A decision tree for classes. See TreeParams for the shared parameters.

    Parameters
    ----------
    criterion : str, criterion object or function
        "gini", "entropy", "log_loss", "gain_ratio", "error", "twoing", "chi2"; or your own (see ``dtnumba.criteria``).
    class_weight : dict, list of dict, "balanced" or None
        Weight of each class, multiplied into the rows' weights.

    Examples
    --------
    >>> from dtnumba import DecisionTreeClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
    >>> DecisionTreeClassifier().fit(X, y).predict([[0, 1], [1, 1]]).tolist()
    ['yes', 'no']

    """

    criterion: object = parameter("gini", criterion_of("classes"))
    class_weight: object = parameter(None, check_class_weight)


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTreeRegressor(_TreeRegressor, TreeParams):
    """A decision tree for numbers. See TreeParams for the shared parameters.

    Parameters
    ----------
    criterion : str, criterion object or function
        "squared_error", "friedman_mse", "absolute_error", "poisson"; or your own (see ``dtnumba.criteria``).

    Examples
    --------
    >>> from dtnumba import DecisionTreeRegressor
    >>> DecisionTreeRegressor(max_depth=1).fit([[1], [2], [8], [9]], [1.0, 1.0, 5.0, 6.0]).predict([[0], [10]]).tolist()
    [1.0, 5.5]

    """

    criterion: object = parameter("squared_error", criterion_of("numbers"))


@dataclass(kw_only=True, eq=False, repr=False)
class ExtraTreeClassifier(DecisionTreeClassifier):
    """An extremely randomised tree for classes: random thresholds, a random subset of the features at each node."""

    splitter: str = parameter("random", TreeParams.__dataclass_fields__["splitter"].metadata["check"])
    max_features: int | float | str | None = parameter("sqrt", TreeParams.__dataclass_fields__["max_features"].metadata["check"])


@dataclass(kw_only=True, eq=False, repr=False)
class ExtraTreeRegressor(DecisionTreeRegressor):
    """An extremely randomised tree for numbers: random thresholds, a random subset of the features at each node."""

    splitter: str = parameter("random", TreeParams.__dataclass_fields__["splitter"].metadata["check"])
    max_features: int | float | str | None = parameter(1.0, TreeParams.__dataclass_fields__["max_features"].metadata["check"])
