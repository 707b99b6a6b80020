"""Searches with their memory and their kernels: over columns of 0 and 1, and over ordered columns."""

from __future__ import annotations

import contextlib
import copy
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.optimal.bits.job import FEW_GROUPS, bit_helper, bit_job, bit_kernels
from dtnumba.growth.optimal.bits.search import take_ahead
from dtnumba.growth.optimal.columns import rows_alike
from dtnumba.growth.optimal.crew import MOST_HELPERS, help_out, share_out
from dtnumba.growth.optimal.known_sets import KNOWN_BYTES
from dtnumba.growth.optimal.losses.labels import ManyErrors
from dtnumba.growth.optimal.ordered.job import n_ways, sorted_helper, sorted_job, sorted_kernels
from dtnumba.growth.optimal.ordered.two_levels import R_SIZE
from dtnumba.growth.optimal.rule import ALL_TESTS, ENDED, GO_ON, S_BEST, S_BOUND
from dtnumba.runtime.addresses import are_compiled, call_entry, code_for, compile_entries, entry_of
from dtnumba.runtime.kernels import COMPILED
from dtnumba.runtime.notice import NOTICE
from dtnumba.runtime.side_by_side import is_rehearsal
from dtnumba.runtime.threads.board import close

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.growth.optimal.columns import OrderedColumn
    from dtnumba.growth.optimal.greedy import Tree
    from dtnumba.growth.optimal.objectives import Objective
    from dtnumba.growth.optimal.rule import TreeRule
    from dtnumba.runtime.addresses import Code

_MANY_PLACES, _PLACES, _FEW_PLACES = 1 << 22, 1 << 18, 1 << 12  # of sets of rows that are remembered
_FEWEST_SETS = 64  # that a search may look at
_SCRATCH = 1 << 17  # bytes, whatever the table
_NOTHING = np.zeros(0)
MUCH = 1 << 60


_SOON, _LATER = 0.03, 1.0  # seconds of a search after which others help: where what they need is compiled, or is not


