"""Known optimal trees are reached and proven: how long that takes, beside STreeD and ConTree.

usage: python benchmarks/optimal.py ORACLES DATA [--peers PYTHON] [--only TEXT] [--part K/N] [--limit SECONDS]

ORACLES holds ``optimal_shared.json`` (columns of 0 and 1) and ``contree_shared.json`` (numbers), which say what others
have proven; DATA the tables that they name, with ``dtdata.py`` to read them and ``contree/contree.npz``. PYTHON is one
that has ``pystreed`` and ``pycontree``; without it only our times are shown. Times are of the processor, on one thread,
of ``fit``, once everything is compiled. TEXT is part of "table kind depth", such as "classes 4"; K/N takes every Nth
job from the Kth on, and sums of logarithms make one geometric mean of several parts.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from dtnumba import OptimalTreeClassifier, OptimalTreeRegressor

# Misclassified rows at depth 3 and 4 of the tables of contree.npz, as ConTree's own test states them
CONTREE = {
    "bank": (19, 0), "bean": (1406,), "bidding": (37, 16), "fault": (494,), "occupancy": (47, 26),
    "page": (125, 91), "raisin": (76,), "rice": (189,), "room": (62, 11),
}  # fmt: skip
LATE = {"page": 4, "room": 4}  # tables that are left out from this depth on, unless --all
_PEER = """
import json, sys, time
import numpy as np
data, kind, depth, least, nodes, cost, limit = np.load(sys.argv[1]), sys.argv[2], *map(float, sys.argv[3:])
X, y, depth, least = data["X"], data["y"], int(depth), int(least)
options = {"max_depth": depth, "time_limit": limit}
if kind == "contree":
    import pandas as pd
    from pycontree import ConTree
    model, X = ConTree(**options), pd.DataFrame(X)
else:
    import pystreed
    options["min_leaf_node_size"] = least
    if nodes >= 0:
        options["max_num_nodes"] = int(nodes)
    task = "regression" if kind == "numbers" else "accuracy"
    if cost > 0:
        task, options["cost_complexity"] = "cost-complex-" + task, cost
    base = pystreed.STreeDRegressor if kind == "numbers" else pystreed.STreeDClassifier
    model = base(task, **options)
start = time.process_time()
model.fit(X, y)
seconds = time.process_time() - start
predicted = model.predict(X)
loss = float(((predicted - y) ** 2).sum()) if kind == "numbers" else float((predicted != y).sum())
print(json.dumps([loss, seconds]))
"""


def jobs_of_bits(oracles, dtdata, folder):
    """Yield the jobs of columns of 0 and 1: name, X, y, kind, depth, rows a leaf, tests, price, what is known."""
    known = json.loads((oracles / "optimal_shared.json").read_text())["results"]
    for name, entry in known.items():
        X, y = dtdata.load_binarised(folder, "binarised.npz", name)
        for title, found in entry.items():
            if not title.startswith("depth") or "dl85" in title:
                continue
            found = found.get("streed", found)
            depth, cost = int(title[5]), 0.01 if "cost_complexity" in title else 0.0
            least = 10 if "10" in title.partition("min")[2] else 1
            nodes = 4 if "at most 4" in title else None
            kind = "numbers" if "sse" in found else "classes"
            root = entry["root_sse"] if kind == "numbers" else len(y)
            loss = found.get("sse", found.get("errors"))
            loss += cost * root * (found["leaves"] - 1)
            yield name, X, y, kind, depth, least, nodes, cost, loss, found["proven"]
    yield "adult", *adult_of_bits(dtdata, folder), "priced", 4, 1, None, 0.001, None, True


def adult_of_bits(dtdata, folder, n_columns=30):
    """Return adult in columns of 0 and 1: numbers cut at fifths of the rows, then the commonest levels."""
    X, y, _, nominal = dtdata.matrix(folder, "adult")
    columns, levels = [], []
    for j, column in enumerate(X.T):
        known = column[~np.isnan(column)]
        if nominal[j]:
            values, counts = np.unique(known, return_counts=True)
            levels += [(-count, j, value) for value, count in zip(values, counts, strict=True)]
        else:
            cuts = np.unique(np.quantile(known, (0.2, 0.4, 0.6, 0.8), method="lower"))
            columns += [column > cut for cut in cuts if (known > cut).any()]
    columns += [X[:, j] == value for _, j, value in sorted(levels)[: n_columns - len(columns)]]
    return np.column_stack(columns).astype(np.uint8), np.unique(y, return_inverse=True)[1]


def jobs_of_numbers(oracles, dtdata, folder, everything):
    """Yield the jobs of numbers, likewise."""
    tables = np.load(Path(folder) / "contree" / "contree.npz")
    for name, errors in CONTREE.items():
        X, y = tables[f"{name}__X"], tables[f"{name}__y"]
        yield name, X, y, "contree", 2, 1, None, 0.0, None, True
        for depth, loss in enumerate(errors, 3):
            if everything or depth < LATE.get(name, 9):
                yield name, X, y, "contree", depth, 1, None, 0.0, loss, True
    known = json.loads((oracles / "contree_shared.json").read_text())["results"]
    for name, entry in known.items():
        X, y, names, _ = dtdata.matrix(folder, name)
        X, y = X[:, [list(names).index(one) for one in entry["columns"]]], np.unique(y, return_inverse=True)[1]
        for depth in (1, 2, 3, 4):
            found = entry.get(f"depth{depth}")
            if found is not None and found["proven"]:
                yield name, X, y, "contree", depth, 1, None, 0.0, found["errors"], True


def ours(X, y, kind, depth, least, nodes, cost, limit):
    """Return the fitted model and the seconds of its fit."""
    model = (OptimalTreeRegressor if kind == "numbers" else OptimalTreeClassifier)(
        max_depth=depth, min_samples_leaf=least, max_nodes=nodes, complexity=cost, max_seconds=limit, n_jobs=1,
        complexity_unit="root" if kind == "numbers" else "rows",
    )  # fmt: skip
    X = X.astype(np.float64)
    start = time.process_time()
    model.fit(X, y)
    return model, time.process_time() - start


def theirs(python, X, y, kind, depth, least, nodes, cost, limit, what="seconds"):
    """Return the seconds, or the loss, of a peer's fit; None where it fails or takes too long."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.npz"
        np.savez(path, X=X, y=y)
        numbers = depth, least, -1 if nodes is None else nodes, cost, limit
        call = [python, "-c", _PEER, str(path), kind, *map(str, numbers)]
        try:
            done = subprocess.run(call, capture_output=True, text=True, timeout=2 * limit + 60, check=True)  # noqa: S603
        except (subprocess.SubprocessError, OSError):
            return None
    return json.loads(done.stdout.splitlines()[-1])[what == "seconds"]


