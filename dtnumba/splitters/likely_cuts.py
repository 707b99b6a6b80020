"""The best cut of two classes, found without putting a node's rows in order: most cuts cannot be it.

The ranks of a node are parted into stretches of equal length, and what the rows of each add up to says how the cuts
between stretches score. A cut within a stretch scores no more than the stretch's rows would allow if they were sorted
by class, where the score is convex (see ``criteria.convex``). So only the rows of stretches that could hold a better cut
than the best seen, of whatever feature, are sorted: those of one or two features, and of these a tenth.

The winner is that of a walk over all cuts, ties included: what is left out scores less than the best by far more than
what makes a tie, so it decides nothing. The first cut of a feature, which ties are measured by, is always looked at.
"""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import COMPILED, by_having, inline, jitable, part, running_sums
from dtnumba.criteria import NO_GAIN, chooses_by_more, has_convex_score
from dtnumba.growing import START, STOP
from dtnumba.monotone import is_free
from dtnumba.per_worker import per_worker
from dtnumba.scan import CONSTANT, bar_above, is_heavier, record_split
from dtnumba.splitters.sorted_cuts import look_at_all_cuts, sort_records
from dtnumba.targets import bin_sums, item_of, rest, split_score, weight_of

AT_ONCE = 8  # features, before cuts are looked at one by one
STRETCHES = 512  # of the ranks of a feature, at most
LEAST = 64  # at least
# What a cut must score less than the best to be left out, in units of the node's weight: ties are a thousandth of it.
_MARGIN = 1e-9
_ONE, _EIGHT, _STRETCHES = np.uint64(1), np.uint64(8), np.uint64(STRETCHES)
_ROOM = np.uint64(STRETCHES + 8)  # of a feature: the sums before its first stretch stand in front
_RANK_BITS, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


@part
class LikelyCuts(NamedTuple):
    """What a worker notes of the features that it looks at together."""

    ranks: np.ndarray  # (AT_ONCE * n,) uint32: of the node's rows, feature after feature
    items: np.ndarray  # (n,) int64: what each row of the node adds to a bin
    stretches: np.ndarray  # (STRETCHES,) int64: bins, zero between uses
    sums: np.ndarray  # (1, AT_ONCE * _ROOM) int64: of all stretches up to each
    scores: np.ndarray  # (AT_ONCE * _ROOM,) float64: of the cut behind each
    is_likely: np.ndarray  # (STRETCHES,) uint8: whether the best cut may be in it
    lowest: np.ndarray  # (AT_ONCE,) uint64: rank
    shifts: np.ndarray  # (AT_ONCE,) uint64: a stretch holds 2**shift ranks

    def pick(self, worker):
        return LikelyCuts(
            self.ranks[worker],
            self.items[worker],
            self.stretches[worker, 0],
            self.sums[worker, 0],
            self.scores[worker, 0],
            self.is_likely[worker, 0],
            self.lowest[worker, 0],
            self.shifts[worker, 0],
        )


def new_likely_cuts(n, workers):
    """Allocate it for nodes of at most n rows; what is not used costs no memory."""
    room = AT_ONCE * int(_ROOM)
    return LikelyCuts(
        np.empty((workers, AT_ONCE * n), np.uint32),
        np.empty((workers, n), np.int64),
        per_worker(workers, STRETCHES, np.int64, 0),
        per_worker(workers, (1, room), np.int64, 0),
        per_worker(workers, room, np.float64, 0),
        per_worker(workers, STRETCHES, np.uint8, 0),
        per_worker(workers, AT_ONCE, np.uint64),
        per_worker(workers, AT_ONCE, np.uint64),
    )


def _look(target, splitter, job, scratch, node, first, last, total):
    """Fill the candidates of features[first:last] that may be the best; return how many features vary, or -1.

    That is where not every cut is legal, or the best is not that of the largest score.
    """
    limits = job.limits
    any_is_legal = limits.min_samples_leaf <= 1 and limits.min_weight_leaf <= 0.0 and is_free(limits.monotone)
    if any_is_legal and has_convex_score(job.criterion) and not chooses_by_more(job.criterion):
        return _look_at_likely(splitter, job, scratch, node, first, last, total)
    return -1


def _look_not(target, splitter, job, scratch, node, first, last, total):
    return -1


jitable(_look)
jitable(_look_not)
look_at_likely_cuts = by_having("in_one_word", _look, _look_not)


@inline
def _look_at_likely(splitter, job, scratch, node, first, last, total):
    """Fill the candidates of features[first:last] that may be the best; return how many features vary."""
    target, likely, features = job.target, scratch.own.likely, scratch.features
    start, n = np.uint64(job.growing.nodes[node, START]), np.uint64(job.growing.nodes[node, STOP])
    n -= start
    varying, bar, margin = 0, NO_GAIN, _MARGIN * weight_of(target, total)
    n_stretches = np.uint64(LEAST)
    while n_stretches < n and n_stretches < _STRETCHES:
        n_stretches += n_stretches
    for i in range(n):
        likely.items[i] = item_of(target, np.uint64(splitter.rows[start + i]))
    for begin in range(first, last, AT_ONCE):
        m = min(AT_ONCE, last - begin)
        for j in range(m):
            f, at = features[begin + j], np.uint64(j) * n
            low, high = _list_ranks(splitter, np.uint64(f), start, n, likely.ranks, at)
            likely.lowest[j] = low
            scratch.candidates.gain[f] = NO_GAIN
            likely.shifts[j] = _LOW
            if high == np.uint64(splitter.n_codes[f]):  # a row misses its value, and may go to either side
                varying += look_at_all_cuts(splitter, job, scratch, node, f, total) != CONSTANT
            elif low < high:
                varying += 1
                likely.shifts[j] = _shift(high - low, n_stretches)
                bar = max(bar, _score_stretches(target, job.criterion, likely, j, n, n_stretches, total, scratch.work))
        for j in range(m):
            if likely.shifts[j] != _LOW:
                _look_closely(splitter, job, scratch, features[begin + j], j, n, n_stretches, total, bar - margin)
    return varying


