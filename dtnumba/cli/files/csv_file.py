"""Rows of text: separators, quotes, encodings, compressed files, standard input."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import sys
import zlib
from contextlib import ExitStack, suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from dtnumba.cli.command import DataError, UsageError
from dtnumba.cli.files.reading import Reading, RowBlock
from dtnumba.cli.files.spelling import Spelling

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


BLOCK_ROWS = 8_192  # rows held as text at a time: numbers take an eighth of the room of their text
SEPARATORS = {",": "','", ";": "';'", "\t": "tab", "|": "'|'"}  # and their names; the first is the usual one
GUESS_LINES = 20
_GZIP = b"\x1f\x8b"


def open_bytes(path: str, opened: ExitStack) -> Any:
    """Return the bytes of a file, or of standard input for "-", as they are when they are not compressed."""
    where: Any = sys.stdin.fileno() if path == "-" else path
    file: Any = opened.enter_context(open(where, "rb", closefd=path != "-"))  # noqa: SIM115
    return opened.enter_context(gzip.open(file)) if file.peek(2)[:2] == _GZIP else file


def encoding_of(file: Any, given: str | None) -> str:
    """Return the encoding of a file that begins here: the given one, or UTF-16 where a mark says so, or UTF-8."""
    if given is not None:
        try:
            name = codecs.lookup(given).name
        except LookupError as error:
            raise UsageError(f"--encoding {given}: no such encoding; utf-8, utf-16 and latin-1 are some") from error
        return "utf-8-sig" if name == "utf-8" else name
    is_wide = file.peek(2)[:2] in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}
    return "utf-16" if is_wide else "utf-8-sig"


class CsvFile:
    """A file of text that is open, its first line read.

    Parameters
    ----------
    path : str
        Of the file; "-" is standard input.
    reading : Reading
        What the caller says about it.

    """

    index = ()

    def __init__(self, path: str, reading: Reading) -> None:
        self.path = "standard input" if path == "-" else path
        self.remarks: list[str] = []
        self._reading = reading
        self.spelling = Spelling(reading.missing, reading.decimal, reading.thousands)
        self._opened = ExitStack()
        try:
            with self._told():
                self._begin(path, reading)
        except BaseException:
            self.close()
            raise

    def _begin(self, path: str, reading: Reading) -> None:
        """Read the first line."""
        file = open_bytes(path, self._opened)
        text = io.TextIOWrapper(file, encoding=encoding_of(file, reading.encoding), newline="")
        self._opened.enter_context(text)
        first_lines = list(islice(text, GUESS_LINES))
        self.separator = reading.separator or guessed_separator(first_lines)
        self._rows = csv.reader(chain(first_lines, text), strict=True, delimiter=self.separator)
        header = next((row for row in self._rows if row), None)
        if header is None:
            raise DataError(f"{self.path}: the file is empty; its first line should name the columns")
        self._first: list[list[str]] = []
        if reading.has_header:
            self.names = [" ".join(name.split()) for name in header]
            self._check_header()
        else:
            self.names, self._first = [str(j) for j in range(len(header))], [header]
        if reading.separator is None and self.separator != ",":
            self.remarks.append(f"{self.path}: taking {SEPARATORS[self.separator]} as what separates cells")

    def close(self) -> None:
        """Close the file."""
        self._opened.close()

    def _check_header(self) -> None:
        names = self.names
        is_counted = names == [str(i) for i in range(len(names))]
        if all(self.spelling.as_number(name) is not None for name in names) and not is_counted:
            raise DataError(f"{self.path}: the first line should name the columns, but holds only numbers: "
                            f"{names[:3]}; pass --no-header if it is a row")  # fmt: skip
        for position, name in enumerate(names):
            if not name:
                raise DataError(f"{self.path}: column {position + 1} has no name; name it, or leave it out if it only "
                                "counts")  # fmt: skip
            if name in names[:position]:
                raise DataError(f"{self.path}: two columns are named {name!r}; rename one")

    def blocks(self, wanted: Sequence[int]) -> Iterator[RowBlock]:
        """Yield some rows at a time; blank lines are passed over."""
        numbered = self._numbered_rows()
        while True:
            with self._told():
                block = list(islice(numbered, BLOCK_ROWS))
            if not block:
                self.close()
                return
            columns = list(zip(*(row for _, row in block), strict=True))
            yield RowBlock(len(block), [columns[j] for j in wanted], [line for line, _ in block])

    def _numbered_rows(self) -> Iterator[tuple[int, list[str]]]:
        width = len(self.names)
        for row in chain(self._first, self._rows):
            if len(row) == width:
                yield self._rows.line_num, row
            elif row:
                sign = SEPARATORS.get(self.separator, repr(self.separator))
                cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
                raise DataError(
                    f"{self.path}, line {self._rows.line_num}: {cells} separated by {sign}, but the first line has "
                    f"{width}"
                )

    def _told(self) -> _Told:
        return _Told(self.path)


class _Told:
    """Errors of reading in words that say what to do."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, UnicodeError):
            at = f"byte {error.start}" if isinstance(error, UnicodeDecodeError) else "what it begins with"
            encoding = getattr(error, "encoding", "UTF-8").upper().removesuffix("-SIG")
            raise DataError(f"{self._path}: {at} is not {encoding} text; save the file as UTF-8, or say how it is "
                            "written, such as --encoding latin-1") from error  # fmt: skip
        if isinstance(error, csv.Error):
            raise DataError(f"{self._path}: {_mended(error)}") from error
        if isinstance(error, (EOFError, gzip.BadGzipFile, zlib.error)):
            raise DataError(f"{self._path}: the compressed file is damaged ({error})") from error
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            raise DataError(f"{self._path}: {error.strerror or error}") from error


def _mended(error: csv.Error) -> str:
    """Say what is wrong with the text of a file."""
    if "field limit" in str(error):
        return (
            f"a cell holds more than {csv.field_size_limit():,} characters: close the double quote that it begins "
            "with, or leave the column out"
        )
    return f"not a CSV file ({error})"


def guessed_separator(lines: Sequence[str]) -> str:
    """Guess what separates the cells of a table that begins with these lines.

    That is the comma, unless the rows have several cells each, and equally many, by another sign alone; of several
    such signs it is the one of most cells.
    """
    widths = {sign: _widths(lines, sign) for sign in SEPARATORS}
    even = {sign: own[0] for sign, own in widths.items() if own and own[0] > 1 and len(set(own)) == 1}
    if "," in even or not (even or widths[","][:1] == [1]):
        return ","
    firsts = even or {sign: own[0] for sign, own in widths.items() if own}
    return max(firsts, key=lambda sign: firsts[sign], default=",")


def _widths(lines: Sequence[str], separator: str) -> list[int]:
    """Return how many cells the first rows of a table have."""
    found: list[int] = []
    with suppress(csv.Error):  # a cell of several lines, cut off here, or no table at all
        found.extend(len(row) for row in csv.reader(lines, strict=True, delimiter=separator) if row)
    return found
