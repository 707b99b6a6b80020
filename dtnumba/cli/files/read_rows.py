"""A file to predict: blocks of the columns that a model knows, by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.cli.command import DataError
from dtnumba.cli.files.columns import DATE, SPELLED, FileColumn, LevelColumn
from dtnumba.cli.files.read_table import open_table, shown_names
from dtnumba.tables.columns import NUMBER, ArrayColumn, Column, ColumnTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dtnumba.cli.files.reading import Reading


class ModelRows:
    """The rows of a file as the model takes them.

    Parameters
    ----------
    path : str
        Of the file; "-" is standard input.
    reading : Reading
        How it is read.
    model : estimator
        A fitted one. Columns are found by their names in its training, or by their place where it knows none.

    """

    def __init__(self, path: str, reading: Reading, model: Any) -> None:
        self._file = open_table(path, reading)
        try:
            self._find(reading, model)
        except BaseException:
            self._file.close()
            raise

    def _find(self, reading: Reading, model: Any) -> None:
        """Find the columns of the model in the file."""
        file = self._file
        names = getattr(model, "feature_names_in_", None)
        n_features = int(model.n_features_in_)
        known = [str(j) for j in range(n_features)] if names is None else [str(name) for name in names]
        self.remarks = list(file.remarks)
        absent = [name for name in known if name not in file.names]
        if (names is None or not reading.has_header) and len(file.names) == n_features:
            wanted = list(range(n_features))
        elif absent:
            way = "; they are found by name" if reading.has_header else ""
            raise DataError(f"{file.path}: no column is named {shown_names(absent)}, which the model was trained on; "
                            f"there are {shown_names(file.names)}{way}")  # fmt: skip
        else:
            wanted = [file.names.index(name) for name in known]
            others = [name for name in file.names if name not in known and name not in file.index]
            if others:
                self.remarks.append(f"{file.path}: the model does not know {shown_names(others)}, which is left out")
        self._wanted, self._names = wanted, None if names is None else known
        levels = getattr(model, "categories_", None) or [None] * n_features
        kinds = getattr(model, "column_kinds_", None)
        self._levels, self._columns = levels, []
        for j, (name, own) in enumerate(zip(known, levels, strict=True)):
            is_text = own is not None and (len(own) == 0 or isinstance(own[0], str))
            kind = SPELLED if is_text else DATE if kinds is not None and kinds[j] == DATE else NUMBER
            self._columns.append(FileColumn(name, file.spelling, file.path, kind, of_model=True))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def blocks(self) -> Iterator[Any]:
        """Yield some rows at a time, as `predict` takes them."""
        numeric = [j for j, column in zip(self._wanted, self._columns, strict=True) if column.kind == NUMBER]
        for block in self._file.blocks(self._wanted, numeric):
            columns: list[Column] = []
            numbers = np.empty((block.n_rows, len(self._columns)), order="F")
            for j, (column, own) in enumerate(zip(self._columns, self._levels, strict=True)):
                numbers[:, j] = column.read(block.columns[j], block.lines)
                if own is not None and column.kind == SPELLED:
                    columns.append(LevelColumn(column.name, numbers[:, j], list(column.codes)))
                else:
                    columns.append(ArrayColumn(numbers[:, j], column.name))
            if all(own is None for own in self._levels) and self._names is None:
                yield numbers
            else:
                whole = numbers if all(own is None for own in self._levels) else None
                yield ColumnTable(self._names, columns, block.n_rows, whole)
