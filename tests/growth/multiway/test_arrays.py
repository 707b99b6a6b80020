"""Room for growing trees: lists that are done with make place before arrays are enlarged."""

import tracemalloc

import numpy as np
import pytest
from strategies import interpreted_only, same_trees

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor
from dtnumba.growth.multiway import arrays
from dtnumba.runtime.kernels import COMPILED

N = 3000 if COMPILED else 150
RNG = np.random.default_rng(0)


def table(n, p):
    X = RNG.normal(size=(n, p))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + RNG.normal(size=n) > 0).astype(int)
    X[RNG.random(X.shape) < 0.2] = np.nan
    return X, y


@pytest.mark.small
@pytest.mark.parametrize(
    "learner", [DecisionTreeClassifier, pytest.param(DecisionTreeRegressor, marks=interpreted_only)]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_lists_that_move_change_no_bit(learner, weighted, monkeypatch):
    X, y = table(N, 8)
    weight = RNG.random(N) if weighted else None
    moved, close_up = [], arrays._closed_up

    def watch(grown):
        moved.append(close_up(grown))
        return moved[-1]

    monkeypatch.setattr(arrays, "_closed_up", watch)
    closed = learner(missing="fractional", max_leaf_nodes=40, n_jobs=1).fit(X, y, sample_weight=weight).trees_
    assert any(moved)
    monkeypatch.setattr(arrays, "_closed_up", lambda _: False)
    only_enlarged = learner(missing="fractional", max_leaf_nodes=40, n_jobs=1).fit(X, y, sample_weight=weight).trees_
    assert same_trees(closed, only_enlarged)


def test_lists_that_are_done_with_take_no_room(monkeypatch):
    X, y = table(20_000, 8)

    def peak():
        tracemalloc.start()
        DecisionTreeClassifier(missing="fractional", max_leaf_nodes=200, n_jobs=1).fit(X, y)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak()  # what is compiled takes memory, too
    closed = peak()
    monkeypatch.setattr(arrays, "_closed_up", lambda _: False)
    assert closed < 0.6 * peak()
