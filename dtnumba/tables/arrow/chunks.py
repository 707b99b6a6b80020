"""A column of one batch: where its buffers lie, its numbers, its texts, and its values as Python objects."""

from __future__ import annotations

import ctypes
import datetime as dt
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.tables.arrow.formats import BOOLEAN, DECIMAL, DICTIONARY, MOMENT, NULLS, TEXT_OF, ArrowType
from dtnumba.tables.arrow.interface import Batch, view
from dtnumba.tables.floats import EXACT

if TYPE_CHECKING:
    from numpy.typing import NDArray


_POWERS = 22  # of ten that float64 holds
_INLINE = 12  # bytes of a text that a view itself holds
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  what NumPy counts from


class Chunk:
    """Rows [start, start + n) of an array of the interface.

    Parameters
    ----------
    kind : ArrowType
        Of the column.
    batch : Batch
        The array, and who holds it.
    start, n : int
        Rows, counted from the beginning of the array's buffers.
    parent_missing : array of bool, optional
        Rows that the struct around the column lacks.

    """

    def __init__(
        self, kind: ArrowType, batch: Batch, start: int, n: int, parent_missing: NDArray[np.bool_] | None = None
    ) -> None:
        self.kind, self.n = kind, n
        self._batch, self._start, self._parent_missing = batch, start, parent_missing

    def _address(self, k: int) -> int | None:
        """Return where a buffer begins."""
        array = self._batch.array
        return array.buffers[k] if k < array.n_buffers else None

    def _buffer(self, k: int, n: int, dtype: Any, first: int = 0) -> NDArray[Any]:
        """Return n values of a buffer."""
        address = self._address(k)
        size = np.dtype(dtype).itemsize
        return view(None if address is None else address + first * size, n, dtype, self._batch.held)

    def _bits(self, k: int) -> NDArray[np.bool_]:
        """Return the rows of a buffer of bits."""
        first, last = self._start // 8, (self._start + self.n + 7) // 8
        bits = np.unpackbits(self._buffer(k, last - first, np.uint8, first), bitorder="little")
        skipped = self._start - 8 * first
        return bits[skipped : skipped + self.n].view(bool)

    @cached_property
    def missing(self) -> NDArray[np.bool_] | None:
        """Which rows are null; None where none is."""
        if self.kind.values == NULLS:
            return np.ones(self.n, bool)
        missing = None
        if self._batch.array.null_count != 0 and self._address(0) is not None:
            missing = ~self._bits(0)
        if self._parent_missing is not None:
            missing = self._parent_missing if missing is None else missing | self._parent_missing
        return missing if missing is not None and missing.any() else None

    def stored(self) -> NDArray[Any]:
        """Return what a buffer of fixed width holds, where it lies; whatever stands where a row is null."""
        if self.kind.values == NULLS:
            return np.zeros(self.n)
        if self.kind.values == BOOLEAN:
            return self._bits(1)
        if self.kind.values == DECIMAL:
            width = int(self.kind.storage[1:])
            return _decimals(self._buffer(1, self.n * width, np.uint8, self._start * width), width)
        return self._buffer(1, self.n, self.kind.storage, self._start)

    def numbers(self) -> NDArray[Any]:
        """Return the rows as numbers, whatever stands where a row is null."""
        stored = self.stored()
        return scaled(stored, self.kind.scale) if self.kind.values == DECIMAL else stored

    def texts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the addresses at which each row's bytes begin and end; of a null row it is nothing."""
        kind, held = self.kind, self._batch.held
        if kind.storage == "fixed":
            width = int(kind.unit)
            starts = (self._address(1) or 0) + np.arange(self._start, self._start + self.n, dtype=np.int64) * width
            stops = starts + width
        elif kind.storage:
            offsets = self._buffer(1, self.n + 1, kind.storage, self._start).astype(np.int64) + (self._address(2) or 0)
            starts, stops = offsets[:-1], offsets[1:]
        else:
            # A view has four bytes of length, then the text itself, or its beginning, its buffer and its place there.
            address = self._address(1) or 0
            views = view(address + 16 * self._start, 4 * self.n, np.int32, held).reshape(-1, 4)
            starts = address + 16 * np.arange(self._start, self._start + self.n, dtype=np.int64) + 4
            is_far = views[:, 0] > _INLINE
            if self.missing is not None:
                is_far &= ~self.missing
            if is_far.any():
                addresses = [self._address(k) or 0 for k in range(2, self._batch.array.n_buffers - 1)]
                starts[is_far] = np.array(addresses, np.int64)[views[is_far, 2]] + views[is_far, 3]
            stops = starts + views[:, 0]
        if self.missing is not None and self.n:
            somewhere = starts[np.argmin(self.missing)]
            starts, stops = (np.where(self.missing, somewhere, bound) for bound in (starts, stops))
        return starts, stops

    @cached_property
    def dictionary(self) -> Chunk:
        """The values of a dictionary."""
        assert self.kind.values_type is not None
        array = self._batch.array.dictionary.contents
        return Chunk(self.kind.values_type, Batch(array, self._batch.held), array.offset, array.length)

    def identity(self) -> tuple[int | None, ...]:
        """Return what tells this array's memory from others."""
        return self._start, self.n, *(self._address(k) for k in range(self._batch.array.n_buffers))

    def objects(self, rows: Any) -> list[Any]:
        """Return rows, none of them null, as Python objects."""
        kind = self.kind
        if kind.values == DICTIONARY:
            return self.dictionary.objects_or_none(self.stored()[rows].astype(np.int64))
        if kind.values == TEXT_OF:
            starts, stops = self.texts()
            return decoded(starts[rows], stops[rows], kind)
        if kind.values == DECIMAL:
            return [Decimal(int(value)).scaleb(-kind.scale) for value in self.stored()[rows].tolist()]
        if kind.values == MOMENT:
            return moments(self.stored()[rows], kind)
        found: list[Any] = self.stored()[rows].tolist()
        return found

    def objects_or_none(self, rows: NDArray[np.int64]) -> list[Any]:
        """Return rows as Python objects, None where one is null."""
        if self.missing is None:
            return self.objects(rows)
        found: list[Any] = [None] * len(rows)
        there = np.flatnonzero(~self.missing[rows])
        for at, value in zip(there.tolist(), self.objects(rows[there]), strict=True):
            found[at] = value
        return found


