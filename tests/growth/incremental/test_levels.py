"""Trees with categories follow their rows: levels arrive, go and change sides, and the tree is that of a batch fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import interpreted_only, same_trees

from dtnumba import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    IncrementalTreeClassifier,
    IncrementalTreeRegressor,
)
from dtnumba.estimators.incremental import follow
from dtnumba.growth.incremental import visit, winner
from dtnumba.growth.incremental.lists import LEVELS_WITH_CODES


class Program:
    """An incremental tree, the rows that it holds, and how many batch fits it needed."""

    def __init__(self, X, y, weight, params, patch):
        self.X, self.y, self.weight, self.n_fits = X, y, weight, 0
        kinds = (IncrementalTreeRegressor, DecisionTreeRegressor)
        if y.dtype.kind == "i":
            kinds = IncrementalTreeClassifier, DecisionTreeClassifier
        self.model, self.batch = (kind(**params, n_jobs=1) for kind in kinds)
        self.held, grow_anew = [], follow.Follower._grow_anew

        def counted(follower, batch):
            self.n_fits += 1
            grow_anew(follower, batch)

        patch.setattr(follow.Follower, "_grow_anew", counted)
        # No change is too large to be followed.
        patch.setattr(follow, "_MOST_CHANGED", 0)
        patch.setattr(follow, "_MANY", 0)

    def weight_of(self, rows):
        return None if self.weight is None else self.weight[rows]

    def add(self, rows):
        self.model.partial_fit(self.X[rows], self.y[rows], sample_weight=self.weight_of(rows))
        self.held += list(rows)

    def forget(self, places):
        self.model.forget_ids(self.model.ids_[places])
        self.held = [row for place, row in enumerate(self.held) if place not in set(places)]

    def check(self):
        held = np.array(self.held)
        self.batch.fit(self.X[held], self.y[held], sample_weight=self.weight_of(held))
        assert same_trees(self.model.trees_, self.batch.trees_)
        for one, other in zip(self.model.categories_, self.batch.categories_, strict=True):
            assert np.array_equal(one, other)


def table(rng, n, n_levels):
    """Categories and numbers, some missing, and a number that hangs on them."""
    p = int(rng.integers(1, 4))
    codes, X = rng.integers(0, n_levels, (n, p)), np.empty((n, p), object)
    z = rng.normal(size=(p, n_levels))[np.arange(p), codes].sum(axis=1) + 0.4 * rng.normal(size=n)
    names = np.array([f"level {k:02d}" for k in rng.permutation(n_levels)], object)
    for j in range(p):
        X[:, j] = names[codes[:, j]] if j == 0 or rng.random() < 0.5 else codes[:, j].astype(float)
        if rng.random() < 0.5:
            X[rng.random(n) < 0.1, j] = None
    X[0, 0] = names[0]
    return X, z


@interpreted_only
@given(
    st.integers(0, 2**30),
    st.sampled_from(["gini", "entropy", "twoing", "gain_ratio", "squared_error", "squared_error", "poisson"]),
    st.sampled_from([(0, 8, 2), (0, 30, 5), (48, 2048, 2)]),
    st.sampled_from(["subset", "subset", "one_vs_rest"]),
)
@settings(max_examples=8)
def test_trees_with_categories_are_batch_trees(seed, criterion, sizes, categorical_split):
    rng = np.random.default_rng(seed)
    n, n_levels = int(rng.integers(30, 160)), int(rng.choice([2, 3, 6, 12, 30]))
    X, z = table(rng, n, n_levels)
    y = np.abs(z) + 0.1
    if criterion not in {"squared_error", "poisson"}:
        k = int(rng.choice([2, 2, 3, 5]))
        y = np.digitize(z, np.quantile(z, np.arange(1, k) / k))
    weight = [None, rng.integers(1, 4, n).astype(float), rng.random(n) + 0.1][rng.integers(3)]
    params = {"criterion": criterion, "categorical_split": categorical_split}
    params |= {"min_samples_leaf": int(rng.choice([1, 1, 3])), "max_depth": [None, 4][rng.integers(2)]}
    with pytest.MonkeyPatch.context() as patch:
        for module, name, size in zip(
            (winner, visit, visit), ("SORTED_ROWS", "KEPT_ROWS", "FEW_ROWS"), sizes, strict=True
        ):
            patch.setattr(module, name, size)
        program = Program(X, y, weight, params, patch)
        program.add(range(n // 2))
        at = n // 2
        for step in range(8):
            if step % 3 != 2 and at < n:
                end = min(n, at + int(rng.integers(1, 6)))
                program.add(range(at, end))
                at = end
            else:
                program.forget(sorted({*rng.integers(0, len(program.held), 3).tolist()}))
            program.check()
        assert program.n_fits == 1


@interpreted_only
def test_more_levels_than_codes_are_a_batch_fit_each_time():
    X = np.array([[f"{k:03d}"] for k in range(LEVELS_WITH_CODES + 2)], object)
    with pytest.MonkeyPatch.context() as patch:
        program = Program(X, (np.arange(len(X)) % 3).astype(int), None, {}, patch)
        program.add(range(LEVELS_WITH_CODES - 1))
        program.add([LEVELS_WITH_CODES - 1])
        program.check()
        assert program.n_fits == 1
        program.add([LEVELS_WITH_CODES])
        program.check()
        assert program.n_fits == 2


def test_compiled_trees_with_categories_are_batch_trees():
    rng = np.random.default_rng(0)
    n = 6000
    X = rng.normal(size=(n, 3)).round(2).astype(object)
    codes = rng.integers(0, 40, n)
    X[:, 1] = np.array([f"{k:02d}" for k in rng.permutation(40)], object)[codes]
    X[rng.random(n) < 0.05, 1] = None
    y = (np.sin(codes) + X[:, 0].astype(float) + 0.5 * rng.normal(size=n) > 0).astype(int)
    with pytest.MonkeyPatch.context() as patch:
        program = Program(X, y, None, {}, patch)
        program.add(range(5000))
        for k in range(8):
            program.add([5000 + k])
            program.forget([37 * k])
            if k % 4 == 3:
                program.check()
        program.add(range(5008, 5400))
        program.check()
        assert program.n_fits == 1
