# mypy: ignore-errors
"""Splits of a node on a number: the best interval, inside or outside."""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, TIE, has_terms
from dtnumba.criteria.whole_terms import scale_of_terms, score_of_wholes, sum_of_terms, terms_moved
from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.node_sums import add_key, add_sums, clear, copy_sums, rows_of, score, subtract, weight_of
from dtnumba.growth.multiway.ordered_columns import code_of
from dtnumba.growth.multiway.splits.group_rows import fill_table, fits_table, in_order
from dtnumba.growth.multiway.splits.judge_test import is_large
from dtnumba.growth.multiway.splits.number_tests import Line, begin_line, judge_line, write_one_cut
from dtnumba.runtime.kernels import entry, outlined

# Values at a node that an interval is looked for among; more are put together in this many groups of like size.
MOST_GROUPS = 255
_WIDE_CLASSES = 31


@entry
def find_interval(work, feature, node, _):
    """Write the best interval at a node, its gain and its information; return 1 where the number varies, else 0."""
    copy_sums(work.grown.sums, node, work.scratch.sides, col.WHOLE)
    if fits_table(work.context, feature, work.grown.nodes[node, col.STOP] - work.grown.nodes[node, col.START]):
        n = _merge_groups(work.context, fill_table(work.context, feature, node))
    else:
        n = _few_groups(work.context, feature, node)
    line = Line(work.scratch.keys, np.int64(0), n, True, np.int64(0), False)
    n_values = begin_line(work, feature, line)
    found = _best_interval(work, n) if n_values == 2 else np.int64(0)
    return judge_line(work, feature, n_values, found, line)


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
    one, start, n_values = grown.nodes[node, col.ARE_ONE] == 1, grown.nodes[node, col.START], np.int64(0)
    for i in range(first, first + n):
        n_values += i == first or code_of(keys[i]) != code_of(keys[i - 1])
    left, m, filled, goal = rows_of(target, scratch.sides, col.PRESENT_SUMS), np.int64(-1), 0.0, 0.0
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
        filled = rows_of(target, scratch.table, m)
    return m + 1


@outlined
def _best_interval(work, n):
    """Write the interval of largest score; return the number of children as ``_best_with_missing`` does.

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
        write_one_cut(scratch, scratch.code[stop - 1], first_code[stop] if stop < n else col.NOTHING)
    elif stop == n:
        write_one_cut(scratch, scratch.code[first - 1], first_code[first])
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
