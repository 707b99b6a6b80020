"""min_significance: the tree is the whole one, cut at the first split on each path that fails SciPy's test."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import early_stopping as naive_stopping
from strategies import Sample, fit, interpreted_only, same_trees, samples

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier, RandomForestRegressor
from dtnumba.trees.check import check
from dtnumba.trees.layout import one_tree
from dtnumba.trees.subtrees import cut_below

LEVELS = st.sampled_from([0.9, 0.3, 0.05, 1e-3])


def cut_where_it_fails(whole, sample, level, *, classes):
    """Cut a whole tree by the p-values of its splits; None where one is too close to the level to tell."""
    (X, y, w), _ = sample.for_naive(classes=classes)
    p = naive_stopping.p_values(whole, X, y if classes else y.astype(float), w, classes=classes)
    if (np.abs(p / level - 1) < 1e-6).any():
        return None
    return cut_below(whole, p > level)


# Each is two kernels of its own or more; of numbers those of the threads below are compiled.
@pytest.mark.parametrize(
    ("params", "criterion"),
    [
        pytest.param({}, "gini", id="exact-gini"),
        pytest.param({}, "squared_error", id="exact-squared_error", marks=interpreted_only),
        pytest.param({"max_bins": 255}, "gini", id="bins-gini", marks=interpreted_only),
        pytest.param({"max_bins": 255}, "squared_error", id="bins-squared_error", marks=interpreted_only),
    ],
)
def test_growth_stops_at_the_first_split_that_chance_explains(params, criterion):
    classes = criterion == "gini"
    kind = {"narrow": True} if classes else {"weight": ("whole", "real"), "dtypes": (np.float64,)}

    @settings(max_examples=25)
    @given(samples(classes=classes, **kind), LEVELS)
    def check_cut(sample, level):
        found = fit(sample, criterion, min_significance=level, **params).trees_
        expected = cut_where_it_fails(fit(sample, criterion, **params).trees_, sample, level, classes=classes)
        assert expected is None or same_trees(check(found), expected)

    check_cut()


def noisy(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    wrong = rng.random(n) < 0.2
    return X, ((X[:, 0] > 0) ^ wrong).astype(int), X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=n)


@interpreted_only
def test_of_several_outputs_one_must_pass_at_its_share_of_the_level():
    X, label, number = noisy(120)
    other = np.random.default_rng(1).integers(0, 3, 120)
    for y, criterion in (
        (np.stack([other, label], 1), "gini"),
        (np.stack([other, number], 1).astype(float), "poisson"),
    ):
        y = y - y.min(axis=0)
        sample = Sample(X, y, None)
        whole = fit(sample, criterion).trees_
        expected = cut_where_it_fails(whole, sample, 0.01, classes=criterion == "gini")
        assert 1 < expected.n_leaves < whole.n_leaves
        assert same_trees(fit(sample, criterion, min_significance=0.01).trees_, expected)


@pytest.mark.parametrize(
    "forest", [RandomForestClassifier, pytest.param(RandomForestRegressor, marks=interpreted_only)]
)
def test_forests_stop_as_trees_do_and_count_rows_as_often_as_they_were_drawn(forest):
    X, label, number = noisy(150)
    classes = forest is RandomForestClassifier
    y = label if classes else number
    params = {"random_state": 0, "n_estimators": 2, "max_features": 2}
    whole, found = (forest(**params, **more).fit(X, y) for more in ({}, {"min_significance": 1e-3}))
    assert found.estimators_[0].min_significance == 1e-3
    for t, rows in enumerate(whole.estimators_samples_):
        weight = np.bincount(rows, minlength=150).astype(float)
        expected = cut_where_it_fails(one_tree(whole.trees_, t), Sample(X, y, weight), 1e-3, classes=classes)
        assert 1 < expected.n_leaves < whole.trees_.n_leaves / 2
        # Inner nodes of regression forests add up their children, so that cutting these moves a last bit.
        assert same_trees(one_tree(found.trees_, t), expected, but=() if classes else ("value", "impurity"))
        assert np.allclose(one_tree(found.trees_, t).value, expected.value, rtol=1e-12)


def test_all_threads_together_stop_where_one_does():
    X, label, number = noisy(6000)
    for model, y in ((DecisionTreeClassifier(max_bins=64), label), (DecisionTreeRegressor(), number)):
        model.set_params(min_significance=1e-4)
        one, two = (model.set_params(n_jobs=n).fit(X, y).trees_ for n in (1, 2))
        assert 2 < one.n_leaves < 200
        assert same_trees(one, two)


def test_splits_that_fail_take_nothing_of_the_budget_of_leaves():
    X, label, _ = noisy()
    stops = DecisionTreeClassifier(min_significance=0.05).fit(X, label).n_leaves_
    assert stops > 2
    for most in range(2, stops + 3):
        model = DecisionTreeClassifier(min_significance=0.05, max_leaf_nodes=most).fit(X, label)
        assert model.n_leaves_ == min(most, stops)


def test_medians_have_no_f_test():
    X, _, number = noisy(50)
    with pytest.raises(ValueError, match=r"F test compares means.*use criterion='squared_error'"):
        DecisionTreeRegressor(criterion="absolute_error", min_significance=0.05).fit(X, number)
    with pytest.raises(ValueError, match="F test compares means"):
        RandomForestRegressor(criterion="absolute_error", min_significance=0.05).fit(X, number)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 2, "0.05", True])
def test_the_level_is_a_probability(level):
    with pytest.raises((ValueError, TypeError), match=r"'min_significance' parameter .* in the range"):
        DecisionTreeClassifier(min_significance=level).fit([[0], [1]], [0, 1])
