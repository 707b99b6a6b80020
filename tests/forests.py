"""Tables for forests, how often their trees draw a row, and digests of what they hold."""

import hashlib

import numpy as np

from dtnumba.runtime import rng
from dtnumba.trees.layout import arrays_of


def table(n_rows=300, seed=0, missing=0.1):
    """Two classes, three classes and a number of six columns, some of them coarse and some missing."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 6))
    X[:, 3] = X[:, 3].round(1)
    z = X[:, 0] * X[:, 1] + X[:, 3] + 0.3 * generator.normal(size=n_rows)
    X[generator.random(X.shape) < missing] = np.nan
    return X, (z > 0).astype(int), np.digitize(z, [-1, 1]), z


def digest(*arrays):
    """Digest of the bits of arrays."""
    found = hashlib.sha256()
    for array in arrays_of(arrays):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def counts_of(model, n, t):
    """How often tree t drew each of n rows."""
    key = rng.stream(model.seed_, rng.BOOTSTRAP, t)
    draws = [((int(rng._mixed(key, i)) >> 32) * n) >> 32 for i in range(n)]
    return np.bincount(draws, minlength=n)


def long_work():
    generator = np.random.default_rng(0)
    return generator.normal(size=(30_000, 12)).astype(np.float32), generator.integers(0, 2, 30_000)
