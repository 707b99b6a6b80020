"""Columns of pandas and polars frames, and of whatever speaks Arrow; no library is imported but a caller's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.tables.arrow.table import is_arrow, read_arrow
from dtnumba.tables.category_codes import CodedColumn, as_values, coded_numbers, coded_objects
from dtnumba.tables.columns import CATEGORY, NUMBER, OTHER, ArrayColumn, Column, ColumnTable, ObjectColumn, refusal
from dtnumba.tables.floats import check_distinct, to_floats

if TYPE_CHECKING:
    from numpy.typing import NDArray


# What float32 holds exactly, as the three libraries spell it (arrow's "float" has 32 bits).
_NARROW = {"bool", "boolean", "float", "float16", "float32", "halffloat", "int8", "int16", "uint8", "uint16"}
_BITS = {"float16": 16, "halffloat": 16, "float32": 32, "float": 32}


def is_frame(X: object) -> bool:
    """Tell whether X has named columns."""
    refuse_lazy(X, "X")
    return hasattr(X, "columns") or hasattr(X, "column_names")


def speaks_arrow(X: Any) -> bool:
    """Tell whether X is read through Arrow's C interface: pandas and polars are read as what they are."""
    return not isinstance(X, np.ndarray) and is_arrow(X) and _library(X) not in {"pandas", "polars"}


def opened(X: Any, caller: str) -> Any:
    """Return the rows that X gives through Arrow's C interface, as a frame; anything else as it is."""
    table = read_arrow(X) if speaks_arrow(X) else None
    if table is not None and not len(table) and not any(hasattr(X, one) for one in ("num_rows", "shape", "__len__")):
        raise ValueError(
            f"Found array with 0 sample(s) (shape={table.shape}) while a minimum of 1 is required by {caller}. A "
            f"{type(X).__name__} that gives its rows once has none left when it was read before: make it anew, or keep "
            "its rows in a table, e.g. table = reader.read_all(), and pass that"
        )
    return X if table is None else table


def is_dask(given: object) -> bool:
    """Tell whether something is a collection of Dask."""
    if not hasattr(given, "__dask_graph__"):
        return False
    return any(kind.__module__.partition(".")[0] == "dask" for kind in type(given).__mro__)


def refuse_lazy(given: object, name: str) -> None:
    """Raise TypeError where a table or a column is only a plan of one."""
    if is_dask(given):
        raise TypeError(
            f"{name} is a Dask {type(given).__name__}, which holds no data yet: pass {name}.compute(); forests and "
            "trees of dtnumba.dask are fitted to rows where they lie"
        )
    if hasattr(given, "collect_schema") and not hasattr(given, "get_columns"):
        raise TypeError(f"{name} is a {type(given).__name__}, which holds no data yet: pass {name}.collect()")


def column_names(X: Any) -> NDArray[np.object_] | None:
    """Return the names of a frame's columns when all are strings, None when none is; a mixture is an error."""
    names = list(X.column_names if hasattr(X, "column_names") else X.columns)
    are_strings = [isinstance(name, str) for name in names]
    if names and all(are_strings):
        return np.asarray(names, dtype=object)
    if any(are_strings):
        kinds = sorted({type(name).__name__ for name in names})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name / column name types. Convert them with X.columns = X.columns.astype(str)"
        )
    return None


def whole_frame(X: Any) -> NDArray[Any] | None:
    """Return the array of a frame whose columns are floats of one dtype, where that copies nothing, or pandas must."""
    if isinstance(X, ColumnTable):
        return X.whole()
    if _library(X) != "pandas":
        return None
    dtypes = list(X.dtypes)
    if not dtypes or dtypes[0] not in (np.float32, np.float64) or dtypes.count(dtypes[0]) < len(dtypes):
        return None
    return to_floats(X.to_numpy())


def frame_columns(X: Any) -> list[Column] | None:
    """Return a frame's columns; None of a frame of no library that is known."""
    if _library(X) == "pandas":
        return [_pandas_column(name, series) for name, series in X.items()]
    if _library(X) == "polars":
        return [PolarsColumn(series.name, series) for series in X.get_columns()]
    return list(X.columns) if isinstance(X, ColumnTable) else None


def _library(X: Any) -> str:
    modules = {kind.__module__.partition(".")[0] for kind in type(X).__mro__}
    return next((library for library in ("pandas", "polars") if library in modules), "")


def _is_narrow(dtype: Any) -> bool:
    return _spelled(dtype) in _NARROW


def _bits_of(dtype: Any) -> int:
    return _BITS.get(_spelled(getattr(dtype, "subtype", dtype)), 64)  # a subtype: of a sparse column


def _spelled(dtype: Any) -> str:
    return str(dtype).lower().removesuffix("[pyarrow]")


