"""The jobs of bench_cliffs.py, each on shapes that are off the usual path; run as a child, one side of one of them.

usage: cliff_jobs.py JOB ours|peer SCALE THREADS      prints "@start" when warm, then JSON
"""

import json
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import sklearn.ensemble
import sklearn.tree
from data import H
from peak_memory import peak_above
from scipy import sparse

import dtnumba

N_TEST = 5_000
REPEATS, ENOUGH, LONG = 5, 6.0, 20.0  # repeats, unless these many seconds are over


class Sides(NamedTuple):
    """A table and who works on it: ``ours(threads)`` and ``peer()``, None where there is none."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    ours: Callable
    peer: Callable | None
    warm: int = 4_500  # rows of the fit that compiles


class Target(NamedTuple):
    """What must hold; ``busy`` stands for ``ratio`` where another process uses a core."""

    seconds: float | None = None
    ratio: float | None = None  # ours / peer
    busy: float | None = None
    memory: float | None = None  # peak of our fit above its input, in sizes of the input
    megabytes: float | None = None
    exponent: float | None = None  # of growth, from scale 1 to scale 4
    noise: float = 0.03  # by how much our score may be below the peer's


class Job(NamedTuple):
    """A row of the table."""

    make: Callable  # of a scale
    target: Target
    does: str = "fit"


def parted(X, y):
    n = X.shape[0] - N_TEST
    return X[:n], y[:n], X[n:], y[n:]


def normal(n, p, seed=0):
    return np.random.default_rng(seed).standard_normal((n + N_TEST, p)).astype(np.float32)


def banded(n, p, k):
    """Return a table of k classes, bands of a smooth function of three columns."""
    X = normal(n, p)
    z = X[:, 0] + X[:, 1] * X[:, 2] + 0.2 * np.random.default_rng(1).standard_normal(len(X))
    return parted(X, np.searchsorted(np.quantile(z, np.arange(1, k) / k), z))


def ours_of(name, **parameters):
    return lambda threads: getattr(dtnumba, name)(n_jobs=threads, **parameters)


def peers(name, **parameters):
    library = sklearn.tree if name.startswith("DecisionTree") else sklearn.ensemble
    return lambda: getattr(library, name)(random_state=0, **parameters)


def both(name, table, *, own=None, warm=4_500, **parameters):
    """Return the sides of one learner of both libraries; ``own``: what scikit-learn does not have."""
    own = {"random_state": 0} | (own or {})
    return Sides(*table, ours_of(name, **own, **parameters), peers(name, **parameters), warm)


def on_threads(**parameters):
    """Ours on the threads asked for, beside ours on one."""

    def make(scale):
        X, y, X_test, y_test = H(100_000)
        tree = ours_of("DecisionTreeClassifier", **parameters)
        return Sides(X, y, X_test[:N_TEST], y_test[:N_TEST], tree, lambda: tree(1), len(X))

    return make


def alternating(scale):
    X = np.arange(8_000 + N_TEST, dtype=np.float32)[:, None]
    y = np.arange(len(X)) % 2
    tree = ours_of("DecisionTreeClassifier")
    return Sides(X[:8_000], y[:8_000], X[:N_TEST], y[:N_TEST], tree, lambda: tree(1), 8_000)


def sparse_table():
    draw = np.random.default_rng(0)
    X = sparse.random(20_000 + N_TEST, 5_000, 0.005, format="csr", random_state=0, dtype=np.float32)
    z = np.asarray(X[:, :200].sum(axis=1)).ravel() + 0.1 * draw.standard_normal(X.shape[0])
    return parted(X, (z > np.median(z)).astype(int))


def leveled(n, n_levels):
    """A column of so many levels, of which each has its own chance of class 1."""
    draw = np.random.default_rng(0)
    code = np.concatenate([np.arange(n_levels), draw.integers(0, n_levels, n + N_TEST - n_levels)])
    draw.shuffle(code)
    y = (draw.random(len(code)) < draw.random(n_levels)[code]).astype(int)
    return parted(code[:, None].astype(np.float32), y)


def one_vs_rest(scale):
    tree = {"categorical_features": [0], "max_depth": 8}
    ours = ours_of("DecisionTreeClassifier", categorical_split="one_vs_rest", **tree)
    peer = ours_of("DecisionTreeClassifier", **tree)
    return Sides(*leveled(20_000 * scale, 6_000 * scale), ours, lambda: peer(1), 2_000)


def interval(scale):
    table = banded(10_867, 6, 256)
    ours = ours_of("DecisionTreeClassifier", numeric_split="interval")
    return Sides(*table, ours, lambda: ours_of("DecisionTreeClassifier")(1), 500)


def decision_list(scale):
    X, y, X_test, y_test = leveled(20_000, 1_000)
    made = ours_of("DecisionListClassifier", categorical_features=[0])
    return Sides(X, y, X_test, y_test, made, None, 300)


def chaid(scale):
    draw = np.random.default_rng(0)
    X = draw.random((5_000_000, 50), dtype=np.float32)
    y = (X[:, 0] + X[:, 1] > 1).astype(int)
    return Sides(X, y, X[:N_TEST], y[:N_TEST], ours_of("CHAIDClassifier", max_depth=3), None)


def grown_of_bands(name, shape, **parameters):
    """Return a job that grows: ``shape(scale)`` is (rows, columns, classes)."""
    return lambda scale: both(name, banded(*shape(scale)), **parameters)


def outputs(scale):
    X, z, X_test, z_test = banded(20_000, 10, 64)
    y, y_test = (np.stack([one.astype(float) * (k + 1) % 37 for k in range(4 * scale)], axis=1) for one in (z, z_test))
    return both("DecisionTreeRegressor", (X, y, X_test, y_test), max_depth=8)


def levels(scale):
    X, y, X_test, y_test = leveled(60_000, 1_000 * scale)
    own = {"categorical_features": [0]}
    return both("DecisionTreeClassifier", (X, y, X_test, y_test), own=own, max_depth=8)


def deeper(scale):
    """The last of 2,000 and 8,000 nodes on one path."""
    n = 2_000 * scale
    X = np.arange(n, dtype=np.float32)[:, None]
    y = np.arange(n) % 2
    return both("DecisionTreeClassifier", (X, y, X, y))


FOREST = "RandomForestClassifier"
TREE = "DecisionTreeClassifier"
JOBS = {
    "exact tree, H 100,000, threads": Job(on_threads(), Target(ratio=1 / 1.75, busy=1.1, noise=0.0)),
    "histogram tree, H 100,000, threads": Job(on_threads(max_bins=255), Target(ratio=1 / 1.7, busy=1.1, noise=0.0)),
    "best first, 1,000 leaves, H 100,000, threads": Job(
        on_threads(max_leaf_nodes=1_000, max_bins=255), Target(ratio=1 / 1.5, busy=1.1, noise=0.0)
    ),
    "alternating labels, 8,000 x 1, threads": Job(alternating, Target(ratio=1.1, busy=1.1, noise=0.0)),
    "sparse 20,000 x 5,000, forest of 20": Job(
        lambda scale: both(FOREST, sparse_table(), n_estimators=20, warm=500), Target(ratio=1.0, memory=3.0)
    ),
    "sparse 20,000 x 5,000, tree of depth 10": Job(
        lambda scale: both(TREE, sparse_table(), max_depth=10, warm=500), Target(ratio=1.0, memory=3.0)
    ),
    "ExtraTrees, exact, 100,000 x 28, 20 trees": Job(
        lambda scale: both("ExtraTreesClassifier", tuple(part[:100_000] for part in H(100_000)), n_estimators=20,
                           own={"max_bins": None}), Target(seconds=0.8)),
    "exact tree, 20,000 x 20, 10,000 classes, depth 8": Job(
        lambda scale: both(TREE, banded(20_000, 20, 10_000), max_depth=8, warm=2_000), Target(seconds=15.0)),
    "forest of 10, 20,000 x 20, 1,000 classes": Job(
        lambda scale: both(FOREST, banded(20_000, 20, 1_000), n_estimators=10, warm=2_000),
        Target(seconds=15.0, megabytes=1_000)),
    "predict, 10 trees, 60,000 x 6, 1,000 classes": Job(
        lambda scale: both(FOREST, banded(60_000, 6, 1_000), n_estimators=10), Target(ratio=0.5), "predict"),
    "one_vs_rest, a column of 6,000 levels; peer subset": Job(one_vs_rest, Target(seconds=0.1, noise=1.0)),
    "interval, 10,867 x 6, 256 classes; peer threshold": Job(interval, Target(seconds=5.0, noise=0.1)),
    "decision list, 20,000 rows, a column of 1,000 levels": Job(decision_list, Target(seconds=2.0, memory=3.0)),
    "CHAID, 5,000,000 x 50": Job(chaid, Target(memory=1.0)),
    "forest of 100, 500 x 50,000": Job(
        lambda scale: both(FOREST, banded(500, 50_000, 2), n_estimators=100, warm=500), Target(seconds=0.8)),
    # What grows by 4 while the rest stands
    "rows, exact tree": Job(
        grown_of_bands(TREE, lambda scale: (50_000 * scale, 10, 4), max_depth=12), Target(exponent=1.25)),
    "rows, forest": Job(
        grown_of_bands(FOREST, lambda scale: (50_000 * scale, 10, 4), n_estimators=10), Target(exponent=1.25)),
    "columns, exact tree": Job(
        grown_of_bands(TREE, lambda scale: (10_000, 50 * scale, 4), max_depth=12), Target(exponent=1.15)),
    "columns, forest": Job(
        grown_of_bands(FOREST, lambda scale: (10_000, 400 * scale, 4), n_estimators=10), Target(exponent=1.15)),
    "classes, exact tree": Job(
        grown_of_bands(TREE, lambda scale: (20_000, 5, 50 * scale), max_depth=8), Target(exponent=1.15)),
    "classes, forest": Job(
        grown_of_bands(FOREST, lambda scale: (20_000, 5, 50 * scale), n_estimators=5, max_depth=8),
        Target(exponent=1.15)),
    "levels, tree": Job(levels, Target(exponent=1.25, noise=0.05)),
    "outputs, tree": Job(outputs, Target(exponent=1.15)),
    "depth, tree": Job(deeper, Target(exponent=2.1)),  # each level of a chain holds the rest of the rows
    "trees, forest": Job(
        lambda scale: both(FOREST, banded(20_000, 10, 4), n_estimators=25 * scale), Target(exponent=1.1)),
}  # fmt: skip


def n_bytes(X):
    return sum(part.nbytes for part in (X.data, X.indices, X.indptr)) if sparse.issparse(X) else X.nbytes


def child(name, side, scale, threads):
    """Do one side of a job; print what it took."""
    job, ours = JOBS[name], side == "ours"
    sides = job.make(scale)

    def model():
        return sides.ours(threads) if ours else sides.peer()

    if type(model()).__module__.startswith("dtnumba"):  # what compiles
        model().fit(sides.X[: sides.warm], sides.y[: sides.warm])
    fitted = model().fit(sides.X, sides.y) if job.does == "predict" else None
    print("@start", flush=True)

    def work():
        nonlocal fitted
        if job.does == "predict":
            return fitted.predict(sides.X)
        fitted = model().fit(sides.X, sides.y)
        return fitted

    seconds, began, held = [], time.perf_counter(), 0
    work()
    first = time.perf_counter() - began  # what is left to compile is in it; it stands for all where it is long
    if job.target.memory or job.target.megabytes:
        fitted = None
        held = peak_above(work)  # of another fit: the first one loads kernels, some 20 MB
        began = time.perf_counter() - first  # of what follows
    if first > LONG:
        seconds = [first]
    while not seconds or (first <= LONG and len(seconds) < REPEATS and time.perf_counter() - began < ENOUGH + first):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    found = {"seconds": median(seconds), "held": held, "input": n_bytes(sides.X)}
    print(json.dumps(found | {"score": float(fitted.score(sides.X_test, sides.y_test))}), flush=True)


if __name__ == "__main__":
    child(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
