# mypy: ignore-errors
"""The loop of multiway growth: find the split of a node, divide it, go on with its children; no recursion.

Of a large node the columns are worked on by whoever called, on several threads: the loop returns, says for what in
``state``, and goes on from there. It returns as well with a subtree that is to be grown by itself, and where an array
is full.
"""

import numpy as np

from dtnumba.growth.columns import (
    DEPTH,
    EPSILON,
    FEATURE,
    GAIN,
    LEAF,
    LEFT,
    OPEN,
    PARENT,
    PRIORITY,
    START,
    STOP,
)
from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.node_sums import add_row, clear, describe, is_pure, resume, rows_of, settle, weight_of
from dtnumba.growth.multiway.splits.criterion_hooks import choose_test, is_finished
from dtnumba.growth.policies.feature_sampling import draw, list_drawn
from dtnumba.growth.policies.node_order import is_best_first, pop, push
from dtnumba.runtime import rng
from dtnumba.runtime.addresses import call_at
from dtnumba.runtime.kernels import entry, inline
from dtnumba.runtime.records import own_copy


@inline
def _place(grown, node, start, stop, depth, key, parent):
    """Write where the rows of a new node are listed."""
    nodes = grown.nodes
    nodes[node, START], nodes[node, STOP], nodes[node, DEPTH], nodes[node, PARENT] = start, stop, depth, parent
    grown.keys[node] = key


@inline
def _add_node(work, node):
    """Write sums, value and impurity of a new node; make it a leaf where its rows allow no split, else open."""
    grown, limits, target = work.grown, work.limits, work.target
    nodes, start, stop, n = grown.nodes, grown.nodes[node, START], grown.nodes[node, STOP], np.int64(0)
    n = stop - start
    nodes[node, LEFT], nodes[node, col.FAN_OUT], nodes[node, FEATURE], nodes[node, col.ROWS] = LEAF, 0, LEAF, n
    grown.numbers[node, GAIN] = grown.numbers[node, col.IMPURITY] = 0.0
    clear(grown.sums, node)
    if n > 0:
        settle(target, grown, node, start, stop)
    for i in range(start, stop):
        add_row(target, grown, grown.sums, node, i, grown.weight[i])
    if n == 0:
        return
    describe(target, work.criterion, grown, node, start, stop)
    n_whole = rows_of(target, grown.sums, node) * (1.0 + 1e-12)  # parts of rows count as what they are
    is_small = n_whole < limits.min_samples_split or n_whole < 2 * limits.min_samples_leaf
    is_light = weight_of(target, grown.sums, node) * (1.0 + 1e-12) < 2.0 * limits.min_weight_leaf
    is_deep = nodes[node, DEPTH] >= limits.max_depth
    if not is_small and not is_light and not is_deep and not is_pure(target, grown, start, stop):
        is_done = is_finished(work.criterion, grown.sums[node], weight_of(target, grown.sums, node))
        nodes[node, FEATURE] = LEAF if is_done else OPEN


@inline
def _find_test(work, feature, node):
    """Write the best test of a feature; return whether it varies."""
    entry = work.calls.category if work.nominal[feature] else work.calls.number
    return call_at(entry, work.test_context, feature, node, 0)


@inline
def _find_split(work, node, n_looked):
    """Choose the split of an open node, or make it a leaf; features are drawn until one of them varies.

    The first n_looked drawn features were looked at by others, and state[N_VARYING] of them vary.
    """
    grown, scratch, limits, p = work.grown, work.scratch, work.limits, len(work.n_codes)
    first, last, n_varying = np.int64(0), min(limits.n_drawn, p), np.int64(0)
    if n_looked > 0:
        first, last, n_varying = n_looked, n_looked + 1, grown.state[col.N_VARYING]
    while n_varying == 0 and first < p:
        draw(work.drawing, scratch, grown.keys[node], first, last)
        for k in range(first, last):
            if work.halt[0] != 0:
                return
            n_varying += _find_test(work, scratch.features[k], node)
        first, last = last, last + 1
    list_drawn(work.drawing, scratch, first)
    winner = choose_test(work.criterion, work, weight_of(work.target, grown.sums, node), first)
    feature = np.int64(0)
    if winner >= 0:
        feature = scratch.listed[winner]
    improvement = weight_of(work.target, grown.sums, node) / limits.total_weight * scratch.gain[feature]
    if winner < 0 or improvement + EPSILON < limits.min_decrease:
        grown.nodes[node, FEATURE] = LEAF
        return
    grown.nodes[node, FEATURE] = feature
    grown.numbers[node, GAIN], grown.numbers[node, PRIORITY] = scratch.gain[feature], improvement


@inline
def _wait(work, node):
    """Add a node that has a split to those that wait to be divided."""
    state = work.grown.state
    if work.grown.nodes[node, FEATURE] >= 0:
        push(work.limits, work.grown, work.grown.frontier, state[col.N_FRONTIER], node)
        state[col.N_FRONTIER] += 1


@inline
def _cells(work, node):
    """Return the rows times columns of a node, by which is told who works on it."""
    return (work.grown.nodes[node, STOP] - work.grown.nodes[node, START]) * len(work.n_codes)


@inline
def _are_leaves(work, node, fan):
    """Tell whether no child of a node can be divided, so that nobody will look at its columns."""
    limits, begin = work.limits, work.scratch.child_start
    if work.grown.nodes[node, DEPTH] + 1 >= limits.max_depth:
        return True
    least = max(limits.min_samples_split, 2 * limits.min_samples_leaf)
    if work.grown.nodes[node, col.ARE_ONE] == 1:
        least = max(least, np.int64(2.0 * limits.min_weight_leaf * (1.0 - 1e-9)))
    for v in range(fan):
        if begin[v + 1] - begin[v] >= least:
            return False
    return True


