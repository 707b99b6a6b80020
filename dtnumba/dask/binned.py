"""Codes of a table that lies on a cluster, made once and fitted many times: ``bin_batches`` of its partitions.

The codes are those that it makes of the rows end to end. They stay on the workers as long as somebody holds the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.dask.checks import check_table
from dtnumba.dask.codes import Edges, Share, code_part, complete_bins, edges_of, union_of
from dtnumba.dask.columns import PartedColumns, Sealed, is_empty, joined, look_at_columns, read_part
from dtnumba.dask.reading import table_parts
from dtnumba.dask.running import Tasks
from dtnumba.runtime.cluster import check_versions, client_of
from dtnumba.runtime.progress import Monitor
from dtnumba.tables import batches
from dtnumba.tables.batches import FewValues, RowSample, check_choices
from dtnumba.tables.binned_table import BinnedTable
from dtnumba.tables.bins import bins_of_sample, ordered

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CALLER = "bin_batches"


def bin_batches(X: Any, max_bins: int = 255, categorical_features: Any = None, client: Any = None) -> BinnedCollection:
    """Return the codes of a table on a cluster; ``fit`` of the learners here takes them as X, as often as it likes.

    Parameters
    ----------
    X : Dask array or frame, or list of delayed partitions
        Partitions of rows; each is anything that ``dtnumba.bin_batches`` takes as a batch, but sparse matrices.
    max_bins : int
        Most values of a column of numbers that get codes of their own, 2 to 255.
    categorical_features : None, "from_dtype", list of names or indices or boolean mask
        Which columns are categories, as in the learners.
    client : distributed.Client, optional
        Of the cluster; by default the one that was started last.

    Returns
    -------
    BinnedCollection
        The codes that ``dtnumba.bin_batches`` makes of the rows end to end, on the workers. They are forgotten there
        when nobody holds the collection any more.

    """
    most = check_choices(max_bins, categorical_features)
    check_table(X, _CALLER)
    client = client_of(client)
    check_versions(client)
    monitor = Monitor(0, None, 1, 1 << 62)
    with Tasks(client) as tasks:
        each = [(part, None, None) for part in table_parts(X, _CALLER)]
        reports = tasks.all_results(tasks.send_each(look_at_columns, each, _CALLER, categorical_features), monitor)
        columns = joined(reports, _CALLER, categorical_features)
        sealed = Sealed(columns)
        starts = [(int(start),) for start in columns.starts[:-1]]
        shares = tasks.send_each(first_pass, each, most, sealed, each=starts)
        edges = tasks.send(edges_of_shares, sealed, most, *shares, name="edges")
        cells = tasks.send_each(code_part, each, _CALLER, sealed, edges)
        tasks.wait(cells, monitor)
        (found,) = tasks.all_results([edges], monitor)
        tasks.keep(cells)
    return BinnedCollection(columns, found, most, cells)


class BinnedCollection:
    """Codes of a table on a cluster; made by ``dtnumba.dask.bin_batches``.

    Parameters
    ----------
    columns : PartedColumns
        The columns, and how many rows each partition has.
    edges : Edges
        What the codes stand for.
    max_bins : int
        Most values of a column, as asked for.
    cells : list of future
        The codes of each partition.

    Attributes
    ----------
    n_rows, n_features : int
        Extent; ``shape`` is both.
    lengths : list of int
        Rows of each partition.

    """

    def __init__(self, columns: PartedColumns, edges: Edges, max_bins: int, cells: list[Any]) -> None:
        self.columns, self.edges, self.max_bins, self.cells = columns, edges, max_bins, cells
        self.n_rows, self.n_features, self.lengths = columns.n_rows, columns.n_features, columns.lengths

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.n_rows, self.n_features

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.n_rows

    def __repr__(self) -> str:
        """Show the extent."""
        extent = f"{self.n_rows} rows, {self.n_features} features, {len(self.lengths)} partitions"
        return f"BinnedCollection({extent}, max_bins={self.max_bins})"

    def compute(self) -> BinnedTable:
        """Return the codes of all partitions here: what ``dtnumba.bin_batches`` returns."""
        codes = [future.result() for future in self.cells]
        return table_of(np.concatenate(codes), Sealed(self.columns), self.edges, self.max_bins)

    def rowless(self) -> BinnedTable:
        """Return the table without rows."""
        return table_of(np.empty((0, self.n_features), np.uint8), Sealed(self.columns), self.edges, self.max_bins)

    def parts(self) -> list[Any]:
        """Return each partition, delayed, as a table of codes."""
        from dask.delayed import delayed

        make, known = delayed(table_of, pure=False, traverse=False), Sealed(self.columns)
        sealed = delayed(known, traverse=False), delayed(self.edges, traverse=False)
        return [make(delayed(one), *sealed, self.max_bins) for one in self.cells]


def table_of(codes: NDArray[Any], columns: Sealed, edges: Edges, max_bins: int) -> BinnedTable:
    """Return the codes of some rows as a table."""
    known: PartedColumns = columns.content
    bins = complete_bins(known, edges)
    return BinnedTable(codes, bins, max_bins, known.dtype, known.names, known.levels, known.nominal)


class DrawnShare(NamedTuple):
    """The rows of a partition with the smallest draws, and the values of its columns that have few."""

    draws: NDArray[np.uint64]
    rows: NDArray[Any]
    few: list[NDArray[np.float64] | None]


def first_pass(X: Any, y: Any, weight: Any, most: int, columns: Sealed, first: int) -> DrawnShare:
    """Return what edges are made from, of a partition that begins with this row."""
    known: PartedColumns = columns.content
    none: list[Any] = [np.empty(0)] * known.n_features
    if is_empty(X):
        return DrawnShare(np.empty(0, np.uint64), np.empty((0, known.n_features), known.dtype), none)
    sample, few = RowSample(), FewValues(most, 1)
    for start, cells in read_part(X, known, _CALLER).row_blocks():
        sample.see(cells, first + start)
        few.see(cells)
    draws, rows = sample.drawn()
    return DrawnShare(draws.copy(), rows.copy(), few.values)


def edges_of_shares(columns: Sealed, most: int, *shares: DrawnShare) -> Edges:
    """Return the edges that follow from the shares of all partitions."""
    known: PartedColumns = columns.content
    if known.n_rows <= batches.DRAWN_ROWS:  # they are all the rows
        return edges_of(columns, most, True, *[Share(share.rows, []) for share in shares])
    sample = RowSample.joined([(share.draws, share.rows) for share in shares])
    values = [
        union_of([share.few[f] for share in shares], most) if is_number else None
        for f, is_number in enumerate(ordered(known))
    ]
    return Edges(bins_of_sample(sample.as_table(known.found), most, values, 1), [])
