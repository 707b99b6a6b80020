"""The general growth: every node of small trees against every test there is, and what each policy does, by hand."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import multiway as naive_general
from naive.binary import Limits
from public_data import kyphosis
from strategies import examples, interpreted_only, same_trees

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier
from dtnumba.growth.settings import CATEGORICAL_SPLITS, MISSING_POLICIES, NUMERIC_SPLITS, Options
from dtnumba.pruners.cost_complexity import CostComplexity
from dtnumba.runtime.kernels import COMPILED
from dtnumba.trees.check import check
from dtnumba.trees.layout import one_tree

pytestmark = pytest.mark.small
CRITERIA = ("gini", "entropy", "gain_ratio", "error", "squared_error", "poisson")
# Each takes a minute to compile: one shows that what is interpreted for all of them is compiled right.
TRIED = ("gain_ratio",) if COMPILED else CRITERIA
NAN = math.nan


def legal(options, criterion):
    """Whether options go together."""
    several = "multiway" in (options["categorical_split"], options["numeric_split"])
    if options["missing"] == "surrogate" and several:
        return False
    return options["numeric_split"] != "multiway" or criterion in {"gini", "entropy", "gain_ratio", "error"}


@st.composite
def fits(draw):
    """A table of categories and numbers with holes, a target, weights, and parameters that go together."""
    n, p = draw(st.integers(3, 26)), draw(st.integers(1, 4))
    criterion = draw(st.sampled_from(TRIED))
    options = {
        "missing": draw(st.sampled_from([name for name in MISSING_POLICIES if name != "error"])),
        "categorical_split": draw(st.sampled_from(list(CATEGORICAL_SPLITS))),
        "numeric_split": draw(st.sampled_from(list(NUMERIC_SPLITS))),
        "use_surrogate": draw(st.integers(0, 2)),
        "surrogate_style": draw(st.integers(0, 1)),
        "max_surrogates": draw(st.integers(0, 3)),
    }
    if not legal(options, criterion):
        options |= {"categorical_split": "subset", "numeric_split": "interval"}
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    nominal = rng.random(p) < 0.5
    X = np.empty((n, p))
    for f in range(p):
        column = rng.integers(0, rng.integers(1, 6), n).astype(float)
        column[rng.random(n) < rng.choice([0.0, 0.2, 0.6])] = NAN
        known = ~np.isnan(column)
        column[known] = np.unique(column[known], return_inverse=True)[1]  # the levels of a category are those there are
        X[:, f] = column if nominal[f] else column * 0.75 - 1
    # Some targets follow the columns, so that trees are deep enough.
    y = rng.integers(0, rng.integers(2, 4), n) if criterion != "squared_error" else rng.normal(size=n).round(1)
    if rng.random() < 0.5:
        y = y + np.nan_to_num(X[:, 0]).round()
    y = y - y.min() if criterion == "poisson" else y
    if criterion == "poisson" and y.sum() == 0:
        y[0] = 1
    weight = rng.choice([0.5, 1.0, 2.0], n) if draw(st.booleans()) else None
    limits = {
        "min_samples_leaf": int(draw(st.sampled_from([1, 1, 2]))),
        "max_depth": draw(st.sampled_from([None, 2])),
        "min_impurity_decrease": draw(st.sampled_from([0.0, 0.0, 0.02])),
    }
    return criterion, X, y, weight, nominal, options, limits


def fit(criterion, X, y, weight=None, nominal=None, **params):
    estimator = DecisionTreeClassifier if criterion in CRITERIA[:4] else DecisionTreeRegressor
    listed = None if nominal is None else np.flatnonzero(nominal).tolist() or None
    model = estimator(criterion=criterion, n_jobs=1, random_state=0, categorical_features=listed, **params)
    return model.fit(X, y, sample_weight=weight)


def for_naive(criterion, y, weight):
    classes = criterion in CRITERIA[:4]
    own = np.unique(y, return_inverse=True)[1] if classes else np.asarray(y, float)
    return own[:, None], np.ones(len(y)) if weight is None else weight, (len(np.unique(y)),) if classes else ()


@examples(150)
@given(fits())
def test_every_node_has_the_best_test_there_is(given_fit):
    criterion, X, y, weight, nominal, options, limits = given_fit
    model = fit(criterion, X, y, weight, nominal, **options, **limits)
    trees = check(model.trees_, X.shape[1])
    own, w, n_classes = for_naive(criterion, y, weight)
    bounds = Limits(
        max_depth=limits["max_depth"] or math.inf,
        min_samples_split=max(2, 2 * limits["min_samples_leaf"]),
        min_samples_leaf=limits["min_samples_leaf"],
        min_decrease=limits["min_impurity_decrease"],
    )
    # The order of categories holds the best subset where nothing forbids it.
    best = limits["min_samples_leaf"] == 1 or options["categorical_split"] != "subset" or not nominal.any()
    if Options(**options).are_plain:
        return  # the other growth
    naive_general.audit(trees, criterion, X, own, w, n_classes, options, nominal, bounds, best=best)
    rng = np.random.default_rng(len(y))
    rows = X[rng.integers(0, len(X), 20)]
    rows[rng.random(rows.shape) < 0.3] = NAN
    wanted = np.array([naive_general.predict(trees, row) for row in rows])
    if criterion in CRITERIA[:4]:
        assert np.allclose(model.predict_proba(rows), wanted)
    else:
        assert np.allclose(model.predict(rows), wanted[:, 0])


SMALL = np.array([[0, 1.0], [0, 2.0], [1, 3.0], [1, NAN], [2, 5.0], [NAN, 6.0]])
LABELS = np.array(["a", "a", "b", "b", "c", "c"])


def test_a_category_gets_a_child_a_value():
    trees = fit("entropy", SMALL[:5], LABELS[:5], nominal=[True, False], categorical_split="multiway").trees_
    assert trees.feature.tolist() == [0, -1, -1, -1]
    assert trees.branch.tolist() == [0, 1, 2]


def test_missing_values_get_a_child_of_their_own():
    X = np.array([[0.0], [0.0], [1.0], [1.0], [NAN], [NAN]])
    model = fit("gini", X, [0, 0, 1, 1, 2, 2], missing="branch")
    assert model.trees_.n_nodes == 4
    assert model.predict(X).tolist() == [0, 0, 1, 1, 2, 2]


def test_an_interval_is_one_test():
    X = np.arange(1.0, 10.0)[:, None]
    y = (X[:, 0] >= 3) & (X[:, 0] <= 6)
    trees = fit("entropy", X, y, numeric_split="interval").trees_
    assert trees.n_nodes == 3
    assert trees.cut.tolist() == [2.5, 6.5]
    assert math.isclose(trees.gain[0], 0.991076, abs_tol=1e-6)


def test_ranges_are_those_of_fayyad_and_irani_on_iris():
    """The cuts of the petal's columns, as published."""
    pytest.importorskip("sklearn")
    from sklearn.datasets import load_iris

    iris = load_iris()
    for column, wanted in ((2, [2.45, 4.75]), (3, [0.8, 1.75])):
        trees = fit("entropy", iris.data[:, [column]], iris.target, numeric_split="multiway", max_depth=1).trees_
        assert np.allclose(trees.cut, wanted)


