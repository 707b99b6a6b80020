"""Oblique forests: trees of sums on drawn rows, the same bits on any number of threads and every way of rows."""

import numpy as np
import pytest
from naive import binary as naive
from strategies import interpreted_only, same_trees

from dtnumba import ObliqueForestClassifier, ObliqueForestRegressor, RandomForestClassifier, load
from dtnumba.prediction import forest_view
from dtnumba.runtime.kernels import COMPILED
from dtnumba.trees.check import check

N = 400 if COMPILED else 80
generator = np.random.default_rng(0)
X = generator.normal(size=(N, 4)).round(3)
Z = X[:, 0] - X[:, 1] + 0.5 * X[:, 3]
Y = np.digitize(Z + 0.2 * generator.normal(size=N), [-0.5, 0.7])
X[::9, 1] = np.nan
FEW = {"n_estimators": 5, "random_state": 0, "n_jobs": 1}


def counts_of(model, rows):
    """Rows in every node that is a leaf, by the leaves that rows are said to end in."""
    trees = model.trees_
    return np.bincount((model.apply(rows) + trees.root[:-1]).ravel(), minlength=trees.n_nodes)


@pytest.mark.parametrize("params", [{}, {"max_bins": None}, {"search": "lda"}, {"criterion": "entropy"}])
def test_every_row_ends_where_growth_put_it(params):
    if COMPILED and params:
        pytest.skip("shown interpreted, to save compiling")
    model = ObliqueForestClassifier(bootstrap=False, **FEW, **params).fit(X, Y)
    trees = check(model.trees_, 4)
    leaf = trees.feature < 0
    assert trees.has_sums
    assert np.array_equal(counts_of(model, X)[leaf], trees.n_samples[leaf])
    assert model.score(X, Y) == 1.0


def test_neither_threads_nor_what_was_grown_before_change_a_bit():
    model = ObliqueForestClassifier(**FEW).fit(X, Y)
    assert same_trees(model.trees_, ObliqueForestClassifier(**{**FEW, "n_jobs": 3}).fit(X, Y).trees_)
    warm = ObliqueForestClassifier(**{**FEW, "n_estimators": 2}, warm_start=True).fit(X, Y)
    assert same_trees(model.trees_, warm.set_params(n_estimators=5).fit(X, Y).trees_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("few", [1 << 60, 0])
def test_every_way_of_rows_gives_the_votes_of_the_trees(monkeypatch, few, dtype):
    monkeypatch.setattr(forest_view, "FEW_STEPS", few)
    model = ObliqueForestClassifier(**FEW).fit(X.astype(dtype), Y)
    trees, rows = model.trees_, X[:30].astype(dtype)
    expected = naive.votes(trees, rows, np.where(trees.feature[:, None] < 0, trees.value, 0.0))
    assert np.array_equal(model.predict_proba(rows), expected)
    ask = model.compile_predictor()
    assert all(np.array_equal(ask(row), said) for row, said in zip(rows, expected, strict=True))


def test_rows_that_a_tree_did_not_draw_are_asked():
    model = ObliqueForestClassifier(**{**FEW, "n_estimators": 25}, oob_score=True).fit(X, Y)
    seen = ~np.isnan(model.oob_decision_function_[:, 0])
    assert model.oob_score_ == pytest.approx((model.oob_decision_function_.argmax(axis=1) == Y)[seen].mean())
    assert model.oob_score_ > 0.5


@interpreted_only
def test_categories_go_beside_sums():
    mixed = np.where(np.isnan(X), 0.0, X)
    mixed[:, 2] = generator.integers(0, 5, N)
    y = np.where(np.isin(mixed[:, 2], [1, 3]), 2, (Z > 0).astype(int))
    model = ObliqueForestClassifier(bootstrap=False, categorical_features=[2], max_features=None, **FEW).fit(mixed, y)
    trees = check(model.trees_, 4)
    leaf = trees.feature < 0
    assert len(trees.level)
    assert trees.has_sums
    assert 2 not in trees.linear.column
    assert np.array_equal(counts_of(model, mixed)[leaf], trees.n_samples[leaf])


def test_a_file_holds_the_whole_forest(tmp_path):
    model = ObliqueForestClassifier(**FEW).fit(X, Y)
    model.save(tmp_path / "model.dtn")
    again = load(tmp_path / "model.dtn")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert same_trees(check(again.trees_, 4), model.trees_)
    assert np.array_equal(again.feature_importances_, model.feature_importances_)


@interpreted_only
def test_numbers_on_a_plane_are_met_better_than_by_steps():
    rows = np.nan_to_num(X)
    model = ObliqueForestRegressor(max_depth=4, **FEW).fit(rows, Z)
    assert check(model.trees_, 4).has_sums
    assert model.score(rows, Z) > 0.5


def test_one_term_is_a_random_forest():
    model = ObliqueForestClassifier(max_terms=1, **FEW).fit(X, Y)
    assert same_trees(model.trees_, RandomForestClassifier(**FEW).fit(X, Y).trees_)


def test_importances_that_need_copies_of_columns_are_refused():
    with pytest.raises(ValueError, match="use importance='permutation'"):
        ObliqueForestClassifier(importance="impurity_corrected").fit(X, Y)


@pytest.mark.parametrize("family", [ObliqueForestClassifier, ObliqueForestRegressor])
def test_a_number_of_leaves_is_chosen_for_one_tree_alone(family):
    with pytest.raises(ValueError, match=r"'max_leaf_nodes' parameter .* must be an int .* Got 'cv'"):
        family(max_leaf_nodes="cv", **FEW).fit(X, Y)
