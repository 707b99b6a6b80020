"""Fits and predictions in a process of its own: started by bench_start.py, prints what each step took as JSON.

usage: first_call.py ROWS THREADS LEARNER[:KIND] ...     KIND: plain (default), categories, outputs
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


def generated(np, rows, kind, *, of_classes):
    """Return a table with some signal: 5 float64 columns, or 28 float32 columns where there are many rows."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(rows, 5)) if rows < 10_000 else draw.random((rows, 28), dtype=np.float32)
    z = X[:, 0] * X[:, 1] + 0.3 * draw.normal(size=rows)
    y = (z > np.median(z)).astype(int) if of_classes else z
    if kind == "categories":
        X[:, 3:5] = np.floor(np.abs(X[:, 3:5]) * 4) % 7
    if kind == "outputs":
        y = np.stack([y, y[::-1]], axis=1)
    return X, y


def run(rows, threads, *works):
    """Fit and predict one after another; a step is named after its work."""
    clock = Clock()
    clock.time("import numpy", lambda: import_module("numpy"))
    clock.time("import numba", lambda: import_module("numba"))
    answer, np = 0.0, import_module("numpy")
    for work in works:
        learner, _, kind = work.partition(":")
        cls = clock.time(f"import {work}", lambda learner=learner: getattr(import_module("dtnumba"), learner))
        X, y = generated(np, int(rows), kind, of_classes=not learner.endswith("Regressor"))
        given = {"categorical_features": [3, 4]} if kind == "categories" else {}
        model = cls(**given)
        if hasattr(model, "n_jobs"):
            model.n_jobs = int(threads)
        if hasattr(model, "random_state"):
            model.random_state = 0
        clock.time(f"fit {work}", lambda model=model, X=X, y=y: model.fit(X, y))
        answer += float(np.sum(clock.time(f"predict {work}", lambda model=model, X=X: model.predict(X))))
    print(json.dumps(clock.seconds | {"answer": answer}))


if __name__ == "__main__":
    run(*sys.argv[1:])
