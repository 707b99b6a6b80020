"""RuleSetClassifier: the rules of a tree, simplified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.estimators.bases.docs import documented
from dtnumba.estimators.bases.parameters import (
    CATEGORICAL_FEATURES,
    N_JOBS,
    RANDOM_STATE,
    SHARE,
    SIGNIFICANCE,
    Legal,
    one_of,
    parameter,
)
from dtnumba.estimators.bases.rules import OfModelOrClass, RuleModel
from dtnumba.estimators.c45 import MIN_GAP, C45Classifier
from dtnumba.rules.layout import pack_rules
from dtnumba.rules.paths import demand_tree, labelled_paths, outcomes_of, sums_of_paths
from dtnumba.rules.simplify import Making, Sample, make_rules, numbers_of
from dtnumba.runtime.tasks import n_workers
from dtnumba.tables.categories import FROM_DTYPE
from dtnumba.tables.weights import are_whole, read_weight, weight_in_rows
from dtnumba.trees.layout import LEAF, last_children, node_values

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.estimators.bases.fit import TrainingData
    from dtnumba.rules.layout import Rules
    from dtnumba.trees.layout import Trees


_SELECT = ("mdl", "chi2", "fisher")


class _Grower(C45Classifier):
    """The tree of a fit, which is called in messages what the caller called it."""


_Grower.__name__ = "RuleSetClassifier"


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class RuleSetClassifier(RuleModel):
    """Rules made of the paths of an unpruned tree (C4.5rules).

    Each path to a leaf is a rule. Tests that do not help are left out, then rules that do not, and what is left is put
    in order. A missing value fails every test.

    Weights of rows that are whole numbers count rows. Others are scaled to add up to the number of rows of positive
    weight, so that their unit does not matter; ``covered`` and ``correct`` are in rows, too.

    Parameters
    ----------
    confidence : float
        How rarely errors may be as few as they are by chance, where the error of a rule is estimated. Smaller is more
        pessimistic.
    select : "mdl", "chi2", "fisher" or None
        "mdl": a test is left out where that makes the estimated error no larger; of the rules of each class those stay
        that describe the class in the fewest bits, their exceptions included. "chi2", "fisher": a test is left out
        where it may well be independent of the class among the rows that pass the others (by Fisher's exact test, and
        for "chi2" by chi-squared where at least ten rows are expected in each cell), and a rule where no fewer rows are
        right without it (Quinlan 1987). None: the paths as they are.
    resolve : "order" or "confidence"
        What answers a row for which several rules hold: the first of them, or the class whose rules have the largest
        sum of confidences, the first class on ties.
    min_significance : float or None
        Level at which a test must be significant: None is 0.05 for "chi2" and "fisher", and no such demand for "mdl".
    min_gap : float
        Values of a column that are no farther apart are not parted, as in the original: 0 parts any two different ones.
    random_state : int, generator or None
        Seed of the subsets of rules that the search for the best one starts from; it matters only where a class has
        more than ten rules.

    Examples
    --------
    >>> from dtnumba import RuleSetClassifier
    >>> X = [[0, 5], [0, 6], [0, 7], [0, 8], [1, 5], [1, 5], [1, 6], [1, 7]]
    >>> rules = RuleSetClassifier(select=None).fit(X, ["no"] * 6 + ["yes"] * 2)
    >>> print(rules.rules_[2])
    if x0 > 0.0 and x1 > 5.0 then yes [covers 2, correct 2, confidence 0.5, lift 2]

    """

    confidence: float = parameter(0.25, SHARE)
    select: str | None = parameter(
        "mdl",
        Legal(
            lambda value: value is None or (isinstance(value, str) and value in _SELECT),
            "a str among {'mdl', 'chi2', 'fisher'} or None",
        ),
    )
    resolve: str = parameter("order", one_of("order", "confidence"))
    min_significance: float | None = parameter(None, SIGNIFICANCE)
    min_gap: float = parameter(1e-5, MIN_GAP)
    categorical_features: Any = parameter(FROM_DTYPE, CATEGORICAL_FEATURES)  # noqa: RUF009  a field
    random_state: Any = parameter(None, RANDOM_STATE)  # noqa: RUF009
    n_jobs: int | None = parameter(None, N_JOBS)

    @property
    def _confidence(self) -> float:  # type: ignore[override]
        return float(self.confidence)

    @property
    def _by_votes(self) -> bool:  # type: ignore[override]
        return self.resolve == "confidence"

    def _grower(self) -> C45Classifier:
        """Return the unpruned tree that ``fit`` grows."""
        columns = self.categorical_features
        return _Grower(prune=None, categorical_features=columns, min_gap=self.min_gap, n_jobs=self.n_jobs)

    def _learned(self, data: TrainingData) -> dict[str, Any]:
        weight = weight_in_rows(data.weight)
        tree = self._grower().fit(data.table, data.outcome, weight)
        sample = Sample(data.table, data.outcome.codes[:, 0].astype(np.int64), weight, len(tree.classes_))
        return self._learned_of_rules(self._made(tree, sample, data.seed), tree.columns_seen, tree.classes_)

    def _from_tree(self, model: Any, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Make rules of the paths of a fitted tree; return the model.

        Parameters
        ----------
        model : fitted classifier of one tree
            As a rule unpruned.
        X, y, sample_weight : arrays
            The rows by which rules are simplified, as a rule those that the tree was grown on.

        """
        self.check_params()
        demand_tree(model)
        table, labels = model.read_known(X, y)
        code, weight = labels.codes[:, 0], weight_in_rows(read_weight(sample_weight, table.n_rows))
        sample = Sample(table, code, weight, len(model.classes_))
        return self._learn_rules(self._made(model, sample, self._seed()), model.columns_seen, model.classes_)

    from_tree = OfModelOrClass(_from_tree)

    def _made(self, tree: Any, sample: Sample, seed: int) -> Rules:
        """Return the paths of a fitted tree as rules, simplified by a sample of rows."""
        making = Making(self.select, float(self.confidence), self.min_significance, seed, n_workers(self.n_jobs))
        paths, trees = [(path.tests, path.k) for path in labelled_paths(tree)], tree.trees_
        return make_rules(paths, sample, making, trees.cuts_at, sums_of_paths(trees))

    def from_paths(self, model: Any) -> Self:
        """Make rules of the paths of a fitted tree as they are, which say what it says of every row."""
        paths = labelled_paths(model)
        trees = model.trees_
        nodes = np.array([path.node for path in paths], np.int64)
        label = np.array([path.k for path in paths], np.int64)
        ending, root = _ending(trees)[nodes], np.asarray(trees.value[0], np.float64)
        if trees.is_graph:
            share = np.array([path.share for path in paths])
            ending = np.asarray(trees.value[nodes]) * (share * trees.weight[0])[:, None]
        if not _counts_rows(trees):
            ending *= trees.n_samples[0] / trees.weight[0]
        covered, correct = ending.sum(axis=1), ending[np.arange(len(label)), label]
        numbers = numbers_of(covered, correct, label, root / root.sum(), self._confidence)
        default = outcomes_of(model, root[None])[0]
        # What a leaf without rows says counts, too
        decided = node_values(trees)[nodes] * np.where(trees.weight[nodes] > 0, trees.weight[nodes], 1.0)[:, None]
        decided = np.vstack([decided, np.zeros_like(root)[None]])
        numbers["decided"] = decided
        bodies = [list(path.tests) for path in paths]
        rules = pack_rules(bodies, label, int(default), numbers, trees.cuts_at, sums_of_paths(trees))
        return self._learn_rules(rules, model.columns_seen, model.classes_)


def _counts_rows(trees: Trees) -> bool:
    """Tell whether the weights that a tree was grown on were numbers of rows (see ``weight_in_rows``)."""
    # Where missing values part rows, only the root holds whole ones
    weight = trees.weight if len(trees.share) == 0 else trees.weight[:1]
    return bool(trees.weight[0] >= trees.n_samples[0] and are_whole(weight, float(trees.weight[0])))


def _ending(trees: Trees) -> NDArray[np.float64]:
    """Return the rows by class that end at each node: of an inner one, what its children do not have."""
    rows = np.asarray(trees.value * trees.weight[:, None], np.float64)
    ending, last = rows.copy(), last_children(trees)
    for node in np.flatnonzero(trees.feature != LEAF):
        ending[node] -= rows[trees.left[node] : last[node] + 1].sum(axis=0)
    # What rounding leaves of none is none
    return np.where(ending > 1e-9 * rows, ending, 0.0)
