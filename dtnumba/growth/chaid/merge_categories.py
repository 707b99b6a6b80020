# mypy: ignore-errors
"""Merge the categories of one predictor that the target does not tell apart.

Slots are the categories that a node has rows of, in the order of their codes; missing values, if any, are the last. A
group is known by its first slot. Of each group the most alike of those behind it is kept, so that a merger compares
only what it changes: c categories cost about c squared comparisons, and no memory beyond c rows.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.chaid.bonferroni import NOMINAL
from dtnumba.growth.chaid.chi_squared_and_f import F_TEST, LOG_P, N_FINDING, compare, find, log_chance, weight_of
from dtnumba.runtime.kernels import inline, outlined

NOTHING = -1
_SLACK = 1.0 - 1e-12  # weights that add up to a limit but for rounding reach it


class MergeRules(NamedTuple):
    """The options of a fit for merging."""

    statistic: int
    log_alpha: float  # groups less alike than this stay apart
    min_child: float
    exhaustive: bool
    resplit: bool
    multiplier: int


class MergeScratch(NamedTuple):
    """The work on one predictor: its categories, a slot each, and their groups."""

    slot_code: np.ndarray  # (slots,) int64: the code of a category
    given: np.ndarray  # (slots, width) float64: sums of each category
    sums: np.ndarray  # (slots, width) float64: sums of each group, at its first slot
    group: np.ndarray  # (slots,) int64: first slot of a category's group
    alive: np.ndarray  # (slots,) uint8: whether a slot is the first of a group
    after: np.ndarray  # (slots,) int64: the group that follows in order, or NOTHING
    near: np.ndarray  # (slots,) int64: the most alike of the groups behind that may join, or NOTHING
    likeness: np.ndarray  # (slots,) float64: logarithm of the chance of that pair
    kept: np.ndarray  # (slots,) int64: groups set aside
    order: np.ndarray  # (slots,) int64 scratch
    place: np.ndarray  # (slots,) float64 scratch
    halves: np.ndarray  # (2, width) float64 scratch
    row: np.ndarray  # (slots,) float64 scratch
    whole: np.ndarray  # (width,) float64 scratch
    finding: np.ndarray  # (N_FINDING,) float64


def new_scratch(slots, width):
    """Return the scratch for so many categories."""
    floats, ints = np.zeros, np.int64
    return MergeScratch(
        slot_code=np.zeros(slots, ints),
        given=floats((slots, width)),
        sums=floats((slots, width)),
        group=np.zeros(slots, ints),
        alive=np.zeros(slots, np.uint8),
        after=np.zeros(slots, ints),
        near=np.zeros(slots, ints),
        likeness=floats(slots),
        kept=np.zeros(slots, ints),
        order=np.zeros(slots, ints),
        place=floats(slots),
        halves=floats((2, width)),
        row=floats(slots + 2),
        whole=floats(width),
        finding=floats(N_FINDING),
    )


@outlined
def take_groups(scratch, groups, missing_slot, m):
    """Write the groups, ``groups[s]`` the first slot of the group of slot s, and their sums; return how many there are.

    ``missing_slot`` is the slot of missing values where these have no place in the order, or NOTHING.
    """
    width, n_groups, last = scratch.sums.shape[1], np.int64(0), np.int64(NOTHING)
    for s in range(m):
        scratch.group[s] = groups[s]
        scratch.alive[s] = groups[s] == s
        if scratch.alive[s]:
            n_groups += 1
            for k in range(width):
                scratch.sums[s, k] = 0.0
        for k in range(width):
            scratch.sums[groups[s], k] += scratch.given[s, k]
    for s in range(m - 1, -1, -1):
        scratch.after[s] = NOTHING
        if scratch.alive[s] and s != missing_slot:
            scratch.after[s] = last
            last = s
    return n_groups


@inline
def may_join(scratch, kind, missing_slot, i, j):
    """Tell whether groups i < j may become one."""
    return kind == NOMINAL or j == missing_slot or scratch.after[i] == j


@outlined
def join(scratch, i, j, m):
    """Put group j into group i, which stands before it."""
    for k in range(scratch.sums.shape[1]):
        scratch.sums[i, k] += scratch.sums[j, k]
    for s in range(m):
        if scratch.group[s] == j:
            scratch.group[s] = i
        if scratch.after[s] == j and scratch.alive[s]:
            scratch.after[s] = scratch.after[j]
    scratch.alive[j] = 0


@outlined
def find_nearest(rules, kind, missing_slot, scratch, i, first, stop, fresh):
    """Find among the groups first .. stop - 1, which stand behind i, the one most alike, the first one of equals.

    Unless ``fresh``, the one known so far stays where none is more alike.
    """
    near = np.int64(NOTHING) if fresh else scratch.near[i]
    likeness, least, fewest, most = -np.inf if fresh else scratch.likeness[i], np.inf, 0.0, 0.0
    for j in range(first, stop):
        if not scratch.alive[j] or not may_join(scratch, kind, missing_slot, i, j):
            continue
        value, between, within = compare(rules.statistic, scratch.sums, i, j)
        if value >= least and between <= fewest and within >= most:
            continue  # less likely, which takes no logarithm to know
        found = log_chance(rules.statistic, value, between, within)
        if near == NOTHING or found > likeness or (found == likeness and j < near):
            near, likeness = np.int64(j), found
            least, fewest, most = value, between, within
    scratch.near[i], scratch.likeness[i] = near, likeness


@inline
def _most_alike(scratch, m):
    """Return the first group of the pair that is most alike."""
    best = np.int64(NOTHING)
    for s in range(m):
        if (
            scratch.alive[s]
            and scratch.near[s] != NOTHING
            and (best == NOTHING or scratch.likeness[s] > scratch.likeness[best])
        ):
            best = np.int64(s)
    return best


@inline
def merge(rules, kind, missing_slot, scratch, n_groups, fewest, m):
    """Merge the most alike of the first m slots while chance explains their difference; return how many are left.

    An exhaustive search merges all down to the fewest, and sets aside the groups on the way that chance explains least:
    among those large enough, if there are any.
    """
    i, j, everything, n_divided = np.int64(NOTHING), np.int64(NOTHING), True, 0
    best, best_is_large = np.inf, False
    while True:
        for s in range(m):  # renew what groups know of those behind them, after j was put into i
            if not scratch.alive[s]:
                continue
            fresh = everything or s == i or scratch.near[s] == j or scratch.near[s] == i
            if fresh or (s < i and may_join(scratch, kind, missing_slot, s, i)):
                find_nearest(rules, kind, missing_slot, scratch, s, s + 1 if fresh else i, m if fresh else i + 1, fresh)
        if rules.exhaustive:
            find(rules.statistic, scratch.sums, scratch.alive, m, scratch.whole, scratch.finding)
            large = is_large(rules, scratch, m)
            if (large and not best_is_large) or (large == best_is_large and scratch.finding[LOG_P] < best):
                best, best_is_large = scratch.finding[LOG_P], large
                for s in range(m):
                    scratch.kept[s] = scratch.group[s]
        if n_groups <= fewest:
            break
        i = _most_alike(scratch, m)
        if i == NOTHING or (scratch.likeness[i] <= rules.log_alpha and not rules.exhaustive):
            break
        j = scratch.near[i]
        join(scratch, i, j, m)
        n_groups -= 1
        missing_slot = np.int64(NOTHING) if j == missing_slot else missing_slot
        # As many divisions as categories end what might go round for ever.
        everything = rules.resplit and n_divided < m and divide_group(rules, kind, scratch, i, m)
        if everything:
            n_divided += 1
            n_groups += 1
    return n_groups


@inline
def _order_by_share(rules, scratch, k, n):
    """Sort the categories order[:n] by their share of class k, or by their means."""
    for a in range(n):
        s = scratch.order[a]
        scratch.place[s] = scratch.given[s, k] / weight_of(rules.statistic, scratch.given, s)
    for a in range(1, n):
        s, b = scratch.order[a], a
        while b > 0 and (
            scratch.place[scratch.order[b - 1]] > scratch.place[s]
            or (scratch.place[scratch.order[b - 1]] == scratch.place[s] and scratch.order[b - 1] > s)
        ):
            scratch.order[b] = scratch.order[b - 1]
            b -= 1
        scratch.order[b] = s


@outlined
def divide_group(rules, kind, scratch, i, m):
    """Divide group i of three categories or more in two where these differ significantly; return whether it was.

    The division is the most significant one of those along the order of the categories, for a nominal predictor along
    their shares of each class in turn or along their means: the best of all for two classes and for numbers.
    """
    n, width = 0, scratch.sums.shape[1]
    for s in range(i, m):
        if scratch.group[s] == i:
            scratch.order[n] = s
            n += 1
    if n < 3:
        return False
    best, first, last = np.inf, 0, 1
    if kind == NOMINAL:
        first, last = (1, 2) if rules.statistic == F_TEST else (0, width)
    for k in range(first, last):
        if kind == NOMINAL:
            _order_by_share(rules, scratch, k, n)
        for c in range(width):
            scratch.halves[0, c], scratch.halves[1, c] = 0.0, scratch.sums[i, c]
        for cut in range(n - 1):
            for c in range(width):
                scratch.halves[0, c] += scratch.given[scratch.order[cut], c]
                scratch.halves[1, c] = scratch.sums[i, c] - scratch.halves[0, c]
            value, between, within = compare(rules.statistic, scratch.halves, 0, 1)
            chance = log_chance(rules.statistic, value, between, within)
            if chance < best:
                best = chance
                for a in range(n):
                    scratch.kept[scratch.order[a]] = a > cut
    if best > rules.log_alpha:
        return False
    second = np.int64(NOTHING)
    for s in range(i, m):
        if scratch.group[s] == i and scratch.kept[s] != scratch.kept[i]:
            second = np.int64(s) if second == NOTHING else second
            scratch.group[s] = second
    take_groups(scratch, scratch.group, np.int64(NOTHING), m)
    return True


@outlined
def most_alike_of(rules, kind, missing_slot, scratch, group, m):
    """Return the group most like a given one, before it or behind it, the first one of equals."""
    partner, best, fresh = np.int64(NOTHING), 0.0, group >= 0  # a literal True would be a second signature
    for s in range(m):
        i, j = min(np.int64(s), group), max(np.int64(s), group)
        if s != group and scratch.alive[s] and may_join(scratch, kind, missing_slot, i, j):
            find_nearest(rules, kind, missing_slot, scratch, i, j, j + 1, fresh)
            if partner == NOTHING or scratch.likeness[i] > best:
                partner, best = np.int64(s), scratch.likeness[i]
    return partner


@outlined
def is_large(rules, scratch, m):
    """Tell whether there are two groups or more, all of the least size."""
    n_groups = 0
    for s in range(m):
        if scratch.alive[s]:
            n_groups += 1
            if weight_of(rules.statistic, scratch.sums, s) < rules.min_child * _SLACK:
                return False
    return n_groups > 1


@inline
def absorb_small(rules, kind, missing_slot, scratch, n_groups, m):
    """Join each group below the least size, the lightest first, to the most alike that it may join."""
    while n_groups > 2:
        small, weight = np.int64(NOTHING), rules.min_child * _SLACK
        for s in range(m):
            if scratch.alive[s] and weight_of(rules.statistic, scratch.sums, s) < weight:
                small, weight = np.int64(s), weight_of(rules.statistic, scratch.sums, s)
        if small == NOTHING:
            break
        partner = most_alike_of(rules, kind, missing_slot, scratch, small, m)
        i, j = min(partner, small), max(partner, small)
        join(scratch, i, j, m)
        n_groups -= 1
        if j == missing_slot:
            missing_slot = np.int64(NOTHING)
    return n_groups
