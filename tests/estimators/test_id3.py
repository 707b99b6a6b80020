"""ID3: the worked examples of textbooks, and small tables against the slow way."""

import csv
import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import id3 as naive_id3
from strategies import examples

from dtnumba import ID3Classifier
from dtnumba.runtime.kernels import COMPILED

pytestmark = pytest.mark.small
DATA = Path(__file__).parents[1] / "data"
CUBE = np.array(list(itertools.product([0, 1], repeat=3)))
ALL = [0, 1, 2]
# Each takes a minute to compile: one shows that what is interpreted for all of them is compiled right.
MEASURES = ["entropy"] if COMPILED else ["entropy", "gini", "error"]


def restaurant():
    with (DATA / "restaurant.csv").open(newline="") as file:
        names, *rows = list(csv.reader(file))
    table = np.array(rows, dtype=object)
    return names[:-1], table[:, :-1], table[:, -1]


def test_the_restaurant_tree_asks_for_patrons_first():
    names, X, y = restaurant()
    model = ID3Classifier().fit(X, y)
    trees = model.trees_
    assert names[trees.feature[0]] == "Pat"
    assert round(trees.gain[0], 4) == 0.5409
    assert (model.n_nodes_, model.score(X, y)) == (12, 1.0)
    assert ID3Classifier(max_depth=1).fit(X[:, [8]], y).n_leaves_ == 1  # Type gains nothing


def test_an_empty_branch_says_what_its_parent_says():
    names, X, y = restaurant()
    model = ID3Classifier().fit(X, y)
    row = X[[1]].copy()
    row[0, [names.index("Hun"), names.index("Type")]] = "Y", "French"
    leaf = model.apply(row)[0]
    assert model.trees_.weight[leaf] == 0
    assert model.predict_proba(row).tolist() == [[0.5, 0.5]]


def test_the_second_feature_tells_more_about_six_rows():
    X, y = [[1, 1], [1, 3], [2, 2], [1, 2], [3, 2], [2, 2]], [1, 1, 1, 0, 0, 0]
    trees = ID3Classifier(categorical_features=[0, 1]).fit(X, y).trees_
    assert trees.feature[0] == 1
    assert np.isclose(trees.gain[0], 1 - 0.540852, atol=1e-6)


def test_eight_patterns_of_nilsson():
    y = CUBE[:, 0] & CUBE[:, 2]
    trees = ID3Classifier(categorical_features=ALL).fit(CUBE, y).trees_
    assert trees.feature[trees.feature >= 0].tolist() == [0, 2]
    assert np.allclose([trees.impurity[0], trees.gain[0]], [0.811278, 0.311278], atol=1e-6)


@pytest.mark.parametrize("listed", [[], [0, 1]])
def test_exclusive_or_needs_splits_that_gain_nothing(listed):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    y = X[:, 0] ^ X[:, 1]
    assert ID3Classifier(categorical_features=listed).fit(X, y).n_nodes_ == 1
    whole = ID3Classifier(categorical_features=listed, require_gain=False).fit(X, y)
    assert (whole.n_leaves_, whole.score(X, y)) == (4, 1.0)


@pytest.mark.parametrize("measure", MEASURES)
def test_greed_errs_on_a_quarter_where_a_tree_of_depth_two_need_not(measure):
    """Shalev-Shwartz & Ben-David (2014), exercise 18.2."""
    X, y = np.array([[1, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 1]]), np.array([1, 1, 0, 0])
    model = ID3Classifier(measure=measure, max_depth=2, require_gain=False).fit(X, y)
    assert model.trees_.feature[0] == 0
    assert 1 - model.score(X, y) == 0.25


def test_the_base_scales_what_is_shown():
    X, y = [["a"], ["b"], ["b"], ["c"], ["c"]], [0, 1, 1, 2, 2]
    shown = [ID3Classifier(base=base).fit(X, y).trees_.impurity[0] for base in (2, 3, np.e)]
    assert np.allclose(shown, [1.521928, 0.960230, 1.054920], atol=1e-6)


def test_a_binary_tree_asks_for_one_value():
    X, y = [["a"], ["b"], ["c"], ["a"]], ["yes", "no", "no", "yes"]
    model = ID3Classifier(binary=True).fit(X, y)
    assert model.n_nodes_ == 3
    assert model.predict(X).tolist() == y


