"""One fit and one predict in a process of its own: started by bench_start.py, prints what each step took as JSON.

usage: first_call.py ESTIMATOR MAX_BINS ROWS THREADS [again]     MAX_BINS 0: exact; ``again``: fit a second time, warm
"""

import json
import sys
import time
from importlib import import_module


class Clock:
    """Seconds of each named step."""

    def __init__(self):
        self.seconds = {}

    def time(self, name, call):
        """Call, note the seconds, return the result."""
        began = time.perf_counter()
        result = call()
        self.seconds[name] = time.perf_counter() - began
        return result


def generated(np, rows, *, of_classes):
    """Return a table with some signal: 4 float64 columns like iris, or 28 float32 columns where there are many rows."""
    draw = np.random.default_rng(0)
    X = draw.random((rows, 4)) if rows < 1000 else draw.random((rows, 28), dtype=np.float32)
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.2 * draw.standard_normal(rows)
    return X, np.digitize(y, [0.5, 1.0]) if of_classes else y


def run(estimator, max_bins, rows, threads, again=""):
    clock = Clock()
    clock.time("import numpy", lambda: import_module("numpy"))
    clock.time("import numba", lambda: import_module("numba"))
    kind = clock.time("import dtnumba", lambda: getattr(import_module("dtnumba"), estimator))
    X, y = clock.time(
        "make data", lambda: generated(import_module("numpy"), int(rows), of_classes="Classifier" in estimator)
    )
    tree = kind(max_bins=int(max_bins) or None, n_jobs=int(threads), random_state=0)
    clock.time("fit", lambda: tree.fit(X, y))
    predicted = clock.time("predict", lambda: tree.predict(X))
    if again:
        clock.time("fit again", lambda: tree.fit(X, y))
        clock.time("predict again", lambda: tree.predict(X))
    clock.seconds["answer"] = float(predicted.sum())
    print(json.dumps(clock.seconds))


if __name__ == "__main__":
    run(*sys.argv[1:])
