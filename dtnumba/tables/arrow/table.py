"""A table that another library holds, or makes batch by batch: its columns, as those of frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.tables.arrow.chunks import Chunk, decoded, moments, scaled
from dtnumba.tables.arrow.formats import (
    BOOLEAN,
    DECIMAL,
    DICTIONARY,
    FLOAT,
    INTEGER,
    MOMENT,
    NESTED,
    NULLS,
    TEXT_OF,
    ArrowType,
    type_of,
)
from dtnumba.tables.arrow.interface import Batch, Producer, view
from dtnumba.tables.arrow.number_texts import number_texts
from dtnumba.tables.category_codes import CodedColumn, as_values, coded_dictionary, coded_numbers, coded_objects
from dtnumba.tables.columns import NUMBER, ColumnTable, refusal
from dtnumba.tables.floats import EXACT, check_distinct

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


UNITS_OF_A_DAY = {"D": 1, "s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}
_SURE = 10**15  # two decimals of no more digits are two numbers in float64, too


def is_arrow(X: Any) -> bool:
    """Tell whether X gives its rows through Arrow's C interface."""
    return hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")


class ArrowTable(ColumnTable):
    """Rows of named columns: all of a producer, or one of its batches."""

    columns: list[ArrowColumn]  # type: ignore[assignment]

    def __init__(self, names: list[str], types: list[ArrowType], batches: list[Batch]) -> None:
        columns = [ArrowColumn(name, kind) for name, kind in zip(names, types, strict=True)]
        for batch in batches:
            _add_rows(columns, batch)
        super().__init__(names, list(columns), sum(int(batch.array.length) for batch in batches))

    def whole(self) -> NDArray[Any] | None:
        """Return the cells where they lie, if they are floats of one type that lie like an array; None of others."""
        parts = [part for part in (column.in_place() for column in self.columns) if part is not None]
        if not parts or len(parts) < len(self.columns) or any(part.dtype != parts[0].dtype for part in parts):
            return None
        first = parts[0]
        addresses = np.array([part.__array_interface__["data"][0] for part in parts], np.int64)
        steps = np.diff(addresses)
        step = int(steps[0]) if len(steps) else 0
        if (steps != step).any() or step % first.itemsize or addresses[0] % first.itemsize:
            return None
        return np.asarray(_Block(first, step, self.shape, parts))


class _Block:
    """Columns that lie equally far apart, as one array."""

    def __init__(self, first: NDArray[Any], step: int, shape: tuple[int, int], parts: list[Any]) -> None:
        self.__array_interface__ = first.__array_interface__ | {"shape": shape, "strides": (first.itemsize, step)}
        self.parts = parts


def read_arrow(X: Any) -> ArrowTable | None:
    """Return all rows that X gives; None where it is one column, and no table."""
    source = Producer(X)
    known = _columns_of(source)
    return None if known is None else ArrowTable(*known, list(source.batches()))


def arrow_batches(X: Any) -> Iterator[ArrowTable]:
    """Yield the batches that X gives, one in memory at a time."""
    source = Producer(X)
    known = _columns_of(source)
    if known is None:
        raise TypeError(f"a {type(X).__name__} is one column: give batches of all columns")
    for batch in source.batches():
        yield ArrowTable(*known, [batch])
        del batch


def _columns_of(source: Producer) -> tuple[list[str], list[ArrowType]] | None:
    schema = source.schema
    if schema.format != b"+s":
        return None
    children = [schema.children[j].contents for j in range(schema.n_children)]
    return [(child.name or b"").decode() for child in children], [type_of(child) for child in children]


def _add_rows(columns: list[ArrowColumn], batch: Batch) -> None:
    """Put the rows of a batch behind those of the columns."""
    array = batch.array
    if not array.length:
        return
    outer = Chunk(ArrowType("struct", NESTED), batch, array.offset, array.length)
    for j, column in enumerate(columns):
        child = array.children[j].contents
        start = child.offset + array.offset
        column.chunks.append(Chunk(column.type, Batch(child, batch.held), start, array.length, outer.missing))


