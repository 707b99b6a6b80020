# mypy: ignore-errors
"""Rows one by one: down the tree, into what nodes saw, and on to splits."""

import math
from typing import NamedTuple

import numpy as np

from dtnumba.growth.hoeffding.answer import bayes, child_of, says_bayes
from dtnumba.growth.hoeffding.best_tests import best_tests, hoeffding_bound, is_for_numbers, weight_of
from dtnumba.growth.hoeffding.budget import free_below, free_slot, give_slot, tally
from dtnumba.growth.hoeffding.drift import Windows, see_loss
from dtnumba.growth.hoeffding.points import see_value
from dtnumba.growth.hoeffding.stream import (
    BEST_GAIN,
    BY_BAYES,
    BY_MAJORITY,
    FEATURE,
    IS_CLOGGED,
    LEAF,
    LEFT,
    MISSING_BRANCH,
    N_BRANCHES,
    N_CLEARED,
    N_POINTS,
    N_REPLACED,
    N_SPLITS,
    NEXT_NODE,
    NO_SLOT,
    NOT_SPLIT,
    SEEN_AT,
    SEEN_WEIGHT,
    STREAM_DEPTH,
    THRESHOLD,
    TRIED,
    Stream,
)
from dtnumba.runtime.instructions.bits import largest
from dtnumba.runtime.kernels import by_class, entry, inline, outlined
from dtnumba.runtime.records import own_copy


class Learning(NamedTuple):
    """What learning reads and writes."""

    stream: Stream
    criterion: object
    X: np.ndarray  # (n, p) float64: numbers, and numbers of levels
    y: np.ndarray  # (n,) float64: numbers, or numbers of classes
    weight: np.ndarray  # (n,) float64, or (0,): one each
    row_sums: np.ndarray  # (S,) scratch
    scratch: np.ndarray  # (3, S)
    tests: np.ndarray  # (5,) scratch
    joint: np.ndarray  # (K,) scratch
    path: np.ndarray  # (max_depth + 2,) int64 scratch
    errors: np.ndarray  # (n,) float64 out: what each row lost before it was learned
    windows: Windows  # one a slot
    drift_delta: float  # 0: no node is watched
    watch_delta: float  # of the tree as a whole
    delta: float
    tie_threshold: float
    grace_period: float
    reconsiders: int
    max_depth: int
    max_nodes: int  # above which no leaf is split
    way: int  # of answers
    drifted: np.ndarray  # (n,) uint8 out: whether the losses of the tree had risen by then


@inline
def _class_sums(criterion, row_sums, y, weight):
    for k in range(len(row_sums)):
        row_sums[k] = 0.0
    row_sums[np.int64(y)] = weight


@inline
def _number_sums(criterion, row_sums, y, weight):
    row_sums[0], row_sums[1], row_sums[2] = weight, weight * y, weight * y * y


@inline
def _class_reach(criterion, sums):
    return max(math.log2(float(len(sums))), 1.0)


@inline
def _number_reach(criterion, sums):
    return 1.0


write_sums = by_class(is_for_numbers, _number_sums, _class_sums)
reach_of = by_class(is_for_numbers, _number_reach, _class_reach)


@outlined
def _see_row(learning, node, row, y, weight):
    """Enter a row into what a node saw."""
    stream, slot, columns = learning.stream, learning.stream.link[node, SEEN_AT], learning.stream.columns
    for c in range(len(columns.place)):
        value, place = row[c], columns.place[c]
        if value != value:
            continue
        if columns.n_levels[c] == 0:
            n = see_value(
                stream.n_points[slot, place],
                stream.point[slot, place],
                stream.mass[slot, place],
                value,
                learning.row_sums,
            )
            stream.n_points[slot, place] = n
            if stream.moments.shape[2] > 0:
                moments = stream.moments[slot, place, np.int64(y)]
                moments[0] += weight
                away = value - moments[1]
                moments[1] += away * weight / moments[0]
                moments[2] += weight * away * (value - moments[1])
        else:
            for k in range(len(learning.row_sums)):
                stream.level_mass[slot, place + np.int64(value), k] += learning.row_sums[k]
    stream.number[node, SEEN_WEIGHT] += weight


