"""The tests that terms of decision lists are made of: at most a cut and above it, a level and any other one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnumba.rules.layout import LEVELS, RANGE, Condition

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.table import Table


MANY_TERMS = 100_000  # above so many a column gets fewer cuts
MOST_TERMS = 100_000_000
_CUTS = (1023, 511, 255, 127, 63, 31, 15, 7, 3, 1)


class ColumnTests(NamedTuple):
    """The tests of one column, two of each cut or level: at most a cut, above it; of a level, of any other one."""

    feature: int
    cuts: NDArray[np.float64]  # ascending; of a category none
    levels: NDArray[np.int64]  # those that are there, ascending; of a number none
    n_levels: int  # of the column in all, 0 of a number

    @property
    def n_tests(self) -> int:
        """How many tests there are."""
        return 2 * (len(self.levels) if self.n_levels else len(self.cuts))

    @property
    def n_groups(self) -> int:
        """Into how many groups of values the tests divide the column: levels, or ranges between cuts."""
        return len(self.levels) if self.n_levels else len(self.cuts) + 1

    def groups(self, values: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the group of values that are there."""
        if not self.n_levels:
            return np.searchsorted(self.cuts, values, side="left").astype(np.int32)
        place = np.zeros(self.n_levels, np.int32)
        place[self.levels] = np.arange(len(self.levels))
        return place[values.astype(np.int32)]

    def condition(self, t: int) -> Condition:
        """Return one of the tests."""
        k, is_first = t // 2, t % 2 == 0
        if not self.n_levels:
            cut = float(self.cuts[k])
            return Condition(self.feature, RANGE, np.nan, cut) if is_first else Condition(self.feature, RANGE, cut)
        level = int(self.levels[k])
        if is_first:
            return Condition(self.feature, LEVELS, levels=(level,))
        return Condition(self.feature, LEVELS, levels=(*range(level), *range(level + 1, self.n_levels)))


def n_terms(per_column: list[int], most: int) -> float:
    """Return how many terms there are of at most so many tests of different columns."""
    ways = np.zeros(most + 1)
    ways[0] = 1.0
    for n in per_column:
        ways[1:] += n * ways[:-1]
    return float(ways[1:].sum())


def column_tests(table: Table, is_there: NDArray[np.bool_], most: int) -> list[ColumnTests]:
    """Return the tests of each column, by the rows that are there.

    A column of many values has cuts at even shares of its rows, as few that there are ``MANY_TERMS`` terms.
    """
    found = []
    for j in range(table.n_features):
        present = present_values(table, j, is_there)
        n_levels = table.n_levels(j)
        if n_levels:
            is_met = np.zeros(n_levels, bool)
            is_met[present.astype(np.int32)] = True
            levels = np.flatnonzero(is_met)
            found.append(ColumnTests(j, np.zeros(0), levels, n_levels))
        else:
            found.append(ColumnTests(j, _cuts(present), np.zeros(0, np.int64), 0))

    def sizes(n_cuts: int) -> list[int]:
        return [own.n_tests if own.n_levels else min(own.n_tests, 2 * n_cuts) for own in found]

    n_cuts = next((n for n in _CUTS if n_terms(sizes(n), most) <= MANY_TERMS), 1)
    count = n_terms(sizes(n_cuts), most)
    if count > MOST_TERMS:
        raise ValueError(
            f"max_tests={most}: {table.n_features} columns make {count:.3g} terms of so many tests, and more than "
            f"{MOST_TERMS:.0e} take too long; lower max_tests, or leave out columns"
        )
    return [
        own if len(own.cuts) <= n_cuts else own._replace(cuts=_spread(table, own, is_there, n_cuts)) for own in found
    ]


def present_values(table: Table, j: int, is_there: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the values of a column in the rows that are there and not missing."""
    column = table.column(j)
    return np.asarray(column[~np.isnan(column) & is_there])


def _cuts(present: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the middles between neighbouring values, or the lower one where there is no number between."""
    values = np.unique(present)
    low, high = values[:-1], values[1:]
    with np.errstate(invalid="ignore"):
        middle = low / 2.0 + high / 2.0
    return np.where(np.isfinite(middle) & (middle < high) & (middle >= low), middle, low)


def _spread(table: Table, own: ColumnTests, is_there: NDArray[np.bool_], n_cuts: int) -> NDArray[np.float64]:
    """Return so many of the cuts of a column, at even shares of the values present."""
    present = np.sort(present_values(table, own.feature, is_there))
    below = np.searchsorted(present, own.cuts, side="right")
    wanted = np.arange(1, n_cuts + 1) * len(present) / (n_cuts + 1)
    return np.asarray(own.cuts[np.unique(np.searchsorted(below, wanted).clip(max=len(own.cuts) - 1))])
