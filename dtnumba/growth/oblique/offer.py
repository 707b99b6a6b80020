# mypy: ignore-errors
"""The best sum of a node, offered beside the best test of one column: a kernel that growth calls by address."""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN
from dtnumba.growth import columns as col
from dtnumba.growth.nodes import in_hand
from dtnumba.growth.oblique.node_columns import look_at_columns
from dtnumba.growth.oblique.projection import forget_sums
from dtnumba.growth.oblique.subsets import find, find_among_pairs
from dtnumba.growth.targets.contract import around, load, sum_rows, zero
from dtnumba.runtime.addresses import call_at
from dtnumba.runtime.kernels import by_type, entry, inline

_LEAST_ROWS = 4


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
        find(search, splitter, job, scratch, node, d, total)


search_sums = by_type("find_few", _of_few)  # of a search that minds itself how many terms a sum may have


@inline
def _offer(splitter, job, scratch, node, n_listed):
    nodes, out, best = job.growing.nodes, scratch.candidates, splitter.n_features
    start, stop = np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP])
    if stop - start < _LEAST_ROWS:
        return n_listed
    d = look_at_columns(splitter, job, scratch, node, n_listed)
    if d < 2:
        return n_listed
    bar = NO_GAIN
    for i in range(n_listed):
        bar = max(bar, out.gain[scratch.listed[i]])
    forget_sums(splitter, scratch)
    target, sums = job.target, job.growing.sums[node, 0]
    total = zero(target, scratch.work.total)
    if sums[0] == col.UNKNOWN:  # they are too many to be kept
        total = sum_rows(target, splitter, total, start, stop)
    else:
        total = load(target, sums, scratch.work.total)
    search_sums(splitter.search, splitter, job, scratch, node, d, around(target, total, scratch.work))
    if out.gain[best] == NO_GAIN or (bar > NO_GAIN and not out.gain[best] > max(bar, splitter.axis_bias * bar)):
        return n_listed
    scratch.listed[n_listed] = best
    return n_listed + 1
