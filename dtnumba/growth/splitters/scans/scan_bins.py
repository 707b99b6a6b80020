# mypy: ignore-errors
"""Walk the cuts of histograms at one node and keep the best: ``scan_rows`` for rows, this file for bins.

Features are walked in the order they were drawn in. Where the largest gain wins, one bar is carried through all of
them: a later cut has to exceed it, so ties fall to the feature drawn first, and only the winner's gain is worked out.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, TIE
from dtnumba.growth.splitters.candidates import all_are_legal, bar_above, is_legal, record_cut
from dtnumba.growth.splitters.scans.scan_packed_bins import GROUP, has_packed_bins, may_round, scan_packed_bins
from dtnumba.growth.targets.contract import (
    bin_sums,
    clear_bin,
    holds_rows,
    keep,
    rest,
    rows_in,
    split_score,
    take,
    zero,
)
from dtnumba.runtime.instructions.bits import lowest_bit, nonzero_among_64
from dtnumba.runtime.instructions.vector_compare import above_among_8, at_least_among_8, largest_of
from dtnumba.runtime.kernels import COMPILED, by_having, inline

_ONE, _TWO, _THREE, _FOUR, _SIX = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4), np.uint64(6)
_BLOCK = np.uint64(8)  # scores that a vector holds
_63, _ALL = np.uint64(63), ~np.uint64(0)
# What stands beside a bin's code in Work.codes: missing rows go left; the feature's last bin, after which no cut is;
# the feature has missing rows; and the feature's place in the draw.
_CODE, _LEFT, _END, _MISSING = np.uint64(511), np.uint64(1 << 9), np.uint64(1 << 10), np.uint64(1 << 11)
_PLACE = np.uint64(12)
# From so many rows on, summing up all bins is faster than looking for those that hold rows.
DENSE_ROWS = 128


class Tables(NamedTuple):
    """Histograms of a node, and how they stand."""

    hist: np.ndarray
    base: int  # the first bin of all
    width: int  # numbers a bin
    clears: bool  # the tables stand end to end in the order of the draw, and are emptied; else by feature
    masks: np.ndarray  # (4 a table,) uint64: bins that hold rows, where these are marked


@inline
def occupied_among_64(hist, base, width, masks, slot, word, n_codes):
    """Return which of 64 bins hold rows: those marked, or, where a bin is one number, those that are not zero."""
    if width != 1:
        return masks[(np.uint64(slot) << _TWO) + word]
    mask = nonzero_among_64(hist, np.uint64(base) + (word << _SIX))
    last = np.uint64(n_codes)  # what lies beyond is another feature's
    return mask & (_ALL >> (_63 - (last & _63))) if word == last >> _SIX else mask


@inline
def _scan_one_by_one(target, splitter, tables, first, last, n, job, scratch, total):
    """Score the cuts of features[first:last] at a node of n rows, bin by bin; return how many features vary."""
    criterion, limits, varying, hist, masks, clears = (
        job.criterion,
        job.limits,
        0,
        tables.hist,
        tables.masks,
        tables.clears,
    )
    features, work, out, base = scratch.features, scratch.work, scratch.candidates, tables.base
    width, stride = np.uint64(tables.width), np.uint64(splitter.n_bins * tables.width)
    bar, scale, best_n, best_feature = NO_GAIN, 0.0, np.int64(0), np.int64(-1)
    best_left, best_code, best_after, best_side = zero(target, work.best), np.int64(0), np.int64(0), np.int64(0)
    counts, least, best_missing = limits.min_samples_leaf > 1, limits.min_samples_leaf, False
    for i in range(first, last):
        f = features[i]
        out.gain[f] = NO_GAIN
        table = np.uint64(base) + np.uint64(i - first if clears else f) * stride
        missing = np.uint64(splitter.n_codes[f])
        has_missing = np.int64(holds_rows(target, hist, table + missing * width, width))
        n_cuts = 0
        for side in range(has_missing + 1):
            left, n_left, before, is_last = zero(target, work.left), np.int64(0), np.int64(-1), side == has_missing
            if side == 1:
                left = take(target, left, hist, table + missing * width)
                n_left = rows_in(target, hist, table + missing * width, width)
            for word in range((missing >> _SIX) + _ONE):
                mask = occupied_among_64(hist, table, width, masks, i - first, word, missing)
                while mask != 0:
                    code = (word << _SIX) + np.uint64(lowest_bit(mask))
                    mask &= mask - _ONE
                    at = table + code * width
                    if side == 0 or code != missing:
                        if before >= 0:  # a cut between two occupied bins; before the missing one all values go left
                            n_cuts += 1
                            right = rest(target, total, left, work.right)
                            score = split_score(target, criterion, left, right, work)
                            if (
                                score > bar
                                and (not counts or least <= n_left <= n - least)
                                and is_legal(target, limits, f, left, right)
                            ):
                                scale = max(scale, abs(score))
                                best_feature, best_code, best_after = f, before, np.int64(code)
                                best_side, best_missing, best_n = np.int64(side), has_missing > 0, n_left
                                bar, best_left = bar_above(score, scale), keep(target, left, work.best)
                        left = take(target, left, hist, at)
                        if counts:
                            n_left += rows_in(target, hist, at, width)
                        before = np.int64(code)
                    if clears and is_last:
                        clear_bin(target, hist, at, width)
        varying += n_cuts > 0
        forget_marks(masks, i - first)
    if best_feature >= 0:
        split = (best_n, best_code, best_after, best_side, best_missing)
        record_cut(target, splitter, job, total, work, out, best_feature, best_left, split)
    return varying


@inline
def _scan_at_once(target, splitter, tables, first, last, n, job, scratch, total):
    """Score the cuts of features whose statistics are a few numbers: sum up all bins, then score all cuts.

    So the loop over the bins holds little else, and LLVM scores eight cuts at once. Returns how many features vary.
    """
    if tables.width == 1 and has_packed_bins(target) and (n >= DENSE_ROWS or may_round(job, total)):
        return scan_packed_bins(target, splitter, tables, first, last, n, job, scratch, total)
    hist, masks, clears, base, width = tables.hist, tables.masks, tables.clears, tables.base, tables.width
    features, work, out = scratch.features, scratch.work, scratch.candidates
    criterion, limits, least, varying = job.criterion, job.limits, job.limits.min_samples_leaf, 0
    width, stride = np.uint64(width), np.uint64(splitter.n_bins * width)
    sums, codes, scores = work.sums, work.codes, work.scores
    bar, scale, best_code, best_after, best_n = NO_GAIN, 0.0, np.uint64(0), np.int64(-1), np.int64(0)
    best_left = zero(target, work.best)
    for group in range(first, last, GROUP):
        m = np.uint64(0)
        for i in range(group, min(group + GROUP, last)):
            f = features[i]
            out.gain[f] = NO_GAIN
            table = np.uint64(base) + np.uint64(i - first if clears else f) * stride
            missing = np.uint64(splitter.n_codes[f])
            missing_at, n_words = table + missing * width, (missing >> _SIX) + _ONE
            has_missing = holds_rows(target, hist, missing_at, width)
            place = (np.uint64(i) << _PLACE) | (_MISSING if has_missing else np.uint64(0))
            for side in range(np.int64(has_missing) + 1):
                begin, empties, skipped = m, clears and side == has_missing, _ALL
                a = b = c = d = e = np.int64(0)
                if side == 1:  # missing rows go left
                    a, b, c, d, e = _add(hist, missing_at, width, a, b, c, d, e)
                    skipped, place = ~(_ONE << (missing & _63)), place | _LEFT
                    if clears:
                        clear_bin(target, hist, missing_at, width)
                for word in range(n_words):
                    mask = occupied_among_64(hist, table, width, masks, i - first, word, missing)
                    if word == n_words - _ONE:
                        mask &= skipped
                    while mask != 0:
                        code = (word << _SIX) + np.uint64(lowest_bit(mask))
                        mask &= mask - _ONE
                        at = table + code * width
                        a, b, c, d, e = _add(hist, at, width, a, b, c, d, e)
                        sums[0, m], codes[m] = a, place | code
                        if width > 1:
                            sums[1, m] = b
                        if width > 2:
                            sums[2, m], sums[3, m], sums[4, m] = c, d, e
                        m += _ONE
                        if empties:
                            clear_bin(target, hist, at, width)
                codes[m - _ONE] |= _END
                varying += side == 0 and m - begin > _ONE
            if width != 1:
                forget_marks(masks, i - first)
        # A multiple of what a vector holds: the rest would be scored one by one.
        for k in range(m, m + _BLOCK):
            codes[k] = _END
        end = (m + _BLOCK - _ONE) & ~(_BLOCK - _ONE)
        for k in range(end):
            # Behind a feature's last bin there is no cut. A branch would cost the vectors; interpreted, it would divide
            # by zero.
            if COMPILED or (codes[k] & _END) == 0:
                left = bin_sums(target, sums, k)
                score = split_score(target, criterion, left, rest(target, total, left, work.right), work)
                scores[k] = score if (codes[k] & _END) == 0 else NO_GAIN
            else:
                scores[k] = NO_GAIN
        above, block = np.uint64(0), np.uint64(0)
        if bar == NO_GAIN and all_are_legal(limits):
            block, above, end, scale = _find_largest(scores, end)
        while above != 0 or block < end:
            if above == 0:  # eight scores at a time are held against the bar: most are below
                above, block = above_among_8(scores, block, bar), block + _BLOCK
                continue
            k = block - _BLOCK + np.uint64(lowest_bit(above))
            above &= above - _ONE
            if scores[k] > bar:
                left = bin_sums(target, sums, k)
                n_left = rows_in(target, sums[:, k], np.uint64(0), width) if least > 1 else np.int64(0)
                f, right = features[codes[k] >> _PLACE], rest(target, total, left, work.right)
                if (least <= 1 or least <= n_left <= n - least) and is_legal(target, limits, f, left, right):
                    scale = max(scale, abs(scores[k]))
                    best_code, best_left, best_n, bar = codes[k], left, n_left, bar_above(scores[k], scale)
                    best_after = np.int64(codes[k + _ONE] & _CODE)
    if best_after >= 0:
        f, has_missing, goes_left = features[best_code >> _PLACE], best_code & _MISSING, best_code & _LEFT
        code = np.int64(best_code & _CODE)
        split = (best_n, code, best_after, np.int64(goes_left != 0), has_missing != 0)
        record_cut(target, splitter, job, total, work, out, f, best_left, split)
    return varying


@inline
def _find_largest(scores, end):
    """Return a block of eight scores, a mask of the largest in it, where the search ends, and what it starts from.

    Of the scores that nearly are the largest the first one is found at once: where it is the largest, none before keeps
    it out, and none behind exceeds it. Every larger score on the way there cost a branch that was mispredicted.
    """
    largest, first = largest_of(scores, np.uint64(0), end), np.uint64(0)
    if largest == NO_GAIN:
        return end, np.uint64(0), end, 0.0
    while not scores[first] > NO_GAIN:
        first += _ONE
    size = abs(scores[first])
    slack, found, block = 2.0 * TIE * max(size, abs(largest)), np.uint64(0), np.uint64(0)
    if slack < np.inf:
        while found == 0:
            found, block = at_least_among_8(scores, block, largest - slack), block + _BLOCK
        if scores[block - _BLOCK + np.uint64(lowest_bit(found))] == largest:
            return block, found, block, size
    return np.uint64(0), np.uint64(0), end, 0.0


@inline
def _add(hist, at, width, a, b, c, d, e):
    """Add the numbers of a bin, at most five."""
    a += hist[at]
    if width > 1:
        b += hist[at + _ONE]
    if width > 2:
        c += hist[at + _TWO]
    if width > 3:
        d += hist[at + _THREE]
    if width > 4:
        e += hist[at + _FOUR]
    return a, b, c, d, e


@inline
def forget_marks(masks, slot):
    """Unmark the bins of a table."""
    for word in range(_FOUR):
        masks[(np.uint64(slot) << _TWO) + word] = np.uint64(0)


scan_bins = by_having("bin_sums", _scan_at_once, _scan_one_by_one)
