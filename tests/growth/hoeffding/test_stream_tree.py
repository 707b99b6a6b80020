"""Trees of streams: when they split, what they say, and that blocks of rows are no matter."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import streams as naive
from strategies import examples, same_trees

from dtnumba import IncrementalTreeClassifier, IncrementalTreeRegressor
from dtnumba.criteria.contract import resolve_criterion
from dtnumba.growth.hoeffding import answer_many, stream_tree
from dtnumba.growth.hoeffding.best_tests import hoeffding_bound
from dtnumba.growth.hoeffding.drift import Windows, see_loss
from dtnumba.growth.hoeffding.points import see_value
from dtnumba.growth.hoeffding.stream import N_POINTS
from dtnumba.growth.hoeffding.stream_tree import StreamOptions, StreamTree


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


def test_rows_of_a_stream_cannot_be_forgotten_nor_parameters_of_rows_asked_for():
    X, y = stream(300)
    model = IncrementalTreeClassifier(approximate=True).partial_fit(X, y)
    for forget in (lambda: model.forget(X, y), lambda: model.forget_ids([1])):
        with pytest.raises(ValueError, match="keeps no rows, so none can be forgotten"):
            forget()
    with pytest.raises(ValueError, match="min_samples_leaf=5 asks for them"):
        IncrementalTreeClassifier(approximate=True, min_samples_leaf=5).partial_fit(X, y)


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


def program(data, n_classes):
    """Rows of a number, a number of many values and levels, some missing, whose labels follow one of the columns."""
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    n = data.draw(st.integers(1, 150))
    X = np.stack([rng.integers(0, 5, n), rng.normal(size=n).round(2), rng.integers(0, 3, n)], axis=1).astype(float)
    X[:, :2][rng.random((n, 2)) < 0.05] = np.nan
    by = np.where(np.arange(n) < n * data.draw(st.sampled_from([0.4, 1.0])), X[:, 0] > 2, X[:, 2] > 0)
    y = np.where(rng.random(n) < 0.9, by, ~by).astype(float)
    y = y + (X[:, 2] == 1) if n_classes == 3 else y
    return X, y if n_classes else np.where(y > 0, 3.25, -1.0) + rng.integers(0, 4, n) / 4


@pytest.mark.parametrize("n_classes", [2, 3, 0])
@pytest.mark.parametrize("reconsider", [True, False])
@given(data=st.data())
@examples(25)
def test_trees_are_those_of_the_definition(n_classes, reconsider, data):
    X, y = program(data, n_classes)
    delta, tie, grace = (data.draw(st.sampled_from(some)) for some in ([1e-7, 0.05, 0.5], [0.0, 0.05, 0.3], [1, 5, 20]))
    weight = data.draw(st.sampled_from([1.0, 2.0]))
    depth = data.draw(st.sampled_from([1, 2, 1000]))
    name, kind = ("entropy", "classes") if n_classes else ("squared_error", "numbers")
    criterion = resolve_criterion(name, kind, 9.0)
    options = StreamOptions(delta=delta, tie_threshold=tie, grace_period=grace, reconsider=reconsider, max_depth=depth)
    found = StreamTree(np.array([0, 0, 3]), n_classes, criterion, options)
    cut = data.draw(st.integers(0, len(X)))
    for rows in (slice(cut), slice(cut, None)):
        found.learn(X[rows], y[rows], np.full(len(X), weight)[rows])
    wanted = naive.Tree([0, 0, 3], n_classes, delta=delta, tie=tie, grace=grace, reconsider=reconsider, max_depth=depth)
    for row, own in zip(X, y, strict=True):
        wanted.learn(row.tolist(), float(own), weight)
    trees, nodes = found.trees(), wanted.nodes()
    assert trees.feature.tolist() == [-1 if node.column is None else node.column for node in nodes]
    cuts = [math.nan if node.threshold is None else node.threshold for node in nodes]
    np.testing.assert_array_equal(trees.threshold, cuts)
    np.testing.assert_allclose(trees.weight, [wanted.weight(node.sums) for node in nodes])
    assert found.stream.used[3] == wanted.replaced


def bounded(n, max_bytes, **params):
    X, y = stream(n, seed=5)
    y = (X[:, 0] * 8).astype(int) % 2 ^ (X[:, 1] > 0.5)
    model = IncrementalTreeClassifier(
        approximate=True, criterion="entropy", grace_period=20, delta=0.1, max_bytes=max_bytes, **params
    )
    return model.partial_fit(X, y), X, y


@pytest.mark.parametrize("reconsider", [True, False])
def test_memory_is_bounded_and_the_least_promising_nodes_go_without(reconsider):
    """Without a bound the same stream has many more nodes that split."""
    large, X, y = bounded(6000, 1 << 26, reconsider=reconsider)
    small, _, _ = bounded(6000, 60_000, reconsider=reconsider)
    assert large.n_idle_leaves_ == 0
    assert small.n_idle_leaves_ > 0
    assert 3 < small.n_nodes_ < large.n_nodes_
    tree = small._stream
    arrays = [*tree.stream[3:9], tree.stream.link, tree.stream.number, tree.stream.sums]
    assert sum(part.nbytes for part in arrays[:6]) <= 60_000
    assert small.score(X, y) > 0.6
    seen, owner = tree.stream.link[:, 3], tree.stream.owner
    held = np.flatnonzero(owner >= 0)
    assert seen[owner[held]].tolist() == held.tolist()
    lost = [tree._lost(sums) for sums in tree.stream.sums[owner[held]]]
    idle = [node for node in tree._order() if tree.stream.link[node, 0] < 0 and seen[node] < 0]
    promises = [tree._lost(tree.stream.sums[node]) for node in idle]
    assert min(promises) <= max(lost)  # those that promise most are watched


def test_nodes_are_bounded_too(monkeypatch):
    """Nodes that were replaced make room for others, wherever blocks of rows begin."""
    monkeypatch.setattr(stream_tree, "_LEAST_NODES", 9)
    monkeypatch.setattr(stream_tree, "_SHARE_OF_SLOTS", 1.0)
    whole, X, y = bounded(4000, 1 << 20, drift="handled")
    assert whole._stream.stream.used[5] > 0
    assert 3 < whole.n_nodes_ <= 9
    parts = IncrementalTreeClassifier(**whole.get_params())
    for first in range(0, 4000, 500):
        parts.partial_fit(X[first : first + 500], y[first : first + 500])
    assert same_trees(whole.trees_, parts.trees_)


@pytest.mark.parametrize("params", [{}, {"drift": "handled"}, {"drift": "shown", "reconsider": False}])
def test_blocks_of_rows_are_no_matter_where_memory_is_full(params):
    whole, X, y = bounded(4000, 60_000, **params)
    parts = IncrementalTreeClassifier(**whole.get_params())
    for first, last in ((0, 3), (3, 1700), (1700, 3999), (3999, 4000)):
        parts.partial_fit(X[first:last], y[first:last])
        parts = pickle.loads(pickle.dumps(parts))  # noqa: S301  our own bytes
    assert same_trees(whole.trees_, parts.trees_)
    assert whole.drifts_.tolist() == parts.drifts_.tolist()
    assert np.array_equal(whole.predict_proba(X[:300]), parts.predict_proba(X[:300]))
    assert len(pickle.dumps(whole)) < 200_000


def test_a_new_class_takes_room_from_the_least_promising():
    model, X, y = bounded(3000, 60_000)
    n_slots = len(model._stream.stream.owner)
    model.partial_fit(X[:400], np.where(X[:400, 1] > 0.9, 7, y[:400]))
    stream_ = model._stream.stream
    assert len(stream_.owner) < n_slots
    held = np.flatnonzero(stream_.owner >= 0)
    assert stream_.link[stream_.owner[held], 3].tolist() == held.tolist()
    assert stream_.used[1] + len(held) == len(stream_.owner)
    assert model.classes_.tolist() == [0, 1, 7]


def test_drift_is_shown_and_nothing_is_done_about_it():
    X, y = stream(6000)
    y[3000:] = 1 - y[3000:]
    shown = IncrementalTreeClassifier(approximate=True, drift="shown", reconsider=False).partial_fit(X, y)
    ignored = IncrementalTreeClassifier(approximate=True, reconsider=False).partial_fit(X, y)
    assert same_trees(shown.trees_, ignored.trees_)
    assert 3000 <= shown.drifts_[0] < 3100
    assert ignored.drifts_.tolist() == []
    with pytest.raises(AttributeError, match="drifts_"):
        IncrementalTreeClassifier().partial_fit(X[:50], y[:50]).drifts_  # noqa: B018


@pytest.mark.parametrize("answers", ["naive_bayes", "adaptive"])
def test_many_rows_are_answered_as_few_are(answers, monkeypatch):
    rng = np.random.default_rng(7)
    X, _ = stream(4000)
    y = (X[:, :3].sum(axis=1) + 0.3 * rng.normal(size=4000) > 1.5).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    options = StreamOptions(delta=0.2, answers=answers)
    tree = StreamTree(np.array([0, 0, 0, 3]), 3, resolve_criterion("gini", "classes", 1.0), options)
    tree.learn(X, np.where(np.arange(4000) == 7, 2.0, y), None)  # of one class there is one row
    few = np.concatenate([tree.shares(X[first : first + 40]) for first in range(0, 4000, 40)])
    with monkeypatch.context() as patch:
        patch.setattr(answer_many, "_ROWS_A_TABLE", 1)
        for workers in (1, 3):
            assert np.array_equal(tree.shares(X, workers), few)
    assert len(tree.bayes_leaves()) > 1
    assert np.allclose(few.sum(axis=1), 1.0)
