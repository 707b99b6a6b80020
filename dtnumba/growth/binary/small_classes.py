# mypy: ignore-errors
# ruff: noqa: D102
"""Small subtrees of classes (see ``small_subtrees``): counting bits tells what the rows left of a cut sum up to."""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, TIE
from dtnumba.growth import columns as col
from dtnumba.growth.binary.grow_subtree import write_split
from dtnumba.growth.binary.small_subtrees import CODE, DRAW, FEW, SIDE, grow_small_subtree, lay_out, list_members
from dtnumba.growth.policies.feature_sampling import draw, put_back
from dtnumba.growth.splitters.candidates import is_legal, record_cut
from dtnumba.growth.targets.contract import (
    bit_planes,
    is_pure,
    load_bits,
    rest,
    split_score,
    sums_of_bits,
    weight_of,
)
from dtnumba.runtime.instructions.bits import bit_count, lowest_bit
from dtnumba.runtime.instructions.vector_compare import (
    at_least_among_8,
    at_most_among_64,
    equal_among_64,
    largest_of,
    least_above_among_64,
)
from dtnumba.runtime.kernels import COMPILED, inline, kernel_type
from dtnumba.runtime.memory import per_worker

_FEW, _ONE, _TWO, _ALL = np.uint64(FEW), np.uint64(1), np.uint64(2), ~np.uint64(0)
# Cuts scored at once, without a remainder that would be scored one by one.
_BLOCK = np.uint64(8)
# Words that say how often the rows of each class count: a word for each bit of a count, at most.
N_PLANES = 8


@kernel_type
class BitScratch(NamedTuple):
    """Buffers of one worker for the nodes of one subtree, and for the cuts of one node."""

    codes: np.ndarray  # (p * 64,): 64 rows of a feature, then the next feature
    laid: np.ndarray  # (p + 1,) int64: the subtree for which a feature's codes were laid out last; then this subtree
    planes: np.ndarray  # (N_PLANES,) uint64: what the rows count, see the target kinds
    rows: np.ndarray  # (64,) uint64: rows of the subtree
    ids: np.ndarray  # (64,) uint64: of these, the rows of a node
    members: np.ndarray  # (64,) uint64: rows of the nodes that wait
    waiting: np.ndarray  # (64,) int64: these nodes
    left: np.ndarray  # (n_cuts,) uint64: rows that each cut sends left
    place: np.ndarray  # (n_cuts,) uint64: of each group of cuts, without a code

    @property
    def n_cuts(self):
        return self.left.shape[-1]


def new_small_scratch(codes, n_drawn, workers):
    """Allocate it for codes like these and nodes that look at so many features, or at more where these are constant."""
    p = codes.shape[1]
    n_cuts = n_drawn * 2 * FEW + 8  # two a row and feature where values are missing, and what fills up the last block
    return BitScratch(
        per_worker(workers, p * FEW, codes.dtype),
        per_worker(workers, p + 1, np.int64, 0),
        per_worker(workers, N_PLANES, np.uint64),
        per_worker(workers, FEW, np.uint64),
        per_worker(workers, FEW, np.uint64),
        per_worker(workers, FEW, np.uint64),
        per_worker(workers, FEW, np.int64),
        per_worker(workers, n_cuts, np.uint64),
        per_worker(workers, n_cuts, np.uint64),
    )


@kernel_type
class OnBits(NamedTuple):
    """Rows that are counted: the bits of a word say which go left, and counting bits what these sum up to."""

    needs = "sums_of_bits"  # of the target

    def new_scratch(self, codes, n_drawn, workers):
        return new_small_scratch(codes, n_drawn, workers)

    def is_small(self, job, scratch, node):
        start, stop = job.growing.nodes[node, col.START], job.growing.nodes[node, col.STOP]
        return 2 < stop - start <= FEW and load_bits(
            job.target, job.splitter, start, stop - start, scratch.small.planes
        )

    def begin(self, job, scratch, start, n):
        pass  # ``is_small`` has taken what rows count

    def split(self, job, scratch, root, node, members, total):
        nodes = job.growing.nodes
        if is_pure(job.target, total, job.splitter, nodes[root, col.START], nodes[root, col.START]):
            nodes[node, col.FEATURE] = col.LEAF
            return np.uint64(0)
        n = nodes[root, col.STOP] - nodes[root, col.START]
        return _find_split(job.splitter, job, scratch, n, node, members, total)

    def grow(self, job, scratch, root):
        grow_small_subtree(self, job, scratch, root)

    def leave(self, job, scratch, node, members):
        pass  # sums of counts do not ask where rows are


