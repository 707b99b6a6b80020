"""Exact splits where a node looks at few features: the node's rows are sorted by each feature it drew.

A presorted order of every feature would have to be kept up at every split; with sqrt(p) features a node, sorting those
by their ranks is less work.
"""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import inline, part
from dtnumba.growing import START, STOP
from dtnumba.per_worker import per_worker
from dtnumba.scan import CONSTANT, FIRST_RIGHT, FOUND, MISSING, NEW, NOTHING, ROW, scan_order
from dtnumba.scan import LAST_LEFT as LAST_LEFT_ROW
from dtnumba.splitters.coded_rows import CodedRows, NothingKept, look_at_two_rows

_FEW = 48  # rows up to which insertion sort is faster
_ONE, _LANES, _COMPARED = np.uint64(1), np.uint64(16), np.uint64(192)
_PLACE_BITS, _KEY_BITS = np.uint64(8), np.uint64(24)
_DIGIT_BITS = np.uint64(11)
_ROW_BITS, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


@part
class RankSortScratch(NamedTuple):
    """Room to sort the rows of a node."""

    records: np.ndarray  # (n,) uint64: rank << 32 | row
    other: np.ndarray  # (n,) uint64
    counts: np.ndarray  # (2048,) uint32
    buffer: np.ndarray  # (n + 16,) uint32

    def pick(self, worker):
        return RankSortScratch(self.records[worker], self.other[worker], self.counts[worker, 0], self.buffer[worker])


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
            per_worker(workers, 1 << int(_DIGIT_BITS), np.uint32),
            np.empty((workers, n + 16), np.uint32),
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
        start, stop, varying = job.growing.nodes[node, START], job.growing.nodes[node, STOP], 0
        where, own = scratch.candidates.where, scratch.own
        for i in range(first, last):
            f = scratch.features[i]
            _sort_rows(self, f, start, stop, own)
            found = scan_order(
                job.target,
                own.buffer,
                0,
                stop - start,
                start,
                f,
                job.criterion,
                job.limits,
                total,
                scratch.work,
                scratch.candidates,
            )
            varying += found != CONSTANT
            if found == FOUND:
                where[f, LAST_LEFT_ROW] = np.int64(self.codes[where[f, LAST_LEFT_ROW], f])
                if where[f, FIRST_RIGHT] != NOTHING:
                    where[f, FIRST_RIGHT] = np.int64(self.codes[where[f, FIRST_RIGHT], f])
        return varying


@inline
def _sort_rows(splitter, f, start, stop, own):
    """Write a node's rows into ``buffer`` in the order of a feature, as records that a scan can walk."""
    n, missing, records, other = np.uint64(stop - start), np.uint64(splitter.n_codes[f]), own.records, own.other
    low, high = ~np.uint64(0), np.uint64(0)
    for i in range(n):
        row = splitter.rows[np.uint64(start) + i]
        rank = np.uint64(splitter.codes[row, f])
        low, high = min(low, rank), max(high, rank)
        records[i] = rank << _ROW_BITS | np.uint64(row)
    span, n_bits = high - low, np.uint64(0)
    while span >> n_bits != 0:
        n_bits += _ONE
    if n <= _FEW:
        _insert(records, n)
    elif n <= _COMPARED and n_bits <= _KEY_BITS:
        _sort_by_comparing(records, other, own.buffer, n, low)
        records, other = other, records
    elif n_bits > 0:
        n_passes = (n_bits + _DIGIT_BITS - _ONE) // _DIGIT_BITS
        width, at = (n_bits + n_passes - _ONE) // n_passes, np.uint64(0)
        for _ in range(n_passes):
            _sort_by_digit(records, other, own.counts, n, low << _ROW_BITS, _ROW_BITS + at, width)
            records, other = other, records
            at += width
    before = records[0] >> _ROW_BITS
    for i in range(n):
        rank = records[i] >> _ROW_BITS
        record = np.uint32(records[i] & _LOW)
        if rank != before:
            record |= NEW
        if rank == missing:
            record |= MISSING
        own.buffer[i] = record
        before = rank


@inline
def _insert(records, n):
    for i in range(_ONE, n):
        record, j = records[i], i
        while j > 0 and records[j - _ONE] > record:
            records[j] = records[j - _ONE]
            j -= _ONE
        records[j] = record


@inline
def _sort_by_comparing(records, other, keys, n, low):
    """Sort records, stably, into ``other``: each stands where as many as are less come before, sixteen compares a step.

    No branch depends on the ranks.
    """
    for i in range(n):
        keys[i] = np.uint32(((records[i] >> _ROW_BITS) - low) << _PLACE_BITS | i)
    padded = (n + _LANES - _ONE) & ~(_LANES - _ONE)
    for i in range(n, padded):
        keys[i] = np.uint32(_LOW)
    for i in range(n):
        key, place = keys[i], np.uint32(0)
        for j in range(padded):
            place = np.uint32(place + (keys[j] < key))  # without the cast the sum would have 64 bits
        other[place] = records[i]


@inline
def _sort_by_digit(records, other, counts, n, base, shift, width):
    """Sort records by some bits of what they exceed ``base`` by, stably, into ``other``."""
    n_digits = _ONE << width
    mask = n_digits - _ONE
    for k in range(n_digits):
        counts[k] = 0
    for i in range(n):
        counts[((records[i] - base) >> shift) & mask] += np.uint32(1)
    below = np.uint32(0)
    for k in range(n_digits):
        here = counts[k]
        counts[k] = below
        below += here
    for i in range(n):
        digit = ((records[i] - base) >> shift) & mask
        other[counts[digit]] = records[i]
        counts[digit] += np.uint32(1)


__all__ = ["ROW", "RankSort"]
