"""One tree, on as many threads as there are: large nodes together, then small subtrees apart.

While a node has many rows, its features (or blocks of its rows) are shared among the threads; once nodes are small,
each whole subtree is grown by one thread in its own part of the arrays. What is shared out never changes a bit.
"""

import heapq
from typing import NamedTuple

import numpy as np

from dtnumba import rng
from dtnumba._jit import in_python, kernel, launch, part, take_ticket
from dtnumba.frontier import BestFirst, DepthFirst
from dtnumba.grow import (
    NO_LIMIT,
    admit,
    at_node,
    grow_some,
    grow_whole,
    hand_down,
    most_nodes,
    new_scratch,
    pick,
    seek,
    settle,
    settle_tested,
)
from dtnumba.growing import (
    DEPTH,
    FEATURE,
    LAST_LEFT,
    LEAF,
    LEFT,
    LEFT_ROWS,
    MISSING_LEFT,
    PRIORITY,
    SLOT,
    START,
    STOP,
    Job,
    Scratch,
    new_growing,
)
from dtnumba.interactions import Interacting, allowed, feature_policy
from dtnumba.monotone import is_free
from dtnumba.partition import partition_rows, partition_sequence
from dtnumba.scan import MISSING, ROW
from dtnumba.split_test import NoTest
from dtnumba.splitters import divide, look
from dtnumba.splitters.histogram import DENSE_ROWS, Histogram, fill_rows, free_all
from dtnumba.splitters.presorted import Presorted
from dtnumba.targets import is_pure, n_sums_of, rank_rows, store, sum_rows, weight_of, zero

# Tables of fewer rows than this are grown by one thread: launching costs more than it saves.
PARALLEL_ROWS = 4096
# Subtrees handed out are at most this share of the rows, so that no thread waits long for the last one.
SHARE = 64
# A dense table larger than this is not kept by node while all threads work together.
KEPT_TABLE_BYTES = 1 << 23


@part
class GrowSubtrees(NamedTuple):
    """Grow subtrees below open nodes, each by whichever worker is free."""

    job: object
    scratches: object
    roots: np.ndarray  # (k,) int64, largest first
    counter: np.ndarray

    def run(self, worker):
        grow_some(self.job, self.scratches, worker, self.roots, self.counter)


@part
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
        own = allowed(job.features, job.growing, pick(self.scratches, worker), self.node)
        scratch = Scratch(
            pick(self.scratches, np.int64(0)).candidates,
            own.work,
            own.features,
            own.drawn,
            own.listed,
            own.frontier,
            own.own,
            own.few,
        )
        start, stop = job.growing.nodes[self.node, START], job.growing.nodes[self.node, STOP]
        total = sum_rows(job.target, job.splitter, zero(job.target, scratch.work.total), start, stop)
        weight = weight_of(job.target, total)
        is_open = weight >= 2.0 * job.limits.min_weight_leaf and not is_pure(
            job.target, total, job.splitter, start, stop
        )
        if worker == 0:
            self.weight[0], self.n_allowed[0] = weight if is_open else -1.0, len(own.features)
            store(job.target, total, job.growing.sums[self.node, 0])
        while is_open:
            f = take_ticket(self.counter)
            if f >= len(own.features):
                break
            look(job.splitter, job, scratch, self.node, f, f + 1, total)


@part
class PartitionTogether(NamedTuple):
    """Divide the presorted orders of one node, each by whichever worker is free; the sides are marked already."""

    splitter: object
    buffer: np.ndarray  # (workers, n) uint32
    start: int
    stop: int
    counter: np.ndarray

    def run(self, worker):
        while True:
            f = take_ticket(self.counter)
            if f >= self.splitter.n_orders:
                break
            partition_sequence(
                self.splitter.order,
                f * self.splitter.n_rows,
                self.start,
                self.stop,
                self.splitter.side,
                self.buffer[worker],
            )


@part
class PartitionBlocks(NamedTuple):
    """Divide blocks of a node's rows by their codes, each by whichever worker is free; the blocks are joined after."""

    splitter: object
    buffer: np.ndarray  # (workers, n) uint32
    edges: np.ndarray  # (n_blocks + 1,) int64
    borders: np.ndarray  # (n_blocks,) int64 out
    split: np.ndarray  # (3,) int64: feature, last code left, whether missing goes left
    base: int
    counter: np.ndarray

    def run(self, worker):
        splitter, feature = self.splitter, self.split[0]
        while True:
            k = take_ticket(self.counter)
            if k >= len(self.borders):
                break
            self.borders[k] = partition_rows(
                splitter.rows,
                self.base,
                self.edges[k],
                self.edges[k + 1],
                splitter.codes,
                feature,
                self.split[1],
                splitter.n_codes[feature],
                self.split[2],
                self.buffer[worker],
            )


