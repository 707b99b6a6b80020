# mypy: ignore-errors
"""Error-based pruning with subtree raising where rows go to several children in parts: C4.5's missing values.

One pass over the tree from its leaves up, each node with the list of its cases, which are (row, weight) pairs. A node
becomes the cheapest of a leaf, its heaviest branch with all its cases, and what is left of its subtree; a raised branch
gets the cases of its new place, and is gone over again. No recursion: the nodes on the child down stand on a stack, and
the cases of each behind those of its parent. A kernel allocates nothing; where the list of cases is full it stops, and
the caller begins again with more room.

A branch on trial has its own cases counted already. Where none of them and of its siblings' is in parts, only these go
down the branch; else all are listed anew, because parts depend on one another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.pruners.engines.case_lists import (
    ENTERED,
    FRESH,
    Cases,
    Pruning,
    RaisingState,
    RoutingColumns,
    list_children,
    new_raising_state,
    sum_cases,
    unit_of,
)
from dtnumba.pruners.engines.expected_errors import Costs, cost_of_leaf
from dtnumba.runtime.addresses import call_entry, code_for
from dtnumba.runtime.kernels import entry, inline, outlined
from dtnumba.runtime.progress import run_heeding
from dtnumba.runtime.records import own_copy
from dtnumba.trees.routing import child_number
from dtnumba.trees.subtrees import depth_levels, rebuilt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.trees.layout import Trees
    from dtnumba.trees.subtrees import Level


# Weights of two branches that differ by this share are equal: parts of rows add up to them in different ways.
_EQUAL = 1e-9


@outlined
def _cost_through(work, node, start, stop, used, most):
    """Return the cost of a subtree with other cases, which are listed already; -1 where there is no room for them.

    What is more than ``most`` need not be known: then it is infinite.
    """
    trees, cases, state, costs = work.trees, work.cases, work.state, work.costs
    other, total, top = state.other, 0.0, 1
    other[0, 0], other[0, 1], other[0, 2] = node, start, stop
    first = used
    while top > 0 and work.halt[0] == 0:
        top -= 1
        at, start, stop = other[top, 0], other[top, 1], other[top, 2]
        used = max(first, stop)
        if state.is_leaf[at] or stop == start:
            sum_cases(cases, start, stop, state.sums)
            total += cost_of_leaf(costs, state.sums)
            if total > most:
                return np.inf
            continue
        end = list_children(work, at, start, stop, used, False)
        if end < 0:
            return -1.0
        for v in range(trees.right[at] - trees.left[at] + 1):
            other[top, 0], other[top, 1] = state.final[trees.left[at] + v], state.fill[v]
            other[top, 2] = state.fill[v + 1]
            top += 1
    return total


@outlined
def _add_cases(work, node, start, stop):
    """Add cases to the leaves that they come to below a node; return False where one would go on in parts."""
    trees, cells, cases, state = work.trees, work.cells, work.cases, work.state
    trial = state.n_trials[0]
    for i in range(start, stop):
        row, at = cases.row[i], np.int64(node)
        begin = cells.offset + row * cells.row_step
        state.reached[at] = trial
        while not state.is_leaf[at]:
            feature = np.int64(trees.feature[at])
            child = child_number(trees, at, np.float64(cells.flat[begin + feature * cells.column_step]))
            if child < 0:
                return False
            at = state.final[trees.left[at] + child]
            state.reached[at] = trial
        state.added[at, cases.class_of[row]] += cases.weight[i]
    return True


@outlined
def _cost_with_added(work, node):
    """Return the cost of a subtree with the cases that were added to its leaves, and take these away again."""
    trees, state, costs = work.trees, work.state, work.costs
    other, sums, trial = state.other, state.sums, state.n_trials[0]
    total, top, other[0, 0] = 0.0, 1, node
    while top > 0:
        top -= 1
        at = other[top, 0]
        if state.reached[at] != trial:
            total += state.cost[at]
        elif state.is_leaf[at]:
            for k in range(len(sums)):
                sums[k] = state.counts[at, k] + state.added[at, k]
                state.added[at, k] = 0.0
            total += cost_of_leaf(costs, sums)
        else:
            for child in range(trees.left[at], trees.right[at] + 1):
                other[top, 0] = state.final[child]
                top += 1
    return total


@inline
def _cost_raised(work, place, heaviest, most):
    """Return the cost of the heaviest child of a place with all its cases, if it is not above ``most``; -1: no room.

    Where no case is in parts, those of the other children alone go through it.
    """
    trees, state = work.trees, work.state
    node, stands = state.final[place], state.final[heaviest]
    if not (state.has_parts[node] or state.has_parts[stands]):
        state.n_trials[0] += 1
        is_whole = True
        for child in range(trees.left[node], trees.right[node] + 1):
            if is_whole and child != heaviest:
                is_whole = _add_cases(work, stands, state.start[child], state.stop[child])
        cost = _cost_with_added(work, stands)
        if is_whole:
            return cost
    return _cost_through(work, stands, state.start[place], state.stop[place], state.used[place], most)


@inline
def _arrive(work, place):
    """Count the cases of a node and list those of its children; return False where there is no room."""
    trees, cases, state, costs = work.trees, work.cases, work.state, work.costs
    node = state.final[place]
    start, stop = state.start[place], state.stop[place]
    sum_cases(cases, start, stop, state.counts[node])
    state.n_rows[node], state.weight[place] = stop - start, 0.0
    for k in range(state.counts.shape[1]):
        state.weight[place] += state.counts[node, k]
    state.cost[node], state.phase[place] = cost_of_leaf(costs, state.counts[node]), ENTERED
    if state.is_leaf[node]:
        return True
    end = list_children(work, node, start, stop, state.used[place], True)
    if end < 0:
        return False
    left = np.int64(trees.left[node])
    for v in range(trees.right[node] - left + 1):
        child = left + v
        state.start[child], state.stop[child] = state.fill[v], state.fill[v + 1]
        state.used[child], state.phase[child] = end, FRESH
    state.next_child[place] = left
    return True


@inline
def _decide(work, place):
    """Choose a leaf, the heaviest child or the subtree for a place; return 1 for a raised child, -1 for no room."""
    trees, state, costs = work.trees, work.state, work.costs
    node, kept, most = state.final[place], 0.0, -1.0
    heaviest = np.int64(0)
    for child in range(trees.left[node], trees.right[node] + 1):
        kept += state.cost[state.final[child]]
        if state.weight[child] >= most * (1.0 - _EQUAL):
            most, heaviest = state.weight[child], np.int64(child)
    leaf, branch, allowed = state.cost[node], np.inf, costs.slack + 1e-12 * kept
    stands = state.final[heaviest]
    if costs.raises and not state.is_leaf[stands]:
        branch = _cost_raised(work, place, heaviest, kept + allowed)
        if branch < 0.0:
            return -1
    if leaf <= min(branch, kept) + allowed:
        state.is_leaf[node] = True
        state.has_parts[node] = False
    elif branch <= kept + allowed:
        state.final[place] = stands
        return 1
    else:
        state.cost[node] = kept
        for child in range(trees.left[node], trees.right[node] + 1):
            state.has_parts[node] |= state.has_parts[state.final[child]]
    return 0


@entry
def prune_by_cases(given, n, _, __):
    """Decide about every node of a tree, its n cases listed first; return 0 where the list of cases is full.

    It stops, and returns 1, where ``halt[0]`` is not 0.
    """
    work = own_copy(given)
    trees, state = work.trees, work.state
    path, top = state.path, np.int64(1)
    path[0] = state.start[0] = 0
    state.stop[0] = state.used[0] = n
    state.phase[0] = FRESH
    while top > 0 and work.halt[0] == 0:
        place = path[top - 1]
        node = state.final[place]
        if state.phase[place] == FRESH:
            if not _arrive(work, place):
                return np.int64(0)
        elif state.is_leaf[node]:
            top -= 1
        elif state.next_child[place] <= trees.right[node]:
            path[top] = state.next_child[place]
            state.next_child[place] += 1
            top += 1
        else:
            outcome = _decide(work, place)
            if outcome < 0:
                return np.int64(0)
            if outcome > 0:
                state.phase[place] = FRESH
            else:
                top -= 1
    return np.int64(1)


def pruned_with_cases(
    trees: Trees, asked: Trees, cells: Any, codes: Any, weight: NDArray[np.float64], costs: Costs
) -> Trees:
    """Return one tree pruned, and counted anew with all rows.

    ``asked`` has the thresholds that the cells are compared with as they are; ``codes`` and ``weight`` are of each row.
    """
    kept, n_classes = np.flatnonzero(weight), trees.value.shape[1]
    shape = RoutingColumns(**{name: getattr(asked, name) for name in RoutingColumns._fields})
    n, room, is_whole = len(kept), 16 * len(kept) + 1024, False  # what no list reaches takes no memory
    grain, least = unit_of(weight)
    exact = np.maximum((weight[kept] + grain) - grain, least)
    while not is_whole:
        lists = np.empty(room, np.int64), np.empty(room), np.empty(room, np.int64)
        cases, state = Cases(*lists, np.asarray(codes, np.int64)), new_raising_state(trees, n_classes)
        cases.row[:n], cases.weight[:n] = kept, exact
        is_whole = _prune_stoppably(Pruning(shape, cells, cases, state, costs, grain, least, np.zeros(1, np.int64)), n)
        room *= 2
    return _counted(trees, state)


def _prune_stoppably(work: Pruning, n: int) -> bool:
    """Decide about every node of a tree, or until Ctrl-C; return False where the list of cases is full."""
    found: list[Any] = []
    code = code_for(prune_by_cases, work)
    run_heeding(lambda _: found.append(call_entry(code, n, 0, 0)), n * len(work.state.final), work.halt)
    return bool(found[0])


def recounted(trees: Trees, asked: Trees, cells: Any, codes: Any, weight: NDArray[np.float64]) -> Trees:
    """Return a tree as it is, with the statistics of other rows."""
    kept_whole = Costs(-1.0, 0.0, 0.0, -np.inf, raises=False, adds=False)
    return pruned_with_cases(trees, asked, cells, codes, weight, kept_whole)


def _counted(trees: Trees, state: RaisingState) -> Trees:
    """Return the pruned tree, with the statistics of the rows that each node has now."""
    total = state.counts.sum(axis=1)
    value = np.divide(state.counts, total[:, None], out=trees.value.copy(), where=total[:, None] > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        impurity = -np.where(value > 0, value * np.log2(value), 0.0).sum(axis=1)
    before = trees.value * trees.weight[:, None]
    has_changed = np.abs(state.counts - before).max(axis=1) > 1e-9 * np.maximum(total, 1.0)
    columns: dict[str, Any] = {
        "value": value,
        "weight": total,
        "n_samples": state.n_rows[: trees.n_nodes],
        "share": state.share,
        "impurity": np.where(has_changed, impurity, trees.impurity),
        "gain": np.where(has_changed, np.nan, trees.gain),  # to be found when it is known what stands below
    }
    smaller = rebuilt(trees._replace(**columns), depth_levels(trees), state.is_leaf, state.final)
    levels = depth_levels(smaller)
    return _with_gains(_filled(smaller, levels), levels)


def _with_gains(trees: Trees, levels: list[Level]) -> Trees:
    """Return the tree with the gain of every node that has none: the decrease of impurity by its children."""
    gain, spread = trees.gain.copy(), trees.impurity * trees.weight
    for level in levels:
        left = np.add.reduceat(spread[level.children], level.starts)
        weight = np.maximum(trees.weight[level.inner], 1e-300)
        found = np.maximum(trees.impurity[level.inner] - left / weight, 0.0)
        gain[level.inner] = np.where(np.isnan(gain[level.inner]), found, gain[level.inner])
    return trees._replace(gain=gain)


def with_empty_filled(trees: Trees) -> Trees:
    """Return the tree in which nodes without rows have the values of their parents."""
    return _filled(trees, depth_levels(trees))


def _filled(trees: Trees, levels: list[Level]) -> Trees:
    value = trees.value.copy()
    for level in levels:
        owner = np.repeat(level.inner, level.fan)
        empty = trees.weight[level.children] <= 0
        value[level.children[empty]] = value[owner[empty]]
    return trees._replace(value=value)
