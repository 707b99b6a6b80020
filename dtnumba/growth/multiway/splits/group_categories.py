# mypy: ignore-errors
"""Splits of a node on groups of categories: C5.0's search for the groups.

Categories whose classes have the same shares are merged, and then again and again two groups; but not the last two that
are as large as leaves must be. As long as that leaves most of the gain of single categories, it is the two whose merger
leaves the best ratio, and after that the two that lose least gain. Of all groupings on the way the one of the best
ratio wins, where a gain pays for having been chosen: log2 of the number of ways to put so many categories into so many
groups (a Stirling number of the second kind), in bits.
"""

import math

import numpy as np

from dtnumba.criteria.classification import x_log_x
from dtnumba.criteria.contract import information_of
from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.node_sums import add_sums, clear, copy_sums, weight_of
from dtnumba.growth.multiway.splits.judge_test import heaviest_of
from dtnumba.runtime.kernels import inline, outlined

_SAME_SHARES, _SAME_LOSS, _SAME_RATIO, _HAIR = 1e-3, 1e-9, 1e-12, 1e-7
_MOST_OF_GAIN = 0.95  # of single categories, that mergers by ratio leave
_SPREAD = 1  # in NodeScratch.pairs, beside _LOSS: by how much the information, times weight, falls with a merger
_LOSS, _INFO = 0, 1  # columns of NodeScratch.votes, a row a group: of the best merger with a later group; of its own


@inline
def _info(work, sums, k):
    """Return weight times entropy of sums[k]."""
    total = x_log_x(work.criterion, weight_of(work.target, sums, k))
    for c in range(work.target.offsets[1]):
        total -= x_log_x(work.criterion, sums[k, c])
    return total


@outlined
def _loss(work, a, b):
    """Return by how much less a split gains once groups a and b are one, times weight."""
    table, votes = work.scratch.table, work.scratch.votes
    total = x_log_x(work.criterion, weight_of(work.target, table, a) + weight_of(work.target, table, b))
    for c in range(work.target.offsets[1]):
        total -= x_log_x(work.criterion, table[a, c] + table[b, c])
    return total - votes[a, _INFO] - votes[b, _INFO]


@inline
def log_stirling(table, n, k):
    """Return log2 of the number of ways to put n things into k sets: of few from a table, else Temme's approximation.

    table (m,) float64: that of (n, k) at n * (n + 1) / 2 + k
    """
    at = n * (n + 1) // 2 + k
    if at < len(table) or k == n or k <= 1:
        return table[at] if at < len(table) else 0.0
    t = np.float64(n - k) / k
    ratio, x = np.float64(n) / k, np.float64(n) / k
    for _ in range(60):  # x / (1 - exp(-x)) = n / k; the step is Newton's
        left = -math.expm1(-x)
        x -= (x / left - ratio) / ((left - x * math.exp(-x)) / (left * left))
    phi = -n * math.log(x) + k * (x + math.log(-math.expm1(-x)))
    chosen = math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)
    found = phi - k * t + (n - k) * math.log(t) + (n - k) * math.log(k) + chosen
    return (found + 0.5 * math.log(t / ((1.0 + t) * (x - t)))) / math.log(2.0)


@inline
def _merge(work, a, b, n):
    """Merge group b into group a; n categories are in the groups."""
    scratch, group_of = work.scratch, work.scratch.order
    add_sums(scratch.table, b, scratch.table, a)
    scratch.votes[a, _INFO] = _info(work, scratch.table, a)
    scratch.group_weight[a] = weight_of(work.target, scratch.table, a)
    scratch.group_weight[b] = 0.0
    for g in range(n):
        if group_of[g] == b:
            group_of[g] = a


@inline
def _are_alike(work, a, b):
    """Tell whether the classes have the same shares in two groups."""
    table, weights = work.scratch.table, work.scratch.group_weight
    for c in range(work.target.offsets[1]):
        if abs(table[a, c] / weights[a] - table[b, c] / weights[b]) > _SAME_SHARES:
            return False
    return True


