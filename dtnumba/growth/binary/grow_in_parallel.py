# mypy: ignore-errors
# ruff: noqa: D102
"""One tree, on as many threads as there are: large nodes together, then small subtrees apart.

While a node has many rows, its features (or blocks of its rows) are shared among the threads; once nodes are small,
each whole subtree is grown by one thread in its own part of the arrays. What is shared out never changes a bit.
"""

import heapq
from typing import NamedTuple

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.binary.grow_subtree import (
    GrowSubtrees,
    LikeOthers,
    add_node,
    at_node,
    calls_of,
    choose_split,
    choose_tested_split,
    constrain_children,
    find_split,
    kernels_of,
    most_nodes,
    new_scratch,
)
from dtnumba.growth.nodes import Job, Subtree, new_growing, with_candidates
from dtnumba.growth.policies.interactions import Interacting, allowed, feature_policy
from dtnumba.growth.policies.monotonic import is_free
from dtnumba.growth.policies.node_order import is_best_first
from dtnumba.growth.policies.significance_test import NoTest
from dtnumba.growth.splitters.contract import divide, score_features
from dtnumba.growth.splitters.histogram import free_all
from dtnumba.growth.targets.contract import is_pure, is_ranked, n_sums_of, rank_rows, store, sum_rows, weight_of, zero
from dtnumba.growth.targets.plain import plain
from dtnumba.runtime import rng
from dtnumba.runtime.addresses import call_entry, compile_entries
from dtnumba.runtime.kernels import kernel, kernel_type
from dtnumba.runtime.records import address_of, worker_part
from dtnumba.runtime.tasks import launch, take_ticket
from dtnumba.runtime.tiers import chosen

# Tables of fewer rows than this are grown by one thread: launching costs more than it saves.
PARALLEL_ROWS = 4096
# Subtrees handed out are at most this share of the rows, so that no thread waits long for the last one.
SUBTREE_SHARE = 64
# A dense table larger than this is not kept by node while all threads work together.
KEPT_TABLE_BYTES = 1 << 23
# A row takes plain kernels so many seconds more a feature, and the faster ones take so many to compile.
_LOST_A_ROW, _COMPILE_SECONDS = 2e-8, 0.3


@kernel_type
class LookTogether(NamedTuple):
    """Look at the features of one node, each by whichever worker is free; worker 0 gets all candidates.

    Its list of features is left as those that the node looks at.
    """

    job: object
    scratches: object
    node: int
    weight: np.ndarray  # (1,) float64 out: of the node, or below zero where no split can help it
    n_allowed: np.ndarray  # (1,) int64 out: features that the node looks at
    counter: np.ndarray

    def run(self, worker):
        job = at_node(self.job.limits.monotone, self.job, self.node)
        own = allowed(job.features, job.growing, worker_part(self.scratches, worker), self.node)
        scratch = with_candidates(own, worker_part(self.scratches.candidates, np.int64(0)))
        start, stop = job.growing.nodes[self.node, col.START], job.growing.nodes[self.node, col.STOP]
        total = sum_rows(job.target, job.splitter, zero(job.target, scratch.work.total), start, stop)
        weight = weight_of(job.target, total)
        is_open = weight >= 2.0 * job.limits.min_weight_leaf and not is_pure(
            job.target, total, job.splitter, start, stop
        )
        store(job.target, total, job.growing.sums[self.node, 0])  # the same by each, before it looks there
        if worker == 0:
            self.weight[0], self.n_allowed[0] = weight if is_open else -1.0, len(own.features)
        subtree = Subtree(job, scratch)
        scratch.here[0] = address_of(subtree)
        while is_open:
            f = take_ticket(self.counter)
            if f >= len(own.features):
                break
            score_features(job.splitter, job, scratch, self.node, f, f + 1, total)


@kernel
def _seek_alone(job, scratches, node):
    subtree = Subtree(job, worker_part(scratches, np.int64(0)))
    subtree.scratch.here[0] = address_of(subtree)
    find_split(job, subtree.scratch, node)


@kernel
def _hand_down(job, scratches, node, left):
    constrain_children(job, worker_part(scratches, np.int64(0)), node, left)


@kernel
def _rank_rows(job, node):
    rank_rows(job.target, job.splitter, job.growing.nodes[node, col.START], job.growing.nodes[node, col.STOP])


