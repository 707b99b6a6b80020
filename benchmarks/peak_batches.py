"""Codes and a fit of a table that is never in memory, and what they took: started by bench_batches.py, prints JSON.

usage: peak_batches.py KIND ROWS THREADS      e.g. peak_batches.py forest 10000000 2      KIND: one of MODELS
"""

import json
import sys
import time

import numpy as np
from peak_memory import WARM_ROWS, peak_above

from dtnumba import DecisionTreeClassifier, RandomForestClassifier, RandomForestRegressor, bin_batches
from dtnumba.trees.layout import arrays_of

COLUMNS, BATCH, TEST_ROWS = 28, 100_000, 50_000
SHALLOW = {"n_estimators": 2, "max_depth": 8}
MODELS = {
    "forest": (RandomForestClassifier, SHALLOW),
    "regressor": (RandomForestRegressor, SHALLOW),
    "tree": (DecisionTreeClassifier, {"max_bins": 255}),  # fully grown
}


def rows_of(k, n=BATCH):
    """Return (X, y) of batch k: 28 columns of which 5 count, two classes, a twentieth of the labels wrong."""
    draw = np.random.default_rng([0, k])
    X = draw.standard_normal((n, COLUMNS), dtype=np.float32)
    y = X[:, 0] * X[:, 1] + X[:, 2] > 0.5 * X[:, 3] * X[:, 4]
    return X, (y ^ (draw.random(n) < 0.05)).astype(np.int8)


def run(kind, rows, threads):
    rows = int(rows)
    sizes = [min(BATCH, rows - start) for start in range(0, rows, BATCH)]
    y = np.concatenate([rows_of(k, n)[1] for k, n in enumerate(sizes)])
    make, options = MODELS[kind]
    model = make(n_jobs=int(threads), random_state=0, **options)
    X_warm, y_warm = rows_of(0, WARM_ROWS)
    model.fit(bin_batches(X_warm), y_warm)
    seconds, held = [], []

    def train():
        began = time.perf_counter()
        table = bin_batches(lambda: (rows_of(k, n)[0] for k, n in enumerate(sizes)))
        seconds.append(time.perf_counter() - began)
        model.fit(table, y)
        seconds.append(time.perf_counter() - began - seconds[0])
        held.append(table.nbytes)

    above = peak_above(train)
    X_test, y_test = rows_of(1 << 20, TEST_ROWS)
    trees = sum(column.nbytes for column in arrays_of(model.trees_))
    found = {"above": above, "codes": held[0], "trees": trees, "leaves": int(model.trees_.n_leaves)}
    least = 0.1 if kind == "regressor" else 0.65
    print(json.dumps(found | {"score": model.score(X_test, y_test), "least": least, "seconds": seconds}))


if __name__ == "__main__":
    run(*sys.argv[1:])
