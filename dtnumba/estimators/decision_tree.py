"""One tree: DecisionTree and ExtraTree, for classes and for numbers."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba import rng
from dtnumba.binned_table import read_features
from dtnumba.constraints import constrained
from dtnumba.estimators._base import Classifier, Regressor
from dtnumba.estimators._docs import documented
from dtnumba.estimators._parameters import (
    CLASS_WEIGHT,
    COSTS,
    PRIORS,
    TreeParams,
    criterion_for,
    parameter,
    redeclared,
)
from dtnumba.estimators._prunable import Grown, Prunable, split_weight
from dtnumba.estimators._stopping import read_judges, size_by_folds
from dtnumba.pruner import Subject
from dtnumba.stopping import stopped
from dtnumba.target_choice import target_of
from dtnumba.training import UNLIMITED, demand_means, numbers_seen, train_tree
from dtnumba.tree_view import TreeView
from dtnumba.user_criterion import refuse
from dtnumba.weakest_link import pruning_path
from dtnumba.weights import Weights, fixed_weights, read_weight

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.estimators.rule_set import RuleSetClassifier
    from dtnumba.predictor import RowPredictor
    from dtnumba.trees import Trees
    from dtnumba.weakest_link import PruningPath


class OneTree(Prunable):
    """What classifiers and regressors of one tree share."""

    # From TreeParams, and from Classifier or Regressor
    criterion: Any
    max_bins: int | None
    max_leaf_nodes: Any
    categorical_features: Any
    monotonic_cst: Any
    interaction_cst: Any
    n_jobs: int | None
    random_state: Any
    n_outputs_: int
    _resolve: Any
    _stakes: Any
    _resolve_criterion: Any
    _read_y: Any
    _weigh: Any
    _learned_from: Any

    tree_: TreeView
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
            Rows that growth does not see: a branch ends where a split does not strictly improve what is said of these.

        Returns
        -------
        estimator
            The estimator itself; as it was if anything fails.

        """
        self._check_params()
        table = read_features(X, type(self).__name__, self.max_bins, self.categorical_features)
        self._refuse_missing(table)
        known = self._read_y(y, table.n_rows)
        seed, pruner, stakes = rng.seed_from(self.random_state), self._pruner(), self._stakes(known)
        weight, set_aside = split_weight(pruner, read_weight(sample_weight, table.n_rows), table.n_rows, seed)
        weight, judges = read_judges(self, table, known, weight, (X_val, y_val), seed)
        set_aside = weight if set_aside is None else set_aside
        size, learned = self._size(table, known, weight, judges, seed)
        weights = self._weights(known, weight, stakes, table.n_rows)
        criterion = self._resolve_criterion(known, weights.total, table.n_features, stakes)
        settings = self._resolve(
            table.n_rows, table.n_features, weights.total, seed, UNLIMITED if judges is not None else size
        )
        demand_means(settings, criterion)
        settings = constrained(settings, self.monotonic_cst, self.interaction_cst, table, known)
        settings.check_options(known.kind, len(known.sizes), criterion)
        target = target_of(known, weights, criterion)
        try:
            trees = train_tree(table, known, target, criterion, weights, settings)
        except Exception:
            refuse(criterion, target, numbers_seen(target))
            raise
        trees = stakes.restored(trees)
        if judges is not None:
            trees = stopped(trees, judges, size, settings.workers)
        trees = self._strong(trees)
        if pruner is not None:
            seen = Grown(table, known, set_aside, (X, y, sample_weight), rule=stakes.rule)
            trees = self._pruned(pruner, trees, known.sizes, seen)
        tree = TreeView(trees, table.n_features, known.sizes)
        learned |= {**self._learned_from(known, stakes), "tree_": tree, "max_features_": settings.n_drawn}
        return self._learn(table, **learned)

    def _weights(self, known: Any, weight: Any, stakes: Any, n_rows: int) -> Weights:
        weights = fixed_weights(self._weigh(known, weight, stakes), n_rows)
        if stakes.priors is None and stakes.factors is None:
            return weights
        plain = self._weigh(known, weight)
        return replace(weights, plain=np.ones(n_rows) if plain is None else plain)

    def _size(self, table: Any, known: Any, weight: Any, judges: Any, seed: int) -> tuple[int | None, dict[str, Any]]:
        """Return the most leaves that growth may make, None for any number, and what was learned on the way."""
        if self.max_leaf_nodes != "cv":
            return (None if self.max_leaf_nodes is None else int(self.max_leaf_nodes)), {}
        if judges is not None:
            raise ValueError(
                "max_leaf_nodes='cv' and a validation set both decide how large the tree is; pass one of them"
            )
        size, errors = size_by_folds(self, table, known, weight, seed)
        return size, {"max_leaf_nodes_": size, "cv_errors_": errors}

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> PruningPath:
        """Return the alphas at which the tree of some rows loses a link, and the impurities of what is left.

        Parameters
        ----------
        X, y, sample_weight : arrays
            As in ``fit``. The estimator stays as it is, and its own pruning is left aside.

        Returns
        -------
        PruningPath
            ``ccp_alphas``, ascending from 0, and ``impurities`` of the leaves, as scikit-learn's. Any of the alphas
            serves as ``ccp_alpha``.

        """
        model = copy.copy(self)
        model.ccp_alpha, model.prune = 0.0, None
        return pruning_path(model.fit(X, y, sample_weight).trees_)

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

    def risk_bound(self, delta: float = 0.05, code: str = "notes") -> float:
        """Return a bound on the true error: with probability 1 - delta over the rows of ``fit`` it is not above this.

        ``errors / m + sqrt(((n + 1) log2(d + 3) + ln(2 / delta)) / (2 m))`` for a tree of n nodes over d columns, grown
        on rows of weight m (Shalev-Shwartz & Ben-David 2014, equation 18.1). With costs, on the mean cost: errors count
        what they cost, and the root is multiplied by the highest cost.

        Parameters
        ----------
        delta : float
            Between 0 and 1.
        code : "notes" or "mdl"
            How many bits the tree takes: as in the equation, which is proven for columns of 0 and 1, or with its
            thresholds and groups of categories (see ``pruners.Bound``).

        """
        trees = self._fitted().trees_
        self._refuse_compact("risk_bound")
        from dtnumba.pruners.bound import risk_bound

        is_classes = hasattr(self, "classes_")
        subject = Subject(self, trees, self.n_features_in_, self._sizes(), is_classes, rule=vars(self).get("_rule"))
        return risk_bound(subject, delta, code)

    def _sizes(self) -> list[int]:
        sizes: list[int] = self.tree_.n_classes.tolist()
        return sizes

    def _drawn_by(self) -> None:
        return None

    def _with_trees(self, trees: Trees) -> Self:
        model = copy.copy(self)
        model.tree_ = TreeView(trees, self.tree_.n_features, self._sizes())
        return model

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


