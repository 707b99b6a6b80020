"""Optimal trees that nobody can prove: what is found in a given time, beside others; and whether it predicts better.

usage: python benchmarks/optimal_anytime.py depth DATA [--seconds S] [--depth D] [--peers PYTHON] [--only TEXT]
       python benchmarks/optimal_anytime.py accuracy DATA [--seconds S] [--only TEXT]

``depth`` counts training errors at depth 6 on the tables of DATA/contree/contree.npz: the best greedy tree of three
criteria, our search from good trees to all, the same search at once (``start=None``, depth first), and pycontree of
PYTHON, each in S seconds. ``accuracy`` is the mean over ten folds of the tables of DATA, at equal depth: the better
greedy tree of gini and entropy (chosen in hindsight, to its favour), and the optimal one.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from optimal import theirs

from dtnumba import DecisionTreeClassifier, OptimalTreeClassifier

TABLES = (
    *("iris", "pima", "breast_w", "ionosphere", "vote", "titanic", "kyphosis", "stagec", "labor"),
    *("breast_cancer_lj", "compas", "nursery", "solder", "etitanic"),
)
MOST_ROWS = 8000


def errors(model, X, y):
    """Return how many rows a fitted model gets wrong."""
    return int((model.fit(X, y).predict(X) != y).sum())


def depth_job(options):
    """Print training errors in a given time."""
    tables = np.load(Path(options.data) / "contree" / "contree.npz")
    names = sorted({name.partition("__")[0] for name in tables})
    print("| table | greedy | found | s | bound | depth first | pycontree |\n" + "|---" * 7 + "|")
    seconds, failed = options.seconds, 0
    draw = np.random.default_rng(0)
    for n_classes in (2, 3):  # whatever compiles, the greedy trees that fits begin with as well
        y = draw.integers(0, n_classes, 300)
        OptimalTreeClassifier(max_depth=options.depth, max_seconds=1.0).fit(draw.normal(size=(300, 4)), y)
    for name in names:
        if options.only not in name:
            continue
        X, y = tables[f"{name}__X"], tables[f"{name}__y"]
        params = {"max_depth": options.depth, "random_state": 0}
        greedy = min(errors(DecisionTreeClassifier(criterion=c, **params), X, y) for c in ("gini", "entropy", "error"))
        model = OptimalTreeClassifier(max_depth=options.depth, max_seconds=seconds)
        began = time.perf_counter()
        found = errors(model, X, y)
        took = time.perf_counter() - began
        at_once = errors(OptimalTreeClassifier(max_depth=options.depth, max_seconds=seconds, start=None), X, y)
        peer = ""
        if options.peers:
            peer = theirs(options.peers, X, y, "contree", options.depth, 1, None, 0.0, seconds, what="loss")
        failed += found > min(greedy, at_once, peer if isinstance(peer, float) else greedy)
        print(f"| {name} | {greedy} | {found} | {took:.1f} | {model.lower_bound_:g} | {at_once} | {peer} |", flush=True)
    print(f"{failed} worse than another one")


def folds(n, k=10):
    """Yield the rows to learn and to ask of k folds."""
    order = np.random.default_rng(0).permutation(n)
    for fold in range(k):
        asked = order[fold::k]
        yield np.setdiff1d(order, asked), asked


def accuracy_job(options):
    """Print mean accuracy at equal depth."""
    sys.path.insert(0, options.data)
    import dtdata

    print("| table | rows | depth | greedy | optimal | proven |\n" + "|---" * 6 + "|")
    gains = {}
    for name in TABLES:
        if options.only not in name:
            continue
        X, y, _, nominal = dtdata.matrix(options.data, name)
        if len(y) > MOST_ROWS:
            kept = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
            X, y = X[kept], y[kept]
        for depth in (2, 3, 4):
            scores = {"gini": [], "entropy": [], "optimal": []}
            proven = 0
            for learnt, asked in folds(len(y)):
                for criterion in ("gini", "entropy"):
                    model = DecisionTreeClassifier(
                        max_depth=depth, criterion=criterion, categorical_features=nominal, random_state=0
                    )
                    scores[criterion].append((model.fit(X[learnt], y[learnt]).predict(X[asked]) == y[asked]).mean())
                best = OptimalTreeClassifier(
                    max_depth=depth, max_seconds=options.seconds, categorical_features=nominal
                ).fit(X[learnt], y[learnt])
                proven += best.is_optimal_
                scores["optimal"].append((best.predict(X[asked]) == y[asked]).mean())
            greedy, best = max(np.mean(scores["gini"]), np.mean(scores["entropy"])), np.mean(scores["optimal"])
            gains.setdefault(depth, []).append(best - greedy)
            print(f"| {name} | {len(y)} | {depth} | {greedy:.4f} | {best:.4f} | {proven} of 10 |", flush=True)
    for depth, found in gains.items():
        better, worse = sum(gain > 0 for gain in found), sum(gain < 0 for gain in found)
        print(f"depth {depth}: {np.mean(found):+.4f} on {len(found)} tables, better on {better}, worse on {worse}")


def run():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", choices=["depth", "accuracy"])
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--peers")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    (depth_job if options.job == "depth" else accuracy_job)(options)


if __name__ == "__main__":
    run()
