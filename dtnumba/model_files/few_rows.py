"""A few rows through the trees of a file that is mapped: what they pass is verified, and nothing else is read.

All trees and rows go down together, a node at a time. A forest of hundreds of millions of nodes answers its first rows
in milliseconds so, long before it could be read.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.model_files.tree_columns import RANK_STEP
from dtnumba.prediction.packed_forest import says_second
from dtnumba.tables.costs import commonest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.model_files.tree_columns import StoredTrees
    from dtnumba.tables.table import Table

_MOST_PAIRS = 1 << 14  # of a row and a tree that go down together
_MOST_STEPS = 1000  # deeper trees are read whole
# A row takes as long as reading and packing so many nodes: rows go down like this until that would have cost no more.
_NODES_A_ROW = 20_000


class _Items:
    """Items of a column that is not read whole."""

    def __init__(self, stored: StoredTrees, name: str) -> None:
        self._content, said = stored.reader.content, stored.said[name]
        self._name, self._table = said.get("codes", said.get("array")), None
        self._array = self._content.unverified(self._name)
        if "codes" in said:
            self._table = self._content.array(said["table"])

    def __len__(self) -> int:
        return len(self._array)

    @cached_property
    def _steps(self) -> NDArray[Any]:
        """The items, so many in a row as there are from one entry of ``inner_before`` to the next; those of the end."""
        n_whole = len(self._array) // RANK_STEP * RANK_STEP
        return np.asarray(self._array[:n_whole].reshape(-1, RANK_STEP))

    def are_not_zero(self, step: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which items of some steps, each verified where it begins, are not zero."""
        self.verify(step * RANK_STEP)
        is_whole = step < len(self._steps)
        found = np.zeros((len(step), RANK_STEP), self._array.dtype)
        found[is_whole] = self._steps[step[is_whole]]
        rest = self._array[len(self._steps) * RANK_STEP :]
        found[~is_whole, : len(rest)] = rest
        if self._table is not None:
            found = self._table[np.minimum(found, len(self._table) - 1)]
        return np.asarray(found != 0)

    def verify(self, items: NDArray[np.int64]) -> None:
        """Raise where items are not those that were written."""
        self._content.verify_items(self._name, items)

    def at(self, items: NDArray[np.int64]) -> NDArray[Any]:
        """Return items, verified."""
        if len(items) and int(items.max()) >= len(self._array):
            raise self._content.wrong(f"array {self._name!r} has no such item", "save the model again")
        self.verify(items)
        found = self._array[items]
        if self._table is None:
            return np.asarray(found)
        if len(found) and int(found.max()) >= len(self._table):
            raise self._content.wrong(f"array {self._name!r} has codes beyond its table", "save the model again")
        return np.asarray(self._table[found])


