"""The gate: whatever the caller passes becomes a Table here, and every error about features is raised here.

Arrays of float32 and float64 are read in place through strides, whatever their layout, and keep their precision; what
has to be copied, and to what, stands in ``floats``, ``columns`` and ``frames``. A category is the number of its level
(``levels``, ``categories``). Sparse matrices stay sparse. Nothing that a caller passes is ever written to.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.tables.categories import FROM_DTYPE, KnownLevels, LearnedLevels
from dtnumba.tables.cells import Cells, cells_of, values_of
from dtnumba.tables.columns import array_columns, floats_of
from dtnumba.tables.floats import Bits, bits_of, brief, check_distinct, to_floats
from dtnumba.tables.frames import column_names, frame_columns, is_frame, opened, refuse_lazy, whole_frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from dtnumba.tables.categories import Categories

    Levels = tuple[NDArray[Any] | None, ...] | None


MOST_ROWS = (1 << 30) - 1
BLOCK_CELLS = 1 << 22  # of a sparse table written out at a time


@dataclass(frozen=True, eq=False)
class Table:
    """Feature columns: dense (``cells``) or sparse (``sparse``, a SciPy matrix in the CSC or CSR form).

    Cells of a category hold the number of its level, NaN where it is missing or was not seen in ``fit``.
    """

    n_rows: int
    n_features: int
    names: NDArray[np.object_] | None
    cells: Cells | None
    sparse: Any
    order: Any = None  # a Presorting of the table that these rows are a part of, where there is one
    levels: Levels = None  # of each column, in their order, and None of one of numbers; None where all are
    nominal: NDArray[np.bool_] | None = None  # which levels have no order, in fit; None where none are without
    given_bits: Bits | None = None  # of the floats that the caller passed; None: those of the dtype

    @classmethod
    def block(cls, cells: Cells) -> Table:
        """Return cells, such as a block of the rows of a table, as a Table of numbers without names."""
        return cls(cells.n_rows, cells.n_columns, None, cells, None)

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return np.dtype(self.sparse.dtype if self.cells is None else self.cells.flat.dtype)

    @property
    def bits(self) -> Bits:
        """How many bits the floats have that the caller passed."""
        return bits_of(self.dtype) if self.given_bits is None else self.given_bits

    def n_levels(self, j: int | np.integer[Any]) -> int:
        """Return how many levels a column has, 0 of one of numbers."""
        levels = None if self.levels is None else self.levels[int(j)]
        return 0 if levels is None else len(levels)

    @cached_property
    def csc(self) -> Any:
        """The sparse columns."""
        return self.sparse.tocsc()

    @cached_property
    def whole(self) -> NDArray[Any]:
        """The dense cells as a two-dimensional array."""
        assert self.cells is not None
        flat, offset, *steps = self.cells[:4]
        return np.lib.stride_tricks.as_strided(
            flat[offset:], (self.n_rows, self.n_features), [step * flat.itemsize for step in steps]
        )

    def numbers(self) -> Iterator[tuple[int, Cells]]:
        """Yield cells of dense parts that cover the columns with an order, each with its first column."""
        if self.nominal is None:
            yield from self.columns(0, self.n_features)
            return
        ends = np.flatnonzero(np.diff(self.nominal, prepend=True, append=True))
        for start, stop in zip(ends[::2], ends[1::2], strict=True):
            yield from self.columns(int(start), int(stop))

    def columns(self, start: int, stop: int) -> Iterator[tuple[int, Cells]]:
        """Yield cells of dense parts that cover columns [start, stop): one part, or one a column where sparse."""
        if self.cells is not None:
            offset = self.cells.offset + start * self.cells.column_step
            yield start, self.cells._replace(offset=offset, n_columns=stop - start)
            return
        for j in range(start, stop):
            yield j, self.dense_column(j)

    def column(self, j: int) -> NDArray[np.float64]:
        """Return one column as float64; of a category the numbers of its levels."""
        ((_, cells),) = self.columns(j, j + 1)
        return np.array(values_of(cells)[:, 0], np.float64)

    def dense_column(self, j: int) -> Cells:
        """Return one sparse column written out."""
        column = np.zeros((self.n_rows, 1), self.csc.dtype)
        stored = slice(self.csc.indptr[j], self.csc.indptr[j + 1])
        column[self.csc.indices[stored], 0] = self.csc.data[stored]
        return cells_of(column)

    def row_blocks(self) -> Iterator[tuple[int, Cells]]:
        """Yield dense parts that cover the rows, each with its first row: one part, or several where sparse.

        A part of several is there until the next one is asked for, which takes its memory: only what is stored is
        written, and wiped out again.
        """
        if self.cells is not None:
            yield 0, self.cells
            return
        rows, n_together = self.sparse.tocsr(), min(self.n_rows, max(1, BLOCK_CELLS // self.n_features))
        block = np.zeros((n_together, self.n_features), rows.dtype)
        flat, first_cell = block.reshape(-1), np.arange(n_together) * self.n_features
        for start in range(0, self.n_rows, n_together):
            ends = rows.indptr[start : start + n_together + 1]
            n, stored = len(ends) - 1, slice(ends[0], ends[-1])
            at = np.repeat(first_cell[:n], np.diff(ends)) + rows.indices[stored]
            flat[at] = rows.data[stored]
            yield start, cells_of(block[:n])
            flat[at] = 0.0

    def values_at(self, rows: ArrayLike, columns: ArrayLike) -> NDArray[np.float64]:
        """Return the values of the pairs (rows[k], columns[k])."""
        rows, columns = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
        if self.cells is None:
            return self._stored_at(rows, columns)
        c = self.cells
        return np.asarray(c.flat[c.offset + rows * c.row_step + columns * c.column_step], np.float64)

    def _stored_at(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Look up sparse values, each by a binary search among the rows of its column."""
        csc = self.csc
        low, stop = csc.indptr[columns].astype(np.int64), csc.indptr[columns + 1]
        high = stop.astype(np.int64)
        while (low < high).any():
            middle = (low + high) // 2
            is_below = (low < high) & (csc.indices[np.minimum(middle, csc.nnz - 1)] < rows)
            low, high = np.where(is_below, middle + 1, low), np.where(is_below, high, np.minimum(middle, high))
        values = np.zeros(len(rows))
        found = np.flatnonzero(low < stop)
        found = found[csc.indices[low[found]] == rows[found]]
        values[found] = csc.data[low[found]]
        return values


