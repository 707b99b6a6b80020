"""Trees that grow where all codes are: every worker gathers the codes once, and grows its share of the trees.

A tree is a function of the codes, the target, the seed and its own number, so it is the same whoever grows it. The
first worker puts the codes of all partitions together; the others take them from it and from each other. A worker that
is lost costs the trees that it had not handed in; Dask makes those anew, and the codes, too, where they went with it.
"""

from __future__ import annotations

import copy
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.dask.codes import complete_bins
from dtnumba.dask.columns import is_empty, read_part
from dtnumba.dask.running import unless_cancelled
from dtnumba.estimators.bases.forest import run_growth
from dtnumba.explain.corrected_impurity import corrected_decreases
from dtnumba.explain.permutation import shuffled_losses
from dtnumba.growth.forest.drawn_rows import drawing_of
from dtnumba.prediction.forest_view import ForestView
from dtnumba.runtime.progress import Monitor
from dtnumba.tables.binned_table import BinnedTable
from dtnumba.tables.cells import cells_of
from dtnumba.tables.labels import Labels
from dtnumba.tables.table import Table
from dtnumba.trees.layout import joined
from dtnumba.validation.out_of_bag import draw_bags, votes_of_bags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.dask.columns import PartedColumns, Sealed
    from dtnumba.trees.layout import Trees

_SMALL = 1 << 40  # rows times trees that no monitor takes for few, so that it looks around


