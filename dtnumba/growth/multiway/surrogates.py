# mypy: ignore-errors
"""Tests that send rows as the test of a node does, to stand in where a row lacks its value (Breiman et al. 1984).

For every other feature the one cut, or the side of each category, that agrees most with the chosen test; kept where it
agrees with more weight than sending every row to the heavier side would. The rules are those of R's rpart, ties too.
"""

import numpy as np

from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.group_rows import code_of, place_of, sort_rows
from dtnumba.runtime.kernels import entry, inline, outlined

# Less agreement than this beyond the heavier side is none.
_LEAST = 1e-10
# Columns of NodeScratch.votes, a row a category: weight and rows that the split of the node sends to either side
_LEFT, _RIGHT, _N_LEFT, _N_RIGHT = range(4)


@inline
def _heft(work, i):
    """Return what the i-th row listed counts here: without the costs and priors that it grows by."""
    return work.plain[work.grown.row[i]] if len(work.plain) > 0 else work.grown.weight[i]


@inline
def heavier_side(work, start, stop):
    """Return the side to which the test of a node sends more weight, -1 where both have as much."""
    left = right = 0.0
    for i in range(stop - start):
        left += _heft(work, start + i) if work.scratch.row_child[i] == 0 else 0.0
        right += _heft(work, start + i) if work.scratch.row_child[i] == 1 else 0.0
    return np.int64(-1 if left == right else left < right)


@entry
def find_surrogates(work, node, start, stop):
    """Write the surrogates of a node, the best first; return how many. The scratch holds where its test sends rows."""
    scratch, grown, state, most = work.scratch, work.grown, work.grown.state, work.rules.max_surrogates
    first, n, left, right = state[col.SURROGATES_USED], np.int64(0), 0.0, 0.0
    feature = grown.nodes[node, col.FEATURE]
    for i in range(stop - start):
        left += _heft(work, start + i) if scratch.row_child[i] == 0 else 0.0
        right += _heft(work, start + i) if scratch.row_child[i] == 1 else 0.0
    for other in range(len(work.n_codes)):
        if other == feature or work.halt[0] != 0:
            continue
        last, following, below_left = np.int64(-1), np.int64(-1), np.int64(0)
        if work.nominal[other]:
            agree, majority, total = _agree_by_category(work, other, start, stop)
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
        grown.surrogates[j, col.S_FEATURE], grown.surrogates[j, col.S_LAST] = other, last
        grown.surrogates[j, col.S_NEXT], grown.surrogates[j, col.S_BELOW_LEFT] = following, below_left
        n = min(n + 1, most)
    for j in range(first, first + n):
        _write_categories(work, j, start, stop)
    grown.nodes[node, col.SURROGATE_AT], grown.nodes[node, col.N_SURROGATES] = first, n
    state[col.SURROGATES_USED] += n
    return n


@inline
def _best_cut(work, other, start, stop):
    """Return the agreement of the best cut of a number, of the heavier side, the weight, the cut and its direction."""
    scratch = work.scratch
    n = sort_rows(work, other, start, stop)
    left = right = rows = 0.0
    for i in range(n):
        place = place_of(scratch.keys[i])
        if scratch.row_child[place] != col.ALL_CHILDREN:
            rows += 1.0
            left += _heft(work, start + place) if scratch.row_child[place] == 0 else 0.0
            right += _heft(work, start + place) if scratch.row_child[place] == 1 else 0.0
    majority = agree = max(left, right)
    left_below = right_below = seen = 0.0
    last, following, below_left = np.int64(-1), np.int64(-1), np.int64(0)
    for i in range(n):
        if rows - seen < 2.0:
            break
        if i > 0 and seen >= 2.0 and code_of(scratch.keys[i]) != code_of(scratch.keys[i - 1]):
            crossed, alike = left - left_below + right_below, left_below + right - right_below
            if crossed > agree or alike > agree:
                agree, below_left = (crossed, np.int64(0)) if crossed > agree else (alike, np.int64(1))
                last, following = code_of(scratch.keys[i - 1]), code_of(scratch.keys[i])
        place = place_of(scratch.keys[i])
        if scratch.row_child[place] != col.ALL_CHILDREN:
            seen += 1.0
            left_below += _heft(work, start + place) if scratch.row_child[place] == 0 else 0.0
            right_below += _heft(work, start + place) if scratch.row_child[place] == 1 else 0.0
    return agree, majority, left + right, last, following, below_left


