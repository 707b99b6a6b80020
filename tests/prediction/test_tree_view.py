import copy
import pickle

import numpy as np
import pytest

from dtnumba import C45Classifier, DecisionTreeClassifier, DecisionTreeRegressor, ID3Classifier

#      x <= 1.5
#      /      \
#     a      x <= 3.5
#            /      \
#           b        c
X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
LABELS = ["a", "a", "b", "b", "c", "c"]


@pytest.fixture
def tree():
    return DecisionTreeClassifier().fit(X, LABELS).tree_


def test_columns_have_scikit_learns_names_and_marks(tree):
    assert tree.children_left.tolist() == [1, -1, 3, -1, -1]
    assert tree.children_right.tolist() == [2, -1, 4, -1, -1]
    assert tree.feature.tolist() == [0, -2, 0, -2, -2]
    assert tree.threshold.tolist() == [1.5, -2.0, 3.5, -2.0, -2.0]
    assert tree.n_node_samples.tolist() == [6, 2, 4, 2, 2]
    assert tree.weighted_n_node_samples.tolist() == [6.0, 2.0, 4.0, 2.0, 2.0]
    assert tree.impurity == pytest.approx([2 / 3, 0, 0.5, 0, 0])
    assert tree.missing_go_to_left.tolist() == [0, 0, 0, 0, 0]
    assert tree.value[:, 0].tolist() == [[1 / 3] * 3, [1, 0, 0], [0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]]


def test_sizes(tree):
    assert (tree.node_count, tree.capacity, tree.n_leaves, tree.max_depth) == (5, 5, 3, 2)
    assert (tree.n_features, tree.n_outputs, tree.max_n_classes, tree.n_classes.tolist()) == (1, 1, 3, [3])
    assert tree.compute_node_depths().tolist() == [1, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("model", "fan"),
    [
        (DecisionTreeClassifier(categorical_features=[0], categorical_split="multiway"), 3),
        (DecisionTreeClassifier(categorical_features=[0]), 2),
        (DecisionTreeClassifier(numeric_split="interval"), 2),
        (C45Classifier(categorical_features=[0]), 3),
        (ID3Classifier(categorical_features=[0]), 3),
    ],
    ids=str,
)
def test_other_tests_than_thresholds_have_an_accessor_of_their_children(model, fan):
    rows = [[k % 3] for k in range(12)]
    tree = model.fit(rows, [k % 3 % 2 for k in range(12)]).tree_
    assert tree.children(0).tolist() == list(range(1, 1 + fan))
    assert tree.children(tree.node_count - 1).tolist() == []
    seen = [child for node in range(tree.node_count) for child in tree.children(node).tolist()]
    assert sorted(seen) == list(range(1, tree.node_count))
    for name in ("children_left", "children_right", "threshold"):
        with pytest.raises(ValueError, match=rf"tree_\.{name}: .*tree_\.children\(node\)"):
            getattr(tree, name)
        assert not hasattr(tree, name)
    with pytest.raises(IndexError, match="no node -1"):
        tree.children(-1)
    export = pytest.importorskip("sklearn.tree").export_graphviz
    with pytest.raises((ValueError, TypeError)):
        export(model)


def test_importances_of_a_leaf_are_floats():
    importances = DecisionTreeClassifier().fit(X, [0] * 6).feature_importances_
    assert (importances.tolist(), importances.dtype) == ([0.0], np.float64)


def test_children_of_thresholds_are_the_columns(tree):
    assert [tree.children(node).tolist() for node in range(5)] == [[1, 2], [], [3, 4], [], []]


def test_columns_are_made_once_and_cannot_be_written(tree):
    for name in ("children_left", "feature", "threshold", "value", "impurity", "n_node_samples", "missing_go_to_left"):
        column = getattr(tree, name)
        assert column is getattr(tree, name)
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0
    assert tree.trees.value.flags.writeable


