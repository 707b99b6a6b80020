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


@kernel
def _number(nodes, order, stack):
    """Write the old ids of the nodes in canonical order; return their number."""
    count, top = 1, 1
    order[0] = 0
    stack[0] = 0
    while top > 0:
        top -= 1
        new = stack[top]
        old = order[new]
        if nodes[old, FEATURE] != LEAF:
            order[count], order[count + 1] = nodes[old, LEFT], nodes[old, LEFT] + 1
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
            node = take_ticket(self.counter)
            if node >= len(self.summary.start):
                break
            for k in range(len(sums)):
                sums[k] = 0
            for i in range(self.summary.start[node], self.summary.stop[node]):
                put(self.target, sums, 0, row_at(self.splitter, i))
            describe(self.target, self.criterion, self.splitter, self.summary, node, sums, seen)


def summarise(nodes, target, criterion, splitter, width, workers):
    """Return the Summary of nodes in canonical order."""
    m = len(nodes)
    start, stop = np.ascontiguousarray(nodes[:, START]), np.ascontiguousarray(nodes[:, STOP])
    summary = Summary(start, stop, np.empty((m, width)), np.empty(m), np.empty(m))
    threads = workers if stop[0] >= PARALLEL_ROWS else 1
    sums, seen = np.empty((threads, target.n_stats), np.int64), np.empty((threads, getattr(target, "n_moments", 1)))
    launch(DescribeNodes(target, criterion, splitter, summary, sums, seen, np.zeros(1, np.int64)), threads)
    return summary


def finish(growing, target, criterion, splitter, thresholds_of, width, workers):
    """Return the Trees of one grown tree.

    ``thresholds_of(nodes, numbers)`` gives the thresholds of inner nodes from their columns.
    """
    order = np.empty(2 * int(growing.nodes[0, STOP]) + 1, np.int64)
    m = _number(growing.nodes, order, np.empty(len(order) // 2 + 2, np.int64))
    nodes, numbers = growing.nodes[order[:m]], growing.numbers[order[:m]]
    feature = nodes[:, FEATURE].astype(np.int32)
    inner = feature != LEAF
    left = np.full(m, LEAF, np.int32)
    # Children are numbered in pairs in the order in which their parents are reached, not in the order of ids.
    new_id = np.empty(int(order[:m].max()) + 1, np.int32)
    new_id[order[:m]] = np.arange(m, dtype=np.int32)
    left[inner] = new_id[nodes[inner, LEFT]]
    threshold = np.full(m, np.nan)
    threshold[inner] = thresholds_of(nodes[inner], numbers[inner])
    summary = summarise(nodes, target, criterion, splitter, width, workers)
    return Trees(
        np.array([0, m], np.int64), feature, threshold, left, np.where(inner, left + 1, LEAF).astype(np.int32),
        np.where(inner, nodes[:, MISSING_LEFT], 0).astype(np.uint8), summary.value,
        NO_MAP, np.empty(0, np.int32), NO_MAP, np.empty(0), summary.stop - summary.start, summary.weight,
        summary.impurity, np.where(inner, numbers[:, GAIN], 0.0),
    )


def exact_thresholds(table):
    """Thresholds of splits that name rows: halfway between the values of the last row left and the first row right."""

    def thresholds_of(nodes, numbers):
        below = table.values_at(nodes[:, LAST_LEFT], nodes[:, FEATURE])
        above = table.values_at(np.maximum(nodes[:, FIRST_RIGHT], 0), nodes[:, FEATURE])
        return np.where(nodes[:, FIRST_RIGHT] == NOTHING, np.inf, midpoint(below, above))

    return thresholds_of


def code_thresholds(bins):
    """Thresholds of splits that name codes: halfway between the values seen in the last bin left and the first right."""

    def thresholds_of(nodes, numbers):
        first = bins.first_code[nodes[:, FEATURE]]
        below = bins.high[first + nodes[:, LAST_LEFT]]
        above = bins.low[first + np.maximum(nodes[:, FIRST_RIGHT], 0)]
        return np.where(nodes[:, FIRST_RIGHT] == NOTHING, np.inf, midpoint(below, above))

    return thresholds_of


def drawn_thresholds(nodes, numbers):
    """Thresholds that were drawn."""
    return np.where(nodes[:, FIRST_RIGHT] == NOTHING, np.inf, numbers[:, CUT])
