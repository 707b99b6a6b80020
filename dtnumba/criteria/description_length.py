# mypy: ignore-errors
# ruff: noqa: D102
"""Bits that send the labels of a node: the code of Quinlan & Rivest (1989), as a criterion and as a rule to stop.

A leaf names its default class, then how many exceptions there are and which rows they are; with more than two classes
the exceptions are sent in the same way, among the classes that are left. A test of V sides costs V bits of structure,
the column, and half the logarithm of the weight for each cut, the precision that so many rows give it.
"""

import math
from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import criterion
from dtnumba.criteria.special_functions import LOG2_E
from dtnumba.runtime.kernels import inline, outlined

_TIE = 1e-12


class _Fields(NamedTuple):
    table: np.ndarray  # log2(x!) of the small integers
    column_bits: float  # to name a column


@inline
def _log2_factorial(criterion, x):
    i = int(x)
    if i < len(criterion.table) and float(i) == x:
        return criterion.table[i]
    return math.lgamma(x + 1.0) * LOG2_E


@inline
def _exceptions(criterion, n, k, n_classes):
    """Return the bits for a class of ``n_classes``, and for which k rows of n do not have it."""
    most = math.floor((n + 1.0) * (n_classes - 1.0) / n_classes)
    bits = math.log2(n_classes) + math.log2(most + 1.0)
    if k > 0.0:
        bits += _log2_factorial(criterion, n) - _log2_factorial(criterion, k) - _log2_factorial(criterion, n - k)
    return bits


@outlined
def leaf_bits(criterion, stats, weight):
    """Return the bits of the labels of a leaf: the commonest class first, then those of its exceptions.

    Called, not absorbed: it stands in seven places of a kernel, and takes longer than a call.
    """
    bits, left, bound, at = 0.0, weight, math.inf, -1
    for n_classes in range(len(stats), 1, -1):
        largest, next_at = 0.0, -1
        for k in range(len(stats)):
            below = stats[k] < bound or (stats[k] == bound and k > at)
            if below and stats[k] > largest:
                largest, next_at = stats[k], k
        if next_at < 0:
            break
        # What rounding leaves of weights that are no whole numbers is no exception.
        others = left - largest if left - largest > 1e-12 * weight else 0.0
        bits += _exceptions(criterion, left, others, float(n_classes))
        left, bound, at = others, largest, next_at
        if left == 0.0:
            break
    return bits


@outlined
def impurity_bits(criterion, stats, weight):
    """Return the bits of the labels of a leaf beyond those of one without exceptions."""
    return max(leaf_bits(criterion, stats, weight) - _exceptions(criterion, weight, 0.0, float(len(stats))), 0.0)


@criterion("mdl")
class DescriptionLength(_Fields):
    """Bits that a split saves in sending the labels, the test paid for; one that saves none is not taken.

    The impurity shown is what the exceptions cost, per unit of weight.
    """

    __slots__ = ()
    target = "classes"

    @classmethod
    def for_fit(cls, total, n_features):
        """Return the criterion with a table for integer weights that sum to ``total``."""
        # Sums of logarithms, not log-gamma: a million of them take milliseconds.
        x = np.arange(int(min(total, 1 << 20)) + 1, dtype=np.float64)
        x[0] = 1.0
        return cls(np.cumsum(np.log2(x)), math.log2(n_features))

    def impurity(self, stats, weight):
        if len(stats) < 2:
            return 0.0
        return impurity_bits(self, stats, weight) / weight

    def score(self, left, right, weight_left, weight_right):
        return -(leaf_bits(self, left, weight_left) + leaf_bits(self, right, weight_right))

    def gain(self, parent, children, weights):
        total, sides = 0.0, 0.0
        for v in range(len(weights)):
            total += weights[v]
            sides += 1.0
        saved = leaf_bits(self, parent, total) - sides - self.column_bits
        saved -= 0.5 * (sides - 1.0) * math.log2(max(total, 1.0))
        for v in range(len(weights)):
            saved -= leaf_bits(self, children[v], weights[v])
        return saved / total

    def choose(self, gains, informations, features, n):
        best = -1
        for i in range(n):
            gain = gains[features[i]]
            if gain > 0.0 and (best < 0 or gain > gains[features[best]] * (1.0 + _TIE)):
                best = i
        return best
