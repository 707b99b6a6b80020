"""Rows that leave a fitted forest, which is then the forest that never saw them.

With ``bootstrap="by_row"`` a row draws for itself, so that the other rows' draws stay when it leaves. The forest holds
its rows. What a removal keeps is compared first with what a fit of the rows that stay would begin with: its codes, its
units and its criterion. Where these are the same, trees are followed (``growth/forest/regrow``); where they are not,
as when the last row of a class leaves, all trees grow anew from the rows that stay.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.estimators.bases.fit import TrainingData
from dtnumba.growth.forest.held_rows import RowsAsked, RowsKept, held_rows, names_of, places_of, without_unused
from dtnumba.growth.forest.keyed_codes import coded_by_key, codes_without
from dtnumba.growth.forest.regrow import Gone, follows, regrown
from dtnumba.growth.forest.row_draws import draws_of_gone
from dtnumba.runtime.progress import Monitor
from dtnumba.runtime.tasks import n_workers
from dtnumba.tables.cells import values_of
from dtnumba.tables.labels import Labels, Values, codes_of
from dtnumba.tables.table import Seen, read_table
from dtnumba.tables.weights import fixed_weights, read_weight

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.growth.forest.grow import ForestPlan
    from dtnumba.growth.forest.held_rows import RowNames
    from dtnumba.growth.forest.keyed_codes import KeyedCodes

BY_ROW = "by_row"
# Where more of the rows leave than one in so many, most nodes have lost one, and all trees grow anew.
_MOST_LEAVE = 16


class ByRowPlan(NamedTuple):
    """What the trees of a forest share whose rows draw for themselves."""

    plan: ForestPlan
    names: RowNames
    coded: KeyedCodes | None  # None: growth reads values
    weight: NDArray[np.float64] | None  # of each row, times that of its class
    asked: tuple[Any, ...]  # by parameters that the plan does not tell


def check_by_row(model: Any, data: TrainingData) -> None:
    """Raise where what a row draws, or what a tree makes of it, would depend on the other rows in other ways."""
    asked = "bootstrap='by_row'"
    if getattr(data.table, "cells", None) is None:
        what = "a BinnedTable, which holds codes" if hasattr(data.table, "bins") else "a sparse matrix"
        raise ValueError(f"{asked}: X is {what}, and rows are known by their values: pass an array or a frame")
    if isinstance(model.max_samples, (int, np.integer)):
        raise ValueError(  # noqa: TRY004  an int is legal elsewhere
            f"{asked}: max_samples={model.max_samples} is a number of draws of all rows together, and each row draws "
            "for itself: pass a share, such as 1.0, the mean number of draws a row"
        )
    if isinstance(model.class_weight, str):
        raise ValueError(  # noqa: TRY004
            f"{asked}: class_weight={model.class_weight!r} weighs a row by how many others there are, and what a row "
            "draws must not depend on them: pass a dict of weights"
        )
    if data.class_costs.priors is not None or data.class_costs.factors is not None:
        raise ValueError(
            f"{asked}: priors and costs weigh a row by how many others there are, and what a row draws must not depend "
            "on them: pass class_weight, a dict"
        )
    for name, value in (("warm_start", model.warm_start), ("prune", data.pruner)):
        if value:
            raise ValueError(f"{asked}: {name} makes trees that a fit of fewer rows would not have: leave it out")
    if data.validation_rows is not None:
        raise ValueError(f"{asked}: rows held out for early stopping are drawn of all rows: leave them out")


def plan_by_row(model: Any, data: TrainingData) -> ByRowPlan:
    """Return the plan of a fit of these rows."""
    names, coded = names_of(data.table, data.outcome, data.weight), None
    weight = model.row_weights(data.outcome, data.weight, data.class_costs)
    if model.grows_in_two(data):
        kept = fixed_weights(weight, data.table.n_rows).kept
        coded = coded_by_key(data.table, kept, names.keys, model.max_bins, n_workers(model.n_jobs))
    return _planned(model, data, weight, names, coded)


def _planned(model: Any, data: TrainingData, weight: Any, names: RowNames, coded: KeyedCodes | None) -> ByRowPlan:
    on = data if coded is None else data._replace(table=coded.table)
    asked = model.max_samples, model.replace, model.ccp_alpha
    return ByRowPlan(model.plan_of(on, weight, names.keys), names, coded, weight, asked)


class Forgets:
    """The side of a forest that forgets."""

    _held: RowsKept
    _by_row: ByRowPlan
    _earlier_importances: Any
    _learned_of_trees: Any
    _learn: Any

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Remove rows, as if they had never been given to ``fit``.

        The forest is then, array for array, what ``fit`` makes of the other rows with the same parameters and the seed
        ``seed_``. It must have been fitted with ``bootstrap="by_row"``, and holds its rows; one that was loaded from a
        file does, too.

        Parameters
        ----------
        X : array or frame of shape (rows, features)
            The rows to forget, as they were given to ``fit``.
        y : array of shape (rows,) or (rows, outputs)
            Their labels or numbers. A row that was given several times is forgotten as often as it is passed.
        sample_weight : array of shape (rows,) or number, optional
            Their weights; needed only where equal rows had different ones.

        Returns
        -------
        estimator
            The estimator itself; as it was if anything fails.

        Raises
        ------
        ValueError
            Where one of the rows is not held, or not as often; or where they are all that is held.

        """
        model: Any = self
        held: RowsKept = _held_by(model)
        data = _data_of(model, held)
        before: ByRowPlan = vars(model).get("_by_row") or plan_by_row(model, data)
        asked = _asked(model, X, y, sample_weight)
        places = places_of(data.table, data.outcome, data.weight, before.names, asked)
        if len(places) == held.n_rows:
            raise ValueError(
                f"forget: these are all the {held.n_rows} rows held, and a forest cannot grow without any; nothing was "
                "forgotten. To drop the model, delete it"
            )
        rest = np.delete(np.arange(held.n_rows), places)
        after = _data_of(model, held.only(rest))
        monitor = Monitor(0, None, model.n_estimators_, held.n_rows * model.n_estimators_)
        trees, planned, after = _trees_without(model, data, before, after, places, rest, monitor)
        earlier = self._earlier_importances(after.table, None)
        learned = self._learned_of_trees(after, planned.plan, trees, earlier, monitor)
        if monitor.error is not None:
            raise monitor.error
        learned |= {"_held": held_rows(after.table, after.outcome, after.weight), "_by_row": planned}
        if "column_kinds_" in vars(model):
            learned["column_kinds_"] = model.column_kinds_
        self._learn(after.table, **learned)
        vars(model).pop("estimators_", None)
        return self