def rows_of_table(table: Table, rows: NDArray[np.int64], order: Any = None) -> Table:
    """Return a copy of some rows of a table; they may repeat. ``order``: of these rows among the sorted columns."""
    n, p = len(rows), table.n_features
    if table.cells is None:
        return Table(n, p, table.names, None, table.sparse.tocsr()[rows].tocsc(), order, given_bits=table.given_bits)
    cells = cells_of(table.whole.take(rows, axis=0))
    return Table(n, p, table.names, cells, None, order, table.levels, table.nominal, table.given_bits)


def first_missing(table: Any) -> tuple[int, int] | None:
    """Return row and column of the first missing value of a Table, None where there is none."""
    for first, cells in table.row_blocks():
        if cells.n_rows == 1 and cells.column_step == 1:  # what values_of makes takes longer than one row
            missing = np.isnan(cells.flat[cells.offset : cells.offset + cells.n_columns])
        else:
            missing = np.isnan(values_of(cells))
        if missing.any():
            row, column = divmod(int(missing.argmax()), cells.n_columns)
            return first + row, column
    return None


class Seen(NamedTuple):
    """The columns of the table in ``fit``, which ``predict`` must find again: their number, names and categories."""

    n_features: int
    names: NDArray[np.object_] | None
    levels: Sequence[NDArray[Any] | None] | None = None


