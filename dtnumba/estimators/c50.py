"""C5.0: gain ratio with a price for every choice, pruning below and as a whole, probabilities of leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from dtnumba.estimators.bases.classical import ClassicalParams
from dtnumba.estimators.bases.docs import documented
from dtnumba.estimators.bases.fit import predicting
from dtnumba.estimators.bases.parameters import COSTS, Legal, is_int, is_real, parameter, yes_or_no
from dtnumba.estimators.c50_steps.evaluation import Tally, demand_rows, evaluated, evaluated_on, without_rows
from dtnumba.estimators.c50_steps.fitted_trials import FittedTrials
from dtnumba.estimators.c50_steps.soft_cuts import soft_cuts
from dtnumba.estimators.c50_steps.trials import Boosting, Trials
from dtnumba.estimators.c50_steps.winnowing import winnow
from dtnumba.estimators.c50_tree import C50Options, c50_rows, fit_tree, rehearse
from dtnumba.prediction.tree_view import NotInColumnsError, TreeView
from dtnumba.rules.c50.answers import C50Answers
from dtnumba.rules.view import RuleList
from dtnumba.runtime.side_by_side import expecting
from dtnumba.runtime.tasks import n_workers
from dtnumba.tables.costs import class_costs_of
from dtnumba.tables.weights import weight_in_rows
from dtnumba.trees.layout import BY_SHARE, joined

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.estimators.bases.fit import TrainingData
    from dtnumba.estimators.rule_set import RuleSetClassifier
    from dtnumba.pruners.engines.weakest_link import PruningPath
    from dtnumba.rules.layout import Rules
    from dtnumba.tables.costs import ClassCosts
    from dtnumba.tables.labels import Labels
    from dtnumba.trees.layout import Trees


_CONFIDENCE = Legal(lambda value: is_real(value) and 0.0 < value <= 1.0, "a float in the range (0.0, 1.0]")
_CASES = Legal(lambda value: is_real(value) and value >= 1.0, "a number of 1 or more")
_SAMPLE = Legal(lambda value: is_real(value) and 0.0 <= value < 1.0, "a float in the range [0.0, 1.0)")
_TRIALS = Legal(lambda value: is_int(value) and 1 <= value <= 1000, "a whole number from 1 to 1000")
_BANDS = Legal(
    lambda value: is_int(value) and (value == 0 or 2 <= value <= 1000), "0, or a whole number from 2 to 1000"
)
_ANSWERS: WeakKeyDictionary[Any, tuple[TreeView, C50Answers]] = WeakKeyDictionary()  # of models that were asked


@dataclass(kw_only=True, eq=False, repr=False)
class C50Params(ClassicalParams):
    """Parameters of C5.0.

    Parameters
    ----------
    trials : int
        Of boosting: so many trees at most, each grown for the rows that those before it get wrong, vote.
    rules : bool
        Whether rules are made of each tree, which vote in its place.
    bands : int
        Whether rules stand with the most useful first, and not by class: 0 (no), or in how many parts ``summary``
        shows what they get wrong.
    winnow : bool
        Whether columns are left out at first that half of the rows do without to label the other half.
    early_stopping : bool
        Whether boosting stops when a trial is hardly better than chance.
    subset : bool
        Whether categories are tested in groups, which pay for having been chosen; if not, each has a branch.
    global_pruning : bool
        Whether weak links of the tree collapse as long as it errs no more than chance explains.
    confidence : float
        Of local pruning; smaller means smaller trees, and 1 prunes what a leaf does as well.
    min_cases : float
        At least two branches of every test have rows of this weight.
    fuzzy_threshold : bool
        Whether rows whose value is near a cut of numbers go both ways, in parts.
    sample : float
        The share of the rows, drawn by ``random_state``, that the tree is fitted to; 0.0: all of them.
    costs : array of shape (classes, classes), dict or None
        What it costs to call a row of one class (row) another (column), in the order of the sorted classes; or a dict
        of (true, predicted) to cost, or of true to a dict of predicted to cost, in which a pair left out costs 1. Of
        two classes costs weigh the rows while the tree is made; a label is always the one of least expected cost.

    """

    trials: int = parameter(1, _TRIALS)
    rules: bool = yes_or_no(False)
    bands: int = parameter(0, _BANDS)
    winnow: bool = yes_or_no(False)
    early_stopping: bool = yes_or_no(True)
    subset: bool = yes_or_no(True)
    global_pruning: bool = yes_or_no(True)
    confidence: float = parameter(0.25, _CONFIDENCE)
    min_cases: float = parameter(2, _CASES)
    fuzzy_threshold: bool = yes_or_no(False)
    sample: float = parameter(0.0, _SAMPLE)
    costs: Any = parameter(None, COSTS)  # noqa: RUF009


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class C50Classifier(FittedTrials, C50Params):
    """A tree of C5.0 (Quinlan 1997), as its release 2.07 makes it.

    At each node the cut of largest gain stands for a column of numbers, or of categories in order (an ordered dtype);
    for one of categories their best grouping does. A test pays for the choices that led to it. Among tests of enough
    gain the one of largest gain ratio wins; within a thousandth of it, the one of fewest branches. A row that lacks the
    value of a test goes down all its branches in parts.

    ``predict_proba`` adds one row, of the shares that the classes have in all, to those of the leaf that a row comes
    to, and ``predict`` returns the likeliest class.

    Attributes
    ----------
    soft_cuts_ : list of arrays of shape (nodes, 3)
        With ``fuzzy_threshold``, of each tree, for nodes that cut numbers (NaN elsewhere): up to where a row goes left
        whole, where half of it does, and from where on it goes right whole.
    stopped_after_ : int
        Of boosting or rules: after how many trials no more were made, though more were asked for; 0: after the last
        one. Of no more than two trials the first alone is kept.
    stopped_without_errors_ : bool
        Whether there was nothing left to learn then; if not, the trial that followed was dropped for its errors.
    n_leaves_ : int
        Leaves that have rows, and of a single tree those of levels without rows, if no test above keeps these away.

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
    called_elsewhere = {  # noqa: RUF012  by R's C50
        "CF": "confidence",
        "minCases": "min_cases",
        "noGlobalPruning": "global_pruning",
        "fuzzyThreshold": "fuzzy_threshold",
        "earlyStopping": "early_stopping",
        "seed": "random_state",
    }
    takes_declared_levels = True  # as R's C50 takes those of factors
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

    def _learned(self, data: TrainingData) -> dict[str, Any]:
        if self.bands and not self.rules:
            raise ValueError(f"bands={self.bands}: there are no rules to put in order; pass rules=True, or bands=0")
        if self.fuzzy_threshold and self.rules:
            raise ValueError(
                "fuzzy_threshold=True with rules=True: rules hold or do not, they have no soft cuts; pass "
                "fuzzy_threshold=False, or rules=False"
            )
        is_committee = self.trials > 1 or self.rules
        if is_committee and vars(self).get("prune") is not None:
            raise ValueError(
                f"prune={vars(self)['prune']!r}: it prunes a model of one tree; pass trials=1 and rules=False, or "
                "prune=None (confidence, min_cases and global_pruning say how large trees are)"
            )
        if self.sample > 0.0:
            data = self._sampled(data)
        weight = weight_in_rows(data.weight)
        weight = np.ones(data.table.n_rows) if weight is None else weight
        costs = None if data.class_costs.rule is None else data.class_costs.rule.costs
        table, workers, options = data.table, n_workers(self.n_jobs), self._options()
        dropped = np.zeros(0, np.int64)
        learned: dict[str, Any] = self._learned_from(data.outcome, data.class_costs)
        with expecting(lambda: self._rehearse(data)):
            rows = c50_rows(table, data.outcome, np.flatnonzero(weight), workers)
            if self.winnow:
                dropped, learned["winnow_importances_"] = winnow(table, rows, weight, options, costs, workers)
                rows = rows.without(dropped) if len(dropped) else rows
            tally = Tally(table, rows.codes, weight, rows.columns.n_classes, data.class_costs.rule)
            if is_committee:
                asked = bool(self.rules), bool(self.bands), bool(self.early_stopping), bool(self.fuzzy_threshold)
                boosting = Boosting(table, rows, weight, options, Trials(self.trials, *asked), costs, tally, workers)
                made = boosting.committee()
                trees, rules, soft, tally = made[:4]
                learned |= {"stopped_after_": made.stopped_after, "stopped_without_errors_": made.is_accurate}
            else:
                trees, rules, soft = [self._pruned(data, fit_tree(rows, weight, options, costs))], [], []
                if self.fuzzy_threshold:
                    soft = [soft_cuts(table, trees[0], rows.codes, weight, rows.is_number)]
            learned |= evaluated(trees, rules, table, tally, workers, soft)
            learned |= {"soft_cuts_": soft} if soft else {}
            if self.bands and len(rules) == 1:
                learned["utility_errors_"] = tally.of_bands(rules[0])
        ordered = np.flatnonzero(rows.columns.is_ordered)
        learned |= {**self._made(trees, rules, data), "winnowed_features_": dropped, "ordered_features_": ordered}
        return learned

    def _made(self, trees: list[Trees], rules: list[Rules], data: TrainingData) -> dict[str, Any]:
        """Return what is learned of trees and their rules."""
        table, classes = data.table, data.outcome.classes[0]
        views = [TreeView(one, table.n_features, data.outcome.sizes) for one in trees]
        made: dict[str, Any] = {"trial_trees_": views}
        if rules:
            made["rules_"] = [RuleList(one, table.names, table.levels, classes, table.n_features) for one in rules]
        return made

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

    # --- answers

    @property
    def _answers(self) -> C50Answers:
        """What the model says of rows, made when it is first asked."""
        views, kept = self._views, _ANSWERS.get(self)
        if kept is None or kept[0] is not views[0]:
            trees = joined([view.trees for view in views])
            assert trees is not None, "a fitted model has a tree"
            rules = [own.arrays for own in vars(self).get("rules_", ())]
            soft = np.concatenate(vars(self)["soft_cuts_"]) if "soft_cuts_" in vars(self) else None
            kept = _ANSWERS[self] = views[0], C50Answers(trees, rules, self.n_features_in_, soft)
        return kept[1]

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """Return the label of every row: its likeliest class, the first on ties; of one tree that of least cost."""
        table = self.table_of(X)
        return np.asarray(self.classes_[self._answers.codes(table, n_workers(self.n_jobs), self.label_rule)])

    def predict_proba(self, X: Any, check_input: bool = True) -> NDArray[np.float64]:
        """Return the probability of each class for every row; of trials, their votes as shares."""
        table = self.table_of(X)
        return self._answers.shares(table, n_workers(self.n_jobs))

    def compile_predictor(self) -> C50Answers:  # type: ignore[override]
        """Return a function ``p(row, out=None)`` that answers one row of floats as ``predict_proba`` does."""
        answers = self._answers
        return C50Answers(answers.trees, answers.rules, answers.n_features, answers.soft)

    def summary(  # type: ignore[override]
        self, X: Any = None, y: Any = None, *, sample_weight: Any = None, feature_names: Any = None
    ) -> str:
        """Return what C5.0 prints: trees or rules, errors on the rows of ``fit``, confusion, and use of columns.

        Parameters
        ----------
        X, y, sample_weight : arrays, optional
            Other rows, of which errors and confusion are told behind.
        feature_names : sequence of str, optional
            What columns are called; by default as in ``fit``.

        """
        from dtnumba.export.text_styles.c50_summary import c50_summary

        asked = evaluated_on(self.check_fitted(), X, y, sample_weight)
        return c50_summary(self, asked, feature_names)

    def to_rules(self, X: Any = None, y: Any = None, sample_weight: Any = None, **options: Any) -> RuleSetClassifier:
        """Return rules as a model of their own: those of ``rules=True``, of one trial; else see ``C45Classifier``.

        Parameters
        ----------
        X, y, sample_weight : arrays, optional
            The rows that the tree was grown on, to simplify its rules.
        **options
            Parameters of RuleSetClassifier.

        """
        own = vars(self.check_fitted()).get("rules_", ())
        if len(own) != 1 or X is not None or y is not None:
            return super().to_rules(X, y, sample_weight, **options)
        from dtnumba.estimators.rule_set import RuleSetClassifier

        rules = RuleSetClassifier(**{"resolve": "confidence", **options})
        return rules._learn_rules(own[0].arrays, self.columns_seen, self.classes_)  # noqa: SLF001

    # --- trials

    def __getattr__(self, name: str) -> Any:
        """Return the tree of a model of one tree; say of others why there is none."""
        if name == "tree_" and "trial_trees_" in vars(self):
            self._demand_one_tree("tree_", NotInColumnsError)
            return vars(self)["trial_trees_"][0]
        if "trial_trees_" in vars(self):
            demand_rows(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> PruningPath:
        """Return the alphas at which the tree of some rows loses a link; see ``DecisionTreeClassifier``."""
        if self.trials > 1 or self.rules:
            raise ValueError(
                f"cost_complexity_pruning_path: trials={self.trials!r} and rules={self.rules!r} make more than a tree; "
                "pass trials=1 and rules=False"
            )
        return super().cost_complexity_pruning_path(X, y, sample_weight)

    def _with_trees(self, trees: Trees) -> Self:
        if "soft_cuts_" in vars(self):
            raise ValueError(
                "fuzzy_threshold=True: soft cuts were found for the tree as it is, by the rows of fit; pass prune=... "
                f"to {type(self).__name__}, which finds them for the pruned tree, or fuzzy_threshold=False"
            )
        model: Self = without_rows(self)
        vars(model)["trial_trees_"] = [TreeView(trees, self.n_features_in_, self.target_seen.sizes)]
        return model

    @property
    def trees_(self) -> Trees:
        """The arrays of the trees, of each trial one, in the layout that trees and forests share."""
        return self._answers.trees

    @property
    def estimators_(self) -> list[C50Classifier]:
        """The tree of each trial as a model of its own."""
        found = []
        soft = vars(self).get("soft_cuts_")
        for t, view in enumerate(self._views):
            one = without_rows(self)
            vars(one).update(trials=1, rules=False, bands=0, trial_trees_=[view])
            vars(one).update({"soft_cuts_": [soft[t]]} if soft else {})
            for name in ("rules_", "stopped_after_", "stopped_without_errors_"):
                vars(one).pop(name, None)
            found.append(one)
        return found
