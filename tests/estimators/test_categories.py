"""Categories through the estimators: what a model learns of them, and what it asks of the rows to predict."""

import pickle

import numpy as np
import pytest
from strategies import interpreted_only

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier, bin_batches

pytestmark = pytest.mark.small

WORDS = np.array(["red", "blue", "", "a,b", "naïve"], object)


@pytest.fixture(name="X")
def table():
    rng = np.random.default_rng(0)
    return np.column_stack([WORDS[rng.integers(0, 5, 60)], rng.normal(size=60).astype(object)])


@pytest.fixture
def y(X):
    return np.where(np.isin(X[:, 0], ["red", ""]), "warm", "cold")


@pytest.fixture
def tree(X, y):
    return DecisionTreeClassifier().fit(X, y)


def test_a_tree_finds_the_subset_and_keeps_its_levels(tree, X, y):
    assert tree.n_leaves_ == 2
    assert tree.predict(X).tolist() == y.tolist()
    assert tree.categories_[0].tolist() == sorted(WORDS)
    assert tree.categories_[1] is None
    twin = pickle.loads(pickle.dumps(tree))  # noqa: S301  our own bytes
    assert twin.predict(X[::-1].tolist()).tolist() == y[::-1].tolist()


def test_every_library_is_answered_alike(X, y):
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    frame = pd.DataFrame({"c": X[:, 0], "x": X[:, 1].astype(float)})
    tree = DecisionTreeClassifier().fit(frame.astype({"c": "category"}), y)
    for same in (frame, pl.DataFrame({name: frame[name].tolist() for name in frame}), pa.table(frame.to_dict("list"))):
        assert tree.predict(same).tolist() == y.tolist()
    assert tree.feature_names_in_.tolist() == ["c", "x"]


def test_a_predictor_of_rows_takes_numbers_of_levels(tree, X):
    answer = tree.compile_predictor()
    number = tree.categories_[0].tolist().index
    for row in X[:5]:
        assert np.array_equal(answer([number(row[0]), row[1]]), tree.predict_proba(row[None])[0])


def test_a_level_that_fit_did_not_see_is_missing(tree):
    new = np.array([["violet", 0.0], [None, 0.0]], object)
    assert np.array_equal(*tree.predict_proba(new))


def test_a_fit_to_numbers_forgets_the_levels(tree, X, y):
    tree.fit(X[:, 1:].astype(float), y)
    assert not hasattr(tree, "categories_")


def test_a_fit_that_fails_leaves_the_model_as_it_was(tree, X, y):
    broken = X.copy()
    broken[3, 0] = 7
    with pytest.raises(ValueError, match=r"column 0 holds '.*', which is text, and 7, which is a number"):
        tree.fit(broken, y)
    with pytest.raises(ValueError, match=r"column 0 holds 1\.0, which is a number, and in fit it held '', which is t"):
        tree.predict(np.ones((2, 2)))
    assert tree.predict(X).tolist() == y.tolist()


@interpreted_only
def test_listed_numbers_are_split_by_subsets():
    X = np.arange(40)[:, None] % 8
    y = np.isin(X[:, 0], [1, 4, 6]).astype(float)
    tree = DecisionTreeRegressor(categorical_features=[0]).fit(X, y)
    assert tree.n_leaves_ == 2
    assert tree.predict([[6], [5], [1.0]]).tolist() == [1, 0, 1]
    assert DecisionTreeRegressor().fit(X, y).n_leaves_ > 2


@pytest.mark.parametrize("wanted", ["dtype", 3, [1.5], [True, 1], {"a": 1}, ["a", None]], ids=str)
def test_what_is_no_list_of_columns_is_refused(wanted, X, y):
    with pytest.raises((TypeError, ValueError), match=r"'categorical_features' parameter of .* must be 'from_dtype', "):
        DecisionTreeClassifier(categorical_features=wanted).fit(X, y)


def test_a_forest_hands_its_levels_to_its_trees_and_asks_for_them_when_it_grows(X, y):
    forest = RandomForestClassifier(n_estimators=2, max_features=None, random_state=0, warm_start=True, n_jobs=1)
    forest.fit(X, y)
    assert [tree.predict(X).shape for tree in forest] == [(60,)] * 2
    assert forest[0].categories_ is forest.categories_
    assert forest.predict(X).tolist() == y.tolist()
    forest.set_params(n_estimators=3)
    other = X.copy()
    other[0, 0] = "violet"
    with pytest.raises(ValueError, match=r"warm_start=True: column 0 had the categories .*, and now it has .* warm_st"):
        forest.fit(other, y)
    assert len(forest.fit(X, y)) == 3


@interpreted_only
def test_codes_in_batches_have_chosen_their_categories_already(X, y):
    table = bin_batches(X, categorical_features="from_dtype")
    tree = DecisionTreeClassifier(max_bins=255).fit(table, y)
    assert tree.predict(X).tolist() == y.tolist()
    assert tree.categories_[0].tolist() == sorted(WORDS)
    DecisionTreeClassifier(max_bins=255, categorical_features=[True, False]).fit(table, y)
    for other in (None, [1], [0, 1]):
        with pytest.raises(ValueError, match=r"has the categories \[0\], as bin_batches was told"):
            DecisionTreeClassifier(max_bins=255, categorical_features=other).fit(table, y)
