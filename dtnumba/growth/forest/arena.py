# mypy: ignore-errors
"""Where the finished trees of a forest are put: behind one another in one set of arrays, which are the forest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.binary.to_trees import number_nodes
from dtnumba.growth.forest.shares import count_shares, list_shares
from dtnumba.growth.policies.monotonic import clip_nodes
from dtnumba.growth.splitters.candidates import NOTHING
from dtnumba.growth.splitters.contract import note_levels
from dtnumba.growth.targets.contract import is_wide, put
from dtnumba.growth.targets.leaf_values import Summary, describe, describe_inner, prefetch_rows, row_at
from dtnumba.runtime.instructions.bits import prefetch
from dtnumba.runtime.kernels import by_class, by_having, by_type, inline
from dtnumba.runtime.memory import sparse_empty
from dtnumba.runtime.threads.board import add_to, hint, look_at
from dtnumba.trees.layout import NO_LEVELS, NO_MAP, Trees
from dtnumba.trees.linear import AXIS_TESTS, linear_tests
from dtnumba.trees.sparse_rows import SparseValues

# Nodes of an arena; more trees than fit are grown in another round.
ARENA_BYTES = 1 << 33
_NODE_BYTES, _TERM_BYTES = 80, 32
# How often a tree looks whether its turn has come, each time some 30 ns, before it is placed out of turn. A forest of
# large trees takes a third of its time to be put in order: 100 trees of 100k rows 0.3 s, 1,000 of ten nodes 3 ms.
LOOKS, LOOKS_A_NODE = 1000, 64
# Rows whose codes are asked for ahead of copying them, and nodes whose rows are ahead of describing them.
ROWS_AHEAD = 16


class Ends(NamedTuple):
    """Values that codes stand for, to turn a split's codes into a threshold."""

    low: np.ndarray
    high: np.ndarray
    first_code: np.ndarray
    drawn: bool  # thresholds were drawn, not to be halfway between codes


class Arena(NamedTuple):
    """Finished trees, end to end, mostly in the order of their tickets; a tree that no longer fits ends it.

    The four rows of ``used``, ``start`` and ``stop`` are about nodes, levels, shares and terms of sums.
    """

    done: np.ndarray  # (1,) int64: trees that have their place
    full: np.ndarray  # (1,) int64: not 0 once a tree did not fit
    mixed: np.ndarray  # (1,) int64: not 0 once a tree did not wait for its turn
    used: np.ndarray  # (4, 1) int64: how many have a place
    start: np.ndarray  # (4, n_trees) int64: the first of each tree
    stop: np.ndarray  # (4, n_trees) int64: where those of each tree end; 0 nodes of one without a place
    ints: np.ndarray  # (4, capacity) int32: feature, left, right, rows
    missing_left: np.ndarray  # (capacity,) uint8
    floats: np.ndarray  # (4, capacity) float64: threshold, gain, weight, impurity
    value: np.ndarray  # (capacity, width) float64; no rows where shares are listed
    share_stop: np.ndarray  # (capacity,) int64: of very many classes, where the shares of each node end, or empty
    share_class: np.ndarray  # int32: class of each share
    share: np.ndarray  # float64
    level_stop: np.ndarray  # (capacity,) int64, or empty where no feature is a category
    level: np.ndarray  # int32
    term_stop: np.ndarray  # (capacity,) int64, or empty where no node tests a sum
    terms: np.ndarray  # (terms, 4) float64: column, weight, what stands in, share


@inline
def _take_place(arena, ticket, amounts, halt):
    """Return where a tree of so many nodes, levels and shares goes, below 0 for nowhere; mostly behind all earlier.

    Trees are of like size and tickets are drawn in order, so the wait is short; and nothing has to be put in order
    afterwards, which took a tenth of the time. A tree waits no longer than moving its nodes would take: on a busy
    machine the earlier one may be on a thread that the system does not run, and 1,000 small trees that waited for each
    other took up to 5 s, of which one thread alone needs 0.03 s.
    """
    n_looks, most = np.int64(0), LOOKS + LOOKS_A_NODE * amounts[0]
    while n_looks < most and look_at(arena.done) < ticket and look_at(arena.mixed) == 0:
        if look_at(halt) + look_at(arena.full) != 0:
            return np.int64(-1)
        hint()
        n_looks += 1
    if n_looks >= most:
        add_to(arena.mixed, 1)  # all has to be put in order then, so that nobody waits any more
    has_room = True
    for k, length in enumerate((len(arena.missing_left), len(arena.level), len(arena.share), len(arena.terms))):
        arena.start[k, ticket] = add_to(arena.used[k], amounts[k])
        has_room = has_room and arena.start[k, ticket] + amounts[k] <= length
    if not has_room:
        add_to(arena.full, 1)  # and the turn ends here, so that no tree is placed that waits for its own
        return np.int64(-1)
    for k in range(4):
        arena.stop[k, ticket] = arena.start[k, ticket] + amounts[k]
    add_to(arena.done, 1)
    return arena.start[0, ticket]


