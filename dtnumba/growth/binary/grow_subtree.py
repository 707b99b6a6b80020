# mypy: ignore-errors
# ruff: noqa: D102
"""Grow a tree: look at a node, divide it, go on with its children; an explicit frontier, never recursion.

Depth first the frontier is a stack, best first a heap on the gain; the tree is the same when nothing limits it, because
a node's split depends on its rows and its path alone. Where several threads grow a tree, a crew shares out what a node
takes (``crew``); the loop is the same.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, choose
from dtnumba.growth import columns as col
from dtnumba.growth.binary.crew import ROW_BITS, Alone, hand_on, leave, look, part_rows, prepare
from dtnumba.growth.nodes import Candidates, Scratch, SubtreeKernels, Work, smaller_child, with_limits, with_monotone
from dtnumba.growth.policies.feature_sampling import draw, list_drawn
from dtnumba.growth.policies.interactions import allowed, note_parent
from dtnumba.growth.policies.monotonic import bound_children, for_node
from dtnumba.growth.policies.node_order import is_best_first, pop, push
from dtnumba.growth.policies.significance_test import NoTest, rejects
from dtnumba.growth.splitters.contract import (
    divide,
    divide_share,
    fill_table,
    keeper,
    of_keeper,
    offer,
    release,
    score_features,
)
from dtnumba.growth.splitters.scans.scan_packed_bins import MOST_CUTS
from dtnumba.growth.targets.contract import (
    around,
    block_size,
    is_pure,
    load,
    n_kept_of,
    n_sums_of,
    own_size,
    rank_rows,
    store,
    sum_rows,
    weight_of,
    zero,
)
from dtnumba.runtime import rng
from dtnumba.runtime.addresses import call_at, codes_for, entry_of
from dtnumba.runtime.kernels import by_having, by_type, entry, inline, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.records import address_of, own_copy
from dtnumba.runtime.tasks import take_ticket

# Deepest stack of a depth-first growth that takes the smaller child first: it halves at every push.
DEPTH_FIRST_FRONTIER = 64


@kernel_type
class LikeOthers(NamedTuple):
    """Subtrees of few rows are grown like others (see ``small_subtrees`` for other ways)."""

    def new_scratch(self, codes, n_drawn, workers):
        return self


def _never(policy, job, scratch, node):
    return False


def _nothing_grown(policy, job, scratch, root):
    pass


is_small = by_type("is_small", _never)
grow_small = by_type("grow", _nothing_grown)


def most_nodes(n_rows, limits):
    """Return a bound on the nodes of a tree over n rows."""
    leaves = max(1, n_rows // max(1, limits.min_samples_leaf))
    leaves = min(leaves, limits.max_leaves, 1 << min(limits.max_depth, 62))
    return 2 * leaves - 1


def new_scratch(job, n, workers):
    """Allocate what each worker needs for a subtree of n rows; every array has a row a worker."""
    splitter, target, limits, p = job.splitter, job.target, job.limits, job.n_features
    n_places = p + getattr(splitter, "n_offered", 0)
    t, size, n_own = workers, target.n_stats, own_size(target, n)
    n_frontier = min(limits.max_leaves, n) + 2 if is_best_first(limits) else DEPTH_FIRST_FRONTIER
    n_per_output = max(job.n_per_output, block_size(target))
    small = job.small.new_scratch(getattr(splitter, "codes", None), limits.n_drawn, workers)
    n_cuts = max(MOST_CUTS, getattr(small, "n_cuts", 0)) if hasattr(target, "bin_sums") else 0
    n_left = n_kept_of(target) if isinstance(limits.test, NoTest) else n_sums_of(target)
    # Zeros: the last vector of cuts is filled up with what stands here, and a user's criterion may look into a table.
    work = Work(
        per_worker(t, size, np.int64),
        per_worker(t, size, np.int64),
        per_worker(t, size, np.int64),
        per_worker(t, size, np.int64),
        per_worker(t, (3, n_per_output)),
        per_worker(t, (4, n_own), np.int64),
        per_worker(t, n_own),
        per_worker(t, (5, n_cuts), np.int64, 0),
        per_worker(t, n_cuts, np.uint64),
        per_worker(t, n_cuts),
        per_worker(t, n_cuts, np.int32),
        per_worker(t, n_cuts, np.float32),
    )
    candidates = Candidates(
        per_worker(t, n_places),
        per_worker(t, n_places),
        per_worker(t, n_places),
        per_worker(t, (n_places, 4), np.int64),
        per_worker(t, (n_places, n_left), np.int64, col.UNKNOWN),
    )
    features = per_worker(t, p, np.int64)
    features[:] = np.arange(p)
    return Scratch(
        candidates,
        work,
        features,
        per_worker(t, p, np.int64),
        per_worker(t, n_places, np.int64),
        per_worker(t, n_frontier, np.int64),
        splitter.new_scratch(n, workers),
        small,
        per_worker(t, 2, np.int64),
        per_worker(t, 1, np.int64, 0),
    )


@inline
def add_node(growing, limits, node, start, stop, depth, key):
    """Write a new node, as a leaf where its size or depth says so, else as open."""
    nodes, n = growing.nodes, stop - start
    is_small = n < limits.min_samples_split or n < 2 * limits.min_samples_leaf
    nodes[node, col.FEATURE] = col.LEAF if is_small or depth >= limits.max_depth else col.OPEN
    nodes[node, col.LEFT], nodes[node, col.SLOT] = col.LEAF, col.NO_SLOT
    nodes[node, col.START], nodes[node, col.STOP], nodes[node, col.DEPTH] = start, stop, depth
    growing.numbers[node, col.GAIN] = 0.0
    growing.keys[node], growing.sums[node, 0, 0] = key, col.UNKNOWN


@inline
def _narrow(rule, job, node):
    """Return the job with the range of a node's values as limits."""
    return with_limits(job, with_monotone(job.limits, for_node(rule, job.growing, node)))


