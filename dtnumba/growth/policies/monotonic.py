# mypy: ignore-errors
# ruff: noqa: D102
"""Monotonic constraints: with a constrained feature predictions only rise, or only fall.

A split on such a feature must leave children in the order asked for, and both inside the node's range; from there on
the middle between their values bounds what lies below, from above on one side and from below on the other. A split on
another feature hands the range on. Values outside their node's range are moved to its end once the tree is grown. Of
two classes the value is the share of the second one. Where nothing is constrained the type says so, and all of this
vanishes from the kernels.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import TIE
from dtnumba.growth import columns as col
from dtnumba.growth.targets.contract import load, rest
from dtnumba.growth.targets.leaf_values import value_of
from dtnumba.runtime.kernels import by_type, inline, kernel, kernel_type


class AnyShape(NamedTuple):
    """No feature is constrained."""


def _always(rule, target, feature, left, right):
    return True


def _yes(rule):
    return True


def _no_bounds(rule, job, scratch, node, left):
    pass


def _no_clip(rule, growing, order, value):
    pass


def _by_sums(target, job, scratch, node, left):
    """Return the values of the children of a divided node, from the sums that its split left behind."""
    sums, work = job.growing.sums[node], scratch.work
    total, of_left = load(target, sums[0], work.total), load(target, sums[1], work.left)
    return value_of(target, of_left), value_of(target, rest(target, total, of_left, work.right))


for_node = by_type("for_node")  # the rule with a node's range; AnyShape has no such method
in_order = by_type("in_order", _always)  # whether a split may have these sums on its sides
is_free = by_type("is_free", _yes)
bound_children = by_type("bound_children", _no_bounds)
clip_nodes = by_type("clip_nodes", _no_clip)
child_values = by_type("child_values", _by_sums)  # of a target kind


class _MonotonicFields(NamedTuple):
    signs: np.ndarray  # (p,) int8: 1 where predictions must not fall, -1 where they must not rise, else 0
    lower: float  # of the node in hand
    upper: float


@kernel_type
class Monotonic(_MonotonicFields):
    """Some features are constrained."""

    __slots__ = ()

    def for_node(self, growing, node):
        return Monotonic(self.signs, growing.numbers[node, col.LOWER], growing.numbers[node, col.UPPER])

    def is_free(self):
        return False

    def in_order(self, target, feature, left, right):
        sign = self.signs[feature]
        return sign == 0 or fits(self, sign, value_of(target, left), value_of(target, right))

    def bound_children(self, job, scratch, node, left):
        numbers, sign = job.growing.numbers, self.signs[job.growing.nodes[node, col.FEATURE]]
        lower, upper = numbers[node, col.LOWER], numbers[node, col.UPPER]
        for child in (left, left + 1):
            numbers[child, col.LOWER], numbers[child, col.UPPER] = lower, upper
        if sign != 0:
            a, b = child_values(job.target, job, scratch, node, left)
            middle = min(max(a / 2.0 + b / 2.0, lower), upper)
            low, high = (left, left + 1) if sign > 0 else (left + 1, left)
            numbers[low, col.UPPER] = numbers[high, col.LOWER] = middle

    def clip_nodes(self, growing, order, value):
        for k in range(len(value)):
            _clip(value, k, growing.numbers[order[k], col.LOWER], growing.numbers[order[k], col.UPPER])


@inline
def fits(rule, sign, left, right):
    """Tell whether children of these values may stand below the node in hand.

    What rounding alone puts out of order is in order: leaves are kept apart by the node's range, not by this test.
    """
    slack = TIE * (abs(left) + abs(right))
    inside = min(left, right) >= rule.lower - slack and max(left, right) <= rule.upper + slack
    return inside and sign * (right - left) >= -slack


@inline
def _clip(value, k, lower, upper):
    """Move a node's value into its range; of two classes, the share of the second one, and the first has the rest."""
    last = value.shape[1] - 1
    inside = min(max(value[k, last], lower), upper)
    if inside != value[k, last]:
        value[k, last] = inside
        if last > 0:
            value[k, 0] = 1.0 - inside


@kernel
def clip_values(value, bounds):
    """Move the value of every node into its range."""
    for k in range(len(value)):
        _clip(value, k, bounds[k, 0], bounds[k, 1])
