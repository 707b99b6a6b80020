# mypy: ignore-errors
"""Values of the nodes of a tree of very many classes: the shares of the classes that a node has, and no others.

Growth keeps no sums of such nodes; the rows of each are summed up again, a pass a level. ``work.total`` holds the
weight of each class meanwhile, zero between two nodes, and ``work.own`` a bit a class and the classes present.
"""

import numpy as np

from dtnumba.criteria.contract import ignores_absent, impurity_of
from dtnumba.growth import columns as col
from dtnumba.growth.targets.contract import is_wide
from dtnumba.growth.targets.leaf_values import row_at
from dtnumba.runtime.instructions.bits import lowest_bit
from dtnumba.runtime.kernels import by_class, inline

_PRESENT, _MARKS = 1, 2
_ONE, _31, _FIVE = np.int64(1), np.int64(31), np.int64(5)


@inline
def _count_shares(target, splitter, nodes, order, m, work):
    """Return how many classes the nodes of a tree have in all."""
    total, n = work.total, np.int64(0)
    for c in range(len(total)):
        total[c] = 0
    for k in range(m):
        start, stop = nodes[order[k], col.START], nodes[order[k], col.STOP]
        for i in range(start, stop):
            c = target.label[row_at(splitter, i)]
            n += total[c] == 0
            total[c] = 1
        for i in range(start, stop):
            total[target.label[row_at(splitter, i)]] = 0
    return n


def _no_shares(target, splitter, nodes, order, m, work):
    return np.int64(0)


@inline
def list_shares(target, criterion, splitter, span, buffers, place):
    """Write the shares of a node, its weight and its impurity; return where they begin.

    ``span`` is (start, stop) of its rows, ``place`` (arena, where the shares end, number of the node).
    """
    (start, stop), (work, seen), (arena, end, node) = span, buffers, place
    total, present, marks = work.total, work.own[_PRESENT], work.own[_MARKS]
    weight, k, n_words = np.int64(0), np.int64(0), (np.int64(len(total)) + _31) >> _FIVE
    for word in range(n_words):
        marks[word] = 0
    for i in range(start, stop):
        row = row_at(splitter, i)
        c = np.int64(target.label[row])
        total[c] += target.weights[row]
        weight += target.weights[row]
        marks[c >> _FIVE] |= _ONE << (c & _31)
    for word in range(n_words):
        mask = np.uint64(marks[word])
        while mask != 0:
            present[k] = (word << _FIVE) + np.int64(lowest_bit(mask))
            mask &= mask - np.uint64(1)
            k += 1
    at = end - k
    if not ignores_absent(criterion):
        for c in range(len(total)):
            seen[c] = float(total[c]) * target.unit
    for j in range(k):
        c = present[j]
        arena.share_class[at + j], arena.share[at + j] = c, float(total[c]) / float(weight)
        if ignores_absent(criterion):
            seen[j] = float(total[c]) * target.unit
        total[c] = 0
    n_seen = k if ignores_absent(criterion) else np.int64(len(total))
    arena.floats[2, node] = float(weight) * target.unit
    arena.floats[3, node] = impurity_of(criterion, seen[:n_seen], float(weight) * target.unit)
    arena.share_stop[node] = end
    return at


count_shares = by_class(is_wide, _count_shares, _no_shares)
