"""A histogram tree of depth 8, binning included, against scikit-learn's exact tree of that depth."""

import math

from data import H
from measure import demand_alike, faster, main, side_by_side
from subjects import Ours, ScikitLearn


def histogram_tree(options):
    X, y, *test = H(options.size(1_000_000, 50_000))
    ours, peer = Ours(exact=False, threads=options.threads, max_depth=8), ScikitLearn(max_depth=8)
    ours.fit(X, y)
    times = side_by_side(lambda: peer.fit(X, y), lambda: ours.fit(X, y), options.repeats, 1)
    checked = demand_alike(ours, peer, test, len(X), leaves=None, better=math.inf)
    return [faster(options, f"histogram tree, H {len(X):,}, depth 8, peer exact", *times, 40, checked)]


if __name__ == "__main__":
    main(__doc__, [histogram_tree])
