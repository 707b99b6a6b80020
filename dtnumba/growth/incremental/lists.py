# mypy: ignore-errors
"""The rows that a tree holds: their values, a code of one byte for each, and for each column the rows of every code.

Codes are bins of the values of a column, in their order; which bins is no matter of the tree, only of time.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.runtime.instructions.bits import lower_bound
from dtnumba.runtime.kernels import inline, outlined
from dtnumba.tables.cells import cells_of
from dtnumba.tables.presort import MISSING, NEW, bits_of, is_missing, key_of, sort_by_key

# Fewer rows are sorted by insertion.
_SHORT = 24
MISSING_CODE = 255
N_CODES = 256
LEVELS_WITH_CODES = N_CODES - 2  # of a category, each of which has a code of its own
# What is said of a row while a node is looked at.
STANDS, COMES, GOES = 0, 1, 2
NOBODY = -1


class RowLists(NamedTuple):
    """The rows that a tree holds."""

    values: np.ndarray  # (n_slots, p) floats, each column in one piece
    bits: np.ndarray  # the same as uint32 or uint64
    form: object  # presort.Format
    mark: np.ndarray  # (n_slots,) uint8: STANDS, but for rows that come to a node, or leave it
    codes: np.ndarray  # (n_slots, p) uint8, each column in one piece
    squares: np.ndarray  # (n_slots,) int64: of targets that are numbers, weight times square, in units
    square_unit: float
    edges: np.ndarray  # (p, 254) float64: code k holds values above edge k - 1 and up to edge k
    first: np.ndarray  # (p, N_CODES) int32: a row of each code, or NOBODY
    after: np.ndarray  # (p, n_slots) int32: the next one of the same code
    before: np.ndarray  # (p, n_slots) int32
    rank: np.ndarray  # (q, N_CODES) int32: of categories, the place of each number met in the order of the levels
    met: np.ndarray  # (q, N_CODES) int32: the number of the level at each place


def held_of(values, rows, squares, square_unit, categories):
    """Return what a tree holds of slots before any row came, with codes that part some rows evenly."""
    n, p = values.shape
    cells, form = bits_of(cells_of(values))
    edges = np.full((p, N_CODES - 2), np.inf)
    for c in range(p):
        if c in categories:  # levels are numbers from 0 on, and codes
            edges[c] = np.arange(N_CODES - 2)
            continue
        seen = values[rows, c]
        seen = seen[~np.isnan(seen)]
        if len(seen):
            found = np.unique(np.quantile(seen, np.arange(1, N_CODES - 1) / (N_CODES - 1), method="lower"))
            edges[c, : len(found)] = found
    return RowLists(
        values,
        values.view(cells.flat.dtype),
        form,
        np.zeros(n, np.uint8),
        np.zeros((p, n), np.uint8).T,
        squares,
        square_unit,
        edges,
        np.full((p, N_CODES), NOBODY, np.int32),
        np.zeros((p, n), np.int32),
        np.zeros((p, n), np.int32),
        np.zeros((len(categories), N_CODES), np.int32),
        np.zeros((len(categories), N_CODES), np.int32),
    )


@inline
def key_at(held, row, column):
    """Return the number that a value sorts by."""
    return key_of(held.bits[row, column], held.form)


@inline
def code_of(held, column, value):
    """Return the code of a value of a column."""
    if value != value:
        return np.int64(MISSING_CODE)
    return lower_bound(held.edges[column], np.int64(0), np.int64(held.edges.shape[1]), value)


@outlined
def put_in(held, rows, n):
    """Code n rows and enter them with those of the same codes."""
    for c in range(held.codes.shape[1]):
        for i in range(n):
            row = np.int64(rows[i])
            code = code_of(held, c, np.float64(held.values[row, c]))
            held.codes[row, c] = code
            other = held.first[c, code]
            held.first[c, code], held.after[c, row], held.before[c, row] = row, other, NOBODY
            if other >= 0:
                held.before[c, other] = row


@outlined
def take_out(held, rows, n):
    """Take n rows from among those of the same codes."""
    for c in range(held.codes.shape[1]):
        for i in range(n):
            row = np.int64(rows[i])
            before, after = held.before[c, row], held.after[c, row]
            if before >= 0:
                held.after[c, before] = after
            else:
                held.first[c, held.codes[row, c]] = after
            if after >= 0:
                held.before[c, after] = before


@inline
def _sort_few(keys, rows, n):
    for i in range(1, n):
        key, row, j = keys[i], rows[i], i
        while j > 0 and keys[j - 1] > key:
            keys[j], rows[j] = keys[j - 1], rows[j - 1]
            j -= 1
        keys[j], rows[j] = key, row


@outlined
def sort_rows(held, column, rows, first, n, sort, out):
    """Write the records of rows[first : first + n] in the order of a column, from out[first] on."""
    keys = sort.keys
    for i in range(n):
        row = rows[first + i]
        keys[i], sort.rows[i] = key_at(held, row, column), row
    swapped = False
    if n < _SHORT:
        _sort_few(keys, sort.rows, n)
    else:
        swapped = sort_by_key(sort, n)
    keys, ordered = (sort.other_keys, sort.other_rows) if swapped else (sort.keys, sort.rows)
    for i in range(n):
        record = ordered[i]
        if i > 0 and keys[i] != keys[i - 1]:
            record |= NEW
        if is_missing(keys[i]):
            record |= MISSING
        out[first + i] = record
