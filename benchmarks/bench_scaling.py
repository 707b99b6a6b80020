"""One thread and two: what the second core brings to fit and predict, with the same bits."""

from functools import partial

import numpy as np
from data import H
from forests import Ours, Shape
from measure import demand, faster, main, side_by_side

from dtnumba.trees.layout import arrays_of

AT_LEAST = 1.8


def scaling(options):
    rows = []
    for name, shape, n_rows in (
        ("20 trees fully grown", {}, options.size(1_000_000, 5_000)),
        ("500 trees of depth 6", {"n_trees": 500, "max_depth": 6}, options.size(100_000, 5_000)),
    ):
        X, y, X_test, _ = H(n_rows)
        one, two = (Ours(Shape(threads=threads, **shape)).fit((X, y)) for threads in (1, 2))
        columns = zip(arrays_of(one.model.trees_), arrays_of(two.model.trees_), strict=True)
        same = all(np.array_equal(*pair, equal_nan=True) for pair in columns)
        demand(same, f"{name}: one thread and two grow different trees")
        shares = [forest.model.predict_proba(X_test) for forest in (one, two)]
        demand(np.array_equal(*shares), f"{name}: one thread and two predict differently")
        for work, table, call in (("fit", (X, y), Ours.fit), ("predict", (X_test,), Ours.predict)):
            times = side_by_side(partial(call, one, table), partial(call, two, table), min(3, options.repeats))
            job = f"{work}, {name}, H {len(table[0]):,}; 1 thread, and 2"
            rows.append(faster(options, job, *times, AT_LEAST, "the same bits" if work == "fit" else ""))
    return rows


if __name__ == "__main__":
    main(__doc__, [scaling])
