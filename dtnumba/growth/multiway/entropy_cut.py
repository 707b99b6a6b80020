# mypy: ignore-errors
"""The cut of largest entropy gain for a criterion that says which cuts are candidates: C4.5's.

What the classes on both sides add to the entropy is kept up to date row by row, or group by group, because a row
changes two terms only.
"""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, TIE
from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.criterion_hooks import is_candidate, min_margin, x_log_x
from dtnumba.growth.multiway.group_rows import code_of, place_of
from dtnumba.growth.multiway.node_sums import clear, copy_sums, subtract, weight_of
from dtnumba.runtime.kernels import inline, outlined


@inline
def _move(work, k, amount):
    """Move weight of a class from above a cut to below; return by how much the terms of the class change."""
    sides, criterion = work.scratch.sides, work.criterion
    below, above = sides[col.BELOW, k], sides[col.ABOVE, k]
    before = x_log_x(criterion, below) + x_log_x(criterion, above)
    below, above = below + amount, max(above - amount, 0.0)
    sides[col.BELOW, k], sides[col.ABOVE, k] = below, above
    return x_log_x(criterion, below) + x_log_x(criterion, above) - before


@outlined
def best_entropy_cut(work, start, n, in_table):
    """Write the best cut of a number at a node to the scratch; return 2, or 0 where none is a candidate."""
    scratch, sides, target, criterion = work.scratch, work.scratch.sides, work.target, work.criterion
    n_classes, feature = target.offsets[1], scratch.test[col.TESTED]
    known, weight = weight_of(target, sides, col.PRESENT_SUMS), weight_of(target, sides, col.WHOLE)
    ahead, bar, scale, is_found = min_margin(criterion, weight), NO_GAIN, 0.0, False
    clear(sides, col.BELOW)
    copy_sums(sides, col.PRESENT_SUMS, sides, col.ABOVE)
    terms, below, n_below, last, i = 0.0, 0.0, 0.0, np.int64(0), np.int64(0)
    for k in range(n_classes):
        terms += x_log_x(criterion, sides[col.ABOVE, k])
    while i < n:
        if in_table:
            for k in range(n_classes):
                if scratch.table[i, k] > 0.0:
                    terms += _move(work, k, scratch.table[i, k])
            below += scratch.table[i, n_classes]
            n_below += scratch.table[i, n_classes + 1]
            last, i = scratch.code[i], i + 1
            following = scratch.code[i] if i < n else np.int64(col.NOTHING)
        else:
            last = following = code_of(scratch.keys[i])
            while following == last:
                at = start + place_of(scratch.keys[i])
                row, amount = work.grown.row[at], work.grown.weight[at]
                terms += _move(work, np.int64(target.places[0, row]), amount)
                below += amount
                n_below += 1.0
                i += 1
                following = code_of(scratch.keys[i]) if i < n else np.int64(col.NOTHING)
        if i == n:
            break
        if not is_candidate(criterion, feature, last, following, below, known - below):
            continue
        scratch.test[col.N_ALLOWED] += 1
        found = terms - x_log_x(criterion, below) - x_log_x(criterion, known - below)
        if found > bar:
            scale = max(scale, abs(found))
            bar, is_found = found + max(TIE * scale, ahead), True
            copy_sums(sides, col.BELOW, sides, col.BEST_BELOW)
            sides[col.BEST_BELOW, n_classes], sides[col.BEST_BELOW, n_classes + 1] = below, n_below
            scratch.cut[0, 0], scratch.cut[0, 1] = last, following
    if not is_found:
        return np.int64(0)
    scratch.test[col.N_TEST_CUTS] = 1
    scratch.range_child[0], scratch.range_child[1] = 0, 1
    copy_sums(sides, col.BEST_BELOW, scratch.table, 0)
    subtract(sides, col.PRESENT_SUMS, col.BEST_BELOW, col.ABOVE)
    copy_sums(sides, col.ABOVE, scratch.table, 1)
    return np.int64(2)
