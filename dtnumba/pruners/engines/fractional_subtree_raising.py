# mypy: ignore-errors
"""Error-based pruning with subtree raising where rows go to several children in parts: C4.5's missing values.

One pass over the tree from its leaves up, each node with the list of its cases, which are (row, weight) pairs. A node
becomes the cheapest of a leaf, its heaviest branch with all its cases, and what is left of its subtree; a raised branch
gets the cases of its new place, and is gone over again. No recursion: the nodes on the child down stand on a stack, and
the cases of each behind those of its parent. A kernel allocates nothing; where the list of cases is full it stops, and
the caller begins again with more room.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.runtime.addresses import call_entry, code_for
from dtnumba.runtime.kernels import entry, inline, kernel, outlined
from dtnumba.runtime.progress import run_heeding
from dtnumba.runtime.records import own_copy
from dtnumba.trees.layout import LEAF
from dtnumba.trees.routing import child_number
from dtnumba.trees.subtrees import depth_levels, rebuilt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.trees.layout import Trees
    from dtnumba.trees.subtrees import Level


FRESH, ENTERED = 0, 1
# Weights of two branches that differ by this share are equal: parts of rows add up to them in different ways.
_EQUAL = 1e-9


class Costs(NamedTuple):
    """The cost of a leaf: its errors, and those that a confidence level adds."""

    log_confidence: float
    z: float
    high: float  # share of what is left that is added where nearly all rows are errors
    slack: float  # by how much a leaf, or a raised branch, may cost more and still win
    raises: bool
    adds: bool  # False: nothing is added to the errors made


class Cases(NamedTuple):
    """Lists of cases; the list of a node is a range of them."""

    row: np.ndarray  # (c,) int64
    weight: np.ndarray  # (c,) float64
    child: np.ndarray  # (c,) int64 scratch: number of the child each goes to, -1 for a missing value
    class_of: np.ndarray  # (n,) int64: of each row of the table


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
    phase: np.ndarray  # (m,) int64: FRESH or ENTERED
    next_child: np.ndarray  # (m,) int64: to look at
    path: np.ndarray  # (m,) int64
    other: np.ndarray  # (m, 3) int64: the stack of a branch on trial
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
    cases: Cases
    state: RaisingState
    costs: Costs
    halt: np.ndarray  # (1,) int64: not 0 where pruning is to stop, and what it found will be dropped


@inline
def _normal_extra(n, errors, z, high):
    """Return U of a leaf that made one error or more, by the normal approximation of the binomial distribution."""
    e, squared = errors + 0.5, z * z
    if e >= n:
        return high * max(n - errors, 0.0)
    inside = squared * (e * (1.0 - e / n) + squared / 4.0)
    return n * (e + squared / 2.0 + math.sqrt(max(inside, 0.0))) / (n + squared) - errors


@inline
def _extra(log_confidence, z, high, n, errors):
    """Return U(n, errors): how many more errors a leaf of weight n > 0 is expected to make than it made."""
    none = -n * math.expm1(log_confidence / n)
    if errors < 1e-6:
        return none
    if errors < 0.9999:
        return none + errors * (_normal_extra(n, 1.0, z, high) - none)
    return _normal_extra(n, errors, z, high)


@kernel
def extra_of_leaves(log_confidence, z, high, n, errors, out):
    """Write U(n, errors) of every leaf to ``out``; 0 for a leaf without rows. All (leaves,) float64."""
    for i in range(len(n)):
        out[i] = _extra(log_confidence, z, high, n[i], errors[i]) if n[i] > 0.0 else 0.0


@inline
def _cost(costs, sums):
    """Return the expected errors of a leaf with these weights of the classes."""
    n = largest = 0.0
    for k in range(len(sums)):
        n += sums[k]
        largest = max(largest, sums[k])
    errors = n - largest
    if costs.adds and n > 0.0:
        return errors + _extra(costs.log_confidence, costs.z, costs.high, n, errors)
    return errors


@inline
def _sum_cases(cases, start, stop, sums):
    """Write the weight of each class in cases start .. stop - 1 to ``sums``."""
    for k in range(len(sums)):
        sums[k] = 0.0
    for i in range(start, stop):
        sums[cases.class_of[cases.row[i]]] += cases.weight[i]


@outlined
def _list_children(work, node, start, stop, used, keeps):
    """List the cases of the children of a node behind ``used``; return the new end, -1 where there is no room.

    state.fill[v] becomes where those of child v begin, fill[v + 1] where they end; with ``keeps``, shares are kept.
    """
    trees, cells, cases, state = work.trees, work.cells, work.cases, work.state
    left, fan = np.int64(trees.left[node]), np.int64(trees.right[node] - trees.left[node] + 1)
    parts, fill, known, feature = state.parts, state.fill, 0.0, np.int64(trees.feature[node])
    for v in range(fan):
        parts[v], fill[v] = 0.0, 0
    fill[fan] = 0
    at, n_missing = cells.offset + feature * cells.column_step, np.int64(0)
    for i in range(start, stop):
        child = child_number(trees, node, np.float64(cells.flat[at + cases.row[i] * cells.row_step]))
        cases.child[i] = child
        if child >= 0:
            parts[child] += cases.weight[i]
            known += cases.weight[i]
            fill[child + 1] += 1
        else:
            n_missing += 1
    for v in range(fan):
        parts[v] = parts[v] / known if known > 0.0 else trees.share[left + v]
        fill[v + 1] += n_missing if parts[v] > 0.0 else 0
        if keeps:
            state.share[left + v] = parts[v]
    fill[0] = used
    for v in range(fan):
        fill[v + 1] += fill[v]
    end = fill[fan]
    if end > len(cases.row):
        return np.int64(-1)
    for i in range(start, stop):
        child = cases.child[i]
        if child >= 0:
            cases.row[fill[child]], cases.weight[fill[child]] = cases.row[i], cases.weight[i]
            fill[child] += 1
        else:
            for v in range(fan):
                if parts[v] > 0.0:
                    cases.row[fill[v]], cases.weight[fill[v]] = cases.row[i], cases.weight[i] * parts[v]
                    fill[v] += 1
    for v in range(fan, 0, -1):
        fill[v] = fill[v - 1]
    fill[0] = used
    return end


@outlined
def _cost_through(work, node, start, stop, used):
    """Return the cost of a subtree with other cases, which are listed already; -1 where there is no room for them."""
    trees, cases, state, costs = work.trees, work.cases, work.state, work.costs
    other, total, top = state.other, 0.0, 1
    other[0, 0], other[0, 1], other[0, 2] = node, start, stop
    first = used
    while top > 0 and work.halt[0] == 0:
        top -= 1
        at, start, stop = other[top, 0], other[top, 1], other[top, 2]
        used = max(first, stop)
        if state.is_leaf[at] or stop == start:
            _sum_cases(cases, start, stop, state.sums)
            total += _cost(costs, state.sums)
            continue
        end = _list_children(work, at, start, stop, used, False)
        if end < 0:
            return -1.0
        for v in range(trees.right[at] - trees.left[at] + 1):
            other[top, 0], other[top, 1] = state.final[trees.left[at] + v], state.fill[v]
            other[top, 2] = state.fill[v + 1]
            top += 1
    return total


@inline
def _arrive(work, place):
    """Count the cases of a node and list those of its children; return False where there is no room."""
    trees, cases, state, costs = work.trees, work.cases, work.state, work.costs
    node = state.final[place]
    start, stop = state.start[place], state.stop[place]
    _sum_cases(cases, start, stop, state.counts[node])
    state.n_rows[node], state.weight[place] = stop - start, 0.0
    for k in range(state.counts.shape[1]):
        state.weight[place] += state.counts[node, k]
    state.cost[node], state.phase[place] = _cost(costs, state.counts[node]), ENTERED
    if state.is_leaf[node]:
        return True
    end = _list_children(work, node, start, stop, state.used[place], True)
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
    start, stop, leaf, branch = state.start[place], state.stop[place], state.cost[node], np.inf
    stands = state.final[heaviest]
    if costs.raises and not state.is_leaf[stands]:
        branch = _cost_through(work, stands, start, stop, state.used[place])
        if branch < 0.0:
            return -1
    hair = 1e-12 * kept
    if leaf <= min(branch, kept) + costs.slack + hair:
        state.is_leaf[node] = True
    elif branch <= kept + costs.slack + hair:
        state.final[place] = stands
        return 1
    else:
        state.cost[node] = kept
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


def new_raising_state(trees: Trees, n_classes: int) -> RaisingState:
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
        phase=whole.copy(),
        next_child=whole.copy(),
        path=whole.copy(),
        other=np.zeros((m + 1, 3), np.int64),
        sums=np.zeros(n_classes),
        parts=real.copy(),
        fill=whole.copy(),
    )


def pruned_with_cases(
    trees: Trees, asked: Trees, cells: Any, codes: Any, weight: NDArray[np.float64], costs: Costs
) -> Trees:
    """Return one tree pruned, and counted anew with all rows.

    ``asked`` has the thresholds that the cells are compared with as they are; ``codes`` and ``weight`` are of each row.
    """
    kept, n_classes = np.flatnonzero(weight), trees.value.shape[1]
    shape = RoutingColumns(**{name: getattr(asked, name) for name in RoutingColumns._fields})
    n, room, is_whole = len(kept), 16 * len(kept) + 1024, False  # what no list reaches takes no memory
    while not is_whole:
        lists = np.empty(room, np.int64), np.empty(room), np.empty(room, np.int64)
        cases, state = Cases(*lists, np.asarray(codes, np.int64)), new_raising_state(trees, n_classes)
        cases.row[:n], cases.weight[:n] = kept, weight[kept]
        is_whole = _prune_stoppably(Pruning(shape, cells, cases, state, costs, np.zeros(1, np.int64)), n)
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
