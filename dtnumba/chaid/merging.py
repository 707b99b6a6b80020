"""Merge the categories of one predictor that the target does not tell apart.

Slots are the categories that a node has rows of, in the order of their codes; missing values, if any, are the last. A
group is known by its first slot. Of each group the most alike of those behind it is kept, so that a merger compares
only what it changes: c categories cost about c squared comparisons, and no memory beyond c rows.
"""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import inline, kernel
from dtnumba.chaid.association import F_TEST, LOG_P, N_FINDING, compare, find, log_chance, weight_of
from dtnumba.chaid.multipliers import NOMINAL

NOTHING = -1
_SLACK = 1.0 - 1e-12  # weights that add up to a limit but for rounding reach it


class MergeRules(NamedTuple):
    """What a fit asks for."""

    statistic: int
    log_alpha: float  # groups less alike than this stay apart
    min_child: float
    exhaustive: bool
    resplit: bool
    multiplier: int


class MergeDesk(NamedTuple):
    """What the work on one predictor needs: a row a slot."""

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


def new_desk(slots, width):
    """Allocate for so many categories."""
    floats, ints = np.zeros, np.int64
    return MergeDesk(
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


@kernel
def take_groups(desk, groups, loose, m):
    """Make the groups what ``groups`` says, with their sums; return how many there are.

    ``loose`` is the slot of missing values where these have no place in the order, or NOTHING.
    """
    width, n_groups, last = desk.sums.shape[1], np.int64(0), np.int64(NOTHING)
    for s in range(m):
        desk.group[s] = groups[s]
        desk.alive[s] = groups[s] == s
        if desk.alive[s]:
            n_groups += 1
            for k in range(width):
                desk.sums[s, k] = 0.0
        for k in range(width):
            desk.sums[groups[s], k] += desk.given[s, k]
    for s in range(m - 1, -1, -1):
        desk.after[s] = NOTHING
        if desk.alive[s] and s != loose:
            desk.after[s] = last
            last = s
    return n_groups


@inline
def may_join(desk, kind, loose, i, j):
    """Tell whether groups i < j may become one."""
    return kind == NOMINAL or j == loose or desk.after[i] == j


@kernel
def join(desk, i, j, m):
    """Put group j into group i, which stands before it."""
    for k in range(desk.sums.shape[1]):
        desk.sums[i, k] += desk.sums[j, k]
    for s in range(m):
        if desk.group[s] == j:
            desk.group[s] = i
        if desk.after[s] == j and desk.alive[s]:
            desk.after[s] = desk.after[j]
    desk.alive[j] = 0


@kernel
def look(rules, kind, loose, desk, i, first, stop, fresh):
    """Find among the groups first .. stop - 1, which stand behind i, the one most alike, the first one of equals.

    Unless ``fresh``, the one known so far stays where none is more alike.
    """
    near = np.int64(NOTHING) if fresh else desk.near[i]
    likeness, least, fewest, most = -np.inf if fresh else desk.likeness[i], np.inf, 0.0, 0.0
    for j in range(first, stop):
        if not desk.alive[j] or not may_join(desk, kind, loose, i, j):
            continue
        value, between, within = compare(rules.statistic, desk.sums, i, j)
        if value >= least and between <= fewest and within >= most:
            continue  # less likely, which takes no logarithm to know
        found = log_chance(rules.statistic, value, between, within)
        if near == NOTHING or found > likeness or (found == likeness and j < near):
            near, likeness = np.int64(j), found
            least, fewest, most = value, between, within
    desk.near[i], desk.likeness[i] = near, likeness


@inline
def _most_alike(desk, m):
    """Return the first group of the pair that is most alike."""
    best = np.int64(NOTHING)
    for s in range(m):
        if desk.alive[s] and desk.near[s] != NOTHING and (best == NOTHING or desk.likeness[s] > desk.likeness[best]):
            best = np.int64(s)
    return best


@inline
def merge(rules, kind, loose, desk, n_groups, fewest, m):
    """Merge the most alike of the first m slots while chance explains their difference; return how many are left.

    An exhaustive search merges all down to the fewest, and sets aside the groups on the way that chance explains least:
    among those large enough, if there are any.
    """
    i, j, everything, n_divided = np.int64(NOTHING), np.int64(NOTHING), True, 0
    best, best_is_large = np.inf, False
    while True:
        for s in range(m):  # renew what groups know of those behind them, after j was put into i
            if not desk.alive[s]:
                continue
            fresh = everything or s == i or desk.near[s] == j or desk.near[s] == i
            if fresh or (s < i and may_join(desk, kind, loose, s, i)):
                look(rules, kind, loose, desk, s, s + 1 if fresh else i, m if fresh else i + 1, fresh)
        if rules.exhaustive:
            find(rules.statistic, desk.sums, desk.alive, m, desk.whole, desk.finding)
            large = is_large(rules, desk, m)
            if (large and not best_is_large) or (large == best_is_large and desk.finding[LOG_P] < best):
                best, best_is_large = desk.finding[LOG_P], large
                for s in range(m):
                    desk.kept[s] = desk.group[s]
        if n_groups <= fewest:
            break
        i = _most_alike(desk, m)
        if i == NOTHING or (desk.likeness[i] <= rules.log_alpha and not rules.exhaustive):
            break
        j = desk.near[i]
        join(desk, i, j, m)
        n_groups -= 1
        loose = np.int64(NOTHING) if j == loose else loose
        # As many divisions as categories end what might go round for ever.
        everything = rules.resplit and n_divided < m and divide_group(rules, kind, desk, i, m)
        if everything:
            n_divided += 1
            n_groups += 1
    return n_groups


@inline
def _order_by_share(rules, desk, k, n):
    """Sort the categories order[:n] by their share of class k, or by their means."""
    for a in range(n):
        s = desk.order[a]
        desk.place[s] = desk.given[s, k] / weight_of(rules.statistic, desk.given, s)
    for a in range(1, n):
        s, b = desk.order[a], a
        while b > 0 and (
            desk.place[desk.order[b - 1]] > desk.place[s]
            or (desk.place[desk.order[b - 1]] == desk.place[s] and desk.order[b - 1] > s)
        ):
            desk.order[b] = desk.order[b - 1]
            b -= 1
        desk.order[b] = s


@kernel
def divide_group(rules, kind, desk, i, m):
    """Divide group i of three categories or more in two where these differ significantly; return whether it was.

    The division is the most significant one of those along the order of the categories, for a nominal predictor along
    their shares of each class in turn or along their means: the best of all for two classes and for numbers.
    """
    n, width = 0, desk.sums.shape[1]
    for s in range(i, m):
        if desk.group[s] == i:
            desk.order[n] = s
            n += 1
    if n < 3:
        return False
    best, first, last = np.inf, 0, 1
    if kind == NOMINAL:
        first, last = (1, 2) if rules.statistic == F_TEST else (0, width)
    for k in range(first, last):
        if kind == NOMINAL:
            _order_by_share(rules, desk, k, n)
        for c in range(width):
            desk.halves[0, c], desk.halves[1, c] = 0.0, desk.sums[i, c]
        for cut in range(n - 1):
            for c in range(width):
                desk.halves[0, c] += desk.given[desk.order[cut], c]
                desk.halves[1, c] = desk.sums[i, c] - desk.halves[0, c]
            value, between, within = compare(rules.statistic, desk.halves, 0, 1)
            chance = log_chance(rules.statistic, value, between, within)
            if chance < best:
                best = chance
                for a in range(n):
                    desk.kept[desk.order[a]] = a > cut
    if best > rules.log_alpha:
        return False
    second = np.int64(NOTHING)
    for s in range(i, m):
        if desk.group[s] == i and desk.kept[s] != desk.kept[i]:
            second = np.int64(s) if second == NOTHING else second
            desk.group[s] = second
    take_groups(desk, desk.group, np.int64(NOTHING), m)
    return True


@kernel
def most_alike_of(rules, kind, loose, desk, group, m):
    """Return the group most like a given one, before it or behind it, the first one of equals."""
    partner, best, fresh = np.int64(NOTHING), 0.0, group >= 0  # a literal True would be a second signature
    for s in range(m):
        i, j = min(np.int64(s), group), max(np.int64(s), group)
        if s != group and desk.alive[s] and may_join(desk, kind, loose, i, j):
            look(rules, kind, loose, desk, i, j, j + 1, fresh)
            if partner == NOTHING or desk.likeness[i] > best:
                partner, best = np.int64(s), desk.likeness[i]
    return partner


@kernel
def is_large(rules, desk, m):
    """Tell whether there are two groups or more, all of the least size."""
    n_groups = 0
    for s in range(m):
        if desk.alive[s]:
            n_groups += 1
            if weight_of(rules.statistic, desk.sums, s) < rules.min_child * _SLACK:
                return False
    return n_groups > 1


@inline
def absorb_small(rules, kind, loose, desk, n_groups, m):
    """Join each group below the least size, the lightest first, to the most alike that it may join."""
    while n_groups > 2:
        small, weight = np.int64(NOTHING), rules.min_child * _SLACK
        for s in range(m):
            if desk.alive[s] and weight_of(rules.statistic, desk.sums, s) < weight:
                small, weight = np.int64(s), weight_of(rules.statistic, desk.sums, s)
        if small == NOTHING:
            break
        partner = most_alike_of(rules, kind, loose, desk, small, m)
        i, j = min(partner, small), max(partner, small)
        join(desk, i, j, m)
        n_groups -= 1
        if j == loose:
            loose = np.int64(NOTHING)
    return n_groups
