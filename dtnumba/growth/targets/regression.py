# mypy: ignore-errors
# ruff: noqa: D102
"""Targets that are numbers: exact sums of moments in fixed point."""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import gain_of, score_of
from dtnumba.growth.targets.contract import ArraySums, OwnMoments, TupleSums, with_moments, with_residuals, with_weights
from dtnumba.growth.targets.leaf_values import NumberLeaves, row_at
from dtnumba.runtime.instructions.column_blocks import add_moments
from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.runtime.memory import per_worker


class _NumberFields(NamedTuple):
    moments: np.ndarray  # (n, n_outputs * n_moments) int64: weight * (y - offset), its square; in units of ``units``
    units: np.ndarray  # (n_outputs * n_moments,) float64: a moment of 1, in the caller's units
    n_moments: int
    residuals: np.ndarray  # (n, n_outputs) int64: what rounding took from the first moment, in ``residual_units``
    residual_units: np.ndarray  # (n_outputs,) float64
    offsets: np.ndarray  # (n_outputs,) float64
    moment_unit: float  # units[0]
    weights: np.ndarray  # (n,) int64
    unit: float
    y: np.ndarray  # (n, n_outputs) float64, as passed: equal values make a node pure
    n_stats: int
    n_weights: int  # the first so many statistics sum to the weight


class OneNumber(TupleSums):
    """One output that is a number: (weight, sum of y in units of ``moment_unit``)."""

    __slots__ = ()

    def zero(self, buffer):
        return (0.0, np.int64(0))

    def level_key(self, stats):
        return float(stats[1]) / stats[0]

    def bin_sums(self, sums, k):
        return (float(sums[0, k]), sums[1, k])

    def load(self, sums, buffer):
        return (float(sums[0]), sums[1])

    def take(self, stats, hist, at):
        return (stats[0] + float(hist[at]), stats[1] + hist[at + np.uint64(1)])

    def weight(self, stats):
        return stats[0]

    def score(self, criterion, left, right, work):
        a, b = (float(left[1]) * self.moment_unit,), (float(right[1]) * self.moment_unit,)
        return score_of(criterion, a, b, left[0], right[0])

    def gain(self, criterion, left, right, work):
        a, b = (float(left[1]) * self.moment_unit,), (float(right[1]) * self.moment_unit,)
        return gain_of(criterion, (a[0] + b[0],), (a, b), (left[0], right[0]))


@kernel_type
class Number(OneNumber, NumberLeaves, _NumberFields):
    """One output that is a number, and rows of weight 1: (rows, sum of y in units of ``moment_unit``)."""

    __slots__ = ()

    def add(self, stats, row):
        return (stats[0] + 1.0, stats[1] + self.moments[row, 0])

    def put(self, hist, at, row):
        hist[at] += 1
        hist[at + np.uint64(1)] += self.moments[row, 0]

    def rows_in(self, hist, at, width):
        return hist[at]

    def is_pure(self, stats, rows, start, stop):
        return _all_equal(self.y, rows, start, stop)


