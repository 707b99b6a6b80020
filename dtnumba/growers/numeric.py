"""Tests on a number: the best threshold, the best interval, ranges between cuts that pay for themselves."""

import math

import numpy as np

from dtnumba._jit import by_having, call_at, inline, kernel
from dtnumba.criteria import NO_GAIN, TIE
from dtnumba.growers.candidates import is_large
from dtnumba.growers.cases import (
    ABOVE,
    BELOW,
    BEST_BELOW,
    BRANCH,
    GONE,
    KNOWN,
    LEARNED,
    MISSING_CHILD,
    N_ALLOWED,
    N_TEST_CUTS,
    NOTHING,
    TESTED,
    WHOLE,
)
from dtnumba.growers.entropy_cut import best_entropy_cut
from dtnumba.growers.groups import code_of, fill_table, fits_table, groups_of, place_of, sort_and_sum
from dtnumba.growers.prices import charged
from dtnumba.growers.sums import add_row, add_sums, clear, copy_sums, rows_of, score, subtract, weight_of

# Values at a node that an interval is looked for among; more are put together in this many groups of like size.
MOST_GROUPS = 255


@kernel
def look_for_threshold(work, feature, start, stop):
    """Write the best threshold at a node, its gain and its information; return 1 where the number varies, else 0."""
    in_table = fits_table(work.ground, feature, stop - start)
    n = fill_table(work.ground, feature, start, stop) if in_table else sort_and_sum(work.ground, feature, start, stop)
    n_values, found = _begin(work, feature, n, in_table), np.int64(0)
    if n_values == 2:
        found = _threshold(work.criterion, work, start, n, in_table)
    return _end(work, feature, n_values, found, in_table)


@kernel
def look_for_interval(work, feature, start, stop):
    """Do as ``look_for_threshold`` for the best interval."""
    n = groups_of(work.ground, feature, start, stop)
    n_values, found = _begin(work, feature, n, True), np.int64(0)
    if n_values == 2:
        found = _best_interval(work, n)
    return _end(work, feature, n_values, found, True)


@kernel
def look_for_ranges(work, feature, start, stop):
    """Do as ``look_for_threshold`` for ranges between cuts that pay."""
    n = sort_and_sum(work.ground, feature, start, stop)
    n_values, found = _begin(work, feature, n, False), np.int64(0)
    if n_values == 2:
        found = _ranges(work, start, n)
    return _end(work, feature, n_values, found, False)


@inline
def _begin(work, feature, n, in_table):
    """Begin with no test; return whether there are two values, one and missing ones (1), or nothing to tell apart."""
    desk, rules = work.desk, work.rules
    desk.gain[feature], desk.information[feature], desk.test[TESTED] = NO_GAIN, 0.0, feature
    desk.test[N_ALLOWED] = 0
    if n == 0:
        return np.int64(0)
    has_two = n > 1 if in_table else code_of(desk.keys[0]) != code_of(desk.keys[n - 1])
    is_value = rows_of(work.target, desk.sides, GONE) > 0.0 and (rules.missing in (LEARNED, BRANCH))
    return np.int64(2 if has_two else is_value)


@inline
def _end(work, feature, n_values, found, in_table):
    """Judge what was found; return 1 where the number varies, else 0."""
    if n_values == 1:
        found = _part_missing(work, work.desk.code[0] if in_table else code_of(work.desk.keys[0]))
    if found != 0:
        call_at(work.calls.judge, work, feature, abs(found), np.int64(found < 0))
        desk, weight = work.desk, weight_of(work.target, work.desk.sides, WHOLE)
        desk.gain[feature] = charged(work.criterion, desk.gain[feature], desk.test[N_ALLOWED], weight)
    return np.int64(n_values > 0)


@inline
def _one_cut(desk, last, following):
    desk.test[N_TEST_CUTS] = 1
    desk.cut[0, 0], desk.cut[0, 1] = last, following
    desk.ranges[0], desk.ranges[1] = 0, 1


@inline
def _part_missing(work, code):
    """Part the rows with the one value there is from those without; return as ``_best_threshold`` does."""
    desk = work.desk
    _one_cut(desk, code, NOTHING)
    copy_sums(desk.sides, KNOWN, desk.table, 0)
    if work.rules.missing == LEARNED:
        copy_sums(desk.sides, GONE, desk.table, 1)
        desk.test[MISSING_CHILD] = 1
        return np.int64(-2 if score_of_kids(work) > NO_GAIN else 0)
    return np.int64(1)


@kernel
def score_of_kids(work):
    """Return the score of the first two children."""
    return score(work.target, work.criterion, work.desk.table, 0, 1)


