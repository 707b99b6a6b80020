"""C4.5: answers of release 8 and of Weka's J48, and small tables against the slow way."""

import csv
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import c45 as naive_c45
from strategies import examples, same_trees

from dtnumba import C45Classifier, RuleSetClassifier, bin_batches
from dtnumba.export import dnf
from dtnumba.pruners.error_based import ErrorBased, extra_errors
from dtnumba.runtime.kernels import COMPILED
from dtnumba.trees.check import check

pytestmark = pytest.mark.small
DATA = Path(__file__).parents[1] / "data"
NAN = math.nan
both_variants = pytest.mark.parametrize("variant", ["release8", "j48"])


def read(name, numbers=()):
    """Return the table and the labels of a file whose last column is the target; NA is missing."""
    with (DATA / name).open(newline="") as file:
        names, *rows = list(csv.reader(file))
    X = np.array(rows, dtype=object)[:, :-1]
    X[X == "NA"] = None
    for j in [names.index(one) for one in numbers]:
        X[:, j] = [None if one is None else float(one) for one in X[:, j]]
    return names[:-1], X, np.array([row[-1] for row in rows])


def golf():
    return read("golf.csv", ["temperature", "humidity"])


LABOR_NUMBERS = [
    "duration",
    *(f"wage_increase_{year}_year" for year in ("first", "second", "third")),
    *("working_hours", "standby_pay", "shift_differential", "statutory_holidays"),
]


def estimate(model):
    """Return the share of errors that release 8 prints for a tree."""
    trees = model.trees_
    leaf = trees.feature < 0
    counts = trees.value[leaf] * trees.weight[leaf, None]
    return ErrorBased(0.25, estimate="release8").expected(counts).sum() / trees.weight[0]


@both_variants
def test_the_tree_of_golf(variant):
    names, X, y = golf()
    model = C45Classifier(variant=variant).fit(X, y)
    trees = check(model.trees_, 4)
    assert [names[f] for f in trees.feature[trees.feature >= 0]] == ["outlook", "windy", "humidity"]
    assert trees.threshold[trees.feature == 2] == 75
    assert (model.n_nodes_, model.score(X, y)) == (8, 1.0)
    assert np.isclose(trees.gain[0], 0.246750, atol=1e-6)
    assert np.isclose(estimate(model), 0.385129, atol=1e-6)


def test_a_missing_value_goes_down_all_branches_in_parts():
    names, X, y = golf()
    X[11, names.index("outlook")] = None
    model = C45Classifier(prune=None, variant="release8").fit(X, y)
    trees = model.trees_
    assert np.isclose(trees.gain[0], 0.199041, atol=1e-6)
    kids = slice(trees.left[0], trees.right[0] + 1)
    assert np.allclose(trees.weight[kids], [3 + 3 / 13, 5 + 5 / 13, 5 + 5 / 13])
    assert np.allclose(trees.share[kids], np.array([3, 5, 5]) / 13)
    asked = np.array([[None, 80.0, 80.0, "false"]], dtype=object)
    assert np.allclose(model.predict_proba(asked)[0], [0.340909, 0.659091], atol=1e-6)


@pytest.mark.parametrize(
    ("given_params", "n_nodes", "errors", "estimated"),
    [
        ({}, 4, 2, 0.460),
        ({"min_objects": 1}, 4, 2, 0.460),
        ({"min_objects": 1, "prune": None}, 11, 0, None),
        ({"subset": True}, 3, 2, 0.387),
    ],
)
def test_the_restaurant(given_params, n_nodes, errors, estimated):
    names, X, y = read("restaurant.csv")
    model = C45Classifier(variant="release8", **given_params).fit(X, y)
    assert names[model.trees_.feature[0]] == "Pat"
    assert model.n_nodes_ == n_nodes
    assert (model.predict(X) != y).sum() == errors
    assert estimated is None or np.isclose(estimate(model), estimated, atol=5e-4)


