"""Losses of trees on what they did not see, by walking every row anew for every column."""

import numpy as np
import pytest
from forests import counts_of, digest, table
from naive import binary as naive
from strategies import interpreted_only

from dtnumba import (
    ExtraTreesClassifier,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    bin_batches,
)
from dtnumba.explain.importances import nothing_measured
from dtnumba.explain.shuffle import rows_of, shuffled
from dtnumba.runtime import rng
from dtnumba.runtime.kernels import kernel


@kernel
def fill(out, key):
    for i in range(len(out)):
        out[i] = shuffled(np.uint64(key), i, len(out), rows_of(len(out)))


def order_of(model, t, f, n):
    """The order in which rows lend their value of column f in tree t."""
    out = np.empty(n, np.int64)
    fill(out, rng._mixed(rng.stream(model.seed_, rng.PERMUTATION, t), f))
    return out


def by_tree(model, X, y):
    """Rise of the loss of every tree by every column, by definition."""
    trees, outputs = model.trees_, np.reshape(y, (len(y), -1))
    is_label = hasattr(model, "classes_")
    says, truth = trees.value, outputs.astype(float)
    if is_label:
        parts = np.split(trees.value, np.cumsum(np.atleast_1d(model.n_classes_))[:-1], axis=1)
        says = np.stack([part.argmax(axis=1) for part in parts], axis=1)
    rises = []
    for t in range(trees.n_trees):
        out = np.flatnonzero(counts_of(model, len(X), t) == 0)

        def order(f, t=t, out=out):
            return order_of(model, t, f, len(out))

        rises.append(naive.shuffled_losses(trees, t, X[out], says, truth[out], order, is_label=is_label))
    return np.array(rises)


CASES = [
    (RandomForestClassifier, {}, 0),
    pytest.param(
        RandomForestClassifier, {"max_depth": 1, "max_bins": None, "criterion": "entropy"}, 1, marks=interpreted_only
    ),
    pytest.param(RandomForestClassifier, {"max_depth": 4}, 2, marks=interpreted_only),
    pytest.param(ExtraTreesClassifier, {"bootstrap": True, "max_bins": None}, 1, marks=interpreted_only),
    (RandomForestRegressor, {"max_features": 2}, 3),
    pytest.param(RandomForestRegressor, {"min_samples_leaf": 5}, 4, marks=interpreted_only),
    (ObliqueForestClassifier, {}, 0),
    pytest.param(ObliqueForestClassifier, {"max_bins": None, "search": "lda"}, 1, marks=interpreted_only),
    pytest.param(ObliqueForestRegressor, {"max_features": 3, "min_samples_leaf": 3}, 3, marks=interpreted_only),
]


def targets():
    X, two, three, z = table(90)
    return X, [two, three, np.stack([two, three], axis=1), z, np.stack([z, z**2], axis=1)]


@pytest.mark.parametrize(("family", "params", "which"), CASES, ids=str)
def test_losses_are_those_of_shuffled_columns(family, params, which):
    X, ys = targets()
    model = family(4, random_state=1, importance="permutation", **params).fit(X, ys[which])
    expected = by_tree(model, X, ys[which])
    assert np.allclose(model.feature_importances_, expected.mean(axis=0), rtol=1e-9, atol=1e-12)
    assert np.allclose(model.importances_std_, expected.std(axis=0), rtol=1e-9, atol=1e-12)
    assert model.importances_.n_measured == 4
    plain = family(4, random_state=1, **params).fit(X, ys[which])
    assert digest(*plain.trees_) == digest(*model.trees_)


@pytest.mark.small
def test_a_small_forest_is_measured():
    X, y, _, _ = table(24)
    model = RandomForestClassifier(2, random_state=0, importance="permutation", n_jobs=1).fit(X, y)
    assert np.allclose(model.feature_importances_, by_tree(model, X, y).mean(axis=0))


def test_columns_that_no_tree_splits_on_are_worth_exactly_nothing():
    X, _, _, z = table()
    X = np.column_stack([X, np.ones(len(X))])
    found = RandomForestRegressor(10, random_state=0, importance="permutation").fit(X, z).feature_importances_
    assert found[6] == 0.0
    assert found[3] == found.max() > 0.0


def test_no_bit_depends_on_threads_layout_or_storage():
    sparse = pytest.importorskip("scipy.sparse")
    X, y, _, z = table(missing=0.0)
    X[np.abs(X) < 0.5] = 0
    for family, target in ((RandomForestClassifier, y), (RandomForestRegressor, z)):
        found = set()
        for n_jobs in (1, 2, 8):
            for rows in (X, np.asfortranarray(X), sparse.csr_matrix(X), sparse.csc_matrix(X)):
                model = family(7, random_state=0, importance="permutation", n_jobs=n_jobs).fit(rows, target)
                found.add(digest(model.feature_importances_, model.importances_std_))
        assert len(found) == 1


def test_codes_are_measured_like_their_values():
    X, y, _, z = table()
    X = np.round(X, 1)  # few values, so that each has a bin of its own
    for family, target in ((RandomForestClassifier, y), (RandomForestRegressor, z)):
        found = [
            family(7, random_state=0, importance="permutation").fit(rows, target).feature_importances_
            for rows in (X, bin_batches(X))
        ]
        assert digest(found[0]) == digest(found[1])


def test_rows_of_no_weight_are_not_measured_on():
    X, y, _, _ = table()
    weight = np.ones(len(X))
    weight[200:] = 0.0
    wrong = y.copy()
    wrong[200:] = 1 - wrong[200:]
    found = [
        RandomForestClassifier(10, random_state=0, importance="permutation").fit(X, labels, weight)
        for labels in (y, wrong)
    ]
    assert digest(found[0].feature_importances_) == digest(found[1].feature_importances_)


def test_bootstrap_is_asked_for():
    X, y, _, _ = table()
    with pytest.raises(ValueError, match=r"importance='permutation' .* pass bootstrap=True"):
        ExtraTreesClassifier(3, importance="permutation").fit(X, y)


def test_trees_that_leave_out_no_row_cannot_be_measured():
    X, y, _, _ = table()
    with pytest.warns(UserWarning, match="NaN: every tree drew every row"):
        model = RandomForestClassifier(3, replace=False, importance="permutation").fit(X, y)
    assert np.isnan(model.feature_importances_).all()
    assert np.isnan(model.importances_std_).all()
    two = np.arange(8.0).reshape(2, 4)
    few = RandomForestClassifier(40, random_state=0, importance="permutation").fit(two, [0, 1])
    assert 0 < few.importances_.n_measured < few.importances_.n_trees == 40


def test_nothing_measured_is_nan():
    assert np.isnan(nothing_measured("permutation", 3).values).all()


def test_categories_are_shuffled_as_their_codes_are():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 200), rng.normal(size=200), rng.integers(0, 2, 200)]).astype(float)
    y = ((X[:, 0] == 1) ^ (X[:, 1] > 0)).astype(int)
    # Of two levels one goes left, as with a threshold between them.
    codes, levels = (
        RandomForestClassifier(5, random_state=0, max_features=None, importance="permutation", categorical_features=of)
        .fit(X, y)
        .feature_importances_
        for of in (None, [0, 2])
    )
    assert levels == pytest.approx(codes, abs=1e-12)