@inline
def put_away(task, ticket, splitter, target, scratch, room, growing):
    """Number the nodes of a tree, describe them bottom up, and write them into the arena."""
    arena, nodes, order, left = task.arena, growing.nodes, room.ids[0], room.ids[1]
    m = number_nodes(nodes, order, left, room.ids[2])
    n_levels = list_levels_of_tree(splitter, scratch, room, nodes, order, left, m)
    n_shares = count_shares(target, splitter, nodes, order, m, scratch.work)
    n_terms = count_terms(splitter, growing, order, left, m)
    at = _take_place(arena, ticket, (m, n_levels, n_shares, n_terms), growing.halt)
    if at < 0:
        return
    put_terms(splitter, arena, growing, order, left, m, (at, arena.start[3, ticket]))
    if len(arena.level_stop) > 0:  # of a tree without a category, too: its neighbours may have some
        first_level = arena.start[1, ticket]
        for k in range(n_levels):
            arena.level[first_level + k] = room.levels[k]
        for k in range(m):
            arena.level_stop[at + k] = first_level + room.level_stop[k]
    starts, stops = room.ids[3], room.ids[4]
    value, weight, impurity = arena.value[at : at + m], arena.floats[2, at : at + m], arena.floats[3, at : at + m]
    summary = Summary(left, starts, stops, value, weight, impurity)
    is_kept, end = growing.sums.shape[2] >= len(scratch.work.total), arena.stop[2, ticket]
    for k in range(m - 1, -1, -1):
        # Nodes lie in the order of growth: waiting for each took a tenth of the time of a forest.
        ahead = np.uint64(order[max(k - ROWS_AHEAD, 0)])
        prefetch(nodes, np.uint64(order[max(k - 2 * ROWS_AHEAD, 0)]), np.uint64(0))
        prefetch(growing.numbers, ahead, np.uint64(0))
        prefetch(growing.sums, ahead, np.uint64(0))
        prefetch(growing.sums, ahead, np.uint64(growing.sums.shape[2] - 1))  # a line ends anywhere
        prefetch_rows(target, row_at(splitter, nodes[ahead, col.START]))
        node = order[k]
        start, stop, is_leaf = nodes[node, col.START], nodes[node, col.STOP], left[k] < 0
        sums = growing.sums[node, 0] if is_kept else scratch.work.total
        starts[k], stops[k] = start, stop
        feature, threshold = np.int64(col.LEAF), np.nan
        known = (sums, not is_kept or (is_leaf and sums[0] == col.UNKNOWN))
        criterion, work = task.job.criterion, scratch.work
        buffers, place = (work, room.seen), (arena, end, at + k)
        if not recall(task, nodes, node, summary, k):
            end = _describe(target, criterion, splitter, summary, k, known, buffers, place)
        if not is_leaf:
            feature = named_feature(splitter, growing, node)
            threshold = growing.numbers[node, col.CUT] if nodes[node, col.FIRST_RIGHT] != NOTHING else np.inf
            if n_levels > 0 and room.level_stop[k] > (room.level_stop[k - 1] if k > 0 else 0):
                threshold = np.nan
            elif not task.ends.drawn and feature == nodes[node, col.FEATURE]:  # else of a sum, which has its cut
                threshold = _threshold(task.ends, feature, nodes[node, col.LAST_LEFT], nodes[node, col.FIRST_RIGHT])
        arena.ints[0, at + k], arena.ints[3, at + k] = feature, stop - start
        arena.ints[1, at + k] = col.LEAF if is_leaf else at + left[k]
        arena.ints[2, at + k] = col.LEAF if is_leaf else at + left[k] + 1
        arena.missing_left[at + k] = 0 if is_leaf else nodes[node, col.MISSING_LEFT]
        arena.floats[0, at + k] = threshold
        arena.floats[1, at + k] = 0.0 if is_leaf else growing.numbers[node, col.GAIN]
    clip_nodes(task.job.limits.monotone, growing, order, value)


@inline
def _describe_by_sums(target, criterion, splitter, summary, k, known, buffers, place):
    """Describe a node from its sums, which growth left of every node that it looked at, if they are kept."""
    (sums, are_unknown), seen = known, buffers[1]
    if are_unknown:
        for s in range(len(sums)):
            sums[s] = 0
        for i in range(summary.start[k], summary.stop[k]):
            put(target, sums, np.uint64(0), row_at(splitter, i))
    if summary.left[k] < 0:
        describe(target, criterion, splitter, summary, k, sums, seen)
    else:
        describe_inner(target, criterion, splitter, summary, k, sums, seen)
    return place[1]


