"""Error-based pruning of a tree whose rows go down several branches in parts: what C4.5 does with missing values.

One pass over the tree from its leaves up, each node with the list of its cases, which are (row, weight) pairs. A node
becomes the cheapest of a leaf, its heaviest branch with all its cases, and what is left of its subtree; a raised branch
gets the cases of its new place, and is gone over again. No recursion: the nodes on the way down stand on a stack, and
the cases of each behind those of its parent. A kernel allocates nothing; where the list of cases is full it stops, and
the caller begins again with more room.
"""

import math
from typing import NamedTuple

import numpy as np

from dtnumba._jit import address_of, inline, kernel
from dtnumba.routing import way_of

NEW, ENTERED = 0, 1
# Weights of two branches that differ by this share are equal: parts of rows add up to them in different ways.
_EQUAL = 1e-9


class Costs(NamedTuple):
    """What a leaf costs: its errors, and those that a confidence level adds."""

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
    way: np.ndarray  # (c,) int64 scratch: the child of each
    class_of: np.ndarray  # (n,) int64: of each row of the table


class Standing(NamedTuple):
    """What is decided about a tree of m nodes."""

    is_leaf: np.ndarray  # (m,) bool
    final: np.ndarray  # (m,) int64: who stands at each place
    counts: np.ndarray  # (m, K) float64: weight of each class
    n_rows: np.ndarray  # (m,) int64
    cost: np.ndarray  # (m,) float64
    share: np.ndarray  # (m,) float64: of each place in what its parent's known cases weigh
    weight: np.ndarray  # (m,) float64 of each place
    start: np.ndarray  # (m,) int64: where the cases of each place begin
    stop: np.ndarray  # (m,) int64
    used: np.ndarray  # (m,) int64: how many cases are listed in front of those of the children
    state: np.ndarray  # (m,) int64
    child: np.ndarray  # (m,) int64: the next one to look at
    path: np.ndarray  # (m,) int64
    other: np.ndarray  # (m, 3) int64: the stack of a branch on trial
    sums: np.ndarray  # (K,) float64
    parts: np.ndarray  # (m,) float64: weight of each child of a node at hand
    fill: np.ndarray  # (m,) int64


class CaseShape(NamedTuple):
    """What is read of Trees."""

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
    """All that the kernels read and write; they hand it to one another by its address."""

    trees: CaseShape
    cells: object
    cases: Cases
    standing: Standing
    costs: Costs


for _kind in (CaseShape, Cases, Standing, Costs):
    _kind.by_address = True
del _kind


@inline
def _extra(costs, n, errors):
    """Return how many more errors a leaf of weight n is expected to make than it made."""
    none = -n * math.expm1(costs.log_confidence / n)
    if errors < 1e-6:
        return none
    e, squared = max(errors, 1.0) + 0.5, costs.z * costs.z
    if e >= n:
        some = costs.high * max(n - max(errors, 1.0), 0.0)
    else:
        inside = squared * (e * (1.0 - e / n) + squared / 4.0)
        some = n * (e + squared / 2.0 + math.sqrt(max(inside, 0.0))) / (n + squared) - max(errors, 1.0)
    return some if errors >= 0.9999 else none + errors * (some - none)


@inline
def _cost(costs, sums):
    n = largest = 0.0
    for k in range(len(sums)):
        n += sums[k]
        largest = max(largest, sums[k])
    return n - largest + (_extra(costs, n, n - largest) if costs.adds and n > 0.0 else 0.0)


@inline
def _sum_cases(cases, start, stop, sums):
    for k in range(len(sums)):
        sums[k] = 0.0
    for i in range(start, stop):
        sums[cases.class_of[cases.row[i]]] += cases.weight[i]


@kernel
def _deal(work, node, start, stop, used, keeps):
    """List the cases of the children of a node behind ``used``; return the new end, -1 where there is no room.

    standing.fill[v] becomes where those of child v begin, fill[v + 1] where they end; with ``keeps``, shares are kept.
    """
    trees, cells, cases, standing = work.trees, work.cells, work.cases, work.standing
    left, fan = np.int64(trees.left[node]), np.int64(trees.right[node] - trees.left[node] + 1)
    parts, fill, known, feature = standing.parts, standing.fill, 0.0, np.int64(trees.feature[node])
    for v in range(fan):
        parts[v], fill[v] = 0.0, 0
    fill[fan] = 0
    at, n_gone = cells.offset + feature * cells.column_step, np.int64(0)
    for i in range(start, stop):
        way = way_of(trees, node, np.float64(cells.flat[at + cases.row[i] * cells.row_step]))
        cases.way[i] = way
        if way >= 0:
            parts[way] += cases.weight[i]
            known += cases.weight[i]
            fill[way + 1] += 1
        else:
            n_gone += 1
    for v in range(fan):
        parts[v] = parts[v] / known if known > 0.0 else trees.share[left + v]
        fill[v + 1] += n_gone if parts[v] > 0.0 else 0
        if keeps:
            standing.share[left + v] = parts[v]
    fill[0] = used
    for v in range(fan):
        fill[v + 1] += fill[v]
    end = fill[fan]
    if end > len(cases.row):
        return np.int64(-1)
    for i in range(start, stop):
        way = cases.way[i]
        if way >= 0:
            cases.row[fill[way]], cases.weight[fill[way]] = cases.row[i], cases.weight[i]
            fill[way] += 1
        else:
            for v in range(fan):
                if parts[v] > 0.0:
                    cases.row[fill[v]], cases.weight[fill[v]] = cases.row[i], cases.weight[i] * parts[v]
                    fill[v] += 1
    for v in range(fan, 0, -1):
        fill[v] = fill[v - 1]
    fill[0] = used
    return end