def _held_by(model: Any) -> RowsKept:
    model.check_fitted()
    held = vars(model).get("_held")
    if held is None or model.bootstrap != BY_ROW:
        why = (
            "these trees are others than fit has made (compact, prune)"
            if model.bootstrap == BY_ROW
            else f"bootstrap={model.bootstrap!r} draws a row by its place among all the others"
        )
        raise ValueError(
            f"forget: this {type(model).__name__} holds no rows: {why}. Fit it with bootstrap='by_row', in which a row "
            "draws for itself, and forget rows of that"
        )
    found: RowsKept = held
    return found


def _data_of(model: Any, held: RowsKept) -> TrainingData:
    """Return the rows held as a fit reads them."""
    seen = model.columns_seen
    table = held.table(seen.names, seen.levels)
    target = model.target_seen
    own = np.require(held.outcome, requirements=["C", "W"])  # those of a file are not to be written to
    outcome = Labels(target.classes, own) if isinstance(target, Labels) else Values(own)
    costs = model.class_costs(outcome)
    return TrainingData(table, outcome, (None, None, None), model.seed_, costs, None, held.weight, held.weight, None)


def _asked(model: Any, X: Any, y: Any, sample_weight: Any) -> RowsAsked:
    """Return the rows to forget; a level that the model does not know is an error, and not a missing value."""
    from dtnumba.tables.categories import KnownLevels

    seen: Seen = model.columns_seen
    known = KnownLevels(seen.levels, "which no row held has: nothing was forgotten")
    table = read_table(X, type(model).__name__, seen, known)
    outcome, target = model.read_target(y, table.n_rows), model.target_seen
    if isinstance(target, Labels):
        outcome = Labels(target.classes, codes_of(outcome, target.classes))
    elif outcome.width != target.width:
        raise ValueError(f"y has {outcome.width} outputs, and the model was fitted to {target.width}")
    are_idle = sample_weight is not None and not np.any(np.asarray(sample_weight))  # a fit would refuse such
    weight = np.zeros(table.n_rows) if are_idle else read_weight(sample_weight, table.n_rows)
    return RowsAsked(table, outcome, weight)


