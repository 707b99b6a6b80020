"""Rows as pruners count them: what each adds to the node it is in, and the node where it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.predict import leaves_of, pack
from dtnumba.table import Table, cells_of
from dtnumba.trees import Trees, depths, one_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.binned_table import Features
    from dtnumba.pruner import Rows
    from dtnumba.table import Cells


class Additions(NamedTuple):
    """What rows add to the statistics of a node: each part adds an amount at a place, for every row."""

    n_stats: int
    parts: list[tuple[NDArray[np.int64], NDArray[np.float64]]]

    def summed(self, groups: NDArray[np.int64], n_groups: int, rows: Any = slice(None)) -> NDArray[np.float64]:
        """Return the statistics of groups of rows, (groups, statistics); ``groups`` says which each row is in."""
        total = np.zeros(n_groups * self.n_stats)
        for places, amounts in self.parts:
            at = groups * self.n_stats + places[rows]
            total += np.bincount(at, weights=amounts[rows], minlength=len(total))
        return total.reshape(n_groups, self.n_stats)


def class_additions(rows: Rows, sizes: Sequence[int]) -> Additions:
    """Return the Additions by which a node knows the weight of each class, outputs end to end."""
    offsets, columns = np.cumsum([0, *sizes]), rows.target.T.astype(np.int64)
    parts = [(offset + codes, rows.weight) for offset, codes in zip(offsets, columns, strict=False)]
    return Additions(int(offsets[-1]), parts)


def square_additions(rows: Rows) -> Additions:
    """Return the Additions by which a node knows its sums of w, wy and wyy, output by output."""
    parts, w = [], rows.weight
    for o, y in enumerate(rows.target.T):
        place = np.full(len(w), 3 * o, np.int64)
        parts += [(place, w), (place + 1, w * y), (place + 2, w * y * y)]
    return Additions(3 * rows.target.shape[1], parts)


def leaves_in_trees(trees: Trees, table: Features, workers: int) -> list[NDArray[np.int64]]:
    """Return the leaf of every row in each tree, ids counted from the first node of all."""
    found = []
    for t in range(trees.n_trees):
        tree = one_tree(trees, t)
        packed = pack(tree, int(depths(tree).max())) if tree.is_binary else None
        parts = [leaves_of(_block(cells), tree, packed, workers) for _, cells in table.row_blocks()]
        found.append(np.concatenate(parts) + trees.root[t])
    return found


def _block(cells: Cells) -> Table:
    return Table(cells.n_rows, cells.n_columns, None, cells, None)


def dense_cells(table: Features) -> Cells:
    """Return all rows as one dense part, written out where they are sparse or codes."""
    blocks = [cells for _, cells in table.row_blocks()]
    if len(blocks) == 1:
        return blocks[0]
    return cells_of(np.concatenate([cells.flat.reshape(cells.n_rows, cells.n_columns) for cells in blocks]))
