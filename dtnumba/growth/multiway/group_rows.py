# mypy: ignore-errors
"""The rows of a node by the codes of one feature: a table of groups, or the rows sorted."""

import numpy as np

from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.node_sums import add_row, add_sums, clear, copy_sums, rows_of
from dtnumba.runtime.kernels import inline, outlined

_SHIFT, _PLACE = np.uint64(32), np.uint64(0xFFFFFFFF)
# A table of so many codes for each row of a node is filled faster than the rows are sorted.
_CODES_A_ROW = 2
_INSERTED = 40  # fewer keys than this are sorted by insertion
_DIGIT = 8


@inline
def code_of(key):
    """Return the code in a key."""
    return np.int64(key >> _SHIFT)


@inline
def place_of(key):
    """Return the place in a key: where its row stands in the list of the node, counted from the list's start."""
    return np.int64(key & _PLACE)


@outlined
def sort_keys(keys, other, digits, n):
    """Sort keys[:n], whose codes decide and whose places ascend already: stable."""
    if n < _INSERTED:
        for i in range(1, n):
            key, j = keys[i], i
            while j > 0 and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
        return
    most = np.uint64(0)
    for i in range(n):
        most = max(most, keys[i])
    shift, n_passes = _SHIFT, 0
    while (most >> shift) > np.uint64(0):
        for k in range(256):
            digits[k] = 0
        for i in range(n):
            digits[np.int64((keys[i] >> shift) & np.uint64(255))] += 1
        below = 0
        for k in range(256):
            here = digits[k]
            digits[k] = below
            below += here
        for i in range(n):
            digit = np.int64((keys[i] >> shift) & np.uint64(255))
            other[digits[digit]] = keys[i]
            digits[digit] += 1
        keys, other = other, keys
        shift += np.uint64(_DIGIT)
        n_passes += 1
    if n_passes % 2 == 1:
        for i in range(n):
            other[i] = keys[i]


@inline
def sort_rows(work, feature, start, stop):
    """Sort the rows of a node by a feature's codes; return how many of them, the first ones, have a value."""
    scratch, codes, missing = work.scratch, work.codes, work.n_codes[feature]
    n_known = np.int64(0)
    for i in range(start, stop):
        code = codes[feature, work.grown.row[i]]
        n_known += code < missing
        scratch.keys[i - start] = (np.uint64(code) << _SHIFT) | np.uint64(i - start)
    sort_keys(scratch.keys, scratch.other_keys, scratch.digits, stop - start)
    return n_known


@inline
def fits_table(work, feature, n):
    """Tell whether a table of all codes serves a feature at a node of n rows."""
    n_codes = work.n_codes[feature]
    return n_codes <= _CODES_A_ROW * n + 2 and n_codes + 1 < len(work.scratch.table)


@outlined
def fill_table(work, feature, start, stop):
    """Sum the rows of a node by code; return the number of groups: those codes that any row has, ascending.

    Sides PRESENT_SUMS and MISSING_SUMS become the sums of the rows that have a value and of those that have none.
    """
    scratch, codes, target, grown = work.scratch, work.codes, work.target, work.grown
    table, missing = scratch.table, work.n_codes[feature]
    for code in range(missing + 1):
        clear(table, code)
    for i in range(start, stop):
        row = grown.row[i]
        add_row(target, table, np.int64(codes[feature, row]), row, grown.weight[i])
    clear(scratch.sides, col.PRESENT_SUMS)
    copy_sums(table, missing, scratch.sides, col.MISSING_SUMS)
    n = np.int64(0)
    for code in range(missing):
        if rows_of(target, table, code) > 0.0:
            add_sums(table, code, scratch.sides, col.PRESENT_SUMS)
            if n != code:
                copy_sums(table, code, table, n)
            scratch.code[n] = code
            n += 1
    return n


@outlined
def sort_into_table(work, feature, start, stop):
    """Sum the rows of a node by code, by sorting them; return the number of groups. For many more codes than rows."""
    scratch, target, grown = work.scratch, work.target, work.grown
    n_known, n = sort_rows(work, feature, start, stop), np.int64(0)
    clear(scratch.sides, col.PRESENT_SUMS)
    for i in range(n_known):
        code, at = code_of(scratch.keys[i]), start + place_of(scratch.keys[i])
        if n == 0 or scratch.code[n - 1] != code:
            clear(scratch.table, n)
            scratch.code[n] = code
            n += 1
        add_row(target, scratch.table, n - 1, grown.row[at], grown.weight[at])
    for g in range(n):
        add_sums(scratch.table, g, scratch.sides, col.PRESENT_SUMS)
    sum_missing(work, start, stop, n_known)
    return n


@outlined
def groups_of(work, feature, start, stop):
    """Sum the rows of a node by code, by a table or by sorting, whichever is faster; return the number of groups."""
    if fits_table(work, feature, stop - start):
        return fill_table(work, feature, start, stop)
    return sort_into_table(work, feature, start, stop)


@outlined
def sum_missing(work, start, stop, n_known):
    """Sum the rows without a value, which are the last ones of those sorted."""
    scratch, grown = work.scratch, work.grown
    clear(scratch.sides, col.MISSING_SUMS)
    for i in range(n_known, stop - start):
        at = start + place_of(scratch.keys[i])
        add_row(work.target, scratch.sides, col.MISSING_SUMS, grown.row[at], grown.weight[at])


@outlined
def sort_and_sum(work, feature, start, stop):
    """Sort the rows of a node, sum those with a value (PRESENT_SUMS) and those without; return how many have one."""
    scratch, grown = work.scratch, work.grown
    n_known = sort_rows(work, feature, start, stop)
    clear(scratch.sides, col.MISSING_SUMS)
    if n_known == stop - start:
        copy_sums(scratch.sides, col.WHOLE, scratch.sides, col.PRESENT_SUMS)
    else:
        clear(scratch.sides, col.PRESENT_SUMS)
        for i in range(n_known):
            at = start + place_of(scratch.keys[i])
            add_row(work.target, scratch.sides, col.PRESENT_SUMS, grown.row[at], grown.weight[at])
        sum_missing(work, start, stop, n_known)
    return n_known
