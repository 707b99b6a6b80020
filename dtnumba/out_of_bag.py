"""Votes of the trees that did not see a row: a test set that every forest brings along.

Which rows a tree drew is not kept: its draws are functions of its key, and are drawn again here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnumba._jit import inline, launch, part, take_ticket
from dtnumba.sampling import sample
from dtnumba.votes import after, pack_forest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.forest import ForestPlan
    from dtnumba.table import Table
    from dtnumba.trees import Trees

_BLOCK = 4096  # rows a ticket
_LANES = 16


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

    cells: object
    first: int  # row of the table that row 0 of the cells is
    packed: object
    roots: np.ndarray
    says: np.ndarray  # (m, width) float64
    bags: np.ndarray
    votes: np.ndarray  # (n, width) float64 out
    n_votes: np.ndarray  # (n,) int64 out
    rows: np.ndarray  # (workers, block) int64 scratch
    lanes: np.ndarray  # (workers, lanes) uint32 scratch
    bases: np.ndarray  # (workers, lanes) uint64 scratch
    counter: np.ndarray

    def run(self, worker):
        n, rows, lanes = self.cells.n_rows, self.rows[worker], self.lanes[worker]
        while True:
            start = take_ticket(self.counter) * _BLOCK
            if start >= n:
                break
            for t in range(len(self.roots)):
                m = 0
                for row in range(start, min(start + _BLOCK, n)):
                    rows[m] = row
                    m += 1 - ((self.bags[t, (self.first + row) >> 3] >> ((self.first + row) & 7)) & 1)
                for i in range(0, m, _LANES):
                    _walk_some(self, t, rows, i, m, lanes, self.bases[worker])
                    for j in range(min(_LANES, m - i)):
                        row, leaf = rows[i + j], self.roots[t] + np.int64(lanes[j])
                        self.n_votes[row] += 1
                        for k in range(self.says.shape[1]):
                            self.votes[row, k] += self.says[leaf, k]


@inline
def _walk_some(task, t, rows, i, m, lanes, bases):
    cells, first, step = task.cells, np.uint64(task.roots[t]), np.uint64(task.cells.column_step)
    for j in range(_LANES):
        lanes[j] = np.uint32(0)
        bases[j] = np.uint64(cells.offset + rows[min(i + j, m - 1)] * cells.row_step)
    while True:
        moved = np.uint32(0)
        for j in range(_LANES):
            node = lanes[j]
            to = after(task.packed, first, node, cells.flat, bases[j], step)
            moved |= to ^ node
            lanes[j] = to
        if moved == 0:
            break


def draw_bags(plan: ForestPlan, n_trees: int) -> NDArray[np.uint8]:
    """Return which rows each tree drew, (n_trees, bytes), a bit a row."""
    n, workers = plan.n_table_rows, min(plan.settings.workers, n_trees)
    bags = np.zeros((n_trees, (n + 7) // 8), np.uint8)
    counts, totals = np.zeros((workers, n), plan.count_type), np.empty((workers, plan.width))
    launch(DrawBags(plan.sampling, counts, totals, bags, np.zeros(1, np.int64)), workers)
    return bags


def out_of_bag_votes(
    table: Table, plan: ForestPlan, trees: Trees, says: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the sum of what the trees say that did not draw a row, and how many these are, for every row."""
    votes, n_votes = np.zeros((table.n_rows, says.shape[1])), np.zeros(table.n_rows, np.int64)
    bags, workers = draw_bags(plan, trees.n_trees), plan.settings.workers
    rows, lanes = np.empty((workers, _BLOCK + 1), np.int64), np.empty((workers, _LANES), np.uint32)
    bases = np.empty((workers, _LANES), np.uint64)
    roots, packed = trees.root[:-1].copy(), None
    for first, cells in table.row_blocks():
        packed = packed or pack_forest(trees, table.n_features, cells.flat.dtype)
        part_votes, part_n, counter = votes[first:], n_votes[first:], np.zeros(1, np.int64)
        task = AddLeftOut(cells, first, packed, roots, says, bags, part_votes, part_n, rows, lanes, bases, counter)
        launch(task, workers)
    return votes, n_votes
