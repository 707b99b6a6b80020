"""CHAID: trees that ask of each node which predictor chance explains least."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.criteria.contract import resolve_criterion
from dtnumba.estimators.bases.docs import documented
from dtnumba.estimators.bases.fit import predicting
from dtnumba.estimators.bases.one_tree import ClassTree, NumberTree, OneTree
from dtnumba.estimators.bases.parameters import (
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
from dtnumba.growth.chaid.bonferroni import BIGGS, KASS, NONE, SPSS
from dtnumba.growth.chaid.chi_squared_and_f import BETWEEN, F_TEST, LIKELIHOOD, LOG_P, PEARSON, STATISTIC, WITHIN
from dtnumba.growth.chaid.grow import ADJUSTED, ChaidGrowth, ChaidLimits, log_of
from dtnumba.growth.chaid.merge_categories import MergeRules
from dtnumba.growth.chaid.outcome import class_outcome, number_outcome, said_of_classes, said_of_numbers
from dtnumba.growth.chaid.predictors import read_predictors
from dtnumba.growth.chaid.report import root_tests, same_nodes
from dtnumba.growth.chaid.to_trees import to_trees
from dtnumba.growth.targets.reach import in_unit, power_of, restored
from dtnumba.prediction.tree_view import TreeView
from dtnumba.runtime.side_by_side import expecting
from dtnumba.runtime.tasks import n_workers
from dtnumba.tables.binned_table import BinnedTable
from dtnumba.tables.categories import FROM_DTYPE, is_choice, listed_columns
from dtnumba.tables.weights import fixed_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.estimators.bases.fit import TrainingData
    from dtnumba.growth.chaid.report import PredictorTest
    from dtnumba.tables.labels import Labels, Values
    from dtnumba.tables.weights import Weights
    from dtnumba.trees.layout import Trees


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
    """A tree by CHAID, of classes or of a number.

    Attributes
    ----------
    p_value_, adjusted_p_value_, log_p_value_ : array of shape (nodes,)
        Of the best predictor of each node, of leaves too: how often chance alone does as well, before and after
        ``bonferroni``, and the logarithm of the first. NaN where none was looked at, or none had groups large enough.
    statistic_, df_, df_within_ : array of shape (nodes,)
        Its chi-squared and degrees of freedom, for a classifier, where the last is 0; its F and the degrees of freedom
        between groups and within them, for a regressor.
    root_tests_ : list of PredictorTest
        What every predictor shows at the root: ``groups`` of its categories, their ``table`` (weights of the classes;
        for a regressor weight, mean and variance), and its test. Empty where the root was not looked at.

    """

    _is_of_one_output = True

    # From ChaidParams, and from the learner of classes or of numbers
    ordinal_features: Any
    max_numeric_bins: int
    _rules: Any
    _limits: Any
    _statistic: Any
    _chaid_outcome: Any
    _predicted: Any

    root_tests_: list[PredictorTest]
    p_value_: NDArray[np.float64]
    adjusted_p_value_: NDArray[np.float64]
    log_p_value_: NDArray[np.float64]
    statistic_: NDArray[np.float64]
    df_: NDArray[np.float64]
    df_within_: NDArray[np.float64]

    def check_params(self) -> None:
        """Raise where a parameter is not legal, or two of them are not together."""
        super().check_params()
        self._rules(self._statistic())

    def _learned(self, data: TrainingData) -> dict[str, Any]:
        table, outcome, rules = data.table, data.outcome, self._rules(self._statistic())
        weights = fixed_weights(self.row_weights(outcome, data.weight), table.n_rows)
        wanted = [] if self.ordinal_features is None else self.ordinal_features
        ordinal = listed_columns(wanted, table.n_features, table.names, type(self).__name__, "ordinal_features")
        predictors = read_predictors(table, weights, ordinal, int(self.max_numeric_bins), n_workers(self.n_jobs))
        power = power_of(outcome, weights.kept)
        criterion = resolve_criterion(self.criterion, outcome.kind, weights.total)
        chaid_outcome = self._chaid_outcome(in_unit(outcome, power), weights)
        with expecting(predicting(table, outcome)):
            grown = ChaidGrowth(predictors, chaid_outcome, rules, self._limits()).grown()
        trees = to_trees(grown, predictors, self._predicted(grown, chaid_outcome))
        return {
            **self._learned_from(outcome),
            **_by_node(grown.best),
            "root_tests_": root_tests(table, predictors, grown, chaid_outcome, rules, power),
            "tree_": TreeView(restored(trees, criterion, power), table.n_features, outcome.sizes),
        }

    def _read_features(self, X: Any) -> Any:
        if isinstance(X, BinnedTable):
            raise TypeError(
                f"X is a BinnedTable, and {type(self).__name__} makes its own bins by weight: pass the values"
            )
        return super()._read_features(X)

    def _with_trees(self, trees: Trees) -> Self:
        """Return the model with smaller trees; what their nodes were found by goes with them."""
        model = super()._with_trees(trees)
        same = same_nodes(self.trees_, trees)
        for name in _BY_NODE:
            column = vars(self)[name]
            vars(model)[name] = np.where(same >= 0, column[same], np.nan)
        return model


def _by_node(findings: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    columns = {
        "p_value_": np.exp(findings[:, LOG_P]),
        "adjusted_p_value_": np.exp(findings[:, ADJUSTED]),
        "log_p_value_": findings[:, LOG_P],
        "statistic_": findings[:, STATISTIC],
        "df_": findings[:, BETWEEN],
        "df_within_": findings[:, WITHIN],
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

    A row of weight 2 is that row twice, in tests as in sizes. Weights that mean something else should have a mean of 1,
    else chances are those of another number of rows.

    Parameters
    ----------
    statistic : "pearson" or "likelihood"
        Chi-squared by squared differences, or by the ratio of likelihoods. Nodes show Gini's impurity with the first
        and entropy with the second.
    class_weight : dict, "balanced" or None
        Weight of each class, multiplied into the rows' weights.

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

    @property
    def criterion(self) -> str:
        """The criterion whose values the nodes show as impurity."""
        return "gini" if self.statistic == "pearson" else "entropy"

    def _statistic(self) -> int:
        return _STATISTICS[self.statistic]

    def _chaid_outcome(self, outcome: Labels, weights: Weights) -> Any:
        return class_outcome(outcome, weights)

    def _predicted(self, grown: Any, chaid_outcome: Any) -> Any:
        return said_of_classes(grown, chaid_outcome, entropy=self.statistic == "likelihood")


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class CHAIDRegressor(ChaidTree, NumberTree, ChaidParams):
    """A tree for numbers by F tests of means; see ``CHAIDClassifier``, also for what weights mean.

    Examples
    --------
    >>> from dtnumba import CHAIDRegressor
    >>> X = [["red"], ["blue"], ["green"], ["grey"]] * 10
    >>> tree = CHAIDRegressor().fit(X, [5.0, 1.0, 1.0, 1.0] * 10)
    >>> tree.predict([["red"], ["grey"]]).tolist()
    [5.0, 1.0]

    """

    criterion = "squared_error"

    def _statistic(self) -> int:
        return F_TEST

    def _chaid_outcome(self, outcome: Values, weights: Weights) -> Any:
        return number_outcome(outcome, weights)

    def _predicted(self, grown: Any, chaid_outcome: Any) -> Any:
        return said_of_numbers(grown, chaid_outcome)