@kernel_type
class CountedNumber(OneNumber, NumberLeaves, _NumberFields):
    """One output that is a number, and rows that count several times: (weight, sum of y in ``moment_unit``)."""

    __slots__ = ()

    def own_arrays(self, workers, n_small, n):
        moments = per_worker(workers, (n_small, 1), np.int64)
        return OwnMoments(
            moments, per_worker(workers, (0, 1), np.int64), per_worker(workers, n_small, self.weights.dtype)
        )

    def with_counts(self, own, counts, rows, n):
        return with_weights(self, counts)

    def gather(self, own, rows, start, stop):
        for i in range(start, stop):
            row = rows[i]
            own.moments[i - start, 0], own.weights[i - start] = self.moments[row, 0], self.weights[row]
        return with_weights(with_moments(self, own.moments), own.weights)

    def item(self, row):
        count = np.int64(self.weights[row])
        return (count, count * self.moments[row, 0])

    def put_item(self, hist, at, item):
        hist[at] += item[0]
        hist[at + np.uint64(1)] += item[1]

    def no_item(self):
        return (np.int64(0), np.int64(0))

    def add_item_if(self, items, item, flag):
        return (items[0] + (item[0] & -flag), items[1] + (item[1] & -flag))

    def add_left(self, rows, start, stop, column, cuts, sums, step):
        return add_moments(rows.codes, rows.rows, start, stop, column, cuts, self.moments, self.weights, sums, step)

    def left_bin(self, sums, column, step, bins, k):
        bins[0, k], bins[1, k] = sums[column], sums[step + column]

    def add(self, stats, row):
        count = np.int64(self.weights[row])
        return (stats[0] + float(count), stats[1] + count * self.moments[row, 0])

    def put(self, hist, at, row):
        count = np.int64(self.weights[row])
        hist[at] += count
        hist[at + np.uint64(1)] += count * self.moments[row, 0]

    def rows_in(self, hist, at, width):
        return hist[at + np.uint64(width) - np.uint64(1)] if width > 2 else hist[at]

    def load_numbers(self, rows, start, n, targets, numbers):
        for i in range(np.uint64(n)):
            row = row_at(rows, np.uint64(start) + i)
            targets[i], numbers[np.uint64(2) * i] = self.moments[row, 0], np.int64(self.weights[row])
            numbers[np.uint64(2) * i + np.uint64(1)] = self.moments[row, 0] * np.int64(self.weights[row])

    def residual_at(self, row, o):
        return self.residuals[row, o] * np.int64(self.weights[row])

    def is_pure(self, stats, rows, start, stop):
        first = self.moments[row_at(rows, start), 0]
        for i in range(start + 1, stop):
            if self.moments[row_at(rows, i), 0] != first:
                return False
        return True


@inline
def _all_equal(y, rows, start, stop):
    first = row_at(rows, start)
    for i in range(start + 1, stop):
        row = row_at(rows, i)
        for o in range(y.shape[1]):
            if y[row, o] != y[first, o]:
                return False
    return True


@kernel_type
class Numbers(ArraySums, NumberLeaves, _NumberFields):
    """Outputs that are numbers: weight, then the moments of each; a criterion's numbers are averaged."""

    __slots__ = ()

    def own_arrays(self, workers, n_small, n):
        moments = per_worker(workers, self.moments.shape, np.int64)
        residuals = per_worker(workers, self.residuals.shape, np.int64)
        return OwnMoments(moments, residuals, per_worker(workers, 0, np.int64))

    def with_counts(self, own, counts, rows, n):
        for i in range(n):
            row = rows[i]
            for k in range(self.moments.shape[1]):
                own.moments[row, k] = self.moments[row, k] * np.int64(counts[row])
            for o in range(self.residuals.shape[1]):
                own.residuals[row, o] = self.residuals[row, o] * np.int64(counts[row])
        return with_weights(with_residuals(with_moments(self, own.moments), own.residuals), counts)

    def add(self, stats, row):
        stats[0] += self.weights[row]
        for k in range(len(self.units)):
            stats[k + 1] += self.moments[row, k]
        return stats

    def put(self, hist, at, row):
        hist[at] += self.weights[row]
        for k in range(len(self.units)):
            hist[at + np.uint64(k + 1)] += self.moments[row, k]

    def weight(self, stats):
        return float(stats[0]) * self.unit

    def is_pure(self, stats, rows, start, stop):
        return _all_equal(self.y, rows, start, stop)

    def score(self, criterion, left, right, work):
        a, b = work.seen[1], work.seen[2]
        total = 0.0
        for first in range(0, len(self.units), self.n_moments):
            for k in range(self.n_moments):
                a[k] = float(left[first + k + 1]) * self.units[first + k]
                b[k] = float(right[first + k + 1]) * self.units[first + k]
            total += score_of(criterion, a, b, float(left[0]) * self.unit, float(right[0]) * self.unit)
        return total * self.n_moments / len(self.units)

    def gain(self, criterion, left, right, work):
        both, a, b = work.seen[0], work.seen[1], work.seen[2]
        weights = (float(left[0]) * self.unit, float(right[0]) * self.unit)
        total = 0.0
        for first in range(0, len(self.units), self.n_moments):
            for k in range(self.n_moments):
                a[k] = float(left[first + k + 1]) * self.units[first + k]
                b[k] = float(right[first + k + 1]) * self.units[first + k]
                both[k] = a[k] + b[k]
            total += gain_of(criterion, both, (a, b), weights)
        return total * self.n_moments / len(self.units)
