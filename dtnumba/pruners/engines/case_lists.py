# mypy: ignore-errors
"""Lists of the cases of nodes, which are (row, weight) pairs: those of children listed behind those of their parent.

Parts of rows are rounded as in growth, to a unit of which float64 holds as many as all rows weigh: sums are exact, and
the order of the rows changes no bit.
"""

import math
from typing import NamedTuple

import numpy as np

from dtnumba.pruners.engines.expected_errors import Costs
from dtnumba.runtime.instructions.bits import prefetch
from dtnumba.runtime.kernels import inline, outlined
from dtnumba.tables.weights import exponent_of_sum
from dtnumba.trees.layout import LEAF
from dtnumba.trees.routing import child_number

FRESH, ENTERED, DECIDED = 0, 1, 2
AHEAD = 16  # rows lie anywhere in memory: those that come next are asked for
_LINE, _MOST_LINES = 64, 4  # bytes of a line, and how many of a row are asked for


class Cases(NamedTuple):
    """Lists of cases; the list of a node is a range of them."""

    row: np.ndarray  # (c,) int64
    weight: np.ndarray  # (c,) float64
    child: np.ndarray  # (c,) int64 scratch: number of the child each goes to, -1 for a missing value
    class_of: np.ndarray  # (n,) int64: of each row of the table
    dearer: np.ndarray  # (K,) float64: what a case of each class weighs beyond what it counts; empty: nothing


class RaisingState(NamedTuple):
    """A tree of m nodes while it is pruned: which node stands at each place, and its rows."""

    is_leaf: np.ndarray  # (m,) bool
    final: np.ndarray  # (m,) int64: the node at each place
    counts: np.ndarray  # (m, K) float64: weight of each class
    n_rows: np.ndarray  # (m,) int64
    cost: np.ndarray  # (m,) float64
    share: np.ndarray  # (m,) float64: of each place in what its parent's known cases weigh
    weight: np.ndarray  # (m,) float64 of each place
    start: np.ndarray  # (m,) int64: where the cases of each place begin
    stop: np.ndarray  # (m,) int64
    used: np.ndarray  # (m,) int64: how many cases are listed in front of those of the children
    floor: np.ndarray  # (1,) int64: how many cases are listed that all workers read
    phase: np.ndarray  # (m,) int64: FRESH, ENTERED or DECIDED
    next_child: np.ndarray  # (m,) int64: to look at
    has_parts: np.ndarray  # (m,) bool: whether cases of a node, or of one below it, go to several children in parts
    reached: np.ndarray  # (m,) int64: the last trial whose cases came to a node
    added: np.ndarray  # (m, K) float64: weight of the classes that a trial adds to a leaf; zero between trials
    item: np.ndarray  # (m,) int64: places that may be gone over side by side


class RaisingScratch(NamedTuple):
    """Memory of one worker."""

    path: np.ndarray  # (m,) int64
    other: np.ndarray  # (m, 3) int64: the stack of a branch on trial
    n_trials: np.ndarray  # (1,) int64; no two workers have the same numbers
    sums: np.ndarray  # (K,) float64
    parts: np.ndarray  # (m,) float64: weight of each child of a node at hand
    fill: np.ndarray  # (m,) int64


class RoutingColumns(NamedTuple):
    """The columns of Trees that say where a row goes."""

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    branch_start: np.ndarray
    branch: np.ndarray
    cut_start: np.ndarray
    cut: np.ndarray
    level_start: np.ndarray
    level: np.ndarray
    share: np.ndarray


class Pruning(NamedTuple):
    """The arguments of the kernels."""

    trees: RoutingColumns
    cells: object
    lines: np.ndarray  # (1, cells) the same memory, to ask for
    n_lines: int  # of a row that goes down a branch
    line: int  # cells of one
    cases: Cases
    state: RaisingState
    scratch: RaisingScratch
    room: int  # where the lists of this worker end
    costs: Costs
    grain: float  # what parts are rounded by, so that sums of them are exact
    least: float  # the smallest part
    halt: np.ndarray  # (1,) int64: not 0 where pruning is to stop, and what it found will be dropped


@outlined
def sum_cases(cases, start, stop, sums):
    """Write the weight of each class in cases start .. stop - 1 to ``sums``."""
    for k in range(len(sums)):
        sums[k] = 0.0
    for i in range(start, stop):
        sums[cases.class_of[cases.row[i]]] += cases.weight[i]


