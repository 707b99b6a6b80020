# mypy: ignore-errors
"""The parts of a table, each the rows of a thread: what one place knows of all rows, and the share of each part.

One place makes the plan of the forest, which takes the target and the weight of all rows; the parts get theirs. Their
codes are written to their place partition by partition.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from dtnumba.dask.codes import complete_bins
from dtnumba.growth.binary.grow_in_parallel import numbers_of
from dtnumba.growth.forest.bootstrap_rows import Balanced, Bootstrap, Everything
from dtnumba.growth.forest.parts import DrawPart
from dtnumba.growth.forest.plan import Draws, plan_forest
from dtnumba.runtime.tasks import launch_beside
from dtnumba.tables.binned_table import BinnedTable
from dtnumba.tables.bins import code_dtype
from dtnumba.tables.labels import Labels

_ROWS_OF = ("label", "labels", "record", "weights", "codes", "moments", "y")  # arrays of a target that have a row a row


class RowlessTable(BinnedTable):
    """A table of so many rows, of which none is here."""

    def __init__(self, columns: Any, edges: Any, max_bins: int) -> None:
        bins = complete_bins(columns, edges)
        codes = np.empty((0, columns.n_features), code_dtype(bins))
        super().__init__(codes, bins, max_bins, columns.dtype, columns.names, columns.levels, columns.nominal)
        self.n_rows = columns.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features of the codes that are here."""
        return self._codes.shape


