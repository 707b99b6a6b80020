# mypy: ignore-errors
# ruff: noqa: D102
"""From nodes under construction to Trees: number them, give them thresholds, values and impurities.

Numbering is canonical (each node's children are placed when the node is reached, left subtrees first), so depth-first,
best-first and shared-out growth end in the same arrays. Sums over rows are integers; sums over nodes go bottom up in
the order of the numbers; so no bit depends on the order of the rows.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.policies.monotonic import clip_values
from dtnumba.growth.splitters.candidates import NOTHING
from dtnumba.growth.splitters.contract import note_levels
from dtnumba.growth.targets.contract import put
from dtnumba.growth.targets.leaf_values import Summary, describe, row_at
from dtnumba.runtime.instructions.bits import prefetch
from dtnumba.runtime.kernels import kernel, kernel_type, quickly
from dtnumba.runtime.memory import per_worker, sparse_empty
from dtnumba.runtime.progress import launch_beside_heeding
from dtnumba.runtime.records import worker_part
from dtnumba.runtime.tasks import take_ticket
from dtnumba.tables.floats import midpoint
from dtnumba.trees.layout import NO_LEVELS, NO_MAP, Trees
from dtnumba.trees.linear import AXIS_TESTS, linear_tests

# Fewer rows than this are summed by one thread.
PARALLEL_FINISH_ROWS = 20_000
_FEW_NODES = 4096
_FEW_TESTS = 1000  # of categories: each takes 30 microseconds in Python
_AHEAD = np.uint64(16)  # nodes asked for ahead of numbering them


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
    bounds: np.ndarray  # (m, 2) float64: range of the value; (m, 0) where nothing is monotonic
    terms: np.ndarray  # (m, width) float64: of sums; width 0 where no node tests one


@kernel
def number_nodes(nodes, order, left, stack):
    """Give the nodes their numbers and return how many there are.

    The children of a node are numbered when it is reached, left subtrees first. order[k] becomes the node with number
    k, left[k] the number of its left child. Most nodes of a large tree lie in small subtrees that were grown in this
    order, so there is nothing to look for and no branch to guess.
    """
    count, top = np.int64(1), 1
    order[0] = stack[0] = 0
    while top > 0:
        top -= 1
        new = stack[top]
        node = order[new]
        prefetch(nodes, np.uint64(node) + _AHEAD, np.uint64(0))  # most nodes lie in nearly this order
        left[new] = col.LEAF
        if nodes[node, col.SLOT] < col.NO_SLOT:
            first, n = nodes[node, col.LEFT], -np.int64(nodes[node, col.SLOT])
            left[new], moved = count, count - first
            for i in range(np.uint64(n)):
                below = nodes[np.uint64(first) + i, col.LEFT]
                order[np.uint64(count) + i] = np.uint64(first) + i
                left[np.uint64(count) + i] = below + moved if below >= 0 else np.int64(col.LEAF)
            count += n
        elif nodes[node, col.FEATURE] != col.LEAF:
            left[new] = count
            order[count], order[count + 1] = nodes[node, col.LEFT], nodes[node, col.LEFT] + 1
            stack[top], stack[top + 1] = count + 1, count
            count, top = count + 2, top + 2
    return count


@kernel_type
class DescribeNodes(NamedTuple):
    """Write value, weight and impurity of every node from its own rows.

    A pass per level over the rows, instead of adding up children: it costs a hundredth of growth.
    """

    target: object
    criterion: object
    splitter: object
    summary: Summary
    sums: np.ndarray  # (workers, n_stats) int64 scratch
    seen: np.ndarray  # (workers, n_seen) float64 scratch
    counter: np.ndarray

    def run(self, worker):
        sums, seen = self.sums[worker, 0], self.seen[worker, 0]
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
    order, left, stack = (sparse_empty(capacity, np.int64) for _ in range(3))  # what no node touches costs no memory
    number = quickly(number_nodes) if capacity < _FEW_NODES else number_nodes
    m = number(growing.nodes, order, left, stack)
    order, left = order[:m], left[:m].astype(np.int32)
    inner = left != col.LEAF

    def column(k):
        return growing.nodes[order, k].astype(np.int64)

    return Numbered(
        column(col.FEATURE).astype(np.int32),
        left,
        np.where(inner, left + 1, col.LEAF).astype(np.int32),
        np.where(inner, column(col.MISSING_LEFT), 0).astype(np.uint8),
        column(col.LAST_LEFT),
        column(col.FIRST_RIGHT),
        column(col.START),
        column(col.STOP),
        np.where(inner, growing.numbers[order, col.GAIN], 0.0),
        growing.numbers[order, col.CUT],
        growing.numbers[order, col.LOWER :],
        growing.terms[order] if growing.terms.shape[1] else growing.terms[:0],
    )


def with_sums(columns, n_features):
    """Return the columns of numbered nodes, sums named by a feature; their terms; and which nodes these are."""
    is_sum = columns.feature == n_features
    if not is_sum.any():
        return columns, AXIS_TESTS, is_sum
    terms = columns.terms[is_sum]
    most, counts = (terms.shape[1] - 1) // 4, terms[:, 0].astype(np.int64)
    is_there = np.arange(most) < counts[:, None]
    parts = [terms[:, 1 + k * most : 1 + (k + 1) * most] for k in range(4)]
    lengths, feature = np.zeros(len(is_sum), np.int64), columns.feature.copy()
    lengths[is_sum] = counts
    main = np.where(is_there, parts[3], -1.0).argmax(axis=1)
    feature[is_sum] = parts[0][np.arange(len(counts)), main].astype(np.int32)
    linear = linear_tests(lengths, *(part[is_there] for part in parts))
    return columns._replace(feature=feature), linear, is_sum


def _summarise(columns, target, criterion, splitter, width, workers):
    m, n_rows = len(columns.feature), columns.stop[0]
    summary = Summary(columns.left, columns.start, columns.stop, np.empty((m, width)), np.empty(m), np.empty(m))
    # Where the order of the rows counts, a parent's is made of its children's.
    threads = workers if n_rows >= PARALLEL_FINISH_ROWS and target.n_weights > 0 else 1
    sums, seen = per_worker(threads, target.n_stats, np.int64), per_worker(threads, getattr(target, "n_seen", 1))
    task = DescribeNodes(target, criterion, splitter, summary, sums, seen, np.zeros(1, np.int64))
    steps = int((summary.stop - summary.start).sum()) + 10 * m
    launch_beside_heeding(task, threads, steps, steps=steps)
    return summary


@kernel
def _note_levels(splitter, own, columns, level_stop, out):
    at = np.int64(0)
    for k in range(len(columns.feature)):
        if columns.feature[k] >= 0:
            child = columns.left[k]
            feature, start, stop = np.int64(columns.feature[k]), columns.start[child], columns.stop[child]
            at = note_levels(splitter, own, feature, columns.first_right[k], start, stop, out, at)
        level_stop[k] = at


def _levels_of(splitter, columns):
    """Return (level_start, level): which levels go left at every node that tests a category."""
    tests = (columns.feature != col.LEAF) & (splitter.is_level[columns.feature] != 0)
    left = columns.left[tests]
    if not tests.any():
        return NO_MAP, NO_LEVELS
    out = np.empty(int((columns.stop[left] - columns.start[left]).sum()), np.int32)
    level_stop, own = np.empty(len(columns.feature), np.int64), splitter.new_scratch(0, 1)
    is_small = len(out) < PARALLEL_FINISH_ROWS and np.count_nonzero(tests) < _FEW_TESTS
    note = quickly(_note_levels) if is_small else _note_levels
    note(splitter, worker_part(own, 0), columns, level_stop, out)
    return np.concatenate([NO_MAP, level_stop]), out[: level_stop[-1]].copy()


def finish(growing, target, criterion, splitter, thresholds_of, width, workers, n_features):
    """Return the Trees of one grown tree.

    ``thresholds_of(feature, last_left, first_right, cut)`` gives the thresholds of inner nodes.
    """
    columns, linear, is_sum = with_sums(_numbered(growing), n_features)
    tests = (columns.feature != col.LEAF) & ~is_sum
    level_start, level = NO_MAP, NO_LEVELS
    if hasattr(splitter, "is_level"):
        level_start, level = _levels_of(splitter, columns)
        if len(level):
            tests &= np.diff(level_start) == 0
    inner = np.flatnonzero(tests)
    threshold = np.full(len(columns.feature), np.nan)
    threshold[inner] = thresholds_of(
        columns.feature[inner], columns.last_left[inner], columns.first_right[inner], columns.cut[inner]
    )
    threshold[is_sum] = columns.cut[is_sum]
    summary = _summarise(columns, target, criterion, splitter, width, workers)
    if columns.bounds.size:
        clip_values(summary.value, columns.bounds)
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
        level_start=level_start,
        level=level,
        linear=linear,
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


def thresholds_by(table, bins, *, drawn):
    """Return the function that turns splits into thresholds: drawn, between codes, or between rows of the table."""
    if drawn:
        return drawn_thresholds
    return exact_thresholds(table) if bins is None else code_thresholds(bins)
