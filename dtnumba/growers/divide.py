"""Write the test of a node and deal its rows to its children."""

import numpy as np

from dtnumba._jit import call_at, inline, kernel
from dtnumba.growers.candidates import heaviest_of
from dtnumba.growers.cases import (
    ALL_WAYS,
    BRANCH_AT,
    BRANCHES_USED,
    CASES_FULL,
    CUT_AT,
    CUTS_USED,
    FAN,
    FEATURE,
    FRACTIONAL,
    GROWING,
    LEVEL_AT,
    LEVELS_USED,
    MISSING,
    MISSING_CHILD,
    MULTIWAY,
    N_BRANCHES,
    N_CASES,
    N_CHILDREN,
    N_CUTS,
    N_GROUPS,
    N_LEAVES,
    N_LEVELS,
    N_NODES,
    N_SURROGATES,
    N_TEST_CUTS,
    NO_WAY,
    NODES_FULL,
    ONE_VS_REST,
    RAGGED_FULL,
    SURROGATE,
    SURROGATES_USED,
    TOO_WIDE,
)
from dtnumba.growers.sums import weight_of
from dtnumba.growers.surrogates import heavier_side, way_by_surrogates
from dtnumba.trees import STAYS

_MOST_NAMED = 254  # the last child that a missing value may be sent to


@inline
def _number_children(work, feature):
    """Give the children their final numbers: desk.order[v] of child v of the test; desk.place[number] is its share.

    Empty levels get children of their own where the rules say so. A cut has what lies below it first. A child that
    missing values go to has a number that fits into a byte: beyond that it changes places with the first.
    """
    desk, test, rules = work.desk, work.desk.test, work.rules
    n, total = test[N_CHILDREN], 0.0
    fills_empty = work.nominal[feature] and rules.empty_leaves == 1 and rules.categorical == MULTIWAY
    n_levels = work.n_codes[feature]
    fan = n
    if fills_empty:
        fan = n_levels + n - test[N_GROUPS]
        for v in range(fan):
            desk.place[v] = 0.0
    for v in range(n):
        desk.order[v] = v
        if fills_empty:
            desk.order[v] = desk.code[v] if v < test[N_GROUPS] else n_levels
    missing = test[MISSING_CHILD]
    if not work.nominal[feature] and test[N_TEST_CUTS] == 1 and desk.ranges[0] == 1:
        desk.order[0], desk.order[1] = 1, 0
    if desk.order[missing] > _MOST_NAMED:
        far = desk.order[missing]
        for v in range(n):
            if desk.order[v] == 0:
                desk.order[v] = far
        desk.order[missing] = 0
    for v in range(n):
        total += weight_of(work.target, desk.table, v)
    for v in range(n):
        desk.place[desk.order[v]] = weight_of(work.target, desk.table, v) / total
    return fan


