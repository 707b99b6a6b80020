"""Exact trees for classes, fully grown, against scikit-learn."""

from data import H, covtype
from measure import demand_alike, faster, main, side_by_side
from subjects import Ours, ScikitLearn


def exact_tree(options, job, tables, at_least, peer_repeats):
    X, y, *test = tables
    ours, peer = Ours(threads=options.threads), ScikitLearn()
    ours.fit(X, y)
    times = side_by_side(lambda: peer.fit(X, y), lambda: ours.fit(X, y), options.repeats, peer_repeats)
    checked = demand_alike(ours, peer, test, len(X))
    return faster(options, f"exact tree, {job} {len(X):,}, fully grown", *times, at_least, checked)


def hundred_thousand(options):
    rows = options.size(100_000, 20_000)
    return [exact_tree(options, "H", H(rows), 12, options.repeats)]


def million(options):
    if not options.is_full:
        return []
    return [exact_tree(options, "H", H(1_000_000), 15, 1)]


def real(options):
    if options.data is None:
        return []
    rows = None if options.is_full else options.size(None, 20_000)
    return [exact_tree(options, "covtype", covtype(options.data, rows), None, 1)]


if __name__ == "__main__":
    main(__doc__, [hundred_thousand, million, real])
