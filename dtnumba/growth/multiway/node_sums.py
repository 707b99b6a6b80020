# mypy: ignore-errors
# ruff: noqa: D102
"""Statistics of rows by the kind of the target. A row of statistics: the numbers of each output, weight, rows.

A kind of target has ``offsets``, where each output's numbers begin, and these methods:

add(sums, k, row, weight)      put a row into sums[k]
is_pure(rows, start, stop)     whether all rows have the same target
describe(criterion, grown, node, ...)  write value and impurity of a node from its rows and sums
"""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, gain_of, impurity_of, loss_of, score_of
from dtnumba.growth.multiway import columns as col
from dtnumba.runtime.kernels import by_type, inline, kernel_type, outlined

add_row = by_type("add")
is_pure = by_type("is_pure")
describe = by_type("describe")


@inline
def are_equal(values, rows, start, stop):
    """Tell whether the rows at [start, stop) have one value."""
    first = values[rows[start]]
    for i in range(start + 1, stop):
        if values[rows[i]] != first:
            return False
    return True


@inline
def _agree(outputs, rows, start, stop):
    """Tell whether all rows have the same target, in every output."""
    for o in range(len(outputs)):
        if not are_equal(outputs[o], rows, start, stop):
            return False
    return True


@kernel_type
class ClassSums(NamedTuple):
    """Weight of each class of every output."""

    places: np.ndarray  # (n_outputs, n) int32: where a row's class stands among the numbers
    offsets: np.ndarray  # (n_outputs + 1,) int64

    def add(self, sums, k, row, weight):
        for o in range(len(self.places)):
            sums[k, self.places[o, row]] += weight
        n = self.offsets[len(self.offsets) - 1]
        sums[k, n] += weight
        sums[k, n + 1] += 1.0

    def is_pure(self, rows, start, stop):
        return _agree(self.places, rows, start, stop)

    def describe(self, criterion, grown, node, start, stop):
        n_outputs, n, impurity = len(self.places), self.offsets[len(self.offsets) - 1], 0.0
        sums = grown.sums[node]
        for o in range(n_outputs):
            impurity += impurity_of(criterion, sums[self.offsets[o] : self.offsets[o + 1]], sums[n])
        grown.numbers[node, col.IMPURITY] = impurity / n_outputs


@kernel_type
class NumberSums(NamedTuple):
    """Sum of w * y of every output, y measured from a centre, and of w * y * y where the criterion asks for it."""

    y: np.ndarray  # (n_outputs, n) float64
    centre: np.ndarray  # (n_outputs,) float64
    offsets: np.ndarray  # (n_outputs + 1,) int64

    def add(self, sums, k, row, weight):
        at = np.int64(0)
        for o in range(len(self.y)):
            y = self.y[o, row]
            sums[k, at] += weight * y
            if self.offsets[1] == 2:
                sums[k, at + 1] += weight * y * y
            at += self.offsets[1]
        sums[k, at] += weight
        sums[k, at + 1] += 1.0

    def is_pure(self, rows, start, stop):
        return _agree(self.y, rows, start, stop)

    def describe(self, criterion, grown, node, start, stop):
        """Write the mean of each output, in two passes to round well, and the mean loss as impurity."""
        n_outputs, n, impurity = len(self.y), self.offsets[len(self.offsets) - 1], 0.0
        sums, total = grown.sums[node], grown.sums[node, n]
        for o in range(n_outputs):
            mean = sums[self.offsets[o]] / total
            y = self.y[o, grown.row[start]]
            low = high = y
            rest = 0.0
            for i in range(start, stop):
                y = self.y[o, grown.row[i]]
                low, high = min(low, y), max(high, y)
                rest += grown.weight[i] * (y - mean)
            mean = min(max(mean + rest / total, low), high)
            value = mean + self.centre[o]
            grown.value[node, o] = value
            if loss_of(criterion, value, value) < 0.0:
                impurity += impurity_of(criterion, sums[self.offsets[o] : self.offsets[o + 1]], total)
            elif high > low:
                loss = 0.0
                for i in range(start, stop):
                    loss += grown.weight[i] * loss_of(criterion, self.y[o, grown.row[i]] + self.centre[o], value)
                impurity += loss / total
        grown.numbers[node, col.IMPURITY] = impurity / n_outputs


@inline
def weight_of(target, sums, k):
    """Return the weight in sums[k]."""
    return sums[k, target.offsets[len(target.offsets) - 1]]


@inline
def rows_of(target, sums, k):
    """Return the rows in sums[k]."""
    return sums[k, target.offsets[len(target.offsets) - 1] + 1]


@outlined
def clear(sums, k):
    """Set sums[k] to zero."""
    for s in range(sums.shape[1]):
        sums[k, s] = 0.0


@outlined
def copy_sums(sums, k, other, j):
    """Write sums[k] to other[j]."""
    for s in range(sums.shape[1]):
        other[j, s] = sums[k, s]


@outlined
def add_sums(sums, k, other, j):
    """Add sums[k] to other[j]."""
    for s in range(sums.shape[1]):
        other[j, s] += sums[k, s]


@outlined
def subtract(sums, whole, taken, to):
    """Write sums[whole] - sums[taken] to sums[to]."""
    for s in range(sums.shape[1]):
        sums[to, s] = sums[whole, s] - sums[taken, s]


@outlined
def score(target, criterion, sums, a, b):
    """Return what a scan maximises for the sides sums[a] and sums[b], averaged over outputs."""
    n_outputs, total = len(target.offsets) - 1, 0.0
    weight_a, weight_b = weight_of(target, sums, a), weight_of(target, sums, b)
    for o in range(n_outputs):
        low, high = target.offsets[o], target.offsets[o + 1]
        total += score_of(criterion, sums[a, low:high], sums[b, low:high], weight_a, weight_b)
    return total / n_outputs


@outlined
def gain(target, criterion, sums, whole, kids, shares, n):
    """Return the gain of a split of sums[whole] into kids[:n], averaged over outputs; ``shares`` get their weights."""
    n_outputs, total = len(target.offsets) - 1, 0.0
    for v in range(n):
        shares[v] = weight_of(target, kids, v)
    for o in range(n_outputs):
        low, high = target.offsets[o], target.offsets[o + 1]
        total += gain_of(criterion, sums[whole, low:high], kids[:n, low:high], shares[:n])
    return total / n_outputs if total > NO_GAIN else NO_GAIN
