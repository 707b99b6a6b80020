"""A file to learn from: its features as columns, its target as text."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.cli.command import DataError
from dtnumba.cli.files.arrow_file import ARROW_SUFFIXES, ArrowFile
from dtnumba.cli.files.byte_rows import ByteCells
from dtnumba.cli.files.columns import DATE, OTHER_SIGNS, SPELLED, FileColumn
from dtnumba.cli.files.csv_file import CsvFile
from dtnumba.cli.files.reading import Kinds, Reading
from dtnumba.cli.files.spelling import Spelling, has_decimal_comma
from dtnumba.tables.arrow.table import ArrowColumn
from dtnumba.tables.columns import NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class RawTable:
    """A table as it stands in a file: features as numbers, the target still as text ("" where missing)."""

    names: list[str]
    X: NDArray[np.float64]
    levels: list[list[str] | None]  # of each feature, whose number is their place; None of one of numbers
    target: str
    target_cells: list[str]
    spelling: Spelling = field(default_factory=Spelling)  # of the target
    kinds: Kinds = field(default_factory=Kinds)
    remarks: tuple[str, ...] = ()  # what was guessed


def open_table(path: str, reading: Reading) -> Any:
    """Return a file that is open, by its suffix."""
    is_arrow = Path(path).suffix.lower() in ARROW_SUFFIXES
    return ArrowFile(path, reading) if is_arrow else CsvFile(path, reading)


def read_table(path: str, target: str | None = None, reading: Reading | None = None) -> RawTable:
    """Read a whole file; `target` defaults to the last column.

    Features of text are categories, and so are those that the caller names.

    Raises
    ------
    DataError
        If the file cannot be read, or a feature holds text and numbers.
    """
    reading = Reading() if reading is None else reading
    with closing(open_table(path, reading)) as file:
        return _read(file, target, reading)


def _read(file: Any, target: str | None, reading: Reading) -> RawTable:
    left_out = [name for name in file.index if name != target and name not in {*reading.categories, *reading.numbers}]
    names = [name for name in file.names if name not in left_out]
    if len(names) < 2 and left_out:
        raise DataError(f"{file.path}: a target and at least one feature are needed, and beside the index of a pandas "
                        f"frame there is only {', '.join(map(repr, names)) or 'nothing'}; --target or --category "
                        f"with a column of the index keeps it: {', '.join(map(repr, left_out))}")  # fmt: skip
    target = _target_of(file, names, target)
    check_named(file.path, reading.ignored, [name for name in file.names if name != target], "--ignore")
    features = [name for name in names if name != target and name not in reading.ignored]
    if not features:
        raise DataError(f"{file.path}: no feature is left beside {target!r}; --ignore fewer columns")
    check_named(file.path, reading.categories, [*features, target], "--category")
    check_named(file.path, reading.numbers, [*features, target], "--number")
    given = dict.fromkeys(reading.numbers, NUMBER) | dict.fromkeys(reading.categories, SPELLED)
    columns = [FileColumn(name, file.spelling, file.path, given.get(name, "")) for name in features]
    wanted = [file.names.index(name) for name in (target, *features)]
    blocks: list[NDArray[np.float64]] = []
    cells: list[str] = []
    seen: dict[str, str] = {}  # one string for all the cells that hold the same label
    # Which columns are likely to be numbers: one of text is read as such at once.
    numeric = [j for j, column in zip(wanted[1:], columns, strict=True) if column.kind != SPELLED]
    for block in file.blocks(wanted, numeric):
        cells += (seen.setdefault(cell, cell) for cell in _as_text(block.columns[0]))
        numbers = np.empty((block.n_rows, len(features)), order="F")
        for j, column in enumerate(columns):
            numbers[:, j] = column.read(block.columns[1 + j], block.lines)
        blocks.append(numbers)
    if not blocks:
        raise DataError(f"{file.path}: the file names columns, but has no rows")
    X = np.concatenate(blocks)
    levels = [column.levels(X[:, j]) for j, column in enumerate(columns)]
    if isinstance(file, CsvFile) and file.separator != ",":
        found = {name: own for name, own in zip(features, levels, strict=True) if own and name not in given}
        _refuse_decimal_commas(file, found | {target: [cell for cell in seen if not file.spelling.is_missing(cell)]})
    remarks = [*file.remarks, *_leading_zeros(file.path, columns)]
    if left_out:
        remarks.append(f"{file.path}: leaving out the index of a pandas frame, {', '.join(map(repr, left_out))}")
    return RawTable(features, X, levels, target, cells, file.spelling, kinds_of(columns), tuple(remarks))


def kinds_of(columns: Sequence[FileColumn]) -> Kinds:
    """Return what columns have been taken for."""
    kinds = Kinds()
    for column in columns:
        {SPELLED: kinds.categories, DATE: kinds.dates}.get(column.kind, kinds.numbers).append(column.name)
    return kinds


def _leading_zeros(path: str, columns: Sequence[FileColumn]) -> Iterator[str]:
    """Yield what there is to say of numbers with zeros before them, which may be names."""
    for column in columns:
        if column.kind == NUMBER and column.leading_zero:
            yield (
                f"{path}: {column.name!r} is taken for numbers, {column.leading_zero!r} for that without the zero; "
                f"--category {column.name!r} keeps what is written"
            )


def _as_text(cells: Any) -> Sequence[str]:
    if isinstance(cells, ByteCells):
        return cells.texts()
    if not isinstance(cells, ArrowColumn):
        return cells  # type: ignore[no-any-return]
    return ["" if cell is None else str(cell) for cell in cells.to_list()]


def _refuse_decimal_commas(file: CsvFile, cells_of: dict[str, list[str]]) -> None:
    """Refuse columns of numbers like 1,5, which would be read as text."""
    if file.spelling.is_plain:
        for name, cells in cells_of.items():
            with_comma = [cell for cell in cells if has_decimal_comma(cell)]
            others = [cell for cell in cells if not has_decimal_comma(cell)]
            if with_comma and all(file.spelling.as_number(cell) is not None for cell in others):
                raise DataError(f"{file.path}: column {name!r} holds {with_comma[0]!r}: {OTHER_SIGNS}, or pass "
                                f"--category {name!r}")  # fmt: skip


def _target_of(file: Any, names: Sequence[str], target: str | None) -> str:
    """Return the name of the target column."""
    if len(names) < 2:
        raise DataError(f"{file.path}: only one column, {names[0]!r}; a target and at least one feature are needed, "
                        "separated by commas (or by ;, | or tabs throughout, or by --sep)")  # fmt: skip
    if target is None:
        return names[-1]
    if target not in file.names:
        raise DataError(f"{file.path}: no column is named {target!r} (--target); there are {shown_names(names)}")
    return target


def check_named(path: str, named: Sequence[str], features: Sequence[str], option: str) -> None:
    """Raise an error where an option names no feature."""
    for name in named:
        if name not in features:
            raise DataError(f"{path}: no feature is named {name!r} ({option}); there are {shown_names(features)}")


def shown_names(names: Sequence[str]) -> str:
    """Return names for a message: the first of many."""
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
