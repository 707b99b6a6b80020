"""Decision graphs: trees whose branches may join."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.criteria.contract import resolve_criterion
from dtnumba.estimators.bases.docs import documented
from dtnumba.estimators.bases.fit import train_tree
from dtnumba.estimators.bases.one_tree import ClassTree
from dtnumba.estimators.bases.parameters import (
    CATEGORICAL_FEATURES,
    CLASS_WEIGHT,
    COSTS,
    N_JOBS,
    Legal,
    integer,
    is_real,
    one_of,
    parameter,
    whole,
)
from dtnumba.estimators.bases.rules import OfModelOrClass
from dtnumba.estimators.graphs.forest_votes import votes_of
from dtnumba.growth.graphs.by_length import grown_by_length, grown_on, joined_by_length
from dtnumba.growth.graphs.candidates import Budget
from dtnumba.growth.graphs.diagram import TooLargeError, diagram_of
from dtnumba.growth.graphs.forks import ForkRules
from dtnumba.growth.graphs.growing import ACTIONS, GrowingGraph, Step
from dtnumba.growth.graphs.oblivious import grown_by_levels
from dtnumba.growth.graphs.sample import GraphRows, sample_of
from dtnumba.growth.settings import UNLIMITED, Options, Settings
from dtnumba.prediction.tree_view import TreeView
from dtnumba.pruners.engines.by_depth import cut_where_cheaper
from dtnumba.runtime.tasks import n_workers
from dtnumba.tables.categories import FROM_DTYPE
from dtnumba.tables.table import Table, first_missing
from dtnumba.tables.weights import Weights, fixed_weights, read_weight, weight_in_rows
from dtnumba.trees.check import check
from dtnumba.trees.graphs import shared
from dtnumba.trees.message_length import (
    MessageParts,
    arity_bits,
    dirichlet_bits,
    message_length,
    test_bits,
)
from dtnumba.trees.subtrees import class_weights_of, depth_levels

if TYPE_CHECKING:
    from typing_extensions import Self

    from dtnumba.estimators.bases.fit import TrainingData
    from dtnumba.tables.table import Seen
    from dtnumba.trees.layout import Trees

_MOST_ROWS, _MOST_OF_DIAGRAM = 1 << 40, 200_000
_PRIOR = Legal(lambda value: is_real(value) and value > 0.0, "a number above 0")
_METHODS = ("mml", "merge", "oblivious")


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class DecisionGraphClassifier(ClassTree):
    """A decision graph: a tree whose branches may join, learned as the shortest message that says the labels.

    A tree for ``a and b or c and d`` asks for c and d twice, each time of fewer rows; a graph asks once. The message
    says the shape of the graph, its tests, and the labels of the rows in its leaves (Wallace & Patrick 1993; Oliver,
    Dowe & Wallace 1992). What makes it shorter is worth more than it costs, so that nothing needs to be pruned.

    Weights that are whole numbers count rows. Others are scaled to add up to the number of rows of positive weight.

    Parameters
    ----------
    method : "mml", "merge" or "oblivious"
        "mml": grows by forks and joins, each time the one that saves most bits, until none saves any; where no fork
        pays, forks are looked for that pay together. It starts from a leaf, and again from the tree of "merge", and
        keeps the shorter message. "merge": a tree is grown, cut back where that is shorter, equal subtrees become one,
        and nodes join where that saves bits. "oblivious": all ways ask the columns in one order, a column a level.
    max_nodes : int or None
        Most tests and leaves together.
    max_depth : int or None
        Longest way from the root to a leaf.
    prior : float
        How many rows of each class a leaf is taken to have seen before any; below 1 favours pure leaves.
    min_samples_leaf : int
        Fewest rows that a test sends to each of its children when it is made.
    missing : "learned", "majority" or "error"
        What a missing value does, in fit and in predict. "learned": goes where it saves most bits; of a category it may
        have a child of its own. "majority": goes to the heavier child. "error": is an error.
    class_weight : dict, "balanced" or None
        What the rows of a class count.
    costs : array, dict or None
        The cost of calling a row of a class (row) another (column); leaves then say the label of least cost.
    categorical_features : "from_dtype", list of names or indices, boolean mask or None
        Which columns are categories.
    n_jobs : int or None
        Threads that predict, and that grow the tree of "merge"; the answer does not depend on them.

    Attributes
    ----------
    message_length_ : MessageParts
        Bits of the message: ``structure``, ``tests``, ``data``, and their sum ``total``.
    history_ : list of Step
        What was done, one step after another: its ``action``, the bits it ``saved``, the parts of the message after it
        (``structure``, ``tests``, ``data``), ``n_nodes`` and ``n_joins``.
    n_joins_ : int
        Ways into nodes beyond the first way into each.
    tree_ : TreeView
        The graph under scikit-learn's column names. Where branches join, two nodes name the same child.

    Examples
    --------
    >>> import numpy as np
    >>> from dtnumba import DecisionGraphClassifier
    >>> X = np.random.default_rng(0).integers(0, 2, (500, 4))
    >>> y = X[:, 0] & X[:, 1] | X[:, 2] & X[:, 3]
    >>> graph = DecisionGraphClassifier().fit(X, y)
    >>> graph.n_nodes_, graph.n_leaves_, graph.score(X, y)
    (6, 2, 1.0)

    """

    method: str = parameter("mml", one_of(*_METHODS))
    max_nodes: int | None = parameter(None, integer(1))
    max_depth: int | None = parameter(None, integer(1))
    prior: float = parameter(1.0, _PRIOR)
    min_samples_leaf: int = parameter(1, whole(1, _MOST_ROWS))
    missing: str = parameter("learned", one_of("learned", "majority", "error"))
    class_weight: Any = parameter(None, CLASS_WEIGHT)  # noqa: RUF009  a field
    costs: Any = parameter(None, COSTS)  # noqa: RUF009
    categorical_features: Any = parameter(FROM_DTYPE, CATEGORICAL_FEATURES)  # noqa: RUF009
    n_jobs: int | None = parameter(None, N_JOBS)

    _is_of_one_output = True
    criterion = "gini"  # whose values the nodes show as impurity

    def _learned(self, data: TrainingData) -> dict[str, Any]:
        table, outcome = data.table, data.outcome
        weights = self._counted(outcome, data.weight, data.class_costs, table.n_rows)
        sample = self._sample(table, outcome, weights)
        rules = ForkRules(int(self.min_samples_leaf), learns_missing=self.missing == "learned")
        if self.method == "oblivious":
            growing = grown_by_levels(sample, self._budget, rules)
        elif self.method == "merge":
            growing = joined_by_length(self._tree(data, weights, sample, rules), self._budget)
        else:
            both = (
                grown_by_length(sample, self._budget, rules),
                grown_on(self._tree(data, weights, sample, rules), self._budget, rules),
            )
            growing = min(both, key=lambda one: one.history[-1].total)
        trees = check(growing.trees(), table.n_features)
        learned: dict[str, Any] = self._learned_from(outcome, data.class_costs)
        return learned | self._graph(trees, table.n_features, growing.length(), growing.history)

    def _counted(self, outcome: Any, weight: Any, class_costs: Any, n_rows: int) -> Weights:
        return fixed_weights(weight_in_rows(self.row_weights(outcome, weight, class_costs)), n_rows)

    def _sample(self, table: Any, outcome: Any, weights: Weights) -> GraphRows:
        return sample_of(table, outcome.codes[:, 0], weights, int(outcome.sizes[0]), float(self.prior))

    @property
    def _budget(self) -> Budget:
        nodes, depth = (UNLIMITED if one is None else int(one) for one in (self.max_nodes, self.max_depth))
        return Budget(nodes, depth)

    def _tree(self, data: TrainingData, weights: Weights, sample: GraphRows, rules: ForkRules) -> GrowingGraph:
        """Return a tree of the rows that is grown to the end, and cut back where that makes the message shorter."""
        table, budget = data.table, self._budget
        settings = Settings(
            splitter="best",
            max_bins=None,
            max_depth=budget.max_depth,
            min_samples_split=2,
            min_samples_leaf=rules.min_rows,
            min_weight_leaf=0.0,
            min_decrease=0.0,
            max_leaves=min((budget.max_nodes + 1) // 2, UNLIMITED),
            n_drawn=table.n_features,
            seed=0,
            workers=n_workers(self.n_jobs),
            options=Options(missing="learned" if rules.learns_missing else "majority"),
        )
        criterion = resolve_criterion("entropy", "classes", weights.total, table.n_features)
        trees = train_tree(table, data.outcome, criterion, weights, settings)
        levels, counts = depth_levels(trees), class_weights_of(trees, data.outcome.sizes)[0]
        leaf, test = arity_bits(trees, levels, table.n_features)
        tests = test_bits(trees, levels, table.n_features, sample.cuts)
        labels = dirichlet_bits(counts, float(self.prior))
        growing = GrowingGraph.of_tree(sample, cut_where_cheaper(trees, levels, leaf + labels, test + tests))
        return growing if growing.history[-1].total < growing.history[0].total else GrowingGraph(sample)

    @staticmethod
    def _graph(trees: Trees, n_features: int, length: MessageParts, history: list[Step]) -> dict[str, Any]:
        """Return what is learned of a graph."""
        sizes, actions = trees.value.shape[1], [ACTIONS.index(step.action) for step in history]
        numbers = [(step.saved, step.structure, step.tests, step.data, step.n_nodes, step.n_joins) for step in history]
        return {
            "tree_": TreeView(trees, n_features, [sizes]),
            "_actions": np.array(actions, np.int64),
            "_steps": np.array(numbers, np.float64).reshape(-1, 6),
            "_length": np.array(length, np.float64),
            "_of_forest": 0,
        }

    def _from_tree(self, model: Any, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Make a graph of a fitted tree of classes; return the model.

        Equal subtrees become one, which changes no prediction. With rows, nodes then join where that makes the message
        of their labels shorter. Of the parameters ``prior``, ``max_nodes`` and ``max_depth`` matter: a graph that is
        larger is an error.

        Parameters
        ----------
        model : fitted classifier of one tree
            It stays as it is.
        X, y, sample_weight : arrays, optional
            As a rule the rows that the tree was grown on.

        """
        self.check_params()
        _demand_tree(model)
        if (X is None) != (y is None):
            raise ValueError(f"from_tree: pass both X and y, got {'y' if X is None else 'X'} alone")
        trees, seen = check(shared(model.trees_), model.n_features_in_), model.columns_seen
        learned = {name: vars(model)[name] for name in ("n_outputs_", "classes_", "n_classes_", "_rule")}
        if X is None:
            counts = class_weights_of(trees, model.target_seen.sizes)[0]
            length = message_length(trees, counts, seen.n_features, None, float(self.prior))
            return self._take_within("from_tree", seen, learned | self._graph(trees, seen.n_features, length, []))
        table, labels = model.read_known(X, y)
        weights = self._counted(
            labels, read_weight(sample_weight, table.n_rows), model.class_costs(labels), table.n_rows
        )
        growing = GrowingGraph.of_tree(self._sample(table, labels, weights), trees)
        growing.history = [growing.history[-1]._replace(action="start", saved=0.0)]
        joined = joined_by_length(growing, self._budget)
        trees = check(joined.trees()._replace(cuts_at=trees.cuts_at), seen.n_features)
        learned |= self._graph(trees, seen.n_features, joined.length(), joined.history)
        return self._take_within("from_tree", seen, learned)

    from_tree = OfModelOrClass(_from_tree)

    def _from_forest(self, model: Any, max_nodes: int | None = None) -> Self:
        """Make one graph that labels every row as a fitted forest does; return the model.

        It is a diagram: all ways ask the columns in one order, and what says the same stands once. Its size depends on
        what the trees have in common: some trees of depth 4 are quick, a hundred deep ones are out of reach. It says
        labels, so that ``predict_proba`` is 1 for one class. Rows with missing values, and with levels that the forest
        has not seen, are an error.

        Parameters
        ----------
        model : fitted forest of classes
            With one output; it stays as it is.
        max_nodes : int, optional
            Most nodes of the graph; by default 200,000. Where it gets larger, TooLargeError says how far it got.

        """
        self.check_params()
        given = self.max_nodes if max_nodes is None else max_nodes
        most = _MOST_OF_DIAGRAM if given is None else given
        integer(1).check("max_nodes", most, "from_forest")
        votes, seen = votes_of(model), model.columns_seen
        names = [f"column {j}" if seen.names is None else repr(seen.names[j]) for j in range(seen.n_features)]
        n_levels = [0 if own is None else len(own) for own in seen.levels or [None] * len(names)]
        trees = diagram_of(model.trees_, votes, int(model.n_classes_), n_levels, int(most), names)
        length = message_length(check(trees, seen.n_features), trees.value * 0.0, seen.n_features, None, 1.0)
        learned = {name: vars(model)[name] for name in ("n_outputs_", "classes_", "n_classes_")}
        learned |= {"_rule": None} | self._graph(trees, seen.n_features, length, []) | {"_of_forest": 1}
        return self._take_within("from_forest", seen, learned, int(most))

    from_forest = OfModelOrClass(_from_forest)

    def table_of(self, X: Any) -> Table:
        """Return the Table of rows to predict; of a graph of a forest, which knows no missing values, without any."""
        table = super().table_of(X)
        is_asked = vars(self)["_of_forest"] and type(X) is not Table  # a Table goes where the nodes say
        found = first_missing(table) if is_asked else None
        if found is not None:
            raise ValueError(
                f"row {found[0]} has no value in column {found[1]} (NaN, or a level not seen in fit): a graph of a "
                "forest knows no missing values; fill it in, or ask the forest"
            )
        return table

    def risk_bound(self, delta: float = 0.05, code: str = "notes") -> float:
        """Raise: the bound of trees counts them by a code that graphs have not."""
        self.check_fitted()
        raise ValueError("risk_bound: a decision graph has no subtrees, by which the bound counts trees; ask a tree")

    def _take_within(self, caller: str, seen: Seen, learned: dict[str, Any], max_nodes: int | None = None) -> Self:
        """Take what was learned about columns as seen in place of a fit, unless it is too large; return the model."""
        view, budget = learned["tree_"], self._budget
        n_nodes, depth = _n_nodes(view.trees), int(view.max_depth)
        sizes = (("nodes", n_nodes, budget.max_nodes if max_nodes is None else max_nodes),)
        for name, size, most in (*sizes, ("depth", depth, budget.max_depth)):
            if size > most:
                raise TooLargeError(
                    f"{caller}: the graph has max_{name}={most:,} to keep to, and it would have "
                    f"{f'{size:,} nodes' if name == 'nodes' else f'depth {size:,}'}; pass what is smaller, or a larger "
                    f"max_{name}"
                )
        levels = None if seen.levels is None else tuple(seen.levels)
        return self._learn(Table(0, seen.n_features, seen.names, None, None, None, levels), **learned)

    @property
    def message_length_(self) -> MessageParts:
        """Bits of the message by parts."""
        return MessageParts(*vars(self.check_fitted())["_length"].tolist())

    @property
    def history_(self) -> list[Step]:
        """What was done, and the message after each step."""
        held = vars(self.check_fitted())
        steps = zip(held["_actions"].tolist(), held["_steps"].tolist(), strict=True)
        return [
            Step(ACTIONS[at], saved, structure, tests, data, int(n_nodes), int(n_joins))
            for at, (saved, structure, tests, data, n_nodes, n_joins) in steps
        ]

    @property
    def n_nodes_(self) -> int:
        """Number of tests and leaves."""
        return _n_nodes(self.trees_)

    @property
    def n_joins_(self) -> int:
        """Number of ways into nodes beyond the first way into each."""
        return int(np.count_nonzero(self.trees_.join >= 0))


def _n_nodes(trees: Trees) -> int:
    """Return the number of tests and leaves, each counted once."""
    return int(trees.n_nodes - np.count_nonzero(trees.join >= 0))


def _demand_tree(model: Any) -> None:
    """Raise where a model is not a fitted tree of one output of classes that a graph can be made of."""
    if not getattr(type(model), "is_one_tree_of_classes", False):
        raise TypeError(f"model={model!r}: must be a fitted classifier of one tree")
    model.check_fitted()
    if model.n_outputs_ != 1:
        raise ValueError(f"model has {model.n_outputs_} outputs, and a graph says one; fit a tree to each")
    if getattr(model, "adds_prior", False):
        raise ValueError(
            f"{type(model).__name__} adds a case to the leaves that a row comes to, which a graph does not"
        )
