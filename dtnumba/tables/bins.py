# mypy: ignore-errors
# ruff: noqa: D102
"""Values as small integer codes: histogram codes (at most 255 values a column) and exact rank codes.

A code orders like the value, and the last one of a column, ``n_codes``, stands for missing. Edges of a histogram are
quantiles over all rows up to 200k rows and over a seeded sample above, weights ignored; a column of at most 255
distinct values gets one code a value, whatever the number of rows. Quantiles do not look at the target, so codes of one
data set may be shared by the folds of a cross-validation.

A category's levels are its codes, however many there are: none is ever merged with another.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.runtime.memory import sparse_empty
from dtnumba.runtime.progress import launch_beside_heeding
from dtnumba.runtime.tasks import take_ticket
from dtnumba.tables.bin_codes import (
    ROWS_AT_ONCE,
    TABLE,
    CodeRows,
    cells_of_edges,
    end_to_end,
    no_cells,
    write_edges,
    write_sorted,
)
from dtnumba.tables.cells import values_of
from dtnumba.tables.floats import floor_to, midpoint
from dtnumba.tables.presort import (
    PARALLEL_CELLS,
    STEPS_A_VALUE,
    RankColumns,
    bits_from_key,
    bits_of,
    columns_of,
    is_missing,
    is_small,
    pick_sort_scratch,
    sort_scratch,
    sorted_column,
)

COLUMNS_TOGETHER = 16  # by a worker that writes codes, too
SAMPLE_ROWS = 200_000
MOST_BINS = 255
_RUN = 16  # equal values in a row, up to which a column counts as one of distinct values


@dataclass(frozen=True, eq=False)
class Bins:
    """Values of codes: code c of column f stands for those from low[first_code[f] + c] to high[first_code[f] + c]."""

    n_codes: np.ndarray  # (p,) int64: number of values, and the code of a missing one
    first_code: np.ndarray  # (p + 1,) int64
    low: np.ndarray  # the columns end to end
    high: np.ndarray
    exhaustive: np.ndarray  # (p,) bool: one code a distinct value

    def edges(self, dtype, has_edges=True):
        """Return a (p, 256) table of upper edges, padded with +inf: code(x) = how many edges are < x."""
        p = len(self.n_codes)
        table = np.full((p, TABLE), np.inf, dtype)
        n_edges = np.where(has_edges, np.maximum(self.n_codes - 1, 0), 0)
        write_edges(table, n_edges, self)
        return table


@kernel_type
class MakeBins(NamedTuple):
    """Choose the bins of columns, each by whichever worker is free."""

    cells: object
    form: object
    scratch: object
    sample: np.ndarray  # (s,) uint32 rows
    first: int  # column of the outputs for column 0
    most: int
    n_codes: np.ndarray  # (p,) int64 out
    low: np.ndarray  # (p, 255) bits out
    high: np.ndarray
    exhaustive: np.ndarray  # (p,) uint8 out
    codes: np.ndarray  # (n_table_rows, p) uint8 out: of the sample; empty if they are not wanted
    counter: np.ndarray

    def run(self, worker):
        scratch = pick_sort_scratch(self.scratch, worker)
        # Neighbours lie side by side in a table and in its codes: of few rows one worker reads and writes them.
        together = COLUMNS_TOGETHER if len(self.codes) > 0 else 1
        while True:
            first = take_ticket(self.counter) * together
            if first >= self.cells.n_columns:
                break
            for column in range(first, min(first + together, self.cells.n_columns)):
                keys, rows = sorted_column(self.cells, column, self.sample, self.form, scratch)
                n, distinct = len(self.sample), 1
                while n > 0 and is_missing(keys[n - 1]):
                    n -= 1
                for i in range(1, n):
                    distinct += keys[i] != keys[i - 1]
                to = self.first + column
                self.exhaustive[to] = distinct <= self.most
                self.n_codes[to] = _fill_bins(keys, n, distinct, self, to)
                if len(self.codes) > 0:
                    write_sorted(self, keys, rows, n, to)


@inline
def _run_end(keys, i, n):
    """Return where the run of values equal to keys[i] ends."""
    end = i + 1
    while end < n and keys[end] == keys[i]:
        end += 1
    return end


@inline
def _longest_run(keys, n, most):
    """Return _RUN if no run of equal values is longer, nor fills a bin by itself; else n."""
    if _RUN * most >= n:
        return n
    repeats = 0
    for i in range(np.uint64(n - _RUN)):
        repeats += keys[i] == keys[i + np.uint64(_RUN)]
    return n if repeats else _RUN


@inline
def _skipped(keys, i, n, longest, bins_left, rows_left):
    """Return a start of a run that a bin which starts at i is sure to reach, where runs are short: no close before.

    A bin of k rows closes if (2 * k + following run) * bins_left > 2 * rows_left; the last one closes at the end.
    """
    rows = n - i
    if bins_left > 1:
        rows = max((2 * rows_left - longest * bins_left) // (2 * bins_left) + 1, 1)
    to = i + rows - 1
    while to > i and keys[to] == keys[to - 1]:
        to -= 1
    return to


@inline
def _fill_bins(keys, n, distinct, task, to):
    """Cut sorted values into bins of like size; a value that fills a bin by itself gets its own.

    The rows of such heavy values do not count towards the size of the other bins, so these share what is left evenly.
    """
    heavy, rows_left, i, longest = 0, n, 0, _longest_run(keys, n, task.most)
    while i < n and longest == n:
        end = _run_end(keys, i, n)
        if (end - i) * task.most >= n:
            heavy += 1
            rows_left -= end - i
        i = end
    code, in_bin, i = 0, 0, 0
    end = _run_end(keys, 0, n) if n > 0 else 0
    while i < n:
        if in_bin == 0:
            task.low[to, code] = bits_from_key(keys[i], task.form)
            if longest < n and distinct > task.most:
                there = _skipped(keys, i, n, longest, task.most - code, rows_left)
                in_bin, i, end = there - i, there, _run_end(keys, there, n)
        after = _run_end(keys, end, n) if end < n else end
        following = after - end
        is_heavy = (end - i) * task.most >= n
        heavy -= is_heavy
        task.high[to, code] = bits_from_key(keys[i], task.form)
        in_bin += end - i
        bins_left = task.most - code - heavy
        # Close where stopping here misses the share by less than taking the next value too would.
        fills = following * task.most >= n or (2 * in_bin + following) * bins_left > 2 * rows_left
        if distinct <= task.most or is_heavy or (fills and bins_left > 1) or end == n:
            code += 1
            rows_left -= 0 if is_heavy else in_bin
            in_bin = 0
        i, end = end, after
    return code


def sample_places(n):
    """Return which of n rows edges are made from: all (None), or one of every stretch of rows, drawn within it."""
    if n <= SAMPLE_ROWS:
        return None
    # One seed for every fit: the codes of a table must not differ between two fits of it.
    draws = np.random.default_rng(0).random(SAMPLE_ROWS)
    start = np.arange(SAMPLE_ROWS) * (n / SAMPLE_ROWS)
    return np.minimum((start + draws * (n / SAMPLE_ROWS)).astype(np.int64), n - 1)


def sample_rows(kept):
    """Return the rows that edges are made from."""
    places = sample_places(len(kept))
    return kept if places is None else kept[places]


def make_bins(table, kept, most, workers, codes=None):
    """Choose histogram bins of a table's columns from rows ``kept``; those of categories stay empty.

    ``codes`` become those of the rows, where these are no sample: who sorts values knows their codes.
    """
    p, sample, dtype = table.n_features, sample_rows(kept), dtype_of(table)
    n_codes, exhaustive = np.zeros(p, np.int64), np.ones(p, np.uint8)
    low, high = np.zeros((p, MOST_BINS), dtype), np.zeros((p, MOST_BINS), dtype)
    for first, cells in table.numbers():
        bits, form = bits_of(cells)
        threads = workers if len(sample) * cells.n_columns >= PARALLEL_CELLS else 1
        scratch = sort_scratch(bits.flat, len(sample), threads, with_rows=codes is not None)
        counter, out = np.zeros(1, np.int64), np.empty((0, 0), np.uint8) if codes is None else codes
        ends = low.view(bits.flat.dtype), high.view(bits.flat.dtype)
        task = MakeBins(bits, form, scratch, sample, first, most, n_codes, *ends, exhaustive, out, counter)
        n_cells = len(sample) * cells.n_columns
        launch_beside_heeding(task, threads, STEPS_A_VALUE * n_cells, steps=n_cells)
    first_code = np.concatenate([[0], np.cumsum(n_codes)])
    low, high = (end_to_end(part, n_codes, first_code) for part in (low, high))
    bins = Bins(n_codes, first_code, low, high, exhaustive.astype(bool))
    return bins if len(sample) == len(kept) else between_samples(bins, dtype.type)


def dtype_of(table):
    """Return the dtype of a table's values."""
    return table.cells.flat.dtype if table.cells is not None else table.csc.dtype


