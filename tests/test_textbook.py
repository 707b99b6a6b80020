"""Trees of textbooks: exercises, worked examples and the numbers that other programs print for small public tables."""

import csv
import itertools
from pathlib import Path

import numpy as np
import pytest
from strategies import layout

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor
from dtnumba.prediction.walk_tree import leaves_of
from dtnumba.tables.table import read_table
from dtnumba.trees.check import check

DATA = Path(__file__).parent / "data"
TEXTBOOK_CRITERIA = ["gini", "entropy", "error"]
each_measure = pytest.mark.parametrize("criterion", TEXTBOOK_CRITERIA)

# Shalev-Shwartz and Ben-David, Understanding Machine Learning (2014), exercise 18.2
SUBOPTIMAL_X = np.array([[1, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 1]])
SUBOPTIMAL_Y = np.array([1, 1, 0, 0])

# Girth, height and volume of 31 black cherry trees: `trees` of R (Ryan, Joiner and Ryan 1976)
CHERRIES = np.array(
    """8.3,70,10.3;8.6,65,10.3;8.8,63,10.2;10.5,72,16.4;10.7,81,18.8;10.8,83,19.7;11,66,15.6;11,75,18.2;11.1,80,22.6;
    11.2,75,19.9;11.3,79,24.2;11.4,76,21;11.4,76,21.4;11.7,69,21.3;12,75,19.1;12.9,74,22.2;12.9,85,33.8;13.3,86,27.4;
    13.7,71,25.7;13.8,64,24.9;14,78,34.5;14.2,80,31.7;14.5,74,36.3;16,72,38.3;16.3,77,42.6;17.3,81,55.4;17.5,82,55.7;
    17.9,80,58.3;18,80,51.5;18,80,51;20.6,87,77""".replace(";", ",").split(","),
    dtype=float,
).reshape(31, 3)
GIRTH, HEIGHT = 0, 1


def cube(n):
    """All points of {0, 1}**n."""
    return np.array(list(itertools.product([0, 1], repeat=n)))


def read(name):
    with (DATA / name).open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


@pytest.fixture(scope="module")
def iris():
    columns = read("iris.csv")
    *features, species = columns
    return np.stack([columns[name].astype(float) for name in features], axis=1), columns[species]


def root(model):
    """Feature, threshold and gain of the root."""
    trees = model.trees_
    return int(trees.feature[0]), float(trees.threshold[0]), float(trees.gain[0])


def sum_of_losses(model):
    """Loss of the leaves, and of the root."""
    trees = model.trees_
    leaves = trees.feature < 0
    return float((trees.weight * trees.impurity)[leaves].sum()), float(trees.weight[0] * trees.impurity[0])


# Boolean functions


@each_measure
def test_every_boolean_function_is_a_tree_of_at_most_d_tests_a_path(criterion):
    # Exercise 18.1: height d + 1 counts levels.
    X = cube(3)
    for values in itertools.product([0, 1], repeat=8):
        model = DecisionTreeClassifier(criterion=criterion).fit(X, values)
        assert np.array_equal(model.predict(X), values)
        assert model.get_depth() <= 3


@each_measure
def test_a_greedy_tree_of_depth_two_errs_on_a_quarter(criterion):
    # Exercise 18.2: x1 gains most, and whatever follows leaves one of four wrong.
    model = DecisionTreeClassifier(criterion=criterion, max_depth=2).fit(SUBOPTIMAL_X, SUBOPTIMAL_Y)
    assert root(model)[0] == 0
    assert model.score(SUBOPTIMAL_X, SUBOPTIMAL_Y) == 0.75


@pytest.mark.parametrize(("criterion", "gain"), [("entropy", 0.311278), ("gini", 1 / 6), ("error", 0.25)])
def test_the_first_input_of_the_suboptimal_example_gains_most(criterion, gain):
    model = DecisionTreeClassifier(criterion=criterion).fit(SUBOPTIMAL_X, SUBOPTIMAL_Y)
    assert root(model)[2] == pytest.approx(gain, abs=1e-6)
    for feature in (1, 2):
        model = DecisionTreeClassifier(criterion=criterion).fit(SUBOPTIMAL_X[:, [feature]], SUBOPTIMAL_Y)
        assert root(model)[2] == pytest.approx(0.0, abs=1e-15)