def _admit_children(growing, limits, node, border, left):
    nodes, key = growing.nodes, growing.keys[node]
    nodes[node, col.LEFT] = left
    edges = nodes[node, col.START], border, nodes[node, col.STOP]
    for side in range(2):
        child = rng.path_key(key, side)
        add_node(growing, limits, left + side, edges[side], edges[side + 1], nodes[node, col.DEPTH] + 1, child)


@kernel
def _divide_alone(job, scratches, node):
    subtree = Subtree(job, worker_part(scratches, np.int64(0)))
    subtree.scratch.here[0] = address_of(subtree)
    return divide(job.splitter, job, subtree.scratch, node)


def numbers_of(splitter):
    """Return the splitter of numbers: itself, or the one inside a splitter of categories."""
    return getattr(splitter, "inner", splitter)


def _counter():
    return np.zeros(1, np.int64)


class _Frontier:
    """Nodes that have a split and wait: the largest gain first, or the last one first."""

    def __init__(self, growing, *, best_first):
        self.growing, self.best_first, self.nodes = growing, best_first, []

    def push(self, node):
        if self.best_first:
            entry = (-self.growing.numbers[node, col.PRIORITY], int(self.growing.keys[node]), node)
            heapq.heappush(self.nodes, entry)
        else:
            self.nodes.append(node)

    def pop(self):
        return heapq.heappop(self.nodes)[2] if self.best_first else self.nodes.pop()

    def rest(self):
        return [entry[2] for entry in self.nodes] if self.best_first else self.nodes


class _Together:
    """The part of growth where all threads work on one node."""

    def __init__(self, job, scratches, workers):
        self.job, self.scratches, self.workers = job, scratches, workers
        # The scratch of the splitter of numbers
        self.own = getattr(scratches.own, "inner", scratches.own)
        self.tables = {}  # dense histograms of nodes that may still be divided here

    def find_split(self, node, small):
        """Give an open node its split, or make it a leaf."""
        nodes, job = self.job.growing.nodes, self.job
        n = nodes[node, col.STOP] - nodes[node, col.START]
        if node in self.tables:
            self.own.tables[0, 0, : len(self.tables[node])] = self.tables[node]
            nodes[node, col.SLOT] = 0
            self._seek_alone(node)
        elif n < small or job.limits.n_drawn < job.n_features:
            self._seek_alone(node)
        else:
            if is_ranked(type(job.target)):
                _rank_rows(job, node)
            weight, n_allowed, scratch = np.empty(1), _counter(), worker_part(self.scratches, 0)
            launch(LookTogether(job, self.scratches, node, weight, n_allowed, _counter()), self.workers)
            n = int(n_allowed[0])
            scratch.listed[:n] = scratch.features[:n]
            if weight[0] < 0.0:
                nodes[node, col.FEATURE] = col.LEAF
            elif isinstance(job.limits.test, NoTest):
                choose_split(job, scratch, node, n, float(weight[0]))
            else:
                choose_tested_split(job, self.scratches, node, n, float(weight[0]))

    def _seek_alone(self, node):
        if hasattr(self.own, "free"):
            self.own.free[0, 0, 0] = 0  # no table outlives the call: they are kept by node, in ``tables``
        _seek_alone(self.job, self.scratches, node)
        self.job.growing.nodes[node, col.SLOT] = -1

    def divide(self, node):
        """Move the rows of a node; return the border."""
        splitter, feature = numbers_of(self.job.splitter), self.job.growing.nodes[node, col.FEATURE]
        of_numbers = splitter is self.job.splitter or not self.job.splitter.is_level[feature]
        if of_numbers and hasattr(splitter, "divide_together"):
            return splitter.divide_together(self.job.growing.nodes, node, self.own.buffer, self.workers)
        return _divide_alone(self.job, self.scratches, node)

    def fill(self, node, parent=None, sibling=None):
        """Build the dense tables of a node and, by subtraction from its parent's, those of its sibling."""
        nodes = self.job.growing.nodes
        span = int(nodes[node, col.START]), int(nodes[node, col.STOP])
        self.tables[node] = self.job.splitter.fill_together(self.job.target, *span, self.workers)
        if parent is not None:
            self.tables[sibling] = self.tables.pop(parent) - self.tables[node]