class Whole:
    """The target of all rows and how trees draw them, in one place; the codes are elsewhere."""

    def __init__(self, model: Any, table: RowlessTable, target: tuple[Any, Any]) -> None:
        self._given = model, table, target
        self._made: tuple[Any, Any] | None = None
        self._lock = threading.Lock()

    def __sizeof__(self) -> int:
        """Return the bytes of the target, by which Dask tells what it costs to move it."""
        outcome = self._given[2][0]
        return int((outcome.codes if isinstance(outcome, Labels) else outcome.y).nbytes)

    def __getstate__(self) -> dict[str, Any]:
        """Travel without what follows from the rest."""
        return {"given": self._given}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what has travelled."""
        self.__init__(*state["given"])  # type: ignore[misc]

    @property
    def model(self) -> Any:
        """The estimator."""
        return self._given[0]

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return int(self._given[1].n_rows)

    def read(self) -> tuple[Any, Any]:
        """Return what a fit reads, and the plan of the forest."""
        model, table, (outcome, weight) = self._given
        with self._lock:
            if self._made is None:
                data = model._read(table, outcome, weight)
                own = model.row_weights(data.outcome, data.weight, data.class_costs)
                plan = model.plan_of(data, own) if hasattr(model, "plan_of") else _plan_of_one(model, data)
                self._made = data, _without_lists(plan, table.n_rows)
            return self._made


def _without_lists(plan: Any, n_rows: int) -> Any:
    """Return a plan without the list of all rows, where every row may be drawn, and nobody looks it up."""
    sampling = plan.sampling
    if not isinstance(sampling, Bootstrap) or len(sampling.kept) < n_rows:
        return plan
    # Untouched memory costs nothing.
    return plan._replace(sampling=sampling._replace(kept=np.empty(n_rows, np.uint32)), orders=plan.orders[:, :1].copy())


def _plan_of_one(model: Any, data: Any) -> Any:
    """Return the plan of one tree: that of a forest without draws."""
    weights, own = model._weights(data), model.row_weights(data.outcome, data.weight, data.class_costs)
    criterion, settings = model._policy(data, weights.total, 1.0, None)
    draws = Draws(False, True, None, False, 1)
    return plan_forest(data.table, data.outcome, own, criterion, draws, settings)


def decisions_of(whole: Whole) -> Any:
    """Return what a fit decides of all rows, without them."""
    no_rows = {"table": None, "outcome": None, "given": (None, None, None), "weight": None, "pruner_weight": None}
    return whole.read()[0]._replace(**no_rows)


def tree_facts_of(whole: Whole) -> dict[str, Any]:
    """Return what a model of one tree learns beside the tree."""
    data, plan = whole.read()
    return whole.model._learned_from(data.outcome, data.class_costs) | {"max_features_": plan.settings.n_drawn}


def as_fitted(model: Any, decisions: Any, trees: Any) -> Any:
    """Return trees with true priors and pruned, as parameters say that read the trees alone."""
    estimator = model.content
    trees = estimator._finished(decisions, trees, None, 1)
    is_one = not hasattr(estimator, "plan_of")
    return trees._replace(n_samples=trees.n_samples.astype(np.int64)) if is_one else trees


def whole_of(model: Any, columns: Any, edges: Any, target: tuple[Any, Any]) -> Whole:
    """Return what a forest knows of all rows but their codes."""
    return Whole(model.content, RowlessTable(columns.content, edges, model.content.max_bins), target)


class PartTarget(NamedTuple):
    """What a part knows of its rows but their codes."""

    columns: dict[str, np.ndarray]  # of the target
    is_kept: np.ndarray | None  # which rows count, where trees see all of these and some do not


def share_of(whole: Whole, places: list[tuple[int, int]]) -> PartTarget:
    """Return the share of some rows of the table: from and to."""
    plan, is_kept = whole.read()[1], None
    columns = {
        name: np.concatenate([array[a:b] for a, b in places])
        for name, array in columns_of(plan.target, whole.n_rows).items()
    }
    if isinstance(plan.sampling, Everything) and plan.sampling.n_draws < whole.n_rows:
        is_kept = np.zeros(whole.n_rows, bool)
        is_kept[plan.orders[0]] = True
        is_kept = np.concatenate([is_kept[a:b] for a, b in places])
    return PartTarget(columns, is_kept)


class PartDraws(NamedTuple):
    """How trees draw rows, as it travels: without the list of rows, where every row may be drawn."""

    sampling: Any
    n_rows: int
    is_whole: bool

    def made(self) -> Any:
        """Return the way of sampling."""
        if not self.is_whole:
            return self.sampling
        # Where all rows may be drawn, nobody looks one up by its number, and untouched memory costs nothing.
        is_looked_up = not isinstance(self.sampling, Bootstrap)
        kept = np.arange(self.n_rows, dtype=np.uint32) if is_looked_up else np.empty(self.n_rows, np.uint32)
        return self.sampling._replace(kept=kept)


def drawing_of(whole: Whole) -> PartDraws:
    """Return how trees draw rows."""
    sampling = whole.read()[1].sampling
    is_whole = hasattr(sampling, "kept") and len(sampling.kept) == whole.n_rows
    return PartDraws(sampling._replace(kept=sampling.kept[:0]) if is_whole else sampling, whole.n_rows, is_whole)


class Part:
    """The rows of a thread, as growth reads them: from and to in the table, one range behind the other.

    Parameters
    ----------
    plan : ForestPlan
        Of the forest, without rows.
    drawing : PartDraws
        How trees draw rows.
    share : PartTarget
        What is known of these rows.
    places : list of (int, int)
        Which rows these are.
    codes : array
        Their codes.

    """

    def __init__(
        self, plan: Any, drawing: PartDraws, share: PartTarget, places: list[tuple[int, int]], codes: Any
    ) -> None:
        self._given = plan, drawing, share, places, codes
        self.drawing, self.is_kept, self.places, self.names = drawing, share.is_kept, places, list(share.columns)
        target = plan.target._replace(**share.columns)
        self.plan = plan._replace(target=target, splitter=with_codes(plan.splitter, codes))

    def __reduce__(self) -> Any:
        """Travel as what it was made of."""
        return Part, self._given

    def __sizeof__(self) -> int:
        """Return the bytes of the rows, by which Dask tells what it costs to move them."""
        _, _, share, _, codes = self._given
        return int(codes.nbytes + sum(array.nbytes for array in share.columns.values()))

    def __len__(self) -> int:
        """Return how many rows are here."""
        return len(self._given[4])

    def counts(self, tree: int) -> np.ndarray:
        """Return how often a tree counts each row."""
        plan = self.plan
        if isinstance(plan.sampling, Everything):
            kept = np.ones(len(self), bool) if self.is_kept is None else self.is_kept
            return kept.astype(plan.count_type)
        drawn, halt = np.zeros(plan.n_table_rows, plan.count_type), np.zeros(1, np.int64)
        launch_beside(DrawPart(self.drawing.made(), tree, drawn, np.zeros(plan.width), halt), 1)
        return np.concatenate([drawn[a:b] for a, b in self.places])


def columns_of(target: Any, n_rows: int) -> dict[str, np.ndarray]:
    """Return the arrays of a target that have a row for each row of the table."""
    arrays = {name: getattr(target, name, None) for name in _ROWS_OF}
    return {name: a for name, a in arrays.items() if isinstance(a, np.ndarray) and len(a) == n_rows}


def room_for(columns: Any, edges: Any, n_rows: int) -> np.ndarray:
    """Return room for the codes of so many rows."""
    known = columns.content
    return np.empty((n_rows, known.n_features), code_dtype(complete_bins(known, edges)))


def written(room: np.ndarray, codes: np.ndarray, first: int) -> np.ndarray:
    """Write codes of a partition to their place, and return the room.

    The only task that changes what it is given. Whoever does it twice writes the same bytes to the same place, and
    nobody reads a place that is still to be written to.
    """
    if not room.flags.writeable:  # it came back from a disk, or from another worker
        room = room.copy()
    room[first : first + len(codes)] = codes
    return room


def part_of(plan: Any, drawing: PartDraws, share: PartTarget, places: list[tuple[int, int]], codes: np.ndarray) -> Part:
    """Return the rows of a thread."""
    return Part(plan, drawing, share, places, codes)


def plan_without_rows(whole: Whole) -> Any:
    """Return the plan of the forest as those use it who have no rows."""
    plan = whole.read()[1]
    two_rows = {}
    for name, array in columns_of(plan.target, whole.n_rows).items():
        two_rows[name] = np.zeros((2, *array.shape[1:]), array.dtype)
        two_rows[name][1] = 1
    splitter, sampling = with_codes(plan.splitter, plan.splitter.codes[:0]), _sampling_alone(plan.sampling)
    target = plan.target._replace(**two_rows)
    return plan._replace(target=target, splitter=splitter, orders=plan.orders[:, :1], sampling=sampling)


def with_codes(splitter: Any, codes: np.ndarray) -> Any:
    """Return a splitter of other rows."""
    if numbers_of(splitter) is splitter:
        return splitter._replace(codes=codes)
    return splitter._replace(codes=codes, inner=splitter.inner._replace(codes=codes))


def _sampling_alone(sampling: Any) -> Any:
    """Return a way of sampling without its rows: whoever brings rows together has counts."""
    if isinstance(sampling, Balanced):
        return sampling._replace(draws=_sampling_alone(sampling.draws), codes=sampling.codes[:1])
    own = {name: getattr(sampling, name)[:1] for name in ("kept", "up_to") if hasattr(sampling, name)}
    return sampling._replace(**own)
