"""Tests that send rows as the test of a node does, to stand in where a row lacks its value (Breiman et al. 1984).

For every other feature the one cut, or the side of each category, that agrees most with the chosen test; kept where it
agrees with more weight than sending every row to the heavier side would. The rules are those of R's rpart, ties too.
"""

import numpy as np

from dtnumba._jit import inline, kernel
from dtnumba.growers.cases import (
    ALL_WAYS,
    BRANCHES_USED,
    FEATURE,
    N_SURROGATES,
    S_BELOW_LEFT,
    S_BRANCH_AT,
    S_FEATURE,
    S_LAST,
    S_N_BRANCHES,
    S_NEXT,
    SURROGATE_AT,
    SURROGATES_USED,
)
from dtnumba.growers.groups import code_of, place_of, sort_rows

# Less agreement than this beyond the heavier side is none.
_LEAST = 1e-10
# Columns of Desk.votes: weight and rows that the chosen test sends to either side
_LEFT, _RIGHT, _N_LEFT, _N_RIGHT = range(4)


@kernel
def find_surrogates(work, node, start, stop):
    """Write the surrogates of a node, the best first, and return how many; desk.way holds where its test sends rows."""
    desk, grown, state, most = work.desk, work.grown, work.grown.state, work.rules.max_surrogates
    first, n, left, right = state[SURROGATES_USED], np.int64(0), 0.0, 0.0
    feature = grown.nodes[node, FEATURE]
    for i in range(stop - start):
        left += grown.weight[start + i] if desk.way[i] == 0 else 0.0
        right += grown.weight[start + i] if desk.way[i] == 1 else 0.0
    for other in range(len(work.n_codes)):
        if other == feature:
            continue
        last, following, below_left = np.int64(-1), np.int64(-1), np.int64(0)
        if work.nominal[other]:
            agree, majority, total = _agree_by_level(work, other, start, stop)
        else:
            agree, majority, total, last, following, below_left = _best_cut(work, other, start, stop)
        if work.rules.surrogate_style == 0:
            total, majority = left + right, max(left, right)
        if total <= 0.0 or total <= majority:
            continue
        adjusted = (agree / total - majority / total) / (1.0 - majority / total)
        if adjusted <= _LEAST:
            continue
        agree /= total
        if n == most and agree <= grown.agreements[first + n - 1, 0]:
            continue
        j = first + min(n, most - 1)
        while j > first and grown.agreements[j - 1, 0] < agree:
            for k in range(grown.surrogates.shape[1]):
                grown.surrogates[j, k] = grown.surrogates[j - 1, k]
            grown.agreements[j, 0], grown.agreements[j, 1] = grown.agreements[j - 1, 0], grown.agreements[j - 1, 1]
            j -= 1
        grown.agreements[j, 0], grown.agreements[j, 1] = agree, adjusted
        grown.surrogates[j, S_FEATURE], grown.surrogates[j, S_LAST] = other, last
        grown.surrogates[j, S_NEXT], grown.surrogates[j, S_BELOW_LEFT] = following, below_left
        n = min(n + 1, most)
    for j in range(first, first + n):
        _write_levels(work, j, start, stop)
    grown.nodes[node, SURROGATE_AT], grown.nodes[node, N_SURROGATES] = first, n
    state[SURROGATES_USED] += n
    return n


