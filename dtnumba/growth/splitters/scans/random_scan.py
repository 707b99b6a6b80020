# mypy: ignore-errors
"""Score one drawn cut a feature over codes: the extremes of a node's rows, and the sums of both sides."""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, chooses_by_more
from dtnumba.growth import columns as col
from dtnumba.growth.splitters import candidates as cand
from dtnumba.growth.splitters.candidates import all_are_legal, bar_above, is_heavier, is_legal, record_split
from dtnumba.growth.splitters.random_exact import at_edge, code_below, draw_cut, value_between
from dtnumba.growth.targets.contract import (
    add,
    add_item_if,
    add_left,
    bin_sums,
    clear_bin,
    item_of,
    keep,
    left_bin,
    no_item,
    put_item,
    put_items,
    rest,
    rows_in,
    split_score,
    store,
    take,
    zero,
)
from dtnumba.runtime import rng
from dtnumba.runtime.instructions.column_blocks import COLUMNS, find_extremes
from dtnumba.runtime.kernels import COMPILED, by_having, by_type, inline

# Rows are divided by their codes: how many go left is not asked, and without counts it would be their weight.
_UNCOUNTED = np.int64(0)
_ONE, _TWO, _THREE, _FOUR = (np.uint64(k) for k in (1, 2, 3, 4))
_COLUMNS, _BLOCK_BITS = np.uint64(COLUMNS), np.uint64(5)
# Cuts scored at once, without a remainder that would be scored one by one.
_BLOCK = np.uint64(8)
STEPS = 256  # ends of bins a feature, infinite behind the last
# What is known of a feature before it is scored, beside CONSTANT: what takes no look of its own, and what does.
SIDE_BY_SIDE, ALONE = 1, 2


@inline
def _score_one_by_one(target, splitter, job, scratch, node, first, last, total):
    """Fill the candidates of features[first:last], each on its own; return how many vary."""
    varying = 0
    for i in range(first, last):
        varying += score_alone(splitter, job, scratch, node, i, total)[0] != cand.CONSTANT
    return varying


@inline
def _score_at_once(target, splitter, job, scratch, node, first, last, total):
    """Score features[first:last] together and write the best candidate only; return how many features vary.

    Features with missing values are looked at alone: three sums each, not one.
    """
    own, work = scratch.own, scratch.work
    if splitter.counted or chooses_by_more(job.criterion):
        return _score_one_by_one(target, splitter, job, scratch, node, first, last, total)
    varying, n_alone = _draw_cuts(splitter, job, scratch, node, first, last)
    if varying > 0:
        _sum_left(target, splitter, job, scratch, node, first, last)
        for k in range(_whole_blocks(last - first)):
            if COMPILED or own.found[first + k] == SIDE_BY_SIDE:  # an empty side would divide by zero
                left = bin_sums(target, own.bins, k)
                own.scores[k] = merit_of(splitter, job, left, rest(target, total, left, work.right), work)
    if n_alone > 0:
        for i in range(first, last):
            if own.found[i] == ALONE:
                found, own.scores[i - first] = score_alone(splitter, job, scratch, node, i, total)
                own.found[i] = cand.CONSTANT if found == cand.CONSTANT else ALONE
                varying += found != cand.CONSTANT
    if varying > 0:
        _choose(target, splitter, job, scratch, node, first, last, total)
    return varying


score_at_once = by_having("add_left", _score_at_once, _score_one_by_one)


def _score_of(splitter, job, left, right, work):
    return split_score(job.target, job.criterion, left, right, work)


# What the best of a node's candidates has most of: the score, if the splitter does not say otherwise.
merit_of = by_type("merit", _score_of)


def _nothing_to_ask(splitter, own, m):
    pass


ask_for_codes = by_type("ask_for_codes", _nothing_to_ask)  # what ``code_below`` will read for the first m values


