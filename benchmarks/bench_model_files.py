"""Model files: how large they are, and how long saving, loading and the first prediction take, against pickles.

    python benchmarks/bench_model_files.py [--quick] [--table FILE.npz]

A forest of 20 fully grown trees on H; then a file of 2 GB of trees that are put together from 32 of these each, which
is loaded and asked in a process of its own. Answers are compared before times are printed.
"""

import argparse
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from measure import demand

import dtnumba
from dtnumba.model_files import container

_COLD = """
import sys, time, resource
import numpy as np
import dtnumba
small, large, rows = sys.argv[1:]
X = np.load(rows)
dtnumba.load(small).predict_proba(X)  # what importing takes is not measured

def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024

before, start = resident(), time.perf_counter()
model = dtnumba.load(large)
loaded, after = time.perf_counter(), resident()
answer = model.predict_proba(X)
asked = time.perf_counter()
np.save(sys.argv[3], answer)
print(loaded - start, asked - start, after - before, resident() - before)
"""


def table(options):
    """Return columns and labels of H."""
    if options.table:
        with np.load(options.table) as held:
            return held["X"], held["y"]
    from data import H

    X, y, _, _ = H(5_000 if options.quick else 100_000)
    return X, y


def best(work, times=7):
    """Return the least and the median seconds of some work."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken), float(np.median(taken))


def first_predictions(make, X, times=9):
    """Return the seconds of the first prediction of models made anew."""
    taken = []
    for _ in range(times):
        model = make()
        start = time.perf_counter()
        model.predict_proba(X)
        taken.append(time.perf_counter() - start)
    return min(taken), float(np.median(taken))


def of_one_file(model, path, X, pickled, compact):
    """Measure one file of a forest."""
    n, text = model.trees_.n_nodes, pickle.dumps(model)
    model.save(path, compact=compact)
    demand((dtnumba.load(path).predict_proba(X) == model.predict_proba(X)).all(), "loaded, and as it was fitted")
    a_node = path.stat().st_size / n
    saved, loaded = best(lambda: model.save(path, compact=compact)), best(lambda: dtnumba.load(path))
    words = "compact" if compact else "all columns"
    print(f"{words}: {a_node:.2f} bytes a node, 1/{pickled / a_node:.1f} of the pickle; ", end="")
    print(f"save {saved[0]:.3f} s (median {saved[1]:.3f}), load {1e3 * loaded[0]:.2f} ms ({1e3 * loaded[1]:.2f})")
    for rows in (X[:1], X[:1000], X):
        fresh = first_predictions(lambda: pickle.loads(text), rows)  # noqa: S301  our own bytes
        own = first_predictions(lambda: dtnumba.load(path), rows)
        print(f"  first prediction of {len(rows):,} rows: fresh {1e3 * fresh[0]:.1f} ms ({1e3 * fresh[1]:.1f})", end="")
        print(f", loaded {1e3 * own[0]:.1f} ms ({1e3 * own[1]:.1f})")


def of_forest(folder, X, y):
    """Measure the file of a forest against pickles of it and of scikit-learn's."""
    from sklearn.ensemble import RandomForestClassifier as Theirs

    model = dtnumba.RandomForestClassifier(20, random_state=0).fit(X, y)
    theirs = Theirs(20, random_state=0, n_jobs=-1).fit(X, y)
    n_theirs = sum(tree.tree_.node_count for tree in theirs.estimators_)
    pickled, n = len(pickle.dumps(theirs)) / n_theirs, model.trees_.n_nodes
    print(f"{n:,} nodes; a pickle of scikit-learn's forest: {pickled:.1f} bytes a node; ", end="")
    print(f"ours: {len(pickle.dumps(model)) / n:.1f}")
    for compact in (False, True):
        of_one_file(model, folder / f"forest-{compact}", X, pickled, compact)
    return model, folder / "forest-False"


_DEEP = 5  # tests on top of the trees that are put together


