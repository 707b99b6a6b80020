# mypy: ignore-errors
"""From nodes under construction to Trees: canonical numbers, thresholds, values, the ragged columns in order."""

import numpy as np

from dtnumba.growth.multiway import columns as col
from dtnumba.tables.floats import midpoint
from dtnumba.trees.assemble import number_general, ragged
from dtnumba.trees.layout import BY_SHARE, NO_SHARES, NO_SURROGATES, STAYS, Surrogates, Trees, count_up


def _thresholds(bins, feature, last, following):
    """Return thresholds halfway between the values of the codes on both sides; infinity where nothing lies beyond."""
    first = bins.first_code[feature]
    is_end = following < 0
    above = np.minimum(first + np.maximum(following, 0), len(bins.low) - 1)
    with np.errstate(invalid="ignore"):
        cut = midpoint(bins.high[first + last].astype(np.float64), bins.low[above].astype(np.float64))
    return np.where(is_end, np.inf, cut)


def _surrogates(grown, nodes, bins):
    where = nodes[:, col.SURROGATE_AT], np.where(nodes[:, col.FEATURE] >= 0, nodes[:, col.N_SURROGATES], 0)
    start, places = ragged(*where)
    if len(places) == 0:
        return NO_SURROGATES
    own, feature = grown.surrogates[places], grown.surrogates[places, col.S_FEATURE]
    branch_start, entries = ragged(own[:, col.S_BRANCH_AT], own[:, col.S_N_BRANCHES])
    is_number = own[:, col.S_N_BRANCHES] == 0
    threshold = np.full(len(own), np.nan)
    threshold[is_number] = _thresholds(bins, feature[is_number], own[is_number, col.S_LAST], own[is_number, col.S_NEXT])
    return Surrogates(
        start,
        feature.astype(np.int32),
        threshold,
        own[:, col.S_BELOW_LEFT].astype(np.uint8),
        branch_start if len(entries) else np.zeros(len(own) + 1, np.int64),
        grown.branch[entries],
        grown.agreements[places, 0],
        grown.agreements[places, 1],
    )


def to_trees(grown, target, bins, *, is_fractional):
    """Return the Trees of one grown tree."""
    m = int(grown.state[col.N_NODES])
    order, left, stack = (np.empty(m + 1, np.int64) for _ in range(3))
    m = number_general(grown.nodes[:m, col.LEFT], grown.nodes[:m, col.FAN_OUT], order, left, stack)
    order, left = order[:m], left[:m]
    nodes, sums, numbers = grown.nodes[order], grown.sums[order], grown.numbers[order]
    feature, is_inner = nodes[:, col.FEATURE].astype(np.int32), nodes[:, col.FEATURE] != col.LEAF
    fan = np.where(is_inner, nodes[:, col.FAN_OUT], 0)
    n_cuts, n_branches, n_levels = (
        np.where(is_inner, nodes[:, k], 0) for k in (col.N_CUTS, col.N_BRANCHES, col.N_LEVELS)
    )
    is_plain = is_inner & (n_cuts <= 1) & (n_branches == 0)
    threshold = np.full(m, np.nan)
    threshold[is_plain & (n_levels == 0)] = np.inf  # all categories against missing values
    has_cut = is_plain & (n_cuts == 1)
    one = grown.cuts[nodes[has_cut, col.CUT_AT]]
    threshold[has_cut] = _thresholds(bins, feature[has_cut], one[:, 0], one[:, 1])
    n_cuts = np.where(is_plain, 0, n_cuts)
    cut_start, cuts = ragged(nodes[:, col.CUT_AT], n_cuts)
    both = grown.cuts[cuts]
    branch_start, branches = ragged(nodes[:, col.BRANCH_AT], n_branches)
    level_start, levels = ragged(nodes[:, col.LEVEL_AT], n_levels)
    missing = np.where(
        is_plain & (nodes[:, col.MISSING_TO] != STAYS), nodes[:, col.MISSING_TO] == 0, nodes[:, col.MISSING_TO]
    )
    weight, value = _values(grown, target, order, left, nodes, sums)
    return Trees(
        root=np.array([0, m], np.int64),
        feature=feature,
        threshold=threshold,
        left=left.astype(np.int32),
        right=np.where(is_inner, left + fan - 1, col.LEAF).astype(np.int32),
        missing_left=np.where(is_inner, missing, 0).astype(np.uint8),
        value=value,
        branch_start=branch_start,
        branch=grown.branch[branches],
        cut_start=cut_start,
        cut=_thresholds(bins, np.repeat(feature, n_cuts), both[:, 0], both[:, 1]),
        n_samples=nodes[:, col.ROWS].copy(),
        weight=weight,
        impurity=numbers[:, col.IMPURITY].copy(),
        gain=np.where(is_inner, numbers[:, col.GAIN], 0.0),
        level_start=level_start,
        level=grown.level[levels],
        policy=BY_SHARE if is_fractional else 0,
        share=_shares(left, fan, weight) if is_fractional else NO_SHARES,
        surrogates=_surrogates(grown, nodes, bins),
    )


def _values(grown, target, order, left, nodes, sums):
    """Return weight and value of every node; a leaf without rows has the value of its parent."""
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
    empty = np.flatnonzero(nodes[:, col.ROWS] == 0)
    value[empty] = value[number[nodes[empty, col.PARENT]]]
    return weight, value


def _shares(left, fan, weight):
    """Return the share of each node in the weight of its parent's children."""
    share, inner = np.ones(len(left)), np.flatnonzero(fan)
    below = np.repeat(left[inner], fan[inner]) + count_up(fan[inner])
    total = np.bincount(np.repeat(np.arange(len(inner)), fan[inner]), weights=weight[below], minlength=len(inner))
    share[below] = weight[below] / np.repeat(total, fan[inner])
    return share
