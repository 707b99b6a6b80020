"""Rows held out and the size by cross-validation, against rows walked one by one and plain loops of fits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import early_stopping as naive_stopping
from strategies import examples, fit, same_trees, samples

from dtnumba import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    bin_batches,
)
from dtnumba.estimators.bases.held_out_rows import N_FOLDS
from dtnumba.trees.check import check
from dtnumba.trees.layout import one_tree
from dtnumba.trees.subtrees import cut_below
from dtnumba.validation.folds import k_folds


def cut(whole, stays, most_leaves=None):
    if most_leaves is not None:
        divided = np.zeros(len(stays), bool)
        divided[naive_stopping.best_first(whole, stays, most_leaves)] = True
        stays = divided
    return cut_below(whole, (whole.feature >= 0) & ~stays)


def data(n=200, noise=0.25, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    flips = rng.random(n) < noise
    label = np.where((X[:, 0] + X[:, 1] > 0) ^ flips, "yes", "no")
    return X, label, X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=n)


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_a_branch_ends_where_rows_held_out_gain_nothing(criterion):
    classes = criterion == "gini"
    kind = {"narrow": True} if classes else {"weight": ("whole",), "dtypes": (np.float64,)}

    @examples(25)
    @given(samples(classes=classes, **kind), st.one_of(st.none(), st.integers(2, 5)), st.integers(0, 99))
    def check_cut(sample, most, seed):
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, sample.n_rows, 2 * sample.n_rows)
        X, y = sample.X[rows], sample.y[rows]
        model = DecisionTreeClassifier if classes else DecisionTreeRegressor
        found = model(max_leaf_nodes=most, n_jobs=1, random_state=0)
        found.fit(sample.X, sample.y, sample.weight, X_val=X, y_val=y)
        whole = fit(sample, criterion).trees_
        codes = np.unique(sample.y, return_inverse=True)[1][rows] if classes else y
        sizes = [len(np.unique(sample.y))] if classes else None
        stays = naive_stopping.improving(whole, X, codes[:, None], np.ones(len(X)), sizes)
        worth = np.sort((whole.weight * whole.gain)[whole.feature >= 0])
        if most is None or (np.diff(worth) > 1e-9 * worth[-1:]).all():  # between equals the path decides
            assert same_trees(check(found.trees_), cut(whole, stays, most))

    check_cut()


@pytest.mark.parametrize("model", [DecisionTreeClassifier, DecisionTreeRegressor])
@pytest.mark.parametrize("most", [None, 4])
def test_setting_rows_aside_is_passing_them(model, most):
    X, label, number = data()
    y = label if model is DecisionTreeClassifier else number
    weight = np.random.default_rng(3).integers(1, 4, len(X)).astype(float)
    params = {"random_state": 5, "max_leaf_nodes": most}
    found = model(validation_fraction=0.3, **params).fit(X, y, weight).trees_
    strata = (label == "yes").astype(int) if model is DecisionTreeClassifier else None
    from dtnumba.validation.folds import held_out

    train, test = held_out(len(X), 0.3, 5, strata=strata)
    assert len(test) == 60
    whole = model(random_state=5).fit(X[train], y[train], weight[train]).trees_
    truth = strata[test] if strata is not None else number[test]
    stays = naive_stopping.improving(whole, X[test], truth[:, None], weight[test], None if strata is None else [2])
    expected = cut(whole, stays, most)
    assert 1 < expected.n_leaves < whole.n_leaves
    assert same_trees(found, expected)


def test_each_tree_of_a_forest_stops_for_itself():
    X, label, number = data()
    X_val, label_val, number_val = data(300, seed=1)
    for model, y, y_val in ((RandomForestClassifier, label, label_val), (RandomForestRegressor, number, number_val)):
        params = {"n_estimators": 3, "random_state": 0}
        whole = model(**params).fit(X, y).trees_
        found = model(**params, max_leaf_nodes=6).fit(X, y, X_val=X_val, y_val=y_val).trees_
        sizes = [2] if model is RandomForestClassifier else None
        truth = (y_val == "yes").astype(int) if sizes else y_val
        for t in range(3):
            alone = one_tree(whole, t)
            stays = naive_stopping.improving(alone, X_val, truth[:, None], np.ones(300), sizes)
            assert same_trees(one_tree(found, t), cut(alone, stays, 6))


def test_the_same_bits_on_any_number_of_threads():
    X, label, _ = data(6000)
    for params in ({"validation_fraction": 0.2}, {"max_leaf_nodes": "cv", "max_depth": 5}):
        one, two = (DecisionTreeClassifier(random_state=0, n_jobs=n, **params).fit(X, label).trees_ for n in (1, 2))
        assert same_trees(one, two)
        assert one.n_leaves > 1


def test_sparse_and_binned_tables_judge_as_dense_ones_do():
    sparse = pytest.importorskip("scipy.sparse")
    X, label, _ = data()
    X = np.round(X * 2)
    models = [
        DecisionTreeClassifier(max_bins=255, validation_fraction=0.3, random_state=0).fit(table, label)
        for table in (X, sparse.csr_matrix(X), bin_batches(X))
    ]
    assert models[0].n_leaves_ > 1
    for model in models[1:]:
        assert np.array_equal(model.predict(X), models[0].predict(X))


def test_class_weights_say_what_errors_cost_rows_held_out():
    # The right half is one third "rare". A leaf there says what class weights say it does, and so do those who judge.
    X = np.array([0.0] * 30 + [1.0] * 30)[:, None]
    y = np.array(["common"] * 30 + ["common", "common", "rare"] * 10)
    for weights, n_leaves in ((None, 1), ({"rare": 5}, 2), ("balanced", 2)):
        model = DecisionTreeClassifier(class_weight=weights).fit(X, y, X_val=X, y_val=y)
        assert model.n_leaves_ == n_leaves


@pytest.mark.parametrize("model", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_the_size_is_that_of_a_plain_loop_of_fits(model):
    X, label, number = data(60)
    y = label if model is DecisionTreeClassifier else number
    strata = (label == "yes").astype(int) if model is DecisionTreeClassifier else None
    found = model(max_leaf_nodes="cv", random_state=3).fit(X, y)
    errors = np.zeros(12)
    for train, test in k_folds(60, N_FOLDS, 3, strata=strata):
        for size in range(1, 13):
            limit = {"max_leaf_nodes": size} if size > 1 else {"min_samples_split": 1000}
            predicted = model(random_state=3, **limit).fit(X[train], y[train]).predict(X[test])
            errors[size - 1] += (
                (predicted != y[test]) if strata is not None else (predicted - y[test]) ** 2
            ).sum() / 60
    assert found.cv_errors_[:12] == pytest.approx(errors)
    assert found.max_leaf_nodes_ == found.n_leaves_ == int(np.argmin(found.cv_errors_)) + 1
    assert same_trees(found.trees_, model(max_leaf_nodes=found.n_leaves_, random_state=3).fit(X, y).trees_)


def test_folds_may_lack_a_class_and_outputs_may_be_several():
    X, label, _ = data(40)
    label = label.astype(object)
    label[0] = "once"
    y = np.stack([label, X[:, 2] > 0], axis=1)
    for target in (label, y):
        model = DecisionTreeClassifier(max_leaf_nodes="cv", random_state=0, class_weight="balanced").fit(X, target)
        assert 1 <= model.n_leaves_ == model.max_leaf_nodes_
    assert DecisionTreeClassifier(validation_fraction=0.3, random_state=0).fit(X, y).n_leaves_ >= 1


def test_another_fit_forgets_the_folds():
    X, label, _ = data(40)
    model = DecisionTreeClassifier(max_leaf_nodes="cv", random_state=0).fit(X, label)
    model.set_params(max_leaf_nodes=None).fit(X, label)
    assert not hasattr(model, "cv_errors_")


X3, Y3 = [[0.0, 1.0], [1.0, 0.0], [2.0, 5.0], [3.0, 1.0]], [0, 1, 0, 1]


@pytest.mark.parametrize("model", [DecisionTreeClassifier, RandomForestClassifier])
@pytest.mark.parametrize(
    ("given", "params", "says"),
    [
        ({"X_val": X3}, {}, "pass both X_val and y_val, got X_val alone"),
        ({"y_val": Y3}, {}, "got y_val alone"),
        ({"X_val": X3, "y_val": Y3}, {"validation_fraction": 0.5}, "pass one of them"),
        ({"X_val": [[1.0]], "y_val": [0]}, {}, "X_val and y_val: .*1 features"),
        ({"X_val": X3, "y_val": [0, 1, 2, 1]}, {}, r"labels that the model has not seen in fit: \[2\]"),
        ({"X_val": X3, "y_val": [0, 1]}, {}, "X_val and y_val: .*inconsistent numbers"),
        ({"X_val": X3, "y_val": [Y3, Y3, Y3, Y3]}, {}, "outputs"),
    ],
    ids=["no y", "no X", "both", "columns", "label", "rows", "outputs"],
)
def test_a_validation_set_that_does_not_fit_is_an_error(model, given, params, says):
    fitted = model(random_state=0).fit(X3, Y3)
    before = fitted.predict(X3).tolist()
    with pytest.raises(ValueError, match=says):
        fitted.set_params(**params).fit(X3, Y3, **given)
    assert fitted.predict(X3).tolist() == before


def test_names_of_columns_must_be_those_of_the_training_rows():
    pd = pytest.importorskip("pandas")
    X, y = pd.DataFrame(X3, columns=["a", "b"]), Y3
    with pytest.raises(ValueError, match=r"X_val and y_val: .*feature names"):
        DecisionTreeClassifier().fit(X, y, X_val=X[["b", "a"]], y_val=y)


def test_two_ways_to_say_how_large_are_one_too_many():
    with pytest.raises(ValueError, match="max_leaf_nodes='cv' and a validation set"):
        DecisionTreeClassifier(max_leaf_nodes="cv", validation_fraction=0.5).fit(X3, Y3)
    with pytest.raises(ValueError, match="rows held out cannot judge"):
        RandomForestClassifier(importance="impurity_corrected", validation_fraction=0.5).fit(X3, Y3)
    with pytest.raises(ValueError, match="at least 2 rows; pass a number"):
        DecisionTreeClassifier(max_leaf_nodes="cv").fit([[1.0]], [0])
    for model in (RandomForestClassifier(max_leaf_nodes="cv"), DecisionTreeClassifier(max_leaf_nodes="vc")):
        with pytest.raises(ValueError, match="'max_leaf_nodes' parameter"):
            model.fit(X3, Y3)


@pytest.mark.parametrize("value", [0.0, 1.0, 3, "a", True])
def test_the_fraction_is_a_share(value):
    with pytest.raises((ValueError, TypeError), match="'validation_fraction' parameter"):
        DecisionTreeClassifier(validation_fraction=value).fit(X3, Y3)


# What stopping early cannot see, and what it is good for


def xor(copies):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * copies, dtype=float)
    return X, (X[:, 0] != X[:, 1]).astype(int)


@pytest.mark.parametrize(
    "stop",
    [{"min_significance": 0.05}, {"validation_fraction": 0.25}, {"criterion": "mdl"}, {"min_impurity_decrease": 1e-9}],
    ids=lambda stop: next(iter(stop)),
)
def test_stopping_early_misses_xor(stop):
    X, y = xor(10)
    stopped = DecisionTreeClassifier(random_state=0, **stop).fit(X, y)
    assert stopped.score(X, y) <= 0.55 or "validation_fraction" in stop
    if "validation_fraction" not in stop:
        assert stopped.n_leaves_ == 1


def test_a_whole_tree_of_xor_survives_what_looks_at_subtrees():
    X, y = xor(10)
    assert DecisionTreeClassifier().fit(X, y).score(X, y) == 1.0
    assert DecisionTreeClassifier(max_leaf_nodes="cv", random_state=0).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize(
    "stop",
    [{"min_significance": 0.01}, {"validation_fraction": 0.3}, {"criterion": "mdl"}, {"max_leaf_nodes": "cv"}],
    ids=lambda stop: next(iter(stop)),
)
def test_with_wrong_labels_less_is_more(stop):
    X, y, _ = data(600, noise=0.2, seed=2)
    X_new, y_new, _ = data(4000, noise=0.0, seed=3)
    whole, stopped = (DecisionTreeClassifier(random_state=0, **more).fit(X, y) for more in ({}, stop))
    assert whole.score(X, y) == 1.0
    assert stopped.score(X, y) < 0.9
    assert stopped.score(X_new, y_new) > whole.score(X_new, y_new) + 0.05
    assert stopped.n_leaves_ < whole.n_leaves_ / 4
