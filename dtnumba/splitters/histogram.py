"""Splits over histograms of codes: at most 255 values a feature and one for missing.

Two ways to fill one: a node of many rows builds dense tables of all features and keeps them, so that of two children
only the smaller reads its rows and the other is a subtraction (exact: integers); a node of few rows, or one that looks
at some features only, marks the bins it touches in bit masks, and pays for these alone.
"""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import by_having, by_type, inline, jitable, part, prefetch
from dtnumba.criteria import chooses_by_more
from dtnumba.frontier import side_by_side
from dtnumba.growing import FEATURE, LEAF, NO_SLOT, SLOT, START, STOP
from dtnumba.per_worker import per_worker
from dtnumba.scan_bins import scan_bins
from dtnumba.splitters.coded_rows import CodedRows, NothingKept, look_at_two_rows
from dtnumba.targets import holds_rows, item_of, packed_for, put_item

# Below this many rows, walking the occupied bins beats clearing and scanning whole tables.
DENSE_ROWS = 1024
# Dense tables a worker may keep: enough for log2(rows) open nodes where memory allows.
KEPT_TABLES, KEPT_BYTES = 24, 1 << 28

_ONE, _TWO, _FOUR, _SIX = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(6)
_THREE, _FIVE = 3, 5  # tables filled at once: sqrt(28) features are five
_63, _64 = np.uint64(63), np.uint64(64)
# From this many rows on most bins are touched, and looking for them afterwards is cheaper than marking every cell.
MARKED_ROWS = 512
# Rows whose codes are asked for ahead.
AHEAD = np.uint64(16)


@part
class HistogramScratch(NamedTuple):
    """Tables of one worker. Slot ``n_slots - 1`` is never kept."""

    tables: np.ndarray  # (n_slots * table + 64,) int64: 64 bins are looked at at once
    sparse: np.ndarray  # (table + 64,) int64, zero between uses
    masks: np.ndarray  # (p * 4,) uint64, zero between uses
    occupied: np.ndarray  # (258,) int64
    free: np.ndarray  # (n_slots + 1,) int64: their number, then the free slots
    buffer: np.ndarray  # (n,) uint32

    def pick(self, worker):
        return HistogramScratch(
            self.tables[worker],
            self.sparse[worker, 0],
            self.masks[worker, 0],
            self.occupied[worker, 0],
            self.free[worker, 0],
            self.buffer[worker],
        )


class _HistogramFields(NamedTuple):
    codes: np.ndarray  # (n, p) uint8, C order: one or two cache lines hold all of a row
    n_codes: np.ndarray  # (p,) int64: the code of a missing value
    rows: np.ndarray  # (n_orders * n_rows,) uint32
    n_rows: int
    n_orders: int  # 1; for the order of the targets one an output
    n_bins: int  # of a table, per feature
    width: int  # numbers a bin
    counted: bool  # the last number of a bin counts its rows


