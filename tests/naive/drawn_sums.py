"""Sums of two columns that a node draws, cut into bins between their extremes there: by definition."""

from typing import NamedTuple

import numpy as np

from dtnumba.runtime import rng


class Sum(NamedTuple):
    """A sum and its best cut."""

    gain: float
    columns: tuple
    weights: tuple
    threshold: float
    left: np.ndarray


def pair(key, d):
    """Return two of d columns, ascending, and a weight of each."""
    drawn, at = {}, 1
    while len(drawn) < 2:
        column = rng.below(rng.mix(key, at), d)
        if column not in drawn:
            drawn[column] = 2.0 * rng.uniform(rng.mix(key, at + 1)) - 1.0
        at += 2
    return zip(*sorted(drawn.items()), strict=True)


def gini(y, n_classes):
    """Return the impurity of labels."""
    return 1.0 - ((np.bincount(y, minlength=n_classes) / len(y)) ** 2).sum()


def best_sum(X, y, stream, n_sums, n_bins):
    """Return the best of the sums of a node's rows, which all have values; None where none has a cut."""
    best, n_classes = None, int(y.max()) + 1
    ranges = X.max(axis=0) - X.min(axis=0)
    for q in range(n_sums):
        columns, weights = pair(rng.mix(stream, q), X.shape[1])
        share = np.array(weights) / max(map(abs, weights))
        if not ranges[list(columns)].all() or abs(share).min() < 1e-3:
            continue
        weights = share * (1.0 / ranges[list(columns)])
        z = 0.0 + weights[0] * X[:, columns[0]] + weights[1] * X[:, columns[1]]
        if z.min() == z.max():
            continue
        codes = np.minimum(((z - z.min()) * (n_bins / (z.max() - z.min()))).astype(int), n_bins - 1)
        for last in np.unique(codes)[:-1]:
            left = codes <= last
            within = (left.sum() * gini(y[left], n_classes) + (~left).sum() * gini(y[~left], n_classes)) / len(y)
            gain = gini(y, n_classes) - within
            if best is None or gain > best.gain + 1e-12:
                threshold = z[left].max() / 2.0 + z[~left].min() / 2.0
                best = Sum(gain, columns, tuple(weights), threshold, left)
    return best


def streams_of(trees, seed):
    """Return the stream of each node of a tree, by the way from the root."""
    stream = rng.mix(rng.stream(seed, rng.CUTS), rng.DIRECTIONS)
    keys = np.full(trees.n_nodes, rng.ROOT_KEY, np.uint64)
    for node in np.flatnonzero(trees.feature >= 0):
        for side in range(2):
            keys[trees.left[node] + side] = rng.child_key(keys[node], side)
    return [rng.mix(stream, key) for key in keys]
