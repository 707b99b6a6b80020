# mypy: ignore-errors
"""The best cut of two classes, found without putting a node's rows in order: most cuts cannot be it.

The ranks of a node are parted into stretches of equal length, and what the rows of each add up to says how the cuts
between stretches score. A cut within a stretch scores no more than the stretch's rows would allow if they were sorted
by class, where the score is convex (see ``criteria.convex``). So only the rows of stretches are sorted that could hold
a cut better than the best seen, of whatever feature: those of one or two features, and of these a tenth.

The winner is that of a walk over all cuts, ties included: what is left out scores less than the best by far more than
what makes a tie, so it decides nothing. The first cut of a feature, which ties are measured by, is always looked at.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, chooses_by_more, has_convex_score
from dtnumba.growth import columns as col
from dtnumba.growth.splitters.candidates import all_are_legal, bar_above, is_heavier, record_split
from dtnumba.growth.splitters.scans.sorted_scan import sort_records
from dtnumba.growth.targets.contract import bin_sums, item_of, rest, split_score, weight_of
from dtnumba.runtime.instructions.bits import prefetch
from dtnumba.runtime.instructions.vector_compare import largest_of
from dtnumba.runtime.instructions.vector_sums import running_sums
from dtnumba.runtime.kernels import COMPILED, by_having, inline, kernel_type
from dtnumba.runtime.memory import per_worker

AT_ONCE = 10  # features, before cuts are looked at one by one
N_BLOCKS = 512  # of the ranks of a feature, at most
LEAST = 32  # at least
# What a cut must score less than the best to be left out, in units of the node's weight: ties are a thousandth of it.
_MARGIN = 1e-9
_ONE, _TWO, _THREE, _FOUR, _FIVE, _EIGHT = (np.uint64(k) for k in (1, 2, 3, 4, 5, 8))
_STRETCHES = np.uint64(N_BLOCKS)
_AHEAD = np.uint64(16)  # rows whose codes are asked for ahead
_ROOM = np.uint64(N_BLOCKS + 8)  # of a feature: the sums before its first stretch stand in front
SUMS, NOTES = 0, 1
CLOSED = -1  # shift of a feature that is not looked at closely
# Places of notes: whether a stretch may hold the best cut; the lowest rank of a feature; how many bits of a rank tell
# places within a stretch; whether the i-th feature of the draw is left out.
_LOWEST, _SHIFT, _LEFT_OUT = (np.uint64(N_BLOCKS + k * AT_ONCE) for k in range(3))
_RANK_BITS, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


@kernel_type
class BoundedScratch(NamedTuple):
    """Notes of one worker on the features scored together; few arrays, because each takes time to compile."""

    ranks: np.ndarray  # (AT_ONCE * n,) uint32: of the node's rows, feature after feature
    items: np.ndarray  # (_STRETCHES + n,) int64: bins, zero between uses; behind them what each row adds to a bin
    scores: np.ndarray  # (AT_ONCE * _ROOM,) float64: of the cut behind each stretch
    # SUMS: of all stretches up to each, by feature. NOTES: see the places below.
    numbers: np.ndarray  # (2, width) int64


def new_bounded_scratch(n, p, workers):
    """Allocate it for nodes of at most n rows; what is not used costs no memory."""
    room = AT_ONCE * int(_ROOM)
    items = per_worker(workers, N_BLOCKS + n, np.int64)
    items[..., :N_BLOCKS] = 0
    numbers = per_worker(workers, (2, max(room, int(_LEFT_OUT) + p)), np.int64, 0)
    numbers[:, :, NOTES, int(_LEFT_OUT) :] = 1
    ranks = per_worker(workers, AT_ONCE * n, np.uint32)
    return BoundedScratch(ranks, items, per_worker(workers, room, np.float64, 0), numbers)


@inline
def _score(target, splitter, job, scratch, node, first, last, total):
    """Fill the candidates of features[first:last] that may be the best; return how many of the features vary.

    Left out are features that miss a value at the node, and all where not every cut is legal, or the best is not that
    of the largest score.
    """
    if all_are_legal(job.limits) and has_convex_score(job.criterion) and not chooses_by_more(job.criterion):
        return _score_likely(splitter, job, scratch, node, first, last, total)
    return 0


@inline
def _score_none(target, splitter, job, scratch, node, first, last, total):
    return 0


bounded_scan = by_having("packs_bin_in_int64", _score, _score_none)


@inline
def _score_likely(splitter, job, scratch, node, first, last, total):
    """Fill the candidates of features[first:last] that may be the best; return how many features vary."""
    target, likely, features = job.target, scratch.own.likely, scratch.features
    notes = likely.numbers[NOTES]
    start, n = np.uint64(job.growing.nodes[node, col.START]), np.uint64(job.growing.nodes[node, col.STOP])
    n -= start
    varying, bar, margin = 0, NO_GAIN, _MARGIN * weight_of(target, total)
    n_stretches = np.uint64(LEAST)
    while n_stretches + n_stretches < n and n_stretches < _STRETCHES:
        n_stretches += n_stretches
    for i in range(n):
        likely.items[_STRETCHES + i] = item_of(target, np.uint64(splitter.rows[start + i]))
    for begin in range(first, last, AT_ONCE):
        m = min(AT_ONCE, last - begin)
        _list_ranks(splitter, features, np.uint64(begin), np.uint64(m), start, n, likely.ranks)
        for j in range(m):
            f, place = features[begin + j], np.uint64(j)
            low, high = _extremes(likely.ranks, place * n, n)
            has_missing = high == np.uint64(splitter.n_codes[f])  # these may go to either side
            notes[_LEFT_OUT + np.uint64(begin) + place], notes[_SHIFT + place] = has_missing, CLOSED
            scratch.candidates.gain[f] = NO_GAIN
            if low < high and not has_missing:
                varying += 1
                notes[_LOWEST + place], notes[_SHIFT + place] = np.int64(low), _shift(high - low, n_stretches)
                best = _score_stretches(target, job.criterion, likely, place, n, n_stretches, total, scratch.work)
                bar = max(bar, best)
        for j in range(m):
            if notes[_SHIFT + np.uint64(j)] != CLOSED:
                f = features[begin + j]
                _score_closely(splitter, job, scratch, f, np.uint64(j), n, n_stretches, total, bar - margin)
    return varying


@inline
def is_left_out(likely, i):
    """Tell whether the i-th feature of the draw is to be looked at in another way."""
    return likely.numbers[NOTES, _LEFT_OUT + np.uint64(i)] != 0


@inline
def _scale(likely, j):
    """Return the lowest rank of the j-th feature, and how many bits of a rank tell places within a stretch."""
    return np.uint64(likely.numbers[NOTES, _LOWEST + j]), np.uint64(likely.numbers[NOTES, _SHIFT + j])


@inline
def _list_ranks(splitter, features, first, m, start, n, ranks):
    """List the ranks of a node's rows by m features; all of a row's are in a cache line or two."""
    j = np.uint64(0)
    while j + _FIVE <= m:
        _list_five(splitter, features, first + j, start, n, ranks, j * n)
        j += _FIVE
    for i in range(n if j < m else np.uint64(0)):
        row = np.uint64(splitter.rows[start + i])
        for k in range(j, m):
            ranks[k * n + i] = splitter.codes[row, np.uint64(features[first + k])]


@inline
def _list_five(splitter, features, first, start, n, ranks, at):
    """List the ranks of five features: without a loop over these, and asked for ahead, a tenth of a fit less."""
    a, b, c = np.uint64(features[first]), np.uint64(features[first + _ONE]), np.uint64(features[first + _TWO])
    d, e = np.uint64(features[first + _THREE]), np.uint64(features[first + _FOUR])
    to_b, to_c, to_d, to_e, last = at + n, at + _TWO * n, at + _THREE * n, at + _FOUR * n, start + n - _ONE
    for i in range(n):
        row, ahead = np.uint64(splitter.rows[start + i]), np.uint64(splitter.rows[min(start + i + _AHEAD, last)])
        prefetch(splitter.codes, ahead, a)
        prefetch(splitter.codes, ahead, e)
        ranks[at + i], ranks[to_b + i] = splitter.codes[row, a], splitter.codes[row, b]
        ranks[to_c + i], ranks[to_d + i] = splitter.codes[row, c], splitter.codes[row, d]
        ranks[to_e + i] = splitter.codes[row, e]


@inline
def _extremes(ranks, at, n):
    low, high = ranks[at], ranks[at]
    for i in range(at, at + n):
        low, high = min(low, ranks[i]), max(high, ranks[i])
    return np.uint64(low), np.uint64(high)


@inline
def _shift(span, n_stretches):
    shift = np.uint64(0)
    while span >> shift >= n_stretches:
        shift += _ONE
    return np.int64(shift)


@inline
def _score_stretches(target, criterion, likely, j, n, n_stretches, total, work):
    """Sum up the stretches of the j-th feature, and score the cuts between them; return the best score."""
    low, shift = _scale(likely, j)
    at, to = j * n, j * _ROOM + _EIGHT
    for i in range(n):
        likely.items[(np.uint64(likely.ranks[at + i]) - low) >> shift] += likely.items[_STRETCHES + i]
    running_sums(likely.items, np.uint64(0), n_stretches, likely.numbers, to, np.int64(0), True)
    for k in range(to, to + n_stretches):
        left = bin_sums(target, likely.numbers, k)
        # Behind the last row of all nothing is left to score; interpreted, it would divide by zero.
        if COMPILED or left != total:
            likely.scores[k] = split_score(target, criterion, left, rest(target, total, left, work.right), work)
        else:
            likely.scores[k] = NO_GAIN
    return largest_of(likely.scores, to, n_stretches)


@inline
def _find_likely(target, criterion, likely, j, n_stretches, total, work, bar):
    """Mark which stretches of the j-th feature may hold a cut that scores ``bar``; return how many these are."""
    to, n_likely = j * _ROOM + _EIGHT, np.uint64(0)
    for k in range(n_stretches):
        below, above = bin_sums(target, likely.numbers, to + k - _ONE), bin_sums(target, likely.numbers, to + k)
        best = NO_GAIN
        for side in range(2):
            a = (below[0], above[1]) if side == 0 else (above[0], below[1])
            b = rest(target, total, a, work.right)
            if COMPILED or (a[0] + a[1] > 0.0 and b[0] + b[1] > 0.0):
                score = split_score(target, criterion, a, b, work)
                best = max(best, score)  # no score is NaN, where a side is empty
        found = likely.scores[to + k]
        best = max(best, found)
        if k > 0:
            found = likely.scores[to + k - _ONE]
            best = max(best, found)
        likely.numbers[NOTES, k] = np.int64(best >= bar)
        n_likely += np.uint64(best >= bar)
    return n_likely


@inline
def _score_closely(splitter, job, scratch, f, j, n, n_stretches, total, bar):
    """Write the best cut of a feature that scores at least ``bar`` among the candidates, if there is one."""
    target, likely, own, out, work = job.target, scratch.own.likely, scratch.own, scratch.candidates, scratch.work
    if _find_likely(target, job.criterion, likely, j, n_stretches, total, work, bar) == 0:
        return
    likely.numbers[NOTES, 0] = 1
    (low, shift), at, to = _scale(likely, j), j * n, j * _ROOM + _EIGHT
    records, m, high = own.records, np.uint64(0), np.uint64(0)
    if shift == 0:  # a stretch is one rank
        for k in range(n_stretches):
            records[m] = low + k << _RANK_BITS
            m += np.uint64(likely.numbers[NOTES, k]) & np.uint64(
                likely.numbers[SUMS, to + k] != likely.numbers[SUMS, to + k - _ONE]
            )
    for i in range(n if shift > 0 else np.uint64(0)):
        rank = np.uint64(likely.ranks[at + i])
        is_likely = np.uint64(likely.numbers[NOTES, (rank - low) >> shift])
        records[m] = rank << _RANK_BITS | i
        m += is_likely
        high = max(high, rank * is_likely)
    if shift > 0 and sort_records(records, own.other, own.counts, own.buffer, m, low, high):
        records = own.other
    best, best_score, best_left, scale = np.int64(-1), NO_GAIN, np.int64(0), 0.0
    left, stretch, ceiling = np.int64(0), np.uint64(0), NO_GAIN
    for i in range(m):
        rank = records[i] >> _RANK_BITS
        if (rank - low) >> shift != stretch:
            stretch = (rank - low) >> shift
            left = likely.numbers[SUMS, to + stretch - _ONE]
        left = (
            left + likely.items[_STRETCHES + (records[i] & _LOW)] if shift > 0 else likely.numbers[SUMS, to + stretch]
        )
        if i + _ONE == m or records[i + _ONE] >> _RANK_BITS != rank:
            likely.numbers[SUMS, to - _ONE - _ONE] = left
            a = bin_sums(target, likely.numbers, to - _ONE - _ONE)
            b = rest(target, total, a, work.right)
            if b[0] + b[1] > 0.0:
                score = split_score(target, job.criterion, a, b, work)
                if score > ceiling:
                    scale = max(scale, abs(score))
                    best, best_score, best_left, ceiling = np.int64(rank), score, left, bar_above(score, scale)
    if best < 0 or best_score < bar:
        return
    n_left, after = np.int64(0), _LOW
    for i in range(n):
        rank = np.uint64(likely.ranks[at + i])
        n_left += np.int64(rank <= np.uint64(best))
        after = min(after, rank if rank > np.uint64(best) else _LOW)
    likely.numbers[SUMS, to - _ONE - _ONE] = best_left
    a = bin_sums(target, likely.numbers, to - _ONE - _ONE)
    b = rest(target, total, a, work.right)
    where = (n_left, best, np.int64(after), is_heavier(target, a, b))
    record_split(out, f, target, job.criterion, a, b, work, where)
