"""Constraints: predictions are monotonic to the bit, paths keep to their groups, every node is the best it may be."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import constraints as naive
from strategies import examples, fit, interpreted_only, same_trees, samples

from dtnumba import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from dtnumba.growth.binary.grow_in_parallel import PARALLEL_ROWS
from dtnumba.growth.policies.constraints import constrained, read_interactions, read_monotonic
from dtnumba.tables.labels import Labels, Values
from dtnumba.tables.table import read_table

# Four columns always, so that each of these forbids something.
GROUPS = st.sampled_from(["pairwise", "no_interactions", [[0, 1]], [[0, 1], [1, 2, 3]], [[0], (1, 2), {2, 3}]])
SIGNS = st.lists(st.sampled_from([-1, 0, 1]), min_size=4, max_size=4).filter(any)


def four_columns(sample):
    """Repeat columns up to four."""
    return replace(sample, X=np.tile(sample.X, (1, 4))[:, :4])


def check_one(sample, criterion, signs, groups, **params):
    """Fit a tree and hold it against the naive rules; return it."""
    classes = criterion in {"gini", "entropy"}
    sample = four_columns(replace(sample, y=sample.y % 2) if classes else sample)
    if classes and len(np.unique(sample.y)) < 2:
        return
    model = fit(sample, criterion, monotonic_cst=signs, interaction_cst=groups, **params)
    (X, y, w), n_classes = sample.for_naive(classes=classes)
    naive.audit(model.trees_, criterion, X, y, w, n_classes, signs, groups, best=params.get("splitter") != "random")

    def predict(rows):
        return model.predict_proba(rows)[:, 1] if classes else model.predict(rows)

    assert naive.falls(predict, sample.X, signs) == 0.0


@pytest.mark.small
@examples(60)
@given(samples(classes=True, narrow=True), SIGNS, GROUPS)
def test_exact_trees_of_two_classes(sample, signs, groups):
    check_one(sample, "gini", signs, groups)


@interpreted_only
@pytest.mark.small
@examples(60)
@given(samples(classes=False, narrow=True), SIGNS, GROUPS)
def test_histogram_trees_of_numbers_best_first(sample, signs, groups):
    check_one(sample, "squared_error", signs, groups, max_bins=255, max_leaf_nodes=1000)


@interpreted_only
@pytest.mark.small
@examples(60)
@given(samples(classes=False, narrow=True), SIGNS, GROUPS)
def test_medians(sample, signs, groups):
    check_one(sample, "absolute_error", signs, groups)


@interpreted_only
@pytest.mark.small
@examples(60)
@given(samples(classes=False, narrow=True), SIGNS, GROUPS, st.integers(0, 99))
def test_random_thresholds(sample, signs, groups, seed):
    check_one(sample, "squared_error", signs, groups, splitter="random", random_state=seed)


def wide_table(n_rows, seed=0):
    """Eight columns with missing values, two classes that rise with columns 0 and 1, their number, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 8))
    z = X[:, 0] + X[:, 1] * np.abs(X[:, 2]) + np.sin(3 * X[:, 3]) + rng.normal(size=n_rows)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, (z > 0).astype(int), z, rng.integers(1, 4, n_rows).astype(float)


GROUPS_OF_EIGHT = [[0, 1, 2], [2, 3], [4, 5, 6]]
SIGNS_OF_EIGHT = [1, 1, 0, -1, 0, 0, 0, 0]


def keeps_groups(trees, interaction_cst):
    groups = naive.groups_of(interaction_cst, 8)
    return all(any(path <= group for group in groups) for path in naive.paths(trees))


def test_threads_change_no_bit():
    X, y, _, w = wide_table(PARALLEL_ROWS + 500)
    params = {"monotonic_cst": SIGNS_OF_EIGHT, "interaction_cst": GROUPS_OF_EIGHT}
    one, two = (DecisionTreeClassifier(**params, n_jobs=n_jobs).fit(X, y, w) for n_jobs in (1, 2))
    assert same_trees(one.trees_, two.trees_)
    assert one.n_leaves_ > 20
    assert keeps_groups(one.trees_, GROUPS_OF_EIGHT)
    assert naive.falls(lambda rows: one.predict_proba(rows)[:, 1], X[:40], SIGNS_OF_EIGHT) == 0.0


def test_forests(monkeypatch):
    monkeypatch.setattr("dtnumba.growth.forest.grow.SERIAL_ROWS", 0)
    X, y, _, _ = wide_table(300)
    params = {"monotonic_cst": SIGNS_OF_EIGHT, "interaction_cst": "pairwise", "max_features": 3, "random_state": 5}
    one, two = (RandomForestClassifier(6, n_jobs=n_jobs, **params).fit(X, y) for n_jobs in (1, 2))
    assert same_trees(one.trees_, two.trees_)
    assert one.trees_.feature.max() > 4
    assert keeps_groups(one.trees_, "pairwise")
    assert naive.falls(lambda rows: one.predict_proba(rows)[:, 1], X[:40], SIGNS_OF_EIGHT) == 0.0
    assert one.estimators_[0].get_params()["monotonic_cst"] == SIGNS_OF_EIGHT


@interpreted_only
@pytest.mark.small
def test_shadows_are_constrained_as_their_columns():
    X, _, z, _ = wide_table(120)
    params = {"monotonic_cst": SIGNS_OF_EIGHT, "interaction_cst": "pairwise", "max_features": 3, "random_state": 5}
    model = ExtraTreesRegressor(60, max_depth=4, importance="impurity_corrected", **params).fit(X, z)
    assert model.feature_importances_[0] > 2 * model.importances_std_[0] / np.sqrt(60)


