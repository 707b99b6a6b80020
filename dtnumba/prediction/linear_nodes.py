# mypy: ignore-errors
# ruff: noqa: D102
"""Nodes of a packed forest that may test a sum over several columns, a category or a number."""

from typing import NamedTuple

import numpy as np

from dtnumba.prediction.packed_forest import IS_LEVEL
from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.trees.routing import is_among

_ONE, _HALF, _LOW = np.uint64(1), np.uint64(32), np.uint64(0xFFFFFFFF)
_MISSING_LEFT, _IS_SUM, _PLACE = np.uint64(1 << 31), np.uint64(1 << 29), np.uint64((1 << 29) - 1)
_LAST, _COLUMN = np.uint32(1 << 31), np.uint32((1 << 31) - 1)


@kernel_type
class LinearNodes(NamedTuple):
    """Nodes of 16 bytes as ``Mixed``; bit 29 says that the low bits are the first of the terms of a sum."""

    words: np.ndarray  # (2 * places,) uint64
    thresholds: np.ndarray  # the same memory as float64
    levels: np.ndarray  # int32
    columns: np.ndarray  # (s,) uint32: of each term; bit 31 marks the last of a node
    weights: np.ndarray  # (s,) float64
    stand_ins: np.ndarray  # (s,) float64
    term_levels: np.ndarray  # (s,) int32: whose indicator a term is, -1 of a number; empty where none is one

    def plain_step(self, first, node, flat, base):
        return linear_step(self, first, node, flat, base)

    def step(self, first, node, flat, base):
        return linear_step(self, first, node, flat, base)

    def answer_at(self, first, node):
        return np.int64(self.words[((first + node) << _ONE) + _ONE] & np.uint64(0x7FFFFFFFF))


@inline
def _sum_at(nodes, k, flat, base):
    """Return the sum of the terms from k on, in their order; NaN where all values are missing."""
    total, n_known, goes_on = 0.0, np.uint64(0), True
    while goes_on:
        column = nodes.columns[k]
        x = float(flat[base + np.uint64(column & _COLUMN)])
        if len(nodes.term_levels) > 0 and nodes.term_levels[k] >= 0:
            x = 1.0 if x == float(nodes.term_levels[k]) else 0.0
        is_known = x == x
        n_known += np.uint64(is_known)
        total += float(nodes.weights[k]) * (x if is_known else float(nodes.stand_ins[k]))
        goes_on = column < _LAST
        k += _ONE
    return total if n_known > 0 else np.nan


@inline
def linear_step(nodes, first, node, flat, base):
    """Return the next place."""
    at = (first + node) << _ONE
    word = nodes.words[at]
    is_sum, place = (word & _IS_SUM) != 0, word & _PLACE
    x = _sum_at(nodes, place, flat, base) if is_sum else np.float64(flat[base + place])
    if x != x:
        goes_left = (word & _MISSING_LEFT) != 0
    elif (word & IS_LEVEL) != 0:
        where = nodes.words[at + _ONE]
        start = np.int64(where >> _HALF)
        goes_left = is_among(nodes.levels, start, start + np.int64(where & _LOW), x)
    else:
        goes_left = x <= nodes.thresholds[at + _ONE]
    return (word >> _HALF) + np.uint64(goes_left)


def put_sums(words, linear):
    """Say in the words of nodes that test a sum where their terms stand."""
    tests = np.flatnonzero(np.diff(linear.start))
    low = words[tests] & ~_PLACE
    words[tests] = low | linear.start[tests].astype(np.uint64) | _IS_SUM


def linear_nodes(flat, levels, linear):
    """Return the nodes of a forest of which ``flat`` holds the words."""
    columns = linear.column.astype(np.uint32)
    columns[linear.start[1:][np.diff(linear.start) > 0] - 1] |= _LAST
    return LinearNodes(flat, flat.view(np.float64), levels, columns, linear.weight, linear.stand_in, linear.level)
