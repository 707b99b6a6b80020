# mypy: ignore-errors
# ruff: noqa: D102
"""Splits over histograms of the codes of a sparse table, of which only those that are stored are ever read.

The bin of zero holds what the node's other rows have left over: its rows less those of all other bins, exact because
sums are integers. Of a node of few rows, the codes of its rows are read; of one of many, those of the columns, each
row of which tells by its place whether it belongs to the node (a walk through a column of 100 rows takes as long where
the node has 20,000). A split moves the rows that part from zero, so the order of the rows is nobody's business.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import chooses_by_more
from dtnumba.growth import columns as col
from dtnumba.growth.policies.feature_sampling import side_by_side
from dtnumba.growth.splitters.coded_rows import NothingKept, with_row_list, with_row_number
from dtnumba.growth.splitters.histogram import DrawnHistogram
from dtnumba.growth.splitters.scans.scan_bins import Tables, scan_bins
from dtnumba.growth.targets.contract import item_of, left_bin, packed_for, put_item
from dtnumba.runtime.kernels import by_having, inline, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.tables.sparse_codes import StoredCodes

# Tables filled at once where a node looks at all features: each leaves its own candidate.
TABLES_AT_ONCE = 256
_ONE, _TWO, _SIX, _63 = np.uint64(1), np.uint64(2), np.uint64(6), np.uint64(63)
_NOWHERE = np.int32(-1)


@kernel_type
class SparseScratch(NamedTuple):
    """Tables of one worker, and where its tree's rows are."""

    sparse: np.ndarray  # (table + 64,) int64, zero between uses: 64 bins are looked at at once
    masks: np.ndarray  # (n_tables * 4,) uint64, zero between uses
    stored: np.ndarray  # (n_tables * width,) int64: of a table's rows that are not zero; zero between uses
    table_of: np.ndarray  # (p,) int32: the table of a feature in hand, else -1
    position: np.ndarray  # (n_table_rows,) int32: where a row stands in the node order; -1 where the tree has it not
    bins: np.ndarray  # (8, 1) int64: the node's rows as a bin
    free: np.ndarray  # (0,)


class _SparseFields(NamedTuple):
    stored: StoredCodes
    codes: np.ndarray  # (0, p) uint8: of cells there are none
    n_codes: np.ndarray  # (p,) int64
    n_bins: int
    width: int
    counted: bool
    n_tables: int
    rows: np.ndarray
    n_rows: int
    n_orders: int


@kernel_type
class SparseHistogram(NothingKept, _SparseFields):
    """Codes by column and by row, and the rows of nodes."""

    __slots__ = ()
    grows_alone = True

    def new_scratch(self, n, workers):
        n_words = self.n_tables * self.n_bins * self.width
        return SparseScratch(
            per_worker(workers, n_words + 64, np.int64, 0),
            per_worker(workers, self.n_tables * 4, np.uint64, 0),
            per_worker(workers, self.n_tables * self.width, np.int64, 0),
            per_worker(workers, len(self.n_codes), np.int32, -1),
            per_worker(workers, len(self.stored.row_start) - 1, np.int32),
            per_worker(workers, (8 + self.width, 1), np.int64, 0),
            per_worker(workers, 0, np.int64),
        )

    def written_out(self):
        """Return the splitter of the dense table."""
        stored = self.stored
        codes = np.tile(stored.of_zero.astype(np.uint8), (len(stored.row_start) - 1, 1))
        codes[stored.row, np.repeat(np.arange(len(self.n_codes)), np.diff(stored.column_start))] = stored.code
        rest = self.rows, self.n_rows, self.n_orders, self.n_bins, self.width, self.counted
        return DrawnHistogram(codes, self.n_codes, *rest)

    def with_rows(self, rows, n):
        return with_row_number(with_row_list(self, rows), n)

    def row_at(self, i):
        return self.rows[i]

    def row_in_order(self, o, i):
        return self.rows[o * self.n_rows + i]

    def score_features(self, job, scratch, node, first, last, total):
        if node == 0 and first == 0:
            _note_positions(self, scratch.own)
        return _score_stored(self, job, scratch, node, first, last, total)

    def divide(self, job, scratch, node):
        nodes, stored, position = job.growing.nodes, self.stored, scratch.own.position
        f, first, stop = np.int64(nodes[node, col.FEATURE]), nodes[node, col.START], nodes[node, col.STOP]
        start, end, cut, missing = first, stop, np.int64(nodes[node, col.LAST_LEFT]), self.n_codes[f]
        zero_left, missing_left = stored.of_zero[f] <= cut, nodes[node, col.MISSING_LEFT] != 0
        for k in range(stored.column_start[f], stored.column_start[f + 1]):
            at, code = np.int64(position[stored.row[k]]), np.int64(stored.code[k])
            if start <= at < stop and (missing_left if code == missing else code <= cut) != zero_left:
                if zero_left:
                    end -= 1
                    to = np.int64(end)
                else:
                    to = np.int64(first)
                    first += 1
                other = self.rows[to]
                self.rows[to], self.rows[at] = stored.row[k], other
                position[stored.row[k]], position[other] = to, at
        return np.int64(end if zero_left else first)


