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
from dtnumba.runtime.kernels import by_class, by_having, inline
from dtnumba.runtime.memory import sparse_empty
from dtnumba.runtime.tasks import take_many
from dtnumba.trees.layout import NO_LEVELS, NO_MAP, Trees
from dtnumba.trees.sparse_rows import SparseValues

# Nodes of an arena; more trees than fit are grown in another round.
ARENA_BYTES = 1 << 33
_NODE_BYTES = 80
# Rows whose codes are asked for ahead of copying them, and nodes whose rows are ahead of describing them.
ROWS_AHEAD = 16


class Ends(NamedTuple):
    """Values that codes stand for, to turn a split's codes into a threshold."""

    low: np.ndarray
    high: np.ndarray
    first_code: np.ndarray
    drawn: bool  # thresholds were drawn, not to be halfway between codes


class Arena(NamedTuple):
    """Finished trees, end to end in the order of their tickets; a tree that no longer fits ends it."""

    done: np.ndarray  # (1,) int64: trees that have their place; the next one waits for its turn
    full: np.ndarray  # (1,) int64: not 0 once a tree did not fit
    root: np.ndarray  # (n_trees + 1,) int64: first node of each
    level_root: np.ndarray  # (n_trees + 1,) int64: first of the levels of each
    ints: np.ndarray  # (4, capacity) int32: feature, left, right, rows
    missing_left: np.ndarray  # (capacity,) uint8
    floats: np.ndarray  # (4, capacity) float64: threshold, gain, weight, impurity
    value: np.ndarray  # (capacity, width) float64; no rows where shares are listed
    share_root: np.ndarray  # (n_trees + 1,) int64: first of the shares of each
    share_stop: np.ndarray  # (capacity,) int64: of very many classes, where the shares of each node end, or empty
    share_class: np.ndarray  # int32: class of each share
    share: np.ndarray  # float64
    level_stop: np.ndarray  # (capacity,) int64, or empty where no feature is a category
    level: np.ndarray  # int32


@inline
def _take_place(arena, ticket, m, n_levels, n_shares, halt):
    """Wait until all earlier trees have their place, and return where a tree of m nodes goes, below 0 for nowhere.

    Trees are of like size and tickets are drawn in order, so the wait is short; and nothing has to be put in order
    afterwards, which took a tenth of the time, and as much memory again.
    """
    while take_many(arena.done, 0) != ticket:
        if take_many(halt, 0) + take_many(arena.full, 0) != 0:
            return np.int64(-1)
    at = arena.root[ticket]
    level, share = arena.level_root[ticket] + n_levels, arena.share_root[ticket] + n_shares
    if at + m > len(arena.missing_left) or level > len(arena.level) or share > len(arena.share):
        arena.full[0] = 1  # and the turn ends here, so that no later tree is placed either
        return np.int64(-1)
    arena.root[ticket + 1], arena.level_root[ticket + 1], arena.share_root[ticket + 1] = at + m, level, share
    take_many(arena.done, 1)
    return at


@inline
def put_away(task, ticket, splitter, target, scratch, room, growing):
    """Number the nodes of a tree, describe them bottom up, and write them into the arena."""
    arena, nodes, order, left = task.arena, growing.nodes, room.ids[0], room.ids[1]
    m = number_nodes(nodes, order, left, room.ids[2])
    n_levels = list_levels_of_tree(splitter, scratch, room, nodes, order, left, m)
    n_shares = count_shares(target, splitter, nodes, order, m, scratch.work)
    at = _take_place(arena, ticket, m, n_levels, n_shares, growing.halt)
    if at < 0:
        return
    if len(arena.level_stop) > 0:  # of a tree without a category, too: its neighbours may have some
        first_level = arena.level_root[ticket]
        for k in range(n_levels):
            arena.level[first_level + k] = room.levels[k]
        for k in range(m):
            arena.level_stop[at + k] = first_level + room.level_stop[k]
    starts, stops = room.ids[3], room.ids[4]
    value, weight, impurity = arena.value[at : at + m], arena.floats[2, at : at + m], arena.floats[3, at : at + m]
    summary = Summary(left, starts, stops, value, weight, impurity)
    is_kept, end = growing.sums.shape[2] >= len(scratch.work.total), arena.share_root[ticket] + n_shares
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
        end = _describe(target, criterion, splitter, summary, k, known, buffers, place)
        if not is_leaf:
            feature = nodes[node, col.FEATURE]
            threshold = growing.numbers[node, col.CUT] if nodes[node, col.FIRST_RIGHT] != NOTHING else np.inf
            if n_levels > 0 and room.level_stop[k] > (room.level_stop[k - 1] if k > 0 else 0):
                threshold = np.nan
            elif not task.ends.drawn:
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


def new_arena(capacity, n_trees, width, most_levels, *, lists_shares=False):
    """Allocate room for trees of at most ``capacity`` nodes; what no node touches costs no memory."""
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
            break
        except MemoryError:  # some systems refuse even to promise so much
            if nodes == capacity and levels == most_levels and shares <= nodes:
                raise
            nodes, levels, shares = max(capacity, nodes // 2), max(most_levels, levels // 2), shares // 2
    done, full = np.zeros(1, np.int64), np.zeros(1, np.int64)
    root, level_root, share_root = (np.zeros(n_trees + 1, np.int64) for _ in range(3))
    places, shares = (done, full, root, level_root, ints, missing_left, floats, value), (share_stop, share_class, share)
    return Arena(*places, share_root, *shares, level_stop, level)


def trees_of_arena(arena):
    """Return the trees of an arena as Trees."""
    n_trees = arena.done[0]
    root, n_levels = arena.root[: n_trees + 1].copy(), arena.level_root[n_trees]
    m = root[-1]
    ints, floats, value = arena.ints[:, :m], arena.floats[:, :m], arena.value[:m]
    if len(arena.share_stop):
        starts, n_shares = np.concatenate([[0], arena.share_stop[:m]]), arena.share_root[n_trees]
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
    )