def read_table(X: Any, caller: str, seen: Seen | None = None, categories: Categories | None = None) -> Table:
    """Return the Table of a caller's X.

    Parameters
    ----------
    X : array, frame, anything that speaks Arrow, sparse matrix or nested list of numbers and categories
        NaN, None and a frame's nulls are missing values. Integers beyond 2**53 are compared as float64; in ``fit``, a
        column where that makes two different ones equal is an error.
    caller : str
        Name of the estimator, for messages.
    seen : Seen, optional
        The columns seen in ``fit``; None in ``fit``.
    categories : Categories, optional
        Which columns are categories; by default those of ``seen``, and in ``fit`` those whose dtype says so.

    Returns
    -------
    Table
        Of as many columns as seen, with the same names.

    """
    fitting = seen is None
    if categories is None:
        categories = LearnedLevels(FROM_DTYPE, caller) if seen is None else KnownLevels(seen.levels)
    refuse_lazy(X, "X")
    X = opened(X, caller)
    names = column_names(X) if is_frame(X) else None
    if seen is not None:
        _check_names(names, seen.names, caller)
    if hasattr(X, "tocsc") and hasattr(X, "nnz"):
        table = _from_sparse(X, caller, categories, fitting=fitting)
    else:
        reading = _Reading(caller, categories, fitting)
        array, bits = reading.frame(X, names) if is_frame(X) else reading.array(X)
        levels, nominal = categories.levels, categories.nominal
        table = Table(array.shape[0], array.shape[1], names, cells_of(array), None, None, levels, nominal, bits)
    if seen is not None and table.n_features != seen.n_features:
        raise ValueError(
            f"X has {table.n_features} features, but {caller} is expecting {seen.n_features} features as input"
        )
    return table


_READ_IN_PLACE = {np.dtype(np.float32), np.dtype(np.float64)}


def plain_table(array: NDArray[Any], n_features: int) -> Table | None:
    """Return the Table of an array that needs no conversion and breaks no rule; None of every other.

    ``read_table`` returns the same, and takes several times as long as a small forest takes for a row.
    """
    flags = array.flags
    if array.dtype not in _READ_IN_PLACE or array.ndim != 2 or not (flags.c_contiguous and flags.behaved):
        return None
    n_rows, n_columns = array.shape
    if n_columns != n_features or not 0 < n_rows <= MOST_ROWS:
        return None
    return Table.block(Cells(array.reshape(-1), 0, n_columns, 1, n_rows, n_columns))


def _check_names(names: NDArray[np.object_] | None, fitted: NDArray[np.object_] | None, caller: str) -> None:
    if fitted is None and names is not None:
        text = f"X has feature names, but {caller} was fitted without feature names"
        warnings.warn(text, UserWarning, stacklevel=6)
    elif fitted is not None and names is None:
        text = f"X does not have valid feature names, but {caller} was fitted with feature names"
        warnings.warn(text, UserWarning, stacklevel=6)
    elif fitted is not None and names is not None and not np.array_equal(names, fitted):
        text = "The feature names should match those that were passed during fit.\n"
        unseen, absent = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
        if unseen:
            text += "Feature names unseen at fit time:\n" + "".join(f"- {name}\n" for name in unseen[:5])
        if absent:
            text += "Feature names seen at fit time, yet now missing:\n" + "".join(f"- {name}\n" for name in absent[:5])
        if not unseen and not absent:
            text += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(text)


