# mypy: ignore-errors
"""The categories of a node's rows: which ones there are, and sums by category, several features in one pass.

Categories are listed in ascending order, by whatever is least work: a few rows by insertion, few rows of many
categories by a bit for each, and otherwise by going through the table of sums.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.targets.contract import clear_bin, item_of, put_item, rows_in
from dtnumba.growth.targets.leaf_values import row_at
from dtnumba.runtime.instructions.bits import lowest_bit, nonzero_among_64, prefetch
from dtnumba.runtime.kernels import by_type, inline, kernel_type, outlined
from dtnumba.runtime.memory import per_worker

_AHEAD = 16  # rows whose codes are asked for ahead
# Features whose tables are filled in one pass, where these fit into this many bytes.
TOGETHER, TOGETHER_BYTES = 3, 1 << 19
# Categories a row for which there is room to record what went left; a tree that lists more finds them by its rows.
LOGGED = 4
# Up to so many rows, their categories are sorted; from so many categories a row on, marked in bits; else the table of
# sums is gone through.
_FEW_ROWS, _SPARSE = 16, 8
_ONE, _SIX, _63 = np.uint64(1), np.uint64(6), np.uint64(63)


@kernel_type
class LevelScratch(NamedTuple):
    """Scratch of one worker for splits on categories, around the scratch of the splitter of numbers."""

    inner: object
    tables: np.ndarray  # (tables * (most levels + 1) * width + 64,) int64, zero between uses
    batch: np.ndarray  # (tables,) int64: the features summed up
    marks: np.ndarray  # uint64, a bit a category, zero between uses
    tops: np.ndarray  # uint64, a bit a word of marks, zero between uses
    present: np.ndarray  # (most levels + 1,) uint32: the categories of a node, ascending
    order: np.ndarray  # (most levels + 1,) uint32: their places there, in the order of the cuts
    other: np.ndarray  # (most levels + 1,) uint32
    starts: np.ndarray  # (most levels + 1,) uint32
    keys: np.ndarray  # (most levels + 1,) float64: by place
    by_level: np.ndarray  # (most levels + 1,) float64, of ranked targets
    chosen: np.ndarray  # (most levels + 1,) uint8: by place, zero between uses
    side: np.ndarray  # (most levels + 1,) uint8: by category, zero between uses
    axes: np.ndarray  # (3, n_sums) float64
    sums: np.ndarray  # (n_sums,) int64
    n_weights: int
    sequence: np.ndarray  # (n,) uint32: rows by category, of ranked targets
    kept: np.ndarray  # (n,) uint32: from a node's START on, the categories that its best split sends left, ascending
    kept_of: np.ndarray  # (n, 3) int32: at START, the node (-1: none), the feature, how many categories
    log: np.ndarray  # (LOGGED * n,) uint32: the categories that went left at the nodes divided so far
    logged: np.ndarray  # (n + 1, 2) int64: for each border, where they stand there (-1: nowhere), and how many


def new_level_scratch(splitter, n, workers):
    """Return the scratch of a splitter of categories for subtrees of n rows, for each worker."""
    most, is_ranked = int(splitter.n_levels.max()) + 1, splitter.n_weights == 0
    table = most * max(splitter.width, 1)
    together = 1 if is_ranked or 8 * table * TOGETHER > TOGETHER_BYTES else TOGETHER
    words = (most >> 6) + 1
    kept_of = per_worker(workers, (n, 3), np.int32, 0)
    kept_of[..., :1, 0] = -1
    return LevelScratch(
        splitter.inner.new_scratch(n, workers),
        per_worker(workers, together * table + 64, np.int64, 0),
        per_worker(workers, together, np.int64),
        per_worker(workers, words, np.uint64, 0),
        per_worker(workers, (words >> 6) + 1, np.uint64, 0),
        per_worker(workers, most, np.uint32),
        per_worker(workers, most, np.uint32),
        per_worker(workers, most, np.uint32),
        per_worker(workers, most, np.uint32),
        per_worker(workers, most),
        per_worker(workers, most if is_ranked else 0),
        per_worker(workers, most, np.uint8, 0),
        per_worker(workers, most, np.uint8, 0),
        per_worker(workers, (3, splitter.n_sums)),
        per_worker(workers, splitter.n_sums, np.int64),
        splitter.n_weights,
        per_worker(workers, n if is_ranked else 0, np.uint32),
        per_worker(workers, n, np.uint32),
        kept_of,
        per_worker(workers, LOGGED * n, np.uint32),
        per_worker(workers, (n + 1, 2), np.int64, 0),
    )


@outlined
def sum_batch(target, splitter, own, k, start, stop):
    """Sum up rows by category for the k features of ``own.batch``, a table each; loops of known length are unrolled.

    Numba would compile a function of its own for each literal, where LLVM needs none to know the number.
    """
    if k == 3:
        _sum_several(target, splitter, own, np.int64(3), start, stop)
    elif k == 2:
        _sum_several(target, splitter, own, np.int64(2), start, stop)
    else:
        _sum_several(target, splitter, own, np.int64(1), start, stop)


@inline
def _sum_several(target, splitter, own, k, start, stop):
    width, stride = np.uint64(splitter.width), np.uint64(splitter.width) * np.uint64(len(own.present))
    last, first_column = np.uint64(stop - 1), np.uint64(splitter.column[own.batch[0]])
    for i in range(np.uint64(start), np.uint64(stop)):
        row, table = np.uint64(row_at(splitter.inner, i)), np.uint64(0)
        ahead = np.uint64(row_at(splitter.inner, min(i + np.uint64(_AHEAD), last)))
        prefetch(splitter.codes, ahead, first_column)
        item = item_of(target, row)
        for j in range(np.uint64(k)):
            level = np.uint64(splitter.codes[row, np.uint64(splitter.column[own.batch[j]])])
            put_item(target, own.tables, table + level * width, item)
            if splitter.counted:
                own.tables[table + level * width + width - _ONE] += 1
            table += stride


def _all_of_them(splitter, n):
    return n


def _sum_rows_of_one(splitter, target, own, f, start, stop):
    own.batch[0] = f
    sum_batch(target, splitter, own, np.int64(1), start, stop)


# How many rows of a node's n are there to be gone through; more than any node has, where they are elsewhere.
n_at_hand = by_type("n_at_hand", _all_of_them)
sum_feature = by_type("sum_feature", _sum_rows_of_one)  # write the sums of a feature's categories to ``own.tables``


@outlined
def list_present(target, splitter, own, f, table, base, start, stop):
    """Write the categories of a node's rows in ascending order, without missing ones; return how many there are."""
    n, missing = np.int64(n_at_hand(splitter, stop - start)), np.int64(splitter.n_levels[f])
    if missing < 64 and n <= 64:
        return _list_of_word(splitter, own, f, start, stop)
    if n <= _FEW_ROWS:
        return _list_few(splitter, own, f, start, stop)
    if missing > n * _SPARSE:
        return list_marked(splitter, own, f, start, stop)
    m, width = 0, np.uint64(splitter.width)
    if width != _ONE:
        for level in range(np.uint64(missing)):
            own.present[m] = level
            m += rows_in(target, table, base + level * width, width) > 0
        return m
    for word in range((np.uint64(missing) >> _SIX) + _ONE):
        mask, low = nonzero_among_64(table, base + (word << _SIX)), word << _SIX
        if word == np.uint64(missing) >> _SIX:
            mask &= (_ONE << (np.uint64(missing) & _63)) - _ONE
        m = _list_bits(own, mask, low, m)
    return m


