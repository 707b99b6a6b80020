# mypy: ignore-errors
"""The sums of a node's rows, to the codes of bins: as many of the same width as a column has, between the extremes."""

import math

import numpy as np

from dtnumba.growth.oblique.binned.in_hand import IN_HAND, LANES, NodeCells, sum_in_hand
from dtnumba.growth.targets.leaf_values import row_at
from dtnumba.runtime.instructions.bits import prefetch
from dtnumba.runtime.instructions.extremes import extremes_of
from dtnumba.runtime.kernels import inline, outlined

_LANES, _IN_HAND, _THREE = np.uint64(LANES), np.uint64(IN_HAND), np.uint64(3)
_APART = np.int64(1024)  # columns side by side that are a multiple of this apart take each other's cache lines


@inline
def stride_of(n):
    """Return how far apart the columns of n rows stand that are copied side by side."""
    stride = (n + LANES - 1) // LANES * LANES
    return stride + LANES if stride % _APART == 0 else stride


@inline
def lay_side_by_side(splitter, here, start, n, n_used, stride):
    """Copy the values of the columns in use of a node's rows, and note their ranges as ``note_ranges`` does.

    Where sixteen rows begin is found once for all columns, so that a value takes a load and a store: 14 columns took
    21 ns a row one after the other. The last row stands there again, up to a multiple of sixteen.
    """
    flat, offset, row_step = splitter.cells.flat, splitter.cells.offset, splitter.cells.row_step
    column_step, used, values, bases = splitter.cells.column_step, here.used, here.values, here.bases
    apart, whole, end = np.uint64(stride), np.uint64((n + LANES - 1) // LANES * LANES), np.uint64(n - 1)
    first, line = np.uint64(start), np.uint64(64 // flat.itemsize)
    for block in range(np.uint64(0), whole, _LANES):
        for r in range(_LANES):
            row = np.int64(row_at(splitter, first + min(block + r, end)))
            bases[r] = np.uint64(offset + row * row_step)
            ahead = np.int64(row_at(splitter, first + min(block + r + _LANES, end)))
            ahead = np.uint64(offset + ahead * row_step)
            prefetch(flat, ahead, np.uint64(0))
            prefetch(flat, ahead, line)
        for k in range(np.uint64(n_used)):
            column, to = np.uint64(used[k] * column_step), k * apart + block
            for r in range(_LANES):
                values[to + r] = flat[bases[r] + column]
    for k in range(n_used):
        at = np.uint64(k) * apart
        here.least[k], here.scale[k], is_missing = extremes_of(values, at, whole)
        here.known[k] = n
        if is_missing:
            for i in range(np.uint64(n)):
                here.known[k] -= values[at + i] != values[at + i]


@outlined
def write_sums(splitter, here, sums, q, start, n, stride):
    """Write a sum of each of a node's rows, the last one again behind them; ``stride`` 0: nothing is side by side."""
    is_whole, n_terms = stride > 0, here.n_terms[q]
    for t in range(n_terms):
        is_whole = is_whole and here.known[here.slot[q, t]] == n
    if is_whole:
        values, end = here.values, np.uint64((n + LANES - 1) // LANES * LANES)
        first, second = np.uint64(here.slot[q, 0] * stride), np.uint64(here.slot[q, 1] * stride)
        weight, other = here.weight[q, 0], here.weight[q, 1]
        for i in range(end):
            sums[i] = (0.0 + weight * float(values[first + i])) + other * float(values[second + i])
        for t in range(2, n_terms):
            first, weight = np.uint64(here.slot[q, t] * stride), here.weight[q, t]
            for i in range(end):
                sums[i] += weight * float(values[first + i])
        return
    source = NodeCells(splitter, here.values, here.used, start, stride)
    for i in range(n):
        sums[i] = sum_in_hand(source, here, q, i)
    for i in range(n, (n + LANES - 1) // LANES * LANES):
        sums[i] = sums[n - 1]


@inline
def code_of(total, low, step, last):
    """Return the bin of a sum that is a number, ``last`` being the last one, as a float64."""
    return np.uint8(np.int32(min((total - low) * step, last)))


@inline
def note_bins(here, q, low, high, n_bins):
    """Write where the bins of a sum begin and how many a unit has, or that it has none."""
    span = high - low
    step = float(n_bins) / span if span > 0.0 else 0.0
    here.low[q], here.step[q] = low, step if math.isfinite(span) and math.isfinite(step) else 0.0


@inline
def note_codes(here, sums, q, n, n_bins):
    """Write the codes of a sum of n rows: that of a missing value is behind those of the bins."""
    whole = np.uint64((n + LANES - 1) // LANES * LANES)
    low, high, has_missing = extremes_of(sums, np.uint64(0), whole)
    note_bins(here, q, low, high, n_bins)
    low, step, last, to, codes = here.low[q], here.step[q], float(n_bins - 1), np.uint64(q) * whole, here.bytes
    if step == 0.0:
        note_no_codes(here, q, n)
    elif has_missing:
        for i in range(whole):
            codes[to + i] = code_of(sums[i], low, step, last) if sums[i] == sums[i] else np.uint8(n_bins)
    else:
        for i in range(whole):
            codes[to + i] = code_of(sums[i], low, step, last)


@inline
def note_no_codes(here, q, n):
    """Write one code for all rows, which nothing parts."""
    whole = np.uint64((n + LANES - 1) // LANES * LANES)
    for i in range(np.uint64(q) * whole, (np.uint64(q) + np.uint64(1)) * whole):
        here.bytes[i] = 0


@inline
def hand_out_codes(splitter, here, start, n):
    """Write the codes of the sums in hand row by row: those of a row are one word."""
    whole, words, own, first = np.uint64((n + LANES - 1) // LANES * LANES), here.words, here.bytes, np.uint64(start)
    for i in range(np.uint64(n)):
        word, at = np.uint64(0), i
        for q in range(_IN_HAND):
            word |= np.uint64(own[at]) << (q << _THREE)
            at += whole
        words[np.uint64(row_at(splitter, first + i))] = word


@inline
def halfway(below, above):
    """Return the threshold halfway between two sums, and never that on the right; infinity where none is."""
    if above == np.inf:
        return np.inf
    middle = below / 2.0 + above / 2.0
    return middle if below <= middle < above and middle - middle == 0.0 else below


@inline
def settle_sides(splitter, here, sums, sides, q, start, n, split):
    """Write which of a node's rows go left by a sum, until it is divided; return the threshold of the sum.

    No other node has these rows.
    """
    last_left, missing_left, n_bins = split
    whole, codes, below, above = np.uint64((n + LANES - 1) // LANES * LANES), here.bytes, -np.inf, np.inf
    at, last, behind = np.uint64(q) * whole, np.uint8(last_left), np.uint8(n_bins)
    missing_left = np.uint8(missing_left)
    for i in range(np.uint64(n)):
        code, total = codes[at + i], sums[i]
        is_left, is_missing = code <= last, code == behind
        below = max(below, total if is_left else -np.inf)
        above = min(above, np.inf if is_left | is_missing else total)
        sides[np.uint64(row_at(splitter, np.uint64(start) + i)), 0] = np.uint8(is_left) | (is_missing & missing_left)
    return halfway(below, above)
