# mypy: ignore-errors
"""Splits of a node on a number: the best threshold, the best interval, ranges between cuts that pay for themselves."""

import math
from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, TIE, has_terms
from dtnumba.criteria.whole_terms import scale_of_terms, score_of_wholes, sum_of_terms, terms_moved
from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.criterion_hooks import penalised_gain
from dtnumba.growth.multiway.entropy_cut import best_entropy_cut
from dtnumba.growth.multiway.group_rows import are_one, begin_node, fill_table, fits_table, in_order
from dtnumba.growth.multiway.judge_test import is_large
from dtnumba.growth.multiway.node_sums import add_key, add_sums, clear, copy_sums, rows_of, score, subtract, weight_of
from dtnumba.growth.multiway.ordered_columns import code_of
from dtnumba.runtime.addresses import call_at
from dtnumba.runtime.kernels import by_having, entry, inline, outlined

# Values at a node that an interval is looked for among; more are put together in this many groups of like size.
MOST_GROUPS = 255
_WIDE_CLASSES = 31


class Line(NamedTuple):
    """What the cuts of a number at a node lie between: groups in ``scratch.table``, or else keys in order."""

    keys: np.ndarray
    first: int  # where those of the node begin
    n: int  # groups, or keys of rows that have a value
    in_table: bool
    start: int  # where the rows of the node are listed
    are_one: bool  # their weights


@entry
def find_threshold(work, feature, node, _):
    """Write the best threshold at a node, its gain and its information; return 1 where the number varies, else 0."""
    begin_node(work, node)
    start, stop = work.grown.nodes[node, col.START], work.grown.nodes[node, col.STOP]
    keys, first, in_table = work.scratch.keys, np.int64(0), fits_table(work.context, feature, stop - start)
    if in_table:
        n = fill_table(work.context, feature, node)
    else:
        keys, first, n = in_order(work.context, feature, node)
    line = Line(keys, first, n, in_table, start, are_one(work.context, node))
    n_values = _begin(work, feature, line)
    found = _threshold(work.criterion, work, line) if n_values == 2 else np.int64(0)
    return _end(work, feature, n_values, found, _first_code(work, line))


@entry
def find_interval(work, feature, node, _):
    """Write the best interval at a node, its gain and its information; return 1 where the number varies, else 0."""
    begin_node(work, node)
    if fits_table(work.context, feature, work.grown.nodes[node, col.STOP] - work.grown.nodes[node, col.START]):
        n = _merge_groups(work.context, fill_table(work.context, feature, node))
    else:
        n = _few_groups(work.context, feature, node)
    line = Line(work.scratch.keys, np.int64(0), n, True, np.int64(0), False)
    n_values = _begin(work, feature, line)
    found = _best_interval(work, n) if n_values == 2 else np.int64(0)
    return _end(work, feature, n_values, found, _first_code(work, line))


@entry
def find_ranges(work, feature, node, _):
    """Write the ranges that pay for their cuts, their gain and information; return 1 where it varies, else 0."""
    begin_node(work, node)
    keys, first, n = in_order(work.context, feature, node)
    line = Line(keys, first, n, False, work.grown.nodes[node, col.START], are_one(work.context, node))
    n_values = _begin(work, feature, line)
    found = _ranges(work, line) if n_values == 2 else np.int64(0)
    return _end(work, feature, n_values, found, _first_code(work, line))


@inline
def _first_code(work, line):
    """Return the smallest code of a node."""
    return work.scratch.code[0] if line.in_table else code_of(line.keys[line.first])


@inline
def _begin(work, feature, line):
    """Return 2 where a feature has several values, 1 for one and missing ones, else 0; no split is found yet."""
    scratch, rules, n = work.scratch, work.rules, line.n
    scratch.gain[feature], scratch.information[feature], scratch.test[col.TESTED] = NO_GAIN, 0.0, feature
    scratch.test[col.N_ALLOWED] = 0
    if n == 0:
        return np.int64(0)
    has_two = n > 1 if line.in_table else _first_code(work, line) != code_of(line.keys[line.first + n - 1])
    is_value = rows_of(work.target, scratch.sides, col.MISSING_SUMS) > 0.0 and (
        rules.missing in (col.LEARNED, col.BRANCH)
    )
    return np.int64(2 if has_two else is_value)


