# mypy: ignore-errors
"""Which nodes keep statistics, where memory has no room for those of all.

A node without them still counts its rows, and a leaf without them still answers; it splits no more. Where no room is
left, the least promising node gives up its own for one that promises more, as in VFDT (Domingos & Hulten 2000).
"""

import math

import numpy as np

from dtnumba.growth.hoeffding.best_tests import is_for_numbers, spread_of, weight_of
from dtnumba.growth.hoeffding.drift import clear
from dtnumba.growth.hoeffding.stream import (
    BY_BAYES,
    BY_MAJORITY,
    FEATURE,
    LEAF,
    LEFT,
    N_BRANCHES,
    N_DROPPED,
    N_FREE,
    NEXT_NODE,
    NO_SLOT,
    SEEN_AT,
    SEEN_WEIGHT,
    STREAM_DEPTH,
    TRIED,
)
from dtnumba.runtime.instructions.bits import largest
from dtnumba.runtime.kernels import by_class, inline, outlined

_MUCH_MORE = 2.0  # a leaf that comes back must promise so many times as much: what another one saw is lost


@inline
def _class_promise(criterion, sums):
    return weight_of(criterion, sums) - sums[largest(sums)]


@inline
def _number_promise(criterion, sums):
    return spread_of(criterion, sums)


_promise_of_leaf = by_class(is_for_numbers, _number_promise, _class_promise)


@inline
def promise_of(learning, node):
    """Return what statistics at a node may be worth: at a leaf what its rows lose by its answer.

    Statistics at an inner node only serve to replace its test: they go first, those of few rows before others.
    """
    stream = learning.stream
    if stream.link[node, FEATURE] >= 0:
        return -1.0 / (1.0 + stream.number[node, SEEN_WEIGHT])
    return _promise_of_leaf(learning.criterion, stream.sums[node])


@outlined
def free_slot(stream, node):
    """Give up the slot of a node."""
    slot = stream.link[node, SEEN_AT]
    if slot >= 0:
        stream.free[stream.used[N_FREE]] = slot
        stream.owner[slot] = NO_SLOT
        stream.used[N_FREE] += 1
        stream.link[node, SEEN_AT] = NO_SLOT


@outlined
def free_below(stream, node):
    """Give up the slots below a node; its descendants are nobody's then."""
    if stream.link[node, FEATURE] < 0:
        return
    first, last = np.int64(stream.link[node, LEFT]), np.int64(stream.used[NEXT_NODE])
    # Descendants have larger numbers than their parents: those of the node are marked on the way up.
    mark = stream.link[node, STREAM_DEPTH]
    for child in range(first, first + stream.link[node, N_BRANCHES]):
        stream.link[child, STREAM_DEPTH] = -1 - stream.link[child, STREAM_DEPTH]
    for at in range(first, last):
        if stream.link[at, STREAM_DEPTH] < 0:
            free_slot(stream, at)
            if stream.link[at, FEATURE] >= 0:
                below = np.int64(stream.link[at, LEFT])
                for child in range(below, below + stream.link[at, N_BRANCHES]):
                    stream.link[child, STREAM_DEPTH] = -1 - stream.link[child, STREAM_DEPTH]
            stream.link[at, FEATURE] = LEAF
    stream.link[node, STREAM_DEPTH] = mark


@outlined
def _take_least(learning, node, times):
    """Free the slot of the least promising node, where a node promises more than so many times that."""
    stream, least, at = learning.stream, math.inf, np.int64(-1)
    for slot in range(len(stream.owner)):
        owner = np.int64(stream.owner[slot])
        if owner >= 0:
            promise = promise_of(learning, owner)
            if promise < least or (promise == least and owner > at):
                least, at = promise, owner
    if at >= 0 and promise_of(learning, node) > max(times * least, least):
        free_slot(stream, at)
        stream.used[N_DROPPED] += 1


@outlined
def give_slot(learning, node):
    """Give a node a clean slot, where one is left or a less promising node has one."""
    stream = learning.stream
    stream.link[node, SEEN_AT] = NO_SLOT
    if stream.used[N_FREE] == 0:
        _take_least(learning, node, _MUCH_MORE if stream.number[node, SEEN_WEIGHT] > 0.0 else 1.0)
    if stream.used[N_FREE] > 0:
        stream.used[N_FREE] -= 1
        slot = np.int64(stream.free[stream.used[N_FREE]])
        stream.n_points[slot, :] = 0
        stream.moments[slot, :, :, :] = 0.0
        stream.level_mass[slot, :, :] = 0.0
        stream.link[node, SEEN_AT], stream.owner[slot] = slot, node
        stream.number[node, SEEN_WEIGHT] = stream.number[node, TRIED] = 0.0
        stream.number[node, BY_MAJORITY] = stream.number[node, BY_BAYES] = 0.0
        if learning.drift_delta > 0.0:
            clear(learning.windows, slot)


@inline
def tally(learning, node, weight):
    """Count the rows of a leaf without statistics; once they are many it may have some, for what its rows lose."""
    number = learning.stream.number[node]
    number[SEEN_WEIGHT] += weight
    if number[SEEN_WEIGHT] - number[TRIED] >= learning.grace_period:
        number[TRIED] = number[SEEN_WEIGHT]
        give_slot(learning, node)
