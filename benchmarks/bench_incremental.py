"""Incremental trees: rows that come and go, batches, a million rows, memory, streams; that they stay the batch tree.

``--peers PYTHON`` names an interpreter that has river, for the rows against its trees of streams.
"""

import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from measure import HERE, Row, at_most, demand, duration, in_turns, main, verdict
from sklearn.datasets import make_classification

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, IncrementalTreeClassifier, IncrementalTreeRegressor
from dtnumba.trees.layout import arrays_of

COLUMNS, LEVELS, CHANGES = 20, 5, 100


def table(rows):
    """Return 20 columns and two classes, a twentieth of them wrong: the tree grows to the last row."""
    draw = {"n_informative": 10, "n_redundant": 4, "flip_y": 0.05, "random_state": 0}
    return make_classification(rows, COLUMNS, **draw)


def is_same(model, batch):
    """Whether a tree is another one, array for array."""
    pairs = zip(arrays_of(model.trees_), arrays_of(batch.trees_), strict=True)
    return all(one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True) for one, other in pairs)


def mean_of(call, rows):
    """Return the mean, the median and the most seconds of a call for each row."""
    took = []
    for row in rows:
        began = time.perf_counter()
        call(row)
        took.append(time.perf_counter() - began)
    return np.mean(took), np.median(took), max(took)


def single_rows(options):
    n = options.size(100_000, 10_000)
    X, y = table(n + 2 * CHANGES + 2)
    batch = DecisionTreeClassifier(n_jobs=options.threads).fit(X[:n], y[:n])
    fit = in_turns({"fit": lambda: batch.fit(X[:n], y[:n])}, {"fit": max(5, options.repeats)})["fit"].median
    model = IncrementalTreeClassifier(n_jobs=options.threads).fit(X[:n], y[:n])
    model.partial_fit(X[n : n + 1], y[n : n + 1]).forget_ids([n])  # what follows the rows is made at the first change
    began = time.perf_counter()
    again = IncrementalTreeClassifier(n_jobs=options.threads).fit(X[:n], y[:n])
    again.partial_fit(X[n : n + 1], y[n : n + 1])
    first = time.perf_counter() - began
    calls = {
        "added": (lambda row: model.partial_fit(X[row : row + 1], y[row : row + 1]), range(n + 1, n + 1 + CHANGES)),
        "removed by id": (lambda row: model.forget_ids([row]), range(CHANGES)),
        "removed by value": (lambda row: model.forget(X[row : row + 1], y[row : row + 1]), range(CHANGES, 2 * CHANGES)),
    }
    found = []
    for name, (call, rows) in calls.items():
        mean, median, most = mean_of(call, rows)
        checked = f"median {duration(median)}, most {duration(most)}; first change, with its fit, {duration(first)}"
        job = f"one row {name}, mean of {CHANGES}, {n:,} x {COLUMNS}; peer: a fit"
        found.append(at_most(options, job, duration(fit), duration(mean), mean / fit, 1 / 50, checked))
    held = [*range(2 * CHANGES, n), *range(n + 1, n + 1 + CHANGES)]
    demand(is_same(model, batch.fit(X[held], y[held])), "the batch tree")
    return found


def batches(options):
    n, size = options.size(100_000, 10_000), 1000
    X, y = table(n + 6 * size)
    batch = DecisionTreeClassifier(n_jobs=options.threads).fit(X[:n], y[:n])
    fit = in_turns({"fit": lambda: batch.fit(X[:n], y[:n])}, {"fit": max(5, options.repeats)})["fit"].median
    model = IncrementalTreeClassifier(n_jobs=options.threads).fit(X[:n], y[:n])
    model.partial_fit(X[n : n + 1], y[n : n + 1])
    mean, median, most = mean_of(
        lambda row: model.partial_fit(X[row : row + size], y[row : row + size]), range(n + size, n + 6 * size, size)
    )
    held = [*range(n + 1), *range(n + size, n + 6 * size)]
    demand(is_same(model, batch.fit(X[held], y[held])), "the batch tree")
    checked = f"median {duration(median)}, most {duration(most)}"
    job = f"a batch of {size:,} rows, {n:,} x {COLUMNS}; peer: a fit"
    return [at_most(options, job, duration(fit), duration(mean), mean / fit, 1 / 5, checked)]


