"""Weights of the rows: sample weights and class weights, checked and made exact integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.tables.frames import refuse_lazy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.labels import Labels


# Sums of weights stay below two to this, so that float64 holds them exactly too.
_ROOM_BITS = 52
_LEAST, _MOST = 1e-100, 1e100
_OFF = 1e-9  # by no larger a share is a sum of floats off


def read_weight(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return weights as float64, or None where all are one.

    Parameters
    ----------
    sample_weight : array of shape (rows,), number or None
        Finite and not negative, not all zero; a number stands for that weight in every row.
    n_rows : int
        Number of rows of the table.

    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, (int, float, np.number)):
        sample_weight = np.full(n_rows, float(sample_weight))
    refuse_lazy(sample_weight, "sample_weight")
    weight = np.asarray(sample_weight)
    if weight.dtype.kind not in "fiubO":
        raise ValueError(f"sample_weight has dtype {weight.dtype}: pass one number a row")
    try:
        weight = weight.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight cannot be read as numbers: {error}; pass one number a row") from error
    if weight.ndim == 0:
        shown = f"array({float(weight)!s})".replace(".0)", ".)")
        raise TypeError(
            f"Input should have at least 1 dimension i.e. satisfy `len(x.shape) > 0`, got scalar `{shown}` instead. "
            "Pass one sample_weight a row, or a plain number"
        )
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weight.ndim}D array. Pass one weight a row")
    if len(weight) != n_rows:
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}! Pass one weight a row")
    _refuse_rows(weight, ~np.isfinite(weight), "Input sample_weight contains NaN or infinity", "must be finite")
    _refuse_rows(weight, weight < 0, "Negative values in data passed to `sample_weight`", "must be >= 0")
    _check_total(weight, "sample_weight")
    return weight


def weight_in_rows(weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Return weights as numbers of rows, which is what estimates of errors from few rows ask for.

    Whole numbers are: a weight of 2 is a row that stands there twice. Others tell how rows compare, and are scaled
    to add up to the number of rows of positive weight, so that their unit does not matter; None where all become one.
    """
    if weight is None or are_whole(weight, float(weight.sum())):
        return weight
    n_rows = np.count_nonzero(weight)
    # As fine as leaves sums exact, and without the last digits, which hang on how weights were computed
    step = 2.0 ** (math.frexp(n_rows)[1] - _ROOM_BITS + 1)
    scaled = np.rint(weight * (n_rows / math.fsum(weight)) / step) * step
    scaled[weight > 0] = np.maximum(scaled[weight > 0], step)
    return None if (scaled == 1.0).all() else scaled


def are_whole(weight: NDArray[np.float64], total: float) -> bool:
    """Tell whether weights are whole numbers; where their sum is too large for digits behind the point, none is."""
    return total < 2.0**_ROOM_BITS and bool((weight == np.floor(weight)).all())


def exponent_of_sum(weight: NDArray[np.float64]) -> int:
    """Return to which power of two positive numbers sum up, as ``frexp`` tells it, in whatever order they stand."""
    total = float(weight.sum())
    least, most = (math.frexp(total * (1.0 + off))[1] for off in (-_OFF, _OFF))
    return least if least == most else math.frexp(math.fsum(weight))[1]


def _refuse_rows(weight: NDArray[np.float64], is_wrong: NDArray[np.bool_], what: str, rule: str) -> None:
    if is_wrong.any():
        row = int(is_wrong.argmax())
        raise ValueError(f"{what}: row {row} has {weight[row]}; every weight {rule}")


def _check_total(weight: NDArray[np.float64], name: str) -> None:
    with np.errstate(over="ignore"):
        total = weight.sum()
    if total == 0.0:
        raise ValueError(f"{name}: all weights are zero, so no row counts; at least one must be > 0")
    if not _LEAST <= total <= _MOST:
        raise ValueError(
            f"{name}: the weights add up to {total}, and sums outside [{_LEAST}, {_MOST}] leave float64 when they are "
            "squared; divide them by their largest"
        )


