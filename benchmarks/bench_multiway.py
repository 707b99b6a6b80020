"""C4.5, ID3, intervals and every policy of missing values at full size, against our own binary growth."""

import math
import resource
import sys

import numpy as np
from data import H
from measure import Timing, at_most, demand, fresh_process, in_turns, main

from dtnumba import C45Classifier, DecisionTreeClassifier, ID3Classifier, RandomForestClassifier

COLUMNS = 30


def numbers(n, columns=COLUMNS, missing=0.0):
    """Return rows of real numbers, and two classes that five of them tell apart but for noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, columns), dtype=np.float32)
    z = X[:, 0] + X[:, 1] * X[:, 2] + np.abs(X[:, 3]) - 0.5 * X[:, 4] + 0.7 * rng.standard_normal(n)
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
    return X, (z > np.median(z)).astype(np.int64)


def warm(model, X, y):
    """Fit parts of a table, until nothing is left to compile, and a score must not be one by chance."""
    for rows in (2_000, 40_000, 150_000):
        model.fit(X[:rows], y[:rows])
    demand(model.score(X[:40_000], y[:40_000]) > 0.65, f"{model}: a score by chance")
    return model


def timed(options, models, X, y):
    """Return the Timings of named models, which must have the same bits on one thread."""
    for model in models.values():
        warm(model, X, y)
    jobs = {name: lambda m=m: m.fit(X, y) for name, m in models.items()}
    return in_turns(jobs, dict.fromkeys(models, repeats(options)))


def repeats(options):
    return min(3, options.repeats)


def classical(options):
    X, y = numbers(options.size(1_000_000, 20_000))
    makes = {
        "C4.5, unpruned": (lambda j: C45Classifier(prune=None, n_jobs=j), 6.0),
        "C4.5": (lambda j: C45Classifier(n_jobs=j), 8.0),
        "ID3, depth 5": (lambda j: ID3Classifier(max_depth=5, n_jobs=j), 3.0),
        "intervals, depth 5": (
            lambda j: DecisionTreeClassifier(numeric_split="interval", max_depth=5, n_jobs=j),
            5.0,
        ),
    }
    rows = []
    for name, (make, limit) in makes.items():
        models = {"one": make(1), "all": make(options.threads)}
        times = timed(options, models, X, y)
        one, both = (models[k].trees_ for k in ("one", "all"))
        same = all(
            np.array_equal(getattr(one, f), getattr(both, f), equal_nan=True) for f in ("feature", "threshold", "gain")
        )
        demand(same and np.array_equal(one.value, both.value), f"{name}: other bits on {options.threads} threads")
        job, checked = (
            f"{name}, {len(X):,} x {COLUMNS}",
            f"{models['all'].n_leaves_:,} leaves, the same bits on one thread",
        )
        took = times["all"]
        rows.append(at_most(options, job, "-", str(took), took.median, limit, checked, unit=" s"))
        if name == "C4.5, unpruned":
            share = took.median / times["one"].median
            rows.append(
                at_most(options, f"{job}, peer one thread", str(times["one"]), str(took), share, 1 / 1.7, checked)
            )
    return rows


def policies(options):
    rows = []
    for missing, limits in ((0.0, (2.0, 4.0)), (0.1, (3.0, 5.0))):
        X, y = numbers(options.size(1_000_000, 20_000), missing=missing)
        names = ("learned", "fractional", "branch", "majority", "surrogate")
        models = {name: DecisionTreeClassifier(missing=name, max_depth=5, n_jobs=options.threads) for name in names}
        times = timed(options, models, X, y)
        for name in names[1:]:
            limit = limits[1 if name == "surrogate" else 0]
            ratio = times[name].median / times["learned"].median
            job = f"missing={name!r}, depth 5, {len(X):,} x {COLUMNS}, {missing:.0%} missing, peer 'learned'"
            checked = f"score {models[name].score(X, y):.3f} (peer {models['learned'].score(X, y):.3f})"
            rows.append(at_most(options, job, str(times["learned"]), str(times[name]), ratio, limit, checked))
    return rows


def growth_of_time(options):
    few, many = options.size(100_000, 10_000), options.size(3_000_000, 30_000)
    X, y = numbers(many)
    model = C45Classifier(prune=None, n_jobs=options.threads)
    warm(model, X, y)
    times = in_turns({n: lambda n=n: model.fit(X[:n], y[:n]) for n in (few, many)}, {few: 4, many: 2})
    power = math.log(min(times[many].seconds) / min(times[few].seconds)) / math.log(many / few)
    job = f"C4.5, from {few:,} to {many:,} rows: exponent of the time"
    return [
        at_most(options, job, str(times[few]), str(times[many]), power, 1.15, f"{model.n_leaves_:,} leaves", unit="")
    ]


def forests(options):
    X, y, *_ = H(options.size(100_000, 10_000))
    X = X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    policies = ("learned", "fractional")
    models = {
        name: RandomForestClassifier(20, missing=name, random_state=0, n_jobs=options.threads) for name in policies
    }
    times = timed(options, models, X, y)
    ratio = times["fractional"].median / times["learned"].median
    checked = f"score {models['fractional'].score(X, y):.3f} (peer {models['learned'].score(X, y):.3f})"
    job = f"forest of 20, missing='fractional', H {len(X):,}, 10% missing, peer 'learned'"
    return [at_most(options, job, str(times["learned"]), str(times["fractional"]), ratio, 4.0, checked)]


def memory(options):
    rows = options.size(5_000_000, 50_000)
    found, _ = fresh_process("bench_multiway.py", "--peak", rows)
    took, peak = Timing([found["seconds"]]), found["peak"] / found["input"]
    job = f"C4.5, unpruned, {rows:,} x 50"
    return [
        at_most(options, job, "-", str(took), took.median, 90.0, f"{found['leaves']:,} leaves", unit=" s"),
        at_most(options, f"{job}: peak memory over the input", "-", f"{found['peak']:.2f} GB", peak, 4.0),
    ]


def print_peak(rows):
    """Fit one large table; print seconds, leaves, and gigabytes of the table and of the process at its largest."""
    import json
    import time

    X, y = numbers(rows, 50)
    C45Classifier(prune=None).fit(X[:150_000], y[:150_000])
    began = time.perf_counter()
    model = C45Classifier(prune=None).fit(X, y)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"seconds": seconds, "leaves": model.n_leaves_, "input": X.nbytes / 2**30, "peak": peak}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        print_peak(int(sys.argv[2]))
    else:
        main(__doc__, [classical, policies, growth_of_time, forests, memory])