@inline
def _score(work, n, n_groups, whole):
    """Return ratio, gain and information of the groups as they are; a ratio of -inf where they make no test."""
    scratch, target = work.scratch, work.target
    weights, weight = scratch.group_weight, weight_of(target, scratch.sides, col.WHOLE)
    information = information_of(work.criterion, weight_of(target, scratch.sides, col.MISSING_SUMS) / weight)
    gain = whole
    for g in range(n):
        if weights[g] > 0.0:
            information += information_of(work.criterion, weights[g] / weight)
            gain -= scratch.votes[g, _INFO]
    if information <= 0.0:
        return -np.inf, 0.0, 0.0
    gain = (gain - log_stirling(work.criterion.stirling, n, n_groups)) / weight
    return gain / information, gain, information


@inline
def _find_partner(work, a, n, n_large):
    """Find the later group whose merger with group a loses least, the first of equals."""
    scratch = work.scratch
    weights, partner, least = scratch.group_weight, scratch.cut, work.limits.min_weight_leaf - _HAIR
    partner[a, 0], scratch.votes[a, _LOSS] = -1, np.inf
    for b in range(a + 1, n):
        if weights[b] <= 0.0 or (n_large <= 2 and weights[a] >= least and weights[b] >= least):
            continue
        loss = _loss(work, a, b)
        if partner[a, 0] < 0 or loss < scratch.votes[a, _LOSS] - _SAME_LOSS:
            partner[a, 0], scratch.votes[a, _LOSS] = b, loss


@inline
def _n_large(work, n):
    """Return how many groups are as heavy as leaves must be."""
    found = np.int64(0)
    for g in range(n):
        found += work.scratch.group_weight[g] >= work.limits.min_weight_leaf - _HAIR
    return found


@inline
def _write_pair(work, a, b):
    """Write what merging two groups means for gain and information."""
    weights, pairs = work.scratch.group_weight, work.scratch.pairs
    first, second = min(a, b), max(a, b)
    pairs[first, second, _LOSS] = _loss(work, first, second)
    apart = x_log_x(work.criterion, weights[first]) + x_log_x(work.criterion, weights[second])
    pairs[first, second, _SPREAD] = x_log_x(work.criterion, weights[first] + weights[second]) - apart


@outlined
def _merge_by_ratio(work, n, n_groups, whole, alone, best):
    """Merge pairs, the one that leaves the best ratio first, while most of the gain ``alone`` of single ones is left.

    Of more categories than pairs are kept of, mergers are by loss alone: that takes less time.
    Returns how many groups there are then, and the best ratio, gain and information that came by.
    """
    scratch = work.scratch
    weights, pairs, weight = scratch.group_weight, scratch.pairs, weight_of(work.target, scratch.sides, col.WHOLE)
    if n > len(pairs):
        return n_groups, best
    for a in range(n):
        for b in range(a + 1, n):
            if weights[a] > 0.0 and weights[b] > 0.0:
                _write_pair(work, a, b)
    while n_groups > 2 and work.halt[0] == 0:
        log, n_large, gain = log_stirling(work.criterion.stirling, n, n_groups - 1), _n_large(work, n), whole
        bits = information_of(work.criterion, weight_of(work.target, scratch.sides, col.MISSING_SUMS) / weight)
        for g in range(n):
            if weights[g] > 0.0:
                bits += information_of(work.criterion, weights[g] / weight)
                gain -= scratch.votes[g, _INFO]
        bits *= weight
        first, second, top = np.int64(-1), np.int64(-1), 0.0
        for a in range(n):
            if weights[a] <= 0.0:
                continue
            for b in range(a + 1, n):
                if weights[b] <= 0.0 or (n_large <= 2 and _are_large(work, a, b)):
                    continue
                kept, left = gain - pairs[a, b, _LOSS], bits - pairs[a, b, _SPREAD]
                if kept < _MOST_OF_GAIN * alone - _SAME_LOSS or left <= 0.0:
                    continue
                ratio = (kept - log) / left
                if first < 0 or ratio > top + _SAME_RATIO:
                    first, second, top = np.int64(a), np.int64(b), ratio
        if first < 0:
            break
        _merge(work, first, second, n)
        n_groups -= 1
        for g in range(n):
            if weights[g] > 0.0 and g != first:
                _write_pair(work, first, g)
        best = _keep_better(work, n, n_groups, whole, best)
    return n_groups, best