@inline
def _draw_cuts(splitter, job, scratch, node, first, last):
    """Draw a cut of every feature; return how many vary and miss no value, and how many miss one.

    Cuts of the others are drawn, too, and of no use: which ones these are is nothing that a CPU could foresee.
    """
    own, out, features, n_open, n_alone = scratch.own, scratch.candidates, scratch.features, 0, 0
    look_for_extremes(splitter, job, scratch, node, first, last)
    for i in range(first, last):
        f = features[i]
        own.columns[i - first], out.gain[f] = f, NO_GAIN
        # The code of a missing value is above all others.
        is_alone = np.int64(own.largest[f] == splitter.n_codes[f])
        varies = np.int64(own.smallest[f] < own.largest[f])
        own.found[i] = varies + is_alone * (ALONE - varies)
        n_alone += is_alone
        n_open += varies * (1 - is_alone)
    key, last_code = rng.mix(job.limits.cuts_key, job.growing.keys[node]), np.int64((1 << 8 * own.cuts.itemsize) - 1)
    for k in range(_whole_blocks(last - first)):
        own.values[k] = rng.uniform(rng.mix(key, own.columns[k]))
    m = np.uint64(last - first)
    for k in range(m):
        f = own.columns[k]
        own.values[k] = value_between(splitter, own.values[k], f, np.int64(own.smallest[f]), np.int64(own.largest[f]))
    ask_for_codes(splitter, own, m)
    for k in range(m):
        f = own.columns[k]
        cut = code_below(splitter, f, own.values[k], np.int64(own.smallest[f]), np.int64(own.largest[f]))
        own.cuts[f] = cut & last_code
    return n_open, n_alone


def _extremes_of_rows(splitter, job, scratch, node, first, last):
    own, features = scratch.own, scratch.features
    start, stop = _edges(job, node)
    _begin_pass(own)
    for i in range(first, last if _has_blocks(splitter) else first + 1):
        if _is_new(own, features[i]):
            column = _block_of(splitter, features[i])
            find_extremes(splitter.codes, splitter.rows, start, stop, column, own.smallest, own.largest)


# Write the smallest and the largest code of features[first:last] at a node, that of a missing value among them.
look_for_extremes = by_type("look_for_extremes", _extremes_of_rows)


@inline
def _has_blocks(splitter):
    """Tell whether one pass leaves columns unread."""
    return splitter.codes.shape[1] > COLUMNS


@inline
def _whole_blocks(m):
    """Return how many of m numbers, and what follows, are looked at eight at a time; interpreted, just m."""
    return (np.uint64(m) + _BLOCK - _ONE) & ~(_BLOCK - _ONE) if COMPILED else m


@inline
def _sum_left(target, splitter, job, scratch, node, first, last):
    """Sum up the rows left of the cuts drawn."""
    own, step = scratch.own, np.uint64(len(scratch.own.cuts))
    sum_left_of_cuts(splitter, job, scratch, node, first, last)
    for k in range(np.uint64(last - first)):
        left_bin(target, own.left, own.columns[k], step, own.bins, k)


def _sum_rows_left(splitter, job, scratch, node, first, last):
    target, own, features, step = job.target, scratch.own, scratch.features, np.uint64(len(scratch.own.cuts))
    start, stop = _edges(job, node)
    _begin_pass(own)
    for i in range(first, last if _has_blocks(splitter) else first + 1):
        if _is_new(own, features[i]):
            column, row = _block_of(splitter, features[i]), start
            for at in range(column, np.uint64(len(own.left)), step):
                for k in range(_COLUMNS):
                    own.left[at + k] = 0
            while row < stop:
                row = _add_rows(target, splitter, own, row, stop, column, step)


# Write the sums of the rows left of the cuts of features[first:last], as ``add_left`` adds them up.
sum_left_of_cuts = by_type("sum_left_of_cuts", _sum_rows_left)


@inline
def _add_rows(target, splitter, own, row, stop, column, step):
    """Add rows to the sums of 32 columns until bytes cannot hold what they count; return the first one left out."""
    after = add_left(target, splitter, row, stop, column, own.cuts, own.left, step)
    if after == row:  # it counts too often by itself
        at, after = np.uint64(splitter.rows[row]), row + _ONE
        store(target, add(target, zero(target, own.one), at), own.one)
        for k in range(column, min(column + _COLUMNS, np.uint64(splitter.codes.shape[1]))):
            if splitter.codes[at, k] <= own.cuts[k]:
                for s in range(len(own.one)):
                    own.left[np.uint64(s) * step + k] += own.one[s]
    return after


