"""Exact splits where a node looks at few features: the node's rows are sorted by each feature it drew.

A presorted order of every feature would have to be kept up at every split; with sqrt(p) features a node, sorting those
by their ranks is less work.
"""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import part
from dtnumba.per_worker import per_worker
from dtnumba.scan import CONSTANT
from dtnumba.splitters import pick_own
from dtnumba.splitters.coded_rows import CodedRows, NothingKept, look_at_two_rows
from dtnumba.splitters.likely_cuts import LikelyCuts, is_left_out, look_at_likely_cuts, new_likely_cuts
from dtnumba.splitters.sorted_cuts import N_DIGITS, look_at_all_cuts


@part
class RankSortScratch(NamedTuple):
    """Room to sort the rows of a node."""

    records: np.ndarray  # (n,) uint64: rank << 32 | row
    other: np.ndarray  # (n,) uint64
    counts: np.ndarray  # (2048,) uint32
    buffer: np.ndarray  # (n + 16,) uint32
    likely: LikelyCuts

    def pick(self, worker):
        return RankSortScratch(
            self.records[worker],
            self.other[worker],
            self.counts[worker, 0],
            self.buffer[worker],
            pick_own(self.likely, worker),
        )


class _RankSortFields(NamedTuple):
    codes: np.ndarray  # (n, p) uint8, uint16 or uint32
    n_codes: np.ndarray  # (p,) int64
    rows: np.ndarray  # (n_orders * n_rows,) uint32
    n_rows: int
    n_orders: int


@part
class RankSort(CodedRows, NothingKept, _RankSortFields):
    """Ranks by row, and the rows in node order."""

    __slots__ = ()

    def new_scratch(self, n, workers):
        records, other = np.empty((workers, n), np.uint64), np.empty((workers, n), np.uint64)
        return RankSortScratch(
            records,
            other,
            per_worker(workers, N_DIGITS, np.uint32),
            np.empty((workers, n + 16), np.uint32),
            new_likely_cuts(n, self.codes.shape[1], workers),
        )

    def with_rows(self, rows, n):
        return RankSort(self.codes, self.n_codes, rows, n, self.n_orders)

    @property
    def copies_codes(self):
        return True

    def with_codes(self, codes):
        return RankSort(codes, self.n_codes, self.rows, self.n_rows, self.n_orders)

    def look(self, job, scratch, node, first, last, total):
        varying = look_at_two_rows(job.target, self, job, scratch, node, first, last, total)
        if varying >= 0:
            return varying
        varying = look_at_likely_cuts(job.target, self, job, scratch, node, first, last, total)
        for i in range(first, last):
            if is_left_out(scratch.own.likely, i):
                varying += look_at_all_cuts(self, job, scratch, node, scratch.features[i], total) != CONSTANT
        return varying