@inline
def _write_test(work, node, feature, fan):
    """Write the test in the ragged columns of a node."""
    desk, test, rules, nodes, state = work.desk, work.desk.test, work.rules, work.grown.nodes, work.grown.state
    nodes[node, CUT_AT], nodes[node, BRANCH_AT], nodes[node, LEVEL_AT] = (
        state[CUTS_USED],
        state[BRANCHES_USED],
        state[LEVELS_USED],
    )
    nodes[node, N_CUTS] = nodes[node, N_BRANCHES] = nodes[node, N_LEVELS] = nodes[node, N_SURROGATES] = 0
    nodes[node, FAN], nodes[node, MISSING] = fan, desk.order[test[MISSING_CHILD]]
    if not work.nominal[feature]:
        n_cuts = test[N_TEST_CUTS]
        has_map = fan != n_cuts + 1 and desk.cut[0, 1] >= 0
        for k in range(n_cuts):
            for end in range(2):
                work.grown.cuts[state[CUTS_USED] + k, end] = desk.cut[k, end]
        for k in range(n_cuts + 1):
            has_map = has_map or (n_cuts > 1 and desk.order[desk.ranges[k]] != k)
        if has_map:
            for k in range(n_cuts + 1):
                work.grown.branch[state[BRANCHES_USED] + k] = desk.order[desk.ranges[k]]
        nodes[node, N_CUTS], nodes[node, N_BRANCHES] = n_cuts, n_cuts + 1 if has_map else 0
    elif _is_listed(work, fan):
        n = np.int64(0)
        for g in range(test[N_GROUPS]):
            if desk.order[desk.child[desk.code[g]]] == 0:
                work.grown.level[state[LEVELS_USED] + n] = desk.code[g]
                n += 1
        # All levels against missing values: no level is named, and one that no row has goes left, too.
        nodes[node, N_LEVELS] = n if n < test[N_GROUPS] else 0
    else:
        n_levels, absent = work.n_codes[feature], np.int64(-1)
        if rules.missing not in (FRACTIONAL, SURROGATE):
            absent = desk.order[heaviest_of(work.target, desk.table, test[N_CHILDREN])]
        if rules.empty_leaves == 1 and rules.categorical == ONE_VS_REST:
            absent = np.int64(1)
        for level in range(n_levels):
            own = level if rules.empty_leaves == 1 and rules.categorical == MULTIWAY else absent
            work.grown.branch[state[BRANCHES_USED] + level] = own
        for g in range(test[N_GROUPS]):
            work.grown.branch[state[BRANCHES_USED] + desk.code[g]] = desk.order[desk.child[desk.code[g]]]
        nodes[node, N_BRANCHES] = n_levels
    state[CUTS_USED] += nodes[node, N_CUTS]
    state[BRANCHES_USED] += nodes[node, N_BRANCHES]
    state[LEVELS_USED] += nodes[node, N_LEVELS]


@inline
def _is_listed(work, fan):
    """Tell whether the levels of the left child say the test, so that a category of no row goes right."""
    rules = work.rules
    return fan == 2 and rules.categorical != MULTIWAY and rules.missing not in (FRACTIONAL, SURROGATE)


@inline
def _has_room(work, feature, fan, n):
    """Return GROWING where the arrays hold what a division may add, else which are full."""
    grown, state = work.grown, work.grown.state
    if state[N_NODES] + fan > len(grown.nodes):
        return NODES_FULL
    longest = work.n_codes[feature] if work.nominal[feature] else work.desk.test[N_TEST_CUTS] + 1
    if work.rules.missing == SURROGATE:
        longest += work.rules.max_surrogates * np.int64(len(work.desk.votes))
    lacks = state[CUTS_USED] + work.desk.test[N_TEST_CUTS] > len(grown.cuts)
    lacks = lacks or state[BRANCHES_USED] + longest > len(grown.branch)
    lacks = lacks or state[LEVELS_USED] + work.desk.test[N_GROUPS] > len(grown.level)
    if lacks or state[SURROGATES_USED] + work.rules.max_surrogates > len(grown.surrogates):
        return RAGGED_FULL
    return GROWING


@inline
def _find_ways(work, feature, start, stop):
    """Write the child of every row that has a value, ALL_WAYS for the others; return how many these are."""
    desk, codes, missing, n_gone = work.desk, work.codes, work.n_codes[feature], np.int64(0)
    is_nominal, n_cuts = work.nominal[feature], desk.test[N_TEST_CUTS]
    for i in range(start, stop):
        code = np.int64(codes[feature, work.grown.row[i]])
        way = np.int64(ALL_WAYS)
        if code < missing:
            if is_nominal:
                way = desk.order[desk.child[code]]
            else:
                low, high = np.int64(0), n_cuts
                while low < high:
                    middle = (low + high) // 2
                    if desk.cut[middle, 0] < code:
                        low = middle + 1
                    else:
                        high = middle
                way = desk.order[desk.ranges[low]]
        n_gone += way == ALL_WAYS
        desk.way[i - start] = way
    return n_gone


