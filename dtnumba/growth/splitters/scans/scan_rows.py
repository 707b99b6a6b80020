# mypy: ignore-errors
"""Walk the cuts of one feature at one node and keep the best: the loop everything else exists to feed.

``scan_order`` walks rows in the order of the feature; histograms have a file of their own, ``scan_bins``. Both try
missing values on either side where the node has any, respect the smallest legal child, and leave a Candidate row
behind. A feature whose rows all say the same is CONSTANT; one that varies but offers no legal cut is BARREN.
"""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN
from dtnumba.growth.splitters import candidates as cand
from dtnumba.growth.splitters.candidates import bar_above, is_heavier, is_legal, record_split, varies
from dtnumba.growth.splitters.scans.scan_ranked import scan_ranked
from dtnumba.growth.splitters.scans.scan_wide import scan_wide
from dtnumba.growth.targets.contract import add, is_ranked, is_wide, keep, rest, split_score, zero
from dtnumba.runtime.instructions.bits import lowest_bit
from dtnumba.runtime.instructions.vector_compare import above_among_8
from dtnumba.runtime.kernels import COMPILED, by_class, by_having, inline
from dtnumba.tables.presort import MISSING, NEW, ROW

_ONE, _SEVEN, _EIGHT = np.uint64(1), np.uint64(7), np.uint64(8)


@inline
def _one_by_one(target, job, sequence, span, left, total, bar, best_left, work):
    """Score the legal cuts of a span of records as they come; return the best one, or -1, and what it set."""
    start, first, last, close, feature = span
    best_i, scale = np.int64(-1), 0.0 if bar == NO_GAIN else abs(bar)
    # Unsigned positions need no test for negative ones: the loop took 9 ns a row before, and takes 4 so.
    for i in range(start, last):
        left = add(target, left, sequence[i] & ROW)
        if i >= first and (i == close or sequence[i + _ONE] & NEW):
            right = rest(target, total, left, work.right)
            score = split_score(target, job.criterion, left, right, work)
            if score > bar and is_legal(target, job.limits, feature, left, right):
                scale = max(scale, abs(score))
                best_i, bar = np.int64(i), bar_above(score, scale)
                best_left = keep(target, left, work.best)
    return best_i, bar, best_left


@inline
def _many_at_once(target, job, sequence, span, left, total, bar, best_left, work):
    """List the statistics of the cuts of a block of records, so that LLVM scores eight at once; else the same.

    A bit mask then tells which of eight scores exceed the bar: mostly none, and a row takes 2 ns instead of 4.
    """
    start, first, last, close, feature = span
    zeros, ones, scores, places = work.seen[0], work.seen[1], work.seen[2], work.codes
    best_i, scale = np.int64(-1), 0.0 if bar == NO_GAIN else abs(bar)
    block = np.uint64(min(len(scores), len(places))) & ~_SEVEN
    for i in range(start, min(first, last)):
        left = add(target, left, sequence[i] & ROW)
    begin = max(start, first)
    while begin < last:
        stop, m = min(begin + block, last), np.uint64(0)
        for i in range(begin, stop):
            left = add(target, left, sequence[i] & ROW)
            zeros[m], ones[m], places[m] = left[0], left[1], i
            m += np.uint64(sequence[min(i + _ONE, close)] >= NEW) | np.uint64(i == close)
        # A multiple of what a vector holds: the rest would be scored one by one.
        for k in range((m + _SEVEN) & ~_SEVEN if COMPILED else m):
            a = (zeros[k], ones[k])
            scores[k] = split_score(target, job.criterion, a, (total[0] - a[0], total[1] - a[1]), work)
        above, at = np.uint64(0), np.uint64(0)
        while above != 0 or at < m:
            if above == 0:
                above, at = above_among_8(scores, at, bar), at + _EIGHT
                continue
            k = at - _EIGHT + lowest_bit(above)
            above &= above - _ONE
            if k < m and scores[k] > bar:
                a = (zeros[k], ones[k])
                if is_legal(target, job.limits, feature, a, (total[0] - a[0], total[1] - a[1])):
                    scale = max(scale, abs(scores[k]))
                    best_i, bar, best_left = np.int64(places[k]), bar_above(scores[k], scale), a
        begin = stop
    return best_i, bar, best_left


sweep = by_having("block_size", _many_at_once, _one_by_one)


def _scan_sequence(target, sequence, start, stop, node_start, feature, job, scratch, total):
    """Score the cuts of rows that stand in the order of a feature: records [start, stop) of ``sequence``."""
    criterion, limits, work, out = job.criterion, job.limits, scratch.work, scratch.candidates
    out.gain[feature] = NO_GAIN
    end = stop
    while end > start and sequence[end - 1] & MISSING:
        end -= 1
    n_missing = stop - end
    if end == start or (n_missing == 0 and not varies(sequence, start, end)):
        return cand.CONSTANT
    n, least, close = stop - start, limits.min_samples_leaf, np.uint64(end - 1)
    bar, best_i, best_side = NO_GAIN, np.int64(-1), 0
    best_left = zero(target, work.best)
    for side in range(2 if n_missing > 0 else 1):
        left = zero(target, work.left)
        if side == 1:
            for i in range(end, stop):
                left = add(target, left, sequence[i] & ROW)
        before = n_missing * side
        # A cut after record i leaves i + 1 - start + before rows on the left; only these may be legal.
        first = start + max(least - before - 1, 0)
        last = min(start + n - least - before, end if n_missing > 0 and side == 0 else end - 1)
        span = (np.uint64(start), np.uint64(first), np.uint64(max(last, start)), close, feature)
        found, bar, best_left = sweep(target, job, sequence, span, left, total, bar, best_left, work)
        if found >= 0:
            best_i, best_side = found, side
    if best_i < 0:
        return cand.BARREN
    right = rest(target, total, best_left, work.right)
    after = np.int64(sequence[best_i + 1] & ROW) if best_i + 1 < end else np.int64(cand.NOTHING)
    n_left = best_i + 1 - start + n_missing * best_side
    missing_left = best_side if n_missing > 0 else is_heavier(target, best_left, right)
    where = (n_left, np.int64(sequence[best_i] & ROW), after, np.int64(missing_left))
    record_split(out, feature, target, criterion, best_left, right, work, where)
    return cand.FOUND


def _scan_summed(target, sequence, start, stop, node_start, feature, job, scratch, total):
    return _scan_sums(target, sequence, start, stop, node_start, feature, job, scratch, total)


# Targets without sums (absolute_error), and of very many classes, walk the same records in their own way.
_scan_sums = by_class(is_wide, scan_wide, _scan_sequence)
scan_order = by_class(is_ranked, scan_ranked, _scan_summed)
