"""Drawn sums in bins: each node's by definition, and the same trees wherever rows and values are copied."""

import numpy as np
import pytest
from naive import drawn_sums as naive
from strategies import interpreted_only, same_trees

from dtnumba import ObliqueForestClassifier, ObliqueForestRegressor, ObliqueTreeClassifier
from dtnumba.growth.binary.grow_subtree import LikeOthers
from dtnumba.growth.forest import grow, plan
from dtnumba.growth.oblique.binned import in_hand
from dtnumba.trees.check import check

pytestmark = interpreted_only  # the whole of it runs compiled in tests/estimators/oblique
FEW = {"n_estimators": 3, "random_state": 0, "n_jobs": 1}


def rows(n=70, n_columns=5, seed=0, missing=0.0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, n_columns)).round(2)
    y = (X[:, 0] - 0.7 * X[:, 1] + 0.4 * X[:, -1] + 0.3 * generator.normal(size=n) > 0).astype(int)
    X[generator.random(X.shape) < missing] = np.nan
    return X, y


@pytest.mark.parametrize("n_bins", [6, 40])
def test_every_node_has_the_best_cut_of_the_sums_that_it_draws(n_bins):
    X, y = rows(70)
    model = ObliqueTreeClassifier(search="random", max_bins=n_bins, n_projections=11, random_state=3, n_jobs=1)
    trees, seen = check(model.fit(X, y).trees_, 5), 0
    way, streams = np.asarray(model.decision_path(X).todense()).astype(bool), naive.streams_of(trees, 3)
    for node in np.flatnonzero(trees.feature >= 0):
        own = np.flatnonzero(way[:, node])
        best = naive.best_sum(X[own], y[own], streams[node], 11, n_bins) if len(own) >= 4 else None
        first, end = trees.linear.start[node : node + 2]
        if first < end:
            seen += 1
            assert trees.gain[node] == pytest.approx(best.gain)
            assert tuple(trees.linear.column[first:end]) == best.columns
            assert tuple(trees.linear.weight[first:end]) == best.weights
            assert trees.threshold[node] == best.threshold
            assert np.array_equal(way[own, trees.left[node]], best.left)
        else:
            assert best is None or best.gain <= trees.gain[node] * (1 + 1e-9)
    assert seen > 3


@pytest.mark.parametrize("params", [{}, {"n_projections": 19, "max_terms": 4}, {"numeric_scaling": "standard"}])
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_few_rows_on_bits_and_copies_side_by_side_change_no_bit(params, missing, monkeypatch):
    X, y = rows(missing=missing)
    grown = [ObliqueForestClassifier(**FEW, **params).fit(X, y).trees_]
    assert grown[0].has_sums
    with monkeypatch.context() as patch:  # rows of few nodes, of which each is the root of a copy
        patch.setattr(grow, "SUBTREE_BYTES", 16 * 90)
        grown.append(ObliqueForestClassifier(**FEW, **params).fit(X, y).trees_)
    with monkeypatch.context() as patch:
        patch.setattr(plan, "small_subtrees", lambda *_: LikeOthers())
        grown.append(ObliqueForestClassifier(**FEW, **params).fit(X, y).trees_)
        patch.setattr(in_hand, "COPIED_BYTES", 800)  # values of few nodes
        grown.append(ObliqueForestClassifier(**FEW, **params).fit(X, y).trees_)
    assert all(same_trees(grown[0], other) for other in grown[1:])


def test_a_sum_has_two_columns_and_more_where_asked():
    X, y = rows()
    for params, most in ({}, 2), ({"max_terms": 5}, 5):
        lengths = np.diff(ObliqueForestClassifier(**FEW, **params).fit(X, y).trees_.linear.start)
        assert lengths.max() == most
        assert set(lengths) <= {0, *range(2, most + 1)}


def test_sums_are_of_all_columns_and_not_of_those_that_the_node_draws():
    X, y = rows()
    trees = ObliqueForestClassifier(max_features=1, **FEW).fit(X, y).trees_
    assert trees.has_sums
    assert len(set(trees.linear.column)) == 5


@pytest.mark.parametrize("wild", [1e-300, 1e300, 0.0, np.inf])
def test_columns_without_a_range_are_no_terms(wild):
    X, y = rows()
    X[:, 2] = np.where(X[:, 2] > 0, wild, -wild) if wild > 1 else wild * X[:, 2]
    with np.errstate(all="ignore"):
        trees = check(ObliqueForestClassifier(**FEW).fit(X, y).trees_, 5)
    assert trees.has_sums
    assert np.isfinite(trees.threshold[trees.feature >= 0]).all()
    assert wild not in {0.0, np.inf} or 2 not in trees.linear.column


def test_numbers_and_many_classes_have_sums_too():
    X, _ = rows()
    z = X[:, 0] - X[:, 1]
    assert ObliqueForestRegressor(**FEW).fit(X, z).score(X, z) > 0.8
    labels = np.digitize(z, np.quantile(z, np.arange(0.1, 1.0, 0.1)))
    model = ObliqueForestClassifier(bootstrap=False, **FEW).fit(X, labels)
    assert model.trees_.has_sums
    assert model.score(X, labels) == 1.0