class Engine:
    """A search, and what both kinds share."""

    n_columns: int
    depth: int
    job: Any
    state: Any
    code: Code
    explored_at: Any
    steps: int  # about how many a set of rows takes
    make_job: Callable[[], Any]
    kernels: Callable[[Any], Any]
    tree: Callable[[], Tree]  # that was found
    helper_of: Callable[[Any], Any]  # the job as a thread that helps has it
    sharing: Any  # the kernel that works with them
    slots: int  # of workers, in the memory of a job, behind so many others
    helpers: int  # threads that may come
    is_running = ended = has_begun = False

    def prepare(self) -> None:
        """Make the memory of a search."""
        self.job = self.make_job()
        self.is_over, self.twins = threading.Event(), list[Engine]()
        self.has_called = False

    def compile(self) -> None:
        """Compile what the search needs."""
        codes = self.kernels(self.job)
        compile_entries(codes)
        self.job = self.job._replace(two_at=entry_of(codes[0]))
        self.code = codes[1]._replace(record=self.job)
        memory = self.job.frames if hasattr(self.job, "frames") else self.job.levels
        self.state, self.explored_at = memory.state, memory.explored

    def close(self) -> None:
        """Let go of all who help; nothing is searched for after this."""
        self.is_over.set()
        close(self.job.crew.board)
        for twin in self.twins:
            twin.close()

    def call_helpers(self) -> None:
        """Let other threads come, once the search has taken long enough."""
        if self.has_called or self.depth <= 2 or self.helpers == 0 or not COMPILED or is_rehearsal():
            return
        self.has_called = True
        with contextlib.suppress(RuntimeError):  # the system has no more threads
            for k in range(self.helpers):
                threading.Thread(target=self._help, args=(self.slots + k,), name="dtnumba", daemon=True).start()

    def _help(self, slot: int) -> None:
        if self.is_over.wait(_SOON):
            return
        codes = code_for(self.sharing, self.job), code_for(help_out, self.job)
        if not are_compiled(codes) and self.is_over.wait(_LATER - _SOON):
            return
        job = self.helper_of(self.job)
        with NOTICE.unheeded():  # the search goes on meanwhile
            share_at, _ = (entry_of(code) for code in codes)
        if not self.is_over.is_set():
            with np.errstate(over="ignore"):
                self.job.crew.share_at[0] = share_at
                call_entry(codes[1]._replace(record=job), slot, 0, 0)

    def twin(self) -> Engine:
        """Return the same search with memory of its own, beside this one, which may go on where it ended early."""
        other = copy.copy(self)
        other.prepare()
        self.twins.append(other)
        return other

    def search(self, upper: int, budget: int, steps: int, is_main: bool = True) -> None:
        """Look for a tree that loses less than ``upper``; ``Monitor`` says besides whether the main thread waits.

        A search of all trees that has ended early goes on.
        """
        self.state[0, S_BEST] = MUCH
        if budget == ALL_TESTS and self.has_begun and self.depth > 2:
            budget = GO_ON
        self.has_begun = budget >= ALL_TESTS
        sets = int(self.explored_at[0]) + max(_FEWEST_SETS, steps // self.steps)
        self.call_helpers()
        self.is_running = True
        with np.errstate(over="ignore"):  # names of sets
            self.ended = call_entry(self.code, upper, budget, sets) == ENDED
        self.is_running = False

    def loss_so_far(self) -> int:
        """Return what the best tree of the search loses, while it runs or after."""
        return int(self.state[0, S_BEST])

    def bound(self, upper: int) -> int:
        """Return what every tree loses at least, of a search of all trees that was halted."""
        return min(upper, int(self.state[0, S_BOUND])) if self.depth > 2 else 0


class BitEngine(Engine):
    """The search over columns of 0 and 1."""

    def __init__(
        self, columns: list[OrderedColumn], goal: Objective, rule: TreeRule, memory: int, workers: int = 1
    ) -> None:
        levels, n_cuts = max(rule.depth, 2), sum(column.last_code for column in columns)
        left = demand_memory(memory, len(goal.values), n_cuts, len(goal.values) * n_cuts * (16 + 2 * levels) // 8)
        self.tests = [(j, c) for j, column in enumerate(columns) for c in range(column.last_code)]
        bits: NDArray[Any] = np.stack([columns[j].codes > c for j, c in self.tests]).view(np.uint8)
        ones, n = np.count_nonzero(bits, axis=1), bits.shape[1]
        kept = np.flatnonzero((ones >= rule.least) & (n - ones >= rule.least))
        self.tests = [self.tests[k] for k in kept]
        values, worst, groups = goal.values, _NOTHING, None
        counts = values.max(axis=1)
        if (np.count_nonzero(values, axis=1) <= 1).all() and (values >= 0).all():
            group, which, count = _grouped(values.argmax(axis=1), counts)
            if len(which) <= FEW_GROUPS:
                groups = group, which, count
                if rule.least == 1 and len(goal.worst):
                    worst = np.zeros(len(which), np.int64)
                    worst[group] = goal.worst
        if groups is None and rule.least == 1:
            bits, values, _, _ = _merged(bits, values, np.zeros(0, np.int64), None)
        self.n_columns, self.depth, self.slots, self.helper_of = len(kept), rule.depth, levels + 1, bit_helper
        self.helpers, left = _affordable(workers, left, 2 * len(kept) * (8 * values.shape[1] + 32) + len(values) // 2)
        places = _FEW_PLACES
        if rule.depth > 3:  # each place takes 32 bytes
            places = 1 << max(8, min(left // 4 // 32, _PLACES if rule.depth == 4 else _MANY_PLACES).bit_length() - 1)
        self.steps = max(1, len(kept) ** 2 * bits.shape[1] // 64)
        self.kernels, self.sharing = bit_kernels, take_ahead
        self.make_job = lambda: bit_job(bits[kept], groups, values, goal.loss, rule, worst, places, self.helpers)
        self.prepare()

    def tree(self) -> Tree:
        """Return the tree that was found."""
        best = self.job.frames.best[0].tolist()
        return {place: self.tests[k] for place, k in enumerate(best) if k >= 0}


class SortedEngine(Engine):
    """The search over ordered columns."""

    def __init__(
        self, columns: list[OrderedColumn], goal: Objective, rule: TreeRule, memory: int, workers: int = 1
    ) -> None:
        levels, ways = max(rule.depth, 2), n_ways(rule)
        cells = 2 * len(goal.values) * len(columns)  # a twin may search beside
        left = demand_memory(
            memory, len(goal.values), len(columns), cells * (16 * levels + 8 * R_SIZE * (levels - 2) * ways + 8)
        )
        codes = np.stack([column.codes for column in columns]).astype(np.int32, copy=False)
        values, worst, labels = goal.values, goal.worst, goal.labels
        if rule.least == 1:
            codes, values, worst, labels = _merged(codes, values, worst, labels)
        self.n_columns, self.depth, self.slots, self.helper_of = len(columns), rule.depth, levels, sorted_helper
        each = len(codes[0]) * (32 * len(columns) + 256 + 40 * values.shape[1])
        self.helpers, left = _affordable(workers, left, each + codes.shape[1] * 256 * isinstance(goal.loss, ManyErrors))
        self.steps = 2 * len(columns) ** 2 * codes.shape[1]
        self.kernels, self.sharing = sorted_kernels, share_out
        known = min(left // 4, KNOWN_BYTES)
        self.make_job = lambda: sorted_job(codes, values, goal.loss, rule, worst, labels, known, self.helpers)
        self.prepare()

    def tree(self) -> Tree:
        """Return the tree that was found."""
        best = self.job.levels.best[0].tolist()
        return {place: (f, code) for place, (f, code) in enumerate(best) if f >= 0}


def demand_memory(memory: int, n_rows: int, n_tests: int, needed: int) -> int:
    """Return how many bytes are left beside what a search needs; raise ValueError where they are too few."""
    needed += _SCRATCH
    if needed > memory:
        raise ValueError(
            f"max_bytes={memory}: {n_rows} rows and {n_tests} columns or cuts need {needed}; allow more, or pass a "
            "smaller max_depth or thresholds=10"
        )
    return memory - needed


def _affordable(workers: int, memory: int, each: int) -> tuple[int, int]:
    """Return how many threads may help, and what memory they leave: half of it at least. A twin has its own."""
    helpers = max(0, min(workers - 1, MOST_HELPERS, memory // 2 // (2 * each + 1)))
    return helpers, memory - helpers * 2 * each


def _grouped(
    which: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return which rows are of the same sum and count: the number of each row's group, and both of each group."""
    kinds, kind = counts[:1], np.zeros_like(counts)
    if (counts != counts[0]).any():
        kinds, kind = np.unique(counts, return_inverse=True)
    names = which * len(kinds) + kind
    present = np.bincount(names) > 0
    found = np.flatnonzero(present)
    return (np.cumsum(present) - 1)[names], found // len(kinds), kinds[found % len(kinds)]


def _merged(
    codes: NDArray[Any], values: NDArray[np.int64], worst: NDArray[np.int64], labels: NDArray[np.int64] | None
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None]:
    """Add up rows that no test parts; where they have labels, those of one label."""
    keys = codes.T if labels is None else np.column_stack([codes.T, labels.astype(codes.dtype)])
    first, inverse = rows_alike(keys)
    if len(first) == len(keys):
        return codes, values, worst, labels
    sums = np.zeros((len(first), values.shape[1]), np.int64)
    np.add.at(sums, inverse, values)
    if len(worst):
        # A label that is wrong for one row is right for another, but no more than all can be lost.
        total = np.zeros(len(first), np.int64)
        np.add.at(total, inverse, worst)
        worst = total
    return np.ascontiguousarray(codes[:, first]), sums, worst, None if labels is None else labels[first]
