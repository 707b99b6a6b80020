"""Splits over histograms of codes: at most 255 values a feature and one for missing.

Two ways to fill one: a node of many rows builds dense tables of all features and keeps them, so that of two children
only the smaller reads its rows and the other is a subtraction (exact: integers); a node of few rows, or one that looks
at some features only, marks the bins it touches in bit masks, and pays for these alone.
"""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import by_type, inline, lowest_bit, part
from dtnumba.growing import FEATURE, LEAF, SLOT, START, STOP
from dtnumba.scan import CONSTANT, scan_bins
from dtnumba.splitters.coded_rows import CodedRows
from dtnumba.targets import put, rows_in

NO_SLOT = -1
# Below this many rows, walking the occupied bins beats clearing and scanning whole tables.
DENSE_ROWS = 1024
# Dense tables a worker may keep: enough for log2(rows) open nodes where memory allows.
KEPT_TABLES, KEPT_BYTES = 24, 1 << 28

_ONE, _FOUR, _SIX, _63 = np.uint64(1), np.uint64(4), np.uint64(6), np.uint64(63)


@part
class HistogramScratch(NamedTuple):
    """Tables of one worker. Slot ``n_slots - 1`` is never kept."""

    tables: np.ndarray  # (n_slots * table,) int64
    sparse: np.ndarray  # (table,) int64, zero between uses
    masks: np.ndarray  # (p * 4,) uint64, zero between uses
    occupied: np.ndarray  # (258,) int64
    free: np.ndarray  # (n_slots + 1,) int64: their number, then the free slots
    buffer: np.ndarray  # (n,) uint32

    def pick(self, worker):
        return HistogramScratch(
            self.tables[worker],
            self.sparse[worker],
            self.masks[worker],
            self.occupied[worker],
            self.free[worker],
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
        p, table = self.codes.shape[1], self.codes.shape[1] * self.n_bins * self.width
        n_slots = min(KEPT_TABLES, max(2, KEPT_BYTES // (8 * table))) if n >= DENSE_ROWS else 1
        free = np.empty((workers, n_slots + 1), np.int64)
        free[:, 0] = n_slots - 1
        free[:, 1:] = np.arange(n_slots)
        return HistogramScratch(
            np.empty((workers, n_slots * table), np.int64),
            np.zeros((workers, table), np.int64),
            np.zeros((workers, p * 4), np.uint64),
            np.empty((workers, 258), np.int64),
            free,
            np.empty((workers, n), np.uint32),
        )

    def with_rows(self, rows, n):
        return _like(self, self.codes, rows, n)

    def own_codes(self, workers, n_few):
        return np.empty((workers, n_few, self.codes.shape[1]), self.codes.dtype)

    def with_codes(self, codes):
        return _like(self, codes, self.rows, self.n_rows)

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


@inline
def _like(splitter, codes, rows, n):
    return Histogram(
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
        for f in range(p):
            put(target, table, at + np.uint64(splitter.codes[row, f]) * width, row)
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
    stride = splitter.n_bins * splitter.width
    slot = nodes[node, SLOT]
    if slot == NO_SLOT:
        fill_marked(splitter, target, own, features, first, last, nodes[node, START], nodes[node, STOP])
    varying = 0
    for i in range(first, last):
        f = features[i]
        n_codes = splitter.n_codes[f]
        table, base = own.sparse, (i - first) * stride
        if slot == NO_SLOT:
            list_marked(own, i - first)
        else:
            table, base = own.tables, (slot * splitter.codes.shape[1] + f) * stride
            _list_occupied(target, own, base, splitter.width, n_codes)
        found = scan_bins(
            table,
            base,
            splitter.width,
            own.occupied,
            n_codes,
            f,
            n,
            target,
            job.criterion,
            job.limits,
            total,
            scratch.work,
            scratch.candidates,
        )
        varying += found != CONSTANT
        if slot == NO_SLOT:
            clear_listed(own, base, splitter.width)
    if slot == len(own.free) - 2:
        nodes[node, SLOT] = NO_SLOT  # the last table is not kept: the next node to need one overwrites it
    return varying


# Targets without sums put the rows in the order of their codes instead.
look_at_codes = by_type("look_at_codes", _look_at_codes)


@inline
def fill_marked(splitter, target, own, features, first, last, start, stop):
    """Fill the tables of features[first:last], end to end, and mark the bins touched; one pass over the rows.

    Positions are unsigned and tables stand in the order of the draw: a signed index and a product a cell cost a third.
    """
    width, stride = np.uint64(splitter.width), np.uint64(splitter.n_bins * splitter.width)
    for i in range(np.uint64(start), np.uint64(stop)):
        row, at, word = np.uint64(splitter.rows[i]), np.uint64(0), np.uint64(0)
        for j in range(np.uint64(first), np.uint64(last)):
            code = np.uint64(splitter.codes[row, np.uint64(features[j])])
            bin_at = at + code * width
            put(target, own.sparse, bin_at, row)
            if splitter.counted:
                own.sparse[bin_at + width - _ONE] += 1
            own.masks[word + (code >> _SIX)] |= _ONE << (code & _63)
            at += stride
            word += _FOUR


@inline
def list_marked(own, slot):
    """List the bins marked in a table, ascending, and unmark them."""
    m, first = np.uint64(0), np.uint64(slot) * _FOUR
    for word in range(_FOUR):
        mask = own.masks[first + word]
        own.masks[first + word] = np.uint64(0)
        while mask != 0:
            m += _ONE
            own.occupied[m] = np.int64((word << _SIX) + np.uint64(lowest_bit(mask)))
            mask &= mask - _ONE
    own.occupied[np.uint64(0)] = np.int64(m)


@inline
def _list_occupied(target, own, base, width, n_codes):
    m = 0
    for code in range(n_codes + 1):
        if rows_in(target, own.tables, np.uint64(base + code * width), width) > 0:
            m += 1
            own.occupied[m] = code
    own.occupied[0] = m


@inline
def clear_listed(own, base, width):
    """Empty the bins listed."""
    wide = np.uint64(width)
    for i in range(_ONE, np.uint64(own.occupied[np.uint64(0)]) + _ONE):
        at = np.uint64(base) + np.uint64(own.occupied[i]) * wide
        for k in range(wide):
            own.sparse[at + k] = 0
