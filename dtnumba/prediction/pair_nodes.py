# mypy: ignore-errors
# ruff: noqa: D102
"""Nodes of a packed forest whose sums have two terms: all that a test takes stands in the node, and nothing is asked.

A test of one column is a sum too, of the column once and no times, where its value is finite.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.runtime.kernels import kernel_type
from dtnumba.runtime.memory import aligned
from dtnumba.trees.linear import has_indicators

_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)
_MISSING_LEFT, _CHILD = np.uint64(1 << 31), np.uint64(32)
COLUMN_BITS = 15
_FAR = 2.0**1000  # of which two still make a finite sum
_SECOND, _COLUMN = np.uint64(COLUMN_BITS), np.uint64((1 << COLUMN_BITS) - 1)


@kernel_type
class PairNodes(NamedTuple):
    """Nodes of 32 bytes: right child << 32 | missing goes left << 31 | second << 15 | first column; threshold; weights.

    Of a test of one column both columns are the same.
    """

    words: np.ndarray  # (4 * places,) uint64
    weights: np.ndarray  # the same memory as float64
    stand_ins: np.ndarray  # (2 * places,) float64
    most: float  # values up to which no sum overflows

    def plain_step(self, first, node, flat, base):
        at = (first + node) << _TWO
        word, weights = self.words[at], self.weights
        x, other = float(flat[base + (word & _COLUMN)]), float(flat[base + ((word >> _SECOND) & _COLUMN)])
        total = float(weights[at + _TWO]) * x + float(weights[at + _THREE]) * other
        return (word >> _CHILD) + np.uint64(total <= weights[at + _ONE])

    def step(self, first, node, flat, base):
        at = (first + node) << _TWO
        word, weights = self.words[at], self.weights
        column, second = word & _COLUMN, (word >> _SECOND) & _COLUMN
        x, other = float(flat[base + column]), float(flat[base + second])
        if column != second:
            stand_in = (first + node) << _ONE
            is_missing = x != x and other != other
            x = float(weights[at + _TWO]) * (x if x == x else float(self.stand_ins[stand_in]))
            x += float(weights[at + _THREE]) * (other if other == other else float(self.stand_ins[stand_in + _ONE]))
            x = np.nan if is_missing else x
        goes_left = x <= weights[at + _ONE] if x == x else (word & _MISSING_LEFT) != 0
        return (word >> _CHILD) + np.uint64(goes_left)

    def answer_at(self, first, node):
        return np.int64(self.words[((first + node) << _TWO) + _ONE] & np.uint64(0x7FFFFFFFF))

    def is_odd(self, x):
        """Tell whether a value takes the longer way: one that is missing, or may lead to a sum that is not finite."""
        return not abs(float(x)) <= self.most


def fit_into_pairs(trees, n_features):
    """Tell whether all sums of trees have two terms, and nothing else is to be known of a test."""
    n_terms, has_levels = np.diff(trees.linear.start), len(trees.level) or has_indicators(trees.linear)
    return n_features <= 1 << COLUMN_BITS and not has_levels and bool(((n_terms == 0) | (n_terms == 2)).all())


def pair_nodes(flat, at, trees):
    """Return the nodes of a forest of which ``flat`` holds the words, and ``at`` says where each node stands."""
    linear, inner = trees.linear, np.flatnonzero(trees.feature >= 0)
    n_places = len(flat) // 2
    words, stand_ins = aligned(4 * n_places, np.uint64).reshape(-1, 4), np.zeros((n_places, 2))
    words[:, :2], words[:, 2:] = flat.reshape(-1, 2), 0
    weights, column = words.view(np.float64), trees.feature[inner].astype(np.uint64)
    place = at[inner]
    child = words[place, 0] & ~np.uint64((1 << 31) - 1)
    words[place, 0] = child | column << _SECOND | column
    weights[place, 2] = 1.0
    first = linear.start[:-1][inner]
    is_sum = linear.start[1:][inner] > first
    first, place = first[is_sum], place[is_sum]
    columns = linear.column.astype(np.uint64)
    words[place, 0] = child[is_sum] | columns[first + 1] << _SECOND | columns[first]
    for k in range(2):
        weights[place, 2 + k], stand_ins[place, k] = linear.weight[first + k], linear.stand_in[first + k]
    most, words = _FAR / max(np.abs(linear.weight).max(), 1.0), words.ravel()
    return PairNodes(words, words.view(np.float64), stand_ins.ravel(), float(most))
