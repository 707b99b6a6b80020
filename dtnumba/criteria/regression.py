# mypy: ignore-errors
# ruff: noqa: D102
"""Criteria for numbers: sums of the targets and of their squares, or their order."""

import math
from typing import NamedTuple

from dtnumba.criteria.contract import NO_GAIN, criterion
from dtnumba.runtime.kernels import kernel_type


@criterion("squared_error", "friedman_mse")
class SquaredError(NamedTuple):
    """Variance. Friedman's improvement score picks the same split, so it is the same class under both names."""

    target = "numbers"
    centred = True
    concave = True

    def score(self, left, right, weight_left, weight_right):
        return left[0] * left[0] / weight_left + right[0] * right[0] / weight_right

    def gain(self, parent, children, weights):
        weight = gain = 0.0
        for v in range(len(weights)):
            weight += weights[v]
        mean = parent[0] / weight
        for v in range(len(weights)):
            away = children[v][0] / weights[v] - mean
            gain += weights[v] * away * away
        return gain / weight

    def loss(self, y, value):
        return (y - value) * (y - value)


@criterion("poisson")
class Poisson(NamedTuple):
    """Half Poisson deviance of a count or rate; no side of a split may sum to zero.

    The order of the means holds the best subset of categories that each sum to more than zero. Of others it holds the
    best of all subsets, which may have a side that sums to zero, but not always the best of those without.
    """

    target = "numbers"
    concave = True

    def score(self, left, right, weight_left, weight_right):
        if left[0] <= 0.0 or right[0] <= 0.0:
            return NO_GAIN
        return left[0] * math.log(left[0] / weight_left) + right[0] * math.log(right[0] / weight_right)

    def gain(self, parent, children, weights):
        weight = 0.0
        for v in range(len(weights)):
            weight += weights[v]
        mean, gain = parent[0] / weight, 0.0
        for v in range(len(weights)):
            if children[v][0] > 0.0:
                gain += children[v][0] * math.log(children[v][0] / weights[v] / mean)
        return max(gain, 0.0) / weight

    def loss(self, y, value):
        return y * math.log(y / value) - y + value if y > 0.0 else value


@kernel_type
class PoissonWithZeros(Poisson):
    """Half Poisson deviance where a side of a split may sum to zero: what R's rpart makes of "poisson"."""

    __slots__ = ()
    concave = True

    def score(self, left, right, weight_left, weight_right):
        found = left[0] * math.log(left[0] / weight_left) if left[0] > 0.0 else 0.0
        return found + (right[0] * math.log(right[0] / weight_right) if right[0] > 0.0 else 0.0)


@criterion("absolute_error")
class AbsoluteError(NamedTuple):
    """Mean absolute deviation from the median; leaves hold the median (the middle of the two halves' edges)."""

    target = "ranks"

    def loss(self, y, value):
        return abs(y - value)
