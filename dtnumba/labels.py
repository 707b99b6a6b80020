"""The gate for the label side: targets and weights become target kinds here, and every error about them is raised here."""

import math
import warnings
from dataclasses import dataclass

import numpy as np

from dtnumba.ranked import Ranked
from dtnumba.targets import Classes, ManyClasses, Number, Numbers, TwoClasses, WeightedTwoClasses

# Sums of weights stay below this, so that float64 holds them exactly too.
_ROOM = 2.0**52


@dataclass(frozen=True, eq=False)
class Labels:
    """Class labels as codes: column o of ``codes`` indexes ``classes[o]``."""

    classes: list
    codes: np.ndarray  # (n, n_outputs) int64
    is_flat: bool  # y was one-dimensional


def read_y(y, n_rows, caller):
    """Return y as an array of one or two dimensions with n_rows rows."""
    if y is None:
        msg = f"{caller} requires y to be passed, but the target y is None"
        raise ValueError(msg)
    if hasattr(y, "toarray") and hasattr(y, "nnz"):
        msg = "y is a sparse matrix: pass y.toarray()"
        raise TypeError(msg)
    if isinstance(y, (list, tuple)) and y and not isinstance(y[0], (list, tuple, np.ndarray)) and _are_mixed(y):
        array = np.empty(len(y), dtype=object)
        array[:] = y
    else:
        array = np.asarray(y)
    if array.dtype.kind == "c":
        msg = f"Complex data not supported\n{array}"
        raise ValueError(msg)
    if array.ndim == 2 and array.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), "
            "for example using ravel().",
            _conversion_warning(),
            stacklevel=4,
        )
        array = array[:, 0]
    if array.ndim not in (1, 2) or array.size == 0 and len(array):
        msg = f"y should be a 1d array, or a 2d array with a column an output; got an array of shape {array.shape} instead."
        raise ValueError(msg)
    if len(array) != n_rows:
        msg = f"Found input variables with inconsistent numbers of samples: [{n_rows}, {len(array)}]"
        raise ValueError(msg)
    return array


def _are_mixed(y):
    """Whether np.asarray would turn labels of different kinds into strings."""
    return len({type(value) for value in y}) > 1 and any(isinstance(value, str) for value in y)


def _conversion_warning():
    """Return scikit-learn's own warning class where it is loaded, so that its users' filters apply."""
    import sys

    module = sys.modules.get("sklearn.exceptions")
    return module.DataConversionWarning if module is not None else UserWarning


def read_labels(y, n_rows, caller):
    """Return the Labels of a classification target."""
    array = read_y(y, n_rows, caller)
    columns = array[:, None] if array.ndim == 1 else array
    pairs = [_encode(columns[:, o]) for o in range(columns.shape[1])]
    return Labels([classes for classes, _ in pairs], np.stack([codes for _, codes in pairs], axis=1), array.ndim == 1)


def _encode(column):
    """Return the sorted classes of one output and the index of each row's class."""
    kind = column.dtype.kind
    if kind == "f":
        _check_label_floats(column)
    if kind in "iub" or kind == "f":
        found = _encode_by_range(column)
        return found if found is not None else np.unique(column, return_inverse=True)
    if kind in "OUS":
        return _encode_objects(column)
    return np.unique(column, return_inverse=True)


def _check_label_floats(column):
    if np.isnan(column).any():
        msg = "Input y contains NaN. A row without a label cannot be learned from: leave it out"
        raise ValueError(msg)
    if not np.isfinite(column).all():
        msg = f"Input y contains infinity or a value too large for {column.dtype!r}."
        raise ValueError(msg)
    if (column != np.floor(column)).any():
        msg = (
            "Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects discrete classes on a "
            "regression target with continuous values."
        )
        raise ValueError(msg)


def _encode_by_range(column):
    """Encode whole numbers of a small range by counting, 20 times faster than sorting a million of them."""
    low, high = column.min(), column.max()
    if float(high) - float(low) > max(1000, 4 * len(column)):
        return None
    offsets = column.astype(np.int64) - int(low)
    present = np.bincount(offsets, minlength=1) > 0
    codes = (np.cumsum(present) - 1)[offsets]
    values = np.flatnonzero(present) + int(low)
    return values.astype(column.dtype), codes


