# mypy: ignore-errors
# ruff: noqa: D102
"""Many trees in one launch: each tree is grown, numbered and described by the worker that drew its ticket.

All trees read the same codes; a worker's room is allocated once. A tree sees its sample as weights over the rows it
drew. Once a node's rows fit into the level-2 cache, their codes and labels are copied side by side and its subtree is
grown there. A finished tree takes its place in the arena behind all earlier ones, so the arena is the forest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.binary.grow_in_parallel import numbers_of
from dtnumba.growth.binary.grow_subtree import (
    LikeOthers,
    add_node,
    calls_of,
    kernels_of,
    most_nodes,
    new_scratch,
)
from dtnumba.growth.forest.arena import (
    ROWS_AHEAD,
    Arena,
    Ends,
    n_finished,
    n_levels_kept,
    new_arena,
    put_away,
    trees_of_arena,
)
from dtnumba.growth.forest.bootstrap_rows import list_rows, sample, weigh
from dtnumba.growth.nodes import (
    Job,
    Subtree,
    SubtreeKernels,
    new_growings,
    with_cuts_key,
    with_features,
    with_features_key,
    with_growing,
    with_limits,
    with_min_weight,
    with_splitter,
    with_target,
    with_total,
)
from dtnumba.growth.policies.feature_sampling import with_key
from dtnumba.growth.policies.interactions import feature_policy
from dtnumba.growth.policies.limits import limits_of
from dtnumba.growth.policies.monotonic import is_free
from dtnumba.growth.policies.node_order import is_best_first
from dtnumba.growth.splitters.contract import with_copies, with_rows
from dtnumba.growth.splitters.histogram import DrawnHistogram, Histogram
from dtnumba.growth.targets.contract import (
    gather,
    is_wide,
    n_kept_of,
    own_arrays,
    store,
    sum_rows,
    weight_of,
    with_scratch,
    zero,
)
from dtnumba.growth.targets.plain import plain
from dtnumba.growth.targets.reach import restored
from dtnumba.runtime import rng
from dtnumba.runtime.addresses import are_loaded, call_at, compile_entries
from dtnumba.runtime.instructions.bits import copy_row, prefetch
from dtnumba.runtime.instructions.column_blocks import SPARE
from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.runtime.memory import per_worker, sparse_empty
from dtnumba.runtime.records import worker_part
from dtnumba.runtime.tasks import code_of, take_ticket
from dtnumba.runtime.tiers import chosen
from dtnumba.trees.layout import Trees, joined

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtnumba.growth.settings import Settings


# Codes of a subtree that are copied side by side. 20 trees of 1M rows x 28: 2.37 s without, 1.93 s with 1 MB.
SUBTREE_BYTES = 1 << 20
# Rows times trees that one thread grows alone: 100 trees on iris take 2.5 ms, and a pool may take longer to wake up.
SERIAL_ROWS = 1 << 15
# A row of a node, by a feature, takes plain kernels so many seconds more (100k rows x 28, of which 5 are drawn: 179
# against 92 ms for 20 trees); the faster ones take so many to compile.
# Where a node sorts its rows or draws thresholds it is four times as much (50k rows: 35 against 82 ms for 6 trees).
_LOST_A_CUT, _LOST_BY_OTHERS, _COMPILE_SECONDS = 0.5e-9, 2e-9, 2.5
_CALLS: dict[Any, SubtreeKernels] = {}  # by kind of task, where they are loaded
MOST_TREES = 1 << 16  # of a round; every one takes some bytes before it is grown
_BLOCK = 16  # bytes that are copied at once, and at least as many rows


class Room(NamedTuple):
    """Buffers of one worker for one tree beside the scratch of growth, as ``worker_part`` takes them."""

    rows: np.ndarray  # (n_orders * n,) uint32
    counts: np.ndarray  # (n_table_rows,)
    totals: np.ndarray  # (n_classes,) float64
    small_rows: np.ndarray  # (n_small,) uint32
    small_codes: np.ndarray  # (n_small, p)
    small_cells: np.ndarray  # (n_small * p,) of values, where the splitter reads these
    ids: np.ndarray  # (5, m) int32: order, left, stack, start, stop
    seen: np.ndarray  # (n_per_output,) float64
    levels: np.ndarray  # int32: of categories that go left, by node
    level_stop: np.ndarray  # (m,) int64


@kernel_type
class GrowForest(NamedTuple):
    """Grow trees, the next one by whichever worker is free."""

    job: object
    scratches: object
    sampling: object
    orders: np.ndarray  # (n_orders, k) uint32: the rows of positive weight, in each order the splitter keeps
    room: Room
    own: object  # the target's
    ends: Ends
    seeds: int  # uint64: ``rng.mix`` makes the seed of each tree of it
    min_weight_share: float
    floor: int  # rows of a subtree that is grown on a copy
    first: int  # tree of ticket 0
    n_trees: int  # those before it are grown
    arena: Arena
    counter: np.ndarray

    def run(self, worker):
        job, scratch, own = self.job, worker_part(self.scratches, worker), worker_part(self.own, worker)
        room, growing = worker_part(self.room, worker), worker_part(job.growing, worker)
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
                put_away(self, ticket, splitter, weighed, scratch, room, growing)


@inline
def _grow_one(task, tree, n, splitter, target, scratch, own, room, growing):
    """Grow a tree over rows[:n]."""
    job = begin_tree(task, tree, n, splitter, target, scratch, growing)
    k, n_roots = np.int64(0), np.int64(1)
    # First the root; where the table is large, it leaves the nodes of few rows open, and these are the next roots.
    while k < n_roots and growing.halt[0] == 0:
        if growing.nodes[k, col.FEATURE] == col.OPEN:
            is_small = grow_open(task, job, k, scratch, own, room)
            if k == 0 and not is_small:
                n_roots = max(scratch.place[0], np.int64(1))
        k += 1


@inline
def begin_tree(task, tree, n, splitter, target, scratch, growing):
    """Write the root of a tree over rows[:n], and return the job of growing it."""
    job = task.job
    sums = sum_rows(target, splitter, zero(target, scratch.work.total), np.int64(0), n)
    total = weight_of(target, sums)
    limits = with_total(with_min_weight(job.limits, task.min_weight_share * total), total)
    seed = rng.mix(task.seeds, tree)
    features_key = rng.first_stream(seed, rng.FEATURES)
    limits = with_cuts_key(with_features_key(limits, features_key), rng.first_stream(seed, rng.CUTS))
    job = with_features(with_growing(job, growing), with_key(job.features, features_key))
    job = with_target(with_splitter(with_limits(job, limits), splitter), target)
    growing.room[col.NEXT_CHUNK], growing.room[col.FIRST_CHUNK] = 0, 1
    scratch.place[0] = scratch.place[1] = 0
    add_node(growing, limits, np.int64(0), np.int64(0), n, np.int64(0), np.uint64(rng.ROOT_KEY))
    store(target, sums, growing.sums[0, 0])
    return job


@inline
def grow_open(task, job, node, scratch, own, room):
    """Grow all below an open node, but for nodes of few rows where it has many; return whether it had few."""
    start, stop = job.growing.nodes[node, col.START], job.growing.nodes[node, col.STOP]
    is_small, part = stop - start <= task.floor, job
    if is_small:
        part = with_target(part, gather(job.target, own, room.rows, start, stop))
        _copy_codes(job.splitter.codes, room, start, stop)
        part = with_splitter(part, with_copies(job.splitter, room, stop - start))
    call_at(job.calls.below, Subtree(part, scratch), node, np.int64(0) if is_small else task.floor, np.int64(0))
    if is_small:
        for i in range(start, stop):
            room.rows[i] = room.small_rows[room.rows[i]]
    return is_small


@inline
def _copy_codes(codes, room, start, stop):
    """Copy the codes of rows[start:stop] side by side, and number these rows from 0."""
    p, reached = codes.shape[1], np.uint64(max(len(codes) - _BLOCK, 0))
    for i in range(start, stop):
        row = room.rows[i]
        prefetch(codes, np.uint64(room.rows[min(i + ROWS_AHEAD, stop - 1)]), np.uint64(0))
        room.small_rows[i - start] = row
        if row < reached:
            copy_row(codes, np.uint64(row), room.small_codes, np.uint64(i - start))
        else:  # behind the last rows is nothing to be read
            for f in range(p):
                room.small_codes[i - start, f] = codes[row, f]
        room.rows[i] = i - start


def _seconds_lost(plan, n_trees):
    """Return about how much longer such trees take with plain kernels."""
    rows, n_drawn = plan.most_rows, plan.settings.n_drawn + getattr(plan.splitter, "n_tried", 0)
    lost = _LOST_A_CUT if isinstance(numbers_of(plan.splitter), (DrawnHistogram, Histogram)) else _LOST_BY_OTHERS
    return n_trees * rows * n_drawn * np.log2(rows + 1.0) * lost


def first_subtree(task):
    """Return what the first worker hands to kernels, of a tree without rows: for the types of its parts."""
    own, room, growing = (worker_part(part, 0) for part in (task.own, task.room, task.job.growing))
    splitter = with_rows(task.job.splitter, room.rows, 0)
    target = weigh(task.sampling, with_scratch(task.job.target, own), own, room.counts, room.rows, 0)
    job = with_target(with_splitter(with_growing(task.job, growing), splitter), target)
    return Subtree(job, worker_part(task.scratches, 0))


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
    n_per_output: int
    width: int
    count_type: Any
    settings: Settings
    small: Any  # how small subtrees are grown
    general: Any = None  # what the trees of the general growth share, where that grows them
    power: int = 0  # of two: the unit of the targets, where that is not the caller's
    indicators: Any = None  # that stand behind the columns of the table while trees grow


def grow_forest(plan: ForestPlan, first: int, n_trees: int, run: Callable[[GrowForest, int], bool]) -> Trees | None:
    """Grow trees first .. n_trees - 1 and return the longest finished prefix of these, or None.

    ``run(task, workers)`` launches a task and returns whether it was stopped.
    """
    is_small = plan.most_rows * (n_trees - first) < SERIAL_ROWS
    workers = 1 if is_small else min(plan.settings.workers, n_trees - first)

    def build(is_plain):
        own = plan._replace(target=plain(plan.target), small=LikeOthers()) if is_plain else plan
        task = task_of(own, first, n_trees, workers)
        code = code_of(task)
        kernels = {} if code.kind in _CALLS else kernels_of(first_subtree(task))
        return task, kernels, [*kernels.values(), code]

    task, kernels, codes = chosen(build, _seconds_lost(plan, n_trees - first), _COMPILE_SECONDS)
    compile_entries(codes)
    calls = calls_of(kernels) if kernels else _CALLS[codes[-1].kind]
    if are_loaded(codes) and codes[-1].kind is not None:
        _CALLS[codes[-1].kind] = calls
    task = task._replace(job=task.job._replace(calls=calls))
    parts, is_alone = [], workers == 1
    while True:
        stopped = run(task, 1 if is_alone else workers)
        parts.append(trees_of_arena(task.arena))
        n_grown = n_finished(task.arena)
        if not stopped and n_grown == 0 and is_alone:
            msg = "a tree has more nodes and classes than memory has room for: make it smaller (max_depth)"
            raise MemoryError(msg)
        is_alone = workers == 1 or n_grown == 0  # later trees may have taken the room of the first
        first = task.first + n_grown
        if stopped or first >= n_trees:
            break
        last = _end_of_round(first, n_trees)
        arena = arena_of(plan, task, last - first)
        task = task._replace(first=first, n_trees=last, arena=arena, counter=np.zeros(1, np.int64))
    grown = joined([part for part in parts if part.n_trees])
    if grown is not None and plan.indicators is not None:
        from dtnumba.growth.oblique.indicators import without_indicators

        grown = without_indicators(grown, plan.indicators)
    return None if grown is None else restored(grown, plan.criterion, plan.power)


def _end_of_round(first, n_trees):
    """Return where a round of trees ends that begins with the first: whoever asks for a billion gets those in time."""
    return min(n_trees, first + MOST_TREES)


def arena_of(plan, task, n_trees):
    """Return room for so many trees of a plan, each as large as the workers' own."""
    most, most_levels = task.room.ids.shape[-1], task.room.levels.shape[-1]
    own = {"lists_shares": is_wide(type(plan.target)), "most_terms": getattr(plan.splitter, "most_terms", 0)}
    return new_arena(most, n_trees, plan.width, most_levels, **own)


