"""Many trees in one ``prange``: each tree is grown, numbered and described by the worker that drew its ticket.

All trees read the same codes; a worker's room is allocated once. A tree sees its sample as weights over the rows it
drew. Once a node's rows fit into the level-2 cache, their codes and labels are copied side by side and its subtree is
grown there. A finished tree takes its place in the arena behind all earlier ones, so the arena is the forest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba import rng
from dtnumba._jit import by_having, copy_row, inline, jitable, part, prefetch, take_many, take_ticket
from dtnumba._row_vectors import SPARE
from dtnumba.finish import number_nodes
from dtnumba.frontier import BestFirst, DepthFirst, with_key
from dtnumba.grow import NO_LIMIT, OPEN, admit, grow_below, most_nodes, new_scratch, pick
from dtnumba.growing import (
    CUT,
    FEATURE,
    FIRST_CHUNK,
    FIRST_RIGHT,
    GAIN,
    LAST_LEFT,
    LEAF,
    MISSING_LEFT,
    NEXT_CHUNK,
    START,
    STOP,
    UNKNOWN,
    Growing,
    Job,
    new_growings,
)
from dtnumba.interactions import feature_policy
from dtnumba.leaf_values import Summary, describe, describe_inner, look_ahead, row_at
from dtnumba.monotone import clip_nodes, is_free
from dtnumba.per_worker import per_worker
from dtnumba.sampling import list_rows, sample, weigh
from dtnumba.scan import NOTHING, Limits
from dtnumba.sparse_memory import sparse_empty
from dtnumba.splitters import with_codes, with_rows
from dtnumba.splitters.levels import note_levels
from dtnumba.targets import (
    gather,
    n_sums_of,
    own_arrays,
    pick_own_arrays,
    put,
    store,
    sum_rows,
    weight_of,
    with_scratch,
    zero,
)
from dtnumba.trees import NO_LEVELS, NO_MAP, Trees, joined

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtnumba.training import Settings

# Codes of a subtree that are copied side by side. 20 trees of 1M rows x 28: 2.37 s without, 1.93 s with 1 MB.
SUBTREE_BYTES = 1 << 20
# Nodes of an arena; more trees than fit are grown in another round.
ARENA_BYTES = 1 << 33
_NODE_BYTES = 80
# Rows times trees that one thread grows alone: 100 trees on iris take 2.5 ms, and a pool may take longer to wake up.
SERIAL_ROWS = 1 << 15
# Rows whose codes are asked for ahead of copying them, and nodes whose rows are ahead of describing them.
AHEAD = 16
_BLOCK = 16  # bytes that are copied at once, and at least as many rows


class Ends(NamedTuple):
    """What codes stand for, to turn a split's codes into a threshold."""

    low: np.ndarray
    high: np.ndarray
    first_code: np.ndarray
    drawn: bool  # thresholds were drawn, not to be halfway between codes


class Room(NamedTuple):
    """What a worker needs for one tree beside the scratch of growth; every array has a leading worker axis."""

    rows: np.ndarray  # (n_orders * n,) uint32
    counts: np.ndarray  # (n_table_rows,)
    totals: np.ndarray  # (n_classes,) float64
    few_rows: np.ndarray  # (n_few,) uint32
    few_codes: np.ndarray  # (n_few, p)
    ids: np.ndarray  # (5, m) int32: order, left, stack, start, stop
    seen: np.ndarray  # (n_seen,) float64
    levels: np.ndarray  # int32: of categories that go left, by node
    level_stop: np.ndarray  # (m,) int64


