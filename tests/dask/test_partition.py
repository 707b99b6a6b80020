"""Trees whose rows lie in parts have the bits of those that grow where all rows are."""

import functools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, interpreted_only, same_trees

import dtnumba
import dtnumba.dask
from dtnumba.dask.codes import code_part, edges_of, sample_part, shares_of
from dtnumba.dask.columns import Sealed, joined_target, look, read_target_part
from dtnumba.dask.columns import joined as joined_columns
from dtnumba.dask.levels import Prices, added
from dtnumba.dask.partition import (
    advanced,
    are_done,
    begin_trees,
    begun,
    gathered_of,
    grown_below,
    package,
    picked,
    whole_tree,
)
from dtnumba.dask.parts import (
    decisions_of,
    drawing_of,
    part_of,
    plan_without_rows,
    room_for,
    share_of,
    whole_of,
    written,
)
from dtnumba.trees.layout import joined


def grown_in_parts(model, X, y, weight, ends, threads, prices):
    """Return the trees that the tasks of a fit grow, one task after the other."""
    caller = type(model).__name__
    cuts = [np.split(array, sorted(ends)) for array in (X, y)]
    weights = [None] * len(cuts[0]) if weight is None else np.split(weight, sorted(ends))
    sealed = Sealed(model)
    reports = [look(*part, None, sealed) for part in zip(*cuts, strict=True)]
    columns = joined_columns(reports, caller, model.categorical_features)
    known, most = Sealed(columns), model.max_bins
    pieces = [read_target_part(*part, sealed, known) for part in zip(*cuts, weights, strict=True)]
    target = joined_target(known, *pieces)
    kept = [None if own is None else own > 0 for own in weights]
    places = shares_of([n if own is None else int(own.sum()) for n, own in zip(columns.lengths, kept, strict=True)])
    shares = [
        sample_part(part, None, None, caller, most, known, place, own)
        for part, (place,), own in zip(cuts[0], places, kept, strict=True)
    ]
    edges = edges_of(known, most, True, *shares)
    codes = [code_part(part, None, None, caller, known, edges) for part in cuts[0]]
    starts, parts, whole = columns.starts, [], whole_of(sealed, known, edges, target)
    plan, drawing = plan_without_rows(whole), drawing_of(whole)
    for thread in range(threads):
        own = range(thread, len(codes), threads)
        n = sum(columns.lengths[k] for k in own)
        if n:
            room, at = room_for(known, edges, n), 0
            for k in own:
                room, at = written(room, codes[k], at), at + len(codes[k])
            places = [(int(starts[k]), int(starts[k + 1])) for k in own]
            part = part_of(plan, drawing, share_of(whole, places), places, room)
            parts.append(pickle.loads(pickle.dumps(part)))  # noqa: S301  our own
    state = begin_trees(plan, 0, getattr(model, "n_estimators", 1), prices, not hasattr(model, "n_estimators"))
    results = [begun(part, state[1]) for part in parts]
    while True:
        state = picked(state, functools.reduce(added, [told for _, told in results]))
        if are_done(state):
            break
        results = [advanced(part, rows, state[1]) for part, (rows, _) in zip(parts, results, strict=True)]
    trees = []
    for place, left in enumerate(gathered_of(state)):
        groups = [[node for node, _ in left.gathered[k::2]] for k in range(2)]
        both = [(group, False) for group in groups if group]
        both += [([node], True) for node, _ in left.leaves]
        grown = []
        for group, are_leaves in both:
            sent = [
                package(part, rows, place, group, are_leaves) for part, (rows, _) in zip(parts, results, strict=True)
            ]
            grown.append(grown_below(plan, state, place, group, are_leaves, *sent))
        trees.append(whole_tree(sealed, decisions_of(whole), plan, state, place, *grown))
    return joined(trees)


