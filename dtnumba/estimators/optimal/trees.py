"""Trees that are proven best: OptimalTree, for classes and for numbers."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.estimators.bases.docs import documented
from dtnumba.estimators.bases.estimator import Regressor
from dtnumba.estimators.bases.fit import Learner, predicting
from dtnumba.estimators.bases.one_tree import ClassTree, OneTree
from dtnumba.estimators.bases.parameters import CLASS_WEIGHT, COSTS, SHARE, one_of, parameter
from dtnumba.estimators.optimal.greedy_start import grower_of
from dtnumba.estimators.optimal.parameters import CALLED_ELSEWHERE, CLASSES_ELSEWHERE, OptimalParams
from dtnumba.growth.optimal.columns import columns_of
from dtnumba.growth.optimal.objectives import class_objective, message_objective, number_objective
from dtnumba.growth.optimal.to_trees import Described, to_trees, weighted_median
from dtnumba.growth.optimal.train import (
    BestTree,
    SearchLimits,
    add_step,
    comes_first,
    count_tests,
    find_tree,
    greedy_trees,
    loss_of_leaves,
    made_ready,
    say_step,
    takes_long,
    unrounded,
)
from dtnumba.prediction.tree_view import TreeView
from dtnumba.runtime.memory import machine_bytes
from dtnumba.runtime.progress import Monitor
from dtnumba.runtime.side_by_side import expecting
from dtnumba.runtime.tasks import n_workers
from dtnumba.tables.weights import fixed_weights
from dtnumba.trees.message_length import whole_leaf_bits

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.estimators.bases.fit import TrainingData
    from dtnumba.growth.optimal.columns import OrderedColumn
    from dtnumba.growth.optimal.objectives import Objective
    from dtnumba.tables.weights import Weights
    from dtnumba.trees.layout import Trees

_MUCH = 1 << 40  # steps: a search may take any time, so Ctrl-C and limits are listened for


class OptimalTree(Learner):
    """One tree that no other of its size beats.

    Attributes
    ----------
    loss_ : float
        What the tree loses on the rows of ``fit``: the weight of wrong labels, their cost, or the squares.
    objective_, lower_bound_ : float
        The loss and the price of all tests; and what every tree loses at least. Of a search that ended early, that is
        above what rows lose that no test parts only where each test of the root was tried, or skipped by one like it.
    gap_ : float
        How much better a tree might be, as a share of ``objective_``; 0 where the tree is proven best.
    is_optimal_ : bool
        Whether it is.
    n_explored_ : int
        Sets of rows for which the best tree was looked for.
    history_ : array of shape (steps, 3)
        Seconds, objective and lower bound whenever one of the two got better.

    A tree that ``prune`` has made smaller has none of these: they were those of the tree that was found.

    """

    _is_of_one_output = True
    _objective_of: Callable[..., Objective]
    _describer: Callable[..., Callable[[Any], Described]]

    max_depth: int
    max_nodes: int | None
    min_samples_leaf: int
    complexity: float
    complexity_unit: str
    thresholds: Any
    max_seconds: float | None
    max_gap: float
    start: str | None
    max_bytes: int | None
    verbose: Any
    objective: str

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the best tree; see ``Learner.fit``. Ctrl-C keeps the best so far, and then raises KeyboardInterrupt.

        Before any tree is known, while the table is read or code compiled, it raises at once.
        """
        data = self._read(X, y, sample_weight)
        seconds = None if self.max_seconds is None else float(self.max_seconds)
        monitor = Monitor(self.verbose if callable(self.verbose) else 0, seconds, 1, _MUCH)
        self._learn(data.table, **self._learned_under(data, monitor))
        if monitor.error is not None:
            raise monitor.error
        return self

    def _learned_under(self, data: TrainingData, monitor: Monitor) -> dict[str, Any]:
        """Return what the model learns until the monitor stops the search."""
        table, outcome = data.table, data.outcome
        weights = fixed_weights(self.row_weights(outcome, data.weight), table.n_rows)
        kept = np.asarray(weights.kept, np.int64)
        columns = self._columns(table, kept, monitor)
        is_whole = columns is not None
        columns = columns or []
        goal = self._objective_of(data, weights, columns, self._price(weights))
        deepest, most = max(int(self.max_depth), 1), (1 << int(self.max_depth)) - 1
        if self.max_nodes is not None and most > 0:
            most = int(self.max_nodes)
        memory = machine_bytes() // 4 if self.max_bytes is None else int(self.max_bytes)
        limits = SearchLimits(deepest, most, int(self.min_samples_leaf), memory, float(self.max_gap), self.start)
        params, weight = self.get_params(deep=False), self.row_weights(outcome, data.weight)
        grower = grower_of(data, kept, weight, params)
        limits = limits._replace(workers=n_workers(self.n_jobs), grower=grower, is_whole=is_whole)
        if self.verbose and not callable(self.verbose):
            limits = limits._replace(tell=partial(say_step, goal.unit))
        with expecting(predicting(table, outcome)):
            best = self._best(data, columns, goal, limits, monitor)
        trees = to_trees(best.tree, columns, len(kept), self._describer(data, weights, kept))
        if self.objective not in {"error", "bound", "mdl"}:
            best = unrounded(best, math.fsum((trees.weight * trees.impurity)[trees.feature < 0]))
        return {
            **self._learned_from(outcome, data.class_costs),
            "tree_": TreeView(trees, table.n_features, outcome.sizes),
            "loss_": float(best.loss),
            "objective_": float(best.objective),
            "lower_bound_": float(best.lower),
            "gap_": float(best.objective - best.lower) / best.objective if best.objective > best.lower else 0.0,
            "is_optimal_": bool(best.lower >= best.objective),
            "n_explored_": best.explored,
            "history_": np.array(best.history),
        }

    def _columns(self, table: Any, kept: NDArray[np.int64], monitor: Monitor) -> list[OrderedColumn] | None:
        """Return the columns of the search; None where the monitor stops that."""
        most = None if self.thresholds == "exact" else int(self.thresholds)
        by_price = self.objective == "mdl"
        make = partial(columns_of, table, kept, most, lambda: bool(monitor.stopped), by_price=by_price)
        found = made_ready(make, takes_long=takes_long(table.n_features, len(kept)), monitor=monitor)
        return None if found is None else list(found)

    def _with_trees(self, trees: Trees) -> Self:
        found: Any = super()
        model: Self = found._with_trees(trees)  # noqa: SLF001  its own
        if trees.n_nodes < found.trees_.n_nodes:
            for name in ("loss_", "objective_", "lower_bound_", "gap_", "is_optimal_", "n_explored_", "history_"):
                vars(model).pop(name, None)  # of another tree
        return model

    def path(self, complexities: Any, X: Any, y: Any, sample_weight: Any = None) -> list[Self]:
        """Return the optimal trees along a range of complexities: what cost-complexity pruning finds part of.

        Parameters
        ----------
        complexities : sequence of float
            Values of ``complexity``, in its unit.
        X, y, sample_weight : arrays
            As in ``fit``. The estimator stays as it is.

        """
        if not np.iterable(complexities) or isinstance(complexities, str):
            raise TypeError(f"complexities={complexities!r}: it takes a sequence of numbers, such as [0.0, 0.01, 0.1]")
        models = []
        for complexity in complexities:
            model = copy.copy(self)
            model.complexity = complexity
            models.append(model.fit(X, y, sample_weight))
        return models

    def _best(
        self, data: TrainingData, columns: Any, goal: Objective, limits: SearchLimits, monitor: Monitor
    ) -> BestTree:
        found = find_tree(columns, goal, limits, monitor)
        assert found.tree is not None  # a leaf at least
        n_tests, unit = count_tests(found.tree), goal.unit
        history = [(seconds, upper * unit, lower * unit) for seconds, upper, lower in found.history]
        loss, objective = (found.upper - n_tests * goal.price) * unit, found.upper * unit
        if hasattr(goal.loss, "test_price"):  # which differs from test to test
            loss = loss_of_leaves(found.tree, columns, goal) * unit
        return BestTree(found.tree, loss, objective, found.lower * unit, found.explored, history)

    def _price(self, weights: Weights) -> Callable[[float], float]:
        whole = {"root": None, "rows": weights.total, "loss": 1.0}[str(self.complexity_unit)]
        return lambda root: float(self.complexity) * (root if whole is None else whole)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class OptimalTreeClassifier(OptimalTree, ClassTree, OptimalParams):
    """The tree of classes that loses least, of all trees of a depth and a number of tests.

    Parameters
    ----------
    objective : "error", "gini", "entropy", "mdl" or "bound"
        What is least: the weight of wrong labels or their cost, or how mixed the leaves are. "mdl": the bits that
        tell the tree and then the labels, as the pruner ``mdl`` counts them, where each column offers its distinct
        values less one as cuts. "bound": the bound on the true error of ``risk_bound``, by which larger trees must pay
        for their size.
    delta : float
        With ``objective="bound"``: it holds with probability 1 - delta.
    class_weight : dict, "balanced" or None
        Weight of each class, multiplied into the rows' weights.
    costs : array of shape (classes, classes), dict or None
        What it costs to call a row of one class (row) another (column); with ``objective="error"``.

    Examples
    --------
    >>> from dtnumba import OptimalTreeClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
    >>> tree = OptimalTreeClassifier(max_depth=2).fit(X, y)
    >>> tree.loss_, tree.is_optimal_, tree.predict([[0, 1], [1, 1]]).tolist()
    (0.0, True, ['yes', 'no'])

    """

    objective: str = parameter("error", one_of("error", "gini", "entropy", "mdl", "bound"))
    delta: float = parameter(0.05, SHARE)
    class_weight: Any = parameter(None, CLASS_WEIGHT)  # noqa: RUF009  a field
    costs: Any = parameter(None, COSTS)  # noqa: RUF009

    called_elsewhere = CLASSES_ELSEWHERE
    priors = None

    @property
    def criterion(self) -> str:
        """The criterion whose values the nodes show as impurity."""
        return "error" if self.objective == "bound" else self.objective

    def check_params(self) -> None:
        """Raise where a parameter is not legal, or two of them are not together."""
        super().check_params()
        if self.costs is not None and self.objective not in {"error", "bound"}:
            raise ValueError(f"objective={self.objective!r} knows no costs: pass objective='error', or costs=None")
        if self.objective == "mdl" and self.complexity:
            raise ValueError("objective='mdl' says what tests cost: leave out complexity")
        if self.objective == "bound" and (self.complexity or self.max_gap):
            raise ValueError("objective='bound' says what tests cost: leave out complexity and max_gap")

    def _best(
        self, data: TrainingData, columns: Any, goal: Objective, limits: SearchLimits, monitor: Monitor
    ) -> BestTree:
        if self.objective != "bound":
            return super()._best(data, columns, goal, limits, monitor)
        return self._least_bound(data, columns, goal, limits, monitor)

    def _least_bound(
        self, data: TrainingData, columns: Any, goal: Objective, limits: SearchLimits, monitor: Monitor
    ) -> BestTree:
        """Return the tree of the least bound on the true error: of each number of tests, the one of least errors."""
        rule, d = data.class_costs.rule, data.table.n_features
        highest = 1.0 if rule is None else float(rule.costs.max())
        weight = float(fixed_weights(self.row_weights(data.outcome, data.weight), data.table.n_rows).total)
        symbol = math.log2(d + data.outcome.sizes[0] + 1)

        def price(n_tests: int) -> float:
            return math.sqrt(((2 * n_tests + 2) * symbol + math.log(2.0 / self.delta)) / (2.0 * weight))

        def error(loss: int) -> float:
            return loss * goal.unit / (weight * highest)

        best: BestTree | None = None
        lower, explored, history = math.inf, 0, list[tuple[float, float, float]]()
        most, begins = min(limits.tests, (1 << limits.depth) - 1), comes_first(columns, goal, limits, monitor)

        def note(seconds: float, objective: float, bound: float) -> None:
            if add_step(history, seconds, objective, bound) and limits.tell is not None:
                say_step(1.0, *history[-1])

        def begun(best: BestTree) -> BestTree:
            for tree, loss in greedy_trees(columns, goal, limits, monitor):
                objective = error(loss) + price(count_tests(tree))
                if objective < best.objective:
                    best = BestTree(tree, loss * goal.unit, objective, 0.0, 0, history)
                    note(monitor.seconds_of_work(), objective, 0.0)
            return best

        for n_tests in range(most + 1):
            own = price(n_tests)
            if best is not None and (own >= best.objective or monitor.stopped):
                lower = min(lower, own)
                break
            bar = None if best is None else math.ceil((best.objective - own) * weight * highest / goal.unit)
            # What all other trees lose at least, while those of so many tests are looked for
            others = min(lower, price(n_tests + 1) if n_tests < most else math.inf)

            def tell(
                seconds: float, loss: int, bound: int, own: float = own, bar: int | None = bar, others: float = others
            ) -> None:
                objective = error(loss) + own if bar is None or loss < bar else math.inf
                note(seconds, objective, min(error(bound) + own, others))

            found = find_tree(columns, goal, limits._replace(tests=n_tests, upper=bar, tell=tell), monitor)
            explored += found.explored
            if found.tree is not None:
                objective = error(found.upper) + own
                if best is None or objective < best.objective:
                    best = BestTree(found.tree, found.upper * goal.unit, objective, 0.0, 0, history)
            lower = min(lower, error(found.lower) + own)
            if n_tests == 0 and begins and best is not None:
                best = begun(best)
        assert best is not None  # a leaf is found first
        if lower < best.objective and not begins:
            best = begun(best)
        lower = min(lower, best.objective)
        note(monitor.seconds_of_work(), best.objective, lower)
        return best._replace(lower=lower, explored=explored)

    def _objective_of(self, data: TrainingData, weights: Weights, columns: Any, price: Any) -> Objective:
        codes, rule = data.outcome.codes[weights.kept, 0], data.class_costs.rule
        if self.objective == "mdl":
            n_features, depth = data.table.n_features, max(int(self.max_depth), 1)
            return message_objective(codes, data.outcome.sizes[0], weights, columns, n_features, depth)
        costs = None if rule is None else rule.costs
        return class_objective(codes, data.outcome.sizes[0], weights, self.criterion, costs, price)

    def _describer(self, data: TrainingData, weights: Weights, kept: NDArray[np.int64]) -> Callable[[Any], Described]:
        codes, counts = data.outcome.codes[kept, 0], weights.integers[kept]
        n_classes, rule = data.outcome.sizes[0], data.class_costs.rule

        def describe(rows: NDArray[np.int64]) -> Described:
            sums = np.zeros(n_classes, np.int64)
            np.add.at(sums, codes[rows], counts[rows])
            shares = sums / sums.sum()
            if self.criterion == "error":
                impurity = float(1.0 - shares.max() if rule is None else (shares @ rule.costs).min())
            elif self.objective == "gini":
                impurity = float(1.0 - (shares**2).sum())
            elif self.objective == "mdl":
                found = np.stack([sums, np.append(sums.sum(), sums[1:] * 0)]) * weights.unit
                bits = whole_leaf_bits(found)
                impurity = max(float(bits[0] - bits[1]), 0.0) / float(found[0].sum())
            else:
                impurity = -float(sum(share * math.log2(share) for share in shares if share > 0))
            return Described(shares, float(sums.sum()) * weights.unit, impurity)

        return describe


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class OptimalTreeRegressor(OptimalTree, OneTree, Regressor, OptimalParams):
    """The tree of numbers that loses least, of all trees of a depth and a number of tests.

    Parameters
    ----------
    objective : "squared_error" or "absolute_error"
        What is least: the squares about the means of the leaves, or the distances from their medians.

    Examples
    --------
    >>> from dtnumba import OptimalTreeRegressor
    >>> tree = OptimalTreeRegressor(max_depth=1).fit([[1], [2], [8], [9]], [1.0, 1.0, 5.0, 6.0])
    >>> tree.loss_, tree.predict([[0], [10]]).tolist()
    (0.5, [1.0, 5.5])

    """

    objective: str = parameter("squared_error", one_of("squared_error", "absolute_error"))

    called_elsewhere = CALLED_ELSEWHERE

    @property
    def criterion(self) -> str:
        """The criterion whose values the nodes show as impurity."""
        return self.objective

    def predict(self, X: Any, check_input: bool = True) -> NDArray[np.float64]:
        """Return the value of every row's leaf."""
        table = self.table_of(X)
        return self.tree_.numbers(table, self.n_jobs)[:, 0]

    def _objective_of(self, data: TrainingData, weights: Weights, columns: Any, price: Any) -> Objective:
        return number_objective(data.outcome.y[:, 0], weights, self.objective, price)

    def _describer(self, data: TrainingData, weights: Weights, kept: NDArray[np.int64]) -> Callable[[Any], Described]:
        y, counts = data.outcome.y[kept, 0], weights.integers[kept] * weights.unit

        def describe(rows: NDArray[np.int64]) -> Described:
            own, weight = y[rows], counts[rows]
            total = float(weight.sum())
            if self.objective == "absolute_error":
                middle = weighted_median(own, weight)
                return Described(np.array([middle]), total, math.fsum(weight * np.abs(own - middle)) / total)
            mean = float(np.clip(math.fsum(weight * own) / total, own.min(), own.max()))
            return Described(np.array([mean]), total, math.fsum(weight * (own - mean) ** 2) / total)

        return describe
