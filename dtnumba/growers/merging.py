"""Tests on a category with a branch a group of levels: C4.5's search for groups (Quinlan 1993, chapter 7).

Levels of next to no rows form one group, pure levels of one class another. Then the pair of groups is merged that makes
the gain ratio largest, again and again, as long as it rises.
"""

import numpy as np

from dtnumba._jit import inline, kernel
from dtnumba.criteria import impurity_of, information_of
from dtnumba.growers.cases import GONE, KNOWN, WHOLE
from dtnumba.growers.sums import add_sums, copy_sums, weight_of

_NEXT_TO_NONE = 0.5  # weight of a level
_RISE = 1e-5  # of the ratio, by which a merger must pay


@inline
def _spread(work, k):
    """Return weight times impurity of a group, averaged over outputs."""
    target, total, n_outputs = work.target, 0.0, len(work.target.offsets) - 1
    weight = weight_of(target, work.desk.table, k)
    for o in range(n_outputs):
        total += impurity_of(work.criterion, work.desk.table[k, target.offsets[o] : target.offsets[o + 1]], weight)
    return total * weight / n_outputs


@inline
def _put_together(work, a, b, n):
    """Add group b to group a, of n levels."""
    desk = work.desk
    add_sums(desk.table, b, desk.table, a)
    desk.shares[b] = 0.0
    desk.shares[a] = weight_of(work.target, desk.table, a)
    desk.place[a] = _spread(work, a)
    for g in range(n):
        if desk.order[g] == b:
            desk.order[g] = a


@inline
def _class_of(work, g):
    """Return the class of a pure group, -1 of a mixed one."""
    desk, found = work.desk, np.int64(-1)
    for k in range(work.target.offsets[1]):
        if desk.table[g, k] > 0.0:
            if found >= 0:
                return np.int64(-1)
            found = np.int64(k)
    return found


@inline
def _merge_alike(work, n):
    """Put together levels of next to no rows, then pure ones of one class; return how many groups there are."""
    desk, n_groups = work.desk, n
    for g in range(n):
        desk.order[g], desk.shares[g] = g, weight_of(work.target, desk.table, g)
        desk.place[g] = _spread(work, g)
    light = np.int64(-1)
    for g in range(n):
        if desk.shares[g] <= _NEXT_TO_NONE:
            if light >= 0:
                _put_together(work, light, g, n)
                n_groups -= 1
            else:
                light = np.int64(g)
    for a in range(n):
        if desk.shares[a] <= 0.0 or a == light:
            continue
        own = _class_of(work, a)
        for b in range(a + 1, n):
            if own >= 0 and b != light and desk.shares[b] > 0.0 and _class_of(work, b) == own:
                _put_together(work, a, b, n)
                n_groups -= 1
    return n_groups


@inline
def _best_pair(work, n, information, spread, least_gain):
    """Return (ratio, first, second) of the best merger, second 0 where there is none.

    information, spread: of the groups as they are. A merger that keeps half of what the levels gained is preferred.
    """
    desk, target, sides = work.desk, work.target, work.desk.sides
    weight, n_large, largest = weight_of(target, sides, WHOLE), 0, np.int64(-1)
    whole, best, first, second, is_rich = weight_of(target, sides, KNOWN), 0.0, np.int64(0), np.int64(0), False
    impurity = 0.0
    for o in range(len(target.offsets) - 1):
        low, high = target.offsets[o], target.offsets[o + 1]
        impurity += impurity_of(work.criterion, sides[KNOWN, low:high], whole) / (len(target.offsets) - 1)
    for g in range(n):
        n_large += desk.shares[g] >= work.limits.min_weight_leaf
        if desk.shares[g] > 0.0 and (largest < 0 or desk.shares[g] > desk.shares[largest]):
            largest = np.int64(g)
    spare = n  # a row of the table behind the groups
    for a in range(n):
        for b in range(a + 1, n):
            if desk.shares[a] <= 0.0 or desk.shares[b] <= 0.0 or (n_large < 3 and largest in (a, b)):
                continue
            copy_sums(desk.table, a, desk.table, spare)
            add_sums(desk.table, b, desk.table, spare)
            gain = (whole * impurity - (spread + _spread(work, spare) - desk.place[a] - desk.place[b])) / weight
            both = desk.shares[a] + desk.shares[b]
            info = information + information_of(work.criterion, both / weight)
            info -= information_of(work.criterion, desk.shares[a] / weight)
            info -= information_of(work.criterion, desk.shares[b] / weight)
            ratio, keeps = gain / info if info > 1e-9 else 0.0, gain >= least_gain
            if second == 0 or (keeps and not is_rich) or (keeps == is_rich and ratio > best + 1e-12):
                best, first, second, is_rich = ratio, np.int64(a), np.int64(b), keeps
    return best, first, second


@kernel
def merge_levels(work, n):
    """Merge the n levels at a node into groups, in the table and in desk.child; return how many groups there are."""
    desk, target, sides = work.desk, work.target, work.desk.sides
    n_groups, started, least_gain, ratio = _merge_alike(work, n), False, 0.0, 0.0
    weight = weight_of(target, sides, WHOLE)
    while n_groups > 2:
        information, spread, n_large = information_of(work.criterion, weight_of(target, sides, GONE) / weight), 0.0, 0
        for g in range(n):
            if desk.shares[g] > 0.0:
                information += information_of(work.criterion, desk.shares[g] / weight)
                spread += desk.place[g]
                n_large += desk.shares[g] >= work.limits.min_weight_leaf
        if not started:
            gain = -spread
            for o in range(len(target.offsets) - 1):
                low, high = target.offsets[o], target.offsets[o + 1]
                known = weight_of(target, sides, KNOWN)
                part_of = impurity_of(work.criterion, sides[KNOWN, low:high], known)
                gain += known * part_of / (len(target.offsets) - 1)
            started, least_gain = True, gain / weight / 2.0
            ratio = gain / weight / information if information > 1e-9 else 0.0
        found, a, b = _best_pair(work, n, information, spread, least_gain)
        if b == 0 or (found < ratio + _RISE and n_large >= 2):
            break
        ratio = found
        _put_together(work, a, b, n)
        n_groups -= 1
    return _write_groups(desk, n)


@inline
def _write_groups(desk, n):
    """Number the groups in the order of their first levels; return how many there are."""
    m = np.int64(0)
    for g in range(n):
        if desk.order[g] == g:
            if m != g:
                copy_sums(desk.table, g, desk.table, m)
            desk.fill[g] = m
            m += 1
    for g in range(n):
        desk.child[desk.code[g]] = desk.fill[desk.order[g]]
    return m
