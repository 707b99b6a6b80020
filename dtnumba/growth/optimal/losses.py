# mypy: ignore-errors
# ruff: noqa: D102
"""What a leaf loses, as a whole number, given the sums over its rows.

Losses are counted in units so fine that none is lost, and rounded down. So the parts of a set of rows never lose more
than the whole, exactly: all bounds of the search rest on this, and compare whole numbers.

TwoErrors     weight of wrong labels, of two classes
ManyErrors    weight of wrong labels, of any classes
LabelCosts    cost of the cheapest label, of any labels and costs
Impurity      gini or entropy times weight
SquaresLost   squares about the mean

Each says ``leaf(sums)``; the others say it of the four cells that two tests make, for many second tests at once.
"""

import math
from typing import NamedTuple

import numpy as np

from dtnumba.runtime.instructions.running_extremes import running_extremes, running_majority
from dtnumba.runtime.kernels import by_type, inline, kernel_type

BIG = np.int64(1) << np.int64(60)  # more than any loss; a few of them can be added


leaf = by_type("leaf")  # (loss, sums) -> int64
# (loss, pair, ones, total, i, low, high, cells): cells[c, j] is the loss of cell c (both, i alone, j alone, neither)
fill_cells = by_type("fill_cells")
spread = by_type("spread")  # (loss, sums) -> float64: how mixed rows are, by which columns are ordered


@inline
def _gini(sums):
    total = squares = 0.0
    for k in range(len(sums)):
        total += sums[k]
        squares += float(sums[k]) * sums[k]
    return total - squares / total if total > 0 else 0.0


@kernel_type
class TwoErrors(NamedTuple):
    """Weight of wrong labels of two classes."""

    unit: float

    def leaf(self, sums):
        return min(sums[0], sums[1])

    def spread(self, sums):
        return _gini(sums)

    def fill_cells(self, pair, ones, total, i, low, high, cells):
        p, q = ones[0, i], ones[1, i]
        for j in range(np.uint64(low), np.uint64(high)):
            a, b = pair[0, j], pair[1, j]
            e, f = ones[0, j] - a, ones[1, j] - b
            cells[0, j] = min(a, b)
            cells[1, j] = min(p - a, q - b)
            cells[2, j] = min(e, f)
            cells[3, j] = min(total[0] - p - e, total[1] - q - f)

    def along_column(self, rows, level, side, g, least, lanes, n_lanes):
        """Two classes: what labels 0, then 1 lose along an order moves with the running sum of deltas."""
        n = np.uint64(rows.size[level, side])
        order, codes, run = rows.row[level, side, g], rows.code[level, side, g], lanes.run
        running_extremes(order, lanes.place, rows.delta, codes, np.int64(n), lanes.cut, run)
        size = rows.size[level, side]
        for w in range(n_lanes):
            cut = lanes.cut[w]
            a, b = lanes.before[0, cut], lanes.before[1, cut]
            c, d = lanes.before[0, size] - a, lanes.before[1, size] - b
            # Label 0 loses class 1 and the other way round; delta is class 1 less class 0.
            lanes.split[0, w] = min(lanes.split[0, w], a + run[2, w], b - run[3, w])
            lanes.split[1, w] = min(lanes.split[1, w], c + run[4, w], d - run[5, w])


