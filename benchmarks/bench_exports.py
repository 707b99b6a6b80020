"""What exporters write: C of a forest of a million nodes, beside our own prediction on one thread; all are equal."""

import ctypes
import shutil
import sys
import time

import numpy as np
from data import H
from measure import Timing, at_most, demand, main, side_by_side

from dtnumba import RandomForestClassifier, export

N_NODES = 1_000_000


def once(call):
    """Return what a call returns, and how long it took."""
    began = time.perf_counter()
    found = call()
    return found, Timing([time.perf_counter() - began])


def large_forest(options, X, y):
    """Return a forest of about so many nodes."""
    shape = {"random_state": 0, "n_jobs": options.threads}
    one = RandomForestClassifier(n_estimators=2, **shape).fit(X, y).trees_.n_nodes / 2
    wanted = N_NODES if options.is_full else N_NODES // 100
    return RandomForestClassifier(n_estimators=max(1, round(wanted / one)), **shape).fit(X, y)


def c(options):
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        print("There is no C compiler: the rows of C are left out", file=sys.stderr, flush=True)
        return []
    X, y, X_test, _ = H(options.size(100_000, 2_000))
    forest = large_forest(options, X, y)
    source, writing = once(lambda: export.c(forest))
    library, compiling = once(source.compiled)
    X_test = X_test[: options.size(100_000, 2_000)]
    rows = np.ascontiguousarray(X_test, np.float64)
    out = np.empty((len(rows), 2))
    pointers = [ctypes.c_void_p(rows.ctypes.data), ctypes.c_int64(len(rows)), ctypes.c_void_p(out.ctypes.data)]
    forest.n_jobs = 1
    library.model_predict(*pointers)
    demand(np.array_equal(out, forest.predict_proba(X_test)), "C and predict_proba")
    demand(bool(export.verify(source, forest, X_test[:500])), "export.verify")
    ours, theirs = side_by_side(
        lambda: forest.predict_proba(X_test), lambda: library.model_predict(*pointers), options.repeats
    )
    trees, n = forest.trees_, f"{len(rows):,}"
    job = f"C of a forest of {trees.n_nodes:,} nodes, {trees.n_trees} trees"
    checked = f"{n} rows equal; {len(source) / 1e6:.0f} MB of source"
    return [
        at_most(options, f"{job}, written", "-", str(writing), writing.median, 2.0, checked, unit=" s"),
        at_most(options, f"{job}, compiled by gcc -O2", "-", str(compiling), compiling.median, 5.0, unit=" s"),
        at_most(
            options, f"{job}, {n} rows, beside predict_proba, 1 thread", str(ours), str(theirs),
            theirs.median / ours.median, 4.0,
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    main(__doc__, [c])
