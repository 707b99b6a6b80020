"""One column of a caller's table, as numbers or as categories: what all kinds of columns answer, and those of NumPy.

A column has a name, a dtype (for messages), a ``kind``: what it is if nobody says otherwise; ``is_narrow``: whether
float32 holds its numbers; ``bits``: of its floats, and 64 where it has other numbers; and

* ``first()``: its first value that is not missing, None where there is none;
* ``numbers(fitting)``: its rows as floats;
* ``coded()``: its rows as categories, whatever its kind.

One that lies in several pieces may ``write(floats, fitting)`` its rows, so that they are copied once.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dtnumba.tables.category_codes import TEXT, CodedColumn, coded_numbers, coded_objects, is_missing, is_text, mixed
from dtnumba.tables.floats import Bits, bits_of, objects_to_floats, refused, says_number, text_refused, to_floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.categories import Categories


NUMBER, CATEGORY, SPELLED_NUMBER, OTHER = "number", "category", "spelled number", "other"


class Column(Protocol):
    """Interface of a column."""

    name: Any

    @property
    def dtype(self) -> Any:
        """Its dtype, for messages."""

    @property
    def kind(self) -> str:
        """NUMBER, CATEGORY, SPELLED_NUMBER (text that says numbers, in an array of text), OTHER (dates, lists, ...)."""

    @property
    def is_narrow(self) -> bool:
        """Whether float32 holds its numbers."""

    @property
    def bits(self) -> int:
        """Of its floats: 16, 32 or 64."""

    def first(self) -> Any:
        """Return its first value that is not missing, None where there is none."""

    def numbers(self, *, fitting: bool) -> NDArray[Any]:
        """Return its rows as floats."""

    def coded(self) -> CodedColumn:
        """Return its rows as categories."""


class ArrayColumn:
    """A column of a NumPy array of numbers."""

    kind = NUMBER

    def __init__(self, array: NDArray[Any], name: object) -> None:
        self.array = array
        self.name = name
        self.dtype = array.dtype
        self.is_narrow = array.dtype.itemsize <= (4 if array.dtype.kind == "f" else 2)
        self.bits = bits_of(array.dtype)

    def first(self) -> Any:
        """Return its first value that is not missing."""
        array = self.array
        at = int(np.argmin(np.isnan(array))) if array.dtype.kind == "f" and array[0] != array[0] else 0
        return None if array[at] != array[at] else array[at]

    def numbers(self, *, fitting: bool) -> NDArray[Any]:
        """Return its rows as floats."""
        return to_floats(self.array, column=self.name, fitting=fitting)

    def coded(self) -> CodedColumn:
        """Return its rows as categories."""
        return coded_numbers(self.array)


class ObjectColumn:
    """A column of Python objects: a category where it holds text.

    ``is_spelled`` says that NumPy may have turned numbers into text, as it does with ``np.array([["red", 1.5]])``, or
    that nobody has turned text into numbers, as ``csv.reader`` does not.
    """

    dtype = "object"
    is_narrow = False
    bits = 64

    def __init__(self, objects: list[Any], name: object, *, is_spelled: bool = False) -> None:
        self.objects = objects
        self.name = name
        self._is_spelled = is_spelled

    @cached_property
    def kind(self) -> str:
        """CATEGORY where there is any text, and then there must be nothing else."""
        kinds = set(map(type, self.objects))
        if not any(issubclass(kind, TEXT) for kind in kinds):
            return NUMBER
        text = next(value for value in self.objects if is_text(value))
        one_kind = str if isinstance(text, str) else bytes
        if any(not issubclass(kind, one_kind) for kind in kinds):
            others = (value for value in self.objects if not isinstance(value, one_kind) and not is_missing(value))
            other = next(others, None)
            if other is not None:
                raise mixed(self.name, text, other)
        is_number = self._is_spelled and all(says_number(text) for text in self.objects if is_text(text))
        return SPELLED_NUMBER if is_number else CATEGORY

    def first(self) -> Any:
        """Return its first value that is not missing."""
        return next((value for value in self.objects if not is_missing(value)), None)

    def numbers(self, *, fitting: bool) -> NDArray[Any]:
        """Return its rows as floats."""
        return objects_to_floats(self.objects, self.name, fitting=fitting)

    def coded(self) -> CodedColumn:
        """Return its rows as categories."""
        try:
            return coded_objects(self.objects)
        except TypeError as error:
            raise TypeError(f"column {self.name!r} cannot be a category: {error}") from error


class ColumnTable:
    """A table given as its columns.

    Parameters
    ----------
    names : list of str or None
        Of the columns; None: they have none.
    columns : list of Column
        All of the same rows.
    n_rows : int
        How many those are.
    whole : array, optional
        The same numbers as one array, where all columns are numbers.

    """

    def __init__(
        self, names: list[str] | None, columns: list[Column], n_rows: int, whole: NDArray[Any] | None = None
    ) -> None:
        self.column_names: list[str] | list[int] = list(range(len(columns))) if names is None else names
        self.columns = columns
        self.shape = (n_rows, len(columns))
        self._whole = whole

    def __len__(self) -> int:
        return self.shape[0]

    def whole(self) -> NDArray[Any] | None:
        """Return the cells where they lie, if they are floats that lie like an array; None of others."""
        return self._whole


def refusal(column: Column, way: str = "") -> ValueError:
    """Return the error about a column that is to be numbers and is not."""
    value = column.first()
    if isinstance(column, ObjectColumn) and is_text(value):
        return text_refused(value, column.name, way)
    return refused(column.dtype, value, column.name, way and f"{way} if it is a category")


def array_columns(array: NDArray[Any], *, is_spelled: bool = False) -> list[Column]:
    """Return the columns of a 2-D array of numbers or objects."""
    if array.dtype == object:
        return [ObjectColumn(array[:, j].tolist(), j, is_spelled=is_spelled) for j in range(array.shape[1])]
    return [ArrayColumn(array[:, j], j) for j in range(array.shape[1])]


def floats_of(
    columns: list[Column], n_rows: int, categories: Categories, *, fitting: bool
) -> tuple[NDArray[Any], Bits]:
    """Return columns side by side, those of categories as levels: float32 where it holds every one, else float64.

    With them, the bits of the floats that each column has where it comes from.
    """
    taken = [categories.takes(j, column) for j, column in enumerate(columns)]
    is_narrow = all(
        n_rows <= _FLOAT32_HOLDS if is_category else column.is_narrow
        for is_category, column in zip(taken, columns, strict=True)
    )
    floats = np.empty((n_rows, len(columns)), np.float32 if is_narrow else np.float64, order="F")
    for j, (is_category, column) in enumerate(zip(taken, columns, strict=True)):
        if is_category:
            floats[:, j] = categories.numbers(j, column)
        elif hasattr(column, "write"):
            column.write(floats[:, j], fitting=fitting)
        else:
            floats[:, j] = column.numbers(fitting=fitting)
    bits = tuple(64 if is_category else column.bits for is_category, column in zip(taken, columns, strict=True))
    return floats, bits[0] if len(set(bits)) == 1 else bits


_FLOAT32_HOLDS = 1 << 24
