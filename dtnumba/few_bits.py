"""Grow a whole subtree of at most 64 rows on bit masks: a node is a word with a bit a row.

Most nodes of a fully grown tree have few rows, and for these, tables of bins cost more to fill and to walk than the
rows themselves. So the codes of such a subtree are laid out once, 64 of a feature side by side. One comparison of 64
codes then says which rows a cut sends left, and counting bits says what these rows sum up to: no row moves, and no
table is touched. The draws, the cuts and the sums are those of tables, and so is the tree, to the bit.
"""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import (
    COMPILED,
    at_least_among_8,
    at_most_among_64,
    bit_count,
    equal_among_64,
    inline,
    largest_of,
    least_above_among_64,
    lowest_bit,
    part,
    turn_8_by_8,
)
from dtnumba.criteria import NO_GAIN, TIE
from dtnumba.frontier import draw, put_back
from dtnumba.grow import NO_LIMIT, admit_children, note_order, settle_on, take_pair
from dtnumba.growing import FEATURE, LEAF, START, STOP, UNKNOWN
from dtnumba.monotone import AnyShape
from dtnumba.per_worker import per_worker
from dtnumba.scan import is_legal, record_cut
from dtnumba.split_test import NoTest
from dtnumba.splitters.histogram import DrawnHistogram, fields_with
from dtnumba.splitters.rank_sort import RankSort
from dtnumba.targets import (
    bit_planes,
    is_pure,
    load,
    load_bits,
    rest,
    split_score,
    store,
    sum_rows,
    sums_of_bits,
    weight_of,
    zero,
)

FEW = 64  # bits of a word
_FEW, _ONE, _TWO, _THREE, _ALL = np.uint64(FEW), np.uint64(1), np.uint64(2), np.uint64(3), ~np.uint64(0)
# A cut's place in the order in which ties are decided: the feature's in the draw, missing rows left, the code.
CODE, SIDE, DRAW = np.uint64((1 << 32) - 1), np.uint64(32), np.uint64(33)
# Cuts scored at once, without a remainder that would be scored one by one.
_BLOCK = np.uint64(8)
# Words that say how often the rows of each class count: a word for each bit of a count, at most.
N_PLANES = 8


@part
class FewScratch(NamedTuple):
    """What a worker needs for the nodes of one subtree, and for the cuts of one node."""

    codes: np.ndarray  # (p * 64,): 64 rows of a feature, then the next feature
    laid: np.ndarray  # (p + 1,) int64: the subtree for which a feature's codes were laid out last; then this subtree
    planes: np.ndarray  # (N_PLANES,) uint64: what the rows count, see the target kinds
    rows: np.ndarray  # (64,) uint64: rows of the subtree
    ids: np.ndarray  # (64,) uint64: of these, the rows of a node
    members: np.ndarray  # (64,) uint64: rows of the nodes that wait
    waiting: np.ndarray  # (64,) int64: these nodes
    left: np.ndarray  # (n_cuts,) uint64: rows that each cut sends left
    place: np.ndarray  # (n_cuts,) uint64: of each group of cuts, without a code

    def pick(self, worker):
        return FewScratch(
            self.codes[worker, 0],
            self.laid[worker, 0],
            self.planes[worker, 0],
            self.rows[worker, 0],
            self.ids[worker, 0],
            self.members[worker, 0],
            self.waiting[worker, 0],
            self.left[worker, 0],
            self.place[worker, 0],
        )

    @property
    def n_cuts(self):
        return self.left.shape[-1]