class Arena(NamedTuple):
    """Finished trees, end to end in the order of their tickets; a tree that no longer fits ends it."""

    done: np.ndarray  # (1,) int64: trees that have their place; the next one waits for its turn
    full: np.ndarray  # (1,) int64: not 0 once a tree did not fit
    root: np.ndarray  # (n_trees + 1,) int64: first node of each
    level_root: np.ndarray  # (n_trees + 1,) int64: first of the levels of each
    ints: np.ndarray  # (4, capacity) int32: feature, left, right, rows
    missing_left: np.ndarray  # (capacity,) uint8
    floats: np.ndarray  # (4, capacity) float64: threshold, gain, weight, impurity
    value: np.ndarray  # (capacity, width) float64
    level_stop: np.ndarray  # (capacity,) int64, or empty where no feature is a category
    level: np.ndarray  # int32


@part
class GrowForest(NamedTuple):
    """Grow trees, the next one by whichever worker is free."""

    job: object
    scratches: object
    sampling: object
    orders: np.ndarray  # (n_orders, k) uint32: the rows of positive weight, in each order the splitter keeps
    room: Room
    own: object  # the target's
    ends: Ends
    streams: np.ndarray  # (n_trees, 2) uint64: keys of the features and the cuts of each tree
    min_weight_share: float
    floor: int  # rows of a subtree that is grown on a copy
    first: int  # tree of ticket 0
    n_trees: int
    arena: Arena
    counter: np.ndarray

    def run(self, worker):
        job, scratch, own = self.job, pick(self.scratches, worker), pick_own_arrays(self.own, worker)
        room, growing = _pick_room(self.room, worker), _pick_growing(job.growing, worker)
        target = with_scratch(job.target, own)
        while growing.halt[0] == 0 and self.arena.full[0] == 0:
            ticket = take_ticket(self.counter)
            tree = self.first + ticket
            if tree >= self.n_trees:
                break
            sample(self.sampling, tree, room.counts, room.totals, growing.halt)
            if growing.halt[0] != 0:
                break
            n = list_rows(self.sampling, self.orders[0], room.counts, room.rows, np.int64(0))
            for o in range(1, len(self.orders)):
                list_rows(self.sampling, self.orders[o], room.counts, room.rows, o * n)
            splitter = with_rows(job.splitter, room.rows, n)
            weighed = weigh(self.sampling, target, own, room.counts, room.rows, n)
            _grow_one(self, tree, n, splitter, weighed, scratch, own, room, growing)
            if growing.halt[0] == 0:
                _put_away(self, ticket, splitter, weighed, scratch, room, growing)


@inline
def _pick_room(room, worker):
    return Room(
        room.rows[worker],
        room.counts[worker],
        room.totals[worker, 0],
        room.few_rows[worker],
        room.few_codes[worker],
        room.ids[worker],
        room.seen[worker, 0],
        room.levels[worker],
        room.level_stop[worker],
    )


@inline
def _pick_growing(growing, worker):
    return Growing(
        growing.nodes[worker],
        growing.numbers[worker],
        growing.keys[worker],
        growing.sums[worker],
        growing.room[worker, 0],
        growing.halt,
    )


@inline
def _grow_one(task, tree, n, splitter, target, scratch, own, room, growing):
    """Grow a tree over rows[:n]."""
    job, nodes, free, chunk_end = task.job, growing.nodes, np.int64(0), np.int64(0)
    sums = sum_rows(target, splitter, zero(target, scratch.work.total), np.int64(0), n)
    total = weight_of(target, sums)
    limits = Limits(
        job.limits.max_depth,
        job.limits.min_samples_split,
        job.limits.min_samples_leaf,
        task.min_weight_share * total,
        job.limits.min_decrease,
        total,
        job.limits.max_leaves,
        job.limits.n_drawn,
        task.streams[tree, 0],
        task.streams[tree, 1],
        job.limits.test,
        job.limits.monotone,
    )
    features = with_key(job.features, task.streams[tree, 0])
    growing.room[NEXT_CHUNK], growing.room[FIRST_CHUNK] = 0, 1
    admit(growing, limits, np.int64(0), np.int64(0), n, np.int64(0), np.uint64(rng.ROOT_KEY))
    store(target, sums, growing.sums[0, 0])
    k, n_roots = np.int64(0), np.int64(1)
    # First the root; where the table is large, it leaves the nodes of few rows open, and these are the next roots.
    while k < n_roots and growing.halt[0] == 0:
        if nodes[k, FEATURE] == OPEN:
            start, stop = nodes[k, START], nodes[k, STOP]
            few = stop - start <= task.floor
            now, seen = splitter, target
            if few:
                seen = gather(target, own, room.rows, start, stop)
                _copy_codes(splitter.codes, room, start, stop)
                now = with_codes(splitter, room.few_codes)
            part_job = Job(now, seen, job.criterion, limits, growing, job.order, features, job.n_features, job.n_seen)
            free, chunk_end = grow_below(part_job, scratch, k, free, chunk_end, np.int64(0) if few else task.floor)
            if few:
                for i in range(start, stop):
                    room.rows[i] = room.few_rows[room.rows[i]]
            if k == 0 and not few:
                n_roots = max(free, np.int64(1))
        k += 1


