"""The best tree by looking at all of them: every test of every column at every node. NumPy and plain Python alone.

A test is a boolean array, True for rows that go right. A loss is a function of a boolean array of rows.
"""

import math

import numpy as np
from naive.description_length import leaf_bits


def gini(class_weights):
    """Weight times gini impurity."""
    total = class_weights.sum()
    return float(total - (class_weights**2).sum() / total) if total > 0 else 0.0


def entropy(class_weights):
    """Weight times entropy in bits."""
    total = class_weights.sum()
    return float(sum(w * math.log2(total / w) for w in class_weights if w > 0))


def class_loss(y, weight, n_classes, objective, costs=None):
    """Return what a leaf of classes loses, as a function of rows."""
    costs = 1 - np.eye(n_classes) if costs is None else np.asarray(costs)

    def of_rows(rows):
        sums = np.array([weight[rows & (y == k)].sum() for k in range(n_classes)], dtype=float)
        if objective == "mdl":
            return 1.0 + leaf_bits(sums.tolist(), n_classes)
        if objective == "error":
            return float((sums @ costs).min())
        return gini(sums) if objective == "gini" else entropy(sums)

    return of_rows


def number_loss(y, weight, objective):
    """Return what a leaf of numbers loses, as a function of rows."""

    def of_rows(rows):
        if not rows.any():
            return 0.0
        own, w = y[rows], weight[rows]
        if objective == "squared_error":
            return float((w * (own - (w @ own) / w.sum()) ** 2).sum())
        return min(float((w * np.abs(own - centre)).sum()) for centre in own)

    return of_rows


def divisions_of_codes(codes):
    """Return every test "code <= c goes left" of every column (rows, columns)."""
    return [codes[:, j] > c for j in range(codes.shape[1]) for c in np.unique(codes[:, j])[:-1]]


def best_loss(rows, tests, loss, depth, most, least=1, price=0.0, spent=0):
    """Return the least loss plus price of some rows: trees of so many levels and tests, ``least`` rows a leaf.

    ``price`` is what a test costs, or a function of its number, the rows and how many tests above it spent their
    column, that returns the cost and whether this one does.
    """
    best = loss(rows)
    if depth == 0 or most == 0:
        return best
    for k, test in enumerate(tests):
        left, right = rows & ~test, rows & test
        if min(left.sum(), right.sum()) < max(least, 1):
            continue
        cost, spends = price(k, rows, spent) if callable(price) else (price, 0)
        for in_left in range(most):
            below = best_loss(left, tests, loss, depth - 1, in_left, least, price, spent + spends)
            below += best_loss(right, tests, loss, depth - 1, most - 1 - in_left, least, price, spent + spends)
            best = min(best, below + cost)
    return best


def price_of_test(column, cuts, levels, n_columns):
    """Return the price of tests in bits (Quinlan & Rivest 1989), as a function for ``best_loss``.

    ``column`` is which one each test is on; of each column ``cuts`` is how many it offers, ``levels`` how many a
    category has, 0 for numbers.
    """

    def price(k, rows, spent):
        j = column[k]
        bits = min(levels[j], int(rows.sum())) if levels[j] else math.log2(max(cuts[j], 1))
        return 1.0 + math.log2(max(n_columns - spent, 1)) + bits, int(levels[j] == 0 and cuts[j] <= 1)

    return price


def loss_of_tree(tree, codes, loss, price=0.0):
    """Return what a tree of (column, last code left), heap order, -1 for leaves, loses, and the rows of its leaves."""

    def of_rows(k, rows, spent):
        if k >= len(tree) or tree[k][0] < 0:
            return loss(rows), [int(rows.sum())]
        right = codes[:, tree[k][0]] > tree[k][1]
        cost, spends = price(tree[k], rows, spent) if callable(price) else (price, 0)
        a, b = (of_rows(2 * k + 1 + side, rows & (right == side), spent + spends) for side in range(2))
        return a[0] + b[0] + cost, a[1] + b[1]

    return of_rows(0, np.ones(len(codes), bool), 0)
