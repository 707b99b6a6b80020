# mypy: ignore-errors
"""Error-based pruning with subtree raising where rows go to several children in parts: C4.5's missing values.

One pass over the tree from its leaves up, each node with the list of its cases, which are (row, weight) pairs. A node
becomes the cheapest of a leaf, its heaviest branch with all its cases, and what is left of its subtree; a raised branch
gets the cases of its new place, and is gone over again. No recursion: the nodes on the child down stand on a stack, and
the cases of each behind those of its parent. A kernel allocates nothing; where the list of cases is full it stops, and
the caller begins again with more room.

In large work the cases of the nodes near the root are listed first. The subtrees below are gone over side by side, each
worker with a part of the room for lists, and then the nodes near the root. The answers do not depend on who did what.

A branch on trial has its own cases counted already. Where none of them and of its siblings' is in parts, only these go
down the branch; else all are listed anew, because parts depend on one another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.pruners.engines.case_lists import (
    AHEAD,
    DECIDED,
    ENTERED,
    FRESH,
    Cases,
    Pruning,
    RaisingScratch,
    RoutingColumns,
    lines_of,
    list_children,
    new_raising_state,
    new_scratch,
    sum_cases,
    unit_of,
)
from dtnumba.pruners.engines.expected_errors import Costs, cost_of_leaf
from dtnumba.runtime.addresses import call_entry, code_for
from dtnumba.runtime.instructions.bits import prefetch
from dtnumba.runtime.kernels import entry, inline, outlined
from dtnumba.runtime.progress import run_heeding
from dtnumba.runtime.records import own_copy
from dtnumba.runtime.tasks import call_each
from dtnumba.trees.routing import child_number
from dtnumba.trees.subtrees import blocks_of, depth_levels, rebuilt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.trees.layout import Trees
    from dtnumba.trees.subtrees import Level


# Weights of two branches that differ by this share are equal: parts of rows add up to them in different ways.
_EQUAL = 1e-9
# Cases that pay for waking other threads, who get so many subtrees each, if all are of one size; smaller parts of these
# are no work of their own. Each worker takes room for lists, so there are no more than eight.
_ENOUGH, _ITEMS_EACH, _SMALL, _MOST_WORKERS = 50_000, 8, 16, 8
_MOST_LISTED = 6  # times all cases, for the nodes near the root


@outlined
def _cost_through(work, node, start, stop, used, most):
    """Return the cost of a subtree with other cases, which are listed already; -1 where there is no room for them.

    What is more than ``most`` need not be known: then it is infinite.
    """
    trees, cases, state, costs = work.trees, work.cases, work.state, work.costs
    other, sums, fill, total, top = work.scratch.other, work.scratch.sums, work.scratch.fill, 0.0, 1
    other[0, 0], other[0, 1], other[0, 2] = node, start, stop
    first = used
    while top > 0 and work.halt[0] == 0:
        top -= 1
        at, start, stop = other[top, 0], other[top, 1], other[top, 2]
        used = max(first, stop)
        if state.is_leaf[at] or stop == start:
            sum_cases(cases, start, stop, sums)
            total += cost_of_leaf(costs, sums)
            if total > most:
                return np.inf
            continue
        end = list_children(work, at, start, stop, used, np.int64(0))
        if end < 0:
            return -1.0
        for v in range(trees.right[at] - trees.left[at] + 1):
            other[top, 0], other[top, 1] = state.final[trees.left[at] + v], fill[v]
            other[top, 2] = fill[v + 1]
            top += 1
    return total


@outlined
def _add_cases(work, node, start, stop):
    """Add cases to the leaves that they come to below a node; return False where one would go on in parts."""
    trees, cells, cases, state = work.trees, work.cells, work.cases, work.state
    trial = work.scratch.n_trials[0]
    for i in range(start, stop):
        row, at = cases.row[min(i + AHEAD, stop - 1)], np.int64(node)
        for k in range(work.n_lines):
            line = min(cells.offset + row * cells.row_step + k * work.line, work.lines.shape[1] - 1)
            prefetch(work.lines, np.uint64(0), np.uint64(line))
        row = cases.row[i]
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
    other, sums, trial = work.scratch.other, work.scratch.sums, work.scratch.n_trials[0]
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
        work.scratch.n_trials[0] += 1
        is_whole = True
        for child in range(trees.left[node], trees.right[node] + 1):
            if is_whole and child != heaviest:
                is_whole = _add_cases(work, stands, state.start[child], state.stop[child])
        cost = _cost_with_added(work, stands)
        if is_whole:
            return cost
    used = max(state.used[place], state.floor[0])
    return _cost_through(work, stands, state.start[place], state.stop[place], used, most)


@outlined
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
    end = list_children(work, node, start, stop, max(state.used[place], state.floor[0]), np.int64(1))
    if end < 0:
        return False
    left, fill = np.int64(trees.left[node]), work.scratch.fill
    for v in range(trees.right[node] - left + 1):
        child = left + v
        state.start[child], state.stop[child] = fill[v], fill[v + 1]
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


@inline
def _list_top(work, most):
    """List the cases of the nodes that have more than ``most``; return how many subtrees are left to be items, and 1.

    0: there is no room.
    """
    trees, state, path, top, n_items = work.trees, work.state, work.scratch.path, np.int64(1), np.int64(0)
    path[0] = 0
    n = state.stop[0]
    while top > 0 and work.halt[0] == 0:
        top -= 1
        place = path[top]
        size, node = state.stop[place] - state.start[place], state.final[place]
        if state.is_leaf[node]:
            continue
        if size <= most or state.floor[0] > _MOST_LISTED * n:
            if size * _SMALL > most:
                state.item[n_items] = place
                n_items += 1
            continue
        if not _arrive(work, place):
            return np.int64(0)
        left = np.int64(trees.left[node])
        state.floor[0] = state.used[left]
        for child in range(left, trees.right[node] + 1):
            path[top] = child
            top += 1
    return n_items + 1


@entry
def prune_by_cases(given, place, used, most):
    """Decide about every node from a place on; return 0 where the list of cases is full.

    Its own cases are listed; those of its children are to be listed behind ``used``. With ``most`` above 0 it only
    prepares that for subtrees of so many cases; see ``_list_top``. It stops, and returns 1, where ``halt[0]`` is not 0.
    """
    work = own_copy(given)
    if most > 0:
        return _list_top(work, most)
    trees, state, path, top, first = work.trees, work.state, work.scratch.path, np.int64(1), place
    path[0], state.used[place] = place, used
    while top > 0 and work.halt[0] == 0:
        place = path[top - 1]
        node = state.final[place]
        if state.phase[place] == FRESH:
            if not _arrive(work, place):
                return np.int64(0)
        elif state.phase[place] == DECIDED or state.is_leaf[node]:
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
    state.phase[first] = DECIDED
    return np.int64(1)


def pruned_with_cases(
    trees: Trees, asked: Trees, cells: Any, codes: Any, weight: NDArray[np.float64], costs: Costs, workers: int
) -> Trees:
    """Return one tree pruned, and counted anew with all rows.

    ``asked`` has the thresholds that the cells are compared with as they are; ``codes`` and ``weight`` are of each row.
    """
    kept, n_classes = np.flatnonzero(weight), trees.value.shape[1]
    shape = RoutingColumns(**{name: getattr(asked, name) for name in RoutingColumns._fields})
    workers = min(workers, _MOST_WORKERS) if len(kept) >= _ENOUGH else 1
    n, is_whole = len(kept), False
    room = (12 + 4 * workers) * n + 1024  # what no list reaches takes no memory
    grain, least = unit_of(weight)
    exact = np.maximum((weight[kept] + grain) - grain, least)
    while not is_whole:
        lists = np.empty(room, np.int64), np.empty(room), np.empty(room, np.int64)
        cases, state = Cases(*lists, np.asarray(codes, np.int64), np.empty(0)), new_raising_state(trees, n_classes)
        cases.row[:n], cases.weight[:n] = kept, exact
        state.stop[0] = state.floor[0] = n
        scratch, halt = new_scratch(trees, n_classes, 0), np.zeros(1, np.int64)
        work = Pruning(shape, cells, *lines_of(cells), cases, state, scratch, room, costs, grain, least, halt)
        others = [new_scratch(trees, n_classes, worker) for worker in range(1, workers)]
        is_whole = _prune_stoppably(work, others, n)
        room *= 2
    return counted_anew(trees, state)


def _prune_stoppably(work: Pruning, others: list[RaisingScratch], n: int) -> bool:
    """Decide about every node of a tree, or until Ctrl-C; return False where the list of cases is full."""
    found: list[bool] = []
    size = n * len(work.state.final)
    run_heeding(lambda _: found.append(_prune_beside(work, others, n)), size, work.halt)
    return found[0]


def _prune_beside(work: Pruning, others: list[RaisingScratch], n: int) -> bool:
    state, code, n_workers = work.state, code_for(prune_by_cases, work), 1 + len(others)
    if others:
        n_items = call_entry(code, 0, n, n // (_ITEMS_EACH * n_workers)) - 1
        if n_items < 0:
            return False
        places = state.item[:n_items]
        largest_first = places[np.argsort(state.start[places] - state.stop[places], kind="stable")].tolist()
        floor = int(state.floor[0])
        part = (work.room - floor) // n_workers
        ends = [floor + (worker + 1) * part for worker in range(n_workers)]
        mine = zip([work.scratch, *others], ends, strict=True)
        codes = [code_for(prune_by_cases, work._replace(scratch=scratch, room=end)) for scratch, end in mine]
        given = [[(place, end - part, 0) for place in largest_first] for end in ends]
        if not all(call_each(codes, given)):
            return False
    return bool(call_entry(code, 0, n, 0))


def recounted(
    trees: Trees, asked: Trees, cells: Any, codes: Any, weight: NDArray[np.float64], workers: int = 1
) -> Trees:
    """Return a tree as it is, with the statistics of other rows."""
    kept_whole = Costs(-1.0, 0.0, 0.0, -np.inf, raises=False, adds=False)
    return pruned_with_cases(trees, asked, cells, codes, weight, kept_whole, workers)


def counted_anew(trees: Trees, state: Any) -> Trees:
    """Return the pruned tree, with the statistics of the rows that each node has now."""
    total = state.counts.sum(axis=1)
    value = np.divide(state.counts, total[:, None], out=trees.value.copy(), where=total[:, None] > 0)
    impurity, has_changed = np.empty(len(value)), np.empty(len(value), bool)
    for at in blocks_of(*value.shape):
        own = value[at]
        with np.errstate(divide="ignore", invalid="ignore"):
            impurity[at] = -np.where(own > 0, own * np.log2(own), 0.0).sum(axis=1)
        before = trees.value[at] * trees.weight[at, None]
        has_changed[at] = np.abs(state.counts[at] - before).max(axis=1) > 1e-9 * np.maximum(total[at], 1.0)
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