@inline
def _end(work, feature, n_values, found, code):
    """Write gain and information of the split found; return 1 where the number varies, else 0."""
    if n_values == 1:
        found = _split_off_missing(work, code)
    if found != 0:
        call_at(work.calls.judge, work, feature, abs(found), np.int64(found < 0))
        scratch, weight = work.scratch, weight_of(work.target, work.scratch.sides, col.WHOLE)
        scratch.gain[feature] = penalised_gain(
            work.criterion, scratch.gain[feature], scratch.test[col.N_ALLOWED], weight
        )
    return np.int64(n_values > 0)


@inline
def _one_cut(scratch, last, following):
    """Write the split at one threshold, between two codes; what lies below goes to child 0."""
    scratch.test[col.N_TEST_CUTS] = 1
    scratch.cut[0, 0], scratch.cut[0, 1] = last, following
    scratch.range_child[0], scratch.range_child[1] = 0, 1


@inline
def _split_off_missing(work, code):
    """Split the rows with the only value from those without; return how many children, 0 where that is not legal.

    The number is negative where the missing values are in the children already.
    """
    scratch = work.scratch
    _one_cut(scratch, code, col.NOTHING)
    copy_sums(scratch.sides, col.PRESENT_SUMS, scratch.table, 0)
    if work.rules.missing == col.LEARNED:
        copy_sums(scratch.sides, col.MISSING_SUMS, scratch.table, 1)
        scratch.test[col.MISSING_CHILD] = 1
        return np.int64(-2 if score_of_kids(work) > NO_GAIN else 0)
    return np.int64(1)


@outlined
def score_of_kids(work):
    """Return the score of the first two children."""
    return score(work.target, work.criterion, work.scratch.table, 0, 1)


@outlined
def _best_threshold(work, line):
    """Write the threshold of largest score, the first of equals; return how many children, 0 where none is legal.

    The number is negative where the missing values are in the children already: learned ones are tried on both sides.
    """
    scratch, sides, target = work.scratch, work.scratch.sides, work.target
    keys, first, n, in_table, start, one = line
    learns = work.rules.missing == col.LEARNED and rows_of(target, sides, col.MISSING_SUMS) > 0.0
    whole = col.WHOLE if learns else col.PRESENT_SUMS
    bar, scale, missing, is_found = NO_GAIN, 0.0, np.int64(0), False
    for turn in range(2 if learns else 1):
        clear(sides, col.BELOW)
        if turn == 1:
            copy_sums(sides, col.MISSING_SUMS, sides, col.BELOW)
        i = np.int64(0)
        while i < n:
            if in_table:
                add_sums(scratch.table, i, sides, col.BELOW)
                last = scratch.code[i]
                i += 1
                following = scratch.code[i] if i < n else np.int64(col.NOTHING)
            else:
                last = following = code_of(keys[first + i])
                while following == last:
                    add_key(target, work, sides, col.BELOW, keys[first + i], start, one)
                    i += 1
                    following = code_of(keys[first + i]) if i < n else np.int64(col.NOTHING)
            if i == n:
                if not learns or turn == 1:
                    break
                copy_sums(sides, col.MISSING_SUMS, sides, col.ABOVE)
            else:
                subtract(sides, whole, col.BELOW, col.ABOVE)
            if not is_large(work, sides, col.BELOW) or not is_large(work, sides, col.ABOVE):
                continue
            found = score(target, work.criterion, sides, col.BELOW, col.ABOVE)
            if found > bar:
                scale = max(scale, abs(found))
                bar, missing, is_found = found + TIE * scale, np.int64(1 - turn), True
                copy_sums(sides, col.BELOW, sides, col.BEST_BELOW)
                _one_cut(scratch, last, following)
    if is_found:
        copy_sums(sides, col.BEST_BELOW, scratch.table, 0)
        for s in range(sides.shape[1]):
            scratch.table[1, s] = sides[whole, s] - sides[col.BEST_BELOW, s]
        if learns:
            scratch.test[col.MISSING_CHILD] = missing
        return np.int64(-2 if learns else 2)
    return np.int64(0)


def _by_rows(criterion, work, line):
    return best_entropy_cut(work, line)


