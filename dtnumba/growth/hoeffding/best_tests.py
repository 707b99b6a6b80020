# mypy: ignore-errors
"""The best tests of a node from what it saw, and whether they are better by more than chance (Domingos & Hulten 2000).

With probability 1 - delta the gain measured over n rows lies within ``sqrt(R^2 ln(1 / delta) / (2 n))`` of the true
one, where R is the range of the gain: the logarithm of the number of classes for entropy.
"""

import math

import numpy as np

from dtnumba.criteria.contract import impurity_of
from dtnumba.growth.hoeffding.stream import FEATURE, SEEN_AT
from dtnumba.runtime.kernels import by_class, inline, outlined

NO_TEST = -1


@inline
def hoeffding_bound(reach, delta, n):
    """Return how far a mean of n values within ``reach`` lies from the true one, save for a chance delta."""
    return math.sqrt(reach * reach * math.log(1.0 / delta) / (2.0 * n))


@inline
def _class_spread(criterion, sums):
    weight = 0.0
    for k in range(len(sums)):
        weight += sums[k]
    return weight * impurity_of(criterion, sums, weight) if weight > 0.0 else 0.0


@inline
def _number_spread(criterion, sums):
    return max(sums[2] - sums[1] * sums[1] / sums[0], 0.0) if sums[0] > 0.0 else 0.0


@inline
def _class_weight(criterion, sums):
    weight = 0.0
    for k in range(len(sums)):
        weight += sums[k]
    return weight


@inline
def _number_weight(criterion, sums):
    return sums[0]


def is_for_numbers(kind):
    """Tell whether a class of criteria is for numbers."""
    return getattr(kind, "target", "classes") == "numbers"


spread_of = by_class(is_for_numbers, _number_spread, _class_spread)  # weight times impurity
weight_of = by_class(is_for_numbers, _number_weight, _class_weight)


@outlined
def test_numbers(criterion, points, mass, n, scratch):
    """Return the largest gain (in weight times impurity) of a cut between two points, and the first of the two."""
    total, left, right = scratch[0], scratch[1], scratch[2]
    for k in range(len(total)):
        total[k] = left[k] = 0.0
    for i in range(n):
        for k in range(len(total)):
            total[k] += mass[i, k]
    whole, best, at = spread_of(criterion, total), -1.0, np.int64(NO_TEST)
    for i in range(n - 1):
        for k in range(len(total)):
            left[k] += mass[i, k]
            right[k] = total[k] - left[k]
        gain = whole - spread_of(criterion, left) - spread_of(criterion, right)
        if gain > best:
            best, at = gain, np.int64(i)
    return best, at


@outlined
def test_levels(criterion, mass, first, n, scratch):
    """Return the gain (in weight times impurity) of a child for each level, and how many levels have rows."""
    total, gain, met = scratch[0], 0.0, np.int64(0)
    for k in range(len(total)):
        total[k] = 0.0
    for level in range(first, first + n):
        gain -= spread_of(criterion, mass[level])
        met += weight_of(criterion, mass[level]) > 0.0
        for k in range(len(total)):
            total[k] += mass[level, k]
    return gain + spread_of(criterion, total), met


@outlined
def best_tests(stream, criterion, node, scratch, out):
    """Write the best test of a node to out: its gain, column, point, the second best gain, that of the test installed.

    Gains are in weight times impurity. A column's second best test is no rival: a column is compared with others.
    """
    columns, slot = stream.columns, stream.link[node, SEEN_AT]
    out[0] = out[3] = out[4] = 0.0
    out[1] = out[2] = NO_TEST
    for c in range(len(columns.place)):
        place, at = columns.place[c], np.int64(NO_TEST)
        if columns.n_levels[c] == 0:
            n = np.int64(stream.n_points[slot, place])
            gain, at = test_numbers(criterion, stream.point[slot, place], stream.mass[slot, place], n, scratch)
            if at < 0:
                continue
        else:
            gain, met = test_levels(criterion, stream.level_mass[slot], place, columns.n_levels[c], scratch)
            if met < 2:
                continue
        if c == stream.link[node, FEATURE]:
            out[4] = gain
        if gain > out[0]:
            out[3] = out[0]
            out[0], out[1], out[2] = gain, float(c), float(at)
        elif gain > out[3]:
            out[3] = gain