class FewRows:
    """The way of a few rows through the forest of a mapped file.

    Parameters
    ----------
    stored : StoredTrees
        Its trees.

    """

    def __init__(self, stored: StoredTrees) -> None:
        self._stored, self._n_rows = stored, 0
        self._columns: dict[str, _Items] = {}
        self._root: Any = None

    def takes(self, table: Table) -> bool:
        """Tell whether rows are few enough, of those that came so far, and the trees plain enough."""
        stored, cells = self._stored, table.cells
        said = stored.said
        if not stored.reader.content.is_mapped or stored.is_read or cells is None or not stored.is_two_way:
            return False
        if any(name in said for name in ("level", "linear", "sparse_value", "leaf_threshold")) or said.get("cuts_at"):
            return False
        self._n_rows += table.n_rows
        return self._n_rows <= stored.n_nodes // _NODES_A_ROW

    def means(self, table: Table, voting: Any) -> NDArray[np.float64] | None:
        """Return the mean of what the leaves of every row say, as ``ForestView.means``; None where trees are deep."""
        stored = self._stored
        n_trees, n_classes = stored.n_trees, np.array(stored.n_classes)
        answers = np.empty((table.n_rows, stored.width))
        for start, rows in self._parts(table):
            found = self._leaves(rows)
            if found is None:
                return None
            node, before = found
            value = self._values(node - before)
            value = value if voting == "soft" else commonest(value, stored.n_classes, voting)
            summed = np.add.accumulate(value.reshape(len(rows), n_trees, -1), axis=1)[:, -1]  # in the order of trees
            answers[start : start + len(rows)] = summed / n_trees
        if says_second(stored, n_classes):
            answers[:, 0] = 1.0 - answers[:, 1]
        return answers

    def leaves(self, table: Table) -> NDArray[np.int64] | None:
        """Return the leaf of every row in every tree, counted from the tree's root; None where trees are deep."""
        out = np.empty((table.n_rows, self._stored.n_trees), np.int64)
        for start, rows in self._parts(table):
            found = self._leaves(rows)
            if found is None:
                return None
            out[start : start + len(rows)] = found[0].reshape(len(rows), -1) - self._roots[:-1]
        return out

    @property
    def _roots(self) -> NDArray[np.int64]:
        if self._root is None:
            root = self._stored.column("root", np.int64, self._stored.n_trees + 1)
            ascends = root[0] == 0 and root[-1] == self._stored.n_nodes and bool((np.diff(root) > 0).all())
            self._stored.reader.demand(ascends, "its roots do not ascend from 0 to the number of nodes")
            self._root = root
        return np.asarray(self._root)

    def _column(self, name: str) -> _Items:
        if name not in self._columns:
            self._columns[name] = _Items(self._stored, name)
        return self._columns[name]

    def _parts(self, table: Table) -> Any:
        """Yield rows as an array, so many at a time that all trees can take them together."""
        cells, step = table.cells, max(1, _MOST_PAIRS // self._stored.n_trees)
        assert cells is not None
        columns = cells.offset + np.arange(cells.n_columns) * cells.column_step
        for start in range(0, table.n_rows, step):
            rows = np.arange(start, min(start + step, table.n_rows))
            yield start, cells.flat[rows[:, None] * cells.row_step + columns]

    def _leaves(self, rows: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """Return the leaf of every row in every tree, a row after the other, and the inner nodes before it."""
        demand, root, n_trees = self._stored.reader.demand, self._roots, self._stored.n_trees
        node, end = np.tile(root[:-1], len(rows)), np.tile(root[1:], len(rows))
        before, walks = np.zeros(len(node), np.int64), np.arange(len(node))
        for _ in range(_MOST_STEPS):
            at = node[walks]
            tested = self._column("tested").at(at).astype(np.int64)
            demand(bool((tested <= self._stored.n_features).all()), "it tests a column that it has not got")
            rank = self._rank(at)
            before[walks] = rank
            goes_on = tested > 0
            walks, at, rank, tested = walks[goes_on], at[goes_on], rank[goes_on], tested[goes_on]
            if not len(walks):
                return node, before
            x = rows[walks // n_trees, tested - 1].astype(np.float64)
            goes_left = x <= self._column("threshold").at(rank)
            is_missing = np.flatnonzero(np.isnan(x))
            if len(is_missing):  # what no row asks for is not read
                goes_left[is_missing] = self._column("missing_left").at(rank[is_missing]) == 1
            child = at + self._column("distance").at(rank).astype(np.int64) + ~goes_left
            demand(bool(((child > at) & (child < end[walks])).all()), "a child stands in another tree than its parent")
            node[walks] = child
        return None

    def _rank(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many inner nodes stand before nodes."""
        step, within = np.divmod(at, RANK_STEP)
        counted = self._column("tested").are_not_zero(step)
        counted &= np.arange(RANK_STEP) < within[:, None]
        return np.asarray(self._column("inner_before").at(step).astype(np.int64) + counted.sum(axis=1))

    def _values(self, leaf: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what leaves say, by their numbers among the leaves."""
        stored = self._stored
        if stored.said["is_compact"]:
            has_rows = len(self._column("value_row")) > 0
            value = self._column("value").at(self._column("value_row").at(leaf).astype(np.int64) if has_rows else leaf)
        elif "leaf_counts" in stored.said:
            counts = self._column("leaf_counts").at(leaf).astype(np.float64)
            weight = counts[:, : stored.n_classes[0]].sum(axis=1)
            stored.reader.demand(bool((weight > 0).all()), "its leaves have no counts of rows")
            value = counts / weight[:, None]
        else:
            value = self._column("leaf_value").at(leaf)
        value = value.astype(np.float64)
        fits = value.shape[1:] == (stored.width,) and stored.are_values(value)
        stored.reader.demand(fits, "its leaves have no values that are finite numbers, or shares")
        return np.asarray(value)
