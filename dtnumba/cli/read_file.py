"""A file -> names, numbers and a target. CSV by the standard library; Parquet and Arrow where pyarrow is installed."""

from __future__ import annotations

import csv
import json
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.cli.command import CommandError
from dtnumba.cli.feature_column import WITHOUT_COMMA, FeatureColumn, as_number, has_decimal_comma, is_missing
from dtnumba.tables.floats import check_distinct

if TYPE_CHECKING:
    from _csv import Reader
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


BLOCK_ROWS = 8_192  # rows held as text at a time: numbers take an eighth of the room of their text
ARROW_SUFFIXES = (".parquet", ".arrow", ".feather")
SEPARATORS = {",": "','", ";": "';'", "\t": "tab", "|": "'|'"}  # and their names; the first is the usual one
GUESS_LINES = 20


@dataclass(frozen=True)
class RawTable:
    """A table as it stands in a file: features as numbers, the target still as text ("" where missing)."""

    names: list[str]
    X: NDArray[np.float64]
    levels: list[list[str] | None]  # of each feature, whose number is their place; None of one of numbers
    target: str
    target_cells: list[str]
    remarks: tuple[str, ...] = ()  # what was guessed


def read_table(file: str, target: str | None, categories: Sequence[str] = ()) -> RawTable:
    """Read a file by its suffix; `target` defaults to the last column.

    Features of text are categories, and so are those named in `categories`.

    Raises
    ------
    CommandError
        If the file cannot be read, or a feature holds text and numbers.
    """
    path = Path(file)
    try:
        if path.suffix.lower() in ARROW_SUFFIXES:
            return _read_arrow(path, target, categories)
        return _read_csv(path, target, categories)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: byte {error.start} is not UTF-8 text; save the file as UTF-8") from error
    except csv.Error as error:
        raise CommandError(f"{path}: {_mended(error)}") from error


def _mended(error: csv.Error) -> str:
    """Say what is wrong with the text of a file."""
    if "field limit" in str(error):
        return (
            f"a cell holds more than {csv.field_size_limit():,} characters: close the double quote that it begins "
            "with, or leave the column out"
        )
    return f"not a CSV file ({error})"


def _read_csv(path: Path, target: str | None, categories: Sequence[str]) -> RawTable:
    with path.open(newline="", encoding="utf-8-sig") as file:
        first_lines = list(islice(file, GUESS_LINES))
        separator = _separator(first_lines)
        reader = csv.reader(chain(first_lines, file), strict=True, delimiter=separator)
        header = next((row for row in reader if row), None)
        if header is None:
            raise CommandError(f"{path}: the file is empty; its first line should name the columns")
        names = [" ".join(name.split()) for name in header]
        target = _check_names(path, names, target)
        if all(as_number(name) is not None for name in names) and names != [str(i) for i in range(len(names))]:
            raise CommandError(f"{path}: the first line should name the columns, but holds only numbers: {names[:3]}")
        where = names.index(target)
        features = names[:where] + names[where + 1 :]
        _check_categories(path, categories, features)
        readers = [FeatureColumn(name, is_category=name in categories) for name in features]
        blocks: list[NDArray[np.float64]] = []
        target_cells: list[str] = []
        seen: dict[str, str] = {}  # one string for all the cells that hold the same label
        for lines, rows in _blocks_of_rows(reader, len(names), path, SEPARATORS[separator]):
            columns = list(zip(*rows, strict=True))
            target_cells += (seen.setdefault(cell, cell) for cell in columns.pop(where))
            numbers = np.empty((len(rows), len(features)), order="F")
            for j, (column, cells) in enumerate(zip(readers, columns, strict=True)):
                numbers[:, j] = column.read(cells, path, lines)
            blocks.append(numbers)
    if not blocks:
        raise CommandError(f"{path}: the file names columns, but has no rows")
    X = np.concatenate(blocks)
    levels = [column.levels(X[:, j]) for j, column in enumerate(readers)]
    if separator == ",":
        return RawTable(features, X, levels, target, target_cells)
    cells_of = {name: own for name, own in zip(features, levels, strict=True) if own and name not in categories}
    _refuse_decimal_commas(path, cells_of | {target: [cell for cell in seen if not is_missing(cell)]})
    remark = f"{path}: taking {SEPARATORS[separator]} as what separates cells"
    return RawTable(features, X, levels, target, target_cells, (remark,))


def _separator(lines: Sequence[str]) -> str:
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


def _refuse_decimal_commas(path: Path, cells_of: dict[str, list[str]]) -> None:
    """Refuse columns of numbers like 1,5, which would be read as text."""
    for name, cells in cells_of.items():
        with_comma = [cell for cell in cells if has_decimal_comma(cell)]
        if with_comma and all(has_decimal_comma(cell) or as_number(cell) is not None for cell in cells):
            raise CommandError(f"{path}: column {name!r} holds {with_comma[0]!r}: {WITHOUT_COMMA}")


def _check_names(path: Path, names: Sequence[str], target: str | None) -> str:
    """Return the name of the target column, once the names are known to be usable."""
    if len(names) < 2:
        raise CommandError(f"{path}: only one column, {names[0]!r}; a target and at least one feature are needed, "
                           "separated by commas (or by ;, | or tabs throughout)")  # fmt: skip
    for position, name in enumerate(names):
        if not name:
            raise CommandError(f"{path}: column {position + 1} has no name; name it, or leave it out if it only counts")
        if name in names[:position]:
            raise CommandError(f"{path}: two columns are named {name!r}; rename one")
    if target is None:
        return names[-1]
    if target not in names:
        shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
        raise CommandError(f"{path}: no column is named {target!r} (--target); there are {shown}")
    return target


