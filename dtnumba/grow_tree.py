"""One tree, on as many threads as there are: large nodes together, then small subtrees apart.

While a node has many rows, its features (or blocks of its rows) are shared among the threads; once nodes are small,
each whole subtree is grown by one thread in its own part of the arrays. What is shared out never changes a bit.
"""

import heapq
from typing import NamedTuple

import numpy as np

from dtnumba import rng
from dtnumba._jit import kernel, launch, part, take_ticket
from dtnumba.grow import NO_LIMIT, admit, admit_children, grow_some, grow_whole, new_scratch, pick, seek, settle
from dtnumba.growing import DEPTH, FEATURE, LAST_LEFT, LEAF, LEFT_ROWS, MISSING_LEFT, PRIORITY, SLOT, START, STOP, Job, Scratch, new_growing
from dtnumba.partition import partition_rows, partition_sequence
from dtnumba.splitters import look
from dtnumba.splitters.histogram import DENSE_ROWS, Histogram, fill_rows
from dtnumba.splitters.presorted import Presorted, mark
from dtnumba.targets import rank_rows, sum_rows, weight_of, zero

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
    first_free: np.ndarray  # (k,) int64: where the nodes of each may stand
    counter: np.ndarray

    def run(self, worker):
        grow_some(self.job, self.scratches, worker, self.roots, self.first_free, self.counter)


@part
class LookTogether(NamedTuple):
    """Look at the features of one node, each by whichever worker is free; worker 0 gets all candidates."""

    job: object
    scratches: object
    node: int
    counter: np.ndarray

    def run(self, worker):
        job, own = self.job, pick(self.scratches, worker)
        scratch = Scratch(
            pick(self.scratches, np.int64(0)).candidates, own.work, own.features, own.drawn, own.ascending, own.frontier, own.own,
        )
        start, stop = job.growing.nodes[self.node, START], job.growing.nodes[self.node, STOP]
        total = sum_rows(job.target, job.splitter, zero(job.target, scratch.work.total), start, stop)
        while True:
            f = take_ticket(self.counter)
            if f >= job.n_features:
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
                self.splitter.order, f * self.splitter.n_rows, self.start, self.stop, self.splitter.side,
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
                splitter.rows, self.base, self.edges[k], self.edges[k + 1], splitter.codes, feature, self.split[1],
                splitter.n_codes[feature], self.split[2], self.buffer[worker],
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
def _admit_root(growing, limits, n_rows):
    admit(growing, limits, np.int64(0), np.int64(0), n_rows, np.int64(0), np.uint64(rng.ROOT_KEY))


@kernel
def _seek_alone(job, scratches, node):
    return seek(job, pick(scratches, np.int64(0)), node)


@kernel
def _rank_rows(job, node):
    rank_rows(job.target, job.splitter, job.growing.nodes[node, START], job.growing.nodes[node, STOP])


@kernel
def _settle_together(job, scratches, node):
    scratch = pick(scratches, np.int64(0))
    for f in range(job.n_features):
        scratch.ascending[f] = f
    start, stop = job.growing.nodes[node, START], job.growing.nodes[node, STOP]
    total = sum_rows(job.target, job.splitter, zero(job.target, scratch.work.total), start, stop)
    return settle(job, scratch, node, job.n_features, weight_of(job.target, total))


@kernel
def _mark(splitter, growing, node):
    mark(splitter, growing, node)


@kernel
def _admit_children(growing, limits, node, border, left):
    admit_children(growing, limits, node, border, left)


def _counter():
    return np.zeros(1, np.int64)


