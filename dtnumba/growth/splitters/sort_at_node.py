# mypy: ignore-errors
# ruff: noqa: D102
"""Exact splits where a node looks at few features: the node's rows are sorted by each feature it drew.

A presorted order of every feature would have to be kept up at every split; with sqrt(p) features a node, sorting those
by their ranks is less work.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.splitters.candidates import CONSTANT
from dtnumba.growth.splitters.coded_rows import CodedRows, NothingKept, score_two_rows
from dtnumba.growth.splitters.scans.bounded_scan import BoundedScratch, bounded_scan, is_left_out, new_bounded_scratch
from dtnumba.growth.splitters.scans.sorted_scan import N_DIGITS, score_all_cuts
from dtnumba.runtime.kernels import kernel_type
from dtnumba.runtime.memory import per_worker


@kernel_type
class RankSortScratch(NamedTuple):
    """Room to sort the rows of a node."""

    records: np.ndarray  # (n,) uint64: rank << 32 | row
    other: np.ndarray  # (n,) uint64
    counts: np.ndarray  # (2048,) uint32
    buffer: np.ndarray  # (n + 16,) uint32
    likely: BoundedScratch


class _RankSortFields(NamedTuple):
    codes: np.ndarray  # (n, p) uint8, uint16 or uint32
    n_codes: np.ndarray  # (p,) int64
    rows: np.ndarray  # (n_orders * n_rows,) uint32
    n_rows: int
    n_orders: int


@kernel_type
class RankSort(CodedRows, NothingKept, _RankSortFields):
    """Ranks by row, and the rows in node order."""

    __slots__ = ()
    grows_small = True

    def new_scratch(self, n, workers):
        records, other = per_worker(workers, n, np.uint64), per_worker(workers, n, np.uint64)
        return RankSortScratch(
            records,
            other,
            per_worker(workers, N_DIGITS, np.uint32),
            per_worker(workers, n + 16, np.uint32),
            new_bounded_scratch(n, self.codes.shape[1], workers),
        )

    @property
    def copies_codes(self):
        return True

    def score_features(self, job, scratch, node, first, last, total):
        varying = score_two_rows(job.target, self, job, scratch, node, first, last, total)
        if varying >= 0:
            return varying
        varying = bounded_scan(job.target, self, job, scratch, node, first, last, total)
        for i in range(first, last):
            if is_left_out(scratch.own.likely, i):
                varying += score_all_cuts(self, job, scratch, node, scratch.features[i], total) != CONSTANT
        return varying
