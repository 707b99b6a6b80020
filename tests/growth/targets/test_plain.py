"""Plain kernels grow the same trees as the fast ones, to the bit, whatever the target; so do tasks run in Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import compiled_where, examples

import dtnumba as dt
from dtnumba.growth.binary import grow_in_parallel
from dtnumba.growth.forest import grow
from dtnumba.growth.targets.contract import is_plain
from dtnumba.growth.targets.plain import Plain, plain
from dtnumba.growth.targets.two_classes import TwoClasses
from dtnumba.runtime import tasks
from dtnumba.runtime.kernels import COMPILED
from dtnumba.trees.layout import arrays_of


def bits_of(model):
    return [np.ascontiguousarray(column).tobytes() for column in arrays_of(model.trees_)]


def table(seed, n, kind):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, 4)).round(draw.integers(0, 3))
    X[draw.random(X.shape) < 0.05] = np.nan
    z = np.nan_to_num(X[:, 0] * X[:, 1]) + 0.3 * draw.normal(size=n)
    if kind == "outputs":
        return X, np.stack([z > 0, z > 0.5], axis=1).astype(int)
    return X, {"two": (z > 0).astype(int), "four": np.digitize(z, [-0.5, 0.0, 0.5]), "numbers": z}[kind]


# Each is two kernels, a fast and a plain one.
CASES = [
    ("RandomForestClassifier", "two", {}),
    ("RandomForestRegressor", "numbers", {}),
    ("ExtraTreesClassifier", "two", {}),
    ("DecisionTreeClassifier", "two", {}),
    ("RandomForestClassifier", "two", {"min_samples_leaf": 3, "categorical_features": [0]}),
    ("RandomForestClassifier", "two", {"categorical_features": [0]}),
    ("RandomForestClassifier", "four", {}),
    ("RandomForestClassifier", "outputs", {}),
    ("ExtraTreesClassifier", "four", {"bootstrap": True}),
    ("ExtraTreesRegressor", "numbers", {}),
    ("DecisionTreeClassifier", "four", {}),
    ("DecisionTreeClassifier", "two", {"max_bins": 255}),
    ("DecisionTreeRegressor", "numbers", {}),
    ("ExtraTreeClassifier", "two", {}),
]
COMPILED_CASES = CASES[:4]  # the others differ from these in the target or the codes alone


@pytest.mark.parametrize(("learner", "kind", "params"), compiled_where(CASES, COMPILED_CASES))
@examples(8)
@given(seed=st.integers(0, 1 << 16), n=st.integers(5, 120 if COMPILED else 40))
def test_plain_kernels_grow_the_same_trees(learner, kind, params, seed, n):
    X, y = table(seed, n, kind)
    if "categorical_features" in params:
        X[:, 0] = np.abs(np.nan_to_num(X[:, 0])).round()
    few = {"n_estimators": 5 if COMPILED else 2} if "Forest" in learner or "Trees" in learner else {}
    model = getattr(dt, learner)(random_state=seed, n_jobs=1, **few, **params)
    fast = bits_of(model.fit(X, y))
    with pytest.MonkeyPatch.context() as patch:
        for module in (grow, grow_in_parallel):
            patch.setattr(module, "chosen", lambda build, saved, cost: build(True))
        patch.setattr(tasks, "_is_done_before_it_compiles", lambda code, steps: True)
        assert bits_of(model.fit(X, y)) == fast


def test_a_plain_kind_holds_what_its_kind_holds():
    target = TwoClasses(np.zeros(3, np.uint8), np.array([0, 2]), 1.0, 1, 1, 2)
    assert plain(target) == tuple(target)
    assert is_plain(type(plain(target)))
    assert not is_plain(TwoClasses)
    assert plain("another") == "another"
    assert len(Plain.__subclasses__()) > 5
