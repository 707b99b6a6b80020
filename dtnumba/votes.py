"""Rows to the votes of a forest: the trees outside, blocks of rows inside, several rows in lockstep.

A forest is packed once. Where the table is float32 a node takes 8 bytes (thresholds rounded down to float32 say the
same of every float32), else 16. A leaf points at itself, so rows that arrived wait for the others without a branch.
Votes are added in the order of the trees, so no bit depends on blocks or threads.
"""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import by_type, inline, launch, part, take_ticket
from dtnumba.floats import floor_to
from dtnumba.trees import LEAF

_LANES = 16
# Rows that pass through one tree before the next one is read: many where the forest is larger than the caches.
_FEW_ROWS, _MANY_ROWS = 512, 1 << 16
_CACHED = 1 << 20
# Fewer node visits than this are made by the calling thread.
SERIAL_STEPS = 200_000

after = by_type("after")


@part
class Narrow(NamedTuple):
    """Nodes of 8 bytes: left (from the tree's root on) << 11 | feature << 1 | missing goes left; and the threshold."""

    words: np.ndarray  # (2 * m,) uint32
    thresholds: np.ndarray  # the same memory as float32

    def after(self, first, node, flat, base, step):
        at = (first + np.uint64(node)) << np.uint64(1)
        word = self.words[at]
        x = flat[base + np.uint64((word >> np.uint32(1)) & np.uint32(1023)) * step]
        goes_right = (x > self.thresholds[at + np.uint64(1)]) | ((x != x) & ((word & np.uint32(1)) == 0))
        return (word >> np.uint32(11)) + np.uint32(goes_right)


@part
class Wide(NamedTuple):
    """Nodes of 16 bytes: left << 32 | feature << 1 | missing goes left; and the threshold."""

    words: np.ndarray  # (2 * m,) uint64
    thresholds: np.ndarray  # the same memory as float64

    def after(self, first, node, flat, base, step):
        at = (first + np.uint64(node)) << np.uint64(1)
        word = self.words[at]
        x = flat[base + ((word & np.uint64(0xFFFFFFFF)) >> np.uint64(1)) * step]
        goes_right = (x > self.thresholds[at + np.uint64(1)]) | ((x != x) & ((word & np.uint64(1)) == 0))
        return np.uint32(word >> np.uint64(32)) + np.uint32(goes_right)


def pack_forest(trees, n_features, dtype):
    """Return the nodes of binary trees for rows of a dtype."""
    sizes = np.diff(trees.root)
    leaf = trees.feature == LEAF
    first = np.repeat(trees.root[:-1], sizes)
    left = np.where(leaf, np.arange(trees.n_nodes), trees.left) - first
    feature = np.where(leaf, 0, trees.feature)
    stays = np.where(leaf, 1, trees.missing_left)
    threshold = np.where(leaf, np.inf, trees.threshold)
    if dtype == np.float32 and n_features <= 1 << 10 and sizes.max(initial=0) <= 1 << 21:
        words = np.empty((trees.n_nodes, 2), np.uint32)
        words[:, 0] = left << 11 | feature << 1 | stays
        words[:, 1] = floor_to(threshold, np.float32).view(np.uint32)
        return Narrow(words.ravel(), words.ravel().view(np.float32))
    wide = np.empty((trees.n_nodes, 2), np.uint64)
    wide[:, 0] = left.astype(np.uint64) << np.uint64(32) | (feature << 1 | stays).astype(np.uint64)
    wide[:, 1] = threshold.view(np.uint64)
    return Wide(wide.ravel(), wide.ravel().view(np.float64))