GOLF = {
    "outlook": "sunny sunny overcast rain rain rain overcast sunny sunny rain sunny overcast overcast rain",
    "temperature": "85 80 83 70 68 65 64 72 69 75 75 72 81 71",
    "humidity": "85 90 78 96 80 70 65 95 70 80 70 90 75 80",
    "windy": "0 1 0 0 0 1 1 0 0 0 1 1 0 1",
    "play": "0 0 1 1 1 0 1 0 1 1 1 1 1 0",
}


def test_a_fractional_row_is_answered_by_all_branches():
    """Quinlan's case: one outlook unknown, and a query of unknown outlook."""
    columns = {name: values.split() for name, values in GOLF.items()}
    levels = ["overcast", "rain", "sunny"]
    outlook = [float(levels.index(value)) for value in columns["outlook"]]
    outlook[11] = NAN  # an overcast day
    others = ([float(value) for value in columns[name]] for name in ("temperature", "humidity", "windy"))
    X = np.column_stack([outlook, *others])
    y = np.array([int(value) for value in columns["play"]])
    options = {"missing": "fractional", "categorical_split": "multiway"}
    tree = fit("gain_ratio", X, y, nominal=[True, False, False, True], max_depth=2, **options).trees_
    assert tree.feature[0] == 0
    assert np.allclose(tree.weight[1:4], [3 + 3 / 13, 5 + 5 / 13, 5 + 5 / 13])
    assert np.allclose(tree.share[1:4] * 14, tree.weight[1:4])


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"missing": "surrogate", "categorical_split": "multiway"}, "two children"),
        ({"missing": "branch", "splitter": "random"}, "splitter='best'"),
        ({"missing": "error"}, r"row 3 of column 1 has no value"),
        ({"missing": "none"}, "missing"),
        ({"max_surrogates": -1}, "max_surrogates"),
    ],
)
def test_what_does_not_go_together_is_refused(params, words):
    with pytest.raises(ValueError, match=words):
        fit("gini", SMALL, LABELS, **params)


def test_numbers_have_no_ranges_by_description_length():
    with pytest.raises(ValueError, match="numeric_split='multiway' makes ranges"):
        fit("squared_error", SMALL, np.arange(6.0), numeric_split="multiway")


