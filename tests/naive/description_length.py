"""Description lengths by definition: a list of counts, recursion, exact binomials where weights are whole."""

import math

import numpy as np


def log2_choose(n, k):
    if float(n).is_integer() and float(k).is_integer():
        return math.log2(math.comb(int(n), int(k)))
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(2)


def leaf_bits(counts, n_classes):
    """A default class, the number of exceptions, which rows they are; then the same for the exceptions."""
    counts = sorted((c for c in counts if c > 0), reverse=True)
    if n_classes < 2 or not counts:
        return 0.0
    n, k = sum(counts), sum(counts[1:])
    most = math.floor((n + 1) * (n_classes - 1) / n_classes)
    own = math.log2(n_classes) + math.log2(most + 1) + log2_choose(n, k)
    return own + leaf_bits(counts[1:], n_classes - 1)


def impurity(counts):
    """What the exceptions cost, per unit of weight."""
    k = len(counts)
    return (leaf_bits(counts, k) - leaf_bits([sum(counts)], k)) / sum(counts)


def gain(left, right, n_features=1):
    """Bits saved by a division, per unit of weight: two bits of structure, the column, half a logarithm for the cut."""
    both, k = [a + b for a, b in zip(left, right, strict=True)], len(left)
    price = 2 + math.log2(n_features) + 0.5 * math.log2(max(sum(both), 1))
    return (leaf_bits(both, k) - leaf_bits(left, k) - leaf_bits(right, k) - price) / sum(both)


def counts_of(y, w, rows, n_classes):
    """Weight of each class among some rows."""
    return np.bincount(y[rows], weights=w[rows], minlength=n_classes).tolist()
