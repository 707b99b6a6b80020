"""A table to the best tree: columns, loss, search under a time limit, and the Trees of what was found."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.optimal.bit_job import FEW_GROUPS, bit_job, bit_kernels
from dtnumba.growth.optimal.columns import is_binary, n_cuts
from dtnumba.growth.optimal.rule import S_BEST, S_BOUND, TreeRule
from dtnumba.growth.optimal.sorted_job import sorted_job, sorted_kernels
from dtnumba.runtime.addresses import call_entry, compile_entries, entry_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.optimal.columns import OrderedColumn
    from dtnumba.growth.optimal.objectives import Objective
    from dtnumba.runtime.addresses import Code
    from dtnumba.runtime.progress import Monitor

_FEW_CUTS = 400  # up to which all are columns of 0 and 1
_PLACES, _FEW_PLACES = 1 << 18, 1 << 12
_SHALLOW = 4
_NOTHING = np.zeros(0)
_MUCH = 1 << 60


@dataclass
class Found:
    """The best tree of a search, and how good it may be."""

    tree: list[tuple[int, int]]  # column and last code left, heap order, -1 for leaves
    upper: int  # its loss, tests included
    lower: int = 0  # what every tree loses
    explored: int = 0
    history: list[tuple[float, int, int]] = field(default_factory=list)  # seconds, loss, bound

    def note(self, began: float, upper: int, lower: int) -> None:
        """Append to the history what is better than what stands there."""
        before = self.history[-1] if self.history else None
        lower = lower if before is None else max(lower, before[2])
        if before is None or upper < before[1] or lower > before[2]:
            self.history.append((time.perf_counter() - began, upper, lower))


class SearchLimits(NamedTuple):
    """Which trees are allowed, and when the search may end."""

    depth: int
    tests: int
    least: int  # rows of a leaf
    gap: float = 0.0  # how much better another tree may be, as a share
    start: str | None = "greedy"  # look for good trees first; None: do not
    upper: int | None = None  # only trees that lose less are of interest; None: all


def find_tree(columns: list[OrderedColumn], goal: Objective, limits: SearchLimits, monitor: Monitor) -> Found:
    """Look for the best tree until it is proven or the monitor stops the search.

    Its tree is empty where none loses less than ``limits.upper``.
    """
    depth, most, least = limits[:3]
    as_leaf = goal.root
    found = Found([(-1, -1)], as_leaf)
    if limits.upper is not None and as_leaf >= limits.upper:
        found = Found([], limits.upper)
    began = monitor.began
    found.note(began, found.upper, 0)
    rule = TreeRule(depth, min(most, (1 << depth) - 1), least, goal.price, limits.gap, _NOTHING)
    if not columns or depth == 0 or rule.most == 0 or as_leaf <= goal.price:
        found.lower = found.upper
        found.note(began, found.upper, found.upper)
        return found
    is_bits = goal.is_sum and (is_binary(columns) or n_cuts(columns) <= _FEW_CUTS)
    one = _Bits(columns, goal, rule) if is_bits else _Sorted(columns, goal, rule)
    for breadth in one.breadths(limits.start):
        better = found.upper - int(limits.gap * found.upper)
        is_halted = monitor.run_function(
            partial(one.search, better, breadth), one.job.halt, lambda: one.watch(found, began)
        )
        one.take(found)
        if is_halted:
            found.lower = one.bound(found.upper) if breadth > one.n_columns else 0
            break
    else:
        found.lower = found.upper - (int(limits.gap * found.upper) if one.depth > 2 else 0)
    found.explored = int(one.explored_at[0])
    found.note(began, found.upper, found.lower)
    return found


def count_tests(tree: list[tuple[int, int]]) -> int:
    """Return how many tests a tree in heap order has."""
    return sum(column >= 0 for column, _ in tree)


def loss_of_leaves(tree: list[tuple[int, int]], columns: list[OrderedColumn], goal: Objective) -> int:
    """Return what the leaves of a tree in heap order lose, without its tests, where sums say so."""
    lost, waiting = 0, [(0, np.ones(len(goal.values), bool))]
    while waiting:
        k, rows = waiting.pop()
        if k >= len(tree) or tree[k][0] < 0:
            lost += int(type(goal.loss).leaf(goal.loss, goal.values[rows].sum(axis=0)))
            continue
        goes_left = columns[tree[k][0]].codes <= tree[k][1]
        waiting += [(2 * k + 1, rows & goes_left), (2 * k + 2, rows & ~goes_left)]
    return lost


class _Engine:
    """A search, and what both kinds share."""

    n_columns: int
    job: Any
    depth: int
    upper_of: Any

    def breadths(self, start: Any) -> list[int]:
        """Return how many columns to try, search by search; the last one tries all."""
        whole = self.n_columns + 1
        if start is None or self.depth <= 2:
            return [whole]
        if self.depth <= _SHALLOW:
            return [1, 3, whole]
        return [*(1 << k for k in range(self.n_columns.bit_length()) if 1 << k <= self.n_columns), whole]

    def with_kernels(self, kernels: Any) -> None:
        """Compile what the search needs."""
        codes = kernels(self.job)
        compile_entries(codes)
        self.job = self.job._replace(two_at=entry_of(codes[0]))
        self.code = codes[1]._replace(record=self.job)

    def search(self, upper: int, breadth: int, is_main: bool = True) -> None:
        """Look for a tree that loses less than ``upper``; ``Monitor`` says besides whether the main thread waits."""
        self.state[0, S_BEST] = _MUCH
        self.is_running = True
        with np.errstate(over="ignore"):  # names of sets
            call_entry(self.code, upper, breadth, _MUCH)
        self.is_running = False

    def watch(self, found: Found, began: float) -> int:
        """Note what the running search has found so far; return 0, for it says nothing of how much is left."""
        upper = min(found.upper, int(self.state[0, S_BEST]))
        if self.is_running:
            found.note(began, upper, found.lower)
        return 0

    def bound(self, upper: int) -> int:
        """Return what every tree loses at least, of a search of all trees that was halted."""
        return min(upper, int(self.state[0, S_BOUND])) if self.depth > 2 else 0

    state: Any
    code: Code
    explored_at: Any
    is_running = False


class _Bits(_Engine):
    def __init__(self, columns: list[OrderedColumn], goal: Objective, rule: TreeRule) -> None:
        self.tests = [(j, c) for j, column in enumerate(columns) for c in range(column.last_code)]
        bits: NDArray[Any] = np.stack([columns[j].codes > c for j, c in self.tests]).view(np.uint8)
        ones, n = np.count_nonzero(bits, axis=1), bits.shape[1]
        kept = np.flatnonzero((ones >= rule.least) & (n - ones >= rule.least))
        self.tests = [self.tests[k] for k in kept]
        values, worst, groups = goal.values, _NOTHING, None
        counts = values.max(axis=1)
        if (np.count_nonzero(values, axis=1) <= 1).all() and (values >= 0).all():
            pairs, group = np.unique(np.column_stack([values.argmax(axis=1), counts]), axis=0, return_inverse=True)
            if len(pairs) <= FEW_GROUPS:
                groups = group.ravel(), pairs[:, 0], pairs[:, 1]
                if rule.least == 1 and len(goal.worst):
                    worst = np.zeros(len(pairs), np.int64)
                    worst[group.ravel()] = goal.worst
        if groups is None and rule.least == 1:
            bits, values, _, _ = _merged(bits, values, np.zeros(0, np.int64), None)
        self.n_columns, self.depth = len(kept), rule.depth
        places = _PLACES if rule.depth > 3 else _FEW_PLACES
        self.job = bit_job(bits[kept], groups, values, goal.loss, rule, worst, places)
        self.state, self.explored_at = self.job.frames.state, self.job.frames.explored
        self.with_kernels(bit_kernels)

    def take(self, found: Found) -> None:
        upper = int(self.state[0, S_BEST])
        if upper < found.upper:
            found.upper = upper
            found.tree = [self.tests[k] if k >= 0 else (-1, -1) for k in self.job.frames.best[0].tolist()]


class _Sorted(_Engine):
    def __init__(self, columns: list[OrderedColumn], goal: Objective, rule: TreeRule) -> None:
        codes = np.stack([column.codes for column in columns]).astype(np.int32, copy=False)
        values, worst, labels = goal.values, goal.worst, goal.labels
        if rule.least == 1:
            codes, values, worst, labels = _merged(codes, values, worst, labels)
        self.n_columns, self.depth = len(columns), rule.depth
        self.job = sorted_job(codes, values, goal.loss, rule, worst, labels)
        self.state, self.explored_at = self.job.levels.state, self.job.levels.explored
        self.with_kernels(sorted_kernels)

    def take(self, found: Found) -> None:
        upper = int(self.state[0, S_BEST])
        if upper < found.upper:
            found.upper = upper
            found.tree = [(int(f), int(c)) for f, c in self.job.levels.best[0]]


def _merged(
    codes: NDArray[Any], values: NDArray[np.int64], worst: NDArray[np.int64], labels: NDArray[np.int64] | None
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None]:
    """Add up rows that no test parts; where they have labels, those of one label."""
    keys = codes.T if labels is None else np.column_stack([codes.T, labels.astype(codes.dtype)])
    keys = np.ascontiguousarray(keys)
    names = keys.view([("", keys.dtype)] * keys.shape[1]).ravel()
    _, first, inverse = np.unique(names, return_index=True, return_inverse=True)
    if len(first) == len(names):
        return codes, values, worst, labels
    sums = np.zeros((len(first), values.shape[1]), np.int64)
    np.add.at(sums, inverse, values)
    if len(worst):
        # A label that is wrong for one row is right for another, but no more than all can be lost.
        total = np.zeros(len(first), np.int64)
        np.add.at(total, inverse, worst)
        worst = total
    return np.ascontiguousarray(codes[:, first]), sums, worst, None if labels is None else labels[first]
