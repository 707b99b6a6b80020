"""Raising where rows go in parts: the same trees as by recursion, and the same bits in any order of the rows."""

import numpy as np
import pytest
from naive import c45 as naive_c45

from dtnumba import C45Classifier, DecisionTreeClassifier, prune, pruners
from dtnumba.pruners.engines import fractional_subtree_raising, recount
from dtnumba.pruners.error_based import extra_errors
from dtnumba.runtime.tasks import call_each

COLUMNS = ("feature", "threshold", "left", "right", "value", "weight", "n_samples", "impurity", "gain", "share")


def noisy(n, seed, gone):
    """Return rows of two numbers and two categories, some cells missing, and classes that follow them now and then."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 2)).round(1), rng.integers(0, 3, (n, 2))])
    follows = (X[:, 0] > 0).astype(int) + ((X[:, 1] > 0.3) & (X[:, 2] > 0))
    y = np.where(rng.random(n) < 0.6, follows, rng.integers(0, 3, n))
    X[rng.random(X.shape) < gone] = np.nan
    return X, y, rng.choice([0.3, 1.0, 2.7], n)


@pytest.mark.parametrize("gone", [0.0, 0.01, 0.1])
@pytest.mark.parametrize("seed", range(4))
def test_branches_are_raised_as_by_recursion(seed, gone):
    X, y, _ = noisy(250, seed, gone)
    nominal, ones = np.array([False, False, True, True]), np.ones(len(y))
    every, confidence = np.arange(len(y)), 0.4
    wanted = naive_c45.grown(X, y, ones, nominal, [0, 0, 3, 3], 3, 2)
    naive_c45.collapse(wanted)
    n_grown = len(naive_c45.leaves(wanted))

    def extra(n, errors):
        return extra_errors(n, errors, confidence, "j48")

    naive_c45.prune(wanted, X, y, every, ones, 3, extra)
    model = C45Classifier(categorical_features=[2, 3], confidence=confidence).fit(X, y)
    assert model.n_leaves_ == len(naive_c45.leaves(wanted)) < n_grown
    assert np.allclose(model.predict_proba(X), [naive_c45.said(wanted, row) for row in X])


@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_the_rows_changes_no_bit(seed):
    X, y, w = noisy(500, seed, 0.1)
    order = np.random.default_rng(seed).permutation(len(y))

    def trees_of(rows):
        whole = DecisionTreeClassifier(missing="fractional").fit(X[rows], y[rows], w[rows])
        yield prune(whole, pruners.ErrorBased(), X[rows], y[rows], sample_weight=w[rows]).trees_
        yield C45Classifier(categorical_features=[2, 3]).fit(X[rows], y[rows], w[rows]).trees_
        whole = DecisionTreeClassifier().fit(X[rows], y[rows], w[rows])
        for method in (pruners.ErrorBased(estimate="exact"), pruners.ReducedError(X, y, sample_weight=w, raising=True)):
            yield prune(whole, method, X[rows], y[rows], sample_weight=w[rows]).trees_

    for one, other in zip(trees_of(np.arange(len(y))), trees_of(order), strict=True):
        assert one.n_nodes > 4
        for name in COLUMNS:
            assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name


@pytest.mark.parametrize("gone", [0.0, 0.1])
def test_any_number_of_threads_gives_the_same_bits(monkeypatch, gone):
    X, y, w = noisy(2000, 3, gone)
    monkeypatch.setattr(fractional_subtree_raising, "_ENOUGH", 100)
    model, items = C45Classifier(categorical_features=[2, 3]), []

    def heard(*given):
        items.append(given)
        return call_each(*given)

    monkeypatch.setattr(fractional_subtree_raising, "call_each", heard)

    def trees_on(workers):
        monkeypatch.setattr(recount, "workers_of", lambda _: workers)
        return model.fit(X, y, w).trees_

    one = trees_on(1)
    assert one.n_nodes > 10
    assert not items
    for workers in (2, 3, 8):
        other = trees_on(workers)
        for name in COLUMNS:
            assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), (workers, name)
        codes, given = items[-1]
        assert len(codes) == workers
        assert len(given[0]) > 4
