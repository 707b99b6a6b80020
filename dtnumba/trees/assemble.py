# mypy: ignore-errors
"""What every growth needs to make Trees of its nodes: canonical numbers, and ragged columns in their order."""

import numpy as np

from dtnumba.runtime.kernels import kernel
from dtnumba.trees.layout import LEAF, RAGGED, count_up, starts_of
from dtnumba.trees.linear import picked


@kernel
def number_general(first_child, n_children, order, left, stack):
    """Number the nodes of a tree canonically and return how many there are.

    The children of a node are numbered when the node is reached, first subtrees first, so that the way a tree was grown
    leaves no trace. Binary growth has a faster kernel for nodes that lie in this order already.

    first_child (m,) int64: of each node, LEAF of a leaf; its children stand side by side from there on
    n_children (m,) int64
    order (m,) int64 out: the node with each number
    left (m,) int64 out: the number of its first child, LEAF of a leaf
    stack (m,) int64 scratch
    """
    order[0] = stack[0] = 0
    count, top = np.int64(1), 1
    while top > 0:
        top -= 1
        new = stack[top]
        left[new], node = LEAF, order[new]
        if first_child[node] != LEAF:
            left[new] = count
            n = n_children[node]
            for v in range(n):
                order[count + v] = first_child[node] + v
                stack[top + n - 1 - v] = count + v
            count, top = count + n, top + n
    return count


def ragged(starts, lengths):
    """Return a ragged column in another order: (where the entries of each node begin, their places in the old one).

    ``starts`` and ``lengths`` say where the entries of each node stand in the old one.
    """
    return starts_of(lengths), np.repeat(starts, lengths) + count_up(lengths)


def ragged_of_rows(rows, n_nodes, dtype):
    """Return a ragged column, (where the entries of each node begin, the entries), of a dict from node to entries."""
    lengths = np.zeros(n_nodes, np.int64)
    for node, entries in rows.items():
        lengths[node] = len(entries)
    entries = [np.zeros(0, dtype), *(rows[node] for node in sorted(rows))]
    return starts_of(lengths), np.concatenate(entries).astype(dtype)


_BY_NODE = ("feature", "threshold", "missing_left", "value", "n_samples", "weight", "impurity", "gain")


def in_canonical_order(trees):
    """Return one tree without surrogates in its canonical numbers, whatever the order its nodes stand in."""
    m = trees.n_nodes
    fan = np.where(trees.feature == LEAF, 0, trees.right - trees.left + 1).astype(np.int64)
    order, left, stack = (np.empty(m + 1, np.int64) for _ in range(3))
    m = number_general(trees.left.astype(np.int64), fan, order, left, stack)
    order, left = order[:m], left[:m]
    columns = {name: getattr(trees, name)[order] for name in _BY_NODE}
    for start, name in RAGGED:
        begin, entries = getattr(trees, start), getattr(trees, name)
        if len(begin) > 1:
            columns[start], places = ragged(begin[:-1][order], np.diff(begin)[order])
            columns[name] = entries[places]
    last = np.where(left == LEAF, LEAF, left + fan[order] - 1)
    columns |= {"left": left.astype(np.int32), "right": last.astype(np.int32), "root": np.array([0, m], np.int64)}
    columns["linear"] = picked(trees.linear, order)
    return trees._replace(share=trees.share[order] if len(trees.share) else trees.share, **columns)
