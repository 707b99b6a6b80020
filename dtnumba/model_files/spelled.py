"""Labels and levels that are neither numbers nor text, each kind by one exact text: dates, durations, decimals.

A kind is a line of ``KINDS``. What pandas alone knows is made by pandas, where a file holds it and pandas is there.
"""

from __future__ import annotations

import datetime as dt
import re
import uuid
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

STRINGS = "StringDType"  # of NumPy
_OF_NUMPY = r"\[(?:[1-9]\d{0,8})?(?:as|fs|ps|ns|us|ms|s|m|h|D|W|M|Y)\]"
_INTEGER, _WHOLE = r"-?\d{1,19}", r"-?\d{1,4000}"
_CLOCK, _DAY = r"\d\d:\d\d:\d\d(?:\.\d{6})?", r"\d{4}-\d\d-\d\d"
_KEY = r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)*"  # of the tz database
_ZONE, _FOLD = rf"(?: ({_KEY}|UTC[+-]\d\d:\d\d(?::\d\d(?:\.\d{{6}})?)?))?", r"( \(fold\))?"


class Kind(NamedTuple):
    """A kind of values as text, and back: the text in its parts, and what is made of them."""

    spell: Callable[[Any], str]
    pattern: str
    read: Callable[..., Any]


def kind_of(value: Any) -> str:
    """Return the name of the kind of a value; "" where it has none."""
    cls = type(value)
    known = _TYPES.get(cls.__name__)
    is_known = known is cls or (known is None and cls.__module__.partition(".")[0] == "pandas")
    return cls.__name__ if is_known and cls.__name__ in KINDS else ""


def spell(value: Any) -> str | None:
    """Return the text that gives a value back as it is; None where none does."""
    kind = kind_of(value)
    if not kind:
        return None
    text = KINDS[kind].spell(value)
    try:
        again = read(kind, text)
    except ValueError:
        return None
    return text if repr(again) == repr(value) else None


def texts_of(array: NDArray[Any]) -> tuple[list[str], str] | None:
    """Return the texts of an array and what they spell, "" of text itself; None where it is of no one kind."""
    if array.dtype.kind == "U" or (array.dtype.kind == "T" and array.dtype == np.dtypes.StringDType()):
        return [str(one) for one in array.flat], STRINGS if array.dtype.kind == "T" else ""
    kinds = {"" if type(one) is str else kind_of(one) or "?" for one in array.flat} if array.dtype == object else ()
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    found = [one if type(one) is str else spell(one) for one in array.flat] if kind != "?" else []
    texts = [one for one in found if one is not None]
    return (texts, kind) if len(texts) == array.size else None


def read(kind: str, text: str) -> Any:
    """Return the value that a text of a kind spells; raise ValueError where it spells none."""
    found = re.fullmatch(KINDS[kind].pattern, text, re.ASCII)
    if found is None:
        raise ValueError(f"{text[:100]!r} spells no {kind}")
    try:
        value = KINDS[kind].read(*found.groups())
    except (ValueError, TypeError, ArithmeticError) as error:
        raise ValueError(f"{text[:100]!r} spells no {kind}: {error}") from error
    if type(value).__name__ != kind:
        raise ValueError(f"{text[:100]!r} spells no {kind}")
    return value


def of_pandas(name: str) -> Any:
    """Return a class of pandas."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ValueError(f"it holds a {name} of pandas, which is not installed: pip install pandas") from error
    return getattr(pd, name)


def _with_zone(value: Any) -> str:
    """Return a datetime or a time of day, the name of its zone, and whether it is the second of that name."""
    zone = "" if value.tzinfo is None else f" {value.tzinfo}"
    return f"{value.replace(tzinfo=None, fold=0).isoformat()}{zone}" + (" (fold)" if value.fold else "")


def _in_zone(value: Any, zone: str | None, fold: str | None) -> Any:
    return value.replace(tzinfo=_zone_of(zone), fold=int(fold is not None))


def _zone_of(name: str | None) -> dt.tzinfo | None:
    if name is None:
        return None
    if re.fullmatch(r"UTC(?:[+-].*)?", name):
        return dt.datetime.fromisoformat(f"1970-01-01T00:00:00{name[3:] or '+00:00'}").tzinfo
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, OSError) as error:
        raise ValueError(f"its time zone {name!r} is not known here: pip install tzdata") from error


def _spell_moment(value: Any) -> str:
    return f"{value.astype(np.int64)} {value.dtype.str[1:]}"


def _moment(number: str, kind: str) -> Any:
    return np.array(int(number), "<i8").view(f"<{kind}")[()]


def _spell_timestamp(value: Any) -> str:
    return _spell_moment(value.to_datetime64()) + ("" if value.tzinfo is None else f" {value.tzinfo}")


def _timestamp(number: str, kind: str, zone: str | None) -> Any:
    made = of_pandas("Timestamp")(_moment(number, kind))
    return made if zone is None else made.tz_localize("UTC").tz_convert(_zone_of(zone))


_TYPES: dict[str, type] = {
    one.__name__: one
    for one in (
        dt.date, dt.datetime, dt.time, dt.timedelta, Decimal, Fraction, uuid.UUID, np.datetime64, np.timedelta64,
    )
}  # fmt: skip
KINDS = {
    "date": Kind(dt.date.isoformat, f"({_DAY})", dt.date.fromisoformat),
    "datetime": Kind(
        _with_zone,
        f"({_DAY}T{_CLOCK}){_ZONE}{_FOLD}",
        lambda text, *zone: _in_zone(dt.datetime.fromisoformat(text), *zone),
    ),
    "time": Kind(
        _with_zone, f"({_CLOCK}){_ZONE}{_FOLD}", lambda text, *zone: _in_zone(dt.time.fromisoformat(text), *zone)
    ),
    "timedelta": Kind(
        lambda value: f"{value.days} {value.seconds} {value.microseconds}",
        r"(-?\d{1,9}) (\d{1,5}) (\d{1,6})",
        lambda *parts: dt.timedelta(*map(int, parts)),
    ),
    "Decimal": Kind(str, r"(-?(?:\d{1,4000}(?:\.\d{1,4000})?(?:E[+-]\d{1,20})?|Infinity|s?NaN\d{0,4000}))", Decimal),
    "Fraction": Kind(str, f"({_WHOLE})(?:/({_WHOLE}))?", lambda top, below: Fraction(int(top), int(below or 1))),
    "UUID": Kind(str, "([0-9a-f-]{36})", uuid.UUID),
    "datetime64": Kind(_spell_moment, f"({_INTEGER}) (M8(?:{_OF_NUMPY})?)", _moment),
    "timedelta64": Kind(_spell_moment, f"({_INTEGER}) (m8(?:{_OF_NUMPY})?)", _moment),
    "Timestamp": Kind(_spell_timestamp, f"({_INTEGER}) (M8{_OF_NUMPY}){_ZONE}", _timestamp),
    "Timedelta": Kind(
        lambda value: _spell_moment(value.to_timedelta64()),
        f"({_INTEGER}) (m8{_OF_NUMPY})",
        lambda *parts: of_pandas("Timedelta")(_moment(*parts)),
    ),
    "Period": Kind(
        lambda value: f"{value.ordinal} {value.freqstr}",
        f"({_INTEGER}) ([0-9A-Za-z-]{{1,40}})",
        lambda ordinal, freq: of_pandas("Period")(ordinal=int(ordinal), freq=freq),
    ),
}  # of values, by the names of their types
