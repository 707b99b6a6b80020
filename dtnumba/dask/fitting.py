"""Rows on a cluster, made ready for growth: columns, target, codes, each a task a partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.dask.codes import code_part, count_part, edges_of, sample_part, shares_of, value_part, with_counted
from dtnumba.dask.columns import PartedColumns, Sealed, joined, joined_target, look, read_target_part
from dtnumba.growth.settings import Options
from dtnumba.tables.weights import read_weight

if TYPE_CHECKING:
    from dtnumba.dask.binned import BinnedCollection
    from dtnumba.dask.reading import Parts
    from dtnumba.dask.running import Tasks
    from dtnumba.runtime.progress import Monitor


WEIGHING = ("class_weight", "priors", "costs")  # parameters by which rows weigh


class RowsInParts(NamedTuple):
    """Rows that lie on the workers, as futures."""

    parts: Parts
    columns: PartedColumns
    sealed: Sealed  # the columns, for tasks
    model: Sealed
    target: Any  # of all rows, and their weights
    edges: Any  # None where values are kept
    cells: list[Any]  # a future a partition: its codes, where these are there already
    extent: Any = None  # of all that


def reads_codes_alone(model: Any, held_out: tuple[Any, Any]) -> bool:
    """Tell whether growth, and what is asked of the trees, reads no values but their codes."""
    options = Options(**{
        name: getattr(model, name)
        for name in ("missing", "categorical_split", "numeric_split")
    })  # fmt: skip
    return (
        model.max_bins is not None
        and options.are_plain
        and model.validation_fraction is None
        and all(one is None for one in held_out)
        and not model.prune
        and model.max_leaf_nodes != "cv"
        and getattr(model, "importance", "impurity") != "permutation"
    )


def read_rows(
    tasks: Tasks,
    model: Any,
    parts: Parts,
    held_out: tuple[Any, Any],
    monitor: Monitor,
    binned: BinnedCollection | None = None,
) -> RowsInParts:
    """Return the rows of a fit: read, with edges where codes do. ``binned``: the codes, where these are there."""
    caller, sealed_model = type(model).__name__, Sealed(model)
    reports = tasks.all_results(tasks.send_each(look, parts.each, sealed_model), monitor)
    columns = joined(reports, caller, model.categorical_features, None if binned is None else binned.columns)
    sealed = Sealed(columns)
    pieces = tasks.send_each(read_target_part, parts.each, sealed_model, sealed)
    target = tasks.send(joined_target, sealed, *pieces, name="target")
    if binned is not None:
        # Results of their own: the collection outlives the fit.
        cells = [tasks.send(as_it_is, one, name="codes") for one in binned.cells]
        edges = tasks.send(unsealed, Sealed(binned.edges), name="edges")
        return RowsInParts(parts, columns, sealed, sealed_model, target, edges, cells)
    if not reads_codes_alone(model, held_out):
        return RowsInParts(parts, columns, sealed, sealed_model, target, None, [])
    n_parts, most = len(parts.each), int(model.max_bins)
    kept: list[Any] = [None] * n_parts
    if parts.weighted or any(getattr(model, name, None) is not None for name in WEIGHING):
        kept = _kept(tasks, sealed_model, sealed, target, monitor)
    n_kept = [n if one is None else one[0] for one, n in zip(kept, columns.lengths, strict=True)]
    places = shares_of(n_kept)
    masks = [(None if one is None else one[1],) for one in kept]
    each = [(place, mask) for (place,), (mask,) in zip(places, masks, strict=True)]
    shares = tasks.send_each(sample_part, parts.each, caller, most, sealed, each=each)
    edges = tasks.send(edges_of, sealed, most, places[0][0] is None, *shares, name="edges")
    (found,) = tasks.all_results([edges], monitor)
    tasks.forget(shares)
    if found.to_count:
        counts = tasks.send_each(count_part, parts.each, caller, sealed, found.to_count, each=masks)
        edges = tasks.send(with_counted, edges, most, *counts, name="edges")
    return RowsInParts(parts, columns, sealed, sealed_model, target, edges, [])


def cells_of_all(tasks: Tasks, rows: RowsInParts) -> list[Any]:
    """Return a future a partition: its codes, or its values where codes do not do."""
    if rows.cells:
        return rows.cells
    caller = type(rows.model.content).__name__
    if rows.edges is None:
        return tasks.send_each(value_part, rows.parts.each, caller, rows.sealed)
    return tasks.send_each(code_part, rows.parts.each, caller, rows.sealed, rows.edges)


def _kept(tasks: Tasks, model: Sealed, columns: Sealed, target: Any, monitor: Monitor) -> list[Any]:
    """Return (how many rows of a partition count, a future of which these are) for each; None where all do."""
    masks = tasks.send(masks_of, model, columns, target, name="kept")
    (counts,) = tasks.all_results([tasks.send(counts_of, masks)], monitor)
    if counts is None:
        return [None] * len(columns.content.lengths)
    return [(n, tasks.send(one_of, masks, k)) for k, n in enumerate(counts)]


def masks_of(model: Sealed, columns: Sealed, target: tuple[Any, Any]) -> list[Any] | None:
    """Return which rows of each partition have a weight above zero; None where all have."""
    estimator, known, (outcome, given) = model.content, columns.content, target
    weight = read_weight(given, known.n_rows)
    weight = estimator.row_weights(outcome, weight, estimator.class_costs(outcome))
    if weight is None or weight.all():
        return None
    return np.split(weight > 0.0, known.starts[1:-1])


def counts_of(masks: list[Any] | None) -> list[int] | None:
    """Return how many rows of each partition count."""
    return None if masks is None else [int(np.count_nonzero(mask)) for mask in masks]


def as_it_is(result: Any) -> Any:
    """Return a result."""
    return result


def unsealed(sealed: Sealed) -> Any:
    """Return what was sealed."""
    return sealed.content


def one_of(parts: Any, k: int) -> Any:
    """Return one of several results."""
    return parts[k]
