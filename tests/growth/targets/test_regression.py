"""Numbers are told apart wherever they lie: far below others, far from zero, or both, and in whatever unit."""

from fractions import Fraction

import numpy as np
import pytest
from naive import binary as naive
from strategies import interpreted_only, same_trees

import dtnumba as dt
from dtnumba.criteria.regression import SquaredError
from dtnumba.growth.targets.choose import target_of
from dtnumba.tables.labels import read_values
from dtnumba.tables.weights import fixed_weights

ONE = {"n_jobs": 1}
SEVERAL = {**ONE, "n_estimators": 3, "random_state": 0}
KINDS = {
    "exact": dt.DecisionTreeRegressor(**ONE),
    "histogram": dt.DecisionTreeRegressor(max_bins=255, **ONE),
    "best first": dt.DecisionTreeRegressor(max_leaf_nodes=50, **ONE),
    "poisson": dt.DecisionTreeRegressor(criterion="poisson", **ONE),
    "threads": dt.DecisionTreeRegressor(n_jobs=2),
    "multiway": dt.DecisionTreeRegressor(missing="branch", **ONE),
    "poisson, multiway": dt.DecisionTreeRegressor(criterion="poisson", missing="surrogate", **ONE),
    "significant": dt.DecisionTreeRegressor(min_significance=0.9, **ONE),
    "monotonic": dt.DecisionTreeRegressor(monotonic_cst=[1, 1, 0], **ONE),
    "forest": dt.RandomForestRegressor(**SEVERAL),
    "random": dt.ExtraTreesRegressor(**SEVERAL),
}
each_kind = pytest.mark.parametrize("kind", KINDS)
few_kinds = pytest.mark.parametrize("kind", ["exact", "histogram", "poisson", "multiway", "forest"])


def table(n=240, seed=0):
    draw = np.random.default_rng(seed)
    return draw, draw.normal(size=(n, 3))


def fit(kind, X, y, weight=None, **params):
    model = KINDS[kind]
    return type(model)(**{**model.get_params(), "min_samples_leaf": 5, **params}).fit(X, y, weight)


def depth_of(model):
    return max(tree.get_depth() for tree in getattr(model, "estimators_", [model]))


def is_of_same_shape(one, other):
    return same_trees(one.trees_, other.trees_, but=("value", "impurity", "gain"))


@interpreted_only
@each_kind
@pytest.mark.parametrize("s", [4, 10])
def test_small_targets_are_told_apart_beside_large_ones(kind, s):
    _, X = table()
    logarithm = s * (X[:, 0] + X[:, 1] / 2)
    model = fit(kind, X, np.exp(logarithm))
    near = fit(kind, X, np.exp(logarithm / s))
    one = getattr(model, "estimators_", [model])[0]
    far_off = ((np.log(one.predict(X)) - logarithm) ** 2).mean() / logarithm.var()
    assert far_off < {"random": 0.7, "monotonic": 0.4, "forest": 0.4}.get(kind, 0.2)
    assert depth_of(model) < depth_of(near) + 20  # peeled off row by row, it is 48


@interpreted_only
@pytest.mark.parametrize("weights", ["none", "whole", "parts"])
@pytest.mark.parametrize("s", [1, 3, 6, 20])
def test_every_node_over_many_orders_of_magnitude_is_what_its_rows_make_it(s, weights):
    draw, X = table(60)
    y = np.exp(s * (X[:, 0] + X[:, 1] / 2))
    weight = {"none": np.ones(60), "whole": draw.integers(1, 4, 60) * 1.0, "parts": draw.uniform(0.1, 3.0, 60)}[weights]
    tree = dt.DecisionTreeRegressor(**ONE).fit(X, y, None if weights == "none" else weight)
    naive.audit(tree.trees_, "squared_error", X, y[:, None], weight)


TARGETS = {
    "a constant and little more": lambda draw, z: 1e9 + 1e-3 * z,
    "Cauchy": lambda draw, z: z + draw.standard_cauchy(60),
    "lognormal": lambda draw, z: np.exp(3 * draw.normal(size=60) + z),
    "whole numbers": lambda draw, z: np.floor(1e15 + 100 * z),
    "of both signs": lambda draw, z: z * 10.0 ** draw.integers(-30, 30, 60),
    "two scales": lambda draw, z: np.where(z > 0, 1e20 * (1 + z), 1.0 + 1e-9 * z),
}


