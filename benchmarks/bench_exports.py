"""What exporters write: C and ONNX of a forest of a million nodes, SQL of a tree of a thousand; all are equal."""

import ctypes
import shutil
import sys
import time
from importlib.util import find_spec

import numpy as np
from data import H
from measure import Timing, at_most, demand, main, side_by_side

from dtnumba import DecisionTreeClassifier, RandomForestClassifier, export

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


def sql(options):
    if find_spec("duckdb") is None:
        print("DuckDB is not here: its rows are left out", file=sys.stderr, flush=True)
        return []
    import duckdb

    X, y, X_test, _ = H(options.size(100_000, 2_000))
    tree = DecisionTreeClassifier(max_leaf_nodes=500 if options.is_full else 50, random_state=0).fit(X, y)
    n = 1_000_000 if options.is_full else len(X_test)
    rows = X_test[np.random.default_rng(0).integers(0, len(X_test), n)]
    rows[np.random.default_rng(1).random(rows.shape) < 0.01] = np.nan
    names = [f"x{j}" for j in range(rows.shape[1])]
    connection = duckdb.connect()
    connection.execute(f"SET threads = {options.threads}")
    connection.register("given", {"id": np.arange(n), **dict(zip(names, rows.T.copy(), strict=True))})
    connection.execute("CREATE TABLE houses AS SELECT * FROM given")
    expected, found = tree.predict(rows), []
    for style in ("case", "table"):
        query = export.sql(tree, "houses", style, keep=["id"])
        answer, timing = once(lambda query=query: connection.execute(query).fetchnumpy())
        said = np.asarray(answer["prediction"])[np.argsort(answer["id"])]
        demand(np.array_equal(said, expected), f"DuckDB and predict, style={style!r}")
        job = f"SQL of a tree of {tree.n_nodes_:,} nodes in DuckDB, {n:,} rows, style={style!r}"
        limit = 5.0 if style == "case" else None
        found.append(at_most(options, job, "-", str(timing), timing.median, limit, "all rows equal", unit=" s"))
    return found


def onnx(options):
    if find_spec("onnx") is None or find_spec("onnxruntime") is None:
        print("onnx or ONNX Runtime is not here: its rows are left out", file=sys.stderr, flush=True)
        return []
    import onnxruntime

    X, y, X_test, _ = H(options.size(100_000, 2_000))
    forest = large_forest(options, X, y)
    made, writing = once(lambda: bytes(export.onnx(forest)))
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(made, settings, providers=["CPUExecutionProvider"])
    X_test = X_test[: options.size(100_000, 2_000)]
    rows = X_test.astype(np.float64)
    forest.n_jobs = 1
    demand(np.array_equal(session.run(["probabilities"], {"rows": rows})[0], forest.predict_proba(X_test)), "ONNX")
    ours, theirs = side_by_side(
        lambda: forest.predict_proba(X_test), lambda: session.run(["probabilities"], {"rows": rows}), options.repeats, 1
    )
    job, n = f"ONNX of a forest of {forest.trees_.n_nodes:,} nodes, {forest.trees_.n_trees} trees", f"{len(rows):,}"
    checked = f"{n} rows equal to the bit"
    return [
        at_most(options, f"{job}, written", "-", str(writing), writing.median, None, checked, unit=" s"),
        at_most(
            options, f"{job}, {n} rows in ONNX Runtime, beside predict_proba, 1 thread", str(theirs), str(ours),
            theirs.median / ours.median, None,
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    main(__doc__, [c, sql, onnx])
