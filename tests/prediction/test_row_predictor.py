"""``compile_predictor`` answers a row as the model does, to the bit; and ``compact`` changes no answer."""

import pickle
import threading

import numpy as np
import pytest
from naive import binary as naive
from strategies import INF, layout

from dtnumba import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from dtnumba.prediction.row_predictor import RowPredictor
from dtnumba.trees.check import check
from dtnumba.trees.layout import arrays_of


def table(n_rows=300, dtype=np.float64, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 5))
    z = X[:, 0] * X[:, 1] + 0.3 * generator.normal(size=n_rows)
    X[generator.random(X.shape) < 0.1] = np.nan
    X[generator.random(X.shape) < 0.02] = -INF
    return X.astype(dtype), z


def target(kind, z):
    three = np.digitize(z, [-1, 1])
    return {
        "two": z > 0,
        "three": three,
        "both": np.stack([z > 0, three], axis=1).astype(int),
        "number": z,
        "numbers": np.stack([z, z**2], axis=1),
    }[kind]


CASES = [
    (RandomForestClassifier(25, random_state=0, n_jobs=1), "two"),
    (RandomForestClassifier(7, voting="hard", max_depth=4, n_jobs=1), "three"),
    (ExtraTreesClassifier(12, max_depth=3, n_jobs=1), "both"),
    (RandomForestRegressor(13, random_state=0, n_jobs=1), "number"),
    (RandomForestRegressor(3, random_state=0, n_jobs=1), "numbers"),
    (RandomForestRegressor(1, max_depth=1, n_jobs=1), "number"),
    (DecisionTreeClassifier(min_samples_leaf=3, n_jobs=1), "two"),
    (DecisionTreeClassifier(max_depth=4, n_jobs=1), "both"),
    (DecisionTreeRegressor(n_jobs=1), "number"),
    (DecisionTreeRegressor(max_depth=3, n_jobs=1), "numbers"),
]


@pytest.fixture(params=CASES, ids=str)
def model(request):
    unfitted, kind = request.param
    X, z = table()
    return type(unfitted)(**unfitted.get_params()).fit(X, target(kind, z))


def answers(model, X):
    """What the model says of rows, outputs end to end."""
    if not hasattr(model, "classes_"):
        return model.predict(X).reshape(len(X), -1)
    shares = model.predict_proba(X)
    return np.concatenate(shares, axis=1) if isinstance(shares, list) else shares


def size(trees):
    return sum(column.nbytes for column in arrays_of(trees))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_is_answered_as_in_a_table(model, dtype):
    predict, (X, _) = model.compile_predictor(), table(60, dtype, seed=1)
    expected = answers(model, X)
    out = np.empty(expected.shape[1])
    for row, answer in zip(X, expected, strict=True):
        assert np.array_equal(predict(row), answer)
        assert predict(row, out) is out
        assert np.array_equal(out, answer)
        assert np.array_equal(answers(model, row[None])[0], answer)


def test_rows_of_any_kind_are_read(model):
    predict, row = model.compile_predictor(), table(1, seed=2)[0][0]
    expected = predict(row)
    frozen = row.copy()
    frozen.setflags(write=False)
    for other in (row.tolist(), frozen, np.repeat(row, 2)[::2], row.astype(row.dtype.newbyteorder())):
        assert np.array_equal(predict(other), expected)
    assert np.array_equal(predict([1, 2, 3, 4, 5]), predict(np.arange(1.0, 6.0)))


def test_wrong_lengths_are_named(model):
    predict, row = model.compile_predictor(), np.zeros(5)
    with pytest.raises(ValueError, match="row has 4 values, and the model was fitted on 5 columns"):
        predict(row[:4])
    with pytest.raises(ValueError, match=r"row has the shape \(5, 5\)"):
        predict(np.zeros((5, 5)))
    with pytest.raises(ValueError, match="out has room for 9 numbers"):
        predict(row, np.empty(9))
    k = len(predict(row))
    for out in (np.zeros(k, int), np.zeros((k, 1)), [0.0] * k, np.broadcast_to(0.0, k)):
        with pytest.raises(ValueError, match="out must be a writable float64 array"):
            predict(row, out)


def test_a_predictor_survives_refits_and_pickles(model):
    predict, (X, z) = model.compile_predictor(), table(20, seed=3)
    expected = [predict(row) for row in X]
    again = pickle.loads(pickle.dumps(predict))  # noqa: S301  made here
    model.fit(X[:5], np.zeros(5, int) if hasattr(model, "classes_") else z[:5])
    assert np.array_equal([predict(row) for row in X], expected)
    assert np.array_equal([again(row) for row in X], expected)