def _as_it_is(rule, job, node):
    return job


at_node = by_having("for_node", _narrow, _as_it_is)


@inline
def find_split(crew, job, scratch, node):
    """Look for the best split of an open node and write it, or make the node a leaf."""
    _among_allowed(job.features, crew, job, scratch, node)


# Where nothing is constrained, job and scratch go through untouched: to return a record is to copy it.
def _among_some(features, crew, job, scratch, node):
    _within_bounds(job.limits.monotone, crew, job, allowed(features, job.growing, scratch, node), node)


def _among_all(features, crew, job, scratch, node):
    _within_bounds(job.limits.monotone, crew, job, scratch, node)


def _bounded(rule, crew, job, scratch, node):
    _seek(crew, job, _narrow(rule, job, node), scratch, node)


def _unbounded(rule, crew, job, scratch, node):
    _seek(crew, job, job, scratch, node)


_among_allowed = by_having("allowed", _among_some, _among_all)
_within_bounds = by_having("for_node", _bounded, _unbounded)


@inline
def _seek(crew, job, own_job, scratch, node):
    """Look for the best split among the features of ``scratch``; ``own_job`` knows the bounds of the node's value.

    A constant feature counts among those drawn, but drawing goes on while every one so far was constant (scikit-learn's
    rule: no impure node stays a leaf for bad luck).
    """
    target, splitter, growing, limits = job.target, job.splitter, job.growing, job.limits
    start, stop, p = growing.nodes[node, col.START], growing.nodes[node, col.STOP], len(scratch.features)
    total, sums = zero(target, scratch.work.total), growing.sums[node, 0]
    if sums[0] == col.UNKNOWN:
        total = sum_rows(target, splitter, total, start, stop)
        store(target, total, sums)
    else:
        total = load(target, sums, scratch.work.total)
    weight, n_candidates = weight_of(target, total), np.int64(0)
    if weight >= 2.0 * limits.min_weight_leaf and not is_pure(target, total, splitter, start, stop):
        rank_rows(target, splitter, start, stop)
        prepare(keeper(splitter), crew, job, scratch, node)
        last, varying, whole = min(limits.n_drawn, p), np.int64(0), around(target, total, scratch.work)
        while varying == 0 and n_candidates < p:
            draw(job.features, scratch, growing.keys[node], n_candidates, last)
            varying = np.int64(look(crew, job, own_job, scratch, node, n_candidates, np.int64(last), whole))
            n_candidates, last = last, last + 1
        list_drawn(job.features, scratch, n_candidates)
        n_candidates = np.int64(offer(splitter, job, scratch, node, n_candidates))
    choose_split(job, scratch, node, n_candidates, weight)


@inline
def choose_split(job, scratch, node, n, weight):
    """Choose among the n candidates listed in ``listed`` and write the split of an open node, or make it a leaf."""
    out = scratch.candidates
    winner = np.int64(choose(job.criterion, out.gain, out.information, scratch.listed, n))
    write_split(job, scratch, node, scratch.listed[winner] if 0 <= winner < n else np.int64(-1), weight)


