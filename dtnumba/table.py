"""The gate: whatever the caller passes becomes a Table here, and every error about data is raised here.

Floats keep their precision and are read in place through strides, whatever their layout; nothing is copied but frames
(column by column), integers (to the narrowest float that holds them) and byte-swapped arrays.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Cells(NamedTuple):
    """Where the numbers of a dense table lie: value (i, j) is ``flat[offset + i * row_step + j * column_step]``.

    One form for C, Fortran, strided and read-only arrays, so that kernels have one signature a dtype.
    """

    flat: np.ndarray
    offset: int
    row_step: int
    column_step: int
    n_rows: int
    n_columns: int


@dataclass(frozen=True, eq=False)
class Table:
    """Feature columns: dense (``cells``) or sparse (``csc``, a SciPy CSC matrix)."""

    n_rows: int
    n_features: int
    names: np.ndarray | None
    cells: Cells | None
    csc: object | None
    owner: object  # keeps the memory that ``cells`` points into alive

    def columns(self, start, stop):
        """Yield cells of dense parts that cover columns [start, stop): one part, or one a column where sparse."""
        if self.cells is not None:
            yield start, self.cells._replace(
                offset=self.cells.offset + start * self.cells.column_step, n_columns=stop - start
            )
            return
        for j in range(start, stop):
            yield j, self.dense_column(j)

    def dense_column(self, j):
        """Return one sparse column written out."""
        column = np.zeros(self.n_rows, self.csc.dtype)
        at = slice(self.csc.indptr[j], self.csc.indptr[j + 1])
        # Entries stored twice add up, as SciPy means them.
        np.add.at(column, self.csc.indices[at], self.csc.data[at])
        return cells_of(column[:, None])

    def values_at(self, rows, columns):
        """Return the values of the pairs (rows[k], columns[k]) as float64."""
        if self.cells is None:
            return np.asarray(self.csc[rows, columns], dtype=np.float64).ravel()
        c = self.cells
        at = c.offset + np.asarray(rows, np.int64) * c.row_step + np.asarray(columns, np.int64) * c.column_step
        return c.flat[at].astype(np.float64)


class _Alias:
    """Exposes memory as a writeable flat array without touching the flags of the array it belongs to.

    Kernels only read it. A read-only array would be a second type, and a second compilation, of every kernel.
    """

    def __init__(self, address, count, dtype, owner):
        self.__array_interface__ = {"version": 3, "shape": (count,), "typestr": dtype.str, "data": (address, False)}
        self.owner = owner


def cells_of(array):
    """Describe a 2-D float array of any strides as Cells, without copying."""
    n_rows, n_columns = array.shape
    size = array.itemsize
    if array.size == 0:
        return Cells(np.empty(0, array.dtype), 0, 0, 0, n_rows, n_columns)
    row_step, column_step = (stride // size if extent > 1 else 0 for stride, extent in zip(array.strides, array.shape))
    reach_rows, reach_columns = row_step * (n_rows - 1), column_step * (n_columns - 1)
    below = min(reach_rows, 0) + min(reach_columns, 0)
    above = max(reach_rows, 0) + max(reach_columns, 0)
    address = array.__array_interface__["data"][0] + below * size
    flat = np.asarray(_Alias(address, above - below + 1, array.dtype, array))
    return Cells(flat, -below, row_step, column_step, n_rows, n_columns)


def read_table(X, caller, *, expected=None):
    """Return the Table of a caller's X.

    Parameters
    ----------
    X : array, frame, sparse matrix or nested list of numbers
    caller : str
        Name of the estimator, for messages.
    expected : (int, array or None), optional
        Number and names of the columns seen in ``fit``.

    """
    names = column_names(X)
    if expected is not None:
        _check_names(names, expected[1], caller)
    if _is_sparse(X):
        table = _from_sparse(X, names, caller)
    else:
        array = _from_frame(X) if names is not None or _is_frame(X) else _to_float(_as_array(X))
        _check_shape(array, caller)
        table = Table(*array.shape, names, cells_of(array), None, array)
    if expected is not None and table.n_features != expected[0]:
        msg = f"X has {table.n_features} features, but {caller} is expecting {expected[0]} features as input"
        raise ValueError(msg)
    return table


def _is_sparse(X):
    return hasattr(X, "tocsc") and hasattr(X, "nnz")


def _is_frame(X):
    return hasattr(X, "columns") or hasattr(X, "column_names")


def column_names(X):
    """Return the names of a frame's columns when all are strings, else None; mixed kinds are an error."""
    if not _is_frame(X):
        return None
    found = X.column_names if hasattr(X, "column_names") else X.columns
    names = list(found)
    are_strings = [isinstance(name, str) for name in names]
    if names and all(are_strings):
        return np.asarray(names, dtype=object)
    if any(are_strings):
        kinds = sorted({type(name).__name__ for name in names})
        msg = (
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name / column name types. Convert them with X.columns = X.columns.astype(str)"
        )
        raise TypeError(msg)
    return None