def test_rows_find_their_leaves_values_and_paths(tree):
    pytest.importorskip("scipy")
    rows = [[0.0], [3.0], [9.0]]
    assert tree.apply(rows).tolist() == [1, 3, 4]
    assert tree.predict(rows).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert tree.decision_path(rows).toarray().tolist() == [[1, 1, 0, 0, 0], [1, 0, 1, 1, 0], [1, 0, 1, 0, 1]]


def test_rows_must_have_the_columns_of_the_tree(tree):
    with pytest.raises(ValueError, match="X has 2 features, but Tree is expecting 1 features"):
        tree.apply([[0.0, 1.0]])


def test_several_outputs_stand_side_by_side_with_zeros_behind_the_last_class():
    y = np.stack([[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1]], axis=1)
    tree = DecisionTreeClassifier().fit(X, y).tree_
    assert tree.value.shape == (5, 2, 3)
    assert tree.value[0].tolist() == [[1 / 3] * 3, [pytest.approx(1 / 3), pytest.approx(2 / 3), 0]]
    assert tree.predict(X).shape == (6, 2, 3)


def test_values_of_a_number_are_means_and_shapes_are_scikit_learns():
    one = DecisionTreeRegressor(max_depth=1).fit(X, [0, 0, 0, 6, 6, 6]).tree_
    assert one.value.tolist() == [[[3.0]], [[0.0]], [[6.0]]]
    assert one.predict([[9.0]]).tolist() == [[6.0]]
    two = DecisionTreeRegressor(max_depth=1).fit(X, [[0, 1]] * 3 + [[6, 2]] * 3).tree_
    assert two.value[2].tolist() == [[6.0], [2.0]]


def test_importances_are_decreases_of_impurity_per_row(tree):
    assert tree.compute_feature_importances().tolist() == [1.0]
    assert tree.compute_feature_importances(normalize=False) == pytest.approx([2 / 3])
    leaf = DecisionTreeClassifier().fit(X, ["a"] * 6).tree_
    assert leaf.compute_feature_importances().tolist() == [0.0]


def test_a_tree_is_pickled_without_what_is_made_on_demand(tree):
    fresh = len(pickle.dumps(tree))
    expected = tree.apply(X)
    assert len(pickle.dumps(tree)) == fresh
    for twin in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):  # noqa: S301  our own bytes
        assert twin.trees is not tree.trees
        assert np.array_equal(twin.apply(X), expected)


@pytest.mark.small
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F", "reversed"])
def test_a_row_alone_is_answered_as_among_others(dtype, order):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 9, (80, 4)).astype(dtype)
    rows[rng.random(rows.shape) < 0.2] = np.nan
    model = DecisionTreeClassifier(n_jobs=1).fit(rows, rng.integers(0, 3, 80))
    asked = rows[:, ::-1].copy()[:, ::-1] if order == "reversed" else np.array(rows, order=order)
    alone = [model.predict(asked[i : i + 1])[0] for i in range(80)]
    assert model.predict(asked).tolist() == alone == [model.predict(asked[i : i + 1])[0] for i in range(80)]


@pytest.mark.small
def test_a_row_alone_starts_no_task_unless_its_leaf_is_deep(monkeypatch):
    chain = np.arange(64.0)[:, None]
    model = DecisionTreeClassifier(n_jobs=1).fit(chain, np.arange(64) % 2, sample_weight=4.0 ** np.arange(64)[::-1])
    assert model.get_depth() > 45
    labels = model.predict(chain)
    deepest = int(np.argmax(np.diff(model.decision_path(chain).indptr)))
    assert model.predict(chain[deepest : deepest + 1])[0] == labels[deepest]
    monkeypatch.setattr("dtnumba.prediction.tree_view.answers_of", None)
    assert model.predict(chain[:1])[0] == labels[0]
    with pytest.raises(TypeError):
        model.predict(chain[deepest : deepest + 1])
