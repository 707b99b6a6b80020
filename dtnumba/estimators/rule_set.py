"""RuleSetClassifier: the rules of a tree, simplified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba import rng
from dtnumba._jit import n_workers
from dtnumba.categories import FROM_DTYPE
from dtnumba.estimators._base import Classifier
from dtnumba.estimators._docs import documented
from dtnumba.estimators._parameters import CATEGORICAL_FEATURES, LEVEL, N_JOBS, SHARE, Legal, one_of, parameter
from dtnumba.estimators._rules import OfModelOrClass, RuleModel, seen_by
from dtnumba.estimators.c45 import C45Classifier
from dtnumba.estimators.decision_tree import OneTree
from dtnumba.path_rules import paths_of
from dtnumba.rules import pack_rules
from dtnumba.trees import LEAF, last_children, node_values
from dtnumba.weights import read_weight

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.rules import Condition
    from dtnumba.trees import Trees

_SELECT = ("mdl", "chi2", "fisher")


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class RuleSetClassifier(RuleModel):
    """Rules made of the paths of an unpruned tree (C4.5rules).

    Each path to a leaf is a rule. Tests that do not help are left out, then rules that do not, and what is left is put
    in order. A missing value fails every test.

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
    categorical_features : "from_dtype", list of names or indices, boolean mask or None
        As of trees.
    random_state : int, generator or None
        Seed of the subsets of rules that the search for the best one starts from; it matters only where a class has
        more than ten rules.
    n_jobs : int or None
        Threads; None is every core, but one inside a worker of another pool.

    Attributes
    ----------
    rules_ : RuleList
        The rules in the order in which they are asked; ``print`` shows them as sentences.
    n_rules_ : int
        How many there are, without the default.
    classes_ : array
        The labels, sorted.
    n_classes_ : int
        How many there are.
    n_features_in_ : int
        Columns of the table in ``fit``.
    feature_names_in_ : array of str
        Names of the columns; only where all of them are text.
    categories_ : list of array or None
        The levels of each column, None of one of numbers; only where there are categories.

    Examples
    --------
    >>> from dtnumba import RuleSetClassifier
    >>> X, y = [[0, 5], [0, 6], [0, 7], [1, 5], [1, 6], [1, 7]], ["no", "no", "no", "no", "yes", "yes"]
    >>> rules = RuleSetClassifier(select=None).fit(X, y)
    >>> print(rules.rules_[2])
    if x0 > 0.5 and x1 > 5.5 then yes [covers 2, correct 2, confidence 0.5, lift 1.5]

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
    min_significance: float | None = parameter(None, LEVEL)
    categorical_features: Any = parameter(FROM_DTYPE, CATEGORICAL_FEATURES)  # noqa: RUF009  a field
    random_state: Any = None
    n_jobs: int | None = parameter(None, N_JOBS)

    @property
    def _confidence(self) -> float:  # type: ignore[override]
        return float(self.confidence)

    @property
    def _by_votes(self) -> bool:  # type: ignore[override]
        return self.resolve == "confidence"

    def _grower(self) -> C45Classifier:
        """Return the unpruned tree that ``fit`` grows."""
        return C45Classifier(prune=None, categorical_features=self.categorical_features, n_jobs=self.n_jobs)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow an unpruned tree and make its paths rules.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, features)
            Numbers and categories; NaN, None and a frame's nulls are missing values.
        y : array of shape (rows,)
            Labels of any hashable kind.
        sample_weight : array of shape (rows,) or number, optional
            What each row counts; rows of weight 0 do not influence anything.

        Returns
        -------
        RuleSetClassifier
            The model itself; as it was if anything fails.

        """
        self._check_params()
        return self._make(self._grower().fit(X, y, sample_weight), X, y, sample_weight)

    def _from_tree(self, model: Any, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Make rules of the paths of a fitted tree; return the model.

        Parameters
        ----------
        model : fitted classifier of one tree
            As a rule unpruned.
        X, y, sample_weight : arrays
            The rows by which rules are simplified, as a rule those that the tree was grown on.

        """
        self._check_params()
        return self._make(model, X, y, sample_weight)

    from_tree = OfModelOrClass(_from_tree)

    def _make(self, model: Any, X: Any, y: Any, sample_weight: Any) -> Self:
        from dtnumba.rule_making import Making, Sample, make_rules

        paths = labelled_paths(model)
        table, code = self._read_known(model, X, y)
        weight = read_weight(sample_weight, table.n_rows)
        seed, workers = rng.seed_from(self.random_state), n_workers(self.n_jobs)
        making = Making(self.select, float(self.confidence), self.min_significance, seed, workers)
        rules = make_rules(
            [(path.tests, path.k) for path in paths], Sample(table, code, weight, len(model.classes_)), making
        )
        return self._learn_rules(rules, seen_by(model), model.classes_)

    def _from_paths(self, model: Any) -> Self:
        """Make rules of the paths of a fitted tree as they are, which say what it says of every row."""
        from dtnumba.rule_making import numbers_of

        paths = labelled_paths(model)
        trees = model.trees_
        nodes = np.array([path.node for path in paths], np.int64)
        label = np.array([path.k for path in paths], np.int64)
        ending = _ending(trees)[nodes]
        covered, correct = ending.sum(axis=1), ending[np.arange(len(label)), label]
        root = np.asarray(trees.value[0], np.float64)
        numbers = numbers_of(covered, correct, label, root / root.sum(), self._confidence)
        default = _said_by(model, root[None])[0]
        # What a leaf without rows says counts, too
        decided = node_values(trees)[nodes] * np.where(trees.weight[nodes] > 0, trees.weight[nodes], 1.0)[:, None]
        decided = np.vstack([decided, np.zeros_like(root)[None]])
        rules = pack_rules([list(path.tests) for path in paths], label, int(default), {**numbers, "decided": decided})
        return self._learn_rules(rules, seen_by(model), model.classes_)


