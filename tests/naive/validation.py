"""The slow, obvious way: weakest links by recursion, cross-validation and the bootstrap by loops of plain fits."""

import numpy as np


def subtree(trees, node, leaves):
    """Return the leaves below a node, where the nodes in ``leaves`` have become leaves."""
    if node in leaves or trees.feature[node] < 0:
        return [node]
    children = range(trees.left[node], trees.right[node] + 1)
    return [leaf for child in children for leaf in subtree(trees, child, leaves)]


def inner_nodes(trees, node, leaves):
    """Return the inner nodes of what is left."""
    if node in leaves or trees.feature[node] < 0:
        return []
    children = range(trees.left[node], trees.right[node] + 1)
    return [node] + [inner for child in children for inner in inner_nodes(trees, child, leaves)]


def path(trees, risk):
    """Return (alpha, leaves as a set) of every different subtree of the path: all weakest links at once."""
    gone, alpha, steps = set(), 0.0, {0.0: frozenset(subtree(trees, 0, set()))}
    while inner_nodes(trees, 0, gone):
        strengths = {}
        for node in inner_nodes(trees, 0, gone):
            below = subtree(trees, node, gone)
            strengths[node] = (risk[node] - sum(risk[leaf] for leaf in below)) / (len(below) - 1)
        weakest = min(strengths.values())
        if weakest > alpha * (1 + 1e-12):
            alpha = weakest
        gone |= {node for node, strength in strengths.items() if strength <= alpha * (1 + 1e-12)}
        steps[alpha] = frozenset(subtree(trees, 0, gone))
    return sorted(steps.items())


def best_subtree(trees, risk, alpha):
    """Return the least of risk + alpha * leaves over all subtrees, by trying them all."""

    def least(node):
        leaf = risk[node] + alpha
        if trees.feature[node] < 0:
            return leaf
        return min(leaf, sum(least(child) for child in range(trees.left[node], trees.right[node] + 1)))

    return least(0)


def held_out_predictions(make, X, y, splits):
    """Return (rows, what a model fitted to the others says) of every split."""
    return [(test, make().fit(X[train], y[train]).predict(X[test])) for train, test in splits]


def bootstrap_632_plus(make, X, y, samples, loss):
    """Return (train, out of bag, no information, .632, .632+) by loops; loss(y, said) of one row."""
    n = len(y)
    losses = [[] for _ in range(n)]
    for drawn, left_out in samples:
        model = make().fit(X[drawn], y[drawn])
        for row in left_out:
            losses[row].append(loss(y[row], model.predict(X[row : row + 1])[0]))
    said = make().fit(X, y).predict(X)
    train = np.mean([loss(y[i], said[i]) for i in range(n)])
    out = np.mean([np.mean(of_row) for of_row in losses if of_row])
    none = np.mean([loss(y[i], said[j]) for i in range(n) for j in range(n)])
    rate = (min(out, none) - train) / (none - train) if min(out, none) > train else 0.0
    share = 0.632 / (1 - 0.368 * rate)
    plus = (1 - share) * train + share * (min(out, none) if min(out, none) > train else out)
    return train, out, none, 0.368 * train + 0.632 * out, plus