PARAMS = [
    {},
    {"max_features": None, "max_bins": 16},
    {"criterion": "entropy", "min_samples_leaf": 5},
    {"bootstrap": False, "min_samples_split": 30},
    {"max_depth": 4, "max_samples": 0.5, "replace": False},
    {"min_weight_fraction_leaf": 0.05, "min_impurity_decrease": 0.001},
    {"ccp_alpha": 0.004, "max_features": None},
    {"costs": "more", "bootstrap": False, "max_depth": 5},
    {"priors": "even", "max_depth": 5},
]


@interpreted_only
@given(
    st.integers(0, 1 << 32),
    st.sampled_from(PARAMS),
    st.sampled_from([2, 3, 12]),
    st.booleans(),
    st.lists(st.integers(0, 300), min_size=1, max_size=5),
    st.integers(1, 4),
    st.sampled_from([Prices(0, 1, 1), Prices(40, 1, 100), Prices(300, 1, 10), Prices(300, 1, 1 << 40)]),
)
@examples(15)
def test_any_cut_gives_the_trees_of_all_rows(seed, params, n_classes, is_weighted, ends, threads, prices):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 5)).astype(np.float32)
    X[:, 2], X[:, 3] = rng.integers(0, 3, 300), 1.0
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X[:, 0]) > 0) + rng.integers(0, n_classes - 1, 300)
    weight = rng.integers(0, 5, 300) / 2 if is_weighted else None
    if "costs" in params:
        params = params | {"costs": (1.0 + np.arange(n_classes**2).reshape(n_classes, -1)) * (1 - np.eye(n_classes))}
    if "priors" in params:
        params = params | {"priors": np.full(n_classes, 1.0 / n_classes)}
    model = dtnumba.RandomForestClassifier(2, random_state=seed, n_jobs=1, **params)
    trees = grown_in_parts(model, X, y, weight, ends, threads, prices)
    assert same_trees(trees, model.fit(X, y, weight).trees_)
    if not params.get("bootstrap", True) or "ccp_alpha" in params:
        params = {name: value for name, value in params.items() if name not in ("bootstrap", "max_features")}
        model = dtnumba.DecisionTreeClassifier(max_bins=255, random_state=seed, **params)
        trees = grown_in_parts(model, X, y, weight, ends, threads, prices)
        assert same_trees(trees, model.fit(X, y, weight).trees_)


NUMBERS = [
    {},
    {"max_features": None, "max_bins": 16, "max_depth": 3},
    {"criterion": "poisson", "min_samples_leaf": 5},
    {"bootstrap": False, "max_depth": 4},
    {"max_depth": 3, "max_samples": 0.5, "replace": False},
]


@interpreted_only
@given(
    st.integers(0, 1 << 32),
    st.sampled_from(NUMBERS),
    st.sampled_from(["few", "one", "two", "far"]),
    st.booleans(),
    st.lists(st.integers(0, 150), min_size=1, max_size=4),
    st.sampled_from([Prices(0, 1, 1), Prices(40, 1, 100), Prices(150, 1, 1 << 40)]),
)
@examples(10)
def test_any_cut_gives_the_trees_of_numbers_and_of_several_outputs(seed, params, kind, is_weighted, ends, prices):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 4)).astype(np.float32)
    X[:, 2], X[:, 3] = rng.integers(0, 3, 150), 1.0
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.exp(np.nan_to_num(X[:, :2]) + rng.normal(size=(150, 2)) / 4)
    y = {"few": np.floor(y[:, 0]), "one": y[:, 0], "two": y, "far": y[:, 0] ** 20}[kind]
    weight = rng.integers(0, 5, 150) / 2 if is_weighted else None
    model = dtnumba.RandomForestRegressor(2, random_state=seed, n_jobs=1, **params)
    trees = grown_in_parts(model, X, y, weight, ends, 3, prices)
    assert same_trees(trees, model.fit(X, y, weight).trees_)
    if not params.get("bootstrap", True) or params.get("max_features", 0) is None:
        own = {name: value for name, value in params.items() if name not in ("bootstrap", "max_features")}
        model = dtnumba.DecisionTreeRegressor(max_bins=own.pop("max_bins", 255), random_state=seed, **own)
        trees = grown_in_parts(model, X, y, weight, ends, 3, prices)
        assert same_trees(trees, model.fit(X, y, weight).trees_)
    if "criterion" not in params:
        model = dtnumba.RandomForestClassifier(2, random_state=seed, n_jobs=1, **params)
        model.set_params(class_weight="balanced_subsample" if params.get("bootstrap", True) else None)
        y = np.minimum(np.floor(y), 2.0).astype(int)
        trees = grown_in_parts(model, X, y, weight, ends, 2, prices)
        assert same_trees(trees, model.fit(X, y, weight).trees_)