@interpreted_only
@pytest.mark.parametrize("name", TARGETS)
def test_every_node_of_odd_targets_is_what_its_rows_make_it(name):
    draw, X = table(60)
    y = TARGETS[name](draw, X[:, 0] - X[:, 1])
    tree = dt.DecisionTreeRegressor(**ONE).fit(X, y)
    naive.audit(tree.trees_, "squared_error", X, y[:, None], np.ones(60))


@interpreted_only
def test_outputs_of_different_reach_are_each_told_apart():
    _, X = table()
    y = np.exp(8 * (X[:, 0] + X[:, 1] / 2))
    alone, both = (fit("exact", X, y[:, None].repeat(k, axis=1)) for k in (1, 2))
    assert is_of_same_shape(alone, both)
    assert np.array_equal(alone.predict(X), both.predict(X)[:, 1])


@interpreted_only
@few_kinds
@pytest.mark.parametrize("s", [1, 8])
def test_neither_order_nor_unit_of_the_rows_matters(kind, s):
    draw, X = table(120)
    y = np.exp(s * (X[:, 0] + X[:, 1] / 2))
    tree = fit(kind, X, y)
    for power in (-900, -400, 380):
        other = fit(kind, X, np.ldexp(y, power))
        assert is_of_same_shape(tree, other)
        assert np.array_equal(np.ldexp(tree.predict(X), power), other.predict(X))
    if kind in {"exact", "histogram", "poisson"}:
        order = draw.permutation(120)
        assert same_trees(tree.trees_, fit(kind, X[order], y[order]).trees_)


def test_a_weight_of_two_is_the_row_twice_over_many_orders_of_magnitude():
    draw, X = table(80)
    y, weight = np.exp(8 * X[:, 0]), draw.integers(1, 4, 80)
    params = {**ONE, "max_depth": 6}
    weighted = dt.DecisionTreeRegressor(**params).fit(X, y, weight)
    repeated = dt.DecisionTreeRegressor(**params).fit(X.repeat(weight, axis=0), y.repeat(weight))
    assert same_trees(weighted.trees_, repeated.trees_, but=("n_samples",))


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
def test_gains_that_are_tiny_beside_the_mean_are_no_ties(criterion):
    _, X = table(40)
    y = 1e9 + (X[:, 2] > 0)
    tree = dt.DecisionTreeRegressor(criterion=criterion, max_depth=1, **ONE).fit(X, y)
    assert tree.tree_.feature[0] == 2
    assert np.unique(tree.predict(X)).tolist() == [1e9, 1e9 + 1]


def test_where_no_split_gains_the_first_wins():
    X = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 0], [1, 1, 1]] * 7)
    for scale in (1.0, 1e-7, 0.1, 1e12):
        tree = dt.DecisionTreeRegressor(**ONE).fit(X, scale * (X[:, 0] != X[:, 1]))
        assert tree.tree_.feature[:2].tolist() == [0, 1]


@pytest.mark.parametrize("s", [1, 8])
def test_leaves_hold_their_means_to_the_last_digits(s):
    draw, X = table(90)
    y, weight = np.exp(s * draw.normal(size=90)), draw.integers(1, 9, 90)
    tree = dt.DecisionTreeRegressor(max_depth=3, **ONE).fit(X, y, weight)
    leaf = tree.apply(X)
    for node in np.unique(leaf):
        rows = np.flatnonzero(leaf == node)
        mean = sum(Fraction(y[i]) * int(weight[i]) for i in rows) / int(weight[rows].sum())
        assert tree.tree_.value[node].ravel()[0] == pytest.approx(float(mean), rel=4e-16)


def test_huge_weights_leave_the_targets_their_digits():
    _, X = table(60)
    y, weight = X[:, 0] - X[:, 1], np.full(60, 2.0**45)
    light, heavy = (dt.DecisionTreeRegressor(**ONE).fit(X, y, w) for w in (None, weight))
    assert same_trees(light.trees_, heavy.trees_, but=("value", "impurity", "gain", "weight"))
    assert np.array_equal(light.predict(X), heavy.predict(X))


def test_ordinary_targets_take_one_integer():
    draw = np.random.default_rng(0)
    numbers, counts = draw.normal(size=20_000), draw.integers(9, size=50)
    for y in (numbers, draw.exponential(size=500), 1e9 + draw.normal(size=500), counts):
        target = target_of(read_values(y, len(y), "Tree"), fixed_weights(None, len(y)), SquaredError())
        assert target.n_limbs == 1
