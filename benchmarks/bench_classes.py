"""Fits on 20,000 rows with ever more classes: time must grow no faster than their number."""

import time

import numpy as np
from measure import Row, demand, duration, main, verdict
from sklearn.tree import DecisionTreeClassifier as Peer

from dtnumba import DecisionTreeClassifier, RandomForestClassifier

CLASSES = (2, 7, 26, 100, 1000)
COLUMNS = 10
# Ten times the classes, and a third more nodes to tell them apart.
MOST = 10 * 1.4


def table(rows, n_classes, seed=0):
    """Return a table with classes of equal size, which are the slices of a noisy function of three columns."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(rows, COLUMNS)).astype(np.float32)
    z = X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 0.3 * draw.normal(size=rows)
    return X, np.searchsorted(np.quantile(z, np.arange(1, n_classes) / n_classes), z)


def seconds(call):
    """Return the processor time of a call; of one thread, so that other work on the machine does not count."""
    began = time.process_time()
    call()
    return time.process_time() - began


def rows_of(options, name, make, make_peer=None):
    found, rows, earlier = [], options.size(20_000, 2_000), None
    for n_classes in CLASSES:
        X, y = table(rows, n_classes)
        make().fit(X[:500], y[:500])
        model, peer = make(), make_peer and make_peer()
        took = seconds(lambda model=model, X=X, y=y: model.fit(X, y))
        took_peer = None if peer is None else seconds(lambda peer=peer, X=X, y=y: peer.fit(X, y))
        predicted = seconds(lambda model=model, X=X: model.predict_proba(X))
        shares = model.predict_proba(X[:100])
        demand(np.allclose(shares.sum(axis=1), 1.0), "shares sum to one")
        demand(model.score(X, y) > 1.0 / n_classes, "better than a guess")
        growth = None if earlier is None else took / earlier
        is_last = n_classes == CLASSES[-1]
        found.append(
            Row(
                f"{name}, {rows:,} x {COLUMNS}, {n_classes} classes",
                "-" if took_peer is None else duration(took_peer),
                duration(took),
                "-" if growth is None else f"{growth:.1f}x the one before",
                f"<= {MOST:g}x" if is_last else "-",
                verdict(options, growth <= MOST) if is_last else "-",
                f"{model.trees_.n_nodes:,} nodes; predict_proba {duration(predicted)}",
            )
        )
        earlier = took
    return found


def exact_tree(options):
    return rows_of(options, "exact tree", lambda: DecisionTreeClassifier(n_jobs=1), lambda: Peer(random_state=0))


def histogram_tree(options):
    return rows_of(options, "histogram tree", lambda: DecisionTreeClassifier(n_jobs=1, max_bins=255))


def histogram_forest(options):
    return rows_of(options, "forest of 4", lambda: RandomForestClassifier(4, n_jobs=1, random_state=0))


def exact_forest(options):
    return rows_of(
        options, "exact forest of 4", lambda: RandomForestClassifier(4, n_jobs=1, random_state=0, max_bins=None)
    )


if __name__ == "__main__":
    main(__doc__, [exact_tree, histogram_tree, histogram_forest, exact_forest])
