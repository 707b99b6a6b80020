# mypy: ignore-errors
"""The best subset of categories at a node, by sums.

The categories present (``node_categories``) are put in the order in which they are cut (``ordering``), and cut like the
bins of a number; where no order is proven to hold the best subset, all subsets of up to eight categories are tried.
"""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN
from dtnumba.growth import columns as col
from dtnumba.growth.categories.node_categories import forget_sums, list_present
from dtnumba.growth.categories.ordering import key_levels, order_levels
from dtnumba.growth.splitters import candidates as cand
from dtnumba.growth.splitters.candidates import all_are_legal, bar_above, heavy_enough, is_heavier, record_split
from dtnumba.growth.targets.contract import add, keep, rest, rows_in, split_score, swapped, take, zero
from dtnumba.growth.targets.leaf_values import row_at
from dtnumba.runtime import rng
from dtnumba.runtime.kernels import inline, outlined

# Which subsets are candidates (CategorySplitter.how).
IN_ORDER, ONE_VS_REST, DRAWN_SUBSET = 0, 1, 2
# Categories up to which all subsets are tried where no order is proven, in both growths.
MOST_TRIED = 8
# Kinds of a split on categories, in FIRST_RIGHT; LAST_LEFT has its number. NOTHING: all values left, missing right.
PREFIX, SUFFIX = 0, 1  # categories before, or from, a place of the order
AMONG = 2  # categories whose bit is set, counted in ascending order
ONE, ALL_BUT_ONE = 3, 4  # a category
DRAWN, NOT_DRAWN = 5, 6  # a draw by the key of the node
_TURNED = np.int64((1 << 62) + 1)  # no category: the draw of the one that turns where all fell on one side
_OPPOSITE = 1  # an odd kind is the other side of the one before; of bits, the other bits
_ONE = np.uint64(1)


@outlined
def arrange(target, splitter, job, scratch, node, f, table, base, m):
    """Write the order in which the categories present are cut; return whether all subsets are to be tried.

    Where a subset is drawn, ``own.chosen`` says which categories are in it.
    """
    own = scratch.own
    tries_all = 2 <= m <= splitter.most_tried and splitter.how == IN_ORDER
    if tries_all or m <= 2 or splitter.how != IN_ORDER:
        for j in range(m):
            own.order[j] = j
    else:
        key_levels(target, own, m, table, base, splitter.width, splitter.profile, scratch.work.left)
        order_levels(own.order, own.other, own.keys, own.starts, m)
    if splitter.how == DRAWN_SUBSET:
        draw_subset(job, own, node, f, m)
    return tries_all


@inline
def draw_subset(job, own, node, f, m):
    """Write a subset drawn by the key of the node: a coin a category, never none of them and never all."""
    key, chosen = rng.mix(rng.mix(job.limits.cuts_key, job.growing.keys[node]), f), 0
    for j in range(m):
        coin = np.int64(rng.mix(key, own.present[j]) & _ONE)
        own.chosen[j] = np.uint8(coin)
        chosen += coin
    if m > 0 and chosen in (0, m):
        own.chosen[rng.below(rng.mix(key, _TURNED), m)] ^= np.uint8(1)


@outlined
def score_sums(target, splitter, job, scratch, node, f, table, base, total):
    """Write the best binary split on a category summed up from ``base`` on; return CONSTANT, BARREN or FOUND.

    The sums are zero afterwards.
    """
    own, nodes, out = scratch.own, job.growing.nodes, scratch.candidates
    start, stop, width = np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP]), np.uint64(splitter.width)
    m = list_present(target, splitter, own, f, table, base, start, stop)
    missing_at = base + np.uint64(splitter.n_levels[f]) * width
    has_missing = np.int64(rows_in(target, table, missing_at, width) > 0)
    out.gain[f] = NO_GAIN
    if m == 0 or m + has_missing == 1:
        forget_sums(target, splitter, own, f, table, base, m)
        return cand.CONSTANT
    tries_all = arrange(target, splitter, job, scratch, node, f, table, base, m)
    in_order = splitter.how == IN_ORDER and not tries_all
    n_sets = (1 << (m - 1)) - 1 if tries_all else m - 1 if in_order else m if splitter.how == ONE_VS_REST else 1
    if m == 1:
        n_sets = 0
    sums, sets = (table, base, missing_at), (m, n_sets, in_order, has_missing)
    found, best_left = _best_set(target, splitter, job, scratch, sums, sets, total, stop - start)
    forget_sums(target, splitter, own, f, table, base, m)
    if found[0] > 0:
        kind, number = _set_of(splitter, own, tries_all, n_sets, found[0])
        split, counts = (kind, number, found[1], found[2]), (stop - start, m, has_missing)
        kind, number = _record(target, job, scratch, f, total, best_left, split, counts)
        keep_left(own, out, node, f, start, m, kind, number)
    if splitter.how == DRAWN_SUBSET:
        for j in range(m):
            own.chosen[j] = 0
    return cand.FOUND if found[0] > 0 else cand.BARREN


