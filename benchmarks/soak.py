"""Fuzz exact trees against scikit-learn's: at each of its nodes, our best split of the same rows must gain as much.

usage: python benchmarks/soak.py [--seed N] [--seconds S]
       python benchmarks/soak.py --seed N --rounds 1         repeats a round that failed
       python benchmarks/soak.py --forests                   forests from many threads at once: see forest_soak.py

Gains are computed here in NumPy, from the rows on both sides of each split, so that neither library's arithmetic is
trusted. Beside that every tree of ours, exact, of histograms and of random thresholds, must pass its own check and be
the same on one thread and on two.
"""

import argparse
import sys
import time
from dataclasses import dataclass

import forest_soak
import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import dtnumba
from dtnumba.trees.check import check
from dtnumba.trees.layout import arrays_of

SLACK = 1e-9
CLASSES, NUMBERS = ("gini", "entropy"), ("squared_error", "poisson", "absolute_error")


@dataclass(frozen=True)
class Case:
    """A table, a target, weights and parameters, all drawn from one seed."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    criterion: str
    parameters: dict

    @property
    def of_classes(self):
        """Whether the target holds classes."""
        return self.criterion in CLASSES


def drawn_column(draw, n, *, with_missing):
    """Draw a column: continuous, of few values, constant, or far from 0 or huge, with or without missing values."""
    column = {
        "continuous": lambda: draw.standard_normal(n),
        "few": lambda: draw.integers(0, draw.integers(1, 8) + 1, n).astype(float),
        "constant": lambda: np.full(n, draw.standard_normal()),
        "rounded": lambda: draw.standard_normal(n).round(1),
        "huge": lambda: draw.standard_normal(n) * 1e30,
        "far": lambda: draw.integers(0, 50, n) + 1e6,
    }[draw.choice(["continuous", "few", "constant", "rounded", "huge", "far"])]()
    if with_missing and draw.random() < 0.3:
        column[draw.random(n) < draw.choice([0.05, 0.5, 0.95])] = np.nan
    return column


def drawn_case(seed):
    draw = np.random.default_rng(seed)
    # Now and then a table that is large enough for threads to work on one node together.
    n, p = int(draw.integers(2, 250)), int(draw.integers(1, 7))
    if draw.random() < 0.02:
        n *= 80
    criterion = str(draw.choice(CLASSES + NUMBERS))
    # scikit-learn takes no missing values with absolute_error.
    columns = [drawn_column(draw, n, with_missing=criterion != "absolute_error") for _ in range(p)]
    X = np.column_stack(columns).astype(np.float32)
    signal = (X[:, 0] > X[0, 0]) + draw.standard_normal(n)
    y = {"poisson": lambda: draw.poisson(np.exp(signal / 2)).astype(float), "absolute_error": lambda: signal.round(1)}
    if criterion in CLASSES:
        target = np.digitize(signal, np.sort(draw.standard_normal(draw.integers(1, 5))))
    else:
        target = y.get(criterion, lambda: signal)()
        target[0] += 1  # a Poisson target must not be 0 throughout
    kinds = (np.ones(n), draw.integers(0, 4, n).astype(float), draw.random(n) + 0.01)
    weight = kinds[draw.integers(len(kinds))]
    weight[0] = 1
    parameters = {
        "max_depth": None if n < 250 and draw.random() < 0.7 else int(draw.integers(1, 6)),
        "min_samples_leaf": 1 if draw.random() < 0.6 else int(draw.integers(1, 8)),
        "min_samples_split": 2 if draw.random() < 0.6 else int(draw.integers(2, 12)),
    }
    return Case(X, target, weight, criterion, parameters)


def impurity(criterion, y, weight):
    """Return the impurity of rows by its definition."""
    if criterion in CLASSES:
        shares = np.bincount(y, weights=weight) / weight.sum()
        shares = shares[shares > 0]
        return 1 - (shares**2).sum() if criterion == "gini" else -(shares * np.log2(shares)).sum()
    if criterion == "absolute_error":
        order = np.argsort(y)
        below = np.cumsum(weight[order])
        return np.average(np.abs(y - y[order][np.searchsorted(below, below[-1] / 2)]), weights=weight)
    mean = np.average(y, weights=weight)
    if criterion == "squared_error":
        return np.average((y - mean) ** 2, weights=weight)
    ratio = np.where(y > 0, y, 1) / mean if mean > 0 else np.ones(len(y))
    return np.average(np.where(y > 0, y * np.log(ratio), 0), weights=weight)


def gain(case, rows, goes_left):
    """Return the decrease of impurity by dividing rows, per unit of their weight."""
    decrease = impurity(case.criterion, case.y[rows], case.weight[rows])
    for side in (rows[goes_left], rows[~goes_left]):
        share = case.weight[side].sum() / case.weight[rows].sum()
        decrease -= share * impurity(case.criterion, case.y[side], case.weight[side])
    return decrease


def left_of(tree, node, X):
    """Return which rows a node of ``tree_`` sends left."""
    column = X[:, tree.feature[node]]
    return np.where(np.isnan(column), tree.missing_go_to_left[node] == 1, column <= tree.threshold[node])


def splits_of(tree, case):
    """Yield (rows, which of them go left) of every inner node; rows of weight 0 do not count."""
    stack = [(0, np.flatnonzero(case.weight))]
    while stack:
        node, rows = stack.pop()
        if tree.children_left[node] < 0:
            continue
        goes_left = left_of(tree, node, case.X[rows])
        yield rows, goes_left
        stack += [(tree.children_left[node], rows[goes_left]), (tree.children_right[node], rows[~goes_left])]


def ours(case, **parameters):
    kind = dtnumba.DecisionTreeClassifier if case.of_classes else dtnumba.DecisionTreeRegressor
    return kind(criterion=case.criterion, random_state=0, **parameters)


def best_gain(case, rows):
    """Return the gain of our best split of some rows, 0 where there is none."""
    stump = ours(case, max_depth=1, min_samples_leaf=case.parameters["min_samples_leaf"], n_jobs=1)
    tree = stump.fit(case.X[rows], case.y[rows], case.weight[rows]).tree_
    return gain(case, rows, left_of(tree, 0, case.X[rows])) if tree.node_count > 1 else 0.0


def compare(case):
    """Return what is wrong with our trees of a case, or None, and how many nodes of scikit-learn's were compared."""
    for splitting in ({}, {"max_bins": 255}, {"splitter": "random"}):
        alone, together = (ours(case, n_jobs=n, **splitting, **case.parameters) for n in (1, 2))
        pair = [tree.fit(case.X, case.y, case.weight).trees_ for tree in (alone, together)]
        check(pair[0], case.X.shape[1])
        columns = zip(*map(arrays_of, pair), strict=True)
        if any(one.tobytes() != two.tobytes() for one, two in columns):
            return f"one thread and two grow different trees {splitting}", 0
    kind = DecisionTreeClassifier if case.of_classes else DecisionTreeRegressor
    peer = kind(criterion=case.criterion, random_state=0, **case.parameters).fit(case.X, case.y, case.weight)
    n_nodes = 0
    for rows, goes_left in splits_of(peer.tree_, case):
        theirs, best = gain(case, rows, goes_left), best_gain(case, rows)
        if not best >= theirs - SLACK * max(1.0, abs(theirs)):
            return f"{len(rows)} rows: scikit-learn gains {theirs!r}, our best split {best!r}", n_nodes
        n_nodes += 1
    return None, n_nodes


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="of the first round; each round adds one")
    parser.add_argument("--seconds", type=float, default=20, help="when to stop (default: 20)")
    parser.add_argument("--rounds", type=int, help="stop after so many rounds, whatever the time")
    parser.add_argument("--forests", action="store_true", help="fit forests from many threads at once instead")
    return parser.parse_args()


def run():
    options, began, rounds, n_nodes, failures = parse(), time.monotonic(), 0, 0, 0
    if options.forests:
        return forest_soak.run(options.seed, options.rounds or forest_soak.N_ROUNDS)
    while rounds != options.rounds and (options.rounds or time.monotonic() - began < options.seconds):
        seed = options.seed + rounds
        case = drawn_case(seed)
        wrong, compared = compare(case)
        n_nodes += compared
        if wrong is not None:
            failures += 1
            print(f"seed {seed}: {case.criterion}, {case.X.shape}, {case.parameters}: {wrong}", flush=True)
        rounds += 1
        if rounds % 200 == 0:
            print(f"{rounds} rounds, {failures} failed, seed {seed} was the last", file=sys.stderr, flush=True)
    seconds = time.monotonic() - began
    print(f"{rounds} rounds from seed {options.seed}, {n_nodes:,} nodes, {failures} failed, {seconds:.0f} s")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(run())
