"""What binary growth grows in place of multiway growth is the same, whatever a missing value then meets."""

import numpy as np
import pytest
from strategies import compiled_where, same_trees

import dtnumba.estimators.bases.fit as tree_fits
import dtnumba.growth.forest.plan as forest_plans
from dtnumba import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ID3Classifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from dtnumba.growth.choose_growth import for_binary_growth
from dtnumba.growth.settings import Options, Settings
from dtnumba.tables.table import read_table
from dtnumba.trees.check import check

pytestmark = pytest.mark.small
RNG = np.random.default_rng(0)
X = np.c_[RNG.normal(size=(150, 3)), RNG.integers(0, 4, 150)]
TARGETS = {
    "two classes": (X[:, 0] + RNG.normal(size=150) > 0).astype(int),
    "four classes": (X[:, 3] + (X[:, 1] > 0)).astype(int) % 4,
    "numbers": X[:, 0] * X[:, 3] + RNG.normal(size=150).round(1),
}
FULL = Settings(
    splitter="best",
    max_bins=None,
    max_depth=99,
    min_samples_split=2,
    min_samples_leaf=1,
    min_weight_leaf=0.0,
    min_decrease=0.0,
    max_leaves=1 << 40,
    n_drawn=4,
    seed=0,
    workers=1,
)


def settings(**options):
    return Settings(**(vars(FULL) | {"options": Options(**options)}))


@pytest.fixture
def by_multiway(monkeypatch):
    """A switch that sends fits to multiway growth, as before there was a choice."""

    def switch():
        for module in (tree_fits, forest_plans):
            monkeypatch.setattr(module, "for_binary_growth", lambda *_: None)

    return switch


def compare(make, target, by_multiway):
    y, rows = TARGETS[target], X.copy()
    rows[RNG.random(X.shape) < 0.2] = np.nan
    weight = RNG.choice([0.5, 1.0, 2.0], len(X))
    chosen = [make().fit(X, y), make().fit(X, y, sample_weight=weight)]
    by_multiway()
    for model, before in zip(chosen, (make().fit(X, y), make().fit(X, y, sample_weight=weight)), strict=True):
        ours, theirs = model.trees_, before.trees_
        check(ours, 4)
        for name in ("feature", "threshold", "left", "right", "missing_left", "n_samples", "policy"):
            assert np.array_equal(getattr(ours, name), getattr(theirs, name), equal_nan=name == "threshold"), name
        for name in ("value", "weight", "impurity", "gain", "share"):
            assert np.allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9, atol=1e-12), name
        assert np.array_equal(model.predict(rows), before.predict(rows)) or target == "numbers"
        if target == "numbers":
            assert np.allclose(model.predict(rows), before.predict(rows))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("missing", ["branch", "majority", "fractional"])
def test_a_tree_of_a_table_without_missing_values_is_the_same(missing, target, by_multiway):
    of = DecisionTreeRegressor if target == "numbers" else DecisionTreeClassifier
    compare(lambda: of(missing=missing, min_samples_leaf=2, n_jobs=1), target, by_multiway)


@pytest.mark.parametrize("target", compiled_where(TARGETS, ["two classes"]))
def test_a_forest_of_a_table_without_missing_values_is_the_same(target, by_multiway):
    of = RandomForestRegressor if target == "numbers" else RandomForestClassifier
    params = {"missing": "fractional", "max_bins": None, "max_features": None, "bootstrap": False, "max_depth": 4}
    compare(lambda: of(3, random_state=0, n_jobs=1, **params), target, by_multiway)


def test_id3_on_numbers_is_the_same(by_multiway):
    compare(lambda: ID3Classifier(n_jobs=1), "four classes", by_multiway)


@pytest.mark.parametrize(
    ("options", "is_binary"),
    [
        ({}, True),
        ({"missing": "fractional"}, True),
        ({"missing": "branch", "categorical_split": "multiway"}, True),  # there are no categories
        ({"missing": "surrogate"}, False),
        ({"missing": "majority", "numeric_split": "interval"}, False),
    ],
)
def test_who_grows_what(options, is_binary):
    assert (for_binary_growth(settings(**options), read_table(X, "tests")) is not None) == is_binary


def test_one_missing_value_is_found_wherever_it_is():
    rows = RNG.normal(size=(40_000, 3))
    table = read_table(rows, "tests")
    assert for_binary_growth(settings(missing="fractional"), table) is not None
    rows[-1, -1] = np.nan
    assert for_binary_growth(settings(missing="fractional"), read_table(rows, "tests")) is None
    assert for_binary_growth(settings(), read_table(rows, "tests")) is not None


def test_categories_are_left_to_multiway_growth():
    params = {"missing": "fractional", "categorical_features": [3], "n_jobs": 1}
    y = TARGETS["four classes"]
    tree = DecisionTreeClassifier(**params).fit(X, y)
    assert len(tree.trees_.branch) or len(tree.trees_.level)
    assert same_trees(tree.trees_, DecisionTreeClassifier(**params).fit(X, y).trees_)