def test_a_missing_value_is_a_value_where_fit_met_it():
    X, y = np.array([["a"], ["b"], [None], [None]], dtype=object), [0, 1, 2, 2]
    model = ID3Classifier().fit(X, y)
    assert model.predict([[None], ["a"]]).tolist() == [2, 0]
    before = ID3Classifier().fit(X[:2], [0, 1])
    assert before.predict_proba(np.array([[None], ["new"]], dtype=object)).tolist() == [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize("binary", [False, True])
def test_being_missing_can_be_the_whole_test(binary):
    numbers, categories = np.array([[1.0], [1.0], [np.nan]]), np.array([["a"], ["a"], [None]], dtype=object)
    for X in (numbers, categories):
        assert ID3Classifier(binary=binary).fit(X, [0, 0, 1]).predict(X).tolist() == [0, 0, 1]


def test_raised_branches_count_rows_that_would_end_above():
    rng = np.random.default_rng(0)
    X = rng.choice(np.array(["a", "b", "c", None], dtype=object), (80, 4))
    y = (X[:, 0] == "a") ^ (rng.random(80) < 0.2)
    whole, pruned = ID3Classifier().fit(X, y), ID3Classifier(prune="error_based").fit(X, y)
    assert pruned.n_leaves_ < whole.n_leaves_
    assert whole.prune("error_based", X, y).n_leaves_ == pruned.n_leaves_


def test_a_budget_of_leaves_is_spent_where_most_is_gained():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 0], [1, 1], [1, 1], [2, 0], [2, 0]])
    y = [0, 0, 0, 0, 1, 1, 2, 2]
    model = ID3Classifier(max_leaf_nodes=3, categorical_features=[0, 1]).fit(X, y)
    assert model.n_leaves_ == 3
    assert ID3Classifier(categorical_features=[0, 1]).fit(X, y).n_leaves_ == 4


def test_numbers_are_cut_or_refused():
    X = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    assert ID3Classifier().fit(X, [0, 0, 1]).trees_.threshold[0] == 2.5
    with pytest.raises(ValueError, match=r"numeric='error': column 1 holds numbers.*categorical_features"):
        ID3Classifier(numeric="error", categorical_features=[0]).fit(X, [0, 0, 1])


def test_one_class_is_one_leaf():
    assert ID3Classifier().fit([["a"], ["b"]], ["x", "x"]).n_nodes_ == 1


def test_bad_parameters_are_named():
    bad = {"measure": "twoing", "base": 0.5, "numeric": "interval", "binary": 2, "max_depth": 0, "max_leaf_nodes": 1}
    for name, value in bad.items():
        with pytest.raises((ValueError, TypeError), match=f"'{name}' parameter of ID3Classifier"):
            ID3Classifier(**{name: value}).fit([["a"]], [0])
    with pytest.raises(ValueError, match="learns one"):
        ID3Classifier().fit([["a"], ["b"]], [[0, 1], [1, 0]])


def test_it_can_be_pruned():
    _, X, y = restaurant()
    assert ID3Classifier(prune="pessimistic").fit(X, y).n_nodes_ < 12


@examples(60)
@given(st.integers(0, 1 << 30), st.sampled_from(MEASURES), st.booleans())
def test_trees_are_those_of_the_slow_way(seed, measure, require_gain):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(2, 24)), int(rng.integers(1, 4))
    X = np.stack([rng.integers(0, rng.integers(1, 5), n) for _ in range(p)], axis=1)
    y = rng.integers(0, 3, n) if rng.random() < 0.5 else X[:, 0] % 2
    levels = [sorted(set(column)) for column in X.T.tolist()]
    wanted = naive_id3.grown(X.tolist(), y.tolist(), levels, measure, require_gain=require_gain)
    params = {"measure": measure, "require_gain": require_gain, "categorical_features": list(range(p))}
    model = ID3Classifier(**params).fit(X, y)
    assert model.n_nodes_ == naive_id3.size(wanted)
    rows = rng.integers(0, 5, (20, p))
    classes = model.classes_.tolist()
    assert np.allclose(model.predict_proba(rows), [naive_id3.said(wanted, row, classes) for row in rows.tolist()])
