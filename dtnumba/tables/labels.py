"""The gate for the label side: y becomes Labels or Values here, and every error about it is raised here."""

from __future__ import annotations

import math
import sys
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dtnumba.tables.floats import brief
from dtnumba.tables.frames import refuse_lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


_MISSING = {"NoneType", "NAType", "NaTType"}
_LEFT_OUT = "A row without a label cannot be learned from: leave it out"
# Squares of larger targets, summed over many rows, leave float64.
_LARGEST_TARGET = 1e150
_BLOCK = 1 << 16


def read_y(y: Any, n_rows: int, caller: str) -> NDArray[Any]:
    """Return y as an array of n_rows rows and a column an output.

    Parameters
    ----------
    y : array, series, frame or list
        One or two dimensions.
    n_rows : int
        Rows of the table.
    caller : str
        Name of the estimator, for messages.

    """
    if y is None:
        raise ValueError(f"{caller} requires y to be passed, but the target y is None")
    if hasattr(y, "toarray") and hasattr(y, "nnz"):
        raise TypeError("y is a sparse matrix: pass y.toarray()")
    refuse_lazy(y, "y")
    array = _as_array(y)
    if array.ndim == 0:
        raise ValueError(
            "y should be a 1d array, or a 2d array with a column an output; got a "
            f"{type(y).__name__} instead: {brief(y)}"
        )
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{array}")
    if array.ndim not in {1, 2} or (array.ndim == 2 and array.shape[1] == 0):
        raise ValueError(
            "y should be a 1d array, or a 2d array with a column an output; got an array of shape "
            f"{array.shape} instead."
        )
    if len(array) != n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n_rows}, {len(array)}]")
    return array[:, None] if array.ndim == 1 else array


class DataConversionWarning(UserWarning):
    """A target has another shape than is expected, and is read all the same."""


def warn_of_column(y: Any) -> None:
    """Warn of a target of shape (n, 1) where one output is learned; where scikit-learn is loaded, by its warning."""
    is_nested = isinstance(y, (list, tuple))
    first = y[0] if is_nested else y
    n_axes = 1 if isinstance(first, (list, tuple)) else len(getattr(first, "shape", ()))
    if n_axes + is_nested != 2:
        return
    theirs = sys.modules.get("sklearn.exceptions")
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), for "
        "example using ravel()",
        DataConversionWarning if theirs is None else theirs.DataConversionWarning,
        stacklevel=4,
    )


def _as_array(y: Any) -> NDArray[Any]:
    """Read anything as an array, without turning labels of different kinds into strings."""
    if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
        raise ValueError(f"Input y contains NaN: row {int(np.ma.getmaskarray(y).argmax())} is masked. {_LEFT_OUT}")
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise ValueError(f"y cannot be read as an array: {error}") from error
    if array.dtype.kind in "US" and isinstance(y, (list, tuple)):
        objects = np.array(y, dtype=object)
        if len(set(map(type, objects.ravel().tolist()))) > 1:
            return objects
    return array


@dataclass(frozen=True, eq=False)
class Labels:
    """Class labels as codes: column o of ``codes`` indexes ``classes[o]``."""

    kind: ClassVar[str] = "classes"
    classes: list[NDArray[Any]]
    codes: NDArray[Any]  # (n, n_outputs) uint8, int32 where an output has more than 256 classes

    @property
    def sizes(self) -> list[int]:
        """Number of classes of each output."""
        return [len(classes) for classes in self.classes]

    @property
    def width(self) -> int:
        """How many numbers say what a node holds: a share for each class."""
        return sum(self.sizes)


def read_labels(y: Any, n_rows: int, caller: str) -> Labels:
    """Return the Labels of a classification target: labels of any hashable kind, a column an output."""
    columns = read_y(y, n_rows, caller)
    pairs = [_encode(column) for column in columns.T]
    dtype = _code_type(max(len(classes) for classes, _ in pairs))
    codes = [codes.astype(dtype, copy=False)[:, None] for _, codes in pairs]
    return Labels([classes for classes, _ in pairs], codes[0] if len(codes) == 1 else np.concatenate(codes, axis=1))


def codes_of(labels: Labels, classes: list[NDArray[Any]]) -> NDArray[np.int64]:
    """Return labels as the codes of a model that knows these classes, (n, outputs); a label it does not know raises."""
    if len(labels.classes) != len(classes):
        raise ValueError(f"y has {len(labels.classes)} outputs, and the model was fitted to {len(classes)}")
    codes = np.empty(labels.codes.shape, np.int64)
    for o, (seen, known) in enumerate(zip(labels.classes, classes, strict=True)):
        places = {value: k for k, value in enumerate(known.tolist())}
        unknown = [value for value in seen.tolist() if value not in places]
        if unknown:
            raise ValueError(
                f"y contains labels that the model has not seen in fit: {unknown[:5]}; it knows {known.tolist()[:10]}. "
                "Leave out these rows, or fit the model to all labels"
            )
        codes[:, o] = np.array([places[value] for value in seen.tolist()])[labels.codes[:, o]]
    return codes


def _code_type(n_classes: int) -> Any:
    """Return the type of class codes: narrow, because they stay in memory beside a table that may be large."""
    return np.uint8 if n_classes <= 256 else np.int32


