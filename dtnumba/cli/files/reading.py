"""What the caller says about a file, and what a file gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True)
class Reading:
    """How a file is to be read; all of it may be left to a guess but for what cannot be guessed."""

    separator: str | None = None  # None: guessed
    encoding: str | None = None  # None: UTF-8, or UTF-16 where the file says so
    missing: tuple[str, ...] = ()  # cells without a value beside the usual ones
    decimal: str = "."
    thousands: str = ""
    has_header: bool = True
    categories: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @classmethod
    def of(cls, options: argparse.Namespace) -> Reading:
        """Return what the options of a command say."""
        return cls(
            separator={"tab": "\t", "\\t": "\t"}.get(options.sep, options.sep),
            encoding=options.encoding,
            missing=tuple(options.missing),
            decimal=options.decimal,
            thousands=options.thousands or "",
            has_header=not options.no_header,
            categories=tuple(getattr(options, "category", ())),
            numbers=tuple(getattr(options, "number", ())),
            ignored=tuple(getattr(options, "ignore", ())),
        )


@dataclass
class RowBlock:
    """Some rows of a file: the line on which each ends, and the columns, as the file has them."""

    n_rows: int
    columns: Sequence[Any]  # of a text file lists of cells, of others columns of Arrow
    lines: Any = ()  # of numbers


class TableFile(Protocol):
    """A file that is open: its columns' names, then its rows."""

    path: str
    names: list[str]
    remarks: list[str]
    index: tuple[str, ...]  # columns that are only an index of a pandas frame

    def close(self) -> None:
        """Close it."""

    def blocks(self, wanted: Sequence[int], numeric: Sequence[int] | None = None) -> Iterator[RowBlock]:
        """Yield the rows, of which only these columns are wanted, in this order; some are likely numbers."""


@dataclass
class Kinds:
    """What a command has found out about the columns of a file, for one line on stderr."""

    numbers: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)

    def said(self) -> str:
        """Return the line."""
        dates = _said(self.dates, "a date", "dates")
        parts = [_said(self.numbers, "a number", "numbers"), _said(self.categories, "a category", "categories")]
        return "; ".join(part for part in [*parts, dates and f"{dates}, in days since 1970"] if part)


_SHOWN = 6


def _said(names: Sequence[str], one: str, several: str) -> str:
    return "" if not names else f"{_listed(names)} {f'is {one}' if len(names) == 1 else f'are {several}'}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