def run():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("oracles", type=Path)
    parser.add_argument("data")
    parser.add_argument("--peers")
    parser.add_argument("--only", default="")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    sys.path.insert(0, options.data)
    import dtdata

    failed, ratios, warm = 0, {}, set()
    print("| table | depth | leaf, tests, price | known | found | proven | s | peer s |\n" + "|---" * 8 + "|")
    jobs = [*jobs_of_bits(options.oracles, dtdata, options.data)]
    jobs += jobs_of_numbers(options.oracles, dtdata, options.data, options.all)
    jobs = [job for job in jobs if options.only in f"{job[0]} {job[3]} {job[4]}"]
    part, n_parts = map(int, options.part.split("/"))
    for name, X, y, kind, depth, least, nodes, cost, known, is_proven in jobs[part - 1 :: n_parts]:
        what = kind, depth, least, nodes, cost
        few = sum(len(np.unique(column)) - 1 for column in X.T) <= 400  # which are searched as columns of 0 and 1
        shape = kind, min(len(np.unique(y)), 3), len(np.unique(X)) > 2, few
        if shape not in warm:
            warm.add(shape)
            ours(X, y, *what, 0.0)
        model, seconds = ours(X, y, *what, options.limit)
        peer = theirs(options.peers, X, y, *what, options.limit) if options.peers else None
        is_met = (
            known is None
            or abs(model.objective_ - known) <= 1e-6 * max(known, 1)
            or (not is_proven and model.objective_ <= known)
        )
        failed += not (is_met and model.is_optimal_)
        mark = "" if is_met else " !"
        shown = "" if peer is None else f"{peer:.4f}"
        print(
            f"| {name} | {depth} | {least}, {nodes}, {cost:g} | {known} | {model.objective_:.6g}{mark} | "
            f"{'yes' if model.is_optimal_ else f'gap {model.gap_:.3f}'} | {seconds:.4f} | {shown} |",
            flush=True,
        )
        if peer is not None:
            ratios.setdefault((kind, depth), []).append((seconds, peer))
    for (kind, depth), times in sorted(ratios.items()):
        logs = [math.log(max(a, 1e-5) / max(b, 1e-5)) for a, b in times]
        mean = math.exp(np.mean(logs))
        print(f"{kind}, depth {depth}: {len(times)} jobs, {mean:.3f} of the peer's time (logarithms: {sum(logs):.2f})")
    print(f"{failed} not reached or not proven")


if __name__ == "__main__":
    run()
