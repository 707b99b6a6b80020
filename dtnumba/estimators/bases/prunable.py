"""The base of models whose trees can be pruned: after growth, with ``prune=``, and by the method of that name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.estimators.bases.fit import Learner, TrainingData
from dtnumba.pruners.contract import PruningContext, Rows
from dtnumba.tables.labels import Labels
from dtnumba.tables.table import Seen
from dtnumba.tables.weights import read_weight
from dtnumba.trees.check import check
from dtnumba.validation.early_stopping import stopped_early
from dtnumba.validation.node_losses import target_of_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.pruners.contract import Pruner
    from dtnumba.trees.layout import Trees


class MethodAndParameter:
    """An attribute that is both: called as a method (``model.prune(...)``), and set and compared as a parameter."""

    def __init__(self, method: Any) -> None:
        self._method, self.__doc__ = method, method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        """Learn under which name the parameter is kept."""
        self._name = name

    def __get__(self, model: Any, owner: type) -> Any:
        """Return the method, which stands for the value of the parameter where it is compared or shown."""
        if model is None:
            return self._method
        return CalledOrCompared(self._method.__get__(model, owner), self._name, vars(model).get(self._name))

    def __set__(self, model: Any, value: Any) -> None:
        """Set the parameter; what another model's attribute of this name stands for is its value."""
        vars(model)[self._name] = value.value if isinstance(value, CalledOrCompared) else value


