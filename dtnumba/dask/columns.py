"""What partitions say of their columns and of their target, joined to what a fit on all rows would say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.tables.binned_table import BinnedTable
from dtnumba.tables.categories import Gathered, GatheredLevels, KnownLevels
from dtnumba.tables.category_codes import present
from dtnumba.tables.labels import Labels, Values, codes_of, read_labels
from dtnumba.tables.table import MOST_ROWS, Table, read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.tables.category_codes import CodedColumn
    from dtnumba.tables.columns import Column


class Sealed:
    """Something that travels as it is: Dask looks for collections in tuples and in dataclasses."""

    def __init__(self, content: Any) -> None:
        self.content = content


class ShownColumn(NamedTuple):
    """What a batch shows of a column."""

    name: Any
    coded: CodedColumn | None  # a row for each of its categories; None where it holds numbers
    number: Any  # one of these, None where there is none


class ShownLevels(GatheredLevels):
    """Over one batch of many: what it shows, for whoever joins them."""

    def begin(self, n_features: int, names: NDArray[np.object_] | None) -> None:
        """Find the listed columns in the batch."""
        super().begin(n_features, names)
        self._coded: list[CodedColumn | None] = [None] * n_features

    def numbers(self, j: int, column: Column) -> NDArray[Any]:
        """Return the number of each row's value."""
        coded = column.coded()
        at = present(coded)
        values, codes = (coded.values, at) if coded.has_order else (coded.values[at], np.arange(len(at)))
        self._coded[j] = coded._replace(codes=codes, values=values)
        return super().numbers(j, column)

    def shown(self) -> list[ShownColumn]:
        """Return what the batch showed of each column."""
        return list(map(ShownColumn, self._names, self._coded, self._number))


class Report(NamedTuple):
    """What one partition says; of one without rows only its number of columns, where it has one."""

    n_rows: int
    n_features: int
    names: NDArray[np.object_] | None
    dtype: Any
    shown: list[ShownColumn]
    target: Labels | Values | None  # its classes, or its outputs, without rows; None of a table without a target


class PartedColumns(NamedTuple):
    """The columns of a table that lies in partitions, and its target without rows."""

    n_features: int
    names: NDArray[np.object_] | None
    dtype: np.dtype[Any]
    found: Gathered
    lengths: list[int]
    target: Labels | Values

    @property
    def n_rows(self) -> int:
        """Rows of all partitions."""
        return sum(self.lengths)

    @property
    def starts(self) -> NDArray[np.int64]:
        """The first row of each partition, and how many rows there are."""
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)

    @property
    def levels(self) -> Any:
        """The levels of each column, None of one of numbers; None where all are."""
        return self.found.levels

    @property
    def nominal(self) -> Any:
        """Which columns have levels without an order; None where none has."""
        return self.found.nominal


def is_empty(X: Any) -> bool:
    """Tell whether a partition has no rows."""
    shape = getattr(X, "shape", None)
    return (len(X) if shape is None else shape[0]) == 0


def look(X: Any, y: Any, weight: Any, model: Sealed) -> Report:
    """Return what a partition says."""
    estimator = model.content
    report = look_at_columns(X, y, weight, type(estimator).__name__, estimator.categorical_features)
    if report.n_rows == 0:
        return report
    outcome = estimator.read_target(y, report.n_rows)
    rowless = Labels(outcome.classes, outcome.codes[:0]) if isinstance(outcome, Labels) else Values(outcome.y[:0])
    return report._replace(target=rowless)


def look_at_columns(X: Any, y: Any, weight: Any, caller: str, wanted: Any) -> Report:
    """Return what a partition says of its columns."""
    if is_empty(X):
        return Report(0, X.shape[1] if len(getattr(X, "shape", ())) == 2 else 0, None, None, [], None)
    if isinstance(X, BinnedTable):  # whoever made it knows the columns
        return Report(X.n_rows, X.n_features, X.names, X.dtype, [], None)
    levels = ShownLevels(wanted, caller)
    table = _dense(read_table(X, caller, categories=levels), caller)
    return Report(table.n_rows, table.n_features, table.names, table.dtype, levels.shown(), None)


def _dense(table: Table, caller: str) -> Table:
    if table.cells is None:
        raise TypeError(
            f"X has sparse partitions: dtnumba.dask.{caller} reads dense ones; map_blocks(lambda one: one.toarray()), "
            f"or gather the rows and fit dtnumba.{caller}, which keeps them sparse"
        )
    return table


