# mypy: ignore-errors
# ruff: noqa: D102
"""Votes of the trees that did not see a row: a test set that every forest brings along.

Which rows a tree drew is not kept: its draws are functions of its key, and are drawn again here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.forest.bootstrap_rows import sample
from dtnumba.prediction.fractional import forest_values
from dtnumba.prediction.lockstep import put_twelve, same, twelve, walk
from dtnumba.prediction.packed_forest import N_WALKS, add_answer, answer_at, says_second
from dtnumba.prediction.votes import gapless
from dtnumba.runtime.kernels import kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.tasks import take_ticket
from dtnumba.tables.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.forest.grow import ForestPlan
    from dtnumba.prediction.forest_view import ForestView
    from dtnumba.runtime.progress import Monitor
    from dtnumba.tables.binned_table import Features
    from dtnumba.tables.costs import LeastCost


_BLOCK = 4096  # rows a ticket


@kernel_type
class DrawBags(NamedTuple):
    """Mark the rows that each tree drew, a bit a row; trees by whichever worker is free."""

    sampling: object
    counts: np.ndarray  # (workers, n) scratch
    totals: np.ndarray  # (workers, n_classes) scratch
    bags: np.ndarray  # (n_trees, bytes) uint8 out, zeros
    halt: np.ndarray  # (1,) int64: not 0 where the work is to stop, and nothing of it will be used
    counter: np.ndarray

    def run(self, worker):
        counts = self.counts[worker]
        while self.halt[0] == 0:
            tree = take_ticket(self.counter)
            if tree >= len(self.bags):
                break
            sample(self.sampling, tree, counts, self.totals[worker, 0], self.halt)
            for row in range(len(counts)):
                self.bags[tree, row >> 3] |= np.uint8((counts[row] > 0) << (row & 7))


@kernel_type
class AddLeftOut(NamedTuple):
    """Add up what trees say of the rows they did not draw; blocks of rows by whichever worker is free."""

    cells: object  # rows without gaps
    first: int  # row of the table that row 0 of the cells is
    nodes: object
    depth: int
    firsts: np.ndarray  # (n_trees,) uint64
    starts: np.ndarray  # (n_trees,) int64
    answers: object  # (rows, width) float64, or FewAnswers
    bags: np.ndarray
    votes: np.ndarray  # (n, width) float64 out
    n_votes: np.ndarray  # (n,) int64 out
    rows: np.ndarray  # (workers, block + 1) int64 scratch
    bases: np.ndarray  # (workers, block + N_WALKS) uint64 scratch: where the rows begin
    leaves: np.ndarray  # (workers, N_WALKS) uint64 scratch
    halt: np.ndarray  # (1,) int64: as above
    counter: np.ndarray

    def run(self, worker):
        cells, rows, bases, leaves = (
            self.cells,
            self.rows[worker, 0],
            self.bases[worker, 0],
            self.leaves[worker, 0],
        )
        while self.halt[0] == 0:
            start = take_ticket(self.counter) * _BLOCK
            if start >= cells.n_rows:
                break
            for t in range(len(self.firsts)):
                m = 0
                if self.halt[0] != 0:  # a block takes a tenth of a second where trees are many
                    break
                for row in range(start, min(start + _BLOCK, cells.n_rows)):
                    rows[m] = row
                    m += 1 - np.int64((self.bags[t, (self.first + row) >> 3] >> ((self.first + row) & 7)) & 1)
                for i in range(m):
                    bases[i] = np.uint64(cells.offset + rows[i] * cells.row_step)
                for i in range(m, m + N_WALKS):  # past the end the last row again
                    bases[i] = bases[max(m - 1, 0)]
                first = self.firsts[t]
                for i in range(0, m, N_WALKS):
                    put_twelve(leaves, walk(self.nodes, self.depth, same(first), cells.flat, twelve(bases, i)))
                    for j in range(min(N_WALKS, m - i)):
                        row, at = rows[i + j], self.starts[t] + answer_at(self.nodes, first, leaves[j])
                        self.n_votes[row] += 1
                        add_answer(self.answers, at, self.votes, row)


def draw_bags(plan: ForestPlan, n_trees: int, monitor: Monitor) -> NDArray[np.uint8] | None:
    """Return which rows each tree drew, (n_trees, bytes), a bit a row; None where the work was stopped."""
    n, workers = plan.n_table_rows, min(plan.settings.workers, n_trees)
    bags = np.zeros((n_trees, (n + 7) // 8), np.uint8)
    counts, totals = np.zeros((workers, n), plan.count_type), per_worker(workers, plan.width)
    halt = np.zeros(1, np.int64)
    task = DrawBags(plan.sampling, counts, totals, bags, halt, np.zeros(1, np.int64))
    return None if monitor.run_until(task, workers, halt) else bags


def _votes_one_by_one(
    table: Features, bags: NDArray[np.uint8], workers: int, forest: ForestView, voting: Any, monitor: Monitor
) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    """Return the votes of trees of any kind, None where the work was stopped."""
    votes, n_votes = np.zeros((table.n_rows, forest.trees.value.shape[1])), np.zeros(table.n_rows, np.int64)
    for first, cells in table.row_blocks():
        block = Table.block(cells)
        rows = slice(first, first + cells.n_rows)
        values = forest_values(block, forest.trees, workers, forest.n_classes, voting)
        for bag, predicted in zip(bags, values, strict=True):
            if monitor.stopped:
                return None
            is_out = np.unpackbits(bag, count=table.n_rows, bitorder="little")[rows] == 0
            votes[rows] += predicted * is_out[:, None]
            n_votes[rows] += is_out
    return votes, n_votes


def out_of_bag_votes(
    table: Features, plan: ForestPlan, forest: ForestView, voting: str | LeastCost, monitor: Monitor
) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    """Return the sum of what the trees say that did not draw a row, and how many these are, for every row.

    None where the work was stopped before all were counted: the rows so far may be of one kind.
    """
    bags = draw_bags(plan, forest.trees.n_trees, monitor)
    return None if bags is None else votes_of_bags(table, bags, plan.settings.workers, forest, voting, monitor)


def votes_of_bags(
    table: Features, bags: NDArray[np.uint8], workers: int, forest: ForestView, voting: Any, monitor: Monitor
) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    """Return the same where it is known which rows of the table each tree drew."""
    if not forest.trees.is_two_way:
        return _votes_one_by_one(table, bags, workers, forest, voting, monitor)
    is_of_two, width = says_second(forest.trees, forest.n_classes), forest.trees.value.shape[1]
    votes, n_votes = np.zeros((table.n_rows, 1 if is_of_two else width)), np.zeros(table.n_rows, np.int64)
    halt = np.zeros(1, np.int64)
    rows, bases = per_worker(workers, _BLOCK + 1, np.int64), per_worker(workers, _BLOCK + N_WALKS, np.uint64)
    leaves = per_worker(workers, N_WALKS, np.uint64)
    for first, block in table.row_blocks():
        packed = monitor.in_background(lambda dtype=block.flat.dtype: forest.packed(dtype, voting))  # 1 s of 10M nodes
        if packed is None:
            return None
        for more, cells in gapless(block):
            start = first + more
            out = (bags, votes[start:], n_votes[start:], rows, bases, leaves, halt, np.zeros(1, np.int64))
            tables = (packed.nodes, packed.depth, packed.roots, packed.starts, packed.answers)
            if monitor.run_until(AddLeftOut(cells, start, *tables, *out), workers, halt):
                return None
    return np.concatenate([n_votes[:, None] - votes, votes], axis=1) if is_of_two else votes, n_votes