@inline
def _describe_by_shares(target, criterion, splitter, summary, k, known, buffers, place):
    span = (np.int64(summary.start[k]), np.int64(summary.stop[k]))
    return list_shares(target, criterion, splitter, span, buffers, place)


_describe = by_class(is_wide, _describe_by_shares, _describe_by_sums)


@inline
def _not_known(task, nodes, node, summary, k):
    return False


recall = by_type("recall", _not_known)  # describe a node of a tree that was, where it stays; return whether it does


@inline
def _list_levels(splitter, scratch, room, nodes, order, left, m):
    """List which levels go left at every node that tests a category; return how many these are in all."""
    at = np.int64(0)
    for k in range(m):
        if left[k] >= 0:
            node, child = order[k], order[left[k]]
            feature, kind = np.int64(nodes[node, col.FEATURE]), np.int64(nodes[node, col.FIRST_RIGHT])
            start, stop = np.int64(nodes[child, col.START]), np.int64(nodes[child, col.STOP])
            at = note_levels(splitter, scratch.own, feature, kind, start, stop, room.levels, at)
        room.level_stop[k] = at
    return at


@inline
def _no_levels(splitter, scratch, room, nodes, order, left, m):
    return np.int64(0)


list_levels_of_tree = by_having("note_levels", _list_levels, _no_levels)


@inline
def _count_terms(splitter, growing, order, left, m):
    """Return how many terms the sums of a tree have."""
    count = np.int64(0)
    for k in range(m):
        if left[k] >= 0 and growing.nodes[order[k], col.FEATURE] == splitter.n_features:
            count += np.int64(growing.terms[order[k], 0])
    return count


@inline
def _put_terms(splitter, arena, growing, order, left, m, places):
    """Write the terms of a tree's sums behind one another."""
    (first, at), most = places, (growing.terms.shape[1] - 1) // 4
    for k in range(m):
        if left[k] >= 0 and growing.nodes[order[k], col.FEATURE] == splitter.n_features:
            terms = growing.terms[order[k]]
            for j in range(np.int64(terms[0])):
                for part in range(4):
                    arena.terms[at, part] = terms[1 + part * most + j]
                at += 1
        arena.term_stop[first + k] = at


@inline
def _heaviest(splitter, growing, node):
    """Return the feature that a node is named by: of a sum the column of which it is most."""
    feature = np.int64(growing.nodes[node, col.FEATURE])
    if feature == splitter.n_features:
        terms, most, best = growing.terms[node], (growing.terms.shape[1] - 1) // 4, 0
        for j in range(1, np.int64(terms[0])):
            if terms[1 + 3 * most + j] > terms[1 + 3 * most + best]:
                best = j
        feature = np.int64(terms[1 + best])
    return feature


@inline
def _no_terms(splitter, growing, order, left, m):
    return np.int64(0)


@inline
def _nothing_put(splitter, arena, growing, order, left, m, places):
    pass


@inline
def _own_feature(splitter, growing, node):
    return np.int64(growing.nodes[node, col.FEATURE])


count_terms = by_having("offer", _count_terms, _no_terms)
put_terms = by_having("offer", _put_terms, _nothing_put)
named_feature = by_having("offer", _heaviest, _own_feature)


@inline
def _threshold(ends, feature, last_left, first_right):
    """Halfway between the values on both sides, and never on the right neighbour: ``finish.midpoint`` of one pair."""
    if first_right == NOTHING:
        return np.inf
    first = ends.first_code[feature]
    below, above = float(ends.high[first + last_left]), float(ends.low[first + first_right])
    middle = below / 2.0 + above / 2.0
    return middle if below <= middle < above and middle - middle == 0.0 else below


def n_levels_kept(splitter, n_rows):
    """Return a bound on the levels that a tree lists: at every node those of the lighter child.

    A row is in a lighter child at most as often as the weight can be halved; what no list touches costs no memory.
    """
    return n_rows * 64 if hasattr(splitter, "note_levels") else 0