@part
class Histogram(CodedRows, _HistogramFields):
    """Codes by row, and the rows in node order."""

    __slots__ = ()

    def new_scratch(self, n, workers):
        table = self.codes.shape[1] * self.n_bins * self.width
        n_slots = min(KEPT_TABLES, max(2, KEPT_BYTES // (8 * table))) if n >= DENSE_ROWS else 1
        return _new_scratch(self, n, workers, n_slots)

    @property
    def copies_codes(self):
        return True

    def with_rows(self, rows, n):
        return Histogram(*fields_with(self, self.codes, rows, n))

    def with_codes(self, codes):
        return Histogram(*fields_with(self, codes, self.rows, self.n_rows))

    def slot_of(self, nodes, node):
        return np.int64(nodes[node, SLOT])

    def begin(self, growing, target, limits, own, node):
        nodes = growing.nodes
        if limits.n_drawn < self.codes.shape[1] or nodes[node, STOP] - nodes[node, START] < DENSE_ROWS:
            return
        if nodes[node, SLOT] == NO_SLOT:
            nodes[node, SLOT] = _take_slot(own)
            _fill_table(self, target, own, nodes[node, SLOT], nodes[node, START], nodes[node, STOP])

    def look(self, job, scratch, node, first, last, total):
        return look_at_codes(job.target, self, job, scratch, node, first, last, total)

    def inherit(self, growing, target, own, node, left):
        nodes, slot = growing.nodes, growing.nodes[node, SLOT]
        if slot == NO_SLOT:
            return
        small, large = left, left + 1
        if nodes[small, STOP] - nodes[small, START] > nodes[large, STOP] - nodes[large, START]:
            small, large = large, small
        if nodes[large, FEATURE] == LEAF or nodes[large, STOP] - nodes[large, START] < DENSE_ROWS:
            _give_slot(own, slot)
            return
        other, size = _take_slot(own), self.codes.shape[1] * self.n_bins * self.width
        _fill_table(self, target, own, other, nodes[small, START], nodes[small, STOP])
        for k in range(size):
            own.tables[slot * size + k] -= own.tables[other * size + k]
        nodes[large, SLOT] = slot
        if nodes[small, FEATURE] != LEAF and nodes[small, STOP] - nodes[small, START] >= DENSE_ROWS:
            nodes[small, SLOT] = other
        else:
            _give_slot(own, other)

    def release(self, growing, own, node):
        if growing.nodes[node, SLOT] != NO_SLOT:
            _give_slot(own, growing.nodes[node, SLOT])
            growing.nodes[node, SLOT] = NO_SLOT


@part
class DrawnHistogram(NothingKept, CodedRows, _HistogramFields):
    """The same where every node looks at some features only, so that no tables are kept: a second less to compile."""

    __slots__ = ()

    def new_scratch(self, n, workers):
        return _new_scratch(self, n, workers, 0)

    @property
    def copies_codes(self):
        return True

    def with_rows(self, rows, n):
        return DrawnHistogram(*fields_with(self, self.codes, rows, n))

    def with_codes(self, codes):
        return DrawnHistogram(*fields_with(self, codes, self.rows, self.n_rows))

    def look(self, job, scratch, node, first, last, total):
        return look_at_codes(job.target, self, job, scratch, node, first, last, total)

    def slot_of(self, nodes, node):
        return np.int64(NO_SLOT)


slot_of = by_type("slot_of")


def _new_scratch(splitter, n, workers, n_slots):
    p, table = splitter.codes.shape[1], splitter.codes.shape[1] * splitter.n_bins * splitter.width
    free = per_worker(workers, n_slots + 1, np.int64)
    free_all(free)
    return HistogramScratch(
        np.empty((workers, n_slots * table + 64), np.int64),
        per_worker(workers, table + 64, np.int64, 0),
        per_worker(workers, p * 4, np.uint64, 0),
        per_worker(workers, 258, np.int64),
        free,
        np.empty((workers, n), np.uint32),
    )


def free_all(free):
    """Make every kept table of every worker free; the last one is never in the list (see ``_take_slot``)."""
    n_slots = free.shape[-1] - 1
    free[..., 0] = n_slots - 1
    free[..., 1:] = np.arange(n_slots)


@inline
def fields_with(splitter, codes, rows, n):
    """Return the fields of a splitter with other rows."""
    return (
        codes,
        splitter.n_codes,
        rows,
        n,
        splitter.n_orders,
        splitter.n_bins,
        splitter.width,
        splitter.counted,
    )


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


def _look_at_codes(target, splitter, job, scratch, node, first, last, total):
    own, nodes, features = scratch.own, job.growing.nodes, scratch.features
    n = nodes[node, STOP] - nodes[node, START]
    stride, width = splitter.n_bins * splitter.width, splitter.width
    slot = slot_of(splitter, nodes, node)
    varying = look_at_two_rows(target, splitter, job, scratch, node, first, last, total)
    if varying >= 0:
        return varying
    packed = target
    if slot == NO_SLOT:
        packed = packed_for(target, total)
        width += packed.n_stats - target.n_stats
        fill_some(splitter, width, packed, own, features, first, last, nodes[node, START], nodes[node, STOP])
    varying, stride = 0, splitter.n_bins * width
    table, base = own.sparse, np.int64(0)
    if slot != NO_SLOT:
        table, base = own.tables, slot * splitter.codes.shape[1] * stride
    step = 1 if chooses_by_more(job.criterion) or side_by_side(job.features) else last - first
    for i in range(first, last, step):
        if slot != NO_SLOT and width != 1:
            for j in range(i, i + step):
                f = features[j]
                mark_occupied(target, table, base + f * stride, width, splitter.n_codes[f], own.masks, j - i)
        varying += scan_bins(
            packed,
            splitter,
            width,
            table,
            base + (i - first) * stride if slot == NO_SLOT else base,
            slot == NO_SLOT,
            own.masks[(i - first) * 4 :] if slot == NO_SLOT else own.masks,
            features,
            i,
            i + step,
            n,
            job,
            total,
            scratch.work,
            scratch.candidates,
        )
    if slot == len(own.free) - 2:
        nodes[node, SLOT] = NO_SLOT  # the last table is not kept: the next node to need one overwrites it
    return varying


# Targets without sums put the rows in the order of their codes instead.
look_at_codes = by_type("look_at_codes", _look_at_codes)


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
        prefetch(splitter.codes, np.uint64(splitter.rows[min(i + AHEAD, end)]), f)
        put_item(target, own.sparse, table + np.uint64(splitter.codes[row, f]) * width, item_of(target, row))


# The features of a pass are read once, and a bin of one number is found without a product: a row of five took 11.6
# cycles with seven products, of which one is done a cycle.
def _fill_three(target, splitter, width, own, features, at, first, start, stop):
    """Fill the tables of features[at : at + 3]."""
    _fill_three_of(target, splitter, own, features, at, first, start, stop, width)


def _fill_three_words(target, splitter, width, own, features, at, first, start, stop):
    """Do so where a bin may be one number."""
    if width == _ONE:
        _fill_three_of(target, splitter, own, features, at, first, start, stop, _ONE)
    else:
        _fill_three_of(target, splitter, own, features, at, first, start, stop, width)


def _fill_five(target, splitter, width, own, features, at, first, start, stop):
    """Fill the tables of features[at : at + 5]."""
    _fill_five_of(target, splitter, own, features, at, first, start, stop, width)


def _fill_five_words(target, splitter, width, own, features, at, first, start, stop):
    """Do so where a bin may be one number."""
    if width == _ONE:
        _fill_five_of(target, splitter, own, features, at, first, start, stop, _ONE)
    else:
        _fill_five_of(target, splitter, own, features, at, first, start, stop, width)


@inline
def _fill_three_of(target, splitter, own, features, at, first, start, stop, width):
    codes, rows, k, end = splitter.codes, splitter.rows, np.uint64(at), np.uint64(stop - 1)
    stride = np.uint64(splitter.n_bins) * width
    a, b, c = np.uint64(features[k]), np.uint64(features[k + _ONE]), np.uint64(features[k + _TWO])
    to_a = np.uint64(at - first) * stride
    to_b, to_c = to_a + stride, to_a + stride + stride
    for i in range(np.uint64(start), np.uint64(stop)):
        row = np.uint64(rows[i])
        prefetch(codes, np.uint64(rows[min(i + AHEAD, end)]), a)
        item = item_of(target, row)
        put_item(target, own.sparse, to_a + np.uint64(codes[row, a]) * width, item)
        put_item(target, own.sparse, to_b + np.uint64(codes[row, b]) * width, item)
        put_item(target, own.sparse, to_c + np.uint64(codes[row, c]) * width, item)


@inline
def _fill_five_of(target, splitter, own, features, at, first, start, stop, width):
    codes, rows, k, end = splitter.codes, splitter.rows, np.uint64(at), np.uint64(stop - 1)
    stride = np.uint64(splitter.n_bins) * width
    a, b, c = np.uint64(features[k]), np.uint64(features[k + _ONE]), np.uint64(features[k + _TWO])
    d, e = np.uint64(features[k + np.uint64(3)]), np.uint64(features[k + _FOUR])
    to_a = np.uint64(at - first) * stride
    to_b, to_c = to_a + stride, to_a + stride + stride
    to_d, to_e = to_c + stride, to_c + stride + stride
    for i in range(np.uint64(start), np.uint64(stop)):
        row = np.uint64(rows[i])
        prefetch(codes, np.uint64(rows[min(i + AHEAD, end)]), a)
        item = item_of(target, row)
        put_item(target, own.sparse, to_a + np.uint64(codes[row, a]) * width, item)
        put_item(target, own.sparse, to_b + np.uint64(codes[row, b]) * width, item)
        put_item(target, own.sparse, to_c + np.uint64(codes[row, c]) * width, item)
        put_item(target, own.sparse, to_d + np.uint64(codes[row, d]) * width, item)
        put_item(target, own.sparse, to_e + np.uint64(codes[row, e]) * width, item)


for _fill in (_fill_three, _fill_three_words, _fill_five, _fill_five_words):
    jitable(_fill)
fill_three = by_having("may_be_one_word", _fill_three_words, _fill_three)
fill_five = by_having("may_be_one_word", _fill_five_words, _fill_five)


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
