# mypy: ignore-errors
# ruff: noqa: D102
"""Distances from the median, as whole numbers.

Rows of a set are a chain in the order of their targets. Taken out one by one, in the order of a column, each leaves
the median where it is or moves it a little: so what all first and all last rows of an order lose takes two passes.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.optimal.losses.contract import note_cuts, test_price
from dtnumba.runtime.kernels import inline, kernel_type, outlined


@kernel_type
class AbsoluteLost(NamedTuple):
    """Distances from the median; a row's first sum is its weight, its label says which target it has."""

    unit: float  # of one loss
    target: np.ndarray  # of each label, int64, ascending

    def loss_of_set(self, rows, level, side, lanes):
        return _rank(self, rows, level, side, lanes)

    def look_along(self, rows, level, side, column, lanes):
        _look(self, rows, level, side, column, lanes)

    def leaves_of(self, lanes, size, n_lanes):
        for w in range(n_lanes):
            lanes.leaf[0, w], lanes.leaf[1, w] = lanes.before[0, lanes.cut[w]], lanes.before[1, lanes.cut[w]]

    def seed(self, job, level, side, f, begin, end):
        return _seed(self, job, level, side, f, begin, end)

    def along_column(self, rows, level, side, g, rule, least, lanes, n_lanes):
        _along(self, rows, level, side, g, rule, least, lanes, n_lanes)

    def write_one(self, job, level, side, s, g, cut, wanted, tree):
        return _write(self, job, level, side, s, g, cut, wanted, tree)


@outlined
def _rank(loss, rows, level, side, lanes):
    """Write the rows of a set in the order of their targets; return what it loses."""
    n, order, ranked, at = rows.size[level, side], rows.row[level, side, 0], lanes.ranked, lanes.chain[0]
    for k in range(np.uint64(len(ranked))):
        at[k] = -1
    for t in range(np.uint64(n)):
        lanes.place[order[t]] = t
        at[rows.first[order[t]]] = order[t]
    found = np.uint64(0)
    for k in range(np.uint64(len(ranked))):
        if at[k] >= 0:
            ranked[found] = at[k]
            found += np.uint64(1)
    lanes.sums[2, 0] = lanes.sums[2, 1] = lanes.sums[2, 2] = 0
    _follow(loss, rows, order, n, n, 0, 0, lanes)
    return lanes.before[2, 0]


@outlined
def _look(loss, rows, level, side, column, lanes):
    """Write what first and last rows in the order of a column lose, and prepare its cuts."""
    n = rows.size[level, side]
    order, codes = rows.row[level, side, column], rows.code[level, side, column]
    for t in range(np.uint64(n)):
        lanes.place[order[t]] = t
    for direction in range(2):
        _follow(loss, rows, order, n, n, 0, 1 - direction, lanes)
        for t in range(np.uint64(n + 1)):
            lanes.before[direction, t] = lanes.before[2, t]
    note_cuts(rows, order, codes, n, lanes)


@outlined
def _seed(loss, job, level, side, f, begin, end):
    """Return what the sides of a column's best cut in (begin, end] lose, and that cut; 0 where there is none."""
    rows, lanes, least = job.rows, job.lanes, job.rule.least
    n, codes = rows.size[level, side], rows.code[level, side, f]
    _look(loss, rows, level, side, f, lanes)
    best, at = np.inf, np.int64(0)
    for t in range(max(least, begin + 1), min(n - least, end) + 1):
        if 0 < t < n and codes[t] != codes[t - 1]:
            found = float(lanes.before[0, t] + lanes.before[1, t])
            if found < best:
                best, at = found, np.int64(t)
    return best, at