def grafted(trees, first):
    """Return the columns of a tree whose uppermost tests, all of column 0, lead to 32 trees in turn."""
    n_top, n_below = (1 << _DEEP) - 1, 1 << _DEEP
    picked = [(first + i) % trees.n_trees for i in range(n_below)]
    rest = np.array([trees.root[t + 1] - trees.root[t] - 1 for t in picked])
    starts = n_top + n_below + np.cumsum(rest) - rest  # of what stands below the root of each
    top = np.arange(n_top)
    level = np.floor(np.log2(top + 1)).astype(int)
    cut = (top + 1 - (1 << level)) * 2.0 + 1.0  # the cuts of a level part the range evenly
    parts = {
        "tested": [np.ones(n_top, int), *(trees.feature[trees.root[t] : trees.root[t] + 1] + 1 for t in picked)],
        "threshold": [cut / (2 << level), *(trees.threshold[trees.root[t] : trees.root[t] + 1] for t in picked)],
        "missing_left": [np.ones(n_top, int), *(trees.missing_left[trees.root[t] : trees.root[t] + 1] for t in picked)],
        "distance": [top + 1, starts - n_top - np.arange(n_below)],
        "leaf_value": [],
    }
    for t in picked:
        inside = slice(trees.root[t] + 1, trees.root[t + 1])
        feature = trees.feature[inside]
        inner = feature >= 0
        parts["tested"].append(feature + 1)
        parts["threshold"].append(trees.threshold[inside][inner])
        parts["missing_left"].append(trees.missing_left[inside][inner])
        parts["distance"].append((trees.left[inside] - np.arange(inside.start, inside.stop))[inner])
        parts["leaf_value"].append(trees.value[inside][~inner])
    types = {"tested": "|u1", "distance": "<u4", "missing_left": "|u1"}
    return {name: np.concatenate(of).astype(types.get(name, "<f8")) for name, of in parts.items()}, picked


def put_together(model, small, large, n_bytes):
    """Write a forest of trees that are put together from those of a model; return which tree a part of each is."""
    trees = model.trees_
    content = container.read(small)
    header = {name: value for name, value in content.header.items() if name != "arrays"}
    said = header["learned"]["forest_"]["trees"]
    kinds, picked, size = [], [], 0
    for k in range(trees.n_trees):
        columns, one = grafted(trees, k)
        kinds.append(columns)
        picked.append(one)
    while size < n_bytes:
        size += sum(one.nbytes for one in kinds[len(picked) % len(kinds)].values())
        picked.append(picked[len(picked) % len(kinds)])
    picked = picked[len(kinds) :]
    order = [k % len(kinds) for k in range(len(picked))]
    arrays = {name: content.array(name) for name in content.arrays if not name.startswith("forest_.")}
    for name in kinds[0]:
        arrays[f"forest_.{name}"] = np.concatenate([kinds[k][name] for k in order])
        said[name] = {"array": f"forest_.{name}"}
    tested = arrays["forest_.tested"]
    arrays["forest_.root"] = np.cumsum([0, *(len(kinds[k]["tested"]) for k in order)])
    before = np.zeros(-(-len(tested) // 64), np.int64)
    np.cumsum(np.add.reduceat(tested != 0, np.arange(0, len(tested), 64), dtype=np.int64)[:-1], out=before[1:])
    arrays["forest_.inner_before"] = before
    for name in ("root", "inner_before"):
        said[name] = {"array": f"forest_.{name}"}
    for name in ("leaf_counts", "leaf_n_samples"):
        said.pop(name, None)
    said["n_nodes"], said["n_trees"] = len(tested), len(order)
    header["learned"]["n_estimators_"] = len(order)
    container.write(large, header, arrays)
    return picked


def of_large_file(folder, model, small, X, n_bytes):
    """Measure the load of a large file and one prediction, in a process that has not seen it."""
    large, rows, script = folder / "large", folder / "rows.npy", folder / "cold.py"
    picked = put_together(model, small, large, n_bytes)
    script.write_text(_COLD)
    shares = [tree.predict_proba(X[:3]) for tree in model.estimators_]
    for count in (1, 3):
        np.save(rows, X[:count])
        command = [sys.executable, str(script), str(small), str(large), str(rows)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603  ourselves
        loaded, asked, grew, grown = map(float, done.stdout.split())
        part = np.searchsorted(np.arange(1, 1 << _DEEP) / (1 << _DEEP), X[:count, 0])
        wanted = np.mean([[shares[one[part[i]]][i] for i in range(count)] for one in picked], axis=0)
        demand(np.allclose(np.load(rows), wanted, rtol=1e-12, atol=1e-15), "trees say what those within them say")
        size = large.stat().st_size / 1e9
        print(f"{size:.2f} GB, {len(picked):,} trees: load {1e3 * loaded:.1f} ms, with ", end="")
        print(f"a prediction of {count} rows {1e3 * asked:.1f} ms; ", end="")
        print(f"resident memory grew by {grew:.1f} MB before it, {grown:.1f} MB in all")
    large.unlink()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--table")
    parser.add_argument("--bytes", type=float)
    given = parser.parse_args()
    columns, labels = table(given)
    with tempfile.TemporaryDirectory() as name:
        made, written = of_forest(Path(name), columns, labels)
        of_large_file(Path(name), made, written, columns, int(given.bytes or (1e8 if given.quick else 2e9)))
