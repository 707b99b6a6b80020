# mypy: ignore-errors
"""Write the test of a node and deal its rows to its children."""

import math

import numpy as np

from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.node_sums import to_grain, weight_of
from dtnumba.growth.multiway.ordered_columns import BOTH, MOST_CODED, SECOND, code_of, n_known, place_of
from dtnumba.growth.multiway.splits.judge_test import heaviest_of
from dtnumba.growth.policies.node_order import is_best_first
from dtnumba.runtime.kernels import entry, inline

_MOST_NAMED = 254  # the last child that a missing value may be sent to


@inline
def _number_children(work, feature):
    """Return how many children the split has, and write their final numbers and their shares of the weight.

    scratch.order[v] becomes the number of child v of the split found, scratch.place[number] the child's share. Empty
    categories get children of their own where the rules say so. Of a threshold the lower child comes first. The number
    of the child of missing values fits into a byte: beyond that, it changes places with the first.
    """
    scratch, test, rules = work.scratch, work.scratch.test, work.rules
    number, share, n, total = scratch.order, scratch.place, test[col.N_CHILDREN], 0.0
    fills_empty = work.nominal[feature] and rules.empty_leaves == 1 and rules.categorical == col.EACH_CATEGORY
    n_categories = work.n_codes[feature]
    fan = n
    if fills_empty:
        fan = n_categories + n - test[col.N_GROUPS]
        for v in range(fan):
            share[v] = 0.0
    has_rest = _has_rest(work, feature)
    if has_rest:
        share[fan] = 0.0
        fan += 1
    for v in range(n):
        number[v] = v
        if fills_empty:
            number[v] = scratch.code[v] if v < test[col.N_GROUPS] else n_categories
    missing = test[col.MISSING_CHILD]
    if not work.nominal[feature] and test[col.N_TEST_CUTS] == 1 and scratch.range_child[0] == 1:
        number[0], number[1] = 1, 0
    if number[missing] > _MOST_NAMED:
        far = number[missing]
        for v in range(n):
            if number[v] == 0:
                number[v] = far
        number[missing] = 0
    for v in range(n):
        total += _counted(work, v)
    for v in range(n):
        share[number[v]] = _counted(work, v) / total
    return fan


@inline
def _counted(work, v):
    """Return what the rows of a child that have its value count where the others are shared out."""
    sums, n = work.scratch.table, 0.0
    if len(work.class_cases) == 0:
        return weight_of(work.target, sums, v)
    for k in range(len(work.class_cases)):
        n += sums[v, k] * work.class_cases[k]
    return n


@inline
def _has_rest(work, feature):
    """Tell whether categories that no row of the node has get one branch, behind those of the groups."""
    rules, n_groups = work.rules, work.scratch.test[col.N_GROUPS]
    is_grouped = work.nominal[feature] and rules.categorical == col.GROUPED_CATEGORIES
    return is_grouped and rules.empty_leaves == 1 and n_groups < work.n_codes[feature]


@inline
def _write_test(work, node, feature, fan):
    """Write the split of a node: its cuts, its map, or the categories of its left child, in the ragged columns."""
    scratch, test, rules, nodes, state = work.scratch, work.scratch.test, work.rules, work.grown.nodes, work.grown.state
    number = scratch.order  # of each child of the test
    nodes[node, col.CUT_AT], nodes[node, col.BRANCH_AT], nodes[node, col.LEVEL_AT] = (
        state[col.CUTS_USED],
        state[col.BRANCHES_USED],
        state[col.LEVELS_USED],
    )
    nodes[node, col.N_CUTS] = nodes[node, col.N_BRANCHES] = nodes[node, col.N_LEVELS] = nodes[
        node, col.N_SURROGATES
    ] = 0
    nodes[node, col.FAN_OUT], nodes[node, col.MISSING_TO] = fan, number[test[col.MISSING_CHILD]]
    if not work.nominal[feature]:
        n_cuts = test[col.N_TEST_CUTS]
        has_map = fan != n_cuts + 1 and scratch.cut[0, 1] >= 0
        for k in range(n_cuts):
            for end in range(2):
                work.grown.cuts[state[col.CUTS_USED] + k, end] = scratch.cut[k, end]
        for k in range(n_cuts + 1):
            has_map = has_map or (n_cuts > 1 and number[scratch.range_child[k]] != k)
        if has_map:
            for k in range(n_cuts + 1):
                work.grown.branch[state[col.BRANCHES_USED] + k] = number[scratch.range_child[k]]
        nodes[node, col.N_CUTS], nodes[node, col.N_BRANCHES] = n_cuts, n_cuts + 1 if has_map else 0
    elif _is_listed(work, fan):
        n = np.int64(0)
        for g in range(test[col.N_GROUPS]):
            if number[scratch.category_child[scratch.code[g]]] == 0:
                work.grown.level[state[col.LEVELS_USED] + n] = scratch.code[g]
                n += 1
        # All categories against missing values: none is listed, and one that no row has goes left, too.
        nodes[node, col.N_LEVELS] = n if n < test[col.N_GROUPS] else 0
    else:
        n_categories, absent = work.n_codes[feature], np.int64(-1)
        if rules.missing not in (col.FRACTIONAL, col.SURROGATE):
            absent = number[heaviest_of(work.target, scratch.table, test[col.N_CHILDREN])]
        if rules.empty_leaves == 1 and rules.categorical == col.ONE_CATEGORY:
            absent = np.int64(1)
        if _has_rest(work, feature):
            absent = np.int64(fan - 1)
        for code in range(n_categories):
            own = code if rules.empty_leaves == 1 and rules.categorical == col.EACH_CATEGORY else absent
            work.grown.branch[state[col.BRANCHES_USED] + code] = own
        for g in range(test[col.N_GROUPS]):
            work.grown.branch[state[col.BRANCHES_USED] + scratch.code[g]] = number[
                scratch.category_child[scratch.code[g]]
            ]
        nodes[node, col.N_BRANCHES] = n_categories
    state[col.CUTS_USED] += nodes[node, col.N_CUTS]
    state[col.BRANCHES_USED] += nodes[node, col.N_BRANCHES]
    state[col.LEVELS_USED] += nodes[node, col.N_LEVELS]


