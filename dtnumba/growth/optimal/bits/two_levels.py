# mypy: ignore-errors
"""The best tree of at most two levels over columns of 0 and 1: all pairs of tests at once.

For a test i at the root, the best test of each side is looked for among all j. The four cells that i and j make serve
both as (i, then j) and as (j, then i), so each pair is counted once.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.optimal.bits.rows import add_ones, add_pairs, count_rows
from dtnumba.growth.optimal.losses.contract import BIG, fill_cells, leaf
from dtnumba.runtime.instructions.bits import bit_count
from dtnumba.runtime.kernels import entry, inline, outlined
from dtnumba.runtime.records import own_copy


class Pairs(NamedTuple):
    """Scratch and results of the solver."""

    ones: np.ndarray  # (sums, columns) int64
    total: np.ndarray  # (sums,) int64
    pair: np.ndarray  # (sums, columns + 1) int64
    cells: np.ndarray  # (4, columns) int64
    counts: np.ndarray  # (columns,) int64: rows where a column is 1
    both: np.ndarray  # (columns,) int64: rows where two are
    leaf: np.ndarray  # (2, columns) int64: loss of a side as a leaf; side 0 where the column is 0
    split: np.ndarray  # (2, columns) int64: loss of a side with one more test
    value: np.ndarray  # (4,) int64: the least loss, tests included, with at most 0, 1, 2, 3 tests
    first: np.ndarray  # (4,) int64: the test at the root of that, -1 for a leaf
    left: np.ndarray  # (4,) int64: tests of its side 0
    used: np.ndarray  # (4,) int64: tests of the whole


@entry
def two_below(job, level, side, asked):
    """Solve one side of the test in hand, or for side -1 the rows of the level, with at most ``asked`` tests.

    ``side`` 2 and more: of a worker's item, whose rows are those of mask[side // 2 - 1, side % 2].

    ``asked`` + 4: write them, too, whether the search is halted or not. ``asked`` + 8: write those just found.
    """
    job = own_copy(job)
    mask = job.rows.valid[level]
    if side >= 0:
        mask = job.frames.mask[level, side] if side < 2 else job.frames.mask[side // 2 - 1, side % 2]
    if asked < 8:
        solve_two(job, level, mask, asked & 3, job.halt if asked < 4 else job.frames.never)
    if asked >= 4:
        tests_of_two(job, level, mask, asked & 3, job.frames.tests)
    return np.int64(0)


@outlined
def solve_two(job, level, mask, most, halt):
    """Find the least loss of trees of at most ``most`` (0 to 3) tests, in at most two levels; first found stays.

    Where ``halt[0]`` is not 0 it ends early, with the best tree so far.
    """
    rows, loss, pairs, least = job.rows, job.loss, job.pairs, job.rule.least
    count_sums(job, level, mask)
    size = np.int64(0)
    if least > 1:
        size = count_rows(rows, level, mask, pairs.counts)
    pairs.value[0], pairs.first[0], pairs.used[0] = leaf(loss, pairs.total), -1, 0
    for k in range(1, 4):
        pairs.value[k], pairs.first[k], pairs.left[k], pairs.used[k] = BIG, -1, 0, k
    if most > 0:
        _try_all(job, level, mask, most, size, halt)
    for k in range(1, 4):
        if pairs.value[k - 1] <= pairs.value[k]:
            pairs.value[k], pairs.first[k] = pairs.value[k - 1], pairs.first[k - 1]
            pairs.left[k], pairs.used[k] = pairs.left[k - 1], pairs.used[k - 1]


@outlined
def _try_all(job, level, mask, most, size, halt):
    rows, pairs, price, least = job.rows, job.pairs, job.rule.price, job.rule.least
    n = rows.n_columns[level]
    _leaves(job.loss, pairs, n, least, size)
    if most > 1:
        for j in range(np.uint64(n)):
            pairs.split[0, j] = pairs.split[1, j] = BIG
        for i in range(n - 1):
            if halt[0] != 0:
                break
            if pairs.leaf[0, i] + pairs.leaf[1, i] < BIG or least == 1:
                _with_root(job, level, mask, i, i + 1, size)
    for i in range(n):
        zero, one = pairs.leaf[0, i], pairs.leaf[1, i]
        if zero + one >= BIG:
            continue
        _offer(pairs, 1, zero + one + price, i, 0)
        if most > 1:
            more_zero, more_one = pairs.split[0, i], pairs.split[1, i]
            _offer(pairs, 2, more_zero + one + 2 * price, i, 1)
            _offer(pairs, 2, zero + more_one + 2 * price, i, 0)
            _offer(pairs, 3, more_zero + more_one + 3 * price, i, 1)


@inline
def _offer(pairs, k, value, i, left):
    if value < pairs.value[k]:
        pairs.value[k], pairs.first[k], pairs.left[k] = value, i, left


@outlined
def count_sums(job, level, mask):
    """Add up the rows of a mask, and those of them where each column is 1."""
    rows, pairs = job.rows, job.pairs
    for k in range(len(pairs.total)):
        pairs.total[k] = 0
        for j in range(np.uint64(rows.n_columns[level])):
            pairs.ones[k, j] = 0
    add_ones(job.sums, rows, level, mask, pairs.ones, pairs.total)


@outlined
def _leaves(loss, pairs, n, least, size):
    here = pairs.pair[:, pairs.pair.shape[1] - 1]
    for j in range(n):
        for k in range(len(here)):
            here[k] = pairs.ones[k, j]
        pairs.leaf[1, j] = leaf(loss, here)
        for k in range(len(here)):
            here[k] = pairs.total[k] - pairs.ones[k, j]
        pairs.leaf[0, j] = leaf(loss, here)
        if least > 1 and (pairs.counts[j] < least or size - pairs.counts[j] < least):
            pairs.leaf[0, j] = pairs.leaf[1, j] = BIG


@outlined
def _with_root(job, level, mask, i, low, size):
    """Find the best tests below column i among those from ``low`` on, and offer i as the test below each of them."""
    rows, pairs = job.rows, job.pairs
    n = np.uint64(rows.n_columns[level])
    low = np.uint64(low)
    for k in range(len(pairs.total)):
        for j in range(low, n):
            pairs.pair[k, j] = 0
    add_pairs(job.sums, rows, level, mask, i, low, pairs.pair)
    fill_cells(job.loss, pairs.pair, pairs.ones, pairs.total, i, low, n, pairs.cells)
    if job.rule.least > 1:
        _forbid(rows, level, mask, job.rule.least, pairs, i, low, size)
    zero, one = pairs.split[0, i], pairs.split[1, i]
    for j in range(low, n):
        both, i_alone, j_alone, neither = (pairs.cells[0, j], pairs.cells[1, j], pairs.cells[2, j], pairs.cells[3, j])
        one = min(one, both + i_alone)
        zero = min(zero, j_alone + neither)
        pairs.split[1, j] = min(pairs.split[1, j], both + j_alone)
        pairs.split[0, j] = min(pairs.split[0, j], i_alone + neither)
    pairs.split[0, i], pairs.split[1, i] = zero, one


@outlined
def _forbid(rows, level, mask, least, pairs, i, low, size):
    """Make cells of too few rows lose more than anything."""
    n = np.uint64(rows.n_columns[level])
    for j in range(low, n):
        pairs.both[j] = 0
    for w in range(np.uint64(rows.start[level, rows.start.shape[1] - 1])):
        x = mask[w] & rows.bits[level, w, i]
        if x:
            for j in range(low, n):
                pairs.both[j] += np.int64(bit_count(x & rows.bits[level, w, j]))
    for j in range(low, n):
        both, ci, cj = pairs.both[j], pairs.counts[i], pairs.counts[j]
        pairs.cells[0, j] = BIG if both < least else pairs.cells[0, j]
        pairs.cells[1, j] = BIG if ci - both < least else pairs.cells[1, j]
        pairs.cells[2, j] = BIG if cj - both < least else pairs.cells[2, j]
        pairs.cells[3, j] = BIG if size - ci - cj + both < least else pairs.cells[3, j]


@outlined
def tests_of_two(job, level, mask, most, tests):
    """Write the tree just found: tests[0] at the root, 1 and 2 where that is 0 and 1; -1 for leaves."""
    rows, pairs, rule = job.rows, job.pairs, job.rule
    tests[0] = tests[1] = tests[2] = -1
    i, used, left = pairs.first[most], pairs.used[most], pairs.left[most]
    if i < 0:
        return
    tests[0] = rows.column[level, i]
    if used == 1:
        return
    n, size = rows.n_columns[level], np.int64(0)
    if rule.least > 1:
        size = count_rows(rows, level, mask, pairs.counts)
    _with_root(job, level, mask, i, 0, size)
    for side in range(2):
        if used == 3 or (side == 0) == (left == 1):
            best = BIG
            for j in range(n):
                first = 2 * (1 - side)
                value = pairs.cells[first, j] + pairs.cells[first + 1, j]
                if value < best:
                    best = value
                    tests[1 + side] = rows.column[level, j]