def most_nodes(n_rows, limits, depth=0):
    """Return a bound on the nodes of a subtree of n rows."""
    leaves = max(1, n_rows // max(1, limits.min_samples_leaf))
    leaves = min(leaves, limits.max_leaves, 1 << min(limits.max_depth - depth, 62))
    return 2 * leaves - 1


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
        self.tables = {}  # dense histograms of nodes that may still be divided here

    def seek(self, node, small):
        nodes = self.job.growing.nodes
        n = nodes[node, STOP] - nodes[node, START]
        if node in self.tables:
            self.scratches.own.tables[0, : len(self.tables[node])] = self.tables[node]
            nodes[node, SLOT] = 0
            return self._seek_alone(node)
        if n < small or self.job.limits.n_drawn < self.job.n_features:
            return self._seek_alone(node)
        _rank_rows(self.job, node)
        launch(LookTogether(self.job, self.scratches, node, _counter()), self.workers)
        return _settle_together(self.job, self.scratches, node)

    def _seek_alone(self, node):
        if isinstance(self.job.splitter, Histogram):
            self.scratches.own.free[0, 0] = 0  # no table outlives the call: they are kept by node, in ``tables``
        found = _seek_alone(self.job, self.scratches, node)
        self.job.growing.nodes[node, SLOT] = -1
        return found

    def divide(self, node):
        """Move the rows of a node; return the border."""
        splitter, nodes, buffer = self.job.splitter, self.job.growing.nodes, self.scratches.own.buffer
        start, stop = int(nodes[node, START]), int(nodes[node, STOP])
        if isinstance(splitter, Presorted):
            _mark(splitter, self.job.growing, node)
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
        return start + sum(map(len, lefts))

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


def grow_tree(splitter, target, criterion, limits, n_features, n_seen, n_rows, workers):
    """Grow a tree over n rows; return its nodes under construction."""
    alone = workers <= 1 or n_rows < PARALLEL_ROWS
    capacity = most_nodes(n_rows, limits)
    # Regions of subtrees do not overlap, so the whole tree may need twice the nodes of one region.
    growing = new_growing(capacity if alone else 2 * capacity + 64 * SHARE)
    job = Job(splitter, target, criterion, limits, growing, n_features, n_seen)
    scratches = new_scratch(splitter, target, limits, n_features, n_seen, n_rows, 1 if alone else workers)
    if alone:
        grow_whole(job, scratches, n_rows)
    else:
        _grow_together(job, scratches, n_rows, workers)
    return growing


def _keeps_tables(job):
    """Whether whole tables are built and subtracted: where all features are looked at, and tables are of a size to keep."""
    splitter = job.splitter
    if not isinstance(splitter, Histogram) or job.limits.n_drawn < job.n_features or job.target.n_weights == 0:
        return False
    return 8 * job.n_features * splitter.n_bins * splitter.width <= KEPT_TABLE_BYTES


def _grow_together(job, scratches, n_rows, workers):
    nodes, limits, together = job.growing.nodes, job.limits, _Together(job, scratches, workers)
    best_first = limits.max_leaves < NO_LIMIT
    small = PARALLEL_ROWS if best_first else max(PARALLEL_ROWS, n_rows // SHARE)
    dense = _keeps_tables(job)
    frontier, subtrees, n_nodes, n_leaves = _Frontier(job.growing, best_first=best_first), [], 1, 1

    def open_node(node):
        if nodes[node, FEATURE] == LEAF:
            together.tables.pop(node, None)
        elif nodes[node, STOP] - nodes[node, START] <= small and not best_first:
            subtrees.append(node)
            together.tables.pop(node, None)
        elif together.seek(node, small):
            frontier.push(node)
        else:
            together.tables.pop(node, None)

    _admit_root(job.growing, limits, n_rows)
    if dense:
        together.fill(0)
    open_node(0)
    while frontier.nodes and n_leaves < limits.max_leaves:
        node = frontier.pop()
        left, n_nodes, n_leaves = n_nodes, n_nodes + 2, n_leaves + 1
        border = int(together.divide(node))
        _admit_children(job.growing, limits, node, border, left)
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
    nodes = job.growing.nodes
    roots = np.array(subtrees, dtype=np.int64)
    sizes = nodes[roots, STOP] - nodes[roots, START]
    largest_first = np.argsort(-sizes, kind="stable")
    roots, sizes = roots[largest_first], sizes[largest_first]
    room = [most_nodes(int(n), job.limits, int(depth)) for n, depth in zip(sizes, nodes[roots, DEPTH], strict=True)]
    first_free = n_nodes + np.concatenate([[0], np.cumsum(room)[:-1]]).astype(np.int64)
    if isinstance(job.splitter, Histogram):
        free = scratches.own.free  # every table is free again
        free[:, 0], free[:, 1:] = free.shape[1] - 2, np.arange(free.shape[1] - 1)
    launch(GrowSubtrees(job, scratches, roots, first_free, _counter()), workers)
