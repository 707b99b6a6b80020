"""The bytes that a fitted forest holds after ``compact()``, packed forms apart, against scikit-learn's."""

import pickle

import numpy as np
from data import H, friedman
from forests import Ours, ScikitLearn, Shape
from measure import at_most, demand, main


def held_by_ours(model):
    """Return the bytes of every array that the model can reach; what it makes anew when asked is not kept."""
    seen, open_, total = set(), [vars(model)], 0
    while open_:
        one = open_.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            if one.base is None or not isinstance(one.base, np.ndarray):
                total += one.nbytes
            else:
                open_.append(one.base)
        elif isinstance(one, dict):
            open_ += one.values()
        elif isinstance(one, (list, tuple)):
            open_ += one
        elif hasattr(one, "__dict__") and not isinstance(one, type) and not callable(one):
            open_.append(vars(one))
    return total


def held_by_peer(model):
    """Return the bytes of the nodes and values of scikit-learn's trees."""
    states = [tree.tree_.__getstate__() for tree in model.estimators_]
    return sum(state["nodes"].nbytes + state["values"].nbytes for state in states)


def size(options):
    rows = []
    for job, tables, of_classes in (
        ("H", H(options.size(100_000, 5_000)), True),
        ("Friedman-1", friedman(options.size(100_000, 5_000)), False),
    ):
        X, y, X_test, _ = tables
        shape = Shape(of_classes=of_classes, share_drawn=None if of_classes else 1 / 3, threads=options.threads)
        ours, peer = Ours(shape).fit((X, y)), ScikitLearn(shape).fit((X, y))
        said = ours.predict((X_test,))
        ours.model.compact()
        ours.model = pickle.loads(pickle.dumps(ours.model))  # noqa: S301  made here; a copy has packed nothing yet
        sizes = held_by_ours(ours.model), held_by_peer(peer.model)
        demand(np.array_equal(ours.predict((X_test,)), said), "before and after compact()")
        stored = [len(pickle.dumps(one.model, protocol=5)) for one in (ours, peer)]
        checked = (
            f"leaves {ours.n_leaves:,} (peer {peer.n_leaves:,}); the same answers before and after; "
            f"pickled {megabytes(stored[0])} (peer {megabytes(stored[1])})"
        )
        demand(abs(ours.n_leaves / peer.n_leaves - 1) < 0.2, checked)
        name = f"fitted size after compact(), {job} {len(X):,}, 20 trees, peer scikit-learn"
        ratio = sizes[0] / sizes[1]
        rows.append(at_most(options, name, megabytes(sizes[1]), megabytes(sizes[0]), ratio, 1 / 3, checked))
    return rows


def megabytes(n_bytes):
    return f"{n_bytes / 1e6:.1f} MB"


if __name__ == "__main__":
    main(__doc__, [size])
