# mypy: ignore-errors
# ruff: noqa: D102
"""One random threshold a feature, uniform in value between the smallest and largest value at the node (Geurts 2006)."""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import NO_GAIN
from dtnumba.growth import columns as col
from dtnumba.growth.splitters.candidates import BARREN, CONSTANT, FOUND, NOTHING, is_heavier, is_legal, record_split
from dtnumba.growth.splitters.candidates import FIRST_ABOVE as FIRST_RIGHT_ROW
from dtnumba.growth.splitters.candidates import LAST_BELOW as LAST_LEFT_ROW
from dtnumba.growth.splitters.coded_rows import CodedRows, NothingKept
from dtnumba.growth.splitters.presorted import RowBuffer
from dtnumba.growth.splitters.scans.scan_rows import scan_order
from dtnumba.growth.targets.contract import add, is_ranked, rest, split_score, zero
from dtnumba.runtime import rng
from dtnumba.runtime.kernels import by_class, by_type, inline, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.tables.presort import MISSING, NEW

_ONE, _COUNTED = np.uint64(1), np.uint64(256)


class _RandomThresholdFields(NamedTuple):
    codes: np.ndarray  # (n, p) uint8, uint16 or uint32
    n_codes: np.ndarray  # (p,) int64
    low: np.ndarray  # smallest value of each code, the features end to end
    high: np.ndarray  # largest
    first_code: np.ndarray  # (p + 1,) int64: where a feature's codes stand in low and high
    rows: np.ndarray  # (n_orders * n_rows,) uint32
    n_rows: int
    n_orders: int


@kernel_type
class RandomThreshold(CodedRows, NothingKept, _RandomThresholdFields):
    """Codes by row, what values they stand for, and the rows in node order."""

    __slots__ = ()
    draws_thresholds = True

    def twice(self, codes, ends):
        values = {"low": ends.low, "high": ends.high, "first_code": ends.first_code}
        return self._replace(codes=codes, n_codes=np.tile(self.n_codes, 2), **values)

    def new_scratch(self, n, workers):
        return RowBuffer(per_worker(workers, n, np.uint32))

    def score_features(self, job, scratch, node, first, last, total):
        varying = 0
        for i in range(first, last):
            varying += try_one(job.target, self, job, scratch, node, scratch.features[i], total) != CONSTANT
        return varying


@inline
def _code_below(splitter, feature, threshold, smallest, largest):
    """Return the last code of smallest .. largest - 1 whose values all lie at or below the threshold, or smallest."""
    first, code, n = np.uint64(splitter.first_code[feature]), np.uint64(smallest), np.uint64(largest - smallest)
    while n > _COUNTED:
        half = n >> _ONE
        if float(splitter.high[first + code + half]) <= threshold:
            code += half
        n -= half
    # Eight codes are compared at once; a search by halves guesses wrong half of the time, and each time costs more.
    below = np.uint64(0)
    for k in range(_ONE, n):
        below += np.uint64(float(splitter.high[first + code + k]) <= threshold)
    return np.int64(code + below)


code_below = by_type("code_below", _code_below)


@inline
def _extremes(splitter, start, stop, feature):
    """Return the smallest and the largest code at a node that stand for values, and whether one is missing."""
    missing_code = splitter.n_codes[feature]
    smallest, largest, n_missing = missing_code, np.int64(-1), np.int64(0)
    for i in range(np.uint64(start), np.uint64(stop)):
        code = np.int64(splitter.codes[splitter.rows[i], feature])
        smallest = min(smallest, code)
        largest = max(largest, code if code < missing_code else np.int64(-1))
        n_missing += code == missing_code
    return smallest, largest, n_missing > 0


@inline
def _try_in_order(target, splitter, job, scratch, node, feature, total):
    """Draw the threshold of one feature and score it, missing rows on the better side."""
    nodes, out = job.growing.nodes, scratch.candidates
    start, stop = nodes[node, col.START], nodes[node, col.STOP]
    missing_code = splitter.n_codes[feature]
    smallest, largest, _ = _extremes(splitter, start, stop, feature)
    cut, threshold = min(smallest, missing_code - 1), np.inf
    if smallest < largest:
        cut, threshold = choose_cut(splitter, job, node, feature, smallest, largest)
    _arrange(splitter, start, stop, feature, cut, missing_code, scratch.own.buffer)
    found = scan_order(target, scratch.own.buffer, 0, stop - start, start, feature, job, scratch, total)
    only_missing_right = out.where[feature, FIRST_RIGHT_ROW] == NOTHING
    out.cut[feature] = threshold
    out.where[feature, LAST_LEFT_ROW] = largest if only_missing_right else cut
    out.where[feature, FIRST_RIGHT_ROW] = NOTHING if only_missing_right else cut + 1
    return found


