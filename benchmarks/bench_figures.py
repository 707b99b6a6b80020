"""Figures of trees: in 500 random ones no boxes overlap and all text is inside its box; the time of one of depth 6."""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from data import H
from measure import Row, at_most, demand, main, side_by_side, verdict

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, ID3Classifier, plot

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from drawn import outside, overlaps

_NAMES = ("x", "petal width", "a name that is longer than what stands in a box", "$x_1$", "m" * 60)


def random_tree(rng):
    """Return a tree of at most eight tests of a random table, of classes or numbers, of two children or more."""
    n, p = int(rng.integers(10, 400)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-4, 6)
    X[rng.random(X.shape) < rng.choice([0.0, 0.1])] = np.nan
    k = int(rng.integers(2, 12))
    y = rng.integers(0, k, n)
    kind, depth = rng.integers(0, 3), int(rng.integers(1, 9))
    missing = str(rng.choice(["learned", "surrogate", "fractional"]))
    if kind == 0:
        return DecisionTreeRegressor(max_depth=depth, missing=missing).fit(X, rng.normal(size=n))
    if kind == 1:
        levels = rng.integers(0, rng.integers(2, 9), (n, p)).astype(str).astype(object)
        return ID3Classifier(max_depth=min(depth, 4)).fit(levels, y)
    labels = np.array([f"{rng.choice(_NAMES)} {j}" for j in range(k)])
    return DecisionTreeClassifier(max_depth=depth, missing=missing).fit(X, labels[y])


def geometry(options):
    from matplotlib import pyplot as plt

    n_trees = options.size(500, 10)
    pairs = lines = boxes = 0
    for t in range(n_trees):
        rng = np.random.default_rng(t)
        tree = random_tree(rng)
        names = [f"{rng.choice(_NAMES)} {j}" for j in range(tree.n_features_in_)]
        ax = plot(tree, max_depth=8, direction=[None, "down", "right"][t % 3], feature_names=names)
        pairs, lines, boxes = pairs + overlaps(ax), lines + outside(ax), boxes + len(ax.patches)
        plt.close(ax.figure)
    said = f"{pairs} pairs of boxes overlap, {lines} lines of text are out of their box"
    demand(pairs == lines == 0, said)
    job = f"{n_trees} random trees of depth 8 and less"
    return [Row(job, "-", said, "0", "0", verdict(options, reached=True), f"{boxes:,} boxes")]


def seconds(options):
    from matplotlib import pyplot as plt

    X, y, _, _ = H(options.size(100_000, 2_000))
    tree = DecisionTreeClassifier(max_depth=6).fit(X, y)

    def draw():
        figure = plot(tree).figure
        figure.canvas.draw()
        plt.close(figure)

    draw()  # fonts are read
    ours, _ = side_by_side(draw, draw, 3)
    job = f"plot of a tree of {tree.n_leaves_} leaves, depth 6, drawn"
    return [at_most(options, job, "-", str(ours), ours.median, 1.0, unit=" s")]


if __name__ == "__main__":
    mpl.use("agg")
    main(__doc__, [geometry, seconds])
