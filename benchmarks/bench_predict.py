"""Predict the labels of many rows with one deep tree, against scikit-learn's tree of the same table."""

import numpy as np
from data import H
from measure import demand, faster, main, side_by_side
from subjects import Ours, ScikitLearn


def walk(tree, X):
    """Return the leaf of every row by following the columns of the tree, a level at a time."""
    at, moving = np.zeros(len(X), np.int64), np.arange(len(X))
    while len(moving):
        node = at[moving]
        values, cuts = X[moving, tree.feature[node]], tree.threshold[node]
        at[moving] = np.where(values <= cuts, tree.children_left[node], tree.children_right[node])
        moving = moving[tree.children_left[at[moving]] >= 0]
    return at


class Columns:
    """The columns that a walk reads, taken once: the tree makes them anew whenever asked."""

    def __init__(self, tree):
        for name in ("feature", "threshold", "children_left", "children_right"):
            setattr(self, name, getattr(tree, name))


def prediction(options):
    X, y, X_test, _ = H(options.size(1_000_000, 20_000))
    ours, peer = Ours(threads=options.threads).fit(X, y), ScikitLearn().fit(X, y)
    labels = ours.predict(X)
    tree = ours.model.tree_
    walked = tree.value[walk(Columns(tree), X), 0].argmax(axis=1)
    demand((labels == walked).all(), "predict, and the columns of the tree followed in NumPy")
    agreement = np.mean(ours.predict(X_test) == peer.predict(X_test))
    checked = (
        f"labels equal to those of a walk in NumPy; depth {tree.max_depth}, {tree.n_leaves:,} leaves "
        f"(peer {peer.model.tree_.max_depth}, {peer.n_leaves:,}); {agreement:.1%} of unseen rows get the peer's label"
    )
    demand(agreement > 0.8, checked)
    times = side_by_side(lambda: peer.predict(X), lambda: ours.predict(X), options.repeats)
    job = f"predict {len(X):,} rows, one tree of depth {tree.max_depth}"
    return [faster(options, job, *times, 5, checked)]


if __name__ == "__main__":
    main(__doc__, [prediction])