def test_the_tree_of_iris_cuts_at_values_of_the_table():
    _, X, y = read("iris.csv", ["sepallength", "sepalwidth", "petallength", "petalwidth"])
    model = C45Classifier(variant="release8").fit(X.astype(float), y)
    trees = model.trees_
    assert (model.n_nodes_, (model.predict(X.astype(float)) != y).sum()) == (9, 3)
    inner = trees.feature >= 0
    assert trees.feature[inner].tolist() == [3, 3, 2, 3]
    assert trees.threshold[inner].tolist() == [0.6, 1.7, 4.9, 1.5]
    assert np.isclose(estimate(model), 0.064651, atol=1e-6)


@pytest.mark.parametrize("name", ["default", "unpruned", "binary"])
def test_answers_of_weka_where_a_third_of_the_cells_is_missing(name):
    params = {"default": {}, "unpruned": {"prune": None}, "binary": {"binary_splits": True}}[name]
    wanted = json.loads((DATA / "labor_j48.json").read_text())[name]
    _, X, y = read("labor.csv", LABOR_NUMBERS)
    model = C45Classifier(**params).fit(X, y)
    assert (model.n_leaves_, model.n_nodes_) == (wanted["leaves"], wanted["size"])
    assert np.allclose(model.predict_proba(X)[:, 1], wanted["good"], atol=1e-4)
    assert model.predict(X).tolist() == np.array(["bad", "good"])[wanted["label"]].tolist()


