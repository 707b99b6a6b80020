# mypy: ignore-errors
# ruff: noqa: D102
"""All nodes listed grow at once, by the kernels of binary growth: several roots, each a range of the same orders."""

from typing import NamedTuple

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.binary.grow_subtree import LikeOthers, add_node, calls_of, kernels_of, new_scratch
from dtnumba.growth.incremental.move_cut import midpoint_of
from dtnumba.growth.incremental.node_sums import add_row
from dtnumba.growth.incremental.state import (
    BEST_GAIN,
    DIRTY,
    FEATURE,
    LEFT,
    MISSING_LEFT,
    NO_LIST,
    NO_SLOT,
    NODE_DEPTH,
    OWN_TABLE,
    PARENT_NODE,
    SHIFT,
    THRESHOLD,
    new_list,
    take_pair,
)
from dtnumba.growth.nodes import Job, Subtree, new_growing
from dtnumba.growth.policies.feature_sampling import AllFeatures
from dtnumba.growth.splitters.candidates import NOTHING
from dtnumba.growth.splitters.presorted import Presorted
from dtnumba.growth.targets.contract import load, n_kept_of, weight_of
from dtnumba.runtime.addresses import call_at, compile_entries
from dtnumba.runtime.kernels import kernel, kernel_type
from dtnumba.runtime.records import address_of, worker_part
from dtnumba.runtime.tasks import launch_beside, take_ticket
from dtnumba.tables.cells import cells_of
from dtnumba.tables.presort import NEW, ROW, SortColumns, bits_of, sort_scratch

_SIX, _63, _ONE = np.uint64(6), np.uint64(63), np.uint64(1)


@kernel_type
class NotedGains(NamedTuple):
    """Lets every split pass, and notes what the best cut of each column is worth at the node."""

    worth: np.ndarray  # (m, p) float64 out: gain per unit of the node's weight; infinite where nobody knows

    def rejects(self, job, scratch, node, feature):
        gains = scratch.candidates.gain
        n = job.growing.nodes[node, col.STOP] - job.growing.nodes[node, col.START]
        is_known = n > 2 and job.limits.min_samples_leaf <= 1
        for k in range(job.n_features):
            self.worth[node, k] = max(gains[k], 0.0) if is_known else np.inf
        return False


@kernel
def part_orders(order, n, n_columns, root_of, at, is_new, start, out):
    """Write the records of each column again, those of each root together, in the order in which they stand.

    order (p * n,) uint32 · root_of (n_slots,) int32 · at (n_roots,) int64 scratch · is_new (n_roots,) uint32 scratch
    start (n_roots + 1,) int64 · out (p * n,) uint32 out
    """
    for column in range(n_columns):
        base = column * n
        for r in range(len(at)):
            at[r], is_new[r] = base + start[r], np.uint32(0)
        # A value is new to a root if it differs from that of the root's last record: the number of different values so
        # far tells, as ranks do.
        rank = np.uint32(0)
        for i in range(base, base + n):
            record = order[i]
            rank += np.uint32((record & NEW) != 0)
            r = root_of[record & ROW]
            to = at[r]
            record &= ~NEW
            if to > base + start[r] and is_new[r] != rank:
                record |= NEW
            out[to] = record
            at[r], is_new[r] = to + 1, rank


@kernel
def list_rows(nodes, listed, n_listed, kept, root_of, start):
    """Write the rows of the nodes listed one behind another, whose they are, and where each node's begin."""
    n = np.int64(0)
    for r in range(n_listed):
        node = listed[r]
        start[r] = n
        place = nodes.place[node, 0]
        for i in range(place, place + nodes.n_rows[node]):
            row = nodes.pool[i] & ROW
            kept[n], root_of[row] = row, r
            n += 1
    start[n_listed] = n
    return n