def test_settings_are_doubled_for_shadows():
    settings = DecisionTreeRegressor().growth_settings(20, 3, 20.0)
    assert settings.doubled() == settings
    twice = constrained(settings, [1, 0, -1], [[0, 1]], TABLE, NUMBER).doubled()
    assert twice.signs.tolist() == [1, 0, -1, 1, 0, -1]
    assert twice.groups.member.tolist() == [[0, 0, 1, 0, 0, 1], [1, 1, 0, 1, 1, 0]]


@pytest.mark.small
def test_a_target_that_moves_the_wrong_way_leaves_a_stump():
    x = np.arange(10.0)[:, None]
    assert DecisionTreeRegressor(monotonic_cst=[-1], interaction_cst=[[0]]).fit(x, x[:, 0]).n_leaves_ == 1
    assert DecisionTreeRegressor(monotonic_cst=[1], interaction_cst=[[0]]).fit(x, x[:, 0]).n_leaves_ == 10


def table_of(columns, **data):
    return read_table(pd.DataFrame({name: [0.0, 1.0] for name in columns} | data), "it")


TABLE = table_of("abc")
NUMBER = Values(np.zeros((2, 1)))
CLASSES = {k: Labels([np.arange(k)], np.zeros((2, 1), np.int64)) for k in (1, 2, 3)}


@pytest.mark.parametrize(
    ("given", "signs"),
    [
        ([1, 0, -1], [1, 0, -1]),
        (np.array([0.0, 1.0, 0.0]), [0, 1, 0]),
        ({"c": 1, "a": -1}, [-1, 0, 1]),
        ({"b": np.int8(1)}, [0, 1, 0]),
        ([0, 0, 0], None),
        ({}, None),
    ],
)
def test_monotonic_constraints_are_read(given, signs):
    found = read_monotonic(given, TABLE, NUMBER)
    assert found is None if signs is None else found.tolist() == signs


def test_a_single_class_needs_no_constraint():
    assert read_monotonic([1, 0, 0], TABLE, CLASSES[1]) is None
    assert read_monotonic([1, 0, 0], TABLE, CLASSES[2]).tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("given", "known", "message"),
    [
        ([1, 0], NUMBER, "monotonic_cst has shape 2 but the input data X has 3 features"),
        ([[1, 0, 1]], NUMBER, "one-dimensional"),
        ([1, 0, 2], NUMBER, r"array-like of -1, 0 or 1, but got \[0 1 2\]"),
        ([1, 0, 0.5], NUMBER, "0.5"),
        ([1, 0, np.nan], NUMBER, "nan"),
        (["a", "b", "c"], NUMBER, "array-like of -1, 0 or 1"),
        ({"d": 1}, NUMBER, "'d', but X has no such column: 'a', 'b', 'c'"),
        ({"a": 2}, NUMBER, r"monotonic_cst\['a'\] must be 1 .* Got 2"),
        ({"a": True}, NUMBER, "Got True"),
        ([1, 0, 0], CLASSES[3], "multiclass classification: y has 3 classes"),
        ([1, 0, 0], Values(np.zeros((2, 2))), "multiple outputs: y has 2 columns"),
    ],
)
def test_bad_monotonic_constraints(given, known, message):
    with pytest.raises(ValueError, match=message):
        read_monotonic(given, TABLE, known)


class TableOfKinds:
    """A table of which the second column is a category."""

    n_features, names, nominal = 3, np.array(["age", "town", "price"], object), np.array([False, True, False])


def test_a_category_cannot_be_monotonic():
    with pytest.raises(ValueError, match=r"asks -1 of column 1 \('town'\), which is a category"):
        read_monotonic([1, -1, 0], TableOfKinds, NUMBER)
    assert read_monotonic([1, 0, 0], TableOfKinds, NUMBER).tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("given", "groups"),
    [
        ([[0, 1]], [[0, 0, 1], [1, 1, 0]]),
        ([("a", "b"), {"b", "c"}], [[0, 1, 1], [1, 1, 0]]),
        ([[0], [0], [np.int64(1)]], [[0, 0, 1], [0, 1, 0], [1, 0, 0]]),
        ([], None),
        ([[0, 1, 2], [1]], None),
    ],
)
def test_interaction_constraints_are_read(given, groups):
    found = read_interactions(given, TABLE)
    assert found is None if groups is None else found.member.tolist() == groups


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ([[0, 3]], ValueError, r"interaction_cst\[0\] must consist of numbers of features in the range \[0, 2\]"),
        ([[0], [-1]], ValueError, r"interaction_cst\[1\].*Got -1"),
        ([[True]], ValueError, "Got True"),
        ([[0.0]], ValueError, "Got 0.0"),
        ([["a", "z"]], ValueError, "'z', but X has no such column"),
        ([0, 1], TypeError, r"interaction_cst\[0\] must be a list, tuple or set"),
        (["ab"], TypeError, "Got 'ab'"),
    ],
)
def test_bad_interaction_constraints(given, kind, message):
    with pytest.raises(kind, match=message):
        read_interactions(given, TABLE)


@pytest.mark.parametrize("forest", [DecisionTreeRegressor, RandomForestRegressor])
def test_constraints_are_checked_by_fit(forest):
    X, _, z, _ = wide_table(20)
    for params, kind in [
        ({"monotonic_cst": "up"}, ValueError),
        ({"monotonic_cst": 1}, ValueError),
        ({"interaction_cst": "some"}, ValueError),
        ({"interaction_cst": {0: 1}}, TypeError),
        ({"monotonic_cst": {"a": 1}}, ValueError),
        ({"interaction_cst": [["a"]]}, ValueError),
    ]:
        with pytest.raises(kind, match=next(iter(params))):
            forest(**params).fit(X, z)
