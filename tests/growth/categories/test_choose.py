"""Splits of categories against every subset: trees and forests, exact and histogram codes, every criterion."""

import time
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.categories import best_gain, nodes_with_rows
from strategies import examples, interpreted_only, same_trees

from dtnumba import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from dtnumba.criteria.contract import CRITERIA
from dtnumba.runtime.kernels import COMPILED, kernel_type
from dtnumba.trees.check import check
from dtnumba.trees.layout import one_tree

pytestmark = pytest.mark.small
NOMINAL = [True, False, True, True]
CATEGORICAL = [0, 2, 3]


def draw(seed, n_classes, *, n=30, missing=0.1, levels=(5, 7, 3)):
    """Columns 0, 2 and 3 are categories of few levels, column 1 is a number; a few cells are missing."""
    rng = np.random.default_rng(seed)
    a, b, c = (rng.integers(0, k, n) for k in levels)
    X = np.stack([a, rng.normal(size=n).round(1), b, c], axis=1).astype(float)
    y = rng.integers(0, n_classes, n) if n_classes else rng.normal(size=n).round(1)
    y[: n_classes or 1] = np.arange(n_classes or 1)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, rng.integers(1, 4, n).astype(float)


def coded(X):
    """The table in terms of the levels that are there."""
    codes = X.copy()
    for f in CATEGORICAL:
        known = ~np.isnan(X[:, f])
        codes[known, f] = np.unique(X[known, f], return_inverse=True)[1]
    return codes


def audit(trees, X, y, w, criterion, n_classes=(), *, least=1, one_vs_rest=False, is_best=True):
    """Hold every node's gain against the best of all divisions of its rows, and every leaf against there being none."""
    y = y[:, None]
    for node, rows in nodes_with_rows(check(trees), X):
        assert len(rows) == trees.n_samples[node]
        best = best_gain(criterion, X[rows], y[rows], w[rows], NOMINAL, n_classes, least=least, one_vs_rest=one_vs_rest)
        if trees.feature[node] < 0:
            assert best == -np.inf or len(np.unique(y[rows])) == 1 or not is_best
        elif is_best:
            assert trees.gain[node] == pytest.approx(best, abs=1e-9)
        else:
            assert trees.gain[node] <= best + 1e-9


# Every pair is a compilation of ten seconds: a few run compiled, all of them interpreted.
KINDS = [("gini", 2, None), ("squared_error", 0, 255)]
MORE_KINDS = [("gini", 3, 255), ("error", 2, 255), ("twoing", 2, None), ("gini", 3, None), ("entropy", 4, 255)]


@examples(25)
@given(st.integers(0, 1 << 30), st.sampled_from(KINDS if COMPILED else KINDS + MORE_KINDS), st.sampled_from([1, 3]))
def test_every_split_of_a_tree_is_the_best_of_all_subsets(seed, kind, least):
    criterion, k, max_bins = kind
    X, y, w = draw(seed, k)
    grow = DecisionTreeClassifier if k else DecisionTreeRegressor
    model = grow(criterion=criterion, max_bins=max_bins, min_samples_leaf=least, categorical_features=CATEGORICAL)
    model.fit(X, y, sample_weight=w)
    # The order of the levels holds the best subset of all, but not the best of those that leaves of three rows allow.
    is_best = least == 1 or k > 2
    audit(model.trees_, coded(X), y, w, criterion, (k,) if k else (), least=least, is_best=is_best)


@interpreted_only
@examples(6)
@given(st.integers(0, 1 << 30), st.sampled_from([None, 255]))
def test_every_split_by_absolute_error_is_the_best_of_all_subsets(seed, max_bins):
    X, y, w = draw(seed, 0, n=16)
    model = DecisionTreeRegressor(criterion="absolute_error", max_bins=max_bins, categorical_features=CATEGORICAL)
    audit(model.fit(X, y, sample_weight=w).trees_, coded(X), y, w, "absolute_error")


@examples(8)
@given(
    st.integers(0, 1 << 30),
    st.sampled_from([2] if COMPILED else [2, 3, 0]),
    st.sampled_from([255] if COMPILED else [None, 255]),
)
def test_every_split_of_a_forest_is_the_best_of_all_subsets(seed, k, max_bins):
    X, y, _ = draw(seed, k)
    grow = RandomForestClassifier if k else RandomForestRegressor
    model = grow(2, max_bins=max_bins, bootstrap=False, max_features=None, categorical_features=CATEGORICAL).fit(X, y)
    for t in range(2):
        criterion = "gini" if k else "squared_error"
        audit(one_tree(model.trees_, t), coded(X), y, np.ones(len(y)), criterion, (k,) if k else ())


@interpreted_only
@examples(8)
@given(st.integers(0, 1 << 30), st.sampled_from([2, 0]), st.sampled_from([None, 255]))
def test_a_random_subset_parts_the_levels_of_a_node(seed, k, max_bins):
    X, y, w = draw(seed, k)
    grow = ExtraTreeClassifier if k else ExtraTreeRegressor
    model = grow(max_bins=max_bins, max_features=None, random_state=seed, categorical_features=CATEGORICAL)
    model.fit(X, y, sample_weight=w)
    audit(model.trees_, coded(X), y, w, "gini" if k else "squared_error", (k,) if k else (), is_best=False)