def test_another_tree_of_depth_two_makes_no_error():
    # The second half of exercise 18.2: x2 first, x3 below it, positive where they agree.
    agree, differ = ({"feature": 2, "threshold": 0.5, "children": values} for values in ([1.0, 0.0], [0.0, 1.0]))
    trees = check(layout({"feature": 1, "threshold": 0.5, "children": [agree, differ]}), n_features=3)
    table = read_table(SUBOPTIMAL_X, "a test")
    assert np.array_equal(trees.value[leaves_of(table, trees, None, 1), 0], SUBOPTIMAL_Y)


@each_measure
@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize(
    ("function", "n_tests"),
    [
        ("unanimity", {2: 3, 3: 5, 4: 7, 5: 9}),
        ("parity", {2: 3, 3: 7, 4: 15, 5: 31}),
        ("majority", {2: 2, 3: 5, 4: 9, 5: 19}),
        ("conjunction", {2: 2, 3: 3, 4: 4, 5: 5}),
    ],
)
def test_functions_of_the_number_of_ones_are_learned_in_the_smallest_tree(criterion, n, function, n_tests):
    # Inputs are alike, so no order of them is better than another; and the smallest trees are known.
    X = cube(n)
    ones = X.sum(axis=1)
    y = {"unanimity": ones % n == 0, "parity": ones % 2, "majority": 2 * ones > n, "conjunction": ones == n}[function]
    model = DecisionTreeClassifier(criterion=criterion).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.get_n_leaves() - 1 == n_tests[n]


def test_nilssons_conjunction_needs_its_two_inputs():
    # Nilsson, Introduction to Machine Learning (1998): y = x1 and x3.
    X = cube(3)
    trees = DecisionTreeClassifier(criterion="entropy").fit(X, X[:, 0] & X[:, 2]).trees_
    assert trees.feature.tolist() == [0, -1, 2, -1, -1]
    assert trees.impurity[0] == pytest.approx(0.811278, abs=1e-6)
    assert trees.gain[0] == pytest.approx(0.311278, abs=1e-6)


@each_measure
def test_a_disjunction_of_two_conjunctions_repeats_one_of_them(criterion):
    # y = x1 x2 or x3 x4 takes 6 tests as a tree, 4 as a graph.
    X = cube(4)
    y = (X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3])
    model = DecisionTreeClassifier(criterion=criterion).fit(X, y)
    assert model.score(X, y) == 1.0
    # Most splits leave the training error as it is, so that measure finds the function, not the smallest tree.
    assert model.get_n_leaves() - 1 == 6 or (criterion == "error" and model.get_n_leaves() > 7)


def test_rows_alike_in_all_but_the_label_leave_one_error():
    # Rows 3 and 6 of the lecture notes' table have equal inputs and different labels.
    X, y = [[1, 1], [1, 3], [2, 2], [1, 2], [3, 2], [2, 2]], [1, 1, 1, 0, 0, 0]
    model = DecisionTreeClassifier(criterion="entropy").fit(X, y)
    assert model.score(X, y) == 5 / 6
    assert model.predict_proba([[2, 2]]).tolist() == [[0.5, 0.5]]


# Fisher's iris


@pytest.mark.parametrize(
    ("criterion", "expected"),
    [
        ("entropy", [(5.55, 0.557233), (3.35, 0.283126), (2.45, 0.918296), (0.8, 0.918296)]),
        ("gini", [(5.45, 0.227760), (3.35, 0.126923), (2.45, 0.333333), (0.8, 0.333333)]),
    ],
)
@pytest.mark.parametrize("max_bins", [None, 255])
def test_iris_has_these_best_cuts(iris, criterion, expected, max_bins):
    X, y = iris
    for feature, (threshold, gain) in enumerate(expected):
        model = DecisionTreeClassifier(criterion=criterion, max_depth=1, max_bins=max_bins).fit(X[:, [feature]], y)
        assert root(model)[1] == pytest.approx(threshold, abs=1e-12)
        assert root(model)[2] == pytest.approx(gain, abs=1e-6)


def test_iris_takes_nine_leaves_to_separate(iris):
    # rpart with cp=0, minsplit=2, minbucket=1
    X, y = iris
    model = DecisionTreeClassifier().fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.get_n_leaves() == 9


def test_iris_is_separated_in_the_order_of_rparts_pruning_sequence(iris):
    # Errors as shares of those at the root: 1, 0.5, 0.06 after 0, 1, 2 splits.
    X, y = iris
    errors = [round(150 * (1 - DecisionTreeClassifier(max_leaf_nodes=most).fit(X, y).score(X, y))) for most in (2, 3)]
    assert errors == [50, 6]


