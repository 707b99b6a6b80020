"""Predict many rows of float32: with the deep forest of a large table, and with 500 shallow trees."""

from functools import partial

import numpy as np
from bench_predict import walk
from data import H
from forest_fits import Goal, meet
from forests import Ours, Shape
from measure import demand, faster, in_turns, main

WALKED = 5_000  # rows that are followed through the columns of some trees in NumPy


def deep(options):
    """Predict with the fully grown forest of 1M rows; what scikit-learn costs here is its fit."""
    tables = H(options.size(1_000_000, 5_000))
    goals = (Goal("ScikitLearn", 6, options.repeats), Goal("OneDal", 3, options.repeats))
    return predict_rows(options, tables, Shape(threads=options.threads), goals, 0.02)


def shallow(options):
    """Predict with complete trees: their shape counts, so few rows grow them."""
    tables = H(options.size(20_000, 5_000))
    shape = Shape(n_trees=500, max_depth=6, threads=options.threads)
    goals = (Goal("YdfBoosted", 3, options.repeats), Goal("OneDal", 9, options.repeats))
    return predict_rows(options, tables, shape, goals, None)


def predict_rows(options, tables, shape, goals, score):
    X, y, X_test, y_test = tables
    ours, peers = Ours(shape).fit((X, y)), meet(options, goals, shape)
    demand_walked(ours.model, X_test[:WALKED])
    calls, checked = {ours.name: partial(ours.predict, (X_test,))}, {}
    for _, peer in peers:
        peer.fit(peer.table(X, y))
        rows = peer.table(X_test)
        calls[peer.name] = partial(peer.predict, rows)
        checked[peer.name] = demand_shape(ours, peer, (X_test, y_test), score)
        if hasattr(peer, "dataset"):  # no clock counts what brings the rows into YDF's own form
            calls[f"{peer.name}, its dataset made before"] = partial(peer.predict, peer.dataset(rows))
    ours.predict((X_test,))
    times = in_turns(calls, dict.fromkeys(calls, options.repeats))
    depth = "fully grown" if shape.max_depth is None else f"depth {shape.max_depth}"
    at_least = {peer.name: goal.at_least for goal, peer in peers}
    return [
        faster(
            options,
            f"predict {len(X_test):,} rows, {shape.n_trees} trees {depth}, fit on H {len(X):,}, peer {name}",
            times[name],
            times[ours.name],
            at_least.get(name),
            checked.get(name, ""),
        )
        for name in calls
        if name != ours.name
    ]


def demand_walked(model, X):
    """Demand that rows get the mean of what their leaves say, and that leaves are those of a walk in NumPy."""
    trees, leaves = model.trees_, model.apply(X)
    for t in (0, trees.n_trees - 1):
        demand((walk(model.estimators_[t].tree_, X) == leaves[:, t]).all(), f"the leaves of tree {t}")
    mean = np.zeros((len(X), trees.value.shape[1]))
    for t in range(trees.n_trees):
        mean += trees.value[trees.root[t] + leaves[:, t]]
    mean /= trees.n_trees
    demand(np.allclose(model.predict_proba(X), mean), "shares, and the mean of what the leaves say")
    demand((model.predict(X) == model.classes_[model.predict_proba(X).argmax(axis=1)]).all(), "labels and shares")


def demand_shape(ours, peer, test, score):
    """Demand as many leaves as the peer has, within a fifth, and its accuracy where the model is the same kind."""
    scores = ours.score(*test), peer.score(*test)
    said = (
        f"leaves {ours.n_leaves:,} (peer {peer.n_leaves:,}), held-out accuracy {scores[0]:.4f} (peer {scores[1]:.4f})"
    )
    demand(abs(ours.n_leaves / peer.n_leaves - 1) <= 0.2, said)
    demand(score is None or abs(scores[0] - scores[1]) <= score, said)
    return said


if __name__ == "__main__":
    main(__doc__, [deep, shallow])
