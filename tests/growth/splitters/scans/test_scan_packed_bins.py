"""Dense histograms of two classes: scoring in single precision first finds the cut that scoring all would."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import UnmarkedGini, same_trees

from dtnumba import DecisionTreeClassifier, RandomForestClassifier
from dtnumba.criteria.classification import Entropy, Gini
from dtnumba.criteria.contract import has_rough_gain
from dtnumba.runtime.instructions.vector_compare import at_least_among_16, largest_of
from dtnumba.runtime.instructions.vector_sums import running_pairs
from dtnumba.runtime.kernels import kernel


def _table(seed, n, missing, n_values):
    random = np.random.default_rng(seed)
    X = np.stack([random.normal(size=n), random.integers(0, n_values, n), random.integers(0, 2, n)], axis=1)
    X[random.random(X.shape) < missing] = np.nan
    noise = random.random(n)
    return X, (np.nan_to_num(X[:, 0]) + noise > 0.5) ^ (noise < 0.1)


@settings(max_examples=25)
@given(
    st.integers(0, 1000),
    st.sampled_from([90, 700, 3000, 6000]),
    st.sampled_from([0.0, 0.2]),
    st.sampled_from([2, 17, 300]),
)
def test_the_same_cut_wins(seed, n, missing, n_values):
    X, y = _table(seed, n, missing, n_values)
    trees = [
        RandomForestClassifier(2, criterion=c, max_features=2, min_samples_split=65, random_state=0).fit(X, y).trees_
        for c in ("gini", UnmarkedGini())
    ]
    assert same_trees(*trees)


def test_an_inherited_rough_gain_is_not_that_of_another_score():
    assert has_rough_gain(Gini())
    assert not has_rough_gain(Entropy(np.zeros(0)))
    assert not has_rough_gain(UnmarkedGini())


def test_single_trees_find_the_same_cuts():
    X, y = _table(3, 2000, 0.1, 40)
    trees = [DecisionTreeClassifier(criterion=c, max_bins=255).fit(X, y).trees_ for c in ("gini", UnmarkedGini())]
    assert same_trees(*trees)


def test_cuts_of_no_gain_are_ties():
    """Every cut parts the classes alike: the first feature drawn wins, and no rounding."""
    X = np.array([[a, b] for a in range(20) for b in range(20)] * 2, float)
    y = np.repeat([0, 1], 400)
    trees = [
        RandomForestClassifier(3, criterion=c, max_features=1, bootstrap=False, min_samples_split=65, random_state=1)
        .fit(X, y)
        .trees_
        for c in ("gini", UnmarkedGini())
    ]
    assert same_trees(*trees)
    assert trees[0].n_nodes > 10


@pytest.mark.small
def test_a_rough_gain_is_what_a_score_exceeds_that_of_no_split_by():
    random = np.random.default_rng(0)
    for _ in range(300):
        rows, others = random.integers(1, 2047, 2)
        second, of_others = random.integers(0, rows, endpoint=True), random.integers(0, others, endpoint=True)
        whole, ones = rows + others, second + of_others
        gini = Gini()
        left, right = (float(rows - second), float(second)), (float(others - of_others), float(of_others))
        gain = gini.score(left, right, float(rows), float(others)) - ((whole - ones) ** 2 + ones**2) / whole
        found = gini.rough_gain(*map(np.float32, (second, rows, ones, whole)))
        assert found.dtype == np.float32
        assert found == pytest.approx(gain, rel=5e-7, abs=1e-12 * whole)


@kernel
def paired(bins, at, n, pairs, to, start, empties, out):
    out[0] = running_pairs(bins, at, n, pairs, to, start, empties)


@pytest.mark.small
@pytest.mark.parametrize("empties", [False, True])
def test_sums_of_pairs_run_over_all_bins(empties):
    random = np.random.default_rng(0)
    for n in (0, 16, 48, 256):
        high, low = random.integers(0, 9, 300), random.integers(0, 5, 300)
        bins, pairs, out = (high << 32) | low, np.full(300, 77, np.int32), np.zeros(1, np.int64)
        before = bins.copy()
        paired(bins, np.uint64(3), np.uint64(n), pairs, np.uint64(5), (7 << 16) | 2, empties, out)
        expected = (7 + np.cumsum(high[3 : 3 + n]) << 16) | (2 + np.cumsum(low[3 : 3 + n]))
        assert out[0] == (expected[-1] if n else (7 << 16) | 2)
        assert pairs[5 : 5 + n].tolist() == expected.tolist()
        assert (pairs[:5] == 77).all()
        assert (pairs[5 + n :] == 77).all()
        before[3 : 3 + n] *= not empties
        assert bins.tolist() == before.tolist()


@kernel
def looked_at(gains, at, n, bar, out):
    out[0] = largest_of(gains, at, n)
    out[1] = at_least_among_16(gains, at, bar)


@pytest.mark.small
def test_gains_are_compared_sixteen_at_once():
    random, out = np.random.default_rng(2), np.zeros(2)
    for n in (16, 32, 64):
        gains = random.random(n + 5).astype(np.float32)
        gains[random.random(n + 5) < 0.2] = np.nan
        bar = float(np.nanmedian(gains))
        looked_at(gains, np.uint64(5), np.uint64(n), bar, out)
        assert out[0] == np.nanmax(gains[5:])
        assert int(out[1]) == sum(int(gains[5 + k] >= bar) << k for k in range(16))