def _encode_objects(column):
    index, codes = {}, np.empty(len(column), np.int64)
    for i, value in enumerate(column.tolist()):
        if value is None or value != value:  # noqa: PLR0124  NaN
            msg = f"Input y contains NaN: row {i} has the label {value!r}. A row without a label cannot be learned from: leave it out"
            raise ValueError(msg)
        try:
            codes[i] = index.setdefault(value, len(index))
        except TypeError as error:
            msg = f"Unknown label type: row {i} of y holds {value!r}; a label must be hashable (a string, a number, a tuple)"
            raise ValueError(msg) from error
    labels = list(index)
    if column.dtype.kind == "O" and all(isinstance(label, float) for label in labels):
        _check_label_floats(np.array(labels))
    try:
        order = sorted(range(len(labels)), key=labels.__getitem__)
    except TypeError:  # labels of different kinds: by kind, then by value
        order = sorted(range(len(labels)), key=lambda i: (type(labels[i]).__name__, str(labels[i])))
    classes = np.empty(len(labels), dtype=column.dtype)
    for place, i in enumerate(order):
        classes[place] = labels[i]
    place_of = np.empty(len(labels), np.int64)
    place_of[order] = np.arange(len(labels))
    return classes, place_of[codes]


def read_numbers(y, n_rows, caller):
    """Return a regression target as an (n, n_outputs) float64 array, and whether y was one-dimensional."""
    array = read_y(y, n_rows, caller)
    if array.dtype.kind not in "fiub":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            msg = f"y holds {array.flat[0]!r}: a regression target must be numbers; use a classifier for labels"
            raise ValueError(msg) from error
    columns = np.asarray(array[:, None] if array.ndim == 1 else array, dtype=np.float64)
    if np.isnan(columns).any():
        msg = "Input y contains NaN. A row without a target cannot be learned from: leave it out"
        raise ValueError(msg)
    if not np.isfinite(columns).all():
        msg = "Input y contains infinity or a value too large for dtype('float64')."
        raise ValueError(msg)
    return np.ascontiguousarray(columns), array.ndim == 1


def read_weight(sample_weight, n_rows):
    """Return weights as float64, or None where they are all one."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight)
    if weight.dtype.kind not in "fiub":
        weight = weight.astype(np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.ndim != 1:
        msg = f"Sample weights must be 1D array or scalar, got {weight.ndim}D array. Pass one weight a row"
        raise ValueError(msg)
    if len(weight) != n_rows:
        msg = f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}!"
        raise ValueError(msg)
    weight = weight.astype(np.float64)
    if not np.isfinite(weight).all():
        row = int(np.flatnonzero(~np.isfinite(weight))[0])
        msg = f"Input sample_weight contains NaN or infinity: row {row} has {weight[row]}; every weight must be finite"
        raise ValueError(msg)
    if (weight < 0).any():
        row = int(np.flatnonzero(weight < 0)[0])
        msg = f"Negative values in data passed to `sample_weight`: row {row} has {weight[row]}; every weight must be >= 0"
        raise ValueError(msg)
    if not weight.any():
        msg = "sample_weight: all weights are zero, so there is nothing to learn from; at least one must be > 0"
        raise ValueError(msg)
    return weight


def class_weights(class_weight, labels, sample_weight):
    """Return sample weights with the weight of each row's classes multiplied in."""
    if class_weight is None:
        return sample_weight
    per_output = class_weight if isinstance(class_weight, (list, tuple)) else [class_weight] * len(labels.classes)
    if isinstance(class_weight, dict) and len(labels.classes) > 1:
        msg = "class_weight must be a list of dicts, one an output, or 'balanced', for a target of several outputs"
        raise ValueError(msg)
    if len(per_output) != len(labels.classes):
        msg = f"For multi-output, number of elements in class_weight ({len(per_output)}) should match number of outputs ({len(labels.classes)})."
        raise ValueError(msg)
    weight = np.ones(len(labels.codes)) if sample_weight is None else sample_weight.copy()
    for o, given in enumerate(per_output):
        codes, classes = labels.codes[:, o], labels.classes[o]
        weight *= _weight_a_class(given, classes, codes)[codes]
    return weight