@inline
def _key_of_child(key, v, fan):
    return rng.child_key(key, v) if fan == 2 else rng.mix(key, v)


@entry
def grow_general(given, n, _, __):
    """Grow on, or begin with the n rows listed in the cases, until the tree is done or state[STATUS] asks for more."""
    work = own_copy(given)
    grown, state, limits, nodes = work.grown, work.grown.state, work.limits, work.grown.nodes
    p = len(work.n_codes)
    if state[col.N_NODES] == 0:
        state[col.N_NODES] = state[col.N_LEAVES] = 1
        state[col.N_CASES] = n
        _place(grown, np.int64(0), np.int64(0), n, np.int64(0), np.uint64(work.root_key), np.int64(LEAF))
        nodes[0, DEPTH], nodes[0, col.ARE_ONE] = work.root_depth, 1
        for i in range(n):
            if grown.weight[i] != 1.0:
                nodes[0, col.ARE_ONE] = 0
        if work.is_root == 1 and grown.place_bits < np.uint64(32):
            for at in range(len(grown.orders)):
                call_at(work.calls.classes, work.context, at, n, 0)
    while True:
        # Each of the two does its work at one place in the code, which halves what there is to compile.
        while state[col.STEP] in (0, col.LOOK) and state[col.N_SOUGHT] < state[col.N_NODES] and work.halt[0] == 0:
            node, n_looked = state[col.N_SOUGHT], np.int64(0)
            if state[col.STEP] == col.LOOK:
                state[col.STEP], n_looked = 0, min(limits.n_drawn, p)
            else:
                _add_node(work, node)
                cells, state[col.NODE_IN_HAND] = _cells(work, node), node
                if nodes[node, FEATURE] == OPEN and work.rules.apart_from <= cells < work.rules.apart_below:
                    nodes[node, FEATURE], state[col.STATUS] = col.APART, col.LEAVE_APART
                    state[col.N_SOUGHT] += 1
                    return np.int64(0)
                if nodes[node, FEATURE] == OPEN and cells >= work.rules.shared_from:
                    state[col.STATUS] = state[col.STEP] = col.LOOK
                    return np.int64(0)
            if nodes[node, FEATURE] == OPEN:
                _find_split(work, node, n_looked)
            _wait(work, node)
            state[col.N_SOUGHT] += 1
        if work.halt[0] != 0:
            state[col.STATUS] = col.STOPPED
            return np.int64(0)
        if state[col.STEP] == 0:
            if state[col.N_FRONTIER] == 0 or state[col.N_LEAVES] >= limits.max_leaves:
                break
            node = np.int64(pop(limits, grown, grown.frontier, state[col.N_FRONTIER]))
            state[col.N_FRONTIER] -= 1
            if not is_best_first(limits):
                state[col.N_CASES] = nodes[node, STOP]  # what was listed behind it is done with
            resume(work.target, grown, node)
            _find_test(work, nodes[node, FEATURE], node)
            status = call_at(work.calls.divide, work.context, node, 0, 0)
            if status == col.TOO_WIDE:
                nodes[node, FEATURE], grown.numbers[node, GAIN] = LEAF, 0.0
                continue
            if status != col.GROWING:
                _wait(work, node)
                state[col.STATUS] = status
                return np.int64(0)
            state[col.NODE_IN_HAND], state[col.STEP] = node, col.FIND_SURROGATES
            if work.calls.agree != 0:
                if _cells(work, node) >= work.rules.shared_from:
                    state[col.STATUS] = col.FIND_SURROGATES
                    return np.int64(0)
                for other in range(p):
                    call_at(work.calls.agree, work.context, other, node, 0)
        node = state[col.NODE_IN_HAND]
        start, stop, fan = nodes[node, START], nodes[node, STOP], nodes[node, col.FAN_OUT]
        if state[col.STEP] == col.FIND_SURROGATES:
            if work.calls.surrogates != 0:
                call_at(work.calls.surrogates, work.context, node, start, stop)
            call_at(work.calls.divide, work.context, node, 1, 0)
            state[col.STEP] = col.DIVIDE_COLUMNS
            if not _are_leaves(work, node, fan):
                if len(grown.orders) > 0 and _cells(work, node) >= work.rules.shared_from:
                    state[col.STATUS] = col.DIVIDE_COLUMNS
                    return np.int64(0)
                for at in range(len(grown.orders)):
                    call_at(work.calls.columns, work.context, at, start, stop - start)
        state[col.STEP] = 0
        left = state[col.N_NODES]
        nodes[node, LEFT] = left
        state[col.N_NODES] += fan
        state[col.N_LEAVES] += fan - 1
        begin = work.scratch.child_start
        for v in range(fan):
            key, depth = _key_of_child(grown.keys[node], v, fan), nodes[node, DEPTH] + 1
            _place(grown, left + v, begin[v], begin[v + 1], depth, key, node)
            nodes[left + v, col.ARE_ONE] = nodes[node, col.ARE_ONE] if work.scratch.dealt[1] == 0 else 0
    for i in range(state[col.N_FRONTIER]):
        nodes[grown.frontier[i], FEATURE], grown.numbers[grown.frontier[i], GAIN] = LEAF, 0.0
    state[col.STATUS] = col.DONE
    return np.int64(0)
