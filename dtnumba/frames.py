"""Frames of pandas, polars and pyarrow as one array of floats; no library is imported but the one a caller uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.floats import check_distinct, refused, to_floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

# What float32 holds exactly, as the three libraries spell it (arrow's "float" has 32 bits).
_NARROW = {"bool", "boolean", "float", "float16", "float32", "halffloat", "int8", "int16", "uint8", "uint16"}


def is_frame(X: object) -> bool:
    """Tell whether X has named columns."""
    if hasattr(X, "collect_schema") and not hasattr(X, "get_columns"):
        raise TypeError(f"X is a {type(X).__name__}, which holds no data yet: pass X.collect()")
    return hasattr(X, "columns") or hasattr(X, "column_names")


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


def read_frame(X: Any, *, fitting: bool) -> NDArray[Any]:
    """Return a frame's columns as one array: pandas' own where it has one, else float32 where it holds every column."""
    library = type(X).__module__.partition(".")[0]
    if library == "pandas":
        dtypes = list(X.dtypes)
        if dtypes and dtypes[0] in (np.float32, np.float64) and dtypes.count(dtypes[0]) == len(dtypes):
            return to_floats(X.to_numpy())
        columns = _pandas_columns(X, fitting=fitting)
    elif library == "polars":
        columns, dtypes = _polars_columns(X, fitting=fitting), X.dtypes
    elif hasattr(X, "column_names") and hasattr(X, "schema"):
        columns, dtypes = _arrow_columns(X, fitting=fitting), X.schema.types
    else:
        return to_floats(np.asarray(X), fitting=fitting)
    is_narrow = all(str(dtype).lower().removesuffix("[pyarrow]") in _NARROW for dtype in dtypes)
    array = np.empty((len(X), len(dtypes)), np.float32 if is_narrow else np.float64, order="F")
    for j, column in enumerate(columns):
        array[:, j] = column
    return array


def _pandas_columns(X: Any, *, fitting: bool) -> Iterator[NDArray[Any]]:
    for name, series in X.items():
        dtype = series.dtype
        if isinstance(dtype, np.dtype):
            yield to_floats(series.to_numpy(), column=name, fitting=fitting)
        elif hasattr(dtype, "categories") or not (dtype.kind in "biuf" or _is_arrow_number(dtype)):
            seen = series.dropna()
            raise refused(dtype, seen.iloc[0] if len(seen) else None, name)
        else:  # nullable, arrow-backed or sparse
            if fitting and dtype.kind in "iu":
                check_distinct(series.dropna().to_numpy(), name)
            yield series.to_numpy(dtype=np.float64, na_value=np.nan)


def _is_arrow_number(dtype: Any) -> bool:
    """Tell whether a pandas dtype is an arrow dtype of numbers that pandas calls objects."""
    return str(getattr(dtype, "pyarrow_dtype", "")).startswith(("decimal", "null"))


def _polars_columns(X: Any, *, fitting: bool) -> Iterator[NDArray[Any]]:
    import polars as pl

    for series in X.get_columns():
        if not (series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.Null)):
            seen = series.drop_nulls()
            raise refused(series.dtype, seen[0] if len(seen) else None, series.name)
        if fitting and series.dtype.is_integer():
            check_distinct(series.drop_nulls().to_numpy(), series.name)
        yield series.cast(pl.Float64).to_numpy()


def _arrow_columns(X: Any, *, fitting: bool) -> Iterator[NDArray[Any]]:
    import pyarrow as pa

    kinds = pa.types
    numeric = (kinds.is_floating, kinds.is_integer, kinds.is_boolean, kinds.is_decimal, kinds.is_null)
    for name, column in zip(X.column_names, X.columns, strict=True):
        if not any(is_kind(column.type) for is_kind in numeric):
            seen = column.drop_null()
            raise refused(column.type, seen[0] if len(seen) else None, name)
        if fitting and kinds.is_integer(column.type):
            check_distinct(np.asarray(column.drop_null()), name)
        yield np.asarray(column.cast(pa.float64(), safe=False))
