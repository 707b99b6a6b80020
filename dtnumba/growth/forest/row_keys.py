"""What a row is to draws that know it by itself: a number of 64 bits, made of its values, its outcome and its weight.

Equal rows are numbered, so that each draws for itself; which of them has which number changes nothing, because they are
equal. So a row's key does not depend on where it stands, nor on rows that differ from it, and where one of several
equal rows leaves, it is the one of the highest number.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.runtime.rng import mix_all
from dtnumba.tables.cells import values_of
from dtnumba.tables.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.labels import Values
    from dtnumba.tables.table import Table

_START = np.uint64(0x64746E756D6261)
_MISSING = np.uint64(0x7FF8_0000_0000_0001)  # the bits of a NaN that no sum yields
_ROWS_AT_ONCE = 1 << 13  # their keys stay in the cache over the columns


def keys_of_values(table: Table, outcome: Labels | Values, weight: NDArray[np.float64] | None) -> NDArray[np.uint64]:
    """Return a key of what each row holds: equal rows have equal keys."""
    assert table.cells is not None
    values, keys = values_of(table.cells), np.full(table.n_rows, _START)
    levels = [None] * table.n_features if table.levels is None else list(table.levels)
    bits_of_level = [None if one is None else np.append(_bits_of_names(one), _MISSING) for one in levels]
    bits_of_class = [_bits_of_names(one) for one in outcome.classes] if isinstance(outcome, Labels) else []
    for start in range(0, table.n_rows, _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        key = keys[rows]
        for f, names in enumerate(bits_of_level):
            key = mix_all(key, _bits_of_numbers(values[rows, f]) if names is None else names[_codes(values[rows, f])])
        if isinstance(outcome, Labels):
            for names, codes in zip(bits_of_class, outcome.codes[rows].T, strict=True):
                key = mix_all(key, names[codes])
        else:
            for column in outcome.y[rows].T:
                key = mix_all(key, _bits_of_numbers(column))
        counted = np.ones(len(key)) if weight is None else weight[rows]
        keys[rows] = mix_all(key, _bits_of_numbers(counted))
    return keys


def numbered(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the keys of rows of which equal ones are numbered."""
    return np.asarray(mix_all(keys, numbers_of_equals(keys)))


def numbers_of_equals(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return how many equal keys stand before each one."""
    order = np.argsort(keys, kind="stable")
    is_first = np.append(True, keys[order[1:]] != keys[order[:-1]])
    number, place = np.empty(len(keys), np.int64), np.arange(len(keys))
    number[order] = place - np.maximum.accumulate(np.where(is_first, place, 0))
    return number


def _bits_of_numbers(column: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the bits of numbers, of which equal ones are alike, whatever their type, and missing ones too."""
    floats = column.astype(np.float64) + 0.0  # the zero that is not negative
    return np.where(np.isnan(floats), _MISSING, floats.view(np.uint64))


def _codes(column: NDArray[Any]) -> NDArray[np.int64]:
    """Return the numbers of levels, -1 of a missing one."""
    return np.where(np.isnan(column), -1, column).astype(np.int64)


def _bits_of_names(names: NDArray[Any]) -> NDArray[np.uint64]:
    """Return 64 bits of every level or class, which are its own in any order of them."""
    return np.array([_bits_of_name(name) for name in names.tolist()], np.uint64)


def _bits_of_name(name: Any) -> int:
    if isinstance(name, (bool, int, float, np.number)) and float(name) == name:
        return int(np.float64(float(name) + 0.0).view(np.uint64))
    text = name if isinstance(name, str) else f"{type(name).__name__} {name!r}"
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