@inline
def _choose(target, splitter, job, scratch, node, first, last, total):
    """Write the best of the candidates, and forget what was written of others."""
    own, out, features, work, limits = scratch.own, scratch.candidates, scratch.features, scratch.work, job.limits
    n, least = job.growing.nodes[node, col.STOP] - job.growing.nodes[node, col.START], limits.min_samples_leaf
    any_is_legal = all_are_legal(limits)
    bar, scale, best = NO_GAIN, 0.0, np.int64(-1)
    for k in range(np.uint64(last - first)):
        score, i = own.scores[k], first + np.int64(k)
        is_best = (own.found[i] != cand.CONSTANT) & (score > bar)
        if is_best and not any_is_legal and own.found[i] == SIDE_BY_SIDE:
            left = bin_sums(target, own.bins, k)
            n_left = rows_in(target, own.bins[:, k], np.uint64(0), splitter.width)
            is_best = least <= 1 or least <= n_left <= n - least
            is_best = is_best and is_legal(target, limits, features[i], left, rest(target, total, left, work.right))
        # Chosen, not branched: whether a cut is better is anybody's guess.
        scale = max(scale, abs(score)) if is_best else scale
        bar = bar_above(score, scale) if is_best else bar
        best = i if is_best else best
    for i in range(first, last):
        if i != best:
            out.gain[features[i]] = NO_GAIN
    if best >= 0 and own.found[best] == SIDE_BY_SIDE:
        f, k = features[best], np.uint64(best - first)
        left, cut = bin_sums(target, own.bins, k), np.int64(own.cuts[f])
        right = rest(target, total, left, work.right)
        out.cut[f] = at_edge(splitter, f, cut, own.values[k])
        where = (_UNCOUNTED, cut, cut + 1, is_heavier(target, left, right))
        record_split(out, f, target, job.criterion, left, right, work, where)


@inline
def _edges(job, node):
    return np.uint64(job.growing.nodes[node, col.START]), np.uint64(job.growing.nodes[node, col.STOP])


@inline
def _block_of(splitter, f):
    """Return the first of the 32 columns that are read together with one; the last 32 where there are no more."""
    begin, p = np.uint64(f) >> _BLOCK_BITS << _BLOCK_BITS, np.uint64(splitter.codes.shape[1])
    return min(begin, max(p, _COLUMNS) - _COLUMNS)


@inline
def _begin_pass(own):
    own.passed[len(own.passed) - 1] += 1


@inline
def _is_new(own, f):
    """Tell whether the columns around one are still to be read in this pass, and take it that they are read now."""
    block, now = np.uint64(f) >> _BLOCK_BITS, own.passed[len(own.passed) - 1]
    was_new = own.passed[block] != now
    own.passed[block] = now
    return was_new


@inline
def _score_alone(splitter, job, scratch, node, i, total):
    """Fill the candidate of the i-th feature; return what was found, and the score."""
    own, f, start, stop = scratch.own, scratch.features[i], *_edges(job, node)
    smallest, largest, has_missing = _extremes(splitter, f, start, stop)
    cut, threshold = min(smallest, splitter.n_codes[f] - 1), np.inf
    if smallest < largest:
        cut, threshold = draw_cut(splitter, job, node, f, smallest, largest)
    if smallest < largest or has_missing:
        _sum_sides(job.target, splitter, own, i, (f, cut, has_missing), start, stop)
    return try_one(splitter, job, scratch, i, np.int64(stop - start), total, (smallest, largest, cut, threshold))


# A splitter with a method of this name looks at a feature that misses a value in its own way.
score_alone = by_type("score_alone", _score_alone)


@inline
def _extremes(splitter, f, start, stop):
    """Return the smallest and the largest code of a feature but the missing one, -1 if none, and if it is there."""
    missing, smallest, largest = np.int64(splitter.n_codes[f]), np.int64(256), np.int64(-1)
    column, has_missing = np.uint64(f), False
    for k in range(start, stop):
        code = np.int64(splitter.codes[np.uint64(splitter.rows[k]), column])
        smallest = min(smallest, code)
        has_missing |= code == missing
        largest = max(largest, code if code < missing else np.int64(-1))
    return smallest, largest, has_missing


