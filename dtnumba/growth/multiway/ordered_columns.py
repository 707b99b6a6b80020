# mypy: ignore-errors
"""Numbers in order: sorted once for a tree, and kept in order as nodes are divided, in parts too; or sorted at a node.

An order holds keys: the code, below it the class of the row where both find room, and its place. The place is where
the row stands in the list of its node, so that what is looked up by it lies as close together as the node is small, and
a row that goes down several branches has several keys.
"""

import numpy as np

from dtnumba.growth.multiway import columns as col
from dtnumba.runtime.kernels import entry, inline, outlined

_SHIFT, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
_INSERTED = 40  # fewer keys than this are sorted by insertion
_DIGIT = 8
_SECOND_AT, _BOTH_AT, _PLACE = np.uint64(31), np.uint64(30), np.uint64((1 << 30) - 1)
# In NodeScratch.new_place, where dealt[2] says so: a row goes down the second of two branches, or both.
SECOND, BOTH = np.uint32(1 << 31), np.uint32(1 << 30)
MOST_CODED = 1 << 30  # rows


@inline
def code_of(key):
    """Return the code in a key."""
    return np.int64(key >> _SHIFT)


@inline
def place_of(work, key):
    """Return the place in a key: where its row stands in the list of the node, counted from the list's start."""
    return np.int64(key & work.grown.place_mask)


@inline
def class_of(work, key, start):
    """Return the class of the row of a key, of a node whose rows are listed from ``start``."""
    if work.grown.place_bits < _SHIFT:
        return np.int64((key & _LOW) >> work.grown.place_bits)
    return np.int64(work.grown.outcome[start + place_of(work, key)])


@entry
def mark_classes(work, at, n, _):
    """Write the classes of the root's n rows into the keys of an order."""
    keys, grown = work.grown.orders[at], work.grown
    for i in range(n):
        keys[i] |= np.uint64(grown.outcome[place_of(work, keys[i])]) << grown.place_bits
    return np.int64(0)


@outlined
def sort_keys(keys, other, digits, n):
    """Sort keys[:n], whose codes decide and whose places ascend already: stable."""
    if n < _INSERTED:
        for i in range(1, n):
            key, j = keys[i], i
            while j > 0 and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
        return
    most = np.uint64(0)
    for i in range(n):
        most = max(most, keys[i])
    shift, n_passes = _SHIFT, 0
    while (most >> shift) > np.uint64(0):
        for k in range(256):
            digits[k] = 0
        for i in range(n):
            digits[np.int64((keys[i] >> shift) & np.uint64(255))] += 1
        below = 0
        for k in range(256):
            here = digits[k]
            digits[k] = below
            below += here
        for i in range(n):
            digit = np.int64((keys[i] >> shift) & np.uint64(255))
            other[digits[digit]] = keys[i]
            digits[digit] += 1
        keys, other = other, keys
        shift += np.uint64(_DIGIT)
        n_passes += 1
    if n_passes % 2 == 1:
        for i in range(n):
            other[i] = keys[i]


@outlined
def _sort_at_node(work, feature, start, stop):
    """Sort the rows of a node by a feature's codes into ``scratch.keys``."""
    scratch, codes, rows = work.scratch, work.codes[work.code_at[feature]], work.grown.row
    has_classes = work.grown.place_bits < _SHIFT
    for i in range(start, stop):
        key = (np.uint64(codes[rows[i]]) << _SHIFT) | np.uint64(i - start)
        if has_classes:
            key |= np.uint64(work.grown.outcome[i]) << work.grown.place_bits
        scratch.keys[i - start] = key
    sort_keys(scratch.keys, scratch.other_keys, scratch.digits, stop - start)


@inline
def keys_of(work, feature, start, stop):
    """Return the keys of a node's rows in the order of a feature: an array, and where in it they begin."""
    at = work.order_at[feature]
    keys, first = work.scratch.keys, np.int64(0)
    if at >= 0:
        keys, first = work.grown.orders[at], np.int64(start)
    else:
        _sort_at_node(work, feature, start, stop)
    return keys, first


@inline
def n_known(keys, first, n, missing):
    """Return how many of n keys, the first ones, have a code below that of a missing value."""
    low, high = np.int64(0), np.int64(n)
    if n > 0 and code_of(keys[first + n - 1]) < missing:
        low = high
    while low < high:
        middle = (low + high) // 2
        if code_of(keys[first + middle]) < missing:
            low = middle + 1
        else:
            high = middle
    return low


@entry
def divide_column(work, at, start, n):
    """Give the children of a node that begins at ``start``, with n rows, their parts of an order, each in order."""
    scratch, keys, kept = work.scratch, work.grown.orders[at], work.scratch.other_keys
    child, place, fan = scratch.row_child, scratch.new_place, scratch.dealt[0]
    mask = work.grown.place_mask
    if scratch.dealt[2] == 1:  # two branches: rows of the first one move up in place, and no branch is taken
        n_left = n_right = np.int64(0)
        behind_left, behind_right = np.uint64(max(scratch.n_whole[0], 0)), np.uint64(max(scratch.n_whole[1], 0))
        for i in range(start, start + n):
            key = keys[i]
            to = np.uint64(place[place_of(work, key)])
            second, both, code = to >> _SECOND_AT, (to >> _BOTH_AT) & np.uint64(1), key & ~mask
            keys[start + n_left] = code | ((to & _PLACE) + both * behind_left)
            kept[n_right] = code | ((to & _PLACE) + both * behind_right)
            n_right += np.int64(second | both)
            n_left += np.int64(np.uint64(1) - second)
        for i in range(n_right):
            keys[start + n_left + i] = kept[i]
        return np.int64(0)
    for i in range(n):
        kept[i] = keys[start + i]
    for v in range(fan):
        scratch.fill[v] = scratch.child_start[v]
    for i in range(n):
        key = kept[i]
        was = place_of(work, key)
        v, code = np.int64(child[was]), key & ~mask
        if v >= 0:
            keys[scratch.fill[v]] = code | np.uint64(place[was])
            scratch.fill[v] += 1
        elif v == col.ALL_CHILDREN:
            for v in range(fan):
                if scratch.n_whole[v] >= 0:
                    keys[scratch.fill[v]] = code | np.uint64(scratch.n_whole[v] + place[was])
                    scratch.fill[v] += 1
    return np.int64(0)
