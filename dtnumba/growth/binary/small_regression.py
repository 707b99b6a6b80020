# mypy: ignore-errors
# ruff: noqa: D102
"""Small subtrees of numbers (see ``small_subtrees``): each row is added to the sums of those cuts that send it left.

What a cut sends left cannot be counted on bits, but sums over so few rows
need no order and no table: the codes of a node's rows by a feature are held against eight of them at a time, and each
row is added to the sums of those cuts that send it left. That is m * m / 8 steps for m rows, without a branch.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, TIE
from dtnumba.growth import columns as col
from dtnumba.growth.binary.grow_subtree import write_split
from dtnumba.growth.binary.small_classes import new_small_scratch
from dtnumba.growth.binary.small_subtrees import CODE, DRAW, FEW, SIDE, grow_small_subtree, lay_out, leave, list_members
from dtnumba.growth.policies.feature_sampling import draw, put_back
from dtnumba.growth.splitters.candidates import is_legal, record_cut
from dtnumba.growth.splitters.coded_rows import score_two_rows
from dtnumba.growth.targets.contract import (
    bin_sums,
    load_numbers,
    rest,
    split_score,
    weight_of,
)
from dtnumba.runtime.instructions.bits import bit_count, lowest_bit
from dtnumba.runtime.instructions.vector_compare import (
    above_among_8,
    at_most_among_64,
    equal_among_64,
    first_above,
    largest_of,
    least_above_among_64,
)
from dtnumba.runtime.instructions.vector_sums import add_up_to_8, add_up_to_16, sum_up_4, sum_up_8
from dtnumba.runtime.kernels import COMPILED, inline, kernel_type
from dtnumba.runtime.memory import per_worker

_FEW, _ALL = np.uint64(FEW), ~np.uint64(0)
_ONE, _TWO, _THREE, _FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
_BLOCK = np.uint64(8)  # cuts that a vector holds
# Below every score that ties with the largest one, where this is zero, too.
_LEAST = 1e-300


@kernel_type
class SumScratch(NamedTuple):
    """Buffers of one worker for the nodes of one subtree, and for the cuts of one node."""

    codes: np.ndarray  # (p * 64,): 64 rows of a feature, then the next feature
    laid: np.ndarray  # (p + 1,) int64: the subtree for which a feature's codes were laid out last; then this subtree
    rows: np.ndarray  # (64,) uint32: as they stood when the subtree was begun
    ids: np.ndarray  # (64,) uint64: rows of a node, counted from the first of the subtree
    members: np.ndarray  # (64,) uint64: rows of the nodes that wait
    waiting: np.ndarray  # (64,) int64: these nodes
    place: np.ndarray  # (n_cuts,) uint64: of each cut, see small_classes
    targets: np.ndarray  # (64,) int64: rows of equal targets have equal ones
    numbers: np.ndarray  # (128,) int64: what each row adds to the two sums of a node
    here: np.ndarray  # (128,) int64: the same of the rows of a node, and zeros behind
    moved: np.ndarray  # (64,) uint64: places of the cuts after a node's rows, with missing rows before all others

    @property
    def n_cuts(self):
        return self.place.shape[-1]


def _new_sum_scratch(codes, n_drawn, workers):
    few = new_small_scratch(codes, n_drawn, workers)
    return SumScratch(
        few.codes,
        few.laid,
        per_worker(workers, FEW, np.uint32),
        few.ids,
        few.members,
        few.waiting,
        few.place,
        per_worker(workers, FEW, np.int64),
        per_worker(workers, 2 * FEW, np.int64),
        per_worker(workers, 2 * FEW, np.int64),
        per_worker(workers, FEW, np.uint64),
    )


@kernel_type
class OnSums(NamedTuple):
    """Rows that are added up: each is added to the sums of those cuts that send it left."""

    needs = "load_numbers"  # of the target

    def grow(self, job, scratch, root):
        grow_small_subtree(self, job, scratch, root)

    def new_scratch(self, codes, n_drawn, workers):
        return _new_sum_scratch(codes, n_drawn, workers)

    def is_small(self, job, scratch, node):
        return job.growing.nodes[node, col.STOP] - job.growing.nodes[node, col.START] <= FEW

    def begin(self, job, scratch, start, n):
        load_numbers(job.target, job.splitter, start, n, scratch.small.targets, scratch.small.numbers)

    def split(self, job, scratch, root, node, members, total):
        few = scratch.small
        m = list_members(few, members)
        if m <= 2:  # two rows are scored where they are
            leave(self, job, scratch, node, members)
        if _agree(few, m):
            job.growing.nodes[node, col.FEATURE] = col.LEAF
            return np.uint64(0)
        return _find_split(job.splitter, job, scratch, root, node, members, m, total)

    def leave(self, job, scratch, node, members):
        at, word, few = np.uint64(job.growing.nodes[node, col.START]), members, scratch.small
        while word != 0:
            job.splitter.rows[at] = few.rows[lowest_bit(word)]
            word &= word - _ONE
            at += _ONE


@inline
def _agree(few, m):
    """Whether all rows of a node have the same target."""
    first, i = few.targets[few.ids[0]], _ONE
    while i < m and few.targets[few.ids[i]] == first:
        i += _ONE
    return i == m


@inline
def _find_split(splitter, job, scratch, root, node, members, m, total):
    """Write the best split of a node and return which rows go left, or make it a leaf."""
    growing, limits, few, p = job.growing, job.limits, scratch.small, len(scratch.features)
    weight, looked_at, feature, left_rows = weight_of(job.target, total), np.int64(0), np.int64(-1), np.uint64(0)
    n_all = np.uint64(growing.nodes[root, col.STOP] - growing.nodes[root, col.START])
    if weight >= 2.0 * limits.min_weight_leaf:
        is_pair = m == _TWO and limits.min_samples_leaf <= 1 and limits.min_weight_leaf <= 0.0
        last, found = np.int64(1) if is_pair else min(limits.n_drawn, p), np.uint64(0)
        if not is_pair:
            _take_numbers(few, m)
        while found == 0 and looked_at < p:
            draw(job.features, scratch, growing.keys[node], looked_at, last)
            if is_pair:  # which are parted in one way, so no feature behind the first that parts them matters
                found = np.uint64(score_two_rows(job.target, splitter, job, scratch, node, looked_at, last, total))
                feature = scratch.features[looked_at]
            else:
                for i in range(looked_at, last):
                    lay_out(splitter, few, n_all, np.uint64(scratch.features[i]))
                if m <= _BLOCK:
                    found = list_few_sums(splitter, scratch, looked_at, last, m)
                if found == 0:
                    for i in range(looked_at, last):
                        found = list_sums(splitter, scratch, i, members, m, found)
            looked_at, last = last, last + 1
        if found == 0:
            feature = np.int64(-1)
        elif is_pair:
            first, second = splitter.codes[few.rows[few.ids[0]], feature], splitter.codes[few.rows[few.ids[1]], feature]
            left_rows = _ONE << few.ids[np.uint64(first > second)]
        else:
            feature, left_rows = record_best(splitter, job, scratch, members, m, total, found)
        put_back(job.features, scratch, looked_at)
    write_split(job, scratch, node, feature, weight)
    return left_rows


@inline
def _take_numbers(few, m):
    """Copy what the rows of a node add to its sums side by side, and fill up the last vector.

    Zeros up to the next multiple of four rows, or of eight where there are no more, and for these the first row again.
    """
    for j in range(m):
        i = few.ids[j] << _ONE
        few.here[j << _ONE], few.here[(j << _ONE) + _ONE] = few.numbers[i], few.numbers[i + _ONE]
    end = _BLOCK if _FOUR < m <= _BLOCK else (m + _THREE) & ~_THREE
    for j in range(m, end):
        few.here[j << _ONE] = few.here[(j << _ONE) + _ONE] = 0
    if m < _BLOCK:
        for j in range(m, end):
            few.ids[j] = few.ids[0]


@inline
def list_few_sums(splitter, scratch, first, last, m):
    """Sum up the cuts of all drawn features at a node of at most eight rows; return how many cuts there are.

    None where a value is missing, and where no feature varies. Of up to four rows, two features fill a vector.
    Without a loop over rows: with the search for the best cut in vectors, a forest of 5M nodes took 1.10 s for 1.19.
    """
    few, features, step = scratch.small, scratch.features, 2 if m <= _FOUR else 1
    flags, k = np.uint64(0), np.uint64(0)
    for i in range(first, last, step):
        other = min(i + step, last) - 1
        f, g = np.uint64(features[i]), np.uint64(features[other])
        bases, whose = (f * _FEW, g * _FEW), (np.uint64(i) << DRAW, np.uint64(other) << DRAW)
        missing = (np.uint64(splitter.n_codes[f]), np.uint64(splitter.n_codes[g]))
        if m <= _FOUR:
            flags |= sum_up_4(few.codes, bases, few.ids, few.here, whose, missing, few.place, scratch.work.sums, k)
        else:
            flags |= sum_up_8(few.codes, bases, few.ids, few.here, whose, missing, few.place, scratch.work.sums, k)
        k += _BLOCK
    return np.uint64(0) if flags >> _BLOCK != 0 or flags == 0 else k


@inline
def list_sums(splitter, scratch, i, members, m, k):
    """Sum up what the cuts of a node's m rows by the i-th drawn feature send left, as cuts from k on; return the end.

    Every row's code is a cut. Rows of one code list the same cut again, and the largest code one that leaves nothing
    on the right. A feature whose rows all have one code lists nothing.
    """
    few, sums, f = scratch.small, scratch.work.sums, np.uint64(scratch.features[i])
    base, whose, own = f * _FEW, np.uint64(i) << DRAW, few.place[k:]
    if (equal_among_64(few.codes, base, np.uint64(few.codes[base + few.ids[0]])) & members) == members:
        return k
    for j in range(m):
        own[j] = whose | np.uint64(few.codes[base + few.ids[j]])
    _add_up(few, k, own, m, sums)
    missing_code = np.uint64(splitter.n_codes[f])
    if (equal_among_64(few.codes, base, missing_code) & members) == 0:
        return k + m
    side = whose | (_ONE << SIDE)
    for j in range(m):  # missing rows go left of every cut; after their own code all rows do
        few.place[k + m + j] = side | own[j]
        few.moved[j] = whose if own[j] == whose | missing_code else side | own[j]
    _add_up(few, k + m, few.moved, m, sums)
    return k + m + m


@inline
def _add_up(few, k, codes, m, sums):
    """Sum up what the m cuts from k on send left of rows of these codes; sixteen cuts share what is read of a row."""
    n, at = (m + _THREE) & ~_THREE, np.uint64(0)
    while at + _BLOCK < m:
        add_up_to_16(few.place, k + at, codes, n, few.here, sums)
        at += _TWO * _BLOCK
    if at < m:
        add_up_to_8(few.place, k + at, codes, n, few.here, sums)


@inline
def record_best(splitter, job, scratch, members, m, total, n):
    """Write the best of n cuts among the candidates; return its feature and which rows go left, or -1 and none."""
    few, work, target, limits = scratch.small, scratch.work, job.target, job.limits
    sums, scores, criterion, whole = work.sums, work.scores, job.criterion, np.int64(total[0])
    end = (n + _BLOCK - _ONE) & ~(_BLOCK - _ONE)
    # A multiple of what a vector holds: the rest would be scored one by one.
    for k in range(end if COMPILED else n):
        has_right = sums[0, k] < whole
        if COMPILED or has_right:  # no branch in vectors; interpreted, an empty side would divide by zero
            left = bin_sums(target, sums, k)
            score = split_score(target, criterion, left, rest(target, total, left, work.right), work)
            scores[k] = score if has_right else NO_GAIN
        else:
            scores[k] = NO_GAIN
    for k in range(n, end):
        scores[k] = NO_GAIN
    best, is_settled = np.uint64(0), False
    while not is_settled:
        largest = largest_of(scores, np.uint64(0), end)
        if not largest > NO_GAIN:
            return np.int64(-1), np.uint64(0)
        # Rows do not stand in the order of their codes, so of near-equal scores the first place wins.
        tie = largest - TIE * abs(largest) - _LEAST
        best, is_settled = first_above(scores, few.place, end, tie), True
        if limits.min_samples_leaf > 1 or limits.min_weight_leaf > 0.0:
            is_settled = _forget_illegal(splitter, job, scratch, members, m, total, end, tie)
    place, left = few.place[best], bin_sums(target, sums, best)
    f = scratch.features[place >> DRAW]
    base, code, left_rows = np.uint64(f) * _FEW, place & CODE, _rows_up_to(splitter, few, f, place, members)
    after = np.int64(least_above_among_64(few.codes, base, code, members))
    has_missing = (equal_among_64(few.codes, base, np.uint64(splitter.n_codes[f])) & members) != 0
    split = (np.int64(bit_count(left_rows)), np.int64(code), after, np.int64((place >> SIDE) & _ONE), has_missing)
    record_cut(target, splitter, job, total, work, scratch.candidates, f, left, split)
    return f, left_rows


@inline
def _forget_illegal(splitter, job, scratch, members, m, total, end, tie):
    """Of the cuts scored above ``tie``, rule out those that leave a child too small; return whether all may be."""
    few, work, target, limits = scratch.small, scratch.work, job.target, job.limits
    least, all_may_be = limits.min_samples_leaf, True
    for block in range(np.uint64(0), end, _BLOCK):
        above = above_among_8(work.scores, block, tie)
        while above != 0:
            k = block + np.uint64(lowest_bit(above))
            above &= above - _ONE
            f = scratch.features[few.place[k] >> DRAW]
            left = bin_sums(target, work.sums, k)
            n_left = np.int64(bit_count(_rows_up_to(splitter, few, f, few.place[k], members)))
            may_be = least <= n_left <= np.int64(m) - least
            if not (may_be and is_legal(target, limits, f, left, rest(target, total, left, work.right))):
                work.scores[k], all_may_be = NO_GAIN, False
    return all_may_be


@inline
def _rows_up_to(splitter, few, f, place, members):
    """Return which rows of a node a cut sends left."""
    base = np.uint64(f) * _FEW
    rows = at_most_among_64(few.codes, base, place & CODE)
    if (place >> SIDE) & _ONE:
        rows |= equal_among_64(few.codes, base, np.uint64(splitter.n_codes[f]))
    return rows & members
