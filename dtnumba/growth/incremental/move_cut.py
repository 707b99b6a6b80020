# mypy: ignore-errors
"""A new cut of the same column: the rows between it and the old one leave one child and come to the other."""

import numpy as np

from dtnumba.growth.incremental.lists import COMES, MISSING_CODE, code_of
from dtnumba.growth.incremental.look import goes_left, is_in, passes
from dtnumba.growth.incremental.state import MISSING_LEFT, THRESHOLD
from dtnumba.growth.incremental.winner import is_category
from dtnumba.growth.splitters.candidates import NOTHING
from dtnumba.runtime.kernels import inline, outlined

# A subtree of which a larger share of the rows would change sides is grown anew.
_MOST_MOVED = 4


@inline
def midpoint_of(below, above):
    """Return the threshold halfway between neighbours, as ``tables.floats.midpoint`` does."""
    middle = below / 2 + above / 2
    return below if not (below <= middle < above) or not np.isfinite(middle) else middle


@inline
def _add_moved(visit, at, node, column, new, old):
    """Add to the sets the rows of a node that were there before and change sides between two tests."""
    held, rows, n_gathered = visit.held, visit.sets, visit.here[3]
    if n_gathered >= 0:
        for i in range(n_gathered):
            row = np.int64(visit.rows[i])
            moves = goes_left(held, row, column, new) != goes_left(held, row, column, old)
            if moves and held.mark[row] != COMES and at < len(rows):
                rows[at] = row
                at += 1
        return at
    # Rows that change sides lie between the two cuts, have a level that does, or are missing.
    by_level, missing, low, high = is_category(visit.job.splitter, column), new[1] != old[1], new[0], old[0]
    begin, end = np.int64(1), np.int64(0)
    if not by_level and low != high:
        low, high = min(low, high), max(low, high)
        begin, end = code_of(held, column, low), code_of(held, column, high)
    for b in range(MISSING_CODE + 1):
        is_between = begin <= b <= end
        if by_level and b < MISSING_CODE:
            is_between = held.first[column, b] >= 0 and passes(b, new) != passes(b, old)
        if is_between or (missing and b == MISSING_CODE):
            row = np.int64(held.first[column, b])
            while row >= 0:
                moves = goes_left(held, row, column, new) != goes_left(held, row, column, old)
                if moves and held.mark[row] != COMES and at < len(rows) and is_in(visit.nodes, held, node, row):
                    rows[at] = row
                    at += 1
                row = np.int64(held.after[column, row])
    return at


@outlined
def move_cut(visit, node, n, column, first, border, last):
    """Give a node its new cut of the same column and its children their sets; return where these end.

    -1 where too many rows change sides; the node is as it was then.
    """
    nodes, held, rows = visit.nodes, visit.held, visit.sets
    where = visit.scratch.candidates.where[column]
    threshold = np.inf
    if is_category(visit.job.splitter, column) and where[2] != NOTHING:
        threshold = np.nan
    elif where[2] != NOTHING:
        below, above = np.float64(held.values[where[1], column]), np.float64(held.values[where[2], column])
        threshold = midpoint_of(below, above)
    missing_left, old = np.int32(where[3]), nodes.number[node, THRESHOLD]
    old_missing = nodes.link[node, MISSING_LEFT]
    at = np.int64(last)
    levels = nodes.levels[node]
    new_test, old_test = (threshold, missing_left, visit.left), (old, old_missing, levels)
    at = _add_moved(visit, at, node, column, new_test, old_test)
    moved = at
    n_moved = moved - last
    if n_moved * _MOST_MOVED > n or moved + 2 * n_moved + last - first > len(rows):
        return np.int64(-1)
    for side in range(2):  # left, then right
        is_left = side == 0
        visit.borders[3 * side] = at
        # What comes: rows that came to the node and belong here, and those that come from the other side.
        for i in range(first, border):
            if goes_left(held, rows[i], column, new_test) == is_left:
                rows[at] = rows[i]
                at += 1
        for i in range(last, moved):
            if goes_left(held, rows[i], column, new_test) == is_left:
                rows[at] = rows[i]
                at += 1
        visit.borders[3 * side + 1] = at
        for i in range(border, moved):
            if goes_left(held, rows[i], column, old_test) == is_left:
                rows[at] = rows[i]
                at += 1
        visit.borders[3 * side + 2] = at
    nodes.number[node, THRESHOLD], nodes.link[node, MISSING_LEFT] = threshold, missing_left
    for k in range(len(levels)):
        levels[k] = visit.left[k]
    return at