def many_batches(options):
    """Eager trees follow every batch; lazy ones once, when they are asked."""
    found = []
    for restructure, n in (("lazy", options.size(1_000_000, 50_000)), ("eager", options.size(100_000, 10_000))):
        X, y = table(n)
        batch = DecisionTreeClassifier(n_jobs=options.threads).fit(X, y)
        fit = in_turns({"fit": lambda batch=batch, X=X, y=y: batch.fit(X, y)}, {"fit": 3})["fit"].median
        model = IncrementalTreeClassifier(n_jobs=options.threads, restructure=restructure)
        began = time.perf_counter()
        for start in range(0, n, 1000):
            model.partial_fit(X[start : start + 1000], y[start : start + 1000])
        demand(is_same(model, batch), "the batch tree")
        took = time.perf_counter() - began
        job = f"{n:,} rows in batches of 1,000, {restructure}; peer: one fit"
        found.append(at_most(options, job, duration(fit), duration(took), took / fit, 4))
    return found


def memory(options):
    n = options.size(100_000, 10_000)
    X, y = table(n + 1)
    model = IncrementalTreeClassifier(n_jobs=options.threads).fit(X[:n], y[:n]).partial_fit(X[n:], y[n:])
    rows, statistics = model.memory_["rows"], model.memory_["statistics"]
    checked = f"rows {rows / 1e6:.1f} MB for {X.nbytes / 1e6:.1f} MB passed"
    job, shown = f"statistics beside {n:,} x {COLUMNS} rows", f"{statistics / 1e6:.1f} MB"
    return [at_most(options, job, "-", shown, statistics / rows, 3, checked)]


def equality(options):
    """Random steps, each compared with a batch fit of the rows held, array for array."""
    steps, draw = options.size(2000, 100), np.random.default_rng(0)
    for make, make_batch, criterion in (
        (IncrementalTreeClassifier, DecisionTreeClassifier, "gini"),
        (IncrementalTreeClassifier, DecisionTreeClassifier, "entropy"),
        (IncrementalTreeRegressor, DecisionTreeRegressor, "squared_error"),
    ):
        X, y = table(40_000)
        X, y = X[:, :6].round(2), y if criterion != "squared_error" else X[:, 7] + y
        model, batch = make(criterion=criterion, n_jobs=1), make_batch(criterion=criterion, n_jobs=1)
        model.partial_fit(X[:1500], y[:1500])
        held, at = np.arange(1500), 1500
        for _ in range(steps):
            n = int(draw.choice([1, 1, 1, 5, 50, 500]))
            if (draw.random() < 0.5 or at + n > len(X)) and len(held) > n + 2:
                gone = draw.permutation(held)[:n]
                model.forget_ids(gone)
                held = np.setdiff1d(held, gone)
            elif at + n <= len(X):
                model.partial_fit(X[at : at + n], y[at : at + n])
                held, at = np.append(held, np.arange(at, at + n)), at + n
            demand(is_same(model, batch.fit(X[held], y[held])), f"{criterion}: the batch tree")
    job = f"{steps:,} random steps each of gini, entropy, squared error; every tree equals the batch tree"
    return [at_most(options, job, "-", "0 differ", 0, 0)]


def drifting(rows):
    """Return 15 numbers, 5 columns of 5 levels, and labels by a plane that is another one in each quarter."""
    draw = np.random.default_rng(0)
    X = draw.random((rows, COLUMNS))
    X[:, -LEVELS:] = draw.integers(0, 5, (rows, LEVELS))
    plane, quarter = draw.normal(size=(4, 10)), np.arange(rows) * 4 // rows
    side = ((X[:, :10] - 0.5) * plane[quarter]).sum(axis=1) + (X[:, 15] > 2) * 0.5 - 0.25
    return X, ((side > 0) ^ (draw.random(rows) < 0.05)).astype(np.int64)


