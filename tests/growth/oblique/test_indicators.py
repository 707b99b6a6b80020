"""Levels of categories in sums: what grows on indicators is what grows on columns of 0 and 1 made by hand."""

import pickle

import numpy as np
import pytest
from strategies import interpreted_only

from dtnumba import (
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    export,
    load,
    plot,
)
from dtnumba.export.reading import ExportError
from dtnumba.growth.oblique.indicators import MOST_INDICATORS
from dtnumba.runtime.kernels import COMPILED
from dtnumba.trees.check import check
from dtnumba.trees.linear import has_indicators, sums_of

N = 300 if COMPILED else 120
generator = np.random.default_rng(0)
COLOURS = np.array(["blue", "green", "red", "white"])
X = np.empty((N, 4), object)
X[:, 0], X[:, 3] = generator.normal(size=(2, N)).round(2)
code, other = generator.integers(0, 4, N), generator.integers(0, 3, N)
X[:, 1], X[:, 2] = COLOURS[code], np.array(["x", "y", "z"])[other]
Z = (X[:, 0] + np.array([0.0, 1.5, -1.0, 3.0])[code] - 0.7 * (other == 1) + 0.5 * X[:, 3]).astype(float)
Y = np.digitize(Z, [0.0, 1.5])
X[::11, 1] = None
X[::13, 0] = None
X[::29, 2] = None
CATEGORIES = {"categorical_features": [1, 2], "random_state": 0, "n_jobs": 1}
IN_SUMS = {"categories_in_sums": True, **CATEGORIES}
CASES = [
    (ObliqueTreeClassifier(search="lda", max_depth=4), Y),
    (ObliqueTreeClassifier(search="lda", max_terms=2, max_features="sqrt"), Y),
    (ObliqueTreeClassifier(search="random", max_bins=16, max_depth=4), Y),
    (ObliqueTreeRegressor(search="ridge", max_depth=3, numeric_scaling="standard"), Z),
    (ObliqueForestClassifier(3, max_depth=5), Y),
    (ObliqueForestClassifier(2, search="lda", bootstrap=False, categorical_split="one_vs_rest"), Y > 0),
    (ObliqueForestRegressor(2, max_bins=None, max_depth=4), Z),
]
COMPILED_CASES = (0, 4)


def by_hand(rows):
    """Return the rows with a column of 0 and 1 for each level behind them."""
    more = []
    for column, levels in ((1, COLOURS), (2, ["x", "y", "z"])):
        more += [(rows[:, column] == level).astype(float) for level in levels]
    return np.column_stack([rows, *more])


@pytest.fixture(scope="module")
def model():
    return ObliqueTreeClassifier(search="lda", max_depth=4, **IN_SUMS).fit(X, Y)


@pytest.mark.parametrize("case", range(len(CASES)))
def test_sums_of_levels_are_those_of_columns_made_by_hand(case):
    if COMPILED and case not in COMPILED_CASES:
        pytest.skip("shown interpreted, to save compiling")
    learner, target = CASES[case]
    one = type(learner)(**{**learner.get_params(), **IN_SUMS}).fit(X, target)
    hand = type(learner)(**{**learner.get_params(), **CATEGORIES}).fit(by_hand(X), target)
    trees = check(one.trees_, 4)
    assert has_indicators(trees.linear)
    unseen = X.copy()
    unseen[::5, 1], unseen[::7, 2] = "black", None
    for rows in (X, unseen):
        assert np.array_equal(one.predict(rows), hand.predict(by_hand(rows)))
        assert np.array_equal(one.apply(rows), hand.apply(by_hand(rows)))
    whole = np.zeros(4)
    np.add.at(whole, [0, 1, 2, 3, *[1] * 4, *[2] * 3], hand.feature_importances_)
    assert np.allclose(one.feature_importances_, whole)
    assert one.n_features_in_ == 4


