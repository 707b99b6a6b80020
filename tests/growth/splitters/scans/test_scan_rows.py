"""The best split of one node: which cuts are legal, where missing values go, what makes a feature useless."""

import math

import numpy as np
import pytest
from strategies import Sample, fit, same_trees

from dtnumba.criteria.contract import names_for
from dtnumba.growth.splitters.histogram import KEPT_TABLES, WHOLE_TABLE_ROWS

NAN = math.nan
BEST = {"exact": None, "histogram": 255}
each_search = pytest.mark.parametrize("max_bins", BEST.values(), ids=BEST)
each_splitter = pytest.mark.parametrize(
    "params", [{}, {"max_bins": 255}, {"splitter": "random"}], ids=["exact", "histogram", "random"]
)


def stump(x, y, criterion="gini", weight=None, **params):
    """Fit one split on one feature; return its Trees."""
    weight = None if weight is None else np.array(weight, dtype=float)
    sample = Sample(np.array(x, dtype=float).reshape(len(y), -1), np.array(y), weight)
    return fit(sample, criterion, max_depth=1, **params).trees_


def threshold(x, y, **params):
    trees = stump(x, y, **params)
    return None if trees.feature[0] < 0 else float(trees.threshold[0])


@pytest.mark.small
@each_search
def test_a_cut_stands_halfway_between_neighbours(max_bins):
    assert threshold([1, 2, 4, 5], [0, 0, 1, 1], max_bins=max_bins) == 3.0


@pytest.mark.small
@each_splitter
def test_equal_values_are_never_parted(params):
    assert threshold([1, 1, 1], [0, 1, 1], **params) is None
    assert threshold([0.0, -0.0, 0.0], [0, 1, 1], **params) is None


@pytest.mark.small
@each_search
def test_infinite_values_are_values(max_bins):
    assert threshold([-math.inf, 3, math.inf], [0, 1, 1], max_bins=max_bins) == -math.inf
    assert threshold([-math.inf, 3, math.inf], [0, 0, 1], max_bins=max_bins) == 3.0


@pytest.mark.small
@each_search
def test_missing_values_go_where_they_gain(max_bins):
    for labels_missing, side in (([0, 0], 1), ([1, 1], 0)):
        trees = stump([1, 2, 3, 4, NAN, NAN], [0, 0, 1, 1, *labels_missing], max_bins=max_bins)
        assert trees.threshold[0] == 2.5
        assert trees.missing_left[0] == side
        assert trees.n_samples[1:].tolist() == ([4, 2] if side else [2, 4])
        assert trees.impurity[1:].tolist() == [0.0, 0.0]


@pytest.mark.small
@each_splitter
def test_being_missing_can_be_the_test(params):
    trees = stump([1, 1, NAN, NAN], [0, 0, 1, 1], **params)
    assert trees.threshold[0] == math.inf
    assert trees.missing_left[0] == 0
    assert trees.impurity[1:].tolist() == [0.0, 0.0]


@each_search
def test_being_missing_is_the_test_where_values_tell_nothing(max_bins):
    trees = stump([1, 2, 3, 4, NAN, NAN], [0, 0, 0, 0, 1, 1], max_bins=max_bins)
    assert (trees.threshold[0], trees.missing_left[0]) == (math.inf, 0)


@pytest.mark.small
@each_splitter
def test_a_feature_that_is_always_missing_is_constant(params):
    assert threshold([NAN, NAN, NAN], [0, 1, 1], **params) is None


@each_search
def test_later_missing_values_go_to_the_heavier_child(max_bins):
    x, y = [1, 2, 3, 4], [0, 1, 1, 1]
    assert stump(x, y, max_bins=max_bins).missing_left[0] == 0
    assert stump(x, y[::-1], max_bins=max_bins).missing_left[0] == 1
    assert stump(x, y, max_bins=max_bins, weight=[9, 1, 1, 1]).missing_left[0] == 1
    assert stump([1, 2], [0, 1], max_bins=max_bins).missing_left[0] == 0


@each_search
def test_the_smallest_leaf_may_be_no_boundary_between_classes(max_bins):
    # Fayyad's theorem ends where leaves have a least size: the best legal cut parts rows of one class.
    y = [0] * 10 + [1] * 2
    assert threshold(np.arange(12), y, criterion="entropy", max_bins=max_bins, min_samples_leaf=5) == 6.5


@each_search
def test_missing_rows_count_for_the_smallest_leaf(max_bins):
    x, y = [1, 2, 3, 4, NAN, NAN], [0, 1, 1, 1, 0, 0]
    trees = stump(x, y, max_bins=max_bins, min_samples_leaf=3)
    assert (trees.threshold[0], trees.missing_left[0]) == (1.5, 1)
    assert trees.n_samples.tolist() == [6, 3, 3]


@each_search
def test_the_smallest_leaf_counts_rows_and_not_weight(max_bins):
    x, y, weight = [1, 2, 3, 4], [0, 1, 1, 1], [50, 1, 1, 1]
    trees = stump(x, y, weight=weight, max_bins=max_bins, min_samples_leaf=2)
    assert trees.n_samples.tolist() == [4, 2, 2]