def test_threads_may_share_a_predictor():
    X, z = table()
    predict = RandomForestRegressor(50, random_state=0, n_jobs=1).fit(X, z).compile_predictor()
    expected = np.array([predict(row) for row in X])
    found = np.zeros((4, *expected.shape))

    def work(k):
        for i, row in enumerate(X):
            predict(row, found[k, i])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(one, expected) for one in found)


def test_tests_of_many_ways_are_refused():
    trees = check(layout({"feature": 0, "cuts": [1.0, 2.0], "children": [1.0, 2.0, 3.0]}))
    with pytest.raises(ValueError, match="two-way"):
        RowPredictor(trees, 1, [1])


# Without statistics


def test_compact_models_answer_the_same(model):
    X, _ = table(80, seed=4)
    narrow, leaves = X.astype(np.float32), model.apply(X)
    before, importances = [answers(model, X), answers(model, narrow)], model.feature_importances_
    path = model.decision_path(X)
    n_bytes, trees = size(model.trees_), model.trees_
    assert model.compact() is model
    compact = check(model.trees_, 5)
    assert compact.is_compact
    assert not trees.is_compact
    assert size(compact) < 0.6 * n_bytes
    assert np.array_equal(answers(model, X), before[0])
    assert np.array_equal(answers(model, narrow), before[1])
    assert np.array_equal(model.apply(X), leaves)
    assert np.array_equal(model.feature_importances_, importances)
    assert all(np.array_equal(model.compile_predictor()(row), answer) for row, answer in zip(X, before[0], strict=True))
    again = model.decision_path(X)
    if not isinstance(path, tuple):
        assert (again != path).nnz == 0
    other = pickle.loads(pickle.dumps(model.compact()))  # noqa: S301  made here
    assert np.array_equal(answers(other, X), before[0])
    assert np.array_equal(other.feature_importances_, importances)


def test_a_compact_forest_takes_a_third_of_the_memory():
    """Of what scikit-learn's nodes take: 64 bytes and 8 for every class."""
    X, z = table(4000)
    for y, width in ((z > 0, 2), (np.digitize(z, [-1, 0, 1]), 4)):
        model = RandomForestClassifier(20, random_state=0, n_jobs=1).fit(X, y).compact()
        assert size(model.trees_) <= (64 + 8 * width) / 3 * model.trees_.n_nodes
    model = RandomForestClassifier(20, min_samples_leaf=5, random_state=0, n_jobs=1).fit(X, z > 0).compact()
    assert size(model.trees_) <= 24 * model.trees_.n_nodes
    model = RandomForestRegressor(20, random_state=0, n_jobs=1).fit(X, z).compact()
    assert size(model.trees_) <= 24 * model.trees_.n_nodes


def test_the_trees_of_a_compact_forest_are_trees():
    X, z = table()
    model = RandomForestClassifier(5, random_state=0, n_jobs=1).fit(X, z > 0)
    expected = [tree.predict_proba(X) for tree in model.estimators_]
    found = [tree.predict_proba(X) for tree in model.compact().estimators_]
    assert np.array_equal(found, expected)
    with pytest.raises(ValueError, match=r"^feature_importances_ of a tree .* compact\(\) dropped"):
        _ = model.estimators_[0].feature_importances_
    for tree in model.estimators_:
        check(tree.trees_, 5)
        assert np.array_equal(tree.predict_proba(X)[:, 1], naive.votes(tree.trees_, X, tree.tree_._said_by_nodes)[:, 1])


@pytest.mark.parametrize("name", ["impurity", "n_node_samples", "weighted_n_node_samples", "value"])
def test_what_is_dropped_is_named_as_it_was_asked_for(name):
    X, z = table()
    tree = DecisionTreeRegressor(max_depth=3).fit(X, z).compact().tree_
    with pytest.raises(ValueError, match=rf"^tree_\.{name} needs what compact\(\) dropped: .*fit the model again"):
        getattr(tree, name)
    assert tree.children_right[0] == tree.children_left[0] + 1


def test_more_trees_cannot_join_compact_ones():
    X, z = table()
    model = RandomForestRegressor(3, warm_start=True, random_state=0, n_jobs=1).fit(X, z).compact()
    with pytest.raises(ValueError, match=r"warm_start=True: compact\(\) dropped .*set warm_start=False"):
        model.set_params(n_estimators=5).fit(X, z)


def test_out_of_bag_results_stay():
    X, z = table()
    model = RandomForestRegressor(30, oob_score=True, random_state=0, n_jobs=1).fit(X, z)
    score = model.oob_score_
    assert model.compact().oob_score_ == score
