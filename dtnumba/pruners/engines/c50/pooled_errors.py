# mypy: ignore-errors
"""Expected errors as C5.0 adds them up: the branches of a node that have too few cases count as one leaf.

So a subtree is no sum over its leaves, and a branch on trial is gone over node by node, with its cases listed anew.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.pruners.engines.case_lists import list_children, sum_cases
from dtnumba.pruners.engines.expected_errors import Costs, cost_of_leaf
from dtnumba.runtime.kernels import inline, outlined

_HAIR = 1e-7  # sums of weights are compared with so much play


class PooledState(NamedTuple):
    """A tree while it is pruned: which node stands at each place, its cases, and where the work stands."""

    is_leaf: np.ndarray  # (m,) bool
    final: np.ndarray  # (m,) int64: the node at each place
    counts: np.ndarray  # (m, K) float64: weight of each class
    n_rows: np.ndarray  # (m,) int64
    cost: np.ndarray  # (m,) float64 of each place
    share: np.ndarray  # (m,) float64: of each place in what its parent's known cases weigh
    start: np.ndarray  # (m,) int64: where the cases of each place begin
    stop: np.ndarray  # (m,) int64
    used: np.ndarray  # (m,) int64: how many cases are listed in front of those of the children
    phase: np.ndarray  # (m,) int64: FRESH or ENTERED
    next_child: np.ndarray  # (m,) int64: to look at
    may_regrow: np.ndarray  # (m,) bool: of each place
    has_parts: np.ndarray  # (m,) bool: whether cases go to several children in parts
    path: np.ndarray  # (m,) int64: the places above the one in hand, and it
    depth: np.ndarray  # (1,) int64: how many these are
    trial: np.ndarray  # (m, 3) int64: of a place in a branch on trial: its cases, and the next child to look at


class PooledScratch(NamedTuple):
    """Memory for the node at hand, and for each node above it in a branch on trial."""

    parts: np.ndarray  # (m,) float64: weight of each child
    fill: np.ndarray  # (m,) int64
    sums: np.ndarray  # (K,) float64
    small: np.ndarray  # (m, K) float64 by depth: of the branches that count as one leaf
    stack: np.ndarray  # (m,) int64


class PooledPruning(NamedTuple):
    """The arguments of the kernels, with the names of ``case_lists.Pruning`` where these read them."""

    trees: object
    cells: object
    lines: np.ndarray
    cases: object
    state: PooledState
    scratch: PooledScratch
    is_number: np.ndarray  # (p,) bool
    room: int  # where the lists end
    costs: Costs
    min_cases: float  # a branch of fewer counts with the others of its kind
    regrows: bool
    grain: float
    least: float
    halt: np.ndarray


def new_pooled_state(m, n_classes):
    """Return the state of m nodes before pruning."""
    return PooledState(
        is_leaf=np.zeros(m, bool),
        final=np.arange(m),
        counts=np.zeros((m, n_classes)),
        n_rows=np.zeros(m, np.int64),
        cost=np.zeros(m),
        share=np.ones(m),
        start=np.zeros(m, np.int64),
        stop=np.zeros(m, np.int64),
        used=np.zeros(m, np.int64),
        phase=np.zeros(m, np.int64),
        next_child=np.zeros(m, np.int64),
        may_regrow=np.ones(m, bool),
        has_parts=np.zeros(m, bool),
        path=np.zeros(m, np.int64),
        depth=np.zeros(1, np.int64),
        trial=np.zeros((m, 3), np.int64),
    )


def new_pooled_scratch(m, n_classes):
    """Return the memory for a tree of m nodes."""
    whole = np.zeros((2, m + 1), np.int64)
    return PooledScratch(np.zeros(m), whole[0], np.zeros(n_classes), np.zeros((m, n_classes)), whole[1])


@inline
def weight_in(counts):
    """Return the weight of all classes."""
    total = 0.0
    for k in range(len(counts)):
        total += counts[k]
    return total


@inline
def is_pooled(work, counts):
    """Tell whether a branch has too few cases to count by itself."""
    return weight_in(counts) < work.min_cases - _HAIR


@outlined
def pooled_cost(work, node):
    """Return the expected errors of the subtree at a node whose children have been decided about."""
    trees, state, sums, total = work.trees, work.state, work.scratch.sums, 0.0
    for k in range(len(sums)):
        sums[k] = 0.0
    for child in range(trees.left[node], trees.right[node] + 1):
        counts = state.counts[state.final[child]]
        if is_pooled(work, counts):
            for k in range(len(sums)):
                sums[k] += counts[k]
        else:
            total += state.cost[child]
    return total + cost_of_leaf(work.costs, sums)


@inline
def _enter(work, place, start, stop):
    work.state.trial[place, 0], work.state.trial[place, 1], work.state.trial[place, 2] = start, stop, -1


@outlined
def cost_on_trial(work, place, start, stop, used, most):
    """Return the expected errors of what stands at a place with other cases, which are listed already; -1: no room.

    What is more than ``most`` need not be known: then it is infinite.
    """
    trees, cases, state, scratch = work.trees, work.cases, work.state, work.scratch
    stack, small, sums, total, top = scratch.stack, scratch.small, scratch.sums, 0.0, 1
    stack[0] = place
    _enter(work, place, start, stop)
    while top > 0:
        at = stack[top - 1]
        node, start, stop = state.final[at], state.trial[at, 0], state.trial[at, 1]
        if state.trial[at, 2] < 0:  # nothing is known of it yet
            sum_cases(cases, start, stop, sums)
            if top > 1 and is_pooled(work, sums):
                for k in range(len(sums)):
                    small[top - 2, k] += sums[k]
                top -= 1
                continue
            if state.is_leaf[node] or stop == start:
                total += cost_of_leaf(work.costs, sums)
                top -= 1
                if total > most:
                    return np.inf
                continue
            end = list_children(work, node, start, stop, max(used, stop), np.int64(0))
            if end < 0:
                return -1.0
            left = np.int64(trees.left[node])
            for v in range(trees.right[node] - left + 1):
                _enter(work, left + v, scratch.fill[v], scratch.fill[v + 1])
            for k in range(len(sums)):
                small[top - 1, k] = 0.0
            # Those of the children are listed one behind the other: what is listed below one goes behind the last
            used = end
            state.trial[at, 2] = left
        child = state.trial[at, 2]
        if child > trees.right[node]:
            total += cost_of_leaf(work.costs, small[top - 1])
            top -= 1
            used = state.trial[trees.left[node], 0]
            if total > most:
                return np.inf
            continue
        state.trial[at, 2] = child + 1
        stack[top] = child
        top += 1
    return total
