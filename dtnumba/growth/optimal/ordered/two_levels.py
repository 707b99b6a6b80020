# mypy: ignore-errors
"""The best tree of at most two levels over ordered columns: sixteen cuts of the root at a time, and ranges skipped."""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.optimal.losses.contract import spends, test_price, two_leaves
from dtnumba.growth.optimal.ordered.rows import (
    N_LANES,
    find_cut,
    leaves_of,
    look_along,
    loss_of_set,
    try_lanes,
)
from dtnumba.runtime.kernels import by_type, entry, inline, outlined
from dtnumba.runtime.records import own_copy

# Columns of a range of cuts: of which column, its ends (neither is in it), how tests are shared out; what the left side
# loses at its begin and the right one at its end, the last of them as leaves
R_COLUMN, R_FROM, R_TO, R_WAY, R_LEFT, R_RIGHT, R_LEFT_LEAF, R_RIGHT_LEAF, R_COST = range(9)
R_SIZE = 9
R_SEED, R_PRICE = R_LEFT_LEAF, R_RIGHT_LEAF  # above the two last levels: where it is divided first; of its test
VALUE, TWO_LOW, TWO_COLUMN, TWO_CUT, TWO_UPPER, TWO_SPENT = range(6)


class Levels(NamedTuple):
    """Levels of the search."""

    state: np.ndarray  # (levels, N_LEVEL_STATE) int64
    ranges: np.ndarray  # (levels, places, R_SIZE) int64: cuts still to be tried, a ring
    inner: np.ndarray  # (places, R_SIZE) int64: likewise, of the two last levels
    taken: np.ndarray  # (N_LANES, 2) int64: lanes of each range in hand
    found: np.ndarray  # (2, N_LANES) int64: loss at each lane's cut, and its bound
    order: np.ndarray  # (N_PARTS * columns,) int64
    score: np.ndarray  # (N_PARTS * columns,) float64
    seed: np.ndarray  # (N_PARTS * columns,) int64: the best cut of a column, or of a part of it; 0 for none
    best: np.ndarray  # (levels, 2 ** depth, 2) int64: column, and the code of the last value left; -1 for leaves
    kept: np.ndarray  # (levels, 2, 2 ** depth, 2) int64: of either side
    two: np.ndarray  # (6,) int64: what the solver of two levels found
    explored: np.ndarray  # (3,) int64


@inline
def _together(left, left_leaf, right, right_leaf, tests, price):
    """Return the least loss of two sides with at most so many tests, the one that parts them included."""
    if tests >= 3:
        return left + right + price
    if tests == 2:
        return min(left + right_leaf, left_leaf + right) + price
    return left_leaf + right_leaf + price


@entry
def sorted_two_below(job, level, side, asked):
    """Solve a set with at most ``asked`` tests, and a loss below two[TWO_UPPER].

    ``asked`` + 4: write the tests of the tree whose root stands in kept[level - 1, side], or at the root in ``two``.
    """
    job = own_copy(job)
    two = job.levels.two
    if asked < 4:
        solve_sorted_two(job, level, side, two[TWO_UPPER], asked, two[TWO_SPENT])
    elif level == 0:
        write_two(job, level, side, asked - 4, 0, two[TWO_COLUMN], two[TWO_CUT], job.levels.best[0])
    else:
        kept = job.levels.kept[level - 1, side]
        write_two(job, level, side, asked - 4, two[TWO_SPENT], kept[0, 0], kept[0, 1], kept)
    return np.int64(0)


@outlined
def solve_sorted_two(job, level, side, upper, tests, spent):
    """Find the least loss of a set in at most two levels, if it is below ``upper``; levels.two[VALUE] is it, or upper.

    Beside it stand column and cut at the root, -1 for a leaf or none. ``spent``: see ``losses.spends``.
    """
    rows, lanes, levels = job.rows, job.lanes, job.levels
    two = levels.two
    n, price, least = rows.size[level, side], job.rule.price, job.rule.least
    two[TWO_COLUMN], two[TWO_CUT] = -1, -1
    as_leaf = loss_of_set(job.loss, rows, level, side, lanes)
    lanes.spent[0] = spent
    best = min(upper, as_leaf)
    two[TWO_LOW] = as_leaf
    levels.explored[0] += 1
    if tests > 0 and best > price and n >= 2 * least:
        for f in range(rows.row.shape[2]):
            if job.halt[0] != 0:
                break
            best = _along(job, level, side, f, tests, best)
    elif n < 2 * least:
        two[TWO_LOW] = 0
    two[VALUE] = best
    two[TWO_LOW] = min(two[TWO_LOW], best)