def _by_score(criterion, work, line):
    return _best_threshold(work, line)


_threshold = by_having("is_parted", _by_rows, _by_score)


@outlined
def _merge_groups(work, n):
    """Merge neighbouring groups until there are at most MOST_GROUPS, of similar numbers of rows; return how many.

    scratch.code[g] becomes the last code of a group, and scratch.order[g] its first.
    """
    scratch, target, first_code = work.scratch, work.target, work.scratch.order
    left = rows_of(target, scratch.sides, col.PRESENT_SUMS)
    m, filled, goal = np.int64(-1), 0.0, 0.0
    for g in range(n):
        here = rows_of(target, scratch.table, g)
        if n <= MOST_GROUPS or filled >= goal:
            m, filled = m + 1, 0.0
            goal = left / (MOST_GROUPS - m)
            if m != g:
                copy_sums(scratch.table, g, scratch.table, m)
            first_code[m] = scratch.code[g]
        else:
            add_sums(scratch.table, g, scratch.table, m)
        scratch.code[m] = scratch.code[g]
        filled, left = filled + here, left - here
    return m + 1


@outlined
def _few_groups(work, feature, node):
    """Do as ``_merge_groups`` for rows in order, whose values may be far more than groups."""
    scratch, target, grown, first_code = work.scratch, work.target, work.grown, work.scratch.order
    keys, first, n = in_order(work, feature, node)
    one, start, n_values = are_one(work, node), grown.nodes[node, col.START], np.int64(0)
    for i in range(first, first + n):
        n_values += i == first or code_of(keys[i]) != code_of(keys[i - 1])
    left, m, filled, goal = float(n), np.int64(-1), 0.0, 0.0
    for i in range(first, first + n):
        code = code_of(keys[i])
        if i == first or code != code_of(keys[i - 1]):
            if n_values <= MOST_GROUPS or filled >= goal:
                left, m, filled = left - filled, m + 1, 0.0
                goal = left / (MOST_GROUPS - m)
                clear(scratch.table, m)
                first_code[m] = code
            scratch.code[m] = code
        add_key(target, work, scratch.table, m, keys[i], start, one)
        filled += 1.0
    return m + 1


@outlined
def _best_interval(work, n):
    """Write the interval of largest score; return the number of children as ``_best_threshold`` does.

    Every run of groups is tried as the inside, with learned missing values inside or outside. An interval that reaches
    an end is a threshold, and is written as one.
    """
    scratch, sides, target = work.scratch, work.scratch.sides, work.target
    first_code = scratch.order
    learns = work.rules.missing == col.LEARNED and rows_of(target, sides, col.MISSING_SUMS) > 0.0
    whole = col.WHOLE if learns else col.PRESENT_SUMS
    bar, scale, first, stop, inside = NO_GAIN, 0.0, np.int64(-1), np.int64(0), False
    in_terms = has_terms(work.criterion) and target.offsets[1] >= _WIDE_CLASSES and len(target.offsets) == 2
    unit = _list_classes(work, n, whole) if in_terms else 1.0
    for turn in range(2 if learns else 1):
        terms_outside = (np.int64(0), np.int64(0))
        for a in range(n):
            if work.halt[0] != 0:
                return np.int64(0)
            clear(sides, col.BELOW)
            if turn == 1:
                copy_sums(sides, col.MISSING_SUMS, sides, col.BELOW)
            if in_terms and a == 0:
                terms_outside = _first_terms(work, whole, unit)
            terms = terms_outside
            for b in range(a, n):
                if in_terms:
                    terms = _take_classes(work, whole, b, unit, terms)
                else:
                    add_sums(scratch.table, b, sides, col.BELOW)
                # What reaches the upper end is the outside of one that reaches the lower, unless it is everything.
                if a == 0 and b == n - 1 and not (learns and turn == 0):
                    continue
                if b == n - 1 and a > 0 and not learns:
                    continue
                if in_terms:
                    found = _score_in_terms(work, whole, unit, terms)
                else:
                    subtract(sides, whole, col.BELOW, col.ABOVE)
                    if a == 0 and b == n - 1:
                        copy_sums(sides, col.MISSING_SUMS, sides, col.ABOVE)
                    if not is_large(work, sides, col.BELOW) or not is_large(work, sides, col.ABOVE):
                        continue
                    found = score(target, work.criterion, sides, col.BELOW, col.ABOVE)
                if found > bar:
                    scale = max(scale, abs(found))
                    bar, first, stop, inside = found + TIE * scale, np.int64(a), np.int64(b + 1), turn == 1
                    copy_sums(sides, col.BELOW, sides, col.BEST_BELOW)
    if first < 0:
        return np.int64(0)
    if first == 0:
        _one_cut(scratch, scratch.code[stop - 1], first_code[stop] if stop < n else col.NOTHING)
    elif stop == n:
        _one_cut(scratch, scratch.code[first - 1], first_code[first])
        scratch.range_child[0], scratch.range_child[1] = 1, 0
    else:
        scratch.test[col.N_TEST_CUTS] = 2
        scratch.cut[0, 0], scratch.cut[0, 1] = scratch.code[first - 1], first_code[first]
        scratch.cut[1, 0], scratch.cut[1, 1] = scratch.code[stop - 1], first_code[stop]
        scratch.range_child[0], scratch.range_child[1], scratch.range_child[2] = 1, 0, 1
    copy_sums(sides, col.BEST_BELOW, scratch.table, 0)
    for s in range(sides.shape[1]):
        scratch.table[1, s] = sides[whole, s] - sides[col.BEST_BELOW, s]
    if learns:
        scratch.test[col.MISSING_CHILD] = 0 if inside else 1
    return np.int64(-2 if learns else 2)