@each_search
def test_the_lightest_leaf_counts_weight_and_not_rows(max_bins):
    x, y, weight = [1, 2, 3, 4], [0, 0, 0, 1], [1, 1, 1, 5]
    trees = stump(x, y, weight=weight, max_bins=max_bins, min_weight_fraction_leaf=0.3)
    assert trees.n_samples.tolist() == [4, 3, 1]
    trees = stump(x, y, weight=weight[::-1], max_bins=max_bins, min_weight_fraction_leaf=0.3)
    assert trees.n_samples.tolist() == [4, 1, 3]


@each_search
def test_a_feature_without_legal_cut_does_not_stop_the_search(max_bins):
    X = [[1, 0], [2, 0], [2, 1], [2, 1]]
    trees = stump(X, [0, 1, 0, 1], max_bins=max_bins, min_samples_leaf=2)
    assert trees.feature[0] == 1


@each_search
def test_no_side_of_a_poisson_split_is_without_events(max_bins):
    trees = stump([1, 2, 3, 4], [0.0, 0.0, 2.0, 2.0], criterion="poisson", max_bins=max_bins)
    assert trees.threshold[0] == 3.5
    assert threshold([1, 2, 3], [0.0, 0.0, 2.0], criterion="poisson", max_bins=max_bins) is None


def test_gain_ratio_takes_the_cut_of_largest_gain_within_a_feature():
    # Splitting off the first row has the better ratio, the middle cut the larger gain.
    y = [0, 1, 0, 0, 1, 1, 1, 1]
    for criterion in ("entropy", "gain_ratio"):
        assert threshold(np.arange(8), y, criterion=criterion) == 3.5


def test_gain_ratio_prefers_the_feature_of_better_ratio():
    # Both gain alike, but the second in a less even split.
    X = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1], [1, 1], [1, 1], [1, 1]])
    y = [0, 0, 1, 1, 1, 1, 1, 0]
    gains = {f: stump(X[:, [f]], y, criterion="entropy").gain[0] for f in (0, 1)}
    ratios = {f: gains[f] / stump(X[:, [f]], X[:, f], criterion="entropy").impurity[0] for f in (0, 1)}
    best = max(ratios, key=ratios.get)
    assert stump(X, y, criterion="gain_ratio").feature[0] == best


@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
def test_a_random_threshold_sends_missing_values_where_they_gain(criterion):
    for labels_missing, side in (([0, 0], 1), ([1, 1], 0)):
        y = np.array([0, 0, 1, 1, *labels_missing], dtype=int if criterion == "gini" else float)
        x = [0.0, 0.0, 1.0, 1.0, NAN, NAN]
        for seed in range(5):
            trees = stump(x, y, criterion=criterion, splitter="random", random_state=seed)
            assert trees.missing_left[0] == side
            assert 0.0 <= trees.threshold[0] < 1.0


@pytest.mark.parametrize(
    "pair", [(1.0, np.nextafter(1.0, 2.0)), (0.0, 5e-324), (-math.inf, math.inf), (1e308, math.inf)]
)
def test_a_random_threshold_parts_neighbours(pair):
    for seed in range(20):
        found = threshold(pair, [0, 1], splitter="random", random_state=seed)
        assert pair[0] <= found < pair[1]


def test_a_random_threshold_between_infinities_is_finite():
    found = [threshold([-math.inf, 0, math.inf], [0, 1, 0], splitter="random", random_state=s) for s in range(20)]
    assert np.isfinite(found).all()
    assert len({value > 0 for value in found}) == 2


# Large nodes: dense tables, and those of siblings by subtraction


def coarse_table(n_rows, seed=0):
    """Columns of few values, some missing, so that histograms hold them exactly."""
    generator = np.random.default_rng(seed)
    X = generator.integers(0, 40, (n_rows, 5)).astype(float)
    y = np.sin(X[:, 0] / 5) + (X[:, 1] > X[:, 2]) + generator.normal(size=n_rows)
    X[generator.random(X.shape) < 0.05] = NAN
    return X, y, generator.integers(0, 4, n_rows).astype(float)


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("least", [1, 7])
def test_subtracted_tables_are_exact(criterion, weighted, least):
    X, y, weight = coarse_table(6 * WHOLE_TABLE_ROWS)
    y = np.digitize(y, [0, 1]) if criterion in names_for("classes") else y
    sample = Sample(X, y, weight if weighted else None)
    exact, histogram = (fit(sample, criterion, max_bins=b, min_samples_leaf=least).trees_ for b in BEST.values())
    assert same_trees(exact, histogram)


def test_more_open_nodes_than_kept_tables_grow_the_same_tree():
    X, y, _ = coarse_table(4 * KEPT_TABLES * WHOLE_TABLE_ROWS)
    sample = Sample(X, (y > 0.5).astype(int), None)
    depth_first = fit(sample, "gini", max_bins=255).trees_
    best_first = fit(sample, "gini", max_bins=255, max_leaf_nodes=len(X)).trees_
    assert same_trees(depth_first, best_first)