def test_every_row_ends_where_growth_put_it(model):
    trees, leaves = model.trees_, np.bincount(model.apply(X), minlength=model.n_nodes_)
    is_leaf = trees.feature < 0
    assert np.array_equal(leaves[is_leaf], trees.n_samples[is_leaf])
    ask = model.compile_predictor()
    codes = np.column_stack([X[:, 0].astype(float), code, other, X[:, 3].astype(float)])
    codes[::11, 1], codes[::29, 2] = np.nan, np.nan
    assert all(np.array_equal(ask(row), said) for row, said in zip(codes[:30], model.predict_proba(X), strict=False))


def test_the_value_of_a_level_is_one_where_the_category_is_that(model):
    linear = model.trees_.linear
    node = int(np.flatnonzero(np.diff(linear.start))[0])
    own = slice(*linear.start[node : node + 2])
    row = np.array([[0.5, 2.0, 1.0, -1.0]])
    terms = zip(linear.column[own], linear.level[own], linear.weight[own], strict=True)
    expected = sum(w * (row[0, j] if level < 0 else float(row[0, j] == level)) for j, level, w in terms)
    assert sums_of(linear, node, row)[0] == pytest.approx(expected)
    weights = model.tree_.weights_[node]
    is_number = linear.level[own] < 0
    assert np.array_equal(weights[linear.column[own][is_number]], linear.weight[own][is_number])
    assert np.isnan(weights[1])


def test_a_file_and_a_pickle_hold_levels(model, tmp_path):
    model.save(tmp_path / "model.dtn")
    for again in (load(tmp_path / "model.dtn"), pickle.loads(pickle.dumps(model))):  # noqa: S301
        assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
        assert np.array_equal(check(again.trees_, 4).linear.level, model.trees_.linear.level)


@interpreted_only
def test_text_and_pictures_name_levels_and_other_formats_say_why_not(model):
    for text in (export.text(model), export.text(model, "rpart"), export.dot(model), str(export.svg(model))):
        assert "(x1 is blue)" in text
    assert "(x1 is blue)" in model._repr_html_()
    assert export.verify(export.json(model), model, X)
    assert "(x1 is blue)" in export.text(model, "weka")
    for write in (export.python, export.c, export.sql, export.network, export.html, export.rules):
        with pytest.raises(ValueError, match="categories_in_sums=False"):
            write(model)
    with pytest.raises(ExportError, match="adds up levels of categories"):
        plot.surface(model, X)
    with pytest.raises(ValueError, match="categories_in_sums=False"):
        model.to_rules()


@interpreted_only
def test_shuffled_categories_cost_what_their_levels_say():
    forest = ObliqueForestClassifier(8, importance="permutation", **IN_SUMS).fit(X, Y)
    hand = ObliqueForestClassifier(8, importance="impurity", **IN_SUMS).fit(X, Y)
    assert forest.feature_importances_.argmax() == hand.feature_importances_.argmax() == 1


@interpreted_only
def test_without_categories_or_sums_nothing_changes():
    numbers = np.where(X == None, np.nan, X)[:, [0, 3]].astype(float)  # noqa: E711
    for params in ({}, {"max_terms": 1}):
        asked, plain = (
            ObliqueTreeClassifier(search="lda", n_jobs=1, categories_in_sums=on, **params).fit(numbers, Y)
            for on in (True, False)
        )
        assert np.array_equal(asked.predict_proba(numbers), plain.predict_proba(numbers))
    alone = ObliqueTreeClassifier(search="lda", max_terms=1, **IN_SUMS).fit(X, Y)
    assert not alone.trees_.has_sums


def test_too_many_levels_are_refused_by_name():
    many = np.column_stack([np.arange(MOST_INDICATORS + 1.0), np.arange(MOST_INDICATORS + 1.0)])
    with pytest.raises(ValueError, match=r"column 1 has 1,001\), and each would be a column"):
        ObliqueTreeClassifier(categories_in_sums=True, categorical_features=[1]).fit(many, np.arange(len(many)) % 2)
    with pytest.raises(ValueError, match="'categories_in_sums'"):
        ObliqueTreeClassifier(categories_in_sums="yes").fit(many, np.arange(len(many)) % 2)
