# mypy: ignore-errors
# ruff: noqa: D102
"""Targets whose order counts (absolute_error): only weights are summed, and a row has a rank at its node.

The rows of a node are kept in the order of the target as well as of the features. A row's place in that order is its
rank at the node, by which ``scan_ranked`` finds the medians of both sides of a cut.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.targets.contract import with_moments, with_scratch, with_weights
from dtnumba.growth.targets.leaf_values import RankedLeaves, row_at, row_in_order
from dtnumba.runtime.kernels import kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.records import replacing


class _RankedFields(NamedTuple):
    moments: np.ndarray  # (n, n_outputs) int64: weight * (y - offset) in units of ``units``
    units: np.ndarray  # (n_outputs,) float64
    centred: np.ndarray  # (n, n_outputs) float64: y - offset
    # (n, n_outputs) int64 scratch. While growing a row's place in the order of the target, at the end that order
    rank: np.ndarray
    merged: np.ndarray  # (n,) int64 scratch
    by_rank: np.ndarray  # (n, n_outputs) float64 scratch: ``centred`` of a node's rows in that order, at START + rank
    weights: np.ndarray  # (n,) int64
    unit: float
    y: np.ndarray  # (n, n_outputs)
    n_stats: int
    n_weights: int  # 0: no statistics are summed but the weight


@kernel_type
class OwnOrders(NamedTuple):
    """Moments of a tree, and the scratch of a worker."""

    moments: np.ndarray
    rank: np.ndarray
    merged: np.ndarray
    by_rank: np.ndarray


_with_rank, _with_merged, _with_by_rank = replacing("rank"), replacing("merged"), replacing("by_rank")


@kernel_type
class Ranked(RankedLeaves, _RankedFields):
    """Numbers whose order counts. Its statistics are only the weight; the costs come from the trees."""

    __slots__ = ()
    is_ranked = True

    def zero(self, buffer):
        return np.int64(0)

    def add(self, stats, row):
        return stats + self.weights[row]

    def sum_rows(self, rows, stats, start, stop):
        for i in range(start, stop):
            stats += self.weights[row_at(rows, i)]
        return stats

    def load(self, sums, buffer):
        return sums[0]

    def store(self, stats, sums):
        sums[0] = stats

    def put(self, sums, at, row):
        sums[at] += self.weights[row]

    def weight(self, stats):
        return float(stats) * self.unit

    def is_pure(self, stats, rows, start, stop):
        for o in range(self.y.shape[1]):
            if self.y[row_in_order(rows, o, start), o] != self.y[row_in_order(rows, o, stop - 1), o]:
                return False
        return True

    def own_arrays(self, workers, n_small, n):
        merged = per_worker(workers, len(self.y), np.int64, 0)
        return OwnOrders(
            *(per_worker(workers, self.y.shape, np.int64, 0) for _ in range(2)),
            merged,
            per_worker(workers, self.y.shape, fill=0),
        )

    def with_scratch(self, own):
        return _with_by_rank(_with_merged(_with_rank(self, own.rank), own.merged), own.by_rank)

    def with_counts(self, own, counts, rows, n):
        for i in range(n):
            row = rows[i]
            for o in range(self.moments.shape[1]):
                own.moments[row, o] = self.moments[row, o] * np.int64(counts[row])
        return with_weights(with_moments(with_scratch(self, own), own.moments), counts)

    def own_size(self, n):
        return n + 1

    def rank_rows(self, rows, start, stop):
        for o in range(self.y.shape[1]):
            for i in range(start, stop):
                row = row_in_order(rows, o, i)
                self.rank[row, o] = i - start
                self.by_rank[i, o] = self.centred[row, o]
