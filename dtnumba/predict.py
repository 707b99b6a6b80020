"""Rows to leaves. Binary trees are packed once: a node is 16 bytes in one cache line, rows descend eight at a time.

Eight walks in lockstep hide the latency of each other's loads; a leaf points at itself, so none of them needs a branch.
"""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import inline, launch, part, take_ticket
from dtnumba.routing import child_of
from dtnumba.trees import LEAF

_BLOCK = 1024  # rows a ticket
_LANES = 8
# Fewer row-levels than this are walked by the calling thread: waking the pool costs as much.
SERIAL_STEPS = 200_000


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


@inline
def _step(words, thresholds, cells, base, node):
    word = words[2 * node]
    x = cells.flat[base + np.int64((word & np.uint64(0xFFFFFFFF)) >> np.uint64(1)) * cells.column_step]
    goes_right = (x > thresholds[2 * node + 1]) | ((x != x) & ((word & np.uint64(1)) == 0))
    return np.int64(word >> np.uint64(32)) + np.int64(goes_right)


@part
class WalkPacked(NamedTuple):
    """Write the leaf of every row in one tree, blocks of rows by whichever worker is free."""

    cells: object
    words: np.ndarray
    thresholds: np.ndarray  # the same memory as float64
    root: int
    depth: int
    leaves: np.ndarray  # (n,) int64 out
    counter: np.ndarray

    def run(self, worker):
        n = self.cells.n_rows
        while True:
            start = take_ticket(self.counter) * _BLOCK
            if start >= n:
                break
            stop = min(start + _BLOCK, n)
            row = start
            while row + _LANES <= stop:
                _walk_eight(self, row)
                row += _LANES
            for last in range(row, stop):
                base, node = self.cells.offset + last * self.cells.row_step, np.int64(self.root)
                for _ in range(self.depth):
                    after = _step(self.words, self.thresholds, self.cells, base, node)
                    if after == node:
                        break
                    node = after
                self.leaves[last] = node


@inline
def _walk_eight(task, row):
    words, thresholds, cells, step = task.words, task.thresholds, task.cells, task.cells.row_step
    base = cells.offset + row * step
    a = b = c = d = e = f = g = h = np.int64(task.root)
    for _ in range(task.depth):
        a1, b1 = _step(words, thresholds, cells, base, a), _step(words, thresholds, cells, base + step, b)
        c1, d1 = _step(words, thresholds, cells, base + 2 * step, c), _step(words, thresholds, cells, base + 3 * step, d)
        e1, f1 = _step(words, thresholds, cells, base + 4 * step, e), _step(words, thresholds, cells, base + 5 * step, f)
        g1, h1 = _step(words, thresholds, cells, base + 6 * step, g), _step(words, thresholds, cells, base + 7 * step, h)
        moved = (a1 ^ a) | (b1 ^ b) | (c1 ^ c) | (d1 ^ d) | (e1 ^ e) | (f1 ^ f) | (g1 ^ g) | (h1 ^ h)
        a, b, c, d, e, f, g, h = a1, b1, c1, d1, e1, f1, g1, h1
        if moved == 0:
            break
    leaves = task.leaves
    leaves[row], leaves[row + 1], leaves[row + 2], leaves[row + 3] = a, b, c, d
    leaves[row + 4], leaves[row + 5], leaves[row + 6], leaves[row + 7] = e, f, g, h


@part
class WalkAny(NamedTuple):
    """The same for trees with tests of any kind."""

    cells: object
    trees: object
    root: int
    leaves: np.ndarray
    counter: np.ndarray

    def run(self, worker):
        cells = self.cells
        while True:
            start = take_ticket(self.counter) * _BLOCK
            if start >= cells.n_rows:
                break
            for row in range(start, min(start + _BLOCK, cells.n_rows)):
                node = np.int64(self.root)
                while self.trees.feature[node] >= 0:
                    at = cells.offset + row * cells.row_step + np.int64(self.trees.feature[node]) * cells.column_step
                    node = child_of(self.trees, node, np.float64(cells.flat[at]))
                self.leaves[row] = node


def leaves_of(table, trees, packed, workers, tree=0):
    """Return the id of the leaf that every row of a table ends in."""
    leaves = np.empty(table.n_rows, np.int64)
    if table.cells is not None:
        _walk(table.cells, trees, packed, tree, leaves, workers)
        return leaves
    from dtnumba.table import cells_of

    rows, block = table.csc.tocsr(), max(1, (1 << 22) // table.n_features)
    for start in range(0, table.n_rows, block):
        stop = min(start + block, table.n_rows)
        _walk(cells_of(rows[start:stop].toarray()), trees, packed, tree, leaves[start:stop], workers)
    return leaves


def _walk(cells, trees, packed, tree, leaves, workers):
    counter = np.zeros(1, np.int64)
    if packed is not None:
        root = int(trees.root[tree])
        task = WalkPacked(cells, packed.words, packed.words.view(np.float64), root, packed.depth, leaves, counter)
        launch(task, workers if cells.n_rows * packed.depth >= SERIAL_STEPS else 1)
    else:
        launch(WalkAny(cells, trees, int(trees.root[tree]), leaves, counter), workers if cells.n_rows >= _BLOCK else 1)


def decision_paths(trees, leaves):
    """Return (indptr, indices): the nodes from the root to each row's leaf, ascending."""
    parent = np.full(trees.n_nodes, -1, np.int64)
    inner = np.flatnonzero(trees.feature != LEAF)
    for node in inner:
        parent[trees.left[node] : trees.right[node] + 1] = node
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