def test_missing_values_are_refused_in_predict_too():
    model = fit("gini", SMALL[:3], LABELS[:3], missing="error")
    with pytest.raises(ValueError, match="row 0 of column 0 has no value"):
        model.predict([[NAN, 1.0]])


@pytest.mark.parametrize("missing", ["fractional"] if COMPILED else ["branch", "fractional", "surrogate"])
def test_trees_of_a_forest_are_the_trees_of_their_samples(missing):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (60, 3)).astype(float)
    X[rng.random(X.shape) < 0.2] = NAN
    y = np.nan_to_num(X[:, 0]).astype(int) % 3
    params = {"missing": missing, "categorical_features": [0], "max_bins": None, "max_features": None}
    params["criterion"] = "gain_ratio"  # as in other tests, so that nothing is compiled anew
    forests = [RandomForestClassifier(12, random_state=0, n_jobs=k, oob_score=True, **params).fit(X, y) for k in (1, 2)]
    assert same_trees(forests[0].trees_, forests[1].trees_)
    check(forests[0].trees_, 3)
    trees = [one_tree(forests[0].trees_, t) for t in range(12)]
    wanted = [[naive_general.predict(tree, row) for row in X] for tree in trees]
    assert np.allclose(forests[0].predict_proba(X), np.mean(wanted, axis=0))
    drawn = forests[0].estimators_samples_[1]
    rows, counts = np.unique(drawn, return_counts=True)
    weight = np.zeros(60)
    weight[rows] = counts
    alone = forests[0].estimators_[1].fit(X, y, sample_weight=weight)
    assert same_trees(alone.trees_, trees[1])


# What rpart 4.1.19 (minsplit 20, minbucket 7) answers on stagec: children 2 k and 2 k + 1 of node k, rows, variable,
# improvement, and variable, agreement and adjusted agreement of each surrogate.
RPART = {
    1: (146, "grade", 10.357591, [("gleason", 0.8630137, 0.67213115), ("ploidy", 0.64383562, 0.14754098)]),
    2: (61, None, 0, []),
    3: (85, "g2", 2.1781358, [("ploidy", 0.96202532, 0.91428571), ("age", 0.60759494, 0.11428571)]),
    6: (40, "ploidy", 1.3564516, [("g2", 0.8, 0.11111111)]),
    12: (31, "g2", 0.81259601, [("ploidy", 0.83870968, 0.28571429)]),
    13: (9, None, 0, []),
    7: (45, "g2", 5.2414832, [("age", 0.61363636, 0.19047619), ("eet", 0.59090909, 0.14285714)]),
    14: (22, "age", 0.88658009, [("gleason", 0.77272727, 0.28571429)]),
    15: (23, None, 0, []),
}


def test_surrogates_are_those_of_rpart():
    path = Path(__file__).parents[2] / "data" / "stagec.csv"
    names = path.read_text().split("\n", 1)[0].split(",")
    table = np.genfromtxt(path, delimiter=",", skip_header=1)
    X, y = table[:, :-1], table[:, -1]
    nominal = np.array([name == "ploidy" for name in names[:-1]])
    trees = fit("gini", X, y, nominal=nominal, missing="surrogate", min_samples_split=20, min_samples_leaf=7).trees_
    places = {1: 0}
    for key, (n, variable, improvement, surrogates) in RPART.items():
        node = places[key]
        assert trees.n_samples[node] == n
        if variable is None:
            continue
        assert names[trees.feature[node]] == variable
        assert math.isclose(trees.gain[node] * trees.weight[node], improvement, rel_tol=1e-6)
        first = trees.surrogates.start[node]
        for s, (name, agreement, adjusted) in enumerate(surrogates, first):
            assert names[trees.surrogates.feature[s]] == name
            assert math.isclose(trees.surrogates.agreement[s], agreement, rel_tol=1e-6)
            assert math.isclose(trees.surrogates.adjusted[s], adjusted, rel_tol=1e-6)
        below = [int(trees.left[node]), int(trees.left[node]) + 1]
        # rpart's left child may be the one above the cut.
        swapped = 2 * key in RPART and trees.n_samples[below[0]] != RPART[2 * key][0]
        places[2 * key], places[2 * key + 1] = below[::-1] if swapped else below


def test_surrogates_agree_by_rows_whatever_the_priors():
    draw = np.random.default_rng(0)
    x = draw.normal(size=80)
    X = np.column_stack([x, x + 0.4 * draw.normal(size=80)])
    tree = DecisionTreeClassifier(missing="surrogate", max_depth=1, priors=[0.9, 0.1]).fit(X, x > 0.3)
    stand_in = tree.trees_.surrogates
    above = X[:, 1] > stand_in.threshold[0]
    assert stand_in.agreement[0] == pytest.approx(np.mean((x > 0.3) == above))