@inline
def _is_listed(work, fan):
    """Tell whether a split is kept as the categories of its left child, so that one without rows goes right."""
    rules = work.rules
    return fan == 2 and rules.categorical != col.EACH_CATEGORY and rules.missing not in (col.FRACTIONAL, col.SURROGATE)


@inline
def _has_room(work, feature, fan, n):
    """Return GROWING where the arrays have room for the children and the split, else which of them are full."""
    grown, state = work.grown, work.grown.state
    if state[col.N_NODES] + fan > len(grown.nodes):
        return col.NODES_FULL
    longest = work.n_codes[feature] if work.nominal[feature] else work.scratch.test[col.N_TEST_CUTS] + 1
    if work.rules.missing == col.SURROGATE:
        longest += work.rules.max_surrogates * np.int64(len(work.scratch.votes))
    lacks = state[col.CUTS_USED] + work.scratch.test[col.N_TEST_CUTS] > len(grown.cuts)
    lacks = lacks or state[col.BRANCHES_USED] + longest > len(grown.branch)
    lacks = lacks or state[col.LEVELS_USED] + work.scratch.test[col.N_GROUPS] > len(grown.level)
    if lacks or state[col.SURROGATES_USED] + work.rules.max_surrogates > len(grown.surrogates):
        return col.RAGGED_FULL
    return col.GROWING


@inline
def _find_children(work, node, feature, start, stop):
    """Write the child of every row that has a value, ALL_CHILDREN for the others; return how many these are."""
    scratch, missing, n_missing = work.scratch, work.n_codes[feature], np.int64(0)
    n_cuts, number = scratch.test[col.N_TEST_CUTS], scratch.order
    if work.order_at[feature] >= 0:
        keys, first = work.grown.orders[work.order_at[feature]], start
        known, k = n_known(keys, first, stop - start, missing), np.int64(0)
        for i in range(first, first + known):
            while k < n_cuts and scratch.cut[k, 0] < code_of(keys[i]):
                k += 1
            scratch.row_child[place_of(work, keys[i])] = number[scratch.range_child[k]]
        for i in range(first + known, first + stop - start):
            scratch.row_child[place_of(work, keys[i])] = col.ALL_CHILDREN
        return stop - start - known
    is_nominal, codes = work.nominal[feature], work.codes[work.code_at[feature]]
    for i in range(start, stop):
        code = np.int64(codes[work.grown.row[i]])
        child = np.int64(col.ALL_CHILDREN)
        if code < missing:
            if is_nominal:
                child = number[scratch.category_child[code]]
            else:
                low, high = np.int64(0), n_cuts
                while low < high:
                    middle = (low + high) // 2
                    if scratch.cut[middle, 0] < code:
                        low = middle + 1
                    else:
                        high = middle
                child = number[scratch.range_child[low]]
        n_missing += child == col.ALL_CHILDREN
        scratch.row_child[i - start] = child
    return n_missing


@inline
def _place_missing(work, node, start, stop):
    """Write the child of the rows without a value, where one child gets each and no surrogate was asked."""
    child, missing = work.scratch.row_child, work.grown.nodes[node, col.MISSING_TO]
    for i in range(stop - start):
        if child[i] == col.ALL_CHILDREN:
            child[i] = missing


@entry
def divide(work, node, deals, _):
    """Write the split of a node and the child of each row; with ``deals`` = 1, then, deal the rows.

    Returns GROWING, or which array is full, and then nothing was written. In between surrogates are found and followed,
    where there are such; the columns in order are divided afterwards, by what this writes to ``scratch``.
    """
    nodes = work.grown.nodes
    start, stop, feature = nodes[node, col.START], nodes[node, col.STOP], nodes[node, col.FEATURE]
    if deals == 1:
        in_parts = work.rules.missing == col.FRACTIONAL and work.scratch.dealt[1] > 0
        if not in_parts and work.scratch.dealt[1] > 0:
            _place_missing(work, node, start, stop)
        _deal(work, start, stop, nodes[node, col.FAN_OUT], in_parts)
        return np.int64(col.GROWING)
    return _begin(work, node, feature, start, stop)


