# mypy: ignore-errors
"""Splits of a node on groups of categories: C4.5's search for the groups (Quinlan 1993, chapter 7).

Categories of next to no rows form one group, pure categories of one class another. Then the pair of groups is merged
that makes the gain ratio largest, again and again, as long as it rises.
"""

import numpy as np

from dtnumba.criteria.contract import impurity_of, information_of
from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.node_sums import add_sums, copy_sums, weight_of
from dtnumba.runtime.kernels import inline, outlined

_NEXT_TO_NONE = 0.5  # weight of a category
_RISE = 1e-5  # of the ratio, by which a merger must pay


@inline
def weighted_impurity(work, k):
    """Return weight times impurity of a group, averaged over outputs."""
    target, total, n_outputs = work.target, 0.0, len(work.target.offsets) - 1
    weight = weight_of(target, work.scratch.table, k)
    for o in range(n_outputs):
        total += impurity_of(work.criterion, work.scratch.table[k, target.offsets[o] : target.offsets[o + 1]], weight)
    return total * weight / n_outputs


@inline
def _merge_pair(work, a, b, n):
    """Merge group b into group a; n categories are in the groups."""
    scratch = work.scratch
    weights, impurities, group_of = scratch.group_weight, scratch.place, scratch.order
    add_sums(scratch.table, b, scratch.table, a)
    weights[b] = 0.0
    weights[a] = weight_of(work.target, scratch.table, a)
    impurities[a] = weighted_impurity(work, a)
    for g in range(n):
        if group_of[g] == b:
            group_of[g] = a


@inline
def _class_of(work, g):
    """Return the class of a pure group, -1 of a mixed one."""
    scratch, found = work.scratch, np.int64(-1)
    for k in range(work.target.offsets[1]):
        if scratch.table[g, k] > 0.0:
            if found >= 0:
                return np.int64(-1)
            found = np.int64(k)
    return found


@inline
def _merge_alike(work, n):
    """Merge categories of next to no rows, then pure ones of the same class; return how many groups there are."""
    scratch, n_groups = work.scratch, n
    weights, impurities, group_of = scratch.group_weight, scratch.place, scratch.order
    for g in range(n):
        group_of[g], weights[g] = g, weight_of(work.target, scratch.table, g)
        impurities[g] = weighted_impurity(work, g)
    light = np.int64(-1)
    for g in range(n):
        if weights[g] <= _NEXT_TO_NONE:
            if light >= 0:
                _merge_pair(work, light, g, n)
                n_groups -= 1
            else:
                light = np.int64(g)
    for a in range(n):
        if weights[a] <= 0.0 or a == light or work.halt[0] != 0:
            continue
        own = _class_of(work, a)
        for b in range(a + 1, n):
            if own >= 0 and b != light and weights[b] > 0.0 and _class_of(work, b) == own:
                _merge_pair(work, a, b, n)
                n_groups -= 1
    return n_groups


@inline
def _best_pair(work, n, information, impurity_now, least_gain):
    """Return (ratio, first, second) of the best merger, second 0 where there is none.

    A merger that keeps half of what the categories gained is preferred. ``information`` and ``impurity_now``, which is
    times weight, are those of the groups before it.
    """
    scratch, target, sides = work.scratch, work.target, work.scratch.sides
    weights, impurities = scratch.group_weight, scratch.place
    weight, n_large, largest = weight_of(target, sides, col.WHOLE), 0, np.int64(-1)
    whole, best, first, second, is_rich = (
        weight_of(target, sides, col.PRESENT_SUMS),
        0.0,
        np.int64(0),
        np.int64(0),
        False,
    )
    impurity = 0.0
    for o in range(len(target.offsets) - 1):
        low, high = target.offsets[o], target.offsets[o + 1]
        impurity += impurity_of(work.criterion, sides[col.PRESENT_SUMS, low:high], whole) / (len(target.offsets) - 1)
    for g in range(n):
        n_large += weights[g] >= work.limits.min_weight_leaf
        if weights[g] > 0.0 and (largest < 0 or weights[g] > weights[largest]):
            largest = np.int64(g)
    spare = n  # a row of the table behind the groups
    for a in range(n):
        if work.halt[0] != 0:
            break
        for b in range(a + 1, n):
            if weights[a] <= 0.0 or weights[b] <= 0.0 or (n_large < 3 and largest in (a, b)):
                continue
            copy_sums(scratch.table, a, scratch.table, spare)
            add_sums(scratch.table, b, scratch.table, spare)
            gain = (
                whole * impurity - (impurity_now + weighted_impurity(work, spare) - impurities[a] - impurities[b])
            ) / weight
            both = weights[a] + weights[b]
            info = information + information_of(work.criterion, both / weight)
            info -= information_of(work.criterion, weights[a] / weight)
            info -= information_of(work.criterion, weights[b] / weight)
            ratio, keeps = gain / info if info > 1e-9 else 0.0, gain >= least_gain
            if second == 0 or (keeps and not is_rich) or (keeps == is_rich and ratio > best + 1e-12):
                best, first, second, is_rich = ratio, np.int64(a), np.int64(b), keeps
    return best, first, second


@outlined
def merge_groups(work, n):
    """Merge the n categories of a node into groups; return how many groups there are.

    The groups' sums are in scratch.table then, the group of each category in scratch.category_child.
    """
    scratch, target, sides = work.scratch, work.target, work.scratch.sides
    weights, impurities = scratch.group_weight, scratch.place
    n_groups, started, least_gain, ratio = _merge_alike(work, n), False, 0.0, 0.0
    weight = weight_of(target, sides, col.WHOLE)
    while n_groups > 2 and work.halt[0] == 0:
        information, impurity_now, n_large = (
            information_of(work.criterion, weight_of(target, sides, col.MISSING_SUMS) / weight),
            0.0,
            0,
        )
        for g in range(n):
            if weights[g] > 0.0:
                information += information_of(work.criterion, weights[g] / weight)
                impurity_now += impurities[g]
                n_large += weights[g] >= work.limits.min_weight_leaf
        if not started:
            gain = -impurity_now
            for o in range(len(target.offsets) - 1):
                low, high = target.offsets[o], target.offsets[o + 1]
                known = weight_of(target, sides, col.PRESENT_SUMS)
                part_of = impurity_of(work.criterion, sides[col.PRESENT_SUMS, low:high], known)
                gain += known * part_of / (len(target.offsets) - 1)
            started, least_gain = True, gain / weight / 2.0
            ratio = gain / weight / information if information > 1e-9 else 0.0
        found, a, b = _best_pair(work, n, information, impurity_now, least_gain)
        if b == 0 or (found < ratio + _RISE and n_large >= 2):
            break
        ratio = found
        _merge_pair(work, a, b, n)
        n_groups -= 1
    return _write_groups(scratch, n)


@inline
def _write_groups(scratch, n):
    """Number the groups in the order of their first categories; return how many there are."""
    group_of, number, m = scratch.order, scratch.fill, np.int64(0)
    for g in range(n):
        if group_of[g] == g:
            if m != g:
                copy_sums(scratch.table, g, scratch.table, m)
            number[g] = m
            m += 1
    for g in range(n):
        scratch.category_child[scratch.code[g]] = number[group_of[g]]
    return m
