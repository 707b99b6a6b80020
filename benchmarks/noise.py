"""Training and held-out error against wrong labels: of whole trees, of trees that stop early, and of pruned ones.

usage: python benchmarks/noise.py [--rows N] [--repeats N]

The labels of the training rows are flipped with the probability at the head of a column; those held out are all right.
A cell is "training error / held-out error, leaves", each a mean over the repeats.
"""

import argparse

import numpy as np

from dtnumba import DecisionTreeClassifier
from dtnumba.pruners.registry import PRUNERS

NOISE = (0.0, 0.1, 0.2, 0.3, 0.4)
WAYS = {
    "whole": {},
    "max_depth=4": {"max_depth": 4},
    "min_samples_leaf=20": {"min_samples_leaf": 20},
    "min_impurity_decrease=0.01": {"min_impurity_decrease": 0.01},
    "min_significance=0.001": {"min_significance": 0.001},
    "validation_fraction=0.3": {"validation_fraction": 0.3},
    'criterion="mdl"': {"criterion": "mdl"},
    'max_leaf_nodes="cv"': {"max_leaf_nodes": "cv"},
}
PRUNED = ("reduced_error", "error_based", "pessimistic", "mdl", "cost_complexity")  # those that need no option


def made(rng, n):
    """Draw rows of ten columns of which three tell the label: two cross like XOR, one cuts a corner off."""
    X = rng.normal(size=(n, 10)).astype(np.float32)
    return X, ((X[:, 0] > 0) != (X[:, 1] > 0.5)) | (X[:, 2] > 1.5)


def run():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    ways = WAYS | {f'prune="{name}"': {"prune": name} for name in PRUNED if name in PRUNERS}
    print("| tree | " + " | ".join(f"{share:.0%} wrong" for share in NOISE) + " |")
    print("|---|" + "---|" * len(NOISE))
    for name, params in ways.items():
        cells = []
        for share in NOISE:
            found = np.zeros(3)
            for repeat in range(options.repeats):
                rng = np.random.default_rng(repeat)
                (X, y), (X_new, y_new) = made(rng, options.rows), made(rng, 10_000)
                y ^= rng.random(len(y)) < share
                tree = DecisionTreeClassifier(random_state=repeat, **params).fit(X, y)
                found += 1 - tree.score(X, y), 1 - tree.score(X_new, y_new), tree.n_leaves_
            train, new, leaves = found / options.repeats
            cells.append(f"{100 * train:.1f} % / {100 * new:.1f} %, {leaves:.0f}")
        print(f"| `{name}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    run()