def _check_names(names, fitted, caller):
    import warnings

    if fitted is None and names is not None:
        warnings.warn(f"X has feature names, but {caller} was fitted without feature names", UserWarning, stacklevel=5)
    elif fitted is not None and names is None:
        text = f"X does not have valid feature names, but {caller} was fitted with feature names"
        warnings.warn(text, UserWarning, stacklevel=5)
    elif names is not None and (len(names) != len(fitted) or (names != fitted).any()):
        msg = "The feature names should match those that were passed during fit.\n"
        unseen, absent = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
        if unseen:
            msg += "Feature names unseen at fit time:\n" + "".join(f"- {name}\n" for name in unseen[:5])
        if absent:
            msg += "Feature names seen at fit time, yet now missing:\n" + "".join(f"- {name}\n" for name in absent[:5])
        if not unseen and not absent:
            msg += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(msg)


def _as_array(X):
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(np.float64), np.nan)
    try:
        return np.asarray(X)
    except ValueError as error:
        msg = f"X cannot be read as a table: {error}; every row must have the same number of numbers"
        raise ValueError(msg) from error


def _to_float(array, column=None):
    """Return the array as float32 or float64: as it is, or in the narrowest of the two that holds it."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "c":
        msg = f"Complex data not supported\n{array}\nPass the real and the imaginary part as two columns"
        raise ValueError(msg)
    if kind == "f" and size in (4, 8):
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    if kind in "biu" or (kind == "f" and size != 0):
        return array.astype(np.float32 if size <= 2 and kind != "f" or kind == "f" and size == 2 else np.float64)
    if kind == "V" and array.dtype.names is not None:
        msg = f"X has the structured dtype {array.dtype}: pass a frame, or numpy.lib.recfunctions.structured_to_unstructured(X)"
        raise ValueError(msg)
    return _objects_to_float(array, column)


def _objects_to_float(array, column):
    """Read Python objects as numbers; None is missing."""
    try:
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    result = np.empty(array.shape)
    for at, value in np.ndenumerate(array):
        try:
            result[at] = np.nan if value is None or type(value).__name__ in {"NAType", "NaTType"} else value
        except (TypeError, ValueError):
            if not isinstance(value, (str, bytes)) and not np.isscalar(value):
                msg = f"X holds {value!r} of type {type(value).__name__}: every cell must be a number; argument must be a string or a number"
                raise TypeError(msg) from None
            where = repr(column) if column is not None else at[1] if len(at) > 1 else at[0]
            msg = (
                f"could not convert string to float: column {where} holds {value!r}, which is a category, not a number. "
                "Categories are not supported yet: encode the column first (e.g. as ordinal codes)"
            )
            raise ValueError(msg) from None
    return result


def _check_shape(array, caller):
    if array.ndim == 0:
        msg = f"Expected 2D array, got scalar array instead:\narray={array}.\nReshape your data with array.reshape(1, 1)"
        raise ValueError(msg)
    if array.ndim == 1:
        msg = (
            f"Expected 2D array, got 1D array instead:\narray={array}.\nReshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a single sample."
        )
        raise ValueError(msg)
    if array.ndim > 2:
        msg = f"Found array with dim {array.ndim}, while dim <= 2 is required by {caller}."
        raise ValueError(msg)
    _check_extent(array.shape, caller)


def _check_extent(shape, caller):
    if shape[0] < 1:
        msg = f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required by {caller}."
        raise ValueError(msg)
    if shape[1] < 1:
        msg = f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required by {caller}."
        raise ValueError(msg)
    if shape[0] >= 1 << 30:
        msg = f"X has {shape[0]} rows: at most {(1 << 30) - 1} fit into one table; train on a sample"
        raise ValueError(msg)


def _from_sparse(X, names, caller):
    if X.dtype.kind == "c":
        msg = "Complex data not supported\nPass the real and the imaginary part as two columns"
        raise ValueError(msg)
    if X.ndim != 2:
        msg = f"Expected 2D array, got {X.ndim}D sparse array instead. Reshape your data with X.reshape(1, -1)"
        raise ValueError(msg)
    _check_extent(X.shape, caller)
    csc = X.tocsc()
    if csc.dtype not in (np.float32, np.float64):
        csc = csc.astype(np.float64)
    return Table(*csc.shape, names, None, csc, csc)


def _from_frame(X):
    """Return a frame's columns as one float array, float32 only where every column fits it."""
    library = type(X).__module__.partition(".")[0]
    if library == "pandas":
        columns = [_pandas_column(X.iloc[:, j]) for j in range(X.shape[1])]
    elif library == "polars":
        columns = [_polars_column(X, name) for name in X.columns]
    elif hasattr(X, "column_names"):
        columns = [_arrow_column(X, name) for name in X.column_names]
    else:
        return _to_float(_as_array(X))
    n_rows = len(X)
    dtype = np.float32 if columns and all(column.dtype == np.float32 for column in columns) else np.float64
    array = np.empty((n_rows, len(columns)), dtype, order="F")
    for j, column in enumerate(columns):
        array[:, j] = column
    return array


