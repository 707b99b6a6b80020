"""Categories as numbers: the levels of a column, and the number of each row's level.

Libraries give a column as codes of its distinct values; what is done here is done once a value, not once a row.

Levels stand in the order of the column's dtype where it has one, else sorted. They may be of any kind; text is never
equal to a number.
"""

from __future__ import annotations

import copy
import reprlib
import weakref
from collections import defaultdict
from itertools import count
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


TEXT = (str, bytes)
_MISSING = {"NoneType", "NAType", "NaTType"}
_NUMBERS = "biuf"
_SPARSEST = 8  # integers of a range up to so many times their number are counted in a table of that range


class CodedColumn(NamedTuple):
    """A column as codes: row i holds values[codes[i]], and nothing where its code is -1 or len(values)."""

    codes: NDArray[Any]  # (n,) of any integer dtype
    values: NDArray[Any]  # (k,) different numbers or Python objects; a missing one among them is missing
    has_order: bool = False  # the values stand in the order of their dtype
    is_ordered: bool = False  # and that order means more and less


def is_missing(value: Any) -> bool:
    """Tell whether a Python object stands for no value."""
    if isinstance(value, (float, np.floating)) or type(value).__name__ == "Decimal":
        return bool(value != value)
    return type(value).__name__ in _MISSING


def as_values(objects: Iterable[Any], n: int) -> NDArray[Any]:
    """Return Python objects as an array: of a dtype of numbers where all are of one kind, else of objects."""
    values = np.fromiter(objects, dtype=object, count=n)
    kinds = set(map(type, values))
    if len(kinds) != 1 or not kinds <= {bool, int, float}:
        return values
    numbers = np.array(values.tolist())
    return numbers if numbers.dtype.kind in _NUMBERS else values  # integers beyond 64 bits stay what they are


def coded_objects(objects: list[Any]) -> CodedColumn:
    """Return a column of hashable objects in the order of their first rows."""
    number: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(number.__getitem__, objects), np.int64, len(objects))
    return CodedColumn(codes, as_values(number, len(number)))


def coded_dictionary(
    codes: NDArray[Any], values: list[Any], *, has_order: bool, is_ordered: bool = False
) -> CodedColumn:
    """Return codes of the entries of a list that may hold one value twice."""
    number: defaultdict[Any, int] = defaultdict(count().__next__)
    entries = [number[value] for value in values]
    if len(number) < len(values):
        codes = np.array([*entries, -1])[codes]
    return CodedColumn(codes, as_values(number, len(number)), has_order, is_ordered)


