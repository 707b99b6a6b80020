# mypy: ignore-errors
"""Sums of few columns, where a node has more than a test may combine: the best pair, then one column more at a time.

All pairs are tried of the columns that split a node best by themselves, as many as make up to 66 pairs: what two
columns tell together is not to be seen in either of them, nor in the sum of all.
"""

import numpy as np

from dtnumba.runtime.kernels import by_type, inline, outlined

IN_ALL_PAIRS = 12
# Try sums over the d columns of a node that ``own`` lists: what every search does.
find = by_type("find")


@outlined
def find_once(search, splitter, job, scratch, node, d, total):
    """Try them, in code that is there once, from wherever it is called."""
    find(search, splitter, job, scratch, node, d, total)


@inline
def find_among_pairs(search, splitter, job, scratch, node, d, total):
    """Search sums of at most as many of a node's d columns as a test may combine."""
    own, terms = scratch.own, job.growing.terms[node]
    for k in range(d):
        _copy_column(own, own.every, k, k)
    d = _best_by_themselves(own.every, scratch.candidates.gain, d)
    for i in range(d):
        for j in range(i + 1, d):
            _copy_column(own.every, own, i, 0)
            _copy_column(own.every, own, j, 1)
            find_once(search, splitter, job, scratch, node, np.int64(2), total)
    m = np.int64(2)
    while m < splitter.most_terms and _has_terms(splitter, scratch, terms, m):
        for k in range(m):
            own.chosen[k] = np.int64(terms[1 + k])
        for i in range(d):
            if _put_beside(own, i, d, m):
                find_once(search, splitter, job, scratch, node, m + 1, total)
        m += 1


@inline
def _has_terms(splitter, scratch, terms, m):
    """Tell whether the best sum so far has m terms, so that one more may be worth it."""
    return scratch.candidates.gain[splitter.n_features] > -np.inf and np.int64(terms[0]) == m


@inline
def _put_beside(own, i, d, m):
    """List the m columns chosen and the i-th of all, in their order; return False where that is one of them."""
    for k in range(m):
        if own.chosen[k] == own.every.columns[i]:
            return False
    at = 0
    for j in range(d):
        is_in = j == i
        for k in range(m):
            is_in = is_in or own.chosen[k] == own.every.columns[j]
        if is_in:
            _copy_column(own.every, own, j, at)
            at += 1
    return True


@inline
def _copy_column(source, target, i, j):
    target.columns[j], target.low[j], target.scale[j] = source.columns[i], source.low[i], source.scale[i]
    target.mean[j] = source.mean[i]


@inline
def _best_by_themselves(every, gain, d):
    """Keep the columns that split the node best; return how many are left."""
    while d > IN_ALL_PAIRS:
        worst = np.int64(0)
        for k in range(1, d):
            if gain[every.columns[k]] <= gain[every.columns[worst]]:
                worst = np.int64(k)
        d -= 1
        for k in range(worst, d):
            _copy_column(every, every, k + 1, k)
    return d
