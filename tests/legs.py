"""The same bits on every leg: compiled, interpreted, with bounds checks, on any threads, cold.

As a script, grow one tree of every kind and print a line for each: its name and a digest of all its bits. The tests run
it under other settings of Numba and compare the lines. ``large_job`` does the same for tables that threads share.
"""

import hashlib
import sys

import numpy as np

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor
from dtnumba.growth.binary.grow_in_parallel import PARALLEL_ROWS
from dtnumba.trees.check import check
from dtnumba.trees.layout import arrays_of

N_SMALL = 60
N_LARGE = PARALLEL_ROWS + 1500


def digest_of(model, X):
    """Digest of every array of the fitted trees, and of the leaf of every row of X."""
    digest = hashlib.sha256()
    for column in arrays_of(check(model.trees_, X.shape[1])):
        digest.update(np.ascontiguousarray(column).tobytes())
    digest.update(model.apply(X).tobytes())
    return digest.hexdigest()[:16]


def table(n_rows, n_columns, seed=0):
    """Continuous and coarse columns with missing values, two labels, three labels, and a number."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, ::3] = X[:, ::3].round(1)
    z = X[:, 0] * X[:, 1] + rng.normal(size=n_rows)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, (z > 0).astype(int), np.digitize(z, [-0.5, 0.7]), z


def gini(stats, weight):
    """A user's own criterion."""
    squares = 0.0
    for k in range(len(stats)):
        squares += stats[k] * stats[k]
    return 1.0 - squares / (weight * weight)


def small_trees():
    """Yield (name, digest) of one small tree of every splitter and target kind."""
    X, two, three, z = table(N_SMALL, 4)
    whole = np.arange(N_SMALL) % 4
    real = np.linspace(0.0, 1.3, N_SMALL)
    classes, numbers = DecisionTreeClassifier, DecisionTreeRegressor
    pairs, both = np.stack([two, three], axis=1), np.stack([z, z**2], axis=1)
    narrow = X.astype(np.float32)
    cases = {
        "exact, two classes": (classes(), X, two, None),
        "exact, two classes, float32": (classes(min_samples_leaf=3), narrow, two, whole),
        "histogram, three classes, entropy": (classes(criterion="entropy", max_bins=16), X, three, real),
        "random, several outputs": (ExtraTreeClassifier(random_state=3), X, pairs, None),
        "histogram, own criterion": (classes(criterion=gini, max_bins=255, max_leaf_nodes=9), X, three, None),
        "exact, a number": (numbers(), X, z, real),
        "histogram, numbers": (numbers(max_bins=32, min_samples_leaf=2), narrow, both, whole),
        "random, counts": (ExtraTreeRegressor(criterion="poisson", random_state=3), X, three + 1.0, None),
        "exact, ranks": (numbers(criterion="absolute_error"), X, z, real),
    }
    for name, (model, rows, y, weight) in cases.items():
        yield name, digest_of(model.fit(rows, y, weight), X)


def large_job(n_jobs):
    """Grow an exact and a histogram tree over a table that threads share; return a digest."""
    X, two, _, z = table(N_LARGE, 10, seed=1)
    many = np.tile(X, (4, 1))  # enough rows that prediction enters the pool
    exact = DecisionTreeClassifier(n_jobs=n_jobs).fit(X, two)
    histogram = DecisionTreeRegressor(max_bins=255, n_jobs=n_jobs).fit(X, z)
    return digest_of(exact, many) + digest_of(histogram, many)


def wide_job(n_jobs):
    """Grow histogram trees whose tables are kept by node, and by worker in subtrees, and are too large to; a digest.

    Many classes and many columns make tables large: up to KEPT_TABLE_BYTES they are built by all threads together.
    """
    rng = np.random.default_rng(2)
    found = []
    for n_columns, n_classes in ((6, 200), (6, 700), (4200, 2)):
        X = rng.normal(size=(N_LARGE, n_columns)).astype(np.float32)
        z = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.2 * rng.normal(size=N_LARGE)
        y = np.digitize(z, np.quantile(z, np.arange(1, n_classes) / n_classes))
        model = DecisionTreeClassifier(max_bins=255, min_samples_leaf=3, n_jobs=n_jobs).fit(X, y)
        found.append(digest_of(model, X))
    return "".join(found)


def lines():
    """Return what the script prints."""
    return [f"{digest} {name}" for name, digest in small_trees()]


if __name__ == "__main__":
    sys.stdout.write("\n".join(lines()) + "\n")
