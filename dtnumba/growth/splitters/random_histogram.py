# mypy: ignore-errors
# ruff: noqa: D102
"""One random threshold a feature over histogram codes: a pass over a node's rows for the extremes, one for the sums.

The threshold is uniform in value between the node's smallest and largest value, as in ``random_exact``, and lies at
the edge of the bin that it falls into. No histogram is filled: one cut a feature needs two sums, not 255. Both passes
treat 32 columns at once, drawn or not (see ``column_blocks``): a feature of its own would take as long.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.splitters.coded_rows import CodedRows, NothingKept, score_two_rows
from dtnumba.growth.splitters.random_exact import draw_cut
from dtnumba.growth.splitters.scans.random_scan import STEPS, score_at_once
from dtnumba.runtime.instructions.column_blocks import COLUMNS, SPARE, at_most_among_16
from dtnumba.runtime.kernels import kernel_type
from dtnumba.runtime.memory import per_worker


@kernel_type
class RandomBinsScratch(NamedTuple):
    """Notes of one worker on the features that a node looks at: by column, or in the order of the draw."""

    smallest: np.ndarray  # (p,) of the codes' type: code, by column
    largest: np.ndarray  # (p,)
    cuts: np.ndarray  # (p,): last code that goes left
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


class OneCutAFeature(CodedRows, NothingKept):
    """Codes by row, what values they stand for, and the rows in node order; cuts of 32 columns are scored at once."""

    __slots__ = ()
    draws_thresholds = True

    def new_scratch(self, n, workers):
        p, code = self.codes.shape[1], self.codes.dtype
        n_blocks = -(-p // COLUMNS)
        return RandomBinsScratch(
            per_worker(workers, p + COLUMNS, code, 0),
            per_worker(workers, p + COLUMNS, code, 0),
            per_worker(workers, p + COLUMNS, code, 0),
            per_worker(workers, self.n_sums * (p + COLUMNS), np.int64, 0),
            per_worker(workers, n_blocks + 1, np.int64, 0),
            per_worker(workers, p + 8, np.uint64, 0),
            per_worker(workers, p + 8, np.float64, 0),
            per_worker(workers, p + 8, np.float64, 0),
            per_worker(workers, p, np.int64),
            per_worker(workers, self.n_sums, np.int64),
            per_worker(workers, (4, p + 8), np.int64, 0),
            per_worker(workers, p * 3 * self.width, np.int64, 0),
            per_worker(workers, n, np.uint32),
        )

    @property
    def copies_codes(self):
        return True

    def score_features(self, job, scratch, node, first, last, total):
        varying = score_two_rows(job.target, self, job, scratch, node, first, last, total)
        if varying >= 0:
            return varying
        return score_at_once(job.target, self, job, scratch, node, first, last, total)

    def cut_between(self, job, scratch, f, node, below, above):
        cut, scratch.candidates.cut[f] = draw_cut(self, job, node, f, below, above)
        return cut, cut + 1


class _RandomBinsFields(NamedTuple):
    codes: np.ndarray  # (n, p) uint8, and SPARE more behind
    n_codes: np.ndarray  # (p,) int64
    n_sums: int
    width: int
    counted: bool
    low: np.ndarray  # (p * STEPS,) float64: smallest value of each code, infinite behind a feature's last one
    high: np.ndarray  # (p * STEPS,) float64: largest
    first_code: np.ndarray  # (p + 1,) int64: where a feature's codes stand in them
    strides: np.ndarray  # (p * 16,) float64: every sixteenth of ``high``
    rows: np.ndarray
    n_rows: int
    n_orders: int


@kernel_type
class RandomBins(OneCutAFeature, _RandomBinsFields):
    """Histogram codes."""

    __slots__ = ()

    def twice(self, codes, ends):
        # ``low`` and ``high`` have room for every code, so they are not those of the ends.
        low, high, strides, n_codes = (np.tile(part, 2) for part in (self.low, self.high, self.strides, self.n_codes))
        first_code = np.arange(len(n_codes) + 1) * STEPS
        changed = {"low": low, "high": high, "strides": strides, "n_codes": n_codes, "first_code": first_code}
        return self._replace(codes=with_spare(codes), **changed)

    def code_below(self, feature, threshold, smallest, largest):
        """Return the last code of smallest .. largest - 1 whose values all lie at or below the threshold, or smallest.

        Two comparisons of 16 ends; to go by halves takes eight that wait for one another.
        """
        f = np.uint64(feature)
        four = np.uint64(4)
        step = at_most_among_16(self.strides, f << four, threshold) << four
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
        n_sums,
        width,
        counted,
        low.ravel(),
        high.ravel(),
        np.arange(p + 1) * STEPS,
        np.ascontiguousarray(high[:, 15::16]).ravel(),
        rows,
        0,
        n_orders,
    )


def with_spare(codes):
    """Return a copy of codes that has SPARE more behind it."""
    room = np.zeros(codes.size + SPARE, codes.dtype)
    room[: codes.size] = codes.ravel()
    return room[: codes.size].reshape(codes.shape)
