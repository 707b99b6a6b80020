"""Any array of numbers as float32 or float64, or an error that names the column and the value.

float32 and float64 stay what and where they are. Booleans, float16 and integers of at most 16 bits become float32,
which holds them all; wider integers, extended precision and Python objects become float64; ``None`` and ``pandas.NA``
are missing values.

float64 does not hold every integer beyond 2**53. A tree needs only the order of values, so rounding does no harm until
two different integers of one column become the same number. ``fit`` refuses such a column instead of merging what the
caller told apart; ``predict`` compares the rounded value.
"""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.tables.category_codes import is_missing

if TYPE_CHECKING:
    from numpy.typing import NDArray


def midpoint(below: NDArray[Any], above: NDArray[Any]) -> NDArray[Any]:
    """Return thresholds halfway between neighbours: at or above ``below``, below ``above``, whatever the rounding."""
    with np.errstate(over="ignore", invalid="ignore"):
        middle = below / 2 + above / 2
    return np.asarray(np.where((middle >= above) | ~np.isfinite(middle) | (middle < below), below, middle))


_SHOWN = 200  # characters of a value in a message
EXACT = 2**53  # float64 holds every integer up to it


def to_floats(array: NDArray[Any], *, column: object = None, fitting: bool = True) -> NDArray[Any]:
    """Return an array of one or two dimensions as float32 or float64: itself if it can be read where it is.

    Parameters
    ----------
    array : array
        What the caller passed, of any dtype.
    column : object
        Name of the only column, for messages; None where columns are numbered.
    fitting : bool
        Whether integers that would become the same float are an error.

    """
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "f" and size in {4, 8}:
        return array if _is_readable(array) else array.astype(array.dtype.newbyteorder("="))
    if kind in "biuf":
        if fitting and size == 8:
            check_distinct(array, column)
        return array.astype(np.float32 if size <= 2 else np.float64)
    if kind == "c":
        raise ValueError(f"Complex data not supported\n{array}\nPass the real and the imaginary part as two columns")
    if array.dtype.names is not None:
        way = "numpy.lib.recfunctions.structured_to_unstructured(X)"
        raise ValueError(f"X has the structured dtype {array.dtype}: pass a frame, or {way}")
    if kind in "Mm":
        raise refused(array.dtype, np.datetime_as_string(array.ravel()[0]) if kind == "M" else array.ravel()[0], column)
    msg = f"an array of the kind {kind!r} holds no numbers"
    raise AssertionError(msg)


def _is_readable(array: NDArray[Any]) -> bool:
    """Tell whether kernels can read the memory: native floats, a whole number of floats apart."""
    apart = all(stride % array.itemsize == 0 for stride in array.strides)
    return array.dtype.isnative and array.flags.aligned and apart


def refused(dtype: object, value: object, column: object, way: str = "") -> ValueError:
    """Return the error about a column of a kind that is not numbers."""
    return ValueError(
        f"column {0 if column is None else column!r} has dtype {dtype} and holds {value!s}, which is not a number: "
        + (way or f"encode the column first, e.g. a date as a number of days, or {LIST_IT} if it is a category")
    )


def brief(value: object) -> str:
    """Return what a caller passed as a message shows it: its beginning alone, where it is long."""
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


LIST_IT = "list it in categorical_features"


def check_distinct(integers: NDArray[Any], column: object = None) -> None:
    """Raise ValueError where two different integers of one column are the same float64."""
    if integers.size == 0 or (integers.min() >= -EXACT and integers.max() <= EXACT):
        return
    columns = integers[:, None] if integers.ndim == 1 else integers
    for j in range(columns.shape[1]):
        values = np.unique(columns[:, j])
        floats = values.astype(np.float64)
        merged = np.flatnonzero(floats[1:] == floats[:-1])
        if len(merged):
            raise merged_integers(values[merged[0]], values[merged[0] + 1], j if column is None else column)


def merged_integers(one: object, other: object, column: object) -> ValueError:
    """Return the error about two integers that are the same float64."""
    return ValueError(
        f"column {column!r} holds {one} and {other}, which are the same number in float64 (it is exact up to 2**53): "
        "subtract an offset from the column, split it into x // 2**32 and x % 2**32, or leave it out if it is an "
        "identifier"
    )


