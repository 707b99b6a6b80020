# mypy: ignore-errors
# ruff: noqa: D102
"""Targets that are numbers: exact sums of moments in fixed point.

Splits are scored by how far the sum on the left lies from what the mean of the node makes of its rows. Both sums may
agree in their first twenty digits, so the difference is taken of integers, where it is exact: the mean as an integer,
and what it leaves of the node's sum. Targets that lie further apart than an int64 resolves are added up in several (see
``fixed_point``), and the difference is taken of pairs of floats, the second of which holds what the first rounds off.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import gain_of, is_centred, score_of, shows_away
from dtnumba.growth.targets.contract import (
    ArraySums,
    OwnMoments,
    TupleSums,
    away_of,
    with_moments,
    with_weights,
)
from dtnumba.growth.targets.leaf_values import NumberLeaves, row_at, sum_of
from dtnumba.runtime.instructions.column_blocks import add_moments
from dtnumba.runtime.kernels import by_class, inline, kernel_type
from dtnumba.runtime.memory import per_worker


class _NumberFields(NamedTuple):
    moments: np.ndarray  # (n, n_outputs * n_moments * n_limbs) int64: weight * (y - offset), its square; in ``units``
    units: np.ndarray  # (n_outputs * n_moments * n_limbs,) float64: a moment of 1, in the caller's units
    n_moments: int
    n_limbs: int  # integers that a moment takes, the coarsest first
    n_seen: int  # numbers of an output that the criterion sees
    offsets: np.ndarray  # (n_outputs,) float64
    moment_unit: float  # units[0]
    weights: np.ndarray  # (n,) int64
    unit: float
    y: np.ndarray  # (n, n_outputs) float64, as passed: equal values make a node pure
    n_stats: int
    n_weights: int  # the first so many statistics sum to the weight


# What a criterion sees of the node, the left and the right, of one moment: sums of w * y from an offset, sums from the
# mean of the node, or both.
@inline
def _sums(criterion, left, right, away):
    return (left + right,), (left,), (right,)


@inline
def _aways(criterion, left, right, away):
    return (0.0,), (away,), (-away,)


@inline
def _both(criterion, left, right, away):
    return (left + right, 0.0), (left, away), (right, -away)


_sums_or_both = by_class(shows_away, _both, _sums)


@inline
def _with_sums(criterion, left, right, away):
    return _sums_or_both(criterion, left, right, away)


_seen_of = by_class(is_centred, _aways, _with_sums)


class OneNumber(TupleSums):
    """One output that is a number: (weight, sum of y in units of ``moment_unit``).

    Of a node four more: the mean, rounded down, what the sum exceeds its multiple by, a unit of a row's share, and the
    weight as a float.
    """

    __slots__ = ()

    def zero(self, buffer):
        return (np.int64(0), np.int64(0))

    def level_key(self, stats):
        return float(stats[1]) / float(stats[0])

    def bin_sums(self, sums, k):
        return (sums[0, k], sums[1, k])

    def load(self, sums, buffer):
        return (sums[0], sums[1])

    def take(self, stats, hist, at):
        return (stats[0] + hist[at], stats[1] + hist[at + np.uint64(1)])

    def around(self, total, work):
        share = 1.0 / float(total[0])
        mean = total[1] // total[0]
        rest = float(total[1] - mean * total[0])
        return (total[0], total[1], mean, rest, self.moment_unit * share, float(total[0]))

    def rest(self, total, left, buffer):
        return (total[0] - left[0], total[1] - left[1]) + total[2:]  # noqa: RUF005  kernels know no starred items

    def swapped(self, left, right):
        other = (left[0], left[1]) + right[2:]  # noqa: RUF005
        return (right[0], right[1]), other

    def weight(self, stats):
        return float(stats[0])

    def sum_of(self, stats, o, k):
        return float(stats[1]) * self.moment_unit

    def away(self, left, right, work, o):
        return _sides(self, left, right)[2]

    def score(self, criterion, left, right, work):
        weight = float(left[0])
        _, a, b = _seen_of(criterion, *_sides(self, left, right))
        return score_of(criterion, a, b, weight, right[5] - weight)

    def gain(self, criterion, left, right, work):
        both, a, b = _seen_of(criterion, *_sides(self, left, right))
        return gain_of(criterion, both, (a, b), (float(left[0]), float(right[0])))


@inline
def _sides(target, left, right):
    """Return the sums of both sides, and how far that on the left lies from the mean of the node.

    The integers are exact, and where their difference is no more than a few units, the products are, too.
    """
    away = (float(left[1] - right[2] * left[0]) * right[5] - right[3] * float(left[0])) * right[4]
    return float(left[1]) * target.moment_unit, float(right[1]) * target.moment_unit, away


@kernel_type
class Number(OneNumber, NumberLeaves, _NumberFields):
    """One output that is a number, and rows of weight 1: (rows, sum of y in units of ``moment_unit``)."""

    __slots__ = ()

    def add(self, stats, row):
        return (stats[0] + np.int64(1), stats[1] + self.moments[row, 0])

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
        return OwnMoments(per_worker(workers, (n_small, 1), np.int64), per_worker(workers, n_small, self.weights.dtype))

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
        return (stats[0] + count, stats[1] + count * self.moments[row, 0])

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
    """Outputs that are numbers: weight, then the moments of each; a criterion's numbers are averaged.

    Of a node, ``work.own`` holds the mean of every output, rounded down, and what the sum exceeds its multiple by.
    Where sums take several integers, ``work.costs`` holds the mean as two floats.
    """

    __slots__ = ()

    def own_arrays(self, workers, n_small, n):
        return OwnMoments(per_worker(workers, self.moments.shape, np.int64), per_worker(workers, 0, np.int64))

    def with_counts(self, own, counts, rows, n):
        for i in range(n):
            row = rows[i]
            for k in range(self.moments.shape[1]):
                own.moments[row, k] = self.moments[row, k] * np.int64(counts[row])
        return with_weights(with_moments(self, own.moments), counts)

    def own_size(self, n):
        return max(len(self.units), 2 * len(self.offsets))

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

    def around(self, total, work):
        for o in range(len(self.offsets)):
            first = o * self.n_moments * self.n_limbs
            if self.n_limbs == 1:
                # As ``OneNumber`` has it, to the bit: rows that count twice are two rows.
                work.own[0, o] = total[first + 1] // total[0]
                work.own[1, o] = total[first + 1] - work.own[0, o] * total[0]
            else:
                sums, weight = _as_pair(self, total, first), float(total[0])
                mean = sums[0] / weight
                product, rest = _exact_product(mean, weight)
                work.costs[2 * o] = mean
                work.costs[2 * o + 1] = (sums[0] - product - rest + sums[1]) / weight
        return total

    def sum_of(self, stats, o, k):
        first = (o * self.n_moments + k) * self.n_limbs
        if self.n_limbs == 1:
            return float(stats[first + 1]) * self.units[first]
        high, low = _as_pair(self, stats, first)
        return high + low

    def away(self, left, right, work, o):
        first, weight = o * self.n_moments * self.n_limbs, float(left[0])
        if self.n_limbs == 1:
            total = float(left[0] + right[0])
            whole = float(left[first + 1] - work.own[0, o] * left[0])
            return (whole * total - float(work.own[1, o]) * weight) * (self.units[first] * (1.0 / total))
        high, low = _as_pair(self, left, first)
        product, rest = _exact_product(work.costs[2 * o], weight)
        difference, rounded = _exact_sum(high, -product)
        away = difference + (rounded + (low - rest - work.costs[2 * o + 1] * weight))
        return away if abs(away) > _NOTHING * abs(high) else 0.0

    def profile_at(self, sums, at):
        total = 0.0
        for k in range(self.n_limbs):
            total += float(sums[at + k]) * (self.units[at - 1 + k] / self.units[at - 1])
        return total

    def score(self, criterion, left, right, work):
        a, b = work.seen[1], work.seen[2]
        total = 0.0
        for o in range(len(self.offsets)):
            _look(self, criterion, left, right, work, o)
            total += score_of(criterion, a, b, float(left[0]) * self.unit, float(right[0]) * self.unit)
        return total / len(self.offsets)

    def gain(self, criterion, left, right, work):
        both, a, b = work.seen[0], work.seen[1], work.seen[2]
        weights = (float(left[0]) * self.unit, float(right[0]) * self.unit)
        total = 0.0
        for o in range(len(self.offsets)):
            _look(self, criterion, left, right, work, o)
            total += gain_of(criterion, both, (a, b), weights)
        return total / len(self.offsets)


@kernel_type
class WideNumber(Numbers):
    """One number over more orders of magnitude than one int64 resolves."""

    __slots__ = ()

    def level_key(self, stats):
        return sum_of(self, stats, 0, 0) / float(stats[0])


@inline
def _look(target, criterion, left, right, work, o):
    """Write what a criterion sees of an output at a node and on both sides to ``work.seen``."""
    a, b = sum_of(target, left, o, 0), sum_of(target, right, o, 0)
    both, low, high = _seen_of(criterion, a, b, away_of(target, left, right, work, o))
    for k in range(len(low)):
        work.seen[0, k], work.seen[1, k], work.seen[2, k] = both[k], low[k], high[k]
    if target.n_moments == 2:
        square_a, square_b = sum_of(target, left, o, 1), sum_of(target, right, o, 1)
        _see_squares(criterion, target, left, right, work, (a, b, square_a, square_b))


@inline
def _squares(criterion, target, left, right, work, moments):
    _, _, square_a, square_b = moments
    work.seen[0, 1], work.seen[1, 1], work.seen[2, 1] = square_a + square_b, square_a, square_b


@inline
def _squares_from_mean(criterion, target, left, right, work, moments):
    a, b, square_a, square_b = moments
    weight_a, weight_b = float(left[0]) * target.unit, float(right[0]) * target.unit
    mean = (a + b) / (weight_a + weight_b)
    square_a = max(square_a - mean * (2.0 * a - mean * weight_a), 0.0)
    square_b = max(square_b - mean * (2.0 * b - mean * weight_b), 0.0)
    work.seen[0, 1], work.seen[1, 1], work.seen[2, 1] = square_a + square_b, square_a, square_b


_see_squares = by_class(is_centred, _squares_from_mean, _squares)


# A difference so small beside the sums is what pairs of floats round off: targets of 53 bits differ by more.
_NOTHING = 2.0**-96
_SPLIT = 2.0**27 + 1.0


@inline
def _as_pair(target, stats, first):
    """Return a sum of several integers as two floats, the second of which holds what the first rounds off."""
    high = low = 0.0
    for k in range(first, first + target.n_limbs):
        whole = float(stats[k + 1])
        high, rest = _exact_sum(high, whole * target.units[k])
        low += rest + float(stats[k + 1] - np.int64(whole)) * target.units[k]
    return _exact_sum(high, low)


@inline
def _exact_sum(a, b):
    """Return a + b and what that rounds off."""
    total = a + b
    own = total - a
    return total, (a - (total - own)) + (b - own)


@inline
def _exact_product(a, b):
    """Return a * b and what that rounds off."""
    product, high_a, high_b = a * b, a * _SPLIT, b * _SPLIT
    high_a, high_b = high_a - (high_a - a), high_b - (high_b - b)
    low_a, low_b = a - high_a, b - high_b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b