@outlined
def _split(learning, node, column, point):
    """Give a node children by a test of a column; what it says of each is what it saw."""
    stream, slot, columns = learning.stream, learning.stream.link[node, SEEN_AT], learning.stream.columns
    n, place = np.int64(columns.n_levels[column]), columns.place[column]
    n_children = n if n > 0 else np.int64(2)
    first = np.int64(stream.used[NEXT_NODE])
    stream.used[NEXT_NODE] += n_children
    link = stream.link[node]
    link[FEATURE], link[LEFT], link[N_BRANCHES] = column, first, n_children
    stream.number[node, BEST_GAIN] = learning.tests[0] / stream.number[node, SEEN_WEIGHT]
    for child in range(first, first + n_children):
        stream.link[child, FEATURE], stream.link[child, SEEN_AT], stream.link[child, STREAM_DEPTH] = (
            LEAF,
            NO_SLOT,
            link[STREAM_DEPTH] + 1,
        )
        for k in range(stream.number.shape[1]):
            stream.number[child, k] = 0.0
        for k in range(stream.sums.shape[1]):
            stream.sums[child, k] = 0.0
    if n == 0:
        points, n_points = stream.point[slot, place], stream.n_points[slot, place]
        below, above = points[point], points[point + 1]
        # Of all points the sums of single values, while there is room: then the cut may lie between them.
        threshold = below
        if n_points < N_POINTS:
            threshold = below + (above - below) / 2
            threshold = below if not (below <= threshold < above) else threshold
        stream.number[node, THRESHOLD] = threshold
        for i in range(n_points):
            for k in range(stream.sums.shape[1]):
                stream.sums[first + (i > point), k] += stream.mass[slot, place, i, k]
    else:
        for child in range(n):
            for k in range(stream.sums.shape[1]):
                stream.sums[first + child, k] = stream.level_mass[slot, place + child, k]
    heaviest = first
    if learning.reconsiders == 0:
        free_slot(stream, node)
    for child in range(first, first + n_children):
        if weight_of(learning.criterion, stream.sums[child]) > weight_of(learning.criterion, stream.sums[heaviest]):
            heaviest = child
        give_slot(learning, child)
    link[MISSING_BRANCH] = heaviest - first
    stream.used[N_SPLITS] += 1


@outlined
def _forget(learning, node):
    """Make a node a leaf that has seen nothing: what it knew no longer holds."""
    stream = learning.stream
    free_below(stream, node)
    stream.used[N_REPLACED] += stream.link[node, FEATURE] >= 0
    stream.link[node, FEATURE] = LEAF
    free_slot(stream, node)
    for k in range(stream.sums.shape[1]):
        stream.sums[node, k] = 0.0
    for k in range(stream.number.shape[1]):
        stream.number[node, k] = 0.0
    give_slot(learning, node)


@inline
def _is_better(criterion, learning, best, other, seen, sums):
    """Tell whether the best gain is larger than another by more than chance, or as good as equal and settled."""
    margin = hoeffding_bound(reach_of(criterion, sums), learning.delta, seen)
    return _exceeds(criterion, best, other, seen, margin, learning.tie_threshold)


@inline
def _class_exceeds(criterion, best, other, seen, margin, tie):
    return (best - other) / seen > margin or margin < tie


@inline
def _number_exceeds(criterion, best, other, seen, margin, tie):
    return other / best + margin < 1.0 or margin < tie


_exceeds = by_class(is_for_numbers, _number_exceeds, _class_exceeds)


@inline
def _has_room(learning, column):
    n_children = max(np.int64(learning.stream.columns.n_levels[column]), 2)
    return learning.stream.used[NEXT_NODE] + n_children <= learning.max_nodes


@inline
def _split_where_room(learning, node):
    column = np.int64(learning.tests[1])
    if _has_room(learning, column):
        _split(learning, node, column, np.int64(learning.tests[2]))
    else:
        learning.stream.used[NOT_SPLIT] += 1