class ClassTree(OneTree, Classifier):
    """What one tree of classes answers."""

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """Return the label of every row: the commonest class of its leaf, or that of least cost; the first on ties."""
        table = self._table(X)
        codes = self.tree_.label_codes(table, self.n_jobs, self._rule)
        labels = [classes[codes[:, o]] for o, classes in enumerate(self._classes())]
        return labels[0] if len(labels) == 1 else np.stack(labels, axis=1)

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """Return the share of each class in every row's leaf; a list of arrays for several outputs."""
        table = self._table(X)
        shares = self.tree_.shares(table, self.n_jobs)
        return shares[0] if len(shares) == 1 else shares

    def to_rules(self, X: Any = None, y: Any = None, sample_weight: Any = None, **options: Any) -> RuleSetClassifier:
        """Return the tree as rules: a rule a path as it is, or simplified by rows.

        Parameters
        ----------
        X, y, sample_weight : arrays, optional
            The rows that the tree was grown on, to simplify its rules. Without them the rules say what the tree says of
            every row (where missing values go to several children, or by surrogates: of every row without any, and
            without levels that a node did not meet, which go as missing values do).
        **options
            Parameters of RuleSetClassifier, such as ``resolve="confidence"``.

        """
        from dtnumba.estimators.rule_set import RuleSetClassifier

        rules = RuleSetClassifier(**options)
        if X is not None or y is not None or sample_weight is not None:
            if X is None or y is None:
                raise ValueError("to_rules: it takes rows and their labels to simplify rules; pass both X and y")
            made: RuleSetClassifier = rules.from_tree(self._fitted(), X, y, sample_weight)
            return made
        ignored = [name for name in ("select", "min_significance", "random_state") if options.get(name) is not None]
        if ignored:
            raise ValueError(f"to_rules: {ignored[0]} says how to simplify rules, which takes rows; pass X and y, too")
        return rules._from_paths(self._fitted())  # noqa: SLF001  the other half of this method

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of ``predict_proba``."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(share) for share in shares]


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTreeClassifier(ClassTree, TreeParams):
    """A decision tree for classes.

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

    Attributes
    ----------
    classes_ : array, or a list of one for each of several outputs
        The labels, sorted.
    n_classes_ : int, or array of one for each of several outputs
        How many there are.
    costs_ : array of shape (classes, classes) or None
        The costs as a matrix.
    n_outputs_, n_features_in_ : int
        Columns of the target and of the table in ``fit``.
    feature_names_in_ : array of str
        Names of the columns; only where all of them are text.
    categories_ : list of array or None
        The levels of each column, None of one of numbers; only where there are categories.
    tree_ : TreeView
        The tree under scikit-learn's column names.
    max_leaf_nodes_, cv_errors_ : int, array
        With ``max_leaf_nodes="cv"``: the size chosen, and the mean loss of rows held out at 1, 2, ... leaves.

    Examples
    --------
    >>> from dtnumba import DecisionTreeClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
    >>> DecisionTreeClassifier().fit(X, y).predict([[0, 1], [1, 1]]).tolist()
    ['yes', 'no']

    """

    criterion: Any = parameter("gini", criterion_for("classes"))  # noqa: RUF009  a field
    class_weight: Any = parameter(None, CLASS_WEIGHT)  # noqa: RUF009
    priors: Any = parameter(None, PRIORS)  # noqa: RUF009
    costs: Any = parameter(None, COSTS)  # noqa: RUF009


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTreeRegressor(OneTree, Regressor, TreeParams):
    """A decision tree for numbers.

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
    categories_ : list of array or None
        The levels of each column, None of one of numbers; only where there are categories.
    tree_ : TreeView
        The tree under scikit-learn's column names.
    max_leaf_nodes_, cv_errors_ : int, array
        With ``max_leaf_nodes="cv"``: the size chosen, and the mean loss of rows held out at 1, 2, ... leaves.

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
