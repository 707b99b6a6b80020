# mypy: ignore-errors
"""The rows of a node by the codes of one feature: a table of groups, or sums along the rows in order."""

import numpy as np

from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.node_sums import add_by_code, add_key, clear, complete, copy_sums, subtract
from dtnumba.growth.multiway.ordered_columns import code_of, keys_of, n_known
from dtnumba.runtime.instructions.bits import lowest_bit
from dtnumba.runtime.kernels import inline, outlined

# A table of so few codes, or of so many for each row of a node, is filled faster than the rows are sorted.
_FEW_CODES, _CODES_A_ROW = 1024, 2
_FEW_SUMS, _SUMS_A_ROW = 64, 32  # of many classes each group costs as much as many rows: then they are sorted
_WORD = 64


@inline
def fits_table(work, feature, n):
    """Tell whether a table of all codes serves a feature at a node of n rows."""
    n_codes = work.n_codes[feature]
    is_short = n_codes <= max(_CODES_A_ROW * n + 2, _FEW_CODES) and n_codes + 1 < len(work.scratch.table)
    n_sums = work.scratch.table.shape[1]
    is_narrow = n_sums <= _FEW_SUMS or min(n, n_codes) * n_sums <= _SUMS_A_ROW * n
    return is_short and is_narrow and work.code_at[feature] >= 0


@outlined
def fill_table(work, feature, node):
    """Sum the rows of a node by code; return the number of groups: those codes that any row has, ascending.

    Sides PRESENT_SUMS and MISSING_SUMS become the sums of the rows that have a value and of those that have none.
    """
    scratch, target, grown = work.scratch, work.target, work.grown
    sums, missing, codes = scratch.by_code, work.n_codes[feature], work.codes[work.code_at[feature]]
    held, one = scratch.held, grown.nodes[node, col.ARE_ONE] == 1
    add_by_code(target, grown, sums, held, codes, grown.nodes[node, col.START], grown.nodes[node, col.STOP], one)
    complete(target, grown, sums, missing, one)
    copy_sums(sums, missing, scratch.sides, col.MISSING_SUMS)
    subtract(scratch.sides, col.WHOLE, col.MISSING_SUMS, col.PRESENT_SUMS)  # exact, as all sums are
    n = np.int64(0)
    for k in range(missing // _WORD + 1):
        word = held[k]
        held[k] = np.uint64(0)
        while word != np.uint64(0):
            code = _WORD * k + np.int64(lowest_bit(word))
            word &= word - np.uint64(1)
            if code < missing:
                complete(target, grown, sums, code, one)
                copy_sums(sums, code, scratch.table, n)
                scratch.code[n] = code
                n += 1
            clear(sums, code)
    return n


@outlined
def groups_of(work, feature, node):
    """Sum the rows of a node by code, by a table or in order, whichever is faster; return the number of groups."""
    scratch, target, grown = work.scratch, work.target, work.grown
    start, stop = grown.nodes[node, col.START], grown.nodes[node, col.STOP]
    if fits_table(work, feature, stop - start):
        return fill_table(work, feature, node)
    keys, first, known = in_order(work, feature, node)
    one, n = grown.nodes[node, col.ARE_ONE] == 1, np.int64(0)
    for i in range(known):
        code = code_of(keys[first + i])
        if n == 0 or scratch.code[n - 1] != code:
            clear(scratch.table, n)
            scratch.code[n] = code
            n += 1
        add_key(target, work, scratch.table, n - 1, keys[first + i], start, one)
    return n


@inline
def in_order(work, feature, node):
    """Return the keys of a node's rows in order: an array, where they begin, and how many have a value, the first ones.

    Sides PRESENT_SUMS and MISSING_SUMS become the sums of the rows that have a value and of those that have none.
    """
    grown, sides = work.grown, work.scratch.sides
    start, stop = grown.nodes[node, col.START], grown.nodes[node, col.STOP]
    keys, first = keys_of(work, feature, start, stop)
    known = n_known(keys, first, stop - start, work.n_codes[feature])
    clear(sides, col.MISSING_SUMS)
    if known == stop - start:
        copy_sums(sides, col.WHOLE, sides, col.PRESENT_SUMS)
    else:
        _sum_keys(work, keys, first + known, first + stop - start, start, col.MISSING_SUMS)
        subtract(sides, col.WHOLE, col.MISSING_SUMS, col.PRESENT_SUMS)  # exact, as all sums are
    return keys, first, known


@outlined
def _sum_keys(work, keys, first, last, start, side):
    """Add the rows of keys[first:last], of a node whose rows are listed from ``start``, to a side."""
    for i in range(first, last):
        add_key(work.target, work, work.scratch.sides, side, keys[i], start, False)
