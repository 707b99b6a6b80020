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
from dtnumba.growth.policies.feature_sampling import side_by_side
from dtnumba.growth.splitters.coded_rows import CodedRows, NothingKept, score_two_rows
from dtnumba.growth.splitters.scans.scan_bins import Tables, scan_bins
from dtnumba.growth.splitters.scans.scan_ranked import score_ranked_codes
from dtnumba.growth.targets.contract import holds_rows, is_ranked, item_of, packed_for, put_item
from dtnumba.runtime.bits import prefetch
from dtnumba.runtime.kernels import by_class, by_having, by_type, inline, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.tasks import launch, take_ticket

# Below this many rows, walking the occupied bins beats clearing and scanning whole tables.
WHOLE_TABLE_ROWS = 1024
# Dense tables a worker may keep: enough for log2(rows) open nodes where memory allows.
KEPT_TABLES, KEPT_BYTES = 24, 1 << 28
_ONE, _TWO, _FOUR, _SIX = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(6)
_THREE, _FIVE = 3, 5  # tables filled at once: sqrt(28) features are five
_63, _64 = np.uint64(63), np.uint64(64)
# From this many rows on most bins are touched, and looking for them afterwards is cheaper than marking every cell.
MARKED_ROWS = 512
# Rows whose codes are asked for ahead.
_AHEAD = np.uint64(16)


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

    def slot_of(self, nodes, node):
        return np.int64(nodes[node, col.SLOT])

    def begin(self, growing, target, limits, own, node):
        nodes = growing.nodes
        if limits.n_drawn < self.codes.shape[1] or nodes[node, col.STOP] - nodes[node, col.START] < WHOLE_TABLE_ROWS:
            return
        if nodes[node, col.SLOT] == col.NO_SLOT:
            nodes[node, col.SLOT] = _take_slot(own)
            _fill_table(self, target, own, nodes[node, col.SLOT], nodes[node, col.START], nodes[node, col.STOP])

    def score_features(self, job, scratch, node, first, last, total):
        return score_codes(job.target, self, job, scratch, node, first, last, total)

    def inherit(self, growing, target, own, node, left):
        nodes, slot = growing.nodes, growing.nodes[node, col.SLOT]
        if slot == col.NO_SLOT:
            return
        small, large = left, left + 1
        if nodes[small, col.STOP] - nodes[small, col.START] > nodes[large, col.STOP] - nodes[large, col.START]:
            small, large = large, small
        if nodes[large, col.FEATURE] == col.LEAF or nodes[large, col.STOP] - nodes[large, col.START] < WHOLE_TABLE_ROWS:
            _give_slot(own, slot)
            return
        other, size = _take_slot(own), self.codes.shape[1] * self.n_bins * self.width
        _fill_table(self, target, own, other, nodes[small, col.START], nodes[small, col.STOP])
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

    def fill_together(self, target, start, stop, workers):
        n_blocks = min(workers, max(1, (stop - start) // WHOLE_TABLE_ROWS))
        size = self.codes.shape[1] * self.n_bins * self.width
        edges = np.linspace(start, stop, n_blocks + 1).astype(np.int64)
        tables = np.zeros(n_blocks * size, np.int64)
        launch(FillTogether(self, target, edges, tables, np.zeros(1, np.int64)), workers)
        return tables.reshape(n_blocks, size).sum(axis=0)

    def release(self, growing, own, node):
        if growing.nodes[node, col.SLOT] != col.NO_SLOT:
            _give_slot(own, growing.nodes[node, col.SLOT])
            growing.nodes[node, col.SLOT] = col.NO_SLOT


@kernel_type
class FillTogether(NamedTuple):
    """Fill one histogram a block of a node's rows; integers, so their sum is the node's to the bit."""

    splitter: object
    target: object
    edges: np.ndarray  # (n_blocks + 1,) int64
    tables: np.ndarray  # (n_blocks * table,) int64, zeros
    counter: np.ndarray

    def run(self, worker):
        size = len(self.tables) // (len(self.edges) - 1)
        while True:
            k = take_ticket(self.counter)
            if k >= len(self.edges) - 1:
                break
            fill_rows(self.splitter, self.target, self.tables, k * size, self.edges[k], self.edges[k + 1])


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
def fill_rows(splitter, target, table, base, start, stop):
    """Add rows [start, stop) of the node order to the tables of all features; unsigned positions, as in the scan."""
    p, width = np.uint64(splitter.codes.shape[1]), np.uint64(splitter.width)
    stride = np.uint64(splitter.n_bins) * width
    for i in range(start, stop):
        row, at = splitter.rows[i], np.uint64(base)
        item = item_of(target, row)
        for f in range(p):
            put_item(target, table, at + np.uint64(splitter.codes[row, f]) * width, item)
            at += stride
    if splitter.counted:
        for i in range(start, stop):
            row, at = splitter.rows[i], np.uint64(base) + width - _ONE
            for f in range(p):
                table[at + np.uint64(splitter.codes[row, f]) * width] += 1
                at += stride


@inline
def _fill_table(splitter, target, own, slot, start, stop):
    size = splitter.codes.shape[1] * splitter.n_bins * splitter.width
    for k in range(slot * size, (slot + 1) * size):
        own.tables[k] = 0
    fill_rows(splitter, target, own.tables, slot * size, start, stop)


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
        fill_some(splitter, width, packed, own, features, first, last, nodes[node, col.START], nodes[node, col.STOP])
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


@inline
def fill_some(splitter, bin_width, target, own, features, first, last, start, stop):
    """Fill the tables of features[first:last], end to end, and mark the bins touched where these are looked for so.

    Positions are unsigned and tables stand in the order of the draw: a signed index and a product a cell cost a third.
    A pass over the rows fills five tables at once, what is left over three or one: loops of known length are unrolled.
    """
    width = np.uint64(bin_width)
    if width != _ONE and stop - start < MARKED_ROWS:
        _fill_marking(splitter, width, target, own, features, first, last, start, stop)
    else:
        at = first
        while at + _FIVE <= last:
            fill_five(target, splitter, width, own, features, at, first, start, stop)
            at += _FIVE
        while at + _THREE <= last:
            fill_three(target, splitter, width, own, features, at, first, start, stop)
            at += _THREE
        while at < last:
            _fill_one(splitter, width, target, own, features, at, first, start, stop)
            at += 1
    if splitter.counted:
        stride = np.uint64(splitter.n_bins) * width
        for i in range(np.uint64(start), np.uint64(stop)):
            row, at = np.uint64(splitter.rows[i]), width - _ONE
            for j in range(np.uint64(first), np.uint64(last)):
                own.sparse[at + np.uint64(splitter.codes[row, np.uint64(features[j])]) * width] += 1
                at += stride
    if width != _ONE and stop - start >= MARKED_ROWS:
        for j in range(last - first):
            base, n_codes = j * splitter.n_bins * bin_width, splitter.n_codes[features[first + j]]
            mark_occupied(target, own.sparse, base, bin_width, n_codes, own.masks, j)


@inline
def _fill_one(splitter, width, target, own, features, at, first, start, stop):
    """Fill the table of features[at]."""
    stride = np.uint64(splitter.n_bins) * width
    table, end, f = np.uint64(at - first) * stride, np.uint64(stop - 1), np.uint64(features[np.uint64(at)])
    for i in range(np.uint64(start), np.uint64(stop)):
        row = np.uint64(splitter.rows[i])
        prefetch(splitter.codes, np.uint64(splitter.rows[min(i + _AHEAD, end)]), f)
        put_item(target, own.sparse, table + np.uint64(splitter.codes[row, f]) * width, item_of(target, row))


@inline
def _three_from(features, k, to, stride):
    """Return three features from the k-th on, and where their tables begin, the first at ``to``."""
    a, b, c = np.uint64(features[k]), np.uint64(features[k + _ONE]), np.uint64(features[k + _TWO])
    return (a, b, c), (to, to + stride, to + stride + stride)


@inline
def _put_three(target, table, codes, row, features, to, width, item):
    """Add a row's item to the bins of three features."""
    put_item(target, table, to[0] + np.uint64(codes[row, features[0]]) * width, item)
    put_item(target, table, to[1] + np.uint64(codes[row, features[1]]) * width, item)
    put_item(target, table, to[2] + np.uint64(codes[row, features[2]]) * width, item)


@inline
def _fill_three_of(target, splitter, own, features, at, first, start, stop, width):
    """Fill the tables of features[at : at + 3]."""
    codes, rows, k, end = splitter.codes, splitter.rows, np.uint64(at), np.uint64(stop - 1)
    stride = np.uint64(splitter.n_bins) * width
    (a, b, c), (to_a, to_b, to_c) = _three_from(features, k, np.uint64(at - first) * stride, stride)
    for i in range(np.uint64(start), np.uint64(stop)):
        row = np.uint64(rows[i])
        prefetch(codes, np.uint64(rows[min(i + _AHEAD, end)]), a)
        item = item_of(target, row)
        _put_three(target, own.sparse, codes, row, (a, b, c), (to_a, to_b, to_c), width, item)


@inline
def _fill_five_of(target, splitter, own, features, at, first, start, stop, width):
    """Fill the tables of features[at : at + 5]."""
    codes, rows, k, end = splitter.codes, splitter.rows, np.uint64(at), np.uint64(stop - 1)
    stride = np.uint64(splitter.n_bins) * width
    (a, b, c), (to_a, to_b, to_c) = _three_from(features, k, np.uint64(at - first) * stride, stride)
    d, e = np.uint64(features[k + np.uint64(3)]), np.uint64(features[k + _FOUR])
    to_d, to_e = to_c + stride, to_c + stride + stride
    for i in range(np.uint64(start), np.uint64(stop)):
        row = np.uint64(rows[i])
        prefetch(codes, np.uint64(rows[min(i + _AHEAD, end)]), a)
        item = item_of(target, row)
        _put_three(target, own.sparse, codes, row, (a, b, c), (to_a, to_b, to_c), width, item)
        put_item(target, own.sparse, to_d + np.uint64(codes[row, d]) * width, item)
        put_item(target, own.sparse, to_e + np.uint64(codes[row, e]) * width, item)


def _fill_by(fill):
    """Make a fill of several tables, compiled for bins of one number too where the target may have such bins.

    The features of a pass are read once, and a bin of one number is found without a product: a row of five took 11.6
    cycles with seven products, of which one is done a cycle.
    """

    def wide(target, splitter, width, own, features, at, first, start, stop):
        fill(target, splitter, own, features, at, first, start, stop, width)

    def wide_or_one(target, splitter, width, own, features, at, first, start, stop):
        if width == _ONE:
            fill(target, splitter, own, features, at, first, start, stop, _ONE)
        else:
            fill(target, splitter, own, features, at, first, start, stop, width)

    return by_having("may_pack", wide_or_one, wide)


fill_three, fill_five = _fill_by(_fill_three_of), _fill_by(_fill_five_of)


@inline
def _fill_marking(splitter, width, target, own, features, first, last, start, stop):
    """Fill tables and mark the bins touched, one pass over the rows."""
    stride = np.uint64(splitter.n_bins) * width
    for i in range(np.uint64(start), np.uint64(stop)):
        row, at, word = np.uint64(splitter.rows[i]), np.uint64(0), np.uint64(0)
        item = item_of(target, row)
        for j in range(np.uint64(first), np.uint64(last)):
            code = np.uint64(splitter.codes[row, np.uint64(features[j])])
            put_item(target, own.sparse, at + code * width, item)
            own.masks[word + (code >> _SIX)] |= _ONE << (code & _63)
            at += stride
            word += _FOUR


@inline
def mark_occupied(target, table, base, width, n_codes, masks, slot):
    """Mark the bins of a table that hold rows."""
    for word in range(_FOUR):
        mask, begin = np.uint64(0), word << _SIX
        for code in range(begin, min(begin + _64, np.uint64(n_codes + 1))):
            at = np.uint64(base) + code * np.uint64(width)
            mask |= np.uint64(holds_rows(target, table, at, width)) << (code & _63)
        masks[(np.uint64(slot) << _TWO) + word] = mask
