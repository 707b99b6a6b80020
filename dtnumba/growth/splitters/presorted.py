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
from dtnumba.tables.presort import ROW


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
        ends = stop - start == 2 or nodes[node, col.DEPTH] + 1 >= self.last_depth
        _divide_orders(self, start, stop, ends, 0, self.n_orders, scratch.own.buffer)
        return start + nodes[node, col.LEFT_ROWS]

    def shares_of_division(self, job, node):
        n = np.int64(self.n_orders)
        return np.int64(0), n, n * (job.growing.nodes[node, col.STOP] - job.growing.nodes[node, col.START])

    def prepare_division(self, job, node):
        _mark(self, job.growing, node)

    def divide_share(self, job, scratch, node, first, last):
        nodes = job.growing.nodes
        ends = nodes[node, col.DEPTH] + 1 >= self.last_depth
        _divide_orders(self, nodes[node, col.START], nodes[node, col.STOP], ends, first, last, scratch.own.buffer)
        return np.int64(0)

    def finish_division(self, job, scratch, node, borders, step):
        return np.int64(job.growing.nodes[node, col.START] + job.growing.nodes[node, col.LEFT_ROWS])

    def divide_by_level(self, start, stop, codes, column, side, buffer):
        n_left = np.int64(0)
        for i in range(start, stop):
            row = self.order[i] & ROW
            goes_left = side[codes[row, column]]
            self.side[row] = goes_left
            n_left += np.int64(goes_left)
        _divide_orders(self, start, stop, stop - start == 2, 0, self.n_orders, buffer)
        return start + n_left


@inline
def _divide_orders(splitter, start, stop, ends, first, last, buffer):
    """Divide orders [first, last) by the sides marked; where growth ends, only that which names the rows."""
    skips = splitter.n_features - 1 if ends else 0
    for f in range(first, last):
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
