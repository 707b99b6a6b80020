"""Grow a tree of any kind of tests: look at a node, divide it, go on with its children. One thread, no recursion."""

import numpy as np

from dtnumba import rng
from dtnumba._jit import address_of, call_at, inline, kernel
from dtnumba.criteria import choose
from dtnumba.frontier import draw, list_drawn, pop, push
from dtnumba.grow import EPSILON, NO_LIMIT
from dtnumba.growers.cases import (
    DEPTH,
    DONE,
    FAN,
    FEATURE,
    GAIN,
    GROWING,
    IMPURITY,
    LEAF,
    LEFT,
    N_CASES,
    N_FRONTIER,
    N_LEAVES,
    N_NODES,
    N_SOUGHT,
    OPEN,
    PARENT,
    PRIORITY,
    ROWS,
    START,
    STATUS,
    STOP,
    TOO_WIDE,
    WHOLE,
)
from dtnumba.growers.sums import add_row, clear, copy_sums, describe, is_pure, weight_of
from dtnumba.sampling import sample


@inline
def _place(grown, node, start, stop, depth, key, parent):
    """Write where the rows of a new node are listed."""
    nodes = grown.nodes
    nodes[node, START], nodes[node, STOP], nodes[node, DEPTH], nodes[node, PARENT] = start, stop, depth, parent
    grown.keys[node] = key


@inline
def _admit(work, node):
    """Sum up a new node, describe it, and make it a leaf where its rows say so, else open."""
    grown, limits, target = work.grown, work.limits, work.target
    nodes, start, stop, n = grown.nodes, grown.nodes[node, START], grown.nodes[node, STOP], np.int64(0)
    n = stop - start
    nodes[node, LEFT], nodes[node, FAN], nodes[node, FEATURE], nodes[node, ROWS] = LEAF, 0, LEAF, n
    grown.numbers[node, GAIN] = grown.numbers[node, IMPURITY] = 0.0
    clear(grown.sums, node)
    sums, rows, weights = grown.sums, grown.row, grown.weight
    for i in range(start, stop):
        add_row(target, sums, node, rows[i], weights[i])
    if n == 0:
        return
    describe(target, work.criterion, grown, node, start, stop)
    is_small = n < limits.min_samples_split or n < 2 * limits.min_samples_leaf
    is_light = weight_of(target, sums, node) * (1.0 + 1e-12) < 2.0 * limits.min_weight_leaf
    is_deep = nodes[node, DEPTH] >= limits.max_depth
    if not is_small and not is_light and not is_deep and not is_pure(target, rows, start, stop):
        nodes[node, FEATURE] = OPEN


@inline
def _look(work, feature, start, stop):
    """Write the best test of a feature; return whether it varies."""
    entry = work.calls.category if work.nominal[feature] else work.calls.number
    return call_at(entry, work.scoring, feature, start, stop)


@inline
def _seek(work, node):
    """Choose the test of an open node, or make the node a leaf; drawing goes on while all drawn are constant."""
    grown, desk, limits, p = work.grown, work.desk, work.limits, len(work.n_codes)
    start, stop = grown.nodes[node, START], grown.nodes[node, STOP]
    copy_sums(grown.sums, node, desk.sides, WHOLE)
    first, last, n_varying = np.int64(0), min(limits.n_drawn, p), 0
    while n_varying == 0 and first < p:
        draw(work.drawing, desk, grown.keys[node], first, last)
        for k in range(first, last):
            n_varying += _look(work, desk.features[k], start, stop)
        first, last = last, last + 1
    list_drawn(work.drawing, desk, first)
    winner, feature = choose(work.criterion, desk.gain, desk.information, desk.listed, first), np.int64(0)
    if winner >= 0:
        feature = desk.listed[winner]
    improvement = weight_of(work.target, grown.sums, node) / limits.total_weight * desk.gain[feature]
    if winner < 0 or improvement + EPSILON < limits.min_decrease:
        grown.nodes[node, FEATURE] = LEAF
        return
    grown.nodes[node, FEATURE] = feature
    grown.numbers[node, GAIN], grown.numbers[node, PRIORITY] = desk.gain[feature], improvement


@inline
def _wait(work, node):
    """Put a node with a test among those to be divided."""
    state = work.grown.state
    if work.grown.nodes[node, FEATURE] >= 0:
        push(work.order, work.grown, work.grown.frontier, state[N_FRONTIER], node)
        state[N_FRONTIER] += 1


@inline
def _key_of_child(key, v, fan):
    return rng.child_key(key, v) if fan == 2 else rng.mix(key, v)


@kernel
def draw_rows(sampling, tree, counts, totals, halt):
    """Write how often a tree of a forest draws each row."""
    sample(sampling, tree, counts, totals, halt)


@kernel
def grow_general(given, n):
    """Grow on, or begin with the n rows listed in the cases, until the tree is done or an array is full."""
    work = address_of(given)
    grown, state, limits, nodes = work.grown, work.grown.state, work.limits, work.grown.nodes
    if state[N_NODES] == 0:
        state[N_NODES] = state[N_LEAVES] = 1
        state[N_CASES] = n
        _place(grown, np.int64(0), np.int64(0), n, np.int64(0), np.uint64(rng.ROOT_KEY), np.int64(LEAF))
    while True:
        # Each of the two does its work at one place in the code, which halves what there is to compile.
        while state[N_SOUGHT] < state[N_NODES]:
            node = state[N_SOUGHT]
            _admit(work, node)
            if nodes[node, FEATURE] == OPEN:
                _seek(work, node)
            _wait(work, node)
            state[N_SOUGHT] += 1
        if state[N_FRONTIER] == 0 or state[N_LEAVES] >= limits.max_leaves:
            break
        node = np.int64(pop(work.order, grown, grown.frontier, state[N_FRONTIER]))
        state[N_FRONTIER] -= 1
        if limits.max_leaves >= NO_LIMIT:
            state[N_CASES] = nodes[node, STOP]  # what was listed behind it is done with
        copy_sums(grown.sums, node, work.desk.sides, WHOLE)
        start, stop = nodes[node, START], nodes[node, STOP]
        _look(work, nodes[node, FEATURE], start, stop)
        status = call_at(work.calls.divide, work.ground, node, start, stop)
        if status == TOO_WIDE:
            nodes[node, FEATURE], grown.numbers[node, GAIN] = LEAF, 0.0
            continue
        if status != GROWING:
            _wait(work, node)
            state[STATUS] = status
            return
        left, fan = state[N_NODES], nodes[node, FAN]
        nodes[node, LEFT] = left
        state[N_NODES] += fan
        state[N_LEAVES] += fan - 1
        for v in range(fan):
            key, depth = _key_of_child(grown.keys[node], v, fan), nodes[node, DEPTH] + 1
            _place(grown, left + v, work.desk.fill[v], work.desk.fill[v + 1], depth, key, node)
    for i in range(state[N_FRONTIER]):
        nodes[grown.frontier[i], FEATURE], grown.numbers[grown.frontier[i], GAIN] = LEAF, 0.0
    state[STATUS] = DONE
