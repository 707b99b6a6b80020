# mypy: ignore-errors
# ruff: noqa: D102
"""Errors of a subtree if it replaced its parent: its own rows are counted already, those of its siblings are routed."""

from typing import NamedTuple

import numpy as np

from dtnumba.prediction.walk_tree import pack
from dtnumba.pruners.engines.route_rows import leaf_from
from dtnumba.runtime.instructions.bits import prefetch
from dtnumba.runtime.kernels import inline, kernel, outlined
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.tasks import each_item, launch
from dtnumba.tables.cells import cells_of
from dtnumba.trees.layout import LEAF, depths
from dtnumba.trees.subtrees import added_up, depth_levels, leaves_below, nodes_below, postorder

# Rows that go down a subtree lie anywhere in memory: those that come next are prefetched, and eight go down together,
# which wait for their nodes at the same time.
_N_WALKS = 8
_FEW = 4  # rows that are faster alone
_LINE, _MOST_LINES = 64, 4  # bytes of a line, and how many of a row are asked for
_MOST_WORKERS = 8  # each has a table of the leaves it meets
_ENOUGH = 20_000  # rows that pay for waking other threads
_LOW, _HALF, _ONE, _TWO = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(1), np.uint64(2)


class Branches(NamedTuple):
    """One tree as it is pruned so far, and its rows, those of each subtree side by side."""

    trees: object
    cells: object  # a row's numbers side by side
    lines: np.ndarray  # (1, cells) the same memory, to ask for
    words: np.ndarray  # (2 * m,) uint64: predict.Packed of what stands; empty where there are other tests
    thresholds: np.ndarray  # the same memory as float64
    is_leaf: np.ndarray  # (m,) bool
    final: np.ndarray  # (m,) int64: the node at each place
    rows: np.ndarray  # (k,) int64
    codes: np.ndarray  # (k,) int64: their classes
    weights: np.ndarray  # (k,)
    leaf: np.ndarray  # (k,) int64: where they end
    start: np.ndarray  # (m,) int64: a node has rows[start:stop]
    stop: np.ndarray  # (m,) int64
    counts: np.ndarray  # (m, K): weight of each class in the leaves that stand, and at all places not yet gone over
    costs: np.ndarray  # (K, K), or (0, 0): every wrong label costs one
    walks: np.ndarray  # (workers, walks) uint32 scratch: nodes
    bases: np.ndarray  # (workers, walks) uint64 scratch: where the rows begin
    slot: np.ndarray  # (workers, m) int32 scratch, -1: which of the leaves met this one is
    met: np.ndarray  # (workers, most) int64 scratch: leaves
    added: np.ndarray  # (workers, most, K) scratch


@each_item
class ErrorGrowth(NamedTuple):
    """A task: by how much the errors below each child grow with the rows of its siblings."""

    branches: object
    nodes: np.ndarray  # (p,) int64
    children: np.ndarray  # (p,) int64
    out: np.ndarray  # (p,)
    counter: np.ndarray

    def n_items(self):
        return len(self.nodes)

    def do_item(self, i, worker):
        self.out[i] = _growth(self.branches, self.nodes[i], self.children[i], worker)


def new_branches(counted, costs, workers):
    """Return the Branches of a recount.CountedTree; ``costs`` may be None."""
    trees, cells, m = counted.trees, _by_row(counted.cells), counted.trees.n_nodes
    levels = depth_levels(trees)
    place = postorder(trees, levels)
    codes, weights = counted.additions.parts[0]
    at = place[counted.leaf_of_row[counted.kept]]
    rows = counted.kept[np.argsort(at, kind="stable")]
    ends = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=m))])
    start, stop = ends[place - nodes_below(trees, levels) + 1], ends[place + 1]
    words = pack(trees, int(depths(trees).max())).words if trees.is_binary else np.zeros(0, np.uint64)
    threads, n_classes = min(workers, _MOST_WORKERS), counted.additions.n_stats
    n_leaves, most = leaves_below(trees, levels), 1
    for level in levels:
        others = np.repeat((stop - start)[level.inner], level.fan) - (stop - start)[level.children]
        most = max(most, int(np.minimum(others, n_leaves[level.children]).max()))
    return Branches(
        trees,
        cells,
        cells.flat.reshape(1, -1),
        words,
        words.view(np.float64),
        trees.feature == LEAF,
        np.arange(m),
        rows,
        codes[rows],
        weights[rows],
        counted.leaf_of_row[rows],
        start,
        stop,
        added_up(levels, counted.additions.summed(counted.leaf_of_row, m)),
        np.zeros((0, 0)) if costs is None else costs,
        per_worker(threads, _N_WALKS, np.uint32),
        per_worker(threads, _N_WALKS, np.uint64),
        per_worker(threads, m, np.int32, -1),
        per_worker(threads, most, np.int64),
        per_worker(threads, (most, n_classes)),
    )


def _by_row(cells):
    """Return cells in which the numbers of a row lie side by side."""
    if cells.column_step == 1 or cells.n_columns == 1:
        return cells
    size, shape = cells.flat.itemsize, (cells.n_rows, cells.n_columns)
    strides = (cells.row_step * size, cells.column_step * size)
    return cells_of(np.ascontiguousarray(np.lib.stride_tricks.as_strided(cells.flat[cells.offset :], shape, strides)))