def joined(reports: Sequence[Report], caller: str, wanted: Any, known: PartedColumns | None = None) -> PartedColumns:
    """Return the columns of all partitions; an error names the first partition that disagrees with those before it.

    ``known``: the columns, where partitions are codes of these.
    """
    full = [(k, report) for k, report in enumerate(reports) if report.n_rows]
    if not full:
        raise ValueError(f"X has {len(reports)} partitions and no rows: {caller} needs at least one row")
    n_rows = sum(report.n_rows for report in reports)
    if n_rows > MOST_ROWS:
        raise ValueError(f"X has {n_rows} rows: at most {MOST_ROWS} fit into one table; train on a sample of them")
    number, first = full[0]
    if known is not None:
        return known._replace(target=_joined_targets([(k, report.target) for k, report in full], caller))
    levels = GatheredLevels(wanted, caller)
    for k, report in full:
        if report.n_features != first.n_features:
            raise ValueError(
                f"partition {k} of X has {report.n_features} columns, and partition {number} has {first.n_features}: "
                "all must have the same"
            )
        if _listed(report.names) != _listed(first.names):
            raise ValueError(
                f"partition {k} of X has the columns {_listed(report.names)}, and partition {number} has "
                f"{_listed(first.names)}: all must have the same in the same order"
            )
        levels.begin(report.n_features, report.names)
        try:
            levels.join(report.shown)
        except ValueError as error:
            raise ValueError(f"partition {k} of X and those before it: {error}") from error
    dtype = np.result_type(*[report.dtype for _, report in full])
    target = _joined_targets([(k, report.target) for k, report in full], caller)
    lengths = [report.n_rows for report in reports]
    return PartedColumns(first.n_features, first.names, dtype, levels.finish(), lengths, target)


def _listed(names: Any) -> list[str] | None:
    return None if names is None else list(names)


def _joined_targets(targets: Sequence[tuple[int, Any]], caller: str) -> Labels | Values:
    number, first = targets[0]
    if first is None:
        return Values(np.empty((0, 0)))
    for k, target in targets:
        if len(target.sizes) != len(first.sizes):
            raise ValueError(
                f"partition {k} of y has {len(target.sizes)} outputs, and partition {number} has {len(first.sizes)}"
            )
    if not isinstance(first, Labels):
        return Values(first.y)
    classes: list[NDArray[Any]] = []
    for o in range(len(first.sizes)):
        found = np.concatenate([target.classes[o] for _, target in targets])
        classes += read_labels(found, len(found), caller).classes
    return Labels(classes, np.empty((0, len(classes)), np.uint8))


def read_part(X: Any, columns: PartedColumns, caller: str) -> Table:
    """Return the Table of a partition that has rows, its categories numbered as those of all partitions."""
    known = KnownLevels(columns.levels, "which it had not when it was read first; a partition must be the same always")
    table = _dense(read_table(X, caller, categories=known), caller)
    cells = table.cells
    if cells is not None and cells.flat.dtype != columns.dtype:
        from dtnumba.tables.cells import cells_of, values_of

        cells = cells_of(values_of(cells).astype(columns.dtype))
    return replace(table, cells=cells, nominal=columns.nominal)


def read_target_part(X: Any, y: Any, weight: Any, model: Sealed, columns: Sealed) -> tuple[Any, Any]:
    """Return the target of a partition, in codes of all classes, and its weights as they were passed."""
    estimator, target = model.content, columns.content.target
    if is_empty(X):
        return (target.codes if isinstance(target, Labels) else np.empty((0, target.width))), None
    outcome = estimator.read_target(y, X.shape[0] if hasattr(X, "shape") else len(X))
    if isinstance(outcome, Labels):
        narrow = np.uint8 if max(target.sizes) <= 256 else np.int32
        return codes_of(outcome, target.classes).astype(narrow), weight
    return outcome.y, weight


def joined_target(columns: Sealed, *parts: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return the target of all rows, and their weights as they were passed."""
    target: Labels | Values = columns.content.target
    dtype = {part.dtype for part, _ in parts if len(part)}.pop()
    whole = np.concatenate([part.astype(dtype, copy=False) for part, _ in parts])
    weights = [weight for _, weight in parts if weight is not None]
    weight: Any = None
    if weights:
        is_number = isinstance(weights[0], (int, float, np.number))
        weight = weights[0] if is_number else np.concatenate([np.asarray(part) for part in weights])
    return (Labels(target.classes, whole) if isinstance(target, Labels) else Values(whole)), weight
