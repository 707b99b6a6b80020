# mypy: ignore-errors
# ruff: noqa: D102
"""Rows through a tree of which subtrees were replaced, and statistics of its nodes by other rows."""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import gain_of, impurity_of
from dtnumba.runtime.kernels import inline, kernel, kernel_type
from dtnumba.runtime.tasks import launch, take_ticket
from dtnumba.trees.routing import step

_BLOCK = 4096  # rows a ticket


@kernel_type
class Route(NamedTuple):
    """A task: the leaf that each row ends in from where it starts, by blocks of rows."""

    trees: object
    cells: object
    rows: np.ndarray  # (k,) int64
    starts: np.ndarray  # (k,) int64: from which node
    is_leaf: np.ndarray  # (m,) bool
    final: np.ndarray  # (m,) int64: the node at each place
    out: np.ndarray  # (k,) int64
    counter: np.ndarray

    def run(self, worker):
        n = len(self.rows)
        while True:
            start = take_ticket(self.counter) * _BLOCK
            if start >= n:
                break
            for i in range(start, min(start + _BLOCK, n)):
                leaf = leaf_from(self.trees, self.cells, self.rows[i], self.starts[i], self.is_leaf, self.final)
                self.out[i] = leaf


def route(trees, cells, rows, starts, is_leaf, final, out, workers):
    """Write the leaf that each row ends in. Nearly every step waits for memory, so all threads wait together."""
    task = Route(trees, cells, rows, starts, is_leaf, final, out, np.zeros(1, np.int64))
    launch(task, workers if len(rows) > _BLOCK else 1)


@inline
def leaf_from(trees, cells, row, node, is_leaf, final):
    """Return the leaf that a row comes to from a node, in a tree where ``final[place]`` stands at each place."""
    node = final[node]
    while not is_leaf[node]:
        child = step(trees, node, cells, row)
        node = final[child if child >= 0 else _heaviest(trees, node)]
    return node


@inline
def _heaviest(trees, node):
    """Return the heaviest child of a node, where rows are counted that a prediction would leave at the node."""
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
