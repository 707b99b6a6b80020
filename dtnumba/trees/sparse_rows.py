"""Rows of numbers of which nearly all are zero: the class shares of nodes where classes are very many.

A leaf of a fully grown tree has a class or two of a thousand. ``SparseValues`` holds those, and reads like the array of
all of them: NumPy is given that array whenever it asks. A selection of rows is SparseValues again, one row is an array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Cells of a block of rows that is written out.
_BLOCK_CELLS = 1 << 22


class SparseValues(NDArrayOperatorsMixin):
    """Rows of which the numbers that are not zero are kept.

    Parameters
    ----------
    start : array of shape (rows + 1,)
        Where the numbers of each row begin.
    column : array of int
        Columns of the numbers, ascending within a row.
    number : array of float
        The numbers.
    width : int
        Columns of a row.

    """

    ndim, dtype = 2, np.dtype(np.float64)

    def __init__(
        self, start: NDArray[np.int64], column: NDArray[np.int32], number: NDArray[np.float64], width: int
    ) -> None:
        self.start, self.column, self.number, self.width = start, column, number, width

    @classmethod
    def of(cls, rows: Any) -> SparseValues:
        """Return an array as SparseValues."""
        parts = []
        for block in _blocks(len(rows), rows.shape[1]):
            own = np.asarray(rows[block])
            row, column = np.nonzero(own)
            parts.append((np.bincount(row, minlength=len(own)), column.astype(np.int32), own[row, column]))
        counts, column, number = (np.concatenate([part[k] for part in parts]) for k in range(3))
        return cls(_starts(counts), column.astype(np.int32, copy=False), number, rows.shape[1])

    @classmethod
    def joined(cls, parts: Sequence[SparseValues]) -> SparseValues:
        """Return the rows of several one after the other."""
        counts = np.concatenate([np.diff(part.start) for part in parts])
        column, number = (np.concatenate([getattr(part, name) for part in parts]) for name in ("column", "number"))
        return cls(_starts(counts), column, number, parts[0].width)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self), self.width

    @property
    def nbytes(self) -> int:
        """Memory of the numbers, and of where they stand."""
        return int(self.start.nbytes + self.column.nbytes + self.number.nbytes)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.start) - 1

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the numbers alone."""
        return SparseValues, (self.start, self.column, self.number, self.width)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the array of all numbers."""
        if copy is False:
            msg = "SparseValues have no array that is not a copy"
            raise ValueError(msg)
        rows = np.zeros(self.shape, dtype or self.dtype)
        rows[np.repeat(np.arange(len(self)), np.diff(self.start)), self.column] = self.number
        return rows

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Compute with the array of all numbers."""
        return getattr(ufunc, method)(*(np.asarray(x) if isinstance(x, SparseValues) else x for x in inputs), **options)

    def __getattr__(self, name: str) -> Any:
        """Return what the array of all numbers has under a name."""
        if name.startswith("_") or name in {"start", "column", "number", "width"}:
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def __getitem__(self, key: Any) -> Any:
        """Return a row as an array, rows as SparseValues, and anything else as of the array of all numbers."""
        if isinstance(key, tuple):
            if len(key) == 2 and isinstance(key[1], (slice, int, np.integer)):
                return np.asarray(self[key[0]])[..., key[1]]
            return np.asarray(self)[key]
        if isinstance(key, (int, np.integer)):
            return np.asarray(self[np.array([key])])[0]
        rows = np.arange(len(self))[key]
        counts = np.diff(self.start)[rows]
        starts = _starts(counts)
        at = np.repeat(self.start[rows] - starts[:-1], counts) + np.arange(starts[-1])
        return SparseValues(starts, self.column[at], self.number[at], self.width)

    def spread(self, where: NDArray[np.bool_]) -> SparseValues:
        """Return these rows where a mask says so, and empty ones elsewhere."""
        counts = np.zeros(len(where), np.int64)
        counts[where] = np.diff(self.start)
        return SparseValues(_starts(counts), self.column, self.number, self.width)

    def take(self, rows: Any, axis: int = 0) -> NDArray[np.float64]:
        """Return an array of some rows."""
        return np.asarray(self[rows]) if axis == 0 else np.asarray(self).take(rows, axis)

    def argmax(self, axis: int = 1) -> NDArray[np.int64]:
        """Return the column of the largest number of each row, the first of equals; some number is not below zero."""
        if axis % 2 == 0:
            return np.asarray(np.asarray(self).argmax(axis))
        parts = [np.asarray(self[block]).argmax(axis=1) for block in _blocks(len(self), self.width)]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _starts(counts: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _blocks(n: int, width: int) -> list[slice]:
    step = max(1, _BLOCK_CELLS // max(width, 1))
    return [slice(start, start + step) for start in range(0, max(n, 1), step)]
