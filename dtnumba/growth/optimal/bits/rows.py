# mypy: ignore-errors
# ruff: noqa: D102
"""Rows as bits: for each column that is 0 or 1, a bit a row; a set of rows is a mask over them.

A level of the search holds the columns of its own rows alone, close together, without those that do not part them.

Counted  rows of a class and weight side by side, so that a sum is a count of bits times a weight
Summed   rows with any whole numbers that add up
"""

from typing import NamedTuple

import numpy as np

from dtnumba.runtime.instructions.bits import bit_count, lowest_bit
from dtnumba.runtime.kernels import by_type, inline, kernel_type, outlined

FIRST_BIT, WORD_BITS = np.uint64(1), np.uint64(64)

# (sums, rows, level, mask, i, low, pair): pair[:, j] += sums over rows where columns i and j are 1, for j from low on
add_pairs = by_type("add_pairs")
# (sums, rows, level, mask, ones, total): sums over rows where column j is 1, and over all
add_ones = by_type("add_ones")
take_row = by_type("take_row")  # (sums, level, source, target): what belongs to a row follows it to the next level


class BitRows(NamedTuple):
    """Columns of each level's rows; level 0 has all."""

    bits: np.ndarray  # (levels, words, columns) uint64
    valid: np.ndarray  # (levels, words) uint64: bits that are rows
    start: np.ndarray  # (levels, groups + 1) int64: words of each group of rows
    n_columns: np.ndarray  # (levels,) int64
    column: np.ndarray  # (levels, columns) int64: which one it is, of all
    row: np.ndarray  # (levels, 64 * words) int64: which row a bit is, of all


@kernel_type
class Counted(NamedTuple):
    """Groups of rows: which sum each adds to, and how much a row of it counts."""

    sum_of: np.ndarray  # (groups,) int64
    weight: np.ndarray  # (groups,) int64

    def add_ones(self, rows, level, mask, ones, total):
        n = np.uint64(rows.n_columns[level])
        for g in range(len(self.sum_of)):
            k, weight = self.sum_of[g], self.weight[g]
            for w in range(np.uint64(rows.start[level, g]), np.uint64(rows.start[level, g + 1])):
                x = mask[w]
                if x:
                    total[k] += weight * np.int64(bit_count(x))
                    for j in range(n):
                        ones[k, j] += weight * np.int64(bit_count(x & rows.bits[level, w, j]))

    def add_pairs(self, rows, level, mask, i, low, pair):
        n = np.uint64(rows.n_columns[level])
        for g in range(len(self.sum_of)):
            k, weight = self.sum_of[g], self.weight[g]
            for w in range(np.uint64(rows.start[level, g]), np.uint64(rows.start[level, g + 1])):
                x = mask[w] & rows.bits[level, w, i]
                if x and weight == 1:
                    for j in range(np.uint64(low), n):
                        pair[k, j] += np.int64(bit_count(x & rows.bits[level, w, j]))
                elif x:
                    for j in range(np.uint64(low), n):
                        pair[k, j] += weight * np.int64(bit_count(x & rows.bits[level, w, j]))

    def take_row(self, level, source, target):
        pass


@kernel_type
class Summed(NamedTuple):
    """What each row adds, level by level."""

    value: np.ndarray  # (levels, 64 * words, sums) int64

    def add_ones(self, rows, level, mask, ones, total):
        n = np.uint64(rows.n_columns[level])
        for w in range(np.uint64(rows.start[level, rows.start.shape[1] - 1])):
            x = mask[w]
            while x:
                b = lowest_bit(x)
                x &= x - FIRST_BIT
                row = np.uint64(w) * WORD_BITS + b
                for k in range(np.uint64(self.value.shape[2])):
                    value = self.value[level, row, k]
                    total[k] += value
                    for j in range(n):
                        ones[k, j] += value & -np.int64((rows.bits[level, w, j] >> b) & FIRST_BIT)

    def add_pairs(self, rows, level, mask, i, low, pair):
        n = np.uint64(rows.n_columns[level])
        for w in range(np.uint64(rows.start[level, rows.start.shape[1] - 1])):
            x = mask[w] & rows.bits[level, w, i]
            while x:
                b = lowest_bit(x)
                x &= x - FIRST_BIT
                row = np.uint64(w) * WORD_BITS + b
                for k in range(np.uint64(self.value.shape[2])):
                    value = self.value[level, row, k]
                    for j in range(np.uint64(low), n):
                        pair[k, j] += value & -np.int64((rows.bits[level, w, j] >> b) & FIRST_BIT)

    def take_row(self, level, source, target):
        for k in range(self.value.shape[2]):
            self.value[level + 1, target, k] = self.value[level, source, k]


@outlined
def count_rows(rows, level, mask, counts):
    """Count, of a set of rows, where each column is 1; return how many there are."""
    n, size = np.uint64(rows.n_columns[level]), np.int64(0)
    for j in range(n):
        counts[j] = 0
    for w in range(np.uint64(rows.start[level, rows.start.shape[1] - 1])):
        x = mask[w]
        if x:
            size += np.int64(bit_count(x))
            for j in range(n):
                counts[j] += np.int64(bit_count(x & rows.bits[level, w, j]))
    return size


@outlined
def descend(sums, rows, level, mask, counts, least):
    """Write the rows of a mask to the next level, with the columns that can part them."""
    size = count_rows(rows, level, mask, counts)
    n = np.int64(0)
    for j in range(rows.n_columns[level]):
        if counts[j] >= least and size - counts[j] >= least:
            rows.column[level + 1, n] = rows.column[level, j]
            counts[n] = j  # n <= j: what is overwritten has been read
            n += 1
    rows.n_columns[level + 1] = n
    to = np.int64(0)  # the next row's bit
    for g in range(rows.start.shape[1] - 1):
        rows.start[level + 1, g] = to // 64
        for w in range(rows.start[level, g], rows.start[level, g + 1]):
            x = mask[w]
            while x:
                b = lowest_bit(x)
                x &= x - FIRST_BIT
                put_row(rows, level, w, b, to, n, counts)
                take_row(sums, level, w * 64 + np.int64(b), to)
                to += 1
        to = (to + 63) // 64 * 64
    rows.start[level + 1, rows.start.shape[1] - 1] = to // 64


@inline
def put_row(rows, level, w, b, to, n, picked):
    """Write the bits of one row to the next level."""
    word, bit = np.uint64(to) // WORD_BITS, np.uint64(to) % WORD_BITS
    if bit == np.uint64(0):
        rows.valid[level + 1, word] = np.uint64(0)
        for j in range(np.uint64(n)):
            rows.bits[level + 1, word, j] = np.uint64(0)
    rows.valid[level + 1, word] |= FIRST_BIT << bit
    rows.row[level + 1, np.uint64(to)] = rows.row[level, np.uint64(w) * WORD_BITS + np.uint64(b)]
    for j in range(np.uint64(n)):
        rows.bits[level + 1, word, j] |= ((rows.bits[level, w, np.uint64(picked[j])] >> b) & FIRST_BIT) << bit
