"""CHAID: trees that ask of each node which predictor chance explains least."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba._jit import n_workers
from dtnumba.binned_table import BinnedTable, read_features
from dtnumba.categories import FROM_DTYPE, is_choice, listed_columns
from dtnumba.chaid.association import BETWEEN, F_TEST, LIKELIHOOD, LOG_P, PEARSON, STATISTIC, WITHIN
from dtnumba.chaid.growth import ADJUSTED, ChaidLimits, Growth, log_of
from dtnumba.chaid.layout import to_trees
from dtnumba.chaid.merging import MergeRules
from dtnumba.chaid.multipliers import BIGGS, KASS, NONE, SPSS
from dtnumba.chaid.outcomes import class_outcome, number_outcome, said_of_classes, said_of_numbers
from dtnumba.chaid.predictors import read_predictors
from dtnumba.chaid.report import root_tests, same_nodes
from dtnumba.estimators._base import Regressor
from dtnumba.estimators._docs import documented
from dtnumba.estimators._parameters import (
    CATEGORICAL_FEATURES,
    CLASS_WEIGHT,
    N_JOBS,
    Legal,
    integer,
    number,
    one_of,
    parameter,
    whole,
    yes_or_no,
)
from dtnumba.estimators.decision_tree import ClassTree, OneTree
from dtnumba.tree_view import TreeView
from dtnumba.weights import fixed_weights, read_weight

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.chaid.report import PredictorTest
    from dtnumba.labels import Labels, Values
    from dtnumba.trees import Trees
    from dtnumba.weights import Weights

ORDINAL_FEATURES = Legal(
    lambda value: value is None or (not isinstance(value, str) and is_choice(value)),
    "a list of names or indices of columns, a mask with a bool for each column or None",
)
_MULTIPLIERS = {"biggs": BIGGS, "spss": SPSS}
_STATISTICS = {"pearson": PEARSON, "likelihood": LIKELIHOOD}
# What is kept of the best predictor of each node
_BY_NODE = ("p_value_", "adjusted_p_value_", "log_p_value_", "statistic_", "df_", "df_within_")


@dataclass(kw_only=True, eq=False, repr=False)
class ChaidParams:
    """Parameters of CHAID.

    Parameters
    ----------
    alpha_merge : float
        Groups of categories are merged, the most alike first, while a difference like theirs comes by chance more often
        than this. ``exhaustive=True`` does not read it.
    alpha_split : float
        A node is split where the adjusted chance of its best predictor is at most this.
    max_depth : int or None
        Longest path from the root to a leaf.
    min_parent : int
        Least weight of a node that is split: its rows, where there are no weights.
    min_child : int
        Least weight of a node that a split makes. A group that is lighter joins the one most like it.
    bonferroni : bool
        Whether a chance is multiplied by the number of ways in which the categories could have been merged, as Kass
        does; with ``exhaustive=True`` by the number of pairs compared.
    exhaustive : bool
        Merge down to two groups whatever ``alpha_merge`` says, and take the groups on the way that chance explains
        least (Biggs, de Ville & Suen 1991).
    exhaustive_multiplier : "biggs" or "spss"
        Pairs of c categories without order: c (c - 1) (c + 1) / 6, which are those compared, or SPSS's three times as
        many. With order both take c (c - 1) / 2; with missing values beside the order, "biggs" takes (c - 1) ** 2.
    max_numeric_bins : int
        Most bins of a column of numbers, of equal weight. A column of no more values keeps them all.
    ordinal_features : list of names or indices, boolean mask or None
        Columns whose values are categories in order, each by itself: numbers that are not to be put into bins, text
        whose sorted order means more and less. Ordered categories of a frame are so without being listed.
    resplit : bool
        After a merger into three categories or more, divide the group again where its two parts differ significantly:
        at ``alpha_merge``, by the most significant division along the order of the categories, or without order along
        their shares of a class or their means. Not together with ``exhaustive=True``.
    categorical_features : "from_dtype", list of names or indices, boolean mask or None
        Which columns are categories. "from_dtype": those of text and of a frame's categories. A list or a mask: those
        and no others, whatever their dtype. None: none.
    n_jobs : int or None
        Threads that sort columns and predict; None is every core, but one inside a worker of another pool. A node is
        studied by one.

    """

    alpha_merge: float = parameter(0.05, number(0.0, 1.0))
    alpha_split: float = parameter(0.05, number(0.0, 1.0))
    max_depth: int | None = parameter(None, integer(1))
    min_parent: int = parameter(30, whole(2, 1 << 40))
    min_child: int = parameter(10, whole(1, 1 << 40))
    bonferroni: bool = yes_or_no(True)
    exhaustive: bool = yes_or_no(False)
    exhaustive_multiplier: str = parameter("biggs", one_of(*_MULTIPLIERS))
    max_numeric_bins: int = parameter(10, whole(2, 1000))
    ordinal_features: Any = parameter(None, ORDINAL_FEATURES)  # noqa: RUF009  a field
    resplit: bool = yes_or_no(False)
    categorical_features: Any = parameter(FROM_DTYPE, CATEGORICAL_FEATURES)  # noqa: RUF009
    n_jobs: int | None = parameter(None, N_JOBS)

    def _rules(self, statistic: int) -> MergeRules:
        if self.exhaustive and self.resplit:
            raise ValueError(
                "resplit=True divides groups again while they are merged at alpha_merge, and exhaustive=True merges "
                "all and looks back: leave out one of them"
            )
        multiplier = _MULTIPLIERS[self.exhaustive_multiplier] if self.exhaustive else KASS
        return MergeRules(
            statistic=statistic,
            log_alpha=log_of(float(self.alpha_merge)),
            min_child=float(self.min_child),
            exhaustive=bool(self.exhaustive),
            resplit=bool(self.resplit),
            multiplier=multiplier if self.bonferroni else NONE,
        )

    def _limits(self) -> ChaidLimits:
        return ChaidLimits(
            log_alpha=log_of(float(self.alpha_split)),
            max_depth=math.inf if self.max_depth is None else int(self.max_depth),
            min_parent=float(self.min_parent),
            min_child=float(self.min_child),
        )


class ChaidTree(OneTree):
    """What CHAID of classes and of numbers share."""

    # What scikit-learn's trees have as parameters and this one has not
    max_bins = None
    max_leaf_nodes: Any = None
    monotonic_cst = interaction_cst = random_state = None
    ccp_alpha = 0.0

    # From ChaidParams, and from the learner of classes or of numbers
    ordinal_features: Any
    max_numeric_bins: int
    _rules: Any
    _limits: Any
    _statistic: Any
    _outcome: Any
    _said: Any

    root_tests_: list[PredictorTest]
    p_value_: NDArray[np.float64]
    adjusted_p_value_: NDArray[np.float64]
    log_p_value_: NDArray[np.float64]
    statistic_: NDArray[np.float64]
    df_: NDArray[np.float64]
    df_within_: NDArray[np.float64]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Grow the tree.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, features)
            Categories and numbers (see ``categorical_features``); NaN, None and a frame's nulls are missing values.
        y : array of shape (rows,)
            Labels of any hashable kind for a classifier, finite numbers for a regressor.
        sample_weight : array of shape (rows,) or number, optional
            How many rows each row stands for, in tests as in sizes: a row of weight 2 is that row twice. Weights that
            mean something else should have a mean of 1, else chances are those of another number of rows.

        Returns
        -------
        estimator
            The estimator itself; as it was if anything fails.

        """
        self._check_params()
        rules = self._rules(self._statistic())
        table = self._read_features(X)
        known = self._read_y(y, table.n_rows)
        if len(known.sizes) > 1:
            raise ValueError(
                f"y has {len(known.sizes)} outputs: {type(self).__name__} tests one; fit one model for each column"
            )
        weights = fixed_weights(self._weigh(known, read_weight(sample_weight, table.n_rows)), table.n_rows)
        wanted = [] if self.ordinal_features is None else self.ordinal_features
        ordinal = listed_columns(wanted, table.n_features, table.names, type(self).__name__, "ordinal_features")
        predictors = read_predictors(table, weights, ordinal, int(self.max_numeric_bins), n_workers(self.n_jobs))
        outcome = self._outcome(known, weights)
        grown = Growth(predictors, outcome, rules, self._limits()).grown()
        tree = TreeView(to_trees(grown, predictors, self._said(grown, outcome)), table.n_features, known.sizes)
        tests = root_tests(table, predictors, grown, outcome, rules)
        learned = {**self._learned_from(known), **_by_node(grown.known), "root_tests_": tests, "tree_": tree}
        return self._learn(table, **learned)

    def _read_features(self, X: Any) -> Any:
        if isinstance(X, BinnedTable):
            raise TypeError(
                f"X is a BinnedTable, and {type(self).__name__} makes its own bins by weight: pass the values"
            )
        return read_features(X, type(self).__name__, None, self.categorical_features)

    def _with_trees(self, trees: Trees) -> Self:
        """Return the model with smaller trees; what their nodes were found by goes with them."""
        model = super()._with_trees(trees)
        same = same_nodes(self.trees_, trees)
        for name in _BY_NODE:
            column = vars(self)[name]
            vars(model)[name] = np.where(same >= 0, column[same], np.nan)
        return model

    def __sklearn_tags__(self) -> Any:
        """Describe the model to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


def _by_node(known: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    columns = {
        "p_value_": np.exp(known[:, LOG_P]),
        "adjusted_p_value_": np.exp(known[:, ADJUSTED]),
        "log_p_value_": known[:, LOG_P],
        "statistic_": known[:, STATISTIC],
        "df_": known[:, BETWEEN],
        "df_within_": known[:, WITHIN],
    }
    return {name: columns[name].copy() for name in _BY_NODE}


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class CHAIDClassifier(ChaidTree, ClassTree, ChaidParams):
    """A tree for classes by chi-squared tests (Kass 1980).

    Of each predictor, categories that the classes do not tell apart are merged; the node is then split by the predictor
    whose table chance explains least, one child a group. Missing values are a category more: one that may join any
    other, of predictors with an order as of those without. A category that no row of a node had goes where missing
    values go; these, if the node had none, to its heaviest child.

    Parameters
    ----------
    statistic : "pearson" or "likelihood"
        Chi-squared by squared differences, or by the ratio of likelihoods. Nodes show Gini's impurity with the first
        and entropy with the second.
    class_weight : dict, "balanced" or None
        Weight of each class, multiplied into the rows' weights.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    n_classes_ : int
        How many there are.
    n_outputs_, n_features_in_ : int
        One, and the columns of the table in ``fit``.
    feature_names_in_ : array of str
        Names of the columns; only where all of them are text.
    categories_ : list of array or None
        The levels of each column, None of one of numbers; only where there are categories.
    tree_ : TreeView
        The tree under scikit-learn's column names.
    p_value_, adjusted_p_value_, log_p_value_ : array of shape (nodes,)
        Of the best predictor of each node, of leaves too: how often chance alone does as well, before and after
        ``bonferroni``, and the logarithm of the first. NaN where none was looked at, or none had groups large enough.
    statistic_, df_, df_within_ : array of shape (nodes,)
        Its chi-squared and degrees of freedom; the last is 0 of classes.
    root_tests_ : list of PredictorTest
        What every predictor says at the root: ``groups`` of its categories, their ``table`` of classes, and its test.
        Empty where the root was not looked at.

    Examples
    --------
    >>> from dtnumba import CHAIDClassifier
    >>> X = [["red"], ["blue"], ["green"], ["grey"]] * 10
    >>> tree = CHAIDClassifier().fit(X, ["stop", "go", "go", "go"] * 10)
    >>> tree.n_leaves_, tree.predict([["red"], ["grey"]]).tolist()
    (2, ['stop', 'go'])

    """

    statistic: str = parameter("pearson", one_of(*_STATISTICS))
    class_weight: Any = parameter(None, CLASS_WEIGHT)  # noqa: RUF009

    priors = costs = None

    @property
    def criterion(self) -> str:
        """What the impurity of nodes is."""
        return "gini" if self.statistic == "pearson" else "entropy"

    def _statistic(self) -> int:
        return _STATISTICS[self.statistic]

    def _outcome(self, known: Labels, weights: Weights) -> Any:
        return class_outcome(known, weights)

    def _said(self, grown: Any, outcome: Any) -> Any:
        return said_of_classes(grown, outcome, entropy=self.statistic == "likelihood")


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class CHAIDRegressor(ChaidTree, Regressor, ChaidParams):
    """A tree for numbers by F tests of means; see ``CHAIDClassifier``.

    Attributes
    ----------
    n_outputs_, n_features_in_ : int
        One, and the columns of the table in ``fit``.
    feature_names_in_ : array of str
        Names of the columns; only where all of them are text.
    categories_ : list of array or None
        The levels of each column, None of one of numbers; only where there are categories.
    tree_ : TreeView
        The tree under scikit-learn's column names.
    p_value_, adjusted_p_value_, log_p_value_ : array of shape (nodes,)
        Of the best predictor of each node, of leaves too: how often chance alone does as well, before and after
        ``bonferroni``, and the logarithm of the first. NaN where none was looked at, or none had groups large enough.
    statistic_, df_, df_within_ : array of shape (nodes,)
        Its F, and the degrees of freedom between groups and within them.
    root_tests_ : list of PredictorTest
        What every predictor says at the root: ``groups`` of its categories, their ``table`` of weight, mean and
        variance, and its test. Empty where the root was not looked at.

    Examples
    --------
    >>> from dtnumba import CHAIDRegressor
    >>> X = [["red"], ["blue"], ["green"], ["grey"]] * 10
    >>> tree = CHAIDRegressor().fit(X, [5.0, 1.0, 1.0, 1.0] * 10)
    >>> tree.predict([["red"], ["grey"]]).tolist()
    [5.0, 1.0]

    """

    criterion = "squared_error"

    def predict(self, X: Any, check_input: bool = True) -> NDArray[np.float64]:
        """Return the value of every row's leaf."""
        table = self._table(X)
        return self.tree_.numbers(table, self.n_jobs)[:, 0]

    def _statistic(self) -> int:
        return F_TEST

    def _outcome(self, known: Values, weights: Weights) -> Any:
        return number_outcome(known, weights)

    def _said(self, grown: Any, outcome: Any) -> Any:
        return said_of_numbers(grown, outcome)
