# mypy: ignore-errors
"""The cases of nodes while a tree of C5.0 is pruned, and how a node deals them to its children.

Where no case of a node lacks the value of its test, the cases change places within its list, of which those of each
child are a part then; memory does not depend on how deep the tree is. Parts of cases that lack the value are new, so
that all lists of the children stand behind those in use. Sums are exact: the order of the cases changes no bit.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.pruners.engines.case_lists import AHEAD, plan_lists, write_lists
from dtnumba.runtime.instructions.bits import prefetch
from dtnumba.runtime.kernels import inline, outlined
from dtnumba.trees.routing import child_number


class PooledCases(NamedTuple):
    """Lists of cases; the list of a node is a range of them, in which a row stands once."""

    row: np.ndarray  # (c,) int32
    weight: np.ndarray  # (c,) float64
    child: np.ndarray  # (n,) int32 scratch, by place in a list: number of the child, -1 for a missing value
    class_of: np.ndarray  # (n_rows,) int64: of each row of the table
    dearer: np.ndarray  # (K,) float64: what a case of each class weighs beyond what it counts; empty: nothing


@inline
def child_of(work, node, at):
    """Return the number of the child that a listed case goes to, -1 where it lacks the value."""
    cells = work.cells
    start = cells.offset + np.int64(work.trees.feature[node]) * cells.column_step
    return child_number(work.trees, node, np.float64(cells.flat[start + np.int64(work.cases.row[at]) * cells.row_step]))


@inline
def ask_ahead(work, node, at, stop):
    """Ask for the value of a case that comes soon: rows lie anywhere in memory."""
    cells, row = work.cells, np.int64(work.cases.row[min(at + AHEAD, stop - 1)])
    column = cells.offset + np.int64(work.trees.feature[node]) * cells.column_step
    prefetch(work.lines, np.uint64(0), np.uint64(column + row * cells.row_step))


@outlined
def deal_cases(work, node, start, stop, used):
    """Deal cases start .. stop - 1 to the children of a node; return how many are in use then, -1: there is no room.

    scratch.fill[v] becomes where those of child v begin, fill[v + 1] where they end; shares are kept. ``used`` cases
    are in use before; room for as many as the list has is needed behind them.
    """
    trees, cases, state = work.trees, work.cases, work.state
    left, fan = np.int64(trees.left[node]), np.int64(trees.right[node] - trees.left[node] + 1)
    parts, fill, known, n_missing = work.scratch.parts, work.scratch.fill, 0.0, np.int64(0)
    for v in range(fan):
        parts[v], fill[v] = 0.0, 0
    fill[fan] = 0
    for i in range(start, stop):
        ask_ahead(work, node, i, stop)
        child = child_of(work, node, i)
        cases.child[i - start] = child
        if child >= 0:
            parts[child] += cases.weight[i]
            known += cases.weight[i]
            fill[child + 1] += 1
        else:
            n_missing += 1
    end = plan_lists(work, left, fan, known, n_missing, used)
    for v in range(fan):
        state.share[left + v] = parts[v]
    state.has_parts[node] = n_missing > 0
    if end > work.room:
        return np.int64(-1)
    write_lists(work, start, stop, start, fan)
    begin = np.int64(used)
    if n_missing == 0:
        for i in range(stop - start):
            cases.row[start + i], cases.weight[start + i] = cases.row[used + i], cases.weight[used + i]
        begin, end = np.int64(start), np.int64(used)
    for v in range(fan, 0, -1):
        fill[v] = fill[v - 1] - used + begin
    fill[0] = begin
    return end