@outlined
def _best_set(target, splitter, job, scratch, sums, sets, total, n):
    """Return ((number of the best subset, 0 for none; side of missing rows; rows left), sums of the left child).

    Missing rows go right, then left; after the last set of the first turn all values go left and missing ones right.
    """
    (table, base, missing_at), (m, n_sets, in_order, has_missing) = sums, sets
    own, work, limits, width = scratch.own, scratch.work, job.limits, np.uint64(splitter.width)
    counts, least, is_single = limits.min_samples_leaf > 1, limits.min_samples_leaf, splitter.how == ONE_VS_REST
    best, bar, scale, best_left = (np.int64(0), np.int64(0), np.int64(0)), NO_GAIN, 0.0, zero(target, work.best)
    for side in range(1 + has_missing):
        left, n_left = zero(target, work.left), np.int64(0)
        for k in range(1, n_sets + 1 + has_missing - side):
            is_one = is_single and k <= n_sets
            first = k - 1 if in_order or is_one else 0
            if first == 0 or is_one:
                left, n_left = zero(target, work.left), np.int64(0)
                if side == 1:
                    left = take(target, left, table, missing_at)
                    n_left = rows_in(target, table, missing_at, width)
            for j in range(first, k if in_order or is_one else m):
                if in_order or is_one or k > n_sets or _is_in_set(splitter, own, k, j):
                    at = base + np.uint64(own.present[own.order[j]]) * width
                    left = take(target, left, table, at)
                    if counts:
                        n_left += rows_in(target, table, at, width)
            right = rest(target, total, left, work.right)
            score = split_score(target, job.criterion, left, right, work)
            if (
                score > bar
                and (not counts or least <= n_left <= n - least)
                and heavy_enough(target, left, right, limits.min_weight_leaf)
            ):
                scale = max(scale, abs(score))
                best, bar = (np.int64(k), np.int64(side), n_left), bar_above(score, scale)
                best_left = keep(target, left, work.best)
    return best, best_left


@inline
def _is_in_set(splitter, own, k, j):
    """Tell whether the j-th category present is in the k-th subset tried."""
    return (k >> j) & 1 == 1 if splitter.how == IN_ORDER else own.chosen[j] == 1


@inline
def _set_of(splitter, own, tries_all, n_sets, k):
    """Return the kind and the number of the k-th subset tried."""
    if k > n_sets:
        return np.int64(cand.NOTHING), np.int64(0)
    if splitter.how == ONE_VS_REST:
        return np.int64(ONE), np.int64(own.present[k - 1])
    if splitter.how == DRAWN_SUBSET:
        return np.int64(DRAWN), np.int64(0)
    return np.int64(AMONG) if tries_all else np.int64(PREFIX), np.int64(k)


@outlined
def _record(target, job, scratch, f, total, left, split, counts):
    """Write the best split among the candidates, the lighter child as the left one; return its kind and number."""
    (kind, number, side, n_left), (n, m, has_missing) = split, counts
    right = rest(target, total, left, scratch.work.right)
    if kind != cand.NOTHING and is_heavier(target, left, right):
        left, right = swapped(target, left, right)
        n_left, side = n - n_left, 1 - side
        kind, number = opposite(kind, number, m)
    if not has_missing:
        side = np.int64(0)  # later ones go to the heavier child, the right one
    where = (n_left, number, kind, side)
    record_split(scratch.candidates, f, target, job.criterion, left, right, scratch.work, where)
    return kind, number


