"""A table of the size of iris, warm: what a call costs beside the work."""

from functools import partial

from measure import demand, faster, main, side_by_side
from sklearn.datasets import load_iris
from subjects import Ours, ScikitLearn


def small(options):
    X, y = load_iris(return_X_y=True)
    ours, peer = Ours(threads=options.threads), ScikitLearn()
    agreement = (ours.fit(X, y).predict(X) == peer.fit(X, y).predict(X)).mean()
    checked = f"{agreement:.1%} equal labels, leaves {ours.n_leaves} (peer {peer.n_leaves})"
    demand(agreement == 1 and abs(ours.n_leaves - peer.n_leaves) <= 1, checked)
    repeats = 5 if options.quick or options.rows else 20 * options.repeats
    jobs = {
        "fit + predict": (lambda tree: tree.fit(X, y).predict(X), 1),
        "fit": (lambda tree: tree.fit(X, y), None),
        "predict": (lambda tree: tree.predict(X), None),
    }
    rows = []
    for name, (call, at_least) in jobs.items():
        times = side_by_side(partial(call, peer), partial(call, ours), repeats, calls=20)
        job = f"{name}, iris ({len(X)} x {X.shape[1]}), warm"
        rows.append(faster(options, job, *times, at_least, checked if name == "fit + predict" else ""))
    return rows


if __name__ == "__main__":
    main(__doc__, [small])
