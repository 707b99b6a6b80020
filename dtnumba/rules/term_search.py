# mypy: ignore-errors
"""The best term of the rows that are left: its tests, one of a column each, and what it covers, class by class.

Terms are tried test by test, as long as a longer one may be better. Where many tests of a column may begin the best
term, one pass over the rows says for all of them what a second test covers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dtnumba.runtime.instructions.bits import largest
from dtnumba.runtime.kernels import inline, kernel, outlined

_FEW_TESTS = 2  # whose rows are looked up test by test; more are judged in one pass over the rows


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
    pair_group: np.ndarray  # int32: of the pairs of all columns, counted within the column
    end: np.ndarray  # int64 scratch: last row of each group, and one more
    pair_sum: np.ndarray  # float64 scratch: weight of each pair of a column
    all_sum: np.ndarray  # likewise, of all groups of another column
    part_sum: np.ndarray  # likewise, of some of them
    sums: np.ndarray  # (2, classes) float64 scratch
    chosen: np.ndarray  # (most,) int64 scratch
    best: np.ndarray  # (most,) int64 out: tests of the best term, -1 after the last
    score: np.ndarray  # (2,) float64 out: of the best term, and its size
    halt: np.ndarray  # (1,) int64: not 0 where the work is to stop, and nothing of it will be used


@inline
def _is_before(terms, depth, t):
    """Tell whether a term that ends with test t is shorter than the best one, or as long with tests that come first."""
    size = depth + 1.0
    for d in range(depth + 1):
        own = terms.chosen[d] if d < depth else t
        if size == terms.score[1] and own != terms.best[d]:
            return own < terms.best[d]
    return size < terms.score[1]


@inline
def _may_win(terms, depth, t):
    """Tell whether a longer term that begins with the prefix and test t may be better than the best one."""
    bound, size, is_after = terms.bound[depth, t], depth + 2.0, False
    if size == terms.score[1]:
        for d in range(depth + 1):
            own = terms.chosen[d] if d < depth else t
            if own != terms.best[d]:
                is_after = own > terms.best[d]
                break
    return bound > terms.score[0] or (
        bound == terms.score[0] and bound >= 0.0 and size <= terms.score[1] and not is_after
    )


@inline
def _judge(terms, pure, depth, t, total, most):
    """Note a term that ends with test t, and what longer ones may score, by the weight that it covers."""
    size, score, bound, best = depth + 1, 0.0, -1.0, terms.score
    if total >= terms.least:
        if pure:
            is_pure = most == total
            score = total if is_pure else 0.0
            bound = 0.0 if is_pure else most
        else:
            n_classes = terms.sums.shape[1]
            score = (most + 1.0) / (total + n_classes)
            bound = (most + 1.0) / (most + n_classes)
    if score > best[0] or (score == best[0] and score > 0.0 and _is_before(terms, depth, t)):
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
def _add_pairs(terms, j, rows, start, stop, sums):
    """Add up the pairs of a column over some rows; the last sum is that of missing values."""
    pair = terms.pair[j]
    if len(terms.weight) == 0:
        for i in range(start, stop):
            sums[pair[rows[i]]] += 1.0
    else:
        for i in range(start, stop):
            sums[pair[rows[i]]] += terms.weight[rows[i]]


@inline
def _n_pairs(terms, j):
    return terms.first_pair[j + 1] - terms.first_pair[j]


@inline
def _clear(sums, n):
    for q in range(n):
        sums[q] = 0.0


@inline
def _add_classes(terms, j):
    """Add up the classes of the pairs of a column; return the weight of all."""
    pair_sum, all_of, n_pairs = terms.pair_sum, terms.sums[0], _n_pairs(terms, j)
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
    top = largest(rest)
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
        _judge(terms, pure, depth, t + 1, total - own, rest[top] if rest[top] >= second else rest[largest(rest)])
        for q in range(terms.group_start[g], terms.group_start[g + 1]):
            rest[terms.pair_class[terms.first_pair[j] + q]] += pair_sum[q]


@inline
def _judge_cuts(terms, pure, depth, j, total):
    """Judge the terms that end with a test of a number."""
    pair_sum, right, left = terms.pair_sum, terms.sums[0], terms.sums[1]
    for k in range(len(left)):
        left[k] = 0.0
    most_left, most_right, n_left = 0.0, largest(right), 0.0
    for g in range(terms.first_group[j], terms.first_group[j + 1] - 2):
        for q in range(terms.group_start[g], terms.group_start[g + 1]):
            k = terms.pair_class[terms.first_pair[j] + q]
            n_left += pair_sum[q]
            left[k] += pair_sum[q]
            right[k] -= pair_sum[q]
            most_left = max(most_left, left[k])
            if k == most_right:
                most_right = largest(right)
        t = terms.first_test[j] + 2 * (g - terms.first_group[j])
        _judge(terms, pure, depth, t, n_left, most_left)
        _judge(terms, pure, depth, t + 1, total - n_left, right[most_right])


@outlined
def _judge_column(terms, pure, depth, j):
    """Judge the terms that begin with the prefix and end with a test of a column whose pairs are added up."""
    total = _add_classes(terms, j)
    if terms.is_category[j]:
        _judge_levels(terms, pure, depth, j, total)
    else:
        _judge_cuts(terms, pure, depth, j, total)


@inline
def _judge_all(terms, pure, depth, column):
    """Judge the terms that end with a test of a column from this one on, and begin with the prefix."""
    for j in range(column, len(terms.is_category)):
        _clear(terms.pair_sum, _n_pairs(terms, j) + 1)
        _add_pairs(terms, j, terms.rows[depth], np.int64(0), terms.n_rows[depth], terms.pair_sum)
        _judge_column(terms, pure, depth, j)


@inline
def _sort_by_group(terms, depth, j):
    """Write the rows under a prefix in the order of their groups of a column, and where each group ends."""
    end, pair, rows, own = terms.end, terms.pair[j], terms.rows[depth], terms.rows[depth + 1]
    n_groups, n_pairs = terms.first_group[j + 1] - terms.first_group[j] - 1, _n_pairs(terms, j)
    for g in range(n_groups + 1):
        end[g] = 0
    for i in range(terms.n_rows[depth]):
        if pair[rows[i]] < n_pairs:
            end[terms.pair_group[terms.first_pair[j] + pair[rows[i]]] + 1] += 1
    for g in range(n_groups):
        end[g + 1] += end[g]
    # Where each group begins, moved on by each of its rows to where it ends
    for i in range(terms.n_rows[depth]):
        if pair[rows[i]] < n_pairs:
            g = terms.pair_group[terms.first_pair[j] + pair[rows[i]]]
            own[end[g]] = rows[i]
            end[g] += 1


@inline
def _judge_two(terms, pure, depth, j):
    """Judge the terms that end with two more tests, the first of them of this column.

    What the second covers, of all groups of the first one, is added up in one pass: under "not this level" it is what
    all rows have less those of the level, and under a cut it is what those before had and those of one group more.
    """
    _sort_by_group(terms, depth, j)
    rows, n_groups = terms.rows[depth + 1], terms.first_group[j + 1] - terms.first_group[j] - 1
    n_present, n_tests = terms.end[n_groups - 1], (terms.first_test[j + 1] - terms.first_test[j]) // 2
    for other in range(j + 1, len(terms.is_category)):
        n_pairs = _n_pairs(terms, other)
        _clear(terms.all_sum, n_pairs + 1)
        _clear(terms.part_sum, n_pairs + 1)
        _add_pairs(terms, other, rows, np.int64(0), n_present, terms.all_sum)
        start = np.int64(0)
        for g in range(n_tests):
            t, stop = terms.first_test[j] + 2 * g, terms.end[g]
            if terms.is_category[j] and g > 0:
                _clear(terms.part_sum, n_pairs + 1)
            _add_pairs(terms, other, rows, start, stop, terms.part_sum)
            start = stop
            for side in range(2):
                if _may_win(terms, depth, t + side):
                    for q in range(n_pairs):
                        part = terms.part_sum[q]
                        terms.pair_sum[q] = part if side == 0 else terms.all_sum[q] - part
                    terms.chosen[depth] = t + side
                    _judge_column(terms, pure, depth + 1, other)


@inline
def _judge_many(terms, pure, depth, column):
    """Judge the terms that end with two more tests where a column from this one on has many tests to begin with."""
    for j in range(column, len(terms.is_category) - 1):
        n_left = 0
        for t in range(terms.first_test[j], terms.first_test[j + 1]):
            n_left += 1 if _may_win(terms, depth, t) else 0
        if n_left > _FEW_TESTS:
            _judge_two(terms, pure, depth, j)
            for t in range(terms.first_test[j], terms.first_test[j + 1]):
                terms.bound[depth, t] = -1.0


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
            if depth + 2 == most:
                _judge_many(terms, pure, depth, column)
            terms.chosen[depth] = terms.first_test[column] - 1 if depth + 1 < most else n_tests
            is_new = False
        terms.chosen[depth] += 1
        t = terms.chosen[depth]
        if t >= n_tests:
            depth -= 1
            continue
        j = _column_of(terms, t)
        if j + 1 == len(terms.is_category) or not _may_win(terms, depth, t):
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
        if attempt == 2 and terms.score[0] <= (counts[largest(counts)] + 1.0) / (total + len(counts)):
            return False
        if attempt < 2:
            _search(terms, attempt == 0)
    _count_classes(terms, _take_covered(terms))
    return True
