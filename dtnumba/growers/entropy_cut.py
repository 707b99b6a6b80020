"""The cut of largest entropy gain for a criterion that says which cuts are candidates: C4.5's.

What the classes on both sides add to the entropy is kept up to date row by row, or group by group: a row changes two
terms, and letters of 26 classes, cut by cut anew, took twice as long to grow.
"""

import numpy as np

from dtnumba._jit import inline, kernel
from dtnumba.criteria import NO_GAIN, TIE
from dtnumba.growers.cases import ABOVE, BELOW, BEST_BELOW, KNOWN, N_ALLOWED, N_TEST_CUTS, NOTHING, TESTED, WHOLE
from dtnumba.growers.groups import code_of, place_of
from dtnumba.growers.prices import allows, lead, x_log_x
from dtnumba.growers.sums import clear, copy_sums, subtract, weight_of


@inline
def _move(work, k, amount):
    """Move weight of a class from above a cut to below; return by how much the terms of the class change."""
    sides, criterion = work.desk.sides, work.criterion
    below, above = sides[BELOW, k], sides[ABOVE, k]
    before = x_log_x(criterion, below) + x_log_x(criterion, above)
    below, above = below + amount, max(above - amount, 0.0)
    sides[BELOW, k], sides[ABOVE, k] = below, above
    return x_log_x(criterion, below) + x_log_x(criterion, above) - before


@kernel
def best_entropy_cut(work, start, n, in_table):
    """Write the best cut of a number at a node to desk.cut and desk.table; return 2, or 0 where none is a candidate."""
    desk, sides, target, criterion = work.desk, work.desk.sides, work.target, work.criterion
    n_classes, feature = target.offsets[1], desk.test[TESTED]
    known, weight = weight_of(target, sides, KNOWN), weight_of(target, sides, WHOLE)
    ahead, bar, scale, is_found = lead(criterion, weight), NO_GAIN, 0.0, False
    clear(sides, BELOW)
    copy_sums(sides, KNOWN, sides, ABOVE)
    terms, below, n_below, last, i = 0.0, 0.0, 0.0, np.int64(0), np.int64(0)
    for k in range(n_classes):
        terms += x_log_x(criterion, sides[ABOVE, k])
    while i < n:
        if in_table:
            for k in range(n_classes):
                if desk.table[i, k] > 0.0:
                    terms += _move(work, k, desk.table[i, k])
            below += desk.table[i, n_classes]
            n_below += desk.table[i, n_classes + 1]
            last = desk.code[i]
            i += 1
            following = desk.code[i] if i < n else np.int64(NOTHING)
        else:
            last = following = code_of(desk.keys[i])
            while following == last:
                at = start + place_of(desk.keys[i])
                row, amount = work.grown.row[at], work.grown.weight[at]
                terms += _move(work, np.int64(target.places[0, row]), amount)
                below += amount
                n_below += 1.0
                i += 1
                following = code_of(desk.keys[i]) if i < n else np.int64(NOTHING)
        if i == n:
            break
        if not allows(criterion, feature, last, following, below, known - below):
            continue
        desk.test[N_ALLOWED] += 1
        found = terms - x_log_x(criterion, below) - x_log_x(criterion, known - below)
        if found > bar:
            scale = max(scale, abs(found))
            bar, is_found = found + max(TIE * scale, ahead), True
            copy_sums(sides, BELOW, sides, BEST_BELOW)
            sides[BEST_BELOW, n_classes], sides[BEST_BELOW, n_classes + 1] = below, n_below
            desk.cut[0, 0], desk.cut[0, 1] = last, following
    if not is_found:
        return np.int64(0)
    desk.test[N_TEST_CUTS] = 1
    desk.ranges[0], desk.ranges[1] = 0, 1
    copy_sums(sides, BEST_BELOW, desk.table, 0)
    subtract(sides, KNOWN, BEST_BELOW, ABOVE)
    copy_sums(sides, ABOVE, desk.table, 1)
    return np.int64(2)