def objects_to_floats(values: list[Any], name: object, *, fitting: bool) -> NDArray[np.float64]:
    """Return the Python objects of a column, none of them text, as numbers."""
    floats = np.array([_number(value, name) for value in values])
    if fitting and any(issubclass(kind, (int, np.integer)) for kind in set(map(type, values))):
        _check_distinct_objects(values, floats, name)
    return floats


def _number(value: Any, name: object) -> float:
    if is_missing(value):
        return np.nan
    try:
        return float(value)
    except TypeError as error:
        raise TypeError(f"column {name!r} holds {reprlib.repr(value)}: every cell must be a number; {error}") from error
    except (ValueError, OverflowError) as error:
        raise ValueError(
            f"column {name!r} holds {reprlib.repr(value)}: every cell must be a number; {error}"
        ) from error


def _check_distinct_objects(values: list[Any], floats: NDArray[np.float64], name: object) -> None:
    seen: dict[float, Any] = {}
    for at in np.flatnonzero(np.abs(floats) >= EXACT):
        other = seen.setdefault(float(floats[at]), values[at])
        if other != values[at]:
            raise merged_integers(other, values[at], name)


def text_refused(value: object, column: object, way: str = "") -> ValueError:
    """Return the error about text where a number must be."""
    return ValueError(
        f"could not convert string to float: column {column!r} holds {value!r}, which is text, not a number: convert "
        f"the column with .astype(float), or {way or LIST_IT} if it is a category"
    )


def says_number(text: str | bytes) -> bool:
    """Tell whether text can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


class Between(NamedTuple):
    """Cuts lie between values of the table."""


Bits = int | tuple[int, ...]  # of floats: 16, 32 or 64 of every column, or of each one; what holds them is exact


class AtFloats(NamedTuple):
    """Cuts are values of a table of floats of so many bits."""

    bits: Bits


BETWEEN_VALUES = Between()


def bits_of(dtype: np.dtype[Any]) -> int:
    """Return how many bits the floats of a dtype have; 64 of what is no float, whose numbers are what they are."""
    return min(8 * dtype.itemsize, 64) if dtype.kind == "f" else 64


def of_columns(bits: Bits, columns: Any) -> NDArray[np.int64]:
    """Return the bits of columns by their numbers; those of leaves, which are negative, say nothing."""
    each = np.asarray(bits)
    return np.broadcast_to(each, np.shape(columns)) if each.ndim == 0 else each[columns]


def compared(
    values: NDArray[np.float64], columns: NDArray[Any], cuts_at: Between | AtFloats, bits: Bits
) -> NDArray[np.float64]:
    """Return cuts of columns as rows of floats of so many bits are compared with them.

    Where they are values of the table, both are compared in the coarser type, as a value is itself there: 0.3 is not
    above 0.3, and is as float32. In float64, that is the largest number that float32 rounds to the value.
    """
    if isinstance(cuts_at, Between):
        return values
    coarser = np.minimum(of_columns(cuts_at.bits, columns), of_columns(bits, columns))
    for dtype in (np.float32, np.float16):
        is_coarse = coarser == 8 * np.dtype(dtype).itemsize
        if is_coarse.any():
            values = np.where(is_coarse, _largest_rounded(values, dtype), values)
    return values


def _largest_rounded(values: NDArray[np.float64], dtype: Any) -> NDArray[np.float64]:
    """Return the largest numbers that a narrow type rounds to what it rounds the values to."""
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = np.asarray(values, dtype)
        value, following = (x.astype(np.float64) for x in (narrow, np.nextafter(narrow, dtype(np.inf))))
        beyond = 2.0 ** np.finfo(dtype).maxexp  # what would come next to the largest
        value, following = np.where(value == -np.inf, -beyond, value), np.where(following == np.inf, beyond, following)
        border = np.where(np.isfinite(value), value / 2.0 + following / 2.0, value)
        return np.where(border.astype(dtype) > narrow, np.nextafter(border, -np.inf), border)


def floor_to(edges: NDArray[np.float64], dtype: Any) -> NDArray[Any]:
    """Round edges down to the dtype: x <= edge says the same then, for every x of that dtype."""
    if dtype == np.float64:
        return edges
    with np.errstate(over="ignore"):
        narrow = edges.astype(dtype)
        return np.where(narrow.astype(np.float64) > edges, np.nextafter(narrow, narrow.dtype.type(-np.inf)), narrow)