@inline
def _best_cut(work, other, start, stop):
    """Return the agreement of the best cut of a number, of the heavier side, the weight, the cut and its direction."""
    desk, grown = work.desk, work.grown
    n = sort_rows(work, other, start, stop)
    left = right = rows = 0.0
    for i in range(n):
        place = place_of(desk.keys[i])
        if desk.way[place] != ALL_WAYS:
            rows += 1.0
            left += grown.weight[start + place] if desk.way[place] == 0 else 0.0
            right += grown.weight[start + place] if desk.way[place] == 1 else 0.0
    majority = agree = max(left, right)
    left_below = right_below = seen = 0.0
    last, following, below_left = np.int64(-1), np.int64(-1), np.int64(0)
    for i in range(n):
        if rows - seen < 2.0:
            break
        if i > 0 and seen >= 2.0 and code_of(desk.keys[i]) != code_of(desk.keys[i - 1]):
            crossed, alike = left - left_below + right_below, left_below + right - right_below
            if crossed > agree or alike > agree:
                agree, below_left = (crossed, np.int64(0)) if crossed > agree else (alike, np.int64(1))
                last, following = code_of(desk.keys[i - 1]), code_of(desk.keys[i])
        place = place_of(desk.keys[i])
        if desk.way[place] != ALL_WAYS:
            seen += 1.0
            left_below += grown.weight[start + place] if desk.way[place] == 0 else 0.0
            right_below += grown.weight[start + place] if desk.way[place] == 1 else 0.0
    return agree, majority, left + right, last, following, below_left


@kernel
def _vote(work, other, start, stop):
    """Sum what the chosen test does with the rows of every level; return the weights of both sides."""
    desk, grown, left, right = work.desk, work.grown, 0.0, 0.0
    for code in range(work.n_codes[other]):
        for k in range(4):
            desk.votes[code, k] = 0.0
    for i in range(stop - start):
        code, weight = np.int64(work.codes[other, grown.row[start + i]]), grown.weight[start + i]
        if code < work.n_codes[other] and desk.way[i] == 0:
            desk.votes[code, _LEFT] += weight
            desk.votes[code, _N_LEFT] += 1.0
            left += weight
        elif code < work.n_codes[other] and desk.way[i] == 1:
            desk.votes[code, _RIGHT] += weight
            desk.votes[code, _N_RIGHT] += 1.0
            right += weight
    return left, right


@inline
def _side(desk, code, left, right):
    """Return the side that a level votes for, by weight, else the heavier one; -1 where no row has it."""
    if desk.votes[code, _N_LEFT] + desk.votes[code, _N_RIGHT] == 0.0:
        return -1
    a, b = desk.votes[code, _LEFT], desk.votes[code, _RIGHT]
    return 1 if a < b or (a == b and left <= right) else 0


@inline
def _agree_by_level(work, other, start, stop):
    """Return the agreement of the best side of each level, that of the heavier side for all, and the weight."""
    desk, agree = work.desk, 0.0
    left, right = _vote(work, other, start, stop)
    for code in range(work.n_codes[other]):
        side = _side(desk, code, left, right)
        if side >= 0:
            agree += desk.votes[code, _LEFT + side]
    return agree, max(left, right), left + right


@inline
def _write_levels(work, j, start, stop):
    """Write the side of each level for a surrogate on a category."""
    grown, state, other = work.grown, work.grown.state, work.grown.surrogates[j, S_FEATURE]
    grown.surrogates[j, S_BRANCH_AT], grown.surrogates[j, S_N_BRANCHES] = state[BRANCHES_USED], 0
    if work.nominal[other]:
        left, right = _vote(work, other, start, stop)
        for code in range(work.n_codes[other]):
            grown.branch[state[BRANCHES_USED] + code] = _side(work.desk, code, left, right)
        grown.surrogates[j, S_N_BRANCHES] = work.n_codes[other]
        state[BRANCHES_USED] += work.n_codes[other]


@inline
def way_by_surrogates(work, node, row):
    """Return the side to which the first surrogate that can tell sends a row, -1 where none can."""
    grown = work.grown
    for j in range(grown.nodes[node, SURROGATE_AT], grown.nodes[node, SURROGATE_AT] + grown.nodes[node, N_SURROGATES]):
        other = grown.surrogates[j, S_FEATURE]
        code = np.int64(work.codes[other, row])
        if code == work.n_codes[other]:
            continue
        if not work.nominal[other]:
            is_below = code <= grown.surrogates[j, S_LAST]
            return np.int64(is_below != (grown.surrogates[j, S_BELOW_LEFT] == 1))
        side = np.int64(grown.branch[grown.surrogates[j, S_BRANCH_AT] + code])
        if side >= 0:
            return side
    return np.int64(-1)