@pytest.mark.small
@interpreted_only
def test_a_side_without_events_is_one_with_surrogates_only():
    leaves = [
        DecisionTreeRegressor(criterion="poisson", missing=missing).fit([[0], [0], [1], [1]], [0, 0, 3, 4]).n_leaves_
        for missing in ("surrogate", "learned")
    ]
    assert leaves == [2, 1]


@interpreted_only
@pytest.mark.parametrize("numeric_split", ["threshold", "interval"])
def test_one_level_against_the_rest_leaves_room_for_missing_values_against_all_levels(numeric_split):
    X, y = np.array([[0.0], [1.0], [2.0], [NAN], [NAN], [NAN]]), [0, 0, 0, 1, 1, 1]
    model = fit("gini", X, y, nominal=[True], categorical_split="one_vs_rest", numeric_split=numeric_split)
    assert model.n_leaves_ == 2
    assert model.score(X, y) == 1.0


@interpreted_only
def test_surrogates_count_in_importances_as_rpart_counts_them():
    X, y = kyphosis()
    params = {"min_samples_split": 20, "min_samples_leaf": 7}
    model = DecisionTreeClassifier(missing="surrogate", **params).fit(X, y).prune(CostComplexity(cp=0.01))
    assert model.n_leaves_ == 5
    printed = np.array([3.1018, 1.52186, 8.19844])  # by rpart 4.1.19: Age, Number, Start
    assert np.allclose(model.feature_importances_, printed / printed.sum(), rtol=1e-5)
    assert np.allclose(model.tree_.compute_feature_importances(normalize=False) * 81, printed, rtol=1e-5)
    assert np.array_equal(model.compact().feature_importances_.round(2), [0.24, 0.12, 0.64])
    alone = DecisionTreeClassifier(missing="surrogate", max_surrogates=0, **params).fit(X, y)
    assert np.allclose(alone.feature_importances_, DecisionTreeClassifier(**params).fit(X, y).feature_importances_)
    forest = RandomForestClassifier(3, missing="surrogate", random_state=0).fit(X, y)
    shares = [tree.feature_importances_ for tree in forest.estimators_]
    assert np.allclose(forest.feature_importances_, np.mean(shares, axis=0))


def test_missing_values_go_where_no_child_of_a_level_is_without_events():
    X = np.array([[NAN], [0.0], [1.0], [NAN]])
    trees = fit("poisson", X, [1, 0, 1, 0], nominal=[True], categorical_split="multiway").trees_
    assert trees.n_leaves == 2
    assert trees.missing_left[0] == 0  # with level 0, which has no events of its own


SHUFFLED = [
    {"criterion": "squared_error", "numeric_split": "interval"},
    {"criterion": "squared_error", "missing": "branch", "categorical_split": "multiway"},
    {"criterion": "poisson", "missing": "surrogate", "categorical_split": "subset"},
    {"criterion": "squared_error", "missing": "fractional"},
    {"criterion": "gini", "missing": "fractional", "categorical_split": "multiway"},
]


@interpreted_only
@pytest.mark.parametrize("scale", [1.0, 1e-150, "tails"])
@pytest.mark.parametrize("weights", ["none", "whole", "wide"])
@pytest.mark.parametrize("params", SHUFFLED)
def test_the_order_of_the_rows_changes_no_bit(params, weights, scale):
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 6, (60, 3)).astype(float), rng.normal(size=60)
    X[:, 1:][rng.random((60, 2)) < 0.2] = NAN
    y = np.exp(np.abs(8 * y)) if scale == "tails" else np.abs(y) * scale
    y = np.digitize(y, np.quantile(y, [0.3, 0.7])) if params["criterion"] == "gini" else y
    weight = {"none": None, "whole": rng.integers(1, 4, 60), "wide": 10.0 ** rng.uniform(-6, 6, 60)}[weights]
    nominal, least = np.array([False, False, True]), {"min_samples_leaf": 4}
    tree = fit(y=y, X=X, weight=weight, nominal=nominal, **params, **least).trees_
    assert tree.n_nodes > 1
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(60)
        own = None if weight is None else weight[order]
        other = fit(y=y[order], X=X[order], weight=own, nominal=nominal, **params, **least).trees_
        assert same_trees(tree, other)


@interpreted_only
def test_a_weight_of_two_is_the_row_twice_to_the_bit():
    rng = np.random.default_rng(5)
    X, y, times = rng.integers(0, 9, (50, 2)).astype(float), rng.normal(size=50), rng.integers(1, 5, 50)
    weighed = fit("squared_error", X, y, weight=times, numeric_split="interval", max_depth=4).trees_
    repeated = fit("squared_error", X.repeat(times, 0), y.repeat(times), numeric_split="interval", max_depth=4).trees_
    assert same_trees(weighed, repeated._replace(n_samples=weighed.n_samples))