@kernel
def splice(nodes, growing, listed, n_listed, order, held, is_level, stack, made):
    """Write what grew from each root below the node it was listed for; return how many nodes were written.

    ``made`` names them, parents first; ``stack`` holds pairs of a grown node and the node that it becomes.
    """
    link, grown, values, count = nodes.link, growing.nodes, held.values, np.int64(0)
    for r in range(n_listed):
        stack[0, 0], stack[0, 1], top = r, listed[r], 1
        while top > 0:
            top -= 1
            g, v = stack[top, 0], stack[top, 1]
            made[count] = v
            count += 1
            start, stop = np.int64(grown[g, col.START]), np.int64(grown[g, col.STOP])
            nodes.n_rows[v], link[v, DIRTY], nodes.number[v, SHIFT] = stop - start, 1, 0.0
            feature = np.int64(grown[g, col.FEATURE])
            if feature < 0:
                link[v, FEATURE] = link[v, LEFT] = col.LEAF
                nodes.number[v, BEST_GAIN] = 0.0
                if g >= n_listed:
                    new_list(nodes, v, stop - start, (stop - start) // 4 + 1, np.int64(0))
                    for i in range(start, stop):
                        nodes.pool[nodes.place[v, 0] + i - start] = order[i] & ROW
                continue
            pair = take_pair(nodes)
            threshold = np.inf
            if grown[g, col.FIRST_RIGHT] != NOTHING and is_level[feature]:
                threshold, left = np.nan, np.int64(grown[g, col.LEFT])
                for k in range(nodes.levels.shape[1]):
                    nodes.levels[v, k] = np.uint64(0)
                for i in range(grown[left, col.START], grown[left, col.STOP]):
                    level = values[order[i] & ROW, feature]
                    if level == level:
                        word, bit = np.uint64(level) >> _SIX, np.uint64(level) & _63
                        nodes.levels[v, word] |= _ONE << bit
            elif grown[g, col.FIRST_RIGHT] != NOTHING:
                below, above = grown[g, col.LAST_LEFT], grown[g, col.FIRST_RIGHT]
                threshold = midpoint_of(np.float64(values[below, feature]), np.float64(values[above, feature]))
            nodes.number[v, THRESHOLD], nodes.number[v, BEST_GAIN] = threshold, growing.numbers[g, col.GAIN]
            link[v, FEATURE], link[v, LEFT], link[v, MISSING_LEFT] = feature, pair, grown[g, col.MISSING_LEFT]
            nodes.place[v, 0] = NO_LIST
            for side in range(2):
                link[pair + side, NODE_DEPTH], link[pair + side, PARENT_NODE] = link[v, NODE_DEPTH] + 1, v
                link[pair + side, OWN_TABLE] = NO_SLOT
                stack[top, 0], stack[top, 1] = grown[g, col.LEFT] + side, pair + side
                top += 1
            nodes.n_rows[v] = -g  # until its ceilings are known
    return count


@kernel
def sum_up(nodes, target, held, made, n_made, worth, one):
    """Write the sums of the nodes made, children before their parents, and the ceilings of their columns."""
    for i in range(n_made):
        v = made[n_made - 1 - i]
        sums, left = nodes.sums[v], np.int64(nodes.link[v, LEFT])
        for k in range(len(sums)):
            sums[k] = 0
        if left < 0:
            start = nodes.place[v, 0]
            for j in range(start, start + nodes.n_rows[v]):
                add_row(target, held, sums, np.int64(nodes.pool[j] & ROW))
            continue
        for k in range(len(sums)):
            sums[k] = nodes.sums[left, k] + nodes.sums[left + 1, k]
        g = -nodes.n_rows[v]
        nodes.n_rows[v] = nodes.n_rows[left] + nodes.n_rows[left + 1]
        weight = weight_of(target, load(target, sums[: len(one)], one))
        for c in range(nodes.ceiling.shape[1]):
            nodes.ceiling[v, c] = worth[g, c] * weight


@kernel_type
class GrowEach(NamedTuple):
    """Grow the tree below every root, each by whichever worker is free."""

    job: object
    scratches: object
    n_roots: int
    counter: np.ndarray

    def run(self, worker):
        scratch = worker_part(self.scratches, worker)
        subtree = Subtree(self.job, scratch)
        scratch.here[0] = address_of(subtree)
        while True:
            root = take_ticket(self.counter)
            if root >= self.n_roots:
                break
            if self.job.growing.nodes[root, col.FEATURE] == col.OPEN:
                call_at(self.job.calls.below, subtree, np.int64(root), np.int64(0), np.int64(0))


def grow_listed(tree, n_listed, workers):
    """Grow the nodes listed and put what grew in their place; return the nodes made, parents first."""
    nodes, held, p = tree.nodes, tree.held, tree.n_features
    listed = tree.listed[:n_listed]
    sizes = nodes.n_rows[listed]
    n = int(sizes.sum())
    kept, start = np.empty(n, np.uint32), np.empty(n_listed + 1, np.int64)
    list_rows(nodes, listed, n_listed, kept, tree.root_of, start)
    order = np.empty(p * n, np.uint32)
    cells, form = bits_of(cells_of(held.values))
    task = SortColumns(cells, form, sort_scratch(cells.flat, n, workers), kept, order, 0, np.zeros(1, np.int64))
    launch_beside(task, workers)
    if n_listed > 1:
        parted = np.empty_like(order)
        scratch = np.empty(n_listed, np.int64), np.empty(n_listed, np.uint32)
        part_orders(order, n, p, tree.root_of, *scratch, start, parted)
        order = parted
    limits = tree.limits
    most = int(2 * sizes.sum())
    growing = new_growing(most + n_listed, n_kept_of(tree.target), workers, False, False)
    growing.room[col.FIRST_CHUNK] = n_listed
    worth = np.empty((len(growing.nodes), p))
    limits = limits._replace(test=NotedGains(worth))
    splitter = Presorted(order, tree.side, n, p, p, limits.max_depth)
    if tree.levels is not None:
        splitter = tree.levels.around(splitter)
    job = Job(splitter, tree.target, tree.criterion, limits, growing, AllFeatures(), p, tree.n_per_output, LikeOthers())
    scratches = new_scratch(job, n, workers)
    scratches.place[:] = 0
    for r in range(n_listed):
        add_node(growing, limits, r, int(start[r]), int(start[r + 1]), int(nodes.link[listed[r], NODE_DEPTH]), 0)
    kernels = kernels_of(Subtree(job, worker_part(scratches, 0)))
    compile_entries([*kernels.values()])
    job = job._replace(calls=calls_of(kernels))
    launch_beside(GrowEach(job, scratches, n_listed, np.zeros(1, np.int64)), workers)
    n_grown = n_listed + int(growing.room[col.NEXT_CHUNK]) * col.CHUNK
    tree.make_room(n_grown, n)
    nodes = tree.nodes
    made = np.empty(n_grown, np.int64)
    stack = np.empty((n_grown + 2, 2), np.int64)
    n_made = splice(nodes, growing, listed, n_listed, order, held, tree.is_level, stack, made)
    sum_up(nodes, tree.target, held, made, n_made, worth, np.zeros(tree.target.n_stats, np.int64))
    return made[:n_made]
