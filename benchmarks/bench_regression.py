"""An exact regression tree, fully grown, against scikit-learn."""

from data import friedman
from measure import demand_alike, faster, main, side_by_side
from subjects import Ours, ScikitLearn


def regression_tree(options):
    X, y, *test = friedman(options.size(200_000, 20_000))
    ours, peer = Ours(of_classes=False, threads=options.threads), ScikitLearn(of_classes=False)
    ours.fit(X, y)
    times = side_by_side(lambda: peer.fit(X, y), lambda: ours.fit(X, y), options.repeats, min(options.repeats, 3))
    checked = demand_alike(ours, peer, test, len(X))
    return [faster(options, f"exact regression tree, Friedman-1 {len(X):,}, fully grown", *times, 12, checked)]


if __name__ == "__main__":
    main(__doc__, [regression_tree])
