# mypy: ignore-errors
# ruff: noqa: D102
"""Targets of two classes: two numbers a node, in registers."""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import gain_of, score_of
from dtnumba.growth.targets.contract import OwnLabels, TupleSums, with_label, with_weights
from dtnumba.growth.targets.leaf_values import ClassLeaves
from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.runtime.memory import per_worker


class ClassFields(NamedTuple):
    """Labels and weights of the rows."""

    label: np.ndarray  # (n,) uint8 for two classes, int32 for more
    offsets: np.ndarray  # (2,) int64: 0 and the number of classes
    weights: np.ndarray  # (n,) int64; empty where no row's weight is read
    unit: float  # a weight of 1, in the caller's units
    n_stats: int
    n_weights: int  # the first so many statistics sum to the weight


# Cuts scored at once where that is faster.
SCORED_AT_ONCE = 256


@inline
def holds_one_class(stats):
    """Tell whether at most one class has rows."""
    present = 0
    for k in range(len(stats)):
        present += stats[k] > 0
    return present <= 1


class OneOutput:
    """One output with classes."""

    __slots__ = ()

    def own_arrays(self, workers, n_small, n):
        width = n_small if len(self.weights) > 0 else 0
        return OwnLabels(per_worker(workers, n_small, self.label.dtype), per_worker(workers, width, self.weights.dtype))


class WeightedRows(OneOutput):
    """One output with classes, and rows that weigh: a tree of a forest brings the weights."""

    __slots__ = ()

    def with_counts(self, own, counts, rows, n):
        return with_weights(self, counts)

    def gather(self, own, rows, start, stop):
        for i in range(start, stop):
            row = rows[i]
            own.label[i - start], own.weights[i - start] = self.label[row], self.weights[row]
        return with_weights(with_label(self, own.label), own.weights)


class TwoNumbers(TupleSums):
    """Two numbers that are both float64: the rows of each of two classes."""

    __slots__ = ()

    def bin_sums(self, sums, k):
        return (float(sums[0, k]), float(sums[1, k]))

    def block_size(self):
        return SCORED_AT_ONCE

    def level_key(self, stats):
        return stats[1] / (stats[0] + stats[1])

    def load(self, sums, buffer):
        return (float(sums[0]), float(sums[1]))

    def is_pure(self, stats, rows, start, stop):
        return stats[0] == 0.0 or stats[1] == 0.0

    def weight(self, stats):
        return stats[0] + stats[1]

    def score(self, criterion, left, right, work):
        return score_of(criterion, left, right, left[0] + left[1], right[0] + right[1])

    def gain(self, criterion, left, right, work):
        both = (left[0] + right[0], left[1] + right[1])
        return gain_of(criterion, both, (left, right), (left[0] + left[1], right[0] + right[1]))


@kernel_type
class TwoClasses(OneOutput, TwoNumbers, ClassLeaves, ClassFields):
    """One output with two classes and rows of weight 1: (rows of class 0, rows of class 1)."""

    __slots__ = ()

    def gather(self, own, rows, start, stop):
        for i in range(start, stop):
            own.label[i - start] = self.label[rows[i]]
        return TwoClasses(own.label, self.offsets, self.weights, self.unit, self.n_stats, self.n_weights)

    def add(self, stats, row):
        second = float(self.label[row])
        return (stats[0] + (1.0 - second), stats[1] + second)

    def put(self, hist, at, row):
        hist[at + np.uint64(self.label[row])] += 1

    def take(self, stats, hist, at):
        return (stats[0] + float(hist[at]), stats[1] + float(hist[at + np.uint64(1)]))

    def rows_in(self, hist, at, width):
        return hist[at] + hist[at + np.uint64(1)]


@kernel_type
class WeightedTwoClasses(WeightedRows, TwoNumbers, ClassLeaves, ClassFields):
    """One output with two classes: (weight of class 0, weight of class 1), in units of ``unit``."""

    __slots__ = ()

    def add(self, stats, row):
        weight = float(self.weights[row])
        second = weight * float(self.label[row])
        return (stats[0] + (weight - second), stats[1] + second)

    def put(self, hist, at, row):
        hist[at + np.uint64(self.label[row])] += self.weights[row]

    def take(self, stats, hist, at):
        return (stats[0] + float(hist[at]), stats[1] + float(hist[at + np.uint64(1)]))

    def rows_in(self, hist, at, width):
        return hist[at + np.uint64(2)] if width > 2 else hist[at] + hist[at + np.uint64(1)]

    def weight(self, stats):
        return (stats[0] + stats[1]) * self.unit

    def score(self, criterion, left, right, work):
        a, b = (left[0] * self.unit, left[1] * self.unit), (right[0] * self.unit, right[1] * self.unit)
        return score_of(criterion, a, b, a[0] + a[1], b[0] + b[1])

    def gain(self, criterion, left, right, work):
        a, b = (left[0] * self.unit, left[1] * self.unit), (right[0] * self.unit, right[1] * self.unit)
        return gain_of(criterion, (a[0] + b[0], a[1] + b[1]), (a, b), (a[0] + a[1], b[0] + b[1]))