@inline
def _copy_codes(codes, room, start, stop):
    """Copy the codes of rows[start:stop] side by side, and number these rows from 0."""
    p, reached = codes.shape[1], np.uint64(max(len(codes) - _BLOCK, 0))
    for i in range(start, stop):
        row = room.rows[i]
        prefetch(codes, np.uint64(room.rows[min(i + AHEAD, stop - 1)]), np.uint64(0))
        room.few_rows[i - start] = row
        if row < reached:
            copy_row(codes, np.uint64(row), room.few_codes, np.uint64(i - start))
        else:  # behind the last rows is nothing to be read
            for f in range(p):
                room.few_codes[i - start, f] = codes[row, f]
        room.rows[i] = i - start


@inline
def _take_place(arena, ticket, m, n_levels, halt):
    """Wait until all earlier trees have their place, and return where a tree of m nodes goes, below 0 for nowhere.

    Trees are of like size and tickets are drawn in order, so the wait is short; and nothing has to be put in order
    afterwards, which took a tenth of the time, and as much memory again.
    """
    while take_many(arena.done, 0) != ticket:
        if take_many(halt, 0) + take_many(arena.full, 0) != 0:
            return np.int64(-1)
    at = arena.root[ticket]
    if at + m > len(arena.missing_left) or arena.level_root[ticket] + n_levels > len(arena.level):
        arena.full[0] = 1  # and the turn ends here, so that no later tree is placed either
        return np.int64(-1)
    arena.root[ticket + 1], arena.level_root[ticket + 1] = at + m, arena.level_root[ticket] + n_levels
    take_many(arena.done, 1)
    return at


