"""Grow a tree: look at a node, divide it, go on with its children; an explicit frontier, never recursion.

Depth first the frontier is a stack, best first a heap on the gain; the tree is the same when nothing limits it, because
a node's split depends on its rows and its path alone. Large nodes are worked on by all threads together, feature by
feature; once they are small, whole subtrees are shared out.
"""

from typing import NamedTuple

import numpy as np

from dtnumba import rng
from dtnumba._jit import by_having, inline, jitable, kernel, part, take_ticket
from dtnumba.criteria import NO_GAIN, choose
from dtnumba.frontier import draw, list_drawn, pop, push
from dtnumba.growing import (
    CHUNK,
    CUT,
    DEPTH,
    FEATURE,
    FIRST_CHUNK,
    FIRST_RIGHT,
    GAIN,
    LAST_LEFT,
    LEAF,
    LEFT,
    LEFT_ROWS,
    MISSING_LEFT,
    NO_SLOT,
    PRIORITY,
    SLOT,
    START,
    STOP,
    UNKNOWN,
    Job,
    Scratch,
)
from dtnumba.interactions import allowed, note_parent
from dtnumba.monotone import bound_children, for_node
from dtnumba.per_worker import per_worker
from dtnumba.scan import Candidates, Limits
from dtnumba.scan_words import N_CUTS
from dtnumba.split_test import rejects
from dtnumba.splitters import begin, divide, grow_few, inherit, is_few, look, pick_own, release
from dtnumba.targets import (
    Work,
    block_size,
    is_pure,
    load,
    n_sums_of,
    rank_rows,
    store,
    sum_rows,
    tree_size,
    weight_of,
    zero,
)

# scikit-learn's slack when it compares an improvement with min_impurity_decrease
EPSILON = np.finfo(np.float64).eps
NO_LIMIT = np.int64(1 << 62)
# Deepest stack of a depth-first growth that takes the smaller child first: it halves at every push.
DEPTH_FIRST_FRONTIER = 64
OPEN = LEAF - 1  # a node that is neither a leaf nor split yet


@part
class NothingFew(NamedTuple):
    """Subtrees of few rows are grown like others."""

    def pick(self, worker):
        return self