class CalledOrCompared:
    """A method of a model, equal to the value of the parameter of its name.

    Attributes
    ----------
    value : object
        That value, as ``get_params`` returns it.

    """

    def __init__(self, method: Any, name: str, value: Any) -> None:
        self.__wrapped__, self.__doc__, self._name, self.value = method, method.__doc__, name, value

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the method."""
        return self.__wrapped__(*args, **options)

    def __eq__(self, other: object) -> bool:
        """Compare the value of the parameter."""
        return bool(self.value == (other.value if isinstance(other, CalledOrCompared) else other))

    def __hash__(self) -> int:
        """Hash the value of the parameter."""
        return hash(self.value)

    def __bool__(self) -> bool:
        """Tell whether the parameter is set."""
        return self.value is not None

    def __repr__(self) -> str:
        """Say which is which."""
        model = type(self.__wrapped__.__self__).__name__
        return f"<{self._name}={self.value!r}, a parameter of {model}; {self._name}(...) is its method>"


class Prunable(Learner):
    """A model whose trees can be pruned."""

    trees_: Any
    _with_trees: Any

    def _prune(self, method: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None, **options: Any) -> Any:
        """Return a smaller model; this one stays as it is. See ``dtnumba.prune`` for the parameters."""
        trees = self.check_fitted().trees_
        self.refuse_compact("prune")
        from dtnumba.pruners.registry import resolve_pruner

        pruner = resolve_pruner(method, options)
        columns, target = self.columns_seen, self.target_seen
        outcome, rows, given = None, None, None
        if X is None and y is None:
            if sample_weight is not None:
                raise ValueError("prune: sample_weight belongs to X and y; pass these, too")
            if pruner.needs_rows:
                raise ValueError(f"prune: {pruner!r} looks at rows: pass X and y. {pruner.which_rows}")
        else:
            rows, outcome = self._read_rows(columns, target, X, y, sample_weight)
            given = (X, y, sample_weight)
        weights = partial(self._weights_in_tree, outcome, rows, self._drawn_by())
        context = self._context(trees, columns, target, self.label_rule, rows, given, weights)
        return self._with_trees(check(pruner.pruned(context), self.n_features_in_))

    prune: Any = MethodAndParameter(_prune)

    def refuse_compact(self, what: str) -> None:
        """Raise where ``compact`` has dropped what the work called ``what`` reads."""
        if self.trees_.is_compact:
            raise ValueError(
                f"{what}: compact() dropped the statistics of this {type(self).__name__} that it reads; fit the model "
                "again, and do this before compact()"
            )

    def _context(
        self,
        trees: Trees,
        columns: Seen,
        target: Any,
        rule: Any,
        rows: Rows | None = None,
        given: Any = None,
        weights: Any = None,
    ) -> PruningContext:
        """Return the PruningContext of trees over some columns and a target (Labels or Values, of any rows)."""
        is_classes, sizes = isinstance(target, Labels), target.sizes

        def read(X: Any, y: Any, sample_weight: Any) -> Rows:
            return self._read_rows(columns, target, X, y, sample_weight)[0]

        return PruningContext(self, trees, columns.n_features, sizes, is_classes, rows, given, read, weights, rule)

    def _read_rows(self, columns: Seen, target: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, Any]:
        """Return rows, and their target in codes of the model as Labels or Values."""
        if X is None or y is None:
            raise ValueError(f"prune: pass both X and y, got {'y' if X is None else 'X'} alone")
        table, outcome = self.read_known(X, y, columns, target)
        weight = _ones_or(read_weight(sample_weight, table.n_rows), table.n_rows)
        return Rows(table, target_of_rows(outcome), weight), outcome

    def _weights_in_tree(
        self, outcome: Any, rows: Any, drawn: Callable[[int], NDArray[np.int64]] | None, tree: int
    ) -> NDArray[np.float64]:
        """Return what each row counted when a tree was grown, its class weight included."""
        if drawn is None:
            return _ones_or(self.row_weights(outcome, rows.weight), len(rows.weight))
        counts = drawn(tree)
        if len(counts) != len(rows.weight):
            raise ValueError(
                f"prune: X has {len(rows.weight)} rows, and the forest was grown on {len(counts)}; raising asks for "
                "these very rows; pass them, or raising=False"
            )
        return counts.astype(np.float64)

    def _drawn_by(self) -> Callable[[int], NDArray[np.int64]] | None:
        """Return the function that says how often a tree drew each row; None where every tree counts them by weight."""
        return None

    def _pruner(self) -> Pruner | None:
        """Return the pruner that the parameter stands for."""
        method = vars(self).get("prune")
        if method is None:
            return None
        from dtnumba.pruners.registry import resolve_pruner

        return resolve_pruner(method)

    def _finished(
        self,
        data: TrainingData,
        trees: Trees,
        most_leaves: int | None,
        workers: int,
        drawn: Callable[[int], NDArray[np.int64]] | None = None,
    ) -> Trees:
        """Return the trees of a fit with true priors, stopped early and pruned, as the parameters say."""
        trees = data.class_costs.restored(trees)
        if data.validation_rows is not None:
            trees = stopped_early(trees, data.validation_rows, most_leaves, workers)
        if self.ccp_alpha > 0:
            from dtnumba.pruners.engines.weakest_link import cut_weak, impurity_risk

            trees = cut_weak(trees, impurity_risk(trees), self.ccp_alpha)
        return self._pruned(data, trees, drawn)

    def _pruned(
        self, data: TrainingData, trees: Trees, drawn: Callable[[int], NDArray[np.int64]] | None = None
    ) -> Trees:
        """Return the trees of a fit as its pruner leaves them; ``drawn`` says how often each drew the rows."""
        if data.pruner is None:
            return trees
        outcome, table = data.outcome, data.table
        columns = Seen(table.n_features, table.names, table.levels)
        rows = Rows(table, target_of_rows(outcome), _ones_or(data.pruner_weight, table.n_rows))
        weights = partial(self._weights_in_tree, outcome, rows, drawn)
        context = self._context(trees, columns, outcome, data.class_costs.rule, rows, data.given, weights)
        return check(data.pruner.pruned(context), table.n_features)


def drawn_by(drawing: Any, seed: int, first: int = 0) -> Callable[[int], NDArray[np.int64]] | None:
    """Return the function that says how often a tree drew each row; None where every tree counts them by weight."""
    return None if drawing.is_everything else lambda tree: drawing.counts(seed, first + tree)


def _ones_or(weight: NDArray[np.float64] | None, n_rows: int) -> NDArray[np.float64]:
    return np.ones(n_rows) if weight is None else weight