@outlined
def _try_node(learning, node):
    """Split a leaf whose best test is better by more than chance; replace the test of a node likewise."""
    stream, tests, seen = learning.stream, learning.tests, learning.stream.number[node, SEEN_WEIGHT]
    stream.number[node, TRIED] = seen
    is_leaf = stream.link[node, FEATURE] < 0
    if is_leaf and stream.link[node, STREAM_DEPTH] >= learning.max_depth:
        return
    best_tests(stream, learning.criterion, node, learning.scratch, tests)
    if tests[1] < 0.0 or tests[0] <= 1e-12 * seen:
        return
    if is_leaf:
        if _is_better(learning.criterion, learning, tests[0], tests[3], seen, stream.sums[node]):
            _split_where_room(learning, node)
    elif np.int64(tests[1]) != stream.link[node, FEATURE]:
        margin = hoeffding_bound(reach_of(learning.criterion, stream.sums[node]), learning.delta, seen)
        # A tie is no reason to give up a subtree.
        if _exceeds(learning.criterion, tests[0], tests[4], seen, max(margin, learning.tie_threshold), 0.0):
            if _has_room(learning, np.int64(tests[1])):
                free_below(stream, node)
                stream.used[N_REPLACED] += 1
                _split(learning, node, np.int64(tests[1]), np.int64(tests[2]))
            else:
                stream.used[NOT_SPLIT] += 1


@inline
def _class_answer(criterion, learning, node, row, y, weight):
    """Return what the answer for a row loses; note which answer is right."""
    stream = learning.stream
    majority = largest(stream.sums[node])
    loss_m = 0.0 if majority == np.int64(y) else 1.0
    loss = loss_m
    if learning.way > 0 and stream.link[node, SEEN_AT] >= 0:
        bayes(stream, node, row, learning.joint)
        loss_b = 0.0 if largest(learning.joint) == np.int64(y) else 1.0
        loss = loss_b if says_bayes(stream, node, learning.way) else loss_m
        stream.number[node, BY_MAJORITY] += weight * (1.0 - loss_m)
        stream.number[node, BY_BAYES] += weight * (1.0 - loss_b)
    return loss


@inline
def _number_answer(criterion, learning, node, row, y, weight):
    sums = learning.stream.sums[node]
    away = y - (sums[1] / sums[0] if sums[0] > 0.0 else 0.0)
    return away * away


_answer = by_class(is_for_numbers, _number_answer, _class_answer)


@entry
def learn_rows(learning, first, last, _):
    """Learn rows [first, last); return how many were learned: fewer where there is no room for more nodes."""
    own = own_copy(learning)
    stream, most = own.stream, np.int64(2)
    for c in range(len(stream.columns.n_levels)):
        most = max(most, stream.columns.n_levels[c])
    for i in range(first, last):
        row, y = own.X[i], own.y[i]
        weight = own.weight[i] if len(own.weight) > 0 else 1.0
        write_sums(own.criterion, own.row_sums, y, weight)
        node, depth = np.int64(0), np.int64(0)
        while True:
            own.path[depth] = node
            depth += 1
            if stream.link[node, FEATURE] < 0:
                break
            node = child_of(stream, node, row)
        if stream.used[NEXT_NODE] + most * depth > len(stream.link):
            return np.int64(i - first)
        own.errors[i] = _answer(own.criterion, own, node, row, y, weight)
        for d in range(depth):
            node = own.path[d]
            for k in range(len(own.row_sums)):
                stream.sums[node, k] += own.row_sums[k]
            if stream.link[node, SEEN_AT] >= 0:
                _see_row(own, node, row, y, weight)
            elif stream.link[node, FEATURE] < 0:
                tally(own, node, weight)
        if len(own.drifted) > 0:  # the last window is of the tree
            own.drifted[i] = see_loss(own.windows, len(own.windows.total) - 1, own.errors[i], own.watch_delta) > 0.0
        if own.drift_delta > 0.0:
            for d in range(depth):
                node = own.path[d]
                slot = np.int64(stream.link[node, SEEN_AT])
                if slot >= 0 and see_loss(own.windows, slot, own.errors[i], own.drift_delta) > 0.0:
                    _forget(own, node)
                    depth = d
                    break
        not_split = stream.used[NOT_SPLIT]
        for d in range(depth):
            node = own.path[d]
            is_due = stream.number[node, SEEN_WEIGHT] - stream.number[node, TRIED] >= own.grace_period
            if stream.link[node, SEEN_AT] >= 0 and is_due:
                before = stream.used[N_REPLACED]
                _try_node(own, node)
                if stream.used[N_REPLACED] != before:
                    break
        if stream.used[NOT_SPLIT] > not_split and stream.used[N_REPLACED] > stream.used[N_CLEARED]:
            stream.used[IS_CLOGGED] = 1  # by nodes that nobody has any more
            return np.int64(i + 1 - first)
    return np.int64(last - first)
