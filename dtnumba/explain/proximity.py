# mypy: ignore-errors
# ruff: noqa: D102
"""In which share of the trees two rows fall into one leaf.

Rows are grouped by their leaf, and only rows of one leaf are counted together: a row of a deep tree meets a few others,
not all. A row of the result belongs to one worker, and counts are whole numbers, so no bit depends on threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnumba.runtime.kernels import kernel_type
from dtnumba.runtime.tasks import each_item, launch, take_ticket

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.prediction.forest_view import ForestView
    from dtnumba.tables.table import Table


_BLOCK = 16  # rows a ticket
# Leaves of rows known at a time, over rows and trees: what is needed beside the result.
CELLS = 1 << 22
# Fewer leaves than this are worked through by the calling thread.
_SERIAL_CELLS = 20_000


@each_item
class GroupByLeaf(NamedTuple):
    """List the rows of each leaf, by counting; trees by whichever worker is free."""

    leaves: np.ndarray  # (n, k) int64
    at: np.ndarray  # (k + 1,) int64: where the leaves of each tree begin in ``starts``
    starts: np.ndarray  # int64 out, zeros: leaf l of tree t is members[t, starts[at[t] + l] : starts[at[t] + l + 1]]
    members: np.ndarray  # (k, n) uint32 out
    counter: np.ndarray

    def n_items(self):
        return len(self.members)

    def do_item(self, t, worker):
        starts, members = self.starts[self.at[t] : self.at[t + 1]], self.members[t]
        for row in range(len(members)):
            starts[self.leaves[row, t] + 2] += 1
        for leaf in range(2, len(starts)):
            starts[leaf] += starts[leaf - 1]
        for row in range(len(members)):  # the place of the next row of a leaf is where the leaf after it begins
            leaf = self.leaves[row, t]
            members[starts[leaf + 1]] = row
            starts[leaf + 1] += 1


@kernel_type
class CountTogether(NamedTuple):
    """Count for every row in how many trees each other row is with it; blocks of rows by whichever worker is free."""

    leaves: np.ndarray  # (n, k) int64
    at: np.ndarray
    starts: np.ndarray
    members: np.ndarray  # (k, n_others) uint32
    n_trees: int  # by which counts are divided; 0 where more trees follow
    out: np.ndarray  # (n, n_others) float32 out
    counter: np.ndarray

    def run(self, worker):
        while True:
            start = take_ticket(self.counter) * _BLOCK
            if start >= len(self.out):
                break
            for row in range(start, min(start + _BLOCK, len(self.out))):
                out = self.out[row]
                for t in range(len(self.members)):
                    leaf = self.at[t] + self.leaves[row, t]
                    for i in range(self.starts[leaf], self.starts[leaf + 1]):
                        out[self.members[t, i]] += np.float32(1.0)
                if self.n_trees > 0:
                    for j in range(len(out)):
                        out[j] = np.float32(out[j] / self.n_trees)


def shares_of_trees(view: ForestView, table: Table, other: Table | None, workers: int) -> NDArray[np.float32]:
    """Return in which share of the trees every row of a table is with each row of the other one, or of its own."""
    n, n_others, trees = table.n_rows, (other or table).n_rows, view.trees
    out, n_trees = np.zeros((n, n_others), np.float32), trees.n_trees
    together = max(1, CELLS // max(n, n_others, trees.n_nodes // n_trees))
    for first in range(0, n_trees, together):
        last = min(first + together, n_trees)
        leaves = view.leaves(table, workers, first, last)
        others = leaves if other is None else view.leaves(other, workers, first, last)
        at = np.concatenate([[0], np.cumsum(np.diff(trees.root[first : last + 1]) + 2)])
        starts, members = np.zeros(at[-1], np.int64), np.empty((last - first, n_others), np.uint32)
        threads = workers if max(leaves.size, others.size) >= _SERIAL_CELLS else 1
        launch(GroupByLeaf(others, at, starts, members, np.zeros(1, np.int64)), threads)
        divisor = n_trees if last == n_trees else 0
        launch(CountTogether(leaves, at, starts, members, divisor, out, np.zeros(1, np.int64)), threads)
    return out
