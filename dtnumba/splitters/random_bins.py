"""One random threshold a feature over histogram codes: a pass over a node's rows for the extremes, one for the sums.

The threshold is uniform in value between the node's smallest and largest value, as in ``random_threshold``, and lies at
the edge of the bin that it falls into. No histogram is filled: one cut a feature needs two sums, not 255. Both passes
treat 32 columns at once, drawn or not (see ``_row_vectors``): a feature of its own would take as long.
"""

from typing import NamedTuple

import numpy as np

from dtnumba import rng
from dtnumba._jit import COMPILED, by_having, inline, jitable, part
from dtnumba._row_vectors import COLUMNS, SPARE, at_most_among_16, find_extremes
from dtnumba.criteria import NO_GAIN, chooses_by_more
from dtnumba.growing import START, STOP
from dtnumba.per_worker import per_worker
from dtnumba.scan import (
    BARREN,
    CONSTANT,
    FOUND,
    NOTHING,
    all_are_legal,
    bar_above,
    is_heavier,
    is_legal,
    record_split,
)
from dtnumba.splitters.coded_rows import CodedRows, NothingKept, look_at_two_rows
from dtnumba.splitters.random_threshold import at_edge, cut_at, draw_cut
from dtnumba.targets import (
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

_ONE, _TWO, _THREE, _FOUR = (np.uint64(k) for k in (1, 2, 3, 4))
_LAST_CODE = np.int64(255)
_COLUMNS, _BLOCK_BITS = np.uint64(COLUMNS), np.uint64(5)
# Cuts scored at once, without a remainder that would be scored one by one.
_BLOCK = np.uint64(8)
STEPS = 256  # ends of bins a feature, infinite behind the last
# What is known of a feature before it is scored, beside CONSTANT: what takes no look of its own, and what does.
SIDE_BY_SIDE, ALONE = 1, 2


@part
class RandomBinsScratch(NamedTuple):
    """What one worker notes of the features a node looks at: by column, or in the order of the draw."""

    smallest: np.ndarray  # (p,) uint8: code, by column
    largest: np.ndarray  # (p,) uint8
    cuts: np.ndarray  # (p,) uint8: last code that goes left
    left: np.ndarray  # (n_sums * p,) int64: sums of the rows left of the cuts, zero between uses
    passed: np.ndarray  # (blocks + 1,) int64: the pass that read a block of columns last; then this pass
    columns: np.ndarray  # (p + 8,) uint64: features, in the order of the draw
    values: np.ndarray  # (p + 8,) float64: how far a cut is between the extremes, then the value there
    scores: np.ndarray  # (p + 8,) float64
    found: np.ndarray  # (p,) int64: CONSTANT, SIDE_BY_SIDE or ALONE
    one: np.ndarray  # (n_sums,) int64: of one row
    bins: np.ndarray  # (4, p + 8) int64: sums left of the cuts, as bins
    sums: np.ndarray  # (p * 3 * width,) int64: of rows left, right and missing; zero between uses
    buffer: np.ndarray  # (n,) uint32

    def pick(self, worker):
        return RandomBinsScratch(
            self.smallest[worker, 0],
            self.largest[worker, 0],
            self.cuts[worker, 0],
            self.left[worker, 0],
            self.passed[worker, 0],
            self.columns[worker, 0],
            self.values[worker, 0],
            self.scores[worker, 0],
            self.found[worker, 0],
            self.one[worker, 0],
            self.bins[worker, 0],
            self.sums[worker, 0],
            self.buffer[worker],
        )


class _RandomBinsFields(NamedTuple):
    codes: np.ndarray  # (n, p) uint8, and SPARE bytes behind
    n_codes: np.ndarray  # (p,) int64
    low: np.ndarray  # (p * STEPS,) float64: smallest value of each code, infinite behind a feature's last one
    high: np.ndarray  # (p * STEPS,) float64: largest
    first_code: np.ndarray  # (p + 1,) int64: where a feature's codes stand in them
    strides: np.ndarray  # (p * 16,) float64: every sixteenth of ``high``
    rows: np.ndarray
    n_rows: int
    n_orders: int
    width: int
    counted: bool
    n_sums: int


@part
class RandomBins(CodedRows, NothingKept, _RandomBinsFields):
    """Codes by row, what values they stand for, and the rows in node order."""

    __slots__ = ()

    def new_scratch(self, n, workers):
        p = self.codes.shape[1]
        n_blocks = -(-p // COLUMNS)
        return RandomBinsScratch(
            per_worker(workers, p + COLUMNS, np.uint8, 0),
            per_worker(workers, p + COLUMNS, np.uint8, 0),
            per_worker(workers, p + COLUMNS, np.uint8, 0),
            per_worker(workers, self.n_sums * (p + COLUMNS), np.int64, 0),
            per_worker(workers, n_blocks + 1, np.int64, 0),
            per_worker(workers, p + 8, np.uint64, 0),
            per_worker(workers, p + 8, np.float64, 0),
            per_worker(workers, p + 8, np.float64, 0),
            per_worker(workers, p, np.int64),
            per_worker(workers, self.n_sums, np.int64),
            per_worker(workers, (4, p + 8), np.int64, 0),
            per_worker(workers, p * 3 * self.width, np.int64, 0),
            np.empty((workers, n), np.uint32),
        )

    def with_rows(self, rows, n):
        return RandomBins(*_fields_with(self, self.codes, rows, n))

    @property
    def copies_codes(self):
        return True

    def with_codes(self, codes):
        return RandomBins(*_fields_with(self, codes, self.rows, self.n_rows))

    def twice(self, codes):
        """Return the splitter of twice as many columns, whose values are those of these columns, and these again."""
        low, high, strides, n_codes = (np.tile(part, 2) for part in (self.low, self.high, self.strides, self.n_codes))
        first_code = np.arange(len(n_codes) + 1) * STEPS
        changed = {"low": low, "high": high, "strides": strides, "n_codes": n_codes, "first_code": first_code}
        return self._replace(codes=with_spare(codes), **changed)

    def look(self, job, scratch, node, first, last, total):
        varying = look_at_two_rows(job.target, self, job, scratch, node, first, last, total)
        if varying >= 0:
            return varying
        return _look_at_all(job.target, self, job, scratch, node, first, last, total)

    def cut_between(self, job, scratch, f, node, below, above):
        cut, scratch.candidates.cut[f] = draw_cut(self, job, node, f, below, above)
        return cut, cut + 1

    def code_below(self, feature, threshold, smallest, largest):
        """Return the last code of smallest .. largest - 1 whose values all lie at or below the threshold, or smallest.

        Two comparisons of 16 ends; to go by halves takes eight that wait for one another.
        """
        f = np.uint64(feature)
        step = at_most_among_16(self.strides, f << _FOUR, threshold) << _FOUR
        n_below = step + at_most_among_16(self.high, (f << np.uint64(8)) + step, threshold)
        return min(max(np.int64(n_below) - 1, smallest), largest - 1)


def random_bins(codes, bins, rows, n_orders, width, counted, n_sums):
    """Return the splitter of a table's codes, which it copies: passes read a little beyond the last row."""
    p = len(bins.n_codes)
    low, high = np.full((2, p, STEPS), np.inf)
    for f in range(p):
        codes_of = slice(bins.first_code[f], bins.first_code[f + 1])
        n = min(codes_of.stop - codes_of.start, STEPS - 1)
        low[f, :n], high[f, :n] = bins.low[codes_of][:n], bins.high[codes_of][:n]
    return RandomBins(
        with_spare(codes),
        bins.n_codes,
        low.ravel(),
        high.ravel(),
        np.arange(p + 1) * STEPS,
        np.ascontiguousarray(high[:, 15::16]).ravel(),
        rows,
        0,
        n_orders,
        width,
        counted,
        n_sums,
    )


def with_spare(codes):
    """Return a copy of codes that has SPARE bytes behind it."""
    room = np.zeros(codes.size + SPARE, codes.dtype)
    room[: codes.size] = codes.ravel()
    return room[: codes.size].reshape(codes.shape)


@inline
def _fields_with(splitter, codes, rows, n):
    """Return the fields of a splitter with other codes and rows."""
    return (
        codes,
        splitter.n_codes,
        splitter.low,
        splitter.high,
        splitter.first_code,
        splitter.strides,
        rows,
        n,
        splitter.n_orders,
        splitter.width,
        splitter.counted,
        splitter.n_sums,
    )


def _look_one_by_one(target, splitter, job, scratch, node, first, last, total):
    """Fill the candidates of features[first:last], each on its own; return how many vary."""
    varying = 0
    for i in range(first, last):
        varying += _look_alone(splitter, job, scratch, node, i, total)[0] != CONSTANT
    return varying


def _look_at_once(target, splitter, job, scratch, node, first, last, total):
    """Do as ``_look_one_by_one`` for statistics that are a few numbers; of all candidates only the best is written.

    Features with missing values are looked at alone: three sums each, not one.
    """
    own, work = scratch.own, scratch.work
    if splitter.counted or chooses_by_more(job.criterion):
        return _look_one_by_one(target, splitter, job, scratch, node, first, last, total)
    varying, n_alone = _draw_cuts(splitter, job, scratch, node, first, last)
    if varying > 0:
        _sum_left(target, splitter, job, scratch, node, first, last)
        for k in range(_whole_blocks(last - first)):
            if COMPILED or own.found[first + k] == SIDE_BY_SIDE:  # an empty side would divide by zero
                left = bin_sums(target, own.bins, k)
                own.scores[k] = split_score(target, job.criterion, left, rest(target, total, left, work.right), work)
    if n_alone > 0:
        for i in range(first, last):
            if own.found[i] == ALONE:
                found, own.scores[i - first] = _look_alone(splitter, job, scratch, node, i, total)
                own.found[i] = CONSTANT if found == CONSTANT else ALONE
                varying += found != CONSTANT
    if varying > 0:
        _choose(target, splitter, job, scratch, node, first, last, total)
    return varying


jitable(_look_one_by_one)
jitable(_look_at_once)
_look_at_all = by_having("add_left", _look_at_once, _look_one_by_one)


@inline
def _draw_cuts(splitter, job, scratch, node, first, last):
    """Draw a cut of every feature; return how many vary and miss no value, and how many miss one.

    Cuts of the others are drawn, too, and of no use: which ones these are is nothing that a CPU could foresee.
    """
    own, out, features, n_open, n_alone = scratch.own, scratch.candidates, scratch.features, 0, 0
    start, stop = _edges(job, node)
    _begin_pass(own)
    for i in range(first, last if _has_blocks(splitter) else first + 1):
        if _is_new(own, features[i]):
            column = _block_of(splitter, features[i])
            find_extremes(splitter.codes, splitter.rows, start, stop, column, own.smallest, own.largest)
    for i in range(first, last):
        f = features[i]
        own.columns[i - first], out.gain[f] = f, NO_GAIN
        # The code of a missing value is above all others.
        is_alone = np.int64(own.largest[f] == splitter.n_codes[f])
        varies = np.int64(own.smallest[f] < own.largest[f])
        own.found[i] = varies + is_alone * (ALONE - varies)
        n_alone += is_alone
        n_open += varies * (1 - is_alone)
    key = rng.mix(job.limits.cuts_key, job.growing.keys[node])
    for k in range(_whole_blocks(last - first)):
        own.values[k] = rng.uniform(rng.mix(key, own.columns[k]))
    for k in range(np.uint64(last - first)):
        f = own.columns[k]
        ends = np.int64(own.smallest[f]), np.int64(own.largest[f])
        cut, own.values[k] = cut_at(splitter, own.values[k], f, *ends)
        own.cuts[f] = np.uint8(cut & _LAST_CODE)
    return n_open, n_alone


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
    own, features, step = scratch.own, scratch.features, np.uint64(len(scratch.own.cuts))
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
    for k in range(np.uint64(last - first)):
        left_bin(target, own.left, own.columns[k], step, own.bins, k)


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
    n, least = job.growing.nodes[node, STOP] - job.growing.nodes[node, START], limits.min_samples_leaf
    any_is_legal = all_are_legal(limits)
    bar, scale, best = NO_GAIN, 0.0, np.int64(-1)
    for k in range(np.uint64(last - first)):
        score, i = own.scores[k], first + np.int64(k)
        is_best = (own.found[i] != CONSTANT) & (score > bar)
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
        n_left = rows_in(target, own.bins[:, k], np.uint64(0), splitter.width)
        out.cut[f] = at_edge(splitter, f, cut, own.values[k])
        where = (n_left, cut, cut + 1, is_heavier(target, left, right))
        record_split(out, f, target, job.criterion, left, right, work, where)


@inline
def _edges(job, node):
    return np.uint64(job.growing.nodes[node, START]), np.uint64(job.growing.nodes[node, STOP])


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
def _look_alone(splitter, job, scratch, node, i, total):
    """Fill the candidate of the i-th feature; return what was found, and the score."""
    own, f, start, stop = scratch.own, scratch.features[i], *_edges(job, node)
    smallest, largest, has_missing = _extremes(splitter, f, start, stop)
    cut, threshold = min(smallest, splitter.n_codes[f] - 1), np.inf
    if smallest < largest:
        cut, threshold = draw_cut(splitter, job, node, f, smallest, largest)
    if smallest < largest or has_missing:
        _sum_sides(job.target, splitter, own, i, (f, cut, has_missing), start, stop)
    return _try_one(splitter, job, scratch, i, np.int64(stop - start), total, (smallest, largest, cut, threshold))


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


jitable(_sum_in_bins)
jitable(_sum_in_registers)
_sum_sides = by_having("add_item_if", _sum_in_registers, _sum_in_bins)


@inline
def _try_one(splitter, job, scratch, i, n, total, ends):
    """Score the cut of one feature, missing rows on the better side, or alone on the right; its sums are emptied.

    Return what was found, and the score.
    """
    own, out, work, limits, target = scratch.own, scratch.candidates, scratch.work, job.limits, job.target
    sums, width, f = own.sums, splitter.width, scratch.features[i]
    smallest, largest, cut, threshold = ends
    out.gain[f] = NO_GAIN
    base, wide = np.uint64(i * 3) * np.uint64(width), np.uint64(width)
    n_missing = rows_in(target, sums, base + _TWO * wide, width)
    found = BARREN
    if largest < 0 or (smallest == largest and n_missing == 0):
        found = CONSTANT
    bar, best_left, best_n, best_side = NO_GAIN, zero(target, work.best), np.int64(0), np.int64(0)
    # Sides of the missing rows: right, left, and, where all values go left, alone.
    for side in range(3 if found != CONSTANT else 0):
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
            found, bar, best_left, best_n, best_side = FOUND, score, keep(target, left, work.best), n_left, side
    for k in range(_THREE):
        clear_bin(target, sums, base + k * wide, width)
    if found == FOUND:
        right = rest(target, total, best_left, work.right)
        missing_left = np.int64(best_side == 1) if n_missing > 0 else is_heavier(target, best_left, right)
        code, after = cut, cut + 1
        out.cut[f] = threshold
        if best_side == 2:
            out.cut[f], code, after = np.inf, largest, np.int64(NOTHING)
        record_split(out, f, target, job.criterion, best_left, right, work, (best_n, code, after, missing_left))
    return found, bar
