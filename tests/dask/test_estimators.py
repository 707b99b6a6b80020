"""A fit on a cluster gives the bits of the local fit of the rows end to end."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from strategies import same_trees

import dtnumba
import dtnumba.dask

pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
arrays = pytest.importorskip("dask.array")
delayed = dask.delayed

N = 600
CUTS = (90, 200, 0, 10, 300)


def rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 5)).astype(np.float32)
    X[:, 2] = rng.integers(0, 4, N)
    X[rng.random(X.shape) < 0.05] = np.nan
    signal = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 2])
    return X, signal + rng.normal(size=N), rng.integers(0, 3, N).astype(float)


def in_parts(array):
    """Return delayed partitions of uneven sizes, one of them empty."""
    bounds = np.cumsum((0, *CUTS))
    return [delayed(array[a:b]) for a, b in pairwise(bounds)]


def assert_same(model, local):
    """Compare trees, and what was learned beside them."""
    assert same_trees(model.trees_, local.trees_)
    for name in ("oob_decision_function_", "oob_prediction_", "oob_score_", "feature_importances_", "classes_"):
        assert hasattr(model, name) == hasattr(local, name)
        if hasattr(local, name):
            assert np.array_equal(getattr(model, name), getattr(local, name), equal_nan=name != "classes_"), name


JOBS = [
    ("RandomForestClassifier", {"n_estimators": 5, "oob_score": True}, False),
    ("RandomForestClassifier", {"n_estimators": 3, "class_weight": "balanced_subsample"}, True),
    ("RandomForestClassifier", {"n_estimators": 3, "importance": "permutation"}, True),
    ("RandomForestRegressor", {"n_estimators": 5, "oob_score": True, "importance": "impurity_corrected"}, True),
    ("ExtraTreesClassifier", {"n_estimators": 3, "max_bins": 16}, True),
    ("ExtraTreesRegressor", {"n_estimators": 3}, False),
    ("DecisionTreeClassifier", {"prune": "reduced_error", "missing": "majority"}, False),
    ("DecisionTreeRegressor", {"max_depth": 4}, True),
]


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.parametrize(("name", "params", "weighted"), JOBS)
def test_a_fit_on_a_cluster_has_the_bits_of_the_local_one(client, name, params, weighted):
    X, y, weight = rows()
    y = np.array(["low", "high", "top"])[np.digitize(y, [0.0, 2.0])] if name.endswith("Classifier") else y
    weight = weight if weighted else None
    model = getattr(dtnumba.dask, name)(**params, random_state=7)
    parts = [None if array is None else in_parts(array) for array in (X, y, weight)]
    assert model.fit(*parts, client=client) is model
    bins = {"max_bins": 255} if name.startswith("Decision") else {}
    local = getattr(dtnumba, name)(**bins | params, random_state=7).fit(X, y, weight)
    assert_same(model, local)
    assert model.strategy_ == "replicate"
    assert model.worker_bytes_ > X.size


def test_frames_with_categories_are_fitted_as_the_whole_frame(client):
    dataframe = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    X, y, _ = rows()
    frame = pandas.DataFrame(X, columns=list("abcde"))
    frame["colour"] = pandas.Categorical(np.array(["red", "blue", "green"])[np.digitize(y, [0.0, 1.0])])
    frame["y"] = y > 0
    lazy = dataframe.from_pandas(frame, npartitions=3)
    model = dtnumba.dask.RandomForestClassifier(3, random_state=0)
    model.fit(lazy[[*"abcde", "colour"]], lazy["y"], client=client)
    local = dtnumba.RandomForestClassifier(3, random_state=0).fit(frame.drop(columns="y"), frame["y"])
    assert_same(model, local)
    assert model.categories_[5].tolist() == local.categories_[5].tolist()
    assert model.feature_names_in_.tolist() == local.feature_names_in_.tolist()


def test_arrays_may_be_cut_otherwise_than_the_target(client):
    X, y, _ = rows()
    model = dtnumba.dask.RandomForestRegressor(2, random_state=0)
    model.fit(arrays.from_array(X, chunks=(100, 2)), arrays.from_array(y, chunks=170), client=client)
    local = dtnumba.RandomForestRegressor(2, random_state=0).fit(X, y)
    assert_same(model, local)
    assert_same(model.fit(arrays.from_array(X, chunks=(250, 5)), y, client=client), local)


def test_rows_held_out_end_branches_as_locally(client):
    X, y, _ = rows()
    held_out = {"X_val": X[:200], "y_val": y[:200]}
    model = dtnumba.dask.RandomForestRegressor(2, random_state=0).fit(
        in_parts(X), in_parts(y), client=client, **held_out
    )
    assert_same(model, dtnumba.RandomForestRegressor(2, random_state=0).fit(X, y, **held_out))


def test_a_warm_start_grows_the_trees_that_are_missing(client):
    X, y, _ = rows()
    parts = in_parts(X), in_parts(y > 0)
    model = dtnumba.dask.RandomForestClassifier(2, random_state=0, warm_start=True).fit(*parts, client=client)
    model.set_params(n_estimators=4).fit(*parts, client=client)
    assert_same(model, dtnumba.RandomForestClassifier(4, random_state=0).fit(X, y > 0))


def test_to_local_is_the_ordinary_estimator(client, tmp_path):
    X, y, _ = rows()
    model = dtnumba.dask.RandomForestRegressor(3, random_state=0, max_depth=3)
    model.fit(in_parts(X), in_parts(y), client=client)
    local = model.to_local()
    assert type(local) is dtnumba.RandomForestRegressor
    assert local.get_params() == {k: v for k, v in model.get_params().items() if k != "strategy"}
    assert np.array_equal(local.predict(X), model.predict(X))
    assert not hasattr(local, "strategy_")
    model.save(tmp_path / "model")
    assert np.array_equal(dtnumba.load(tmp_path / "model").predict(X), model.predict(X))
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))  # noqa: S301  our own


def test_what_is_not_on_a_cluster_is_refused(client):
    X, y, _ = rows()
    with pytest.raises(TypeError, match=r"dtnumba\.RandomForestRegressor, or cut by dask\.array\.from_array"):
        dtnumba.dask.RandomForestRegressor().fit(X, y, client=client)