def _encode(column: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the sorted classes of one output and the index of each row's class."""
    kind = column.dtype.kind
    if kind == "f":
        _check_label_floats(column)
    if kind in "iubf":
        found = _encode_by_range(column)
        if found is not None:
            return found
    elif kind in "Mm" and np.isnat(column).any():
        raise ValueError(f"Input y contains NaN: row {int(np.isnat(column).argmax())} has the label NaT. {_LEFT_OUT}")
    elif kind not in "Mm":
        return _encode_objects(column)
    classes, codes = np.unique(column, return_inverse=True)
    return classes, codes.astype(np.int64)


def _check_label_floats(column: NDArray[np.floating[Any]]) -> None:
    if np.isnan(column).any():
        raise ValueError(f"Input y contains NaN: row {int(np.isnan(column).argmax())} has no label. {_LEFT_OUT}")
    if not np.isfinite(column).all():
        raise ValueError(f"Input y contains infinity or a value too large for {column.dtype!r}.")
    if (column != np.floor(column)).any():
        raise ValueError(
            "Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects discrete classes "
            "on a regression target with continuous values."
        )


def _encode_by_range(column: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Encode whole numbers of a small range by looking them up, 20 times faster than sorting a million of them."""
    low, high = column.min().item(), column.max().item()
    if low <= -(2**53) or high >= 2**53 or high - low > max(1000, 4 * len(column)):
        return None
    present = np.zeros(int(high) - int(low) + 1, bool)
    for block in row_blocks(len(column)):
        present[column[block].astype(np.int64) - int(low)] = True
    found = np.flatnonzero(present)
    places, codes = np.cumsum(present) - 1, np.empty(len(column), _code_type(len(found)))
    for block in row_blocks(len(column)):
        codes[block] = places[column[block].astype(np.int64) - int(low)]
    return (found + int(low)).astype(column.dtype), codes


def row_blocks(n: int) -> Iterator[slice]:
    """Yield parts of n rows that are small beside them: what is computed on the way takes no memory to speak of."""
    return (slice(start, start + _BLOCK) for start in range(0, n, _BLOCK))


def _encode_objects(column: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    index: dict[Any, int] = {}
    values = column.tolist()
    try:
        codes = np.fromiter((index.setdefault(value, len(index)) for value in values), np.int64, len(values))
    except TypeError as error:
        row = next(row for row, value in enumerate(values) if not _is_hashable(value))
        raise ValueError(
            f"Unknown label type: row {row} of y holds {values[row]!r}; a label must be hashable, like text or a tuple"
        ) from error
    for label, code in index.items():
        if type(label).__name__ in _MISSING or (isinstance(label, (float, np.floating)) and np.isnan(label)):
            row = int((codes == code).argmax())
            raise ValueError(f"Input y contains NaN: row {row} has the label {label!r}. {_LEFT_OUT}")
    labels = list(index)
    if all(isinstance(label, float) for label in labels):
        _check_label_floats(np.array(labels))
    try:
        order = sorted(range(len(labels)), key=labels.__getitem__)
    except TypeError:  # labels of different kinds: by kind, then by value
        order = sorted(range(len(labels)), key=lambda i: (type(labels[i]).__name__, str(labels[i])))
    classes, places = np.empty(len(labels), dtype=column.dtype), np.empty(len(labels), np.int64)
    for place, i in enumerate(order):
        classes[place], places[i] = labels[i], place
    return classes, places[codes]


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class Values:
    """Targets that are numbers."""

    kind: ClassVar[str] = "numbers"
    y: NDArray[np.float64]  # (n, n_outputs)

    @property
    def sizes(self) -> list[int]:
        """One for each output: a number counts as one class."""
        return [1] * self.width

    @property
    def width(self) -> int:
        """How many numbers say what a node holds: one an output."""
        return int(self.y.shape[1])


def read_values(y: Any, n_rows: int, caller: str) -> Values:
    """Return the Values of a regression target: finite numbers, a column an output."""
    columns = read_y(y, n_rows, caller)
    if columns.dtype.kind not in "fiub":
        columns = _numbers_of(columns)
    columns = columns.astype(np.float64, copy=False)
    if np.isnan(columns).any():
        row = int(np.isnan(columns).any(axis=1).argmax())
        raise ValueError(f"Input y contains NaN: row {row} has no target. {_LEFT_OUT}")
    largest = float(np.abs(columns).max(initial=0.0))
    if not math.isfinite(largest):
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
    if largest > _LARGEST_TARGET:
        row, output = (int(at) for at in np.argwhere(np.abs(columns) == largest)[0])
        where = f"row {row}" if columns.shape[1] == 1 else f"row {row}, output {output}"
        way = f"y / {10.0 ** math.ceil(math.log10(largest / _LARGEST_TARGET)):g}"
        raise ValueError(
            f"y holds {columns[row, output]} in {where}: targets must lie between -{_LARGEST_TARGET:g} and "
            f"{_LARGEST_TARGET:g}, because sums of their squares, which a tree keeps as impurity, leave float64; "
            f"pass {way}, and multiply what is predicted by as much"
        )
    if (columns == 0.0).any():
        columns = columns + 0.0  # -0.0 equals 0.0, but a median of the two would not be the same bits in any order
    # Kernels take writeable arrays: those of a frame are not, and a second type would be a second compilation.
    return Values(np.require(columns, requirements=["C", "W"]))


def _numbers_of(columns: NDArray[Any]) -> NDArray[np.float64]:
    for value in columns.ravel().tolist():
        if isinstance(value, (str, bytes)) or columns.dtype.kind in "Mm":
            raise ValueError(f"y holds {value!r}: a regression target must be numbers; use a classifier for labels")
    try:
        return columns.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y cannot be read as numbers: {error}; use a classifier for labels") from error
