"""A table as the forward pass reads it: columns in order, scaled to the same size, categories by level."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.mars.scan import KNOTS, ONLY_LEVELS, ONLY_LINE
from dtnumba.tables.cells import cells_of
from dtnumba.tables.presort import NEW, ROW, presort
from dtnumba.tables.table import Table
from dtnumba.trees.hinges import OF_LEVEL, OF_MISSING

if TYPE_CHECKING:
    from numpy.typing import NDArray


_EXPONENTS = 1000


class Predictor(NamedTuple):
    """A column that terms are made of: a feature, or where a feature is missing."""

    feature: int
    kind: int  # KNOTS, ONLY_LINE or ONLY_LEVELS
    level: int  # OF_LEVEL or OF_MISSING: what a level of it is
    scale: float  # a power of two
    is_line: bool = False  # whether no knot is wanted


class SortedPredictors(NamedTuple):
    """The columns of a table, sorted."""

    table: Table  # without missing values
    each: list[Predictor]
    missing: dict[int, NDArray[np.bool_]]  # by feature: where it is missing
    fill: NDArray[np.float64]  # (features,) in place of a missing value; NaN where there is no such thing
    order: NDArray[np.uint32]  # (predictors, n)
    values: NDArray[np.float64]  # (predictors, n) in that order, scaled
    reach: NDArray[np.float64]  # (features, 2): the least and the largest value; of a category its first and last level
    n_columns: int  # numbers, and levels but the first of each category: among so many a knot is chosen

    def column(self, c: int, level: float) -> NDArray[np.float64]:
        """Return a predictor by row, scaled; of a category where it has a level."""
        predictor = self.each[c]
        if predictor.level == OF_MISSING:
            return self.missing[predictor.feature].astype(np.float64)
        column = self.table.column(predictor.feature)
        return (column == level).astype(np.float64) if predictor.kind == ONLY_LEVELS else column * predictor.scale


def read_predictors(
    table: Table, linear: NDArray[np.bool_], fills: bool, caller: str, workers: int
) -> SortedPredictors:
    """Return the predictors of a table.

    Parameters
    ----------
    table : Table
        Rows of positive weight.
    linear : array of bool (features,)
        Which features may enter linearly only.
    fills : bool
        Whether a missing value is read as the median, and being missing is a predictor of its own.
    caller : str
        Name of the estimator, for messages.
    workers : int
        Threads that sort.

    """
    n, p = table.n_rows, table.n_features
    fill = np.full(p, np.nan)
    missing: dict[int, NDArray[np.bool_]] = {}
    if fills:
        table, missing = _filled(table, fill)
    order = presort(table, np.arange(n, dtype=np.uint32), p, workers).reshape(p, n)
    each: list[Predictor] = []
    values, reach = np.empty((p + len(missing), n)), np.empty((p, 2))
    n_columns = len(missing)
    for j in range(p):
        n_values = 1 + int(np.count_nonzero(order[j] & NEW))
        order[j] &= ROW
        np.take(table.column(j), order[j], out=values[j], mode="clip")
        reach[j] = values[j, 0], values[j, -1]
        if table.n_levels(j) > 0 and _is_nominal(table, j):
            reach[j] = 0, table.n_levels(j) - 1
            each.append(Predictor(j, ONLY_LEVELS, OF_LEVEL, 1.0))
            n_columns += max(0, table.n_levels(j) - 1)
            continue
        _refuse_infinity(table, j, values[j], caller)
        scale = _scale(values[j, 0], values[j, -1])
        values[j] *= scale
        each.append(Predictor(j, ONLY_LINE if linear[j] or n_values <= 2 else KNOTS, 0, scale, bool(linear[j])))
        n_columns += 1
    if missing:
        more = np.empty((len(missing), n), np.uint32)
        for k, (j, is_missing) in enumerate(missing.items()):
            more[k] = np.argsort(is_missing, kind="stable")
            values[p + k] = is_missing[more[k]]
            each.append(Predictor(j, ONLY_LEVELS, OF_MISSING, 1.0))
        order = np.concatenate([order, more])
    return SortedPredictors(table, each, missing, fill, order, values, reach, max(1, n_columns))


def _is_nominal(table: Table, j: int) -> bool:
    return table.nominal is not None and bool(table.nominal[j])


def _scale(low: float, high: float) -> float:
    """Return the power of two that brings a range to at most one."""
    half = high / 2.0 - low / 2.0
    return math.ldexp(1.0, -max(-_EXPONENTS, min(_EXPONENTS, math.frexp(half)[1] + 1))) if half > 0 else 1.0


def _filled(table: Table, fill: NDArray[np.float64]) -> tuple[Table, dict[int, NDArray[np.bool_]]]:
    """Return a table whose missing values are the median of their column, or no level, and where they are."""
    missing, columns = {}, None
    for j in range(table.n_features):
        column = table.column(j)
        is_missing = np.isnan(column)
        there = column[~is_missing]
        if table.n_levels(j) > 0 and _is_nominal(table, j):
            fill[j] = -1.0
        else:
            middle = (len(there) - 1) // 2
            fill[j] = float(np.partition(there, middle)[middle]) if len(there) else 0.0
        if is_missing.any():
            if columns is None:
                columns = np.column_stack([table.column(k) for k in range(table.n_features)])
            columns[is_missing, j] = fill[j]
            missing[j] = is_missing
    if columns is None:
        return table, missing
    filled: Any = cells_of(np.asfortranarray(columns))
    return Table(table.n_rows, table.n_features, table.names, filled, None, None, table.levels, table.nominal), missing


def _refuse_infinity(table: Table, j: int, values: NDArray[np.float64], caller: str) -> None:
    if np.isfinite(values[0]) and np.isfinite(values[-1]):
        return
    name = f"column {j}" if table.names is None else f"column {table.names[j]!r}"
    column = table.column(j)
    row = int(np.isinf(column).argmax())
    raise ValueError(
        f"{name} holds {column[row]} in row {row}: a hinge at infinity is none, so {caller} takes finite numbers; "
        "leave the row out, or put a bound on the column"
    )