@kernel
def _best_threshold(work, start, n, in_table):
    """Score every cut between neighbours, and with learned missing values on either side; the first of equals wins.

    Return the number of children, below zero where missing values are in them already, and 0 where no cut is legal.
    """
    desk, grown, sides, target = work.desk, work.grown, work.desk.sides, work.target
    learns = work.rules.missing == LEARNED and rows_of(target, sides, GONE) > 0.0
    whole = WHOLE if learns else KNOWN
    bar, scale, missing, is_found = NO_GAIN, 0.0, np.int64(0), False
    for turn in range(2 if learns else 1):
        clear(sides, BELOW)
        if turn == 1:
            copy_sums(sides, GONE, sides, BELOW)
        i = np.int64(0)
        while i < n:
            if in_table:
                add_sums(desk.table, i, sides, BELOW)
                last = desk.code[i]
                i += 1
                following = desk.code[i] if i < n else np.int64(NOTHING)
            else:
                last = following = code_of(desk.keys[i])
                while following == last:
                    at = start + place_of(desk.keys[i])
                    add_row(target, sides, BELOW, grown.row[at], grown.weight[at])
                    i += 1
                    following = code_of(desk.keys[i]) if i < n else np.int64(NOTHING)
            if i == n:
                if not learns or turn == 1:
                    break
                copy_sums(sides, GONE, sides, ABOVE)
            else:
                subtract(sides, whole, BELOW, ABOVE)
            if not is_large(work, sides, BELOW) or not is_large(work, sides, ABOVE):
                continue
            found = score(target, work.criterion, sides, BELOW, ABOVE)
            if found > bar:
                scale = max(scale, abs(found))
                bar, missing, is_found = found + TIE * scale, np.int64(1 - turn), True
                copy_sums(sides, BELOW, sides, BEST_BELOW)
                _one_cut(desk, last, following)
    if is_found:
        copy_sums(sides, BEST_BELOW, desk.table, 0)
        for s in range(sides.shape[1]):
            desk.table[1, s] = sides[whole, s] - sides[BEST_BELOW, s]
        if learns:
            desk.test[MISSING_CHILD] = missing
        return np.int64(-2 if learns else 2)
    return np.int64(0)


def _by_rows(criterion, work, start, n, in_table):
    return best_entropy_cut(work, start, n, in_table)


def _by_score(criterion, work, start, n, in_table):
    return _best_threshold(work, start, n, in_table)


_threshold = by_having("allows", _by_rows, _by_score)


@kernel
def _merge_groups(work, n):
    """Put neighbouring groups together until there are at most MOST_GROUPS, of like numbers of rows.

    desk.code[g] becomes the last code of a group, and desk.order[g] its first.
    """
    desk, target = work.desk, work.target
    left = rows_of(target, desk.sides, KNOWN)
    m, filled, goal = np.int64(-1), 0.0, 0.0
    for g in range(n):
        here = rows_of(target, desk.table, g)
        if n <= MOST_GROUPS or filled >= goal:
            m, filled = m + 1, 0.0
            goal = left / (MOST_GROUPS - m)
            if m != g:
                copy_sums(desk.table, g, desk.table, m)
            desk.order[m] = desk.code[g]
        else:
            add_sums(desk.table, g, desk.table, m)
        desk.code[m] = desk.code[g]
        filled, left = filled + here, left - here
    return m + 1


@kernel
def _best_interval(work, n):
    """Score every run of groups as the inside, with learned missing values inside or outside.

    An interval that reaches an end is a threshold, and is written as one.
    """
    desk, sides, target = work.desk, work.desk.sides, work.target
    n = _merge_groups(work, n)
    learns = work.rules.missing == LEARNED and rows_of(target, sides, GONE) > 0.0
    whole = WHOLE if learns else KNOWN
    bar, scale, first, stop, inside = NO_GAIN, 0.0, np.int64(-1), np.int64(0), False
    for turn in range(2 if learns else 1):
        for a in range(n):
            clear(sides, BELOW)
            if turn == 1:
                copy_sums(sides, GONE, sides, BELOW)
            for b in range(a, n):
                add_sums(desk.table, b, sides, BELOW)
                # What reaches the upper end is the outside of one that reaches the lower, unless it is everything.
                if a == 0 and b == n - 1 and not (learns and turn == 0):
                    continue
                if b == n - 1 and a > 0 and not learns:
                    continue
                subtract(sides, whole, BELOW, ABOVE)
                if a == 0 and b == n - 1:
                    copy_sums(sides, GONE, sides, ABOVE)
                if not is_large(work, sides, BELOW) or not is_large(work, sides, ABOVE):
                    continue
                found = score(target, work.criterion, sides, BELOW, ABOVE)
                if found > bar:
                    scale = max(scale, abs(found))
                    bar, first, stop, inside = found + TIE * scale, np.int64(a), np.int64(b + 1), turn == 1
                    copy_sums(sides, BELOW, sides, BEST_BELOW)
    if first < 0:
        return np.int64(0)
    if first == 0:
        _one_cut(desk, desk.code[stop - 1], desk.order[stop] if stop < n else NOTHING)
    elif stop == n:
        _one_cut(desk, desk.code[first - 1], desk.order[first])
        desk.ranges[0], desk.ranges[1] = 1, 0
    else:
        desk.test[N_TEST_CUTS] = 2
        desk.cut[0, 0], desk.cut[0, 1] = desk.code[first - 1], desk.order[first]
        desk.cut[1, 0], desk.cut[1, 1] = desk.code[stop - 1], desk.order[stop]
        desk.ranges[0], desk.ranges[1], desk.ranges[2] = 1, 0, 1
    copy_sums(sides, BEST_BELOW, desk.table, 0)
    for s in range(sides.shape[1]):
        desk.table[1, s] = sides[whole, s] - sides[BEST_BELOW, s]
    if learns:
        desk.test[MISSING_CHILD] = 0 if inside else 1
    return np.int64(-2 if learns else 2)


