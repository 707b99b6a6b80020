# mypy: ignore-errors
# ruff: noqa: D102
"""Which rules of a class to keep: those whose description, with that of their exceptions, is shortest (C4.5rules).

Up to ten rules all subsets are tried, each one flip away from the one before (Gray code). Of more, eleven climbs start
from a random subset, with each rule in it with probability 0, 0.1, ... 1, and flip the rule that shortens most until
none does. What a flip changes is kept up to date for all rules: a row matters when its count of rules passes between
none, one and two.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dtnumba.criteria.special_functions import log_gamma
from dtnumba.runtime import rng
from dtnumba.runtime.kernels import inline
from dtnumba.runtime.progress import launch_heeding
from dtnumba.runtime.rng import mix, uniform
from dtnumba.runtime.tasks import each_item

MOST_FOR_ALL = 10
N_CLIMBS = 11
_STEPS_A_ROW = 50  # about how often a choice looks at a row of a rule
_GAIN = 1e-9  # bits that a flip must save
_CERTAIN = 1e6  # bits of what was held impossible


class Covers(NamedTuple):
    """Which rows each rule covers, and which rules cover each row; rules sorted by class."""

    first: np.ndarray  # (classes + 1,) int64: rules of each class
    row_start: np.ndarray  # (r + 1,) int64
    row: np.ndarray  # int32
    rule_start: np.ndarray  # (classes, n + 1) int64: of the rules of one class
    rule: np.ndarray  # int32, counted within the class
    weight: np.ndarray  # (n,) float64
    code: np.ndarray  # (n,) int64: class
    size: np.ndarray  # (classes,) float64: weight of each class
    total: float


class State(NamedTuple):
    """Scratch of one worker that looks for a subset."""

    count: np.ndarray  # (n,) int32: rules of the subset that cover a row
    inside: np.ndarray  # (most,) uint8: whether a rule is in the subset
    right: np.ndarray  # (most,) float64: weight of the class that a flip changes
    wrong: np.ndarray  # (most,) float64: of other classes
    best: np.ndarray  # (most,) uint8
    sums: np.ndarray  # (4,) float64: of the subset, weight of its class and of others, bits of its rules, their number


@inline
def _bits(n, errors, expected):
    """Return the bits that say which of n are errors, when so many are expected."""
    if expected <= 1e-6:
        return 0.0 if errors <= 1e-6 else _CERTAIN
    if expected >= n - 1e-6:
        return 0.0 if errors >= n - 1e-6 else _CERTAIN
    rate = expected / n
    return -errors * math.log2(rate) - (n - errors) * math.log2(1.0 - rate)


@inline
def subset_exception_bits(total, fires, wrong, missed):
    """Return the bits that say which rows a subset gets wrong: covers and should not, or should and does not."""
    if fires > 0.5 * total:
        both = _bits(fires, wrong, 0.5 * (wrong + missed)) + _bits(total - fires, missed, missed)
    else:
        both = _bits(fires, wrong, wrong) + _bits(total - fires, missed, 0.5 * (wrong + missed))
    return math.log2(total) + both


@each_item
class SelectRules(NamedTuple):
    """A task: the best subset of each class, a class or a climb of it at a time."""

    covers: Covers
    bits: np.ndarray  # (r,) float64: of each rule
    log_factorial: np.ndarray  # (r + 1,) float64, base 2
    job_class: np.ndarray  # (jobs,) int64
    job_climb: np.ndarray  # (jobs,) int64: its number; -1 for all subsets
    key: np.ndarray  # (jobs,) uint64: of the draws
    job_start: np.ndarray  # (jobs + 1,) int64
    value: np.ndarray  # (jobs,) float64 out
    chosen: np.ndarray  # uint8 out: whether each rule of the job's class is in
    count: np.ndarray  # (workers, n) scratch, and so on: see State
    inside: np.ndarray
    right: np.ndarray
    wrong: np.ndarray
    best: np.ndarray
    sums: np.ndarray
    halt: np.ndarray  # (1,) int64: not 0 where the work is to stop, and nothing of it will be used
    counter: np.ndarray

    def n_items(self):
        return len(self.job_class)

    def do_item(self, job, worker):
        w = worker
        state = State(self.count[w], self.inside[w], self.right[w], self.wrong[w], self.best[w], self.sums[w])
        self.value[job] = _search(self, job, state)
        for r in range(self.job_start[job + 1] - self.job_start[job]):
            self.chosen[self.job_start[job] + r] = state.best[r]


@inline
def _flip(covers, k, r, state):
    """Put rule r of class k into the subset, or take it out, and correct what other flips would change."""
    adds, first = state.inside[r] == 0, covers.first[k]
    for i in range(covers.row_start[first + r], covers.row_start[first + r + 1]):
        row = covers.row[i]
        before = state.count[row]
        state.count[row] = before + 1 if adds else before - 1
        low = before if adds else before - 1
        if low > 1:
            continue
        # Rows that go from none to one rule, or back, matter to the rules outside; from one to two, to the one inside.
        w = covers.weight[row] if adds else -covers.weight[row]
        for j in range(covers.rule_start[k, row], covers.rule_start[k, row + 1]):
            s = covers.rule[j]
            if s != r and state.inside[s] == low:
                if covers.code[row] == k:
                    state.right[s] -= w
                else:
                    state.wrong[s] -= w
    state.inside[r] = 1 if adds else 0
    _recount(covers, k, r, state)


@inline
def _recount(covers, k, r, state):
    """Write the weight, of its class and of others, that flipping rule r would change."""
    right = wrong = 0.0
    alone, first = np.int64(state.inside[r]), covers.first[k]
    for i in range(covers.row_start[first + r], covers.row_start[first + r + 1]):
        row = covers.row[i]
        if state.count[row] == alone:
            if covers.code[row] == k:
                right += covers.weight[row]
            else:
                wrong += covers.weight[row]
    state.right[r], state.wrong[r] = right, wrong


@inline
def _length_with(task, k, r, state):
    """Return the bits of the subset and its exceptions after flipping rule r; as it is where r is -1."""
    covers, sums = task.covers, state.sums
    right, wrong, bits, n_inside = sums[0], sums[1], sums[2], np.int64(sums[3])
    if r >= 0:
        sign = 1.0 - 2.0 * state.inside[r]
        right += sign * state.right[r]
        wrong += sign * state.wrong[r]
        bits += sign * task.bits[covers.first[k] + r]
        n_inside += np.int64(sign)
    exceptions = subset_exception_bits(covers.total, right + wrong, wrong, covers.size[k] - right)
    return 0.5 * (bits - task.log_factorial[n_inside]) + exceptions


@inline
def _take_flip(task, k, r, state):
    """Flip rule r, and update the sums of the subset."""
    sign = 1.0 - 2.0 * state.inside[r]
    state.sums[0] += sign * state.right[r]
    state.sums[1] += sign * state.wrong[r]
    state.sums[2] += sign * task.bits[task.covers.first[k] + r]
    state.sums[3] += sign
    _flip(task.covers, k, r, state)


@inline
def _try_all(task, k, n, state):
    """Return the least length over all subsets; the best one is in ``state.best``."""
    shortest = _length_with(task, k, -1, state)
    for step in range(1, 1 << n):
        r = 0
        while (step >> r) & 1 == 0:
            r += 1
        _take_flip(task, k, r, state)
        now = _length_with(task, k, -1, state)
        if now < shortest - _GAIN:
            shortest = now
            for s in range(n):
                state.best[s] = state.inside[s]
    return shortest


@inline
def _climb(task, k, n, state, key, chance):
    """Return the length after flips from a random subset, each that shortens most; the result is in ``state.best``."""
    for r in range(n):
        if task.halt[0] == 0 and uniform(mix(key, r)) < chance:
            _take_flip(task, k, r, state)
    now, flip = _length_with(task, k, -1, state), np.int64(0)
    while flip >= 0 and task.halt[0] == 0:
        least, flip = now - _GAIN, np.int64(-1)
        for r in range(n):
            then = _length_with(task, k, r, state)
            if then < least:
                least, flip = then, r
        if flip >= 0:
            _take_flip(task, k, flip, state)
            now = least
    for r in range(n):
        state.best[r] = state.inside[r]
    return now


@inline
def _search(task, job, state):
    """Return the length in bits of the best subset of a job, which is in ``state.best`` then."""
    covers, k, climb = task.covers, task.job_class[job], task.job_climb[job]
    first = covers.first[k]
    n = covers.first[k + 1] - first
    for i in range(covers.row_start[first], covers.row_start[first + n]):
        state.count[covers.row[i]] = 0
    state.sums[:] = 0.0
    for r in range(n):
        state.inside[r], state.best[r] = 0, 0
    if task.halt[0] != 0:
        return 0.0
    for r in range(n):
        _recount(covers, k, r, state)
    if climb < 0:
        return _try_all(task, k, n, state)
    return _climb(task, k, n, state, task.key[job], climb / (N_CLIMBS - 1.0))


def covers_of(covered: list[np.ndarray], label: np.ndarray, codes: np.ndarray, weight: np.ndarray, k: int) -> Covers:
    """Return Covers of rules sorted by class, of which each covers these rows."""
    n = len(codes)
    first = np.searchsorted(label, np.arange(k + 1)).astype(np.int64)
    row_start = np.cumsum([0, *map(len, covered)]).astype(np.int64)
    row = np.concatenate([np.zeros(0, np.int64), *covered])
    rule = np.repeat(np.arange(len(label)), np.diff(row_start))
    own = label[rule] if len(rule) else rule
    by_row = np.lexsort((rule, row, own))
    key = own * n + row
    rule_start = np.searchsorted(key[by_row], np.arange(k)[:, None] * n + np.arange(n + 1)).astype(np.int64)
    inner = (rule - first[own])[by_row].astype(np.int32) if len(rule) else np.zeros(0, np.int32)
    size = np.bincount(codes, weights=weight, minlength=k).astype(np.float64)
    rows, classes = row.astype(np.int32), codes.astype(np.int64)
    return Covers(first, row_start, rows, rule_start, inner, weight, classes, size, float(size.sum()))


def shortest_subsets(covers: Covers, bits: np.ndarray, seed: int, workers: int) -> np.ndarray:
    """Return which rules to keep, a bool for each."""
    n_classes, n = len(covers.size), len(bits)
    sizes = np.diff(covers.first)
    ways = {k: range(N_CLIMBS) if sizes[k] > MOST_FOR_ALL else [-1] for k in range(n_classes) if sizes[k]}
    jobs = [(k, climb) for k, climbs in ways.items() for climb in climbs]
    if not jobs:
        return np.zeros(n, bool)
    job_class, job_climb = (np.array(column, np.int64) for column in zip(*jobs, strict=True))
    key = rng.mix_all(rng.mix_all(rng.stream(seed, rng.SUBSETS), job_class), job_climb.clip(0))
    job_start = np.concatenate([[0], np.cumsum(sizes[job_class])]).astype(np.int64)
    log_factorial = log_gamma(np.arange(n + 1) + 1.0) / math.log(2.0)
    value, chosen = np.empty(len(jobs)), np.zeros(job_start[-1], np.uint8)
    threads, most = min(workers, len(jobs)), int(sizes.max())
    scratch: list[Any] = [np.zeros((threads, len(covers.weight)), np.int32), np.zeros((threads, most), np.uint8)]
    scratch += [np.zeros((threads, most)), np.zeros((threads, most)), np.zeros((threads, most), np.uint8)]
    halt = np.zeros(1, np.int64)
    scratch += [np.zeros((threads, 4)), halt, np.zeros(1, np.int64)]
    task = SelectRules(covers, bits, log_factorial, job_class, job_climb, key, job_start, value, chosen, *scratch)
    launch_heeding(task, threads, _STEPS_A_ROW * len(jobs) * len(covers.row), halt)
    kept = np.zeros(n, bool)
    for k in range(n_classes):
        own = np.flatnonzero(job_class == k)
        if len(own):
            best = own[value[own].argmin()]
            kept[covers.first[k] : covers.first[k + 1]] = chosen[job_start[best] : job_start[best + 1]]
    return kept
