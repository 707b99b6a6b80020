"""From nodes under construction to Trees: canonical numbers, thresholds, values, the ragged columns in order."""

import numpy as np

from dtnumba._jit import kernel
from dtnumba.finish import midpoint
from dtnumba.growers.cases import (
    BRANCH_AT,
    CUT_AT,
    FAN,
    FEATURE,
    GAIN,
    IMPURITY,
    LEAF,
    LEFT,
    LEVEL_AT,
    MISSING,
    N_BRANCHES,
    N_CUTS,
    N_LEVELS,
    N_NODES,
    N_SURROGATES,
    PARENT,
    ROWS,
    S_BELOW_LEFT,
    S_BRANCH_AT,
    S_FEATURE,
    S_LAST,
    S_N_BRANCHES,
    S_NEXT,
    SURROGATE_AT,
)
from dtnumba.trees import FRACTIONAL, NO_MAP, NO_SHARES, NO_SURROGATES, STAYS, Surrogates, Trees


@kernel
def number_general(nodes, order, left, stack):
    """Give the nodes their numbers: the children of a node are numbered when it is reached, first subtrees first.

    order[k] becomes the node with number k, left[k] the number of its first child; returns how many there are.
    """
    count, top = np.int64(1), 1
    order[0] = stack[0] = 0
    while top > 0:
        top -= 1
        new = stack[top]
        node = order[new]
        left[new] = LEAF
        if nodes[node, FEATURE] != LEAF:
            left[new] = count
            fan = nodes[node, FAN]
            for v in range(fan):
                order[count + v] = nodes[node, LEFT] + v
                stack[top + fan - 1 - v] = count + v
            count, top = count + fan, top + fan
    return count


def _ragged(starts, lengths):
    """Return (where the entries of each node begin in a dense column, their places in the given one)."""
    begin = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    places = np.repeat(starts - begin[:-1], lengths) + np.arange(begin[-1])
    return (begin, places) if begin[-1] > 0 else (NO_MAP, places)


def _thresholds(bins, feature, last, following):
    """Return cuts halfway between the values of the codes on both sides; infinity where nothing lies beyond."""
    first = bins.first_code[feature]
    is_end = following < 0
    above = np.minimum(first + np.maximum(following, 0), len(bins.low) - 1)
    with np.errstate(invalid="ignore"):
        cut = midpoint(bins.high[first + last].astype(np.float64), bins.low[above].astype(np.float64))
    return np.where(is_end, np.inf, cut)


def _surrogates(grown, nodes, bins):
    where = nodes[:, SURROGATE_AT], np.where(nodes[:, FEATURE] >= 0, nodes[:, N_SURROGATES], 0)
    start, places = _ragged(*where)
    if len(places) == 0:
        return NO_SURROGATES
    own, feature = grown.surrogates[places], grown.surrogates[places, S_FEATURE]
    branch_start, entries = _ragged(own[:, S_BRANCH_AT], own[:, S_N_BRANCHES])
    is_number = own[:, S_N_BRANCHES] == 0
    threshold = np.full(len(own), np.nan)
    threshold[is_number] = _thresholds(bins, feature[is_number], own[is_number, S_LAST], own[is_number, S_NEXT])
    return Surrogates(
        start,
        feature.astype(np.int32),
        threshold,
        own[:, S_BELOW_LEFT].astype(np.uint8),
        branch_start if len(entries) else np.zeros(len(own) + 1, np.int64),
        grown.branch[entries],
        grown.agreements[places, 0],
        grown.agreements[places, 1],
    )


def to_trees(grown, target, bins, *, is_fractional):
    """Return the Trees of one grown tree."""
    m = int(grown.state[N_NODES])
    order, left, stack = (np.empty(m + 1, np.int64) for _ in range(3))
    m = number_general(grown.nodes, order, left, stack)
    order, left = order[:m], left[:m]
    nodes, sums, numbers = grown.nodes[order], grown.sums[order], grown.numbers[order]
    feature, is_inner = nodes[:, FEATURE].astype(np.int32), nodes[:, FEATURE] != LEAF
    fan = np.where(is_inner, nodes[:, FAN], 0)
    n_cuts, n_branches, n_levels = (np.where(is_inner, nodes[:, k], 0) for k in (N_CUTS, N_BRANCHES, N_LEVELS))
    is_plain = is_inner & (n_cuts <= 1) & (n_branches == 0)
    threshold = np.full(m, np.nan)
    threshold[is_plain & (n_levels == 0)] = np.inf  # all categories against missing values
    has_cut = is_plain & (n_cuts == 1)
    one = grown.cuts[nodes[has_cut, CUT_AT]]
    threshold[has_cut] = _thresholds(bins, feature[has_cut], one[:, 0], one[:, 1])
    n_cuts = np.where(is_plain, 0, n_cuts)
    cut_start, cuts = _ragged(nodes[:, CUT_AT], n_cuts)
    both = grown.cuts[cuts]
    branch_start, branches = _ragged(nodes[:, BRANCH_AT], n_branches)
    level_start, levels = _ragged(nodes[:, LEVEL_AT], n_levels)
    missing = np.where(is_plain & (nodes[:, MISSING] != STAYS), nodes[:, MISSING] == 0, nodes[:, MISSING])
    weight, value = _said(grown, target, order, left, nodes, sums)
    return Trees(
        root=np.array([0, m], np.int64),
        feature=feature,
        threshold=threshold,
        left=left.astype(np.int32),
        right=np.where(is_inner, left + fan - 1, LEAF).astype(np.int32),
        missing_left=np.where(is_inner, missing, 0).astype(np.uint8),
        value=value,
        branch_start=branch_start,
        branch=grown.branch[branches],
        cut_start=cut_start,
        cut=_thresholds(bins, np.repeat(feature, n_cuts), both[:, 0], both[:, 1]),
        n_samples=nodes[:, ROWS].copy(),
        weight=weight,
        impurity=numbers[:, IMPURITY].copy(),
        gain=np.where(is_inner, numbers[:, GAIN], 0.0),
        level_start=level_start,
        level=grown.level[levels],
        policy=FRACTIONAL if is_fractional else 0,
        share=_shares(left, fan, weight) if is_fractional else NO_SHARES,
        surrogates=_surrogates(grown, nodes, bins),
    )


def _said(grown, target, order, left, nodes, sums):
    """Return weight and value of every node; a leaf of no rows says what its parent says."""
    n = target.offsets[-1]
    weight = sums[:, n].copy()
    if grown.value.shape[1]:
        value = grown.value[order]
    else:
        value = np.empty((len(order), n))
        for low, high in zip(target.offsets[:-1], target.offsets[1:], strict=True):
            total = sums[:, low:high].sum(axis=1, keepdims=True)
            np.divide(sums[:, low:high], total, out=value[:, low:high], where=total > 0)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    empty = np.flatnonzero(nodes[:, ROWS] == 0)
    value[empty] = value[number[nodes[empty, PARENT]]]
    return weight, value


def _shares(left, fan, weight):
    """Return the share of each node in the weight of its parent's children."""
    share, inner = np.ones(len(left)), np.flatnonzero(fan)
    below = (
        np.repeat(left[inner], fan[inner])
        + np.arange(fan[inner].sum())
        - np.repeat(np.cumsum(fan[inner]) - fan[inner], fan[inner])
    )
    total = np.bincount(np.repeat(np.arange(len(inner)), fan[inner]), weights=weight[below], minlength=len(inner))
    share[below] = weight[below] / np.repeat(total, fan[inner])
    return share
