"""Forests on tables with categories and holes, against the same forest on plain numbers."""

import sys

import numpy as np
from data import H, categories, labelled
from measure import at_most, demand, main, side_by_side

from dtnumba import RandomForestClassifier


def adult(folder):
    """Read the census table: rows to learn from, rows held out, and which columns are categories."""
    X, y, nominal = labelled(folder, "adult")
    is_test = np.random.default_rng(0).random(len(y)) < 1 / 3
    return X[~is_test], y[~is_test], X[is_test], y[is_test], nominal


def census(options):
    if options.data is None:
        print("--data names no folder: the census rows are left out", file=sys.stderr)
        return []
    X, y, X_test, y_test, nominal = adult(options.data)
    shape = {"n_estimators": 100 if options.is_full else 10, "random_state": 0, "n_jobs": options.threads}
    native, codes = (RandomForestClassifier(**shape, categorical_features=of) for of in (nominal, None))
    peer, ours = side_by_side(lambda: codes.fit(X, y), lambda: native.fit(X, y), options.repeats)
    accuracy = native.score(X_test, y_test)
    behind = one_hot_accuracy(X, y, X_test, y_test, nominal, shape) - accuracy
    demand(behind < 0.002 or not options.is_full, f"accuracy {accuracy:.4f} is {behind:.4f} behind one-hot columns")
    job = f"adult {len(X):,}, categories, {shape['n_estimators']} trees; peer: the same forest on their codes"
    checked = f"accuracy {accuracy:.4f}; one-hot, scikit-learn: {accuracy + behind:.4f}"
    return [at_most(options, job, str(peer), str(ours), ours.median / peer.median, 1.3, checked)]


def one_hot_accuracy(X, y, X_test, y_test, nominal, shape):
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import RandomForestClassifier as Peer
    from sklearn.preprocessing import OneHotEncoder

    encode = ColumnTransformer(
        [("hot", OneHotEncoder(handle_unknown="ignore", sparse_output=False), np.flatnonzero(nominal))],
        remainder="passthrough",
    ).fit(X)
    return Peer(**shape).fit(encode.transform(X), y).score(encode.transform(X_test), y_test)


def many_levels(options):
    X, y, X_test, y_test = categories(options.size(1_000_000, 20_000))
    shape = {"n_estimators": 20, "random_state": 0, "n_jobs": options.threads}
    levels = RandomForestClassifier(**shape, categorical_features=np.ones(X.shape[1], bool))
    numbers, draw = RandomForestClassifier(**shape), np.random.default_rng(0)
    plain = draw.standard_normal(X.shape).astype(np.float32)
    signal = plain.sum(axis=1) + draw.standard_normal(len(y)) > 0
    peer, ours = side_by_side(lambda: numbers.fit(plain, signal), lambda: levels.fit(X, y), options.repeats)
    job = f"{len(X):,} x 10 categories of 10,000 levels, 20 trees; peer: 10 columns of numbers"
    checked = f"accuracy {levels.score(X_test, y_test):.4f}"
    return [at_most(options, job, str(peer), str(ours), ours.median / peer.median, 2.0, checked)]


def holes(options):
    X, y, X_test, y_test = H(options.size(1_000_000, 20_000))
    shape = {"n_estimators": 20, "random_state": 0, "n_jobs": options.threads}
    with_holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.float32(np.nan), X)
    complete, learned = RandomForestClassifier(**shape), RandomForestClassifier(**shape)
    peer, ours = side_by_side(lambda: complete.fit(X, y), lambda: learned.fit(with_holes, y), options.repeats)
    job = f"H {len(X):,}, a tenth of the cells missing, 20 trees; peer: complete"
    checked = f"accuracy {learned.score(X_test, y_test):.4f}, complete {complete.score(X_test, y_test):.4f}"
    return [at_most(options, job, str(peer), str(ours), ours.median / peer.median, 1.3, checked)]


if __name__ == "__main__":
    main(__doc__, [census, many_levels, holes])
