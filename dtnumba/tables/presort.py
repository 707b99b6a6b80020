# mypy: ignore-errors
# ruff: noqa: D102
"""Sort the rows of a column: floats as integers that order the same way, by radix (1M float32 in 13 ms, NumPy 75).

Kernels see the bits of the floats, so a NaN needs no float compare and -0.0 equals 0.0.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.runtime.kernels import inline, kernel, outlined
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.progress import launch_beside_heeding
from dtnumba.runtime.tasks import each_item

# Records of a presorted sequence: the row, and what was true of it where it stands.
NEW = np.uint32(1 << 31)  # its value differs from the one before
MISSING = np.uint32(1 << 30)  # it has no value; such records close the sequence
ROW = np.uint32((1 << 30) - 1)
RANK_BITS = np.uint64(32)  # by which a key holds a rank above a place
DIGIT_BITS = 11  # a pass: 3 passes for float32, 6 for float64; a pass where all digits agree is skipped
_BUCKETS = 1 << DIGIT_BITS
SHORT_BITS, SHORT_ROWS = 8, 2000
# Fewer cells than this are sorted or coded by one thread.
PARALLEL_CELLS = 50_000
STEPS_A_VALUE = 20  # about, to sort them
FEW_CELLS = 20_000


class Format(NamedTuple):
    """The two constants that tell float32 bits from float64 bits, in the type of the bits."""

    sign: int
    infinity: int


def bits_of(cells):
    """Return cells with their floats read as unsigned integers, and the Format of these."""
    if cells.flat.itemsize == 4:
        return cells._replace(flat=cells.flat.view(np.uint32)), Format(np.uint32(1 << 31), np.uint32(0x7F800000))
    return cells._replace(flat=cells.flat.view(np.uint64)), Format(np.uint64(1 << 63), np.uint64(0x7FF0000000000000))


class SortScratch(NamedTuple):
    """Room to sort one column of n rows; a row of each array a worker."""

    keys: np.ndarray
    rows: np.ndarray  # uint32
    other_keys: np.ndarray
    other_rows: np.ndarray
    counts: np.ndarray  # (6 * 2048,) uint32


def sort_scratch(flat, n, workers, *, with_rows=True):
    """Allocate room for every worker to sort a column of n rows, or its keys alone."""
    n_rows = n if with_rows else 0
    return SortScratch(
        np.empty((workers, n), flat.dtype),
        np.empty((workers, n_rows), np.uint32),
        np.empty((workers, n), flat.dtype),
        np.empty((workers, n_rows), np.uint32),
        per_worker(workers, 6 * _BUCKETS, np.uint32),
    )


@inline
def pick_sort_scratch(scratch, worker):
    """Return one worker's part."""
    return SortScratch(
        scratch.keys[worker],
        scratch.rows[worker],
        scratch.other_keys[worker],
        scratch.other_rows[worker],
        scratch.counts[worker, 0],
    )


@inline
def key_of(bits, form):
    """Turn the bits of a float into an integer that sorts like it; every NaN becomes the largest."""
    magnitude = bits & ~form.sign
    if magnitude > form.infinity:
        return ~(bits ^ bits)
    if magnitude == 0:
        return form.sign
    return ~bits if bits & form.sign else bits | form.sign


@inline
def bits_from_key(key, form):
    """Undo ``key_of``."""
    return key ^ form.sign if key & form.sign else ~key


@inline
def is_missing(key):
    """Tell whether a key stands for NaN."""
    return ~key == 0


@inline
def load_column(cells, column, kept, form, scratch):
    """Read the keys of rows ``kept`` of a column, and their rows where there is room for them."""
    at, keys = cells.offset + column * cells.column_step, scratch.keys
    for i in range(np.uint64(len(kept))):
        keys[i] = key_of(cells.flat[at + np.int64(kept[i]) * cells.row_step], form)
    for i in range(np.uint64(len(scratch.rows))):
        scratch.rows[i] = kept[i]


def _sort_by_numpy(scratch, n):
    order = np.argsort(scratch.keys[:n], kind="stable")
    scratch.keys[:n] = scratch.keys[:n][order]
    if len(scratch.rows) > 0:
        scratch.rows[:n] = scratch.rows[:n][order]
    return False