def decimals(n=300):
    """Return rows rounded to one decimal, which float32 holds above or below, and labels that a tree finds."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 5, (n, 3)).round(1)
    return X, (X[:, 0] > 2.3) * 2 + (X[:, 1] > 3.7) + (X[:, 2] > 1.1)


def typed(X, types):
    """Return a table as floats of a type, or as a frame whose columns have types of their own."""
    if " " not in types:
        return X.astype(types)
    library, *each = types.split()
    columns = {f"c{j}": x.astype(each[j]) for j, x in enumerate(X.T)}
    if library == "arrow":
        pa = pytest.importorskip("pyarrow")
        return pa.table(columns)
    return pytest.importorskip(library).DataFrame(columns)


@both_variants
@pytest.mark.parametrize(
    ("fitted", "asked"),
    [
        ("f8", "f4"),
        ("f4", "f8"),
        ("f8", "f2"),
        ("f2", "f8"),
        ("f4", "f2"),
        ("pandas f8 f8 f8", "pandas f8 f4 f8"),
        ("pandas f8 f8 f8", "pandas f2 f4 f8"),
        ("pandas f8 f4 f8", "pandas f8 f8 f4"),
        ("polars f8 f8 f8", "polars f4 f8 f4"),
        ("polars f4 f8 f8", "arrow f8 f4 f8"),
        ("arrow f8 f8 f8", "arrow f8 f2 f4"),
    ],
)
def test_rows_of_another_float_are_answered_alike(variant, fitted, asked):
    """0.3 is not above the cut 0.3 of the table, and not as float32, which is larger; 0.7 is as float32 smaller."""
    X, y = decimals()
    other, same = typed(X, asked), typed(X, fitted)
    model = C45Classifier(variant=variant, prune=None).fit(same, y)
    assert model.score(same, y) == model.score(other, y) == 1.0
    assert np.array_equal(model.apply(same), model.apply(other))
    if fitted == "f8":
        values = np.unique(X)
        assert np.isin(model.trees_.threshold[model.trees_.feature >= 0], values).all()
    rules = model.to_rules()
    assert np.array_equal(rules.apply(same), rules.apply(other))
    names = model.columns_seen.names
    again = type(rules).from_text(
        rules.to_text(None), feature_names=3 if names is None else names, classes=np.unique(y)
    )
    assert again.score(same, y) == again.score(other, y) == 1.0
    assert rules.from_text(rules.to_text(None)).score(other, y) == 1.0
    assert pickle.loads(pickle.dumps(model)).score(other, y) == 1.0  # noqa: S301
    assert (model.decision_path(same) != model.decision_path(other)).nnz == 0
    some = [other[at : at + 1] for at in range(0, 300, 7)] + [other[100:200]]
    answers = [*y[:300:7], *y[100:200]]
    assert np.concatenate([model.predict(rows) for rows in some]).tolist() == answers
    assert np.concatenate([rules.predict(rows) for rows in some]).tolist() == answers
    for label in np.unique(y):
        assert np.array_equal(dnf(model, label).holds(other), y == label)
    estimate = ErrorBased(0.25, estimate=variant)
    pruned, before = (model.prune(estimate, rows, y) for rows in (other, same))
    assert pruned.score(other, y) == before.score(other, y)
    assert np.array_equal(pruned.trees_.value, before.trees_.value)
    of_rows, of_others = (model.to_rules(rows, y) for rows in (same, other))
    assert of_rows.to_text() == of_others.to_text()
    assert of_rows.score(other, y) == of_rows.score(same, y)


def test_bounds_of_float32_are_written_in_its_digits():
    X, y = decimals()
    rules = C45Classifier(prune=None).fit(X.astype("f4"), y).to_rules()
    assert len(rules.rules_) > 5
    assert all(len(test.split()[-1]) == len("0.3") for rule in rules.rules_ for test in rule.tests)


def test_a_cut_pays_for_the_choice_among_cuts():
    """Humidity alone gains 0.102 bits at best, and a choice among six cuts costs 0.185."""
    _, X, y = golf()
    humidity = X[:, [2]].astype(float)
    assert C45Classifier(prune=None, collapse=False).fit(humidity, y).n_nodes_ == 1
    free = C45Classifier(prune=None, collapse=False, mdl_correction=False).fit(humidity, y).trees_
    assert np.isclose(free.gain[0], 0.102244, atol=1e-6)
    assert free.threshold[0] == 80  # the largest value that is not above 82.5


@pytest.mark.parametrize("is_frame", [False, True])
def test_values_closer_than_the_least_gap_are_not_parted(is_frame):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 3))
    y = X[:, 0] > 0.5
    X[rng.random(X.shape) < 0.05] = NAN
    X[:, 2] = 7.0  # nothing to part
    small = X * 1e-5
    if is_frame:
        small = pytest.importorskip("pandas").DataFrame(small, columns=["length", "width", "one"])
    whole = C45Classifier().fit(X, y)
    with pytest.warns(UserWarning, match="column ('length'|0), and 1 more column, cannot be cut.*min_gap=1e-05"):
        assert C45Classifier().fit(small, y).n_leaves_ == 1
    many = rng.normal(size=(3000, 2)) * 1e-6  # a range of several gaps
    with pytest.warns(UserWarning, match="and 1 more column, cannot be cut: no value lies farther than min_gap"):
        assert C45Classifier().fit(many, many[:, 0] > 0).n_leaves_ == 1
    for gap in (0, 1e-10):
        tree = C45Classifier(min_gap=gap).fit(small, y)
        assert np.array_equal(tree.trees_.feature, whole.trees_.feature)
        assert tree.score(small, y) == whole.score(X, y) > 0.9
    with pytest.warns(UserWarning, match="min_gap"):
        assert RuleSetClassifier().fit(small, y).n_rules_ == 0
    assert RuleSetClassifier(min_gap=0).fit(small, y).score(small, y) > 0.9
    with pytest.warns(UserWarning, match="min_gap=0.2 "):
        assert C45Classifier(min_gap=0.2).fit([[0.0], [0.1], [0.2]], [0, 1, 1]).n_leaves_ == 1


def test_release_8_takes_a_test_that_gains_nothing_and_j48_does_not():
    X = np.array([["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]] * 10)
    y = X[:, 0] == X[:, 1]
    whole = C45Classifier(variant="release8").fit(X, y)
    assert (whole.n_leaves_, whole.score(X, y)) == (4, 1.0)
    assert C45Classifier(variant="j48").fit(X, y).n_nodes_ == 1


def test_columns_of_very_many_levels_are_not_averaged():
    """An identifier gains most; with its gain in the average nothing else would be above it."""
    y = np.array([0, 1] * 20)
    X = np.stack([np.arange(40) // 2 + 100 * y, np.where(np.arange(40) < 34, y, 1 - y)], axis=1)
    apart = C45Classifier(categorical_features=[0, 1], prune=None).fit(X, y)
    assert apart.trees_.feature[0] == 1


def test_below_average_gain_may_win_without_the_rule():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 40)
    strong = np.where(rng.random(80) < 0.5, y * 4 + rng.integers(0, 4, 80), rng.integers(0, 8, 80))
    rare = (np.arange(80) < 4).astype(int)
    X = np.stack([strong, rare], axis=1)
    params = {"categorical_features": [0, 1], "prune": None, "collapse": False}
    assert C45Classifier(**params).fit(X, y).trees_.feature[0] == 0
    assert C45Classifier(average_gain_rule=False, **params).fit(X, y).trees_.feature[0] == 1


def test_laplace_adds_a_row_of_each_class_to_a_leaf():
    _, X, y = golf()
    plain, smooth = (C45Classifier(laplace=laplace).fit(X, y) for laplace in (False, True))
    assert plain.predict_proba(X[:1]).tolist() == [[1.0, 0.0]]
    assert np.allclose(smooth.predict_proba(X[:1]), [[4 / 5, 1 / 5]])
    with pytest.raises(ValueError, match="laplace"):
        smooth.compact().predict_proba(X)


def test_windows_keep_what_is_right_for_all_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] > 0) & (X[:, 1] > 0)
    model = C45Classifier(windowing=True, random_state=1).fit(X, y)
    again = C45Classifier(windowing=True, random_state=1).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.trees_.weight[0] == 200
    assert np.array_equal(model.trees_.threshold, again.trees_.threshold, equal_nan=True)


def test_rows_set_aside_prune_as_well():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] > 0) ^ (rng.random(150) < 0.25)
    whole = C45Classifier(prune=None, mdl_correction=False).fit(X, y)
    for variant in ("j48", "release8"):
        params = {"prune": "reduced_error", "mdl_correction": False, "variant": variant}
        model = C45Classifier(random_state=0, **params).fit(X, y)
        assert model.trees_.weight[0] == 100
        assert 1 < model.n_leaves_ < whole.n_leaves_


def test_a_fitted_model_is_pruned_like_one_in_fit():
    _, X, y = read("labor.csv", LABOR_NUMBERS)
    whole, pruned = C45Classifier(prune=None).fit(X, y), C45Classifier().fit(X, y)
    later = whole.prune(ErrorBased(0.25, estimate="j48"), X, y)
    assert later.n_nodes_ == pruned.n_nodes_
    assert np.allclose(later.predict_proba(X), pruned.predict_proba(X))
    assert whole.n_nodes_ == 22


def test_a_level_that_fit_never_saw_is_missing():
    _, X, y = golf()
    model = C45Classifier().fit(X, y)
    asked = np.array([["foggy", 80.0, 80.0, "false"], [None, 80.0, 80.0, "false"]], dtype=object)
    first, second = model.predict_proba(asked)
    assert np.array_equal(first, second)


def test_one_class_is_one_leaf_and_one_row_is_enough():
    assert C45Classifier().fit([[1.0], [2.0]], ["x", "x"]).n_nodes_ == 1
    assert C45Classifier(windowing=True).fit([[1.0]], ["x"]).predict([[5.0]]).tolist() == ["x"]


def test_bad_parameters_are_named_and_a_fitted_model_survives():
    model = C45Classifier().fit([[1.0], [2.0]], [0, 1])
    tree = model.trees_
    for name, value in (
        ("confidence", 1.0),
        ("min_objects", 0),
        ("min_gap", -1e-9),
        ("variant", "j4.8"),
        ("n_folds", 1),
        ("prune", "reduced"),
        ("subset", 1.5),
    ):
        with pytest.raises((ValueError, TypeError), match=f"'{name}' parameter of C45Classifier"):
            model.set_params(**{name: value}).fit([[1.0]], [0])
        model = model.set_params(**{name: C45Classifier().get_params()[name]})
    with pytest.raises(ValueError, match=r"subset=True .* binary_splits=True"):
        C45Classifier(subset=True, binary_splits=True).fit([[1.0]], [0])
    with pytest.raises(ValueError, match="learns one"):
        model.fit([[1.0], [2.0]], [[0, 1], [1, 0]])
    assert model.trees_ is tree


def fits(seed):
    """Return a table of categories and numbers with holes, its nominal columns, classes and weights."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(4, 40)), int(rng.integers(1, 4))
    nominal, X = rng.random(p) < 0.5, np.empty((n, p))
    for f in range(p):
        column = rng.integers(0, rng.integers(2, 7), n).astype(float)
        column[rng.random(n) < rng.choice([0.0, 0.0, 0.2, 0.5])] = NAN
        known = ~np.isnan(column)
        if known.any():
            column[known] = np.unique(column[known], return_inverse=True)[1]
        X[:, f] = column if nominal[f] else column * 0.75
    follows = np.nan_to_num(X[:, 0]).astype(int) % 2
    y = np.where(rng.random(n) < 0.7, follows, rng.integers(0, 3, n))
    return X, nominal, np.unique(y, return_inverse=True)[1], rng.choice([1.0, 2.0], n)


