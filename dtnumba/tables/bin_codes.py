# mypy: ignore-errors
"""From values to histogram codes: how many edges of a column lie below a value.

Cells of equal width lie over the edges. The cell of a value grows with it, so of all edges only those of its own cell
need comparing, mostly one, where a binary search looks at eight: 2.8 million values took 23 ms, and take 6.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.runtime.tasks import take_ticket
from dtnumba.tables.floats import floor_to, midpoint
from dtnumba.tables.presort import key_of

TABLE = 256  # edges a column has room for: one search of 8 steps, padded with +inf
ROWS_AT_ONCE = 2048  # rows coded at a time, so that their cells stay in cache over the columns
_COLUMNS_AT_ONCE = 256
_N_CELLS = 1024  # of 255 quantiles of a normal variable none shares a cell with another
_MOST_STEPS = 4  # edges of one cell above which a binary search is as fast


class ValueCells(NamedTuple):
    """Where a value lies among the edges of its column."""

    low: np.ndarray  # (p,) of the values' dtype: where cells start
    high: np.ndarray  # (p,) where they end
    scale: np.ndarray  # (p,) cells per unit
    below: np.ndarray  # (p * _N_CELLS,) uint8: edges below a cell
    n_steps: np.ndarray  # (p,) int64: edges of the fullest cell; 0 where cells are of no use


def no_cells(p, dtype):
    """Return the cells of p columns that are searched without."""
    ends = np.zeros(p, dtype)
    return ValueCells(ends, ends, ends, np.zeros(0, np.uint8), np.zeros(p, np.int64))


def cells_of_edges(edges, n_edges):
    """Return the cells of columns whose edges are the first ``n_edges`` of each row of a table."""
    p = len(edges)
    there = np.arange(edges.shape[1]) < n_edges[:, None]
    low, high = edges[:, 0], edges[np.arange(p), np.maximum(n_edges - 1, 0)]
    is_used = np.isfinite(low) & np.isfinite(high)
    low, high = np.where(is_used, low, 0), np.where(is_used, high, 0)
    with np.errstate(over="ignore", divide="ignore"):
        scale = edges.dtype.type(_N_CELLS - 1) / (high - low)
    scale[~np.isfinite(scale)] = 0
    finite = np.where(there & is_used[:, None], edges, 0)
    with np.errstate(over="ignore", invalid="ignore"):
        at = (finite - low[:, None]) * scale[:, None]
    is_used &= np.isfinite(at).all(axis=1, where=there)
    at = np.where(there & is_used[:, None], at, _N_CELLS).astype(np.int64) + np.arange(p)[:, None] * (_N_CELLS + 1)
    count = np.bincount(at.ravel(), minlength=p * (_N_CELLS + 1)).reshape(p, -1)[:, :_N_CELLS]
    n_steps = count.max(axis=1, initial=0)
    n_steps[n_steps > _MOST_STEPS] = 0
    below = np.cumsum(count, axis=1) - count
    return ValueCells(low, high, scale, below.astype(np.uint8).ravel(), n_steps)


@kernel_type
class CodeRows(NamedTuple):
    """Write the codes of blocks of rows, the next block by whichever worker is free."""

    cells: object
    edges: np.ndarray  # (p * 256,)
    values: np.ndarray  # (p * 256,): the value of each code, for columns that claim one a value
    n_codes: np.ndarray
    claims: np.ndarray  # (p,) uint8: whether to compare with values
    wanted: np.ndarray  # (p,) uint8: which columns to code
    codes: np.ndarray  # (n_rows, p) uint8 out
    first: int  # column of codes, edges, ... for column 0
    stray: np.ndarray  # (n_blocks, p) uint8 out: a block of rows holds a value of the column that no code stands for
    places: ValueCells
    counter: np.ndarray

    def run(self, worker):
        """Take blocks until none is left."""
        cells = self.cells
        while True:
            start = take_ticket(self.counter) * ROWS_AT_ONCE
            if start >= cells.n_rows:
                break
            stop = min(start + ROWS_AT_ONCE, cells.n_rows)
            for column in range(cells.n_columns):
                if self.wanted[self.first + column]:
                    _code_block(self, column, start, stop)


@inline
def _code_block(task, column, start, stop):
    to = task.first + column
    if task.places.n_steps[to] > 0:
        _code_by_cells(task, column, start, stop)
    else:
        _code_by_search(task, column, start, stop)
    if task.claims[to]:
        first, missing_code = to * TABLE, np.uint8(task.n_codes[to])
        cells, at = task.cells, task.cells.offset + column * task.cells.column_step
        for row in range(start, stop):
            x = cells.flat[at + row * cells.row_step]
            if x == x and (missing_code == 0 or task.values[first + np.int64(task.codes[row, to])] != x):
                task.stray[row // ROWS_AT_ONCE, to] = 1


@inline
def _code_by_cells(task, column, start, stop):
    cells, places, to = task.cells, task.places, np.uint64(task.first + column)
    at = cells.offset + column * cells.column_step
    first, missing_code, one = to * np.uint64(TABLE), np.uint8(task.n_codes[to]), np.uint64(1)
    low, high, scale, n_steps = places.low[to], places.high[to], places.scale[to], np.uint64(places.n_steps[to])
    for row in range(start, stop):
        x = cells.flat[at + row * cells.row_step]
        code = _start_of_cell(places, to, low, high, scale, x)
        for _ in range(n_steps):
            code += one if task.edges[first + code] < x else one - one
        task.codes[row, to] = np.uint8(code) if x == x else missing_code


@inline
def _code_by_search(task, column, start, stop):
    cells, to = task.cells, task.first + column
    at = cells.offset + column * cells.column_step
    first, missing_code = to * TABLE, np.uint8(task.n_codes[to])
    for row in range(start, stop):
        x = cells.flat[at + row * cells.row_step]
        # Branchless search: 8 steps whatever the value, so that many searches overlap.
        code = 128 if task.edges[first + 127] < x else 0
        code += 64 if task.edges[first + code + 63] < x else 0
        code += 32 if task.edges[first + code + 31] < x else 0
        code += 16 if task.edges[first + code + 15] < x else 0
        code += 8 if task.edges[first + code + 7] < x else 0
        code += 4 if task.edges[first + code + 3] < x else 0
        code += 2 if task.edges[first + code + 1] < x else 0
        code += 1 if task.edges[first + code] < x else 0
        task.codes[row, to] = np.uint8(code) if x == x else missing_code


@inline
def _start_of_cell(cells, column, low, high, scale, x):
    """Return how many edges lie below the cell of a value; NaN counts as the least value."""
    inside = min(high, max(low, x))
    return np.uint64(cells.below[column * np.uint64(_N_CELLS) + np.uint64(np.int64((inside - low) * scale))])


def write_edges(table, n_edges, bins):
    """Write the upper edges of the first bins of each column into a table of a row a column.

    Of many columns at once: one by one, 50,000 of them took a second; and not of all, which is slow to allocate.
    """
    for start in range(0, len(table), _COLUMNS_AT_ONCE):
        stop = min(start + _COLUMNS_AT_ONCE, len(table))
        n, first = n_edges[start:stop], bins.first_code[start:stop]
        at = np.arange(n.sum()) + np.repeat(first - (np.cumsum(n) - n), n)
        edges = floor_to(midpoint(bins.high[at], bins.low[at + 1]), table.dtype)
        table[start:stop][np.arange(TABLE) < n[:, None]] = edges


def end_to_end(ends, n_codes, first_code):
    """Return the first n_codes[f] of each row of a table as float64, one row after the other."""
    out = np.empty(first_code[-1])
    for start in range(0, len(ends), _COLUMNS_AT_ONCE):
        own = slice(start, start + _COLUMNS_AT_ONCE)
        stop = min(start + _COLUMNS_AT_ONCE, len(ends))
        used = np.arange(ends.shape[1]) < n_codes[own, None]
        out[first_code[start] : first_code[stop]] = ends[own][used]
    return out


@inline
def write_sorted(task, keys, rows, n, to):
    """Write the codes of a column's sorted rows, of which n have a value."""
    codes, code, column = task.codes, np.uint64(0), np.uint64(to)
    bound = key_of(task.high[to, code], task.form)
    for i in range(np.uint64(n)):
        if keys[i] > bound:
            code += np.uint64(1)
            bound = key_of(task.high[to, code], task.form)
        codes[np.uint64(rows[i]), column] = code
    for i in range(np.uint64(n), np.uint64(len(task.sample))):
        codes[np.uint64(rows[i]), column] = task.n_codes[to]