@interpreted_only
def test_forests_of_random_subsets_answer_with_the_mean_of_their_trees():
    X, y, _ = draw(1, 3, n=60)
    model = ExtraTreesClassifier(4, random_state=0, categorical_features=CATEGORICAL).fit(X, y)
    codes, expected = coded(X), np.zeros((60, 3))
    for t in range(4):
        trees = one_tree(model.trees_, t)
        audit(trees, codes, y, np.ones(60), "gini", (3,), is_best=False)
        for node, rows in nodes_with_rows(trees, codes):
            if trees.feature[node] < 0:
                expected[rows] += trees.value[node] / 4
    assert model.predict_proba(X) == pytest.approx(expected, abs=1e-12)
    assert model.predict_proba(X[:1]) == pytest.approx(expected[:1], abs=1e-12)
    assert model.compile_predictor()(codes[0]) == pytest.approx(expected[0], abs=1e-12)


@interpreted_only
def test_more_levels_than_a_byte_holds_are_split_alike():
    rng, n = np.random.default_rng(0), 600
    X = np.stack([rng.integers(0, 300, n), rng.integers(0, 4, n)], axis=1).astype(float)
    X[:300, 0] = np.arange(300)
    y = (np.sin(X[:, 0] * 7) + rng.normal(size=n) > 0).astype(int)
    options = {"categorical_features": [0], "random_state": 0, "max_depth": 3, "max_features": None}
    exact = DecisionTreeClassifier(**options).fit(X, y)
    # The codes of a forest are two bytes wide here.
    histogram = RandomForestClassifier(1, bootstrap=False, max_bins=255, **options).fit(X, y)
    assert same_trees(exact.trees_, histogram.trees_, but=["n_samples"])  # of another width in a forest
    assert np.array_equal(exact.trees_.n_samples, histogram.trees_.n_samples)
    assert histogram.score(X, y) > 0.6


def test_threads_change_no_bit():
    X, y, w = draw(3, 2, n=9000 if COMPILED else 40, levels=(30, 20, 3))
    one, two = (
        DecisionTreeClassifier(n_jobs=n, min_samples_leaf=5, categorical_features=CATEGORICAL)
        .fit(X, y, sample_weight=w)
        .trees_
        for n in (1, 2)
    )
    assert same_trees(one, two)


def test_levels_of_two_classes_are_cut_in_the_order_of_their_shares():
    X = np.repeat(np.arange(20.0), 50)[:, None]
    rng = np.random.default_rng(0)
    share = rng.random(20)
    y = (rng.random(1000) < share[X[:, 0].astype(int)]).astype(int)
    trees = DecisionTreeClassifier(max_depth=1, categorical_features=[0]).fit(X, y).trees_
    left = np.isin(np.arange(20), trees.level)
    means = np.bincount(X[:, 0].astype(int), y, 20) / 50
    assert means[left].max() <= means[~left].min() or means[~left].max() <= means[left].min()
    assert trees.n_samples[1] <= trees.n_samples[2]  # the lighter child's levels are listed


def test_an_unseen_level_goes_where_a_missing_one_goes():
    X = np.array([["a"], ["a"], ["b"], ["b"], ["b"]], dtype=object)
    model = DecisionTreeClassifier().fit(X, [0, 0, 1, 1, 1])
    new = np.array([["z"], [None], ["b"], ["a"]], dtype=object)
    assert model.predict(new).tolist() == [1, 1, 1, 0]


@kernel_type
class Halves(NamedTuple):
    """How alike two children are in weight: the order of the categories says nothing of it."""

    target = "classes"

    def impurity(self, stats, weight):
        return min(stats[0], stats[1]) / weight

    def score(self, left, right, weight_left, weight_right):
        return -abs(weight_left - weight_right)

    def gain(self, parent, children, weights):
        return 1.0 - abs(weights[0] - weights[1]) / (weights[0] + weights[1])


@interpreted_only
@pytest.mark.parametrize("missing", ["learned", "majority"])  # by either growth
@pytest.mark.parametrize("criterion", ["gain_ratio", "mdl", "halves"])
def test_all_subsets_are_tried_where_a_criterion_does_not_say_that_it_is_concave(criterion, missing, monkeypatch):
    monkeypatch.setitem(CRITERIA, "halves", Halves)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        level, w = rng.integers(0, 6, 40), rng.integers(1, 4, 40).astype(float)
        y = (rng.random(40) < 0.1 + 0.8 * (level % 2)).astype(int)
        y[:2] = 0, 1
        grow = DecisionTreeClassifier(criterion=criterion, missing=missing, max_depth=1, categorical_features=[0])
        trees = grow.fit(level[:, None].astype(float), y, sample_weight=w).trees_
        sides = [np.isin(level, np.flatnonzero([k >> j & 1 for j in range(6)])) for k in range(1, 32)]
        if criterion == "halves":
            best = max(1.0 - abs(w[side].sum() - w[~side].sum()) / w.sum() for side in sides)
        else:
            X = np.unique(level, return_inverse=True)[1][:, None].astype(float)
            best = best_gain("entropy" if criterion == "gain_ratio" else criterion, X, y[:, None], w, [True], (2,))
        assert trees.gain[0] == pytest.approx(best, abs=1e-9)


@pytest.mark.skipif(not COMPILED, reason="it is about compiled speed")
def test_one_level_against_the_rest_takes_a_look_at_each_level_of_a_node():
    """Of each level a look at all others, at all of 3,000 nodes, took 23 s."""
    model = DecisionTreeClassifier(categorical_split="one_vs_rest", categorical_features=[0], n_jobs=1)
    for n_levels in (2500, 6000):  # the first one compiles
        levels = np.arange(n_levels)
        began = time.process_time()
        model.fit(levels[:, None], levels % 2)
        assert model.n_leaves_ == n_levels // 2 + 1
    assert time.process_time() - began < 2.0