@inline
def opposite(kind, number, m):
    """Return the kind and the number of the complement of a subset of m categories."""
    if kind == AMONG:
        return np.int64(kind), ((1 << m) - 1) ^ number
    if kind in (PREFIX, ONE, DRAWN):
        return np.int64(kind) + (_OPPOSITE), number
    return np.int64(kind) - (_OPPOSITE), number


@outlined
def keep_left(own, out, node, f, start, m, kind, number):
    """Keep the left categories of the best split of a node so far; ``own.chosen`` has those of a draw.

    They are written to ``own.kept[start:]``: open nodes own disjoint ranges of rows, so the ranges cannot collide.
    """
    kept_of = own.kept_of
    if kept_of[start, 0] != node or out.gain[f] > out.gain[kept_of[start, 1]]:
        kept_of[start, 0], kept_of[start, 1] = node, f
        kept_of[start, 2] = write_left(own, start, m, kind, number)


@outlined
def write_left(own, start, m, kind, number):
    """Write the categories that go left to ``own.kept`` from ``start`` on; return how many there are."""
    chosen, c = own.chosen, np.int64(0)
    if kind == ONE:
        own.kept[start] = number
        return np.int64(1)
    wanted = np.uint8(kind in (PREFIX, AMONG, ONE, DRAWN))
    for j in range(number if kind in (PREFIX, SUFFIX) else 0):
        chosen[own.order[j]] = 1
    for j in range(m if kind not in (PREFIX, SUFFIX, DRAWN, NOT_DRAWN) else 0):
        if kind == AMONG:
            chosen[j] = (number >> j) & 1
        elif kind != cand.NOTHING:
            chosen[j] = own.present[j] == number
    for j in range(m):
        own.kept[start + c] = own.present[j]
        c += chosen[j] == wanted or kind == cand.NOTHING
        if kind not in (DRAWN, NOT_DRAWN):
            chosen[j] = 0
    return c


@inline
def log_left(own, node, start, border, c):
    """Record the categories that went left at a node, under the row position where its children meet.

    That position identifies the node, because no other split of the tree has its border there. ``logged[0]`` says where
    the records end.
    """
    at = np.int64(0) if node == 0 else own.logged[0, 0]
    fits = at + c <= len(own.log)
    own.logged[border, 0], own.logged[border, 1] = at if fits else np.int64(-1), c
    for j in range(c if fits else 0):
        own.log[at + j] = own.kept[start + j]
    own.logged[0, 0] = at + c if fits else at


@outlined
def part_two_rows(target, splitter, job, scratch, node, f, total):
    """Write the split of a node's only two rows by a categorical feature; return 1 where they differ in it, else 0.

    There is one such split only, so the first feature in which the rows differ wins.
    """
    own, out, work, start = scratch.own, scratch.candidates, scratch.work, np.int64(job.growing.nodes[node, col.START])
    column, missing = splitter.column[f], np.int64(splitter.n_levels[f])
    below, above = np.int64(row_at(splitter.inner, start)), np.int64(row_at(splitter.inner, start + 1))
    if splitter.codes[below, column] == splitter.codes[above, column]:
        return 0
    if splitter.codes[below, column] > splitter.codes[above, column]:
        below, above = above, below
    left, low, high = add(target, zero(target, work.left), below), splitter.codes[below, column], np.int64(0)
    right = rest(target, total, left, work.right)
    if split_score(target, job.criterion, left, right, work) > NO_GAIN:
        high = np.int64(splitter.codes[above, column])
        kind, number = np.int64(cand.NOTHING), np.int64(0)
        own.present[0], own.order[0], m = np.int64(low), 0, 1
        if high != missing:
            own.present[1], own.order[1], m = high, 1, 2
            kind, number = _set_of(splitter, own, splitter.most_tried >= 2, 1, 1)
        split, counts = (kind, number, np.int64(0), np.int64(1)), (2, m, high == missing)
        _record(target, job, scratch, f, total, left, split, counts)
        kind, number = out.where[f, 2], out.where[f, 1]
        keep_left(own, out, node, f, start, m, kind, number)
    return 1


@inline
def has_two_rows_only(splitter, job, node):
    """Tell whether a node has two rows, which any feature may separate."""
    nodes = job.growing.nodes
    if nodes[node, col.STOP] - nodes[node, col.START] != 2 or splitter.how == DRAWN_SUBSET:
        return False
    return all_are_legal(job.limits)