class Replica:
    """All rows, as a learner grows on them, and what it makes of these, once in each process."""

    def __init__(self, model: Any, table: Any, outcome: Any, weight: Any, held_out: tuple[Any, Any]) -> None:
        self.model = model
        self._given = table, outcome, weight, held_out
        self._made: tuple[Any, Any] | None = None
        self._lock = threading.Lock()

    def __sizeof__(self) -> int:
        """Return the bytes of the rows, by which Dask tells what it costs to move them."""
        table, outcome, weight, _ = self._given
        rows = table.nbytes if isinstance(table, BinnedTable) else table.cells.flat.nbytes
        target = outcome.codes if isinstance(outcome, Labels) else outcome.y
        return int(rows + target.nbytes + (weight.nbytes if isinstance(weight, np.ndarray) else 0))

    def __getstate__(self) -> dict[str, Any]:
        """Travel without what follows from the rest."""
        return {"model": self.model, "given": self._given}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what has travelled."""
        self.__init__(state["model"], *state["given"])  # type: ignore[misc]

    def read(self) -> tuple[Any, Any]:
        """Return the rows as a fit reads them, and the plan of the forest."""
        with self._lock:
            if self._made is None:
                table, outcome, weight, held_out = self._given
                model = self.model
                data = model._read(table, outcome, weight, *held_out)
                plan = model.plan_of(data, model.row_weights(data.outcome, data.weight, data.class_costs))
                self._made = data, plan
            return self._made

    def fitted(self) -> dict[str, Any]:
        """Return what the model learns of all rows, where it is one tree."""
        table, outcome, weight, (X_val, y_val) = self._given
        model = self.model.fit(table, outcome, weight, X_val=X_val, y_val=y_val)
        return {name: value for name, value in vars(model).items() if name not in model.get_params(deep=False)}


def replica_of_codes(
    model: Sealed, columns: Sealed, edges: Any, target: tuple[Any, Any], *parts: NDArray[Any]
) -> Replica:
    """Return the codes of all rows, for a model."""
    known, estimator = columns.content, model.content
    bins, (outcome, weight) = complete_bins(known, edges), target
    codes = _end_to_end(known, parts)
    table = BinnedTable(codes, bins, estimator.max_bins, known.dtype, known.names, known.levels, known.nominal)
    return Replica(estimator, table, outcome, weight, (None, None))


def replica_of_values(
    model: Sealed, columns: Sealed, held_out: Sealed, target: tuple[Any, Any], *parts: NDArray[Any]
) -> Replica:
    """Return the values of all rows, for a model that reads more than codes."""
    known, (outcome, weight) = columns.content, target
    cells = cells_of(_end_to_end(known, parts))
    table = Table(known.n_rows, known.n_features, known.names, cells, None, None, known.levels, known.nominal)
    return Replica(model.content, table, outcome, weight, held_out.content)


def _end_to_end(columns: PartedColumns, parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    whole = np.empty((columns.n_rows, columns.n_features), parts[0].dtype)
    for start, part in zip(columns.starts, parts, strict=False):
        whole[start : start + len(part)] = part
    return whole


def facts_of(replica: Replica) -> dict[str, Any]:
    """Return what a forest learns beside its trees: its classes, how it drew, how it labels."""
    data, plan = replica.read()
    learned: dict[str, Any] = replica.model._learned_from(data.outcome, data.class_costs)
    learned |= {"max_features_": plan.settings.n_drawn, "_drawing": drawing_of(plan.sampling, data.table.n_rows)}
    return learned


def _monitor() -> Monitor:
    return Monitor(unless_cancelled(), None, 1, _SMALL)


def trees_of(replica: Replica, first: int, stop: int) -> Trees | None:
    """Return trees first .. stop - 1."""
    data, plan = replica.read()
    model, monitor = copy.copy(replica.model), _monitor()
    model.n_estimators = stop
    grown: Trees | None = model.grown(data, plan, first, monitor)
    if grown is None or grown.n_trees < stop - first:
        raise monitor.error or RuntimeError(f"trees {first} to {stop - 1} were stopped before their end")
    return grown


def one_tree(replica: Replica) -> dict[str, Any]:
    """Return what a model of one tree learns."""
    return replica.fitted()


def bags_of(replica: Replica, n_trees: int, starts: NDArray[np.int64]) -> list[NDArray[np.uint8]]:
    """Return for each partition which of its rows each tree drew, a bit a row."""
    _, plan = replica.read()
    bags = draw_bags(plan, n_trees, _monitor())
    if bags is None:
        raise RuntimeError("the draws of the trees were stopped before their end")
    n, parts = int(starts[-1]), []
    for start, stop in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        first = start // 8
        bits = np.unpackbits(bags[:, first : -(-stop // 8)], axis=1, bitorder="little")[:, start - 8 * first :]
        parts.append(np.packbits(bits[:, : min(stop, n) - start], axis=1, bitorder="little"))
    return parts


def forest_of(first: Any, *parts: Trees) -> Trees:
    """Return trees end to end; ``first`` are those of an earlier fit, or None."""
    whole = joined([part for part in (first.content, *parts) if part is not None])
    assert whole is not None
    return whole


def votes_of(
    X: Any, y: Any, weight: Any, model: Sealed, columns: Sealed, facts: dict[str, Any], trees: Trees, bags: Any
) -> tuple[Any, Any]:
    """Return the sums of votes for the rows of a partition by the trees that did not draw them, and their number."""
    estimator, known = model.content, columns.content
    if is_empty(X):
        return np.empty((0, known.target.width)), np.empty(0, np.int64)
    table = X if isinstance(X, BinnedTable) else read_part(X, known, type(estimator).__name__)
    forest = ForestView(trees, known.n_features, known.target.sizes)
    counted = votes_of_bags(table, bags, 1, forest, estimator._votes(facts.get("_rule")), _monitor())
    if counted is None:
        raise RuntimeError("out-of-bag votes were stopped before their end")
    return counted


def measured_by(replica: Replica, trees: Trees, first: int, stop: int) -> NDArray[np.float64]:
    """Return the importances of features in trees first .. stop - 1, a row a tree."""
    data, plan = replica.read()
    monitor = _monitor()
    if replica.model.importance == "impurity_corrected":
        rows = corrected_decreases(plan, first, stop, partial(run_growth, monitor))
    else:
        rule = data.class_costs.rule
        rows = shuffled_losses(data.table, data.outcome, plan, trees, first, monitor, rule, stop)
    if len(rows) < stop - first:
        raise monitor.error or RuntimeError(f"measuring trees {first} to {stop - 1} was stopped before its end")
    return rows