def decoded(starts: NDArray[np.int64], stops: NDArray[np.int64], kind: ArrowType) -> list[Any]:
    """Return texts at addresses as Python's, or as bytes."""
    pieces = list(map(ctypes.string_at, starts.tolist(), (stops - starts).tolist()))
    return pieces if kind.detail else [piece.decode("utf-8", "surrogateescape") for piece in pieces]


def _decimals(raw: NDArray[np.uint8], width: int) -> NDArray[Any]:
    """Return unscaled whole numbers: int64 where all fit into it, else Python's."""
    if width <= 8:
        return raw.view(f"<i{width}").astype(np.int64)
    words = raw.view("<i8").reshape(-1, width // 8)
    low = words[:, 0]
    if (words[:, 1:] == (low >> 63)[:, None]).all():
        return low
    data = raw.tobytes()
    big = [int.from_bytes(data[at : at + width], "little", signed=True) for at in range(0, len(data), width)]
    return np.array(big, object)


def scaled(unscaled: NDArray[Any], scale: int) -> NDArray[np.float64]:
    """Return unscaled numbers by 10**scale, each the nearest float64."""
    if unscaled.dtype != object and 0 <= scale <= _POWERS and (not len(unscaled) or np.abs(unscaled).max() < EXACT):
        return unscaled / 10.0**scale
    divisor, factor = 10 ** max(scale, 0), 10 ** max(-scale, 0)
    return np.array([int(value) * factor / divisor for value in unscaled.tolist()])


def moments(stored: NDArray[Any], kind: ArrowType) -> list[Any]:
    """Return dates, times, timestamps or durations as Python's; those of nanoseconds, where they must, as NumPy's."""
    spans = stored.astype(np.int64).astype(f"m8[{kind.unit}]")
    if kind.unit == "ns":
        if (stored % 1000).any():
            return list(spans if kind.detail in {"duration", "time"} else spans.astype(np.int64).astype("M8[ns]"))
        spans = spans.astype("m8[us]")
    if kind.detail == "date":
        days: list[dt.date] = spans.astype("m8[D]").astype(np.int64).astype("M8[D]").tolist()
        return days
    pieces: list[dt.timedelta] = spans.astype("m8[us]").tolist()
    if kind.detail == "duration":
        return pieces
    if kind.detail == "time":
        return [(_EPOCH + piece).time() for piece in pieces]
    if not kind.zone:
        return [_EPOCH + piece for piece in pieces]
    return [_EPOCH.replace(tzinfo=dt.timezone.utc) + piece for piece in pieces]
