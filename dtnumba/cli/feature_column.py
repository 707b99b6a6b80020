"""A column of text as numbers or categories, as the shell reads it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from dtnumba.cli.command import CommandError
from dtnumba.tables.floats import EXACT, merged_integers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray


MISSING_SPELLINGS = frozenset({"", "na", "nan", "null", "?"})  # in small letters; a cell may write them in any
USUAL_MISSING = dict.fromkeys(("", "NA", "NaN", "nan", "NULL", "null", "?"), "nan")
WITHOUT_COMMA = "write numbers without commas, and with a point before decimals"
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")


def is_missing(cell: str) -> bool:
    """Tell whether a cell says that there is no value: empty, NA, NaN, null or ?."""
    return cell.strip().lower() in MISSING_SPELLINGS


def as_number(cell: str) -> float | None:
    """Return the number in a cell, NaN for a missing one, None if it holds something else."""
    if is_missing(cell):
        return float("nan")
    try:
        # Python's own spelling 1_000 is more likely a name than a number in a table.
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def as_whole_number(cell: str, number: float) -> int | None:
    """Return the whole number that a cell spells, exactly, given its number as float64; None if it is not whole.

    Beyond 2**53, where every float64 is whole, only digits spell a whole number.
    """
    if abs(number) < EXACT:
        return int(number) if number == int(number) else None
    try:
        return int(cell)
    except ValueError:
        return None


def has_decimal_comma(cell: str) -> bool:
    """Tell whether a cell is a number but for a comma in the place of its point."""
    return _DECIMAL_COMMA.fullmatch(cell.strip()) is not None


class FeatureColumn:
    """Reads one feature. Its first value says whether it is one of numbers or of text, and the others must be alike.

    Parameters
    ----------
    name : str
        Of the column.
    is_category : bool
        Whether it is one of text, however its cells look.

    """

    def __init__(self, name: str, *, is_category: bool) -> None:
        self.name, self._is_listed = name, is_category
        self._kind, self._first = "", ""  # "text" or "number", and the cell that said so
        self._codes: dict[str, int] = {}  # of levels, in the order in which they came
        self._large: dict[float, int] = {}  # whole numbers beyond 2**53 by their float64

    def read(self, cells: Sequence[str], path: Path, lines: Sequence[int]) -> NDArray[np.float64]:
        """Return cells as numbers: their own, or those of their levels; quickly where numbers are spelled as usual."""
        if self._kind != "text" and not self._is_listed:
            numbers = _usual_numbers(cells)
            if numbers is not None:
                if not self._kind and not np.isnan(numbers).all():
                    self._kind, self._first = "number", next(cell for cell in cells if not is_missing(cell))
                for i in np.flatnonzero(np.abs(numbers) >= EXACT).tolist():
                    self._keep_apart(cells[i], float(numbers[i]), path, lines[i])
                return numbers
        found = (self._one(cell, path, line) for cell, line in zip(cells, lines, strict=True))
        return np.fromiter(found, np.float64, len(cells))

    def _one(self, cell: str, path: Path, line: int) -> float:
        if is_missing(cell):
            return float("nan")
        number = None if self._is_listed else as_number(cell)
        kind = "text" if number is None else "number"
        if not self._kind:
            self._kind, self._first = kind, cell
        elif kind != self._kind:
            words, text = (("text", "a number"), cell) if kind == "text" else (("a number", "text"), self._first)
            way = WITHOUT_COMMA if has_decimal_comma(text) else "empty the cell if it has no value"
            raise CommandError(
                f"{path}, line {line}: column {self.name!r} holds {cell!r}, which is {words[0]}, and {self._first!r}, "
                f"which is {words[1]}: {way}, or pass --category {self.name!r}"
            )
        if number is None:
            return self._codes.setdefault(cell.strip(), len(self._codes))
        if abs(number) >= EXACT:
            self._keep_apart(cell, number, path, line)
        return number

    def _keep_apart(self, cell: str, number: float, path: Path, line: int) -> None:
        """Refuse a large whole number that would become equal to another one, as ``fit`` does."""
        whole = as_whole_number(cell, number)
        if whole is not None and self._large.setdefault(number, whole) != whole:
            error = merged_integers(self._large[number], whole, self.name)
            raise CommandError(f"{path}, line {line}: {error}, or pass --category {self.name!r}")

    def levels(self, numbers: NDArray[np.float64]) -> list[str] | None:
        """Return the levels, sorted, and number them so in all the numbers read; None of a column of numbers."""
        if not self._codes:
            return None
        levels = sorted(self._codes)
        place = np.empty(len(levels))
        place[[self._codes[level] for level in levels]] = np.arange(len(levels))
        is_there = ~np.isnan(numbers)
        numbers[is_there] = place[numbers[is_there].astype(np.int64)]
        return levels


def _usual_numbers(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """Return cells that are all numbers in the usual spellings, or None."""
    try:
        if "_" not in "".join(cells):
            return np.fromiter((float(USUAL_MISSING.get(cell, cell)) for cell in cells), np.float64, len(cells))
    except ValueError:
        pass
    return None
