"""A table of which only the codes are kept: what ``bin_batches`` returns, and ``fit`` takes in place of values."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from dtnumba.tables.bins import Bins, histogram_codes, ordered
from dtnumba.tables.categories import FROM_DTYPE, LearnedLevels, listed_columns
from dtnumba.tables.cells import Cells, cells_of
from dtnumba.tables.table import Table, read_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dtnumba.tables.table import Levels


_BLOCK_CELLS = 1 << 20  # decoded at a time


class BinnedTable:
    """Histogram codes of a table; made by ``dtnumba.bin_batches``.

    Parameters
    ----------
    codes : array of shape (rows, features), uint8, or uint16 or uint32 where a category has more than 255 levels
        In C order. They belong to the table from now on.
    bins : Bins
        What the codes stand for.
    max_bins : int
        Most values of a column, as asked for.
    dtype : type
        float32 or float64: of the values.
    names : array of str or None
        Names of the columns.
    levels : sequence of array or None, or None
        The levels of each column, None of one of numbers.
    nominal : array of bool or None
        Which columns have levels without an order.

    Attributes
    ----------
    n_rows, n_features : int
        Extent; ``shape`` is both, and ``len(table)`` the rows.
    names : array of str or None
        Names of the columns, where the batches were frames.
    levels : tuple of array or None, or None
        The levels of each column, None of one of numbers; None where there are no categories.
    max_bins : int
        Most values of a column of numbers, as asked for; a missing value has a code beside them.

    """

    def __init__(
        self,
        codes: NDArray[Any],
        bins: Bins,
        max_bins: int,
        dtype: Any,
        names: Any = None,
        levels: Levels = None,
        nominal: NDArray[np.bool_] | None = None,
    ) -> None:
        self.n_rows, self.n_features = map(int, codes.shape)
        self.names: NDArray[np.object_] | None = names
        self.levels = levels
        self.nominal = nominal
        self.max_bins = max_bins
        self.bins = bins
        self.dtype = np.dtype(dtype)
        self._codes = codes

    def n_levels(self, j: int | np.integer[Any]) -> int:
        """Return how many levels a column has, 0 of one of numbers."""
        levels = None if self.levels is None else self.levels[int(j)]
        return 0 if levels is None else len(levels)

    @property
    def codes(self) -> NDArray[Any]:
        """Code of every value, read-only; the code of a missing one is the number of the column's others."""
        codes = self._codes.view()
        codes.flags.writeable = False
        return codes

    @property
    def edges(self) -> list[NDArray[np.float64]]:
        """Ascending edges of every column: a value's code is how many of them lie below it; none of a category's."""
        is_number = ordered(self)
        table = self.bins.edges(self.dtype.type, is_number)
        n_codes = np.where(is_number, self.bins.n_codes, 0)
        return [row[: max(n - 1, 0)].astype(np.float64) for row, n in zip(table, n_codes, strict=True)]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.n_rows, self.n_features

    @property
    def bits(self) -> int:
        """How many bits the floats have that stand for the codes."""
        return 64

    @property
    def nbytes(self) -> int:
        """Bytes of the codes."""
        return int(self._codes.nbytes)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.n_rows

    def __repr__(self) -> str:
        """Show the extent."""
        return f"BinnedTable({self.n_rows} rows, {self.n_features} features, max_bins={self.max_bins})"

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse to be read as values, wherever an array is expected."""
        raise TypeError(
            f"{self!r} holds codes, not values, and serves fit alone: pass the values themselves, e.g. a batch at a "
            "time, because a new row may lie anywhere within a bin"
        )

    @cached_property
    def middles(self) -> NDArray[np.float64]:
        """Return (p, 256) values that thresholds send where they send the code that a node saw; NaN for missing.

        More than 256 where a category has so many levels. The middle of a bin, or its end where nothing lies between:
        low and high may both be edges, and an edge belongs to the bin below it.
        """
        with np.errstate(invalid="ignore"):
            middle = self.bins.low / 2 + self.bins.high / 2
        is_inside = (middle > self.bins.low) & (middle < self.bins.high)
        width = max(256, int(self.bins.n_codes.max()) + 1)
        values = np.full((self.n_features, width), np.nan)
        values[np.arange(width) < self.bins.n_codes[:, None]] = np.where(is_inside, middle, self.bins.high)
        return values

    def row_blocks(self) -> Iterator[tuple[int, Cells]]:
        """Yield blocks of rows with values that stand for the codes, each with its first row: for out-of-bag votes."""
        columns, n_together = np.arange(self.n_features), max(1, _BLOCK_CELLS // self.n_features)
        for start in range(0, self.n_rows, n_together):
            yield start, cells_of(self.middles[columns, self._codes[start : start + n_together]])

    def rows(self, rows: NDArray[np.int64]) -> BinnedTable:
        """Return a copy of some rows, of the same codes; they may repeat."""
        codes = self._codes[rows]
        return BinnedTable(codes, self.bins, self.max_bins, self.dtype, self.names, self.levels, self.nominal)

    def values(self, rows: NDArray[np.int64]) -> Table:
        """Return values that stand for the codes of some rows."""
        cells = cells_of(self.middles[np.arange(self.n_features), self._codes[rows]])
        return Table(len(rows), self.n_features, self.names, cells, None, None, self.levels, self.nominal)

    def codes_for_kernels(self) -> NDArray[Any]:
        """Return the codes as kernels take them: those that another process maps read-only would be a second type."""
        return cells_of(self._codes).flat.reshape(self.shape)


Features = Table | BinnedTable  # what a learner grows on


def read_features(
    X: Any, caller: str, max_bins: int | None, categorical_features: Any = FROM_DTYPE, *, declared: bool = False
) -> Features:
    """Return what ``fit`` grows on: the Table of a caller's X, or X itself if it is a BinnedTable that serves.

    Parameters
    ----------
    X : BinnedTable, or anything that ``read_table`` takes
        The features.
    caller : str
        Name of the estimator, for messages.
    max_bins : int or None
        The estimator's.
    categorical_features : "from_dtype", list, mask or None
        The estimator's.
    declared : bool
        See LearnedLevels.

    """
    if isinstance(X, Table):
        return X
    if not isinstance(X, BinnedTable):
        return read_table(X, caller, categories=LearnedLevels(categorical_features, caller, declared=declared))
    _check_choice(X, caller, categorical_features)
    if max_bins is None:
        raise ValueError(
            f"max_bins=None: {caller} would look for exact thresholds, and {X!r} holds codes, not values; set "
            f"max_bins={X.max_bins}, or pass the values"
        )
    if max_bins < X.max_bins:
        raise ValueError(
            f"max_bins={max_bins}: {caller} is to tell apart at most {max_bins} values a column, and {X!r} tells apart "
            f"{X.max_bins}; set max_bins={X.max_bins}, or make the table with bin_batches(..., max_bins={max_bins})"
        )
    return X


def _check_choice(table: BinnedTable, caller: str, wanted: Any) -> None:
    """Raise ValueError where an estimator would have other columns as categories than the table has."""
    if isinstance(wanted, str):
        return
    listed = listed_columns([] if wanted is None else wanted, table.n_features, table.names, caller)
    has = np.array([levels is not None for levels in table.levels or [None] * table.n_features])
    if not np.array_equal(listed, has):
        raise ValueError(
            f"categorical_features={wanted!r}: {table!r} has the categories {np.flatnonzero(has).tolist()}, as "
            f"bin_batches was told; say {FROM_DTYPE!r}, or tell bin_batches the same"
        )


def histogram_of(table: Features, kept: NDArray[np.uint32], most: int, workers: int) -> tuple[Any, Bins]:
    """Return (codes, Bins) of a table: its own, or made of at most ``most`` values a column."""
    if isinstance(table, BinnedTable):
        return table.codes_for_kernels(), table.bins
    codes, bins = histogram_codes(table, kept, most, workers)
    return codes, bins
