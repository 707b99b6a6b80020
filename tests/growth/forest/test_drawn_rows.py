"""The rows of each tree: as often as it drew them, and enough to grow the tree again."""

import pickle

import numpy as np
import pytest
from strategies import interpreted_only

from dtnumba import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from dtnumba.runtime import rng

FORESTS = [RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor]


def table(n_rows=150):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, 5)).round(1)
    return X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)


def again(tree, X, y):
    """Grow a tree of the same parameters and seed."""
    return type(tree)(**tree.get_params()).fit(X, y)


@pytest.mark.parametrize("forest", [RandomForestClassifier, pytest.param(ExtraTreesRegressor, marks=interpreted_only)])
@pytest.mark.parametrize("params", [{"bootstrap": False}, {"bootstrap": True, "max_samples": 0.4}], ids=str)
def test_a_tree_fitted_to_the_rows_of_a_tree_is_that_tree(forest, params):
    X, y = table()
    model = forest(3, random_state=1, max_features=0.5, **params).fit(X, y)
    for rows, tree in zip(model.estimators_samples_, model.estimators_, strict=True):
        alone = again(tree, X[rows], y[rows]).tree_
        assert np.array_equal(alone.feature, tree.tree_.feature)
        assert np.allclose(alone.value, tree.tree_.value)
        assert np.array_equal(alone.weighted_n_node_samples, tree.tree_.weighted_n_node_samples)


def test_rows_are_those_that_the_stream_of_the_tree_draws():
    X, y = table()
    model = RandomForestClassifier(3, random_state=4).fit(X, y)
    for t, rows in enumerate(model.estimators_samples_):
        key = rng.stream(4, rng.BOOTSTRAP, t)
        drawn = [((int(rng._mixed(key, i)) >> 32) * len(X)) >> 32 for i in range(len(X))]
        assert rows.dtype == np.int32
        assert rows.tolist() == sorted(drawn)


@pytest.mark.parametrize(
    ("params", "weighted"),
    [
        ({}, False),
        ({}, True),
        ({"replace": False, "max_samples": 20}, True),
        pytest.param({"class_weight": "balanced_subsample"}, False, marks=interpreted_only),
    ],
)
def test_rows_weigh_what_the_root_of_the_tree_weighs(params, weighted):
    X, y = table()
    weight = np.arange(len(X)) % 4 if weighted else None
    model = RandomForestClassifier(4, random_state=0, **params).fit(X, y, weight)
    model = pickle.loads(pickle.dumps(model))  # noqa: S301  made here
    n_draws = params.get("max_samples", np.count_nonzero(weight) if weighted else len(X))
    for rows, tree in zip(model.estimators_samples_, model.estimators_, strict=True):
        assert len(rows) == n_draws
        assert tree.tree_.n_node_samples[0] == len(np.unique(rows))
        assert not weighted or weight[rows].min() > 0
        assert "replace" not in params or len(np.unique(rows)) == n_draws


def test_a_warm_start_adds_the_rows_of_the_new_trees():
    X, y = table()
    model = RandomForestClassifier(2, random_state=0, warm_start=True).fit(X, y)
    first = model.estimators_samples_
    more = model.set_params(n_estimators=4).fit(X, y).estimators_samples_
    assert len(more) == 4
    assert all(np.array_equal(one, other) for one, other in zip(first, more, strict=False))


@pytest.mark.parametrize("forest", FORESTS)
def test_the_tree_of_a_forest_is_there_before_fit(forest):
    tree = forest(min_samples_leaf=3).estimator
    assert tree.min_samples_leaf == 3
    assert tree.splitter == ("random" if "Extra" in forest.__name__ else "best")
