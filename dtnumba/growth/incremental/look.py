# mypy: ignore-errors
"""The best cut of a column at a node, from sums by code: only codes that may hold it are looked at row by row.

Of a concave criterion, the spread of a set of rows is at least that of its parts. So a cut between two rows of one code
leaves at least the spread of the rows of lower codes and of those of higher codes, wherever rows of that code go.
"""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN
from dtnumba.growth.incremental.ceilings import GAIN_SLACK
from dtnumba.growth.incremental.lists import GOES, MISSING_CODE, key_at, sort_rows
from dtnumba.growth.incremental.node_sums import add_row, spread_of
from dtnumba.growth.incremental.state import FEATURE, LEFT, MISSING_LEFT, PARENT_NODE, THRESHOLD, gather_rows
from dtnumba.growth.splitters.candidates import BARREN, FOUND, NOTHING, bar_above, is_heavier, is_legal, record_split
from dtnumba.growth.splitters.scans.scan_rows import scan_order
from dtnumba.growth.targets.contract import add, around, keep, load, rest, split_gain, split_score, zero
from dtnumba.runtime.kernels import inline, outlined
from dtnumba.tables.presort import NEW, ROW

# Fewer rows are sorted without a look at codes.
SORTED_ROWS = 48
_SIX, _63, _ONE = np.uint64(6), np.uint64(63), np.uint64(1)
_LOOKED_UP = 40  # rows gathered take as long as one that is looked up among all of a code


@inline
def passes(value, test):
    """Tell whether a value passes a test: of a threshold, or where that is NaN, of the bits of levels."""
    threshold = test[0]
    if threshold != threshold:
        level = np.uint64(value)
        return (test[2][level >> _SIX] >> (level & _63)) & _ONE != 0
    return value <= threshold


@inline
def goes_left(held, row, column, test):
    """Tell whether a row goes left; a test is (threshold, whether missing values pass, levels)."""
    value = held.values[row, column]
    return test[1] != 0 if value != value else passes(value, test)


@inline
def is_in(nodes, held, node, row):
    """Tell whether a row held is one of a node's, from the tests above."""
    at = np.int64(node)
    while at != 0:
        above = np.int64(nodes.link[at, PARENT_NODE])
        test = nodes.number[above, THRESHOLD], nodes.link[above, MISSING_LEFT], nodes.levels[above]
        left = goes_left(held, row, nodes.link[above, FEATURE], test)
        if left != (at == nodes.link[above, LEFT]):
            return False
        at = above
    return True


@outlined
def gather(visit, node):
    """See to it that visit.rows are the rows of an inner node after its changes; return how many."""
    rows, mark, here = visit.rows, visit.held.mark, visit.here
    if here[3] >= 0:
        return here[3]
    n = gather_rows(visit.nodes, node, visit.below, rows)
    if here[2] > here[1]:
        to = np.int64(0)
        for i in range(n):
            if mark[rows[i]] != GOES:
                rows[to] = rows[i]
                to += 1
        n = to
    for i in range(here[0], here[1]):
        rows[n + i - here[0]] = visit.sets[i]
    here[3] = n + here[1] - here[0]
    return here[3]


@outlined
def bound_cuts(visit, node, table, spread, least):
    """Write how much cuts inside each code and behind it are worth at most; return the most, and what a legal one has.

    visit.bounds (N_CODES, 2) out: inside, behind.
    """
    target, criterion, seen = visit.job.target, visit.job.criterion, visit.scratch.work.seen[0]
    low, bounds, m = visit.low, visit.bounds, table.shape[1] - 1
    n_missing, n = table[MISSING_CODE, m], np.int64(0)
    for b in range(MISSING_CODE + 1):
        bounds[b, 0] = bounds[b, 1] = -np.inf
        n += table[b, m]
    best, sure = -np.inf, -np.inf
    for side in range(2 if n_missing > 0 else 1):
        # Suffixes, from the highest code on: what goes right of a cut before each code.
        for k in range(m + 1):
            low[k] = table[MISSING_CODE, k] if side == 0 else 0
        right = spread_of(target, criterion, visit.held, low, seen)
        for b in range(MISSING_CODE - 1, -1, -1):
            visit.right[b + 1] = right
            if table[b, m] > 0:
                for k in range(m + 1):
                    low[k] += table[b, k]
                right = spread_of(target, criterion, visit.held, low, seen)
        visit.right[0] = right
        for k in range(m + 1):
            low[k] = table[MISSING_CODE, k] if side == 1 else 0
        left = spread_of(target, criterion, visit.held, low, seen)
        for b in range(MISSING_CODE):
            if table[b, m] == 0:
                continue
            inside = -np.inf
            if table[b, m] > 1:
                inside = spread - left - visit.right[b + 1]
            for k in range(m + 1):
                low[k] += table[b, k]
            left = spread_of(target, criterion, visit.held, low, seen)
            behind = spread - left - visit.right[b + 1]
            if low[m] == n:
                behind = -np.inf
            elif low[m] >= least and n - low[m] >= least:
                sure = max(sure, behind)
            bounds[b, 0], bounds[b, 1] = max(bounds[b, 0], inside), max(bounds[b, 1], behind)
            best = max(best, bounds[b, 0], bounds[b, 1])
    # Codes that bounds leave in the race are bounded more closely: these are few.
    if m == 2 and target.n_stats == 2:  # classes: numbers have squares, too
        best = _corners(visit, node, table, spread, sure - GAIN_SLACK * (spread + n))
    return best, sure