@part
class AddVotes(NamedTuple):
    """Add what the leaf of every row says in every tree; blocks of rows by whichever worker is free."""

    cells: object
    packed: object
    roots: np.ndarray  # (n_trees,) int64
    says: np.ndarray  # (m, width) float64
    out: np.ndarray  # (n, width) float64
    block: int
    lanes: np.ndarray  # (workers, lanes) uint32 scratch: nodes
    bases: np.ndarray  # (workers, lanes) uint64 scratch: where the rows begin
    counter: np.ndarray

    def run(self, worker):
        n, lanes, bases = self.cells.n_rows, self.lanes[worker], self.bases[worker]
        while True:
            start = take_ticket(self.counter) * self.block
            if start >= n:
                break
            stop = min(start + self.block, n)
            for t in range(len(self.roots)):
                for row in range(start, stop, _LANES):
                    _walk(self.packed, self.cells, np.uint64(self.roots[t]), row, stop, lanes, bases)
                    for j in range(min(np.int64(_LANES), stop - row)):
                        leaf = self.roots[t] + np.int64(lanes[j])
                        for k in range(self.says.shape[1]):
                            self.out[row + j, k] += self.says[leaf, k]


@part
class NoteLeaves(NamedTuple):
    """Write the leaf of every row in every tree."""

    cells: object
    packed: object
    roots: np.ndarray
    out: np.ndarray  # (n, n_trees) int64
    block: int
    lanes: np.ndarray
    bases: np.ndarray
    counter: np.ndarray

    def run(self, worker):
        n, lanes, bases = self.cells.n_rows, self.lanes[worker], self.bases[worker]
        while True:
            start = take_ticket(self.counter) * self.block
            if start >= n:
                break
            stop = min(start + self.block, n)
            for t in range(len(self.roots)):
                for row in range(start, stop, _LANES):
                    _walk(self.packed, self.cells, np.uint64(self.roots[t]), row, stop, lanes, bases)
                    for j in range(min(np.int64(_LANES), stop - row)):
                        self.out[row + j, t] = np.int64(lanes[j])


@inline
def _walk(packed, cells, first, row, stop, lanes, bases):
    """Walk as many rows as there are lanes to their leaves in one tree; past ``stop`` the last row again."""
    step = np.uint64(cells.column_step)
    for j in range(_LANES):
        lanes[j] = np.uint32(0)
        bases[j] = np.uint64(cells.offset + min(row + j, stop - 1) * cells.row_step)
    while True:
        moved = np.uint32(0)
        for j in range(_LANES):
            node = lanes[j]
            to = after(packed, first, node, cells.flat, bases[j], step)
            moved |= to ^ node
            lanes[j] = to
        if moved == 0:
            break


def _blocks(n_rows, n_bytes, workers):
    """Return rows a block: enough blocks for all workers, and many rows where the trees have to come from afar."""
    if n_bytes <= _CACHED:
        return _FEW_ROWS
    share = -(-n_rows // workers)
    return int(min(max(-(-share // _LANES) * _LANES, _LANES), _MANY_ROWS))


def _lanes(workers):
    return np.empty((workers, _LANES), np.uint32), np.empty((workers, _LANES), np.uint64)


def add_votes(cells, packed, roots, says, out, steps, workers):
    """Add to ``out`` what every row's leaves say; ``steps`` estimates the visits a row makes."""
    threads = workers if cells.n_rows * steps >= SERIAL_STEPS else 1
    block, counter = _blocks(cells.n_rows, packed.words.nbytes, threads), np.zeros(1, np.int64)
    launch(AddVotes(cells, packed, roots, says, out, block, *_lanes(threads), counter), threads)


def note_leaves(cells, packed, roots, steps, workers):
    """Return the leaf of every row in every tree, counted from the tree's root."""
    out = np.empty((cells.n_rows, len(roots)), np.int64)
    threads = workers if cells.n_rows * steps >= SERIAL_STEPS else 1
    block, counter = _blocks(cells.n_rows, packed.words.nbytes, threads), np.zeros(1, np.int64)
    launch(NoteLeaves(cells, packed, roots, out, block, *_lanes(threads), counter), threads)
    return out
