"""C5.0: known trees and probabilities, small tables against the slow way, weights, costs, what is refused."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.c50 import Grower
from strategies import examples

from dtnumba import C50Classifier, export
from dtnumba.trees.check import check

pytestmark = pytest.mark.small
DATA = Path(__file__).parents[1] / "data"
NAN = float("nan")
COLUMNS = ("feature", "threshold", "left", "right", "branch", "value", "weight", "n_samples", "impurity", "share")


def iris():
    with (DATA / "iris.csv").open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    return np.array([row[:4] for row in rows], float), np.array([row[4] for row in rows])


def framed(X, kinds, n_levels):
    """Return a table whose columns are numbers, categories, or categories in order."""
    columns = {}
    for j, kind in enumerate(kinds):
        codes = np.where(np.isnan(X[:, j]), -1, X[:, j]).astype(int)
        levels = [f"level {k}" for k in range(n_levels[j])]
        own = X[:, j] if kind == "numeric" else pd.Categorical.from_codes(codes, levels, ordered=kind == "ordered")
        columns[f"x{j}"] = own
    return pd.DataFrame(columns)


def test_the_tree_of_iris():
    X, y = iris()
    model = C50Classifier().fit(X, y)
    trees = model.trees_
    assert (model.n_leaves_, model.n_nodes_) == (4, 7)
    assert trees.feature[0] == 2  # the gap of the cut of petal length costs less than the number of cuts
    assert trees.threshold[0] == 1.9
    assert (model.predict(X) != y).sum() == 4
    # Two thirds of six cases, and one case of three classes as common as each other
    assert model.predict_proba(X[[130 - 1]]).max() == pytest.approx((6 * 4 / 6 + 1 / 3) / 7)


def test_the_tree_is_printed_as_c50_prints_it():
    X, y = iris()
    assert export.text(C50Classifier().fit(X, y), style="c50").splitlines()[3:6] == [
        "x2 <= 1.9: Iris-setosa (50)",
        "x2 > 1.9:",
        ":...x3 > 1.7: Iris-virginica (46/1)",
    ]


def noisy(seed, n=220, gone=0.05, n_classes=3):
    """Return rows of numbers, categories and categories in order, and classes that follow them now and then."""
    rng = np.random.default_rng(seed)
    kinds = ("numeric", "nominal", "nominal", "ordered", "numeric")
    X = np.column_stack(
        [rng.normal(size=n).round(1), *(rng.integers(0, k, n) for k in (6, 3, 4)), rng.integers(0, 9, n)]
    )
    follows = (X[:, 0] > 0).astype(int) + ((X[:, 1] % 3 == 1) & (X[:, 3] > 1))
    y = np.where(rng.random(n) < 0.7, follows, rng.integers(0, 3, n)) % n_classes
    X[rng.random(X.shape) < gone] = np.nan
    return X, y, kinds, [0, 6, 3, 4, 0]


def same_as_by_recursion(X, y, kinds, n_levels, weight=None, costs=None, **params):
    """Assert that a model answers as the slow way does; return both."""
    k = int(y.max()) + 1
    own = {name: params[name] for name in ("subset", "min_cases", "confidence", "global_pruning") if name in params}
    slow = Grower(X, y, kinds, n_levels, k, weight=weight, costs=None if costs is None else np.transpose(costs), **own)
    slow.fit()
    model = C50Classifier(costs=costs, n_jobs=1, **params).fit(framed(X, kinds, n_levels), y, weight)
    check(model.trees_, X.shape[1])
    assert model.n_leaves_ == max(slow.root.n_within_reach(), 1)
    assert np.allclose(model.predict_proba(framed(X, kinds, n_levels)), slow.shares_of(X), atol=1e-12)
    return model, slow


def all_there(X, y, kinds, n_levels):
    """Return whether every level has a row, as a table knows no other levels."""
    return len(np.unique(y)) == y.max() + 1 and all(
        kind == "numeric" or len(np.unique(x[~np.isnan(x)])) == n
        for x, kind, n in zip(X.T, kinds, n_levels, strict=True)
    )


@pytest.mark.parametrize("gone", [0.0, 0.1])
@pytest.mark.parametrize("params", [{}, {"subset": False}, {"confidence": 1.0, "global_pruning": False}])
def test_trees_are_as_by_recursion(params, gone):
    n_leaves = []
    for seed in range(4):
        model, _ = same_as_by_recursion(*noisy(seed, gone=gone), **params)
        n_leaves.append(model.n_leaves_)
    assert max(n_leaves) > 3


def test_branches_are_raised_and_grown_anew_as_by_recursion():
    raised = regrown = 0
    for seed in range(12):
        _, slow = same_as_by_recursion(*noisy(seed, n=150), confidence=0.6, global_pruning=False)
        raised, regrown = raised + slow.n_raised, regrown + slow.n_regrown
    assert raised >= regrown > 0


@st.composite
def tables(draw):
    n, k = draw(st.integers(6, 40)), draw(st.integers(2, 3))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    kinds = draw(st.lists(st.sampled_from(["numeric", "nominal", "ordered"]), min_size=1, max_size=4))
    n_levels = [0 if kind == "numeric" else int(rng.integers(2, 6)) for kind in kinds]
    X = np.column_stack([rng.integers(0, m or 12, n).astype(float) for m in n_levels])
    y = np.where(rng.random(n) < 0.6, X[:, 0] % k, rng.integers(0, k, n)).astype(int)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.15]))] = np.nan
    weight = draw(st.sampled_from([None, "whole"]))
    params = {
        "subset": draw(st.booleans()),
        "confidence": draw(st.sampled_from([0.05, 0.25, 0.7, 1.0])),
        "min_cases": draw(st.sampled_from([1, 2, 3.5])),
        "global_pruning": draw(st.booleans()),
    }
    return X, y, kinds, n_levels, None if weight is None else rng.integers(1, 4, n).astype(float), params


@given(tables())
@examples(150)
def test_small_tables_are_as_by_recursion(given_):
    X, y, kinds, n_levels, weight, params = given_
    if all_there(X, y, kinds, n_levels):
        same_as_by_recursion(X, y, kinds, n_levels, weight, **params)


def test_whole_weights_are_repeated_rows():
    X, y, kinds, n_levels = noisy(3, gone=0.0)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    table = framed(X, kinds, n_levels)
    often = C50Classifier().fit(table.iloc[np.repeat(np.arange(len(y)), weight)], np.repeat(y, weight))
    once = C50Classifier().fit(table, y, weight)
    assert once.n_leaves_ == often.n_leaves_ > 2
    assert np.array_equal(once.predict_proba(table), often.predict_proba(table))


def test_weights_of_another_unit_change_no_tree():
    X, y, kinds, n_levels = noisy(4)
    table, weight = framed(X, kinds, n_levels), np.random.default_rng(0).random(len(y)) + 0.5
    one, other = (C50Classifier().fit(table, y, weight * unit) for unit in (1.0, 1000.0))
    assert np.allclose(one.predict_proba(table), other.predict_proba(table))


def test_order_of_rows_and_threads_change_no_bit():
    X, y, kinds, n_levels = noisy(5, n=600, gone=0.1)
    order = np.random.default_rng(0).permutation(len(y))
    weight = np.random.default_rng(1).choice([0.3, 1.0, 2.7], len(y))
    table = framed(X, kinds, n_levels)
    one = C50Classifier(n_jobs=1).fit(table, y, weight).trees_
    for other in (
        C50Classifier(n_jobs=2).fit(table, y, weight).trees_,
        C50Classifier(n_jobs=2).fit(table.iloc[order], y[order], weight[order]).trees_,
    ):
        assert one.n_nodes > 4
        for name in COLUMNS:
            assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name


def test_a_sample_is_drawn_by_the_seed():
    X, y, kinds, n_levels = noisy(6)
    table = framed(X, kinds, n_levels)
    trees = [C50Classifier(sample=0.5, random_state=seed).fit(table, y).trees_ for seed in (0, 0, 1)]
    assert [one.weight[0] for one in trees] == [len(y) / 2] * 3
    assert np.array_equal(trees[0].value, trees[1].value)
    assert not np.array_equal(trees[0].value[0], trees[2].value[0])
    weight = (np.arange(len(y)) % 2).astype(float)
    own = C50Classifier(sample=0.5, random_state=0, prune="pessimistic").fit(table, y, weight)
    assert own.trees_.weight[0] == len(y) / 4


def test_levels_that_a_dtype_declares_are_levels_without_rows():
    dtype = pd.CategoricalDtype(["p", "never", "q", "r"])
    X = pd.DataFrame({"a": pd.Categorical(["p", "q", "r"] * 20, dtype=dtype)})
    y = np.array([0, 1, 2] * 20)
    each = C50Classifier(subset=False).fit(X, y)
    assert each.categories_[0].tolist() == dtype.categories.tolist()
    assert each.n_leaves_ == 4  # one has no rows
    assert "a = never: 0 (0)" in each.summary()
    assert "\t     3    0( 0.0%)" in each.summary()  # as C5.0 counts them there
    assert each.predict(X.assign(a=pd.Categorical(["never"] * 60, dtype=dtype)))[0] == 0
    grouped = C50Classifier().fit(X, y)
    assert grouped.n_leaves_ == 3
    assert "never" in grouped.summary()


def test_costs_of_two_classes_are_as_by_recursion():
    for seed in range(4):
        same_as_by_recursion(*noisy(seed, n_classes=2), costs=[[0, 1], [4, 0]])


def test_costs_choose_labels():
    X, y, kinds, n_levels = noisy(1, n_classes=3)
    table, costs = framed(X, kinds, n_levels), np.array([[0, 1, 1], [9, 0, 1], [1, 1, 0.0]])
    plain = C50Classifier(global_pruning=False).fit(table, y)  # which does not know of costs
    dear = C50Classifier(costs=costs).fit(table, y)
    shares = plain.predict_proba(table)
    assert np.array_equal(shares, dear.predict_proba(table))
    assert np.array_equal(dear.predict(table), (shares @ costs).argmin(axis=1))
    assert (dear.predict(table) == 0).sum() < (plain.predict(table) == 0).sum()


def test_costs_of_two_classes_weigh_rows_in_growth():
    X, y, kinds, n_levels = noisy(2, n_classes=2)
    table = framed(X, kinds, n_levels)
    dear = C50Classifier(costs={(1, 0): 20}).fit(table, y)
    assert dear.trees_.weight[0] == len(y)  # counts are those of the rows
    assert (dear.predict(table)[y == 1] == 1).mean() > (
        C50Classifier().fit(table, y).predict(table)[y == 1] == 1
    ).mean()


def test_a_level_without_rows_in_a_node_is_a_leaf_of_its_own():
    X = pd.DataFrame({"a": ["p", "q"] * 20 + ["r"] * 20, "b": [*np.repeat([0.0, 1.0], 20), *np.full(20, 9.0)]})
    y = np.array([*((np.arange(40) // 2) % 2), *np.full(20, 2)])
    model = C50Classifier(subset=False, confidence=1.0, global_pruning=False).fit(X, y)
    assert model.predict(pd.DataFrame({"a": ["r"], "b": [9.0]})).tolist() == [2]
    assert model.predict_proba(pd.DataFrame({"a": ["unseen"], "b": [0.0]})).sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"confidence": 0.0}, "confidence"),
        ({"min_cases": 0}, "min_cases"),
        ({"subset": 1}, "subset"),
        ({"sample": 1.0}, "sample"),
        ({"costs": [[0, 1, 1], [1, 0, 1]]}, "costs"),
        ({"costs": [[0, -1], [1, 0]]}, "costs"),
    ],
)
def test_what_is_not_legal_is_named(params, words):
    with pytest.raises((ValueError, TypeError), match=words):
        C50Classifier(**params).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0], [2.0], [3.0]], [7, 7, 7]),
        ([[NAN], [NAN], [NAN], [NAN]], [0, 1, 0, 1]),
        ([["a,b"], ['c"d'], ["e f"], ["ü"]] * 5, ["x", "y"] * 10),
        (np.zeros((300, 1)), np.arange(300)),
    ],
)
def test_tables_without_a_test_are_a_leaf(X, y):
    model = C50Classifier().fit(X, y)
    assert model.n_nodes_ == 1 or model.n_leaves_ > 1
    assert np.allclose(model.predict_proba(X[:3]).sum(axis=1), 1.0)


def test_compact_keeps_what_probabilities_are_made_of():
    X, y = iris()
    model = C50Classifier().fit(X, y)
    before = model.predict_proba(X)
    assert np.array_equal(model.compact().predict_proba(X), before)


def looked_at(trees, node, row, seen):
    """Mark the columns whose values a row is asked for below a node."""
    f = trees.feature[node]
    if f < 0:
        return
    children = np.arange(trees.left[node], trees.right[node] + 1)
    if not np.isnan(row[f]):
        seen[f] = True
        has_map = len(trees.branch_start) > 1 and trees.branch_start[node + 1] > trees.branch_start[node]
        v = trees.branch[trees.branch_start[node] + int(row[f])] if has_map else int(row[f] > trees.threshold[node])
        children = children[[v]]
    for child in children:
        if trees.share[child] > 0 or len(children) == 1:
            looked_at(trees, child, row, seen)


@pytest.mark.parametrize("gone", [0.0, 0.2])
def test_usage_is_the_share_of_rows_whose_values_are_looked_at(gone):
    X, y, kinds, n_levels = noisy(3, gone=gone)
    weight = np.arange(len(y)) % 3
    model = C50Classifier().fit(framed(X, kinds, n_levels), y, sample_weight=weight)
    seen = np.zeros(X.shape, bool)
    for row, own in zip(X, seen, strict=True):
        looked_at(model.trees_, 0, row, own)
    assert model.n_leaves_ > 3
    assert model.feature_usage_.tolist() == pytest.approx((weight @ seen / weight.sum()).tolist())
