# mypy: ignore-errors
# ruff: noqa: D102
"""Rows to the votes of a forest: the trees outside, blocks of rows inside, several rows in lockstep.

Votes are added in the order of the trees, so no bit depends on blocks or threads.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.prediction.lockstep import plain_walk, put_twelve, same, twelve, walk
from dtnumba.prediction.packed_forest import N_WALKS, FewAnswers, add_answer, answer_at
from dtnumba.prediction.walk_tree import LEVEL_2, SERIAL_STEPS
from dtnumba.runtime.kernels import by_type, inline, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.progress import launch_heeding
from dtnumba.runtime.tasks import take_ticket
from dtnumba.tables.cells import cells_of

# A block of rows passes through one tree before the next one is read. Rows come in a stream and nodes do not, so it
# pays to read several times as many bytes of rows as of nodes.
# But wide rows of which a block does not fit into the level-2 cache are read from memory by every tree: 20,000 x 5,000
# through 20 trees of depth 240 took 0.25 s with 512 rows a block, 0.07 s with 52.
_FEW_ROWS, _MANY_ROWS, _PER_NODE = 512, 1 << 17, 12
_DEEPER = 3  # times the mean depth of rows a tree may be deep
_COPIED_CELLS = 1 << 22


@kernel_type
class Add(NamedTuple):
    """Add what a leaf says to a row."""

    starts: np.ndarray  # (n_trees,) int64
    answers: object  # (rows, width) float64, or FewAnswers
    out: np.ndarray  # (n, width) float64

    def take_leaf(self, nodes, row, tree, first, leaf):
        add_answer(self.answers, self.starts[tree] + answer_at(nodes, first, leaf), self.out, row)


@kernel_type
class Note(NamedTuple):
    """Write the leaf; the forest is packed to answer with numbers of leaves."""

    starts: np.ndarray  # (n_trees,) int64
    answers: np.ndarray  # (rows, 1) float64
    out: np.ndarray  # (n, n_trees) int64

    def take_leaf(self, nodes, row, tree, first, leaf):
        self.out[row, tree] = np.int64(self.answers[self.starts[tree] + answer_at(nodes, first, leaf), 0])


take_leaf = by_type("take_leaf")


@kernel_type
class WalkForest(NamedTuple):
    """Walk every row through every tree; blocks of rows by whichever worker is free."""

    cells: object  # rows without gaps
    nodes: object
    depth: int
    firsts: np.ndarray  # (n_trees,) uint64
    use: object  # of a leaf: Add or Note
    block: int
    bases: np.ndarray  # (workers, block and N_WALKS) uint64 scratch: where the rows begin
    leaves: np.ndarray  # (workers, N_WALKS) uint64 scratch
    counter: np.ndarray

    def run(self, worker):
        cells, bases, leaves = self.cells, self.bases[worker, 0], self.leaves[worker, 0]
        while True:
            start = take_ticket(self.counter) * self.block
            if start >= cells.n_rows:
                break
            n = min(np.int64(self.block), cells.n_rows - start)
            for i in range(n):
                bases[i] = np.uint64(cells.offset + (start + i) * cells.row_step)
            for i in range(n, n + N_WALKS):  # past the end the last row again
                bases[i] = bases[n - 1]
            is_plain = not has_odd(self.nodes, cells.flat, bases, n, cells.n_columns)
            for t in range(len(self.firsts)):
                first = self.firsts[t]
                for i in range(0, n, N_WALKS):
                    if is_plain:
                        at = plain_walk(self.nodes, self.depth, same(first), cells.flat, twelve(bases, i))
                        put_twelve(leaves, at)
                    else:
                        at = walk(self.nodes, self.depth, same(first), cells.flat, twelve(bases, i))
                        put_twelve(leaves, at)
                    for j in range(min(np.int64(N_WALKS), n - i)):
                        take_leaf(self.use, self.nodes, start + i + j, t, first, leaves[j])


def _is_missing(nodes, x):
    return x != x


is_odd = by_type("is_odd", _is_missing)  # whether nodes step otherwise for a value


@inline
def has_odd(nodes, flat, bases, n, n_columns):
    """Return whether nodes step otherwise for a value of n rows, as for one that is missing."""
    for i in range(n):
        found = 0
        for j in range(n_columns):
            found += is_odd(nodes, flat[bases[i] + np.uint64(j)])
        if found > 0:
            return True
    return False


def gapless(cells):
    """Yield parts of cells whose rows have no gaps, each with its first row: as they are, or copied in parts."""
    if cells.column_step == 1 or cells.n_columns == 1:
        yield 0, cells
        return
    size = cells.flat.itemsize
    strides = (cells.row_step * size, cells.column_step * size)
    whole = np.lib.stride_tricks.as_strided(cells.flat[cells.offset :], (cells.n_rows, cells.n_columns), strides)
    n_together = max(1, _COPIED_CELLS // cells.n_columns)
    for start in range(0, cells.n_rows, n_together):
        yield start, cells_of(np.array(whole[start : start + n_together], order="C"))


def _rows_a_block(cells, packed, workers):
    """Return rows a block: enough blocks for all workers, and more rows for larger trees."""
    tree_bytes = packed.n_bytes // len(packed.starts)
    row_bytes = cells.n_columns * cells.flat.itemsize
    fewest = min(_FEW_ROWS, max(LEVEL_2 // row_bytes, 4 * N_WALKS))
    most = max(_PER_NODE * tree_bytes // row_bytes, fewest)
    n_blocks = -(-cells.n_rows // min(most, _MANY_ROWS))
    n_blocks = -(-n_blocks // workers) * workers  # five blocks would keep the second of two workers idle for a fifth
    return -(-cells.n_rows // (n_blocks * N_WALKS)) * N_WALKS


def _walk(cells, packed, use, steps, workers):
    """Walk all rows; ``steps`` estimates the visits a row makes, where trees are not far deeper than they need be."""
    steps = max(steps, len(packed.starts) * packed.depth / _DEEPER)
    threads = workers if cells.n_rows * steps >= SERIAL_STEPS else 1
    block, counter = _rows_a_block(cells, packed, threads), np.zeros(1, np.int64)
    bases = per_worker(threads, min(block, cells.n_rows) + N_WALKS, np.uint64)
    leaves = per_worker(threads, N_WALKS, np.uint64)
    task = WalkForest(cells, packed.nodes, packed.depth, packed.roots, use, block, bases, leaves, counter)
    launch_heeding(task, threads, int(cells.n_rows * steps))


def add_votes(cells, packed, out, steps, workers):
    """Add to ``out`` what every row's leaves say."""
    for first, part_of in gapless(cells):
        use = Add(packed.starts, packed.answers, out[first : first + part_of.n_rows])
        _walk(part_of, packed, use, steps, workers)
    if isinstance(packed.answers, FewAnswers):
        out += 0.0  # as adding zeros would do: -0.0 becomes 0.0


def note_leaves(cells, packed, steps, workers):
    """Return the leaf of every row in every tree, counted from the tree's root; its number is what it answers."""
    out = np.empty((cells.n_rows, len(packed.starts)), np.int64)
    for first, part_of in gapless(cells):
        use = Note(packed.starts, packed.answers, out[first : first + part_of.n_rows])
        _walk(part_of, packed, use, steps, workers)
    return out
