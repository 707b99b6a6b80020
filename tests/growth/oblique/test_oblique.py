"""Trees of sums: every node by its definition, whatever is searched, and the same bits whatever threads and rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import binary as naive
from strategies import Sample, compiled_where, examples, same_trees, samples

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, ObliqueTreeClassifier, ObliqueTreeRegressor
from dtnumba.criteria.contract import names_for
from dtnumba.growth.binary import grow_in_parallel
from dtnumba.growth.settings import SEARCHES
from dtnumba.runtime.kernels import COMPILED
from dtnumba.trees.check import check

CRITERIA = ["gini", "entropy", "twoing", "error", "squared_error", "absolute_error"]
# A search or a criterion more is a kernel more: all pairs are shown interpreted.
FEW = {("random", "squared_error")}
each_search = pytest.mark.parametrize("search", SEARCHES)


def fit(sample, search="soft_entropy", criterion="gini", **params):
    estimator = ObliqueTreeClassifier if criterion in names_for("classes") else ObliqueTreeRegressor
    params = {"n_jobs": 1, "random_state": 0} | params
    model = estimator(search=search, criterion=criterion, **params)
    return model.fit(sample.X, sample.y, sample_weight=sample.weight)


def slanted(n, seed=0, dtype=np.float64, n_columns=4, noise=0.3):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, n_columns)).round(2)
    z = X[:, 0] - 0.7 * X[:, 1] + 0.4 * X[:, -1] + noise * generator.normal(size=n)
    return X.astype(dtype), np.digitize(z, [-0.6, 0.5]), z


@pytest.mark.parametrize("criterion", CRITERIA)
@each_search
def test_every_node_is_the_best_cut_of_its_sum_and_beats_all_tests_of_one_column(search, criterion):
    if COMPILED and (search, criterion) not in FEW:
        pytest.skip("shown interpreted, to save compiling")
    is_classes = criterion in names_for("classes")

    @examples(25)
    @given(samples(classes=is_classes, weight=["zeros", "whole", "real"], narrow=True), st.integers(1, 3))
    def holds(sample, least):
        model = fit(sample, search, criterion, min_samples_leaf=least)
        rows, n_classes = sample.for_naive(classes=is_classes)
        with np.errstate(all="ignore"):
            naive.audit(
                check(model.trees_, sample.X.shape[1]),
                criterion,
                *rows,
                n_classes,
                naive.Limits(min_samples_leaf=least),
            )

    holds()


@each_search
def test_a_slanted_border_takes_one_sum(search):
    if COMPILED and search != "oc1":
        pytest.skip("shown interpreted, to save compiling")
    X = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    y = X.sum(axis=1) > 0
    model = ObliqueTreeClassifier(search=search, random_state=0, n_jobs=1).fit(X, y)
    assert model.n_leaves_ < DecisionTreeClassifier().fit(X, y).n_leaves_
    weights = model.tree_.weights_[0]
    assert weights[0] / weights[1] == pytest.approx(1.0, abs=0.35)


@pytest.mark.parametrize("search", compiled_where(SEARCHES, ["soft_entropy", "random"]))
def test_neither_threads_nor_the_order_of_rows_change_a_bit(search, monkeypatch):
    monkeypatch.setattr(grow_in_parallel, "PARALLEL_ROWS", 50)
    monkeypatch.setattr(grow_in_parallel, "_PARALLEL_WORK", 0)
    X, y, _ = slanted(400 if COMPILED else 90)
    X[::7, 1] = np.nan
    order = np.random.default_rng(1).permutation(len(X))
    one = fit(Sample(X, y, None), search, max_depth=4).trees_
    assert one.has_sums
    assert same_trees(one, fit(Sample(X, y, None), search, max_depth=4, n_jobs=3).trees_)
    assert same_trees(one, fit(Sample(X[order], y[order], None), search, max_depth=4).trees_)


@pytest.mark.parametrize("search", compiled_where(SEARCHES, ["soft_entropy", "random"]))
def test_max_terms_limits_what_a_test_combines(search):
    X, y, _ = slanted(150 if COMPILED else 40, n_columns=5)
    for most in (2, 3):
        trees = fit(Sample(X, y, None), search, max_terms=most, max_depth=3 if COMPILED else 2).trees_
        assert trees.has_sums
        assert np.diff(trees.linear.start).max() <= most


@each_search
def test_one_term_is_a_tree_of_single_columns(search):
    X, y, _ = slanted(80)
    axis = DecisionTreeClassifier(random_state=0, n_jobs=1).fit(X, y).trees_
    assert same_trees(fit(Sample(X, y, None), search, max_terms=1).trees_, axis)


def test_axis_bias_asks_sums_to_gain_more():
    X, y, _ = slanted(120)
    sample = Sample(X, y, None)
    axis = DecisionTreeClassifier(random_state=0, n_jobs=1).fit(X, y).trees_
    assert fit(sample, "lda").trees_.has_sums
    assert same_trees(fit(sample, "lda", axis_bias=1e6).trees_, axis)
    root = fit(sample, "lda", axis_bias=1.0).trees_.gain[0] / axis.gain[0]
    assert fit(sample, "lda", axis_bias=root * 0.999, max_depth=1).trees_.has_sums
    assert not fit(sample, "lda", axis_bias=root * 1.001, max_depth=1).trees_.has_sums


@pytest.mark.parametrize("max_bins", compiled_where([None, 16], [16]))
def test_categories_are_tested_by_themselves_beside_sums(max_bins):
    generator = np.random.default_rng(0)
    X, _, z = slanted(200 if COMPILED else 80)
    X[:, 2] = generator.integers(0, 6, len(X))
    y = (z + np.isin(X[:, 2], [1, 4]) * 1.5 > 0.3).astype(int)
    model = ObliqueTreeClassifier(
        search="lda", categorical_features=[2], max_bins=max_bins, max_depth=4, n_jobs=1, random_state=0
    ).fit(X, y)
    trees = check(model.trees_, 4)
    assert trees.has_sums
    assert len(trees.level)
    assert 2 not in trees.linear.column
    counts = np.bincount(model.apply(X), minlength=trees.n_nodes)
    leaf = trees.feature < 0
    assert np.array_equal(counts[leaf], trees.n_samples[leaf])


@pytest.mark.parametrize("scaling", ["min_max", "standard", None])
def test_scaling_says_what_weights_are_in_units_of(scaling):
    X, y, _ = slanted(100)
    X *= [1.0, 1000.0, 1.0, 1e-3]
    model = ObliqueTreeClassifier(search="ridge", numeric_scaling=scaling, max_depth=1, n_jobs=1).fit(X, y)
    used = set(model.trees_.linear.column.tolist()) if model.trees_.has_sums else set()
    assert (used >= {0, 1, 3}) == (scaling is not None)


WILD = {
    "more columns than rows": lambda X: np.tile(X[:12], (1, 8)),
    "the same column twice": lambda X: np.concatenate([X, X[:, :2]], axis=1),
    "constant columns": lambda X: np.concatenate([X, np.full((len(X), 2), 7.0)], axis=1),
    "tiny and huge": lambda X: X * [1e-300, 1e300, 1.0, 1e-5],
    "beyond float64 together": lambda X: X * 1.2e307,
    "infinite": lambda X: np.where(np.abs(X) > 1.5, np.copysign(np.inf, X), X),
    "missing everywhere": lambda X: np.full_like(X, np.nan),
    "mostly missing": lambda X: np.where(np.random.default_rng(0).random(X.shape) < 0.8, np.nan, X),
    "far from zero": lambda X: X + 1e15,
}


@pytest.mark.parametrize("wild", WILD)
@pytest.mark.parametrize("search", compiled_where(SEARCHES, ["soft_entropy", "oc1"]))
def test_wild_columns_make_no_wild_tree(search, wild):
    X, y, z = slanted(60)
    with np.errstate(all="ignore"):
        X = WILD[wild](X)
        y, z = y[: len(X)], z[: len(X)]
        for kind, target in [(ObliqueTreeClassifier, y), (ObliqueTreeRegressor, z)][: 1 if COMPILED else 2]:
            model = kind(search=search, max_depth=3, n_jobs=1, random_state=0).fit(X, target)
            trees = check(model.trees_, X.shape[1])
            assert not np.isnan(trees.threshold[trees.feature >= 0]).any()
            counts = np.bincount(model.apply(X), minlength=trees.n_nodes)
            assert np.array_equal(counts[trees.feature < 0], trees.n_samples[trees.feature < 0])


def test_one_class_is_a_leaf():
    X, _, _ = slanted(20)
    assert ObliqueTreeClassifier().fit(X, np.ones(20)).n_leaves_ == 1


def test_a_regression_on_a_plane_takes_fewer_leaves_than_one_of_steps():
    X, _, z = slanted(200 if COMPILED else 80, noise=0.0)
    slanting = ObliqueTreeRegressor(search="ridge", max_depth=3, n_jobs=1).fit(X, z).score(X, z)
    assert slanting > DecisionTreeRegressor(max_depth=3).fit(X, z).score(X, z) + 0.05
