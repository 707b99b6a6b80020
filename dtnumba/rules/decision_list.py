# mypy: ignore-errors
"""Greedy k-decision lists (Rivest 1987): the term that answers most rows without an error comes next.

A term is an "and" of at most k tests of different columns. Each value of a row is kept as the number of its pair: the
group of values between two cuts, or of one level, and the class of the row. A pass over some rows that adds up pairs
tells what every test of a column covers, class by class, however many levels there are; nothing is as large as rows
times tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.rules.term_tests import column_tests
from dtnumba.runtime.kernels import inline, kernel
from dtnumba.runtime.progress import run_heeding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.rules.layout import Condition
    from dtnumba.rules.simplify import Sample
    from dtnumba.rules.term_tests import ColumnTests


class Terms(NamedTuple):
    """Rows and tests, and room for a search.

    The tests of a term cover fewer and fewer rows: ``rows[d]`` are those that the first d tests cover.
    """

    pair: np.ndarray  # (p, n) int32: of each value, counted within the column; one more where it is missing
    pair_class: np.ndarray  # int64: of the pairs of all columns; those of a group lie together
    group_start: np.ndarray  # int64: first pair of each group, and their number, a column after another
    first_pair: np.ndarray  # (p + 1,) int64: of each column, in pair_class
    first_group: np.ndarray  # (p + 1,) int64: of each column, in group_start
    first_test: np.ndarray  # (p + 1,) int64: of each column
    is_category: np.ndarray  # (p,) uint8
    code: np.ndarray  # (n,) int32: class
    weight: np.ndarray  # (n,) float64, or empty where every row counts one
    least: float  # weight that a term must cover
    rows: np.ndarray  # (most + 1, n) int32, ascending
    n_rows: np.ndarray  # (most + 1,) int64
    bound: np.ndarray  # (most - 1, t) float64 scratch: what terms that begin so may score; below zero: nothing
    pair_sum: np.ndarray  # float64 scratch: weight of each pair of a column
    sums: np.ndarray  # (2, classes) float64 scratch
    chosen: np.ndarray  # (most,) int64 scratch
    best: np.ndarray  # (most,) int64 out: tests of the best term, -1 after the last
    score: np.ndarray  # (2,) float64 out: of the best term, and its size
    halt: np.ndarray  # (1,) int64: not 0 where the work is to stop, and nothing of it will be used


@inline
def _judge(terms, pure, depth, t, total, largest):
    """Note a term that ends with test t, and what longer ones may score, by the weight that it covers."""
    size, score, bound, best = depth + 1, 0.0, -1.0, terms.score
    if total >= terms.least:
        if pure:
            is_pure = largest == total
            score = total if is_pure else 0.0
            bound = 0.0 if is_pure else largest
        else:
            n_classes = terms.sums.shape[1]
            score = (largest + 1.0) / (total + n_classes)
            bound = (largest + 1.0) / (largest + n_classes)
    if score > best[0] or (score == best[0] and score > 0.0 and size < best[1]):
        best[0], best[1] = score, size
        for i in range(len(terms.best)):
            terms.best[i] = terms.chosen[i] if i < depth else -1
        terms.best[depth] = t
    if size < len(terms.best):
        terms.bound[depth, t] = bound


@inline
def _leave_out(terms, depth, t):
    """Note that terms with test t at this depth, or with the next one, are not better than earlier ones."""
    if depth + 1 < len(terms.best):
        terms.bound[depth, t] = terms.bound[depth, t + 1] = -1.0


@inline
def _largest(sums):
    """Return the first class of the largest sum."""
    k = 0
    for other in range(1, len(sums)):
        if sums[other] > sums[k]:
            k = other
    return k


@inline
def _add_up(terms, depth, j):
    """Add up the pairs of a column over the rows under a prefix, and their classes; return the weight of all."""
    pair_sum, pair, n = terms.pair_sum, terms.pair[j], terms.n_rows[depth]
    n_pairs = terms.first_pair[j + 1] - terms.first_pair[j]
    for q in range(n_pairs + 1):
        pair_sum[q] = 0.0
    if len(terms.weight) == 0:
        for i in range(n):
            pair_sum[pair[terms.rows[depth, i]]] += 1.0
    else:
        for i in range(n):
            row = terms.rows[depth, i]
            pair_sum[pair[row]] += terms.weight[row]
    all_of = terms.sums[0]
    for k in range(len(all_of)):
        all_of[k] = 0.0
    total = 0.0
    for q in range(n_pairs):
        all_of[terms.pair_class[terms.first_pair[j] + q]] += pair_sum[q]
        total += pair_sum[q]
    return total


@inline
def _judge_levels(terms, pure, depth, j, total):
    """Judge the terms that end with a test of a category."""
    pair_sum, rest = terms.pair_sum, terms.sums[0]
    top = _largest(rest)
    second, has_empty = 0.0, False
    for k in range(len(rest)):
        if k != top:
            second = max(second, rest[k])
    for g in range(terms.first_group[j], terms.first_group[j + 1] - 1):
        own, most = 0.0, 0.0
        for q in range(terms.group_start[g], terms.group_start[g + 1]):
            own += pair_sum[q]
            most = max(most, pair_sum[q])
            rest[terms.pair_class[terms.first_pair[j] + q]] -= pair_sum[q]
        t = terms.first_test[j] + 2 * (g - terms.first_group[j])
        if own == 0.0 and has_empty:  # the other values are all there are, as with the first such group
            _leave_out(terms, depth, t)
            continue
        has_empty |= own == 0.0
        _judge(terms, pure, depth, t, own, most)
        # The commonest of the others is looked for only where the group holds many of the commonest of all.
        _judge(terms, pure, depth, t + 1, total - own, rest[top] if rest[top] >= second else rest[_largest(rest)])
        for q in range(terms.group_start[g], terms.group_start[g + 1]):
            rest[terms.pair_class[terms.first_pair[j] + q]] += pair_sum[q]


@inline
def _judge_cuts(terms, pure, depth, j, total):
    """Judge the terms that end with a test of a number."""
    pair_sum, right, left = terms.pair_sum, terms.sums[0], terms.sums[1]
    for k in range(len(left)):
        left[k] = 0.0
    most_left, most_right, n_left = 0.0, _largest(right), 0.0
    for g in range(terms.first_group[j], terms.first_group[j + 1] - 2):
        for q in range(terms.group_start[g], terms.group_start[g + 1]):
            k = terms.pair_class[terms.first_pair[j] + q]
            n_left += pair_sum[q]
            left[k] += pair_sum[q]
            right[k] -= pair_sum[q]
            most_left = max(most_left, left[k])
            if k == most_right:
                most_right = _largest(right)
        t = terms.first_test[j] + 2 * (g - terms.first_group[j])
        _judge(terms, pure, depth, t, n_left, most_left)
        _judge(terms, pure, depth, t + 1, total - n_left, right[most_right])


@inline
def _judge_all(terms, pure, depth, column):
    """Judge the terms that end with a test of a column from this one on, and begin with the prefix."""
    for j in range(column, len(terms.is_category)):
        total = _add_up(terms, depth, j)
        if terms.is_category[j]:
            _judge_levels(terms, pure, depth, j, total)
        else:
            _judge_cuts(terms, pure, depth, j, total)


@inline
def _column_of(terms, t):
    j = np.int64(0)
    while terms.first_test[j + 1] <= t:
        j += 1
    return j


@inline
def _narrow(terms, t, depth):
    """Write the rows of this depth that pass a test to the next one; return how many there are."""
    j = _column_of(terms, t)
    group, is_first = terms.first_group[j] + (t - terms.first_test[j]) // 2, (t - terms.first_test[j]) % 2 == 0
    low = terms.group_start[group] if terms.is_category[j] else np.int64(0)
    high, n_pairs = terms.group_start[group + 1], terms.first_pair[j + 1] - terms.first_pair[j]
    pair, rows, own, n = terms.pair[j], terms.rows[depth], terms.rows[depth + 1], 0
    for i in range(terms.n_rows[depth]):
        q = np.int64(pair[rows[i]])
        own[n] = rows[i]
        # Without a branch: it would be guessed wrong for every other row.
        n += np.int64(((low <= q) & (q < high)) == is_first) & np.int64(q < n_pairs)
    return n


@inline
def _search(terms, pure):
    """Look for the best term; write its tests, its score and its size.

    With ``pure`` a term must cover one class only, and the score is the weight it covers; else it is Laplace's estimate
    of how often it is right. Of equal ones the shortest wins, then the one whose tests come first.
    """
    most, n_tests = len(terms.chosen), terms.first_test[-1]
    terms.score[0], terms.score[1] = 0.0, most + 1.0
    for i in range(most):
        terms.best[i] = -1
    depth, column, is_new = np.int64(0), np.int64(0), True
    while depth >= 0 and terms.halt[0] == 0:
        if is_new:
            _judge_all(terms, pure, depth, column)
            terms.chosen[depth] = terms.first_test[column] - 1 if depth + 1 < most else n_tests
            is_new = False
        terms.chosen[depth] += 1
        t = terms.chosen[depth]
        if t >= n_tests:
            depth -= 1
            continue
        bound, size, j = terms.bound[depth, t], depth + 1.0, _column_of(terms, t)
        may_win = bound > terms.score[0] or (bound == terms.score[0] and size + 1.0 < terms.score[1])
        if bound < 0.0 or not may_win or j + 1 == len(terms.is_category):
            continue
        terms.n_rows[depth + 1] = _narrow(terms, t, depth)
        depth, column, is_new = depth + 1, j + 1, True


@inline
def _count_classes(terms, depth):
    """Write the weight of each class among the rows under a prefix to ``sums[0]``."""
    counts = terms.sums[0]
    for k in range(len(counts)):
        counts[k] = 0.0
    for i in range(terms.n_rows[depth]):
        row = terms.rows[depth, i]
        counts[terms.code[row]] += 1.0 if len(terms.weight) == 0 else terms.weight[row]


@inline
def _take_covered(terms):
    """Take the rows that the best term covers from those left; return at which depth they are."""
    depth = np.int64(0)
    while depth < len(terms.best) and terms.best[depth] >= 0:
        terms.n_rows[depth + 1] = _narrow(terms, terms.best[depth], depth)
        depth += 1
    left, covered = 0, 0
    for i in range(terms.n_rows[0]):
        row = terms.rows[0, i]
        if covered < terms.n_rows[depth] and terms.rows[depth, covered] == row:
            covered += 1
        else:
            terms.rows[0, left] = row
            left += 1
    terms.n_rows[0] = left
    return depth


@kernel
def next_term(terms):
    """Look for the next term, and take what it covers from the rows left; return whether there is one.

    Its tests are in ``best``, the weight of each class that it covers in ``sums[0]``; where there is none, the weight
    that is left.
    """
    counts = terms.sums[0]
    for attempt in range(3):
        _count_classes(terms, np.int64(0))
        total, n_there = 0.0, 0
        for k in range(len(counts)):
            total += counts[k]
            n_there += 1 if counts[k] > 0.0 else 0
        if n_there < 2:
            return False
        if attempt == 1 and terms.score[0] > 0.0:
            break
        if attempt == 2 and terms.score[0] <= (counts[_largest(counts)] + 1.0) / (total + len(counts)):
            return False
        if attempt < 2:
            _search(terms, attempt == 0)
    _count_classes(terms, _take_covered(terms))
    return True


def terms_of(sample: Sample, tests: list[ColumnTests], most: int, least: float) -> Terms:
    """Return the rows of positive weight and the tests, and room for a search."""
    table, n_classes = sample.table, sample.n_classes
    kept: Any = slice(None) if sample.weight is None else np.flatnonzero(sample.weight)
    code = sample.code[kept].astype(np.int32)
    n = len(code)
    weight = np.zeros(0) if sample.weight is None else sample.weight[kept].astype(np.float64)
    pair = np.empty((len(tests), n), np.int32)
    classes, group_starts = [], []
    for j, own in enumerate(tests):
        pair[j], found = _pairs(table.column(own.feature)[kept], own, code, n_classes)
        classes.append(found % n_classes)
        group_starts.append(np.searchsorted(found, np.arange(own.n_groups + 1) * n_classes))
    rows = np.empty((most + 1, n), np.int32)
    rows[0] = np.arange(n)
    n_tests = np.cumsum([0, *(own.n_tests for own in tests)]).astype(np.int64)
    return Terms(
        pair,
        np.concatenate(classes),
        np.concatenate(group_starts).astype(np.int64),
        np.cumsum([0, *map(len, classes)]).astype(np.int64),
        np.cumsum([0, *map(len, group_starts)]).astype(np.int64),
        n_tests,
        np.array([own.n_levels > 0 for own in tests], np.uint8),
        code,
        np.zeros(0) if (weight == 1.0).all() else weight,
        least,
        rows,
        np.full(most + 1, n, np.int64),
        np.zeros((most - 1, n_tests[-1])),
        np.zeros(max(map(len, classes)) + 1),
        np.zeros((2, n_classes)),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.zeros(2),
        np.zeros(1, np.int64),
    )


def _pairs(
    values: NDArray[np.float64], tests: ColumnTests, code: NDArray[np.int32], n_classes: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the number of each value's pair, and the pairs as group times classes plus class, ascending."""
    is_there = ~np.isnan(values)
    n_rows, kind = len(values), np.int32 if tests.n_groups * n_classes < 2**31 else np.int64
    values = values if is_there.all() else values[is_there]
    of_group = tests.groups(values).astype(kind, copy=False)
    of_group *= n_classes
    of_group += code[is_there]
    if tests.n_groups * n_classes <= 4 * n_rows:
        is_met = np.zeros(tests.n_groups * n_classes, bool)
        is_met[of_group] = True
        found, own = np.flatnonzero(is_met), (np.cumsum(is_met, dtype=np.int32) - 1)[of_group]
    else:
        found, own = np.unique(of_group, return_inverse=True)
    pair = np.full(n_rows, len(found), np.int32)
    pair[is_there] = own.reshape(-1)
    return pair, found.astype(np.int64)