def most_nodes(n_rows, limits):
    """Return a bound on the nodes of a tree over n rows."""
    leaves = max(1, n_rows // max(1, limits.min_samples_leaf))
    leaves = min(leaves, limits.max_leaves, 1 << min(limits.max_depth, 62))
    return 2 * leaves - 1


def new_scratch(splitter, target, limits, n_features, n_seen, n, workers):
    """Allocate what each worker needs for a subtree of n rows; every array has a row a worker."""
    t, p, size, n_trees = workers, n_features, target.n_stats, tree_size(target, n)
    n_frontier = DEPTH_FIRST_FRONTIER if limits.max_leaves >= NO_LIMIT else min(limits.max_leaves, n) + 2
    n_seen = max(n_seen, block_size(target))
    few = splitter.few_scratch(limits.n_drawn, workers) if hasattr(splitter, "few_scratch") else NothingFew()
    n_cuts = max(N_CUTS, getattr(few, "n_cuts", 0)) if hasattr(target, "bin_sums") else 0
    # Zeros: the last vector of cuts is filled up with what stands here, and a user's criterion may look into a table.
    work = Work(
        per_worker(t, size, np.int64),
        per_worker(t, size, np.int64),
        per_worker(t, size, np.int64),
        per_worker(t, size, np.int64),
        per_worker(t, (3, n_seen)),
        per_worker(t, (4, n_trees), np.int64),
        per_worker(t, n_trees),
        per_worker(t, (5, n_cuts), np.int64, 0),
        per_worker(t, n_cuts, np.uint64),
        per_worker(t, n_cuts),
        per_worker(t, n_cuts, np.int32),
        per_worker(t, n_cuts, np.float32),
    )
    candidates = Candidates(
        per_worker(t, p),
        per_worker(t, p),
        per_worker(t, p),
        per_worker(t, (p, 4), np.int64),
        per_worker(t, (p, n_sums_of(target)), np.int64, UNKNOWN),
    )
    features = per_worker(t, p, np.int64)
    features[:] = np.arange(p)
    return Scratch(
        candidates,
        work,
        features,
        per_worker(t, p, np.int64),
        per_worker(t, p, np.int64),
        per_worker(t, n_frontier, np.int64),
        splitter.new_scratch(n, workers),
        few,
    )


@inline
def pick(scratch, worker):
    """Return one worker's part of the scratch."""
    c, w = scratch.candidates, scratch.work
    candidates = Candidates(
        c.gain[worker, 0],
        c.information[worker, 0],
        c.cut[worker, 0],
        c.where[worker, 0],
        c.sums[worker, 0],
    )
    work = Work(
        w.total[worker, 0],
        w.left[worker, 0],
        w.right[worker, 0],
        w.best[worker, 0],
        w.seen[worker, 0],
        w.trees[worker, 0],
        w.costs[worker, 0],
        w.sums[worker, 0],
        w.codes[worker, 0],
        w.scores[worker, 0],
        w.pairs[worker, 0],
        w.rough[worker, 0],
    )
    return Scratch(
        candidates,
        work,
        scratch.features[worker, 0],
        scratch.drawn[worker, 0],
        scratch.listed[worker, 0],
        scratch.frontier[worker, 0],
        pick_own(scratch.own, worker),
        pick_own(scratch.few, worker),
    )


@inline
def admit(growing, limits, node, start, stop, depth, key):
    """Write a new node, as a leaf where its size or depth says so, else as open."""
    nodes, n = growing.nodes, stop - start
    is_small = n < limits.min_samples_split or n < 2 * limits.min_samples_leaf
    nodes[node, FEATURE] = LEAF if is_small or depth >= limits.max_depth else OPEN
    nodes[node, LEFT], nodes[node, SLOT] = LEAF, NO_SLOT
    nodes[node, START], nodes[node, STOP], nodes[node, DEPTH] = start, stop, depth
    growing.numbers[node, GAIN] = 0.0
    growing.keys[node], growing.sums[node, 0, 0] = key, UNKNOWN


def _narrow(rule, job, node):
    """Return the job with the range of a node's values as limits."""
    limits = Limits(*job.limits[:-1], for_node(rule, job.growing, node))
    return Job(
        job.splitter,
        job.target,
        job.criterion,
        limits,
        job.growing,
        job.order,
        job.features,
        job.n_features,
        job.n_seen,
    )


def _as_it_is(rule, job, node):
    return job


jitable(_narrow)
at_node = by_having("for_node", _narrow, _as_it_is)


@inline
def seek(job, scratch, node):
    """Look for the best split of an open node and write it, or make the node a leaf.

    A constant feature counts among those drawn, but drawing goes on while every one so far was constant (scikit-learn's
    rule: no impure node stays a leaf for bad luck).
    """
    target, splitter, growing, limits = job.target, job.splitter, job.growing, job.limits
    own_job, scratch = at_node(limits.monotone, job, node), allowed(job.features, growing, scratch, node)
    start, stop, p = growing.nodes[node, START], growing.nodes[node, STOP], len(scratch.features)
    total, sums = zero(target, scratch.work.total), growing.sums[node, 0]
    if sums[0] == UNKNOWN:
        total = sum_rows(target, splitter, total, start, stop)
        store(target, total, sums)
    else:
        total = load(target, sums, scratch.work.total)
    weight, n_candidates = weight_of(target, total), np.int64(0)
    if weight >= 2.0 * limits.min_weight_leaf and not is_pure(target, total, splitter, start, stop):
        rank_rows(target, splitter, start, stop)
        begin(splitter, growing, target, limits, scratch.own, node)
        last, varying = min(limits.n_drawn, p), 0
        while varying == 0 and n_candidates < p:
            draw(job.features, scratch, growing.keys[node], n_candidates, last)
            varying = look(splitter, own_job, scratch, node, n_candidates, last, total)
            n_candidates, last = last, last + 1
        list_drawn(job.features, scratch, n_candidates)
    settle(job, scratch, node, n_candidates, weight)


@inline
def settle(job, scratch, node, n, weight):
    """Choose among the n candidates listed in ``listed`` and write the split of an open node, or make it a leaf."""
    out = scratch.candidates
    winner = np.int64(choose(job.criterion, out.gain, out.information, scratch.listed, n))
    settle_on(job, scratch, node, scratch.listed[winner] if 0 <= winner < n else np.int64(-1), weight)


def settle_on(job, scratch, node, feature, weight):
    """Write the split of an open node by this candidate, or make it a leaf; there is no candidate below zero."""
    growing, out, limits, is_split = job.growing, scratch.candidates, job.limits, feature >= 0
    nodes, where, feature = growing.nodes, out.where, max(feature, np.int64(0))
    if out.gain[feature] == NO_GAIN:  # a user's choice of what is not on offer
        is_split = False
    improvement = weight / limits.total_weight * out.gain[feature]
    if not is_split or improvement + EPSILON < limits.min_decrease or rejects(limits.test, job, scratch, node, feature):
        nodes[node, FEATURE] = LEAF
        release(job.splitter, growing, scratch.own, node)
        return
    nodes[node, FEATURE] = feature
    nodes[node, LEFT_ROWS], nodes[node, LAST_LEFT] = where[feature, 0], where[feature, 1]
    nodes[node, FIRST_RIGHT], nodes[node, MISSING_LEFT] = where[feature, 2], where[feature, 3]
    growing.numbers[node, GAIN] = out.gain[feature]
    growing.numbers[node, CUT] = out.cut[feature]
    growing.numbers[node, PRIORITY] = improvement
    for k in range(out.sums.shape[1]):
        growing.sums[node, 1, k] = out.sums[feature, k]


jitable(settle_on)  # not inline: Python calls it, too, through ``settle``


@inline
def take_pair(growing, free, chunk_end):
    """Return room for two nodes, from ``free`` on or in a new chunk, and where the next ones go."""
    if free == chunk_end:
        free = growing.room[FIRST_CHUNK] + take_ticket(growing.room) * CHUNK
        chunk_end = free + CHUNK
    return free, free + 2, chunk_end


@inline
def note_order(growing, root, n, free):
    """Say that the n nodes below one, the last of which is before ``free``, were taken in the order of their numbers.

    Left subtrees first, that is; and where another worker took a chunk in between, they do not lie together.
    """
    if n > 0 and free - growing.nodes[root, LEFT] == n:
        growing.nodes[root, SLOT] = -n


@inline
def admit_children(growing, limits, node, border, left):
    """Write both children of a divided node, side by side."""
    nodes, key = growing.nodes, growing.keys[node]
    nodes[node, LEFT] = left
    for side in range(2):
        start = border if side == 1 else nodes[node, START]
        stop = nodes[node, STOP] if side == 1 else border
        admit(growing, limits, left + side, start, stop, nodes[node, DEPTH] + 1, rng.child_key(key, side))
    sums = growing.sums
    if sums[node, 1, 0] != UNKNOWN and sums[node, 0, 0] != UNKNOWN:
        for k in range(sums.shape[2]):
            sums[left, 0, k] = sums[node, 1, k]
            sums[left + 1, 0, k] = sums[node, 0, k] - sums[node, 1, k]


@inline
def hand_down(job, scratch, node, left):
    """Tell the children of a divided node what constrains them."""
    note_parent(job.features, job.growing, node, left)
    bound_children(job.limits.monotone, job, scratch, node, left)


@inline
def grow_below(job, scratch, root, free, chunk_end, floor):
    """Grow everything below an open node; new nodes stand from ``free`` on, in a new chunk from ``chunk_end``.

    Nodes of at most ``floor`` rows are left open. Return where the next subtree of this worker may go on.
    """
    growing, splitter, limits = job.growing, job.splitter, job.limits
    nodes, frontier, n_leaves, n_frontier = growing.nodes, scratch.frontier, np.int64(1), np.int64(0)
    small = large = np.int64(root)
    while True:
        # The smaller child comes first: it may be using a table that is not kept. It is pushed last, so that it is
        # divided first too, which keeps a depth-first stack short.
        for node in (small, large):
            if nodes[node, FEATURE] == OPEN:
                if nodes[node, STOP] - nodes[node, START] > floor or node == root:
                    if is_few(splitter, job, scratch, node):
                        free, chunk_end = grow_few(splitter, job, scratch, node, free, chunk_end)
                    else:
                        seek(job, scratch, node)
                else:
                    release(splitter, growing, scratch.own, node)
        for k in range(2 if small != large else 1):
            node = large if k == 0 else small
            if nodes[node, FEATURE] >= 0 and nodes[node, LEFT] == LEAF:  # split, and not divided yet
                push(job.order, growing, frontier, n_frontier, node)
                n_frontier += 1
        if n_frontier == 0 or n_leaves >= limits.max_leaves or growing.halt[0] != 0:
            break
        node = pop(job.order, growing, frontier, n_frontier)
        left, free, chunk_end = take_pair(growing, free, chunk_end)
        n_leaves, n_frontier = n_leaves + 1, n_frontier - 1
        border = divide(splitter, job, scratch, node)
        admit_children(growing, limits, node, border, left)
        hand_down(job, scratch, node, left)
        inherit(splitter, growing, job.target, scratch.own, node, left)
        small = left if 2 * (border - nodes[node, START]) <= nodes[node, STOP] - nodes[node, START] else left + 1
        large = 2 * left + 1 - small
    for i in range(n_frontier):
        nodes[frontier[i], FEATURE] = LEAF
    return free, chunk_end


@kernel
def settle_tested(job, scratches, node, n, weight):
    """Settle a node that all threads looked at: a test reads the sums of its rows, and the rows themselves."""
    scratch, growing = pick(scratches, np.int64(0)), job.growing
    start, stop = growing.nodes[node, START], growing.nodes[node, STOP]
    total = sum_rows(job.target, job.splitter, zero(job.target, scratch.work.total), start, stop)
    store(job.target, total, growing.sums[node, 0])
    settle(job, scratch, node, n, weight)


@kernel
def grow_whole(job, scratches, n_rows):
    """Grow a tree over all rows, on one thread."""
    scratch = pick(scratches, np.int64(0))
    admit(job.growing, job.limits, np.int64(0), np.int64(0), n_rows, np.int64(0), np.uint64(rng.ROOT_KEY))
    grow_below(job, scratch, np.int64(0), np.int64(0), np.int64(0), np.int64(0))


@kernel
def grow_some(job, scratches, worker, roots, counter):
    """Grow the subtrees below open nodes, the next free one, until none is left."""
    scratch, free, chunk_end = pick(scratches, worker), np.int64(0), np.int64(0)
    while True:
        k = take_ticket(counter)
        if k >= len(roots):
            break
        free, chunk_end = grow_below(job, scratch, roots[k], free, chunk_end, np.int64(0))
