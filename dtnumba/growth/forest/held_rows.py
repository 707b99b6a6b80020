"""The rows that a forest holds so that it can forget some: their values, outcomes and weights, and which are asked for.

A row is known by what it holds. Of several equal rows any may leave: the draws of those that stay are the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.forest.row_keys import keys_of_values, numbered, numbers_of_equals
from dtnumba.tables.cells import cells_of, values_of
from dtnumba.tables.labels import Labels, Values
from dtnumba.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.tables.floats import Bits


class RowsKept(NamedTuple):
    """The rows of a fit, as a fitted forest keeps them; what they are called stands beside them in the model."""

    values: NDArray[Any]  # (n, p) float32 or float64; of a category the number of its level
    outcome: NDArray[Any]  # (n, n_outputs) codes of classes, or float64
    weight: NDArray[np.float64] | None  # (n,); None: one each
    nominal: NDArray[np.bool_] | None  # (p,) which columns have levels without an order
    bits: Bits  # of the floats that the caller passed

    @property
    def n_rows(self) -> int:
        """How many they are."""
        return len(self.values)

    def table(self, names: Any, levels: Sequence[Any] | None) -> Table:
        """Return the values as a Table of columns of these names and levels."""
        n, p = self.values.shape
        levels = None if levels is None else tuple(levels)
        return Table(n, p, names, cells_of(self.values), None, None, levels, self.nominal, self.bits)

    def only(self, rows: NDArray[np.int64]) -> RowsKept:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return self._replace(values=self.values[rows], outcome=self.outcome[rows], weight=weight)


def held_rows(table: Table, outcome: Labels | Values, weight: NDArray[np.float64] | None) -> RowsKept:
    """Return a copy of the rows of a fit."""
    assert table.cells is not None
    own = outcome.codes if isinstance(outcome, Labels) else outcome.y
    weight = None if weight is None else weight.copy()
    return RowsKept(np.array(values_of(table.cells), order="C"), own.copy(), weight, table.nominal, table.bits)


def without_unused(table: Table, outcome: Labels | Values) -> tuple[Table, Labels | Values]:
    """Return rows with the levels and classes that they have, without those that no row has any longer."""
    if table.levels is not None and table.cells is not None:
        values, levels = values_of(table.cells), list(table.levels)
        changed: dict[int, NDArray[Any]] = {}
        for f, names in enumerate(levels):
            if names is None:
                continue
            column = values[:, f]
            there = np.unique(column[~np.isnan(column)]).astype(np.int64)
            if len(there) < len(names):
                place = np.append(np.zeros(len(names)), np.nan)
                place[there] = np.arange(len(there))
                changed[f] = place[np.where(np.isnan(column), -1, column).astype(np.int64)]
                levels[f] = names[there]
        if changed:
            values = values.copy()
            for f, column in changed.items():
                values[:, f] = column
            table = replace(table, cells=cells_of(values), levels=tuple(levels))
    if isinstance(outcome, Labels):
        classes, codes = [], np.empty_like(outcome.codes)
        for o, names in enumerate(outcome.classes):
            there, codes[:, o] = np.unique(outcome.codes[:, o], return_inverse=True)
            classes.append(names[there])
        if any(len(own) < size for own, size in zip(classes, outcome.sizes, strict=True)):
            narrow = np.uint8 if max(map(len, classes)) <= 256 else codes.dtype
            outcome = Labels(classes, codes.astype(narrow, copy=False))
    return table, outcome


class RowsAsked(NamedTuple):
    """Rows that are to be forgotten, as the model reads them."""

    table: Table
    outcome: Labels | Values
    weight: NDArray[np.float64] | None  # None: whatever the rows held count


class RowNames(NamedTuple):
    """What the rows held are known by."""

    plain: NDArray[np.uint64]  # (n,) keys of values and outcomes
    whole: NDArray[np.uint64]  # (n,) and of weights
    keys: NDArray[np.uint64]  # (n,) of these, equal ones numbered: what draws go by

    def only(self, rows: NDArray[np.int64]) -> RowNames:
        """Return those of some of the rows, of which no number is left out."""
        return RowNames(self.plain[rows], self.whole[rows], self.keys[rows])


def names_of(table: Table, outcome: Labels | Values, weight: NDArray[np.float64] | None) -> RowNames:
    """Return what rows are known by."""
    plain = keys_of_values(table, outcome, None)
    whole = plain if weight is None else keys_of_values(table, outcome, weight)
    return RowNames(plain, whole, numbered(whole))


def places_of(
    table: Table,
    outcome: Labels | Values,
    weight: NDArray[np.float64] | None,
    names: RowNames,
    asked: RowsAsked,
) -> NDArray[np.int64]:
    """Return where the rows asked for stand among those held, each once; ValueError where one does not.

    Of equal rows those go that have the highest numbers.
    """
    own = keys_of_values(asked.table, asked.outcome, None)
    found, first, stop = _ranges(names.plain, own)
    _refuse(first == stop, "is not among the rows held: it was never given to fit, or it is forgotten already")
    given = np.ones(len(own)) if asked.weight is None else asked.weight
    if weight is not None and asked.weight is None:
        ranges = [weight[found[begin:end]] for begin, end in zip(first, stop, strict=True)]
        differ = np.array([own.min() != own.max() for own in ranges])
        _refuse(differ, "was given to fit several times, with different weights: pass its sample_weight")
        given = np.array([own[0] for own in ranges])
    if weight is None:
        _refuse(given != 1.0, "was given to fit with the weight 1, as all were: leave out sample_weight")
    else:
        own = keys_of_values(asked.table, asked.outcome, given)
        found, first, stop = _ranges(names.whole, own)
        _refuse(first == stop, "was given to fit with another weight: pass the one that it had")
    number = numbers_of_equals(own)
    _refuse(number >= stop - first, "is asked for more often than it is held")
    places = np.asarray(found[stop - 1 - number])
    _refuse(~_are_equal(table, outcome, places, asked), "is not among the rows held")
    return places


def _ranges(keys: NDArray[np.uint64], own: NDArray[np.uint64]) -> tuple[NDArray[np.int64], ...]:
    """Return rows in the order of their keys, and where those begin and end there that have each of some keys."""
    rows = np.flatnonzero(np.isin(keys, own))
    rows = rows[np.argsort(keys[rows], kind="stable")]
    ranked = keys[rows]
    return rows, np.searchsorted(ranked, own, "left"), np.searchsorted(ranked, own, "right")


def _are_equal(table: Any, outcome: Any, places: NDArray[np.int64], asked: Any) -> NDArray[np.bool_]:
    """Tell which rows asked for are the rows held in these places, not only by their keys."""
    is_class = isinstance(outcome, Labels)
    ours, theirs = values_of(table.cells)[places], values_of(asked.table.cells)
    own, other = (outcome.codes, asked.outcome.codes) if is_class else (outcome.y, asked.outcome.y)
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    return np.asarray(same.all(axis=1) & (own[places] == other).all(axis=1))


def _refuse(is_wrong: NDArray[np.bool_], why: str) -> None:
    if is_wrong.any():
        row = int(is_wrong.argmax())
        n = int(np.count_nonzero(is_wrong))
        more = f", and so are {n - 1} others of them" if n > 1 else ""
        raise ValueError(f"forget: row {row} of those passed {why}{more}; nothing was forgotten")
