"""Columns of a file: those that learn what they hold, and those of a model, which know it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.cli.command import DataError
from dtnumba.cli.files.byte_rows import ByteCells
from dtnumba.cli.files.spelling import Spelling, as_days, has_decimal_comma
from dtnumba.tables.arrow.formats import DECIMAL, MOMENT, NESTED
from dtnumba.tables.arrow.table import ArrowColumn
from dtnumba.tables.category_codes import CodedColumn, as_values
from dtnumba.tables.columns import CATEGORY, NUMBER
from dtnumba.tables.floats import EXACT, merged_integers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


SPELLED, DATE = "text", "date"
_WORDS = {NUMBER: "a number", SPELLED: "text", DATE: "a date"}
OTHER_SIGNS = "say how numbers are written by --decimal , and --thousands ."


class FileColumn:
    """Reads one column. Its first value says whether it is one of numbers, of dates or of text, and all must be alike.

    Parameters
    ----------
    name : str
        Of the column.
    spelling : Spelling
        Of the file's cells.
    path : str
        Of the file, for messages.
    kind : str
        NUMBER, DATE or SPELLED where that is known, whatever the cells look like; "": found out.
    of_model : bool
        Whether a model says so, or the caller.

    """

    def __init__(self, name: str, spelling: Spelling, path: str, kind: str = "", *, of_model: bool = False) -> None:
        self.name, self.kind = name, kind
        self._spelling, self._path, self._of_model = spelling, path, of_model
        self._is_given, self._first = bool(kind), ""  # the cell that said so
        self.leading_zero = ""  # a cell of digits behind a zero, among the first
        self.codes: dict[str, int] = {}  # of levels, in the order in which they came
        self._large: dict[float, int] = {}  # whole numbers beyond 2**53 by their float64

    def read(self, cells: Any, lines: Sequence[int]) -> NDArray[np.float64]:
        """Return cells, or a column of Arrow, as numbers: their own, days, or those of their levels."""
        if isinstance(cells, ArrowColumn):
            return self._of_arrow(cells)
        is_bytes = isinstance(cells, ByteCells)
        if self.kind in {"", NUMBER}:
            numbers = cells.numbers(self._spelling) if is_bytes else self._spelling.usual_numbers(cells)
            if numbers is not None:
                if not self.kind and not np.isnan(numbers).all():
                    self.kind = NUMBER
                    self._first = next(cell for cell in cells if not self._spelling.is_missing(cell))
                    self.leading_zero = cells.first_with_zero() if is_bytes else _first_with_zero(cells)
                for i in np.flatnonzero(np.abs(numbers) >= EXACT).tolist():
                    self._keep_apart(cells[i], float(numbers[i]), lines[i])
                return numbers
        if is_bytes:
            # What a cell is depends on what stands in it alone.
            different, first, codes = cells.distinct()
            values = [self._one(cell, int(lines[at])) for cell, at in zip(different, first.tolist(), strict=True)]
            different_values = np.array(values, np.float64)
            return np.asarray(different_values[codes])
        found = (self._one(cell, line) for cell, line in zip(cells, lines, strict=True))
        return np.fromiter(found, np.float64, len(cells))

    def _one(self, cell: str, line: int) -> float:
        if self.kind == SPELLED and self._is_given:
            return float("nan") if self._spelling.is_missing(cell) else self._level(cell)
        number = self._spelling.as_number(cell)
        if number is not None and number != number:
            return number
        kind = NUMBER
        if number is None:
            number = as_days(cell)
            kind = SPELLED if number is None else DATE
        if not self.kind:
            self.kind, self._first = kind, cell
        elif kind != self.kind:
            if self.kind == SPELLED and kind == DATE:
                return self._level(cell)
            raise self._mixture(cell, kind, line)
        if number is None:
            return self._level(cell)
        if abs(number) >= EXACT:
            self._keep_apart(cell, number, line)
        return number

    def _level(self, cell: str) -> float:
        return self.codes.setdefault(cell.strip(), len(self.codes))

    def _mixture(self, cell: str, kind: str, line: int) -> DataError:
        at = f"{self._path}, line {line}: column {self.name!r} holds {cell!r}, which is {_WORDS[kind]}"
        text = cell if kind == SPELLED else self._first
        way = OTHER_SIGNS if has_decimal_comma(text) else "empty the cell if it has no value"
        if self._of_model:
            return DataError(f"{at}, and the model takes {_WORDS[self.kind]} there: {way}, or name it by --missing")
        if self._is_given:
            return DataError(f"{at}, and --number says that it is one of numbers: {way}, or name it by --missing")
        return DataError(
            f"{at}, and {self._first!r}, which is {_WORDS[self.kind]}: {way}, or pass --category {self.name!r}"
        )

    def _keep_apart(self, cell: str, number: float, line: int) -> None:
        """Refuse a large whole number that would become equal to another one, as ``fit`` does."""
        whole = None if self._of_model else self._spelling.as_whole_number(cell, number)
        if whole is not None and self._large.setdefault(number, whole) != whole:
            error = merged_integers(self._large[number], whole, self.name)
            raise DataError(f"{self._path}, line {line}: {error}, or pass --category {self.name!r}")

    def _of_arrow(self, column: ArrowColumn) -> NDArray[np.float64]:
        """Return a column of Arrow as numbers, days or levels; its type says what it is, unless the caller does."""
        kind = {NUMBER: NUMBER, CATEGORY: SPELLED}.get(column.kind, "")
        is_moment = column.type.values == MOMENT and column.type.detail in {"date", "timestamp"}
        kind = DATE if is_moment else kind
        is_asked_for = self._is_given and self.kind == SPELLED
        if self.kind and not is_asked_for and kind != self.kind and column.first() is not None:
            words = "the model takes" if self._of_model else "--number says that it is"
            raise DataError(
                f"{self._path}: column {self.name!r} holds {column.first()!r} ({column.dtype}), and {words} "
                f"{_WORDS[self.kind]} there"
            )
        self.kind = self.kind or kind
        try:
            if self.kind == SPELLED:
                return self._levels_of(column.coded())
            if self.kind == DATE:
                return column.days()
            if kind != NUMBER:
                value = column.first()
                if value is not None:
                    raise DataError(f"{self._path}: column {self.name!r} holds {value!r} ({column.dtype}), which is "
                                    "neither a number nor text; write it as one of these, or pass --category "
                                    f"{self.name!r}")  # fmt: skip
            self._check_large(column)
            return column.numbers(fitting=not self._of_model)
        except ValueError as error:
            way = "" if column.type.values == NESTED else f", or pass --category {self.name!r}"
            raise DataError(f"{self._path}: {error}{way}") from error

    def _check_large(self, column: ArrowColumn) -> None:
        """Refuse whole numbers, and decimals, that float64 cannot tell apart, in whichever batches they are."""
        if self._of_model:
            return
        for number, stored in column.beyond():
            if self._large.setdefault(number, stored) != stored:
                if column.type.values == DECIMAL:
                    raise DataError(f"{self._path}: column {self.name!r} holds numbers ({column.dtype}) that differ, "
                                    "and are the same as float64; subtract what they share, or pass --category "
                                    f"{self.name!r}")  # fmt: skip
                raise merged_integers(self._large[number], stored, self.name)

    def _levels_of(self, coded: CodedColumn) -> NDArray[np.float64]:
        occurs = np.zeros(len(coded.values) + 1, bool)
        occurs[coded.codes] = True
        numbers = np.full(len(coded.values) + 1, np.nan)
        for k in np.flatnonzero(occurs[:-1]).tolist():
            value = coded.values[k]
            if value is not None and value == value:
                numbers[k] = self.codes.setdefault(_text(value), len(self.codes))
        return np.asarray(numbers[coded.codes])

    def levels(self, numbers: NDArray[np.float64]) -> list[str] | None:
        """Return the levels, sorted, and number them so in all the numbers read; None of a column of numbers."""
        if not self.codes:
            return None
        levels = sorted(self.codes)
        place = np.empty(len(levels))
        place[[self.codes[level] for level in levels]] = np.arange(len(levels))
        is_there = ~np.isnan(numbers)
        numbers[is_there] = place[numbers[is_there].astype(np.int64)]
        return levels


def _first_with_zero(cells: Sequence[str]) -> str:
    return next((cell for cell in cells if cell[:1] == "0" and cell[1:2].isdigit()), "")


def _text(value: Any) -> str:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str) else str(value)


class LevelColumn:
    """A column of categories for the gate: numbers of levels, and the levels."""

    kind = CATEGORY
    dtype = "text"
    is_narrow = False
    bits = 64

    def __init__(self, name: str, numbers: NDArray[np.float64], levels: Sequence[Any]) -> None:
        self.name = name
        self._numbers, self._levels = numbers, levels

    def first(self) -> Any:
        """Return its first value that is not missing."""
        there = self._numbers[~np.isnan(self._numbers)]
        return self._levels[int(there[0])] if len(there) else None

    def numbers(self, *, fitting: bool) -> NDArray[Any]:
        """Return nothing: a column of text has no numbers."""
        if self.first() is not None:
            raise AssertionError(self.name)
        return np.full(len(self._numbers), np.nan)

    def coded(self) -> CodedColumn:
        """Return its rows as categories."""
        codes = np.where(np.isnan(self._numbers), -1, self._numbers).astype(np.int64)
        return CodedColumn(codes, as_values(self._levels, len(self._levels)))