@inline
def _begin(work, node, feature, start, stop):
    """Write the split of a node and the child of each row that has a value; return GROWING, or which array is full."""
    scratch, grown, rules, state = work.scratch, work.grown, work.rules, work.grown.state
    fan = _number_children(work, feature)
    if state[col.N_LEAVES] + fan - 1 > work.limits.max_leaves:
        return np.int64(col.TOO_WIDE)
    status = _has_room(work, feature, fan, stop - start)
    if status != col.GROWING:
        return np.int64(status)
    n_missing = _find_children(work, node, feature, start, stop)
    if rules.missing == col.FRACTIONAL and n_missing > 0:
        total, share = stop - start - n_missing, scratch.place
        for v in range(fan):
            total += n_missing if share[v] > 0.0 else 0
        if _first_place(work, start, stop, total) + total > len(grown.row):
            return np.int64(col.CASES_FULL)
    scratch.dealt[0], scratch.dealt[1] = fan, n_missing
    _write_test(work, node, feature, fan)
    for i in range(stop - start if rules.max_surrogates > 0 else 0):
        scratch.side[i] = scratch.row_child[i] if scratch.row_child[i] >= 0 else 2
    return np.int64(col.GROWING)


@inline
def _first_place(work, start, stop, total):
    """Return where the lists of children begin: in place of the parent's, as nothing behind it is open; else where."""
    if total <= stop - start or not is_best_first(work.limits):
        return start
    return max(stop, work.grown.state[col.N_CASES])


@inline
def _grain_of_parts(total):
    """Return the grain of the parts of rows, and the least part: as fine as leaves sums up to a total exact."""
    exponent = math.frexp(total)[1]
    return math.ldexp(1.5, exponent), math.ldexp(1.0, exponent - 52)


@inline
def _deal(work, start, stop, fan, in_parts):
    """Write the lists of the children one after the other: rows that go there whole, then those in parts."""
    scratch, grown, n, n_parts, all_whole = work.scratch, work.grown, stop - start, np.int64(0), np.int64(0)
    share, place, n_whole, begin = scratch.place, scratch.new_place, scratch.n_whole, scratch.child_start
    has_outcome, (grain, least) = len(grown.outcome) > 0, _grain_of_parts(work.limits.total_weight)
    row_grain, least_part = _grain_of_parts(float(work.n_rows))
    has_parts = len(grown.part) > 0
    for v in range(fan):
        n_whole[v] = 0
    for i in range(n):
        child = scratch.row_child[i]
        if child >= 0:
            place[i] = n_whole[child]
            n_whole[child] += 1
            all_whole += 1
        elif in_parts:
            place[i] = n_parts
            n_parts += 1
        scratch.row[i], scratch.weight[i] = grown.row[start + i], grown.weight[start + i]
        if has_outcome:
            scratch.outcome[i] = grown.outcome[start + i]
        if has_parts:
            scratch.part[i] = grown.part[start + i]
    total = np.int64(0)
    for v in range(fan):
        total += n_whole[v] + (n_parts if share[v] > 0.0 else 0)
    begin[0] = _first_place(work, start, stop, total)
    scratch.dealt[1] = scratch.dealt[2] = 0
    for v in range(fan):
        gets_parts = in_parts and share[v] > 0.0
        begin[v + 1] = begin[v] + n_whole[v] + (n_parts if gets_parts else 0)
        if in_parts and not gets_parts:
            n_whole[v] = -1 - n_whole[v]
    for i in range(n):
        child = scratch.row_child[i]
        if child >= 0:
            at = begin[child] + place[i]
            grown.row[at], grown.weight[at] = scratch.row[i], scratch.weight[i]
            if has_parts:
                grown.part[at] = scratch.part[i]
            if has_outcome:
                grown.outcome[at] = scratch.outcome[i]
        elif in_parts:
            for v in range(fan):
                if n_whole[v] >= 0:
                    at = begin[v] + n_whole[v] + place[i]
                    part = max(to_grain(scratch.weight[i] * share[v], grain), least)
                    grown.row[at], grown.weight[at] = scratch.row[i], part
                    grown.part[at] = max(to_grain(scratch.part[i] * share[v], row_grain), least_part)
                    if has_outcome:
                        grown.outcome[at] = scratch.outcome[i]
    if all_whole < n:
        scratch.dealt[1] = 1  # the others go down several branches, or end here
    is_two = fan == 2 and begin[0] == start and n < MOST_CODED
    if is_two and (all_whole == n or (in_parts and n_whole[0] >= 0 and n_whole[1] >= 0)):
        scratch.dealt[2] = 1
        for i in range(n):
            child = scratch.row_child[i]
            place[i] |= BOTH if child < 0 else SECOND * np.uint32(child)
    state = grown.state
    state[col.N_CASES] = max(state[col.N_CASES], begin[fan])
