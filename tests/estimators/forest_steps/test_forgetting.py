"""Forests that forget rows: array for array the forests that never saw them."""

import copy

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from naive import forgetting as naive
from strategies import interpreted_only

import dtnumba
from dtnumba import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    ObliqueForestClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from dtnumba.estimators.forest_steps import forgetting
from dtnumba.growth.forest import keyed_codes, regrow
from dtnumba.runtime.kernels import COMPILED

pytestmark = pytest.mark.filterwarnings("ignore:Some inputs do not have OOB", "ignore:The importances of features")
FOREST = {"bootstrap": "by_row", "random_state": 3, "n_jobs": 1}


@pytest.fixture(autouse=True)
def _small_nodes_are_followed_too(monkeypatch):
    """The tables here are small, and all their nodes would be grown as a whole."""
    monkeypatch.setattr(regrow, "LEAST_FOLLOWED", 4)


@pytest.fixture
def ways(monkeypatch):
    """Whether each removal followed the trees."""
    taken, choose = [], forgetting._followed_plan

    def noted(*args):
        plan = choose(*args)
        taken.append(plan is not None)
        return plan

    monkeypatch.setattr(forgetting, "_followed_plan", noted)
    return taken


def same_forests(one, other):
    """Compare all arrays of the trees, and all that was learned beside them."""
    for name in one.trees_._fields:
        mine, theirs = getattr(one.trees_, name), getattr(other.trees_, name)
        if isinstance(mine, np.ndarray):
            assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape), name
            np.testing.assert_array_equal(mine, theirs, err_msg=name)
    for name in ("oob_decision_function_", "oob_prediction_", "feature_importances_", "classes_"):
        assert hasattr(one, name) == hasattr(other, name)
        if hasattr(one, name):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for mine, theirs in zip(one.estimators_samples_, other.estimators_samples_, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def table(seed, n, *, coarse=1, p=4):
    """Columns of numbers with missing values and, last, of categories; two labels, three, and a number."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).round(coarse)
    z = X[:, 0] + X[:, 1] * 0.5 + rng.normal(size=n) * 0.5
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, -1] = rng.integers(0, 4, n)
    return X, {"two": (z > 0).astype(int), "three": np.digitize(z, [-0.5, 0.7]), "number": z, "counts": np.rint(z * z)}


def without_each(model, X, y, weight, rows):
    """Forget rows, each as it stands in the rest, and return the rest."""
    left = np.arange(len(X))
    for row in rows:
        model.forget(X[[row]], y[[row]], None if weight is None else weight[[row]])
        left = left[left != row]
    return X[left], y[left], None if weight is None else weight[left]


CASES = [
    (RandomForestClassifier, "two", {"oob_score": True}),
    (RandomForestClassifier, "three", {"max_bins": 6, "min_samples_leaf": 3}),
    (RandomForestClassifier, "two", {"criterion": "gain_ratio", "categorical_features": [3], "max_features": None}),
    (RandomForestRegressor, "number", {"max_bins": None, "oob_score": True}),
    (RandomForestRegressor, "counts", {"criterion": "poisson", "max_depth": 4, "categorical_features": [3]}),
    (ExtraTreesClassifier, "three", {"max_bins": None, "max_samples": 0.6, "replace": False}),
    (ExtraTreesRegressor, "number", {"max_bins": 9}),
]
# Nodes of these depend on more than their rows and paths, and all trees are grown anew.
WHOLE = [
    (RandomForestClassifier, "two", {"max_leaf_nodes": 7}),
    (RandomForestClassifier, "three", {"min_weight_fraction_leaf": 0.05, "ccp_alpha": 0.01}),
    (RandomForestRegressor, "number", {"criterion": "absolute_error"}),
    (RandomForestRegressor, "number", {"min_impurity_decrease": 0.01}),
    (RandomForestClassifier, "two", {"missing": "branch"}),
    (RandomForestClassifier, "two", {"importance": "permutation", "monotonic_cst": [1, 0, 0, 0]}),
]


@pytest.mark.parametrize(
    "case", [CASES[0], CASES[3], *(pytest.param(one, marks=interpreted_only) for one in [*CASES, *WHOLE])]
)
@given(seed=st.integers(0, 999), weights=st.sampled_from([None, (1.0, 2.0, 0.5), (0.0, 1.0, 40.0)]), data=st.data())
@settings(max_examples=3, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_a_forest_that_forgot_rows_never_saw_them(case, seed, weights, data):
    learner, target, params = case
    n = data.draw(st.integers(12, 60))
    X, targets = table(seed, n)
    y, weight = targets[target], None if weights is None else np.resize(weights, n)
    model = learner(4, **FOREST | params).fit(X, y, weight)
    rows = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4, unique=True))
    rest = without_each(model, X, y, weight, rows)
    same_forests(model, learner(4, **FOREST | params).fit(*rest))


@interpreted_only
@pytest.mark.parametrize("case", CASES)
def test_trees_are_followed_and_most_of_their_nodes_stay(case, ways, monkeypatch):
    learner, target, params = case
    X, targets = table(1, 300)
    sizes, splice = [], regrow.spliced

    def noted(trees, touched, parts):
        sizes.append((sum(part.n_nodes for part in parts), int(np.diff(trees.root)[touched].sum()), len(touched)))
        return splice(trees, touched, parts)

    monkeypatch.setattr(regrow, "spliced", noted)
    monkeypatch.setattr(keyed_codes, "SAMPLED", 40)
    model = learner(6, **FOREST | params).fit(X, targets[target])
    before = model.trees_.root.copy()
    for row in range(3):
        model.forget(X[[row]], targets[target][[row]])
    same_forests(model, learner(6, **FOREST | params).fit(X[3:], targets[target][3:]))
    assert any(ways)
    grown, whole, touched = np.sum(sizes, axis=0)
    assert 0 < touched < 6 * sum(ways)
    assert grown < 0.6 * whole
    assert len(before) == 7


@interpreted_only
@pytest.mark.parametrize(
    ("learner", "tree"),
    [(RandomForestClassifier, DecisionTreeClassifier), (RandomForestRegressor, DecisionTreeRegressor)],
)
@pytest.mark.parametrize("weights", [None, (1.0, 3.0, 0.5)])
def test_trees_are_those_of_the_definition(learner, tree, weights):
    """Equal rows are among them, and few values a column, so that codes tell them apart."""
    X, targets = table(5, 40)
    X, y = np.concatenate([X, X[:9]]), np.resize(targets["two" if learner is RandomForestClassifier else "counts"], 49)
    weight = None if weights is None else np.resize(weights, len(X))
    model = learner(5, **FOREST, max_features=2).fit(X, y, weight)
    rows = [3, 20, 41]
    model.forget(X[rows], y[rows], None if weight is None else weight[rows])
    left = np.setdiff1d(np.arange(len(X)), rows)
    grown = naive.forest(tree, {"max_features": 2}, X[left], y[left], 5, 3, None if weight is None else weight[left])
    for mine, theirs in zip(model.estimators_, grown, strict=True):
        for name in ("feature", "threshold", "children_left", "weighted_n_node_samples"):
            np.testing.assert_array_equal(getattr(mine.tree_, name), getattr(theirs.tree_, name))
        np.testing.assert_allclose(mine.tree_.value, theirs.tree_.value, rtol=1e-12)


@interpreted_only
def test_the_last_row_of_a_class_a_level_or_a_bag(ways):
    frame, targets = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}), np.array(["x", "y", "x", "z", "y", "x"])
    frame["b"] = pd.Categorical(["p", "q", "p", "p", "r", "p"])
    model = RandomForestClassifier(8, **FOREST).fit(frame, targets)
    left = list(range(6))
    for row in (3, 1, 4, 0, 2):
        model.forget(frame.iloc[[row]], targets[[row]])
        left.remove(row)
        fresh = RandomForestClassifier(8, **FOREST).fit(frame.iloc[left], targets[left])
        same_forests(model, fresh)
        assert [None if one is None else one.tolist() for one in model.categories_] == [
            None if one is None else one.tolist() for one in fresh.categories_
        ]
    assert model.classes_.tolist() == ["x"]
    assert not all(ways)
    with pytest.raises(ValueError, match="these are all the 1 rows held"):
        model.forget(frame.iloc[left], targets[left])
    same_forests(model, fresh)


@interpreted_only
def test_files_and_pickles_forget_too(tmp_path):
    X, targets = table(2, 50)
    y = np.array(["low", "mid", "high"])[targets["three"]]
    params = FOREST | {"categorical_features": [3], "oob_score": True}
    model = RandomForestClassifier(5, **params).fit(X, y)
    model.save(tmp_path / "forest.dtn")
    others = [model, dtnumba.load(tmp_path / "forest.dtn"), copy.deepcopy(model)]
    for row in (4, 9):
        for one in others:
            one.forget(X[[row]], y[[row]])
        others[1].save(tmp_path / "again.dtn")
        others[1] = dtnumba.load(tmp_path / "again.dtn")
    rest = np.delete(np.arange(50), [4, 9])
    fresh = RandomForestClassifier(5, **params).fit(X[rest], y[rest])
    for one in others:
        same_forests(one, fresh)


@interpreted_only
@pytest.mark.parametrize("importance", ["permutation", "impurity_corrected"])
def test_importances_are_measured_again(importance):
    X, targets = table(3, 60)
    model = RandomForestClassifier(4, **FOREST, importance=importance).fit(X, targets["two"])
    model.forget(X[[5]], targets["two"][[5]])
    rest = np.delete(np.arange(60), 5)
    same_forests(model, RandomForestClassifier(4, **FOREST, importance=importance).fit(X[rest], targets["two"][rest]))


@interpreted_only
def test_parameters_that_were_changed_since_hold_for_all_trees():
    X, targets = table(4, 60)
    for changed in ({"max_depth": 2}, {"max_samples": 0.5}, {"ccp_alpha": 0.05}, {"class_weight": {0: 3}}):
        model = RandomForestClassifier(4, **FOREST).fit(X, targets["two"]).set_params(**changed)
        model.forget(X[[5]], targets["two"][[5]])
        rest = np.delete(np.arange(60), 5)
        same_forests(model, RandomForestClassifier(4, **FOREST | changed).fit(X[rest], targets["two"][rest]))


@interpreted_only
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda X, y: (X + 1.0, y, None), "row 0 of those passed is not among the rows held: it was never given"),
        (lambda X, y: (X, 1 - y, None), "is not among the rows held"),
        (lambda X, y: (X[[0, 1, 0]], y[[0, 1, 0]], None), "row 2 of those passed is asked for more often"),
        (lambda X, y: (X, y, 2.0), "was given to fit with the weight 1"),
        (lambda X, y: (X[:, :2], y, None), "X has 2 features"),
        (lambda X, y: (X[:0], y[:0], None), "0 sample"),
        (lambda X, y: (X, y + 7, None), "labels that the model has not seen"),
        (lambda X, y: (X, y[:1], None), "inconsistent numbers"),
    ],
)
def test_rows_that_are_not_held_change_nothing(change, says):
    X, targets = table(6, 40, coarse=3)
    y = targets["two"]
    model = RandomForestClassifier(3, **FOREST).fit(X, y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=says):
        model.forget(*change(X[:5], y[:5]))
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    model.forget(X[:5], y[:5])
    with pytest.raises(ValueError, match="or it is forgotten already; nothing was forgotten"):
        model.forget(X[2:3], y[2:3])


@interpreted_only
def test_equal_rows_of_different_weights_are_told_by_them():
    X, targets = table(7, 30)
    X, y, weight = np.concatenate([X, X[:1]]), np.append(targets["two"], targets["two"][0]), np.append(np.ones(30), 4.0)
    model = RandomForestClassifier(3, **FOREST).fit(X, y, weight)
    with pytest.raises(ValueError, match="several times, with different weights: pass its sample_weight"):
        model.forget(X[:1], y[:1])
    with pytest.raises(ValueError, match="was given to fit with another weight"):
        model.forget(X[:1], y[:1], 3.0)
    model.forget(X[5:6], y[5:6])  # its weight is known
    model.forget(X[:1], y[:1], 4.0)
    rest = np.delete(np.arange(31), [5, 30])
    same_forests(model, RandomForestClassifier(3, **FOREST).fit(X[rest], y[rest], weight[rest]))


def test_what_draws_by_row_cannot_go_with():
    X, targets = table(8, 30)
    y = targets["two"]
    for params, says in [
        ({"max_samples": 5}, "max_samples=5 is a number of draws of all rows together"),
        ({"class_weight": "balanced"}, "pass a dict of weights"),
        ({"priors": [0.2, 0.8]}, "priors and costs weigh a row"),
        ({"warm_start": True}, "warm_start makes trees"),
        ({"prune": "mdl"}, "prune makes trees"),
        ({"validation_fraction": 0.2}, "rows held out"),
        ({"bootstrap": "by_rows"}, "must be a bool or 'by_row'"),
    ]:
        with pytest.raises(ValueError, match=says):
            RandomForestClassifier(2, **FOREST | params).fit(X, y)
    with pytest.raises(ValueError, match="rows are known by their values"):
        RandomForestClassifier(2, **FOREST).fit(dtnumba.bin_batches(lambda: [X]), y)
    with pytest.raises(ValueError, match="must be a bool"):
        ObliqueForestClassifier(2, bootstrap="by_row").fit(X[:, :3], y)


@interpreted_only
def test_a_forest_without_its_rows_says_how_to_have_them():
    X, targets = table(9, 30)
    y = targets["two"]
    model = RandomForestClassifier(2, **FOREST).fit(X, y)
    for other, why in [
        (RandomForestClassifier(2).fit(X, y), "bootstrap=True draws a row by its place"),
        (model.prune("mdl"), "others than fit has made"),
        (copy.deepcopy(model).compact(), "others than fit has made"),
        (copy.deepcopy(model).set_params(bootstrap=True).fit(X, y), "bootstrap=True draws a row"),
    ]:
        with pytest.raises(ValueError, match=why):
            other.forget(X[:1], y[:1])
    model.forget(X[:1], y[:1])


@interpreted_only
def test_an_interrupt_leaves_the_forest_as_it_was(monkeypatch):
    X, targets = table(10, 60)
    model = RandomForestClassifier(4, **FOREST).fit(X, targets["two"])
    before = dict(vars(model))

    def interrupted(monitor, task, workers):
        monitor.error = KeyboardInterrupt()
        return True

    monkeypatch.setattr(forgetting, "_run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.forget(X[[5]], targets["two"][[5]])
    assert all(vars(model)[name] is value for name, value in before.items())


def test_threads_change_no_bit(ways):
    X, targets = table(11, 3000 if COMPILED else 200)  # so few values a column that all of them have a code
    models = [RandomForestClassifier(5, **FOREST | {"n_jobs": k}).fit(X, targets["two"]) for k in (1, 2)]
    for model in models:
        model.forget(X[-10:], targets["two"][-10:])  # of equal rows the last ones leave
    same_forests(*models)
    same_forests(models[0], RandomForestClassifier(5, **FOREST).fit(X[:-10], targets["two"][:-10]))
    assert all(ways)
