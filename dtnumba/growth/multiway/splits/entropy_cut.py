# mypy: ignore-errors
"""The cut of largest entropy gain for a criterion that says which cuts are candidates: C4.5's.

What the classes on both sides add to the entropy is kept up to date row by row, or group by group, because a row
changes two terms only. The terms are whole numbers (see ``whole_terms``), so the order of the rows changes no bit.
"""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, TIE
from dtnumba.criteria.whole_terms import scale_of_terms, whole_term
from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.node_sums import add_key, add_sums, clear, copy_sums, subtract, weight_of
from dtnumba.growth.multiway.ordered_columns import class_of, code_of, place_of
from dtnumba.growth.multiway.splits.criterion_hooks import is_parted, least_side, min_margin
from dtnumba.runtime.kernels import inline, outlined


@inline
def _move(work, unit, k, amount):
    """Move weight of a class from above a cut to below; return by how much the terms of the class change."""
    sides, terms, criterion = work.scratch.sides, work.scratch.terms, work.criterion
    below, above = sides[col.BELOW, k] + amount, max(sides[col.ABOVE, k] - amount, 0.0)
    sides[col.BELOW, k], sides[col.ABOVE, k] = below, above
    term_below, term_above = whole_term(criterion, unit, below), whole_term(criterion, unit, above)
    change = term_below + term_above - terms[0, k] - terms[1, k]
    terms[0, k], terms[1, k] = term_below, term_above
    return change


@inline
def _sum_of_terms(work, unit, n_classes):
    """Begin with nothing below a cut; return the sum of the terms of both sides."""
    sides, terms = work.scratch.sides, work.scratch.terms
    clear(sides, col.BELOW)
    copy_sums(sides, col.PRESENT_SUMS, sides, col.ABOVE)
    total = np.int64(0)
    for k in range(n_classes):
        terms[0, k], terms[1, k] = 0, whole_term(work.criterion, unit, sides[col.ABOVE, k])
        total += terms[1, k]
    return total


@outlined
def _best_of_any(work, line, known, least, ahead):
    """Return where the best cut is, -1 where none is a candidate, and how many candidates there are."""
    scratch, criterion, weights = work.scratch, work.criterion, work.grown.weight
    keys, first, n, in_table, start, one = line
    n_classes, feature = work.target.offsets[1], scratch.test[col.TESTED]
    unit = scale_of_terms(criterion, known, n_classes)
    inverse = 1.0 / unit  # a power of two
    bar, scale, below, best, n_allowed = NO_GAIN, 0.0, 0.0, np.int64(-1), np.int64(0)
    terms = _sum_of_terms(work, unit, n_classes)
    for i in range(n - 1):
        if in_table:
            for k in range(n_classes):
                if scratch.table[i, k] > 0.0:
                    terms += _move(work, unit, k, scratch.table[i, k])
            below += scratch.table[i, n_classes]
            last, following = scratch.code[i], scratch.code[i + 1]
        else:
            key = keys[first + i]
            amount = 1.0 if one else weights[start + place_of(work, key)]
            terms += _move(work, unit, class_of(work, key, start), amount)
            below += amount
            last, following = code_of(key), code_of(keys[first + i + 1])
        if last == following or below < least or known - below < least:
            continue
        parted = is_parted(criterion, feature, last, following)  # which nobody foresees, so it must not be a branch
        n_allowed += parted
        both = whole_term(criterion, unit, below) + whole_term(criterion, unit, known - below)
        found = float(terms - both) * inverse
        if found > bar and parted:
            scale = max(scale, abs(found))
            bar, best = found + max(TIE * scale, ahead), np.int64(i)
    return best, n_allowed


@outlined
def _best_of_two(work, line, least, ahead):
    """Do as ``_best_of_any`` for rows that count one each, of two classes: nothing but two counts changes by row."""
    keys, first, n, _, start, _ = line
    table, feature, known = work.criterion.table, work.scratch.test[col.TESTED], line.n
    ones_in_all = np.int64(work.scratch.sides[col.PRESENT_SUMS, 1])
    zeros_in_all, ones, least = known - ones_in_all, np.int64(0), np.int64(np.ceil(least))
    bar, scale, best, n_allowed = NO_GAIN, 0.0, np.int64(-1), np.int64(0)
    for i in range(n - 1):
        key = keys[first + i]
        ones += class_of(work, key, start)
        last, following, below = code_of(key), code_of(keys[first + i + 1]), np.int64(i + 1)
        if last == following or below < least or known - below < least:
            continue
        parted = is_parted(work.criterion, feature, last, following)
        n_allowed += parted
        zeros = below - ones
        found = (table[ones] + table[zeros] - table[below]) + (
            table[ones_in_all - ones] + table[zeros_in_all - zeros] - table[known - below]
        )
        if found > bar and parted:
            scale = max(scale, abs(found))
            bar, best = found + max(TIE * scale, ahead), np.int64(i)
    return best, n_allowed


@outlined
def best_entropy_cut(work, line):
    """Write the best cut of a number at a node to the scratch; return 2, or 0 where none is a candidate."""
    scratch, sides, target, criterion = work.scratch, work.scratch.sides, work.target, work.criterion
    keys, first, n, in_table, start, one = line
    known, weight = weight_of(target, sides, col.PRESENT_SUMS), weight_of(target, sides, col.WHOLE)
    ahead, least = min_margin(criterion, weight), least_side(criterion, known)
    if one and not in_table and target.offsets[1] == 2 and n < len(criterion.table):
        best, n_allowed = _best_of_two(work, line, least, ahead)
    else:
        best, n_allowed = _best_of_any(work, line, known, least, ahead)
    scratch.test[col.N_ALLOWED] = n_allowed
    if best < 0:
        return np.int64(0)
    clear(sides, col.BELOW)
    for i in range(best + 1):
        if in_table:
            add_sums(scratch.table, i, sides, col.BELOW)
        else:
            add_key(target, work, sides, col.BELOW, keys[first + i], start, one)
    if in_table:
        scratch.cut[0, 0], scratch.cut[0, 1] = scratch.code[best], scratch.code[best + 1]
    else:
        scratch.cut[0, 0], scratch.cut[0, 1] = code_of(keys[first + best]), code_of(keys[first + best + 1])
    scratch.test[col.N_TEST_CUTS] = 1
    scratch.range_child[0], scratch.range_child[1] = 0, 1
    copy_sums(sides, col.BELOW, scratch.table, 0)
    subtract(sides, col.PRESENT_SUMS, col.BELOW, col.ABOVE)
    copy_sums(sides, col.ABOVE, scratch.table, 1)
    return np.int64(2)
