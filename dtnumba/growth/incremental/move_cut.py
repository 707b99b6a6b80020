# mypy: ignore-errors
"""A new cut of the same column: the rows between it and the old one leave one child and come to the other."""

import numpy as np

from dtnumba.growth.incremental.lists import COMES, MISSING_CODE, code_of
from dtnumba.growth.incremental.look import goes_left, is_in
from dtnumba.growth.incremental.state import MISSING_LEFT, THRESHOLD
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
def _add_moved(visit, at, node, column, low, high, missing):
    """Add to the sets the rows of a node that were there before and lie between two cuts, or are missing."""
    held, rows, n_gathered = visit.held, visit.sets, visit.here[3]
    if n_gathered >= 0:
        for i in range(n_gathered):
            row = np.int64(visit.rows[i])
            value = held.values[row, column]
            moves = missing if value != value else low < value <= high
            if moves and held.mark[row] != COMES and at < len(rows):
                rows[at] = row
                at += 1
        return at
    begin = code_of(held, column, low) if low < high else np.int64(1)
    end = code_of(held, column, high) if low < high else np.int64(0)
    for b in range(MISSING_CODE + 1):
        if begin <= b <= end or (missing and b == MISSING_CODE):
            row = np.int64(held.first[column, b])
            while row >= 0:
                value = held.values[row, column]
                moves = missing if value != value else low < value <= high
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
    below = np.float64(held.values[where[1], column])
    above = np.float64(held.values[max(where[2], np.int64(0)), column])
    threshold = np.inf if where[2] == NOTHING else midpoint_of(below, above)
    missing_left, old = np.int32(where[3]), nodes.number[node, THRESHOLD]
    old_missing = nodes.link[node, MISSING_LEFT]
    at = np.int64(last)
    # Rows that were there before and change sides lie between the two cuts, or are missing.
    low, high = min(threshold, old), max(threshold, old)
    at = _add_moved(visit, at, node, column, low, high, missing_left != old_missing)
    moved = at
    n_moved = moved - last
    if n_moved * _MOST_MOVED > n or moved + 2 * n_moved + last - first > len(rows):
        return np.int64(-1)
    for side in range(2):  # left, then right
        is_left = side == 0
        visit.borders[3 * side] = at
        # What comes: rows that came to the node and belong here, and those that come from the other side.
        for i in range(first, border):
            if goes_left(held, rows[i], column, threshold, missing_left) == is_left:
                rows[at] = rows[i]
                at += 1
        for i in range(last, moved):
            if goes_left(held, rows[i], column, threshold, missing_left) == is_left:
                rows[at] = rows[i]
                at += 1
        visit.borders[3 * side + 1] = at
        for i in range(border, moved):
            if goes_left(held, rows[i], column, old, old_missing) == is_left:
                rows[at] = rows[i]
                at += 1
        visit.borders[3 * side + 2] = at
    nodes.number[node, THRESHOLD], nodes.link[node, MISSING_LEFT] = threshold, missing_left
    return at
