"""Where the predictions of a model change along its columns, and what it says between these places.

A model of trees or rules compares columns with numbers, its cuts; between two of them it says the same. So one row a
range, its upper end, tells all about it: nothing is sampled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.export.pictures.facts import renamed
from dtnumba.export.reading import ReadTrees, read
from dtnumba.export.replay import cuts_by_feature, model_answers
from dtnumba.figures.axes import name_ticks, plain
from dtnumba.figures.leaf_weights import by_leaves, leaves_add_up
from dtnumba.figures.polygons import pieces_of
from dtnumba.figures.tree_cells import Names, shortened
from dtnumba.tables.cells import cells_of, values_of
from dtnumba.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dtnumba.export.reading import Columns
    from dtnumba.figures.polygons import Piece

_BLOCK = 1 << 18  # rows asked together
_EVEN = 100  # ranges of a column for averages, where rows have steps of their own
_MARGIN = 0.04  # of the range of a column, beside it
_MOST_TICKS = 30


class Ranges(NamedTuple):
    """The ranges of a column in which predictions stay the same."""

    edges: NDArray[np.float64]  # one more than ranges; halves beside the numbers of levels
    asked: NDArray[np.float64]  # a value of each range
    levels: list[str] | None  # what the levels of a category are called

    def name_axis(self, axis: Any) -> None:
        """Write the levels, or some of them, at an axis."""
        if self.levels is not None:
            places = np.unique(np.linspace(0, len(self.levels) - 1, min(_MOST_TICKS, len(self.levels))).astype(int))
            name_ticks(axis, places.tolist(), [plain(self.levels[k]) for k in places])


class Asked:
    """A fitted model that is asked about ranges of its columns.

    Parameters
    ----------
    model : fitted estimator
        Of trees or rules.
    X : array, frame or sparse matrix of shape (rows, features)
        Rows as in ``predict``: they say which parts of the columns are looked at.
    what : str
        Who asks, for errors.
    names : Names
        Other names of columns and classes.
    sums : bool
        Whether the caller can draw tests of sums over several columns.

    """

    def __init__(self, model: Any, X: Any, what: str, names: Names, *, sums: bool = False) -> None:
        found = read(model, sums=sums)
        self._model, self._found, self._what = model, found, what
        self.columns: Columns = shortened(renamed(found.columns, *names))
        self.is_forest = hasattr(model, "forest_")
        self.labels = found.columns.classes
        self._given_names = renamed(found.columns, names.features, None).names
        self._cuts = dict(cuts_by_feature(found))
        parts = [np.array(values_of(cells), np.float64) for _, cells in model.table_of(X).row_blocks()]
        self.rows: NDArray[np.float64] = np.concatenate(parts)
        if not len(self.rows):
            raise ValueError(f"{what}: X has no rows; pass some, such as those of fit")

    @property
    def has_sums(self) -> bool:
        """Whether tests may be sums over several columns."""
        return isinstance(self._found, ReadTrees) and self._found.trees.has_sums

    def pieces(self, columns: tuple[int, int], whole: list[Piece]) -> list[Piece] | None:
        """Return polygons of two columns cut along the borders of the model; None where there are too many."""
        assert isinstance(self._found, ReadTrees), "rules have no sums"
        return pieces_of(self._found, columns, whole)

    def column(self, given: Any) -> int:
        """Return the number of a column that is given by number or name."""
        n = len(self._given_names)
        if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and 0 <= given < n:
            return int(given)
        if given in self._given_names:
            return self._given_names.index(given)
        raise ValueError(f"{self._what}: column {given!r} is not there; pass a number from 0 to {n - 1}, or a name")

    def ranges(self, j: int) -> Ranges:
        """Return the ranges of a column, as far as its rows reach and a little beyond."""
        levels = self.columns.levels[j]
        if levels is not None:
            codes = np.arange(len(levels), dtype=np.float64)
            return Ranges(np.append(codes - 0.5, len(levels) - 0.5), codes, [str(level) for level in levels])
        own = self.rows[:, j]
        own = own[np.isfinite(own)]
        low, high = (float(own.min()), float(own.max())) if len(own) else (0.0, 1.0)
        margin = _MARGIN * (high - low) or 0.5
        low, high = low - margin, high + margin
        cuts = np.unique(self._cuts.get(j, np.empty(0)))
        cuts = cuts[(cuts > low) & (cuts < high)]
        edges = np.concatenate([[low], cuts, [high]])
        return Ranges(edges, edges[1:].copy(), None)

    def even_ranges(self, j: int) -> Ranges:
        """Return the ranges of a column for averages; of models of sums many narrow ones, asked in their middle.

        There every row has steps of its own, which depend on its other values.
        """
        own = self.ranges(j)
        if not self.has_sums or own.levels is not None:
            return own
        edges = np.union1d(own.edges, np.linspace(own.edges[0], own.edges[-1], _EVEN + 1))
        return Ranges(edges, edges[:-1] / 2.0 + edges[1:] / 2.0, None)

    def middle_row(self) -> NDArray[np.float64]:
        """Return the row of the medians of numbers and the commonest levels."""
        row = np.full(self.rows.shape[1], np.nan)
        for j, levels in enumerate(self.columns.levels):
            own = self.rows[:, j]
            own = own[~np.isnan(own)]
            if len(own):
                row[j] = np.median(own) if levels is None else np.bincount(own.astype(np.int64)).argmax()
        return row

    def answers(self, rows: NDArray[np.float64]) -> tuple[NDArray[np.int64] | None, NDArray[np.float64]]:
        """Return the labels of rows (None of numbers), and their shares or numbers."""
        found = [model_answers(self._model, rows[at : at + _BLOCK]) for at in range(0, len(rows), _BLOCK)]
        codes = None if found[0].codes is None else np.concatenate([one.codes for one in found])
        return codes, np.concatenate([np.asarray(one.numbers, np.float64) for one in found])

    def means_and_curves(
        self, asked: NDArray[np.float64], columns: list[int], k: int, kept: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what is said on average, and of some rows, where columns have given values and the rest is as it is.

        Parameters
        ----------
        asked : array of shape (places, columns)
            The values.
        columns : list of int
            The columns that have them.
        k : int
            Which share or number of an answer.
        kept : array of int
            The rows whose own curves are returned.

        Returns
        -------
        means, curves : arrays of shape (places,) and (rows kept, places)

        """
        found = self._found
        if len(columns) == 1 and isinstance(found, ReadTrees) and not self.has_sums and leaves_add_up(found):
            return by_leaves(found, self.rows, columns[0], asked[:, 0], k, kept)
        means, curves = np.zeros(len(asked)), np.zeros((len(kept), len(asked)))
        for place, rows in self._placed(asked, columns):
            said = self._numbers(rows)[:, k].reshape(-1, len(self.rows))
            means[place : place + len(said)] = said.mean(axis=1)
            curves[:, place : place + len(said)] = said[:, kept].T
        return means, curves

    def _numbers(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        table = Table.block(cells_of(rows))
        said = self._model.predict(table) if self.labels is None else self._model.predict_proba(table)
        return np.asarray(said, np.float64).reshape(len(rows), -1)

    def _placed(self, asked: NDArray[np.float64], columns: list[int]) -> Iterator[tuple[int, NDArray[np.float64]]]:
        together = max(_BLOCK // len(self.rows), 1)
        for place in range(0, len(asked), together):
            own = asked[place : place + together]
            rows = np.tile(self.rows, (len(own), 1))
            rows[:, columns] = np.repeat(own, len(self.rows), axis=0)
            yield place, rows
