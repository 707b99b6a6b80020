# mypy: ignore-errors
"""Every cut of a feature at a node whose rows are sorted by its ranks: by insertion, by comparing, or by digits."""

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.splitters.candidates import FOUND, name_codes
from dtnumba.growth.splitters.scans.scan_rows import scan_order
from dtnumba.runtime.kernels import inline
from dtnumba.tables.presort import MISSING, NEW

_FEW = 48  # records up to which insertion sort is faster
_ONE, _LANES, _COMPARED = np.uint64(1), np.uint64(16), np.uint64(192)
_PLACE_BITS, _KEY_BITS = np.uint64(8), np.uint64(24)
_DIGIT_BITS = np.uint64(11)
_ROW_BITS, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
N_DIGITS = 1 << int(_DIGIT_BITS)


@inline
def score_all_cuts(splitter, job, scratch, node, f, total):
    """Fill the candidate of a feature; return what was found."""
    start, stop = job.growing.nodes[node, col.START], job.growing.nodes[node, col.STOP]
    sort_rows(splitter, f, start, stop, scratch.own)
    found = scan_order(job.target, scratch.own.buffer, 0, stop - start, start, f, job, scratch, total)
    if found == FOUND:
        name_codes(scratch.candidates.where, splitter.codes, f)
    return found


@inline
def sort_rows(splitter, f, start, stop, own):
    """Write a node's rows into ``buffer`` in the order of a feature, as records that a scan can walk."""
    n, missing, records, other = np.uint64(stop - start), np.uint64(splitter.n_codes[f]), own.records, own.other
    low, high = ~np.uint64(0), np.uint64(0)
    for i in range(n):
        row = splitter.rows[np.uint64(start) + i]
        rank = np.uint64(splitter.codes[row, f])
        low, high = min(low, rank), max(high, rank)
        records[i] = rank << _ROW_BITS | np.uint64(row)
    if sort_records(records, other, own.counts, own.buffer, n, low, high):
        records, other = other, records
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
def sort_records(records, other, counts, keys, n, low, high):
    """Sort n records (rank << 32 | number) by their ranks, low .. high, stably; return whether ``other`` holds them.

    Equal ranks must come with ascending numbers. ``keys`` is room for n + 16 numbers.
    """
    span, n_bits = high - low, np.uint64(0)
    while span >> n_bits != 0:
        n_bits += _ONE
    is_in_other = False
    if n <= _FEW:
        _insert(records, n)
    elif n <= _COMPARED and n_bits <= _KEY_BITS:
        _sort_by_comparing(records, other, keys, n, low)
        is_in_other = True
    elif n_bits > 0:
        n_passes = (n_bits + _DIGIT_BITS - _ONE) // _DIGIT_BITS
        width, at = (n_bits + n_passes - _ONE) // n_passes, np.uint64(0)
        for _ in range(n_passes):
            _sort_by_digit(records, other, counts, n, low << _ROW_BITS, _ROW_BITS + at, width)
            records, other = other, records
            is_in_other = not is_in_other
            at += width
    return is_in_other


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
