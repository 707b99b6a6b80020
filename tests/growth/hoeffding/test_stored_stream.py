"""The tree of a stream goes into a file and comes back; what a lying file says is not believed."""

import copy

import numpy as np
import pytest
from strategies import interpreted_only

from dtnumba import IncrementalTreeClassifier, IncrementalTreeRegressor, load
from dtnumba.growth.hoeffding import stream as st
from dtnumba.growth.hoeffding.stored_stream import is_stream, stored


def learned(n=600, **params):
    """Rows of two numbers and a column of levels; the label hangs on all of them."""
    rng = np.random.default_rng(4)
    X = np.stack([rng.random(n).round(2), rng.random(n).round(2), rng.integers(0, 3, n)], axis=1).astype(object)
    X[:, 2] = np.array(["red", "green", "blue"], object)[X[:, 2].astype(int)]
    y = (X[:, 0].astype(float) > 0.5) ^ (X[:, 2] == "red")
    options = {"approximate": True, "grace_period": 20, "delta": 0.3, "drift": "handled", "max_bytes": 60_000}
    model = IncrementalTreeClassifier(**options | params)
    return model.partial_fit(X[: n // 2], y[: n // 2]), X, y


@interpreted_only
@pytest.mark.parametrize("params", [{}, {"criterion": "entropy", "leaf_prediction": "majority", "reconsider": False}])
@pytest.mark.parametrize("how", ["file", "compact file"])
def test_a_loaded_stream_learns_on_as_the_saved_one(params, how, tmp_path):
    model, X, y = learned(**params)
    assert model.n_nodes_ > 3
    model.save(tmp_path / "model", compact=how != "file")
    again = load(tmp_path / "model")
    assert again.n_seen_ == model.n_seen_ == 300
    assert again.bayes_leaves_.tolist() == model.bayes_leaves_.tolist()
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    late = np.where(np.arange(300) % 50 == 0, 7, y[300:].astype(int))
    for one in (model, again):
        one.partial_fit(X[300:450], y[300:450]).partial_fit(X[450:], late[150:])  # a class more
    assert again.classes_.tolist() == model.classes_.tolist() == [0, 1, 7]
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.drifts_.tolist() == model.drifts_.tolist()
    for one, other in zip(again._stream.frozen()[:7], model._stream.frozen()[:7], strict=True):
        assert one.tobytes() == other.tobytes()


def lies():
    """Each a name and a way to make what is stored untrue."""

    def node(at, value):
        def change(said):
            inner = np.flatnonzero(said["link"][:, st.FEATURE] >= 0)[0]
            said["link"][inner, at] = value

        return change

    def put(name, place, value):
        return lambda said: said[name].__setitem__(place, value)

    def say(name, value):
        return lambda said: said.__setitem__(name, value)

    return {
        "a column that is not there": node(st.FEATURE, 3),
        "children before their parent": node(st.LEFT, 0),
        "children behind the last node": node(st.LEFT, 10_000),
        "three branches of a number": node(st.N_BRANCHES, 9),
        "a branch for missing values that is not there": node(st.MISSING_BRANCH, 5),
        "a node deeper than it is": lambda said: said["link"].__setitem__((slice(1, None), st.STREAM_DEPTH), 900),
        "a slot that is not there": lambda said: said["link"].__setitem__((slice(None), st.SEEN_AT), 10_000),
        "a slot of nobody": put("owner", 0, -1),
        "slots in no order": lambda said: said.__setitem__("slots", said["slots"][::-1].copy()),
        "too many points": put("n_points", (0, 0), st.N_POINTS + 1),
        "fewer nodes used": lambda said: said["used"].__setitem__(st.NEXT_NODE, 1),
        "more slots free": lambda said: said["used"].__setitem__(st.N_FREE, 10_000),
        "room for a billion nodes": say("n_nodes", 10**9),
        "room for a billion slots": say("n_slots", 10**9),
        "levels that were never met": put("n_levels", 2, 4),
        "one class more": say("n_classes", 3),
        "drifts to come": say("drifts", np.array([10**6])),
        "a share above one": lambda said: said["options"].__setitem__("delta", 2.0),
        "an answer that nobody knows": lambda said: said["options"].__setitem__("answers", "no"),
        "windows of other losses": lambda said: said["windows"][0].__setitem__((-1, 0), 5000.0),
        "too many buckets": lambda said: said["windows"][1].__setitem__((-1, 0), 99),
        "no windows": say("windows", []),
        "numbers of another kind": lambda said: said.__setitem__("sums", said["sums"].astype(np.float32)),
        "nothing": lambda said: said.clear(),
    }


@interpreted_only
@pytest.mark.parametrize("lie", lies())
def test_a_lie_is_not_believed(lie):
    said = copy.deepcopy(stored(learned()[0]._stream))
    assert is_stream(said, np.array([0, 0, 3]), 2)
    lies()[lie](said)
    assert not is_stream(said, np.array([0, 0, 3]), 2)


@interpreted_only
def test_numbers_are_stored_too(tmp_path):
    rng = np.random.default_rng(5)
    X = rng.random((400, 2))
    model = IncrementalTreeRegressor(approximate=True, grace_period=20, delta=0.3).partial_fit(X[:200], X[:200, 0])
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    for one in (model, again):
        one.partial_fit(X[200:], X[200:, 0] > 0.3)
    assert np.array_equal(model.predict(X), again.predict(X))