def task_of(plan, first, n_trees, workers):
    """Return the task of growing trees first .. n_trees - 1, without the kernels that it calls."""
    settings, n_most, last = plan.settings, plan.most_rows, _end_of_round(first, n_trees)
    limits = limits_of(settings, 1.0)
    capacity = most_nodes(n_most, limits)
    features = feature_policy(limits, plan.n_features, settings.groups)
    bounded, n_kept = not is_free(limits.monotone), n_kept_of(plan.target)
    n_terms = getattr(plan.splitter, "term_width", 0)
    growing = new_growings(capacity, n_kept, workers, bounded, settings.groups is not None, n_terms)
    p = plan.n_features
    rest = plan.n_per_output, plan.small
    job = Job(plan.splitter, plan.target, plan.criterion, limits, growing, features, p, *rest)
    scratches = new_scratch(job, n_most, workers)
    most_levels = n_levels_kept(plan.splitter, n_most)
    copies = getattr(plan.splitter, "copies_codes", False) and hasattr(plan.target, "gather")
    copies = copies and not is_best_first(limits)
    cells = plan.splitter.cells if hasattr(plan.splitter, "with_copies") else None
    of_value = np.dtype(np.uint8) if cells is None else cells.flat.dtype
    row_bytes = max(p, 16) * plan.splitter.codes.itemsize + (0 if cells is None else p * of_value.itemsize)
    n_small = min(n_most, SUBTREE_BYTES // row_bytes) if copies else 0
    small_codes = per_worker(workers, (n_small + SPARE, p), plan.splitter.codes.dtype)
    most = growing.nodes.shape[2]
    room = Room(
        per_worker(workers, len(plan.orders) * plan.orders.shape[1], np.uint32),
        per_worker(workers, plan.n_table_rows, plan.count_type, 0),
        per_worker(workers, plan.width),
        per_worker(workers, n_small, np.uint32),
        small_codes,
        per_worker(workers, 0 if cells is None else n_small * p, of_value),
        sparse_empty((workers, 1, 5, most), np.int32),
        per_worker(workers, plan.n_per_output),
        sparse_empty((workers, 1, most_levels), np.int32),
        sparse_empty((workers, 1, most if most_levels else 0), np.int64),
    )
    own = own_arrays(plan.target, workers, n_small, n_most)
    return GrowForest(
        job,
        scratches,
        plan.sampling,
        plan.orders,
        room,
        own,
        plan.ends,
        rng.streams_key(settings.seed, rng.TREE),  # of each tree: rng.seed_of_tree
        settings.min_weight_leaf,
        n_small,
        first,
        last,
        new_arena(
            capacity,
            last - first,
            plan.width,
            most_levels,
            lists_shares=is_wide(type(plan.target)),
            most_terms=getattr(plan.splitter, "most_terms", 0),
        ),
        np.zeros(1, np.int64),
    )