@outlined(in_python=_sort_by_numpy)
def sort_by_key(scratch, n):
    """Sort keys[:n] and rows[:n], if any; return whether the result lies in the other pair of arrays. Stable."""
    keys, rows, other_keys, other_rows, counts = scratch
    # Few rows are sorted by shorter digits: to go through the buckets would take longer than through the rows.
    bits = SHORT_BITS if n < SHORT_ROWS else DIGIT_BITS
    n_passes = (keys.itemsize * 8 + bits - 1) // bits
    n_buckets = 1 << bits
    size, mask = np.uint64(n), np.uint64(n_buckets - 1)
    n_rows = size if len(rows) > 0 else np.uint64(0)
    for k in range(n_passes * n_buckets):
        counts[k] = 0
    for i in range(size):
        key = np.uint64(keys[i])
        for k in range(n_passes):
            counts[np.uint64(k * n_buckets) + ((key >> np.uint64(k * bits)) & mask)] += np.uint32(1)
    swapped = False
    for k in range(n_passes):
        shift, first = np.uint64(k * bits), np.uint64(k * n_buckets)
        if counts[first + ((np.uint64(keys[0]) >> shift) & mask)] == n:
            continue
        below = np.uint32(0)
        for digit in range(k * n_buckets, (k + 1) * n_buckets):
            here = counts[digit]
            counts[digit] = below
            below += here
        for i in range(n_rows):
            digit = first + ((np.uint64(keys[i]) >> shift) & mask)
            to = counts[digit]
            counts[digit] = to + np.uint32(1)
            other_keys[to] = keys[i]
            other_rows[to] = rows[i]
        for i in range(n_rows, size):  # keys alone
            digit = first + ((np.uint64(keys[i]) >> shift) & mask)
            to = counts[digit]
            counts[digit] = to + np.uint32(1)
            other_keys[to] = keys[i]
        keys, other_keys = other_keys, keys
        rows, other_rows = other_rows, rows
        swapped = not swapped
    return swapped


@inline
def sorted_column(cells, column, kept, form, scratch):
    """Sort a column; return its keys and rows in order."""
    load_column(cells, column, kept, form, scratch)
    if sort_by_key(scratch, len(kept)):
        return scratch.other_keys, scratch.other_rows
    return scratch.keys, scratch.rows


@inline
def _sorted_by(task, column, worker):
    """Return the keys of a column in ascending order, and their rows."""
    return sorted_column(task.cells, column, task.kept, task.form, pick_sort_scratch(task.scratch, worker))


@each_item
class SortColumns(NamedTuple):
    """Write the presorted records of columns, each by whichever worker is free."""

    cells: object
    form: Format
    scratch: SortScratch
    kept: np.ndarray  # (n,) uint32: the rows to sort
    order: np.ndarray  # (n_orders * n,) uint32 out
    first: int  # order of column 0
    counter: np.ndarray

    def n_items(self):
        return self.cells.n_columns

    def do_item(self, column, worker):
        (keys, rows), n = _sorted_by(self, column, worker), len(self.kept)
        at = (self.first + column) * n
        for i in range(n):
            record = rows[i]
            if i > 0 and keys[i] != keys[i - 1]:
                record |= NEW
            if is_missing(keys[i]):
                record |= MISSING
            self.order[at + i] = record


@each_item
class RankColumns(NamedTuple):
    """Write the rank of every value among the distinct values of its column, and those values."""

    cells: object
    form: Format
    scratch: SortScratch
    kept: np.ndarray
    codes: np.ndarray  # (n_table_rows, p) uint32 out
    first: int  # column of codes for column 0
    distinct: np.ndarray  # (p * n,) bits out, ascending
    n_codes: np.ndarray  # (p,) int64 out
    counter: np.ndarray

    def n_items(self):
        return self.cells.n_columns

    def do_item(self, column, worker):
        (keys, rows), n = _sorted_by(self, column, worker), len(self.kept)
        to, rank = self.first + column, -1
        for i in range(n):
            if i == 0 or keys[i] != keys[i - 1]:
                rank += 1
                if not is_missing(keys[i]):
                    self.distinct[to * n + rank] = bits_from_key(keys[i], self.form)
            self.codes[rows[i], to] = rank
        self.n_codes[to] = rank if is_missing(keys[n - 1]) else rank + 1


