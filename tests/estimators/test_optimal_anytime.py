"""Optimal trees under limits: of time, of memory, and of what can be searched at all; and unusual tables."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import optimal as naive
from strategies import interpreted_only

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, OptimalTreeClassifier, OptimalTreeRegressor
from dtnumba.growth.optimal.greedy import running_distances
from dtnumba.growth.optimal.train import passes
from dtnumba.pruners.mdl import MDL
from dtnumba.trees import message_length
from dtnumba.trees.check import check
from dtnumba.trees.message_length import whole_leaf_bits
from dtnumba.trees.subtrees import depth_levels


def noise(n=300, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n) > 0).astype(int)


def assert_honest(model, X, y):
    """The tree loses what it says, the bound is below it, and both only got better."""
    check(model.trees_, X.shape[1])
    assert model.lower_bound_ <= model.objective_
    assert model.is_optimal_ == (model.lower_bound_ == model.objective_) == (model.gap_ == 0)
    assert (np.diff(model.history_[:, 0]) >= 0).all()
    assert (np.diff(model.history_[:, 1]) <= 0).all()
    assert (np.diff(model.history_[:, 2]) >= 0).all()
    assert model.history_[-1, 1] == model.objective_
    if hasattr(model, "classes_"):
        assert (model.predict(X) != y).sum() == model.loss_


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("depth", [2, 4, 6])
def test_no_time_gives_a_tree_no_worse_than_greedy_ones(seed, depth):
    X, y = noise(seed=seed)
    model = OptimalTreeClassifier(max_depth=depth, max_seconds=0).fit(X, y)
    for criterion in ("gini", "entropy"):
        greedy = DecisionTreeClassifier(max_depth=depth, criterion=criterion, random_state=0).fit(X, y)
        assert model.loss_ <= (greedy.predict(X) != y).sum()
    assert_honest(model, X, y)


@pytest.mark.parametrize("params", [{"min_samples_leaf": 7}, {"max_nodes": 5}, {"complexity": 0.02}])
def test_other_limits_hold_without_time(params):
    X, y = noise(200)
    model = OptimalTreeClassifier(max_depth=6, max_seconds=0, **params).fit(X, y)
    assert_honest(model, X, y)
    assert model.objective_ < np.bincount(y).min()
    tests = int((model.trees_.feature >= 0).sum())
    assert tests <= params.get("max_nodes", 63)
    assert model.trees_.n_samples.min() >= params.get("min_samples_leaf", 1)
    root = np.bincount(y).min()
    assert model.objective_ == pytest.approx(model.loss_ + tests * params.get("complexity", 0) * root)


def test_numbers_without_time_are_no_worse_than_the_greedy_tree():
    X, _ = noise()
    z = np.sin(2 * X[:, 0]) * X[:, 1]
    model = OptimalTreeRegressor(max_depth=5, max_seconds=0).fit(X, z)
    greedy = DecisionTreeRegressor(max_depth=5, random_state=0).fit(X, z)
    assert model.loss_ <= ((greedy.predict(X) - z) ** 2).sum() * (1 + 1e-9)
    assert_honest(model, X, z)


@interpreted_only
@pytest.mark.parametrize("depth", [3, 5])
def test_distances_without_time_are_no_more_than_those_of_the_greedy_tree(depth):
    X, _ = noise(120)
    z, weight = np.round(np.sin(2 * X[:, 0]) * X[:, 1], 1), np.arange(120) % 3
    model = OptimalTreeRegressor(objective="absolute_error", max_depth=depth, max_seconds=0).fit(X, z, weight)
    greedy = DecisionTreeRegressor(criterion="absolute_error", max_depth=depth, random_state=0).fit(X, z, weight)
    assert model.loss_ <= (weight * np.abs(greedy.predict(X) - z)).sum() * (1 + 1e-9)
    assert (weight * np.abs(model.predict(X) - z)).sum() == pytest.approx(model.loss_)
    assert_honest(model, X, z)


@interpreted_only
def test_bits_without_time_are_no_more_than_those_of_pruned_greedy_trees():
    X, _ = noise(150)
    X = np.column_stack([X, X[:, 0] > 0])
    y = (X[:, 0] > 0.3) ^ (X[:, 1] > 1)
    model = OptimalTreeClassifier(objective="mdl", max_depth=5, max_seconds=0).fit(X, y)
    cuts = np.array([len(np.unique(column)) - 1 for column in X.T])
    for criterion in ("gini", "entropy"):
        greedy = DecisionTreeClassifier(max_depth=5, criterion=criterion, random_state=0, prune=MDL(cuts=tuple(cuts)))
        trees = greedy.fit(X, y).trees_
        is_leaf = trees.feature < 0
        bits = 1.0 + whole_leaf_bits(trees.value[is_leaf] * trees.weight[is_leaf, None])
        tests = message_length.test_bits(trees, depth_levels(trees), X.shape[1], cuts.astype(float)) + (~is_leaf)
        assert model.objective_ <= bits.sum() + tests.sum() + 1e-6
    assert model.n_leaves_ > 1
    assert model.lower_bound_ <= model.objective_


@interpreted_only
@pytest.mark.parametrize("lacks", [0.0, 0.2])
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_categories_of_many_levels_are_divided_as_well_as_greedy_trees_do(depth, lacks):
    rng = np.random.default_rng(depth)
    X = np.column_stack([rng.integers(0, 14, 300), rng.normal(size=300).round(1)]).astype(float)
    y = (X[:, 0] % 3 == 1) ^ (X[:, 1] > 0.5) ^ (rng.random(300) < 0.1)
    X[rng.random(300) < lacks, 0] = np.nan
    params = {"max_depth": depth, "categorical_features": [0]}
    model = OptimalTreeClassifier(**params, max_seconds=0).fit(X, y)
    proven = OptimalTreeClassifier(**params, max_seconds=None if depth < 3 else 0).fit(X, y)
    for criterion in ("gini", "entropy"):
        greedy = DecisionTreeClassifier(**params, criterion=criterion, random_state=0).fit(X, y)
        assert proven.loss_ <= model.loss_ <= (greedy.predict(X) != y).sum()
    assert_honest(model, X, y)
    z = y + X[:, 1]
    number = OptimalTreeRegressor(**params, max_seconds=0).fit(X, z)
    greedy = DecisionTreeRegressor(**params, random_state=0).fit(X, z)
    assert number.loss_ <= ((greedy.predict(X) - z) ** 2).sum() * (1 + 1e-9)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 4)), min_size=1, max_size=12))
def test_what_first_rows_lose_by_distance(rows):
    target, weight = map(list, zip(*rows, strict=True))
    found = running_distances(target, weight)
    assert found[0] == 0
    for k in range(1, len(rows) + 1):
        t, w = np.array(target[:k]), np.array(weight[:k])
        assert found[k] == min((w * np.abs(t - middle)).sum() for middle in t)


def test_depths_that_nobody_searches_are_legal():
    X, y = noise(400)
    model = OptimalTreeClassifier(max_depth=20, max_seconds=0.2).fit(X, y)
    assert model.loss_ == 0
    assert model.is_optimal_  # for nothing is below no loss
    X, y = X.round(0), (y + 1) % 2
    model = OptimalTreeClassifier(max_depth=20, max_seconds=0.2).fit(X, y)
    same = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    lost = sum(np.bincount(y[same == k], minlength=2).min() for k in range(same.max() + 1))
    assert model.lower_bound_ == lost <= model.loss_
    assert_honest(model, X, y)
    deep = OptimalTreeClassifier(max_depth=20, max_nodes=9, max_seconds=0.2).fit(X, y)
    assert int((deep.trees_.feature >= 0).sum()) <= 9


def test_bounds_between_searches_are_below_the_best():
    """Small searches end before any time is up, so that each pass says something, and must say it of all trees."""
    rng = np.random.default_rng(5)
    for seed in range(6):
        codes = rng.integers(0, 3, (20, 2))
        y = rng.integers(0, 2, 20)
        tests = naive.divisions_of_codes(codes)
        loss = naive.class_loss(y, np.ones(20), 2, "error")
        best = naive.best_loss(np.ones(20, bool), tests, loss, 3, 7)
        model = OptimalTreeClassifier(max_depth=3 + seed % 2 * 2, start="greedy").fit(codes, y)
        assert model.is_optimal_
        assert model.history_[:, 2].max() <= best
        assert model.objective_ == best if seed % 2 == 0 else model.objective_ <= best


def test_the_searches_end_with_all_trees():
    for depth in (1, 2, 3, 4, 5, 10):
        for of_bits in (False, True):
            last = passes(depth, "greedy", of_bits=of_bits)[-1]
            assert last == passes(depth, None, of_bits=of_bits)[-1]


def test_memory_has_a_budget():
    X, y = noise(2000, 10)
    with pytest.raises(ValueError, match=r"max_bytes=1000000: 2000 rows and 10 columns or cuts need \d+; allow more"):
        OptimalTreeClassifier(max_depth=3, max_bytes=1_000_000).fit(X, y)
    most = 40_000_000
    OptimalTreeClassifier(max_depth=5, max_bytes=most, max_seconds=0).fit(X, y)
    tracemalloc.start()
    OptimalTreeClassifier(max_depth=5, max_bytes=most, max_seconds=0.2).fit(X, y)
    OptimalTreeClassifier(max_depth=5, max_bytes=most, max_seconds=0.2).fit(X > 0, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= most


def test_tables_that_leave_nothing_to_search():
    X, y = noise(40)
    constant = OptimalTreeClassifier().fit(X, np.ones(40))
    assert (constant.objective_, constant.is_optimal_, constant.n_leaves_) == (0, True, 1)
    same = OptimalTreeClassifier().fit(np.ones((40, 3)), y)  # rows that contradict each other
    assert same.is_optimal_
    assert same.n_leaves_ == 1
    assert same.loss_ == min(np.bincount(y))
    one = OptimalTreeRegressor().fit([[1.0]], [2.5])
    assert (one.objective_, one.is_optimal_) == (0, True)
    assert isinstance(one.is_optimal_, bool)  # as others print and compare it
    none = OptimalTreeClassifier(max_nodes=0).fit(X, y)
    assert none.is_optimal_
    assert none.n_leaves_ == 1
    more = OptimalTreeClassifier(max_depth=2, max_nodes=1000).fit(X, y)
    assert more.objective_ == OptimalTreeClassifier(max_depth=2).fit(X, y).objective_
    with pytest.raises(ValueError, match="sample_weight"):
        OptimalTreeClassifier().fit(X, y, np.zeros(40))


def test_infinite_values_are_the_least_and_the_largest():
    X = np.array([[-np.inf], [-1.0], [3.0], [np.inf], [np.nan]])
    model = OptimalTreeClassifier(max_depth=3).fit(X, [0, 1, 1, 0, 2])
    assert model.loss_ == 0
    assert model.predict(X).tolist() == [0, 1, 1, 0, 2]


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"max_depth": 0}, "max_depth"),
        ({"max_depth": 31}, "max_depth"),
        ({"max_nodes": -1}, "max_nodes"),
        ({"max_seconds": -1}, "max_seconds"),
        ({"max_seconds": float("inf")}, "a finite number"),
        ({"max_gap": 1.5}, "max_gap"),
        ({"thresholds": 0}, "thresholds"),
        ({"thresholds": "some"}, "thresholds"),
        ({"max_bytes": 0}, "max_bytes"),
        ({"start": "best"}, "start"),
        ({"complexity": -0.1}, "complexity"),
        ({"complexity_unit": "tests"}, "complexity_unit"),
        ({"objective": "twoing"}, "objective"),
        ({"objective": "gini", "costs": [[0, 1], [2, 0]]}, "costs"),
    ],
)
def test_what_is_not_legal_is_named(params, said):
    X, y = noise(20)
    with pytest.raises((ValueError, TypeError), match=said):
        OptimalTreeClassifier(**params).fit(X, y)
