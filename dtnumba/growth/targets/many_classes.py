# mypy: ignore-errors
# ruff: noqa: D102
"""Targets of any number of classes or outputs: a number a class, in arrays."""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import gain_of, score_of
from dtnumba.growth.targets.contract import MOST_KEPT, ArraySums, with_weights
from dtnumba.growth.targets.leaf_values import ClassLeaves, row_at
from dtnumba.growth.targets.two_classes import ClassFields, WeightedRows, holds_one_class
from dtnumba.runtime.kernels import inline, kernel_type


@kernel_type
class Classes(WeightedRows, ArraySums, ClassLeaves, ClassFields):
    """One output with any number of classes: weight of each class."""

    __slots__ = ()

    def add(self, stats, row):
        stats[self.label[row]] += self.weights[row]
        return stats

    def put(self, hist, at, row):
        hist[at + np.uint64(self.label[row])] += self.weights[row]

    def weight(self, stats):
        total = np.int64(0)
        for k in range(len(stats)):
            total += stats[k]
        return float(total) * self.unit

    def is_pure(self, stats, rows, start, stop):
        return holds_one_class(stats)

    def score(self, criterion, left, right, work):
        a, b = work.seen[1], work.seen[2]
        weight_left = _see(self, left, 0, len(left), a)
        weight_right = _see(self, right, 0, len(right), b)
        return score_of(criterion, a, b, weight_left, weight_right)

    def gain(self, criterion, left, right, work):
        both, a, b = work.seen[0], work.seen[1], work.seen[2]
        weight_left = _see(self, left, 0, len(left), a)
        weight_right = _see(self, right, 0, len(right), b)
        for k in range(len(both)):
            both[k] = a[k] + b[k]
        return gain_of(criterion, both, (a, b), (weight_left, weight_right))


# Classes from which on a scan by rows, class by class, is faster than one that looks at all of them behind every cut.
WIDE_CLASSES = MOST_KEPT + 1


@kernel_type
class WideClasses(Classes):
    """One output with very many classes: most nodes have rows of a few, which cuts are scored by (``scan_wide``)."""

    __slots__ = ()
    is_wide = True
    leaves_out = frozenset(("score",))  # no short cut for pairs, which would look at all classes

    def is_pure(self, stats, rows, start, stop):
        label = self.label[row_at(rows, start)]
        for i in range(start + 1, stop):
            if self.label[row_at(rows, i)] != label:
                return False
        return True

    def own_size(self, n):
        return self.n_stats


@inline
def _see(target, stats, start, stop, seen):
    """Write the weights of classes [start, stop) into ``seen``, zeros after them; return their sum."""
    total = 0.0
    for k in range(start, stop):
        weight = float(stats[k]) * target.unit
        seen[k - start] = weight
        total += weight
    for k in range(stop - start, len(seen)):
        seen[k] = 0.0
    return total


class _ManyClassFields(NamedTuple):
    labels: np.ndarray  # (n, n_outputs) int32
    offsets: np.ndarray  # (n_outputs + 1,) int64: where an output's classes stand in the statistics
    weights: np.ndarray
    unit: float
    n_stats: int
    n_weights: int  # the first so many statistics sum to the weight


@kernel_type
class ManyClasses(ArraySums, ClassLeaves, _ManyClassFields):
    """Several outputs with classes, end to end; a criterion's numbers are averaged over the outputs."""

    __slots__ = ()

    def with_counts(self, own, counts, rows, n):
        return with_weights(self, counts)

    def add(self, stats, row):
        weight = self.weights[row]
        for o in range(len(self.offsets) - 1):
            stats[self.offsets[o] + self.labels[row, o]] += weight
        return stats

    def put(self, hist, at, row):
        weight = self.weights[row]
        for o in range(len(self.offsets) - 1):
            hist[at + np.uint64(self.offsets[o] + self.labels[row, o])] += weight

    def weight(self, stats):
        total = np.int64(0)
        for k in range(self.offsets[1]):
            total += stats[k]
        return float(total) * self.unit

    def is_pure(self, stats, rows, start, stop):
        for o in range(len(self.offsets) - 1):
            present = 0
            for k in range(self.offsets[o], self.offsets[o + 1]):
                present += stats[k] > 0
            if present > 1:
                return False
        return True

    def score(self, criterion, left, right, work):
        a, b = work.seen[1], work.seen[2]
        n_outputs = len(self.offsets) - 1
        total = 0.0
        for o in range(n_outputs):
            k = self.offsets[o + 1] - self.offsets[o]
            weight_left = _see(self, left, self.offsets[o], self.offsets[o + 1], a)
            weight_right = _see(self, right, self.offsets[o], self.offsets[o + 1], b)
            total += score_of(criterion, a[:k], b[:k], weight_left, weight_right)
        return total / n_outputs

    def gain(self, criterion, left, right, work):
        both, a, b = work.seen[0], work.seen[1], work.seen[2]
        n_outputs = len(self.offsets) - 1
        total = 0.0
        for o in range(n_outputs):
            weight_left = _see(self, left, self.offsets[o], self.offsets[o + 1], a)
            weight_right = _see(self, right, self.offsets[o], self.offsets[o + 1], b)
            n = self.offsets[o + 1] - self.offsets[o]
            for k in range(n):
                both[k] = a[k] + b[k]
            total += gain_of(criterion, both[:n], (a[:n], b[:n]), (weight_left, weight_right))
        return total / n_outputs
