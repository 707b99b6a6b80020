# mypy: ignore-errors
"""Ranges of cuts that wait: where they are divided, and what is left of them then."""

import numpy as np

from dtnumba.growth.optimal.known_sets import lost_between
from dtnumba.growth.optimal.ordered.two_levels import (
    R_COLUMN,
    R_FROM,
    R_LEFT,
    R_PRICE,
    R_RIGHT,
    R_SEED,
    R_TO,
    R_WAY,
)
from dtnumba.growth.optimal.rule import ALL_TESTS, S_LOW, S_OWN, S_TAIL, S_UPPER
from dtnumba.runtime.kernels import by_type, inline, outlined


@inline
def _midway(loss, rows, level, side, f, start, stop, lanes):
    return (start + stop + 1) // 2


# (loss, rows, level, side, column, start, stop, lanes): where a range of cuts is divided
_middle = by_type("middle", _midway)


@inline
def _cut_between(codes, low, high, wanted):
    """Return a cut strictly between two places near the wanted one, -1 if there is none."""
    for t in range(wanted, high):
        if codes[t] != codes[t - 1]:
            return np.int64(t)
    for t in range(wanted - 1, low, -1):
        if codes[t] != codes[t - 1]:
            return np.int64(t)
    return np.int64(-1)


@inline
def bound_of_range(rows, level, side, one):
    """Return what every cut of a range loses: its ends, and between them what no test parts."""
    between = lost_between(rows, level, side, one[R_COLUMN], one[R_FROM], one[R_TO])
    return one[R_LEFT] + one[R_RIGHT] + one[R_PRICE] + between


@outlined
def cut_of(job, level, one):
    """Return where a range is divided, -1 where it has no cut, or none that could lose less than is wanted."""
    rows, state = job.rows, job.levels.state[level]
    start, stop, f = one[R_FROM], one[R_TO], one[R_COLUMN]
    if one[R_LEFT] + one[R_RIGHT] + one[R_PRICE] >= state[S_UPPER] or stop - start <= 1:
        return np.int64(-1)
    if bound_of_range(rows, level, state[S_OWN], one) >= state[S_UPPER]:
        return np.int64(-1)
    wanted = one[R_SEED]
    if wanted == 0:
        wanted = _middle(job.loss, rows, level, state[S_OWN], f, start, stop, job.lanes)
    return _cut_between(rows.code[level, state[S_OWN], f], start, stop, wanted)


@outlined
def use_bounds(job, level, one, cut, left, right, budget):
    """Note what both sides of a cut lose at least; what is left of its range waits, where all cuts are tried."""
    state = job.levels.state[level]
    state[S_LOW] = min(state[S_LOW], left + right + one[R_PRICE])
    if job.rule.least > 1:
        state[S_LOW] = min(state[S_LOW], one[R_PRICE] + min(left, right))
    if budget >= ALL_TESTS:
        _divide(job, level, one, cut, left, right)


@outlined
def _divide(job, level, one, cut, left, right):
    """Put both halves of a range to the end of the queue, where they cannot be skipped."""
    rows, levels = job.rows, job.levels
    state = levels.state[level]
    start, stop, f, way = one[R_FROM], one[R_TO], one[R_COLUMN], one[R_WAY]
    end_left, end_right, price = one[R_LEFT], one[R_RIGHT], one[R_PRICE]
    total = left + right + price
    below, above = cut, cut
    if len(rows.worst) > 0 and total > state[S_UPPER]:
        order, gap = rows.row[level, state[S_OWN], f], total - state[S_UPPER]
        spent = np.int64(0)
        while below > start + 1 and spent + rows.worst[order[below - 1]] <= gap:
            below -= 1
            spent += rows.worst[order[below]]
        spent = np.int64(0)
        while above < stop - 1 and spent + rows.worst[order[above]] <= gap:
            spent += rows.worst[order[above]]
            above += 1
    if end_left + right + price < state[S_UPPER] and below - start > 1:
        _put(levels, level, f, start, below, way, end_left, right, price)
    if left + end_right + price < state[S_UPPER] and stop - above > 1:
        _put(levels, level, f, above, stop, way, left, end_right, price)


@inline
def _put(levels, level, f, start, stop, way, left, right, price):
    state = levels.state[level]
    one = levels.ranges[level, state[S_TAIL] % levels.ranges.shape[1]]
    one[R_COLUMN], one[R_FROM], one[R_TO], one[R_WAY] = f, start, stop, way
    one[R_LEFT], one[R_RIGHT] = left, right
    one[R_SEED], one[R_PRICE] = 0, price
    state[S_TAIL] += 1
