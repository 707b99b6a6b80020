"""Trees of streams: when they split, what they say, and that blocks of rows are no matter."""

import math

import numpy as np
import pytest
from strategies import same_trees

from dtnumba import IncrementalTreeClassifier, IncrementalTreeRegressor
from dtnumba.growth.hoeffding.best_tests import hoeffding_bound
from dtnumba.growth.hoeffding.drift import Windows, see_loss
from dtnumba.growth.hoeffding.points import see_value
from dtnumba.growth.hoeffding.stream import N_POINTS


def stream(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 4))
    X[:, 3] = rng.integers(0, 3, n)
    return X, ((X[:, 0] > 0.5) ^ (rng.random(n) < 0.05)).astype(int)


def test_the_bound_is_hoeffdings():
    assert hoeffding_bound(1.0, 1e-7, 1000) == pytest.approx(0.089772, abs=1e-6)
    assert hoeffding_bound(1.0, 1e-7, 200) == pytest.approx(0.200737, abs=1e-6)
    assert hoeffding_bound(2.0, 0.05, 50) == pytest.approx(2 * math.sqrt(math.log(20) / 100))


def test_a_leaf_splits_when_the_bound_allows_it_and_no_sooner():
    X = np.tile([[0.0], [1.0]], (500, 1))
    y = X[:, 0].astype(int)
    model = IncrementalTreeClassifier(approximate=True, criterion="entropy", tie_threshold=0.0, grace_period=1)
    model.partial_fit(X[:8], y[:8])
    # The gain is 1 bit, that of nothing 0: the bound must be below 1, with more than ln(1e7) / 2 = 8.06 rows.
    assert model.n_nodes_ == 1
    assert model.partial_fit(X[8:9], y[8:9]).n_nodes_ == 3
    assert model.tree_.threshold[0] == 0.5


@pytest.mark.parametrize("params", [{}, {"drift": "handled"}, {"reconsider": False, "leaf_prediction": "majority"}])
def test_blocks_of_rows_are_no_matter(params):
    X, y = stream(3000)
    whole = IncrementalTreeClassifier(approximate=True, **params).partial_fit(X, y)
    parts = IncrementalTreeClassifier(approximate=True, **params)
    for first, last in ((0, 1), (1, 700), (700, 2999), (2999, 3000)):
        parts.partial_fit(X[first:last], y[first:last])
    assert same_trees(whole.trees_, parts.trees_)
    assert np.array_equal(whole.predict_proba(X[:200]), parts.predict_proba(X[:200]))
    assert whole.n_seen_ == parts.n_seen_ == 3000
    assert whole.score(X, y) > 0.9


def test_levels_and_classes_may_come_late():
    rng = np.random.default_rng(1)
    X = rng.choice(np.array(["red", "blue"], object), (1000, 1))
    model = IncrementalTreeClassifier(approximate=True).partial_fit(X, (X[:, 0] == "red").astype(int))
    later = np.full((1000, 1), "amber", object)
    model.partial_fit(later, np.full(1000, 7))
    assert model.classes_.tolist() == [0, 1, 7]
    assert model.categories_[0].tolist() == ["amber", "blue", "red"]
    assert model.predict([["red"], ["blue"]]).tolist() == [1, 0]


def test_trees_of_numbers_learn_a_step():
    rng = np.random.default_rng(2)
    X = rng.random((3000, 2))
    y = np.where(X[:, 1] > 0.3, 5.0, -1.0) + 0.1 * rng.normal(size=3000)
    model = IncrementalTreeRegressor(approximate=True).partial_fit(X, y)
    assert model.tree_.feature[0] == 1
    assert model.score(X, y) > 0.95


def test_rows_of_a_stream_cannot_be_forgotten_nor_parameters_of_rows_asked_for(tmp_path):
    X, y = stream(300)
    model = IncrementalTreeClassifier(approximate=True).partial_fit(X, y)
    for forget in (lambda: model.forget(X, y), lambda: model.forget_ids([1])):
        with pytest.raises(ValueError, match="keeps no rows, so none can be forgotten"):
            forget()
    with pytest.raises(ValueError, match="min_samples_leaf=5 asks for them"):
        IncrementalTreeClassifier(approximate=True, min_samples_leaf=5).partial_fit(X, y)
    with pytest.raises(TypeError, match="pickle it"):
        model.save(tmp_path / "model")


def test_drift_that_is_handled_is_survived():
    X, y = stream(6000)
    y[3000:] = 1 - y[3000:]
    right = {}
    for drift in ("ignored", "handled"):
        model = IncrementalTreeClassifier(approximate=True, reconsider=False, leaf_prediction="majority", drift=drift)
        right[drift] = model.partial_fit(X, y).score(X[4500:], y[4500:])
    assert right["handled"] > 0.9 > right["ignored"]


def test_a_window_notices_that_losses_rise():
    windows, rng = Windows.new(1), np.random.default_rng(0)
    said = [see_loss(windows, 0, float(rng.random() < (0.1 if i < 1000 else 0.6)), 0.002) for i in range(2000)]
    risen = [i for i, one in enumerate(said) if one > 0]
    assert risen
    assert 1000 <= risen[0] < 1200
    assert windows.total[0, 0] < 1100  # older losses are let go


def test_sums_up_to_a_point_are_exact():
    rng = np.random.default_rng(3)
    values, points, mass, n = rng.normal(size=2000), np.zeros(N_POINTS), np.zeros((N_POINTS, 1)), 0
    for value in values:
        n = see_value(n, points, mass, value, np.ones(1))
    assert n == N_POINTS
    assert (np.diff(points) > 0).all()
    assert np.cumsum(mass[:, 0]).tolist() == [(values <= point).sum() for point in points]
