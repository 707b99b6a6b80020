"""One array in the narrowest form that gives it back to the bit.

A column is stored as it is, in a narrower type that holds all of its numbers, or as codes into a table of the few
numbers that it has. Every form gives an item back by itself, so that a row can be read without the column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NARROW = tuple(np.dtype(name) for name in ("|u1", "<u2", "<u4", "|i1", "<i2", "<i4"))
_SAMPLE, _MOST_CODES = 2048, 1 << 16


def narrowed(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column in the narrowest type that holds each of its numbers to the bit."""
    if column.size == 0 or column.dtype.itemsize == 1:
        return column
    wide, whole = np.ascontiguousarray(column), column
    if column.dtype.kind == "f":
        first = wide.reshape(-1)[:_SAMPLE]
        if not _are_same(first.astype(np.float32), first):
            return wide
        with np.errstate(invalid="ignore"):
            whole = wide.astype(np.int64)
        if not _are_same(whole, wide):
            narrow = wide.astype("<f4")
            return narrow if column.dtype.itemsize == 8 and _are_same(narrow, wide) else wide
    low, high = int(whole.min()), int(whole.max())
    for dtype in _NARROW:
        limits = np.iinfo(dtype)
        if dtype.itemsize < column.dtype.itemsize and limits.min <= low and high <= limits.max:
            return whole.astype(dtype)
    return wide


def _are_same(narrow: NDArray[Any], wide: NDArray[Any]) -> bool:
    with np.errstate(invalid="ignore"):
        again = narrow.astype(wide.dtype)
    kind = f"u{wide.dtype.itemsize}"
    return bool((again.view(kind) == wide.view(kind)).all())


def coded(column: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return the rows that a column has, and which of them each row is; None where that would not be shorter."""
    rows = np.ascontiguousarray(column).reshape(len(column), -1)
    if rows.nbytes < 64 or rows.dtype.itemsize * rows.shape[1] < 2:
        return None
    key = rows.view(f"V{rows.dtype.itemsize * rows.shape[1]}").reshape(-1)
    words = rows.view("u8").reshape(-1) if rows.dtype.itemsize * rows.shape[1] == 8 else key
    if len(np.unique(words[:: max(1, len(words) // _SAMPLE)])) * 2 > min(len(words), _SAMPLE):
        return None
    _, first, codes = np.unique(words, return_index=True, return_inverse=True)
    if len(first) > _MOST_CODES:
        return None
    table, codes = column[first], narrowed(codes.reshape(-1).astype(np.int64))
    return (table, codes) if table.nbytes + codes.nbytes < column.nbytes else None
