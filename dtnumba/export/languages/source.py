"""Text that an exporter returns, and values as text that reads back as the same bits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.reading import ExportError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.export.reading import Columns

LITERALS = (str, bytes, bool, int, float)


class ExportedText(str):
    """Text that was exported; ``print`` shows it, ``export.verify`` runs it.

    Attributes
    ----------
    columns : Columns
        The columns it expects in their order, with their categories, and the classes.

    """

    __slots__ = ("__dict__",)
    columns: Columns
    is_single = False  # whether its numbers are float32


def number(value: float) -> str:
    """Return a float in Python's words."""
    return repr(value) if value - value == 0.0 else f"float('{value!r}')"


def literal(value: Any) -> str:
    """Return a label or a category in Python's words."""
    return number(value) if isinstance(value, float) else repr(value)


def literals(values: Sequence[Any], format_: str, kinds: tuple[type, ...] = LITERALS) -> Sequence[Any]:
    """Return values, or raise where one of them is of a kind that a format cannot write."""
    for value in values:
        if type(value) not in kinds:
            shown = ", ".join(kind.__name__ for kind in kinds)
            raise ExportError(
                f"{format_}: {value!r} is a category or a class of the type {type(value).__name__}, and what can be "
                f"written are {shown}; turn the column into text before fit"
            )
    return values


def listed(array: NDArray[Any]) -> str:
    """Return an array as numbers between commas, floats so that they come back to the bit (NaN and inf by name)."""
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return json.dumps(array.tolist(), separators=(",", ":")).translate(_TO_TUPLES)
    return ",".join(x if x not in _NAMED else f"float('{x}')" for x in map(repr, array.tolist()))


_NAMED = {"nan", "inf", "-inf"}
_TO_TUPLES = str.maketrans({"[": None, "]": None})