@inline
def _put_away(task, ticket, splitter, target, scratch, room, growing):
    """Number the nodes of a tree, describe them bottom up, and write them into the arena."""
    arena, nodes, order, left = task.arena, growing.nodes, room.ids[0], room.ids[1]
    m = number_nodes(nodes, order, left, room.ids[2])
    n_levels = list_levels_of_tree(splitter, scratch, room, nodes, order, left, m)
    at = _take_place(arena, ticket, m, n_levels, growing.halt)
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
    for k in range(m - 1, -1, -1):
        # Nodes lie in the order of growth: waiting for each took a tenth of the time of a forest.
        ahead = np.uint64(order[max(k - AHEAD, 0)])
        prefetch(nodes, np.uint64(order[max(k - 2 * AHEAD, 0)]), np.uint64(0))
        prefetch(growing.numbers, ahead, np.uint64(0))
        prefetch(growing.sums, ahead, np.uint64(0))
        prefetch(growing.sums, ahead, np.uint64(growing.sums.shape[2] - 1))  # a line ends anywhere
        look_ahead(target, row_at(splitter, nodes[ahead, START]))
        node = order[k]
        start, stop, is_leaf, sums = nodes[node, START], nodes[node, STOP], left[k] < 0, growing.sums[node, 0]
        starts[k], stops[k] = start, stop
        feature, threshold = np.int64(LEAF), np.nan
        if is_leaf:
            if sums[0] == UNKNOWN:
                for s in range(len(sums)):
                    sums[s] = 0
                for i in range(start, stop):
                    put(target, sums, np.uint64(0), row_at(splitter, i))
            describe(target, task.job.criterion, splitter, summary, k, sums, room.seen)
        else:  # growth left the sums of every node that it looked at
            describe_inner(target, task.job.criterion, splitter, summary, k, sums, room.seen)
            feature = nodes[node, FEATURE]
            threshold = growing.numbers[node, CUT] if nodes[node, FIRST_RIGHT] != NOTHING else np.inf
            if n_levels > 0 and room.level_stop[k] > (room.level_stop[k - 1] if k > 0 else 0):
                threshold = np.nan
            elif not task.ends.drawn:
                threshold = _threshold(task.ends, feature, nodes[node, LAST_LEFT], nodes[node, FIRST_RIGHT])
        arena.ints[0, at + k], arena.ints[3, at + k] = feature, stop - start
        arena.ints[1, at + k] = LEAF if is_leaf else at + left[k]
        arena.ints[2, at + k] = LEAF if is_leaf else at + left[k] + 1
        arena.missing_left[at + k] = 0 if is_leaf else nodes[node, MISSING_LEFT]
        arena.floats[0, at + k] = threshold
        arena.floats[1, at + k] = 0.0 if is_leaf else growing.numbers[node, GAIN]
    clip_nodes(task.job.limits.monotone, growing, order, value)


def _list_levels(splitter, scratch, room, nodes, order, left, m):
    """List which levels go left at every node that tests a category; return how many these are in all."""
    at = np.int64(0)
    for k in range(m):
        if left[k] >= 0:
            node, child = order[k], order[left[k]]
            feature, kind = np.int64(nodes[node, FEATURE]), np.int64(nodes[node, FIRST_RIGHT])
            start, stop = np.int64(nodes[child, START]), np.int64(nodes[child, STOP])
            at = note_levels(splitter, scratch.own, feature, kind, start, stop, room.levels, at)
        room.level_stop[k] = at
    return at


def _no_levels(splitter, scratch, room, nodes, order, left, m):
    return np.int64(0)


jitable(_list_levels)
jitable(_no_levels)
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


class ForestPlan(NamedTuple):
    """A forest to be grown, in kernels' terms."""

    splitter: Any
    ends: Ends
    target: Any
    criterion: Any
    sampling: Any
    orders: np.ndarray
    most_rows: int  # that a tree sees
    n_table_rows: int
    n_features: int
    n_seen: int
    width: int
    count_type: Any
    settings: Settings
    general: Any = None  # what the trees of the general growth share, where that grows them


