# mypy: ignore-errors
"""Tests that send rows as the test of a node does, to stand in where a row lacks its value (Breiman et al. 1984).

For every other feature the one cut, or the side of each category, that agrees most with the chosen test; kept where it
agrees with more weight than sending every row to the heavier side would. The rules are those of R's rpart, ties too.
"""

import numpy as np

from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.ordered_columns import code_of, keys_of, n_known, place_of
from dtnumba.runtime.kernels import entry, inline, outlined
from dtnumba.trees.layout import STAYS

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
def agree_with(work, other, node, _):
    """Write how well the best surrogate on a column agrees with the split of a node, by where its rows were sent."""
    scratch, nodes = work.scratch, work.grown.nodes
    start, stop = nodes[node, col.START], nodes[node, col.STOP]
    last, following, below_left = np.int64(-1), np.int64(-1), np.int64(0)
    agree = majority = total = 0.0
    if other == nodes[node, col.FEATURE] or work.halt[0] != 0:
        pass
    elif work.nominal[other]:
        agree, majority, total = _agree_by_category(work, other, start, stop)
    else:
        agree, majority, total, last, following, below_left = _best_cut(
            work, other, start, stop, nodes[node, col.ARE_ONE] == 1
        )
    scratch.agreed[other, 0], scratch.agreed[other, 1], scratch.agreed[other, 2] = agree, majority, total
    cut = scratch.agreed_cut
    cut[other, 0], cut[other, 1], cut[other, 2] = last, following, below_left
    return np.int64(0)


@entry
def follow_surrogates(work, node, start, stop):
    """Write the surrogates of a node, and where these send each row that lacks a value; return how many they are."""
    n, child = np.int64(0), work.scratch.row_child
    side = heavier_side(work, start, stop) if work.rules.use_surrogate == 2 else np.int64(-1)
    if work.calls.agree != 0:
        n = _list_surrogates(work, node, start, stop)
        _place_by_surrogates(work, node, start, stop)
    work.grown.nodes[node, col.MISSING_TO] = side if side >= 0 else STAYS
    for i in range(stop - start):
        if child[i] == col.ALL_CHILDREN:
            child[i] = side if side >= 0 else col.NO_CHILD
    return n


@inline
def _list_surrogates(work, node, start, stop):
    """Write the surrogates of a node, the best first, of what agrees on each column; return how many."""
    scratch, grown, state, most = work.scratch, work.grown, work.grown.state, work.rules.max_surrogates
    first, n, left, right = state[col.SURROGATES_USED], np.int64(0), 0.0, 0.0
    for i in range(stop - start):
        left += _heft(work, start + i) if scratch.row_child[i] == 0 else 0.0
        right += _heft(work, start + i) if scratch.row_child[i] == 1 else 0.0
    for other in range(len(work.n_codes)):
        if other == grown.nodes[node, col.FEATURE]:
            continue
        agree, majority, total = scratch.agreed[other, 0], scratch.agreed[other, 1], scratch.agreed[other, 2]
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
        grown.surrogates[j, col.S_FEATURE] = other
        for k in range(3):
            grown.surrogates[j, col.S_LAST + k] = scratch.agreed_cut[other, k]
        n = min(n + 1, most)
    for j in range(first, first + n):
        _write_categories(work, j, start, stop)
    grown.nodes[node, col.SURROGATE_AT], grown.nodes[node, col.N_SURROGATES] = first, n
    state[col.SURROGATES_USED] += n
    return n


