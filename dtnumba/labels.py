"""The gate for the label side: y becomes Labels or Values here, and every error about it is raised here.

Both make the target kind that growth sums up (see ``targets``), in exact integers.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dtnumba.criteria import Poisson
from dtnumba.ranked import Ranked
from dtnumba.targets import (
    FEW_CLASSES,
    Classes,
    CountedNumber,
    CountedTwoClasses,
    ManyClasses,
    Number,
    Numbers,
    TwoClasses,
    WeightedTwoClasses,
    few_classes,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dtnumba.weights import Weights

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
    array = _as_array(y)
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

    def target(self, weights: Weights, criterion: Any, counts: Any = None, most: int = 0) -> Any:
        """Return the target kind of class labels.

        ``counts`` is the type of the counts that a tree will bring, and ``most`` what they sum to at most.
        """
        sizes = self.sizes
        offsets = np.array([0, *itertools.accumulate(sizes)], np.int64)
        unit, n_stats = weights.unit, int(offsets[-1])
        if counts is None:
            is_unread = weights.are_one and n_stats <= 2 and len(sizes) == 1
            integers = np.empty(0, np.int64) if is_unread else weights.integers
        else:
            integers = np.ones(1, counts)  # never read: its type is
        if len(sizes) > 1:
            return ManyClasses(self.codes.astype(np.int32, copy=False), offsets, integers, unit, n_stats, sizes[0])
        codes = self.codes[:, 0]
        if 2 < n_stats <= FEW_CLASSES and counts is not None and unit == 1.0 and most < 1 << 31:
            return few_classes(codes, offsets, integers)
        if n_stats > 2:
            return Classes(codes.astype(np.int32, copy=False), offsets, integers, unit, n_stats, n_stats)
        if counts is not None and unit == 1.0 and most < 1 << 31:
            return CountedTwoClasses(codes.astype(counts, copy=False), offsets, 1.0, 1, 1, 2)
        kind = TwoClasses if weights.are_one and counts is None else WeightedTwoClasses
        return kind(codes, offsets, integers, unit, 2, 2)


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
    for block in _row_blocks(len(column)):
        present[column[block].astype(np.int64) - int(low)] = True
    found = np.flatnonzero(present)
    places, codes = np.cumsum(present) - 1, np.empty(len(column), _code_type(len(found)))
    for block in _row_blocks(len(column)):
        codes[block] = places[column[block].astype(np.int64) - int(low)]
    return (found + int(low)).astype(column.dtype), codes


def _row_blocks(n: int) -> Iterator[slice]:
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

    def target(self, weights: Weights, criterion: Any, counts: Any = None, most: int = 0) -> Any:
        """Return the target kind of numbers for a criterion.

        ``counts`` is the type of the counts that a tree will bring, and ``most`` what they sum to at most.
        """
        if isinstance(criterion, Poisson):
            _check_counts(self.y[weights.kept])
        kind, y, n_outputs = type(criterion), self.y, self.y.shape[1]
        is_ranked = getattr(kind, "target", "numbers") == "ranks"
        centres = _centres(y[weights.kept]) if is_ranked or getattr(kind, "centred", False) else np.zeros(n_outputs)
        centred = y - centres
        if len(weights.kept) < len(y):
            centred[weights.integers == 0] = 0.0  # may be huge, and would make the unit of all others coarse
        weighted, multiplier = centred, None if weights.are_one else weights.integers
        if weights.unit != 1.0:
            weighted = centred * (weights.integers * weights.unit)[:, None]
            multiplier = (weights.integers > 0).astype(np.int64)
        most, rounded_off = max(most, len(y) if multiplier is None else int(multiplier.sum())), np.empty(y.shape)
        moments, units = _fixed(weighted, multiplier, most, rounded_off)
        if is_ranked:
            ranks, by_rank = np.zeros(y.shape, np.int64), np.zeros(y.shape)
            return Ranked(
                moments=moments,
                units=units,
                centred=centred,
                rank=ranks,
                merged=np.zeros(len(y), np.int64),
                by_rank=by_rank,
                weights=weights.integers if counts is None else np.ones(1, counts),
                unit=weights.unit,
                y=y,
                n_stats=1,
                n_weights=0,
            )
        n_moments = getattr(kind, "moments", 1)
        if n_moments == 2:
            squares, square_units = _fixed(weighted * centred, multiplier, most)
            moments = np.stack([moments, squares], axis=2).reshape(len(y), -1)
            units = np.stack([units, square_units], axis=1).ravel()
        del centred, weighted  # 8 bytes a row and output each
        residuals, residual_units = _fixed(rounded_off, multiplier, most)
        make: Any = Numbers
        if n_outputs == n_moments == 1 and weights.are_one:
            make = Number if counts is None else CountedNumber
        return make(
            moments=moments,
            units=units,
            n_moments=n_moments,
            residuals=residuals,
            residual_units=residual_units,
            offsets=centres,
            moment_unit=float(units[0]),
            weights=weights.integers if counts is None else np.ones(1, counts),
            unit=weights.unit,
            y=y,
            n_stats=1 + n_outputs * n_moments,
            n_weights=1,
        )


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
        raise ValueError(
            f"y holds a value as large as {largest}: sums of squares beyond {_LARGEST_TARGET} overflow; divide y"
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


def _check_counts(y: NDArray[np.float64]) -> None:
    if (y < 0).any():
        raise ValueError(
            f"Some value(s) of y are negative which is not allowed for Poisson regression: {y[y < 0][0]}. "
            "Use criterion='squared_error'"
        )
    if (y.sum(axis=0) <= 0).any():
        raise ValueError(
            "Sum of y is not positive which is necessary for Poisson regression. Use criterion='squared_error'"
        )


def _centres(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a centre of every output: any value near the middle serves, so the range's, which no order changes."""
    low, high = y.min(axis=0), y.max(axis=0)
    # Rounded to a coarse power of two: whole numbers stay whole numbers after it is taken off.
    grain = np.exp2(np.floor(np.log2(np.where(high > low, high - low, 1.0))))
    return np.asarray(np.where(high > low, np.rint((low / 2 + high / 2) / grain) * grain, low))


def _fixed(
    values: NDArray[np.float64],
    multiplier: NDArray[np.int64] | None,
    most: int,
    rounded_off: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return multiplier * values as integers (None: one each), and the unit of each column.

    ``most`` is what the rows count together at most; ``rounded_off`` becomes what rounding the values took off. A value
    is rounded before it is multiplied, so that a weight of two is exactly two rows. Sums stay below 2**61; units are
    powers of two, so exact to undo.
    """
    _, exponents = np.frexp(np.maximum(values.max(axis=0), -values.min(axis=0)))
    units = np.ldexp(1.0, np.maximum(exponents + most.bit_length() - 61, -1074))
    integers = np.empty(values.shape, np.int64)
    for block in _row_blocks(len(values)):
        rounded = np.rint(values[block] / units)
        integers[block] = rounded
        if multiplier is not None:
            integers[block] *= multiplier[block, None]
        if rounded_off is not None:
            rounded_off[block] = values[block] - rounded * units
    return integers, units