@kernel_type
class ManyErrors(NamedTuple):
    """Weight of wrong labels of any classes."""

    unit: float

    def leaf(self, sums):
        total = most = np.int64(0)
        for k in range(len(sums)):
            total += sums[k]
            most = max(most, sums[k])
        return total - most

    def spread(self, sums):
        return _gini(sums)

    def fill_cells(self, pair, ones, total, i, low, high, cells):
        for j in range(np.uint64(low), np.uint64(high)):
            cells[0, j] = cells[1, j] = cells[2, j] = cells[3, j] = 0
        all_both = all_i = all_j = all_rows = np.int64(0)
        for k in range(len(total)):
            all_i += ones[k, i]
            all_rows += total[k]
            here, there = ones[k, i], total[k] - ones[k, i]
            for j in range(np.uint64(low), np.uint64(high)):
                both, alone = pair[k, j], ones[k, j] - pair[k, j]
                cells[0, j] = max(cells[0, j], both)
                cells[1, j] = max(cells[1, j], here - both)
                cells[2, j] = max(cells[2, j], alone)
                cells[3, j] = max(cells[3, j], there - alone)
        for j in range(low, high):
            all_both = all_j = np.int64(0)
            for k in range(len(total)):
                all_both += pair[k, j]
                all_j += ones[k, j]
            cells[0, j] = all_both - cells[0, j]
            cells[1, j] = all_i - all_both - cells[1, j]
            cells[2, j] = all_j - all_both - cells[2, j]
            cells[3, j] = all_rows - all_i - all_j + all_both - cells[3, j]

    def along_column(self, rows, level, side, g, least, lanes, n_lanes):
        """Any classes: what two labels get right, one up to a place and one behind it."""
        n, order, codes, run = rows.size[level, side], rows.row[level, side, g], rows.code[level, side, g], lanes.run
        cut, counts, before = lanes.cut, lanes.counts, lanes.majority
        running_majority(order, lanes.place, rows.label, rows.delta, codes, np.int64(n), cut, counts, before, run)
        for w in range(n_lanes):
            left = right = np.int64(0)
            for k in range(len(lanes.before)):
                left += lanes.before[k, cut[w]]
                right += lanes.before[k, n] - lanes.before[k, cut[w]]
            lanes.split[0, w] = min(lanes.split[0, w], left - run[0, w])
            lanes.split[1, w] = min(lanes.split[1, w], right - run[1, w])


@kernel_type
class LabelCosts(NamedTuple):
    """Cost of the label that costs least; the sums are what each label costs."""

    unit: float

    def leaf(self, sums):
        best = sums[0]
        for k in range(1, len(sums)):
            best = min(best, sums[k])
        return best

    def spread(self, sums):
        return _gini(sums)

    def fill_cells(self, pair, ones, total, i, low, high, cells):
        for c in range(4):
            for j in range(np.uint64(low), np.uint64(high)):
                cells[c, j] = BIG
        for k in range(len(total)):
            here, there = ones[k, i], total[k] - ones[k, i]
            for j in range(np.uint64(low), np.uint64(high)):
                both, alone = pair[k, j], ones[k, j] - pair[k, j]
                cells[0, j] = min(cells[0, j], both)
                cells[1, j] = min(cells[1, j], here - both)
                cells[2, j] = min(cells[2, j], alone)
                cells[3, j] = min(cells[3, j], there - alone)


@kernel_type
class Impurity(NamedTuple):
    """Gini or entropy (in bits) times weight."""

    is_entropy: int
    unit: float  # of one loss
    weight: float  # of one unit of the sums

    def leaf(self, sums):
        total = 0.0
        for k in range(len(sums)):
            total += sums[k]
        if total <= 0:
            return np.int64(0)
        found = 0.0
        if self.is_entropy:
            for k in range(len(sums)):
                if sums[k] > 0:
                    found += sums[k] * math.log2(total / sums[k])
        else:
            for k in range(len(sums)):
                found += sums[k] * ((total - sums[k]) / total)
        return np.int64(math.floor(found * (self.weight / self.unit)))

    def spread(self, sums):
        return float(leaf(self, sums))

    def fill_cells(self, pair, ones, total, i, low, high, cells):
        fill_each(self, pair, ones, total, i, low, high, cells)


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
        mean = sums[1] * self.first
        found = sums[2] * self.second - mean * mean / (sums[0] * self.weight)
        return np.int64(math.floor(max(found, 0.0) / self.unit))

    def spread(self, sums):
        return float(leaf(self, sums))

    def fill_cells(self, pair, ones, total, i, low, high, cells):
        fill_each(self, pair, ones, total, i, low, high, cells)


@inline
def fill_each(loss, pair, ones, total, i, low, high, cells):
    """Fill cells one by one; ``pair`` holds a column more than the others, where the sums of a cell are made."""
    n, here = len(total), pair[:, pair.shape[1] - 1]
    for j in range(low, high):
        for k in range(n):
            here[k] = pair[k, j]
        cells[0, j] = leaf(loss, here)
        for k in range(n):
            here[k] = ones[k, i] - pair[k, j]
        cells[1, j] = leaf(loss, here)
        for k in range(n):
            here[k] = ones[k, j] - pair[k, j]
        cells[2, j] = leaf(loss, here)
        for k in range(n):
            here[k] = total[k] - ones[k, i] - ones[k, j] + pair[k, j]
        cells[3, j] = leaf(loss, here)