def asked_of_river(options, kind, X, y):
    """Return what a tree of river got right of a stream, and its seconds of CPU; None where there is no river."""
    if options.peers is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "given.npz"
        np.savez(given, X=X, y=y)
        command = [str(options.peers), str(HERE / "stream_peer.py"), kind, str(given), str(LEVELS)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  the caller named it
    demand(done.returncode == 0, f"--peers {options.peers}: {kind} failed: {done.stderr[-2000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    return found["accuracy"], found["seconds"]


def prequential(model, X, y, block):
    """Predict blocks of rows before they are learned; return the share that was right, and the seconds of CPU."""
    right, began = 0, time.process_time()
    for start in range(0, len(X), block):
        rows = slice(start, start + block)
        if start:
            right += int(np.count_nonzero(model.predict(X[rows]) == y[rows]))
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
    return right / (len(X) - block), time.process_time() - began


def streams(options):
    """Each row is predicted before it is learned: by river one by one, by ours in blocks of 1,000."""
    n = options.size(1_000_000, 20_000)
    X, y = drifting(n)
    levels = list(range(COLUMNS - LEVELS, COLUMNS))
    found = []
    for kind, params in (
        ("hoeffding", {"reconsider": False}),
        ("adaptive", {"drift": "handled"}),
    ):
        make = {"approximate": True, "categorical_features": levels, "n_jobs": 1} | params
        prequential(IncrementalTreeClassifier(**make), X[:4000], y[:4000], 1000)  # compiled
        right, seconds = prequential(IncrementalTreeClassifier(**make), X, y, 1000)
        peer = asked_of_river(options, kind, X, y)
        said = f"{n / seconds:,.0f} rows/s, {right:.4f}"
        job = f"{n:,} rows x {COLUMNS} of a drifting stream, predicted and learned; peer: river's {kind} tree"
        if peer is None:
            found.append(Row(job, "-", said, "-", ">= 20x", "-"))
            continue
        ratio, ahead = peer[1] / seconds, right - peer[0]
        theirs = f"{n / peer[1]:,.0f} rows/s, {peer[0]:.4f}"
        reached = verdict(options, ratio >= 20 and ahead >= -0.005)
        found.append(Row(job, theirs, said, f"{ratio:.0f}x, {100 * ahead:+.1f} points", ">= 20x, >= -.5", reached))
    return found


def predictions(options):
    """Rows through the tree of rows held, and through trees of streams, beside the batch tree."""
    n = options.size(1_000_000, 50_000)
    X, y = table(n)
    batch = DecisionTreeClassifier(n_jobs=options.threads).fit(X, y)
    model = IncrementalTreeClassifier(n_jobs=options.threads, restructure="lazy").fit(X, y)
    learned = {}
    for answer in ("majority", "adaptive"):
        make = {"approximate": True, "leaf_prediction": answer, "n_jobs": options.threads}
        learned[answer] = IncrementalTreeClassifier(**make).partial_fit(X, y)
    demand(np.array_equal(batch.predict(X), model.predict(X)), "the labels of the batch tree")
    calls = {"batch": batch, "rows held": model, **learned}
    times = in_turns({name: (lambda one=one: one.predict(X)) for name, one in calls.items()}, dict.fromkeys(calls, 5))
    found = []
    for name in ("rows held", *learned):
        ratio, shown = times[name].median / times["batch"].median, str(times[name])
        what = "a tree of rows held" if name == "rows held" else f"a stream's tree, {name}"
        job = f"predict {n:,} rows, {what}; peer: the batch tree"
        found.append(at_most(options, job, str(times["batch"]), shown, ratio, 1.1 if name == "rows held" else None))
    return found


if __name__ == "__main__":
    main(__doc__, [single_rows, batches, many_batches, memory, equality, streams, predictions])
