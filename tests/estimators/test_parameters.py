import math

import numpy as np
import pytest
from strategies import compiled_where

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier
from dtnumba.estimators.bases.parameters import features_drawn
from dtnumba.pruners.bound import Bound

X, Y = np.arange(8.0).reshape(4, 2), [0, 1, 0, 1]

LEGAL = {
    "splitter": ["best", "random"],
    "max_depth": [None, 1, np.int64(3)],
    "min_samples_split": [2, 3, 1.0, 0.1, np.float32(0.5)],
    "min_samples_leaf": [1, 2, 0.5, np.int8(1)],
    "min_weight_fraction_leaf": [0, 0.0, 0.5, np.float32(0.1)],
    "max_features": [None, "sqrt", "log2", 1, 10, 0.1, 1.0],
    "random_state": [None, 0, np.int64(5), np.random.RandomState(0), np.random.default_rng(0)],
    "max_leaf_nodes": [None, 2, 100],
    "min_impurity_decrease": [0, 0.1, 5],
    "max_bins": [None, 2, 255],
    "categorical_features": ["from_dtype", None, [], np.zeros(2, bool), [np.bool_(False)] * 2],
    "categorical_split": ["subset", "one_vs_rest"],
    "numeric_split": ["threshold"],
    "missing": ["learned", "error"],
    "use_surrogate": [0, 1, 2],
    "surrogate_style": [0, 1],
    "max_surrogates": [0, 5],
    "monotonic_cst": [None, [0, 0], np.array([1, -1])],
    "interaction_cst": [None, [[0], [1]], "pairwise", "no_interactions"],
    "min_significance": [None, 0.05, 1e-9],
    "validation_fraction": [None, 0.5],
    "ccp_alpha": [0.0, 0.01],
    "prune": [None, "error_based", "simplify", Bound(delta=0.1)],
    "costs": [None, [[0, 1], [2, 0]], {(0, 1): 3}],
    "priors": [None, [0.5, 0.5], {0: 0.1, 1: 0.9}],
    "n_jobs": [None, 1, -1, 2],
    "criterion": ["gini", "entropy", "log_loss", "error", "gain_ratio", "twoing", "chi2", "mdl"],
    "class_weight": [None, {0: 2}, "balanced", [{0: 2}], ["balanced"]],
}

# Values of these take kernels of their own, which the tests of their modules compile.
WITH_KERNELS = {"criterion", "monotonic_cst", "interaction_cst", "min_significance", "prune"}

ILLEGAL = [
    ("splitter", "worst", ValueError, "a str among {'best', 'random'"),
    ("splitter", 1, ValueError, "a str among"),
    ("max_depth", 0, ValueError, r"an int in the range \[1, inf\) or None"),
    ("max_depth", 1.5, ValueError, "an int"),
    ("max_depth", True, TypeError, "an int"),
    ("max_depth", [1], TypeError, "an int"),
    ("min_samples_split", 1, ValueError, r"an int in the range \[2, inf\) or a float in the range \(0.0, 1.0\]"),
    ("min_samples_split", 1.5, ValueError, "a float in the range"),
    ("min_samples_split", math.nan, ValueError, "a float in the range"),
    ("min_samples_leaf", 0, ValueError, r"an int in the range \[1, inf\) or a float in the range \(0.0, 1.0\)"),
    ("min_samples_leaf", 1.0, ValueError, "a float in the range"),
    ("min_weight_fraction_leaf", 0.6, ValueError, r"a float in the range \[0.0, 0.5\]"),
    ("min_weight_fraction_leaf", "half", ValueError, "a float in the range"),
    ("max_features", 0, ValueError, "a str among {'sqrt', 'log2'} or None"),
    ("max_features", 1.5, ValueError, r"a float in the range \(0.0, 1.0\]"),
    ("max_features", "auto", ValueError, "a str among"),
    ("max_leaf_nodes", 1, ValueError, r"an int in the range \[2, inf\)"),
    ("min_impurity_decrease", -0.1, ValueError, r"a float in the range \[0.0, inf\)"),
    ("min_impurity_decrease", math.inf, ValueError, "a float in the range"),
    ("max_bins", 1, ValueError, r"an int in the range \[2, 255\] or None"),
    ("max_bins", 256, ValueError, "an int in the range"),
    ("min_significance", 0.0, ValueError, "a float"),
    ("validation_fraction", 1.0, ValueError, "a float"),
    ("ccp_alpha", -0.1, ValueError, r"a float in the range \[0.0, inf\)"),
    ("prune", "hard", ValueError, "'bound'"),
    ("n_jobs", 0, ValueError, "an int other than 0"),
    ("n_jobs", "all", ValueError, "an int other than 0"),
    ("criterion", "giny", ValueError, "a str among {'gini', 'entropy', 'log_loss'.*a criterion object or a function"),
    ("criterion", "squared_error", ValueError, "a str among"),
    ("criterion", None, TypeError, "a criterion object"),
    ("class_weight", "even", ValueError, "a dict of class to weight, 'balanced', a list of these"),
    ("class_weight", 3, ValueError, "a dict of class to weight"),
    ("class_weight", [1, 2], TypeError, "a dict of class to weight"),
]


