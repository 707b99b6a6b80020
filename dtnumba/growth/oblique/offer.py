# mypy: ignore-errors
"""The best sum of a node, offered beside the best test of one column: a kernel that growth calls by address."""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN
from dtnumba.growth import columns as col
from dtnumba.growth.nodes import in_hand
from dtnumba.growth.oblique.node_columns import look_at_columns
from dtnumba.growth.oblique.projection import forget_sums
from dtnumba.growth.oblique.subsets import find_among_pairs, find_once
from dtnumba.growth.targets.contract import TupleSums, around, is_pure, load, rest, sum_rows, zero
from dtnumba.growth.targets.leaf_values import ClassLeaves
from dtnumba.runtime.addresses import call_at
from dtnumba.runtime.kernels import by_class, by_having, by_type, entry, inline

LEAST_ROWS = 4


@inline
def offer_sum(job, scratch, node, n_listed):
    """Offer a sum among the candidates listed; return how many these are now."""
    return call_at(job.calls.offer, in_hand(job, scratch), np.int64(node), np.int64(n_listed), np.int64(0))


@entry
def offer_sums(subtree, node, n_listed, _):
    """Look for the best sum of a node; list it where it is better than the tests of one column."""
    job, scratch = subtree.job, subtree.scratch
    return _offer(job.splitter, job, scratch, node, n_listed)


def _of_few(search, splitter, job, scratch, node, d, total):
    if splitter.most_terms < d:
        find_among_pairs(search, splitter, job, scratch, node, d, total)
    else:
        find_once(search, splitter, job, scratch, node, d, total)


search_sums = by_type("find_few", _of_few)  # of a search that minds itself how many terms a sum may have


@inline
def _offer(splitter, job, scratch, node, n_listed):
    nodes, out, listed = job.growing.nodes, scratch.candidates, scratch.listed
    start, stop = np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP])
    if stop - start < LEAST_ROWS:
        return n_listed
    best, bar = np.int64(-1), NO_GAIN
    for i in range(n_listed):
        if out.gain[listed[i]] > bar:
            best, bar = np.int64(listed[i]), out.gain[listed[i]]
    target, sums = job.target, job.growing.sums[node, 0]
    total = zero(target, scratch.work.total)
    if sums[0] == col.UNKNOWN:  # they are too many to be kept
        total = sum_rows(target, splitter, total, start, stop)
    else:
        total = load(target, sums, scratch.work.total)
    whole = around(target, total, scratch.work)
    if not _find(splitter.search, splitter, job, scratch, node, n_listed, best, whole):
        return n_listed
    scratch.listed[n_listed] = splitter.n_features
    return n_listed + 1


def _above_columns(search, splitter, job, scratch, node, n_listed, feature, total):
    bar = bar_for_sums(job.target, splitter, scratch, feature, total)
    return bar < np.inf and find_above(search, splitter, job, scratch, node, bar, total)


def _among_columns(search, splitter, job, scratch, node, n_listed, feature, total):
    d, out, best = look_at_columns(splitter, job, scratch, node, n_listed), scratch.candidates, splitter.n_features
    if d < 2:
        return False
    forget_sums(splitter, scratch)
    search_sums(search, splitter, job, scratch, node, d, total)
    if feature < 0:
        return out.gain[best] > NO_GAIN
    return out.gain[best] > max(out.gain[feature], splitter.axis_bias * out.gain[feature])


find_above = by_type("find_above")  # of a search that draws sums, and cuts them as columns are
_find = by_having("find_above", _above_columns, _among_columns)


@inline
def bar_for_sums(target, splitter, scratch, feature, total):
    """Return what a sum must gain more than, given the feature that gains most by itself, or -1.

    Infinity where that one parts the classes entirely, as at every other node of a fully grown tree.
    """
    if feature < 0:
        return NO_GAIN
    if _is_perfect(target, splitter, scratch, feature, total):
        return np.inf
    return max(scratch.candidates.gain[feature], splitter.axis_bias * scratch.candidates.gain[feature])


def _leaves_pure(target, splitter, scratch, feature, total):
    left = load(target, scratch.candidates.sums[feature], scratch.work.left)
    right, none = rest(target, total, left, scratch.work.right), np.int64(0)
    return is_pure(target, left, splitter, none, none) and is_pure(target, right, splitter, none, none)


def _never(target, splitter, scratch, feature, total):
    return False


_is_perfect = by_class(lambda cls: issubclass(cls, TupleSums) and issubclass(cls, ClassLeaves), _leaves_pure, _never)
