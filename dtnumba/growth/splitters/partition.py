# mypy: ignore-errors
"""Move the rows of a node so that those that go left come first. Stable, so a tree does not depend on its history."""

import numpy as np

from dtnumba.runtime.instructions.bits import prefetch
from dtnumba.runtime.instructions.partition_rows import divide_rows
from dtnumba.runtime.kernels import inline
from dtnumba.tables.presort import MISSING, NEW, ROW

_ONE = np.uint64(1)
# Rows whose codes are asked for ahead: a forest of 1M rows grew in 3.0 s instead of 3.4.
_AHEAD = np.uint64(16)
_LAST_CODE = np.int64((1 << 32) - 1)
_NEW_BIT = np.uint32(31)  # NEW is 1 << 31


@inline
def mark_sides(order, base, start, stop, n_left, missing_left, side):
    """Set side[row] for the rows of a node, given the order of the split's feature and how many rows go left.

    The rows that go left are the first of the order, but where missing ones go left they are its last:

        order   [ a b c | d e | ? ? ]   missing right: a b c left    missing left: a b c ? ? left
    """
    end = stop
    while end > start and order[base + end - 1] & MISSING:
        end -= 1
    border = start + n_left - ((stop - end) if missing_left else 0)
    for i in range(start, end):
        side[order[base + i] & ROW] = np.uint8(i < border)
    for i in range(end, stop):
        side[order[base + i] & ROW] = np.uint8(missing_left)


@inline
def partition_sequence(order, base, start, stop, side, buffer):
    """Divide one feature's order by the marked sides, keeping what each record says about its value.

    A record whose forerunner went to the other side inherits the forerunner's NEW: between two rows of one child the
    value changes if it changed anywhere between them. Branchless, because sides are as good as random to the CPU.
    """
    left, n_right = np.uint64(base + start), np.uint64(0)
    new_left = new_right = np.uint32(0)
    # Unsigned positions need no test for negative ones: 1.5 ns a record against 3.2.
    for i in range(np.uint64(base + start), np.uint64(base + stop)):
        record = order[i]
        goes_left = np.uint32(side[record & ROW])
        new_left |= record & NEW
        new_right |= record & NEW
        record &= ~NEW
        order[left] = record | new_left
        buffer[n_right] = record | new_right
        left += np.uint64(goes_left)
        n_right += _ONE - np.uint64(goes_left)
        moved = np.uint32(goes_left << _NEW_BIT)
        new_left &= ~moved
        new_right &= moved
    for i in range(n_right):
        order[left + i] = buffer[i]


@inline
def partition_rows(rows, base, start, stop, codes, split, buffer):
    """Divide a list of rows by their codes; return the border.

    ``split`` is (feature, the last code that goes left, the code of a missing value, whether that goes left).
    """
    feature, cut, missing_code, missing_left = split
    # Missing rows have the largest code; where they go left, it is made the smallest one.
    shift = np.int64(missing_code) if missing_left else np.int64(0)
    begin, end, bound = np.uint64(base + start), np.uint64(base + stop), np.uint64((np.int64(cut) - shift) & _LAST_CODE)
    border = divide_rows(codes, rows, begin, end, np.uint64(feature), np.uint64(shift), bound, buffer)
    return np.int64(border) - base


@inline
def partition_by_level(rows, base, start, stop, codes, column, side, buffer):
    """Divide a list of rows by what ``side`` says of their levels; return the border."""
    left, n_right = np.uint64(base + start), np.uint64(0)
    c, end = np.uint64(column), np.uint64(base + stop - 1)
    for i in range(np.uint64(base + start), np.uint64(base + stop)):
        row = rows[i]
        prefetch(codes, np.uint64(rows[min(i + _AHEAD, end)]), c)
        goes_left = np.uint64(side[codes[row, c]])
        rows[left] = row
        buffer[n_right] = row
        left += goes_left
        n_right += _ONE - goes_left
    for i in range(n_right):
        rows[left + i] = buffer[i]
    return np.int64(left) - base
