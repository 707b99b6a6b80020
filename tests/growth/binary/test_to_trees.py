"""From nodes under construction to trees: thresholds that round safely, canonical numbers, values and impurities."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import binary as naive
from strategies import EXTREMES, Sample, compiled_where, examples, fit, interpreted_only

from dtnumba.growth.binary.to_trees import number_nodes
from dtnumba.growth.columns import FEATURE, LEAF, LEFT, N_COLUMNS, NO_SLOT, SLOT
from dtnumba.tables.floats import midpoint
from dtnumba.trees.check import check
from dtnumba.trees.layout import depths

INF = math.inf
floats = st.floats(allow_nan=False, width=64)


@pytest.mark.small
@examples(300)
@given(floats, floats)
def test_a_midpoint_parts_its_neighbours(a, b):
    below, above = min(a, b), max(a, b)
    if below == above:
        return
    middle = float(midpoint(np.array([below]), np.array([above]))[0])
    assert below <= middle < above
    assert middle == naive.midpoint(below, above)


@pytest.mark.small
@pytest.mark.parametrize(
    ("below", "above", "middle"),
    [
        (1.0, 2.0, 1.5),
        (0.0, 5e-324, 0.0),
        (-5e-324, 0.0, -5e-324),
        (1.0, np.nextafter(1.0, 2), 1.0),
        (1e308, 1.7e308, 1.35e308),
        (-1.7e308, 1.7e308, 0.0),
        (-INF, 3.0, -INF),
        (3.0, INF, 3.0),
        (-INF, INF, -INF),
    ],
)
def test_midpoints_at_the_edge_of_floats(below, above, middle):
    found = midpoint(np.array([below]), np.array([above]))[0]
    assert found == middle or (found <= 0.0 and middle <= 0.0 and below <= found < above)


@pytest.mark.parametrize("params", [{}, {"max_bins": 255}, {"splitter": "random"}], ids=str)
@pytest.mark.parametrize("dtype", EXTREMES)
def test_neighbouring_extremes_are_told_apart_by_a_fitted_tree(params, dtype):
    x = np.unique(np.array(EXTREMES[dtype], dtype))
    sample = Sample(x[:, None], np.arange(len(x)) % 2, None)
    model = fit(sample, "gini", **params)
    assert np.array_equal(model.predict(sample.X), sample.y)


def some_tree(**params):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 3))
    return fit(Sample(X, generator.normal(size=300), None), "squared_error", **params).trees_


RANDOM = pytest.param({"splitter": "random"}, marks=interpreted_only)


@pytest.mark.parametrize("params", [{}, {"max_bins": 16}, RANDOM, {"max_leaf_nodes": 40}], ids=str)
def test_numbers_are_canonical(params):
    # The children of a node are placed when it is reached, left subtrees first.
    trees = check(some_tree(**params))
    expected, stack = 1, [0]
    while stack:
        node = stack.pop()
        if trees.feature[node] >= 0:
            assert (trees.left[node], trees.right[node]) == (expected, expected + 1)
            stack += [expected + 1, expected]
            expected += 2
    assert expected == trees.n_nodes


def test_leaves_hold_what_leaves_hold():
    trees = some_tree()
    leaf = trees.feature < 0
    assert np.isnan(trees.threshold[leaf]).all()
    assert not np.isnan(trees.threshold[~leaf]).any()
    assert (trees.left[leaf] == -1).all()
    assert (trees.right[leaf] == -1).all()
    assert (trees.missing_left[leaf] == 0).all()
    assert (trees.gain[leaf] == 0).all()


@pytest.mark.parametrize("criterion", compiled_where(["gini", "squared_error", "poisson", "absolute_error"]))
def test_gains_are_what_impurities_lose(criterion):
    generator = np.random.default_rng(1)
    X, y = generator.normal(size=(200, 3)), generator.integers(0, 4, 200)
    sample = Sample(X, y if criterion == "gini" else y.astype(float), generator.integers(1, 4, 200).astype(float))
    trees = fit(sample, criterion).trees_
    inner = np.flatnonzero(trees.feature >= 0)
    left, right = trees.left[inner], trees.right[inner]
    loss = trees.weight * trees.impurity
    assert trees.weight[inner] == pytest.approx(trees.weight[left] + trees.weight[right])
    assert trees.n_samples[inner].tolist() == (trees.n_samples[left] + trees.n_samples[right]).tolist()
    gained = (loss[inner] - loss[left] - loss[right]) / trees.weight[inner]
    assert trees.gain[inner] == pytest.approx(gained, abs=1e-10)


def test_depth_is_that_of_the_deepest_leaf():
    assert depths(some_tree(max_depth=5)).max() == 5


# Values


def leaf(criterion, y, weight=None):
    """Value and impurity of a tree without a split."""
    y = np.array(y)
    weight = None if weight is None else np.array(weight, dtype=float)
    trees = fit(Sample(np.zeros((len(y), 1)), y, weight), criterion).trees_
    assert trees.n_nodes == 1
    return trees.value[0].tolist(), float(trees.impurity[0])


@pytest.mark.small
@pytest.mark.parametrize(
    ("y", "weight", "median"),
    [
        ([5.0, 1.0, 3.0], None, 3.0),
        ([1.0, 2.0, 5.0, 9.0], None, 3.5),
        ([1.0, 2.0, 5.0], [1, 1, 2], 3.5),
        ([1.0, 2.0, 5.0], [1, 1, 3], 5.0),
        ([1.0, 2.0, 5.0], [0.5, 0.25, 0.25], 1.5),
        ([1.0, 2.0, 5.0], [4, 0, 4], 3.0),
        ([2.0, 2.0, 2.0, 7.0], None, 2.0),
        ([1e308, 1.2e308], None, None),
    ],
)
def test_a_median_is_the_middle_between_two_halves(y, weight, median):
    if median is None:
        pytest.skip("targets that large are refused")
    assert leaf("absolute_error", y, weight)[0] == [median]


@pytest.mark.small
def test_impurity_of_a_median_is_the_mean_distance():
    assert leaf("absolute_error", [1.0, 2.0, 5.0, 9.0])[1] == pytest.approx((2.5 + 1.5 + 1.5 + 5.5) / 4)


@pytest.mark.parametrize("params", [{}, {"max_bins": 255}, {"splitter": "random"}], ids=str)
def test_inner_nodes_hold_the_medians_of_their_rows(params):
    generator = np.random.default_rng(2)
    X, y = generator.normal(size=(80, 2)), generator.normal(size=80)
    model = fit(Sample(X, y, None), "absolute_error", **params)
    path = np.asarray(model.decision_path(X).todense(), dtype=bool)
    for node in range(model.trees_.n_nodes):
        own = y[path[:, node]]
        assert model.trees_.value[node, 0] == np.median(own)
        assert model.trees_.impurity[node] == pytest.approx(np.abs(own - np.median(own)).mean(), abs=1e-14)


@pytest.mark.small
def test_a_mean_of_equal_targets_is_that_target():
    for y in (0.1, 1 / 3, 1e-310, -7.3e100):
        assert leaf("squared_error", [y] * 7) == ([y], 0.0)
        assert leaf("squared_error", [y] * 7, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]) == ([y], 0.0)


@examples(60)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_a_mean_is_rounded_about_once(y):
    mean = math.fsum(y) / len(y)
    scale = max(map(abs, y))
    assert leaf("squared_error", y)[0][0] == pytest.approx(mean, rel=4e-16, abs=2e-16 * scale)


@pytest.mark.small
def test_shares_sum_to_one_and_follow_the_weights():
    value, impurity = leaf("gini", [0, 1, 1, 2], [1, 2, 1, 4])
    assert value == [0.125, 0.375, 0.5]
    assert impurity == 1 - (1 + 9 + 16) / 64


@pytest.mark.small
def test_outputs_stand_side_by_side():
    value, impurity = leaf("gini", [[0, 5], [1, 5], [1, 6], [1, 7]])
    assert value == [0.25, 0.75, 0.5, 0.25, 0.25]
    assert impurity == pytest.approx((0.375 + 0.625) / 2)


@pytest.mark.small
def test_impurity_of_poisson_is_half_the_deviance():
    y = np.array([0.0, 1.0, 4.0])
    mean = y.mean()
    expected = np.mean([mean, math.log(1 / mean) - 1 + mean, 4 * math.log(4 / mean) - 4 + mean])
    assert leaf("poisson", y)[1] == pytest.approx(expected)


@pytest.mark.small
def test_subtrees_known_to_be_in_order_are_numbered_as_others():
    """Two subtrees that were taken in the order of their numbers, below a node whose children were not."""
    nodes = np.zeros((12, N_COLUMNS), np.int32)
    nodes[:, FEATURE], nodes[:, LEFT], nodes[:, SLOT] = LEAF, LEAF, NO_SLOT
    for node, left in ((0, 1), (2, 3), (3, 5), (1, 7), (7, 9)):
        nodes[node, FEATURE], nodes[node, LEFT] = 0, left
    found = []
    for marks in ({}, {1: -4}, {2: -4}, {1: -4, 2: -4}):
        for node, mark in marks.items():
            nodes[node, SLOT] = mark
        order, left, stack = (np.full(12, -7, np.int32) for _ in range(3))
        m = number_nodes(nodes, order, left, stack)
        found.append((m, order[:m].tolist(), left[:m].tolist()))
    assert found[0][:2] == (11, [0, 1, 2, 7, 8, 9, 10, 3, 4, 5, 6])
    assert all(other == found[0] for other in found)
