"""Walk the cuts of one feature at one node and keep the best: the loop everything else exists to feed.

``scan_order`` walks rows in the order of the feature; histograms have a file of their own, ``scan_bins``. Both try
missing values on either side where the node has any, respect the smallest legal child, and leave a Candidate row
behind. A feature whose rows all say the same is CONSTANT; one that varies but offers no legal cut is BARREN.
"""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import COMPILED, above_among_8, by_having, by_type, inline, jitable, lowest_bit
from dtnumba.criteria import NO_GAIN, TIE, information_of
from dtnumba.monotone import in_order, is_free
from dtnumba.targets import add, keep, rest, split_gain, split_score, store, weight_of, zero

CONSTANT, BARREN, FOUND = 0, 1, 2

# Records of a presorted sequence: the row, and what was true of it where it stands.
NEW = np.uint32(1 << 31)  # its value differs from the one before
MISSING = np.uint32(1 << 30)  # it has no value; such records close the sequence
ROW = np.uint32((1 << 30) - 1)
_ONE, _SEVEN, _EIGHT = np.uint64(1), np.uint64(7), np.uint64(8)

# Columns of Candidates.where
LEFT_ROWS, LAST_LEFT, FIRST_RIGHT, MISSING_LEFT = 0, 1, 2, 3
NOTHING = -1  # FIRST_RIGHT where only missing values go right


class Candidates(NamedTuple):
    """The best cut of each feature at the node in hand."""

    gain: np.ndarray  # (p,) float64
    information: np.ndarray  # (p,) float64
    cut: np.ndarray  # (p,) float64: a drawn threshold (random splits only)
    where: np.ndarray  # (p, 4) int64: see the columns above
    sums: np.ndarray  # (p, n_sums) int64: of the rows that go left


class Limits(NamedTuple):
    """When to stop, and how much of the data a node looks at."""

    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float
    min_decrease: float
    total_weight: float
    max_leaves: int
    n_drawn: int  # candidate features a node
    features_key: int  # uint64 streams of random numbers
    cuts_key: int
    test: object  # NoTest, or what a split must pass (see ``split_test``)
    monotone: object  # AnyShape or Monotonic; the last field (see ``grow._narrow``)


@inline
def record_split(out, feature, target, criterion, left, right, work, where):
    """Write the best cut of a feature among the candidates."""
    gain = split_gain(target, criterion, left, right, work)
    if gain != gain:  # a user's criterion that knows no answer here; no comparison with NaN would rule it out later
        gain = NO_GAIN
    weight_left, weight_right = weight_of(target, left), weight_of(target, right)
    share = weight_left / (weight_left + weight_right)
    out.gain[feature] = gain
    out.information[feature] = information_of(criterion, share) + information_of(criterion, 1.0 - share)
    for k in range(4):
        out.where[feature, k] = where[k]
    store(target, left, out.sums[feature])


def _one_by_one(target, criterion, sequence, span, left, total, limits, bar, best_left, work):
    """Score the legal cuts of a span of records as they come; return the best one, or -1, and what it set."""
    start, first, last, close, feature = span
    best_i, scale = np.int64(-1), 0.0 if bar == NO_GAIN else abs(bar)
    # Unsigned positions need no test for negative ones: the loop took 9 ns a row before, and takes 4 so.
    for i in range(start, last):
        left = add(target, left, sequence[i] & ROW)
        if i >= first and (i == close or sequence[i + _ONE] & NEW):
            right = rest(target, total, left, work.right)
            score = split_score(target, criterion, left, right, work)
            if score > bar and is_legal(target, limits, feature, left, right):
                scale = max(scale, abs(score))
                best_i, bar = np.int64(i), bar_above(score, scale)
                best_left = keep(target, left, work.best)
    return best_i, bar, best_left