@inline
def _wrapped(code):
    """Return a code of up to 32 bits as an int32 holds it; whoever reads it looks at 32 bits."""
    return ((code + (1 << 31)) & ((1 << 32) - 1)) - (1 << 31)


@inline
def write_split(job, scratch, node, feature, weight):
    """Write the split of an open node by this candidate, or make it a leaf; there is no candidate below zero."""
    growing, out, limits, is_split = job.growing, scratch.candidates, job.limits, feature >= 0
    nodes, where, feature = growing.nodes, out.where, max(feature, np.int64(0))
    if out.gain[feature] == NO_GAIN:  # a user's choice of what is not on offer
        is_split = False
    improvement = weight / limits.total_weight * out.gain[feature]
    if (
        not is_split
        or improvement + col.EPSILON < limits.min_decrease
        or rejects(limits.test, job, scratch, node, feature)
    ):
        nodes[node, col.FEATURE] = col.LEAF
        release(keeper(job.splitter), growing, of_keeper(job.splitter, scratch.own), node)
        return
    nodes[node, col.FEATURE] = feature
    # Of a histogram the first is a weight, which may be large and which nobody reads
    nodes[node, col.LEFT_ROWS], nodes[node, col.LAST_LEFT] = _wrapped(where[feature, 0]), _wrapped(where[feature, 1])
    nodes[node, col.FIRST_RIGHT], nodes[node, col.MISSING_LEFT] = _wrapped(where[feature, 2]), where[feature, 3]
    growing.numbers[node, col.GAIN] = out.gain[feature]
    growing.numbers[node, col.CUT] = out.cut[feature]
    growing.numbers[node, col.PRIORITY] = improvement
    for k in range(growing.sums.shape[2]):
        growing.sums[node, 1, k] = out.sums[feature, k]


@inline
def take_pair(growing, place):
    """Return room for two nodes, in the chunk that the worker has a place in, or in a new one."""
    if place[0] == place[1]:
        place[0] = growing.room[col.FIRST_CHUNK] + take_ticket(growing.room) * col.CHUNK
        place[1] = place[0] + col.CHUNK
    place[0] += 2
    return place[0] - 2


@inline
def mark_contiguous(growing, root, n, free):
    """Say that the n nodes below one, the last of which is before ``free``, were taken in the order of their numbers.

    Left subtrees first, that is; and where another worker took a chunk in between, they do not lie together.
    """
    if n > 0 and free - growing.nodes[root, col.LEFT] == n:
        growing.nodes[root, col.SLOT] = -n


@inline
def add_children(growing, limits, node, border, left):
    """Write both children of a divided node, side by side."""
    nodes, key = growing.nodes, growing.keys[node]
    nodes[node, col.LEFT] = left
    for side in range(2):
        start = border if side == 1 else nodes[node, col.START]
        stop = nodes[node, col.STOP] if side == 1 else border
        add_node(growing, limits, left + side, start, stop, nodes[node, col.DEPTH] + 1, rng.child_key(key, side))
    sums = growing.sums
    if sums[node, 1, 0] != col.UNKNOWN and sums[node, 0, 0] != col.UNKNOWN:
        for k in range(sums.shape[2]):
            sums[left, 0, k] = sums[node, 1, k]
            sums[left + 1, 0, k] = sums[node, 0, k] - sums[node, 1, k]


@inline
def constrain_children(job, scratch, node, left):
    """Tell the children of a divided node what constrains them."""
    note_parent(job.features, job.growing, node, left)
    bound_children(job.limits.monotone, job, scratch, node, left)


@inline
def _is_own(nodes, node, root, floor):
    """Tell whether a node is grown by who grows the root, and not left to others, who write to it from then on."""
    return node == root or nodes[node, col.STOP] - nodes[node, col.START] > floor


