# mypy: ignore-errors
# ruff: noqa: D102
"""Exact splits: every feature's rows are sorted once, and every split keeps every order sorted (SLIQ, SPRINT, rpart).

O(d n log n) once and O(d n) a level. A record is 4 bytes: the row and whether its value differs from the one before,
so neither values nor ranks are read while growing.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import NO_GAIN
from dtnumba.growth import columns as col
from dtnumba.growth.splitters.candidates import CONSTANT, FOUND
from dtnumba.growth.splitters.coded_rows import NothingKept
from dtnumba.growth.splitters.partition import mark_sides, partition_sequence
from dtnumba.growth.splitters.scans.scan_rows import scan_order
from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.tasks import launch, take_ticket
from dtnumba.tables.presort import MISSING, ROW


@kernel_type
class RowBuffer(NamedTuple):
    """Room for the rows that go right while a node is divided."""

    buffer: np.ndarray  # (n,) uint32


class _PresortedFields(NamedTuple):
    order: np.ndarray  # (n_orders * n_rows,) uint32
    side: np.ndarray  # (n_table_rows,) uint8 scratch shared by workers: their rows are disjoint
    n_rows: int
    n_orders: int  # features, and one more an output where a criterion wants the order of the targets
    n_features: int
    last_depth: int  # nodes this deep are leaves


@kernel_type
class Presorted(NothingKept, _PresortedFields):
    """Rows of every feature in its order, end to end: records [f * n_rows, (f + 1) * n_rows) are those of feature f."""

    __slots__ = ()

    def new_scratch(self, n, workers):
        return RowBuffer(per_worker(workers, n, np.uint32))

    def row_at(self, i):
        return self.order[i] & ROW

    def row_in_order(self, o, i):
        return self.order[(self.n_features + o) * self.n_rows + i] & ROW

    def score_features(self, job, scratch, node, first, last, total):
        start, stop = job.growing.nodes[node, col.START], job.growing.nodes[node, col.STOP]
        features, gains, varying = scratch.features, scratch.candidates.gain, 0
        for i in range(first, last):
            base = features[i] * self.n_rows
            found = scan_order(
                job.target, self.order, base + start, base + stop, start, features[i], job, scratch, total
            )
            varying += found != CONSTANT
            if found == FOUND and stop - start == 2:
                # Two rows can be parted in one way only, so the first feature that does it wins. A third of the nodes
                # of a fully grown tree are such pairs.
                for j in range(i + 1, last):
                    gains[features[j]] = NO_GAIN
                break
        return varying

    def divide(self, job, scratch, node):
        nodes = job.growing.nodes
        _mark(self, job.growing, node)
        start, stop = nodes[node, col.START], nodes[node, col.STOP]
        # Where the children are leaves, only the order that names a node's rows must be right (and those of targets).
        ends = stop - start == 2 or nodes[node, col.DEPTH] + 1 >= self.last_depth
        _divide_orders(self, start, stop, ends, scratch.own.buffer)
        return start + nodes[node, col.LEFT_ROWS]

    def divide_together(self, nodes, node, buffer, workers):
        start, stop = int(nodes[node, col.START]), int(nodes[node, col.STOP])
        self._mark_sides(nodes, node, start, stop)
        launch(PartitionTogether(self, buffer, start, stop, np.zeros(1, np.int64)), workers)
        return start + int(nodes[node, col.LEFT_ROWS])

    def _mark_sides(self, nodes, node, start, stop):
        """Mark which rows of a node go left (``partition.mark_sides`` in NumPy, which has nothing to compile)."""
        base = nodes[node, col.FEATURE] * self.n_rows
        records = self.order[base + start : base + stop]
        goes_left = np.zeros(stop - start, np.uint8)
        missing, missing_left = (records & MISSING) != 0, nodes[node, col.MISSING_LEFT]
        goes_left[: nodes[node, col.LEFT_ROWS] - (missing.sum() if missing_left else 0)] = 1
        goes_left[missing] = missing_left
        self.side[records & ROW] = goes_left

    def divide_by_level(self, start, stop, codes, column, side, buffer):
        n_left = np.int64(0)
        for i in range(start, stop):
            row = self.order[i] & ROW
            goes_left = side[codes[row, column]]
            self.side[row] = goes_left
            n_left += np.int64(goes_left)
        _divide_orders(self, start, stop, stop - start == 2, buffer)
        return start + n_left


@kernel_type
class PartitionTogether(NamedTuple):
    """Divide the presorted orders of one node, each by whichever worker is free; the sides are marked already."""

    splitter: object
    buffer: np.ndarray  # (workers, places, n) uint32
    start: int
    stop: int
    counter: np.ndarray

    def run(self, worker):
        while True:
            f = take_ticket(self.counter)
            if f >= self.splitter.n_orders:
                break
            partition_sequence(
                self.splitter.order,
                f * self.splitter.n_rows,
                self.start,
                self.stop,
                self.splitter.side,
                self.buffer[worker, 0],
            )


@inline
def _divide_orders(splitter, start, stop, ends, buffer):
    """Divide the order of every feature by the sides marked; where growth ends, only that which names the rows."""
    skips = splitter.n_features - 1 if ends else 0
    for f in range(splitter.n_orders):
        if f == 0 or f > skips:
            partition_sequence(splitter.order, f * splitter.n_rows, start, stop, splitter.side, buffer)


@inline
def _mark(splitter, growing, node):
    nodes = growing.nodes
    base = nodes[node, col.FEATURE] * splitter.n_rows
    mark_sides(
        splitter.order,
        base,
        nodes[node, col.START],
        nodes[node, col.STOP],
        nodes[node, col.LEFT_ROWS],
        nodes[node, col.MISSING_LEFT],
        splitter.side,
    )
