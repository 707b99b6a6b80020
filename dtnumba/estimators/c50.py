"""C5.0: gain ratio with a price for every choice, pruning below and as a whole, probabilities of leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.estimators.bases.classical import ClassicalParams, ClassicalTree
from dtnumba.estimators.bases.docs import documented
from dtnumba.estimators.bases.fit import predicting
from dtnumba.estimators.bases.parameters import COSTS, Legal, is_real, parameter, yes_or_no
from dtnumba.estimators.c50_tree import C50Options, c50_rows, c50_shares, fit_tree, rehearse
from dtnumba.runtime.side_by_side import expecting
from dtnumba.runtime.tasks import n_workers
from dtnumba.tables.costs import class_costs_of
from dtnumba.tables.weights import weight_in_rows
from dtnumba.trees.layout import BY_SHARE

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.estimators.bases.fit import TrainingData
    from dtnumba.tables.costs import ClassCosts
    from dtnumba.tables.labels import Labels
    from dtnumba.trees.layout import Trees


_CONFIDENCE = Legal(lambda value: is_real(value) and 0.0 < value <= 1.0, "a float in the range (0.0, 1.0]")
_CASES = Legal(lambda value: is_real(value) and value >= 1.0, "a number of 1 or more")
_SAMPLE = Legal(lambda value: is_real(value) and 0.0 <= value < 1.0, "a float in the range [0.0, 1.0)")
_NO_CASE = 1e-7  # weight of a leaf without cases


@dataclass(kw_only=True, eq=False, repr=False)
class C50Params(ClassicalParams):
    """Parameters of C5.0.

    Parameters
    ----------
    subset : bool
        Whether categories are tested in groups, which pay for having been chosen; if not, each has a branch.
    global_pruning : bool
        Whether weak links of the tree collapse as long as it errs no more than chance explains.
    confidence : float
        Of local pruning; smaller means smaller trees, and 1 prunes what a leaf does as well.
    min_cases : float
        At least two branches of every test have rows of this weight.
    sample : float
        The share of the rows, drawn by ``random_state``, that the tree is fitted to; 0.0: all of them.
    costs : array of shape (classes, classes), dict or None
        What it costs to call a row of one class (row) another (column), in the order of the sorted classes; or a dict
        of (true, predicted) to cost, or of true to a dict of predicted to cost, in which a pair left out costs 1. Of
        two classes costs weigh the rows while the tree is made; a label is always the one of least expected cost.

    """

    subset: bool = yes_or_no(True)
    global_pruning: bool = yes_or_no(True)
    confidence: float = parameter(0.25, _CONFIDENCE)
    min_cases: float = parameter(2, _CASES)
    sample: float = parameter(0.0, _SAMPLE)
    costs: Any = parameter(None, COSTS)  # noqa: RUF009


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class C50Classifier(ClassicalTree, C50Params):
    """A tree of C5.0 (Quinlan 1997), as its release 2.07 makes it.

    At each node the cut of largest gain stands for a column of numbers, or of categories in order (an ordered dtype);
    for one of categories their best grouping does. A test pays for the choices that led to it. Among tests of enough
    gain the one of largest gain ratio wins; within a thousandth of it, the one of fewest branches. A row that lacks the
    value of a test goes down all its branches in parts.

    ``predict_proba`` adds one row, of the shares that the classes have in all, to those of the leaf that a row comes
    to, and ``predict`` returns the likeliest class.

    Attributes
    ----------
    n_leaves_ : int
        Leaves that have rows; with ``subset=False`` also those of levels that no row of a node has.

    Examples
    --------
    >>> from dtnumba import C50Classifier
    >>> X = [["sunny", 85], ["sunny", 90], ["overcast", 78], ["rain", 96], ["rain", 70], ["overcast", 65]]
    >>> tree = C50Classifier(categorical_features=[0]).fit(X, ["stay", "stay", "play", "play", "play", "play"])
    >>> tree.predict([["sunny", 70], ["rain", 80]]).tolist()
    ['stay', 'play']

    """

    criterion = "gain_ratio"  # what nodes of a pruned tree are described by
    missing = "fractional"
    adds_prior = True  # to the rows of leaves, of shares that the classes have at the root
    _policy_of_missing = BY_SHARE

    def class_costs(self, labels: Labels) -> ClassCosts:
        """Return the rule of least cost; what rows weigh by costs is the tree's own affair."""
        return class_costs_of(None, self.costs, labels, alters=False)

    def _options(self) -> C50Options:
        return C50Options(
            subset=bool(self.subset),
            min_cases=float(self.min_cases),
            confidence=float(self.confidence),
            global_pruning=bool(self.global_pruning),
        )

    def _learned_trees(self, data: TrainingData) -> Trees:
        if self.sample > 0.0:
            data = self._sampled(data)
        weight = weight_in_rows(data.weight)
        weight = np.ones(data.table.n_rows) if weight is None else weight
        costs = None if data.class_costs.rule is None else data.class_costs.rule.costs
        with expecting(lambda: self._rehearse(data)):
            rows = c50_rows(data.table, data.outcome, np.flatnonzero(weight), n_workers(self.n_jobs))
            grown = fit_tree(rows, weight, self._options(), costs)
        return self._pruned(data, grown)

    def _sampled(self, data: TrainingData) -> TrainingData:
        """Return the data in which rows that are not drawn count nothing."""
        weight = np.ones(data.table.n_rows) if data.weight is None else data.weight
        rows = np.flatnonzero(weight)
        n = max(round(float(self.sample) * len(rows)), 1)
        drawn, own = np.random.default_rng(data.seed).choice(rows, n, replace=False), np.zeros(len(weight))
        own[drawn] = weight[drawn]
        is_apart = data.pruner is not None and data.pruner.held_out is not None
        return data._replace(weight=own, pruner_weight=data.pruner_weight if is_apart else own)

    def _rehearse(self, data: TrainingData) -> None:
        predicting(data.table, data.outcome, BY_SHARE)()
        rehearse(data.table, data.outcome)

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """Return the label of every row: its likeliest class, or that of least expected cost; the first on ties."""
        shares, rule = self.predict_proba(X), self.label_rule
        return np.asarray(self.classes_[shares.argmax(axis=1) if rule is None else rule.codes(shares)])

    def predict_proba(self, X: Any, check_input: bool = True) -> NDArray[np.float64]:
        """Return the probability of each class for every row."""
        table = self.table_of(X)
        return c50_shares(table, self.trees_, n_workers(self.n_jobs))

    def compact(self) -> Self:
        """Return the estimator as it is: what it states of a row depends on how many rows every leaf has."""
        return self.check_fitted()

    @property
    def n_leaves_(self) -> int:
        """Number of leaves that have rows; with ``subset=False`` also those of levels that no row of a node has."""
        tree = self.check_fitted().tree_
        if not self.subset:
            return int(tree.n_leaves)
        leaves = tree.trees.feature < 0
        return max(int((tree.trees.weight[leaves] > _NO_CASE).sum()), 1)

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return int(self.n_leaves_)
