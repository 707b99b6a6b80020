"""How cells of text spell numbers, dates and nothing."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING

import numpy as np

from dtnumba.tables.floats import EXACT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


# In small letters; a cell may write them in any.
MISSING_SPELLINGS = frozenset({"", "na", "nan", "null", "?", "n/a", "#n/a", "<na>"})
_USUAL_MISSING = ("", "NA", "NaN", "nan", "NULL", "null", "?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
_DATE = re.compile(
    r"(?:(\d{4})([-/])(\d{1,2})\2(\d{1,2})|(\d{1,2})\.(\d{1,2})\.(\d{4}))"
    r"(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(\.\d+)?)?\s?(Z|[+-]\d{2}:?\d{2})?)?"
)
_FIRST_DAY = dt.date(1970, 1, 1).toordinal()


class Spelling:
    """Spelling of the cells of a file.

    Parameters
    ----------
    missing : sequence of str
        What says that there is no value, beside the usual.
    decimal, thousands : str
        The sign before decimals, and the one between groups of three digits, if there is one.

    """

    def __init__(self, missing: Sequence[str] = (), decimal: str = ".", thousands: str = "") -> None:
        self._missing = MISSING_SPELLINGS | {marker.strip().lower() for marker in missing}
        self.is_plain = decimal == "." and not thousands
        self._decimal, self._thousands = decimal, thousands
        # Whether a cell that looks like a number is one.
        self.is_simple = self.is_plain and all(_is_no_number(marker) for marker in missing)
        self._usual = dict.fromkeys((*_USUAL_MISSING, *missing), "nan")
        if not self.is_plain:
            point, group = re.escape(decimal), re.escape(thousands)
            groups = rf"|\d{{1,3}}(?:{group}\d{{3}})+" if thousands else ""
            digits = rf"(?:(?:\d+{groups})(?:{point}\d*)?|{point}\d+)(?:e[+-]?\d+)?"
            self._number = re.compile(rf"\s*[+-]?(?:{digits}|inf(?:inity)?)\s*", re.IGNORECASE | re.ASCII)

    def is_missing(self, cell: str) -> bool:
        """Tell whether a cell says that there is no value."""
        return cell.strip().lower() in self._missing

    def plain(self, cell: str) -> str:
        """Return a cell as Python spells a number, if it is one."""
        if self.is_plain:
            return cell
        if self._number.fullmatch(cell) is None:
            return "no number"
        bare = cell.replace(self._thousands, "") if self._thousands else cell
        return bare.replace(self._decimal, ".")

    def as_number(self, cell: str) -> float | None:
        """Return the number in a cell, NaN for a missing one, None if it holds something else."""
        if self.is_missing(cell):
            return float("nan")
        try:
            # Python's own spelling 1_000 is more likely a name than a number in a table.
            return None if "_" in cell else float(self.plain(cell))
        except ValueError:
            return None

    def as_whole_number(self, cell: str, number: float) -> int | None:
        """Return the whole number that a cell spells, exactly, given its number as float64; None if it is not whole.

        Beyond 2**53, where every float64 is whole, only digits spell a whole number.
        """
        if abs(number) < EXACT:
            return int(number) if number == int(number) else None
        try:
            return int(self.plain(cell))
        except ValueError:
            return None

    def usual_numbers(self, cells: Sequence[str]) -> NDArray[np.float64] | None:
        """Return cells that are all numbers in the usual spellings, or None."""
        if not self.is_plain:
            return None
        try:
            if "_" not in "".join(cells):
                usual = self._usual
                return np.fromiter((float(usual.get(cell, cell)) for cell in cells), np.float64, len(cells))
        except ValueError:
            pass
        return None


def _is_no_number(marker: str) -> bool:
    try:
        float(marker)
    except ValueError:
        return True
    return False


def as_days(cell: str) -> float | None:
    """Return the days since 1970 of a date, None of anything else.

    A date is 2026-11-20, 2026/11/20 or 20.11.2026, with a time behind it or without; 11/20/2026 may be two days, and
    is none.
    """
    found = _DATE.fullmatch(cell.strip())
    if found is None:
        return None
    year, _, month, day, other_day, other_month, other_year, hour, minute, second, part, zone = found.groups()
    try:
        date = dt.date(int(year or other_year), int(month or other_month), int(day or other_day))
    except ValueError:
        return None
    days = float(date.toordinal() - _FIRST_DAY)
    if hour is None:
        return days
    if int(hour) > 23 or int(minute) > 59 or int(second or 0) > 60:
        return None
    seconds = 3600 * int(hour) + 60 * int(minute) + int(second or 0) + float(part or 0)
    if zone and zone != "Z":
        ahead = 3600 * int(zone[1:3]) + 60 * int(zone[-2:])
        seconds += ahead if zone[0] == "-" else -ahead
    return days + seconds / 86_400


def has_decimal_comma(cell: str) -> bool:
    """Tell whether a cell is a number but for a comma in the place of its point."""
    return _DECIMAL_COMMA.fullmatch(cell.strip()) is not None
