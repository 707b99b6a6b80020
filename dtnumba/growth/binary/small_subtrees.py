# mypy: ignore-errors
"""Grow a whole subtree of at most 64 rows without moving a row: a node is a word with a bit a row.

Most nodes of a fully grown tree have few rows, and for these, tables of bins cost more to fill and to walk than the
rows themselves. So the codes of such a subtree are laid out once, 64 of a feature side by side, and one comparison of
64 codes says which rows a cut sends left. The draws, the cuts and the sums are those of other nodes, and so is the
tree, to the bit.

How the cuts of a node are summed up depends on the target: on bits where rows are counted (``small_classes``), on sums
where they are added up (``small_regression``). Such a policy is a NamedTuple with these methods:

new_scratch(codes, n_drawn, workers)   (Python) what workers need, with the fields that are read here
is_small(job, scratch, node)           whether an open node is to be the root of such a subtree
begin(job, scratch, start, n)          take what the rows at [start, start + n) add to sums
split(job, scratch, root, node, members, total)  write the best split of a node and return which of its rows go left,
                                       or make it a leaf
grow(job, scratch, root)               ``grow_small_subtree``
leave(job, scratch, node, members)     put the rows of a leaf where the leaf says that they are
"""

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.binary.grow_subtree import LikeOthers, add_children, mark_contiguous, take_pair
from dtnumba.growth.policies.monotonic import AnyShape
from dtnumba.growth.policies.node_order import is_best_first
from dtnumba.growth.policies.significance_test import NoTest
from dtnumba.growth.splitters.contract import keeper
from dtnumba.growth.targets.contract import around, load, store, sum_rows, zero
from dtnumba.runtime.instructions.bits import bit_count, lowest_bit
from dtnumba.runtime.instructions.vector_sums import turn_8_by_8
from dtnumba.runtime.kernels import by_type, inline

FEW = 64  # bits of a word
_FEW, _ONE, _THREE, _ALL = np.uint64(FEW), np.uint64(1), np.uint64(3), ~np.uint64(0)
_BLOCK = np.uint64(8)  # rows and features turned at once
# A cut's place in the order in which ties are decided: the feature's in the draw, missing rows left, the code.
CODE, SIDE, DRAW = np.uint64((1 << 32) - 1), np.uint64(32), np.uint64(33)

begin = by_type("begin")
split = by_type("split")
leave = by_type("leave")


def small_subtrees(kinds, splitter, target, criterion, limits, groups):
    """Return how small subtrees of a forest are grown: by the first kind that the target serves, or like others.

    Only where the splitter leaves codes and rows to it (``grows_small``), and where growth asks of a node no more than
    its size, and of a split no more than its gain.
    """
    by_gain = not hasattr(type(criterion), "choose") and not is_best_first(limits)
    is_free = isinstance(limits.test, NoTest) and isinstance(limits.monotone, AnyShape) and groups is None
    is_free = is_free and by_gain and getattr(splitter, "grows_small", False)
    if is_free and limits.n_drawn < splitter.codes.shape[1]:
        for kind in kinds:
            if hasattr(target, kind.needs):
                return kind()
    return LikeOthers()


@inline
def grow_small_subtree(policy, job, scratch, root):
    """Grow everything below an open node of at most 64 rows."""
    growing, small, target, splitter = job.growing, scratch.small, job.target, keeper(job.splitter)
    nodes, start = growing.nodes, growing.nodes[root, col.START]
    n = nodes[root, col.STOP] - start
    small.laid[len(small.laid) - 1] += 1
    list_rows(splitter, small, np.uint64(start), np.uint64(n))
    begin(policy, job, scratch, start, n)
    if growing.sums[root, 0, 0] == col.UNKNOWN:
        total = sum_rows(target, splitter, zero(target, scratch.work.total), start, start + n)
        store(target, total, growing.sums[root, 0])
    small.waiting[0], small.members[0] = root, _ALL >> np.uint64(_FEW - np.uint64(n))
    n_waiting, n_nodes = 1, np.int64(0)
    while n_waiting > 0:
        n_waiting -= 1
        node, members = small.waiting[n_waiting], small.members[n_waiting]
        total = around(target, load(target, growing.sums[node, 0], scratch.work.total), scratch.work)
        left_rows = split(policy, job, scratch, root, node, members, total)
        if nodes[node, col.FEATURE] == col.LEAF:
            leave(policy, job, scratch, node, members)
            continue
        left = take_pair(growing, scratch.place)
        n_nodes += 2
        add_children(growing, job.limits, node, nodes[node, col.START] + np.int64(bit_count(left_rows)), left)
        for k in range(2):  # the left one is put on top: nodes are taken in the order of their numbers
            child, own = left + 1 - k, left_rows if k == 1 else members & ~left_rows
            if nodes[child, col.FEATURE] == col.LEAF:
                leave(policy, job, scratch, child, own)
            else:
                small.waiting[n_waiting], small.members[n_waiting] = child, own
                n_waiting += 1
    mark_contiguous(growing, root, n_nodes, scratch.place[0])


@inline
def list_members(small, members):
    """List the rows of a node; return how many these are."""
    m, word = np.uint64(0), members
    while word != 0:
        small.ids[m] = lowest_bit(word)
        word &= word - _ONE
        m += _ONE
    return m


@inline
def lay_out(splitter, small, n, f):
    """Copy a feature's codes of a subtree's n rows side by side, if that was not done yet.

    Eight rows of eight features are turned at once: one by one, codes took a sixth of the time of small nodes.
    """
    p, codes = np.uint64(splitter.codes.shape[1]), splitter.codes
    group = f >> _THREE if p >= _BLOCK else f
    if small.laid[group] == small.laid[p]:
        return
    small.laid[group] = small.laid[p]
    if p >= _BLOCK:
        first = min(group << _THREE, p - _BLOCK)
        for i in range(np.uint64(0), np.uint64(n), _BLOCK):
            turn_8_by_8(codes, small.rows, i, first, small.codes, first * _FEW + i)
    else:
        for i in range(np.uint64(n)):
            small.codes[f * _FEW + i] = codes[np.uint64(small.rows[i]), f]


@inline
def list_rows(splitter, small, start, n):
    """List the rows of a subtree; the last one again up to a multiple of eight, which are turned together."""
    for i in range(n):
        small.rows[i] = splitter.rows[start + i]
    for i in range(n, (n + np.uint64(7)) & ~np.uint64(7)):
        small.rows[i] = small.rows[n - _ONE]
