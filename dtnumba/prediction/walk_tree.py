# mypy: ignore-errors
# ruff: noqa: D102
"""Rows to leaves. Binary trees are packed once: a node is 16 bytes in one cache line, rows descend eight at a time.

Eight walks in lockstep hide the latency of each other's loads; a leaf points at itself, so none of them needs a branch.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.progress import launch_heeding
from dtnumba.runtime.tasks import each_item, take_ticket
from dtnumba.trees.layout import LEAF, last_children
from dtnumba.trees.routing import as_asked, step

_BLOCK = 1024  # rows a ticket
_STEPS_A_ROW = 20  # about, through a tree
_N_WALKS = 8
# A tree that does not fit into a core's level-2 cache waits longer for its nodes: four times the walks took the rows of
# a tree of 233k nodes from 139 to 64 ms a million; a tree of 26k nodes they slow down from 32 to 54 ms.
LEVEL_2 = 1 << 20
_ONE, _TWO, _HALF, _LOW = np.uint64(1), np.uint64(2), np.uint64(32), np.uint64(0xFFFFFFFF)
# Fewer row-levels than this are walked by the calling thread: waking the pool costs as much.
SERIAL_STEPS = 200_000
_FEW_STEPS = 40  # of one row in Python


class Packed(NamedTuple):
    """Nodes as pairs of words: left << 32 | feature << 1 | missing goes left; and the threshold's bits."""

    words: np.ndarray  # (2 * m,) uint64
    depth: int  # of the deepest leaf


def pack(trees, depth):
    """Return the Packed form of binary trees."""
    leaf = trees.feature == LEAF
    left = np.where(leaf, np.arange(trees.n_nodes), trees.left).astype(np.uint64)
    feature = np.where(leaf, 0, trees.feature).astype(np.uint64)
    stays = np.where(leaf, 1, trees.missing_left).astype(np.uint64)
    words = np.empty((trees.n_nodes, 2), np.uint64)
    words[:, 0] = left << np.uint64(32) | feature << np.uint64(1) | stays
    words[:, 1] = np.where(leaf, np.inf, trees.threshold).view(np.uint64)
    return Packed(words.ravel(), depth)


@kernel_type
class WalkPacked(NamedTuple):
    """Write what the leaf of every row says, blocks of rows by whichever worker is free."""

    cells: object
    words: np.ndarray
    thresholds: np.ndarray  # the same memory as float64
    root: int
    depth: int
    values: np.ndarray  # (m,) 8 bytes a node, whatever they mean
    out: np.ndarray  # (n,) the same for every row
    walks: np.ndarray  # (workers, walks) uint32 scratch: nodes
    bases: np.ndarray  # (workers, walks) uint64 scratch: where the rows begin
    counter: np.ndarray

    def run(self, worker):
        n, walks, bases = self.cells.n_rows, self.walks[worker, 0], self.bases[worker, 0]
        while True:
            start = take_ticket(self.counter) * _BLOCK
            if start >= n:
                break
            stop = min(start + _BLOCK, n)
            for row in range(start, stop, len(walks)):
                _walk_together(self, row, stop, walks, bases)


@inline
def _walk_together(task, row, stop, walks, bases):
    """Walk as many rows as there are walks together until none of them moves; past ``stop`` the last row again."""
    words, cells, n_walks = task.words, task.cells, len(walks)
    for j in range(n_walks):
        walks[j] = np.uint32(task.root)
        bases[j] = np.uint64(cells.offset + min(row + j, stop - 1) * cells.row_step)
    step = np.int64(cells.column_step).view(np.uint64)  # it may be negative
    for _ in range(task.depth):
        moved = np.uint32(0)
        for first in range(0, n_walks, _N_WALKS):
            for j in range(first, first + _N_WALKS):
                node = walks[j]
                word = words[_TWO * node]
                x = cells.flat[bases[j] + ((word & _LOW) >> _ONE) * step]
                goes_right = (x > task.thresholds[_TWO * node + _ONE]) | ((x != x) & ((word & _ONE) == 0))
                after = np.uint32(word >> _HALF) + np.uint32(goes_right)
                moved |= after ^ node
                walks[j] = after
        if moved == 0:
            break
    for j in range(min(n_walks, stop - row)):
        task.out[row + j] = task.values[walks[j]]