def _trees_without(
    model: Any,
    data: TrainingData,
    before: ByRowPlan,
    after: TrainingData,
    places: NDArray[np.int64],
    rest: NDArray[np.int64],
    monitor: Monitor,
) -> tuple[Any, ByRowPlan, TrainingData]:
    """Return the trees of the rows that stay, their plan, and these rows as a fit of them alone would read them."""
    planned = _followed_plan(model, before, after, places, rest)
    if planned is not None:
        gone = _gone(before.plan, planned.plan, data, places, model.n_estimators_)
        touched = np.flatnonzero(gone.counts.any(axis=1) | (gone.whole != 0))
        trees = regrown(planned.plan, model.forest_.trees, touched, gone, partial(_run, monitor))
        if monitor.error is not None:
            raise monitor.error
        return trees, planned, after
    table, outcome = without_unused(after.table, after.outcome)
    after = after._replace(table=table, outcome=outcome, class_costs=model.class_costs(outcome))
    planned = plan_by_row(model, after)
    trees = model.grown(after, planned.plan, 0, monitor, model.n_estimators_)
    if monitor.error is not None:
        raise monitor.error
    return trees, planned, after


def _run(monitor: Monitor, task: Any, workers: int) -> bool:
    return monitor.run_until(task, workers, task.job.growing.halt, lambda: int(task.arena.done[0]))


def _followed_plan(
    model: Any, before: ByRowPlan, after: TrainingData, places: NDArray[np.int64], rest: NDArray[np.int64]
) -> ByRowPlan | None:
    """Return the plan by which trees can be followed; None where a fit of the rows that stay would begin otherwise."""
    table, outcome = after.table, after.outcome
    if before.coded is None or len(places) * _MOST_LEAVE > len(rest) or model.ccp_alpha > 0:
        return None
    if not follows(before.plan, model.forest_.trees) or not _uses_all(table, outcome):
        return None
    names = before.names.only(rest)
    weight = model.row_weights(outcome, after.weight, after.class_costs)
    kept = fixed_weights(weight, table.n_rows).kept
    coded = codes_without(before.coded, table, kept, names.keys, rest)
    if coded is None:
        return None
    planned = _planned(model, after, weight, names, coded)
    return planned if _begins_alike(before, planned, rest) else None


def _uses_all(table: Any, outcome: Any) -> bool:
    """Tell whether rows have all levels and classes."""
    used = without_unused(table, outcome)
    return used[0] is table and used[1] is outcome


def _begins_alike(before: ByRowPlan, after: ByRowPlan, rest: NDArray[np.int64]) -> bool:
    """Tell whether growth adds up the same integers for the rows that stay, and judges them alike.

    The parameters of the model may have been changed since it was fitted, too.
    """
    old, new = before.plan, after.plan
    if before.asked != after.asked or not follows(new, None) or (before.weight is None) != (after.weight is None):
        return False
    if [type(part) for part in (old.target, old.criterion)] != [type(part) for part in (new.target, new.criterion)]:
        return False
    limits = [vars(own.settings) | {"workers": 1, "power": own.power, "count": own.count_type} for own in (old, new)]
    pairs = [*zip(old.target, new.target, strict=True), *zip(old.criterion, new.criterion, strict=True)]
    pairs += [(value, limits[1][name]) for name, value in limits[0].items()]
    pairs += [] if before.weight is None else [(before.weight, after.weight)]
    return all(_is_same(one, other, rest, old.n_table_rows) for one, other in pairs)


def _is_same(one: Any, other: Any, rest: NDArray[np.int64], n: int) -> bool:
    if isinstance(one, np.ndarray):
        return np.array_equal(one[rest] if len(one) == n and len(other) == len(rest) else one, other)
    return bool(one == other)


def _gone(before: ForestPlan, after: ForestPlan, data: TrainingData, places: NDArray[np.int64], n_trees: int) -> Gone:
    """Return the rows that left and how often the trees drew them, and which trees none that stays draws."""
    return Gone(
        np.ascontiguousarray(values_of(data.table.cells)[places], np.float64),
        *draws_of_gone(before.sampling, after.sampling, places, n_trees),
    )
