"""The loop of cost-complexity pruning: which node becomes a leaf next."""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import inline, kernel


class Shape(NamedTuple):
    """Trees as the loop reads them; -1 stands for no node."""

    root: np.ndarray  # (trees + 1,) int64
    left: np.ndarray  # (m,) int64
    last: np.ndarray  # (m,) int64
    parent: np.ndarray  # (m,) int64
    risk: np.ndarray  # (m,) float64: of each node as a leaf


class Below(NamedTuple):
    """What is known of the leaves below each node, which is kept up to date."""

    risk: np.ndarray  # (m,) float64: theirs
    n_leaves: np.ndarray  # (m,) int64
    strength: np.ndarray  # (m,) float64: of the node's own link, infinite at leaves
    least: np.ndarray  # (m,) float64: least strength at the node or below it


class Steps(NamedTuple):
    """What collapsed, step by step."""

    first: np.ndarray  # (trees + 1,) int64: where the steps of each tree begin
    start: np.ndarray  # (trees,) float64: risk of each tree before them
    node: np.ndarray  # (m,) int64
    alpha: np.ndarray  # (m,) float64
    risk: np.ndarray  # (m,) float64: of the tree after the step


@inline
def _refresh(shape, below, node):
    """Add up the children of a node, and find the least strength at or below it."""
    risk, n_leaves, least = 0.0, np.int64(0), np.inf
    for child in range(shape.left[node], shape.last[node] + 1):
        risk += below.risk[child]
        n_leaves += below.n_leaves[child]
        least = min(least, below.least[child])
    below.risk[node], below.n_leaves[node] = risk, n_leaves
    below.strength[node] = (shape.risk[node] - risk) / np.float64(n_leaves - 1)
    below.least[node] = min(below.strength[node], least)


@kernel
def collapse_trees(shape, below, steps):
    """Collapse every tree, its weakest link first, until its root is left.

    shape in · below scratch · steps out
    """
    step = np.int64(0)
    for node in range(len(shape.left) - 1, -1, -1):  # children stand after their parents
        below.risk[node], below.n_leaves[node] = shape.risk[node], 1
        below.strength[node] = below.least[node] = np.inf
        if shape.left[node] >= 0:
            _refresh(shape, below, node)
    for tree in range(len(shape.root) - 1):
        top, alpha = shape.root[tree], 0.0
        steps.first[tree], steps.start[tree] = step, below.risk[top]
        while below.n_leaves[top] > 1:
            node, weakest = top, below.least[top]
            while below.strength[node] != weakest:  # the topmost of equals, then the leftmost
                node = shape.left[node]
                while below.least[node] != weakest:
                    node += 1
            alpha = max(alpha, weakest)  # rounding must not let it descend
            steps.node[step], steps.alpha[step] = node, alpha
            below.risk[node], below.n_leaves[node] = shape.risk[node], 1
            below.strength[node] = below.least[node] = np.inf
            node = shape.parent[node]
            while node >= 0:
                _refresh(shape, below, node)
                node = shape.parent[node]
            steps.risk[step] = below.risk[top]
            step += 1
    steps.first[len(shape.root) - 1] = step
