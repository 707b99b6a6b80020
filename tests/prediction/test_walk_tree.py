"""From rows to leaves: any memory layout, any number of rows and threads, the paths on the way."""

import itertools

import numpy as np
import pytest
from naive import binary as naive
from strategies import layout

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor
from dtnumba.prediction.walk_tree import SERIAL_STEPS, decision_paths, leaves_of, pack
from dtnumba.tables.table import read_table
from dtnumba.trees.check import check


def table(n_rows, seed=0, dtype=np.float64):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 4)).astype(dtype)
    y = X[:, 0] * X[:, 1] + generator.normal(size=n_rows)
    X[generator.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.fixture(scope="module")
def model():
    X, y = table(400)
    return DecisionTreeRegressor(n_jobs=1).fit(X, y)


def naive_leaves(trees, X):
    """Walk every row by hand."""
    leaves = []
    for row in X.astype(np.float64):
        node = 0
        while trees.feature[node] >= 0:
            x = row[trees.feature[node]]
            goes_left = trees.missing_left[node] == 1 if np.isnan(x) else x <= trees.threshold[node]
            node = (trees.left if goes_left else trees.right)[node]
        leaves.append(int(node))
    return leaves


@pytest.mark.small
@pytest.mark.parametrize("n_rows", [1, 2, 7, 8, 9, 23])
def test_every_number_of_rows_is_walked(model, n_rows):
    X, _ = table(n_rows, seed=1)
    assert model.apply(X).tolist() == naive_leaves(model.trees_, X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float32_is_compared_in_float64(dtype):
    # The threshold lies between two neighbours in float32, and is no float32 itself.
    x = np.array([[1.0], [np.nextafter(np.float32(1), np.float32(2))]], dtype=np.float32)
    model = DecisionTreeRegressor().fit(x, [0.0, 1.0])
    assert 1.0 <= model.trees_.threshold[0] < x[1, 0]
    assert model.predict(x.astype(dtype)).tolist() == [0.0, 1.0]


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "every second row and column": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "broadcast rows": lambda X: np.broadcast_to(X[:1], X.shape),
    "float32": lambda X: X.astype(np.float32),
}


@pytest.mark.parametrize("change", LAYOUTS.values(), ids=LAYOUTS)
def test_memory_layout_does_not_matter(model, change):
    X = change(table(50, seed=2)[0])
    assert model.apply(X).tolist() == naive_leaves(model.trees_, X)


def test_read_only_arrays_are_walked(model):
    X, _ = table(50, seed=2)
    X.setflags(write=False)
    assert model.apply(X).tolist() == naive_leaves(model.trees_, X)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_and_blocks_do_not_matter(model, n_jobs):
    X, _ = table(5000, seed=3)
    assert len(X) * model.get_depth() < SERIAL_STEPS or n_jobs < 4
    large = np.tile(X, (1 + SERIAL_STEPS // (len(X) * model.get_depth()), 1))
    found = model.set_params(n_jobs=n_jobs).apply(large)
    assert np.array_equal(found, np.tile(naive_leaves(model.trees_, X), len(large) // len(X)))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_trees_of_any_tests_are_walked_by_many_threads(n_jobs):
    spec = {"feature": 0, "cuts": [1.0, 2.0], "missing": 1, "children": [1.0, 2.0, 3.0]}
    trees, x = check(layout(spec)), np.arange(6000.0)[:, None] % 4
    leaves = leaves_of(read_table(x, "a test"), trees, None, n_jobs)
    assert np.array_equal(trees.value[leaves, 0], np.tile([1.0, 1.0, 2.0, 3.0], 1500))


@pytest.mark.parametrize("form", ["csr_matrix", "csc_matrix", "csr_array"])
def test_sparse_rows_end_where_dense_ones_do(model, form):
    sparse = pytest.importorskip("scipy.sparse")
    X = np.random.default_rng(4).normal(size=(60, 4)).round()
    assert np.array_equal(model.apply(getattr(sparse, form)(X)), model.apply(X))


def test_a_single_leaf_needs_no_walk():
    model = DecisionTreeRegressor().fit([[1.0], [2.0]], [3.0, 3.0])
    assert model.predict([[np.nan], [7.0]]).tolist() == [3.0, 3.0]
    assert model.apply([[np.nan], [7.0]]).tolist() == [0, 0]


def test_an_empty_batch_has_no_leaves(model):
    try:
        leaves = model.apply(np.empty((0, 4)))
    except ValueError as error:
        assert "0 sample" in str(error)  # noqa: PT017
    else:
        assert len(leaves) == 0


@pytest.mark.small
def test_values_are_those_of_the_naive_walk():
    X, y = table(40)
    new, _ = table(30, seed=5)
    ones = np.ones(len(y))
    expected = naive.grow("squared_error", X, y[:, None], ones)
    found = DecisionTreeRegressor().fit(X, y).predict(new)
    assert found == pytest.approx([naive.predict(expected, row)[0] for row in new])


@pytest.mark.small
def test_shares_of_classes_are_those_of_the_naive_walk():
    X, y = table(40)
    labels = np.digitize(y, [-1, 1])
    expected = naive.grow("gini", X, labels[:, None], np.ones(40), (3,), naive.Limits(max_depth=2))
    model = DecisionTreeClassifier(max_depth=2).fit(X, labels)
    shares = np.array([naive.predict(expected, row) for row in X])
    assert model.predict_proba(X) == pytest.approx(shares)
    assert np.array_equal(model.predict(X), shares.argmax(axis=1))


def test_the_first_of_the_commonest_classes_is_the_label():
    model = DecisionTreeClassifier().fit([[1.0]] * 4, ["c", "b", "b", "c"])
    assert model.predict([[1.0]]).tolist() == ["b"]


@pytest.mark.small
def test_a_path_leads_from_the_root_to_the_leaf(model):
    X, _ = table(30, seed=6)
    trees, leaves = model.trees_, model.apply(X)
    indptr, indices = decision_paths(trees, leaves)
    for row, leaf in enumerate(leaves):
        path = indices[indptr[row] : indptr[row + 1]]
        assert (path[0], path[-1]) == (0, leaf)
        assert all(trees.left[node] <= child <= trees.right[node] for node, child in itertools.pairwise(path))


def test_paths_pass_nodes_of_many_children():
    inner = {"feature": 0, "cuts": [2.0, 3.0], "children": [1.0, 2.0, 3.0]}
    trees = check(layout({"feature": 0, "threshold": 1.0, "children": [0.0, inner]}))
    leaves = leaves_of(read_table(np.array([[0.0], [2.0], [3.0], [4.0]]), "a test"), trees, None, 1)
    indptr, indices = decision_paths(trees, leaves)
    assert indptr.tolist() == [0, 2, 5, 8, 11]
    assert indices.tolist() == [0, 1, 0, 2, 3, 0, 2, 4, 0, 2, 5]


def test_a_packed_tree_takes_sixteen_bytes_a_node(model):
    packed = pack(model.trees_, model.get_depth())
    assert packed.words.nbytes == 16 * model.trees_.n_nodes
