"""Speed of this checkout against another one, job by job, in turns: what a change that should cost nothing is held to.

usage: python benchmarks/bench_before_after.py BEFORE [--data FOLDER] [--rounds N]

BEFORE is a folder with another checkout. Each round starts a process of each checkout, which warms up every job and
then times it; the least of all rounds counts. Answers are compared by digest before a time is printed.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]


def jobs(folder):
    """Return the jobs by name: (prepare, run), where run takes what prepare returns and returns arrays."""
    import data
    import numpy as np

    import dtnumba as dt

    def fit(make, tables, repeats):
        X, y, X_test, _ = tables
        return repeats, lambda: make().fit(X, y), lambda model: model.predict(X_test[:2000])

    def ask(make, tables, method, repeats, rows):
        X, y, X_test, _ = tables
        model = make().fit(X, y)
        return repeats, lambda: getattr(model, method)(X_test[:rows]), lambda found: found

    def one_row(make, tables):
        X, y, X_test, _ = tables
        answer, out = make().fit(X, y).compile_predictor(), np.empty(2)
        row = np.ascontiguousarray(X_test[0])

        def run():
            for _ in range(20_000):
                answer(row, out)
            return out

        return 5, run, lambda found: found

    forest = dt.RandomForestClassifier
    small, numbers = data.H(100_000), data.friedman(200_000)
    found = {
        "forest H 100k": fit(lambda: forest(20, random_state=0), small, 7),
        "forest H 1M": fit(lambda: forest(20, random_state=0), data.H(1_000_000), 3),
        "forest Friedman 200k": fit(lambda: dt.RandomForestRegressor(20, random_state=0), numbers, 3),
        "extra trees H 100k": fit(lambda: dt.ExtraTreesClassifier(20, random_state=0), small, 5),
        "forest exact H 100k": fit(lambda: forest(20, max_bins=None, random_state=0), small, 5),
        "exact tree H 100k": fit(dt.DecisionTreeClassifier, small, 7),
        "histogram tree H 100k": fit(lambda: dt.DecisionTreeClassifier(max_bins=255), small, 7),
        "predict deep": ask(lambda: forest(20, random_state=0), small, "predict_proba", 7, 100_000),
        "predict shallow": ask(lambda: forest(100, max_depth=6, random_state=0), small, "predict_proba", 7, 100_000),
        "one row": one_row(lambda: forest(100, max_depth=6, random_state=0), small),
    }
    if folder:
        found["forest covtype"] = fit(lambda: forest(20, random_state=0), data.covtype(folder), 3)
    return found


def child(folder):
    import numpy as np

    found = {}
    for name, (repeats, run, answer) in jobs(folder).items():
        digest = hashlib.sha256(np.ascontiguousarray(answer(run())).tobytes()).hexdigest()[:12]
        times = []
        for _ in range(repeats):
            began = time.perf_counter()
            run()
            times.append(time.perf_counter() - began)
        found[name] = min(times), digest
    print(json.dumps(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", help="folder of the other checkout")
    parser.add_argument("--data", help="folder with the forest cover data")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.data)
        return
    best, digests = {}, {}
    for _ in range(options.rounds):
        for which, folder in (("before", options.before), ("after", HERE)):
            command = [sys.executable, __file__, "x", "--child", *(["--data", options.data] if options.data else [])]
            done = subprocess.run(  # noqa: S603  this script, on a checkout that the caller names
                command, env=os.environ | {"PYTHONPATH": str(folder)}, check=True, capture_output=True, text=True
            )
            for name, (seconds, digest) in json.loads(done.stdout.splitlines()[-1]).items():
                best[name, which] = min(seconds, best.get((name, which), seconds))
                digests.setdefault(name, set()).add(digest)
    for name, found in digests.items():
        before, after = best[name, "before"], best[name, "after"]
        same = "same answers" if len(found) == 1 else "OTHER ANSWERS"
        print(f"{name:24} {before:9.4f} s {after:9.4f} s   {after / before:6.3f}   {same}")


if __name__ == "__main__":
    sys.exit(main())
