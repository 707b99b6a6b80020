# mypy: ignore-errors
"""Codes of the values that a sparse table stores: those of its dense form, which is never written out.

A value that is not stored is zero. Columns of few distinct values, zero among them, are coded by sorting what they
store, a block of columns at a time; others one by one, written out, as dense ones are.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.runtime.kernels import kernel_type
from dtnumba.tables.bins import MOST_BINS, Bins, histogram_codes

# Above this share of values stored, codes of stored values (ten bytes each) take more memory than one byte a cell; from
# a fifth on they are no faster either (a forest on 6,000 x 800: 27 against 116 ms at 2 %, 67 against 102 ms at 10 %).
MOST_STORED = 0.1
_VALUES_AT_ONCE = 1 << 16


@kernel_type
class StoredCodes(NamedTuple):
    """Codes of the values stored, by column and by row, and that of zero in each column."""

    column_start: np.ndarray  # (p + 1,) int64
    row: np.ndarray  # (n_stored,) uint32
    code: np.ndarray  # (n_stored,) uint8
    row_start: np.ndarray  # (n + 1,) int64
    column: np.ndarray  # (n_stored,) uint32
    code_by_row: np.ndarray  # (n_stored,) uint8
    of_zero: np.ndarray  # (p,) int64; any where no row of the column is zero


def stored_codes(table, kept, most, workers):
    """Return (StoredCodes, Bins) of a sparse table, at most ``most`` values a column; None where it is not sparse.

    With ``most`` None each value has a code of its own; None again where a byte cannot number those of some column.
    """
    if table.sparse is None or table.csc.nnz > MOST_STORED * table.n_rows * table.n_features:
        return None
    csc, p = table.csc, table.n_features
    starts = csc.indptr.astype(np.int64)
    code, of_zero, n_codes = np.zeros(csc.nnz, np.uint8), np.zeros(p, np.int64), np.zeros(p, np.int64)
    is_kept = None
    if len(kept) < table.n_rows:
        is_kept = np.zeros(table.n_rows, bool)
        is_kept[kept] = True
    low, high, exhaustive, begin = [], [], np.ones(p, bool), 0
    while begin < p:
        end = max(begin + 1, int(np.searchsorted(starts, starts[begin] + _VALUES_AT_ONCE, "right")) - 1)
        own, block = slice(begin, end), slice(starts[begin], starts[end])
        values, n_own = _code_block(csc, starts[begin : end + 1], is_kept, len(kept), code[block], of_zero[own])
        n_codes[own] = n_own
        first = np.concatenate([[0], np.cumsum(n_own)])
        wide = np.flatnonzero(n_own > (MOST_BINS if most is None else most))
        if len(wide) and most is None:
            return None
        lows, highs, at = [], [], 0
        for j in wide:
            stored = slice(starts[begin + j], starts[begin + j + 1])
            column, bins = histogram_codes(table.block(table.dense_column(begin + j)), kept, most, workers)
            rows = csc.indices[stored]
            code[stored] = column[rows, 0]
            is_zero = np.ones(table.n_rows, bool)
            is_zero[rows] = False
            of_zero[begin + j] = column[is_zero.argmax(), 0]  # any, where none is
            exhaustive[begin + j], n_codes[begin + j] = False, bins.n_codes[0]
            lows += [values[at : first[j]], bins.low]
            highs += [values[at : first[j]], bins.high]
            at = first[j + 1]
        low += [*lows, values[at:]]
        high += [*highs, values[at:]]
        begin = end
    first_code = np.concatenate([[0], np.cumsum(n_codes)])
    low = np.concatenate(low).astype(np.float64)
    high = np.concatenate(high).astype(np.float64) if not exhaustive.all() else low
    csr = type(csc)((code, csc.indices, csc.indptr), shape=csc.shape).tocsr()
    rows, columns = (part.astype(np.uint32) for part in (csc.indices, csr.indices))
    stored = StoredCodes(starts, rows, code, csr.indptr.astype(np.int64), columns, csr.data, of_zero)
    return stored, Bins(n_codes, first_code, low, high, exhaustive)


def _code_block(csc, starts, is_kept, n_kept, code, of_zero):
    """Write the codes of some columns; return their distinct values end to end, and how many each column has."""
    n, block = len(starts) - 1, slice(starts[0], starts[-1])
    values, column = csc.data[block] + csc.dtype.type(0), np.repeat(np.arange(n), np.diff(starts))
    missing = np.isnan(values)
    seen = np.flatnonzero(~missing if is_kept is None else ~missing & is_kept[csc.indices[block]])
    counted = column if is_kept is None else column[is_kept[csc.indices[block]]]
    order = seen[np.lexsort((values[seen], column[seen]))]
    v, c = values[order], column[order]
    is_new = np.ones(len(v), bool)
    is_new[1:] = (v[1:] != v[:-1]) | (c[1:] != c[:-1])
    distinct, of_column = v[is_new], c[is_new]
    lacks_zero = np.bincount(counted, minlength=n) < n_kept
    lacks_zero[of_column[distinct == 0]] = False
    every = np.concatenate([distinct, np.zeros(lacks_zero.sum(), values.dtype)])
    its_column = np.concatenate([of_column, np.flatnonzero(lacks_zero)])
    sorted_order = np.lexsort((every, its_column))
    n_codes = np.bincount(its_column, minlength=n)
    first = np.cumsum(n_codes) - n_codes
    rank = np.empty(len(every), np.int64)
    rank[sorted_order] = np.arange(len(every)) - first[its_column[sorted_order]]
    code[order] = rank[np.cumsum(is_new) - 1].astype(np.uint8)
    code[missing] = n_codes[column[missing]].astype(np.uint8)
    is_zero = every == 0
    of_zero[its_column[is_zero]] = rank[is_zero]
    return every[sorted_order], n_codes
