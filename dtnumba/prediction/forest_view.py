"""A fitted forest: its arrays, the packed forms that predict, and what can be read off them.

What predicts is imported by the methods that predict: each kernel takes a part of a millisecond to import.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.prediction.walk_tree import SERIAL_STEPS
from dtnumba.runtime.tasks import n_workers
from dtnumba.trees.compact import compacted
from dtnumba.trees.layout import decreases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.prediction.row_predictor import RowPredictor
    from dtnumba.tables.cells import Cells
    from dtnumba.tables.costs import LeastCost
    from dtnumba.tables.table import Table
    from dtnumba.trees.layout import Trees


# Fewer row-levels than this are walked at once, by the calling thread: handing over a task takes as long.
FEW_STEPS = 1 << 16
# From so many rows times trees on it is worth compiling what compares all nodes of shallow trees: fewer are walked in a
# few milliseconds.
FEWEST_WALKS = 1 << 20


class ForestView:
    """The trees of a forest and the way of rows through them.

    Parameters
    ----------
    trees : Trees
        All trees, end to end.
    n_features : int
        Columns of the table they were grown on.
    n_classes : sequence of int
        Classes of each output, 1 where it is a number.
    importances : pair of arrays of shape (features,), optional
        Share of each feature in the decrease of impurity and its spread, of compact trees.

    """

    def __init__(
        self,
        trees: Trees,
        n_features: int,
        n_classes: Sequence[int],
        importances: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
    ) -> None:
        self.trees = trees
        self._take(n_features, n_classes, importances)

    def _take(self, n_features: int, n_classes: Sequence[int], importances: Any) -> None:
        self._importances = importances
        self.n_features = n_features
        self.n_classes = np.asarray(n_classes, dtype=np.int64)

    @property
    def walked(self) -> Trees:
        """What prediction reads of the arrays: they, or the same trees without what explains them."""
        return self.trees

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what cannot be derived."""
        return ForestView, (self.trees, self.n_features, self.n_classes, self._importances)

    def compact(self) -> ForestView:
        """Return the forest without what only explains it."""
        if self.trees.is_compact:
            return self
        return ForestView(compacted(self.trees), self.n_features, self.n_classes.tolist(), self.impurity_importances())

    def row_predictor(self, voting: str | LeastCost) -> RowPredictor:
        """Return the forest as a function of one row."""
        from dtnumba.prediction.row_predictor import RowPredictor

        return RowPredictor(self.walked, self.n_features, self.n_classes.tolist(), voting)

    @cached_property
    def _packed(self) -> dict[Any, Any]:
        return {}

    def packed(self, dtype: Any, voting: str | LeastCost = "soft") -> Any:
        """Return the forest packed for rows of a dtype, when first asked for."""
        key = (dtype, voting)
        if key not in self._packed:
            from dtnumba.prediction.packed_forest import pack_forest

            self._packed[key] = pack_forest(self.walked, self.n_features, dtype, self.n_classes, voting)
        return self._packed[key]

    def shallow(self, dtype: Any, voting: str | LeastCost) -> Any:
        """Return the forest in the form for shallow trees, made when first asked for; None where they are not."""
        key = (dtype, voting, "shallow")
        if key not in self._packed:
            from dtnumba.prediction.shallow import pack_shallow

            self._packed[key] = pack_shallow(self.walked, self.n_features, dtype, self.n_classes, voting)
        return self._packed[key]

    @cached_property
    def _steps(self) -> float:
        """About how many nodes a row visits: a tree of m leaves is some log2(m) deep."""
        return float(np.log2(np.diff(self.walked.root) + 1).sum())

    @cached_property
    def _is_two_way(self) -> bool:
        return self.walked.is_two_way  # a look at every node

    @cached_property
    def _n_extra(self) -> int:
        """Columns of an answer that are what others leave to one."""
        from dtnumba.prediction.packed_forest import says_second

        return int(says_second(self.walked, self.n_classes))

    def means(self, table: Table, voting: str | LeastCost, n_jobs: int | None) -> NDArray[np.float64]:
        """Return the mean of what the leaves of every row say, a column a class or output.

        Of two classes, the share of the second is added up, and the first has the rest.
        """
        if not self._is_two_way:
            from dtnumba.prediction.fractional import forest_values

            values = forest_values(table, self.walked, n_workers(n_jobs), self.n_classes, voting)
            return np.asarray(sum(values) / self.walked.n_trees, np.float64)
        n, n_extra, width = table.n_rows, self._n_extra, self.walked.value.shape[1]
        cells = table.cells
        if cells is not None and n * self._steps < FEW_STEPS and (cells.column_step == 1 or cells.n_columns == 1):
            out, (vote, arguments) = np.empty(n * width), self._voter(cells.flat.dtype, voting)
            vote(*arguments, cells.flat, (cells.offset, cells.row_step, n, n_extra), out)
            return out.reshape(n, width)
        out = np.full((n, width - n_extra), -0.0)
        for first, cells in table.row_blocks():
            self._add_votes(cells, voting, out[first : first + cells.n_rows], n_workers(n_jobs))
        out /= self.walked.n_trees
        return np.concatenate([1.0 - out, out], axis=1) if n_extra else out

    def _voter(self, dtype: Any, voting: str | LeastCost) -> Any:
        key = (dtype, voting, "few rows")
        if key not in self._packed:
            from dtnumba.prediction.single_rows import voter

            self._packed[key] = voter(self.packed(dtype, voting))
        return self._packed[key]

    def _add_votes(self, cells: Cells, voting: str | LeastCost, out: NDArray[np.float64], workers: int) -> None:
        from dtnumba.prediction.votes import add_votes, gapless

        is_long = cells.n_rows * self.walked.n_trees >= FEWEST_WALKS
        shallow = self.shallow(cells.flat.dtype, voting) if is_long else None
        if shallow is None:
            add_votes(cells, self.packed(cells.flat.dtype, voting), out, self._steps, workers)
            return
        from dtnumba.prediction.shallow import add_shallow_votes

        threads = workers if cells.n_rows * self._steps >= SERIAL_STEPS else 1
        for start, rows in gapless(cells):
            add_shallow_votes(rows, shallow, out[start : start + rows.n_rows], threads)

    def leaves(self, table: Table, workers: int, first: int = 0, last: int | None = None) -> NDArray[np.int64]:
        """Return the leaf of every row in trees first .. last - 1, by default all, counted from the tree's root."""
        if not self.walked.is_two_way:
            from dtnumba.prediction.fractional import tree_values

            last = self.walked.n_trees if last is None else last
            found = [tree_values(table, self.walked, workers, t)[1] - self.walked.root[t] for t in range(first, last)]
            return np.stack(found, axis=1)
        from dtnumba.prediction.votes import note_leaves

        last = self.walked.n_trees if last is None else last
        steps = self._steps * (last - first) / self.walked.n_trees
        parts = [
            note_leaves(cells, self.packed(cells.flat.dtype, "ids").part_of(first, last), steps, workers)
            for _, cells in table.row_blocks()
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def impurity_importances(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the share of each feature in the decrease of impurity, averaged over the trees, and its spread."""
        if self._importances is not None:
            return self._importances[0].copy(), self._importances[1].copy()
        table = decreases(self.trees, self.n_features)
        total = table.sum(axis=1)
        if not (total > 0).any():
            return np.zeros(self.n_features), np.zeros(self.n_features)
        shares = table[total > 0] / total[total > 0, None]
        mean = shares.mean(axis=0)
        return np.asarray(mean / mean.sum()), np.asarray(shares.std(axis=0))