def coded_numbers(numbers: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> CodedColumn:
    """Return a column of numbers with its values ascending; NaN is missing."""
    if numbers.dtype.kind == "f":
        is_nan = np.isnan(numbers)
        missing = is_nan if missing is None else missing | is_nan
    is_there = None if missing is None or not missing.any() else ~missing
    given = numbers if is_there is None else numbers[is_there]
    codes, values = _counted(given) or _sorted(given)
    if is_there is not None:
        codes, given_codes = np.full(len(numbers), -1, np.int64), codes
        codes[is_there] = given_codes
    return CodedColumn(codes, values)


def _counted(numbers: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return codes and values of whole numbers in a small range; None of others."""
    kind = numbers.dtype.kind
    if kind == "b":
        return numbers.view(np.uint8), np.array([False, True])
    if not len(numbers):
        return None
    low, high = numbers.min(), numbers.max()
    if max(-float(low), float(high)) >= 2**53 or int(high) - int(low) > _SPARSEST * len(numbers):
        return None
    whole = numbers.astype(np.int64)
    if kind == "f" and (whole != numbers).any():
        return None
    values = np.arange(int(low), int(high) + 1)
    return whole - int(low), values.astype(np.float64) if kind == "f" else values


def _sorted(numbers: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    values, codes = np.unique(numbers, return_inverse=True)
    return codes.reshape(-1), values.astype(np.float64) if values.dtype.kind == "f" else values


def learn(coded: CodedColumn, name: object, *, declared: bool = False) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the levels that occur in a column, or all that its dtype declares, and each row's."""
    at = present(coded, declared=declared)
    if not coded.has_order:
        at = at[sorting(coded.values[at], name)]
    levels = coded.values[at]
    levels.flags.writeable = False
    return levels, numbered(coded, at, np.arange(len(at)))


def encode(coded: CodedColumn, levels: NDArray[Any], name: object) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return each row's level, NaN where it is none of those given; and the values that are none of them."""
    at = present(coded)
    values = coded.values[at]
    places = _places(values, levels)
    is_known = places >= 0
    if len(levels) and not is_known.all():
        _refuse_other_kinds(values[~is_known], levels, name)
    return numbered(coded, at[is_known], places[is_known]), values[~is_known]


def _refuse_other_kinds(unknown: NDArray[Any], levels: NDArray[Any], name: object) -> None:
    """Raise ValueError where values that are no level are numbers and all levels text, or the reverse."""
    was_text = is_text(levels[0])
    others = [value for value in unknown.tolist() if is_text(value) != was_text]
    if others and all(is_text(level) == was_text for level in levels.tolist()):
        raise changed(name, others[0], f"in fit it held {shown(levels[0])}, which is {kind_of(levels[0])}")


def present(coded: CodedColumn, *, declared: bool = False) -> NDArray[np.int64]:
    """Return which values occur, or are declared, and are not missing."""
    occurs = np.full(len(coded.values) + 1, declared and coded.has_order)
    occurs[coded.codes] = True
    at = np.flatnonzero(occurs[:-1])
    values = coded.values[at]
    if values.dtype == object:
        return at[[not is_missing(value) for value in values]] if len(at) else at
    return at[~np.isnan(values)] if values.dtype.kind == "f" else at


def numbered(coded: CodedColumn, at: NDArray[Any], numbers: NDArray[Any]) -> NDArray[Any]:
    """Return for each row the number of its value, NaN where it has none; float32 where that holds all of them."""
    dtype = np.float32 if len(at) == 0 or numbers.max() < 1 << 24 else np.float64
    table = np.full(len(coded.values) + 1, np.nan, dtype)
    table[at] = numbers
    return np.asarray(table[coded.codes])


def sorting(values: NDArray[Any], name: object) -> NDArray[np.int64]:
    """Return the order that sorts values; those of several kinds have none."""
    if values.dtype != object:
        return np.argsort(values, kind="stable")
    objects = values.tolist()
    try:
        return np.array(sorted(range(len(objects)), key=objects.__getitem__), np.int64)
    except TypeError:
        one = objects[0]
        other = next((value for value in objects if type(value) is not type(one)), objects[-1])
        raise mixed(name, one, other) from None


def _places(values: NDArray[Any], levels: NDArray[Any]) -> NDArray[np.int64]:
    """Return which level each value is, -1 for none."""
    same_kind = values.dtype.kind == levels.dtype.kind and values.dtype.kind in _NUMBERS
    if same_kind and len(levels) and bool((levels[1:] > levels[:-1]).all()):
        places = np.minimum(np.searchsorted(levels, values), len(levels) - 1)
        return np.where(levels[places] == values, places, -1)
    number = _numbers_of(levels)
    return np.array([number.get(value, -1) for value in values.tolist()], np.int64)


# One row is encoded in microseconds, and 100k levels are put into a dict in 10 ms: each array of many levels is, once.
_FEW = 256
_made: dict[int, tuple[weakref.ref[NDArray[Any]], dict[Any, int]]] = {}


def _numbers_of(levels: NDArray[Any]) -> dict[Any, int]:
    """Return the number of each level."""
    key = id(levels)
    made = _made.get(key)
    if made is not None and made[0]() is levels:
        return made[1]
    number = {level: k for k, level in enumerate(levels.tolist())}
    if len(levels) > _FEW:
        _made[key] = weakref.ref(levels, lambda _: _made.pop(key, None)), number
    return number


def is_text(value: object) -> bool:
    """Tell whether a value is text."""
    return isinstance(value, TEXT)


def kind_of(value: object) -> str:
    """Return what a value is, in a word."""
    is_number = isinstance(value, (Number, np.bool_))
    return "text" if is_text(value) else "a number" if is_number else f"of the type {type(value).__name__}"


def shown(value: object) -> str:
    """Return a value for a message."""
    return reprlib.repr(value.item() if isinstance(value, np.generic) else value)


def mixed(name: object, one: object, other: object) -> ValueError:
    """Return the error about a column whose values are of several kinds."""
    text, number = (one, other) if is_text(one) else (other, one)
    lead = "could not convert string to float: " if is_text(text) else ""
    return ValueError(
        f"{lead}column {name!r} holds {shown(text)}, which is {kind_of(text)}, and {shown(number)}, which is "
        f"{kind_of(number)}: a column must be of one kind. Make it all text with .astype(str) if it is a category, or "
        "replace what is not a number by None if it is one of numbers"
    )


def changed(name: object, value: object, before: str) -> ValueError:
    """Return the error about a column that was of another kind in ``fit``."""
    return ValueError(
        f"column {name!r} holds {shown(value)}, which is {kind_of(value)}, and {before}: pass the column as it was in "
        "fit, or fit again"
    )


class MetValues:
    """The values of a column so far, numbered in the order in which they came."""

    def __init__(self) -> None:
        self.number: defaultdict[Any, int] = defaultdict(count().__next__)
        self.order: list[Any] | None = None  # of the dtype, while all batches have the same one
        self.is_ordered = False
        self.n_batches = 0

    def see(self, coded: CodedColumn, name: object) -> NDArray[Any]:
        """Take a batch in; return the number of each row's value."""
        at = present(coded)
        values = coded.values[at].tolist()
        known = next(iter(self.number), None)
        if values and self.number and is_text(values[0]) != is_text(known):
            raise mixed(name, known, values[0])
        order = coded.values.tolist() if coded.has_order else None
        if self.n_batches == 0:
            self.order, self.is_ordered = order, coded.is_ordered
        elif order != self.order or coded.is_ordered != self.is_ordered:
            if self.is_ordered or coded.is_ordered:
                raise ValueError(
                    f"column {name!r} has ordered categories, and they are not those of the batches before: give every "
                    "batch the same dtype"
                )
            self.order = None
        self.n_batches += 1
        return numbered(coded, at, np.array([self.number[value] for value in values], np.int64))

    def copied(self) -> MetValues:
        """Return the same, to meet others without this one."""
        other = copy.copy(self)
        other.number = defaultdict(count(len(self.number)).__next__, self.number)
        return other

    def stored(self) -> dict[str, Any]:
        """Return what was met, as values of a file."""
        order = None if self.order is None else as_values(self.order, len(self.order))
        return {"met": as_values(self.number, len(self.number)), "order": order, "is_ordered": bool(self.is_ordered)}

    @classmethod
    def of_stored(cls, stored: dict[str, Any]) -> MetValues:
        """Return what was stored."""
        met = cls()
        for value in stored["met"].tolist():
            met.number[value]
        met.order = None if stored["order"] is None else stored["order"].tolist()
        met.is_ordered, met.n_batches = stored["is_ordered"], 1
        return met

    def levels(self, name: object) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the levels in their order, and for each number which level it is."""
        values = as_values(self.number, len(self.number))
        if self.order is None:
            at = sorting(values, name)
        else:
            at = np.array([self.number[value] for value in self.order if value in self.number], np.int64)
        place = np.empty(len(at))
        place[at] = np.arange(len(at))
        return values[at], place