def grow_tree(splitter, target, criterion, limits, n_features, n_per_output, n_rows, workers, groups=None):
    """Grow a tree over n rows; return its nodes under construction. ``groups``: None where any features may meet."""
    alone = workers <= 1 or n_rows < PARALLEL_ROWS
    bounded, most = not is_free(limits.monotone), most_nodes(n_rows, limits)
    growing = new_growing(most, n_sums_of(target), workers, bounded, groups is not None)
    features = feature_policy(limits, n_features, groups)
    job = Job(splitter, target, criterion, limits, growing, features, n_features, n_per_output, LikeOthers())
    scratches = new_scratch(job, n_rows, 1 if alone else workers)
    own = worker_part(scratches, 0)

    def build(is_plain):
        subtree = Subtree(job._replace(target=plain(target)) if is_plain else job, own)
        kernels = kernels_of(subtree)
        return subtree, kernels, [*kernels.values()]

    tier = chosen(build, n_rows * n_features * _LOST_A_ROW, _COMPILE_SECONDS) if alone else build(False)
    subtree, kernels, codes = tier
    compile_entries(codes)
    calls = calls_of(kernels)
    if alone:
        subtree.scratch.place[:] = 0
        add_node(growing, limits, 0, 0, n_rows, 0, np.uint64(rng.ROOT_KEY))
        subtree = subtree._replace(job=subtree.job._replace(calls=calls))
        call_entry(kernels["below"]._replace(record=subtree), 0, 0, 0)
    else:
        _grow_together(job._replace(calls=calls), scratches, n_rows, workers)
    return growing


def _keeps_tables(job):
    """Whether whole tables are built and subtracted: where all features are looked at and tables are small enough."""
    splitter = job.splitter
    if not hasattr(splitter, "fill_together") or job.limits.n_drawn < job.n_features or is_ranked(type(job.target)):
        return False
    return 8 * job.n_features * splitter.n_bins * splitter.width <= KEPT_TABLE_BYTES


def _grow_together(job, scratches, n_rows, workers):
    nodes, limits, together = job.growing.nodes, job.limits, _Together(job, scratches, workers)
    best_first = is_best_first(limits)
    small = PARALLEL_ROWS if best_first else max(PARALLEL_ROWS, n_rows // SUBTREE_SHARE)
    dense = _keeps_tables(job)
    is_constrained = not is_free(limits.monotone) or isinstance(job.features, Interacting)
    frontier, subtrees, n_nodes, n_leaves = _Frontier(job.growing, best_first=best_first), [], 1, 1

    def open_node(node):
        if nodes[node, col.FEATURE] == col.LEAF:
            together.tables.pop(node, None)
        elif nodes[node, col.STOP] - nodes[node, col.START] <= small and not best_first:
            subtrees.append(node)
            together.tables.pop(node, None)
        else:
            together.find_split(node, small)
            if nodes[node, col.FEATURE] == col.LEAF:
                together.tables.pop(node, None)
            else:
                frontier.push(node)

    add_node(job.growing, limits, 0, 0, n_rows, 0, np.uint64(rng.ROOT_KEY))
    if dense:
        together.fill(0)
    open_node(0)
    while frontier.nodes and n_leaves < limits.max_leaves:
        node = frontier.pop()
        left, n_nodes, n_leaves = n_nodes, n_nodes + 2, n_leaves + 1
        border = int(together.divide(node))
        _admit_children(job.growing, limits, node, border, left)
        if is_constrained:
            _hand_down(job, scratches, node, left)
        if node in together.tables:
            less = left if border - nodes[node, col.START] <= nodes[node, col.STOP] - border else left + 1
            if nodes[2 * left + 1 - less, col.STOP] - nodes[2 * left + 1 - less, col.START] > small:
                together.fill(less, node, 2 * left + 1 - less)
            else:
                del together.tables[node]
        open_node(left)
        open_node(left + 1)
    for node in frontier.rest():
        nodes[node, col.FEATURE] = col.LEAF
    _grow_apart(job, scratches, subtrees, n_nodes, workers)


def _grow_apart(job, scratches, subtrees, n_nodes, workers):
    if not subtrees:
        return
    nodes, roots = job.growing.nodes, np.array(subtrees, dtype=np.int64)
    sizes = nodes[roots, col.STOP] - nodes[roots, col.START]
    roots = roots[np.argsort(-sizes, kind="stable")]
    job.growing.room[:] = 0, n_nodes
    own = getattr(scratches.own, "inner", scratches.own)
    if hasattr(own, "free"):
        free_all(own.free)
    launch(GrowSubtrees(job, scratches, roots, _counter()), workers)