@examples(80)
@given(st.integers(0, 1 << 30), st.sampled_from([1, 2, 4]), st.sampled_from(["j48", "release8"]))
def test_growth_is_that_of_the_slow_way(seed, m, variant):
    X, nominal, y, w = fits(seed)
    n_levels = [int(np.nanmax(column)) + 1 if not np.isnan(column).all() else 0 for column in X.T]
    rules = naive_c45.J48 if variant == "j48" else naive_c45.RELEASE_8
    k = int(y.max()) + 1
    wanted = naive_c45.grown(X, y, w, nominal, n_levels, k, m, rules)
    params = {"min_objects": m, "variant": variant, "categorical_features": np.flatnonzero(nominal).tolist()}
    model = C45Classifier(prune=None, collapse=False, **params).fit(X, y, w)
    assert model.n_leaves_ == len(naive_c45.leaves(wanted))
    assert np.allclose(model.predict_proba(X), [naive_c45.said(wanted, row) for row in X])


@examples(80)
@given(st.integers(0, 1 << 30), st.sampled_from([0.05, 0.25, 0.5]), st.booleans())
def test_pruning_is_that_of_the_slow_way(seed, confidence, raises):
    X, nominal, y, w = fits(seed)
    n_levels = [int(np.nanmax(column)) + 1 if not np.isnan(column).all() else 0 for column in X.T]
    k = int(y.max()) + 1
    wanted = naive_c45.grown(X, y, w, nominal, n_levels, k, 1)
    naive_c45.collapse(wanted)
    every = np.arange(len(y))

    def extra(n, errors):
        return extra_errors(n, errors, confidence, "j48")

    naive_c45.prune(wanted, X, y, every, w, k, extra, raises=raises)
    params = {"min_objects": 1, "confidence": confidence, "subtree_raising": raises}
    model = C45Classifier(categorical_features=np.flatnonzero(nominal).tolist(), **params).fit(X, y, w)
    check(model.trees_, X.shape[1])
    assert model.n_leaves_ == len(naive_c45.leaves(wanted))
    assert np.allclose(model.predict_proba(X), [naive_c45.said(wanted, row) for row in X])


def test_bins_cut_where_few_values_are_and_near_there_where_many_are():
    rng = np.random.default_rng(0)
    few = rng.integers(0, 12, (400, 3)).astype(float)
    y = (few[:, 0] > 5) ^ (rng.random(400) < 0.1)
    exact, binned = (C45Classifier(max_bins=bins).fit(few, y).trees_ for bins in (None, 12))
    assert same_trees(exact, binned)
    n = 2000 if COMPILED else 600
    many = rng.normal(size=(n, 3))
    many[rng.random(many.shape) < 0.05] = np.nan
    label = np.nan_to_num(many[:, 0]) > 0.3
    tree = C45Classifier(max_bins=16).fit(many, label)
    cuts = tree.trees_.threshold[np.isfinite(tree.trees_.threshold)]
    assert np.isin(cuts, many).all()  # values of the table, as without bins
    assert tree.score(many, label) > 0.9
    table = bin_batches(lambda: [many[: n // 3], many[n // 3 :]], max_bins=16)
    assert C45Classifier(max_bins=16).fit(table, label).score(many, label) > 0.9
    assert C45Classifier(max_bins=16, windowing=True).fit(many, label).score(many, label) > 0.9