@inline
def _place_missing(work, node, start, stop):
    """Write the way of rows without a value, where they do not go all ways."""
    desk, rules, grown = work.desk, work.rules, work.grown
    missing = grown.nodes[node, MISSING]
    for i in range(start, stop):
        if desk.way[i - start] == ALL_WAYS:
            way = missing
            if rules.missing == SURROGATE:
                way = way_by_surrogates(work, node, grown.row[i])
                way = np.int64(NO_WAY if missing == STAYS else missing) if way < 0 else way
            desk.way[i - start] = way


@inline
def _last_resort(work, start, stop):
    """Return where a row goes that every surrogate leaves undecided: the heavier child, if there is one."""
    side = heavier_side(work, start, stop) if work.rules.use_surrogate == 2 else np.int64(-1)
    return side if side >= 0 else np.int64(STAYS)


@kernel
def divide(work, node, start, stop):
    """Deal the rows of a node to its children by the test at hand; return GROWING, or which array is full.

    desk.fill[v] becomes where the rows of child v begin, and fill[v + 1] where they end.
    """
    desk, grown, rules, state = work.desk, work.grown, work.rules, work.grown.state
    nodes, feature = grown.nodes, grown.nodes[node, FEATURE]
    fan = _number_children(work, feature)
    if state[N_LEAVES] + fan - 1 > work.limits.max_leaves:
        return np.int64(TOO_WIDE)
    status = _has_room(work, feature, fan, stop - start)
    if status != GROWING:
        return np.int64(status)
    n_gone = _find_ways(work, feature, start, stop)
    goes_all_ways = rules.missing == FRACTIONAL and n_gone > 0
    for v in range(fan + 1):
        desk.fill[v] = 0
    if goes_all_ways:
        total = stop - start - n_gone
        for v in range(fan):
            total += n_gone if desk.place[v] > 0.0 else 0
        if total > stop - start and max(stop, state[N_CASES]) + total > len(grown.row):
            return np.int64(CASES_FULL)
    _write_test(work, node, feature, fan)
    if rules.missing == SURROGATE:
        nodes[node, MISSING] = _last_resort(work, start, stop)
        if rules.use_surrogate > 0 and rules.max_surrogates > 0:
            call_at(work.calls.surrogates, work, node, start, stop)
    if not goes_all_ways and n_gone > 0:
        _place_missing(work, node, start, stop)
    _deal(work, start, stop, fan, goes_all_ways)
    return np.int64(GROWING)


@inline
def _deal(work, start, stop, fan, goes_all_ways):
    """Write the lists of the children one after the other, each in the order of the parent's."""
    desk, grown, state, n = work.desk, work.grown, work.grown.state, stop - start
    for i in range(n):
        way = desk.way[i]
        if way >= 0:
            desk.fill[way + 1] += 1
        elif way == ALL_WAYS:
            for v in range(fan):
                desk.fill[v + 1] += 1 if desk.place[v] > 0.0 else 0
    for v in range(fan):
        desk.fill[v + 1] += desk.fill[v]
    total = desk.fill[fan]
    # In place of the parent's list where that is long enough, else behind all others.
    to = start if total <= n else max(stop, state[N_CASES])
    for i in range(n):
        desk.row[i], desk.weight[i] = grown.row[start + i], grown.weight[start + i]
    for v in range(fan + 1):
        desk.fill[v] += to
    for i in range(n):
        way = desk.way[i]
        if way >= 0:
            at = desk.fill[way]
            grown.row[at], grown.weight[at] = desk.row[i], desk.weight[i]
            desk.fill[way] += 1
        elif way == ALL_WAYS:
            for v in range(fan):
                if desk.place[v] > 0.0:
                    at = desk.fill[v]
                    grown.row[at], grown.weight[at] = desk.row[i], desk.weight[i] * desk.place[v]
                    desk.fill[v] += 1
    for v in range(fan, 0, -1):
        desk.fill[v] = desk.fill[v - 1]
    desk.fill[0] = to
    state[N_CASES] = max(state[N_CASES], to + total)