def grow_forest(plan: ForestPlan, first: int, n_trees: int, run: Callable[[GrowForest, int], bool]) -> Trees | None:
    """Grow trees first .. n_trees - 1 and return the longest finished prefix of these, or None.

    ``run(task, workers)`` launches a task and returns whether it was stopped.
    """
    settings, n_most = plan.settings, plan.most_rows
    is_small = n_most * (n_trees - first) < SERIAL_ROWS
    workers = 1 if is_small else min(settings.workers, n_trees - first)
    limits = settings.limits(1.0)
    capacity = most_nodes(n_most, limits)
    order = BestFirst() if limits.max_leaves < NO_LIMIT else DepthFirst()
    features = feature_policy(limits, plan.n_features, settings.groups)
    bounded, n_sums = not is_free(limits.monotone), n_sums_of(plan.target)
    growing = new_growings(capacity, n_sums, workers, bounded, settings.groups is not None)
    p = plan.n_features
    job = Job(plan.splitter, plan.target, plan.criterion, limits, growing, order, features, p, plan.n_seen)
    scratches = new_scratch(plan.splitter, plan.target, limits, p, plan.n_seen, n_most, workers)
    most_levels = _most_levels(plan.splitter, n_most)
    copies = getattr(plan.splitter, "copies_codes", False) and hasattr(plan.target, "gather")
    copies = copies and limits.max_leaves >= NO_LIMIT
    n_few = min(n_most, SUBTREE_BYTES // (max(p, 16) * plan.splitter.codes.itemsize)) if copies else 0
    few_codes = np.empty((workers, n_few + SPARE, p), plan.splitter.codes.dtype)
    room = Room(
        np.empty((workers, len(plan.orders) * plan.orders.shape[1]), np.uint32),
        np.zeros((workers, plan.n_table_rows), plan.count_type),
        per_worker(workers, plan.width),
        np.empty((workers, n_few), np.uint32),
        few_codes,
        sparse_empty((workers, 5, len(growing.nodes[0])), np.int32),
        per_worker(workers, plan.n_seen),
        sparse_empty((workers, most_levels), np.int32),
        sparse_empty((workers, len(growing.nodes[0]) if most_levels else 0), np.int64),
    )
    own = own_arrays(plan.target, workers, n_few, n_most)
    seeds = rng.streams(settings.seed, rng.TREE, n_trees)  # of each tree: rng.seed_of_tree
    streams = np.stack([rng.streams_of(seeds, purpose) for purpose in (rng.FEATURES, rng.CUT)], axis=1)
    parts = []
    while first < n_trees:
        arena = _new_arena(capacity, n_trees - first, plan.width, most_levels)
        task = GrowForest(
            job,
            scratches,
            plan.sampling,
            plan.orders,
            room,
            own,
            plan.ends,
            streams,
            settings.min_weight_leaf,
            n_few,
            first,
            n_trees,
            arena,
            np.zeros(1, np.int64),
        )
        stopped = run(task, workers)
        parts.append(_trees_of(arena))
        first += int(arena.done[0])
        if stopped:
            break
    return joined([part for part in parts if part.n_trees])


def _most_levels(splitter, n_rows):
    """Return a bound on the levels that a tree lists: at every node those of the lighter child.

    A row is in a lighter child at most as often as the weight can be halved; what no list touches costs no memory.
    """
    return n_rows * 64 if hasattr(splitter, "note_levels") else 0


def _new_arena(capacity, n_trees, width, most_levels):
    """Allocate room for trees of at most ``capacity`` nodes; what no node touches costs no memory."""
    nodes = max(capacity, min(n_trees * capacity, ARENA_BYTES // (_NODE_BYTES + 8 * width)))
    levels = max(most_levels, min(n_trees * most_levels, ARENA_BYTES // 4))
    while True:
        try:
            ints, missing_left = sparse_empty((4, nodes), np.int32), sparse_empty(nodes, np.uint8)
            floats, value = sparse_empty((4, nodes), np.float64), sparse_empty((nodes, width), np.float64)
            level_stop, level = sparse_empty(nodes if levels else 0, np.int64), sparse_empty(levels, np.int32)
            break
        except MemoryError:  # some systems refuse even to promise so much
            if nodes == capacity and levels == most_levels:
                raise
            nodes, levels = max(capacity, nodes // 2), max(most_levels, levels // 2)
    done, full = np.zeros(1, np.int64), np.zeros(1, np.int64)
    root, level_root = np.zeros(n_trees + 1, np.int64), np.zeros(n_trees + 1, np.int64)
    return Arena(done, full, root, level_root, ints, missing_left, floats, value, level_stop, level)


def _trees_of(arena):
    """Return the trees of an arena as Trees."""
    n_trees = arena.done[0]
    root, n_levels = arena.root[: n_trees + 1].copy(), arena.level_root[n_trees]
    m = root[-1]
    ints, floats = arena.ints[:, :m], arena.floats[:, :m]
    return Trees(
        root,
        ints[0],
        floats[0],
        ints[1],
        ints[2],
        arena.missing_left[:m],
        arena.value[:m],
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
