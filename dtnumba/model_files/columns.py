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
        with np.errstate(over="ignore", invalid="ignore"):
            if not _are_same(first.astype(np.float32), first):
                return wide
            whole, narrow = wide.astype(np.int64), wide.astype("<f4")
        if not _are_same(whole, wide):
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
    n_bytes = rows.dtype.itemsize * rows.shape[1]
    if rows.nbytes < 64 or n_bytes < 2:
        return None
    words = rows.view(f"u{n_bytes}" if n_bytes in {2, 4, 8} else f"V{n_bytes}").reshape(-1)
    sample = words[:: max(1, len(words) // _SAMPLE)]
    if 2 * len(np.unique(sample)) > len(sample):
        return None
    found = np.unique(words)
    if len(found) > _MOST_CODES:
        return None
    if n_bytes == 2:
        places = np.zeros(1 << 16, np.int64)
        places[found] = np.arange(len(found))
        codes = places[words]
    else:
        codes = np.searchsorted(found, words)
    table, codes = found.view(rows.dtype).reshape(-1, *column.shape[1:]), narrowed(codes)
    return (table, codes) if table.nbytes + codes.nbytes < column.nbytes else None