def _weight_a_class(given, classes, codes):
    if isinstance(given, str) and given == "balanced":
        return len(codes) / (len(classes) * np.bincount(codes, minlength=len(classes)))
    if not isinstance(given, dict):
        msg = f"class_weight={given!r}: must be a dict of class to weight, 'balanced', a list of these for several outputs, or None"
        raise ValueError(msg)
    known = {value: k for k, value in enumerate(classes.tolist())}
    weights = np.ones(len(classes))
    for value, weight in given.items():
        if value in known:
            if not (isinstance(weight, (int, float, np.number)) and weight >= 0 and math.isfinite(weight)):
                msg = f"class_weight[{value!r}]={weight!r}: must be a finite number >= 0"
                raise ValueError(msg)
            weights[known[value]] = weight
    return weights


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights as integers: exact where they are whole numbers, in fixed point otherwise."""

    integers: np.ndarray  # (n,) int64; 0 only where the weight is 0
    unit: float
    total: float
    kept: np.ndarray  # (k,) uint32: rows of positive weight
    are_one: bool


def fixed_weights(weight, n_rows):
    """Return the Weights of a fit."""
    everything = np.arange(n_rows, dtype=np.uint32)
    if weight is None or (weight == 1.0).all():
        return Weights(np.ones(n_rows, np.int64), 1.0, float(n_rows), everything, are_one=True)
    kept = everything if weight.all() else np.flatnonzero(weight).astype(np.uint32)
    total = float(weight.sum())
    if total < _ROOM and (weight == np.floor(weight)).all():
        return Weights(weight.astype(np.int64), 1.0, total, kept, are_one=False)
    # As fine as the sum allows; a power of two, so exact to undo.
    unit = 2.0 ** math.ceil(math.log2(total / _ROOM))
    integers = np.rint(weight / unit).astype(np.int64)
    integers[kept] = np.maximum(integers[kept], 1)
    return Weights(integers, unit, float(integers.sum()) * unit, kept, are_one=False)


def class_target(labels, weights):
    """Return the target kind of class labels."""
    counts = [len(classes) for classes in labels.classes]
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    n_stats = int(offsets[-1])
    if len(counts) > 1:
        return ManyClasses(labels.codes.astype(np.int32), offsets, weights.integers, weights.unit, n_stats, counts[0])
    codes = labels.codes[:, 0]
    if n_stats <= 2:
        kind = TwoClasses if weights.are_one else WeightedTwoClasses
        return kind(codes.astype(np.uint8), offsets, weights.integers, weights.unit, 2, 2)
    return Classes(codes.astype(np.int32), offsets, weights.integers, weights.unit, n_stats, n_stats)


def _fixed(values, multiplier):
    """Return multiplier * value as integers with their unit, and what rounding the values took away.

    The value is rounded before it is multiplied, so that a weight of two is exactly two rows.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return np.zeros(values.shape, np.int64), 1.0, np.zeros(values.shape)
    # At most 2**61 in all, so that int64 never overflows; a power of two, so exact to undo.
    exponent = math.ceil(math.log2(largest)) + math.ceil(math.log2(float(multiplier.sum()))) - 61
    unit = 2.0 ** max(exponent, -1074)
    rounded = np.rint(values / unit)
    return rounded.astype(np.int64) * multiplier, unit, values - rounded * unit


def number_target(y, weights, criterion):
    """Return the target kind of numbers for a criterion."""
    kind = type(criterion)
    centred_at = _offsets(y, weights) if getattr(kind, "centred", False) or kind.target == "ranks" else np.zeros(y.shape[1])
    away = y - centred_at
    if weights.unit == 1.0:
        multiplier = weights.integers
    else:
        multiplier = (weights.integers > 0).astype(np.int64)
        away = away * (weights.integers * weights.unit)[:, None]
    firsts = [_fixed(away[:, o], multiplier) for o in range(y.shape[1])]
    moments = [[moment, unit] for moment, unit, _ in firsts]
    if kind.target == "ranks":
        return _ranked(y, y - centred_at, weights, moments)
    n_moments = getattr(kind, "moments", 1)
    if n_moments == 2:
        with_squares = []
        for o, pair in enumerate(moments):
            square, unit, _ = _fixed(away[:, o] * (y[:, o] - centred_at[o]), multiplier)
            with_squares += [pair, [square, unit]]
        moments = with_squares
    residuals = [_fixed(residual, multiplier) for _, _, residual in firsts]
    n_outputs = y.shape[1]
    units = np.array([unit for _, unit in moments])
    fields = {
        "moments": np.stack([moment for moment, _ in moments], axis=1),
        "units": units,
        "n_moments": n_moments,
        "residuals": np.stack([residual for residual, _, _ in residuals], axis=1),
        "residual_units": np.array([unit for _, unit, _ in residuals]),
        "offsets": centred_at,
        "moment_unit": float(units[0]),
        "weights": weights.integers,
        "unit": weights.unit,
        "y": y,
        "n_stats": 1 + n_outputs * n_moments,
        "n_weights": 1,
    }
    is_plain = n_outputs == 1 and n_moments == 1 and weights.are_one
    return Number(**fields) if is_plain else Numbers(**fields)


def _offsets(y, weights):
    """Return a centre of every output: any value near the middle serves, so the range's middle, which no order changes."""
    kept = y[weights.kept]
    low, high = kept.min(axis=0), kept.max(axis=0)
    # Rounded to a coarse power of two: whole numbers stay whole numbers after it is taken off.
    span = np.maximum(high - low, np.finfo(float).tiny)
    grain = 2.0 ** np.floor(np.log2(span))
    return np.rint((low / 2 + high / 2) / grain) * grain


def _ranked(y, away, weights, moments):
    n_outputs = y.shape[1]
    return Ranked(
        np.stack([moment for moment, _ in moments], axis=1), np.array([unit for _, unit in moments]), away,
        np.zeros((len(y), n_outputs), np.int64), np.zeros((len(y), n_outputs)), weights.integers, weights.unit, y, 1, 0,
    )
