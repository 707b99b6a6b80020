"""Sums as columns: the different tests of sums, numbered behind the columns of a table, and tables that have them.

What knows tests of single columns alone (rules, formulas) so knows sums, too: the sum k of ``LinearTests`` is column
p + k of a table of p columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.tables.cells import Cells, cells_of, values_of
from dtnumba.tables.floats import Bits, of_columns
from dtnumba.tables.table import BLOCK_CELLS
from dtnumba.trees.linear import (
    AXIS_TESTS,
    AxisTests,
    LinearTests,
    has_indicators,
    linear_tests,
    n_terms_of,
    picked,
    sums_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from dtnumba.tables.table import Table

Terms = tuple[tuple[int, float, float], ...]  # column, weight, what a missing value counts as


def n_sums_of(linear: AxisTests | LinearTests) -> int:
    """Return how many sums there are."""
    return len(linear.start) - 1 if isinstance(linear, LinearTests) else 0


def different_sums(linear: AxisTests | LinearTests, m: int) -> tuple[NDArray[np.int64], AxisTests | LinearTests]:
    """Return which of the different sums each of m nodes tests, -1 for none, and these.

    Sums of indicators are refused: a rule has no words for them.
    """
    if has_indicators(linear):
        raise ValueError(
            "rules say sums of numbers alone, and this model adds up levels of categories: fit it with "
            "categories_in_sums=False, or show it by export.text"
        )
    number = np.full(m, -1)
    first: dict[Terms, tuple[int, int]] = {}  # the number of each different sum, and the first node that tests it
    for node in np.flatnonzero(n_terms_of(linear, m)).tolist():
        number[node] = first.setdefault(terms_of(linear, node), (len(first), node))[0]
    return number, picked(linear, np.array([node for _, node in first.values()], np.int64)) if first else AXIS_TESTS


def terms_of(linear: Any, k: int) -> Terms:
    """Return the terms of a sum."""
    own = slice(int(linear.start[k]), int(linear.start[k + 1]))
    parts = (linear.column[own].tolist(), linear.weight[own].tolist(), linear.stand_in[own].tolist())
    return tuple(zip(*parts, strict=True))


def sums_from(terms: Sequence[Terms]) -> AxisTests | LinearTests:
    """Return sums of these terms; each column of a sum has its share by the size of its weight."""
    flat = [term for own in terms for term in own]
    lengths = np.array([len(own) for own in terms], np.int64)
    column, weight, stand_in = (np.array([term[k] for term in flat], np.float64) for k in range(3))
    total = np.repeat([sum(abs(term[1]) for term in own) for own in terms], lengths)
    share = np.abs(weight) / np.maximum(total, 1e-300)
    found: AxisTests | LinearTests = linear_tests(lengths, column.astype(np.int32), weight, stand_in, share)
    return found


class TableWithSums:
    """A table with sums of its columns behind these.

    Parameters
    ----------
    table : Table
        The columns.
    linear : LinearTests
        The sums.

    """

    def __init__(self, table: Table, linear: LinearTests) -> None:
        self._table, self._linear = table, linear
        self.n_rows, self.n_features = table.n_rows, table.n_features + n_sums_of(linear)

    @property
    def bits(self) -> Bits:
        """How many bits the floats of each column have; those of sums have 64."""
        own = of_columns(self._table.bits, np.arange(self._table.n_features)).tolist()
        return (*own, *(64 for _ in range(self.n_features - len(own))))

    @property
    def nominal(self) -> NDArray[np.bool_] | None:
        """Which columns are categories without an order; None where none is."""
        own = self._table.nominal
        return None if own is None else np.append(own, np.zeros(self.n_features - len(own), bool))

    def n_levels(self, j: int) -> int:
        """Return how many levels a column has, 0 of one of numbers and of a sum."""
        return self._table.n_levels(j) if j < self._table.n_features else 0

    def column(self, j: int) -> NDArray[np.float64]:
        """Return one column, or one sum."""
        if j < self._table.n_features:
            return self._table.column(j)
        found = np.empty(self.n_rows)
        for first, block in self._blocks():
            found[first : first + len(block)] = sums_of(self._linear, j - self._table.n_features, block)
        return found

    def row_blocks(self) -> Iterator[tuple[int, Cells]]:
        """Yield columns and sums of some rows, each with its first row; a part is there until the next is asked for."""
        p = self._table.n_features
        for first, block in self._blocks():
            whole = np.empty((len(block), self.n_features))
            whole[:, :p] = block
            for j in range(p, self.n_features):
                whole[:, j] = sums_of(self._linear, j - p, block)
            yield first, cells_of(whole)

    def _blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        n = max(1, BLOCK_CELLS // self.n_features)
        for begin, cells in self._table.row_blocks():
            rows = values_of(cells)
            yield from ((begin + first, rows[first : first + n]) for first in range(0, len(rows), n))


def with_sums(table: Table, linear: AxisTests | LinearTests) -> Any:
    """Return a table that has these sums, the table itself where there are none."""
    return TableWithSums(table, linear) if isinstance(linear, LinearTests) else table
