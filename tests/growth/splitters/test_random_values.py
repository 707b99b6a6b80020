"""Forests of random thresholds, 32 columns at once, against the same drawn one feature after the other."""

import numpy as np
import pytest
from strategies import compiled_where

from dtnumba import ExtraTreesClassifier, ExtraTreesRegressor
from dtnumba.growth.binary import choose_splitter
from dtnumba.growth.binary.choose_splitter import SPLITTERS, Made
from dtnumba.growth.splitters.random_exact import RandomThreshold
from dtnumba.growth.splitters.random_ranks import RandomRanks
from dtnumba.growth.splitters.random_values import RandomValues
from dtnumba.runtime.kernels import COMPILED

# So few that codes take a byte: those of two would be kernels of their own.
N, P = 250 if COMPILED else 30, 5


def one_by_one(source):
    """Return the splitter that a single tree has."""
    codes, bins, levels = source.codes()
    ends = bins.low, bins.high, bins.first_code
    return Made(RandomThreshold(codes, bins.n_codes, *ends, *source.rows()), levels, bins)


def normal(r):
    return r.normal(size=(N, P))


def wide(r):
    return r.normal(size=(N, 40))


def few(r):
    return r.integers(-2, 3, (N, P)) * 1.0


def missing(r):
    X = r.normal(size=(N, P))
    X[r.random(X.shape) < 0.2] = np.nan
    X[:, 1] = np.nan
    return X


def infinite(r):
    X = r.normal(size=(N, P))
    X[r.random(X.shape) < 0.2] = np.inf
    X[r.random(X.shape) < 0.2] = -np.inf
    X[:, 0] = np.where(r.random(N) < 0.5, np.inf, -np.inf)
    return X


def neighbours(r):
    """Values with none between them: what is drawn is rounded to one of them."""
    return 1.0 + r.integers(0, 4, (N, P)) * 2.0**-52


def zeros(r):
    X = r.normal(size=(N, P))
    X[r.random(X.shape) < 0.3] = -0.0
    X[r.random(X.shape) < 0.3] = 0.0
    return X


def tailed(r):
    return np.exp(12 * r.normal(size=(N, P))) * np.sign(r.normal(size=(N, P)))


TABLES = [normal, wide, few, missing, infinite, neighbours, zeros, tailed]
CASES = {
    "two classes": (ExtraTreesClassifier, {}),
    "five classes": (ExtraTreesClassifier, {"bootstrap": True}),
    "twelve classes": (ExtraTreesClassifier, {"max_features": None}),
    "weights": (ExtraTreesClassifier, {"criterion": "entropy"}),
    "counted": (ExtraTreesClassifier, {"bootstrap": True, "min_samples_leaf": 3}),
    "information": (ExtraTreesClassifier, {"criterion": "gain_ratio"}),
    "monotonic": (ExtraTreesClassifier, {"monotonic_cst": {0: 1}}),
    "category": (ExtraTreesClassifier, {"categorical_features": [2]}),
    "copies": (ExtraTreesClassifier, {"importance": "impurity_corrected"}),
    "number": (ExtraTreesRegressor, {"min_samples_leaf": 2}),
    "number, drawn": (ExtraTreesRegressor, {"bootstrap": True, "max_features": 0.5}),
    "counts": (ExtraTreesRegressor, {"criterion": "poisson"}),
    "two numbers": (ExtraTreesRegressor, {}),
    "median": (ExtraTreesRegressor, {"criterion": "absolute_error", "max_depth": 3}),
}
FEW = {"two classes"}  # compiled


def targets(name, z, r):
    n_classes = 5 if name == "five classes" else 12 if name == "twelve classes" else 2
    rank = np.argsort(np.argsort(z)) / len(z)
    if name == "two numbers":
        return np.column_stack([rank, r.normal(size=len(z))])
    if name == "counts":
        return r.poisson(3 * rank)
    if CASES[name][0] is ExtraTreesRegressor:
        return rank + 0.1 * r.normal(size=len(z))
    return ((rank + 0.3 * r.random(len(z))) / 1.3 * n_classes).astype(int)


@pytest.mark.small
@pytest.mark.parametrize("name", compiled_where(CASES, FEW))
def test_trees_are_those_of_features_drawn_one_by_one(name, monkeypatch):
    kind, params = CASES[name]
    for k, (make, dtype) in enumerate([(make, dtype) for make in TABLES for dtype in (np.float64, np.float32)]):
        r = np.random.default_rng(k)
        X = make(r).astype(dtype)
        if name == "category":
            X[:, 2] = r.integers(0, 4, N)
        own = {**params}
        if name == "monotonic":
            own["monotonic_cst"] = [1] + [0] * (X.shape[1] - 1)
        y = targets(name, np.where(np.isfinite(X), X, 0)[:, :3].sum(axis=1), r)
        weight = r.random(N) if name == "weights" else None
        model = kind(1, max_bins=None, random_state=k, n_jobs=1, **own).fit(X, y, weight)
        with monkeypatch.context() as patch:
            patch.setitem(SPLITTERS, "random", one_by_one)
            expected = kind(1, max_bins=None, random_state=k, n_jobs=1, **own).fit(X, y, weight)
        for field, found, wanted in zip(model.trees_._fields, model.trees_, expected.trees_, strict=True):
            if isinstance(found, np.ndarray):
                np.testing.assert_array_equal(found, wanted, err_msg=f"{make.__name__} {dtype.__name__} {field}")


@pytest.mark.small
def test_values_that_float32_holds_are_not_ranked(monkeypatch):
    made = []
    whole = choose_splitter.random_splitter
    monkeypatch.setitem(SPLITTERS, "random", lambda source: made.append(whole(source)) or made[-1])
    r = np.random.default_rng(0)
    X, y = r.normal(size=(40, 3)), r.integers(0, 2, 40)
    for table in (X, X.astype(np.float32), X.round(0)):
        ExtraTreesClassifier(1, max_bins=None, n_jobs=1).fit(table, y)
    assert [type(one.splitter) for one in made] == [RandomRanks, RandomValues, RandomValues]
