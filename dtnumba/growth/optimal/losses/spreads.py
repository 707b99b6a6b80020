# mypy: ignore-errors
# ruff: noqa: D102
"""Losses of mixed leaves.

TwoGini      gini of two classes
ManyGini     gini of any classes
WideGini     the same, of any sums
EntropyLost  entropy of any classes
SquaresLost  squares about the mean

The squares that a cut of any rows leaves are all their squares less what the means explain: a * a / v of either side,
where v is the weight and a the sum. The gini of two classes is the same of numbers 0 and 1.
"""

import math
from typing import NamedTuple

import numpy as np

from dtnumba.growth.optimal.losses.contract import gini_of, leaf
from dtnumba.growth.optimal.losses.lane_by_lane import along_counts, fill_wholes, leaf_by_tables
from dtnumba.runtime.instructions.running_losses import running_gini, running_squares
from dtnumba.runtime.kernels import inline, kernel_type, outlined


@inline
def _explained(v, a, w, b):
    """Return what the means of two sides explain, as ``running_squares`` does."""
    return (a * a * w + b * b * v) / (v * w)


@inline
def _in_units(loss, found):
    return np.int64(math.floor(max(found, 0.0) * (loss.weight / loss.unit)))


@kernel_type
class TwoGini(NamedTuple):
    """Gini times weight of two classes."""

    unit: float  # of one loss
    weight: float  # of one unit of the sums

    def leaf(self, sums):
        total, a = float(sums[0] + sums[1]), float(sums[1])
        return _in_units(self, 2.0 * (a - a * a / total)) if total > 0 else np.int64(0)

    def two_leaves(self, x, y):
        a, b = float(x[1]), float(y[1])
        found = _explained(float(x[0] + x[1]), a, float(y[0] + y[1]), b)
        return _in_units(self, 2.0 * (float(x[1] + y[1]) - found))

    def spread(self, sums):
        return gini_of(sums)

    def along_column(self, rows, level, side, g, rule, least, lanes, n_lanes):
        n = np.int64(rows.size[level, side])
        fill_wholes(lanes, n, n_lanes)
        for s in range(2):
            for w in range(n_lanes):
                lanes.whole[0, s, w] += lanes.whole[1, s, w]
        along_squares(rows, level, side, g, least, lanes)
        for s in range(2):
            for w in range(n_lanes):
                found = _in_units(self, 2.0 * (float(lanes.whole[1, s, w]) - lanes.gain[s, w])) + rule.price
                lanes.split[s, w] = min(lanes.split[s, w], found)


@inline
def along_squares(rows, level, side, g, least, lanes):
    """Find what two means explain at best along a column; lanes.whole has the sums of both sides of each cut."""
    order, codes = rows.row[level, side, g], rows.code[level, side, g]
    n, least, place, whole = np.int64(rows.size[level, side]), np.int64(least), lanes.place, lanes.whole[:2]
    running_squares(order, place, rows.delta, rows.first, codes, n, lanes.cut, least, whole, lanes.gain)


@kernel_type
class ManyGini(NamedTuple):
    """Gini times weight of any classes; sums are below 2**31, so that their squares add up exactly."""

    unit: float
    weight: float

    def leaf(self, sums):
        total, squares = _squares_of(sums)
        return _in_units(self, total - squares / total) if total > 0 else np.int64(0)

    def two_leaves(self, x, y):
        v, p = _squares_of(x)
        w, q = _squares_of(y)
        return _in_units(self, (v + w) - (p * w + q * v) / (v * w))

    def spread(self, sums):
        return gini_of(sums)

    def along_column(self, rows, level, side, g, rule, least, lanes, n_lanes):
        n, least, whole = np.int64(rows.size[level, side]), np.int64(least), lanes.whole
        fill_wholes(lanes, n, n_lanes)
        order, codes, weight, counts = rows.row[level, side, g], rows.code[level, side, g], rows.delta, lanes.counts
        running_gini(order, lanes.place, rows.label, weight, codes, n, lanes.cut, least, counts, whole, lanes.gain)
        for s in range(2):
            for w in range(n_lanes):
                total = np.int64(0)
                for k in range(len(whole)):
                    total += whole[k, s, w]
                found = _in_units(self, float(total) - lanes.gain[s, w]) + rule.price
                lanes.split[s, w] = min(lanes.split[s, w], found)


@inline
def _squares_of(sums):
    total = squares = np.int64(0)
    for k in range(len(sums)):
        total += sums[k]
        squares += sums[k] * sums[k]
    return float(total), float(squares)


@kernel_type
class WideGini(NamedTuple):
    """Gini times weight of any classes and sums."""

    unit: float
    weight: float

    def leaf(self, sums):
        return _in_units(self, gini_of(sums))

    def spread(self, sums):
        return gini_of(sums)


@kernel_type
class EntropyLost(NamedTuple):
    """Entropy in bits times weight."""

    unit: float
    weight: float
    of_size: np.ndarray  # x log2 x in units, of sums x; empty where sums are no small whole numbers
    of_class: np.ndarray  # the same
    n_classes: int

    def leaf(self, sums):
        return _entropy(self, sums)

    def spread(self, sums):
        return float(_entropy(self, sums))

    def along_column(self, rows, level, side, g, rule, least, lanes, n_lanes):
        along_counts(self, rows, level, side, g, rule, least, lanes, n_lanes)


@outlined
def _entropy(loss, sums):
    if len(loss.of_size) > 0:
        return leaf_by_tables(loss, sums)
    total = found = 0.0
    for k in range(len(sums)):
        total += sums[k]
    for k in range(len(sums)):
        if sums[k] > 0:
            found += sums[k] * math.log2(total / sums[k])
    return _in_units(loss, found)


@kernel_type
class SquaresLost(NamedTuple):
    """Squares about the mean; the sums are weight, weighted target and weighted square."""

    unit: float  # of one loss
    weight: float  # of one unit of each sum
    first: float
    second: float

    def leaf(self, sums):
        if sums[0] <= 0:
            return np.int64(0)
        a, v = float(sums[1]), float(sums[0])
        return _rest(self, sums[2], a * a / v)

    def two_leaves(self, x, y):
        return _rest(self, x[2] + y[2], _explained(float(x[0]), float(x[1]), float(y[0]), float(y[1])))

    def spread(self, sums):
        return float(leaf(self, sums))

    def along_column(self, rows, level, side, g, rule, least, lanes, n_lanes):
        fill_wholes(lanes, np.int64(rows.size[level, side]), n_lanes)
        along_squares(rows, level, side, g, least, lanes)
        for s in range(2):
            for w in range(n_lanes):
                found = _rest(self, lanes.whole[2, s, w], lanes.gain[s, w]) + rule.price
                lanes.split[s, w] = min(lanes.split[s, w], found)


def least_squares(loss, sums):
    """Return what each of several sets loses at least: some units less than a leaf's, so that rounding adds nothing."""
    squares, first = sums[:, 2] * loss.second, sums[:, 1] * loss.first
    rest = squares - first * first / (np.maximum(sums[:, 0], 1) * loss.weight)
    spare = 8.0 + np.ceil(squares * (2.0**-48 / loss.unit))
    return np.maximum(np.floor(rest / loss.unit) - spare, 0.0).astype(np.int64)


@inline
def _rest(loss, squares, explained):
    """Return what squares are left of all where means explain so much."""
    found = float(squares) * loss.second - explained * (loss.first * loss.first / loss.weight)
    return np.int64(math.floor(max(found, 0.0) / loss.unit))