@each_item
class RankInOrder(NamedTuple):
    """Write the keys of columns in order, each its value's rank among the distinct ones and its row's place in kept."""

    cells: object
    form: Format
    scratch: SortScratch
    kept: np.ndarray
    orders: np.ndarray  # (q, n) uint64 out: rank << 32 | place, ascending; a missing value ranks last
    first: int  # order of column 0
    distinct: np.ndarray  # (q * n,) bits out, ascending
    n_codes: np.ndarray  # (q,) int64 out
    counter: np.ndarray

    def n_items(self):
        return self.cells.n_columns

    def do_item(self, column, worker):
        n, own = len(self.kept), pick_sort_scratch(self.scratch, worker)
        load_column(self.cells, column, self.kept, self.form, own)
        for i in range(n):
            own.rows[i] = i
        swapped = sort_by_key(own, n)
        keys, rows = (own.other_keys, own.other_rows) if swapped else (own.keys, own.rows)
        to, rank = self.first + column, -1
        for i in range(n):
            if i == 0 or keys[i] != keys[i - 1]:
                rank += 1
                if not is_missing(keys[i]):
                    self.distinct[to * n + rank] = bits_from_key(keys[i], self.form)
            self.orders[to, i] = (np.uint64(rank) << RANK_BITS) | np.uint64(rows[i])
        self.n_codes[to] = rank if is_missing(keys[n - 1]) else rank + 1


def presort(table, kept, n_orders, workers):
    """Return the presorted records of all columns of a table, with room for ``n_orders`` orders in all."""
    order = np.empty(n_orders * len(kept), np.uint32)
    if table.order is not None:
        table.order.write(kept, table.n_features, order)
        return order
    if is_small(table, kept):
        _presort_few(table.cells, kept, order)
        return order
    for first, cells in table.columns(0, table.n_features):
        bits, form = bits_of(cells)
        threads = workers if len(kept) * cells.n_columns >= PARALLEL_CELLS else 1
        scratch = sort_scratch(bits.flat, len(kept), threads)
        task = SortColumns(bits, form, scratch, kept, order, first, np.zeros(1, np.int64))
        launch_beside_heeding(task, threads, STEPS_A_VALUE * len(kept) * cells.n_columns)
    return order


class Presorting(NamedTuple):
    """The presorted records of a whole table, and which of its rows a part of it holds."""

    order: np.ndarray  # (p * n,) uint32: records of all rows
    n_rows: int
    rows: np.ndarray  # (k,) int64, ascending: the part's; they may repeat

    def write(self, kept, n_columns, out):
        """Write the presorted records of the part, of its rows ``kept``: a walk along each column, without sorting."""
        there = self.rows[kept]
        count = np.bincount(there, minlength=self.n_rows)
        first = np.cumsum(count) - count
        keep_records(self.order, self.n_rows, n_columns, first, count, kept, out)


@kernel
def keep_records(order, n, n_columns, first, count, kept, out):
    """Keep of each column's records those of some rows, under their new numbers, as often as the rows are there.

    Row r becomes kept[first[r] : first[r] + count[r]]. A record that goes leaves to the next one that its value is new.

    order (p * n,) uint32 · first, count (n,) int64 · kept (m,) uint32 · out (at least p * m,) uint32 out
    """
    m = len(kept)
    for column in range(n_columns):
        to, is_new = column * m, np.uint32(0)
        for i in range(column * n, column * n + n):
            record = order[i]
            row = np.int64(record & ROW)
            is_new |= record & NEW
            for k in range(first[row], first[row] + count[row]):
                out[to] = kept[k] | (record & MISSING) | is_new
                is_new = np.uint32(0)
                to += 1
        out[column * m] &= ~NEW


def is_small(table, kept):
    """Tell whether NumPy sorts these rows of a table no slower than a kernel, which would have to be compiled."""
    return len(kept) * table.n_features < FEW_CELLS and table.cells is not None


def columns_of(cells, kept):
    """Return a copy (p, len(kept)) of the columns of some rows."""
    at = np.arange(cells.n_columns)[:, None] * cells.column_step + kept.astype(np.int64) * cells.row_step
    return cells.flat[cells.offset + at]


def _presort_few(cells, kept, order):
    """Presort a small table with NumPy, which has no kernel to compile; the records are the same but for ties."""
    n, p, values = len(kept), cells.n_columns, columns_of(cells, kept)
    places = np.argsort(values, axis=1, kind="stable")
    values = np.take_along_axis(values, places, axis=1)
    records = kept[places]
    missing = np.isnan(values)
    is_new = (values[:, 1:] != values[:, :-1]) & ~missing[:, :-1]  # missing values come last and are one value
    records[:, 1:] |= np.where(is_new, NEW, np.uint32(0))
    records |= np.where(missing, MISSING, np.uint32(0))
    order[: p * n] = records.ravel()


def order_of_targets(y, kept, weights):
    """Return the rows of every output in the order of its target, end to end.

    Rows of equal targets stand by weight: then sums along the way depend on the rows, and not on their numbers.
    """
    orders = [kept[np.lexsort((weights[kept], y[kept, o]))] for o in range(y.shape[1])]
    return np.concatenate(orders).astype(np.uint32)
