"""Trees under constraints, the slow way: every node from its rows, its path and the splits above it. NumPy alone."""

import itertools
import math

import numpy as np
from naive import binary as naive

# Values this much apart, as a share of them, may be taken for equal: sums are fixed point numbers in the package.
CLOSE = 1e-9


def groups_of(interaction_cst, p):
    """List the groups of features that ``interaction_cst`` means."""
    if interaction_cst is None:
        return [set(range(p))]
    if isinstance(interaction_cst, str):
        return [
            set(group)
            for group in itertools.combinations(range(p), {"pairwise": 2, "no_interactions": 1}[interaction_cst])
        ]
    groups = [set(group) for group in interaction_cst]
    return [*groups, set(range(p)).difference(*groups)]


def may_follow(path, groups):
    """Features that may stand below those of a path."""
    return set().union(*(group for group in groups if path <= group))


def values(criterion, y, w, rows, n_classes):
    """What a constraint is about, of every set of rows: the share of the second class, a mean or a median."""
    if n_classes:
        return naive.shares(y[:, 0], w, rows, n_classes[0])[:, 1]
    return naive.centres(criterion, y[:, 0], w, rows)


def fitting(found, sign, bounds, left, right, slack):
    """Which cuts a constraint allows, with ``slack`` to spare (below zero: that fit for certain)."""
    if sign == 0:
        return np.ones(len(found.gain), bool)
    lowest, highest = np.minimum(left, right), np.maximum(left, right)
    return (sign * (right - left) >= -slack) & (lowest >= bounds[0] - slack) & (highest <= bounds[1] + slack)


def audit(trees, criterion, X, y, w, n_classes, signs, interaction_cst, *, best=True):
    """Assert that every node of a tree grown under constraints is what its rows and its path make it."""
    p, whole = X.shape[1], np.ones((1, len(y)), bool)
    groups, slack = groups_of(interaction_cst, p), CLOSE * np.abs(y).max()
    root_impurity = naive.impurities(criterion, y, w, whole, n_classes)[0]
    state = {0: (np.arange(len(y)), (-math.inf, math.inf), frozenset())}
    for node in range(len(trees.feature)):
        own, bounds, path = state.pop(node)
        y_own, w_own, all_own = y[own], w[own], np.ones((1, len(own)), bool)
        raw = values(criterion, y_own, w_own, all_own, n_classes)[0]
        assert abs(trees.value[node, -1] - np.clip(raw, *bounds)) <= slack, node
        if n_classes:
            assert trees.value[node].sum() == 1.0, node
        impurity = naive.impurities(criterion, y_own, w_own, all_own, n_classes)[0]
        tie = naive.OF_NODE * impurity + naive.OF_ROOT * max(root_impurity, 1e-300)
        feature, surely, chosen = int(trees.feature[node]), -math.inf, None
        must_stop = naive.must_stop(y_own, w_own, 0, naive.Limits())
        for f in [] if must_stop else sorted(may_follow(path, groups)):
            found = naive.cuts(criterion, X[own, f], y_own, w_own, n_classes, naive.Limits())
            if found is None:
                continue
            sides = [values(criterion, y_own, w_own, rows, n_classes) for rows in (found.left, ~found.left)]
            certain = fitting(found, signs[f], bounds, *sides, -slack)
            surely = max(surely, found.gain[certain].max(initial=-math.inf))
            if f == feature:
                x = X[own, f]
                left = np.where(np.isnan(x), trees.missing_left[node] == 1, x <= float(trees.threshold[node]))
                may = fitting(found, signs[f], bounds, *sides, slack) & (found.left == left).all(axis=1)
                assert may.any(), (node, "not a legal split")
                chosen = left, found.gain[may.argmax()], [side[may.argmax()] for side in sides]
        if feature < 0:
            assert not best or surely == -math.inf, (node, "there is a legal split", surely)
            continue
        assert chosen is not None, (node, "a feature that must not stand here")
        left, gain, (below, above) = chosen
        assert not best or gain >= surely - tie, (node, gain, surely)
        middle, (lower, upper) = (below + above) / 2, bounds
        ranges = {0: [bounds, bounds], 1: [(lower, middle), (middle, upper)], -1: [(middle, upper), (lower, middle)]}
        for child, rows, limits in zip(
            (trees.left[node], trees.right[node]), (left, ~left), ranges[signs[feature]], strict=True
        ):
            state[int(child)] = own[rows], limits, path | {feature}
    assert not state


def falls(predict, X, signs):
    """How far predictions fall where a feature moves in the direction in which they must not, at most."""
    most = 0.0
    for f in np.flatnonzero(signs):
        steps = np.unique(X[:, f][~np.isnan(X[:, f])])
        if not len(steps):
            continue
        rows = np.repeat(X, len(steps), axis=0)
        rows[:, f] = np.tile(steps, len(X))
        most = max(most, (-signs[f] * np.diff(predict(rows).reshape(len(X), -1), axis=1)).max(initial=0.0))
    return most


def paths(trees):
    """Set of the features above each leaf of all trees."""
    above, found = {int(root): frozenset() for root in trees.root[:-1]}, []
    for node in range(len(trees.feature)):
        path = above.pop(node)
        if trees.feature[node] < 0:
            found.append(path)
        else:
            for child in (trees.left[node], trees.right[node]):
                above[int(child)] = path | {int(trees.feature[node])}
    return found