@inline
def _list_bits(own, mask, low, m):
    while mask != 0:
        own.present[m] = low + np.uint64(lowest_bit(mask))
        mask &= mask - _ONE
        m += 1
    return m


@inline
def _list_of_word(splitter, own, f, start, stop):
    """Write the categories of a node's rows, which are fewer than 64, by a bit each; return how many there are."""
    column, mask = np.uint64(splitter.column[f]), np.uint64(0)
    for i in range(np.uint64(start), np.uint64(stop)):
        mask |= _ONE << np.uint64(splitter.codes[np.uint64(row_at(splitter.inner, i)), column])
    return _list_bits(own, mask & ~(_ONE << np.uint64(splitter.n_levels[f])), np.uint64(0), 0)


@inline
def _list_few(splitter, own, f, start, stop):
    """Write the categories of a few rows by insertion; return how many there are."""
    column, present, m = np.uint64(splitter.column[f]), own.present, 0
    for i in range(np.uint64(start), np.uint64(stop)):
        level = np.int64(splitter.codes[np.uint64(row_at(splitter.inner, i)), column])
        j = m
        while j > 0 and present[j - 1] > level:
            j -= 1
        if j == 0 or present[j - 1] != level:
            for k in range(m, j, -1):
                present[k] = present[k - 1]
            present[j] = level
            m += 1
    return m - (m > 0 and present[m - 1] == splitter.n_levels[f])


@inline
def list_marked(splitter, own, f, start, stop):
    """Write the categories of a node's rows by a bit each, and one for every 64 of them; return how many."""
    column, marks, tops, m = np.uint64(splitter.column[f]), own.marks, own.tops, 0
    for i in range(np.uint64(start), np.uint64(stop)):
        level = np.uint64(splitter.codes[np.uint64(row_at(splitter.inner, i)), column])
        word = level >> _SIX
        marks[word] |= _ONE << (level & _63)
        tops[word >> _SIX] |= _ONE << (word & _63)
    for top in range(np.uint64(len(tops))):
        words = tops[top]
        tops[top] = np.uint64(0)
        while words != 0:
            word = (top << _SIX) + np.uint64(lowest_bit(words))
            words &= words - _ONE
            m = _list_bits(own, marks[word], word << _SIX, m)
            marks[word] = np.uint64(0)
    return m - (m > 0 and own.present[m - 1] == splitter.n_levels[f])


@outlined
def forget_sums(target, splitter, own, f, table, base, m):
    """Set the sums of the categories of a node to zero, those of missing values too."""
    width = np.uint64(splitter.width)
    clear_bin(target, table, base + np.uint64(splitter.n_levels[f]) * width, width)
    for j in range(m):
        clear_bin(target, table, base + np.uint64(own.present[j]) * width, width)