@kernel
def _cost_through(work, node, start, stop, used):
    """Return what a subtree costs with other cases, which are listed already; -1 where there is no room for them."""
    trees, cases, standing, costs = work.trees, work.cases, work.standing, work.costs
    other, total, top = standing.other, 0.0, 1
    other[0, 0], other[0, 1], other[0, 2] = node, start, stop
    first = used
    while top > 0:
        top -= 1
        at, start, stop = other[top, 0], other[top, 1], other[top, 2]
        used = max(first, stop)
        if standing.is_leaf[at] or stop == start:
            _sum_cases(cases, start, stop, standing.sums)
            total += _cost(costs, standing.sums)
            continue
        end = _deal(work, at, start, stop, used, False)
        if end < 0:
            return -1.0
        for v in range(trees.right[at] - trees.left[at] + 1):
            other[top, 0], other[top, 1] = standing.final[trees.left[at] + v], standing.fill[v]
            other[top, 2] = standing.fill[v + 1]
            top += 1
    return total


@inline
def _arrive(work, place):
    """Count a node with its cases, and list those of its children; return False where there is no room."""
    trees, cases, standing, costs = work.trees, work.cases, work.standing, work.costs
    node = standing.final[place]
    start, stop = standing.start[place], standing.stop[place]
    _sum_cases(cases, start, stop, standing.counts[node])
    standing.n_rows[node], standing.weight[place] = stop - start, 0.0
    for k in range(standing.counts.shape[1]):
        standing.weight[place] += standing.counts[node, k]
    standing.cost[node], standing.state[place] = _cost(costs, standing.counts[node]), ENTERED
    if standing.is_leaf[node]:
        return True
    end = _deal(work, node, start, stop, standing.used[place], True)
    if end < 0:
        return False
    left = np.int64(trees.left[node])
    for v in range(trees.right[node] - left + 1):
        child = left + v
        standing.start[child], standing.stop[child] = standing.fill[v], standing.fill[v + 1]
        standing.used[child], standing.state[child] = end, NEW
    standing.child[place] = left
    return True


@inline
def _decide(work, place):
    """Choose what stands at a place whose children are done; return whether a branch was raised, -1 for no room."""
    trees, standing, costs = work.trees, work.standing, work.costs
    node, kept, most = standing.final[place], 0.0, -1.0
    heaviest = np.int64(0)
    for child in range(trees.left[node], trees.right[node] + 1):
        kept += standing.cost[standing.final[child]]
        if standing.weight[child] >= most * (1.0 - _EQUAL):
            most, heaviest = standing.weight[child], np.int64(child)
    start, stop, leaf, branch = standing.start[place], standing.stop[place], standing.cost[node], np.inf
    stands = standing.final[heaviest]
    if costs.raises and not standing.is_leaf[stands]:
        branch = _cost_through(work, stands, start, stop, standing.used[place])
        if branch < 0.0:
            return -1
    hair = 1e-12 * kept
    if leaf <= min(branch, kept) + costs.slack + hair:
        standing.is_leaf[node] = True
    elif branch <= kept + costs.slack + hair:
        standing.final[place] = stands
        return 1
    else:
        standing.cost[node] = kept
    return 0


@kernel
def prune_by_cases(given, n):
    """Decide about every node of a tree, its n cases listed first; return False where the list of cases is full."""
    work = address_of(given)
    trees, standing = work.trees, work.standing
    path, top = standing.path, np.int64(1)
    path[0] = standing.start[0] = 0
    standing.stop[0] = standing.used[0] = n
    standing.state[0] = NEW
    while top > 0:
        place = path[top - 1]
        node = standing.final[place]
        if standing.state[place] == NEW:
            if not _arrive(work, place):
                return False
        elif standing.is_leaf[node]:
            top -= 1
        elif standing.child[place] <= trees.right[node]:
            path[top] = standing.child[place]
            standing.child[place] += 1
            top += 1
        else:
            outcome = _decide(work, place)
            if outcome < 0:
                return False
            if outcome > 0:
                standing.state[place] = NEW
            else:
                top -= 1
    return True