@inline
def _find_split(splitter, job, scratch, n, node, members, total):
    """Write the best split of a node, or make it a leaf; return which rows go left."""
    feature, left_rows = best_of_columns(splitter, job, scratch, n, node, members, total)
    write_split(job, scratch, node, feature, weight_of(job.target, total))
    return left_rows


@inline
def best_of_columns(splitter, job, scratch, n, node, members, total):
    """Write the best cut of the features that a node draws among the candidates; return its feature and rows, or -1."""
    growing, limits, few, p = job.growing, job.limits, scratch.small, len(scratch.features)
    weight, looked_at, feature, left_rows = weight_of(job.target, total), np.int64(0), np.int64(-1), np.uint64(0)
    if weight >= 2.0 * limits.min_weight_leaf:
        last, found, m = min(limits.n_drawn, p), np.uint64(0), list_members(few, members)
        while found == 0 and looked_at < p:
            draw(job.features, scratch, growing.keys[node], looked_at, last)
            for i in range(looked_at, last):
                scratch.candidates.gain[scratch.features[i]] = NO_GAIN
                lay_out(splitter, few, n, np.uint64(scratch.features[i]))
            for i in range(looked_at, last):
                if m != _TWO:
                    found = list_cuts(splitter, scratch, i, members, m, found)
                elif found == 0:  # there is one way to part two rows, so the first feature that does wins
                    feature = scratch.features[i]
                    found = left_rows = record_pair(splitter, job, scratch, i, total)
            looked_at, last = last, last + 1
        if m != _TWO:
            feature, left_rows = record_best(splitter, job, scratch, members, m, total, found)
        put_back(job.features, scratch, looked_at)
    return feature, left_rows


@inline
def list_cuts(splitter, scratch, i, members, m, group):
    """List the cuts of a node's m rows by the i-th drawn feature; return how many groups of m cuts there are by now.

    Every row's code is a cut. Rows of one code list the same cut again, and the largest code one that leaves nothing
    on the right; both cost less than to look for them. A feature whose rows all have one code lists nothing.
    """
    few, f = scratch.small, np.uint64(scratch.features[i])
    base, k = f * _FEW, group * m
    if (equal_among_64(few.codes, base, np.uint64(few.codes[base + few.ids[0]])) & members) == members:
        return group
    few.place[group] = np.uint64(i) << DRAW
    for j in range(m):
        few.left[k + j] = at_most_among_64(few.codes, base, np.uint64(few.codes[base + few.ids[j]])) & members
    missing = equal_among_64(few.codes, base, np.uint64(splitter.n_codes[f])) & members
    if missing == 0:
        return group + _ONE
    few.place[group + _ONE] = few.place[group] | (_ONE << SIDE)
    for j in range(m):
        few.left[k + m + j] = few.left[k + j] | missing
    return group + np.uint64(2)


@inline
def record_pair(splitter, job, scratch, i, total):
    """Write the cut between two rows by the i-th drawn feature among the candidates; return which row goes left."""
    few, f, target = scratch.small, scratch.features[i], job.target
    base, below, above = np.uint64(f) * _FEW, few.ids[0], few.ids[_ONE]
    if few.codes[base + below] == few.codes[base + above]:
        return np.uint64(0)
    if few.codes[base + below] > few.codes[base + above]:
        below, above = above, below
    left = sums_of_bits(target, _ONE << below, bit_planes(target, few.planes))
    right, least = rest(target, total, left, scratch.work.right), job.limits.min_samples_leaf
    may_be = least <= 1 and is_legal(target, job.limits, f, left, right)
    if may_be and split_score(target, job.criterion, left, right, scratch.work) > NO_GAIN:
        code, after = np.int64(few.codes[base + below]), np.int64(few.codes[base + above])
        split = (np.int64(1), code, after, np.int64(0), after == splitter.n_codes[f])
        record_cut(target, splitter, job, total, scratch.work, scratch.candidates, f, left, split)
    return _ONE << below


