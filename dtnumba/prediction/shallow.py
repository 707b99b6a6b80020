# mypy: ignore-errors
# ruff: noqa: D102
"""Rows to the votes of a forest of shallow trees: every node of a tree is compared with 64 rows at once.

A tree of depth 6 has 63 nodes, of which a walk visits 6. But a vector of the processor compares 32 rows in the time of
one visit, and no comparison waits for another: 1.7 ns a row and tree, where a walk of depth 6 takes 7. So that a value
takes two bytes, rows are ranked first: the rank of x is the number of the forest's thresholds for that feature below
x, and x <= threshold number k where rank <= k. A missing value is ranked last, and, in a second copy of the
columns that is read by the nodes that send missing values left, first.

Votes are added in the order of the trees, as everywhere.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.prediction.packed_forest import says_second
from dtnumba.runtime.instructions.complete_trees import choose_leaves
from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.progress import launch_heeding
from dtnumba.runtime.tasks import take_ticket
from dtnumba.tables.costs import commonest
from dtnumba.tables.floats import floor_to
from dtnumba.trees.layout import LEAF, depths, leaf_values

_ROWS = 64  # together
_STEPS_A_ROW = 100  # about, of several hundred trees
_TREES = 4  # whose votes are added in one pass
_GROUPS = 8  # of so many rows a ticket
_DEPTH, _NODES, _LEAVES = 6, 63, 64
_MISSING = np.uint16(0xFFFF)
# Smaller trees are walked about as fast, and would take more memory in a form made for 63 nodes.
_FEWEST_NODES = 16
_MOST_NODES, _MOST_FEATURES = 1 << 22, 511


class Shallow(NamedTuple):
    """A forest of complete trees of depth 6."""

    cuts: np.ndarray  # thresholds of each feature, ascending, up to 2**k - 1 of them with +inf
    cut_start: np.ndarray  # (n_features + 1,) int64
    offsets: np.ndarray  # (n_trees * 63,) uint16: where the column of each node's feature begins
    missing_offsets: np.ndarray  # the same, or where its second copy begins
    ranks: np.ndarray  # (n_trees * 63,) uint16: number of each node's threshold among the feature's
    answers: np.ndarray  # (n_trees * 64 * width,) float64: a row a leaf


def pack_shallow(trees, n_features, dtype, n_classes, voting):
    """Return the forest as Shallow for rows of a dtype, or None where it has another shape."""
    m, n_trees = trees.n_nodes, trees.n_trees
    if n_features > _MOST_FEATURES or not _FEWEST_NODES * n_trees <= m <= min(_MOST_NODES, 2 * _LEAVES * n_trees):
        return None
    if not trees.is_binary or depths(trees).max() > _DEPTH:
        return None
    inner = trees.feature != LEAF
    threshold, rank = floor_to(trees.threshold, dtype), np.zeros(m, np.uint16)
    cuts, cut_start = [], [0]
    order = np.argsort(trees.feature, kind="stable")
    bounds = np.searchsorted(trees.feature[order], np.arange(n_features + 1))
    for feature in range(n_features):
        nodes = order[bounds[feature] : bounds[feature + 1]]
        own, rank_of = np.unique(threshold[nodes], return_inverse=True)
        if len(own) >= _MISSING:
            return None
        rank[nodes] = rank_of
        padded = np.full((1 << len(own).bit_length()) - 1, np.inf, dtype)
        padded[: len(own)] = own
        cuts.append(padded)
        cut_start.append(cut_start[-1] + len(padded))
    leaf_number = np.cumsum(~inner) - 1
    node_at = np.empty((n_trees, _NODES + _LEAVES), np.int64)
    node_at[:, 0] = trees.root[:-1]
    for k in range(_NODES):  # a leaf above the last level is its own child
        at = node_at[:, k]
        node_at[:, 2 * k + 1] = np.where(inner[at], trees.left[at], at)
        node_at[:, 2 * k + 2] = np.where(inner[at], trees.left[at] + 1, at)
    at = node_at[:, :_NODES].ravel()
    feature = np.where(inner[at], trees.feature[at], 0).astype(np.uint16)
    copy = (np.where(inner[at], trees.missing_left[at], 0) * n_features).astype(np.uint16)
    value = np.asarray(leaf_values(trees))
    if voting != "soft":
        value = commonest(value, n_classes, voting)
    if says_second(trees, n_classes):
        value = value[:, 1:]
    answers = value[leaf_number[node_at[:, _NODES:].ravel()]]
    rows = np.uint16(_ROWS)
    joined = np.concatenate(cuts)
    return Shallow(joined, np.array(cut_start), feature * rows, (feature + copy) * rows, rank[at], answers.ravel())


@kernel_type
class CompareShallow(NamedTuple):
    """Add up the votes of every row; blocks of rows by whichever worker is free."""

    cells: object  # rows without gaps
    forest: Shallow
    columns: np.ndarray  # (workers, 2 * n_features * 64) uint16 scratch: the ranks of 64 rows
    leaves: np.ndarray  # (workers, 4 * 64) uint8 scratch: of four trees
    values: np.ndarray  # (workers, 64) scratch of the table's dtype: a column of 64 rows
    places: np.ndarray  # (workers, 64) uint32 scratch
    width: int
    out: np.ndarray  # (n * width,) float64
    counter: np.ndarray

    def run(self, worker):
        forest, cells = self.forest, self.cells
        columns, leaves = self.columns[worker, 0], self.leaves[worker, 0]
        values, places = self.values[worker, 0], self.places[worker, 0]
        n_trees, width = len(forest.ranks) // _NODES, self.width
        while True:
            block = take_ticket(self.counter) * (_ROWS * _GROUPS)
            if block >= cells.n_rows:
                break
            for start in range(block, min(block + _ROWS * _GROUPS, cells.n_rows), _ROWS):
                n = min(np.int64(_ROWS), cells.n_rows - start)
                is_missing = rank_rows(forest, cells, start, n, columns, values, places)
                offsets = forest.missing_offsets if is_missing else forest.offsets
                for t in range(0, n_trees, _TREES):
                    together = min(np.int64(_TREES), n_trees - t)
                    for j in range(together):
                        choose_leaves(columns, offsets, forest.ranks, t + j, leaves, j * _ROWS)
                    if width == 1 and together == _TREES:
                        add_four(forest.answers, np.uint64(t * _LEAVES), leaves, self.out, start, n)
                    else:
                        add_any(forest.answers, width, t, together, leaves, self.out, start, n)


@inline
def add_four(answers, first, leaves, out, start, n):
    """Add what four trees say, in their order; an answer is one number."""
    second, third = first + np.uint64(_LEAVES), first + np.uint64(2 * _LEAVES)
    fourth = first + np.uint64(3 * _LEAVES)
    for r in range(n):
        said = out[start + r]
        said += answers[first + np.uint64(leaves[r])]
        said += answers[second + np.uint64(leaves[r + _ROWS])]
        said += answers[third + np.uint64(leaves[r + 2 * _ROWS])]
        said += answers[fourth + np.uint64(leaves[r + 3 * _ROWS])]
        out[start + r] = said


@inline
def add_any(answers, width, t, together, leaves, out, start, n):
    """Add what any number of trees says, in their order; an answer is ``width`` numbers."""
    for j in range(together):
        for r in range(n):
            at = ((t + j) * _LEAVES + np.int64(leaves[j * _ROWS + r])) * width
            to = (start + r) * width
            for k in range(width):
                out[to + k] += answers[at + k]


@inline
def rank_rows(forest, cells, start, n, columns, values, places):
    """Write the ranks of n rows, a column a feature, and the second copies; return whether a value is missing."""
    n_missing = 0
    for feature in range(cells.n_columns):
        begin, end = forest.cut_start[feature], forest.cut_start[feature + 1]
        first, span = np.uint32(begin), end - begin + 1
        for r in range(n):
            values[r] = cells.flat[cells.offset + (start + r) * cells.row_step + feature]
        for r in range(_ROWS):
            places[r] = first
        while span > 1:
            span >>= 1
            above = np.uint32(span - 1)
            for r in range(_ROWS):  # of a known number, which LLVM unrolls; what stands behind the last row is unread
                place = places[r]
                is_below = forest.cuts[np.uint64(place) + np.uint64(above)] < values[r]
                places[r] = place + above + np.uint32(1) if is_below else place
        at, copy = feature * _ROWS, (cells.n_columns + feature) * _ROWS
        for r in range(n):
            columns[at + r] = columns[copy + r] = np.uint16(places[r] - first)
            if values[r] != values[r]:
                columns[at + r], columns[copy + r] = _MISSING, np.uint16(0)
                n_missing += 1
    return n_missing > 0


def add_shallow_votes(cells, forest, out, workers):
    """Add to ``out`` what every row's leaves say; rows of the cells have no gaps."""
    threads = min(workers, -(-cells.n_rows // (_ROWS * _GROUPS)))
    columns = per_worker(threads, 2 * cells.n_columns * _ROWS, np.uint16, 0)
    leaves, places = per_worker(threads, _TREES * _ROWS, np.uint8), per_worker(threads, _ROWS, np.uint32)
    values, counter = per_worker(threads, _ROWS, cells.flat.dtype), np.zeros(1, np.int64)
    width, flat = out.shape[1], out.reshape(-1)
    task = CompareShallow(cells, forest, columns, leaves, values, places, width, flat, counter)
    launch_heeding(task, threads, cells.n_rows * _STEPS_A_ROW)