class _Reading(NamedTuple):
    """How a dense table is read."""

    caller: str
    categories: Categories
    fitting: bool

    def frame(self, X: Any, names: NDArray[np.object_] | None) -> tuple[NDArray[Any], Bits]:
        """Return a frame as an array of floats, and the bits of those that it has."""
        columns = frame_columns(X)
        if columns is None:
            return self.array(np.asarray(X), names)
        self._begin((len(X), len(columns)), names)
        whole = whole_frame(X)
        if whole is not None and self.categories.reads_all(whole):
            return whole, bits_of(whole.dtype)
        return floats_of(columns, len(X), self.categories, fitting=self.fitting)

    def array(self, X: Any, names: NDArray[np.object_] | None = None) -> tuple[NDArray[Any], Bits]:
        """Return anything that NumPy can read as a two-dimensional array of floats, and the bits of those it has."""
        array = _as_array(X)
        if array.ndim < 2 and array.dtype.names is None:
            shape = "scalar" if array.ndim == 0 else "1D"
            remedy = f"Reshape your data {_RESHAPE}"
            if array.dtype == object and array.ndim == 0:
                remedy = f"X is a {type(X).__name__}: pass an array, a frame, a sparse matrix or a list of rows"
            if isinstance(X, Mapping):
                remedy += "; of columns by name, pandas.DataFrame(X)"
            shown = brief(X) if array.ndim == 0 else np.array2string(array, threshold=10)
            raise ValueError(f"Expected 2D array, got {shape} array instead:\narray={shown}.\n{remedy}")
        if array.ndim > 2:
            raise ValueError(f"Found array with dim {array.ndim}, while dim <= 2 is required by {self.caller}.")
        is_spelled = array.dtype.kind in "UST" or not isinstance(X, np.ndarray)  # T: NumPy 2's StringDType
        if array.dtype.kind in "UST":
            array = array.astype(object)
        if array.dtype.names is not None:
            to_floats(array)
        self._begin(array.shape, names)
        if isinstance(array, np.ma.MaskedArray):
            return self._masked(array)
        if array.dtype != object and (array.dtype.kind not in "biuf" or self.categories.reads_all(array)):
            return to_floats(array, fitting=self.fitting), bits_of(array.dtype)
        return floats_of(array_columns(array, is_spelled=is_spelled), len(array), self.categories, fitting=self.fitting)

    def _masked(self, array: Any) -> tuple[NDArray[Any], Bits]:
        """Return a masked array with its masked cells missing."""
        data, mask = np.ma.getdata(array), np.ma.getmaskarray(array)
        if data.dtype != object and self.categories.reads_all(data):
            floats = to_floats(data, fitting=self.fitting).copy()
            floats[mask] = np.nan
            return floats, bits_of(data.dtype)
        objects = data.astype(object)
        objects[mask] = None
        return floats_of(array_columns(objects), len(objects), self.categories, fitting=self.fitting)

    def _begin(self, shape: tuple[int, ...], names: NDArray[np.object_] | None) -> None:
        _check_extent(shape, self.caller)
        self.categories.begin(shape[1], names)


def _as_array(X: Any) -> Any:
    """Return the array of anything; where NumPy would make text of the numbers in a list, they stay numbers."""
    if isinstance(X, np.ma.MaskedArray):
        return X
    try:
        array = np.asarray(X)
        return np.asarray(X, object) if array.dtype.kind in "US" and not isinstance(X, np.ndarray) else array
    except ValueError as error:
        raise ValueError(
            f"X cannot be read as a table: {error}; every row must have the same number of cells"
        ) from error


_RESHAPE = (
    "either using array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a "
    "single sample."
)


def _check_extent(shape: tuple[int, ...], caller: str) -> None:
    for extent, kind in zip(shape, ("sample", "feature"), strict=True):
        if extent < 1:
            raise ValueError(
                f"Found array with 0 {kind}(s) (shape={shape}) while a minimum of 1 is required by {caller}."
            )
    if shape[0] > MOST_ROWS:
        raise ValueError(f"X has {shape[0]} rows: at most {MOST_ROWS} fit into one table; train on a sample of them")


def _from_sparse(X: Any, caller: str, categories: Categories, *, fitting: bool) -> Table:
    """Return the Table of a SciPy matrix: by columns to fit, by rows to predict."""
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D sparse array instead. Reshape your data with X.reshape(1, -1)"
        )
    if X.dtype.kind == "c":
        to_floats(np.empty((0, 0), X.dtype))
    _check_extent(X.shape, caller)
    categories.begin(X.shape[1], None)
    if not categories.reads_all(np.zeros((1, X.shape[1]))):
        raise ValueError(
            f"X is sparse, and {caller} is to read some of its columns as categories: pass X.toarray(), or a frame"
        )
    sparse, bits = X.tocsc() if fitting else X.tocsr(), bits_of(X.dtype)
    if not sparse.has_canonical_format:
        # Entries stored twice add up, as SciPy means them; in a copy, because the matrix is the caller's.
        sparse = sparse.copy()
        sparse.sum_duplicates()
    if sparse.dtype not in (np.float32, np.float64):
        if fitting and sparse.dtype.kind in "iu" and sparse.nnz > 0:
            _check_distinct_columns(sparse)
        sparse = sparse.astype(np.float32 if sparse.dtype.itemsize <= 2 else np.float64)
    return Table(sparse.shape[0], sparse.shape[1], None, None, sparse, given_bits=bits)


def _check_distinct_columns(csc: Any) -> None:
    for j in range(csc.shape[1]):
        check_distinct(csc.data[csc.indptr[j] : csc.indptr[j + 1]], j)
