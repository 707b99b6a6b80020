"""One random threshold a feature over histogram codes: a pass over a node's rows for the extremes, one for the sums.

The threshold is uniform in value between the node's smallest and largest value, as in ``random_threshold``, and lies at
the edge of the bin that it falls into. No histogram is filled: one cut a feature needs two sums, not 255.
"""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import by_having, inline, jitable, part
from dtnumba.criteria import NO_GAIN
from dtnumba.growing import START, STOP
from dtnumba.scan import BARREN, CONSTANT, FOUND, NOTHING, is_heavier, is_legal, record_split
from dtnumba.splitters.coded_rows import CodedRows, NothingKept, look_at_two_rows
from dtnumba.splitters.random_threshold import draw_cut
from dtnumba.targets import (
    add_item_if,
    clear_bin,
    item_of,
    keep,
    no_item,
    put_item,
    put_items,
    rest,
    rows_in,
    split_score,
    take,
    zero,
)

_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)


@part
class RandomBinsScratch(NamedTuple):
    """What one worker notes of the features a node looks at, in the order of the draw."""

    smallest: np.ndarray  # (p,) int64 code
    largest: np.ndarray  # (p,) int64
    has_missing: np.ndarray  # (p,) int64
    cuts: np.ndarray  # (p,) int64: last code that goes left
    thresholds: np.ndarray  # (p,) float64
    sums: np.ndarray  # (p * 3 * width,) int64: of rows left, right and missing; zero between uses
    buffer: np.ndarray  # (n,) uint32

    def pick(self, worker):
        return RandomBinsScratch(
            self.smallest[worker],
            self.largest[worker],
            self.has_missing[worker],
            self.cuts[worker],
            self.thresholds[worker],
            self.sums[worker],
            self.buffer[worker],
        )


class _RandomBinsFields(NamedTuple):
    codes: np.ndarray  # (n, p) uint8
    n_codes: np.ndarray  # (p,) int64
    low: np.ndarray
    high: np.ndarray
    first_code: np.ndarray
    rows: np.ndarray
    n_rows: int
    n_orders: int
    width: int
    counted: bool


@part
class RandomBins(CodedRows, NothingKept, _RandomBinsFields):
    """Codes by row, what values they stand for, and the rows in node order."""

    __slots__ = ()

    def new_scratch(self, n, workers):
        p = self.codes.shape[1]
        numbers = np.empty((4, workers, p), np.int64)
        sums, buffer = np.zeros((workers, p * 3 * self.width), np.int64), np.empty((workers, n), np.uint32)
        return RandomBinsScratch(*numbers, np.empty((workers, p)), sums, buffer)

    def with_rows(self, rows, n):
        return RandomBins(*random_fields_with(self, self.codes, rows, n))

    @property
    def copies_codes(self):
        return True

    def with_codes(self, codes):
        return RandomBins(*random_fields_with(self, codes, self.rows, self.n_rows))

    def look(self, job, scratch, node, first, last, total):
        nodes, own, features = job.growing.nodes, scratch.own, scratch.features
        start, stop = nodes[node, START], nodes[node, STOP]
        varying = look_at_two_rows(job.target, self, job, scratch, node, first, last, total)
        if varying >= 0:
            return varying
        varying = 0
        for i in range(first, last):
            f = features[i]
            _find_extremes(self, own, i, f, start, stop)
            own.cuts[i], own.thresholds[i] = min(own.smallest[i], self.n_codes[f] - 1), np.inf
            if own.smallest[i] < own.largest[i]:
                own.cuts[i], own.thresholds[i] = draw_cut(self, job, node, f, own.smallest[i], own.largest[i])
            if own.smallest[i] < own.largest[i] or own.has_missing[i]:
                _sum_sides(job.target, self, own, i, f, start, stop)
            varying += _try_one(self, job, scratch, i, stop - start, total) != CONSTANT
        return varying

    def cut_between(self, job, scratch, f, node, below, above):
        cut, scratch.candidates.cut[f] = draw_cut(self, job, node, f, below, above)
        return cut, cut + 1


@inline
def random_fields_with(splitter, codes, rows, n):
    """Return the fields of a splitter with other codes and rows."""
    return (
        codes,
        splitter.n_codes,
        splitter.low,
        splitter.high,
        splitter.first_code,
        rows,
        n,
        splitter.n_orders,
        splitter.width,
        splitter.counted,
    )


@inline
def _find_extremes(splitter, own, i, f, start, stop):
    """Note the smallest and the largest code of a feature but the missing one; -1 is the largest of none."""
    missing, smallest, largest = np.int64(splitter.n_codes[f]), np.int64(256), np.int64(-1)
    column = np.uint64(f)
    for k in range(np.uint64(start), np.uint64(stop)):
        code = np.int64(splitter.codes[np.uint64(splitter.rows[k]), column])
        smallest, largest = min(smallest, code), max(largest, code)
    own.has_missing[i] = largest == missing  # its code is above all others
    if largest == missing:
        largest = np.int64(-1)
        for k in range(np.uint64(start), np.uint64(stop)):
            code = np.int64(splitter.codes[np.uint64(splitter.rows[k]), column])
            largest = max(largest, code if code < missing else np.int64(-1))
    own.smallest[i], own.largest[i] = smallest, largest


def _sum_in_registers(target, splitter, own, i, f, start, stop):
    """Sum up the rows left of a cut. The side is a coin's toss: adding nothing is cheaper than a branch or a bin."""
    if own.has_missing[i]:
        _sum_in_bins(target, splitter, own, i, f, start, stop)
        return
    width, cut, column = np.uint64(splitter.width), own.cuts[i], np.uint64(f)
    left, n_left = no_item(target), np.int64(0)
    for k in range(np.uint64(start), np.uint64(stop)):
        row = np.uint64(splitter.rows[k])
        goes_left = np.int64(np.int64(splitter.codes[row, column]) <= cut)
        left = add_item_if(target, left, item_of(target, row), goes_left)
        n_left += goes_left
    at = np.uint64(i * 3) * width
    put_items(target, own.sums, at, left)
    if splitter.counted:
        own.sums[at + width - _ONE] += n_left


def _sum_in_bins(target, splitter, own, i, f, start, stop):
    """Sum up the rows left and right of a cut, and those missing."""
    width, cut, missing = np.uint64(splitter.width), own.cuts[i], splitter.n_codes[f]
    for k in range(np.uint64(start), np.uint64(stop)):
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
def _try_one(splitter, job, scratch, i, n, total):
    """Score the cut of one feature, missing rows on the better side, or alone on the right; its sums are emptied."""
    own, out, work, limits, target = scratch.own, scratch.candidates, scratch.work, job.limits, job.target
    sums, width, f = own.sums, splitter.width, scratch.features[i]
    out.gain[f] = NO_GAIN
    base, wide = np.uint64(i * 3) * np.uint64(width), np.uint64(width)
    n_missing = rows_in(target, sums, base + _TWO * wide, width)
    smallest, largest, found = own.smallest[i], own.largest[i], BARREN
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
        code, after = own.cuts[i], own.cuts[i] + 1
        out.cut[f] = own.thresholds[i]
        if best_side == 2:
            out.cut[f], code, after = np.inf, largest, np.int64(NOTHING)
        record_split(out, f, target, job.criterion, best_left, right, work, (best_n, code, after, missing_left))
    return found