def _many_at_once(target, criterion, sequence, span, left, total, limits, bar, best_left, work):
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
            scores[k] = split_score(target, criterion, a, (total[0] - a[0], total[1] - a[1]), work)
        above, at = np.uint64(0), np.uint64(0)
        while above != 0 or at < m:
            if above == 0:
                above, at = above_among_8(scores, at, bar), at + _EIGHT
                continue
            k = at - _EIGHT + lowest_bit(above)
            above &= above - _ONE
            if k < m and scores[k] > bar:
                a = (zeros[k], ones[k])
                if is_legal(target, limits, feature, a, (total[0] - a[0], total[1] - a[1])):
                    scale = max(scale, abs(scores[k]))
                    best_i, bar, best_left = np.int64(places[k]), bar_above(scores[k], scale), a
        begin = stop
    return best_i, bar, best_left


jitable(_one_by_one)
jitable(_many_at_once)


sweep = by_having("block_size", _many_at_once, _one_by_one)


def _scan_sequence(target, sequence, start, stop, node_start, feature, criterion, limits, total, work, out):
    """Score the cuts of rows that stand in the order of a feature: records [start, stop) of ``sequence``."""
    out.gain[feature] = NO_GAIN
    end = stop
    while end > start and sequence[end - 1] & MISSING:
        end -= 1
    n_missing = stop - end
    if end == start or (n_missing == 0 and not varies(sequence, start, end)):
        return CONSTANT
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
        found, bar, best_left = sweep(target, criterion, sequence, span, left, total, limits, bar, best_left, work)
        if found >= 0:
            best_i, best_side = found, side
    if best_i < 0:
        return BARREN
    right = rest(target, total, best_left, work.right)
    after = np.int64(sequence[best_i + 1] & ROW) if best_i + 1 < end else np.int64(NOTHING)
    n_left = best_i + 1 - start + n_missing * best_side
    missing_left = best_side if n_missing > 0 else is_heavier(target, best_left, right)
    where = (n_left, np.int64(sequence[best_i] & ROW), after, np.int64(missing_left))
    record_split(out, feature, target, criterion, best_left, right, work, where)
    return FOUND


# Targets without sums (absolute_error) walk the same records in their own way.
scan_order = by_type("scan_order", _scan_sequence)


@inline
def bar_above(score, scale):
    """Return what a later cut must exceed: nearly equal scores are a tie, and the first cut keeps it.

    So a criterion written with another rounding grows the same tree. ``scale`` is the size of the largest score so far:
    what weights and targets are measured in must not matter, and the score of a perfect split may be all rounding.
    """
    return score + TIE * scale


@inline
def varies(sequence, start, end):
    """Tell whether records [start, end) of a sequence hold more than one value."""
    for i in range(start + 1, end):
        if sequence[i] & NEW:
            return True
    return False


@inline
def is_heavier(target, left, right):
    """Where a node has no missing value, later ones go to the heavier child."""
    return np.int64(weight_of(target, left) > weight_of(target, right))


@inline
def heavy_enough(target, left, right, least):
    """Tell whether both children have the least weight of a leaf."""
    return least <= 0.0 or (weight_of(target, left) >= least and weight_of(target, right) >= least)


@inline
def all_are_legal(limits):
    """Tell whether every cut that parts the rows of a node is legal."""
    return limits.min_samples_leaf <= 1 and limits.min_weight_leaf <= 0.0 and is_free(limits.monotone)


@inline
def is_legal(target, limits, feature, left, right):
    """Tell whether a cut of a feature leaves children that may be: heavy enough, and in the order asked for."""
    if not heavy_enough(target, left, right, limits.min_weight_leaf):
        return False
    return in_order(limits.monotone, target, feature, left, right)


@inline
def record_cut(target, splitter, job, total, work, out, feature, left, split):
    """Write the best cut as that of its feature; ``after`` is the missing bin where all values go left."""
    n_left, code, after, missing_left, has_missing = split
    right = rest(target, total, left, work.right)
    if not has_missing:
        missing_left = is_heavier(target, left, right)
    if after == splitter.n_codes[feature]:
        after = np.int64(NOTHING)
    record_split(out, feature, target, job.criterion, left, right, work, (n_left, code, after, missing_left))