@outlined
def _merge_while_there_are_two(work, n, n_groups, whole, best):
    """Merge pairs, the one that loses least first; return the best ratio, gain and information that came by."""
    scratch = work.scratch
    weights, partner = scratch.group_weight, scratch.cut
    n_large = _n_large(work, n)
    for a in range(n):
        if weights[a] > 0.0:
            _find_partner(work, a, n, n_large)
    while n_groups > 2 and work.halt[0] == 0:
        first = np.int64(-1)
        for a in range(n):
            is_pair = weights[a] > 0.0 and partner[a, 0] >= 0
            if is_pair and (first < 0 or scratch.votes[a, _LOSS] < scratch.votes[first, _LOSS] - _SAME_LOSS):
                first = np.int64(a)
        if first < 0:
            break
        second = partner[first, 0]
        _merge(work, first, second, n)
        n_groups -= 1
        found = _n_large(work, n)
        is_new_rule = found <= 2 and found != n_large
        n_large = found
        for a in range(n):
            if weights[a] <= 0.0:
                continue
            if is_new_rule or a == first or partner[a, 0] == first or partner[a, 0] == second:
                _find_partner(work, a, n, n_large)
            elif a < first and not (n_large <= 2 and _are_large(work, a, first)):
                loss = _loss(work, a, first)
                at = partner[a, 0]
                ahead = scratch.votes[a, _LOSS]
                if at < 0 or loss < ahead - _SAME_LOSS or (abs(loss - ahead) <= _SAME_LOSS and first < at):
                    partner[a, 0], scratch.votes[a, _LOSS] = first, loss
        best = _keep_better(work, n, n_groups, whole, best)
    return best


@inline
def _are_large(work, a, b):
    least, weights = work.limits.min_weight_leaf - _HAIR, work.scratch.group_weight
    return weights[a] >= least and weights[b] >= least


@inline
def _keep_better(work, n, n_groups, whole, best):
    """Keep the groups as they are where no earlier grouping has a better ratio; return the best (ratio, ...)."""
    found = _score(work, n, n_groups, whole)
    if found[0] == -np.inf or found[0] < best[0] - _SAME_RATIO:
        return best
    for g in range(n):
        work.scratch.range_child[g] = work.scratch.order[g]
    return found


@outlined
def group_categories(work, feature, n):
    """Write the best grouping of the n categories of a node, with its gain and information, if there is any."""
    scratch, sides = work.scratch, work.scratch.sides
    weights, group_of, own = scratch.group_weight, scratch.order, scratch.by_code
    for g in range(n):
        copy_sums(scratch.table, g, own, g)
        group_of[g], weights[g] = g, weight_of(work.target, scratch.table, g)
        scratch.votes[g, _INFO] = _info(work, scratch.table, g)
    n_groups, whole, n_large = np.int64(n), _info(work, sides, col.PRESENT_SUMS), _n_large(work, n)
    alone = whole
    for g in range(n):
        alone -= scratch.votes[g, _INFO]
    if n_large == 0:
        for g in range(n):
            clear(own, g)
        return
    best = _keep_better(work, n, n_groups, whole, (-np.inf, 0.0, 0.0))
    for a in range(n):
        for b in range(a + 1, n):
            if weights[a] <= 0.0 or weights[b] <= 0.0 or n_groups <= 2 or not _are_alike(work, a, b):
                continue
            if n_large > 2 or not _are_large(work, a, b):
                _merge(work, a, b, n)
                n_groups -= 1
                n_large = _n_large(work, n)
    best = _keep_better(work, n, n_groups, whole, best)
    n_groups, best = _merge_by_ratio(work, n, n_groups, whole, alone, best)
    best = _merge_while_there_are_two(work, n, n_groups, whole, best)
    if best[0] > -np.inf:
        n_groups = _write_groups(scratch, own, n)
        scratch.gain[feature], scratch.information[feature] = best[1], best[2]
        scratch.fan[feature] = n_groups + 1
        scratch.test[col.N_CHILDREN] = n_groups
        scratch.test[col.MISSING_CHILD] = heaviest_of(work.target, scratch.table, n_groups)
    for g in range(n):
        clear(own, g)


@inline
def _write_groups(scratch, own, n):
    """Number the groups in the order of their first categories and sum these; return how many groups there are."""
    group_of, number, m = scratch.range_child, scratch.fill, np.int64(0)
    for g in range(n):
        if group_of[g] == g:
            number[g] = m
            clear(scratch.table, m)
            m += 1
        v = number[group_of[g]]
        scratch.category_child[scratch.code[g]] = v
        add_sums(own, g, scratch.table, v)
    return m