@inline
def grow_below(crew, subtree, job, scratch, root, floor):
    """Grow everything below an open node; nodes of at most ``floor`` rows are left open.

    ``job`` and ``scratch`` are the subtree's, where LLVM keeps them in registers.
    """
    growing, limits = job.growing, job.limits
    nodes, frontier, n_leaves, n_frontier = growing.nodes, scratch.frontier, np.int64(1), np.int64(0)
    small = large = np.int64(root)
    while True:
        # The smaller child comes first: it may be using a table that is not kept. It is pushed last, so that it is
        # divided first too, which keeps a depth-first stack short.
        for node in (small, large):
            if nodes[node, col.FEATURE] == col.OPEN:
                if _is_own(nodes, node, root, floor):
                    if job.calls.small != 0 and is_small(job.small, job, scratch, node):
                        call_at(job.calls.small, subtree, node, np.int64(0), np.int64(0))
                    else:
                        find_split(crew, job, scratch, node)
                else:
                    leave(crew, job, scratch, node)
        for k in range(2 if small != large else 1):
            node = large if k == 0 else small
            # Split, and not divided yet; one that was left may be both while its new owner divides it.
            is_split = nodes[node, col.FEATURE] >= 0 and nodes[node, col.LEFT] == col.LEAF
            if is_split and _is_own(nodes, node, root, floor):
                push(limits, growing, frontier, n_frontier, node)
                n_frontier += 1
        if n_frontier == 0 or n_leaves >= limits.max_leaves or growing.halt[0] != 0:
            break
        node = pop(limits, growing, frontier, n_frontier)
        left = take_pair(growing, scratch.place)
        n_leaves, n_frontier = n_leaves + 1, n_frontier - 1
        border = part_rows(crew, job, scratch, node)
        add_children(growing, limits, node, border, left)
        constrain_children(job, scratch, node, left)
        hand_on(keeper(job.splitter), crew, job, scratch, node, left)
        small = smaller_child(nodes, left)
        large = 2 * left + 1 - small
    for i in range(n_frontier):
        nodes[frontier[i], col.FEATURE] = col.LEAF


@entry
def grow_subtree(subtree, root, floor, _):
    """Grow everything below an open node; nodes of at most ``floor`` rows are left open."""
    own = own_copy(subtree)
    own.scratch.here[0] = address_of(subtree)
    grow_below(Alone(), subtree, own.job, own.scratch, root, floor)
    return np.int64(0)


@entry
def grow_few_rows(subtree, root, _, __):
    """Grow everything below an open node of few rows, as the job's way to do that says."""
    own = own_copy(subtree)
    grow_small(own.job.small, own.job, own.scratch, root)
    return np.int64(0)


@entry
def look_at_some(subtree, node, first, last):
    """Fill the candidates of features [first, last) of an open node; return how many vary."""
    own = own_copy(subtree)
    job, scratch = own.job, own.scratch
    scratch.here[0] = address_of(subtree)
    total, sums = zero(job.target, scratch.work.total), job.growing.sums[node, 0]
    if sums[0] == col.UNKNOWN:  # they are too many to be kept
        start, stop = job.growing.nodes[node, col.START], job.growing.nodes[node, col.STOP]
        total = sum_rows(job.target, job.splitter, total, start, stop)
    else:
        total = load(job.target, sums, scratch.work.total)
    own_job, whole = at_node(job.limits.monotone, job, node), around(job.target, total, scratch.work)
    return np.int64(score_features(job.splitter, own_job, scratch, node, first, last, whole))


@entry
def divide_some(subtree, node, first, last):
    """Move the rows of a node and return the border; or a piece of that work, where there is a ``last``."""
    own = own_copy(subtree)
    own.scratch.here[0] = address_of(subtree)
    if last < 0:
        return np.int64(divide(own.job.splitter, own.job, own.scratch, node))
    return np.int64(divide_share(own.job.splitter, own.job, own.scratch, node, first, last))


@entry
def fill_some_columns(subtree, slot, rows, columns):
    """Add a range of rows to a range of columns of a table."""
    own, mask = own_copy(subtree), (np.int64(1) << ROW_BITS) - 1
    start, stop, first, last = rows >> ROW_BITS, rows & mask, columns >> ROW_BITS, columns & mask
    splitter, scratch = own.job.splitter, own.scratch.own
    fill_table(keeper(splitter), own.job.target, of_keeper(splitter, scratch), slot, start, stop, first, last)
    return np.int64(0)


def kernels_of(subtree, *, in_crew=False):
    """Return the kernels that growth of such a subtree is made of, by their names in SubtreeKernels."""
    job, kernels = subtree.job, {"below": grow_subtree}
    if not isinstance(job.small, LikeOthers):
        kernels["small"] = grow_few_rows
    if hasattr(job.splitter, "kernel"):
        kernels["levels"] = job.splitter.kernel
    if hasattr(job.splitter, "offer_kernel"):
        kernels["offer"] = job.splitter.offer_kernel
    if in_crew:
        kernels |= {"look": look_at_some, "divide": divide_some}
        if getattr(job.splitter, "keeps_tables", False):
            kernels["fill"] = fill_some_columns
    return codes_for(kernels, subtree)


def calls_of(kernels):
    """Return the addresses of these kernels."""
    return SubtreeKernels(**{name: entry_of(code) for name, code in kernels.items()})
