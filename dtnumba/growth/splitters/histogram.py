# mypy: ignore-errors
# ruff: noqa: D102
"""Splits over histograms of codes: at most 255 values a feature and one for missing.

Two ways to fill one: a node of many rows builds dense tables of all features and keeps them, so that of two children
only the smaller reads its rows and the other is a subtraction (exact: integers); a node of few rows, or one that looks
at some features only, marks the bins it touches in bit masks, and pays for these alone.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import chooses_by_more
from dtnumba.growth import columns as col
from dtnumba.growth.nodes import smaller_child
from dtnumba.growth.policies.feature_sampling import side_by_side
from dtnumba.growth.splitters.coded_rows import CodedRows, NothingKept, score_two_rows
from dtnumba.growth.splitters.contract import spare_slot, table_cells
from dtnumba.growth.splitters.fill_tables import fill_some, mark_occupied
from dtnumba.growth.splitters.scans.scan_bins import Tables, scan_bins
from dtnumba.growth.splitters.scans.scan_ranked import score_ranked_codes
from dtnumba.growth.targets.contract import is_ranked, item_of, packed_for, put_item
from dtnumba.runtime.kernels import by_class, by_type, inline, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.records import replacing

# Below this many rows, walking the occupied bins beats clearing and scanning whole tables.
WHOLE_TABLE_ROWS = 1024
# Dense tables a worker may keep: enough for log2(rows) open nodes where memory allows.
KEPT_TABLES, KEPT_BYTES = 24, 1 << 28
_ONE = np.uint64(1)
_with_tables = replacing("tables")


@kernel_type
class HistogramScratch(NamedTuple):
    """Tables of one worker. Slot ``n_slots - 1`` is never kept."""

    tables: np.ndarray  # (n_slots * table + 64,) int64: 64 bins are looked at at once
    sparse: np.ndarray  # (table + 64,) int64, zero between uses
    masks: np.ndarray  # (p * 4,) uint64, zero between uses
    occupied: np.ndarray  # (258,) int64
    free: np.ndarray  # (n_slots + 1,) int64: their number, then the free slots
    buffer: np.ndarray  # (n,) uint32


class _HistogramFields(NamedTuple):
    codes: np.ndarray  # (n, p) uint8, C order: one or two cache lines hold all of a row
    n_codes: np.ndarray  # (p,) int64: the code of a missing value
    rows: np.ndarray  # (n_orders * n_rows,) uint32
    n_rows: int
    n_orders: int  # 1; for the order of the targets one an output
    n_bins: int  # of a table, per feature
    width: int  # numbers a bin
    counted: bool  # the last number of a bin counts its rows


@kernel_type
class Histogram(CodedRows, _HistogramFields):
    """Codes by row, and the rows in node order."""

    __slots__ = ()

    def new_scratch(self, n, workers):
        table = self.codes.shape[1] * self.n_bins * self.width
        n_slots = min(KEPT_TABLES, max(2, KEPT_BYTES // (8 * table))) if n >= WHOLE_TABLE_ROWS else 1
        return _new_scratch(self, n, workers, n_slots)

    @property
    def copies_codes(self):
        return True

    @property
    def keeps_tables(self):
        return True

    def slot_of(self, nodes, node):
        return np.int64(nodes[node, col.SLOT])

    def begin(self, growing, limits, own, node):
        nodes = growing.nodes
        is_small = nodes[node, col.STOP] - nodes[node, col.START] < WHOLE_TABLE_ROWS
        if limits.n_drawn < self.codes.shape[1] or is_small or nodes[node, col.SLOT] != col.NO_SLOT:
            return np.int64(-1)
        nodes[node, col.SLOT] = _take_slot(own)
        return np.int64(nodes[node, col.SLOT])

    def score_features(self, job, scratch, node, first, last, total):
        return score_codes(job.target, self, job, scratch, node, first, last, total)

    def inherit(self, growing, own, node, left):
        nodes, slot = growing.nodes, growing.nodes[node, col.SLOT]
        if slot == col.NO_SLOT:
            return np.int64(-1)
        large = 2 * left + 1 - smaller_child(nodes, left)
        if nodes[large, col.FEATURE] == col.LEAF or nodes[large, col.STOP] - nodes[large, col.START] < WHOLE_TABLE_ROWS:
            _give_slot(own, slot)
            return np.int64(-1)
        return np.int64(_take_slot(own))

    def subtract(self, growing, own, node, left, other):
        nodes, slot, size = growing.nodes, np.int64(growing.nodes[node, col.SLOT]), table_cells(self)
        small = smaller_child(nodes, left)
        large = 2 * left + 1 - small
        for k in range(size):
            own.tables[slot * size + k] -= own.tables[other * size + k]
        nodes[large, col.SLOT] = slot
        if (
            nodes[small, col.FEATURE] != col.LEAF
            and nodes[small, col.STOP] - nodes[small, col.START] >= WHOLE_TABLE_ROWS
        ):
            nodes[small, col.SLOT] = other
        else:
            _give_slot(own, other)

    def table_cells(self):
        return np.int64(self.codes.shape[1] * self.n_bins * self.width)

    def spare_slot(self, own):
        return np.int64(len(own.free) - 2)

    def with_tables_of(self, own, other):
        return _with_tables(own, other.tables)

    def clear_table(self, own, slot):
        size = table_cells(self)
        for k in range(slot * size, (slot + 1) * size):
            own.tables[k] = 0

    def fill_table(self, target, own, slot, start, stop, first, last):
        _fill_rows(self, target, own.tables, slot * table_cells(self), (start, stop), (first, last))

    def add_table(self, own, slot, other):
        size = table_cells(self)
        to, at = slot * size, spare_slot(self, other) * size
        for k in range(size):
            own.tables[to + k] += other.tables[at + k]

    def release(self, growing, own, node):
        if growing.nodes[node, col.SLOT] != col.NO_SLOT:
            _give_slot(own, growing.nodes[node, col.SLOT])
            growing.nodes[node, col.SLOT] = col.NO_SLOT


@kernel_type
class DrawnHistogram(NothingKept, CodedRows, _HistogramFields):
    """Codes by row, where a node looks at some features only, so that no tables are kept: a second less to compile."""

    __slots__ = ()
    grows_small = True

    def new_scratch(self, n, workers):
        return _new_scratch(self, n, workers, 0)

    @property
    def copies_codes(self):
        return True

    def score_features(self, job, scratch, node, first, last, total):
        return score_codes(job.target, self, job, scratch, node, first, last, total)

    def slot_of(self, nodes, node):
        return np.int64(col.NO_SLOT)


slot_of = by_type("slot_of")


def _new_scratch(splitter, n, workers, n_slots):
    p, table = splitter.codes.shape[1], splitter.codes.shape[1] * splitter.n_bins * splitter.width
    free = per_worker(workers, n_slots + 1, np.int64)
    free_all(free)
    return HistogramScratch(
        per_worker(workers, n_slots * table + 64, np.int64),
        per_worker(workers, table + 64, np.int64, 0),
        per_worker(workers, p * 4, np.uint64, 0),
        per_worker(workers, 258, np.int64),
        free,
        per_worker(workers, n, np.uint32),
    )


def free_all(free):
    """Make every kept table of every worker free; the last one is never in the list (see ``_take_slot``)."""
    n_slots = free.shape[-1] - 1
    free[..., 0] = n_slots - 1
    free[..., 1:] = np.arange(n_slots)


@inline
def _take_slot(own):
    """Return a free slot, or the last one, whose table lives until the next call."""
    if own.free[0] == 0:
        return np.int64(len(own.free) - 2)
    own.free[0] -= 1
    return own.free[own.free[0] + 1]


@inline
def _give_slot(own, slot):
    if slot != len(own.free) - 2:
        own.free[own.free[0] + 1] = slot
        own.free[0] += 1


@inline
def _fill_rows(splitter, target, table, base, rows, columns):
    """Add a range of the node order to the tables of a range of columns; unsigned positions, as in the scan."""
    width = np.uint64(splitter.width)
    stride, first, last = np.uint64(splitter.n_bins) * width, np.uint64(columns[0]), np.uint64(columns[1])
    begin = np.uint64(base) + first * stride
    for i in range(rows[0], rows[1]):
        row, at = splitter.rows[i], begin
        item = item_of(target, row)
        for f in range(first, last):
            put_item(target, table, at + np.uint64(splitter.codes[row, f]) * width, item)
            at += stride
    if splitter.counted:
        for i in range(rows[0], rows[1]):
            row, at = splitter.rows[i], begin + width - _ONE
            for f in range(first, last):
                table[at + np.uint64(splitter.codes[row, f]) * width] += 1
                at += stride


def _score_codes(target, splitter, job, scratch, node, first, last, total):
    own, nodes, features = scratch.own, job.growing.nodes, scratch.features
    n = nodes[node, col.STOP] - nodes[node, col.START]
    stride, width = splitter.n_bins * splitter.width, splitter.width
    slot = slot_of(splitter, nodes, node)
    varying = score_two_rows(target, splitter, job, scratch, node, first, last, total)
    if varying >= 0:
        return varying
    packed = target
    if slot == col.NO_SLOT:
        packed = packed_for(target, total)
        width += packed.n_stats - target.n_stats
        fill_some(packed, splitter, width, own, features, first, last, nodes[node, col.START], nodes[node, col.STOP])
    varying, stride = 0, splitter.n_bins * width
    table, base = own.sparse, np.int64(0)
    if slot != col.NO_SLOT:
        table, base = own.tables, slot * splitter.codes.shape[1] * stride
    step = 1 if chooses_by_more(job.criterion) or side_by_side(job.features) else last - first
    for i in range(first, last, step):
        if slot != col.NO_SLOT and width != 1:
            for j in range(i, i + step):
                f = features[j]
                mark_occupied(target, table, base + f * stride, width, splitter.n_codes[f], own.masks, j - i)
        at = base + (i - first) * stride if slot == col.NO_SLOT else base
        masks = own.masks[(i - first) * 4 :] if slot == col.NO_SLOT else own.masks
        tables = Tables(table, at, width, slot == col.NO_SLOT, masks)
        varying += scan_bins(packed, splitter, tables, i, i + step, n, job, scratch, total)
    if slot == len(own.free) - 2:
        nodes[node, col.SLOT] = col.NO_SLOT  # the last table is not kept: the next node to need one overwrites it
    return varying


# Targets without sums put the rows in the order of their codes instead.
score_codes = by_class(is_ranked, score_ranked_codes, _score_codes)
