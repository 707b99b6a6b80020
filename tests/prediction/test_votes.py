"""A forest's answer is the mean of its trees walked one by one, on every path and to the bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import binary as naive
from strategies import EXTREMES, INF, descriptions, examples, layout

from dtnumba import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from dtnumba.prediction import forest_view, votes
from dtnumba.prediction import packed_forest as packing
from dtnumba.prediction.forest_view import ForestView
from dtnumba.prediction.shallow import pack_shallow
from dtnumba.tables.costs import commonest
from dtnumba.tables.table import read_table
from dtnumba.trees.check import check
from dtnumba.trees.layout import arrays_of

PATHS = {  # of forest_view: fewer row-levels go to the small path, at least so many walks to the shallow one
    "few rows": {"FEW_STEPS": 1 << 60},
    "blocks": {"FEW_STEPS": 0, "SERIAL_STEPS": 0, "FEWEST_WALKS": 1 << 60},
    "shallow": {"FEW_STEPS": 0, "SERIAL_STEPS": 0, "FEWEST_WALKS": 0},
}
VALUES = [-INF, -3e38, -1.0, -1e-45, -0.0, 0.0, 1e-45, 0.5, 2.0, 3e38, INF, np.nan]


def take(path, patch):
    for name, value in PATHS[path].items():
        patch.setattr(forest_view, name, value)


def means(view, X, voting="soft", n_jobs=1):
    return view.means(read_table(X, "a test"), voting, n_jobs)


@pytest.fixture(params=PATHS)
def path(request, monkeypatch):
    take(request.param, monkeypatch)
    return request.param


def table(n_rows, dtype=np.float64, seed=0, missing=0.1):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 5))
    X[:, 3] = X[:, 3].round(1)
    z = X[:, 0] * X[:, 1] + X[:, 3] + 0.3 * generator.normal(size=n_rows)
    X[generator.random(X.shape) < missing] = np.nan
    X[generator.random(X.shape) < 0.02] = INF
    return X.astype(dtype), z


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@examples(40)
@given(
    st.sampled_from([("threshold",), ("threshold", "terms")]).flatmap(
        lambda kinds: st.lists(descriptions(kinds=kinds, depth=4), min_size=1, max_size=14)
    ),
    st.integers(0, 1 << 30),
)
def test_any_trees_are_walked_as_by_hand(dtype, specs, seed):
    """Thresholds equal to values and infinite ones, missing values either way, trees of one leaf."""
    trees, generator = check(layout(*specs)), np.random.default_rng(seed)
    X = generator.choice(VALUES, size=(generator.integers(1, 30), 3)).astype(dtype)
    view = ForestView(trees, 3, [1])
    says = np.where(trees.feature[:, None] < 0, trees.value, 0.0)
    expected = naive.votes(trees, X, says)
    found = means(view, X)
    assert np.array_equal(found, expected)
    leaves = view.leaves(read_table(X, "a test"), 1) + trees.root[:-1]
    assert np.array_equal(says[leaves, 0].mean(axis=1), expected[:, 0])


CASES = [
    (RandomForestClassifier, {"n_estimators": 30, "max_depth": 6}, 2),
    (RandomForestClassifier, {"n_estimators": 13, "max_depth": 5}, 3),
    (RandomForestClassifier, {"n_estimators": 12, "max_depth": 6, "voting": "hard"}, 3),
    (ExtraTreesClassifier, {"n_estimators": 5, "max_depth": 6, "voting": "hard"}, 2),
    (RandomForestClassifier, {"n_estimators": 4, "max_depth": 6}, (2, 3)),
    (RandomForestRegressor, {"n_estimators": 25, "max_depth": 6}, None),
    (RandomForestRegressor, {"n_estimators": 3, "max_depth": 6}, "two"),
]


def fitted(family, params, kind):
    X, z = table(600)
    y = {
        None: z,
        "two": np.stack([z, z**2], axis=1),
        2: (z > 0).astype(int),
        3: np.digitize(z, [-1, 1]),
        (2, 3): np.stack([z > 0, np.digitize(z, [-1, 1])], axis=1).astype(int),
    }[kind]
    return family(random_state=0, n_jobs=1, **params).fit(X, y)


@pytest.mark.parametrize(("family", "params", "kind"), CASES, ids=str)
def test_every_path_gives_the_mean_of_the_trees(family, params, kind, path):
    model = fitted(family, params, kind)
    view, trees = model.forest_, model.trees_
    says = commonest(trees.value, view.n_classes, "hard") if model.voting == "hard" else trees.value
    if path == "shallow":
        assert pack_shallow(trees, 5, np.float64, view.n_classes, model.voting) is not None
    for dtype in (np.float32, np.float64):
        for missing in (0.0, 0.2):
            X, _ = table(150, dtype, seed=1, missing=missing)
            expected = naive.votes(trees, X, says)
            found = means(view, X, model.voting)
            if kind == 2:
                assert np.array_equal(found[:, 1], expected[:, 1])
                assert np.allclose(found[:, 0], expected[:, 0], rtol=0, atol=2.0**-50)
                assert np.array_equal(found[:, 0], 1.0 - found[:, 1])
            else:
                assert np.array_equal(found, expected)


@pytest.mark.parametrize(("family", "params", "kind"), CASES[:1] + CASES[5:6], ids=str)
def test_no_bit_depends_on_the_path_threads_or_batches(family, params, kind, monkeypatch):
    model = fitted(family, params, kind)
    X, _ = table(1300, np.float32, seed=2)
    monkeypatch.setattr(votes, "SERIAL_STEPS", 0)
    bits = set()
    for path in PATHS:
        with monkeypatch.context() as patch:
            take(path, patch)
            for n_jobs in (1, 2, 3):
                bits.add(means(model.forest_, X, n_jobs=n_jobs).tobytes())
            for n_parts in (2, 7, 1300):
                if n_parts < 1300 or path == "few rows":
                    parts = np.array_split(X, n_parts)
                    bits.add(np.concatenate([means(model.forest_, part) for part in parts]).tobytes())
    assert len(bits) == 1


@pytest.mark.parametrize("change", [np.asfortranarray, lambda X: X[::-1, ::-1], lambda X: X[::3]])
def test_memory_layout_changes_no_bit(change, path):
    model = fitted(*CASES[1])
    X = change(table(90, seed=3)[0])
    assert np.array_equal(means(model.forest_, X), means(model.forest_, X.copy(order="C")))


def test_packing_leaves_the_trees_as_they_were():
    model = fitted(*CASES[5])
    before = [column.tobytes() for column in arrays_of(model.trees_)]
    for dtype in (np.float32, np.float64):
        model.predict(table(20, dtype)[0])
        model.apply(table(20, dtype)[0])
    assert [column.tobytes() for column in arrays_of(model.trees_)] == before


def test_deep_trees_are_walked_and_not_compared():
    X, z = table(600)
    model = RandomForestRegressor(5, random_state=0, n_jobs=1).fit(X, z)
    assert pack_shallow(model.trees_, 5, np.float64, model.forest_.n_classes, "soft") is None


def test_the_heavier_child_comes_next_in_large_forests(monkeypatch):
    X, z = table(600)
    model = RandomForestRegressor(5, random_state=0, n_jobs=1).fit(X, z)
    trees, plain, leaves = model.trees_, means(model.forest_, X), model.apply(X)
    monkeypatch.setattr(packing, "_CACHED_NODES", 0)
    view = ForestView(trees, 5, model.forest_.n_classes)
    assert np.array_equal(means(view, X), plain)
    assert np.array_equal(view.leaves(read_table(X, "a test"), 1), leaves)
    place, sizes = packing.places_of(trees, np.full(trees.n_nodes, -1, np.int32), 0)
    assert np.array_equal(sizes, np.diff(trees.root) + 1)
    for t in range(5):
        start, stop = trees.root[t], trees.root[t + 1]
        assert sorted(place[start:stop]) == list(range(1, stop - start + 1))
        heavy, inner = place[start], trees.feature[start:stop] >= 0
        leaves = np.ones(stop - start, int)
        for node in np.flatnonzero(inner)[::-1]:
            left = trees.left[start + node] - start
            leaves[node] = leaves[left] + leaves[left + 1]
        at = 0  # down the heavier side, the pairs of children follow each other
        while inner[at]:
            left = trees.left[start + at] - start
            assert place[start + left + 1] == heavy + 1
            assert place[start + left] == heavy + 2
            heavy, at = heavy + 2, left if leaves[left] >= leaves[left + 1] else left + 1


@pytest.mark.parametrize(("n_classes", "voting"), [(2, "soft"), (3, "soft"), (3, "hard")])
def test_siblings_of_one_class_each_share_a_place_in_large_forests(n_classes, voting, monkeypatch):
    X, z = table(600)
    y = np.digitize(z, np.linspace(-1, 1, n_classes + 1)[1:-1])
    model = RandomForestClassifier(6, random_state=0, voting=voting, n_jobs=1).fit(X, y)
    plain, leaves, n_bytes = model.predict_proba(X), model.apply(X), model.forest_.packed(X.dtype, voting).n_bytes
    monkeypatch.setattr(packing, "_CACHED_NODES", 0)
    view = ForestView(model.trees_, 5, model.forest_.n_classes)
    assert np.array_equal(means(view, X, voting), plain)
    assert view.packed(X.dtype, voting).n_bytes < 0.8 * n_bytes
    assert np.array_equal(view.leaves(read_table(X, "a test"), 1), leaves)


def test_wide_tables_take_larger_nodes():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 1025)).astype(np.float32)
    model = RandomForestRegressor(3, random_state=0, n_jobs=1).fit(X, X[:, 1024] + X[:, 0])
    assert isinstance(model.forest_.packed(np.dtype(np.float32)).nodes, packing.Wide)
    assert np.array_equal(model.predict(X)[:, None], naive.votes(model.trees_, X, model.trees_.value))


def test_the_packed_form_takes_at_most_12_bytes_a_node_more():
    X, z = table(3000, np.float32)
    for model in (RandomForestRegressor(20, random_state=0), RandomForestClassifier(20, random_state=0)):
        model.fit(X, z if isinstance(model, RandomForestRegressor) else z > 0)
        model.predict(X)
        assert model.forest_.packed(np.dtype(np.float32)).n_bytes <= 12.2 * model.trees_.n_nodes


@pytest.mark.parametrize("dtype", EXTREMES)
def test_extreme_values_are_ordered(dtype, path):
    X = np.repeat(np.array(EXTREMES[dtype], dtype), 6)[:, None]
    y = np.arange(len(X)) // 6
    model = RandomForestRegressor(5, bootstrap=False, max_bins=None, max_depth=6, n_jobs=1).fit(X, y)
    assert np.array_equal(model.predict(X)[:, None], naive.votes(model.trees_, X, model.trees_.value))