@inline
def record_best(splitter, job, scratch, members, m, total, n_groups):
    """Write the best of the cuts listed among the candidates; return its feature and which rows go left, or -1."""
    few, work, target, limits = scratch.small, scratch.work, job.target, job.limits
    scores, criterion, planes = work.scores, job.criterion, bit_planes(target, few.planes)
    least, most = np.uint64(limits.min_samples_leaf), m - np.uint64(limits.min_samples_leaf)
    # A multiple of what a vector holds: the rest would be scored one by one. A user's criterion is shown no garbage.
    n_scores = (n_groups * m + _BLOCK - _ONE) & ~(_BLOCK - _ONE)
    for k in range(n_groups * m, n_scores):
        few.left[k] = few.left[0]
    for k in range(n_scores if COMPILED else n_groups * m):
        n_left = bit_count(few.left[k])
        may_be = (n_left >= least) & (n_left <= most)
        if COMPILED or may_be:  # no branch in vectors; interpreted, an empty side would divide by zero
            left = sums_of_bits(target, few.left[k], planes)
            right = rest(target, total, left, work.right)
            score = split_score(target, criterion, left, right, work)
            may_be &= is_legal(target, limits, 0, left, right)
            scores[k] = score if may_be else NO_GAIN
        else:
            scores[k] = NO_GAIN
    for k in range(n_groups * m, n_scores):
        scores[k] = NO_GAIN
    largest, best, place = largest_of(scores, np.uint64(0), n_scores), np.uint64(0), _ALL
    if largest == NO_GAIN:
        return np.int64(-1), np.uint64(0)
    # Rows do not stand in the order of their codes, so of near-equal scores the first place wins.
    slack = TIE * _scale_of(scratch, m, n_groups, largest)
    bar = largest - slack if slack < np.inf else largest
    for block in range(np.uint64(0), n_scores, _BLOCK):
        found = at_least_among_8(scores, block, bar)
        while found != 0:
            k = block + np.uint64(lowest_bit(found))
            found &= found - _ONE
            here = _place_of(scratch, k, m)
            if here < place:
                best, place = k, here
    f, code, side = scratch.features[place >> DRAW], place & CODE, np.int64((place >> SIDE) & _ONE)
    base, left_rows = np.uint64(f) * _FEW, few.left[best]
    after = np.int64(least_above_among_64(few.codes, base, code, members))
    has_missing = (equal_among_64(few.codes, base, np.uint64(splitter.n_codes[f])) & members) != 0
    split = (np.int64(bit_count(left_rows)), np.int64(code), after, side, has_missing)
    left = sums_of_bits(target, left_rows, planes)
    record_cut(target, splitter, job, total, work, scratch.candidates, f, left, split)
    return f, left_rows


@inline
def _place_of(scratch, k, m):
    """Return a listed cut's place in the order in which ties are decided."""
    few, group = scratch.small, k // m
    f = np.uint64(scratch.features[few.place[group] >> DRAW])
    return few.place[group] | np.uint64(few.codes[f * _FEW + few.ids[k - group * m]])


@inline
def _scale_of(scratch, m, n_groups, largest):
    """Return what near-equal scores are measured by: the largest or that of the first cut, which a scan starts from.

    Scores that end at 0, as minus an impurity does, are all rounding there; those that grow from 0 are done at once.
    """
    scores, first, scale = scratch.work.scores, _ALL, abs(largest)
    for k in range(np.uint64(0) if largest >= 1.0 else n_groups * m):
        if scores[k] > NO_GAIN:
            here = _place_of(scratch, k, m)
            if here < first:
                first, scale = here, max(abs(largest), abs(scores[k]))
    return scale