def _check_categories(path: Path, categories: Sequence[str], features: Sequence[str]) -> None:
    for name in categories:
        if name not in features:
            shown = ", ".join(features[:10]) + (", ..." if len(features) > 10 else "")
            raise CommandError(f"{path}: no feature is named {name!r} (--category); there are {shown}")


def _blocks_of_rows(reader: Reader, width: int, path: Path, sign: str) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Yield some rows at a time, with the line each ends on; blank lines are passed over."""

    def numbered_rows() -> Iterator[tuple[int, list[str]]]:
        for row in reader:
            if len(row) == width:
                yield reader.line_num, row
            elif row:
                raise CommandError(
                    f"{path}, line {reader.line_num}: {len(row)} cells separated by {sign}, but the first line has "
                    f"{width}"
                )

    numbered = numbered_rows()
    while block := list(islice(numbered, BLOCK_ROWS)):
        yield [line for line, _ in block], [row for _, row in block]


def _read_arrow(path: Path, target: str | None, categories: Sequence[str]) -> RawTable:
    path.open("rb").close()  # a missing file is the same error for every format
    try:
        import pyarrow as pa
    except ImportError as error:
        raise CommandError(f"{path}: reading {path.suffix} needs pyarrow: pip install 'dtnumba[frames]'") from error
    try:
        table = _arrow_table(path)
    except pa.ArrowInvalid as error:
        raise CommandError(f"{path}: not a {path.suffix} file ({error})") from error
    index = [name for name in _index_columns(table) if name != target and name not in categories]
    table = table.drop_columns(index)
    names = [str(name) for name in table.column_names]
    if len(names) < 2 and index:
        raise CommandError(f"{path}: a target and at least one feature are needed, and beside the index of a pandas "
                           f"frame there is only {', '.join(map(repr, names)) or 'nothing'}; --target or --category "
                           f"with a column of the index keeps it: {', '.join(map(repr, index))}")  # fmt: skip
    target = _check_names(path, names, target)
    if not table.num_rows:
        raise CommandError(f"{path}: the file names columns, but has no rows")
    features = [name for name in names if name != target]
    _check_categories(path, categories, features)
    X = np.empty((table.num_rows, len(features)), order="F")
    levels: list[list[str] | None] = []
    for j, name in enumerate(features):
        column = table.column(name)
        if pa.types.is_nested(column.type):
            raise CommandError(f"{path}: column {name!r} holds {column.type}, of which a cell is no single value; "
                               "leave it out, or write a column for each part")  # fmt: skip
        if name in categories or _is_text(column.type):
            X[:, j], own = _arrow_levels(column)
            levels.append(own)
        else:
            X[:, j] = _arrow_numbers(column, name, path)
            levels.append(None)
    cells = ["" if cell is None else str(cell) for cell in table.column(target).to_pylist()]
    remarks = (f"{path}: leaving out the index of a pandas frame, {', '.join(map(repr, index))}",) if index else ()
    return RawTable(features, X, levels, target, cells, remarks)


def _index_columns(table: Any) -> list[str]:
    """Return the columns that hold the index of the pandas frame that a table was."""
    stated = (table.schema.metadata or {}).get(b"pandas")
    listed = [] if stated is None else json.loads(stated).get("index_columns", [])
    return [name for name in listed if isinstance(name, str) and table.column_names.count(name) == 1]


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _arrow_levels(column: Any) -> tuple[NDArray[np.float64], list[str]]:
    """Return the numbers of the levels of a column, NaN where it is null, and the levels, sorted."""
    cells = column.to_pylist()
    values = set(cells) - {None}
    levels = sorted({str(value) for value in values})
    place = {level: k for k, level in enumerate(levels)}
    code = {None: float("nan")} | {value: float(place[str(value)]) for value in values}
    return np.fromiter((code[cell] for cell in cells), np.float64, len(cells)), levels


def _arrow_numbers(column: Any, name: str, path: Path) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    kinds = pa.types
    kind = column.type
    if not any(is_kind(kind) for is_kind in (kinds.is_integer, kinds.is_floating, kinds.is_decimal, kinds.is_boolean,
                                             kinds.is_null)):  # fmt: skip
        value = next((cell.as_py() for cell in column if cell.is_valid), None)
        raise CommandError(f"{path}: column {name!r} holds {value!r} ({kind}), which is neither a number "
                           f"nor text; write it as one of these, or pass --category {name!r}")  # fmt: skip
    if kinds.is_integer(kind) and kind.bit_width == 64:
        try:
            check_distinct(np.asarray(column.drop_null()), name)
        except ValueError as error:
            raise CommandError(f"{path}: {error}, or pass --category {name!r}") from error
    if kinds.is_decimal(kind) and pc.count_distinct(column.cast(pa.float64(), safe=False)) != pc.count_distinct(column):
        raise CommandError(f"{path}: column {name!r} holds numbers ({kind}) that differ, and are the same as float64; "
                           f"subtract what they share, or pass --category {name!r}")  # fmt: skip
    if kinds.is_boolean(kind):
        column = column.cast(pa.int8())  # Arrow has no way from booleans to floats in one step
    numbers: NDArray[np.float64] = pc.fill_null(column.cast(pa.float64(), safe=False), float("nan")).to_numpy()
    return numbers


def _arrow_table(path: Path) -> Any:
    import pyarrow as pa

    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet

        return pyarrow.parquet.read_table(path)
    if path.suffix.lower() == ".feather":
        import pyarrow.feather

        return pyarrow.feather.read_table(path)
    with path.open("rb") as file:
        # An .arrow file may be either of the two IPC formats; only one of them starts with this mark.
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        return (pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)).read_all()