@outlined
def _corners(visit, node, table, spread, bar):
    """Bound cuts inside codes whose bounds reach the bar by their corners; return the largest bound there is.

    Of two sums, what cuts are worth is convex in what goes left: at the corners it is worth most.
    """
    target, criterion, seen = visit.job.target, visit.job.criterion, visit.scratch.work.seen[0]
    low, high, bounds, closer, best = visit.low, visit.high, visit.bounds, visit.found, -np.inf
    for side in range(2 if table[MISSING_CODE, 2] > 0 else 1):
        for k in range(2):
            low[k] = table[MISSING_CODE, k] if side == 1 else 0
        for b in range(MISSING_CODE):
            if side == 0:
                closer[b] = -np.inf
            if bounds[b, 0] >= bar and table[b, 2] > 1:
                for corner in range(4):
                    for k in range(2):
                        low[k] += table[b, k] if corner >> k & 1 else 0
                        high[k] = visit.nodes.sums[node, k] - low[k]
                    parts = spread_of(target, criterion, visit.held, low, seen)
                    parts += spread_of(target, criterion, visit.held, high, seen)
                    closer[b] = max(closer[b], spread - parts)
                    for k in range(2):
                        low[k] -= table[b, k] if corner >> k & 1 else 0
            for k in range(2):
                low[k] += table[b, k]
    for b in range(MISSING_CODE):
        if bounds[b, 0] >= bar and table[b, 2] > 1:
            bounds[b, 0] = min(bounds[b, 0], closer[b])
        best = max(best, bounds[b, 0], bounds[b, 1])
    return best


@outlined
def lost_by_side(visit, table, row, code, most):
    """Return the most spread that a side of a cut of a column lost with a row that is gone, ``most`` at most.

    A side with the row has all rows of lower codes, or all of higher ones, and some of the code that is cut. It loses
    most where it has few rows of the row's class and many others.
    """
    target, criterion, held, seen = visit.job.target, visit.job.criterion, visit.held, visit.scratch.work.seen[0]
    if code == MISSING_CODE or target.n_stats != 2 or table.shape[1] != 3:
        return most
    one, low, high = visit.high, visit.low, visit.inmost
    for k in range(3):
        one[k] = 0
    add_row(target, held, one, row)
    own = 0 if one[0] > 0 else 1
    weight, found = one[own], 0.0
    for side in range(2):
        few, many = np.int64(0), table[MISSING_CODE, 1 - own]
        for step in range(MISSING_CODE):
            b = step if side == 0 else MISSING_CODE - 1 - step
            many += table[b, 1 - own]
            if (b >= code if side == 0 else b <= code) and (table[b, 2] > 0 or b == code):
                low[own], low[1 - own] = few, many
                high[own], high[1 - own] = few + weight, many
                before = spread_of(target, criterion, held, high, seen)
                found = max(found, before - spread_of(target, criterion, held, low, seen))
            few += table[b, own]
    return min(found, most)


@outlined
def _collect(visit, node, column, table, n):
    """Write the rows of each code listed in visit.part, side by side and in order, to visit.other."""
    held, part, m, at = visit.held, visit.part, table.shape[1] - 1, np.int64(0)
    for b in range(MISSING_CODE):
        if part[b] >= 0:
            part[b] = at
            at += table[b, m]
    # Of the rows of a code that a tree holds, a node has n / n_held; a row met so costs as much as several gathered.
    if visit.here[3] < 0 and at * _LOOKED_UP * visit.nodes.n_rows[0] > n * n:
        gather(visit, node)
    n_gathered = visit.here[3]
    if n_gathered < 0:
        for b in range(MISSING_CODE):
            if part[b] >= 0:
                row, at = np.int64(held.first[column, b]), part[b]
                while row >= 0:
                    if is_in(visit.nodes, held, node, row):
                        visit.other[at] = row
                        at += 1
                    row = np.int64(held.after[column, row])
    else:
        for i in range(n_gathered):
            row = visit.rows[i]
            b = held.codes[row, column]
            if part[b] >= 0:
                visit.other[part[b]] = row
                part[b] += 1
        for b in range(MISSING_CODE):
            if part[b] >= 0:
                part[b] -= table[b, m]
    for b in range(MISSING_CODE):
        if part[b] >= 0:
            sort_rows(held, column, visit.other, part[b], table[b, m], visit.sort, visit.other)


