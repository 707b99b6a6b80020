"""Names, values and conditions in the words of SQL, by dialect."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dtnumba.export.languages.source import literals
from dtnumba.export.reading import ExportError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dtnumba.export.reading import SumTerm

DIALECTS = ("duckdb", "sqlite", "postgresql")
_DIGITS, _POWER = 15, 22  # of decimals that are read exactly by multiplying or dividing once
_BITS = 62  # of an integer in SQLite
_ARGUMENTS = 90  # of a function


@dataclass(frozen=True)
class Dialect:
    """Words of one dialect.

    Parameters
    ----------
    dialect : str
        One of DIALECTS.

    """

    dialect: str

    def name(self, name: str) -> str:
        """Return the name of a column or a table."""
        self._refuse_zero(name)
        return '"' + name.replace('"', '""') + '"'

    @staticmethod
    def _refuse_zero(text: str) -> None:
        if "\0" in text:
            raise ExportError(f"sql: {text!r} holds a zero character, which no text of SQL can; rename it")

    def value(self, value: Any) -> str:
        """Return a label or a category."""
        if isinstance(value, bool):
            return str(int(value)) if self.dialect == "sqlite" else str(value).upper()
        if isinstance(value, int):
            return str(value)
        if isinstance(value, float):
            return self.number(value)
        self._refuse_zero(value)
        return "'" + str(value).replace("'", "''") + "'"

    def number(self, x: float) -> str:
        """Return a double so that it comes back to the bit."""
        if self.dialect == "postgresql":
            return f"float8 '{_NAMES.get(x, repr(x))}'"
        if math.isinf(x):
            sign = "-" if x < 0 else ""
            return f"{sign}9e999" if self.dialect == "sqlite" else f"CAST('{sign}inf' AS DOUBLE)"
        text = repr(x) if "e" in repr(x) else f"{x!r}e0"
        return text if self.dialect == "duckdb" or _is_short(text) else _as_fraction(x)

    def read(self, column: str, levels: Sequence[Any] | None) -> str:
        """Return a column as a double or as the place of a category; NULL where it is missing or not known."""
        name = self.name(column)
        if levels is not None:
            literals(levels, "sql", (str, bool, int, float))
            if not levels:
                return "NULL"
            pairs = " ".join(f"WHEN {self.value(level)} THEN {k}" for k, level in enumerate(levels))
            return f"CASE {name} {pairs} END"
        if self.dialect == "sqlite":
            return f"CAST({name} AS REAL)"
        real, nan = ("DOUBLE", "nan") if self.dialect == "duckdb" else ("double precision", "NaN")
        return f"nullif(CAST({name} AS {real}), CAST('{nan}' AS {real}))"

    def total(self, parts: Iterable[tuple[str, str, str]]) -> str:
        """Return the sum of products of values and weights, of each what a missing value counts as behind them.

        It is NULL where it is no number.
        """
        total = " + ".join(f"coalesce({x}, {instead}) * {weight}" for x, weight, instead in parts)
        if self.dialect == "sqlite":
            return f"({total})"
        real, nan = ("DOUBLE", "nan") if self.dialect == "duckdb" else ("double precision", "NaN")
        return f"nullif({total}, CAST('{nan}' AS {real}))"

    def largest(self, parts: Sequence[str], *, least: bool = False) -> str:
        """Return the largest of some numbers, or the least."""
        while len(parts) > 1:
            names = ("min", "max") if self.dialect == "sqlite" else ("least", "greatest")
            function = names[0 if least else 1]
            groups = [parts[at : at + _ARGUMENTS] for at in range(0, len(parts), _ARGUMENTS)]
            parts = [f"{function}({', '.join(group)})" if len(group) > 1 else group[0] for group in groups]
        return parts[0]


_NAMES = {math.inf: "Infinity", -math.inf: "-Infinity"}


def _is_short(text: str) -> bool:
    """Tell whether a decimal has so few digits that any way of reading it is exact."""
    digits, _, power = text.lstrip("-").partition("e")
    whole, _, part = digits.partition(".")
    part = part.rstrip("0")
    return len((whole + part).lstrip("0")) <= _DIGITS and abs(int(power) - len(part)) <= _POWER


def _as_fraction(x: float) -> str:
    """Return a double as an integer times or over powers of two, all of them exact."""
    mantissa, power = math.frexp(x)
    whole, power = int(mantissa * 2.0**53), power - 53
    text = f"{whole}*1.0"
    while power:
        step = min(abs(power), _BITS)
        text += f"{'*' if power > 0 else '/'}{1 << step}"
        power -= step if power > 0 else -step
    return f"({text})"


@dataclass(frozen=True)
class SqlConditions:
    """Conditions about columns that hold doubles or places of categories.

    Parameters
    ----------
    words : Dialect
        The dialect.
    prefix : str
        What the names of the columns begin with.

    """

    words: Dialect
    prefix: str

    def x(self, feature: int) -> str:
        """Return the column of a feature."""
        return f"{self.prefix}x{feature}"

    def le(self, feature: int, cut: float) -> str:
        """Say that a value is not above a cut."""
        return f"{self.x(feature)} <= {self.words.number(cut)}"

    def gt(self, feature: int, cut: float) -> str:
        """Say that a value is above a cut."""
        return f"{self.x(feature)} > {self.words.number(cut)}"

    def among(self, feature: int, codes: Sequence[int]) -> str:
        """Say that a value is one of some categories."""
        return f"{self.x(feature)} IN ({', '.join(map(str, codes))})" if codes else self.constant(holds=False)

    def not_among(self, feature: int, codes: Sequence[int]) -> str:
        """Say that a value is none of some categories."""
        return f"{self.x(feature)} NOT IN ({', '.join(map(str, codes))})"

    def missing(self, feature: int) -> str:
        """Say that a value is missing."""
        return f"{self.x(feature)} IS NULL"

    def known(self, feature: int) -> str:
        """Say that a value is there."""
        return f"{self.x(feature)} IS NOT NULL"

    def both(self, parts: Sequence[str]) -> str:
        """Join by "and"."""
        return f"({' AND '.join(parts)})"

    def either(self, parts: Sequence[str]) -> str:
        """Join by "or"."""
        return f"({' OR '.join(parts)})"

    def choose(self, pairs: Sequence[tuple[str, str]], otherwise: str) -> str:
        """Say the second of the first pair whose first one holds."""
        return f"CASE {' '.join(f'WHEN {known} THEN {one}' for known, one in pairs)} ELSE {otherwise} END"

    def constant(self, *, holds: bool) -> str:
        """Say what always holds, or never."""
        return "1 = 1" if holds else "1 = 0"

    def sum_le(self, terms: Sequence[SumTerm], cut: float) -> str:
        """Say that a sum is a number and not above a cut."""
        return f"({self._any_known(terms)} AND {self._sum(terms)} <= {self.words.number(cut)})"

    def sum_gt(self, terms: Sequence[SumTerm], cut: float) -> str:
        """Say that a sum is a number and above a cut."""
        return f"({self._any_known(terms)} AND {self._sum(terms)} > {self.words.number(cut)})"

    def _any_known(self, terms: Sequence[SumTerm]) -> str:
        return self.either([self.known(term.column) for term in terms])

    def _sum(self, terms: Sequence[SumTerm]) -> str:
        number = self.words.number
        return self.words.total((self.x(j), number(weight), number(stand_in)) for j, weight, stand_in in terms)
