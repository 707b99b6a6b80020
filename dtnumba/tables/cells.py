"""The numbers of a table as kernels read them: one flat array and its steps, without a copy where possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Cells(NamedTuple):
    """Where the numbers of a dense table lie: value (i, j) is ``flat[offset + i * row_step + j * column_step]``.

    One form for C, Fortran, strided and read-only arrays, so that kernels have one signature a dtype.
    """

    flat: NDArray[Any]
    offset: int
    row_step: int
    column_step: int
    n_rows: int
    n_columns: int


class _Alias:
    """Exposes memory as a writeable flat array without touching the flags of the array it belongs to.

    Kernels only read it. A read-only array would be a second type, and a second compilation, of every kernel.
    """

    def __init__(self, address: int, count: int, owner: NDArray[Any]) -> None:
        self.__array_interface__ = {
            "version": 3,
            "shape": (count,),
            "typestr": owner.dtype.str,
            "data": (address, False),
        }
        self.owner = owner


def cells_of(array: NDArray[Any]) -> Cells:
    """Describe a 2-D float array of any strides as Cells, without copying."""
    n_rows, n_columns = array.shape
    if array.flags.c_contiguous and array.flags.writeable:
        return Cells(array.reshape(-1), 0, n_columns, 1, n_rows, n_columns)
    size = array.itemsize
    row_step = array.strides[0] // size if n_rows > 1 else 0
    column_step = array.strides[1] // size if n_columns > 1 else 0
    reach_rows, reach_columns = row_step * (n_rows - 1), column_step * (n_columns - 1)
    below = min(reach_rows, 0) + min(reach_columns, 0)
    above = max(reach_rows, 0) + max(reach_columns, 0)
    address = array.__array_interface__["data"][0] + below * size
    flat = np.asarray(_Alias(address, above - below + 1, array))
    return Cells(flat, -below, row_step, column_step, n_rows, n_columns)


def values_of(cells: Cells) -> NDArray[Any]:
    """Return the rows and columns of cells, where they lie, read-only."""
    steps = np.array([cells.row_step, cells.column_step]) * cells.flat.itemsize
    return as_strided(cells.flat[cells.offset :], (cells.n_rows, cells.n_columns), steps.tolist(), writeable=False)
