"""A criterion that a user writes, against the built-in one that does the same."""

from typing import NamedTuple

import numpy as np
from data import H
from measure import at_most, demand, main, side_by_side
from subjects import Ours

COMPARED = ("feature", "threshold", "left", "right", "missing_left", "value", "n_samples")


class ImpurityAlone(NamedTuple):
    """Gini in the fewest words: the package derives score and gain."""

    target = "classes"

    def impurity(self, stats, weight):
        """Return 1 - the sum of squared shares."""
        squares = 0.0
        for k in range(len(stats)):
            squares += stats[k] * stats[k]
        return 1.0 - squares / (weight * weight)


class WithScore(NamedTuple):
    """Gini with a score of its own, which leaves out what does not change from cut to cut."""

    target = "classes"

    def impurity(self, stats, weight):
        """Return 1 - the sum of squared shares."""
        squares = 0.0
        for k in range(len(stats)):
            squares += stats[k] * stats[k]
        return 1.0 - squares / (weight * weight)

    def score(self, left, right, weight_left, weight_right):
        """Return what the scan maximises."""
        squares_left = squares_right = 0.0
        for k in range(len(left)):
            squares_left += left[k] * left[k]
            squares_right += right[k] * right[k]
        return squares_left / weight_left + squares_right / weight_right


def impurity(stats, weight):
    """Return 1 - the sum of squared shares."""
    squares = 0.0
    for k in range(len(stats)):
        squares += stats[k] * stats[k]
    return 1.0 - squares / (weight * weight)


OWN = {"impurity alone": ImpurityAlone(), "impurity and score": WithScore(), "a plain function": impurity}


def own_criterion(options):
    X, y, *_ = H(options.size(100_000, 20_000))
    return [
        against_built_in(options, X, y, kind, name, criterion)
        for kind in ("exact", "histogram")
        for name, criterion in OWN.items()
    ]


def against_built_in(options, X, y, kind, name, criterion):
    own = Ours(exact=kind == "exact", threads=options.threads, criterion=criterion).fit(X, y)
    built_in = Ours(exact=kind == "exact", threads=options.threads).fit(X, y)
    for column in COMPARED:
        pair = (getattr(tree.model.trees_, column) for tree in (own, built_in))
        demand(np.array_equal(*pair, equal_nan=True), f"{kind}, {name}: {column} is not the built-in's")
    peer, ours = side_by_side(lambda: built_in.fit(X, y), lambda: own.fit(X, y), options.repeats)
    job = f"own Gini, {name}, {kind}, H {len(X):,}; peer: the built-in"
    same = f"the same tree of {own.n_leaves:,} leaves"
    return at_most(options, job, str(peer), str(ours), ours.median / peer.median, 1.3, same)


if __name__ == "__main__":
    main(__doc__, [own_criterion])