# Of very many classes, where a criterion's score is made of terms, a group costs its own classes, and not all.
@outlined
def _list_classes(work, n, whole):
    """Write to ``keys`` the classes of each group, up to ``fill[g]`` those of group g; return what terms count in."""
    scratch, target, at = work.scratch, work.target, np.int64(0)
    for g in range(n):
        for c in range(target.offsets[1]):
            if scratch.table[g, c] != 0.0:
                scratch.keys[at] = np.uint64(c)
                at += 1
        scratch.fill[g] = at
    return scale_of_terms(work.criterion, weight_of(target, scratch.sides, whole), target.offsets[1])


@outlined
def _first_terms(work, whole, unit):
    """Return the sums of the terms inside and outside of an interval that has no groups yet."""
    sides, n = work.scratch.sides, work.target.offsets[1]
    subtract(sides, whole, col.BELOW, col.ABOVE)
    inside = sum_of_terms(work.criterion, unit, sides[col.BELOW], n)
    return inside, sum_of_terms(work.criterion, unit, sides[col.ABOVE], n)


@outlined
def _take_classes(work, whole, g, unit, terms):
    """Take a group into the interval; return the sums of the terms."""
    scratch, sides, n = work.scratch, work.scratch.sides, work.target.offsets[1]
    inside, outside = terms
    for i in range(scratch.fill[g - 1] if g > 0 else 0, scratch.fill[g]):
        c = np.int64(scratch.keys[i])
        weight, below = scratch.table[g, c], sides[col.BELOW, c]
        more, less = terms_moved(work.criterion, unit, below, sides[whole, c] - below, weight)
        inside, outside = inside + more, outside + less
        sides[col.BELOW, c] = below + weight
    for s in range(n, n + 2):
        sides[col.BELOW, s] += scratch.table[g, s]
    return inside, outside


@outlined
def _score_in_terms(work, whole, unit, terms):
    """Return the score of an interval; NO_GAIN where a side may not be a leaf."""
    sides, target, n = work.scratch.sides, work.target, work.target.offsets[1]
    for s in range(n, n + 2):
        sides[col.ABOVE, s] = sides[whole, s] - sides[col.BELOW, s]
    if not is_large(work, sides, col.BELOW) or not is_large(work, sides, col.ABOVE):
        return NO_GAIN
    weight_below, weight_above = weight_of(target, sides, col.BELOW), weight_of(target, sides, col.ABOVE)
    return score_of_wholes(work.criterion, unit, terms[0], terms[1], weight_below, weight_above)


@outlined
def _weighted_entropy(target, sums, k):
    """Return the weight times the entropy of sums[k] in bits, and how many classes it has."""
    weight, n_present = weight_of(target, sums, k), 0
    spread = weight * math.log2(weight) if weight > 0.0 else 0.0
    for c in range(target.offsets[1]):
        if sums[k, c] > 0.0:
            spread -= sums[k, c] * math.log2(sums[k, c])
            n_present += 1
    return spread, n_present


