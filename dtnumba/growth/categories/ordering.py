# mypy: ignore-errors
"""The order in which the categories of a node are cut, so that few of their 2**(L - 1) - 1 subsets are scored.

For two classes and any concave impurity, and for squared error and Poisson deviance, the best subset is a prefix of the
categories sorted by the share of the second class or by the mean (Fisher 1958; Breiman et al. 1984). For more classes
or outputs no order is exact; the categories are sorted along the first principal component of their class shares or
means, each with its weight (Coppersmith, Hong & Hosking 1999).
"""

import numpy as np

from dtnumba.growth.targets.contract import level_key, profile_at, store, take, zero
from dtnumba.runtime.kernels import by_having, inline, outlined

# Steps of the power iteration; it ends where the axis no longer turns.
_STEPS = 26
_SETTLED = 1.0 - 1e-14
_FEW = 24  # categories up to which insertion alone is faster
_MOVES = 8  # a category, by insertion, before merging takes over


@outlined
def order_levels(order, other, keys, starts, m):
    """Write to order[:m] the places 0 .. m - 1 sorted by (key, place); ``other`` and ``starts`` are scratch.

    They are dealt by key to as many buckets as there are categories, and put right by insertion, which has little to do
    unless keys crowd: a merge sort alone is slower on columns of thousands of categories. Called, not absorbed, because
    it stands in three places.
    """
    for i in range(m):
        order[i] = i
    if m > _FEW:
        _deal(order, keys, starts, m)
    left = m * _MOVES if m > _FEW else m * m
    for i in range(1, m):
        place, j = order[i], i
        key = keys[place]
        while j > 0 and keys[order[j - 1]] > key:
            order[j] = order[j - 1]
            j -= 1
        order[j] = place
        left -= i - j
        if left < 0:
            _merge(order, other, keys, m)
            break


# Between half of the smallest and the largest key, or between the two, beyond which a bucket's width is no number.
_WIDE, _NARROW = 8e307, 1e-290


@inline
def _deal(order, keys, starts, m):
    """Deal the places 0 .. m - 1 to m buckets of like width, by key; equals keep their order."""
    low, high = keys[0], keys[0]
    for i in range(m):
        low, high = min(low, keys[i]), max(high, keys[i])
    if not low < high or high / 2.0 - low / 2.0 >= _WIDE or high - low <= _NARROW:
        return
    scale = (m - 1.0) / (high - low)
    for k in range(m):
        starts[k] = 0
    for i in range(m):
        starts[np.int64((keys[i] - low) * scale)] += 1
    at = 0
    for k in range(m):
        at, starts[k] = at + starts[k], at
    for i in range(m):
        k = np.int64((keys[i] - low) * scale)
        order[starts[k]] = i
        starts[k] += 1


@inline
def _merge(order, other, keys, m):
    """Sort by merging runs of 1, 2, 4 and so on: whatever the keys, m log m steps."""
    run = 1
    while run < m:
        for begin in range(0, m, 2 * run):
            a, middle, end = begin, min(begin + run, m), min(begin + 2 * run, m)
            b = middle
            for i in range(begin, end):
                from_left = b == end or (a < middle and not _comes_before(keys, order[b], order[a]))
                other[i] = order[a] if from_left else order[b]
                a, b = (a + 1, b) if from_left else (a, b + 1)
        for i in range(m):
            order[i] = other[i]
        run *= 2


@inline
def _comes_before(keys, a, b):
    return keys[a] < keys[b] or (keys[a] == keys[b] and a < b)


@inline
def _by_one_number(target, own, m, table, base, width, profile, buffer):
    """Write the sort key of every category: its share of the second class, or its mean."""
    for j in range(m):
        at = base + np.uint64(own.present[j]) * np.uint64(width)
        own.keys[j] = level_key(target, take(target, zero(target, buffer), table, at))


@inline
def _by_axis(target, own, m, table, base, width, profile, buffer):
    """Write the sort key of every category: its place along the first principal component of all profiles.

    Turn 0 adds up the mean, turn 1 finds the category that pulls most, to begin with; then the axis is turned until it
    rests, and in the last turn every category gets its key. One loop for all turns: the body is compiled once.
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
            at, weight, along, pulls = base + np.uint64(own.present[j]) * np.uint64(width), 0.0, 0.0, False
            stats = take(target, zero(target, buffer), table, at)
            store(target, stats, own.sums)
            for k in range(own.n_weights):
                weight += float(own.sums[k])
            for k in range(count):
                away = profile_at(target, own.sums, first + step * k) / weight - mean[k]
                along += away * (away if turn == 1 else axis[k])
            if turn == 0:
                total += weight
                along = 1.0
            elif turn == 1:
                pulls = weight * along > farthest
                farthest = max(farthest, weight * along)
            for k in range(count):
                away = profile_at(target, own.sums, first + step * k) / weight - mean[k]
                if turn != 1:
                    turned[k] += weight * along * away
                elif pulls:
                    turned[k] = away
            if is_last:
                own.keys[j] = along
        if is_last:
            break
        if turn == 0:
            for k in range(count):
                mean[k] = turned[k] / total
        else:
            normalise(turned, count)
            same = 0.0
            for k in range(count):
                same += turned[k] * axis[k]
                axis[k] = turned[k]
            rests = rests or same > _SETTLED
        turn += 1


@inline
def normalise(axis, count):
    """Divide axis[:count] by its length; return False where that is zero."""
    length = 0.0
    for k in range(count):
        length += axis[k] * axis[k]
    if length > 0.0:
        length = np.sqrt(length)
        for k in range(count):
            axis[k] /= length
    return length > 0.0


key_levels = by_having("level_key", _by_one_number, _by_axis)