@outlined
def _along(job, level, side, f, tests, best):
    """Try the cuts of one column; return the least loss, which is ``best`` if no cut loses less."""
    rows, lanes, levels = job.rows, job.lanes, job.levels
    inner, least, n = levels.inner, job.rule.least, rows.size[level, side]
    look_along(job.loss, rows, level, side, f, lanes)
    price = test_price(job.loss, job.rule, f, lanes.spent[0], lanes.before[:, n])
    lanes.spent[1] = lanes.spent[0] + spends(job.loss, f)
    for c in range(R_SIZE):
        inner[0, c] = 0
    inner[0, R_FROM], inner[0, R_TO] = least - 1, n - least + 1
    head, tail = 0, 1
    most_left = most_right = np.int64(0)
    while head < tail and job.halt[0] == 0:  # a halted search finds nothing more, and says nothing of bounds
        n_lanes, n_taken = _fill_lanes(job, head, tail, tests, price, best)
        if n_lanes > 0:
            levels.explored[1] += 1
            _solve_lanes(job, level, side, tests, price, n_lanes)
            if job.halt[0] != 0:
                break  # what was found may not be all
            for w in range(n_lanes):
                if levels.found[0, w] < best:
                    best = levels.found[0, w]
                    levels.two[TWO_COLUMN], levels.two[TWO_CUT] = f, lanes.cut[w]
                levels.two[TWO_LOW] = min(levels.two[TWO_LOW], levels.found[1, w])
                most_left, most_right = max(most_left, lanes.low[0, w]), max(most_right, lanes.low[1, w])
        for i in range(n_taken):
            r = (head + i) % len(inner)
            for w in range(levels.taken[i, 0], levels.taken[i, 1] + 1):
                tail += _push(job, r, tail, w, i, tests, price, best)
        head += n_taken
    if least > 1:  # cuts near the ends, which are not tried: one side loses no less than beyond the nearest one tried
        levels.two[TWO_LOW] = min(levels.two[TWO_LOW], price + min(most_left, most_right))
    return best


@outlined
def _solve_lanes(job, level, side, tests, price, n_lanes):
    """Find what the lanes' cuts lose, and bounds of both sides."""
    rows, lanes, loss, rule = job.rows, job.lanes, job.loss, job.rule
    found, least = job.levels.found, rule.least
    if tests <= 1:
        leaves_of(loss, lanes, rows.size[level, side], n_lanes)
    for turn in range(2 if least > 1 and tests > 1 else 1):
        if tests > 1:
            try_lanes(rows, level, side, loss, rule, least if turn == 1 or least == 1 else 1, lanes, n_lanes)
        for w in range(n_lanes):
            for s in range(2):
                if tests <= 1:
                    lanes.split[s, w] = lanes.leaf[s, w]
                if turn == 0:
                    lanes.low[s, w] = lanes.split[s, w]
            left, right = lanes.split[0, w], lanes.split[1, w]
            found[0, w] = _together(left, lanes.leaf[0, w], right, lanes.leaf[1, w], tests, price)
            if turn == 0:
                found[1, w] = found[0, w]