@part
class FillTogether(NamedTuple):
    """Fill one histogram a block of a node's rows; integers, so their sum is the node's to the bit."""

    splitter: object
    target: object
    edges: np.ndarray  # (n_blocks + 1,) int64
    tables: np.ndarray  # (n_blocks * table,) int64, zeros
    counter: np.ndarray

    def run(self, worker):
        size = len(self.tables) // (len(self.edges) - 1)
        while True:
            k = take_ticket(self.counter)
            if k >= len(self.edges) - 1:
                break
            fill_rows(self.splitter, self.target, self.tables, k * size, self.edges[k], self.edges[k + 1])


@kernel
def _seek_alone(job, scratches, node):
    seek(job, pick(scratches, np.int64(0)), node)


@kernel
def _hand_down(job, scratches, node, left):
    hand_down(job, pick(scratches, np.int64(0)), node, left)


@kernel
def _rank_rows(job, node):
    rank_rows(job.target, job.splitter, job.growing.nodes[node, START], job.growing.nodes[node, STOP])


def _admit_children(growing, limits, node, border, left):
    nodes, key = growing.nodes, growing.keys[node]
    nodes[node, LEFT] = left
    edges = nodes[node, START], border, nodes[node, STOP]
    for side in range(2):
        child = rng.path_key(key, side)
        in_python(admit)(growing, limits, left + side, edges[side], edges[side + 1], nodes[node, DEPTH] + 1, child)


@kernel
def _divide_alone(job, scratches, node):
    return divide(job.splitter, job, pick(scratches, np.int64(0)), node)


def numbers_of(splitter):
    """Return the splitter of numbers: itself, or the one inside a splitter of categories."""
    return splitter.inner if hasattr(splitter, "is_level") else splitter


def _counter():
    return np.zeros(1, np.int64)