@kernel
def _spread(target, sums, k):
    """Return the weight times the entropy of sums[k] in bits, and how many classes it has."""
    weight, n_present = weight_of(target, sums, k), 0
    spread = weight * math.log2(weight) if weight > 0.0 else 0.0
    for c in range(target.offsets[1]):
        if sums[k, c] > 0.0:
            spread -= sums[k, c] * math.log2(sums[k, c])
            n_present += 1
    return spread, n_present


@kernel
def _pays(n_whole, whole, weight, n_below, below, weight_below, n_above, above, weight_above):
    """Tell whether a cut saves more than it takes to describe it (Fayyad & Irani 1993), in bits of all rows."""
    if weight <= 1.0:
        return False
    choices = math.log2(3.0**n_whole - 2.0) if n_whole < 30 else n_whole * math.log2(3.0)
    change = n_whole * whole / weight - n_below * below / weight_below - n_above * above / weight_above
    return whole - below - above > math.log2(weight - 1.0) + choices - change


@kernel
def _ranges(work, start, n):
    """Cut the sorted rows in two where that saves description, and both parts again; the ranges are the children."""
    desk, grown, target, n_cuts, top = work.desk, work.grown, work.target, np.int64(0), np.int64(2)
    most = np.int64(len(desk.fill) - 2)
    desk.order[0], desk.order[1] = 0, n
    while top > 0:
        top -= 2
        low, high = desk.order[top], desk.order[top + 1]
        at = _best_paying_cut(work, start, low, high)
        if at > 0 and n_cuts + 1 < most // 2:
            j = n_cuts
            while j > 0 and desk.fill[j - 1] > at:
                desk.fill[j] = desk.fill[j - 1]
                j -= 1
            desk.fill[j] = at
            n_cuts += 1
            desk.order[top], desk.order[top + 1] = low, at
            desk.order[top + 2], desk.order[top + 3] = at, high
            top += 4
    if n_cuts == 0:
        return np.int64(0)
    for k in range(n_cuts):
        at = desk.fill[k]
        desk.cut[k, 0], desk.cut[k, 1] = code_of(desk.keys[at - 1]), code_of(desk.keys[at])
    for k in range(n_cuts + 1):
        desk.ranges[k] = k
        clear(desk.table, k)
        for i in range(desk.fill[k - 1] if k > 0 else 0, desk.fill[k] if k < n_cuts else n):
            at = start + place_of(desk.keys[i])
            add_row(target, desk.table, k, grown.row[at], grown.weight[at])
    desk.test[N_TEST_CUTS] = n_cuts
    return n_cuts + 1


@kernel
def _best_paying_cut(work, start, low, high):
    """Return where the cut of least entropy among the sorted rows [low, high) is, 0 where it does not pay."""
    desk, grown, sides, target = work.desk, work.grown, work.desk.sides, work.target
    clear(sides, ABOVE)
    for i in range(low, high):
        at = start + place_of(desk.keys[i])
        add_row(target, sides, ABOVE, grown.row[at], grown.weight[at])
    copy_sums(sides, ABOVE, sides, BEST_BELOW)
    whole, n_whole = _spread(target, sides, ABOVE)
    clear(sides, BELOW)
    best, least, is_paid = np.int64(0), math.inf, False
    if n_whole < 2:
        return best
    for i in range(low, high - 1):
        at = start + place_of(desk.keys[i])
        add_row(target, sides, BELOW, grown.row[at], grown.weight[at])
        if code_of(desk.keys[i]) == code_of(desk.keys[i + 1]):
            continue
        subtract(sides, BEST_BELOW, BELOW, ABOVE)
        if not is_large(work, sides, BELOW) or not is_large(work, sides, ABOVE):
            continue
        below, n_below = _spread(target, sides, BELOW)
        above, n_above = _spread(target, sides, ABOVE)
        if below + above < least - 1e-12 * whole:
            least, best = below + above, np.int64(i + 1)
            weight = weight_of(target, sides, BEST_BELOW)
            weight_below, weight_above = weight_of(target, sides, BELOW), weight_of(target, sides, ABOVE)
            is_paid = _pays(n_whole, whole, weight, n_below, below, weight_below, n_above, above, weight_above)
    return best if is_paid else np.int64(0)