def _said_by(model: Any, shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the classes that a tree says where it holds these shares."""
    rule = vars(model).get("_rule")
    return np.asarray(shares.argmax(axis=1) if rule is None else rule.codes(shares), np.int64)


def _ending(trees: Trees) -> NDArray[np.float64]:
    """Return the rows by class that end at each node: of an inner one, what its children do not have."""
    rows = np.asarray(trees.value * trees.weight[:, None], np.float64)
    ending, last = rows.copy(), last_children(trees)
    for node in np.flatnonzero(trees.feature != LEAF):
        ending[node] -= rows[trees.left[node] : last[node] + 1].sum(axis=0)
    # What rounding leaves of none is none
    return np.where(ending > 1e-9 * rows, ending, 0.0)


class LabelledPath(NamedTuple):
    """The tests on the way to a node at which rows end, and the class that it says."""

    tests: tuple[Condition, ...]
    k: int
    node: int


def labelled_paths(model: Any) -> list[LabelledPath]:
    """Return for each leaf of a fitted tree, and each node at which missing values stay, its tests and its class."""
    if isinstance(model, OneTree) and isinstance(model, Classifier):
        model._fitted()  # noqa: SLF001  of the same kind
    else:
        raise TypeError(f"model={model!r}: must be a fitted classifier of one tree")
    if model.n_outputs_ != 1:
        raise ValueError(f"model has {model.n_outputs_} outputs, and a rule says one; fit a tree to each")
    model._refuse_compact("rules of a tree")  # noqa: SLF001
    trees, levels = model.trees_, vars(model).get("categories_")
    paths = paths_of(trees, lambda j: 0 if levels is None or levels[j] is None else len(levels[j]))
    nodes = [path.node for path in paths]
    said = _said_by(model, node_values(trees)[nodes])
    return [LabelledPath(path.tests, int(k), path.node) for path, k in zip(paths, said, strict=True)]
