"""Description lengths against worked values, and trees that stop where a split saves no bits."""

import math

import numpy as np
import pytest
from naive import description_length as naive_mdl
from strategies import interpreted_only

from dtnumba import DecisionTreeClassifier, RandomForestClassifier
from dtnumba.criteria.contract import CRITERIA

# Exact trees of three classes run compiled, 5 s, and show what there is to compile of bits; all else interpreted.
KINDS = {"exact": {}, "histogram": {"max_bins": 255}}


def test_the_naive_code_is_that_of_the_literature():
    assert naive_mdl.leaf_bits([9, 5], 2) == pytest.approx(1 + 13.967226, abs=1e-6)
    assert naive_mdl.leaf_bits([7, 7], 2) == pytest.approx(1 + math.log2(8) + math.log2(3432))
    # XOR with three rows a cell: leaf 14.66 bits, of which one is structure; a stump 18.64, without bits for the cut
    assert 1 + naive_mdl.leaf_bits([6, 6], 2) == pytest.approx(14.66, abs=5e-3)
    assert 1 + 1 + 2 * (1 + naive_mdl.leaf_bits([3, 3], 2)) == pytest.approx(18.64, abs=5e-3)


def test_one_class_of_three_is_sent_among_those_left():
    expected = math.log2(3) + math.log2(9) + math.log2(math.comb(12, 5))  # 12 rows, at most 8 exceptions, 5 of them
    expected += 1 + math.log2(4) + math.log2(math.comb(5, 2))  # two classes left
    assert naive_mdl.leaf_bits([3, 7, 2], 3) == pytest.approx(expected)


@pytest.mark.small
@pytest.mark.parametrize("kind", ["exact", pytest.param("histogram", marks=interpreted_only)])
def test_a_node_is_split_only_where_that_saves_bits(kind):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (200, 3)).astype(float)
    y = np.where(rng.random(200) < 0.15, rng.integers(0, 3, 200), (X[:, 0] > 2) + (X[:, 1] > 3))
    tree = DecisionTreeClassifier(criterion="mdl", **KINDS[kind]).fit(X, y).trees_
    assert 2 < tree.n_leaves < DecisionTreeClassifier(**KINDS[kind]).fit(X, y).n_leaves_ / 2
    counts = np.rint(tree.value * tree.weight[:, None])
    for node in np.flatnonzero(tree.feature >= 0):
        saved = naive_mdl.gain(counts[tree.left[node]].tolist(), counts[tree.right[node]].tolist(), 3)
        assert tree.gain[node] == pytest.approx(saved, rel=1e-9)
        assert saved > 0


@pytest.mark.small
@pytest.mark.parametrize("n_classes", [pytest.param(2, marks=interpreted_only), 3])
def test_noise_is_one_leaf(n_classes):
    rng = np.random.default_rng(n_classes)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, n_classes, 300)
    assert DecisionTreeClassifier(criterion="mdl").fit(X, y).n_leaves_ == 1


@interpreted_only
@pytest.mark.small
def test_trees_of_a_forest_find_noise_to_be_one_leaf_too():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    assert max(tree.n_leaves_ for tree in RandomForestClassifier(3, criterion="mdl", bootstrap=False).fit(X, y)) == 1


@pytest.mark.small
@pytest.mark.parametrize("n_classes", [pytest.param(2, marks=interpreted_only), 3])
def test_weights_count_as_rows(n_classes):
    rng = np.random.default_rng(2)
    X, weight = rng.normal(size=(60, 2)), rng.integers(1, 4, 60)
    y = ((X[:, 0] > 0) ^ (rng.random(60) < 0.1)) * (n_classes - 1)
    y[0] = n_classes - 2
    weighted = DecisionTreeClassifier(criterion="mdl").fit(X, y, weight)
    repeated = DecisionTreeClassifier(criterion="mdl").fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.n_leaves_ == repeated.n_leaves_ > 1
    assert np.array_equal(weighted.predict(X), repeated.predict(X))


def test_a_class_object_knows_no_columns_until_it_is_fitted():
    X, y = [[0.0], [1.0], [2.0]] * 20, [0, 1, 2] * 20
    assert DecisionTreeClassifier(criterion=CRITERIA["mdl"]).fit(X, y).n_leaves_ == 3
