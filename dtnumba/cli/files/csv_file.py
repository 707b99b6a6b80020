"""Rows of text: separators, quotes, encodings, compressed files, standard input."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import sys
import zlib
from contextlib import ExitStack, closing, suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from dtnumba.cli.command import DataError, UsageError
from dtnumba.cli.files.byte_rows import LONG_BYTES, ReadAhead, byte_blocks
from dtnumba.cli.files.reading import Reading, RowBlock
from dtnumba.cli.files.spelling import Spelling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


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
        self._is_long, self._n_before = False, 0  # lines that were read before those of `_rows`
        self._bytes: Iterator[bytes] = iter(())
        try:
            with self._told():
                self._begin(path, reading)
        except BaseException:
            self.close()
            raise

    def _begin(self, path: str, reading: Reading) -> None:
        """Read the first line."""
        file = open_bytes(path, self._opened)
        encoding = encoding_of(file, reading.encoding)
        if encoding == "utf-8-sig":
            head = file.read(LONG_BYTES)
            is_plain = b'"' not in head and b"\n" in head.lstrip() and self.spelling.is_simple
            self._is_long = len(head) == LONG_BYTES and is_plain
            self._bytes = byte_blocks(head.removeprefix(codecs.BOM_UTF8), file)
            text = self._kept_lines() if self._is_long else lines_of(self._bytes)
        else:
            text = self._opened.enter_context(io.TextIOWrapper(file, encoding=encoding, newline=""))
        first_lines = list(islice(text, GUESS_LINES))
        self.separator = reading.separator or guessed_separator(first_lines)
        self._rows = csv.reader(chain(first_lines, text), strict=True, delimiter=self.separator)
        header = next((row for row in self._rows if row), None)
        self._is_long = self._is_long and ord(self.separator) < 128
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

    def _kept_lines(self) -> Iterator[str]:
        """Yield the lines of the first block, which is kept to be read by kernels."""
        first = next(self._bytes)
        self._bytes = chain([first], self._bytes)
        yield from lines_of([first])

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

    def blocks(self, wanted: Sequence[int], numeric: Sequence[int] | None = None) -> Iterator[RowBlock]:
        """Yield some rows at a time; blank lines are passed over. ``numeric``: columns that may hold numbers."""
        if self._is_long:
            yield from self._long_blocks(wanted, wanted if numeric is None else numeric)
        yield from self._short_blocks(wanted)

    def _long_blocks(self, wanted: Sequence[int], numeric: Sequence[int]) -> Iterator[RowBlock]:
        """Yield rows that kernels read, up to a block that has others: it and all behind it are left to Python."""
        n_before = self._rows.line_num - len(self._first)
        self._first = []
        reading = ReadAhead(_without_lines(self._bytes, n_before), ord(self.separator), len(self.names), numeric)
        found = reading.blocks()
        left: Iterable[bytes] = ()
        with closing(found):
            while True:
                with self._told():
                    block = next(found, None)
                if block is None:
                    break
                data, rows = block
                if rows.is_other:
                    left = chain([data], reading.left())
                    break
                if rows.is_ragged:
                    raise self._ragged(rows.n_cells, n_before + rows.n_lines)
                if rows.n_rows:
                    yield RowBlock(rows.n_rows, rows.columns(wanted), rows.lines + n_before)
                n_before += rows.n_lines
        self._n_before = n_before
        self._rows = csv.reader(lines_of(left), strict=True, delimiter=self.separator)

    def _short_blocks(self, wanted: Sequence[int]) -> Iterator[RowBlock]:
        """Yield rows that Python reads."""
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
                yield self._n_before + self._rows.line_num, row
            elif row:
                raise self._ragged(len(row), self._n_before + self._rows.line_num)

    def _ragged(self, n_cells: int, line: int) -> DataError:
        sign = SEPARATORS.get(self.separator, repr(self.separator))
        cells = "1 cell" if n_cells == 1 else f"{n_cells} cells"
        return DataError(
            f"{self.path}, line {line}: {cells} separated by {sign}, but the first line has {len(self.names)}"
        )

    def _told(self) -> _Told:
        return _Told(self.path)


def lines_of(blocks: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of blocks of whole lines."""
    for block in blocks:
        yield from io.StringIO(block.decode(), newline="")


def _without_lines(blocks: Iterator[bytes], n: int) -> Iterator[bytes]:
    """Yield blocks without the first n lines, which the first block has."""
    first, at = next(blocks), 0
    for _ in range(n):
        at = first.index(b"\n", at) + 1
    if at < len(first):
        yield first[at:]
    yield from blocks


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
