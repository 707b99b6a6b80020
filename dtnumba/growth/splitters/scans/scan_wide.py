# mypy: ignore-errors
"""Walk the cuts of one feature at a node where classes are very many: a row that moves changes one of them.

The classes that the node has rows of are numbered from 0, in ascending order, and what lies on both sides is kept by
these numbers. A criterion whose score is made of terms (see ``criteria``) costs two terms a side and row, whatever the
number of classes; sums of terms are integers, so the order of the rows changes no bit. Other criteria see the classes
of the node at every cut, or all, where absent ones count.

``Work.seen`` holds weights of both sides and of the node; ``Work.own`` the number of each class, the classes
present, and a bit a class. Nothing there outlives a call.
"""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, by_terms, gain_of, ignores_absent, information_of, score_of
from dtnumba.criteria.whole_terms import scale_of_terms, score_of_wholes, sum_of_terms, terms_moved
from dtnumba.growth.splitters import candidates as cand
from dtnumba.growth.splitters.candidates import bar_above, varies
from dtnumba.growth.targets.contract import store, zero
from dtnumba.runtime.instructions.bits import lowest_bit
from dtnumba.runtime.kernels import inline
from dtnumba.tables.presort import MISSING, NEW, ROW

# Rows of Work.own and of Work.seen
_PLACE, _PRESENT, _MARKS = 0, 1, 2
_BOTH, _LEFT, _RIGHT = 0, 1, 2
_ONE, _31 = np.int64(1), np.int64(31)


@inline
def scan_wide(target, sequence, start, stop, node_start, feature, job, scratch, total):
    """Find the best cut of rows that stand in the order of a feature, as ``scan_order`` does."""
    criterion, limits, work, out = job.criterion, job.limits, scratch.work, scratch.candidates
    out.gain[feature] = NO_GAIN
    end = stop
    while end > start and sequence[end - 1] & MISSING:
        end -= 1
    n_missing, n, least = stop - end, stop - start, limits.min_samples_leaf
    if end == start or (n_missing == 0 and not varies(sequence, start, end)):
        return cand.CONSTANT
    k = _number_classes(target, criterion, sequence, start, stop, total, work)
    weight = 0.0
    for j in range(k):
        weight += work.seen[_BOTH, j]
    scale = scale_of_terms(criterion, weight, k)
    bar, size, best_i, best_side = NO_GAIN, 0.0, np.int64(-1), 0
    for side in range(2 if n_missing > 0 else 1):
        before = n_missing * side
        # A cut after record i leaves i + 1 - start + before rows on the left; only these may be legal.
        first = start + max(least - before - 1, 0)
        last = min(start + n - least - before, end if n_missing > 0 and side == 0 else end - 1)
        span = (start, first, last, end, stop if side == 1 else end)
        found, bar, size = _sweep(target, job, sequence, span, work, k, scale, bar, size)
        if found >= 0:
            best_i, best_side = found, side
    if best_i < 0:
        return cand.BARREN
    after = np.int64(sequence[best_i + 1] & ROW) if best_i + 1 < end else np.int64(cand.NOTHING)
    where = (best_i + 1 - start + n_missing * best_side, np.int64(sequence[best_i] & ROW), after)
    _record(target, job, sequence, (start, best_i + 1, end, stop), best_side, feature, scratch, k, where)
    return cand.FOUND


@inline
def _number_classes(target, criterion, sequence, start, stop, total, work):
    """Number the classes that a criterion is shown, and write the weight of each; return how many these are."""
    places, present, marks, n = work.own[_PLACE], work.own[_PRESENT], work.own[_MARKS], np.int64(len(total))
    k = np.int64(0)
    if not ignores_absent(criterion):
        for c in range(n):
            places[c] = present[c] = c
        k = n
    else:
        for word in range((n + _31) >> np.int64(5)):
            marks[word] = 0
        for i in range(start, stop):
            c = np.int64(target.label[sequence[i] & ROW])
            marks[c >> np.int64(5)] |= _ONE << (c & _31)
        for word in range((n + _31) >> np.int64(5)):
            mask = np.uint64(marks[word])
            while mask != 0:
                c = (word << np.int64(5)) + np.int64(lowest_bit(mask))
                mask &= mask - np.uint64(1)
                places[c], present[k] = k, c
                k += 1
    for j in range(k):
        work.seen[_BOTH, j] = float(total[present[j]]) * target.unit
    return k