def class_weights(class_weight: Any, labels: Labels, weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Return sample weights with the weight of each row's classes multiplied in.

    Parameters
    ----------
    class_weight : dict, "balanced", list of these (one an output) or None
        "balanced" makes the classes weigh the same by numbers of rows. A class that a dict leaves out weighs one.
    labels : Labels
        Classes and codes of every output.
    weight : array or None
        The sample weights.

    """
    if class_weight is None:
        return weight
    n_outputs = len(labels.classes)
    each = list(class_weight) if isinstance(class_weight, (list, tuple)) else [class_weight] * n_outputs
    if isinstance(class_weight, dict) and n_outputs > 1:
        raise ValueError(
            f"For multi-output, class_weight should be a list of dicts or 'balanced'; got one dict, y has {n_outputs}"
        )
    if len(each) != n_outputs:
        raise ValueError(
            "For multi-output, number of elements in class_weight should match number of outputs. "
            f"class_weight has {len(each)}, y has {n_outputs}"
        )
    product = np.ones(len(labels.codes)) if weight is None else weight.copy()
    for given, classes, codes in zip(each, labels.classes, labels.codes.T, strict=True):
        product *= _weight_a_class(given, classes, codes)[codes]
    _check_total(product, "class_weight times sample_weight")
    return product


def _weight_a_class(given: Any, classes: NDArray[Any], codes: NDArray[np.int64]) -> NDArray[np.float64]:
    weights = np.ones(len(classes))
    if given is None:
        return weights
    if not isinstance(given, dict):  # "balanced": the parameter check admits nothing else
        return len(codes) / (len(classes) * np.bincount(codes, minlength=len(classes)).astype(np.float64))
    places = {value: k for k, value in enumerate(classes.tolist())}
    unknown = [value for value in given if value not in places]
    left_out = [value for value in places if value not in given]
    if unknown and left_out:
        raise ValueError(
            f"The classes, {left_out}, are not in class_weight, which holds {unknown}: spell the classes as in y"
        )
    for value, weight in given.items():
        if not (isinstance(weight, (int, float, np.number)) and math.isfinite(weight) and weight >= 0):
            raise ValueError(f"class_weight[{value!r}]={weight!r}: must be a finite number >= 0")
        if value in places:
            weights[places[value]] = weight
    return weights


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights as integers: exact where they are whole numbers, in fixed point otherwise."""

    given: NDArray[np.int64] | None  # (n,); 0 only where the weight is 0; None where all are one
    unit: float  # a weight of 1, in the caller's units
    total: float
    kept: NDArray[np.uint32]  # (k,) rows of positive weight
    n_rows: int
    plain: NDArray[np.float64] | None = None  # (n,) what rows count without costs and priors, where that differs

    @property
    def are_one(self) -> bool:
        """Whether every row counts one."""
        return self.given is None

    @cached_property
    def integers(self) -> NDArray[np.int64]:
        """Weights of all rows, made where a target kind reads them: 8 bytes a row that most fits do without."""
        return np.ones(self.n_rows, np.int64) if self.given is None else self.given


_MOST_REPEATED = 1 << 31  # weights that sum to more are no repeated rows


def _in_lowest_terms(integers: NDArray[np.int64], unit: float) -> tuple[NDArray[np.int64], float]:
    """Return integers without the powers of two that all have: what weights are measured in changes no bit then."""
    bits = int(np.bitwise_or.reduce(integers))
    shift = (bits & -bits).bit_length() - 1
    return (integers >> shift, math.ldexp(unit, shift)) if shift > 0 else (integers, unit)


def fixed_weights(weight: NDArray[np.float64] | None, n_rows: int) -> Weights:
    """Return the Weights of a fit."""
    everything = np.arange(n_rows, dtype=np.uint32)
    if weight is None or (weight == 1.0).all():
        return Weights(None, 1.0, float(n_rows), everything, n_rows)
    kept = everything if weight.all() else np.flatnonzero(weight).astype(np.uint32)
    total = float(weight.sum())
    if are_whole(weight, total):
        integers, unit = weight.astype(np.int64), 1.0
        if total > _MOST_REPEATED:
            integers, unit = _in_lowest_terms(integers, unit)
        return Weights(integers, unit, total, kept, n_rows)
    # As fine as the sum allows; a power of two, so exact to undo. The sum is the same in any order of the rows.
    unit = 2.0 ** max(exponent_of_sum(weight) - _ROOM_BITS, -1074)
    integers = np.rint(weight / unit).astype(np.int64)
    integers[kept] = np.maximum(integers[kept], 1)
    integers, unit = _in_lowest_terms(integers, unit)
    return Weights(integers, unit, float(integers.sum()) * unit, kept, n_rows)