class ArrowColumn:
    """A column of Arrow's: numbers where they lie, categories by dictionaries or texts."""

    def __init__(self, name: str, kind: ArrowType) -> None:
        self.name = name
        self.type = kind
        self.dtype = kind.spelled
        self.kind, self.is_narrow, self.bits = kind.kind, kind.is_narrow, kind.bits
        self.chunks: list[Chunk] = []

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return sum(chunk.n for chunk in self.chunks)

    def first(self) -> Any:
        """Return its first value that is not missing."""
        for chunk in self.chunks:
            there = np.zeros(1, np.int64) if chunk.missing is None else np.flatnonzero(~chunk.missing)
            values = there[:1] if self.type.values != DICTIONARY else there
            if len(values):
                if self.type.values == NESTED:
                    raise self._nested()
                found = next((value for value in chunk.objects(values) if value is not None), None)
                if found is not None:
                    return found
        return None

    def _nested(self) -> ValueError:
        return ValueError(
            f"column {self.name!r} has dtype {self.dtype}, of which a cell is no single value: leave it out, or make a "
            "column of each part"
        )

    def in_place(self) -> NDArray[Any] | None:
        """Return floats that are all there and lie in one piece; None of others."""
        if self.type.values != FLOAT or self.bits == 16 or len(self.chunks) != 1 or self.chunks[0].missing is not None:
            return None
        return self.chunks[0].stored()

    def write(self, floats: NDArray[Any], *, fitting: bool) -> None:
        """Write its rows into an array of floats, each chunk from where it lies."""
        if self.kind != NUMBER:
            if self.first() is not None:
                raise refusal(self)
            floats[...] = np.nan
            return
        if fitting and self.type.values == INTEGER and self.type.storage[1] == "8":
            self._check_distinct()
        at = 0
        for chunk in self.chunks:
            rows = floats[at : at + chunk.n]
            rows[...] = chunk.numbers()
            if chunk.missing is not None:
                rows[chunk.missing] = np.nan
            at += chunk.n

    def numbers(self, *, fitting: bool) -> NDArray[Any]:
        """Return its rows as floats."""
        floats = np.empty(self.n_rows)
        self.write(floats, fitting=fitting)
        return floats

    def _check_distinct(self) -> None:
        parts = [chunk.stored() for chunk in self.chunks]
        if any(len(part) and not -EXACT <= part.min() <= part.max() <= EXACT for part in parts):
            check_distinct(self._there(), self.name)

    def _there(self) -> NDArray[Any]:
        """Return what is stored of the rows that have a value."""
        parts = [chunk.stored() if chunk.missing is None else chunk.stored()[~chunk.missing] for chunk in self.chunks]
        return np.concatenate(parts) if parts else np.empty(0)

    def days(self) -> NDArray[np.float64]:
        """Return the rows of dates or timestamps as days since 1970."""
        days, at = np.empty(self.n_rows), 0
        for chunk in self.chunks:
            rows = days[at : at + chunk.n]
            whole, rest = np.divmod(chunk.stored().astype(np.int64), UNITS_OF_A_DAY[self.type.unit])
            rows[...] = whole + rest / UNITS_OF_A_DAY[self.type.unit]
            if chunk.missing is not None:
                rows[chunk.missing] = np.nan
            at += chunk.n
        return days

    def beyond(self) -> Iterator[tuple[float, int]]:
        """Yield whole numbers and decimals that may be no float64: as float64, and as they are stored."""
        if self.type.values == DECIMAL or (self.type.values == INTEGER and self.type.storage[1] == "8"):
            limit = _SURE if self.type.values == DECIMAL else EXACT
            for chunk in self.chunks:
                stored = chunk.stored() if chunk.missing is None else chunk.stored()[~chunk.missing]
                large = np.unique(stored[(stored >= limit) | (stored <= -limit)])
                yield from zip(scaled(large, self.type.scale).tolist(), large.tolist(), strict=True)

    def to_list(self) -> list[Any]:
        """Return its rows as Python objects, None where one is null."""
        return [value for chunk in self.chunks for value in chunk.objects_or_none(np.arange(chunk.n))]

    def coded(self) -> CodedColumn:
        """Return its rows as categories; a dictionary's in its order."""
        values = self.type.values
        if values == NESTED:
            self.first()
        if values == DICTIONARY:
            return self._coded_dictionary()
        if values == TEXT_OF:
            return self._coded_texts()
        if values in {FLOAT, NULLS}:
            return coded_numbers(self.numbers(fitting=False))
        if values in {INTEGER, BOOLEAN, MOMENT}:
            return self._coded_numbers()
        return coded_objects(self.to_list())

    def _coded_numbers(self) -> CodedColumn:
        stored = np.concatenate([chunk.stored() for chunk in self.chunks] or [np.empty(0, np.int64)])
        coded = coded_numbers(stored, self._missing())
        if self.type.values != MOMENT:
            return coded
        objects = moments(coded.values, self.type)
        return coded._replace(values=as_values(objects, len(objects)))

    def _coded_dictionary(self) -> CodedColumn:
        """Return codes in one dictionary, whose entries stand in the order in which the chunks' have them."""
        entries: list[Any] = []
        first: dict[Any, int] = {}  # where the entries of a dictionary begin; chunks mostly share one
        codes = []
        for chunk in self.chunks:
            dictionary = chunk.dictionary
            key = dictionary.identity()
            if key not in first:
                first[key] = len(entries)
                entries += dictionary.objects_or_none(np.arange(dictionary.n))
            own = chunk.stored().astype(np.int64) + first[key]
            if chunk.missing is not None:
                own[chunk.missing] = -1
            codes.append(own)
        together = np.concatenate(codes) if codes else np.empty(0, np.int64)
        return coded_dictionary(together, entries, has_order=True, is_ordered=self.type.is_ordered)

    def _coded_texts(self) -> CodedColumn:
        """Return codes of texts in the order in which they come: those of all chunks lie in one long memory."""
        if not self.chunks:
            return CodedColumn(np.empty(0, np.int64), np.empty(0, object))
        bounds = [chunk.texts() for chunk in self.chunks]
        starts, stops = (np.concatenate(parts) for parts in zip(*bounds, strict=True))
        base = int(starts.min())
        memory = view(base, int(stops.max()) - base, np.uint8, self.chunks)
        codes, first = number_texts(memory, starts - base, stops - base)
        missing = self._missing()
        if missing is not None:
            codes[missing] = -1
        found = decoded(starts[first], stops[first], self.type)
        return CodedColumn(codes, as_values(found, len(found)))

    def _missing(self) -> NDArray[np.bool_] | None:
        """Which rows are null; None where none is."""
        if all(chunk.missing is None for chunk in self.chunks):
            return None
        parts = [np.zeros(chunk.n, bool) if chunk.missing is None else chunk.missing for chunk in self.chunks]
        return np.concatenate(parts)