@inline
def _best_cut(work, other, start, stop, is_one):
    """Return the agreement of the best cut of a number, of the heavier side, the weight, the cut and its direction."""
    scratch = work.scratch
    keys, first = keys_of(work, other, start, stop)
    end = first + n_known(keys, first, stop - start, work.n_codes[other])
    if is_one and len(work.plain) == 0:
        return _best_cut_of_ones(work, keys, first, end)
    left = right = rows = 0.0
    for i in range(first, end):
        place = place_of(work, keys[i])
        if scratch.row_child[place] != col.ALL_CHILDREN:
            rows += 1.0
            left += _heft(work, start + place) if scratch.row_child[place] == 0 else 0.0
            right += _heft(work, start + place) if scratch.row_child[place] == 1 else 0.0
    majority = agree = max(left, right)
    left_below = right_below = seen = 0.0
    last, following, below_left = np.int64(-1), np.int64(-1), np.int64(0)
    for i in range(first, end):
        if rows - seen < 2.0:
            break
        if i > first and seen >= 2.0 and code_of(keys[i]) != code_of(keys[i - 1]):
            crossed, alike = left - left_below + right_below, left_below + right - right_below
            if crossed > agree or alike > agree:
                agree, below_left = (crossed, np.int64(0)) if crossed > agree else (alike, np.int64(1))
                last, following = code_of(keys[i - 1]), code_of(keys[i])
        place = place_of(work, keys[i])
        if scratch.row_child[place] != col.ALL_CHILDREN:
            seen += 1.0
            left_below += _heft(work, start + place) if scratch.row_child[place] == 0 else 0.0
            right_below += _heft(work, start + place) if scratch.row_child[place] == 1 else 0.0
    return agree, majority, left + right, last, following, below_left


@outlined
def _best_cut_of_ones(work, keys, first, end):
    """Do as ``_best_cut`` for rows that count one each."""
    side = work.scratch.side
    left = right = np.int64(0)
    for i in range(first, end):
        where = side[place_of(work, keys[i])]
        left += where == 0
        right += where == 1
    majority = agree = max(left, right)
    left_below = right_below = np.int64(0)
    last, following, below_left = np.int64(-1), np.int64(-1), np.int64(0)
    for i in range(first, end):
        seen = left_below + right_below
        if left + right - seen < 2:
            break
        alike = left_below + right - right_below
        crossed = left + right - alike
        if (crossed > agree or alike > agree) and seen >= 2 and code_of(keys[i]) != code_of(keys[i - 1]):
            agree, below_left = (crossed, np.int64(0)) if crossed > agree else (alike, np.int64(1))
            last, following = code_of(keys[i - 1]), code_of(keys[i])
        where = side[place_of(work, keys[i])]
        left_below += where == 0
        right_below += where == 1
    return float(agree), float(majority), float(left + right), last, following, below_left


@outlined
def _vote(work, other, start, stop):
    """Write what weight and rows of each category the split of the node sends to either side; return both weights."""
    scratch, grown, left, right = work.scratch, work.grown, 0.0, 0.0
    for code in range(work.n_codes[other]):
        for k in range(4):
            scratch.votes[code, k] = 0.0
    for i in range(stop - start):
        code, weight = np.int64(work.codes[work.code_at[other], grown.row[start + i]]), _heft(work, start + i)
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
def _place_by_surrogates(work, node, start, stop):
    """Write the child of each row without a value, by the first surrogate that can tell; others stay ALL_CHILDREN."""
    grown, child = work.grown, work.scratch.row_child
    first = grown.nodes[node, col.SURROGATE_AT]
    for j in range(first, first + grown.nodes[node, col.N_SURROGATES]):
        other, last = grown.surrogates[j, col.S_FEATURE], grown.surrogates[j, col.S_LAST]
        below = 0 if grown.surrogates[j, col.S_BELOW_LEFT] == 1 else 1
        missing, branches = work.n_codes[other], grown.surrogates[j, col.S_BRANCH_AT]
        if work.order_at[other] >= 0:
            keys, begin = grown.orders[work.order_at[other]], start
            for i in range(begin, begin + n_known(keys, begin, stop - start, missing)):
                if child[place_of(work, keys[i])] == col.ALL_CHILDREN:
                    child[place_of(work, keys[i])] = below if code_of(keys[i]) <= last else 1 - below
            continue
        codes = work.codes[work.code_at[other]]
        for i in range(stop - start):
            code = np.int64(codes[grown.row[start + i]])
            if child[i] != col.ALL_CHILDREN or code == missing:
                continue
            if not work.nominal[other]:
                child[i] = below if code <= last else 1 - below
            elif grown.branch[branches + code] >= 0:
                child[i] = grown.branch[branches + code]