@outlined
def _pays(n_whole, whole, weight, n_below, below, weight_below, n_above, above, weight_above):
    """Tell whether a cut saves more than it takes to describe it (Fayyad & Irani 1993), in bits of all rows."""
    if weight <= 1.0:
        return False
    choices = math.log2(3.0**n_whole - 2.0) if n_whole < 30 else n_whole * math.log2(3.0)
    change = n_whole * whole / weight - n_below * below / weight_below - n_above * above / weight_above
    return whole - below - above > math.log2(weight - 1.0) + choices - change


@outlined
def _ranges(work, line):
    """Write the ranges between the cuts that pay, each a child; return how many there are, 0 where no cut pays.

    The sorted rows are cut in two where that saves description, and then both parts, until nothing is saved.
    """
    scratch, target, n_cuts, top = work.scratch, work.target, np.int64(0), np.int64(2)
    keys, n, start, one = line.keys, line.n, line.start, line.are_one
    waiting, cuts = scratch.order, scratch.fill  # (first, stop) of parts not looked at; places of the cuts, ascending
    most = np.int64(len(cuts) - 2)
    waiting[0], waiting[1] = line.first, line.first + n
    while top > 0 and work.halt[0] == 0:
        top -= 2
        low, high = waiting[top], waiting[top + 1]
        at = _best_paying_cut(work, line, low, high)
        if at > 0 and n_cuts + 1 < most // 2:
            j = n_cuts
            while j > 0 and cuts[j - 1] > at:
                cuts[j] = cuts[j - 1]
                j -= 1
            cuts[j] = at
            n_cuts += 1
            waiting[top], waiting[top + 1] = low, at
            waiting[top + 2], waiting[top + 3] = at, high
            top += 4
    if n_cuts == 0:
        return np.int64(0)
    for k in range(n_cuts):
        at = cuts[k]
        scratch.cut[k, 0], scratch.cut[k, 1] = code_of(keys[at - 1]), code_of(keys[at])
    for k in range(n_cuts + 1):
        scratch.range_child[k] = k
        clear(scratch.table, k)
        for i in range(cuts[k - 1] if k > 0 else line.first, cuts[k] if k < n_cuts else line.first + n):
            add_key(target, work, scratch.table, k, keys[i], start, one)
    scratch.test[col.N_TEST_CUTS] = n_cuts
    return n_cuts + 1


@outlined
def _best_paying_cut(work, line, low, high):
    """Return where the cut of least entropy among keys[low:high] is, 0 where it does not pay."""
    sides, target = work.scratch.sides, work.target
    keys, start, one = line.keys, line.start, line.are_one
    clear(sides, col.ABOVE)
    for i in range(low, high):
        add_key(target, work, sides, col.ABOVE, keys[i], start, one)
    copy_sums(sides, col.ABOVE, sides, col.BEST_BELOW)
    whole, n_whole = _weighted_entropy(target, sides, col.ABOVE)
    clear(sides, col.BELOW)
    best, least, is_paid = np.int64(0), math.inf, False
    if n_whole < 2:
        return best
    for i in range(low, high - 1):
        add_key(target, work, sides, col.BELOW, keys[i], start, one)
        if code_of(keys[i]) == code_of(keys[i + 1]):
            continue
        subtract(sides, col.BEST_BELOW, col.BELOW, col.ABOVE)
        if not is_large(work, sides, col.BELOW) or not is_large(work, sides, col.ABOVE):
            continue
        below, n_below = _weighted_entropy(target, sides, col.BELOW)
        above, n_above = _weighted_entropy(target, sides, col.ABOVE)
        if below + above < least - 1e-12 * whole:
            least, best = below + above, np.int64(i + 1)
            weight = weight_of(target, sides, col.BEST_BELOW)
            weight_below, weight_above = weight_of(target, sides, col.BELOW), weight_of(target, sides, col.ABOVE)
            is_paid = _pays(n_whole, whole, weight, n_below, below, weight_below, n_above, above, weight_above)
    return best if is_paid else np.int64(0)