@each_item
class WalkAny(NamedTuple):
    """Walk rows to leaves in trees with tests of any kind."""

    cells: object
    trees: object
    root: int
    values: np.ndarray
    out: np.ndarray
    counter: np.ndarray

    def n_items(self):
        return (self.cells.n_rows + _BLOCK - 1) // _BLOCK

    def do_item(self, block, worker):
        cells, start = self.cells, block * _BLOCK
        for row in range(start, min(start + _BLOCK, cells.n_rows)):
            node = np.int64(self.root)
            while self.trees.feature[node] >= 0:
                child = step(self.trees, node, cells, row)
                if child < 0:
                    break
                node = child
            self.out[row] = self.values[node]


def leaves_of(table, trees, packed, workers, tree=0):
    """Return the id of the leaf that every row of a table ends in."""
    return answers_of(table, trees, packed, np.arange(trees.n_nodes), workers, tree)


def answers_of(table, trees, packed, values, workers, tree=0):
    """Return ``says[leaf]`` for the leaf of every row; ``says`` has 8 bytes a node, of any dtype."""
    out, words = np.empty(table.n_rows, np.int64), np.ascontiguousarray(values).view(np.int64)
    trees = as_asked(trees, table.bits)
    if table.cells is not None:
        _walk(table.cells, trees, packed, tree, words, out, workers)
        return out.view(values.dtype)
    from dtnumba.tables.cells import cells_of

    rows, block = table.csc.tocsr(), max(1, (1 << 22) // table.n_features)
    for start in range(0, table.n_rows, block):
        stop = min(start + block, table.n_rows)
        _walk(cells_of(rows[start:stop].toarray()), trees, packed, tree, words, out[start:stop], workers)
    return out.view(values.dtype)


def leaf_of_one(table, trees):
    """Return the leaf of a table's only row in a binary tree, walked in Python; None where that may take long.

    A few microseconds: to hand a task over takes longer, and to pack a tree a hundred times as long.
    """
    if table.cells is None:
        return None
    node, cells = 0, table.cells
    value, start, apart = cells.flat.item, cells.offset, cells.column_step
    feature, threshold = trees.feature.item, trees.threshold.item
    left, missing_left = trees.left.item, trees.missing_left.item
    for _ in range(_FEW_STEPS):
        column = feature(node)
        if column == LEAF:
            return node
        x = value(start + column * apart)
        goes_left = missing_left(node) if x != x else x <= threshold(node)
        node = left(node) + (0 if goes_left else 1)
    return None


def _walk(cells, trees, packed, tree, values, out, workers):
    counter, root = np.zeros(1, np.int64), int(trees.root[tree])
    if packed is None:
        task = WalkAny(cells, trees, root, values, out, counter)
        launch_heeding(task, workers if cells.n_rows >= _BLOCK else 1, cells.n_rows * _STEPS_A_ROW)
        return
    threads = workers if cells.n_rows * packed.depth >= SERIAL_STEPS else 1
    n_walks = _N_WALKS if packed.words.nbytes <= LEVEL_2 else 4 * _N_WALKS
    walks, bases = per_worker(threads, n_walks, np.uint32), per_worker(threads, n_walks, np.uint64)
    words, thresholds = packed.words, packed.words.view(np.float64)
    task = WalkPacked(cells, words, thresholds, root, packed.depth, values, out, walks, bases, counter)
    launch_heeding(task, threads, cells.n_rows * packed.depth)


def decision_paths(trees, leaves):
    """Return (indptr, indices): the nodes from the root to each row's leaf, ascending."""
    parent = np.full(trees.n_nodes, -1, np.int64)
    inner, last = np.flatnonzero(trees.feature != LEAF), last_children(trees)
    for node in inner:
        parent[trees.left[node] : last[node] + 1] = node
    columns, at = [leaves], leaves
    while True:
        at = np.where(at >= 0, parent[at], -1)
        if (at < 0).all():
            break
        columns.append(at)
    paths = np.stack(columns[::-1], axis=1)
    on_path = paths >= 0
    indptr = np.concatenate([[0], np.cumsum(on_path.sum(axis=1))])
    return indptr, paths[on_path]


def graph_paths(table, trees):
    """Return (indptr, indices): the nodes of a decision graph that each row of a table passes, ascending."""
    from dtnumba.tables.cells import values_of
    from dtnumba.trees.graphs import rows_through

    asked, rows, nodes = as_asked(trees, table.bits), [], []
    for first, cells in table.row_blocks():
        for node, own in rows_through(asked, values_of(cells)):
            rows.append(own + first)
            nodes.append(np.full(len(own), node))
    row, node = np.concatenate(rows), np.concatenate(nodes)
    order = np.lexsort([node, row])
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=table.n_rows))])
    return indptr, node[order]
