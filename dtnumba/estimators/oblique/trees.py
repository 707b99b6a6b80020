"""Oblique trees: nodes may test a weighted sum of several columns."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from dtnumba.estimators.bases.docs import documented
from dtnumba.estimators.bases.fit import Learner
from dtnumba.estimators.bases.one_tree import ClassTree, NumberTree
from dtnumba.estimators.bases.parameters import (
    GrowthParams,
    Legal,
    features_drawn,
    is_int,
    number,
    one_of,
    parameter,
    redeclared,
    yes_or_no,
)
from dtnumba.estimators.decision_tree import DecisionTree, OfClasses, OfNumbers
from dtnumba.growth.oblique.indicators import indicators_of
from dtnumba.growth.settings import SEARCHES, UNLIMITED, SumSettings
from dtnumba.tables.binned_table import BinnedTable
from dtnumba.validation.model_protocol import ModelProtocol

if TYPE_CHECKING:
    from dtnumba.estimators.bases.fit import TrainingData
    from dtnumba.growth.settings import Settings
    from dtnumba.tables.binned_table import Features

_MOST = 1 << 20
COUNT = Legal(lambda value: value is None or (is_int(value) and 1 <= value <= _MOST), f"an int in [1, {_MOST}] or None")
SCALING = Legal(
    lambda value: value is None or (isinstance(value, str) and value in {"min_max", "standard"}),
    "a str among {'min_max', 'standard'} or None",
)
_RESTARTING = {"soft_entropy": 2, "oc1": 3}  # searches that start several times, and how often if not said


@dataclass(kw_only=True, eq=False, repr=False)
class ObliqueParams(ModelProtocol):
    """Parameters of oblique trees: what nodes search, and those of GrowthParams that go with it.

    Parameters
    ----------
    search : "soft_entropy", "oc1", "cart_lc", "lda", "ridge" or "random"
        How the weights of a sum are found. "soft_entropy": downhill on the loss of a soft split, from the discriminant
        and from the best column (John 1995). "oc1": weight by weight, random directions and restarts (Murthy 1994).
        "cart_lc": weight by weight, then columns are deleted that matter little (Breiman 1984). "lda", "ridge": the
        direction that explains most of the target, in closed form; "ridge" holds large weights down. "random": sums of
        two drawn columns with drawn weights. Whatever was found, the best cut of the sum is then found among all, and
        the best test of one column is taken where the sum is no better by the criterion. With ``max_bins``, "random"
        cuts sums between so many bins of the same width at the node, and seeks none where a test of one column parts
        the classes entirely.
    n_restarts : int or None
        Starts of "soft_entropy" (None: 2) and "oc1" (None: 3) at a node; the others start once.
    n_projections : int or None
        Sums that "random" draws at a node; None: as many as features are drawn there, and at least six.
    max_terms : int or None
        Columns that a test may combine; 1 is a tree of single columns. Up to 12 columns are tried in all pairs.
        "random" combines two, and, up to ``max_terms``, each further one by the flip of a coin.
    axis_bias : float
        A sum must gain so many times what the best test of one column gains.
    numeric_scaling : "min_max", "standard" or None
        What weights are in units of while they are sought, in each node: one by the range of a column there, one by its
        spread, or the same for all.
    missing : "learned" or "error"
        "learned": in a sum, a missing value counts as the mean of its column at the node; where all values of the sum
        are missing, and in a test of one column, the row goes to the child where it gains most. "error": is not
        allowed.
    categorical_split : "subset" or "one_vs_rest"
        How a category is tested by itself.
    categories_in_sums : bool
        True: sums may combine the levels of categories without an order, each as a column that is 1 where the category
        is that level and else 0, at most 1,000 in all; each of them is a column to ``max_features``, too. A category
        that is missing, or was not there in ``fit``, is none of the levels. False: sums are of numbers alone.
    max_features : int, share, "sqrt", "log2" or None
        Features drawn at each node: for tests of single columns, and for the sums, for which "sqrt" and "log2" draw two
        at least; "random" draws its sums from all.

    """

    search: str = parameter("soft_entropy", one_of(*SEARCHES))
    n_restarts: int | None = parameter(None, COUNT)
    n_projections: int | None = parameter(None, COUNT)
    max_terms: int | None = parameter(None, COUNT)
    axis_bias: float = parameter(1.0, number(1.0, math.inf))
    numeric_scaling: str | None = parameter("min_max", SCALING)
    max_depth: int | None = redeclared("max_depth", None)
    min_samples_split: int | float = redeclared("min_samples_split", 2)
    min_samples_leaf: int | float = redeclared("min_samples_leaf", 1)
    min_weight_fraction_leaf: float = redeclared("min_weight_fraction_leaf", 0.0)
    max_features: int | float | str | None = redeclared("max_features", None)
    random_state: Any = redeclared("random_state", None)  # noqa: RUF009  a field
    max_leaf_nodes: Any = redeclared("max_leaf_nodes", None)  # noqa: RUF009
    min_impurity_decrease: float = redeclared("min_impurity_decrease", 0.0)
    max_bins: int | None = redeclared("max_bins", None)
    min_significance: float | None = redeclared("min_significance", None)
    validation_fraction: float | None = redeclared("validation_fraction", None)
    categorical_features: Any = redeclared("categorical_features", "from_dtype")  # noqa: RUF009
    categorical_split: str = parameter("subset", one_of("subset", "one_vs_rest"))
    categories_in_sums: bool = yes_or_no(False)
    missing: str = parameter("learned", one_of("learned", "error"))
    n_jobs: int | None = redeclared("n_jobs", None)
    ccp_alpha: float = redeclared("ccp_alpha", 0.0)
    prune: Any = redeclared("prune", None)  # noqa: RUF009

    # What growth reads of trees of single columns, and these have not got
    splitter: ClassVar[str] = "best"
    numeric_split: ClassVar[str] = "threshold"
    use_surrogate: ClassVar[int] = 0
    surrogate_style: ClassVar[int] = 0
    max_surrogates: ClassVar[int] = 0

    grows_on_sorted_columns = False

    def _splitter(self) -> str:
        return "best"

    def growth_settings(
        self, n_rows: int, n_features: int, total_weight: float, seed: int | None = None, most_leaves: int | None = None
    ) -> Settings:
        """Return the Settings of a fit, with the sums that nodes try."""
        plain: Any = GrowthParams.growth_settings
        settings: Settings = plain(self, n_rows, n_features, total_weight, seed, most_leaves)
        sums = SumSettings(
            search=self.search,
            n_restarts=_RESTARTING.get(self.search, 1) if self.n_restarts is None else int(self.n_restarts),
            n_projections=0 if self.n_projections is None else int(self.n_projections),
            most_terms=UNLIMITED if self.max_terms is None else int(self.max_terms),
            axis_bias=float(self.axis_bias),
            scaling=self.numeric_scaling,
            has_indicators=bool(self.categories_in_sums),
        )
        return replace(settings, sums=sums, n_drawn=self.n_drawn(n_features))

    def n_drawn(self, n_features: int) -> int:
        """Return how many of so many features a node draws."""
        n = features_drawn(self.max_features, n_features)
        if isinstance(self.max_features, str) and self.search != "random" and self.max_terms != 1:
            return min(max(n, 2), n_features)  # where one column were drawn, no node would try a sum
        return n


class ObliqueLearner(Learner):
    """What fits of oblique trees and forests ask first."""

    search: str
    n_restarts: int | None
    n_projections: int | None
    max_terms: int | None
    categories_in_sums: bool
    n_drawn: Any
    importance: str  # of forests

    def check_params(self) -> None:
        """Raise where a parameter is not legal, or is of another search."""
        if isinstance(getattr(self, "importance", None), str) and self.importance == "impurity_corrected":
            raise ValueError(
                "importance='impurity_corrected' compares columns with shuffled copies of them, and sums over several "
                "columns would mix both; use importance='permutation', which asks rows that trees did not draw"
            )
        super().check_params()
        if self.n_restarts is not None and self.search not in _RESTARTING:
            raise ValueError(
                f"n_restarts={self.n_restarts}: search={self.search!r} starts once; leave it out, or use "
                f"search={' or '.join(map(repr, _RESTARTING))}"
            )
        if self.n_projections is not None and self.search != "random":
            raise ValueError(
                f"n_projections={self.n_projections}: search={self.search!r} draws no sums; leave it out, or use "
                "search='random'"
            )

    def _policy(self, data: TrainingData, total: float, share: float, most_leaves: Any) -> tuple[Any, Settings]:
        criterion, settings = super()._policy(data, total, share, most_leaves)
        if self.categories_in_sums and self.max_terms != 1:
            made = indicators_of(data.table)
            n_columns = data.table.n_features + (0 if made is None else len(made.column))
            settings = replace(settings, n_drawn=self.n_drawn(n_columns))
        return criterion, settings

    def _read_features(self, X: Any) -> Features:
        if isinstance(X, BinnedTable):
            raise TypeError(
                f"X is a BinnedTable, which holds codes, and {type(self).__name__} adds up values: pass these"
            )
        return super()._read_features(X)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ObliqueTreeClassifier(ObliqueLearner, DecisionTree, ClassTree, OfClasses, ObliqueParams):
    """A tree for classes whose nodes may test a weighted sum of several columns.

    Attributes
    ----------
    tree_ : TreeView
        The tree; ``tree_.weights_[node]`` are the weights of the test of a node, one a column.

    Examples
    --------
    >>> from dtnumba import ObliqueTreeClassifier
    >>> X, y = [[0, 3], [1, 1], [2, 2], [3, 1], [0, 5], [4, 0]], ["low", "low", "high", "high", "high", "high"]
    >>> tree = ObliqueTreeClassifier().fit(X, y)
    >>> tree.n_leaves_, tree.predict([[1, 2], [3, 3]]).tolist()
    (2, ['low', 'high'])

    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ObliqueTreeRegressor(ObliqueLearner, DecisionTree, NumberTree, OfNumbers, ObliqueParams):
    """A tree for numbers whose nodes may test a weighted sum of several columns.

    Attributes
    ----------
    tree_ : TreeView
        The tree; ``tree_.weights_[node]`` are the weights of the test of a node, one a column.

    Examples
    --------
    >>> from dtnumba import ObliqueTreeRegressor
    >>> X, y = [[0, 3], [1, 1], [2, 2], [3, 1], [0, 5], [4, 0]], [1.0, 1.0, 5.0, 5.0, 5.0, 5.0]
    >>> ObliqueTreeRegressor(search="ridge").fit(X, y).predict([[1, 1], [3, 3]]).tolist()
    [1.0, 5.0]

    """