@inline
def _list_ranks(splitter, f, start, n, ranks, at):
    """List the ranks of a node's rows; return the lowest and the highest."""
    low, high = _LOW, np.uint64(0)
    for i in range(n):
        rank = np.uint64(splitter.codes[np.uint64(splitter.rows[start + i]), f])
        low, high = min(low, rank), max(high, rank)
        ranks[at + i] = np.uint32(rank)
    return low, high


@inline
def _shift(span, n_stretches):
    shift = np.uint64(0)
    while span >> shift >= n_stretches:
        shift += _ONE
    return shift


@inline
def _score_stretches(target, criterion, likely, j, n, n_stretches, total, work):
    """Sum up the stretches of the j-th feature, and score the cuts between them; return the best score."""
    low, shift = likely.lowest[j], likely.shifts[j]
    at, to, best = np.uint64(j) * n, np.uint64(j) * _ROOM + _EIGHT, NO_GAIN
    for i in range(n):
        likely.stretches[(np.uint64(likely.ranks[at + i]) - low) >> shift] += likely.items[i]
    running_sums(likely.stretches, np.uint64(0), n_stretches, likely.sums, to, np.int64(0), True)
    for k in range(to, to + n_stretches):
        left = bin_sums(target, likely.sums, k)
        # Behind the last row of all nothing is left to score; interpreted, it would divide by zero.
        if COMPILED or left != total:
            likely.scores[k] = split_score(target, criterion, left, rest(target, total, left, work.right), work)
        else:
            likely.scores[k] = NO_GAIN
    for k in range(to, to + n_stretches):
        best = likely.scores[k] if likely.scores[k] > best else best
    return best


@inline
def _find_likely(target, criterion, likely, j, n_stretches, total, work, bar):
    """Mark which stretches of the j-th feature may hold a cut that scores ``bar``; return how many these are."""
    to, n_likely = np.uint64(j) * _ROOM + _EIGHT, np.uint64(0)
    for k in range(n_stretches):
        below, above = bin_sums(target, likely.sums, to + k - _ONE), bin_sums(target, likely.sums, to + k)
        best = NO_GAIN
        for side in range(2):
            a = (below[0], above[1]) if side == 0 else (above[0], below[1])
            b = rest(target, total, a, work.right)
            if COMPILED or (a[0] + a[1] > 0.0 and b[0] + b[1] > 0.0):
                score = split_score(target, criterion, a, b, work)
                best = score if score > best else best  # no score is NaN, where a side is empty
        found = likely.scores[to + k]
        best = found if found > best else best
        if k > 0:
            found = likely.scores[to + k - _ONE]
            best = found if found > best else best
        likely.is_likely[k] = np.uint8(best >= bar)
        n_likely += np.uint64(best >= bar)
    return n_likely


@inline
def _look_closely(splitter, job, scratch, f, j, n, n_stretches, total, bar):
    """Write the best cut of a feature that scores at least ``bar`` among the candidates, if there is one."""
    target, likely, own, out, work = job.target, scratch.own.likely, scratch.own, scratch.candidates, scratch.work
    if _find_likely(target, job.criterion, likely, j, n_stretches, total, work, bar) == 0:
        return
    likely.is_likely[0] = 1
    low, shift, at, to = likely.lowest[j], likely.shifts[j], np.uint64(j) * n, np.uint64(j) * _ROOM + _EIGHT
    records, m, high = own.records, np.uint64(0), np.uint64(0)
    for i in range(n):
        rank = np.uint64(likely.ranks[at + i])
        is_likely = np.uint64(likely.is_likely[(rank - low) >> shift])
        records[m] = rank << _RANK_BITS | i
        m += is_likely
        high = max(high, rank * is_likely)
    if sort_records(records, own.other, own.counts, own.buffer, m, low, high):
        records = own.other
    best, best_score, best_left, scale = np.int64(-1), NO_GAIN, np.int64(0), 0.0
    left, stretch, ceiling = np.int64(0), np.uint64(0), NO_GAIN
    for i in range(m):
        rank = records[i] >> _RANK_BITS
        if (rank - low) >> shift != stretch:
            stretch = (rank - low) >> shift
            left = likely.sums[0, to + stretch - _ONE]
        left += likely.items[records[i] & _LOW]
        if i + _ONE == m or records[i + _ONE] >> _RANK_BITS != rank:
            likely.sums[0, to - _ONE - _ONE] = left
            a = bin_sums(target, likely.sums, to - _ONE - _ONE)
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
    likely.sums[0, to - _ONE - _ONE] = best_left
    a = bin_sums(target, likely.sums, to - _ONE - _ONE)
    b = rest(target, total, a, work.right)
    where = (n_left, best, np.int64(after), is_heavier(target, a, b))
    record_split(out, f, target, job.criterion, a, b, work, where)
