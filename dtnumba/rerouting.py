"""What raising a branch asks for: rows through a tree of which parts gave way, and what nodes say of other rows."""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import inline, kernel, launch, part, take_ticket
from dtnumba.criteria import gain_of, impurity_of
from dtnumba.routing import child_of

_BLOCK = 4096  # rows a ticket


@part
class Route(NamedTuple):
    """Write the leaf that each row ends in from where it starts; blocks of rows by whichever worker is free."""

    trees: object
    cells: object
    rows: np.ndarray  # (k,) int64
    starts: np.ndarray  # (k,) int64: from which node
    is_leaf: np.ndarray  # (m,) bool
    final: np.ndarray  # (m,) int64: who stands where
    out: np.ndarray  # (k,) int64
    counter: np.ndarray

    def run(self, worker):
        n = len(self.rows)
        while True:
            start = take_ticket(self.counter) * _BLOCK
            if start >= n:
                break
            for i in range(start, min(start + _BLOCK, n)):
                leaf = _leaf_from(self.trees, self.cells, self.rows[i], self.starts[i], self.is_leaf, self.final)
                self.out[i] = leaf


def route(trees, cells, rows, starts, is_leaf, final, out, workers):
    """Write the leaf that each row ends in. Nearly every step waits for memory, so all threads wait together."""
    task = Route(trees, cells, rows, starts, is_leaf, final, out, np.zeros(1, np.int64))
    launch(task, workers if len(rows) > _BLOCK else 1)


@kernel
def errors_through(trees, cells, rows, node, is_leaf, final, codes, weights, counts, leaves):
    """Return the weight of rows that do not have the commonest class of the leaf that they reach from a node.

    rows (k,) int64 · codes (n,) int64 · weights (n,) · counts (m, K) zeros, and zeros again after · leaves (n,) scratch
    """
    n_leaves, errors = 0, 0.0
    for i in range(len(rows)):
        leaf = _leaf_from(trees, cells, rows[i], node, is_leaf, final)
        is_new = True
        for k in range(counts.shape[1]):
            is_new &= counts[leaf, k] == 0.0
        if is_new:
            leaves[n_leaves] = leaf
            n_leaves += 1
        counts[leaf, codes[rows[i]]] += weights[rows[i]]
    for i in range(n_leaves):
        largest = 0.0
        for k in range(counts.shape[1]):
            errors += counts[leaves[i], k]
            largest = max(largest, counts[leaves[i], k])
            counts[leaves[i], k] = 0.0
        errors -= largest
    return errors


@inline
def _leaf_from(trees, cells, row, node, is_leaf, final):
    node = final[node]
    while not is_leaf[node]:
        x = float(cells.flat[cells.offset + row * cells.row_step + trees.feature[node] * cells.column_step])
        child = child_of(trees, node, x)
        node = final[child if child >= 0 else _heaviest(trees, node)]
    return node


@inline
def _heaviest(trees, node):
    """Return the child that rows are counted in which a prediction would leave at the node."""
    heaviest = np.int64(trees.left[node])
    for child in range(trees.left[node], trees.right[node] + 1):
        if trees.weight[child] > trees.weight[heaviest]:
            heaviest = np.int64(child)
    return heaviest


@kernel
def describe_nodes(criterion, counts, weight, starts, fan, children, weights, impurity, gain):
    """Write the impurity of nodes, and the gain of those with children.

    counts (m, K) · weight (m,) · starts, fan (m,) int64: where children begin, and how many · children (c, K)
    weights (c,): theirs · impurity, gain (m,) out
    """
    for i in range(len(counts)):
        impurity[i] = impurity_of(criterion, counts[i], weight[i])
        gain[i] = 0.0
        if fan[i] > 0:
            own = children[starts[i] : starts[i] + fan[i]]
            gain[i] = gain_of(criterion, counts[i], own, weights[starts[i] : starts[i] + fan[i]])
