"""One random threshold a feature over histograms: extremes and sums both come from the occupied bins.

The threshold is uniform in value between the node's smallest and largest value, as in ``random_threshold``, and lies at
the edge of the bin that it falls into.
"""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import inline, part
from dtnumba.criteria import NO_GAIN
from dtnumba.growing import START, STOP
from dtnumba.scan import BARREN, CONSTANT, FOUND, NOTHING, heavy_enough, is_heavier, record_split
from dtnumba.splitters.coded_rows import CodedRows, NothingKept
from dtnumba.splitters.histogram import HistogramScratch, clear_listed, fill_marked, list_marked
from dtnumba.splitters.random_threshold import draw_cut
from dtnumba.targets import keep, rest, rows_in, split_score, take, zero


class _RandomBinsFields(NamedTuple):
    codes: np.ndarray  # (n, p) uint8
    n_codes: np.ndarray  # (p,) int64
    low: np.ndarray
    high: np.ndarray
    first_code: np.ndarray
    rows: np.ndarray
    n_rows: int
    n_orders: int
    n_bins: int
    width: int
    counted: bool


@part
class RandomBins(CodedRows, NothingKept, _RandomBinsFields):
    """Codes by row, what values they stand for, and the rows in node order."""

    __slots__ = ()

    def new_scratch(self, n, workers):
        p, table = self.codes.shape[1], self.codes.shape[1] * self.n_bins * self.width
        return HistogramScratch(
            np.empty((workers, 0), np.int64),
            np.zeros((workers, table), np.int64),
            np.zeros((workers, p * 4), np.uint64),
            np.empty((workers, 258), np.int64),
            np.zeros((workers, 2), np.int64),
            np.empty((workers, n), np.uint32),
        )

    def with_rows(self, rows, n):
        return _like(self, self.codes, rows, n)

    def own_codes(self, workers, n_few):
        return np.empty((workers, n_few, self.codes.shape[1]), self.codes.dtype)

    def with_codes(self, codes):
        return _like(self, codes, self.rows, self.n_rows)

    def look(self, job, scratch, node, first, last, total):
        nodes, own, features, varying = job.growing.nodes, scratch.own, scratch.features, 0
        start, stop = nodes[node, START], nodes[node, STOP]
        fill_marked(self, job.target, own, features, first, last, start, stop)
        for i in range(first, last):
            f = features[i]
            base = (i - first) * self.n_bins * self.width
            list_marked(own, i - first)
            found = _try_one(self, job, scratch, node, f, base, stop - start, total)
            varying += found != CONSTANT
            clear_listed(own, base, self.width)
        return varying


@inline
def _like(splitter, codes, rows, n):
    return RandomBins(
        codes,
        splitter.n_codes,
        splitter.low,
        splitter.high,
        splitter.first_code,
        rows,
        n,
        splitter.n_orders,
        splitter.n_bins,
        splitter.width,
        splitter.counted,
    )


@inline
def _try_one(splitter, job, scratch, node, f, base, n, total):
    """Draw the threshold of one feature and score it, missing rows on the better side, or alone on the right."""
    own, out, work, limits, target = scratch.own, scratch.candidates, scratch.work, job.limits, job.target
    hist, occupied, width, missing_code = own.sparse, own.occupied, splitter.width, splitter.n_codes[f]
    m, n_missing = occupied[0], np.int64(0)
    out.gain[f] = NO_GAIN
    if occupied[m] == missing_code:
        n_missing = rows_in(target, hist, np.uint64(base + missing_code * width), width)
        m -= 1
    if m == 0 or (m == 1 and n_missing == 0):
        return CONSTANT
    smallest, largest = occupied[1], occupied[m]
    cut, threshold = smallest, np.inf
    if smallest < largest:
        cut, threshold = draw_cut(splitter, job, node, f, smallest, largest)
    bar, best_code, best_side, best_n = NO_GAIN, np.int64(-1), 0, np.int64(0)
    best_left = zero(target, work.best)
    for side in range(2 if n_missing > 0 else 1):
        left = zero(target, work.left)
        n_left = np.int64(0)
        if side == 1:
            left = take(target, left, hist, np.uint64(base + missing_code * width))
            n_left = n_missing
        for i in range(1, m + 1):
            at = np.uint64(base + occupied[i] * width)
            left = take(target, left, hist, at)
            n_left += rows_in(target, hist, at, width)
            # A cut stands after the last bin up to the drawn one, and between all values and the missing ones.
            stands = occupied[i + 1] > cut >= occupied[i] if i < m else n_missing > 0 and side == 0
            enough = limits.min_samples_leaf <= 1 or limits.min_samples_leaf <= n_left <= n - limits.min_samples_leaf
            if stands and enough:
                right = rest(target, total, left, work.right)
                score = split_score(target, job.criterion, left, right, work)
                if score > bar and heavy_enough(target, left, right, limits.min_weight_leaf):
                    bar, best_code, best_side, best_n = score, np.int64(cut if i < m else largest), side, n_left
                    best_left = keep(target, left, work.best)
    if best_code < 0:
        return BARREN
    right = rest(target, total, best_left, work.right)
    only_missing_right = best_code == largest
    missing_left = np.int64(best_side) if n_missing > 0 else is_heavier(target, best_left, right)
    after = np.int64(NOTHING) if only_missing_right else best_code + 1
    out.cut[f] = np.inf if only_missing_right else threshold
    record_split(out, f, target, job.criterion, best_left, right, work, (best_n, best_code, after, missing_left))
    return FOUND
