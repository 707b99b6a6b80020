"""Splits of tables with categories, the slow way: at every node of a tree all divisions are scored by their definition.

NumPy and ``naive`` alone. A tree is audited rather than grown again: ties may fall either way, gains may not.
"""

import numpy as np
from naive.binary import gains


def divisions(x, *, is_category, one_vs_rest=False):
    """Every way to send rows left by one column, missing ones on either side or alone on the right: (m, n)."""
    known = ~np.isnan(x)
    values = np.unique(x[known])
    if not is_category:
        sets = [x <= value for value in values[:-1]]
    elif one_vs_rest:
        sets = [x == value for value in values] if len(values) > 1 else []
    else:
        subsets = range(1, 1 << max(len(values) - 1, 0))
        sets = [np.isin(x, [value for j, value in enumerate(values) if subset >> j & 1]) for subset in subsets]
    found = [rows & known for rows in sets]
    if not known.all():
        found += [rows | ~known for rows in sets] + ([known] if known.any() else [])
    return np.array(found, bool).reshape(len(found), len(x))


def best_gain(criterion, X, y, w, nominal, n_classes=(), *, least=1, one_vs_rest=False):
    """Return the largest gain of any legal division, -inf where there is none."""
    best = -np.inf
    for f in range(X.shape[1]):
        left = divisions(X[:, f], is_category=nominal[f], one_vs_rest=one_vs_rest)
        n_left = left.sum(axis=1)
        left = left[(n_left >= least) & (len(X) - n_left >= least)]
        if len(left):
            best = max(best, gains(criterion, y, w, left, n_classes).max())
    return best


def child_of(trees, node, x):
    """Return the child that a value goes to."""
    left, levels = trees.left[node], ()
    if len(trees.level):
        levels = trees.level[trees.level_start[node] : trees.level_start[node + 1]]
    if np.isnan(x):
        goes_left = trees.missing_left[node] == 1
    else:
        goes_left = x in levels if len(levels) else x <= trees.threshold[node]
    return left if goes_left else left + 1


def nodes_with_rows(trees, X):
    """Yield every node of one tree with the rows that reach it."""
    rows = {0: np.arange(len(X))}
    for node in range(trees.n_nodes):
        own = rows[node]
        yield node, own
        if trees.feature[node] >= 0:
            child = np.array([child_of(trees, node, x) for x in X[own, trees.feature[node]]], int)
            for k in (trees.left[node], trees.left[node] + 1):
                rows[k] = own[child == k]