@outlined
def _lowest_row(visit, node, column, b, n_gathered):
    """Return the row with the lowest value of a code."""
    held, best = visit.held, np.int64(-1)
    if n_gathered < 0:
        row = np.int64(held.first[column, b])
        while row >= 0:
            if (best < 0 or key_at(held, row, column) < key_at(held, best, column)) and is_in(
                visit.nodes, held, node, row
            ):
                best = row
            row = np.int64(held.after[column, row])
        return best
    for i in range(n_gathered):
        row = np.int64(visit.rows[i])
        if held.codes[row, column] == b and (best < 0 or key_at(held, row, column) < key_at(held, best, column)):
            best = row
    return best


@outlined
def scan_parts(visit, node, column, n, table):
    """Score the cuts of the codes listed, as a scan of the whole column would; leave the best one as its candidate."""
    job, work, out, low = visit.job, visit.scratch.work, visit.scratch.candidates, visit.low
    target, limits, m, part = job.target, job.limits, table.shape[1] - 1, visit.part
    _collect(visit, node, column, table, n)
    n_gathered = visit.here[3]
    total = around(target, load(target, visit.nodes.sums[node, : target.n_stats], work.total), work)
    out.gain[column] = NO_GAIN
    n_missing, bar, scale = table[MISSING_CODE, m], NO_GAIN, 0.0
    best_i, best_code, best_side, best_n, is_last = np.int64(-1), 0, 0, np.int64(0), False
    best_left = zero(target, work.best)
    for side in range(2 if n_missing > 0 else 1):
        for k in range(m + 1):
            low[k] = table[MISSING_CODE, k] if side == 1 else 0
        for b in range(MISSING_CODE):
            count = table[b, m]
            if part[b] >= 0 and count > 0:
                inner, inner_left = NO_GAIN, zero(target, visit.inmost)
                left, n_left, stop = load(target, low[: target.n_stats], work.left), low[m], part[b] + count
                for i in range(part[b], stop):
                    left = add(target, left, visit.other[i] & ROW)
                    n_left += 1
                    if i + 1 < stop and not visit.other[i + 1] & NEW:
                        continue
                    if n_left < limits.min_samples_leaf or n - n_left < limits.min_samples_leaf:
                        continue
                    right = rest(target, total, left, work.right)
                    score = split_score(target, job.criterion, left, right, work)
                    if i + 1 < stop and score > inner:
                        inner, inner_left = score, keep(target, left, visit.inmost)
                    if score > bar and is_legal(target, limits, column, left, right):
                        scale = max(scale, abs(score))
                        bar = bar_above(score, scale)
                        best_i, best_code, best_side, best_n, is_last = np.int64(i), b, side, n_left, i + 1 == stop
                        best_left = keep(target, left, work.best)
                if side == 0:
                    visit.found[b] = NO_GAIN
                if inner > NO_GAIN:
                    right = rest(target, total, inner_left, work.right)
                    visit.found[b] = max(visit.found[b], split_gain(target, job.criterion, inner_left, right, work))
            for k in range(m + 1):
                low[k] += table[b, k]
    if best_i < 0:
        return BARREN
    after = np.int64(NOTHING)
    if not is_last:
        after = np.int64(visit.other[best_i + 1] & ROW)
    else:
        for b in range(best_code + 1, MISSING_CODE):
            if table[b, m] > 0:
                if part[b] >= 0:
                    after = np.int64(visit.other[part[b]] & ROW)
                else:
                    after = _lowest_row(visit, node, column, b, n_gathered)
                break
    right = rest(target, total, best_left, work.right)
    missing_left = best_side if n_missing > 0 else is_heavier(target, best_left, right)
    where = (best_n, np.int64(visit.other[best_i] & ROW), after, np.int64(missing_left))
    record_split(out, column, target, job.criterion, best_left, right, work, where)
    return FOUND


@outlined
def scan_all(visit, node, column, n):
    """Sort the rows gathered by a column and score all its cuts."""
    job, work = visit.job, visit.scratch.work
    for i in range(n):
        visit.other[i] = visit.rows[i]
    sort_rows(visit.held, column, visit.other, np.int64(0), n, visit.sort, visit.other)
    total = around(job.target, load(job.target, visit.nodes.sums[node, : job.target.n_stats], work.total), work)
    return scan_order(job.target, visit.other, np.int64(0), n, np.int64(0), column, job, visit.scratch, total)