def new_arena(capacity, n_trees, width, most_levels, *, lists_shares=False, most_terms=0):
    """Allocate room for trees of at most ``capacity`` nodes; what no node touches costs no memory."""
    start, stop = np.zeros((4, n_trees), np.int64), np.zeros((4, n_trees), np.int64)
    nodes = max(capacity, min(n_trees * capacity, ARENA_BYTES // (_NODE_BYTES + (0 if lists_shares else 8 * width))))
    levels = max(most_levels, min(n_trees * most_levels, ARENA_BYTES // 4))
    shares = min(nodes * width, ARENA_BYTES // 12) if lists_shares else 0
    while True:
        try:
            ints, missing_left = sparse_empty((4, nodes), np.int32), sparse_empty(nodes, np.uint8)
            floats = sparse_empty((4, nodes), np.float64)
            value = sparse_empty((0 if lists_shares else nodes, width), np.float64)
            share_stop = sparse_empty(nodes if lists_shares else 0, np.int64)
            share_class, share = sparse_empty(shares, np.int32), sparse_empty(shares, np.float64)
            level_stop, level = sparse_empty(nodes if levels else 0, np.int64), sparse_empty(levels, np.int32)
            n_terms = max(capacity * most_terms, min(nodes * most_terms, ARENA_BYTES // _TERM_BYTES))
            term_stop, terms = sparse_empty(nodes if n_terms else 0, np.int64), sparse_empty((n_terms, 4), np.float64)
            break
        except MemoryError:  # some systems refuse even to promise so much
            if nodes == capacity and levels == most_levels and shares <= nodes:
                raise
            nodes, levels, shares = max(capacity, nodes // 2), max(most_levels, levels // 2), shares // 2
    (done, full, mixed), used = (np.zeros(1, np.int64) for _ in range(3)), np.zeros((4, 1), np.int64)
    places, shares = (done, full, mixed, used, start, stop), (share_stop, share_class, share)
    return Arena(*places, ints, missing_left, floats, value, *shares, level_stop, level, term_stop, terms)


def n_finished(arena):
    """Return how many trees are finished, up to the first that is not."""
    missing = np.flatnonzero(arena.stop[0] == 0)
    return int(missing[0]) if len(missing) else arena.stop.shape[1]


def _in_order(arena, n_trees):
    """Return the arena with so many trees in the order of their tickets."""
    starts, stops = arena.start[:, :n_trees], arena.stop[:, :n_trees]
    sizes = stops - starts
    shift = np.cumsum(sizes, axis=1) - stops
    if not shift.any():
        return arena
    places = [list(zip(*both, strict=True)) for both in zip(starts.tolist(), stops.tolist(), strict=True)]

    def ordered(array, k, axis=-1):
        if not len(array):
            return array
        parts = [array[..., begin:end] if axis else array[begin:end] for begin, end in places[k]]
        shape = list(array.shape)
        shape[axis] = int(sizes[k].sum())
        return np.concatenate(parts, axis=axis, out=sparse_empty(tuple(shape), array.dtype))

    def shifted(array, k):
        return ordered(array, 0) + np.repeat(shift[k], sizes[0]) if len(array) else array

    ints = ordered(arena.ints, 0)
    ints[1:3] += np.where(ints[1] == col.LEAF, 0, np.repeat(shift[0], sizes[0])).astype(np.int32)
    return arena._replace(
        start=starts + shift,
        stop=stops + shift,
        ints=ints,
        missing_left=ordered(arena.missing_left, 0),
        floats=ordered(arena.floats, 0),
        value=ordered(arena.value, 0, 0),
        share_stop=shifted(arena.share_stop, 2),
        share_class=ordered(arena.share_class, 2),
        share=ordered(arena.share, 2),
        level_stop=shifted(arena.level_stop, 1),
        level=ordered(arena.level, 1),
        term_stop=shifted(arena.term_stop, 3),
        terms=ordered(arena.terms, 3, 0),
    )


def _sums_of(arena, m, n_terms):
    """Return the sums that nodes of the finished trees test."""
    if n_terms == 0:
        return AXIS_TESTS
    return linear_tests(np.diff(arena.term_stop[:m], prepend=0), *arena.terms[:n_terms].T.copy())


def trees_of_arena(arena):
    """Return the finished trees of an arena, up to the first that is not, as Trees."""
    n_trees = n_finished(arena)
    arena = _in_order(arena, n_trees)
    root = np.concatenate([[0], arena.stop[0, :n_trees]])
    m, n_levels, n_shares, n_terms = (int(stops[n_trees - 1]) if n_trees else 0 for stops in arena.stop)
    ints, floats, value = arena.ints[:, :m], arena.floats[:, :m], arena.value[:m]
    if len(arena.share_stop):
        starts = np.concatenate([[0], arena.share_stop[:m]])
        value = SparseValues(starts, arena.share_class[:n_shares], arena.share[:n_shares], arena.value.shape[1])
    return Trees(
        root,
        ints[0],
        floats[0],
        ints[1],
        ints[2],
        arena.missing_left[:m],
        value,
        NO_MAP,
        np.empty(0, np.int32),
        NO_MAP,
        np.empty(0),
        ints[3],
        floats[2],
        floats[3],
        floats[1],
        level_start=np.concatenate([NO_MAP, arena.level_stop[:m]]) if n_levels else NO_MAP,
        level=arena.level[:n_levels] if n_levels else NO_LEVELS,
        linear=_sums_of(arena, m, n_terms),
    )