@inline
def _note_positions(splitter, own):
    for row in range(len(own.position)):
        own.position[row] = _NOWHERE
    for i in range(splitter.n_rows):
        own.position[splitter.rows[i]] = i


@inline
def _bin_by_sums(target, sums, own, k):
    left_bin(target, sums, np.uint64(0), _ONE, own.bins, np.uint64(0))


@inline
def _bin_of_sums(target, sums, own, k):
    for s in range(k):
        own.bins[s, 0] = sums[s]


_write_bin = by_having("left_bin", _bin_by_sums, _bin_of_sums)


@inline
def _score_stored(splitter, job, scratch, node, first, last, total):
    """Fill and scan the tables of features[first:last]; return how many vary."""
    own, varying, target = scratch.own, 0, packed_for(job.target, total)
    n = job.growing.nodes[node, col.STOP] - job.growing.nodes[node, col.START]
    width = splitter.width + target.n_stats - job.target.n_stats
    is_apart = chooses_by_more(job.criterion) or side_by_side(job.features)
    together = min(splitter.n_tables, last - first) if is_apart else last - first
    for begin in range(first, last, together):
        end = min(begin + together, last)
        _fill_stored(target, splitter, job, scratch, node, begin, end, width)
        step = 1 if is_apart else end - begin
        for i in range(begin, end, step):
            at = np.int64((i - begin) * splitter.n_bins * width)
            tables = Tables(own.sparse, at, width, True, own.masks[(i - begin) * 4 :])
            varying += scan_bins(target, splitter, tables, i, i + step, n, job, scratch, total)
    return varying


@inline
def _fill_stored(target, splitter, job, scratch, node, first, last, bin_width):
    """Fill the tables of features[first:last], end to end, and mark their bins."""
    own, stored, features, nodes = scratch.own, splitter.stored, scratch.features, job.growing.nodes
    start, stop = np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP])
    width = np.uint64(bin_width)
    p, n_table_rows = len(splitter.n_codes), len(own.position)
    if (stop - start) * p <= (last - first) * n_table_rows:
        for i in range(first, last):
            own.table_of[features[i]] = i - first
        for i in range(start, stop):
            row = splitter.rows[i]
            item = item_of(target, row)
            for k in range(stored.row_start[row], stored.row_start[row + 1]):
                table = own.table_of[stored.column[k]]
                if table >= 0:
                    _put(target, splitter, own, np.uint64(table), np.uint64(stored.code_by_row[k]), width, item)
        for i in range(first, last):
            own.table_of[features[i]] = -1
    else:
        for i in range(first, last):
            f, table = features[i], np.uint64(i - first)
            for k in range(stored.column_start[f], stored.column_start[f + 1]):
                row = stored.row[k]
                if start <= own.position[row] < stop:
                    _put(target, splitter, own, table, np.uint64(stored.code[k]), width, item_of(target, row))
    _write_bin(target, job.growing.sums[node, 0], own, target.n_stats)
    if splitter.counted:
        own.bins[bin_width - 1, 0] = stop - start
    for i in range(first, last):
        table, code = np.uint64(i - first), np.uint64(stored.of_zero[features[i]])
        at, is_there = (table * np.uint64(splitter.n_bins) + code) * width, np.int64(0)
        for s in range(width):
            rest = own.bins[s, 0] - own.stored[table * width + s]
            own.sparse[at + s] += rest
            is_there |= rest
            own.stored[table * width + s] = 0
        if is_there != 0 and width != _ONE:
            own.masks[(table << _TWO) + (code >> _SIX)] |= _ONE << (code & _63)


@inline
def _put(target, splitter, own, table, code, width, item):
    """Add a row to a bin, and to the rows that are not zero."""
    put_item(target, own.sparse, (table * np.uint64(splitter.n_bins) + code) * width, item)
    put_item(target, own.stored, table * width, item)
    if splitter.counted:
        own.sparse[(table * np.uint64(splitter.n_bins) + code) * width + width - _ONE] += 1
        own.stored[table * width + width - _ONE] += 1
    if width != _ONE:
        own.masks[(table << _TWO) + (code >> _SIX)] |= _ONE << (code & _63)


def sparse_histogram(found, target, counted, n_drawn, rows):
    """Return the splitter of a sparse table's codes."""
    stored, bins = found
    p = len(bins.n_codes)
    n_tables = n_drawn if n_drawn < p else min(p, TABLES_AT_ONCE)
    n_bins, width = int(bins.n_codes.max()) + 1, target.n_stats + counted
    return SparseHistogram(stored, np.empty((0, p), np.uint8), bins.n_codes, n_bins, width, counted, n_tables, *rows)