@outlined
def _fill_lanes(job, head, tail, tests, price, best):
    """Share out the lanes among the first ranges that wait; return how many lanes and ranges these are."""
    lanes, levels = job.lanes, job.levels
    inner = levels.inner
    each = max(1, N_LANES // (tail - head))
    n_lanes = n_taken = 0
    while n_taken < tail - head and n_taken < N_LANES and n_lanes < N_LANES:
        r = (head + n_taken) % len(inner)
        start, stop = inner[r, R_FROM], inner[r, R_TO]
        levels.taken[n_taken, 0] = n_lanes
        bound = _together(
            inner[r, R_LEFT], inner[r, R_LEFT_LEAF], inner[r, R_RIGHT], inner[r, R_RIGHT_LEAF], tests, price
        )
        if bound < best:
            last, k = start, min(each, N_LANES - n_lanes)
            for i in range(k):
                cut = find_cut(lanes, last, stop, max(last + 1, start + (stop - start) * (i + 1) // (k + 1)))
                if cut < 0:
                    break
                lanes.cut[n_lanes] = cut
                n_lanes += 1
                last = cut
        levels.taken[n_taken, 1] = n_lanes
        if levels.taken[n_taken, 0] == n_lanes:
            levels.taken[n_taken, 1] = -1  # nothing comes of it
        n_taken += 1
    return n_lanes, n_taken


@outlined
def _push(job, r, tail, w, i, tests, price, best):
    """Append the range before lane w, of those that range r was parted by; return 1, or 0 where it can be skipped."""
    lanes, levels = job.lanes, job.levels
    inner, first, last = levels.inner, levels.taken[i, 0], levels.taken[i, 1]
    start, stop = inner[r, R_FROM], inner[r, R_TO]
    left, left_leaf, right, right_leaf = (
        inner[r, R_LEFT],
        inner[r, R_LEFT_LEAF],
        inner[r, R_RIGHT],
        inner[r, R_RIGHT_LEAF],
    )
    has_worst = len(job.rows.worst) > 0
    if w > first:
        start = np.int64(lanes.cut[w - 1])
        left, left_leaf = lanes.low[0, w - 1], lanes.leaf[0, w - 1]
    if w < last:
        stop = np.int64(lanes.cut[w])
        right, right_leaf = lanes.low[1, w], lanes.leaf[1, w]
    if _together(left, left_leaf, right, right_leaf, tests, price) >= best:
        return 0
    if has_worst:
        # A cut loses less than its neighbour by what the rows between can lose, at most.
        low, high = start, stop
        if w > first:
            start = _skip_up(lanes.worst, low, high, levels.found[1, w - 1] - best)
        if w < last:
            stop = _skip_down(lanes.worst, low, high, levels.found[1, w] - best)
    if stop - start < 2 or lanes.following[start + 1] >= stop:
        return 0
    at = tail % len(inner)
    inner[at, R_FROM], inner[at, R_TO] = start, stop
    inner[at, R_LEFT], inner[at, R_LEFT_LEAF] = left, left_leaf
    inner[at, R_RIGHT], inner[at, R_RIGHT_LEAF] = right, right_leaf
    return 1


@inline
def _skip_up(worst, low, high, gap):
    """Return the last place whose cut need not be tried, going up from ``low``."""
    wanted = worst[low] + gap
    a, b = low, high  # worst[a] <= wanted
    while b - a > 1:
        middle = (a + b) // 2
        if worst[middle] <= wanted:
            a = middle
        else:
            b = middle
    return a


@inline
def _skip_down(worst, low, high, gap):
    """Return the last place whose cut need not be tried, going down from ``high``."""
    wanted = worst[high] - gap
    a, b = low, high  # worst[b] >= wanted
    while b - a > 1:
        middle = (a + b) // 2
        if worst[middle] >= wanted:
            b = middle
        else:
            a = middle
    return b


@outlined
def write_two(job, level, side, tests, spent, column, cut, tree):
    """Write the tree of at most two levels whose root is known: the tests of both sides are looked for again."""
    rows, lanes, loss, rule = job.rows, job.lanes, job.loss, job.rule
    for k in range(len(tree)):
        tree[k, 0] = tree[k, 1] = -1
    if column < 0:
        return
    codes = rows.code[level, side, column]
    tree[0, 0], tree[0, 1] = column, codes[cut - 1]
    if tests < 2:
        return
    loss_of_set(loss, rows, level, side, lanes)
    look_along(loss, rows, level, side, column, lanes)
    lanes.cut[0], lanes.spent[1] = cut, spent + spends(loss, column)
    try_lanes(rows, level, side, loss, rule, rule.least, lanes, 1)
    gain0 = lanes.leaf[0, 0] - lanes.split[0, 0]
    gain1 = lanes.leaf[1, 0] - lanes.split[1, 0]
    for s in range(2):
        gain = gain0 if s == 0 else gain1
        if gain <= 0 or (tests == 2 and gain < (gain1 if s == 0 else gain0)):
            continue
        if tests == 2 and s == 1 and gain == gain0:
            continue
        wanted = lanes.split[s, 0]
        for g in range(rows.row.shape[2]):
            if _write_one(loss, job, level, side, s, g, cut, wanted, tree):
                break


@outlined
def _write_by_sums(loss, job, level, side, s, g, cut, wanted, tree):
    """Write the first cut of a column that loses what is wanted on one side of a lane's cut; tell whether there is."""
    rows, lanes = job.rows, job.lanes
    order, codes, sums = rows.row[level, side, g], rows.code[level, side, g], lanes.sums
    n = rows.size[level, side]
    for k in range(sums.shape[1]):
        sums[0, k] = 0
        sums[1, k] = lanes.before[k, cut] if s == 0 else lanes.before[k, n] - lanes.before[k, cut]
    n_here, n_all = 0, cut if s == 0 else n - cut
    wanted -= test_price(loss, job.rule, g, lanes.spent[1], sums[1])
    last = np.int64(-1)
    for t in range(n):
        r = order[t]
        if (lanes.place[r] < cut) != (s == 0):
            continue
        is_cut = last >= 0 and codes[t] != last and n_here >= job.rule.least and n_all - n_here >= job.rule.least
        if is_cut and two_leaves(loss, sums[0], sums[1]) == wanted:
            tree[1 + s, 0], tree[1 + s, 1] = g, last
            return True
        n_here += 1
        last = np.int64(codes[t])
        for k in range(sums.shape[1]):
            sums[0, k] += rows.value[r, k]
            sums[1, k] -= rows.value[r, k]
    return False


# (loss, job, level, side, s, column, cut, wanted, tree): write the first cut of a column that loses what is wanted
_write_one = by_type("write_one", _write_by_sums)
