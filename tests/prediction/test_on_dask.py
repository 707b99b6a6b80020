"""Lazy answers are the local ones, block by block; what is known to be wrong is said when the graph is made."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from exported import KINDS, table
from strategies import interpreted_only

import dtnumba
from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, MARSClassifier, RandomForestRegressor
from dtnumba.prediction.on_dask import ANSWERS, SentModel

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

FRAMED = (
    *("tree", "tree, costs", "tree, two outputs", "regression, two outputs", "c50, trials", "forest, two classes"),
    *("forest, two outputs", "regression forest", "rules", "decision list"),
)  # one of each form


@pytest.fixture(autouse=True)
def _here():
    with dask.config.set(scheduler="synchronous"):
        yield


def target(learns, y, z):
    two = np.where(y == "no", "no", "yes")
    both = {"both labels": np.column_stack([y, two]), "both numbers": np.column_stack([z, -z])}
    return {"labels": y, "two": two, "number": z, **both}[learns]


def fitted(name, change=lambda X: X):
    model, learns, dtype = KINDS[name]
    X, y, z = table(dtype=dtype, missing=0.0 if name == "no missing" else 0.1)
    X = change(X)
    model = model.__sklearn_clone__() if hasattr(model, "__sklearn_clone__") else type(model)(**model.get_params())
    if isinstance(X, pd.DataFrame) and model.get_params().get("categorical_features") == [2, 3]:
        model.set_params(categorical_features=["c2", "c3"])
    return model.fit(X, target(learns, y, z)), X


def listed(answer):
    return answer if isinstance(answer, list) else [answer]


def demand_same(lazy, local):
    for one, known in zip(listed(lazy), listed(local), strict=True):
        found = one.compute()
        assert one.shape == found.shape == known.shape
        assert one.dtype == found.dtype == known.dtype
        assert np.array_equal(found, known, equal_nan=known.dtype.kind == "f")


@interpreted_only
@pytest.mark.parametrize("name", KINDS)
def test_every_model_answers_blocks_of_an_array(name):
    model, X = fitted(name)
    lazy = da.from_array(X, chunks=(25, 3))
    asked = [method for method in ANSWERS if hasattr(model, method)]
    assert "predict" in asked
    for method in asked:
        demand_same(getattr(model, method)(lazy), getattr(model, method)(X))


def as_frame(X):
    frame = pd.DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])}, index=np.arange(len(X)) * 3 + 5)
    if X.dtype == object:
        return frame.astype({"c0": float, "c1": float, "c2": "category", "c3": float})
    return frame


@interpreted_only
@pytest.mark.parametrize("name", FRAMED)
def test_every_model_answers_partitions_of_a_frame_with_their_index(name):
    model, X = fitted(name, as_frame)
    lazy = dd.from_pandas(X, npartitions=4)
    for method in ANSWERS:
        if not hasattr(model, method):
            continue
        parts, known = listed(getattr(model, method)(lazy)), listed(getattr(model, method)(X))
        for k, (one, there) in enumerate(zip(parts, known, strict=True)):
            found = one.compute()
            assert one.divisions == lazy.divisions
            assert found.index.equals(X.index)
            assert found.to_numpy().astype(there.dtype).tobytes() == there.tobytes() or there.dtype.kind == "O"
            assert found.shape == there.shape
            if there.ndim == 1:
                assert found.dtype == one.dtype
            else:
                assert found.dtypes.tolist() == one.dtypes.tolist()
                assert list(found.columns) == list(one.columns)
            if method == "predict_proba":
                assert list(found.columns) == model.class_lists()[k].tolist()


def small_tree(**parameters):
    X = pd.DataFrame({"age": [20.0, 30.0, 40.0, 50.0], "town": ["Ulm", "Bonn", "Ulm", "Bonn"]})
    return DecisionTreeClassifier(**parameters).fit(X, ["no", "no", "yes", "yes"]), X


def test_nothing_is_computed_before_it_is_asked_for():
    def fail(block):
        raise AssertionError("computed")

    model = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    blocks = da.ones((10, 1), chunks=5).map_blocks(fail, dtype=float, meta=np.empty((0, 0)))
    assert model.predict(blocks).shape == (10,)


def test_sizes_of_blocks_need_not_be_known():
    model = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    X = da.from_array(np.linspace(0, 1, 20)[:, None], chunks=(5, 1))
    kept = X[X[:, 0] > 0.4]
    assert np.isnan(kept.shape[0])
    lazy = model.predict(kept)
    assert np.isnan(lazy.shape[0])
    assert np.array_equal(lazy.compute(), model.predict(kept.compute()))


def test_empty_blocks_and_partitions_are_answered_by_as_much():
    model, frame = small_tree()
    lazy = dd.from_pandas(frame, npartitions=4)
    few = lazy[lazy.age > 35]
    assert [len(part) for part in few.partitions] == [0, 0, 1, 1]
    assert model.predict(few).compute().tolist() == ["yes", "yes"]
    assert model.predict_proba(few).compute().shape == (2, 2)
    numbers = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    X = da.from_array(np.linspace(0, 1, 20)[:, None], chunks=(5, 1))
    assert np.array_equal(numbers.predict(X[X[:, 0] > 0.8]).compute(), np.ones(4))


def test_divisions_need_not_be_known():
    model, frame = small_tree()
    lazy = dd.from_pandas(frame, npartitions=2).clear_divisions()
    found = model.predict(lazy)
    assert not found.known_divisions
    assert found.compute().tolist() == ["no", "no", "yes", "yes"]


def test_an_answer_is_a_column_of_the_frame():
    model, frame = small_tree()
    lazy = dd.from_pandas(frame, npartitions=2)
    assert lazy.assign(buys=model.predict(lazy)).compute().buys.tolist() == ["no", "no", "yes", "yes"]


def test_equal_questions_have_equal_names_and_others_do_not():
    X = da.ones((10, 1), chunks=5)
    one, same, other = (DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, top]) for top in (1.0, 1.0, 2.0))
    assert one.predict(X).name == same.predict(X).name
    assert len({m(X).name for m in (one.predict, one.apply, other.predict)}) == 3
    assert one.predict(X).name != one.predict(X + 1).name


def test_scores_are_those_of_the_rows_in_hand():
    X, y, z = table(dtype=np.float64)
    tree = DecisionTreeClassifier(max_depth=3, costs=[[0, 1, 5], [2, 0, 1], [1, 7, 0]]).fit(X, y)
    weight = np.arange(len(X)) % 3.0
    lazy = [da.from_array(column, chunks=25) for column in (X, y.astype(object), weight)]
    assert tree.score(lazy[0], y) == tree.score(X, y)
    assert tree.score(*lazy) == tree.score(X, y, weight)
    assert tree.expected_cost(*lazy) == tree.expected_cost(X, y, weight)
    numbers = DecisionTreeRegressor(max_depth=3).fit(X, z)
    assert numbers.score(dd.from_pandas(pd.DataFrame(X), npartitions=3), z) == numbers.score(X, z)
    with pytest.raises(ValueError, match="89"):
        tree.score(lazy[0], y[:-1])


def test_columns_that_are_known_are_checked_when_the_graph_is_made():
    model, frame = small_tree()
    lazy = dd.from_pandas(frame, npartitions=2)
    with pytest.raises(ValueError, match=r"yet now missing:\n- town"):
        model.predict(lazy[["age"]])
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(lazy[["town", "age"]])
    numbers = DecisionTreeRegressor().fit([[0.0, 1.0]], [1.0])
    with pytest.raises(ValueError, match="X has 3 features, but DecisionTreeRegressor is expecting 2"):
        numbers.predict(da.ones((10, 3)))
    with pytest.raises(ValueError, match="got a Dask array of 1 dimensions"):
        numbers.predict(da.ones(10))
    with pytest.raises(ValueError, match="Complex data not supported"):
        numbers.predict(da.ones((10, 2), dtype=complex))
    with pytest.raises(dtnumba.NotFittedError):
        DecisionTreeRegressor().predict(da.ones((10, 2)))


def test_what_is_no_table_is_refused():
    model, frame = small_tree()
    with pytest.raises(TypeError, match=r"X is a dask Series: predict takes a Dask array or frame"):
        model.predict(dd.from_pandas(frame, npartitions=2).age)
    with pytest.raises(TypeError, match=r"dask\.dataframe\.from_delayed"):
        model.predict(dask.delayed(frame))


def parts(*frames):
    return dd.from_delayed([dask.delayed(one) for one in frames], meta=frames[0].iloc[:0], verify_meta=False)


def test_partitions_that_differ_are_named():
    model, frame = small_tree()
    other = frame.rename(columns={"town": "city"})
    with pytest.raises(ValueError, match=r"block 1 of X: The feature names should match(.|\n)*- city"):
        model.predict(parts(frame, other)).compute()
    with pytest.raises(ValueError, match=r"block 2 of X: column 'age' holds 'old'"):
        model.predict(parts(frame, frame, frame.assign(age="old"))).compute()
    with pytest.raises(ValueError, match=r"block 1 of X: column 'town' holds"):
        model.predict(parts(frame, frame.assign(town=7.5))).compute()


def test_levels_that_fit_did_not_meet_are_missing():
    model, frame = small_tree()
    new = frame.assign(town=["Rom", "Ulm", "Rom", "Bonn"])
    found = model.predict_proba(parts(frame, new)).compute().to_numpy()
    assert np.array_equal(found[4:], model.predict_proba(new))


@pytest.mark.parametrize("missing", ["error", "learned"])
def test_missing_values_are_refused_where_they_are(missing):
    model, frame = small_tree(missing=missing)
    gap = frame.assign(age=[1.0, np.nan, 2.0, 3.0])
    lazy = model.predict(parts(frame, gap))
    if missing == "learned":
        assert len(lazy.compute()) == 8
        return
    with pytest.raises(ValueError, match="block 1 of X: missing='error': row 1 of column 'age' has no value"):
        lazy.compute()


def test_ordinary_fits_do_not_bring_a_collection_here_unasked():
    X = da.ones((10, 2), chunks=5)
    with pytest.raises(TypeError, match=r"X is a Dask Array, which holds no data yet: pass X\.compute\(\)"):
        DecisionTreeRegressor().fit(X, np.ones(10))
    with pytest.raises(TypeError, match="y is a Dask Array"):
        DecisionTreeRegressor().fit(np.ones((10, 2)), X[:, 0])
    with pytest.raises(TypeError, match="X is a Dask DataFrame"):
        DecisionTreeRegressor().fit(dd.from_pandas(pd.DataFrame({"a": [1.0]}), npartitions=1), [1.0])


def test_what_is_sent_is_what_predicts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    model = RandomForestRegressor(n_estimators=25, oob_score=True, random_state=0, verbose=lambda progress: None)
    model.fit(X, X[:, 0])
    sent = SentModel.of(model)
    assert sent.n_bytes < 0.7 * sum(column.nbytes for column in model.trees_ if isinstance(column, np.ndarray))
    assert "oob_prediction_" not in vars(sent.opened())
    assert callable(model.verbose)
    assert model.oob_prediction_.shape == (150,)
    came = pickle.loads(pickle.dumps(sent, protocol=5))  # noqa: S301
    assert np.array_equal(came.opened().predict(X), model.predict(X))
    assert came.digest == sent.digest


def test_dask_is_not_imported_without_a_collection():
    code = (
        "import sys, numpy as np\n"
        "from dtnumba import DecisionTreeRegressor\n"
        "DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0]).predict([[1.0]])\n"
        "assert not {'dask', 'distributed', 'pandas', 'cloudpickle'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_terms_and_odds_are_answered_too():
    X, y, _ = table(dtype=np.float64, missing=0.0)
    model = MARSClassifier(max_terms=5).fit(X, y)
    lazy = da.from_array(X, chunks=(40, 4))
    demand_same(model.transform(lazy), model.transform(X))
    demand_same(model.decision_function(lazy), model.decision_function(X))
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=2)
    assert list(model.transform(frame).columns) == model.get_feature_names_out().tolist()
