# mypy: ignore-errors
"""The best subset of categories at a node, for ranked targets: rows are scanned in the order of their categories."""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN
from dtnumba.growth import columns as col
from dtnumba.growth.categories.node_categories import list_marked
from dtnumba.growth.categories.ordering import order_levels
from dtnumba.growth.categories.subset_search import (
    AMONG,
    DRAWN,
    DRAWN_SUBSET,
    IN_ORDER,
    MOST_TRIED,
    ONE,
    ONE_VS_REST,
    PREFIX,
    draw_subset,
    keep_left,
    opposite,
)
from dtnumba.growth.splitters import candidates as cand
from dtnumba.growth.splitters.candidates import FIRST_ABOVE as KIND
from dtnumba.growth.splitters.candidates import LAST_BELOW as WHICH
from dtnumba.growth.splitters.scans.scan_rows import scan_order
from dtnumba.growth.targets.leaf_values import row_at, row_in_order
from dtnumba.runtime.kernels import inline, outlined
from dtnumba.tables.presort import MISSING, NEW


@inline
def _key_by_medians(target, splitter, own, f, start, stop, m):
    """Write the sort key of every category of a node: the median of its rows, by the first output."""
    column, missing = splitter.column[f], splitter.n_levels[f]
    for j in range(m):
        own.tables[own.present[j]] = 0
    for i in range(start, stop):
        row = row_in_order(splitter.inner, 0, i)
        own.tables[np.int64(splitter.codes[row, column])] += target.weights[row]
    for i in range(stop - 1, start - 1, -1):  # from the top, so that the last write is where half of the weight begins
        row = row_in_order(splitter.inner, 0, i)
        level = np.int64(splitter.codes[row, column])
        if level != missing and own.tables[level] > 0:
            own.by_level[level] = target.y[row, 0]
            own.tables[level] -= 2 * target.weights[row]
    own.tables[missing] = 0
    for j in range(m):
        own.tables[own.present[j]] = 0
        own.keys[j] = own.by_level[own.present[j]]


@outlined
def arrange_by_rows(target, splitter, job, scratch, node, f):
    """Write the categories of a node and the order in which they are cut; return how many there are."""
    own, nodes = scratch.own, job.growing.nodes
    start, stop = np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP])
    m = list_marked(splitter, own, f, start, stop)
    if m <= MOST_TRIED or splitter.how != IN_ORDER:
        for j in range(m):
            own.order[j] = j
    else:
        _key_by_medians(target, splitter, own, f, start, stop, m)
        order_levels(own.order, own.other, own.keys, own.starts, m)
    if splitter.how == DRAWN_SUBSET:
        draw_subset(job, own, node, f, m)
    return m


@outlined
def score_ranks(target, splitter, job, scratch, node, f, total):
    """Write the best binary split on a category among the candidates; return CONSTANT, BARREN or FOUND."""
    own, nodes, out = scratch.own, job.growing.nodes, scratch.candidates
    start, stop = np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP])
    m, gain, information, found = arrange_by_rows(target, splitter, job, scratch, node, f), NO_GAIN, 0.0, cand.CONSTANT
    in_order = splitter.how == IN_ORDER
    n_sets = 1 if splitter.how == DRAWN_SUBSET or m > MOST_TRIED else (1 << max(m - 1, 0)) - 1
    if splitter.how == ONE_VS_REST and m > 1:
        n_sets = m
    kind = number = n_left = side = np.int64(0)
    for k in range(1, max(n_sets, 1) + 1):
        # Cuts between all categories in their order, or between two groups: each category has the place of its group.
        for j in range(m):
            level, place = own.present[j], np.int64(0)
            if in_order and m > MOST_TRIED:
                level, place = own.present[own.order[j]], np.int64(j)
            elif in_order:
                place = np.int64(1 - ((k >> j) & 1))
            elif splitter.how == ONE_VS_REST:
                place = np.int64(j != k - 1)
            elif m > 1:
                place = 1 - np.int64(own.chosen[j])
            own.by_level[level] = float(place)
        has_missing = _put_rows_in_order(splitter, own, f, start, stop, m)
        if (
            scan_order(target, own.sequence, 0, stop - start, start, f, job, scratch, total) != cand.CONSTANT
            and found == cand.CONSTANT
        ):
            found = cand.BARREN
        if out.gain[f] > gain:
            gain, information, found = out.gain[f], out.information[f], cand.FOUND
            n_left, side = out.where[f, 0], out.where[f, 3]
            last = np.int64(splitter.codes[out.where[f, WHICH], splitter.column[f]])
            if out.where[f, KIND] == cand.NOTHING:
                kind, number = np.int64(cand.NOTHING), np.int64(0)
            elif in_order and m > MOST_TRIED:
                kind, number = np.int64(PREFIX), np.int64(own.by_level[last]) + 1
            elif in_order:
                kind, number = np.int64(AMONG), np.int64(k)
            elif splitter.how == ONE_VS_REST:
                kind, number = np.int64(ONE), np.int64(own.present[k - 1])
            else:
                kind, number = np.int64(DRAWN), np.int64(0)
            if kind != cand.NOTHING and 2 * n_left > stop - start:
                kind, number = opposite(kind, number, m)
                n_left, side = stop - start - n_left, 1 - side
            if not has_missing:
                side = np.int64(0)
    out.gain[f], out.information[f] = gain, information
    out.where[f, 0], out.where[f, 1], out.where[f, 2], out.where[f, 3] = n_left, number, kind, side
    if found == cand.FOUND:
        keep_left(own, out, node, f, start, m, kind, number)
    for j in range(m if splitter.how == DRAWN_SUBSET else 0):
        own.chosen[j] = 0
    return found


@inline
def _put_rows_in_order(splitter, own, f, start, stop, m):
    """Write a node's rows as records in the order of the places of their categories; return whether any is missing.

    own.by_level[category] is its place, below m.
    """
    column, missing = splitter.column[f], splitter.n_levels[f]
    for j in range(m + 1):
        own.other[j] = 0
    n_missing = 0
    for i in range(start, stop):
        level = np.int64(splitter.codes[row_at(splitter.inner, i), column])
        if level == missing:
            n_missing += 1
        else:
            own.other[np.int64(own.by_level[level])] += 1
    at = 0
    for j in range(m):
        n_here = own.other[j]
        own.other[j] = at
        at += n_here
    last = at
    for i in range(start, stop):
        row = row_at(splitter.inner, i)
        level = np.int64(splitter.codes[row, column])
        if level == missing:
            own.sequence[at] = np.uint32(row) | MISSING
            at += 1
        else:
            place = np.int64(own.by_level[level])
            own.sequence[own.other[place]] = np.uint32(row)
            own.other[place] += 1
    for j in range(m):  # where one place ends the next one begins
        if 0 < own.other[j] < last:
            own.sequence[own.other[j]] |= NEW
    return n_missing > 0
