"""Stopping the slow way: tests by SciPy at every node of a grown tree, rows held out walked one by one."""

import numpy as np
from scipy import stats


def rows_by_node(trees, X):
    """Rows that reach each node."""
    X, rows = X.astype(np.float64), {0: np.arange(len(X))}
    for node in range(trees.n_nodes):
        if trees.feature[node] >= 0:
            x = X[rows[node], trees.feature[node]]
            left = np.where(np.isnan(x), trees.missing_left[node] == 1, x <= trees.threshold[node])
            rows[int(trees.left[node])], rows[int(trees.right[node])] = rows[node][left], rows[node][~left]
    return rows


def p_of_classes(codes, weight, left):
    """Pearson's test without corrections; one class alone differs from nothing."""
    table = np.array(
        [np.bincount(codes[side], weights=weight[side], minlength=codes.max() + 1) for side in (left, ~left)]
    )
    table = table[:, table.sum(axis=0) > 0]
    return 1.0 if table.shape[1] == 1 else stats.chi2_contingency(table, correction=False).pvalue


def p_of_numbers(y, weight, left):
    """F test of two weighted groups."""
    means = np.array([np.average(y[side], weights=weight[side]) for side in (left, ~left)])
    mean, total = np.average(y, weights=weight), weight.sum()
    between = sum(weight[side].sum() * (m - mean) ** 2 for side, m in zip((left, ~left), means, strict=True))
    within = sum((weight[side] * (y[side] - m) ** 2).sum() for side, m in zip((left, ~left), means, strict=True))
    if total <= 2 or between <= 1e-12 * (between + within):
        return 1.0
    return 0.0 if within <= 1e-12 * between else stats.f.sf(between / (within / (total - 2)), 1, total - 2)


def p_values(trees, X, y, w, *, classes):
    """P-value of every split, of several outputs the least times their number; NaN at leaves."""
    found, rows = np.full(trees.n_nodes, np.nan), rows_by_node(trees, X)
    test = p_of_classes if classes else p_of_numbers
    for node in np.flatnonzero(trees.feature >= 0):
        own = rows[node]
        left = np.isin(own, rows[int(trees.left[node])])
        found[node] = min(test(column[own], w[own], left) for column in y.T) * y.shape[1]
    return found


def loss_at(trees, node, y, w, sizes):
    """Weight of wrong labels, or squared error, of rows in a node; summed over outputs."""
    total = 0.0
    for o in range(y.shape[1]):
        if sizes is None:
            total += (w * (y[:, o] - trees.value[node, o]) ** 2).sum()
        else:
            first = sum(sizes[:o])
            total += w[y[:, o] != trees.value[node, first : first + sizes[o]].argmax()].sum()
    return total


def improving(trees, X, y, w, sizes):
    """Whether each split makes rows held out lose less."""
    rows, found = rows_by_node(trees, X), np.zeros(trees.n_nodes, bool)
    for node in np.flatnonzero(trees.feature >= 0):
        children = trees.left[node], trees.right[node]
        apart = sum(loss_at(trees, child, y[rows[int(child)]], w[rows[int(child)]], sizes) for child in children)
        here = loss_at(trees, node, y[rows[node]], w[rows[node]], sizes)
        found[node] = here > apart * (1 + 1e-9)
    return found


def best_first(trees, is_open, most_leaves):
    """Nodes divided when the open one of largest gain is always next."""
    waiting, divided = [0], []
    while len(divided) + 1 < most_leaves:
        waiting = [node for node in waiting if is_open[node]]
        if not waiting:
            break
        node = max(waiting, key=lambda node: trees.weight[node] * trees.gain[node])
        waiting = [other for other in waiting if other != node] + [int(trees.left[node]), int(trees.right[node])]
        divided.append(node)
    return divided
