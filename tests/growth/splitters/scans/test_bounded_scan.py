"""Trees of which most cuts were left out unseen are those of a walk over all cuts, to the bit."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import COLUMNS, UnmarkedGini, column, compiled_where, examples, interpreted_only, same_trees

from dtnumba import RandomForestClassifier
from dtnumba.criteria.classification import Entropy, Gini
from dtnumba.criteria.contract import has_convex_score
from dtnumba.growth.splitters.scans import bounded_scan
from dtnumba.runtime.kernels import COMPILED


class EveryEntropy(Entropy):
    """Likewise."""

    __slots__ = ()

    def score(self, left, right, weight_left, weight_right):
        return Entropy.score(self, left, right, weight_left, weight_right)


KINDS = {"gini": (Gini, UnmarkedGini), "entropy": (Entropy, EveryEntropy)}
KIND_OF_COLUMN = [*COLUMNS, "normal", "coarse", "clustered", "labels"]


def cells(kind, random, n, y):
    """A column of such a kind; the last one says much of the labels."""
    if kind in COLUMNS:
        return column(kind, random, n, np.float64)
    values = random.standard_normal(n)
    if kind == "coarse":
        return values.round(1)
    if kind == "clustered":  # most ranks in a few stretches of any node
        return np.exp(8 * values) * (random.random(n) < 0.3) + random.integers(0, 3, n)
    return values + 2 * y if kind == "labels" else values


def rows(seed, n, kinds):
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    y[:2] = 0, 1
    if seed % 3 == 0:  # mostly one class
        y[2:][random.random(n - 2) < 0.9] = 0
    return np.stack([cells(kind, random, n, y) for kind in kinds], axis=1), y


# Compiled, only what takes one kernel: codes of one width, and one way to draw rows.
SAMPLES = st.builds(
    lambda seed, n, kinds: rows(seed, n, [*kinds, "normal"]),
    st.integers(0, 1 << 30),
    st.sampled_from([300, 1000, 5000] if COMPILED else [66, 100, 130]),
    st.lists(st.sampled_from(KIND_OF_COLUMN), min_size=1, max_size=13),
)
BOOTSTRAP = st.just(True) if COMPILED else st.booleans()


@pytest.mark.small
@pytest.mark.parametrize("kind", compiled_where(KINDS, ["gini"]))
@examples(60)
@given(SAMPLES, BOOTSTRAP, st.integers(1, 12), st.sampled_from([{}, {"min_samples_split": 30}, {"max_depth": 2}]))
@example(rows(1, 400 if COMPILED else 130, ["normal"] * 13), True, 12, {})
@example(rows(1, 400 if COMPILED else 130, ["normal"] * 5), True, 4, {"max_depth": 2})
def test_trees_are_those_of_all_cuts(kind, sample, bootstrap, n_drawn, limits):
    X, y = sample
    params = {"n_estimators": 2, "random_state": 0, "max_bins": None, "n_jobs": 1, "bootstrap": bootstrap, **limits}
    params["max_features"] = min(n_drawn, X.shape[1] - 1)
    likely, every = KINDS[kind]
    made = every.for_fit(len(y), X.shape[1]) if hasattr(every, "for_fit") else every()
    assert has_convex_score(likely(*made))
    assert not has_convex_score(made)
    found = RandomForestClassifier(criterion=kind, **params).fit(X, y).trees_
    assert same_trees(found, RandomForestClassifier(criterion=made, **params).fit(X, y).trees_)


@pytest.mark.small
@interpreted_only
def test_most_cuts_are_left_out(monkeypatch):
    seen = []
    sort = bounded_scan.sort_records
    monkeypatch.setattr(bounded_scan, "sort_records", lambda *args: (seen.append(args[4]), sort(*args))[1])
    X, y = rows(1, 2000, ["normal"] * 5 + ["labels"])
    RandomForestClassifier(
        1, max_features=5, max_bins=None, max_depth=1, bootstrap=False, random_state=0, n_jobs=1
    ).fit(X, y)
    assert len(seen) == 1
    assert seen[0] < 300