@interpreted_only
@given(
    st.integers(0, 1 << 32),
    st.sampled_from([{}, {"max_features": None, "min_samples_leaf": 3}, {"bootstrap": True, "max_depth": 4}]),
    st.sampled_from([0, 2, 3, 9]),
    st.booleans(),
    st.booleans(),
    st.lists(st.integers(0, 300), min_size=1, max_size=4),
    st.sampled_from([Prices(0, 1, 1), Prices(100, 1, 100), Prices(300, 1, 1 << 40)]),
)
@examples(10)
def test_any_cut_gives_the_trees_of_drawn_thresholds(seed, params, n_classes, is_weighted, has_missing, ends, prices):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 5)).astype(np.float32)
    X[:, 2], X[:, 3] = rng.integers(0, 3, 300), 1.0
    y = X[:, 0] + X[:, 1] * X[:, 2]
    y = np.digitize(y, np.arange(n_classes - 1) / 3) if n_classes else y
    X[rng.random(X.shape) < 0.05 * has_missing] = np.nan
    weight = rng.integers(0, 5, 300) / 2 if is_weighted else None
    kind = dtnumba.ExtraTreesClassifier if n_classes else dtnumba.ExtraTreesRegressor
    model = kind(2, random_state=seed, n_jobs=1, max_bins=64, **params)
    trees = grown_in_parts(model, X, y, weight, ends, 3, prices)
    assert same_trees(trees, model.fit(X, y, weight).trees_)


LEVELS = [
    {},
    {"max_features": None, "min_samples_leaf": 4},
    {"bootstrap": False, "max_depth": 4, "categorical_split": "one_vs_rest"},
    {"criterion": "entropy", "max_samples": 0.5, "replace": False},
]


