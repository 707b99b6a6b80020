# mypy: ignore-errors
# ruff: noqa: D102
"""Trees whose rows have left, grown again only where these were and a test changed.

A tree is followed from its root along the ways of the rows that left. At each node on these ways the best test of the
rows that stay is found, as in growth. Where it parts them as before, the subtree that none of the rows that left came
to stays, and the other one is looked at next; elsewhere the subtree grows anew. What a subtree looks like depends on
its rows and on its path alone, so the tree is the one that the rows that stay would have grown by themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.binary.grow_subtree import calls_of, is_small, kernels_of
from dtnumba.growth.forest.arena import Arena, Ends, n_finished, put_away, trees_of_arena
from dtnumba.growth.forest.bootstrap_rows import list_rows, sample, weigh
from dtnumba.growth.forest.grow import ForestPlan, Room, arena_of, begin_tree, first_subtree, grow_open, task_of
from dtnumba.growth.forest.splice import FOLLOWED, spliced
from dtnumba.growth.nodes import Subtree
from dtnumba.growth.policies.limits import limits_of
from dtnumba.growth.policies.monotonic import is_free
from dtnumba.growth.policies.node_order import is_best_first
from dtnumba.growth.policies.significance_test import NoTest
from dtnumba.growth.splitters.contract import keeper, note_levels, of_keeper, release, with_rows
from dtnumba.growth.targets.contract import is_ranked, is_wide, with_scratch
from dtnumba.runtime.addresses import call_at, compile_entries
from dtnumba.runtime.kernels import by_having, inline, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.records import worker_part
from dtnumba.runtime.tasks import code_of, take_ticket
from dtnumba.trees.routing import is_among

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.trees.layout import Trees

# A node of so few rows is grown as a whole: to compare its test would take as long.
LEAST_FOLLOWED = 128
_STAYS = -1  # in the column DEPTH of a node whose subtree stays; LAST_LEFT says which it was


class NodesBefore(NamedTuple):
    """The nodes of the trees as they are."""

    root: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    missing_left: np.ndarray
    n_samples: np.ndarray
    level_start: np.ndarray
    level: np.ndarray
    value: np.ndarray
    weight: np.ndarray
    impurity: np.ndarray


class Gone(NamedTuple):
    """The rows that left."""

    values: np.ndarray  # (g, p)
    counts: np.ndarray  # (n_trees, g) how often each tree drew them
    whole: np.ndarray  # (n_trees,) uint8: trees that are to be grown anew from the root


@kernel_type
class RegrowTrees(NamedTuple):
    """Follow trees, the next one by whichever worker is free; the fields are those of GrowForest, and four more."""

    job: object
    scratches: object
    sampling: object
    orders: np.ndarray
    room: Room
    own: object
    ends: Ends
    seeds: int
    min_weight_share: float
    floor: int
    first: int
    n_trees: int
    arena: Arena
    counter: np.ndarray
    trees: np.ndarray  # (k,) int64: the trees to follow
    grown: NodesBefore
    gone: Gone
    came: np.ndarray  # (workers, 1, m) int64 scratch, zeros: rows that left, by the nodes that they came to

    def run(self, worker):
        job, scratch, own = self.job, worker_part(self.scratches, worker), worker_part(self.own, worker)
        room, growing = worker_part(self.room, worker), worker_part(job.growing, worker)
        target, came = with_scratch(job.target, own), self.came[worker, 0]
        while growing.halt[0] == 0 and self.arena.full[0] == 0:
            ticket = self.first + take_ticket(self.counter)
            if ticket >= self.n_trees:
                break
            tree = self.trees[ticket]
            sample(self.sampling, tree, room.counts, room.totals, growing.halt)
            if growing.halt[0] != 0:
                break
            n = list_rows(self.sampling, self.orders[0], room.counts, room.rows, np.int64(0))
            for o in range(1, len(self.orders)):
                list_rows(self.sampling, self.orders[o], room.counts, room.rows, o * n)
            splitter = with_rows(job.splitter, room.rows, n)
            weighed = weigh(self.sampling, target, own, room.counts, room.rows, n)
            own_job = begin_tree(self, tree, n, splitter, weighed, scratch, growing)
            if self.gone.whole[tree] == 0:
                _count_ways(self.grown, self.gone, tree, came, np.int64(1))
                _follow(self, own_job, tree, came, scratch, room)
                _count_ways(self.grown, self.gone, tree, came, np.int64(0))
            node = np.int64(0)
            while node < max(scratch.place[0], np.int64(1)) and growing.halt[0] == 0:
                if growing.nodes[node, col.FEATURE] == col.OPEN:
                    grow_open(self, own_job, node, scratch, own, room)
                node += 1
            if growing.halt[0] == 0:
                put_away(self, ticket - self.first, splitter, weighed, scratch, room, growing)

    def recall(self, nodes, node, summary, k):
        """Describe a node below which the tree stays, as it was described."""
        stays = nodes[node, col.DEPTH] == _STAYS
        if stays:
            before = np.int64(nodes[node, col.LAST_LEFT])
            for j in range(summary.value.shape[1]):
                summary.value[k, j] = self.grown.value[before, j]
            summary.weight[k], summary.impurity[k] = self.grown.weight[before], self.grown.impurity[before]
        return stays


@inline
def _count_ways(grown, gone, tree, came, step):
    """Count at each node of a tree how many of the rows that left came to it; or forget, where ``step`` is 0."""
    root = np.int64(grown.root[tree])
    for i in range(len(gone.values)):
        if gone.counts[tree, i] > 0:
            node = root
            came[0] = (came[0] + 1) * step
            while grown.left[node] >= 0:
                x, left = gone.values[i, grown.feature[node]], np.int64(grown.left[node])
                goes_left = _goes_left(grown, node, x)
                node = left if goes_left else left + 1
                came[node - root] = (came[node - root] + 1) * step


@inline
def _goes_left(grown, node, x):
    if x != x:
        return grown.missing_left[node] != 0
    if len(grown.level_start) > 1 and grown.level_start[node + 1] > grown.level_start[node]:
        return is_among(grown.level, grown.level_start[node], grown.level_start[node + 1], x)
    return x <= grown.threshold[node]


@inline
def _follow(task, job, tree, came, scratch, room):
    """Find the tests along the ways of the rows that left; nodes that are to grow stay open."""
    nodes, grown, root = job.growing.nodes, task.grown, np.int64(task.grown.root[tree])
    stack, olds, top = room.ids[0], room.ids[1], 1
    stack[0], olds[0] = 0, root
    while top > 0 and job.growing.halt[0] == 0:
        top -= 1
        node, old = np.int64(stack[top]), np.int64(olds[top])
        size = np.int64(nodes[node, col.STOP]) - nodes[node, col.START]
        is_one_step = nodes[node, col.FEATURE] == col.OPEN and size > LEAST_FOLLOWED
        if is_one_step and not (job.calls.small != 0 and is_small(job.small, job, scratch, node)):
            call_at(job.calls.below, Subtree(job, scratch), node, size, np.int64(0))
            if nodes[node, col.FEATURE] >= 0 and _is_parted_as_before(task, job, node, old, root, came, scratch, room):
                nodes[node, col.MISSING_LEFT] |= FOLLOWED
                for side in range(2):
                    child, before = np.int64(nodes[node, col.LEFT]) + side, np.int64(grown.left[old]) + side
                    if came[before - root] > 0:
                        stack[top], olds[top] = child, before
                        top += 1
                    else:
                        if nodes[child, col.FEATURE] == col.OPEN:
                            release(keeper(job.splitter), job.growing, of_keeper(job.splitter, scratch.own), child)
                        nodes[child, col.FEATURE] = col.LEAF
                        nodes[child, col.DEPTH], nodes[child, col.LAST_LEFT] = _STAYS, before


@inline
def _is_parted_as_before(task, job, node, old, first, came, scratch, room):
    """Tell whether a node sends each of its rows to where it was sent before; ``first`` is the root of the tree.

    Of a test of the same column that sends as many rows to the left as stay of those before, these are the same rows:
    the smallest values, or the levels listed.
    """
    nodes, grown = job.growing.nodes, task.grown
    left, before = np.int64(nodes[node, col.LEFT]), np.int64(grown.left[old])
    is_same = before >= 0 and grown.feature[old] == nodes[node, col.FEATURE]
    if not is_same or grown.missing_left[old] != nodes[node, col.MISSING_LEFT]:
        return False
    n_left = np.int64(nodes[left, col.STOP]) - nodes[left, col.START]
    has_lost = grown.n_samples[before] - came[before - first]
    return n_left == has_lost and _has_same_levels(job.splitter, grown, nodes, node, old, scratch, room)


@inline
def _compare_levels(splitter, grown, nodes, node, old, scratch, room):
    left = np.int64(nodes[node, col.LEFT])
    feature, kind = np.int64(nodes[node, col.FEATURE]), np.int64(nodes[node, col.FIRST_RIGHT])
    start, stop = np.int64(nodes[left, col.START]), np.int64(nodes[left, col.STOP])
    n = note_levels(splitter, scratch.own, feature, kind, start, stop, room.levels, np.int64(0))
    first, n_before = np.int64(0), np.int64(0)
    if len(grown.level_start) > 1:
        first = np.int64(grown.level_start[old])
        n_before = grown.level_start[old + 1] - first
    is_same = n == n_before
    for k in range(n if is_same else 0):
        is_same = is_same and room.levels[k] == grown.level[first + k]
    return is_same


@inline
def _without_levels(splitter, grown, nodes, node, old, scratch, room):
    return True


_has_same_levels = by_having("note_levels", _compare_levels, _without_levels)


def follows(plan: ForestPlan, trees: Trees | None) -> bool:
    """Tell whether the subtrees of a forest depend on their rows and paths alone, so that they can be followed."""
    settings, limits = plan.settings, limits_of(plan.settings, 1.0)
    if plan.general is not None or is_best_first(limits) or settings.min_weight_leaf > 0.0:
        return False
    if settings.min_decrease > 0.0 or not isinstance(limits.test, NoTest) or not is_free(limits.monotone):
        return False
    if settings.groups is not None or settings.sums is not None or not settings.options.are_plain:
        return False
    kind = type(plan.target)
    return not (is_ranked(kind) or is_wide(kind) or (trees is not None and (trees.is_compact or trees.has_sums)))


def regrown(
    plan: ForestPlan, trees: Trees, touched: NDArray[np.int64], gone: Gone, run: Callable[[Any, int], bool]
) -> Trees | None:
    """Return the trees of a plan of the rows that stay, given those grown with the rows that left beside them.

    Parameters
    ----------
    plan : ForestPlan
        Of the rows that stay.
    trees : Trees
        As they were grown with all rows.
    touched : array of int
        The trees that drew rows that left, ascending; the others stay.
    gone : Gone
        The rows that left, and how often each tree drew them.
    run : callable
        ``run(task, workers)`` launches a task and returns whether it was stopped; None is returned then.

    """
    n, workers = len(touched), min(plan.settings.workers, len(touched))
    if n == 0:
        return trees
    most = int(np.diff(trees.root).max())
    grown = NodesBefore(*(getattr(trees, name) for name in NodesBefore._fields))
    came = per_worker(workers, most, np.int64, 0)

    task = RegrowTrees(*task_of(plan, 0, n, workers), touched, grown, gone, came)
    kernels = kernels_of(first_subtree(task))
    compile_entries([*kernels.values(), code_of(task)])
    task = task._replace(job=task.job._replace(calls=calls_of(kernels)))
    parts, first, is_alone = [], 0, workers == 1
    while True:
        if run(task, 1 if is_alone else workers):
            return None
        parts.append(trees_of_arena(task.arena))
        n_grown = n_finished(task.arena)
        if n_grown == 0 and is_alone:
            msg = "a tree has more nodes and classes than memory has room for: make it smaller (max_depth)"
            raise MemoryError(msg)
        is_alone = workers == 1 or n_grown == 0
        first += n_grown
        if first >= n:
            break
        task = task._replace(first=first, arena=arena_of(plan, task, n - first), counter=np.zeros(1, np.int64))
    return spliced(trees, touched, [part for part in parts if part.n_trees])
