"""From nodes under construction to Trees: number them, give them thresholds, values and impurities.

Numbering is canonical (each node's children are placed when the node is reached, left subtrees first), so depth-first,
best-first and shared-out growth end in the same arrays. Sums over rows are integers; sums over nodes go bottom up in
the order of the numbers; so no bit depends on the order of the rows.
"""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import kernel, launch, part, take_ticket
from dtnumba.growing import CUT, FEATURE, FIRST_RIGHT, GAIN, LAST_LEFT, LEAF, LEFT, MISSING_LEFT, START, STOP
from dtnumba.leaf_values import Summary, describe, row_at
from dtnumba.scan import NOTHING
from dtnumba.targets import put
from dtnumba.trees import NO_MAP, Trees

# Fewer rows than this are summed by one thread.
PARALLEL_ROWS = 20_000


class Numbered(NamedTuple):
    """Columns of the nodes in canonical order."""

    feature: np.ndarray  # (m,) int32
    left: np.ndarray  # (m,) int32
    right: np.ndarray
    missing_left: np.ndarray  # (m,) uint8
    last_left: np.ndarray  # (m,) int64
    first_right: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    gain: np.ndarray  # (m,) float64
    cut: np.ndarray


@kernel
def number_nodes(nodes, order, left, stack):
    """Give the nodes their numbers and return how many there are.

    The children of a node are numbered when it is reached, left subtrees first. order[k] becomes the node with number
    k, left[k] the number of its left child.
    """
    count, top = np.int64(1), 1
    order[0] = stack[0] = 0
    while top > 0:
        top -= 1
        new = stack[top]
        node = order[new]
        left[new] = LEAF
        if nodes[node, FEATURE] != LEAF:
            left[new] = count
            order[count], order[count + 1] = nodes[node, LEFT], nodes[node, LEFT] + 1
            stack[top], stack[top + 1] = count + 1, count
            count, top = count + 2, top + 2
    return count


def midpoint(below, above):
    """Return thresholds halfway between neighbours: at or above ``below``, below ``above``, whatever the rounding."""
    with np.errstate(over="ignore", invalid="ignore"):
        middle = below / 2 + above / 2
    return np.where((middle >= above) | ~np.isfinite(middle) | (middle < below), below, middle)


@part
class DescribeNodes(NamedTuple):
    """Write value, weight and impurity of every node from its own rows.

    A pass per level over the rows, instead of adding up children: it costs a hundredth of growth.
    """

    target: object
    criterion: object
    splitter: object
    summary: Summary
    sums: np.ndarray  # (workers, n_stats) int64 scratch
    seen: np.ndarray  # (workers, n_moments) float64 scratch
    counter: np.ndarray

    def run(self, worker):
        sums, seen = self.sums[worker], self.seen[worker]
        while True:
            node = len(self.summary.start) - 1 - take_ticket(self.counter)  # children before their parents
            if node < 0:
                break
            for k in range(len(sums)):
                sums[k] = 0
            for i in range(self.summary.start[node], self.summary.stop[node]):
                put(self.target, sums, np.uint64(0), row_at(self.splitter, i))
            describe(self.target, self.criterion, self.splitter, self.summary, node, sums, seen)


def _numbered(growing):
    """Return the nodes of a grown tree in canonical order."""
    capacity = len(growing.nodes)
    order, left, stack = (np.empty(capacity, np.int64) for _ in range(3))  # what no node touches costs no memory
    m = number_nodes(growing.nodes, order, left, stack)
    order, left = order[:m], left[:m].astype(np.int32)
    inner = left != LEAF

    def column(k):
        return growing.nodes[order, k].astype(np.int64)

    return Numbered(
        column(FEATURE).astype(np.int32),
        left,
        np.where(inner, left + 1, LEAF).astype(np.int32),
        np.where(inner, column(MISSING_LEFT), 0).astype(np.uint8),
        column(LAST_LEFT),
        column(FIRST_RIGHT),
        column(START),
        column(STOP),
        np.where(inner, growing.numbers[order, GAIN], 0.0),
        growing.numbers[order, CUT],
    )


def _summarise(columns, target, criterion, splitter, width, workers):
    m, n_rows = len(columns.feature), columns.stop[0]
    summary = Summary(columns.left, columns.start, columns.stop, np.empty((m, width)), np.empty(m), np.empty(m))
    # Where the order of the rows counts, a parent's is made of its children's.
    threads = workers if n_rows >= PARALLEL_ROWS and target.n_weights > 0 else 1
    sums, seen = np.empty((threads, target.n_stats), np.int64), np.empty((threads, getattr(target, "n_moments", 1)))
    launch(DescribeNodes(target, criterion, splitter, summary, sums, seen, np.zeros(1, np.int64)), threads)
    return summary


def finish(growing, target, criterion, splitter, thresholds_of, width, workers):
    """Return the Trees of one grown tree.

    ``thresholds_of(feature, last_left, first_right, cut)`` gives the thresholds of inner nodes.
    """
    columns = _numbered(growing)
    inner = np.flatnonzero(columns.feature != LEAF)
    threshold = np.full(len(columns.feature), np.nan)
    threshold[inner] = thresholds_of(
        columns.feature[inner], columns.last_left[inner], columns.first_right[inner], columns.cut[inner]
    )
    summary = _summarise(columns, target, criterion, splitter, width, workers)
    return Trees(
        np.array([0, len(columns.feature)], np.int64),
        columns.feature,
        threshold,
        columns.left,
        columns.right,
        columns.missing_left,
        summary.value,
        NO_MAP,
        np.empty(0, np.int32),
        NO_MAP,
        np.empty(0),
        summary.stop - summary.start,
        summary.weight,
        summary.impurity,
        columns.gain,
    )


def exact_thresholds(table):
    """Thresholds of splits that name rows: halfway between the values of the last row left and the first row right."""

    def thresholds_of(feature, last_left, first_right, cut):
        below, above = table.values_at(last_left, feature), table.values_at(np.maximum(first_right, 0), feature)
        return np.where(first_right == NOTHING, np.inf, midpoint(below, above))

    return thresholds_of


def code_thresholds(bins):
    """Thresholds of splits that name codes: halfway between the values seen in the bins on both sides."""

    def thresholds_of(feature, last_left, first_right, cut):
        first = bins.first_code[feature]
        below, above = bins.high[first + last_left], bins.low[first + np.maximum(first_right, 0)]
        return np.where(first_right == NOTHING, np.inf, midpoint(below, above))

    return thresholds_of


def drawn_thresholds(feature, last_left, first_right, cut):
    """Thresholds that were drawn."""
    return np.where(first_right == NOTHING, np.inf, cut)
