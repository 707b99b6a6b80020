# mypy: ignore-errors
"""Expected errors as C5.0 adds them up: the branches of a node that have too few cases count as one leaf."""

from typing import NamedTuple

import numpy as np

from dtnumba.pruners.engines.expected_errors import Costs, cost_of_leaf
from dtnumba.runtime.kernels import inline, outlined

_HAIR = 1e-7  # sums of weights are compared with so much play


class PooledState(NamedTuple):
    """A tree while it is pruned: which node stands at each place, its cases, and where the work stands."""

    is_leaf: np.ndarray  # (m,) bool
    final: np.ndarray  # (m,) int64: the node at each place
    counts: np.ndarray  # (m, K) float64: weight of each class
    counted: np.ndarray  # (m, K) float64: what its cases count, without costs; without these the same array
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
    known: np.ndarray  # (m,) float64: of each place whose parent has cases that lack a value, weight of the others
    lost_start: np.ndarray  # (m,) int64: where the cases of each node begin that lack a value, ...
    lost_stop: np.ndarray  # (m,) int64: ... and end
    lost_mark: np.ndarray  # (m,) int64: how many such cases were listed when each place was entered
    trial: np.ndarray  # (m, 3) int64: of a place in a branch on trial: its changes, and the next child to look at


class PooledScratch(NamedTuple):
    """Memory for the node at hand, and for each node above it in a branch on trial."""

    parts: np.ndarray  # (m,) float64: weight of each child
    fill: np.ndarray  # (m,) int64
    ends: np.ndarray  # (m,) int64
    sums: np.ndarray  # (K,) float64
    small: np.ndarray  # (m, K) float64 by depth: of the branches that count as one leaf
    stack: np.ndarray  # (m,) int64


class Changes(NamedTuple):
    """What a branch on trial is told from: what its cases weighed, and which cases lack the value of a test."""

    before: np.ndarray  # (c,) float64: what each listed case weighs without the trial, 0 where it would be new
    lost_row: np.ndarray  # (l,) int32: of the nodes gone over, the cases that lack the value of the test, ...
    lost_weight: np.ndarray  # (l,) float64: ... and what they weigh there
    n_lost: np.ndarray  # (1,) int64: how many these are
    mark: np.ndarray  # (n,) int64: the last division of cases in which each row had changed
    n_marks: np.ndarray  # (1,) int64


def new_changes(n_listed, n_lost, n_rows):
    """Return memory for changes; what is not written takes none."""
    one = np.zeros(1, np.int64)
    lists = np.empty(n_listed), np.empty(n_lost, np.int32), np.empty(n_lost)
    return Changes(*lists, one, np.zeros(n_rows, np.int64), one.copy())


class PooledPruning(NamedTuple):
    """The arguments of the kernels, with the names of ``case_lists.Pruning`` where these read them."""

    trees: object
    cells: object
    lines: np.ndarray
    cases: object
    changes: Changes
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


def new_pooled_state(m, n_classes, *, has_costs):
    """Return the state of m nodes before pruning."""
    counts = np.zeros((m, n_classes))
    return PooledState(
        is_leaf=np.zeros(m, bool),
        final=np.arange(m),
        counts=counts,
        counted=counts.copy() if has_costs else counts,
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
        known=np.zeros(m),
        lost_start=np.zeros(m, np.int64),
        lost_stop=np.zeros(m, np.int64),
        lost_mark=np.zeros(m, np.int64),
        trial=np.zeros((m, 3), np.int64),
    )


def new_pooled_scratch(m, n_classes):
    """Return the memory for a tree of m nodes."""
    whole = np.zeros((3, m + 1), np.int64)
    return PooledScratch(np.zeros(m), whole[0], whole[1], np.zeros(n_classes), np.zeros((m, n_classes)), whole[2])


@inline
def weight_in(counts):
    """Return the weight of all classes."""
    total = 0.0
    for k in range(len(counts)):
        total += counts[k]
    return total


@inline
def weigh(cases, counted, sums):
    """Write what classes weigh whose cases count so much."""
    for k in range(len(sums)):
        sums[k] = counted[k] * cases.dearer[k] if len(cases.dearer) > 0 else counted[k]


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