@inline
def _sum_in_registers(target, splitter, own, i, split, start, stop):
    """Sum up the rows left of a cut. The side is a coin's toss: adding nothing is cheaper than a branch or a bin."""
    f, cut, has_missing = split
    if has_missing:
        _sum_in_bins(target, splitter, own, i, split, start, stop)
        return
    width, column, left, n_left = np.uint64(splitter.width), np.uint64(f), no_item(target), np.int64(0)
    for k in range(start, stop):
        row = np.uint64(splitter.rows[k])
        goes_left = np.int64(np.int64(splitter.codes[row, column]) <= cut)
        left = add_item_if(target, left, item_of(target, row), goes_left)
        n_left += goes_left
    at = np.uint64(i * 3) * width
    put_items(target, own.sums, at, left)
    if splitter.counted:
        own.sums[at + width - _ONE] += n_left


@inline
def _sum_in_bins(target, splitter, own, i, split, start, stop):
    """Sum up the rows left and right of a cut, and those missing."""
    f, cut, _ = split
    width, missing = np.uint64(splitter.width), splitter.n_codes[f]
    for k in range(start, stop):
        row = np.uint64(splitter.rows[k])
        code = np.int64(splitter.codes[row, np.uint64(f)])
        at = (np.uint64(i * 3) + np.uint64(code > cut) + np.uint64(code == missing)) * width
        put_item(target, own.sums, at, item_of(target, row))
        if splitter.counted:
            own.sums[at + width - _ONE] += 1


_sum_sides = by_having("add_item_if", _sum_in_registers, _sum_in_bins)


@inline
def try_one(splitter, job, scratch, i, n, total, ends):
    """Score the cut of one feature, missing rows on the better side, or alone on the right; its sums are emptied.

    Return what was found, and the score.
    """
    own, out, work, limits, target = scratch.own, scratch.candidates, scratch.work, job.limits, job.target
    sums, width, f = own.sums, splitter.width, scratch.features[i]
    smallest, largest, cut, threshold = ends
    out.gain[f] = NO_GAIN
    base, wide = np.uint64(i * 3) * np.uint64(width), np.uint64(width)
    n_missing = rows_in(target, sums, base + _TWO * wide, width)
    found = cand.BARREN
    if largest < 0 or (smallest == largest and n_missing == 0):
        found = cand.CONSTANT
    bar, best_left, best_side = NO_GAIN, zero(target, work.best), np.int64(0)
    # Sides of the missing rows: right, left, and, where all values go left, alone.
    for side in range(3 if found != cand.CONSTANT else 0):
        left, n_left = zero(target, work.left), np.int64(0)
        if (n_missing == 0 and side > 0) or (smallest == largest and side < 2):
            continue
        left = take(target, left, sums, base)
        n_left = rows_in(target, sums, base, width)
        if side > 0:
            other = base + (_TWO if side == 1 else _ONE) * wide
            left = take(target, left, sums, other)
            n_left += rows_in(target, sums, other, width)
        right = rest(target, total, left, work.right)
        score = split_score(target, job.criterion, left, right, work)
        enough = limits.min_samples_leaf <= 1 or limits.min_samples_leaf <= n_left <= n - limits.min_samples_leaf
        if enough and score > bar and is_legal(target, limits, f, left, right):
            found, bar, best_left, best_side = cand.FOUND, score, keep(target, left, work.best), side
    for k in range(_THREE):
        clear_bin(target, sums, base + k * wide, width)
    if found == cand.FOUND:
        right = rest(target, total, best_left, work.right)
        missing_left = np.int64(best_side == 1) if n_missing > 0 else is_heavier(target, best_left, right)
        code, after = cut, cut + 1
        out.cut[f] = threshold
        if best_side == 2:
            out.cut[f], code, after = np.inf, largest, np.int64(cand.NOTHING)
        record_split(out, f, target, job.criterion, best_left, right, work, (_UNCOUNTED, code, after, missing_left))
    return found, bar
