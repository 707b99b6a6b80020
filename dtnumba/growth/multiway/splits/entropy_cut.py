# mypy: ignore-errors
"""The cut of largest entropy gain for a criterion that says which cuts are candidates: C4.5's.

What the classes on both sides add to the entropy is kept up to date row by row, or group by group, because a row
changes two terms only. The terms are whole numbers (see ``whole_terms``), so the order of the rows changes no bit.
"""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, TIE
from dtnumba.criteria.whole_terms import scale_of_terms, whole_term
from dtnumba.growth.columns import NO_LIMIT
from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.node_sums import add_key, add_sums, clear, copy_sums, subtract, weight_of
from dtnumba.growth.multiway.ordered_columns import class_of, code_of, place_of
from dtnumba.growth.multiway.splits.criterion_hooks import is_parted, least_side, min_margin, surely_parted
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
    inverse, far = 1.0 / unit, _far(work, feature, n)  # a power of two
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
        # Nobody foresees it, so it must not be a branch
        parted = following - last >= far or is_parted(criterion, feature, last, following)
        n_allowed += parted
        both = whole_term(criterion, unit, below) + whole_term(criterion, unit, known - below)
        found = float(terms - both) * inverse
        if found > bar and parted:
            scale = max(scale, abs(found))
            bar, best = found + max(TIE * scale, ahead), np.int64(i)
    return best, n_allowed


_DENSE = 64  # codes to a row of a node: no more, and what is known of neighbouring codes is read in passing


@inline
def _far(work, feature, n):
    """Return how far apart codes of a node of n rows are parted for sure; none are where asking costs less."""
    is_dense = n * _DENSE >= work.n_codes[feature]
    return np.int64(NO_LIMIT) if is_dense else surely_parted(work.criterion, feature)


_STRETCH = 64  # keys that are passed over where no cut among them can be the best
_ROUNDED = 1e-12  # of the largest term: by more than this no score is rounded


@inline
def _score_of_two(table, ones, zeros, ones_in_all, zeros_in_all):
    """Return the score of a cut with so many rows of two classes below it, of so many in all."""
    below, known = ones + zeros, ones_in_all + zeros_in_all
    return (table[ones] + table[zeros] - table[below]) + (
        table[ones_in_all - ones] + table[zeros_in_all - zeros] - table[known - below]
    )


@outlined
def _best_of_two(work, line, least, ahead):
    """Do as ``_best_of_any`` for rows that count one each, of two classes: nothing but two counts changes by row.

    Side BELOW becomes the sums below the cut. The score is convex in the two counts, so within a stretch of keys it is
    nowhere above the largest of its values at the corners of what the counts may be there. Where that is no better than
    the best cut so far, the candidates are only counted.
    """
    all_keys, first, n, _, start, _ = line
    keys, known = all_keys[first : first + n], n
    table, feature = work.criterion.table, work.scratch.test[col.TESTED]
    far = _far(work, feature, n)
    ones_in_all = np.int64(work.scratch.sides[col.PRESENT_SUMS, 1])
    zeros_in_all, ones, least = known - ones_in_all, np.int64(0), np.int64(np.ceil(least))
    bar, scale, best, best_ones, n_allowed, i = NO_GAIN, 0.0, np.int64(-1), np.int64(0), np.int64(0), np.int64(0)
    rounded = _ROUNDED * table[known]
    while i < n - 1:
        end = min(i + _STRETCH, n - 1)
        if best >= 0 and i >= least and known - end >= least:
            more = np.int64(0)
            for j in range(i, end):
                more += class_of(work, keys[np.uint64(j)], start)
            top, bottom, side = ones + more, i - ones, end - ones - more
            bound = max(
                _score_of_two(table, ones, bottom, ones_in_all, zeros_in_all),
                _score_of_two(table, top, bottom, ones_in_all, zeros_in_all),
                _score_of_two(table, ones, side, ones_in_all, zeros_in_all),
                _score_of_two(table, top, side, ones_in_all, zeros_in_all),
            )
            if bound + rounded <= bar:
                for j in range(i, end):
                    last, following = code_of(keys[np.uint64(j)]), code_of(keys[np.uint64(j + 1)])
                    parted = following - last >= far or is_parted(work.criterion, feature, last, following)
                    n_allowed += np.int64(last != following) & np.int64(parted)
                i, ones = end, top
                continue
        while i < end:
            key = keys[np.uint64(i)]
            ones += class_of(work, key, start)
            i += 1
            last, following = code_of(key), code_of(keys[np.uint64(i)])
            if last == following or i < least or known - i < least:
                continue
            parted = following - last >= far or is_parted(work.criterion, feature, last, following)
            n_allowed += parted
            found = _score_of_two(table, ones, i - ones, ones_in_all, zeros_in_all)
            if found > bar and parted:
                scale = max(scale, abs(found))
                bar, best, best_ones = found + max(TIE * scale, ahead), i - 1, ones
    below = work.scratch.sides[col.BELOW]
    below[0], below[1], below[2], below[3] = best + 1 - best_ones, best_ones, best + 1, best + 1
    return best, n_allowed


@outlined
def best_entropy_cut(work, line):
    """Write the best cut of a number at a node to the scratch; return 2, or 0 where none is a candidate."""
    scratch, sides, target, criterion = work.scratch, work.scratch.sides, work.target, work.criterion
    keys, first, n, in_table, start, one = line
    known, weight = weight_of(target, sides, col.PRESENT_SUMS), weight_of(target, sides, col.WHOLE)
    ahead, least = min_margin(criterion, weight), least_side(criterion, known, scratch.test[col.TESTED])
    is_two = one and not in_table and target.offsets[1] == 2 and n < len(criterion.table)
    if is_two:
        best, n_allowed = _best_of_two(work, line, least, ahead)
    else:
        best, n_allowed = _best_of_any(work, line, known, least, ahead)
    scratch.test[col.N_ALLOWED] = n_allowed
    if best < 0:
        return np.int64(0)
    if not is_two:
        clear(sides, col.BELOW)
    for i in range(0 if is_two else best + 1):
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
