# mypy: ignore-errors
# ruff: noqa: D102
"""One random threshold a feature, uniform in value between the smallest and largest value at the node (Geurts 2006)."""

from typing import NamedTuple

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.splitters.candidates import CONSTANT, NOTHING
from dtnumba.growth.splitters.candidates import FIRST_ABOVE as FIRST_RIGHT_ROW
from dtnumba.growth.splitters.candidates import LAST_BELOW as LAST_LEFT_ROW
from dtnumba.growth.splitters.coded_rows import CodedRows, NothingKept
from dtnumba.growth.splitters.presorted import RowBuffer
from dtnumba.growth.splitters.scans.scan_rows import scan_order
from dtnumba.runtime import rng
from dtnumba.runtime.kernels import by_type, inline, kernel_type
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
            varying += _try_one(self, job, scratch, node, scratch.features[i], total) != CONSTANT
        return varying


@inline
def _code_below(splitter, feature, threshold, smallest, largest):
    """Return the last code of smallest .. largest - 1 whose values all lie at or below the threshold, or smallest."""
    first, code, n = np.uint64(splitter.first_code[feature]), np.uint64(smallest), np.uint64(largest - smallest)
    while n > _COUNTED:
        half = n >> _ONE
        if splitter.high[first + code + half] <= threshold:
            code += half
        n -= half
    # Eight codes are compared at once; a search by halves guesses wrong half of the time, and each time costs more.
    below = np.uint64(0)
    for k in range(_ONE, n):
        below += np.uint64(splitter.high[first + code + k] <= threshold)
    return np.int64(code + below)


code_below = by_type("code_below", _code_below)


@inline
def _try_one(splitter, job, scratch, node, feature, total):
    """Draw the threshold of one feature and score it, missing rows on the better side."""
    nodes, out = job.growing.nodes, scratch.candidates
    start, stop = nodes[node, col.START], nodes[node, col.STOP]
    missing_code = splitter.n_codes[feature]
    smallest, largest = missing_code, np.int64(-1)
    for i in range(start, stop):
        code = np.int64(splitter.codes[splitter.rows[i], feature])
        if code != missing_code:
            smallest, largest = min(smallest, code), max(largest, code)
    cut, threshold = min(smallest, missing_code - 1), np.inf
    if smallest < largest:
        cut, threshold = choose_cut(splitter, job, node, feature, smallest, largest)
    _arrange(splitter, start, stop, feature, cut, missing_code, scratch.own.buffer)
    found = scan_order(job.target, scratch.own.buffer, 0, stop - start, start, feature, job, scratch, total)
    only_missing_right = out.where[feature, FIRST_RIGHT_ROW] == NOTHING
    out.cut[feature] = threshold
    out.where[feature, LAST_LEFT_ROW] = largest if only_missing_right else cut
    out.where[feature, FIRST_RIGHT_ROW] = NOTHING if only_missing_right else cut + 1
    return found


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
    cut, threshold = cut_at(splitter, u, feature, smallest, largest)
    return cut, at_edge(splitter, feature, cut, threshold)


def _drawn_cut(splitter, job, node, feature, smallest, largest):
    return draw_cut(splitter, job, node, feature, smallest, largest)


# A splitter with a method of this name chooses the one cut of a feature in its own way.
choose_cut = by_type("choose_cut", _drawn_cut)


@inline
def cut_at(splitter, u, feature, smallest, largest):
    """Return the last code that goes left, and the value, where 0 <= u < 1 says how far it is between the extremes."""
    first = splitter.first_code[feature]
    low, high = splitter.low[first + smallest], splitter.high[first + largest]
    # Infinite ends are legal values: draw between the finite ones if there are any.
    below, above = max(low, -1.7e308), min(high, 1.7e308)
    threshold = below * (1.0 - u) + above * u
    return code_below(splitter, feature, threshold, smallest, largest), threshold


@inline
def at_edge(splitter, feature, cut, threshold):
    """Return the threshold of a value drawn: inside a bin, whose rows stay together, the bin's edge."""
    at = splitter.first_code[feature] + cut
    threshold = max(threshold, splitter.high[at])
    return threshold if threshold < splitter.low[at + 1] else splitter.high[at]