@outlined
def _follow(loss, rows, order, n, cut, s, is_first, lanes):
    """Write to lanes.before[2, t] what the first t rows of an order lose, or those from t on, of one side of a cut."""
    following, previous, out, target = lanes.chain[0], lanes.chain[1], lanes.before[2], loss.target
    last, weight = -1, np.int64(0)
    for k in range(n):
        r = lanes.ranked[k]
        if (lanes.place[r] < cut) == (s == 0):
            previous[r], following[r] = last, -1
            if last >= 0:
                following[last] = r
            last = r
            weight += rows.value[r, 0]
    # The median, from the last row down: weight and weighted targets before it and behind it
    p, below, above, low, high = last, weight, np.int64(0), np.int64(0), np.int64(0)
    if p >= 0:
        below -= rows.value[p, 0]
        while 2 * below > weight:
            w = rows.value[p, 0]
            above += w
            high += w * target[rows.label[p]]
            p = previous[p]
            below -= rows.value[p, 0]
        r = previous[p]
        while r >= 0:
            low += rows.value[r, 0] * target[rows.label[r]]
            r = previous[r]
    lost = _lost(rows, target, p, below, above, low, high)
    for k in range(n):
        t = n - 1 - k if is_first else k
        out[t + 1 if is_first else t] = lost
        r = order[t]
        if (lanes.place[r] < cut) != (s == 0):
            continue
        w = rows.value[r, 0]
        weight -= w
        before, behind = previous[r], following[r]
        if before >= 0:
            following[before] = behind
        if behind >= 0:
            previous[behind] = before
        if r == p:
            if behind >= 0:
                p = behind
                above -= rows.value[p, 0]
                high -= rows.value[p, 0] * target[rows.label[p]]
            elif before >= 0:
                p = before
                below -= rows.value[p, 0]
                low -= rows.value[p, 0] * target[rows.label[p]]
            else:
                p = -1
        elif rows.first[r] < rows.first[p]:
            below -= w
            low -= w * target[rows.label[r]]
        else:
            above -= w
            high -= w * target[rows.label[r]]
        while 2 * above > weight:
            below += rows.value[p, 0]
            low += rows.value[p, 0] * target[rows.label[p]]
            p = following[p]
            above -= rows.value[p, 0]
            high -= rows.value[p, 0] * target[rows.label[p]]
        while 2 * below > weight:
            above += rows.value[p, 0]
            high += rows.value[p, 0] * target[rows.label[p]]
            p = previous[p]
            below -= rows.value[p, 0]
            low -= rows.value[p, 0] * target[rows.label[p]]
        lost = _lost(rows, target, p, below, above, low, high)
    out[0 if is_first else n] = 0


@inline
def _lost(rows, target, p, below, above, low, high):
    if p < 0:
        return np.int64(0)
    middle = target[rows.label[p]]
    return middle * below - low + high - middle * above


@outlined
def _along(loss, rows, level, side, g, rule, least, lanes, n_lanes):
    """Offer a column as the test of both sides of all cuts, one after the other."""
    price = test_price(loss, rule, g, lanes.spent[1], lanes.sums[2])
    for w in range(n_lanes):
        if n_lanes > 1 and lanes.halt[0] != 0:
            break
        for s in range(2):
            best, _ = _least_cut(loss, rows, level, side, g, s, lanes.cut[w], least, lanes)
            lanes.split[s, w] = min(lanes.split[s, w], best + price)


@inline
def _least_cut(loss, rows, level, side, g, s, cut, least, lanes):
    """Return the least loss of one side of a cut, with a cut along a column, and where that is."""
    n, order, codes = rows.size[level, side], rows.row[level, side, g], rows.code[level, side, g]
    first = lanes.firsts
    _follow(loss, rows, order, n, cut, s, 1, lanes)
    for t in range(np.uint64(n + 1)):
        first[t] = lanes.before[2, t]
    _follow(loss, rows, order, n, cut, s, 0, lanes)
    best, at, here, size = np.int64(1) << np.int64(60), np.int64(-1), 0, cut if s == 0 else n - cut
    for t in range(n):
        if here >= least and size - here >= least and codes[t] != codes[t - 1]:
            found = first[t] + lanes.before[2, t]
            if found < best:
                best, at = found, np.int64(t)
        here += (lanes.place[order[t]] < cut) == (s == 0)
    return best, at


@outlined
def _write(loss, job, level, side, s, g, cut, wanted, tree):
    """Write the best cut of a column on one side of a cut, if it loses what is wanted; tell whether it does."""
    rows, lanes = job.rows, job.lanes
    best, at = _least_cut(loss, rows, level, side, g, s, cut, job.rule.least, lanes)
    if best + test_price(loss, job.rule, g, lanes.spent[1], lanes.sums[2]) != wanted:
        return False
    tree[1 + s, 0], tree[1 + s, 1] = g, np.int64(rows.code[level, side, g, at - 1])
    return True