@interpreted_only
@given(
    st.integers(0, 1 << 32),
    st.sampled_from(LEVELS),
    st.sampled_from([0, 2, 3]),
    st.booleans(),
    st.lists(st.integers(0, 200), min_size=1, max_size=4),
    st.sampled_from([Prices(0, 1, 1), Prices(100, 1, 100), Prices(200, 1, 1 << 40)]),
)
@examples(10)
def test_any_cut_gives_the_trees_of_categories(seed, params, n_classes, is_weighted, ends, prices):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 5))
    X[:, 1], X[:, 2], X[:, 4] = rng.integers(0, 70, 200), rng.integers(0, 6, 200), rng.integers(0, 20, 200)
    y = np.sin(X[:, 1]) + (X[:, 2] % 2) + X[:, 0] * (X[:, 4] % 3)
    y = np.digitize(y, [0.5, 1.0][: n_classes - 1]) if n_classes else y
    X[rng.random(X.shape) < 0.05] = np.nan
    weight = rng.integers(0, 5, 200) / 2 if is_weighted else None
    kind = dtnumba.RandomForestClassifier if n_classes else dtnumba.RandomForestRegressor
    params = params if n_classes else {k: v for k, v in params.items() if k != "criterion"}
    model = kind(2, random_state=seed, n_jobs=1, categorical_features=[1, 2, 4], **params)
    trees = grown_in_parts(model, X, y, weight, ends, 3, prices)
    local = model.fit(X, y, weight).trees_
    assert same_trees(trees, local)
    assert np.array_equal(trees.level, local.level)
    assert np.array_equal(trees.level_start, local.level_start)


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.parametrize("kind", ["two classes", "three classes", "numbers", "categories", "thresholds"])
def test_a_forest_grows_in_parts_on_a_cluster(client, monkeypatch, kind):
    arrays = pytest.importorskip("dask.array")
    monkeypatch.setattr("dtnumba.dask.in_parts.GATHERED_BYTES", 1 << 14)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    X[:, 5] = rng.integers(0, 40, 3000)
    y = X[:, 0] + 0.5 * np.sin(X[:, 5]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=3000)
    params = {"n_estimators": 12, "random_state": 0, "oob_score": True}
    name = "ExtraTreesClassifier" if kind == "thresholds" else "RandomForestClassifier"
    name = "RandomForestRegressor" if kind == "numbers" else name
    if kind == "numbers":
        params |= {"n_estimators": 4, "max_depth": 5}
    else:
        y = np.digitize(y, [0.0, 1.0] if kind == "three classes" else [0.0])
    if kind == "categories":
        params |= {"categorical_features": [5]}
    if kind == "thresholds":
        params |= {"n_estimators": 3, "oob_score": False, "max_bins": 64}
    model = getattr(dtnumba.dask, name)(**params, strategy="partition")
    cuts = (1000, 300, 0, 900, 800)
    model.fit(arrays.from_array(X, chunks=(cuts, 6)), arrays.from_array(y, chunks=(cuts,)), client=client)
    local = getattr(dtnumba, name)(**params).fit(X, y)
    assert model.strategy_ == "partition"
    assert model.sent_bytes_ > X.size // 2
    assert same_trees(model.trees_, local.trees_)
    if params["oob_score"]:
        answers = "oob_prediction_" if kind == "numbers" else "oob_decision_function_"
        assert np.array_equal(getattr(model, answers), getattr(local, answers), equal_nan=True)


def test_one_tree_grows_in_parts_on_a_cluster(client):
    arrays = pytest.importorskip("dask.array")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    y = np.array(["no", "yes"])[(X[:, 0] * X[:, 1] + rng.normal(size=2000) > 0) + 0]
    params = {"max_bins": 64, "ccp_alpha": 0.001}
    model = dtnumba.dask.DecisionTreeClassifier(**params, strategy="partition")
    model.fit(arrays.from_array(X, chunks=(700, 4)), arrays.from_array(y, chunks=700), client=client)
    local = dtnumba.DecisionTreeClassifier(**params).fit(X, y)
    assert model.strategy_ == "partition"
    assert same_trees(model.trees_, local.trees_)
    assert (model.predict(X) == local.predict(X)).all()
    with pytest.raises(ValueError, match="does not offer one tree with max_features=2"):
        model.set_params(max_features=2).fit(arrays.from_array(X, chunks=(700, 4)), y, client=client)


def test_one_tree_of_numbers_grows_in_parts_on_a_cluster(client):
    arrays = pytest.importorskip("dask.array")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    y = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=2000)
    params = {"max_bins": 64, "max_depth": 4}
    model = dtnumba.dask.DecisionTreeRegressor(**params, strategy="partition")
    model.fit(arrays.from_array(X, chunks=(700, 4)), arrays.from_array(y, chunks=700), client=client)
    local = dtnumba.DecisionTreeRegressor(**params).fit(X, y)
    assert model.strategy_ == "partition"
    assert same_trees(model.trees_, local.trees_)


def test_what_rows_in_parts_do_not_offer_is_named(client):
    arrays = pytest.importorskip("dask.array")
    X, y = arrays.ones((20, 2), chunks=(10, 2)), arrays.arange(20, chunks=10)
    with pytest.raises(ValueError, match="strategy='partition' does not offer max_leaf_nodes"):
        dtnumba.dask.ExtraTreesRegressor(max_leaf_nodes=4, strategy="partition").fit(X, y, client=client)
