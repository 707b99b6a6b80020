"""Exact splits where a node looks at few features: the node's rows are sorted by each feature it drew.

A presorted order of every feature would have to be kept up at every split; with sqrt(p) features a node, sorting those
by their ranks is less work.
"""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import inline, part
from dtnumba.growing import START, STOP
from dtnumba.scan import CONSTANT, FIRST_RIGHT, FOUND, MISSING, NEW, NOTHING, ROW, scan_order
from dtnumba.scan import LAST_LEFT as LAST_LEFT_ROW
from dtnumba.splitters.coded_rows import CodedRows, NothingKept, look_at_two_rows

_FEW = 48  # rows up to which insertion sort is faster
_BYTE, _EIGHT = np.uint64(255), np.uint64(8)
_ROW_BITS, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


@part
class RankSortScratch(NamedTuple):
    """Room to sort the rows of a node."""

    records: np.ndarray  # (n,) uint64: rank << 32 | row
    other: np.ndarray  # (n,) uint64
    counts: np.ndarray  # (257,) int64
    buffer: np.ndarray  # (n,) uint32

    def pick(self, worker):
        return RankSortScratch(self.records[worker], self.other[worker], self.counts[worker], self.buffer[worker])


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
        return RankSortScratch(records, other, np.empty((workers, 257), np.int64), np.empty((workers, n), np.uint32))

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
    n, missing, records = np.uint64(stop - start), np.uint64(splitter.n_codes[f]), own.records
    differ, first = np.uint64(0), np.uint64(splitter.codes[splitter.rows[start], f])
    for i in range(n):
        row = splitter.rows[np.uint64(start) + i]
        rank = np.uint64(splitter.codes[row, f])
        differ |= rank ^ first
        records[i] = rank << _ROW_BITS | np.uint64(row)
    if n <= _FEW:
        for i in range(1, np.int64(n)):
            record, j = records[i], i
            while j > 0 and records[j - 1] > record:
                records[j] = records[j - 1]
                j -= 1
            records[j] = record
    else:
        shift = _ROW_BITS
        while differ != 0:
            if differ & _BYTE:
                _sort_by_byte(records, own.other, own.counts, n, shift)
            shift += _EIGHT
            differ >>= _EIGHT
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
def _sort_by_byte(records, other, counts, n, shift):
    """Sort records by one byte, stably, through ``other``."""
    for k in range(257):
        counts[k] = 0
    for i in range(n):
        counts[((records[i] >> shift) & _BYTE) + np.uint64(1)] += 1
    for k in range(256):
        counts[k + 1] += counts[k]
    for i in range(n):
        digit = (records[i] >> shift) & _BYTE
        other[counts[digit]] = records[i]
        counts[digit] += 1
    for i in range(n):
        records[i] = other[i]


__all__ = ["ROW", "RankSort"]