def _score_terms(criterion, scale, k, seen, terms, weights):
    return score_of_wholes(criterion, scale, terms[0], terms[1], weights[0], weights[1])


def _score_classes(criterion, scale, k, seen, terms, weights):
    return score_of(criterion, seen[_LEFT, :k], seen[_RIGHT, :k], weights[0], weights[1])


_score = by_terms(_score_terms, _score_classes)


@inline
def _sweep(target, job, sequence, span, work, k, scale, bar, size):
    """Score the legal cuts of records as they come; return the best one, or -1, and what it set.

    Those from ``end`` to ``missing`` lie on the left before all others.
    """
    criterion, limits = job.criterion, job.limits
    start, first, last, end, missing = span
    seen, places, best = work.seen, work.own[_PLACE], np.int64(-1)
    weight_left = weight_right = 0.0
    for j in range(k):
        seen[_LEFT, j], seen[_RIGHT, j] = 0.0, seen[_BOTH, j]
        weight_right += seen[_BOTH, j]
    terms_left, terms_right = np.int64(0), sum_of_terms(criterion, scale, seen[_BOTH], k)
    for turn in range(2):
        for i in range(end if turn == 0 else start, missing if turn == 0 else max(last, start)):
            row = sequence[i] & ROW
            j, weight = places[target.label[row]], float(target.weights[row]) * target.unit
            left, right = seen[_LEFT, j], seen[_RIGHT, j]
            to_left, to_right = terms_moved(criterion, scale, left, right, weight)
            terms_left, terms_right = terms_left + to_left, terms_right + to_right
            seen[_LEFT, j], seen[_RIGHT, j] = left + weight, right - weight
            weight_left, weight_right = weight_left + weight, weight_right - weight
            if turn == 1 and i >= first and (i == end - 1 or sequence[i + 1] & NEW):
                is_heavy = weight_left >= limits.min_weight_leaf and weight_right >= limits.min_weight_leaf
                weights = (weight_left, weight_right)
                score = _score(criterion, scale, k, seen, (terms_left, terms_right), weights)
                if score > bar and is_heavy:
                    size = max(size, abs(score))
                    best, bar = np.int64(i), bar_above(score, size)
    return best, bar, size


@inline
def _record(target, job, sequence, parts, side, feature, scratch, k, where):
    """Write the best cut among the candidates: records [start, border), and those from ``end`` on if ``side`` is 1."""
    start, border, end, stop = parts
    work, out = scratch.work, scratch.candidates
    seen, places, criterion = work.seen, work.own[_PLACE], job.criterion
    weight_left = weight_right = 0.0
    for j in range(k):
        seen[_LEFT, j] = 0.0
    for turn in range(2):
        for i in range(start if turn == 0 else end, border if turn == 0 else stop if side == 1 else end):
            row = sequence[i] & ROW
            seen[_LEFT, places[target.label[row]]] += float(target.weights[row]) * target.unit
    for j in range(k):
        seen[_RIGHT, j] = seen[_BOTH, j] - seen[_LEFT, j]
        weight_left, weight_right = weight_left + seen[_LEFT, j], weight_right + seen[_RIGHT, j]
    gain = gain_of(criterion, seen[_BOTH, :k], (seen[_LEFT, :k], seen[_RIGHT, :k]), (weight_left, weight_right))
    share = weight_left / (weight_left + weight_right)
    out.gain[feature] = NO_GAIN if gain != gain else gain
    out.information[feature] = information_of(criterion, share) + information_of(criterion, 1.0 - share)
    missing_left = np.int64(side) if end < stop else np.int64(weight_left > weight_right)
    out.where[feature, 0], out.where[feature, 1], out.where[feature, 2] = where[0], where[1], where[2]
    out.where[feature, 3] = missing_left
    if out.sums.shape[1] == len(work.left):  # for a test of significance
        left = zero(target, work.left)
        for j in range(k):
            left[work.own[_PRESENT, j]] = np.int64(seen[_LEFT, j] / target.unit)
        store(target, left, out.sums[feature])