def _not_numeric(name, dtype):
    msg = (
        f"column {name!r} has dtype {dtype}, which is not numeric. Categories and dates are not supported yet: encode the "
        "column first (e.g. as ordinal codes or as a number of days)"
    )
    return ValueError(msg)


def _pandas_column(series):
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        if dtype.kind in "biufc":
            return _to_float(series.to_numpy())
        if dtype.kind == "O":
            return _to_float(series.to_numpy(), series.name)
    elif getattr(dtype, "kind", "O") in "biuf" and not hasattr(dtype, "categories"):
        # pandas' nullable and arrow-backed numbers
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    elif hasattr(dtype, "subtype"):
        return _to_float(np.asarray(series))
    raise _not_numeric(series.name, dtype)


def _polars_column(frame, name):
    series = frame.get_column(name)
    if not (series.dtype.is_numeric() or str(series.dtype) == "Boolean"):
        raise _not_numeric(name, series.dtype)
    import polars

    narrow = str(series.dtype) == "Float32"
    return series.cast(polars.Float32 if narrow else polars.Float64).to_numpy()


def _arrow_column(table, name):
    import pyarrow

    column = table.column(name)
    kinds = pyarrow.types
    if kinds.is_floating(column.type) and column.type.bit_width == 32:
        return column.to_numpy(zero_copy_only=False).astype(np.float32) if hasattr(column, "to_numpy") else column
    if kinds.is_boolean(column.type) or kinds.is_integer(column.type) or kinds.is_floating(column.type) or kinds.is_decimal(column.type):
        return np.asarray(column.cast(pyarrow.float64()).to_numpy(), dtype=np.float64)
    raise _not_numeric(name, column.type)