@inline
def _try_by_sums(target, splitter, job, scratch, node, feature, total):
    """Do the same, where no value is missing without putting the rows in order: two sums say all."""
    nodes, out, work, limits = job.growing.nodes, scratch.candidates, scratch.work, job.limits
    start, stop = nodes[node, col.START], nodes[node, col.STOP]
    smallest, largest, has_missing = _extremes(splitter, start, stop, feature)
    if has_missing:
        return _try_in_order(target, splitter, job, scratch, node, feature, total)
    out.gain[feature] = NO_GAIN
    if smallest == largest:
        return CONSTANT
    cut, threshold = choose_cut(splitter, job, node, feature, smallest, largest)
    left, n_left, n = zero(target, work.left), np.int64(0), np.int64(stop - start)
    for i in range(np.uint64(start), np.uint64(stop)):
        row = splitter.rows[i]
        if np.int64(splitter.codes[row, feature]) <= cut:
            left = add(target, left, row)
            n_left += 1
    right, least = rest(target, total, left, work.right), max(limits.min_samples_leaf, 1)
    if not least <= n_left <= n - least or split_score(target, job.criterion, left, right, work) <= NO_GAIN:
        return BARREN
    if not is_legal(target, limits, feature, left, right):
        return BARREN
    out.cut[feature] = threshold
    where = (n_left, np.int64(cut), np.int64(cut + 1), is_heavier(target, left, right))
    record_split(out, feature, target, job.criterion, left, right, work, where)
    return FOUND


# Targets without sums (absolute_error) need the rows in order.
try_one = by_class(is_ranked, _try_in_order, _try_by_sums)


@inline
def _arrange(splitter, start, stop, feature, cut, missing_code, sequence):
    """Write a node's rows as a sequence with one cut: left, right, missing."""
    at = 0
    for i in range(start, stop):
        if np.int64(splitter.codes[splitter.rows[i], feature]) <= cut:
            sequence[at] = splitter.rows[i]
            at += 1
    border = at
    for i in range(start, stop):
        code = np.int64(splitter.codes[splitter.rows[i], feature])
        if cut < code < missing_code:
            sequence[at] = splitter.rows[i]
            at += 1
    if border < at:
        sequence[border] |= NEW
    for i in range(start, stop):
        if np.int64(splitter.codes[splitter.rows[i], feature]) == missing_code:
            sequence[at] = splitter.rows[i] | MISSING
            at += 1


@inline
def draw_cut(splitter, job, node, feature, smallest, largest):
    """Return the last code that goes left and the threshold, drawn uniformly between the node's extreme values."""
    u = rng.uniform(rng.mix(rng.mix(job.limits.cuts_key, job.growing.keys[node]), feature))
    threshold = value_between(splitter, u, feature, smallest, largest)
    cut = code_below(splitter, feature, threshold, smallest, largest)
    return cut, at_edge(splitter, feature, cut, threshold)


def _drawn_cut(splitter, job, node, feature, smallest, largest):
    return draw_cut(splitter, job, node, feature, smallest, largest)


# A splitter with a method of this name chooses the one cut of a feature in its own way.
choose_cut = by_type("choose_cut", _drawn_cut)


@inline
def _value_between(splitter, u, feature, smallest, largest):
    """Return the value that is 0 <= u < 1 of the way from the value of one code to that of another."""
    first = splitter.first_code[feature]
    low, high = splitter.low[first + smallest], splitter.high[first + largest]
    # Infinite ends are legal values: draw between the finite ones if there are any.
    below, above = max(float(low), -1.7e308), min(float(high), 1.7e308)
    return below * (1.0 - u) + above * u


value_between = by_type("value_between", _value_between)


@inline
def _at_edge(splitter, feature, cut, threshold):
    """Return the threshold of a value drawn: inside a bin, whose rows stay together, the bin's edge."""
    at = splitter.first_code[feature] + cut
    below, above = float(splitter.high[at]), float(splitter.low[at + 1])
    threshold = max(threshold, below)
    return threshold if threshold < above else below


at_edge = by_type("at_edge", _at_edge)
