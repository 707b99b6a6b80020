"""C5.0's winnowing in plain NumPy: which columns a tree of one half of the cases needs on the other half."""

from __future__ import annotations

import numpy as np
from naive.c50 import Grower


def halves(y):
    """Return which cases are of the first half: every other one of each class."""
    out = np.zeros(len(y), bool)
    for c in np.unique(y):
        rows = np.flatnonzero(y == c)
        out[rows[::2]] = True
    return out


def used_by(node):
    out = set() if node.is_leaf else {node.feature}
    for child in node.children:
        out |= used_by(child)
    return out


def tree_of(X, y, kinds, n_levels, n_classes, columns, whole=None, **control):
    cells = X.copy()
    cells[:, [f for f in range(X.shape[1]) if f not in columns]] = np.nan
    grower = Grower(cells, y, kinds, n_levels, n_classes, **control)
    if whole is not None:  # cuts are values of all cases
        grower.values = [np.unique(x[~np.isnan(x)]) for x in whole.T]
    grower.min_gain = (0.0, 0.0)
    rows = np.arange(len(y))
    grower.root = grower.grow(rows, grower.w)
    used = used_by(grower.root)
    grower.prune(grower.root, rows, grower.w)
    grower.join(grower.root)
    grower.prior = grower.root.counts / grower.root.counts.sum()
    return grower, used


def cost_of(grower, X, y, unknown=None):
    if unknown is not None:
        X = X.copy()
        X[:, unknown] = np.nan
    return float((grower.plain_labels_of(X) != y).sum())


def winnow(X, y, kinds, n_levels, n_classes, **control):
    """Return (columns kept, importance of each column or nan, errors with and without those that harm)."""
    first = halves(y)
    A, a, B, b = X[first], y[first], X[~first], y[~first]
    d = X.shape[1]
    grower, used = tree_of(A, a, kinds, n_levels, n_classes, range(d), X, **control)
    base = cost_of(grower, B, b)
    kept, importance = set(used), np.full(d, np.nan)
    in_pruned = used_by(grower.root)
    for f in used:
        importance[f] = 0.0
    dropped = set()
    for f in sorted(in_pruned):
        cost = cost_of(grower, B, b, f)
        importance[f] = (cost - base) / base if base > 0 else cost
        if cost < base:
            dropped.add(f)
    trace = base
    if dropped:
        again, _ = tree_of(A, a, kinds, n_levels, n_classes, [f for f in range(d) if f not in dropped], X, **control)
        after = cost_of(again, B, b)
        if after <= base:
            kept -= dropped
        trace = base, after, sorted(dropped)
    return sorted(kept), importance, trace