def new_few_scratch(codes, n_drawn, workers):
    """Allocate it for codes like these and nodes that look at so many features, or at more where these are constant."""
    p = codes.shape[1]
    n_cuts = n_drawn * 2 * FEW + 8  # two a row and feature where values are missing, and what fills up the last block
    return FewScratch(
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


class _OnBits:
    """What the splitters below share: at most 64 rows are grown on bits."""

    __slots__ = ()

    def few_scratch(self, n_drawn, workers):
        return new_few_scratch(self.codes, n_drawn, workers)

    def is_few(self, job, scratch, node):
        start, stop = job.growing.nodes[node, START], job.growing.nodes[node, STOP]
        return 2 < stop - start <= FEW and load_bits(job.target, self, start, stop - start, scratch.few.planes)

    def grow_few(self, job, scratch, root, free, chunk_end):
        return grow_on_bits(self, job, scratch, root, free, chunk_end)


@part
class BitHistogram(_OnBits, DrawnHistogram):
    """Histograms, and bits below."""

    __slots__ = ()

    def with_rows(self, rows, n):
        return BitHistogram(*fields_with(self, self.codes, rows, n))

    def with_codes(self, codes):
        return BitHistogram(*fields_with(self, codes, self.rows, self.n_rows))


@part
class BitRankSort(_OnBits, RankSort):
    """Sorted rows, and bits below."""

    __slots__ = ()

    def with_rows(self, rows, n):
        return BitRankSort(self.codes, self.n_codes, rows, n, self.n_orders)

    def with_codes(self, codes):
        return BitRankSort(codes, self.n_codes, self.rows, self.n_rows, self.n_orders)


ON_BITS = {
    DrawnHistogram: BitHistogram,
    RankSort: BitRankSort,
}


def on_bits(splitter, target, criterion, limits, groups):
    """Return the splitter that grows small subtrees on bits, where there is one and growth has no other conditions.

    Bits are for targets whose rows are counted, and for growth that asks of a node no more than its size.
    """
    kind = ON_BITS.get(type(splitter))
    is_free = kind and hasattr(target, "sums_of_bits") and grows_freely(splitter, criterion, limits, groups)
    return kind(*splitter) if is_free else splitter


def grows_freely(splitter, criterion, limits, groups):
    """Tell whether growth asks of a node no more than its size, and of a split no more than its gain."""
    by_gain = not hasattr(type(criterion), "choose") and limits.max_leaves >= NO_LIMIT
    is_free = isinstance(limits.test, NoTest) and isinstance(limits.monotone, AnyShape) and groups is None
    return by_gain and is_free and limits.n_drawn < splitter.codes.shape[1]


@inline
def grow_on_bits(splitter, job, scratch, root, free, chunk_end):
    """Grow everything below an open node of at most 64 rows; return where the next nodes of this worker go."""
    growing, few, target = job.growing, scratch.few, job.target
    nodes, start = growing.nodes, growing.nodes[root, START]
    n = nodes[root, STOP] - start
    few.laid[len(few.laid) - 1] += 1
    list_rows(splitter, few, np.uint64(start), np.uint64(n))
    if growing.sums[root, 0, 0] == UNKNOWN:
        total = sum_rows(target, splitter, zero(target, scratch.work.total), start, start + n)
        store(target, total, growing.sums[root, 0])
    few.waiting[0], few.members[0] = root, _ALL >> np.uint64(_FEW - np.uint64(n))
    n_waiting, n_nodes = 1, np.int64(0)
    while n_waiting > 0:
        n_waiting -= 1
        node, members = few.waiting[n_waiting], few.members[n_waiting]
        total = load(target, growing.sums[node, 0], scratch.work.total)
        if is_pure(target, total, splitter, start, start):
            nodes[node, FEATURE] = LEAF
            continue
        left_rows = _seek(splitter, job, scratch, n, node, members, total)
        if nodes[node, FEATURE] == LEAF:
            continue
        left, free, chunk_end = take_pair(growing, free, chunk_end)
        n_nodes += 2
        admit_children(growing, job.limits, node, nodes[node, START] + np.int64(bit_count(left_rows)), left)
        for k in range(2):  # the left one is put on top: nodes are taken in the order of their numbers
            if nodes[left + 1 - k, FEATURE] != LEAF:
                few.waiting[n_waiting] = left + 1 - k
                few.members[n_waiting] = left_rows if k == 1 else members & ~left_rows
                n_waiting += 1
    note_order(growing, root, n_nodes, free)
    return free, chunk_end


@inline
def _seek(splitter, job, scratch, n, node, members, total):
    """Write the best split of a node, or make it a leaf; return which rows go left."""
    growing, limits, few, p = job.growing, job.limits, scratch.few, len(scratch.features)
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
    settle_on(job, scratch, node, feature, weight)
    return left_rows


@inline
def list_members(few, members):
    """List the rows of a node; return how many these are."""
    m, word = np.uint64(0), members
    while word != 0:
        few.ids[m] = lowest_bit(word)
        word &= word - _ONE
        m += _ONE
    return m


@inline
def lay_out(splitter, few, n, f):
    """Copy a feature's codes of a subtree's n rows side by side, if that was not done yet.

    Eight rows of eight features are turned at once: one by one, codes took a sixth of the time of small nodes.
    """
    p, codes = np.uint64(splitter.codes.shape[1]), splitter.codes
    group = f >> _THREE if p >= _BLOCK else f
    if few.laid[group] == few.laid[p]:
        return
    few.laid[group] = few.laid[p]
    if p >= _BLOCK:
        first = min(group << _THREE, p - _BLOCK)
        for i in range(np.uint64(0), np.uint64(n), _BLOCK):
            turn_8_by_8(codes, few.rows, i, first, few.codes, first * _FEW + i)
    else:
        for i in range(np.uint64(n)):
            few.codes[f * _FEW + i] = codes[np.uint64(few.rows[i]), f]


@inline
def list_rows(splitter, few, start, n):
    """List the rows of a subtree; the last one again up to a multiple of eight, which are turned together."""
    for i in range(n):
        few.rows[i] = splitter.rows[start + i]
    for i in range(n, (n + np.uint64(7)) & ~np.uint64(7)):
        few.rows[i] = few.rows[n - _ONE]


@inline
def list_cuts(splitter, scratch, i, members, m, group):
    """List the cuts of a node's m rows by the i-th drawn feature; return how many groups of m cuts there are by now.

    Every row's code is a cut. Rows of one code list the same cut again, and the largest code one that leaves nothing
    on the right; both cost less than to look for them. A feature whose rows all have one code lists nothing.
    """
    few, f = scratch.few, np.uint64(scratch.features[i])
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
    few, f, target = scratch.few, scratch.features[i], job.target
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
    few, work, target, limits = scratch.few, scratch.work, job.target, job.limits
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
    few, group = scratch.few, k // m
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
