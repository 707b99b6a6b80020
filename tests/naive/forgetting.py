"""Forests whose rows draw for themselves, the slow way: every key, every draw and every tree by its definition."""

from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np

from dtnumba.runtime import rng

MASK = (1 << 64) - 1
MISSING = 0x7FF8000000000001
getcontext().prec = 60


def bits_of(value):
    """Return the bits of a number as a float64; missing ones and zeros have one pattern each."""
    value = float(value)
    return MISSING if value != value else int(np.float64(value + 0.0).view(np.uint64))


def key_of(row, y, weight):
    """Return what a row of numbers and a numeric outcome is known by."""
    key = 0x64746E756D6261
    for value in [*row, y, weight]:
        key = int(rng._mixed(key, bits_of(value)))
    return key


def keys_of(X, y, weight):
    """Return the keys of rows, of which equal ones are numbered."""
    seen, keys = {}, []
    for row, target, count in zip(X, y, weight, strict=True):
        key = key_of(row, target, count)
        seen[key] = seen.get(key, -1) + 1
        keys.append(int(rng._mixed(key, seen[key])))
    return keys


def poisson(u, mean):
    """Return the smallest number of draws of which a Poisson variable of this mean stays above u no more often."""
    u, mean = Fraction(u), Decimal(str(mean))
    n, chance = 0, (-mean).exp()
    up_to = chance
    while u >= Fraction(up_to):
        n += 1
        chance *= mean / n
        up_to += chance
    return n


def draws_of(key, seed, tree, mean):
    """Return how often a row of this key draws itself for a tree."""
    return poisson((int(rng._mixed(int(rng.stream(seed, rng.BOOTSTRAP, tree)), key)) >> 11) * 2.0**-53, mean)


def counts_of(keys, weight, seed, tree, share=1.0, replace=True):
    """Return how often a tree draws each row."""
    counts = []
    for key, heavy in zip(keys, weight, strict=True):
        if replace:
            counts.append(draws_of(key, seed, tree, share * heavy))
        else:
            u = (int(rng._mixed(int(rng.stream(seed, rng.BOOTSTRAP, tree)), key)) >> 11) * 2.0**-53
            counts.append(int(u >= 1.0 - min(share, 1.0)))
    return np.array(counts) if any(counts) else np.ones(len(keys), int)


def forest(tree_class, params, X, y, n_trees, seed, weight=None, share=1.0, replace=True):
    """Return the trees of such a forest, each a tree fitted to the rows that it draws, as often as it does."""
    keys = keys_of(X, y, np.ones(len(X)) if weight is None else weight)
    heavy, grown = np.ones(len(X)) if weight is None else weight, []
    for tree in range(n_trees):
        rows = np.repeat(np.arange(len(X)), counts_of(keys, heavy, seed, tree, share, replace))
        grown.append(tree_class(**params, random_state=rng.seed_of_tree(seed, tree)).fit(X[rows], y[rows]))
    return grown
