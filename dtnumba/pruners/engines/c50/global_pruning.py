# mypy: ignore-errors
"""C5.0's global pruning: weakest links collapse while the tree errs no more than its errors may be off by chance.

The errors of a tree of E errors on N cases have a standard error of sqrt(E (1 - E / N)). Subtrees collapse whose leaves
save least errors each, until no other one fits into what is left of that; equals collapse together or not at all.
"""

import math

import numpy as np

from dtnumba.runtime.kernels import inline, kernel
from dtnumba.trees.subtrees import depth_levels, errors_of_nodes, parents, rebuilt

_HAIR, _TIE = 1e-7, 1e-6


@inline
def _price(own, errors, n_leaves, node):
    """Return how many more errors a leaf makes in place of a subtree, and that for each leaf which goes."""
    more = own[node] - errors[node]
    return more, more / max(n_leaves[node] - 1.0, 1e-9)


@kernel
def collapse_weak(left, last, parent, own, allowed, is_leaf, errors, n_leaves, hidden):
    """Mark in ``is_leaf`` which nodes of a tree become leaves; children stand after their parents.

    left, last, parent (m,) int64 · own (m,) float64: errors of each node as a leaf · is_leaf (m,) bool, in and out
    errors (m,) float64, n_leaves (m,) float64: in at leaves (1 of one that has cases, else 0), added up here
    hidden (m,) bool scratch: nodes below a leaf
    """
    m, spent = len(left), 0.0
    for node in range(m - 1, -1, -1):
        if not is_leaf[node]:
            errors[node] = n_leaves[node] = 0.0
            for child in range(left[node], last[node] + 1):
                errors[node] += errors[child]
                n_leaves[node] += n_leaves[child]
    while not is_leaf[0]:
        least = np.inf
        for node in range(m):
            hidden[node] = node > 0 and (hidden[parent[node]] or is_leaf[parent[node]])
            if not hidden[node] and not is_leaf[node]:
                more, each = _price(own, errors, n_leaves, node)
                if spent + more <= allowed + _HAIR:
                    least = min(least, each)
        if least == np.inf:
            break
        together = 0.0
        for turn in range(2):  # first what the equals cost, then they collapse
            if turn == 1 and spent + together > allowed + _HAIR:
                return
            for node in range(m):
                hidden[node] = node > 0 and (hidden[parent[node]] or is_leaf[parent[node]])
                if hidden[node] or is_leaf[node]:
                    continue
                more, each = _price(own, errors, n_leaves, node)
                if spent + more > allowed + _HAIR or each > least + _TIE:
                    continue
                if turn == 0:
                    together += more
                    hidden[node] = True
                else:
                    is_leaf[node] = True
            if turn == 1:
                spent += together
        for node in range(m - 1, -1, -1):
            if is_leaf[node]:
                errors[node], n_leaves[node] = own[node], min(n_leaves[node], 1.0)
            else:
                errors[node] = n_leaves[node] = 0.0
                for child in range(left[node], last[node] + 1):
                    errors[node] += errors[child]
                    n_leaves[node] += n_leaves[child]


def pruned_globally(trees):
    """Return one tree of classes without the links that chance may have made."""
    levels = depth_levels(trees)
    own = errors_of_nodes(trees)
    is_leaf = trees.left < 0
    total, base = float(trees.weight[0]), float(own[is_leaf].sum())
    allowed = math.sqrt(max(base * (1.0 - base / total), 0.0))
    errors, n_leaves = own.copy(), (trees.weight > _HAIR).astype(np.float64)
    left, last = trees.left.astype(np.int64), trees.right.astype(np.int64)
    hidden = np.zeros(trees.n_nodes, bool)
    collapse_weak(left, last, parents(trees, levels), own, allowed, is_leaf, errors, n_leaves, hidden)
    return rebuilt(trees, levels, is_leaf)
