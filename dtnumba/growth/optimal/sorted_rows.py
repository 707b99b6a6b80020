# mypy: ignore-errors
"""Rows in the order of each column: sets of them, parted by a cut, and the best single test of many sets at once.

A cut of one column makes a left and a right set. The best test of either, for sixteen cuts at a time, takes one pass
along the order of each other column: what the sixteen know lies side by side.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.optimal.losses import leaf
from dtnumba.runtime.instructions.running_extremes import N_LANES
from dtnumba.runtime.kernels import by_type, inline, outlined


class SortedRows(NamedTuple):
    """Sets of rows: level 0 has all in side 0; what a cut makes of a set of one level are both sides of the next."""

    row: np.ndarray  # (levels, 2, columns, rows) int32: in the order of each column
    code: np.ndarray  # (levels, 2, columns, rows) int32: which value the column has there
    size: np.ndarray  # (levels, 2) int64
    value: np.ndarray  # (rows, sums) int64: what a row adds
    delta: np.ndarray  # (rows,) int32: of two classes, weight in the second less weight in the first; of many, weight
    label: np.ndarray  # (rows,) int32: which class a row is of; each row is of one
    worst: np.ndarray  # (rows,) int64: what a row can lose at most; empty where nobody can say


class Lanes(NamedTuple):
    """What is known of many cuts of one column."""

    cut: np.ndarray  # (N_LANES,) int32: rows left of each
    run: np.ndarray  # (6, N_LANES) int32: running sums, left and right, and their least and largest values
    split: np.ndarray  # (2, N_LANES) int64: least loss of a side with one test
    low: np.ndarray  # (2, N_LANES) int64: the same, or what bounds it
    leaf: np.ndarray  # (2, N_LANES) int64: of a side without
    place: np.ndarray  # (rows,) int32: where a row stands in the order of the column that is cut
    before: np.ndarray  # (sums, rows + 1) int64: sums of the first rows in that order
    worst: np.ndarray  # (rows + 1,) int64: likewise, of the most that they can lose
    following: np.ndarray  # (rows + 1,) int32: the next place where values differ
    sums: np.ndarray  # (3, sums) int64
    counts: np.ndarray  # (2 * sums, N_LANES) int32
    majority: np.ndarray  # (rows, 2, N_LANES) int32


@outlined
def part(rows, level, side, column, cut, lanes):
    """Make the sets left and right of a cut: the first ``cut`` rows in the order of a column, and the others."""
    n = rows.size[level, side]
    order = rows.row[level, side, column]
    for t in range(np.uint64(n)):
        lanes.place[order[t]] = t
    rows.size[level + 1, 0], rows.size[level + 1, 1] = cut, n - cut
    for g in range(rows.row.shape[2]):
        order, codes = rows.row[level, side, g], rows.code[level, side, g]
        left, right = rows.row[level + 1, 0, g], rows.row[level + 1, 1, g]
        left_code, right_code = rows.code[level + 1, 0, g], rows.code[level + 1, 1, g]
        a = b = np.uint64(0)
        for t in range(np.uint64(n)):
            r, c = order[t], codes[t]
            # Both are written, and one is kept: no branch to guess.
            left[a], left_code[a] = r, c
            right[b], right_code[b] = r, c
            goes_left = np.uint64(lanes.place[r] < cut)
            a += goes_left
            b += np.uint64(1) - goes_left


@outlined
def look_along(rows, level, side, column, lanes):
    """Prepare the cuts of a column of a set: places of rows, sums before each cut, where cuts are."""
    n = rows.size[level, side]
    order, codes = rows.row[level, side, column], rows.code[level, side, column]
    n_sums = lanes.before.shape[0]
    for k in range(n_sums):
        total = np.int64(0)
        lanes.before[k, 0] = 0
        for t in range(np.uint64(n)):
            total += rows.value[order[t], k]
            lanes.before[k, t + np.uint64(1)] = total
    for t in range(np.uint64(n)):
        lanes.place[order[t]] = t
    if len(rows.worst) > 0:
        total = np.int64(0)
        lanes.worst[0] = 0
        for t in range(np.uint64(n)):
            total += rows.worst[order[t]]
            lanes.worst[t + np.uint64(1)] = total
    lanes.following[n] = n
    for t in range(n - 1, 0, -1):
        lanes.following[t] = t if codes[t] != codes[t - 1] else lanes.following[t + 1]
    lanes.following[0] = lanes.following[1] if n > 0 else 0


@inline
def find_cut(lanes, low, high, wanted):
    """Return a cut strictly between two places, near the wanted one; -1 if there is none."""
    cut = np.int64(lanes.following[wanted])
    if low < cut < high:
        return cut
    cut = np.int64(lanes.following[low + 1])
    return cut if cut < high else np.int64(-1)


@outlined
def leaves_of(loss, lanes, size, n_lanes):
    """Write what both sides of each lane's cut lose as leaves."""
    for w in range(n_lanes):
        cut = lanes.cut[w]
        for k in range(lanes.sums.shape[1]):
            lanes.sums[0, k] = lanes.before[k, cut]
            lanes.sums[1, k] = lanes.before[k, size] - lanes.before[k, cut]
        lanes.leaf[0, w] = leaf(loss, lanes.sums[0])
        lanes.leaf[1, w] = leaf(loss, lanes.sums[1])


@outlined
def try_lanes(rows, level, side, loss, least, lanes, n_lanes):
    """Find the least loss of both sides of each lane's cut, with one test on any column."""
    leaves_of(loss, lanes, rows.size[level, side], n_lanes)
    for w in range(n_lanes):
        lanes.split[0, w], lanes.split[1, w] = lanes.leaf[0, w], lanes.leaf[1, w]
    for w in range(n_lanes, N_LANES):
        lanes.cut[w] = 0
    for g in range(rows.row.shape[2]):
        if least > 1:
            _one_by_one(loss, rows, level, side, g, least, lanes, n_lanes)
        else:
            _along(loss, rows, level, side, g, least, lanes, n_lanes)


@outlined
def _one_by_one(loss, rows, level, side, g, least, lanes, n_lanes):
    """Any loss: lane by lane, all sums at each place."""
    n, n_sums = rows.size[level, side], lanes.sums.shape[1]
    order, codes = rows.row[level, side, g], rows.code[level, side, g]
    sums = lanes.sums
    for w in range(n_lanes):
        cut = lanes.cut[w]
        for s in range(2):
            for k in range(n_sums):
                sums[0, k] = 0
                sums[2, k] = lanes.before[k, cut] if s == 0 else lanes.before[k, n] - lanes.before[k, cut]
                sums[1, k] = sums[2, k]
            n_here, n_all = 0, cut if s == 0 else n - cut
            best = lanes.split[s, w]
            for t in range(n):
                r = order[t]
                if (lanes.place[r] < cut) == (s == 0):
                    n_here += 1
                    for k in range(n_sums):
                        sums[0, k] += rows.value[r, k]
                        sums[1, k] -= rows.value[r, k]
                if n_here >= least and n_all - n_here >= least and (t + 1 == n or codes[t + 1] != codes[t]):
                    best = min(best, leaf(loss, sums[0]) + leaf(loss, sums[1]))
            lanes.split[s, w] = best


# (loss, rows, level, side, column, least, lanes, n_lanes): offer the column as the test of both sides of all cuts
_along = by_type("along_column", _one_by_one)