@pytest.mark.small
@pytest.mark.parametrize("name", compiled_where(LEGAL, LEGAL.keys() - WITH_KERNELS))
def test_legal_values_are_taken(name):
    assert set(LEGAL) == set(DecisionTreeClassifier().get_params())
    for value in LEGAL[name]:
        DecisionTreeClassifier(**{name: value}).fit(X, Y)


@pytest.mark.parametrize(("name", "value", "kind", "rule"), ILLEGAL, ids=str)
def test_an_illegal_value_is_named_with_the_rule(name, value, kind, rule):
    words = f"The '{name}' parameter of DecisionTreeClassifier must be .*{rule}.*. Got .* instead."
    with pytest.raises(kind, match=words):
        DecisionTreeClassifier(**{name: value}).fit(X, Y)


def test_an_illegal_random_state_is_named():
    for value in ("seed", -1, 2**64, True):
        with pytest.raises((ValueError, TypeError), match="random_state"):
            DecisionTreeClassifier(random_state=value).fit(X, Y)


def test_criteria_of_the_other_task_are_refused():
    with pytest.raises(ValueError, match=r"The 'criterion' parameter of .*Regressor must be a str among \{'squared"):
        DecisionTreeRegressor(criterion="gini").fit(X, Y)


def test_a_share_of_the_rows_is_rounded_up():
    X = np.arange(10.0)[:, None]
    model = DecisionTreeClassifier(min_samples_leaf=0.21).fit(X, np.arange(10) % 2)
    assert model.tree_.n_node_samples.min() >= 3
    model = DecisionTreeClassifier(min_samples_split=0.61).fit(X, np.arange(10) % 2)
    assert model.tree_.n_node_samples[model.tree_.children_left >= 0].min() >= 7


def test_a_share_of_the_features_is_at_least_one():
    drawn = {None: 10, "sqrt": 3, "log2": 3, 4: 4, 40: 10, 0.55: 5, 0.01: 1, 1.0: 10}
    assert {given: features_drawn(given, 10) for given in drawn} == drawn
    assert features_drawn("log2", 1) == 1


def test_a_generator_moves_on_from_fit_to_fit():
    X = np.random.default_rng(0).normal(size=(60, 5))
    y = np.arange(60) % 2
    state = np.random.RandomState(0)
    first, second = (ExtraTreeClassifier(random_state=state).fit(X, y).tree_.threshold for _ in range(2))
    assert not np.array_equal(first, second)
    again = ExtraTreeClassifier(random_state=np.random.RandomState(0)).fit(X, y).tree_.threshold
    assert np.array_equal(first, again)
