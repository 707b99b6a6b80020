# mypy: ignore-errors
# ruff: noqa: D102
"""Value, weight and impurity of a node from the exact sums of its rows. Mixed into the target kinds."""

import math
from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import impurity_of, is_centred, loss_of
from dtnumba.growth import columns as col
from dtnumba.runtime.instructions.bits import prefetch
from dtnumba.runtime.kernels import by_class, by_type, inline

row_at = by_type("row_at")
row_in_order = by_type("row_in_order")
describe = by_type("describe")
value_of = by_type("value_of")  # of statistics: the number that a monotonic constraint is about


def _describe_by_rows(target, criterion, rows, summary, node, sums, seen):
    describe(target, criterion, rows, summary, node, sums, seen)


def _nothing_ahead(target, row):
    pass


sum_of = by_type("sum_of")  # of statistics: one moment of an output, in the caller's units
prefetch_rows = by_type("prefetch_rows", _nothing_ahead)  # ask for what describing a leaf of this row will read
describe_inner = by_type("describe_inner", _describe_by_rows)  # of a node whose children are described already


class Summary(NamedTuple):
    """Values, weights and impurities of the nodes of a tree, in canonical order."""

    left: np.ndarray  # (m,) int32; below zero at a leaf
    start: np.ndarray  # (m,) int64
    stop: np.ndarray
    value: np.ndarray  # (m, width) float64
    weight: np.ndarray  # (m,) float64
    impurity: np.ndarray  # (m,) float64


class ClassLeaves:
    """Shares of the classes."""

    __slots__ = ()

    def value_of(self, stats):
        return float(stats[1]) / (float(stats[0]) + float(stats[1]))  # two classes: the share of the second

    def describe(self, criterion, rows, summary, node, sums, seen):
        n_outputs, impurity, value = len(self.offsets) - 1, 0.0, summary.value
        for o in range(n_outputs):
            first, last = self.offsets[o], self.offsets[o + 1]
            total = np.int64(0)
            for k in range(first, last):
                total += sums[k]
                value[node, k] = float(sums[k]) * self.unit
            weight = float(total) * self.unit
            summary.weight[node] = weight
            impurity += impurity_of(criterion, value[node, first:last], weight)
            for k in range(first, last):
                value[node, k] = float(sums[k]) / float(total)
        summary.impurity[node] = impurity / n_outputs


class NumberLeaves:
    """Means of the rows: exact where all agree, else sums measured from the smallest, relative to their own range."""

    __slots__ = ()

    def prefetch_rows(self, row):
        prefetch(self.y, np.uint64(row), np.uint64(0))

    def value_of(self, stats):
        return self.offsets[0] + sum_of(self, stats, 0, 0) / (float(stats[0]) * self.unit)

    def describe(self, criterion, rows, summary, node, sums, seen):
        n_outputs, impurity = len(self.offsets), 0.0
        weight = float(sums[0]) * self.unit
        summary.weight[node] = weight
        if summary.stop[node] - summary.start[node] == 1:  # most leaves of a fully grown tree
            row = row_at(rows, summary.start[node])
            for o in range(n_outputs):
                summary.value[node, o] = self.y[row, o]
            if loss_of(criterion, self.y[row, 0], self.y[row, 0]) == 0.0:
                summary.impurity[node] = 0.0
                return
        for o in range(n_outputs):
            impurity += _mean_and_impurity(self, criterion, rows, summary, node, o, sums, seen)
        summary.impurity[node] = impurity / n_outputs

    def describe_inner(self, criterion, rows, summary, node, sums, seen):
        """Add up the children: of squared errors and deviances, the loss within them and the loss between them."""
        left, n_outputs, impurity = np.int64(summary.left[node]), len(self.offsets), 0.0
        weight = float(sums[0]) * self.unit
        summary.weight[node] = weight
        share = summary.weight[left] / weight
        within = share * summary.impurity[left] + (1.0 - share) * summary.impurity[left + 1]
        for o in range(n_outputs):
            a, b = summary.value[left, o], summary.value[left + 1, o]
            value = min(max(a * share + b * (1.0 - share), min(a, b)), max(a, b))
            summary.value[node, o] = value
            if loss_of(criterion, value, value) < 0.0:
                impurity += _impurity_by_moments(criterion, self, sums, seen, o, weight)
            else:
                impurity += share * loss_of(criterion, a, value) + (1.0 - share) * loss_of(criterion, b, value)
        impurity /= n_outputs
        summary.impurity[node] = impurity if loss_of(criterion, 0.0, 0.0) < 0.0 else impurity + within


@inline
def _mean_and_impurity(target, criterion, rows, summary, node, o, sums, seen):
    """Write a node's value; return its rows' mean loss, or, without a loss, the impurity of their moments."""
    start, stop = summary.start[node], summary.stop[node]
    lowest = highest = target.y[row_at(rows, start), o]
    for i in range(start + 1, stop):
        y = target.y[row_at(rows, i), o]
        lowest, highest = min(lowest, y), max(highest, y)
    value = _mean(target, rows, start, stop, o, lowest, highest, summary.weight[node])
    summary.value[node, o] = value
    if loss_of(criterion, value, value) < 0.0:
        return _impurity_by_moments(criterion, target, sums, seen, o, summary.weight[node])
    largest = max(loss_of(criterion, lowest, value), loss_of(criterion, highest, value))
    return _mean_loss(target, criterion, rows, summary, node, o, value, largest, sums[0])


# Weights above this are no repeated rows, and would leave few digits to what they multiply.
_MOST_REPEATED = 2.0**31