class _Frontier:
    """Nodes that have a split and wait: the largest gain first, or the last one first."""

    def __init__(self, growing, *, best_first):
        self.growing, self.best_first, self.nodes = growing, best_first, []

    def push(self, node):
        if self.best_first:
            entry = (-self.growing.numbers[node, PRIORITY], int(self.growing.keys[node]), node)
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
        self.own = scratches.own.inner if hasattr(job.splitter, "is_level") else scratches.own
        self.tables = {}  # dense histograms of nodes that may still be divided here

    def seek(self, node, small):
        """Give an open node its split, or make it a leaf."""
        nodes, job = self.job.growing.nodes, self.job
        n = nodes[node, STOP] - nodes[node, START]
        if node in self.tables:
            self.own.tables[0, : len(self.tables[node])] = self.tables[node]
            nodes[node, SLOT] = 0
            self._seek_alone(node)
        elif n < small or job.limits.n_drawn < job.n_features:
            self._seek_alone(node)
        else:
            if job.target.n_weights == 0:
                _rank_rows(job, node)
            weight, n_allowed, scratch = np.empty(1), _counter(), in_python(pick)(self.scratches, 0)
            launch(LookTogether(job, self.scratches, node, weight, n_allowed, _counter()), self.workers)
            n = int(n_allowed[0])
            scratch.listed[:n] = scratch.features[:n]
            if weight[0] < 0.0:
                nodes[node, FEATURE] = LEAF
            elif isinstance(job.limits.test, NoTest):
                in_python(settle)(job, scratch, node, n, float(weight[0]))
            else:
                settle_tested(job, self.scratches, node, n, float(weight[0]))

    def _seek_alone(self, node):
        if isinstance(numbers_of(self.job.splitter), Histogram):
            self.own.free[0, 0] = 0  # no table outlives the call: they are kept by node, in ``tables``
        _seek_alone(self.job, self.scratches, node)
        self.job.growing.nodes[node, SLOT] = -1

    def divide(self, node):
        """Move the rows of a node; return the border."""
        splitter, nodes, buffer = numbers_of(self.job.splitter), self.job.growing.nodes, self.own.buffer
        if splitter is not self.job.splitter and self.job.splitter.is_level[nodes[node, FEATURE]]:
            return _divide_alone(self.job, self.scratches, node)
        start, stop = int(nodes[node, START]), int(nodes[node, STOP])
        if isinstance(splitter, Presorted):
            self._mark_sides(node, start, stop)
            launch(PartitionTogether(splitter, buffer, start, stop, _counter()), self.workers)
            return start + int(nodes[node, LEFT_ROWS])
        split = nodes[node, [FEATURE, LAST_LEFT, MISSING_LEFT]]
        edges, borders = np.linspace(start, stop, self.workers + 1).astype(np.int64), np.empty(self.workers, np.int64)
        for o in range(splitter.n_orders):
            base = o * splitter.n_rows
            launch(PartitionBlocks(splitter, buffer, edges, borders, split, base, _counter()), self.workers)
            rows = splitter.rows[base : base + splitter.n_rows]
            lefts = [rows[first:border] for first, border in zip(edges, borders, strict=False)]
            rights = [rows[border:last] for border, last in zip(borders, edges[1:], strict=True)]
            rows[start:stop] = np.concatenate(lefts + rights)
        n_left = sum(map(len, lefts))
        return start + n_left

    def _mark_sides(self, node, start, stop):
        """Mark which rows of a node go left (``partition.mark_sides`` in NumPy, which has nothing to compile)."""
        splitter, nodes = numbers_of(self.job.splitter), self.job.growing.nodes
        base = nodes[node, FEATURE] * splitter.n_rows
        records = splitter.order[base + start : base + stop]
        goes_left = np.zeros(stop - start, np.uint8)
        missing, missing_left = (records & MISSING) != 0, nodes[node, MISSING_LEFT]
        goes_left[: nodes[node, LEFT_ROWS] - (missing.sum() if missing_left else 0)] = 1
        goes_left[missing] = missing_left
        splitter.side[records & ROW] = goes_left

    def fill(self, node, parent=None, sibling=None):
        """Build the dense tables of a node and, by subtraction from its parent's, those of its sibling."""
        splitter = self.job.splitter
        nodes = self.job.growing.nodes
        start, stop = int(nodes[node, START]), int(nodes[node, STOP])
        n_blocks = min(self.workers, max(1, (stop - start) // DENSE_ROWS))
        size = splitter.codes.shape[1] * splitter.n_bins * splitter.width
        edges = np.linspace(start, stop, n_blocks + 1).astype(np.int64)
        tables = np.zeros(n_blocks * size, np.int64)
        launch(FillTogether(splitter, self.job.target, edges, tables, _counter()), self.workers)
        self.tables[node] = tables.reshape(n_blocks, size).sum(axis=0)
        if parent is not None:
            self.tables[sibling] = self.tables.pop(parent) - self.tables[node]


def grow_tree(splitter, target, criterion, limits, n_features, n_seen, n_rows, workers, groups=None):
    """Grow a tree over n rows; return its nodes under construction. ``groups``: None where any features may meet."""
    alone = workers <= 1 or n_rows < PARALLEL_ROWS
    bounded, most = not is_free(limits.monotone), most_nodes(n_rows, limits)
    growing = new_growing(most, n_sums_of(target), workers, bounded, groups is not None)
    order = BestFirst() if limits.max_leaves < NO_LIMIT else DepthFirst()
    features = feature_policy(limits, n_features, groups)
    job = Job(splitter, target, criterion, limits, growing, order, features, n_features, n_seen)
    scratches = new_scratch(splitter, target, limits, n_features, n_seen, n_rows, 1 if alone else workers)
    if alone:
        grow_whole(job, scratches, n_rows)
    else:
        _grow_together(job, scratches, n_rows, workers)
    return growing


def _keeps_tables(job):
    """Whether whole tables are built and subtracted: where all features are looked at and tables are small enough."""
    splitter = job.splitter
    if not isinstance(splitter, Histogram) or job.limits.n_drawn < job.n_features or job.target.n_weights == 0:
        return False
    return 8 * job.n_features * splitter.n_bins * splitter.width <= KEPT_TABLE_BYTES


def _grow_together(job, scratches, n_rows, workers):
    nodes, limits, together = job.growing.nodes, job.limits, _Together(job, scratches, workers)
    best_first = limits.max_leaves < NO_LIMIT
    small = PARALLEL_ROWS if best_first else max(PARALLEL_ROWS, n_rows // SHARE)
    dense = _keeps_tables(job)
    is_constrained = not is_free(limits.monotone) or isinstance(job.features, Interacting)
    frontier, subtrees, n_nodes, n_leaves = _Frontier(job.growing, best_first=best_first), [], 1, 1

    def open_node(node):
        if nodes[node, FEATURE] == LEAF:
            together.tables.pop(node, None)
        elif nodes[node, STOP] - nodes[node, START] <= small and not best_first:
            subtrees.append(node)
            together.tables.pop(node, None)
        else:
            together.seek(node, small)
            if nodes[node, FEATURE] == LEAF:
                together.tables.pop(node, None)
            else:
                frontier.push(node)

    in_python(admit)(job.growing, limits, 0, 0, n_rows, 0, np.uint64(rng.ROOT_KEY))
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
            less = left if border - nodes[node, START] <= nodes[node, STOP] - border else left + 1
            if nodes[2 * left + 1 - less, STOP] - nodes[2 * left + 1 - less, START] > small:
                together.fill(less, node, 2 * left + 1 - less)
            else:
                del together.tables[node]
        open_node(left)
        open_node(left + 1)
    for node in frontier.rest():
        nodes[node, FEATURE] = LEAF
    _grow_apart(job, scratches, subtrees, n_nodes, workers)


def _grow_apart(job, scratches, subtrees, n_nodes, workers):
    if not subtrees:
        return
    nodes, roots = job.growing.nodes, np.array(subtrees, dtype=np.int64)
    sizes = nodes[roots, STOP] - nodes[roots, START]
    roots = roots[np.argsort(-sizes, kind="stable")]
    job.growing.room[:] = 0, n_nodes
    if isinstance(numbers_of(job.splitter), Histogram):
        own = scratches.own.inner if hasattr(job.splitter, "is_level") else scratches.own
        free_all(own.free)
    launch(GrowSubtrees(job, scratches, roots, _counter()), workers)
