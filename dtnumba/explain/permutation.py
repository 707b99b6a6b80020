# mypy: ignore-errors
# ruff: noqa: D102
"""How much worse each tree says what it did not see, once a column is shuffled among these rows (Breiman 2001).

A row changes its leaf only where its way tests the column. So a row goes down once and leaves a mark at the first node
of each column that it meets; it goes down again from each of these marks with the value of another row. The time
depends on the length of the ways and not on the number of columns, but for nodes that test sums: there a row leaves a
mark for every column of the sum. Which row lends its value is computed on the spot
(``shuffle``), so no column is ever written out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.explain.shuffle import rows_of, shuffled
from dtnumba.prediction.walk_tree import pack
from dtnumba.runtime import rng
from dtnumba.runtime.instructions.bits import lower_bound
from dtnumba.runtime.kernels import by_class, by_type, inline, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.tasks import take_ticket
from dtnumba.tables.binned_table import BinnedTable
from dtnumba.trees.layout import depths
from dtnumba.trees.linear import LinearTests, value_of_term
from dtnumba.trees.routing import is_among
from dtnumba.validation.out_of_bag import draw_bags

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.forest.grow import ForestPlan
    from dtnumba.prediction.walk_tree import Packed
    from dtnumba.runtime.progress import Monitor
    from dtnumba.tables.binned_table import Features
    from dtnumba.tables.costs import LeastCost
    from dtnumba.trees.layout import Trees


_N_WALKS = 16  # rows that go down side by side
_ONE, _TWO, _HALF, _LOW = np.uint64(1), np.uint64(2), np.uint64(32), np.uint64(0x7FFFFFFF)
_IS_LEVEL, _COUNT = np.uint64(1 << 31), np.uint64(0xFFFFFFFF)
_NONE = np.uint64(0xFFFFFFFFFFFFFFFF)  # no column is another row's


def _row_begin(cells, row):
    return np.uint64(cells.offset + np.int64(row) * cells.row_step)


def _dense_value(cells, begin, feature):
    return np.float64(cells.flat[begin + feature * np.uint64(cells.column_step)])


begin_of = by_type("begin_of", _row_begin)  # whatever finds the values of a row
value_at = by_type("value_at", _dense_value)


@kernel_type
class SparseRows(NamedTuple):
    """Stored values by row, their columns ascending; all others are 0."""

    start: np.ndarray  # (n + 1,) int64
    columns: np.ndarray  # (k,) int64
    values: np.ndarray  # (k,) floats

    def begin_of(self, row):
        return np.uint64(row)

    def value_at(self, begin, feature):
        stop, feature = self.start[begin + _ONE], np.int64(feature)
        low = lower_bound(self.columns, self.start[begin], stop, feature)
        return np.float64(self.values[low]) if low < stop and self.columns[low] == feature else 0.0


@kernel_type
class RowsByCode(NamedTuple):
    """Codes, and the values that stand for them."""

    codes: np.ndarray  # (n, p) uint8
    values: np.ndarray  # (p, 256) float64, NaN for missing

    def begin_of(self, row):
        return np.uint64(row)

    def value_at(self, begin, feature):
        return self.values[feature, self.codes[begin, feature]]


class Marks(NamedTuple):
    """Scratch of the workers for the rows that descend together; every array has a leading worker axis."""

    rows: np.ndarray  # (k,) uint32: those that the tree did not draw
    nodes: np.ndarray  # (walks,) uint64
    begins: np.ndarray  # (walks,) uint64: where the values of the rows are
    swapped: np.ndarray  # (walks,) uint64: the feature whose value is another row's
    values: np.ndarray  # (walks,) float64: that value
    before: np.ndarray  # (walks,) float64: loss in the leaf of the row as it is
    seen: np.ndarray  # (walks * p,) int64: the last turn in which a walk met a feature
    turn: np.ndarray  # (1,) int64
    marks: np.ndarray  # (3, most) int64: walk, feature, node
    lent: np.ndarray  # (most,) float64: the value of another row


@kernel_type
class ShuffleColumns(NamedTuple):
    """Sum what shuffling each column adds to the loss of a tree; trees by whichever worker is free."""

    cells: object  # Cells, SparseRows or RowsByCode
    words: np.ndarray  # nodes as in ``predict.Packed``
    thresholds: np.ndarray  # the same memory as float64
    levels: np.ndarray  # int32: of each node that tests a category, ascending: those that go left
    linear: object  # AxisTests or LinearTests
    roots: np.ndarray  # (n_trees,) int64
    leaf_values: np.ndarray  # (m, n_outputs) float64: a number, or the code of the commonest class
    truth: np.ndarray  # (n, n_outputs) float64: likewise
    is_label: bool
    kept: np.ndarray  # (k,) uint32: rows of positive weight
    bags: np.ndarray  # (n_trees, bytes) uint8
    keys: np.ndarray  # (n_trees,) uint64
    first: int  # tree
    room: Marks
    losses: np.ndarray  # (n_trees - first, p) float64 out, zeros
    n_left_out: np.ndarray  # (n_trees - first,) int64 out, below 0 until the tree is done
    halt: np.ndarray  # (1,) int64
    counter: np.ndarray

    def run(self, worker):
        room = _pick_marks(self.room, worker)
        while self.halt[0] == 0:
            k = take_ticket(self.counter)
            if k >= len(self.n_left_out):
                break
            tree, n = self.first + k, np.int64(0)
            for i in range(len(self.kept)):
                row = self.kept[i]
                room.rows[n] = row
                n += 1 - np.int64((self.bags[tree, row >> 3] >> (row & 7)) & 1)
            start = np.int64(0)
            while start < n and self.halt[0] == 0:
                _measure_rows(self, room, tree, start, min(start + _N_WALKS, n), n, self.losses[k])
                start += _N_WALKS
            if self.halt[0] == 0:
                self.n_left_out[k] = n


@inline
def _pick_marks(room, worker):
    return Marks(
        room.rows[worker],
        room.nodes[worker, 0],
        room.begins[worker, 0],
        room.swapped[worker, 0],
        room.values[worker, 0],
        room.before[worker, 0],
        room.seen[worker, 0],
        room.turn[worker, 0],
        room.marks[worker, 0],
        room.lent[worker, 0],
    )


@inline
def _measure_rows(task, room, tree, start, stop, n, losses):
    """Add what shuffling does to the loss of a few of the rows."""
    m = _mark(task, room, tree, start, stop)
    key, n_rows = task.keys[tree], rows_of(n)
    marks, nodes = room.marks, room.nodes
    for k in range(m):
        f = marks[1, k]
        place = shuffled(rng.mix(key, f), start + marks[0, k], n, n_rows)
        room.lent[k] = value_at(task.cells, begin_of(task.cells, room.rows[place]), np.uint64(f))
    for j in range(stop - start):
        room.before[j] = _loss(task, nodes[j], room.rows[start + j])
    for k in range(0, m, _N_WALKS):
        n_walks = min(np.int64(_N_WALKS), m - k)
        for j in range(_N_WALKS):  # past the end the last mark again
            at = min(k + j, m - 1)
            nodes[j], room.swapped[j], room.values[j] = marks[2, at], marks[1, at], room.lent[at]
            room.begins[j] = begin_of(task.cells, room.rows[start + marks[0, at]])
        _go_on(task, nodes, room.begins, room.swapped, room.values)
        for j in range(n_walks):
            walk = marks[0, k + j]
            losses[marks[1, k + j]] += _loss(task, nodes[j], room.rows[start + walk]) - room.before[walk]


@inline
def _go_on(task, nodes, begins, swapped, values):
    """Let rows go on to their leaves, each with another value of one feature. No branch: none could be foreseen."""
    while True:
        moved = np.uint64(0)
        for j in range(_N_WALKS):
            node = nodes[j]
            word = task.words[_TWO * node]
            f = (word & _LOW) >> _ONE
            x = _tested(task.linear, task.cells, begins[j], node, f, swapped[j], values[j])
            to = _child(task, node, word, x)
            moved |= to ^ node
            nodes[j] = to
        if moved == 0:
            break


@inline
def _mark(task, room, tree, start, stop):
    """Let rows go down to their leaves, ``nodes``; mark where each first meets a feature, and count the marks."""
    nodes, begins, seen, marks, m = room.nodes, room.begins, room.seen, room.marks, np.int64(0)
    n_walks = stop - start
    turn = room.turn[0] + 1
    room.turn[0] = turn
    for j in range(n_walks):
        nodes[j], begins[j] = np.uint64(task.roots[tree]), begin_of(task.cells, room.rows[start + j])
    moved = True
    while moved:
        moved = False
        for j in range(n_walks):
            node = nodes[j]
            word = task.words[_TWO * node]
            f = (word & _LOW) >> _ONE
            to = _child(task, node, word, _tested(task.linear, task.cells, begins[j], node, f, _NONE, 0.0))
            nodes[j] = to
            m = _marked(task.linear, marks, m, seen, turn, j, node, f, to != node)
            moved |= to != node
    return m


@inline
def _mark_column(linear, marks, m, seen, turn, j, node, f, is_inner):
    """Leave a mark where a walk has not met the feature of a node before; return how many there are."""
    # Written always, and kept where the mark is one: whether a feature is new can hardly be foreseen.
    place = np.uint64(j) * np.uint64(len(seen) // _N_WALKS) + f
    marks[0, m], marks[1, m], marks[2, m] = j, np.int64(f), np.int64(node)
    m += np.int64(is_inner & (seen[place] != turn))
    seen[place] = turn if is_inner else seen[place]
    return m


@inline
def _mark_terms(linear, marks, m, seen, turn, j, node, f, is_inner):
    """Leave a mark for each column of a sum that a walk has not met before."""
    first, last = linear.start[node], linear.start[node + _ONE]
    if first == last:
        return _mark_column(linear, marks, m, seen, turn, j, node, f, is_inner)
    for k in range(first, last):
        m = _mark_column(linear, marks, m, seen, turn, j, node, np.uint64(linear.column[k]), is_inner)
    return m


@inline
def _column_tested(linear, cells, begin, node, f, swapped, value):
    x = value_at(cells, begin, f)
    return value if f == swapped else x


@inline
def _sum_tested(linear, cells, begin, node, f, swapped, value):
    first, last = linear.start[node], linear.start[node + _ONE]
    if first == last:
        return _column_tested(linear, cells, begin, node, f, swapped, value)
    total, n_known = 0.0, 0
    for k in range(first, last):
        x = float(_column_tested(linear, cells, begin, node, np.uint64(linear.column[k]), swapped, value))
        x = value_of_term(linear, k, x)
        is_known = x == x
        n_known += is_known
        total += float(linear.weight[k]) * (x if is_known else float(linear.stand_in[k]))
    return total if n_known > 0 else np.nan


# By whether nodes test sums: what a node tests of a row, one value of which may be another row's; marks for its columns
_tested = by_class(lambda cls: cls is LinearTests, _sum_tested, _column_tested)
_marked = by_class(lambda cls: cls is LinearTests, _mark_terms, _mark_column)


@inline
def _child(task, node, word, x):
    """Return where a value goes on from a node; a leaf leads to itself."""
    goes_right = (x > task.thresholds[_TWO * node + _ONE]) | ((x != x) & ((word & _ONE) == 0))
    if (word & _IS_LEVEL) != 0 and x == x:
        where = task.words[_TWO * node + _ONE]
        start = np.int64(where >> _HALF)
        goes_right = not is_among(task.levels, start, start + np.int64(where & _COUNT), x)
    return (word >> _HALF) + np.uint64(goes_right)


@inline
def _loss(task, leaf, row):
    """Return in how many outputs a leaf is wrong about a row, or the squared error."""
    total = 0.0
    for o in range(task.leaf_values.shape[1]):
        gap = task.leaf_values[leaf, o] - task.truth[row, o]
        total += np.float64(gap != 0.0) if task.is_label else gap * gap
    return total


def shuffled_losses(
    table: Features,
    outcome: Any,
    plan: ForestPlan,
    trees: Trees,
    first: int,
    monitor: Monitor,
    rule: LeastCost | None = None,
    stop: int | None = None,
) -> NDArray[np.float64]:
    """Return the rise of each tree's mean loss by each column, a row a tree from ``first`` on, before ``stop``.

    The loss is the share of wrong labels or the squared error, a mean over the outputs; NaN where a tree left out no
    row. Where the monitor stopped the work, these are the trees that were finished before the first that was not.
    """
    p, is_label = table.n_features, outcome.kind == "classes"
    n_trees = trees.n_trees if stop is None else stop
    bags = draw_bags(plan, n_trees, monitor)
    if bags is None:
        return np.empty((0, p))
    workers = max(1, min(plan.settings.workers, n_trees - first))
    kept = np.sort(plan.orders[0])
    most = _N_WALKS * (p if trees.has_sums else min(int(depths(trees).max()), p)) + 1
    room = Marks(
        np.empty((workers, len(kept) + 1), np.uint32),
        per_worker(workers, _N_WALKS, np.uint64),
        per_worker(workers, _N_WALKS, np.uint64),
        per_worker(workers, _N_WALKS, np.uint64),
        per_worker(workers, _N_WALKS),
        per_worker(workers, _N_WALKS),
        per_worker(workers, _N_WALKS * p, np.int64, 0),
        per_worker(workers, 1, np.int64, 0),
        per_worker(workers, (3, most), np.int64),
        per_worker(workers, most),
    )
    packed = _with_levels(pack(trees, 0), trees)
    keys = np.array([rng.stream(plan.settings.seed, rng.PERMUTATION, t) for t in range(n_trees)], np.uint64)
    losses, n_left_out = np.zeros((n_trees - first, p)), np.full(n_trees - first, -1, np.int64)
    halt = np.zeros(1, np.int64)
    task = ShuffleColumns(
        _readable(table),
        packed.words,
        packed.words.view(np.float64),
        trees.level,
        trees.linear,
        trees.root[:-1].copy(),
        _labels(trees, outcome.sizes, rule) if is_label else trees.value,
        (outcome.codes if is_label else outcome.y).astype(np.float64),
        is_label,
        kept,
        bags,
        keys,
        first,
        room,
        losses,
        n_left_out,
        halt,
        np.zeros(1, np.int64),
    )
    monitor.run_until(task, workers, halt, lambda: int((n_left_out >= 0).sum()))
    n_done = int(np.argmax(n_left_out < 0)) if (n_left_out < 0).any() else len(n_left_out)
    with np.errstate(invalid="ignore"):
        return np.asarray(losses[:n_done] / (n_left_out[:n_done, None] * task.truth.shape[1]))


def _with_levels(packed: Packed, trees: Trees) -> Packed:
    """Say in the words of nodes that test a category where their levels stand: first << 32 | number."""
    if len(trees.level):
        words, n_levels = packed.words.reshape(-1, 2), np.diff(trees.level_start).astype(np.uint64)
        tests = np.flatnonzero(n_levels)
        words[tests, 0] |= _IS_LEVEL
        words[tests, 1] = trees.level_start[tests].astype(np.uint64) << _HALF | n_levels[tests]
    return packed


def _readable(table: Features) -> Any:
    """Return what ``value_at`` reads: any row, because rows lend each other values."""
    if isinstance(table, BinnedTable):
        return RowsByCode(table.codes_for_kernels(), table.middles)
    if table.cells is not None:
        return table.cells
    rows = table.sparse.tocsr()
    return SparseRows(rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data)


def _labels(trees: Trees, sizes: list[int], rule: LeastCost | None) -> NDArray[np.float64]:
    """Return the code of every node's label, a column an output: the commonest class, or that of least cost."""
    if rule is not None:
        return rule.codes(trees.value)[:, None].astype(np.float64)
    parts = np.split(trees.value, np.cumsum(sizes)[:-1], axis=1)
    return np.stack([part.argmax(axis=1) for part in parts], axis=1).astype(np.float64)
