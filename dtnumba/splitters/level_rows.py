"""The levels of a node's rows: sums by level, several features in one pass, and which levels are there.

Levels are listed in ascending order, by whatever is least work: a few rows by insertion, few rows of many levels by a
bit a level, and otherwise by going through the table of sums.
"""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import inline, lowest_bit, nonzero_among_64, part, prefetch
from dtnumba.leaf_values import row_at
from dtnumba.per_worker import per_worker
from dtnumba.splitters import pick_own
from dtnumba.targets import clear_bin, item_of, put_item, rows_in

AHEAD = 16  # rows whose codes are asked for ahead
# Features whose tables are filled in one pass, where these fit into this many bytes.
TOGETHER, TOGETHER_BYTES = 3, 1 << 19
# Levels a row for which there is room to note what went left; a tree that lists more finds the others among its rows.
LOGGED = 4
# Up to so many rows, their levels are sorted; from so many levels a row on, marked in bits; else all levels are gone
# through.
_FEW_ROWS, _SPARSE = 16, 8
_ONE, _SIX, _63 = np.uint64(1), np.uint64(6), np.uint64(63)


@part
class LevelScratch(NamedTuple):
    """What one worker needs to look at categories, beside the scratch of the splitter of numbers."""

    inner: object
    tables: np.ndarray  # (tables * (most levels + 1) * width + 64,) int64, zero between uses
    batch: np.ndarray  # (tables,) int64: the features summed up
    marks: np.ndarray  # uint64, a bit a level, zero between uses
    tops: np.ndarray  # uint64, a bit a word of marks, zero between uses
    present: np.ndarray  # (most levels + 1,) uint32: the levels of a node, ascending
    order: np.ndarray  # (most levels + 1,) uint32: their places there, in the order of the cuts
    other: np.ndarray  # (most levels + 1,) uint32
    starts: np.ndarray  # (most levels + 1,) uint32
    keys: np.ndarray  # (most levels + 1,) float64: by place
    by_level: np.ndarray  # (most levels + 1,) float64, of ranked targets
    chosen: np.ndarray  # (most levels + 1,) uint8: by place, zero between uses
    side: np.ndarray  # (most levels + 1,) uint8: by level, zero between uses
    axes: np.ndarray  # (3, n_sums) float64
    sums: np.ndarray  # (n_sums,) int64
    n_weights: int
    sequence: np.ndarray  # (n,) uint32: rows by level, of ranked targets
    kept: np.ndarray  # (n,) uint32: from a node's START on, the levels that its best category sends left, ascending
    kept_of: np.ndarray  # (n, 3) int32: at START, the node (-1: none), the category, how many levels
    log: np.ndarray  # (LOGGED * n,) uint32: the levels that went left at the nodes divided so far
    logged: np.ndarray  # (n + 1, 2) int64: for each border, where they stand there (-1: nowhere), and how many

    def pick(self, worker):
        return LevelScratch(
            pick_own(self.inner, worker),
            self.tables[worker, 0],
            self.batch[worker, 0],
            self.marks[worker, 0],
            self.tops[worker, 0],
            self.present[worker, 0],
            self.order[worker, 0],
            self.other[worker, 0],
            self.starts[worker, 0],
            self.keys[worker, 0],
            self.by_level[worker, 0],
            self.chosen[worker, 0],
            self.side[worker, 0],
            self.axes[worker, 0],
            self.sums[worker, 0],
            self.n_weights,
            self.sequence[worker],
            self.kept[worker],
            self.kept_of[worker],
            self.log[worker],
            self.logged[worker],
        )


def new_level_scratch(splitter, n, workers):
    """Allocate the scratch of a splitter of levels for subtrees of n rows."""
    most, is_ranked = int(splitter.n_levels.max()) + 1, splitter.n_weights == 0
    table = most * max(splitter.width, 1)
    together = 1 if is_ranked or 8 * table * TOGETHER > TOGETHER_BYTES else TOGETHER
    words = (most >> 6) + 1
    kept_of = np.zeros((workers, n, 3), np.int32)
    kept_of[:, :1, 0] = -1
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
        np.empty((workers, n if is_ranked else 0), np.uint32),
        np.empty((workers, n), np.uint32),
        kept_of,
        np.empty((workers, LOGGED * n), np.uint32),
        np.zeros((workers, n + 1, 2), np.int64),
    )


@inline
def sum_batch(target, splitter, own, k, start, stop):
    """Sum up rows by level for the k features of ``own.batch``, a table each; loops of known length are unrolled."""
    if k == 3:
        _sum_several(target, splitter, own, 3, start, stop)
    elif k == 2:
        _sum_several(target, splitter, own, 2, start, stop)
    else:
        _sum_several(target, splitter, own, 1, start, stop)


@inline
def _sum_several(target, splitter, own, k, start, stop):
    width, stride = np.uint64(splitter.width), np.uint64(splitter.width) * np.uint64(len(own.present))
    last, first_column = np.uint64(stop - 1), np.uint64(splitter.column[own.batch[0]])
    for i in range(np.uint64(start), np.uint64(stop)):
        row, table = np.uint64(row_at(splitter.inner, i)), np.uint64(0)
        ahead = np.uint64(row_at(splitter.inner, min(i + np.uint64(AHEAD), last)))
        prefetch(splitter.codes, ahead, first_column)
        item = item_of(target, row)
        for j in range(np.uint64(k)):
            level = np.uint64(splitter.codes[row, np.uint64(splitter.column[own.batch[j]])])
            put_item(target, own.tables, table + level * width, item)
            if splitter.counted:
                own.tables[table + level * width + width - _ONE] += 1
            table += stride


@inline
def list_present(target, splitter, own, f, table, base, start, stop):
    """List the levels of a node's rows in ascending order, the missing one left out; return how many there are."""
    n, missing = stop - start, np.int64(splitter.n_levels[f])
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
    """List fewer than 64 levels by a bit each."""
    column, mask = np.uint64(splitter.column[f]), np.uint64(0)
    for i in range(np.uint64(start), np.uint64(stop)):
        mask |= _ONE << np.uint64(splitter.codes[np.uint64(row_at(splitter.inner, i)), column])
    return _list_bits(own, mask & ~(_ONE << np.uint64(splitter.n_levels[f])), np.uint64(0), 0)


@inline
def _list_few(splitter, own, f, start, stop):
    """List the levels of a few rows by insertion."""
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
    """List levels by a bit each, and a bit for every 64 of them."""
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


@inline
def forget_sums(target, splitter, own, f, table, base, m):
    """Empty the sums of the levels present."""
    width = np.uint64(splitter.width)
    clear_bin(target, table, base + np.uint64(splitter.n_levels[f]) * width, width)
    for j in range(m):
        clear_bin(target, table, base + np.uint64(own.present[j]) * width, width)