def between_samples(bins, dtype):
    """Let bins of a sampled column meet at their edges: a row that was not sampled may lie anywhere between them."""
    for f in np.flatnonzero(~bins.exhaustive):
        at = slice(bins.first_code[f], bins.first_code[f + 1])
        edges = floor_to(midpoint(bins.high[at][:-1], bins.low[at][1:]), dtype).astype(np.float64)
        bins.high[at][:-1] = edges
        bins.low[at][1:] = edges
    return bins


def bins_of_sample(sample, most, values, workers):
    """Choose histogram bins from a table that is a sample of a larger one.

    ``values[f]`` are all the values of column f of the larger one, ascending, where there are at most ``most``, and
    None where there are more.
    """
    bins = make_bins(sample, np.arange(sample.n_rows, dtype=np.uint32), most, workers)
    bins.exhaustive[:] = [known is not None for known in values]
    bins = between_samples(bins, sample.cells.flat.dtype.type)
    return with_columns(bins, {f: (known, known) for f, known in enumerate(values) if known is not None})


def write_codes(table, bins, codes, workers, claims=None):
    """Write the histogram codes of every row; return the columns that hold values unknown to bins that claim all."""
    return np.flatnonzero(_find_strays(table, bins, codes, workers, claims).any(axis=0))


def _find_strays(table, bins, codes, workers, claims=None, columns=None):
    """Write the codes of every row, or of some columns; return which blocks of rows hold values unknown to the bins.

    Categories are left as they are.
    """
    p, dtype = table.n_features, dtype_of(table).type
    edges = bins.edges(dtype)
    claims = np.zeros(p, np.uint8) if claims is None else claims.astype(np.uint8)
    values = np.zeros((p, TABLE) if claims.any() else (0, 0), dtype)
    stray = np.zeros((-(-table.n_rows // ROWS_AT_ONCE), p), np.uint8)
    for f in np.flatnonzero(claims):
        values[f, : bins.n_codes[f]] = bins.low[bins.first_code[f] : bins.first_code[f + 1]]
    places = cells_of_edges(edges, bins.n_codes - 1) if table.n_rows >= ROWS_AT_ONCE else no_cells(p, dtype)
    edges, values, wanted = edges.ravel(), values.ravel(), np.zeros(p, np.uint8)
    wanted[slice(None) if columns is None else columns] = 1
    for first, cells in table.numbers():
        counter = np.zeros(1, np.int64)
        task, n_cells = (
            CodeRows(cells, edges, values, bins.n_codes, claims, wanted, codes, first, stray, places, counter),
            cells.n_rows * cells.n_columns,
        )
        threads = workers if n_cells >= PARALLEL_CELLS else 1
        launch_beside_heeding(task, threads, n_cells, steps=4 * n_cells)
    return stray != 0


def histogram_codes(table, kept, most, workers):
    """Return (codes, Bins) of a table, at most ``most`` values a column of numbers."""
    if is_small(table, kept) and len(kept) == table.n_rows:
        codes, bins = _rank_few(table, kept)
        if int(bins.n_codes.max(initial=0, where=ordered(table))) <= most:
            values = bins.low.astype(np.float64)
            return _narrowed(codes, replace(bins, low=values, high=values))
    codes = np.empty((table.n_rows, table.n_features), np.uint8)
    sampled = len(kept) > SAMPLE_ROWS
    if len(kept) == table.n_rows < ROWS_AT_ONCE:
        return with_levels(table, codes, make_bins(table, kept, most, workers, codes))
    bins = make_bins(table, kept, most, workers)
    strays = _find_strays(table, bins, codes, workers, bins.exhaustive if sampled else None)
    if strays.any():
        bins = _with_all_values(bins, table, kept, most, strays)
        _find_strays(table, bins, codes, workers, columns=strays.any(axis=0))
    return with_levels(table, codes, bins)


def ordered(table):
    """Return a mask of the columns that are no categories."""
    return np.ones(table.n_features, bool) if table.nominal is None else ~table.nominal


def with_levels(table, codes, bins):
    """Return (codes, Bins) with those of categories, in the narrowest unsigned dtype that holds all."""
    bins = add_levels(bins, table.levels, table.nominal)
    codes = codes.astype(code_dtype(bins), copy=False)
    write_levels(table, codes)
    return codes, bins


def add_levels(bins, levels, nominal):
    """Return bins with a code for each level of a category."""
    if nominal is None:
        return bins
    numbers = {f: np.arange(len(levels[f]), dtype=bins.low.dtype) for f in np.flatnonzero(nominal)}
    bins = replace(bins, exhaustive=bins.exhaustive | nominal)
    return with_columns(bins, {f: (values, values) for f, values in numbers.items()})


def write_levels(table, codes):
    """Write the codes of categories: the numbers of the levels, and how many there are for a missing one."""
    if table.nominal is None:
        return
    values, columns = values_of(table.cells), np.flatnonzero(table.nominal)
    for start in range(0, table.n_rows, ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        for f in columns:
            x = values[rows, f]
            codes[rows, f] = np.where(np.isnan(x), table.n_levels(f), x)


def _with_all_values(bins, table, kept, most, strays):
    """Rebuild the bins of columns that looked exhaustive in the sample but hold rarer values."""
    exhaustive, columns, block = bins.exhaustive.copy(), {}, kept // ROWS_AT_ONCE
    for f in np.flatnonzero(strays.any(axis=0)):
        # Values that a sample missed are rare: to look at the blocks that hold some takes a tenth of the time of all.
        known, rows = bins.low[bins.first_code[f] : bins.first_code[f + 1]], kept[strays[block, f]]
        rarer = table.values_at(rows, np.full(len(rows), f))
        values = np.unique(np.concatenate([known, rarer[~np.isnan(rarer)]]))
        exhaustive[f] = len(values) <= most
        if not exhaustive[f]:
            column = table.values_at(kept, np.full(len(kept), f))
            columns[f] = around_commonest(*np.unique(column[~np.isnan(column)], return_counts=True), most)
        else:
            columns[f] = values, values
    return with_columns(replace(bins, exhaustive=exhaustive), columns)


def around_commonest(values, counts, most):
    """Return (low, high) of bins in which the commonest values keep a code each; rarer ones share a neighbour's."""
    common = np.sort(np.argsort(-counts, kind="stable")[:most])
    edges = midpoint(values[common][:-1], values[common][1:])
    return np.concatenate([values[:1], edges]), np.concatenate([edges, values[-1:]])


def with_columns(bins, columns):
    """Return bins with other (low, high) in some columns."""
    low, high = np.split(bins.low, bins.first_code[1:-1]), np.split(bins.high, bins.first_code[1:-1])
    for f, (own_low, own_high) in columns.items():
        low[f], high[f] = own_low, own_high
    n_codes = np.array([len(part) for part in low], np.int64)
    first_code = np.concatenate([[0], np.cumsum(n_codes)])
    return replace(bins, n_codes=n_codes, first_code=first_code, low=np.concatenate(low), high=np.concatenate(high))


def rank_codes(table, kept, workers, *, by_column=False):
    """Return (codes, Bins) with one code a distinct value, in the narrowest unsigned dtype that holds them.

    ``by_column``: the codes of a column lie side by side, and of a large table in 32 bits.
    """
    if is_small(table, kept):
        return _narrowed(*_rank_few(table, kept))
    n, p, dtype = len(kept), table.n_features, dtype_of(table)
    room, n_codes = np.empty(table.n_rows * p, np.uint32), np.zeros(p, np.int64)
    codes = room.reshape(p, -1).T if by_column else room.reshape(-1, p)
    distinct = sparse_empty(p * n, dtype)  # of which the values of each column take the first part of theirs
    for first, cells in table.numbers():
        bits, form = bits_of(cells)
        threads = workers if n * cells.n_columns >= PARALLEL_CELLS else 1
        scratch, counter = sort_scratch(bits.flat, n, threads), np.zeros(1, np.int64)
        out = distinct.view(bits.flat.dtype)
        task = RankColumns(bits, form, scratch, kept, codes, first, out, n_codes, counter)
        launch_beside_heeding(task, threads, STEPS_A_VALUE * n * cells.n_columns)
    values = np.concatenate([distinct[f * n : f * n + n_codes[f]] for f in range(p)])
    first_code = np.concatenate([[0], np.cumsum(n_codes)])
    bins = add_levels(Bins(n_codes, first_code, values, values, np.ones(p, bool)), table.levels, table.nominal)
    write_levels(table, codes)
    task = scratch = distinct = None  # done with, before there are other codes
    return (codes, bins) if by_column else _narrowed(codes, bins)


def _narrowed(codes, bins):
    return codes.astype(code_dtype(bins), copy=False), bins


def code_dtype(bins):
    """Return the narrowest dtype that holds every code, and that of a missing value."""
    most = int(bins.n_codes.max(initial=0))
    return np.uint8 if most < 1 << 8 else np.uint16 if most < 1 << 16 else np.uint32


def _rank_few(table, kept):
    """Rank the columns of a small table with NumPy; rows that are not kept get the code 0."""
    p, is_number = table.n_features, ordered(table)
    codes, n_codes, distinct = np.zeros((table.n_rows, p), np.uint32), np.empty(p, np.int64), []
    for f, column in enumerate(columns_of(table.cells, kept)):
        if not is_number[f]:
            n = table.n_levels(f)
            values, ranks = np.arange(n, dtype=column.dtype), np.where(np.isnan(column), n, column)
        else:
            values, ranks = np.unique(column, return_inverse=True)
        n_codes[f] = len(values) - np.isnan(values).sum()
        codes[kept, f] = ranks
        distinct.append(values[: n_codes[f]] + values.dtype.type(0))  # the zero that is not negative
    values = np.concatenate(distinct)
    return codes, Bins(n_codes, np.concatenate([[0], np.cumsum(n_codes)]), values, values, np.ones(p, bool))