@inline
def plan_lists(work, left, fan, known, n_missing, used):
    """Turn weights of children into shares, and numbers of cases into where lists begin; return where the last ends.

    Each child with a share has a part of every case that lacks the value.
    """
    parts, fill = work.scratch.parts, work.scratch.fill
    for v in range(fan):
        parts[v] = parts[v] / known if known > 0.0 else work.trees.share[left + v]
        fill[v + 1] += n_missing if parts[v] > 0.0 else 0
    fill[0] = used
    for v in range(fan):
        fill[v + 1] += fill[v]
    return fill[fan]


@inline
def write_lists(work, start, stop, first, fan):
    """Write cases start .. stop - 1 to the lists of their children, which cases.child[i - first] names."""
    cases, parts, fill = work.cases, work.scratch.parts, work.scratch.fill
    for i in range(start, stop):
        child = cases.child[i - first]
        if child >= 0:
            cases.row[fill[child]], cases.weight[fill[child]] = cases.row[i], cases.weight[i]
            fill[child] += 1
        else:
            for v in range(fan):
                if parts[v] > 0.0:
                    part = (cases.weight[i] * parts[v] + work.grain) - work.grain
                    cases.row[fill[v]], cases.weight[fill[v]] = cases.row[i], max(part, work.least)
                    fill[v] += 1


@outlined
def list_children(work, node, start, stop, used, keeps):
    """List the cases of the children of a node behind ``used``; return the new end, -1 where there is no room.

    scratch.fill[v] becomes where those of child v begin, fill[v + 1] where they end; with ``keeps``, shares are kept.
    """
    trees, cells, cases, state = work.trees, work.cells, work.cases, work.state
    left, fan = np.int64(trees.left[node]), np.int64(trees.right[node] - trees.left[node] + 1)
    parts, fill, known, feature = work.scratch.parts, work.scratch.fill, 0.0, np.int64(trees.feature[node])
    for v in range(fan):
        parts[v], fill[v] = 0.0, 0
    fill[fan] = 0
    at, n_missing = cells.offset + feature * cells.column_step, np.int64(0)
    for i in range(start, stop):
        prefetch(work.lines, np.uint64(0), np.uint64(at + cases.row[min(i + AHEAD, stop - 1)] * cells.row_step))
        child = child_number(trees, node, np.float64(cells.flat[at + cases.row[i] * cells.row_step]))
        cases.child[i] = child
        if child >= 0:
            parts[child] += cases.weight[i]
            known += cases.weight[i]
            fill[child + 1] += 1
        else:
            n_missing += 1
    end = plan_lists(work, left, fan, known, n_missing, used)
    if keeps == 1:
        for v in range(fan):
            state.share[left + v] = parts[v]
        state.has_parts[node] = n_missing > 0
    if end > work.room:
        return np.int64(-1)
    write_lists(work, start, stop, np.int64(0), fan)
    for v in range(fan, 0, -1):
        fill[v] = fill[v - 1]
    fill[0] = used
    return end


def new_raising_state(trees, n_classes):
    """Return the state of a tree before pruning."""
    m = trees.n_nodes
    whole, real = (np.zeros(m + 1, dtype) for dtype in (np.int64, np.float64))
    return RaisingState(
        is_leaf=trees.feature == LEAF,
        final=np.arange(m),
        counts=np.zeros((m, n_classes)),
        n_rows=whole.copy(),
        cost=real.copy(),
        share=np.ones(m),
        weight=real.copy(),
        start=whole.copy(),
        stop=whole.copy(),
        used=whole.copy(),
        floor=np.zeros(1, np.int64),
        phase=whole.copy(),
        next_child=whole.copy(),
        has_parts=np.zeros(m, bool),
        reached=whole.copy(),
        added=np.zeros((m, n_classes)),
        item=whole.copy(),
    )


def new_scratch(trees, n_classes, worker):
    """Return the memory of a worker."""
    m = trees.n_nodes + 1
    whole, first = np.empty((2, m), np.int64), np.full(1, worker << 40)
    return RaisingScratch(whole[0], np.empty((m, 3), np.int64), first, np.zeros(n_classes), np.empty(m), whole[1])


def lines_of(cells):
    """Return the memory of cells as it is asked for, how many lines of a row are, and the cells of a line."""
    line = _LINE // cells.flat.itemsize
    n_lines = min(-(-cells.n_columns // line) + 1, _MOST_LINES) if cells.column_step == 1 else 0
    return cells.flat[None], n_lines, line


def unit_of(weight):
    """Return what parts of rows are rounded by, and the unit, of which float64 holds as many as all rows weigh."""
    exponent = exponent_of_sum(weight)
    return math.ldexp(1.5, exponent), math.ldexp(1.0, exponent - 52)