@inline
def _mean(target, rows, start, stop, o, lowest, highest, weight):
    """Return the mean of an output, from how far the rows lie above the lowest one.

    These are added up as integers of two parts, in units that are powers of two, so that the order of the rows changes
    no bit, a weight of two is the row twice, and whole numbers stay whole.
    """
    if not lowest < highest:
        return lowest
    unit = math.ldexp(1.0, max(math.frexp((highest - lowest) * weight)[1] - 61, -1074))
    repeats = target.unit == 1.0 and weight < _MOST_REPEATED
    finer = weight * 2.0**-60  # below a part in so many of the first unit
    finer = math.ldexp(1.0, math.frexp(finer)[1] + 1) if repeats else 1.0
    total, rest = np.int64(0), np.int64(0)
    for i in range(start, stop):
        row = row_at(rows, i)
        above = (target.y[row, o] - lowest) / unit
        if repeats:
            whole, count = np.rint(above), np.int64(target.weights[row])
            total += count * np.int64(whole)
            rest += count * np.int64(np.rint((above - whole) / finer))
        else:
            total += np.int64(np.rint(float(target.weights[row]) * target.unit * above))
    above = (float(total) + float(rest) * finer) * unit / weight
    return min(max(lowest + above, lowest), highest)


@inline
def _impurity_of_sums(criterion, target, sums, seen, o, weight):
    for k in range(target.n_moments):
        seen[k] = sum_of(target, sums, o, k)
    return impurity_of(criterion, seen, weight)


@inline
def _impurity_from_mean(criterion, target, sums, seen, o, weight):
    first = sum_of(target, sums, o, 0)
    seen[0] = 0.0
    if target.n_moments == 2:
        seen[1] = max(sum_of(target, sums, o, 1) - first / weight * first, 0.0)
    return impurity_of(criterion, seen, weight)


_impurity_by_moments = by_class(is_centred, _impurity_from_mean, _impurity_of_sums)


@inline
def _mean_loss(target, criterion, rows, summary, node, o, value, largest, total_weight):
    """Mean of the rows' losses, summed as integers so that their order changes no bit; losses grow with distance."""
    if largest <= 0.0:
        return 0.0
    weight = float(total_weight) * target.unit
    step = largest * weight / 2.0**60
    total = np.int64(0)
    for i in range(summary.start[node], summary.stop[node]):
        row = row_at(rows, i)
        loss = loss_of(criterion, target.y[row, o], value) / step
        if target.unit == 1.0:
            total += target.weights[row] * np.int64(np.rint(loss))
        else:
            total += np.int64(np.rint(float(target.weights[row]) * target.unit * loss))
    return float(total) * step / weight


class RankedLeaves:
    """Medians: the middle of the two halves' edges where a half of the weight ends between two rows."""

    __slots__ = ()

    def child_values(self, job, scratch, node, left):
        return _median(self, job, left), _median(self, job, left + 1)

    def describe(self, criterion, rows, summary, node, sums, seen):
        start, stop, impurity = summary.start[node], summary.stop[node], 0.0
        total = sums[0]
        summary.weight[node] = float(total) * self.unit
        for o in range(self.y.shape[1]):
            _restore_order(self, rows, summary, node, o)
            before, i = np.int64(0), start
            while 2 * (before + self.weights[self.rank[i, o]]) < total:
                before += self.weights[self.rank[i, o]]
                i += 1
            value = self.y[self.rank[i, o], o]
            if 2 * (before + self.weights[self.rank[i, o]]) == total and i + 1 < stop:
                value = value / 2.0 + self.y[self.rank[i + 1, o], o] / 2.0
            summary.value[node, o] = value
            lowest, highest = self.y[self.rank[start, o], o], self.y[self.rank[stop - 1, o], o]
            largest = max(loss_of(criterion, lowest, value), loss_of(criterion, highest, value))
            impurity += _mean_loss(self, criterion, rows, summary, node, o, value, largest, sums[0])
        summary.impurity[node] = impurity / self.y.shape[1]


@inline
def _median(target, job, node):
    """Return the median of the only output over the rows of a node that is not divided yet."""
    start, stop = job.growing.nodes[node, col.START], job.growing.nodes[node, col.STOP]
    total, before, i = np.int64(0), np.int64(0), np.int64(start)
    for k in range(start, stop):
        total += target.weights[row_in_order(job.splitter, 0, k)]
    while 2 * (before + target.weights[row_in_order(job.splitter, 0, i)]) < total:
        before += target.weights[row_in_order(job.splitter, 0, i)]
        i += 1
    row = row_in_order(job.splitter, 0, i)
    value = target.y[row, 0]
    if 2 * (before + target.weights[row]) == total and i + 1 < stop:
        value = value / 2.0 + target.y[row_in_order(job.splitter, 0, i + 1), 0] / 2.0
    return value


@inline
def _restore_order(target, rows, summary, node, o):
    """Write a node's rows in the order of output o at target.rank[start:stop, o], its children's merged.

    Growth divides the order of a node among its children, so only leaves still have theirs; children come first here.
    """
    start, stop, left = summary.start[node], summary.stop[node], summary.left[node]
    if left < 0:
        for i in range(start, stop):
            target.rank[i, o] = row_in_order(rows, o, i)
        return
    a, border = start, summary.stop[left]
    b = border
    for i in range(start, stop):
        from_left = b == stop or (a < border and target.y[target.rank[a, o], o] <= target.y[target.rank[b, o], o])
        target.merged[i] = target.rank[a if from_left else b, o]
        a, b = (a + 1, b) if from_left else (a, b + 1)
    for i in range(start, stop):
        target.rank[i, o] = target.merged[i]
