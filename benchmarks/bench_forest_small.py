"""A forest of 100 trees on a table of the size of iris, warm: what a call and a tree cost beside the work."""

from functools import partial

from forests import Ours, ScikitLearn, Shape
from measure import demand, faster, main, side_by_side
from sklearn.datasets import load_iris


def small(options):
    X, y = load_iris(return_X_y=True)
    shape = Shape(n_trees=100, threads=options.threads)
    ours, peer = Ours(shape), ScikitLearn(shape)
    # scikit-learn's threads cost it more than they gain here: its best form is one.
    alone = ScikitLearn(Shape(n_trees=100, threads=1))
    agreement = (ours.fit((X, y)).predict((X,)) == peer.fit((X, y)).predict((X,))).mean()
    checked = f"{agreement:.1%} equal labels, leaves {ours.n_leaves:,} (peer {peer.n_leaves:,})"
    demand(agreement > 0.98 and abs(ours.n_leaves / peer.n_leaves - 1) < 0.1, checked)
    alone.fit((X, y))
    rows = []
    for work, at_least in (("fit", 20), ("predict", None)):
        call = (lambda forest: forest.fit((X, y))) if work == "fit" else (lambda forest: forest.predict((X,)))
        for other in (alone, peer):
            times = side_by_side(partial(call, other), partial(call, ours), options.repeats, calls=5)
            job = f"{work}, iris ({len(X)} x {X.shape[1]}), 100 trees, peer on {other.shape.threads} thread(s)"
            rows.append(faster(options, job, *times, at_least, checked if other is peer and work == "fit" else ""))
    return rows


if __name__ == "__main__":
    main(__doc__, [small])