def _found_next(terms: Terms) -> bool:
    """Look for the next term; Ctrl-C is heard meanwhile."""
    n_prefixes = int(terms.first_test[-1]) if len(terms.chosen) > 1 else 1
    found: list[bool] = []
    size = int(terms.n_rows[0]) * len(terms.is_category) * n_prefixes
    run_heeding(lambda _: found.append(next_term(terms)), size, terms.halt)
    return found[0]


class GreedyList(NamedTuple):
    """The terms of a decision list, and what each answers."""

    bodies: list[list[Condition]]
    label: NDArray[np.int64]
    default: int  # class of the rows that no term covers
    decided: NDArray[np.float64]  # (terms + 1, classes) weight of the rows that each answers; the default's last


def greedy_list(sample: Sample, most: int, least: float) -> GreedyList:
    """Return a decision list.

    The next term covers the most rows without an error. Where none covers ``least``, it is the one of the best Laplace
    estimate, as long as that is better than the estimate of the commonest class among the rows left.
    """
    whole, is_there = sample.rows.sizes, sample.rows.weight > 0
    tests = column_tests(sample.table, is_there, most)
    terms = terms_of(sample, tests, most, least)
    bodies: list[list[Condition]] = []
    decided: list[NDArray[np.float64]] = []
    while _found_next(terms):
        ends = [(int(t), int(np.searchsorted(terms.first_test, t, side="right")) - 1) for t in terms.best if t >= 0]
        bodies.append([tests[j].condition(t - int(terms.first_test[j])) for t, j in ends])
        decided.append(terms.sums[0].copy())
    rest = terms.sums[0].copy()
    answered = np.array([*decided, rest])
    default = int((rest if rest.any() else whole).argmax())
    return GreedyList(bodies, answered[:-1].argmax(axis=1), default, answered)