def growths(branches, nodes, children):
    """Return by how much the errors below each child grow with all rows of its parent."""
    out = np.empty(len(nodes))
    others = branches.stop[nodes] - branches.start[nodes] - branches.stop[children] + branches.start[children]
    order = np.argsort(-np.frexp(others)[1], kind="stable")  # the longest first, neighbours together
    found = np.empty(len(nodes))
    task = ErrorGrowth(branches, nodes[order], children[order], found, np.zeros(1, np.int64))
    launch(task, len(branches.slot) if others.sum() > _ENOUGH else 1)
    out[order] = found
    return out


def put_leaf(branches, node):
    """Make a place a leaf."""
    branches.is_leaf[node] = True
    if len(branches.words):
        branches.words[2 * node] = np.uint64(node) << _HALF | _ONE
        branches.thresholds[2 * node + 1] = np.inf


def put_branch(branches, node, child):
    """Replace a node by what stands at a child, with all rows of the node."""
    move_rows(branches, node, child)
    branches.final[node] = branches.final[child]
    if len(branches.words):
        branches.words[2 * node : 2 * node + 2] = branches.words[2 * child : 2 * child + 2]


@kernel
def growth_of(branches, node, child):
    """Return by how much the errors below one child grow with all rows of its parent."""
    return _growth(branches, node, child, 0)


@outlined
def move_rows(branches, node, child):
    """Count the rows of the siblings of a child in its leaves."""
    for start, stop in _others(branches, node, child):
        for first in range(start, stop, _N_WALKS):
            together = _leaves_below(branches, first, stop, child, 0)
            for j in range(together):
                i, leaf = first + j, branches.walks[0, 0, j]
                branches.leaf[i] = leaf
                branches.counts[leaf, branches.codes[i]] += branches.weights[i]


@inline
def _others(branches, node, child):
    before = branches.start[node], branches.start[child]
    return before, (branches.stop[child], branches.stop[node])


@inline
def _growth(branches, node, child, worker):
    slot, met = branches.slot[worker, 0], branches.met[worker, 0]
    added = branches.added[worker, 0]
    n_met, n_classes = 0, added.shape[1]
    for start, stop in _others(branches, node, child):
        for first in range(start, stop, _N_WALKS):
            for j in range(_leaves_below(branches, first, stop, child, worker)):
                leaf = branches.walks[worker, 0, j]
                at = slot[leaf]
                if at < 0:
                    at = n_met
                    slot[leaf], met[at] = at, leaf
                    n_met += 1
                    for k in range(n_classes):
                        added[at, k] = 0.0
                added[at, branches.codes[first + j]] += branches.weights[first + j]
    grown = 0.0
    for at in range(n_met):
        own = branches.counts[met[at]]
        before = _errors(own, branches.costs)
        for k in range(n_classes):
            added[at, k] += own[k]
        grown += _errors(added[at], branches.costs) - before
        slot[met[at]] = -1
    return grown


@inline
def _errors(counts, costs):
    """Return what the rows of a leaf cost with its best label."""
    if len(costs) == 0:
        total, most = 0.0, 0.0
        for k in range(len(counts)):
            total += counts[k]
            most = max(most, counts[k])
        return total - most
    least = np.inf
    for label in range(len(counts)):
        cost = 0.0
        for k in range(len(counts)):
            cost += counts[k] * costs[k, label]
        least = min(least, cost)
    return least


@inline
def _leaves_below(branches, first, stop, node, worker):
    """Return how many of the next rows were routed from a node; their leaves are in the worker's ``walks``."""
    cells, walks, bases = branches.cells, branches.walks[worker, 0], branches.bases[worker, 0]
    together = min(_N_WALKS, stop - first)
    if len(branches.words) == 0:
        for j in range(together):
            row = branches.rows[first + j]
            walks[j] = np.uint32(leaf_from(branches.trees, cells, row, node, branches.is_leaf, branches.final))
        return together
    step = _LINE // cells.flat.itemsize
    for j in range(_N_WALKS):
        walks[j] = np.uint32(node)
        bases[j] = np.uint64(cells.offset + branches.rows[first + min(j, together - 1)] * cells.row_step)
        ahead = cells.offset + branches.rows[min(first + _N_WALKS + j, stop - 1)] * cells.row_step
        for k in range(0, min(cells.n_columns, _MOST_LINES * step), step):
            prefetch(branches.lines, np.uint64(0), np.uint64(ahead + k))
    if together > _FEW:
        while _step_down(branches, walks, bases, 0, _N_WALKS):
            pass
        return together
    for j in range(together):
        while _step_down(branches, walks, bases, j, j + 1):
            pass
    return together


@inline
def _step_down(branches, walks, bases, first, stop):
    """Move rows from their nodes to the children of these, in a packed tree; return whether any has moved."""
    words, moved = branches.words, np.uint32(0)
    for j in range(first, stop):
        node = walks[j]
        word = words[_TWO * node]
        x = branches.cells.flat[bases[j] + ((word & _LOW) >> _ONE)]
        goes_right = (x > branches.thresholds[_TWO * node + _ONE]) | ((x != x) & ((word & _ONE) == 0))
        after = np.uint32(word >> _HALF) + np.uint32(goes_right)
        moved |= after ^ node
        walks[j] = after
    return moved != 0
