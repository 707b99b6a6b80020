"""The textbook quantities behind a split: impurities, gain, gain ratio and split information.

For teaching, for checking a number by hand and for tests: plain lists or arrays go in, and the formula comes before
speed. The learners compute the same quantities in compiled code of their own.

An impurity says how mixed a set of rows is. The gain of a split is the impurity of all rows minus that of the branches,
each branch weighted by its share of the rows.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["entropy", "error", "gain", "gain_ratio", "gini", "split_info"]

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.intp]
# (counts, starts) -> one number per group: groups of counts stand end to end, and `starts` says where each begins.
Impurity: TypeAlias = Callable[[Floats, Integers], Floats]
_ONE_GROUP: Integers = np.zeros(1, np.intp)
# A gain is a difference, often of equal numbers. What is left below this is rounding, and returning it would make one
# useless feature look better than another.
_ROUNDING = 1e-14


def entropy(counts: ArrayLike, base: float = 2) -> float | Floats:
    """Return the entropy, -sum p log p: the mean information it takes to name the class of a row.

    0 log 0 is 0, and counts that are all zero give 0.0.

    Parameters
    ----------
    counts : array-like of numbers >= 0, shape (n_classes,) or (..., n_classes)
        Rows (or weight) of each class. One dimension gives a float, more give an array: one result per last axis.
    base : number > 1, default 2
        2 gives bits, ``math.e`` nats, and the number of classes a value between 0 and 1.

    Examples
    --------
    >>> entropy([5, 5])
    1.0
    >>> round(entropy([1, 2, 2], base=3), 6)
    0.96023
    """
    bits = _bits_per_unit(base)
    return _for_each_row(counts, lambda flat, starts: _entropy_bits(flat, starts) / bits)


def gini(counts: ArrayLike) -> float | Floats:
    """Return the Gini impurity, 1 - sum p**2: how often two rows, drawn with replacement, differ in class.

    Takes `counts`, and returns one number or several, as `entropy` does.

    Examples
    --------
    >>> gini([[5, 5], [3, 1], [4, 0]])
    array([0.5  , 0.375, 0.   ])
    """
    return _for_each_row(counts, _gini)


def error(counts: ArrayLike) -> float | Floats:
    """Return the misclassification error, 1 - max p: the share of rows outside the largest class.

    Takes `counts`, and returns one number or several, as `entropy` does.

    Examples
    --------
    >>> error([3, 1])
    0.25
    """
    return _for_each_row(counts, _error)


def gain(y: Any, x: Any, measure: str = "entropy", *, base: float = 2, weight: ArrayLike | None = None) -> float:
    """Return how much the impurity of `y` falls when the rows are split by the values of `x`.

    The result is at least 0; a difference that rounding alone can make (1e-14) is returned as 0.0.

    Parameters
    ----------
    y, x : sequences of hashable values, one per row
        Each distinct value of `x` is a branch: for a threshold, give ``x <= cut``. A missing value is an error.
    measure : {"entropy", "gini", "error"}, default "entropy"
        The impurity; "entropy" makes it the information gain.
    base : number > 1, default 2
        Base of the logarithm in the entropy; the other measures have none.
    weight : sequence of numbers >= 0, optional
        Weight of each row; 1 if not given. Weights that are all zero give 0.0.

    Examples
    --------
    >>> gain([0, 0, 1, 1], ["a", "a", "b", "b"])
    1.0
    >>> gain([0, 1, 1, 0], [0, 0, 1, 1])
    0.0
    >>> gain([1, 1, 0, 0], [1, 0, 0, 0], measure="error")
    0.25
    """
    if not (isinstance(measure, str) and measure in _IMPURITIES):
        raise ValueError(f"measure={measure!r}: must be one of {sorted(_IMPURITIES)}")
    impurity, bits, y_codes, x_codes = _IMPURITIES[measure], _bits_per_unit(base), _codes(y, "y"), _codes(x, "x")
    if len(y_codes) != len(x_codes):
        raise ValueError(f"y has {len(y_codes)} values and x has {len(x_codes)}: give one of each per row")
    # Only the pairs (x, y) that occur are counted, sorted by x: a full table of a number by a number can be huge.
    n_classes = y_codes.max() + 1
    pairs, pair_of_row = np.unique(x_codes * n_classes + y_codes, return_inverse=True)
    counts = _sums(pair_of_row, _weights(weight, len(y_codes)))
    branches = np.flatnonzero(np.diff(pairs // n_classes, prepend=-1))
    branch_share, _ = _shares(np.add.reduceat(counts, branches), _ONE_GROUP)
    before = impurity(_sums(pairs % n_classes, counts), _ONE_GROUP)[0]
    after = (branch_share * impurity(counts, branches)).sum()
    if before - after <= _ROUNDING * max(before, 1):
        return 0.0
    return float(before - after) / (bits if measure == "entropy" else 1)


def split_info(x: Any, *, base: float = 2, weight: ArrayLike | None = None) -> float:
    """Return the split information, the entropy of `x` itself: what it takes to say which branch a row takes.

    Parameters are those of `gain`. C4.5 makes a missing `x` one more branch: mark it with a value of its own.

    Examples
    --------
    >>> split_info(["a", "b", "c", "d"])
    2.0
    """
    bits, codes = _bits_per_unit(base), _codes(x, "x")
    return float(_entropy_bits(_sums(codes, _weights(weight, len(codes))), _ONE_GROUP)[0]) / bits


def gain_ratio(y: Any, x: Any, *, base: float = 2, weight: ArrayLike | None = None) -> float:
    """Return the information gain divided by the split information, a charge for splitting into many branches.

    Parameters are those of `gain`; `base` cancels out. Rows that all take one branch give 0.0.

    Examples
    --------
    >>> gain_ratio([0, 0, 1, 1], [1, 2, 3, 4])
    0.5
    """
    gained = gain(y, x, base=base, weight=weight)
    return gained / split_info(x, base=base, weight=weight) if gained > 0 else 0.0


def _shares(counts: Floats, starts: Integers) -> tuple[Floats, Floats]:
    """Return p and 1 - p of each count within its group, both 0 in a group without weight."""
    total = np.repeat(np.add.reduceat(counts, starts), np.diff(starts, append=len(counts)))
    divisor = np.where(total > 0, total, 1)
    # 1 - p comes from the weight of the others: subtracting p would lose the digits of an almost pure group.
    return counts / divisor, (total - counts) / divisor


def _entropy_bits(counts: Floats, starts: Integers) -> Floats:
    share, rest = _shares(counts, starts)
    log_share = np.log2(share, out=np.zeros_like(share), where=share > 0)
    large = share > rest
    log_share[large] = np.log1p(-rest[large]) / math.log(2)  # keeps the digits of a share near 1
    return np.abs(np.add.reduceat(share * log_share, starts))  # abs instead of a minus, which could make -0.0


def _gini(counts: Floats, starts: Integers) -> Floats:
    share, rest = _shares(counts, starts)
    return np.add.reduceat(share * rest, starts)


def _error(counts: Floats, starts: Integers) -> Floats:
    return np.minimum.reduceat(_shares(counts, starts)[1], starts)


_IMPURITIES: dict[str, Impurity] = {"entropy": _entropy_bits, "error": _error, "gini": _gini}


def _for_each_row(counts: ArrayLike, impurity: Impurity) -> float | Floats:
    table = _amounts(counts, "counts")
    result = impurity(table.ravel(), np.arange(0, table.size, table.shape[-1]))
    return float(result[0]) if table.ndim == 1 else result.reshape(table.shape[:-1])


def _sums(codes: Integers, weights: Floats) -> Floats:
    return np.asarray(np.bincount(codes, weights), np.float64)


def _bits_per_unit(base: Any) -> float:
    is_number = isinstance(base, numbers.Real) and not isinstance(base, bool)
    if not (is_number and 1 < base < math.inf):
        kind = ValueError if is_number else TypeError
        raise kind(f"base={base!r}: must be a finite number above 1; use 2 for bits or math.e for nats")
    return math.log2(base)


def _amounts(values: ArrayLike, name: str) -> Floats:
    """Return numbers >= 0, each row scaled by a power of two (which is exact) so that no sum overflows."""
    rule = f"{name} must be finite numbers, at least 0, in a list or in rows of one length"
    try:
        given: NDArray[Any] = np.asarray(values)
        amounts = given.astype(np.float64) if given.dtype.kind in "iufO" else np.zeros(0)
    except (TypeError, ValueError, OverflowError) as problem:
        raise ValueError(f"{rule}; here, {problem}") from problem
    if given.dtype.kind not in "iufO" or np.ma.is_masked(values):
        raise TypeError(f"{rule}, not {given.dtype} or masked; numpy.unique(labels, return_counts=True) counts labels")
    if amounts.ndim == 0 or amounts.shape[-1] == 0:
        raise ValueError(f"{name} has shape {amounts.shape}, but {rule}, and at least one")
    bad = np.argwhere(~((amounts >= 0) & (amounts < np.inf))).tolist()
    if bad:
        raise ValueError(f"{name}{bad[0]}={amounts[tuple(bad[0])]}, but {rule}; correct or leave out this one")
    return np.asarray(np.ldexp(amounts, -np.frexp(amounts.max(axis=-1, keepdims=True))[1]), np.float64)


def _weights(weight: ArrayLike | None, n_rows: int) -> Floats:
    weights = np.ones(n_rows) if weight is None else _amounts(weight, "weight")
    if weights.shape != (n_rows,):
        raise ValueError(f"weight has shape {weights.shape} for {n_rows} rows: give one weight per row, or None")
    return weights


def _codes(values: Any, name: str) -> Integers:
    """Number the distinct values 0, 1, ... in order of appearance."""
    if isinstance(values, str | bytes | Mapping | set | frozenset) or not isinstance(values, Iterable):
        raise TypeError(f"{name} is a {type(values).__name__}: must be a list or array with one value per row")
    shape = getattr(values, "shape", (None,))
    if len(shape) != 1:
        raise ValueError(f"{name} has shape {shape}: must have one dimension, one value per row; give a single column")
    rows = np.asanyarray(values).tolist() if hasattr(values, "__array__") else list(values)
    if not rows:
        raise ValueError(f"{name} is empty: give at least one row")
    try:
        code_of = {value: code for code, value in enumerate(dict.fromkeys(rows))}
    except TypeError as problem:
        raise TypeError(f"{name}: values must be hashable, such as numbers, strings or tuples; {problem}") from problem
    codes = [code_of[value] for value in rows]
    missing = [codes.index(code) for value, code in code_of.items() if _is_missing(value)]
    if missing:
        place = f"{name}[{missing[0]}]={rows[missing[0]]!r}"
        raise ValueError(f"{place} is a missing value: leave out the row, or mark it with a value of its own")
    return np.array(codes, np.intp)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)  # NaN and NaT differ from themselves
    except (TypeError, ValueError):  # pandas.NA does not say whether it does
        return True