def _pandas_column(name: Any, series: Any) -> Column:
    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind == "O":
        return ObjectColumn(series.tolist(), name)
    if isinstance(dtype, np.dtype) and dtype.kind not in "mM":
        return ArrayColumn(series.to_numpy(), name)
    # What pandas keeps as an arrow dictionary, it does not know as categories.
    arrow = str(getattr(dtype, "pyarrow_dtype", ""))
    is_arrow_text = arrow.startswith(("string", "large_string", "dictionary"))
    return _arrow_column(name, series.array.__arrow_array__()) if is_arrow_text else PandasColumn(name, series)


def _arrow_column(name: Any, column: Any) -> Column:
    import pyarrow as pa

    table = read_arrow(pa.table([column], names=[""]))
    assert table is not None
    found: Column = table.columns[0]
    found.name = name
    return found


def _without_numbers(column: Column, n_rows: int) -> NDArray[Any]:
    """Return the rows of a column of no number and no value; an error of one that has values."""
    if column.first() is not None:
        raise refusal(column)
    return np.full(n_rows, np.nan)


class PandasColumn:
    """A column of a dtype of pandas' own."""

    def __init__(self, name: Any, series: Any) -> None:
        self.name = name
        self.dtype = dtype = series.dtype
        self.is_narrow, self.bits = _is_narrow(dtype), _bits_of(dtype)
        self._series = series
        # Nullable, arrow-backed or sparse; pandas calls some of arrow's objects.
        is_number = dtype.kind in "biufc" or str(dtype).startswith(("decimal", "null"))
        is_text = str(dtype) in {"category", "str", "string"}
        self.kind = NUMBER if is_number else CATEGORY if is_text else OTHER

    def first(self) -> Any:
        """Return its first value that is not missing."""
        seen = self._series.dropna()
        return seen.iloc[0] if len(seen) else None

    def numbers(self, *, fitting: bool) -> NDArray[Any]:
        """Return its rows as floats."""
        if self.kind != NUMBER:
            return _without_numbers(self, len(self._series))
        if fitting and self.dtype.kind in "iu":
            check_distinct(self._series.dropna().to_numpy(), self.name)
        return np.asarray(self._series.to_numpy(dtype=np.float64, na_value=np.nan))

    def coded(self) -> CodedColumn:
        """Return its rows as categories."""
        import pandas as pd

        if self.kind == CATEGORY and hasattr(self.dtype, "categories"):
            categories = self.dtype.categories
            values = categories.to_numpy()  # in place where they are objects: a row may have 100k of them
            if values.dtype.kind not in "biufO":
                values = as_values(categories, len(categories))
            return CodedColumn(
                self._series.cat.codes.to_numpy(), values, has_order=True, is_ordered=bool(self.dtype.ordered)
            )
        codes, distinct = pd.factorize(self._series)
        return CodedColumn(codes, as_values(distinct, len(distinct)))


class PolarsColumn:
    """A column of polars."""

    def __init__(self, name: str, series: Any) -> None:
        import polars as pl

        self.name = name
        self.dtype = dtype = series.dtype
        self.is_narrow, self.bits = _is_narrow(dtype), _bits_of(dtype)
        self._series = series
        is_number = dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)
        is_text = dtype in (pl.String, pl.Categorical, pl.Enum)
        self.kind = NUMBER if is_number else CATEGORY if is_text else OTHER

    def first(self) -> Any:
        """Return its first value that is not missing."""
        seen = self._series.drop_nulls()
        return seen[0] if len(seen) else None

    def numbers(self, *, fitting: bool) -> NDArray[Any]:
        """Return its rows as floats."""
        import polars as pl

        if self.kind != NUMBER:
            return _without_numbers(self, len(self._series))
        if fitting and self.dtype.is_integer():
            check_distinct(self._series.drop_nulls().to_numpy(), self.name)
        return np.asarray(self._series.cast(pl.Float64).to_numpy())

    def coded(self) -> CodedColumn:
        """Return its rows as categories; only those of an Enum have an order: others are numbered as they come."""
        import polars as pl

        series = self._series
        if series.dtype == pl.Boolean:
            series = series.cast(pl.UInt8)
        if series.dtype.is_integer() or series.dtype.is_float():
            return coded_numbers(series.fill_null(0).to_numpy(), series.is_null().to_numpy())
        if series.dtype == pl.Null:
            return coded_objects(series.to_list())
        is_enum = series.dtype == pl.Enum
        if is_enum:
            values = series.dtype.categories
        elif series.dtype == pl.String:
            values = series.unique().drop_nulls()
            series = series.cast(pl.Enum(values))
        elif series.dtype == pl.Categorical:
            distinct = series.unique().drop_nulls()
            at, values = distinct.to_physical().to_numpy(), np.full(1 + (series.to_physical().max() or 0), None)
            values[at] = distinct.cast(pl.String).to_list()
        else:
            return coded_objects(series.to_list())
        codes = series.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
        return CodedColumn(codes, as_values(values, len(values)), has_order=is_enum)
