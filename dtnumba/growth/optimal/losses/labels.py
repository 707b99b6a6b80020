# mypy: ignore-errors
# ruff: noqa: D102
"""Losses of wrong labels.

TwoErrors   weight of wrong labels, of two classes, or cost of two labels
ManyErrors  weight of wrong labels, of any classes
LabelCosts  cost of the cheapest label, of any labels and costs
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.optimal.losses.contract import BIG, gini_of
from dtnumba.growth.optimal.losses.lane_by_lane import fill_wholes
from dtnumba.runtime.instructions.running_extremes import running_extremes, running_majority
from dtnumba.runtime.instructions.running_losses import running_costs
from dtnumba.runtime.kernels import inline, kernel_type, outlined


@inline
def _offer(lanes, side, w, found):
    lanes.split[side, w] = min(lanes.split[side, w], found)


@outlined
def _middle_of_rare(rows, level, side, f, start, stop, sums):
    """Return where half of the rows between two cuts are passed that are not of the commonest class there.

    The others lose little wherever the cut is.
    """
    order = rows.row[level, side, f]
    begin = max(start, 0)
    sums[:] = 0
    total = np.int64(0)
    for t in range(begin, stop):
        r = order[t]
        for k in range(len(sums)):
            sums[k] += rows.value[r, k]
            total += rows.value[r, k]
    major = 0
    for k in range(len(sums)):
        if sums[k] > sums[major]:
            major = k
    half, passed = (total - sums[major]) // 2, np.int64(0)
    for t in range(begin, stop):
        r = order[t]
        for k in range(len(sums)):
            if k != major:
                passed += rows.value[r, k]
        if passed > half:
            return min(max(np.int64(t), start + 1), stop - 1)
    return (start + stop + 1) // 2


@kernel_type
class TwoErrors(NamedTuple):
    """Weight of wrong labels of two classes."""

    unit: float

    def leaf(self, sums):
        return min(sums[0], sums[1])

    def spread(self, sums):
        return gini_of(sums)

    def fill_cells(self, pair, ones, total, i, low, high, cells):
        p, q = ones[0, i], ones[1, i]
        for j in range(np.uint64(low), np.uint64(high)):
            a, b = pair[0, j], pair[1, j]
            e, f = ones[0, j] - a, ones[1, j] - b
            cells[0, j] = min(a, b)
            cells[1, j] = min(p - a, q - b)
            cells[2, j] = min(e, f)
            cells[3, j] = min(total[0] - p - e, total[1] - q - f)

    def middle(self, rows, level, side, f, start, stop, lanes):
        return _middle_of_rare(rows, level, side, f, start, stop, lanes.sums[0])

    def along_column(self, rows, level, side, g, rule, least, lanes, n_lanes):
        """Two classes: what labels 0, then 1 lose along an order moves with the running sum of deltas."""
        n = np.uint64(rows.size[level, side])
        order, codes, run = rows.row[level, side, g], rows.code[level, side, g], lanes.run
        running_extremes(order, lanes.place, rows.delta, codes, np.int64(n), lanes.cut, np.int64(least), run)
        size, price = rows.size[level, side], rule.price
        for w in range(n_lanes):
            cut = lanes.cut[w]
            a, b = lanes.before[0, cut], lanes.before[1, cut]
            c, d = lanes.before[0, size] - a, lanes.before[1, size] - b
            # Label 0 loses class 1 and the other way round; delta is class 1 less class 0.
            _offer(lanes, 0, w, min(a + run[2, w], b - run[3, w]) + price)
            _offer(lanes, 1, w, min(c + run[4, w], d - run[5, w]) + price)


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
        return gini_of(sums)

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

    def middle(self, rows, level, side, f, start, stop, lanes):
        return _middle_of_rare(rows, level, side, f, start, stop, lanes.sums[0])

    def along_column(self, rows, level, side, g, rule, least, lanes, n_lanes):
        if g == 0:  # the first column that is offered
            _only_two(rows, level, side, lanes)
        if lanes.pair[0] >= 0:
            _along_two(rows, level, side, g, rule, least, lanes, n_lanes)
        else:
            _along_many(rows, level, side, g, rule, least, lanes, n_lanes)


@outlined
def _only_two(rows, level, side, lanes):
    """Write which two classes a set has, if it has no more, and steps of sums of theirs; -1 if it has."""
    n, first, second = rows.size[level, side], -1, -1
    lanes.pair[0] = lanes.pair[1] = -1
    for k in range(len(lanes.before)):
        if lanes.before[k, n] > 0:
            if first < 0:
                first = k
            elif second < 0:
                second = k
            else:
                return
    if second < 0:
        second = 1 if first == 0 else 0
    lanes.pair[0], lanes.pair[1] = first, second
    order = rows.row[level, side, 0]
    for t in range(np.uint64(n)):
        r = order[t]
        lanes.step[r] = rows.delta[r] if rows.label[r] == second else -rows.delta[r]


@outlined
def _along_two(rows, level, side, g, rule, least, lanes, n_lanes):
    """As with two classes in all."""
    n, run = np.int64(rows.size[level, side]), lanes.run
    order, codes = rows.row[level, side, g], rows.code[level, side, g]
    running_extremes(order, lanes.place, lanes.step, codes, n, lanes.cut, np.int64(least), run)
    i, j = lanes.pair[0], lanes.pair[1]
    for w in range(n_lanes):
        cut = lanes.cut[w]
        a, b = lanes.before[i, cut], lanes.before[j, cut]
        c, d = lanes.before[i, n] - a, lanes.before[j, n] - b
        _offer(lanes, 0, w, min(a + run[2, w], b - run[3, w]) + rule.price)
        _offer(lanes, 1, w, min(c + run[4, w], d - run[5, w]) + rule.price)


@outlined
def _along_many(rows, level, side, g, rule, least, lanes, n_lanes):
    """Any classes: what two labels get right, one up to a place and one behind it."""
    n, run = np.int64(rows.size[level, side]), lanes.run
    order, codes = rows.row[level, side, g], rows.code[level, side, g]
    place, label, weight, least = lanes.place, rows.label, rows.delta, np.int64(least)
    cut, counts, before = lanes.cut, lanes.counts, lanes.majority
    running_majority(order, place, label, weight, codes, n, cut, least, counts, before, run)
    for w in range(n_lanes):
        left = right = np.int64(0)
        for k in range(len(lanes.before)):
            left += lanes.before[k, cut[w]]
            right += lanes.before[k, n] - lanes.before[k, cut[w]]
        _offer(lanes, 0, w, left - run[0, w] + rule.price)
        _offer(lanes, 1, w, right - run[1, w] + rule.price)


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
        return gini_of(sums)

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

    def along_column(self, rows, level, side, g, rule, least, lanes, n_lanes):
        """Any labels: what two of them cost, one up to a place and one behind it."""
        n, best = np.int64(rows.size[level, side]), lanes.best
        fill_wholes(lanes, n, n_lanes)
        order, codes = rows.row[level, side, g], rows.code[level, side, g]
        best[:] = BIG
        args = lanes.cut, np.int64(least), lanes.counts, lanes.whole, best
        running_costs(order, lanes.place, rows.value, codes, n, *args)
        for w in range(n_lanes):
            _offer(lanes, 0, w, best[0, w] + rule.price)
            _offer(lanes, 1, w, best[1, w] + rule.price)
