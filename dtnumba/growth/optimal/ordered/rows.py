# mypy: ignore-errors
"""Rows in the order of each column: sets of them, parted by a cut, and the best single test of many sets at once.

A cut of one column makes a left and a right set. The best test of either, for sixteen cuts at a time, takes one pass
along the order of each other column: what the sixteen know lies side by side.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.optimal.losses.contract import leaf, note_cuts
from dtnumba.growth.optimal.losses.lane_by_lane import one_by_one
from dtnumba.runtime.instructions.running_extremes import N_LANES
from dtnumba.runtime.kernels import by_type, inline, outlined


class SortedRows(NamedTuple):
    """Sets of rows: level 0 has all in side 0; what a cut makes of a set of one level are both sides of the next.

    Behind those of all levels are a worker's own, for each thread that helps.
    """

    row: np.ndarray  # (levels, 2, columns, rows) int32: in the order of each column
    code: np.ndarray  # (levels, 2, columns, rows) int32: which value the column has there
    size: np.ndarray  # (levels, 2) int64
    value: np.ndarray  # (rows, sums) int64: what a row adds
    # (rows,) int32, or int64 where sums are large: what a row adds to running sums. Of two labels, what the second is
    # right of less what the first is; else the weight
    delta: np.ndarray
    first: np.ndarray  # (rows,) int64: a second such number; of distances, the place of a row's target among all
    label: np.ndarray  # (rows,) int32: which class a row is of, or which target it has
    worst: np.ndarray  # (rows,) int64: what a row can lose at most; empty where nobody can say
    # (rows,) int64: of one row of those that no test parts, what they lose together; empty where that is nothing
    lost: np.ndarray


class Lanes(NamedTuple):
    """What is known of many cuts of one column."""

    cut: np.ndarray  # (N_LANES,) int32: rows left of each
    run: np.ndarray  # (6, N_LANES) like delta: running sums, left and right, and their least and largest values
    split: np.ndarray  # (2, N_LANES) int64: least loss of a side with one test
    low: np.ndarray  # (2, N_LANES) int64: the same, or what bounds it
    leaf: np.ndarray  # (2, N_LANES) int64: of a side without
    place: np.ndarray  # (rows,) int32: where a row stands in the order of the column that is cut
    before: np.ndarray  # (sums, rows + 1) int64: sums of the first rows in that order
    worst: np.ndarray  # (rows + 1,) int64: likewise, of the most that they can lose
    following: np.ndarray  # (rows + 1,) int32: the next place where values differ
    sums: np.ndarray  # (3, sums) int64
    counts: np.ndarray  # (2 * sums, N_LANES) like delta
    majority: np.ndarray  # (rows, 2, N_LANES) like delta
    whole: np.ndarray  # (sums, 2, N_LANES) int64: sums of both sides
    gain: np.ndarray  # (2, N_LANES) float64
    best: np.ndarray  # (2, N_LANES) int64
    ranked: np.ndarray  # (rows,) int32: rows of a set in the order of their targets
    chain: np.ndarray  # (2, rows) int32: the row after each, and before
    firsts: np.ndarray  # (rows + 1,) int64: what the first rows of an order lose
    spent: np.ndarray  # (2,) int64: tests of one cut above a set, and above the sides of its cuts
    pair: np.ndarray  # (2,) int64: the two classes that a set has; -1 where it has more
    step: np.ndarray  # (rows,) like delta: what its rows add to sums of two classes
    halt: np.ndarray  # (1,) int64: of the job; where it is not 0, nobody uses what is known of several cuts


@outlined
def part(rows, level, side, column, cut, lanes, to):
    """Make the sets left and right of a cut, both sides of ``to``: the first ``cut`` rows in the order of a column."""
    n = rows.size[level, side]
    order = rows.row[level, side, column]
    for t in range(np.uint64(n)):
        lanes.place[order[t]] = t
    rows.size[to, 0], rows.size[to, 1] = cut, n - cut
    for g in range(rows.row.shape[2]):
        order, codes = rows.row[level, side, g], rows.code[level, side, g]
        left, right = rows.row[to, 0, g], rows.row[to, 1, g]
        left_code, right_code = rows.code[to, 0, g], rows.code[to, 1, g]
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
def loss_by_sums(loss, rows, level, side, lanes):
    """Return what a set loses as a leaf; lanes.sums[2] are its sums."""
    order, sums = rows.row[level, side, 0], lanes.sums[2]
    for k in range(len(sums)):
        sums[k] = 0
        for t in range(np.uint64(rows.size[level, side])):
            sums[k] += rows.value[order[t], k]
    return leaf(loss, sums)


# (loss, rows, level, side, lanes): what a set loses as a leaf; lanes.sums[2] become its sums
loss_of_set = by_type("loss_of_set", loss_by_sums)


@outlined
def look_by_sums(loss, rows, level, side, column, lanes):
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
    note_cuts(rows, order, codes, n, lanes)


# (loss, rows, level, side, column, lanes): prepare the cuts of a column of a set
look_along = by_type("look_along", look_by_sums)


@inline
def find_cut(lanes, low, high, wanted):
    """Return a cut strictly between two places, near the wanted one; -1 if there is none."""
    cut = np.int64(lanes.following[wanted])
    if low < cut < high:
        return cut
    cut = np.int64(lanes.following[low + 1])
    return cut if cut < high else np.int64(-1)


@outlined
def _leaves_by_sums(loss, lanes, size, n_lanes):
    """Write what both sides of each lane's cut lose as leaves."""
    for w in range(n_lanes):
        cut = lanes.cut[w]
        for k in range(lanes.sums.shape[1]):
            lanes.sums[0, k] = lanes.before[k, cut]
            lanes.sums[1, k] = lanes.before[k, size] - lanes.before[k, cut]
        lanes.leaf[0, w] = leaf(loss, lanes.sums[0])
        lanes.leaf[1, w] = leaf(loss, lanes.sums[1])


# (loss, lanes, size, n_lanes): write what both sides of each lane's cut lose as leaves
leaves_of = by_type("leaves_of", _leaves_by_sums)


# (loss, rows, level, side, column, rule, least, lanes, n_lanes): offer the column as the test of both sides of all cuts
_along = by_type("along_column", one_by_one)


@outlined
def try_lanes(rows, level, side, loss, rule, least, lanes, n_lanes):
    """Find the least loss of both sides of each lane's cut, with at most one test on any column, its price included.

    Of several cuts, a search that is halted does not look at all columns; one, which is to be written, is looked at.
    """
    leaves_of(loss, lanes, rows.size[level, side], n_lanes)
    for w in range(n_lanes):
        lanes.split[0, w], lanes.split[1, w] = lanes.leaf[0, w], lanes.leaf[1, w]
    for w in range(n_lanes, N_LANES):
        lanes.cut[w] = 0
    for g in range(rows.row.shape[2]):
        if n_lanes > 1 and lanes.halt[0] != 0:
            break
        _along(loss, rows, level, side, g, rule, least, lanes, n_lanes)