def test_twoing_splits_iris_as_breiman_says(iris):
    X, y = iris
    trees = DecisionTreeClassifier(criterion="twoing").fit(X, y).trees_
    assert trees.gain[0] == pytest.approx(2 / 9, abs=1e-12)
    assert trees.gain[trees.right[0]] == pytest.approx(0.194847, abs=1e-6)


def test_chi_squared_of_the_root_of_iris_is_all_there_can_be(iris):
    # One class apart from the two others: Pearson's statistic is n.
    X, y = iris
    assert root(DecisionTreeClassifier(criterion="chi2").fit(X, y))[2] == pytest.approx(1.0, abs=1e-12)


# Quinlan's golf


def test_golf_is_cut_at_this_humidity():
    columns = read("golf.csv")
    humidity = columns["humidity"].astype(float)[:, None]
    model = DecisionTreeClassifier(criterion="entropy", max_depth=1).fit(humidity, columns["play"])
    assert root(model)[1] == 82.5
    assert root(model)[2] == pytest.approx(0.102244, abs=1e-6)
    assert model.trees_.impurity[0] == pytest.approx(0.940286, abs=1e-6)


# R's cherry trees


@pytest.fixture
def cherries():
    return CHERRIES[:, :2], CHERRIES[:, 2]


def test_rpart_splits_cherry_trees_by_girth(cherries):
    model = DecisionTreeRegressor(max_depth=1).fit(*cherries)
    trees = model.trees_
    assert root(model)[:2] == (GIRTH, pytest.approx(16.15))
    assert trees.n_samples.tolist() == [31, 24, 7]
    assert trees.value[1:, 0] == pytest.approx([22.658333, 55.928571], abs=1e-6)
    assert trees.impurity * trees.n_samples == pytest.approx([8106.083871, 1435.838333, 671.514286], abs=1e-6)


def test_rpart_grows_thirteen_leaves_on_cherry_trees(cherries):
    # rpart with cp=0, minsplit=4, minbucket=2: the last row of its pruning table has 12 splits.
    assert DecisionTreeRegressor(min_samples_split=4, min_samples_leaf=2).fit(*cherries).get_n_leaves() == 13


def test_rparts_pruning_table_says_how_much_the_first_splits_explain(cherries):
    explained = 1.0
    for n_leaves, cp in ((2, 0.7400282735), (3, 0.1101672539), (4, 0.0375146977)):
        model = DecisionTreeRegressor(min_samples_split=4, min_samples_leaf=2, max_leaf_nodes=n_leaves)
        after, before = sum_of_losses(model.fit(*cherries))
        assert explained - after / before == pytest.approx(cp, abs=1e-9)
        explained = after / before


def test_four_leaves_of_cherry_trees_grow_best_first(cherries):
    trees = DecisionTreeRegressor(max_leaf_nodes=4).fit(*cherries).trees_
    left, right = trees.left[0], trees.right[0]
    assert (trees.feature[0], trees.threshold[0]) == (GIRTH, pytest.approx(16.15))
    assert (trees.feature[left], trees.threshold[left]) == (GIRTH, pytest.approx(12.45))
    # Height <= 84.5 parts the same rows; the first feature wins a tie.
    assert (trees.feature[right], trees.threshold[right]) == (GIRTH, pytest.approx(19.3))


def test_absolute_error_splits_cherry_trees_at_their_medians(cherries):
    model = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(*cherries)
    trees = model.trees_
    assert root(model)[:2] == (GIRTH, pytest.approx(16.15))
    assert trees.value[:, 0] == pytest.approx([24.2, 21.35, 55.4])
    assert trees.impurity * trees.n_samples == pytest.approx([377.1, 142.2, 45.9])


def test_poisson_splits_cherry_trees_by_half_deviance(cherries):
    model = DecisionTreeRegressor(criterion="poisson", max_depth=1).fit(*cherries)
    assert root(model)[:2] == (GIRTH, pytest.approx(14.35))
    deviances = model.trees_.impurity * model.trees_.n_samples
    assert deviances == pytest.approx([123.662077, 23.205820, 11.386940], abs=1e-6)


def test_importance_of_cherry_trees_is_their_decrease_of_variance(cherries):
    model = DecisionTreeRegressor(max_depth=4).fit(*cherries)
    decrease = model.tree_.compute_feature_importances(normalize=False)
    # 254.046540 + 5.283022 where Height takes the split that ties with Girth.
    assert decrease.sum() == pytest.approx(259.329562, abs=1e-6)
    assert model.feature_importances_ == pytest.approx(decrease / decrease.sum())
