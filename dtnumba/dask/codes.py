"""Histogram codes of partitions, as a fit on all rows would make them: edges of the same sample, a byte a value.

The sample is the one of ``tables.bins``: which rows are drawn is a function of their number among the rows that count,
so each partition finds its share by itself. Columns of few values need all of these, which partitions tell of, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.dask.columns import PartedColumns, Sealed, is_empty, read_part
from dtnumba.tables.batches import FewValues
from dtnumba.tables.bins import (
    Bins,
    add_levels,
    around_commonest,
    between_samples,
    code_dtype,
    make_bins,
    ordered,
    sample_places,
    with_columns,
    write_codes,
    write_levels,
)
from dtnumba.tables.cells import cells_of, values_of
from dtnumba.tables.table import Table, rows_of_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Share(NamedTuple):
    """The sampled rows of a partition, in order, and the values of its columns that have few."""

    rows: NDArray[Any]
    few: list[NDArray[np.float64] | None]  # None: more than a column may have, or a category


class Edges(NamedTuple):
    """Bins of all rows; of the columns that are still to be counted, the bins of the sample."""

    bins: Bins
    to_count: list[int]


def shares_of(counts: Sequence[int]) -> list[tuple[Any]]:
    """Return for each partition which of its rows that count, of which there are so many, are sampled; None: all."""
    places = sample_places(sum(counts))
    if places is None:
        return [(None,)] * len(counts)
    ends = np.concatenate([[0], np.cumsum(counts)])
    at = np.searchsorted(places, ends)
    return [(places[at[k] : at[k + 1]] - ends[k],) for k in range(len(counts))]


def sample_part(
    X: Any, y: Any, weight: Any, caller: str, most: int, columns: Sealed, places: Any, kept: Any = None
) -> Share:
    """Return the share of a partition in the sample."""
    known: PartedColumns = columns.content
    nominal = ~ordered(known)
    if is_empty(X):
        return Share(np.empty((0, known.n_features), known.dtype), [np.empty(0)] * known.n_features)
    table = read_part(X, known, caller)
    if kept is not None:
        table = rows_of_table(table, np.flatnonzero(kept))
        if table.n_rows == 0:
            return Share(np.empty((0, known.n_features), known.dtype), [np.empty(0)] * known.n_features)
    if places is None:  # the sample is all there is, and knows the values
        return Share(np.ascontiguousarray(table.whole), [None] * known.n_features)
    values = FewValues(most, 1)
    for _, cells in table.row_blocks():
        values.see(cells)
    few = [None if is_one else found for is_one, found in zip(nominal, values.values, strict=True)]
    return Share(np.ascontiguousarray(table.whole[places]), few)


def edges_of(columns: Sealed, most: int, is_whole: bool, *shares: Share) -> Edges:
    """Return the edges that follow from the shares of all partitions; ``is_whole``: the sample is all rows."""
    known: PartedColumns = columns.content
    rows = np.concatenate([share.rows for share in shares])
    found = known.found
    sample = Table(len(rows), rows.shape[1], None, cells_of(rows), None, None, found.levels, found.nominal)
    bins = make_bins(sample, np.arange(len(rows), dtype=np.uint32), most, 1)
    if is_whole:
        return Edges(bins, [])
    bins = between_samples(bins, known.dtype.type)
    # A column that looks as if it had few values may have rarer ones, too.
    seemed = [int(f) for f in np.flatnonzero(bins.exhaustive & ordered(known))]
    few = {f: union_of([share.few[f] for share in shares], most) for f in seemed}
    told = {f: (values, values) for f, values in few.items() if values is not None}
    return Edges(with_columns(bins, told), [f for f in seemed if few[f] is None])


def union_of(values: Sequence[Any], most: int) -> NDArray[np.float64] | None:
    """Return the values of a column that partitions have, None where these are more than ``most``."""
    if any(found is None for found in values):
        return None
    union: NDArray[np.float64] = np.unique(np.concatenate(values))
    return union if len(union) <= most else None


def count_part(
    X: Any, y: Any, weight: Any, caller: str, columns: Sealed, to_count: Sequence[int], kept: Any = None
) -> list[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """Return the values of some columns of a partition, and how many rows have each."""
    if is_empty(X):
        return [(np.empty(0), np.empty(0, np.int64))] * len(to_count)
    table = read_part(X, columns.content, caller)
    rows = slice(None) if kept is None else kept
    chosen = [table.column(f)[rows] for f in to_count]
    return [np.unique(column[~np.isnan(column)], return_counts=True) for column in chosen]


def with_counted(edges: Edges, most: int, *counts: Any) -> Edges:
    """Return the edges with the columns that were counted: their commonest values keep codes of their own."""
    columns, exhaustive = {}, edges.bins.exhaustive.copy()
    for k, f in enumerate(edges.to_count):
        values, inverse = np.unique(np.concatenate([part[k][0] for part in counts]), return_inverse=True)
        sums = np.zeros(len(values), np.int64)
        np.add.at(sums, inverse, np.concatenate([part[k][1] for part in counts]))
        columns[f], exhaustive[f] = around_commonest(values, sums, most), False
    bins = with_columns(edges.bins, columns)
    return Edges(Bins(bins.n_codes, bins.first_code, bins.low, bins.high, exhaustive), [])


def code_part(X: Any, y: Any, weight: Any, caller: str, columns: Sealed, edges: Edges) -> NDArray[Any]:
    """Return the codes of a partition."""
    known: PartedColumns = columns.content
    bins = complete_bins(known, edges)
    if is_empty(X):
        return np.empty((0, known.n_features), code_dtype(bins))
    table = read_part(X, known, caller)
    codes = np.empty((table.n_rows, table.n_features), np.uint8)
    write_codes(table, edges.bins, codes, 1)
    codes = codes.astype(code_dtype(bins), copy=False)
    write_levels(table, codes)
    return codes


def complete_bins(columns: PartedColumns, edges: Edges) -> Bins:
    """Return the bins of all columns, categories with a bin for each of their levels."""
    bins: Bins = add_levels(edges.bins, columns.levels, columns.nominal)
    return bins


def value_part(X: Any, y: Any, weight: Any, caller: str, columns: Sealed) -> NDArray[Any]:
    """Return the values of a partition, where codes do not do."""
    known: PartedColumns = columns.content
    if is_empty(X):
        return np.empty((0, known.n_features), known.dtype)
    cells = read_part(X, known, caller).cells
    assert cells is not None
    return np.ascontiguousarray(values_of(cells))
