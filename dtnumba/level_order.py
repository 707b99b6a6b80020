"""The order in which the levels of a category are cut at a node, so that few of the 2**(L - 1) - 1 subsets need a look.

For two classes and any concave impurity, and for squared error and Poisson deviance, the best subset is a prefix of the
levels sorted by the share of the second class or by the mean (Fisher 1958; Breiman et al. 1984). For more classes or
outputs no order is exact; the levels are sorted along the first principal component of their class shares or means,
each level counting by its weight (Coppersmith, Hong & Hosking 1999).
"""

import numpy as np

from dtnumba._jit import by_having, inline, jitable, kernel
from dtnumba.targets import level_key, store, take, zero

# Steps of the power iteration; it ends where the axis no longer turns.
_STEPS = 26
_SETTLED = 1.0 - 1e-14
_FEW = 24  # levels up to which insertion alone is faster
_MOVES = 8  # a level, by insertion, before merging takes over


@inline
def _comes_before(keys, a, b):
    return keys[a] < keys[b] or (keys[a] == keys[b] and a < b)


@kernel
def sort_levels(levels, other, keys, starts, m):
    """Sort levels[:m], which are distinct, by (key of the level, level); ``other`` and ``starts`` are scratch.

    Dealt to as many buckets as there are levels, by level and then by key, and put right by insertion, which has little
    to do unless keys crowd. A merge sort took a fifth of a forest on columns of 10,000 levels. Called, not absorbed: it
    stands in three places.
    """
    if m > _FEW:
        _deal(levels, other, keys, starts, m, False)
    for i in range(1, m):
        level, j = levels[i], i
        while j > 0 and levels[j - 1] > level:
            levels[j] = levels[j - 1]
            j -= 1
        levels[j] = level
    if m > _FEW:
        _deal(levels, other, keys, starts, m, True)
    left = m * _MOVES if m > _FEW else m * m
    for i in range(1, m):
        level, j = levels[i], i
        while j > 0 and keys[levels[j - 1]] > keys[level]:
            levels[j] = levels[j - 1]
            j -= 1
        levels[j] = level
        left -= i - j
        if left < 0:
            _merge(levels, other, keys, m)
            break


@inline
def _deal(levels, other, keys, starts, m, by_key):
    """Deal levels[:m] to m buckets of like width, by key or by level; equals keep their order."""
    low, high = np.inf, -np.inf
    for i in range(m):
        x = float(keys[levels[i]]) if by_key else float(levels[i])
        low, high = min(low, x), max(high, x)
    if not low < high or high - low == np.inf:
        return
    scale = (m - 1.0) / (high - low)
    if scale == np.inf:
        return
    for k in range(m):
        starts[k] = 0
    for i in range(m):
        x = float(keys[levels[i]]) if by_key else float(levels[i])
        starts[np.int64((x - low) * scale)] += 1
    at = 0
    for k in range(m):
        at, starts[k] = at + starts[k], at
    for i in range(m):
        x = float(keys[levels[i]]) if by_key else float(levels[i])
        k = np.int64((x - low) * scale)
        other[starts[k]] = levels[i]
        starts[k] += 1
    for i in range(m):
        levels[i] = other[i]


@inline
def _merge(levels, other, keys, m):
    """Sort by merging runs of 1, 2, 4 and so on: whatever the keys, m log m steps."""
    run = 1
    while run < m:
        for begin in range(0, m, 2 * run):
            a, middle, end = begin, min(begin + run, m), min(begin + 2 * run, m)
            b = middle
            for i in range(begin, end):
                from_left = b == end or (a < middle and not _comes_before(keys, levels[b], levels[a]))
                other[i] = levels[a] if from_left else levels[b]
                a, b = (a + 1, b) if from_left else (a, b + 1)
        for i in range(m):
            levels[i] = other[i]
        run *= 2


def _by_one_number(target, own, m, width, profile, buffer):
    """Key every level by what one number says: the share of the second class, or the mean."""
    for j in range(m):
        level = own.present[j]
        stats = take(target, zero(target, buffer), own.tables, np.uint64(level) * np.uint64(width))
        own.keys[level] = level_key(target, stats)


def _by_axis(target, own, m, width, profile, buffer):
    """Key every level by its place along the first principal component of the levels' profiles.

    Turn 0 adds up the mean, turn 1 finds the level that pulls most, to begin with; then the axis is turned until it
    rests, and in the last turn every level gets its key. One loop for all turns: the body is compiled once.
    """
    first, step, count = profile
    mean, axis, turned = own.axes[0], own.axes[1], own.axes[2]
    for k in range(count):
        mean[k] = axis[k] = 0.0
    total, farthest, rests, turn = 0.0, -1.0, count == 1, 0
    while turn < _STEPS:
        is_last = turn > 1 and (rests or turn == _STEPS - 1)
        for k in range(count):
            turned[k] = 0.0
        for j in range(m):
            level, weight, along, pulls = own.present[j], 0.0, 0.0, False
            stats = take(target, zero(target, buffer), own.tables, np.uint64(level) * np.uint64(width))
            store(target, stats, own.sums)
            for k in range(own.n_weights):
                weight += float(own.sums[k])
            for k in range(count):
                away = float(own.sums[first + step * k]) / weight - mean[k]
                along += away * (away if turn == 1 else axis[k])
            if turn == 0:
                total += weight
                along = 1.0
            elif turn == 1:
                pulls = weight * along > farthest
                farthest = max(farthest, weight * along)
            for k in range(count):
                away = float(own.sums[first + step * k]) / weight - mean[k]
                if turn != 1:
                    turned[k] += weight * along * away
                elif pulls:
                    turned[k] = away
            if is_last:
                own.keys[level] = along
        if is_last:
            break
        if turn == 0:
            for k in range(count):
                mean[k] = turned[k] / total
        else:
            _normalise(turned, count)
            same = 0.0
            for k in range(count):
                same += turned[k] * axis[k]
                axis[k] = turned[k]
            rests = rests or same > _SETTLED
        turn += 1


@inline
def _normalise(axis, count):
    length = 0.0
    for k in range(count):
        length += axis[k] * axis[k]
    if length > 0.0:
        length = np.sqrt(length)
        for k in range(count):
            axis[k] /= length


jitable(_by_one_number)
jitable(_by_axis)
key_levels = by_having("level_key", _by_one_number, _by_axis)