@outlined
def _vote(work, other, start, stop):
    """Write what weight and rows of each category the split of the node sends to either side; return both weights."""
    scratch, grown, left, right = work.scratch, work.grown, 0.0, 0.0
    for code in range(work.n_codes[other]):
        for k in range(4):
            scratch.votes[code, k] = 0.0
    for i in range(stop - start):
        code, weight = np.int64(work.codes[other, grown.row[start + i]]), _heft(work, start + i)
        if code < work.n_codes[other] and scratch.row_child[i] == 0:
            scratch.votes[code, _LEFT] += weight
            scratch.votes[code, _N_LEFT] += 1.0
            left += weight
        elif code < work.n_codes[other] and scratch.row_child[i] == 1:
            scratch.votes[code, _RIGHT] += weight
            scratch.votes[code, _N_RIGHT] += 1.0
            right += weight
    return left, right


@inline
def _side(scratch, code, left, right):
    """Return the side that most weight of a category goes to, the heavier one on ties; -1 where no row has it."""
    if scratch.votes[code, _N_LEFT] + scratch.votes[code, _N_RIGHT] == 0.0:
        return -1
    a, b = scratch.votes[code, _LEFT], scratch.votes[code, _RIGHT]
    return 1 if a < b or (a == b and left <= right) else 0


@inline
def _agree_by_category(work, other, start, stop):
    """Return the agreement with the best side of each category, that with the heavier side for all, and the weight."""
    scratch, agree = work.scratch, 0.0
    left, right = _vote(work, other, start, stop)
    for code in range(work.n_codes[other]):
        side = _side(scratch, code, left, right)
        if side >= 0:
            agree += scratch.votes[code, _LEFT + side]
    return agree, max(left, right), left + right


@inline
def _write_categories(work, j, start, stop):
    """Write the side of each category for a surrogate on categories."""
    grown, state, other = work.grown, work.grown.state, work.grown.surrogates[j, col.S_FEATURE]
    grown.surrogates[j, col.S_BRANCH_AT], grown.surrogates[j, col.S_N_BRANCHES] = state[col.BRANCHES_USED], 0
    if work.nominal[other]:
        left, right = _vote(work, other, start, stop)
        for code in range(work.n_codes[other]):
            grown.branch[state[col.BRANCHES_USED] + code] = _side(work.scratch, code, left, right)
        grown.surrogates[j, col.S_N_BRANCHES] = work.n_codes[other]
        state[col.BRANCHES_USED] += work.n_codes[other]


@inline
def child_by_surrogates(work, node, row):
    """Return the side to which the first surrogate that can tell sends a row, -1 where none can."""
    grown = work.grown
    for j in range(
        grown.nodes[node, col.SURROGATE_AT], grown.nodes[node, col.SURROGATE_AT] + grown.nodes[node, col.N_SURROGATES]
    ):
        other = grown.surrogates[j, col.S_FEATURE]
        code = np.int64(work.codes[other, row])
        if code == work.n_codes[other]:
            continue
        if not work.nominal[other]:
            is_below = code <= grown.surrogates[j, col.S_LAST]
            return np.int64(is_below != (grown.surrogates[j, col.S_BELOW_LEFT] == 1))
        side = np.int64(grown.branch[grown.surrogates[j, col.S_BRANCH_AT] + code])
        if side >= 0:
            return side
    return np.int64(-1)
