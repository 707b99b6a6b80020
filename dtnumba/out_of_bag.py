"""Votes of the trees that did not see a row: a test set that every forest brings along.

Which rows a tree drew is not kept: its draws are functions of its key, and are drawn again here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnumba._jit import launch, part, take_ticket
from dtnumba.lanes import LANES, put_twelve, same, twelve, walk
from dtnumba.packed_forest import answer_at, says_second
from dtnumba.sampling import sample
from dtnumba.votes import gapless

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.binned_table import Features
    from dtnumba.forest import ForestPlan
    from dtnumba.forest_view import ForestView

_BLOCK = 4096  # rows a ticket


@part
class DrawBags(NamedTuple):
    """Mark the rows that each tree drew, a bit a row; trees by whichever worker is free."""

    sampling: object
    counts: np.ndarray  # (workers, n) scratch
    totals: np.ndarray  # (workers, n_classes) scratch
    bags: np.ndarray  # (n_trees, bytes) uint8 out, zeros
    counter: np.ndarray

    def run(self, worker):
        counts = self.counts[worker]
        while True:
            tree = take_ticket(self.counter)
            if tree >= len(self.bags):
                break
            sample(self.sampling, tree, counts, self.totals[worker])
            for row in range(len(counts)):
                self.bags[tree, row >> 3] |= np.uint8((counts[row] > 0) << (row & 7))


@part
class AddLeftOut(NamedTuple):
    """Add up what trees say of the rows they did not draw; blocks of rows by whichever worker is free."""

    cells: object  # rows without gaps
    first: int  # row of the table that row 0 of the cells is
    nodes: object
    depth: int
    firsts: np.ndarray  # (n_trees,) uint64
    starts: np.ndarray  # (n_trees,) int64
    answers: np.ndarray  # (rows, width) float64
    bags: np.ndarray
    votes: np.ndarray  # (n, width) float64 out
    n_votes: np.ndarray  # (n,) int64 out
    rows: np.ndarray  # (workers, block + 1) int64 scratch
    bases: np.ndarray  # (workers, block + LANES) uint64 scratch: where the rows begin
    leaves: np.ndarray  # (workers, LANES) uint64 scratch
    counter: np.ndarray

    def run(self, worker):
        cells, rows, bases, leaves = self.cells, self.rows[worker], self.bases[worker], self.leaves[worker]
        while True:
            start = take_ticket(self.counter) * _BLOCK
            if start >= cells.n_rows:
                break
            for t in range(len(self.firsts)):
                m = 0
                for row in range(start, min(start + _BLOCK, cells.n_rows)):
                    rows[m] = row
                    m += 1 - ((self.bags[t, (self.first + row) >> 3] >> ((self.first + row) & 7)) & 1)
                for i in range(m):
                    bases[i] = np.uint64(cells.offset + rows[i] * cells.row_step)
                for i in range(m, m + LANES):  # past the end the last row again
                    bases[i] = bases[max(m - 1, 0)]
                first = self.firsts[t]
                for i in range(0, m, LANES):
                    put_twelve(leaves, walk(self.nodes, self.depth, same(first), cells.flat, twelve(bases, i)))
                    for j in range(min(LANES, m - i)):
                        row, at = rows[i + j], self.starts[t] + answer_at(self.nodes, first, leaves[j])
                        self.n_votes[row] += 1
                        for k in range(self.answers.shape[1]):
                            self.votes[row, k] += self.answers[at, k]


def draw_bags(plan: ForestPlan, n_trees: int) -> NDArray[np.uint8]:
    """Return which rows each tree drew, (n_trees, bytes), a bit a row."""
    n, workers = plan.n_table_rows, min(plan.settings.workers, n_trees)
    bags = np.zeros((n_trees, (n + 7) // 8), np.uint8)
    counts, totals = np.zeros((workers, n), plan.count_type), np.empty((workers, plan.width))
    launch(DrawBags(plan.sampling, counts, totals, bags, np.zeros(1, np.int64)), workers)
    return bags


def out_of_bag_votes(
    table: Features, plan: ForestPlan, forest: ForestView, voting: str
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the sum of what the trees say that did not draw a row, and how many these are, for every row."""
    is_of_two, width = says_second(forest.trees, forest.n_classes), forest.trees.value.shape[1]
    votes, n_votes = np.zeros((table.n_rows, 1 if is_of_two else width)), np.zeros(table.n_rows, np.int64)
    bags, workers = draw_bags(plan, forest.trees.n_trees), plan.settings.workers
    rows, bases = np.empty((workers, _BLOCK + 1), np.int64), np.empty((workers, _BLOCK + LANES), np.uint64)
    leaves = np.empty((workers, LANES), np.uint64)
    for first, block in table.row_blocks():
        packed = forest.packed(block.flat.dtype, voting)
        for more, cells in gapless(block):
            start = first + more
            out = (bags, votes[start:], n_votes[start:], rows, bases, leaves, np.zeros(1, np.int64))
            tables = (packed.nodes, packed.depth, packed.roots, packed.starts, packed.answers)
            launch(AddLeftOut(cells, start, *tables, *out), workers)
    return np.concatenate([n_votes[:, None] - votes, votes], axis=1) if is_of_two else votes, n_votes
