"""Summaries of every kind of model."""

import re
import time

import numpy as np
import pytest
from exported import ALL_KINDS, made

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, export


@pytest.mark.parametrize("name", ALL_KINDS)
def test_every_model_has_one(name):
    model, _ = made(name)
    text = model.summary()
    if hasattr(model, "rules_"):
        assert text.count("\nif ") == model.n_rules_
    elif hasattr(model, "forest_"):
        assert f"\n{model.n_estimators_} tree" in text
        assert "\nFeature importances\n" in text
    elif "Decision tree:" in text:
        for size in getattr(model, "sizes_", [model.n_leaves_]):  # of each trial
            assert re.search(rf"\t +{size} +\d+\(", text)
    elif "Node number 1: 90 observations" in text:
        assert text.count("Node number") == model.n_nodes_
    else:
        assert f"\n{model.n_leaves_} leaves, {model.n_nodes_} nodes, depth {model.depth_}\n" in text
        assert "all rows" in text


def test_names_are_told_and_models_have_to_be_fitted():
    model = DecisionTreeClassifier()
    with pytest.raises(ValueError, match="not fitted"):
        model.summary()
    model.fit([[1.0], [2.0]], [0, 1])
    assert "\nwidth \n  100 \n" in model.summary(feature_names=["width"])
    with pytest.raises(ValueError, match="feature_names has 2"):
        model.summary(feature_names=["a", "b"])
    assert "1 column" in model.compact().summary()


def test_targets_whose_squares_underflow_have_one():
    X = np.arange(20.0)[:, None]
    model = DecisionTreeRegressor(max_depth=2).fit(X, X[:, 0] * 1e-300)
    assert "improve=0\n" in model.summary()
    assert export.splits(model).improve.tolist() == [0.0] * (model.n_nodes_ - model.n_leaves_)


def test_a_column_whose_name_has_a_line_break_stands_on_one_line():
    X = np.array([["a"], ["b"], ["c"]], dtype=object)
    model = DecisionTreeClassifier(categorical_split="multiway").fit(X, [0, 1, 2])
    assert "\nnew\\nline  1.0000\n" in model.summary(feature_names=["new\nline"])


def test_bad_input_is_named():
    X = np.arange(4.0)[:, None]
    model = DecisionTreeClassifier().fit(X, ["a", "a", "b", "b"])
    for digits in (0, -1, 2.5, True, "a", None):
        with pytest.raises(ValueError, match=r"digits=.*: must be a number of digits of 1 or more"):
            model.summary(digits=digits)
    with pytest.raises(TypeError, match=r"feature_names='x': must be a sequence of names"):
        model.summary(feature_names="x")
    with pytest.raises(TypeError, match=r"table=int has no subtrees; pass what"):
        model.summary(table=5)
    with pytest.raises(ValueError, match=r"y holds 'c', which is none of the classes \['a', 'b'\]"):
        model.summary(X, ["a", "a", "b", "c"])
    with pytest.raises(ValueError, match="splits: pass both X and y, got X alone"):
        export.splits(model, X)


@pytest.mark.parametrize("learner", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_many_nodes_take_time_in_proportion(learner):
    """12,000 nodes take half a second; what is looked up anew at each of them took many."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 3)), rng.integers(0, 3, 20_000)
    model = learner(random_state=0).fit(X, y)
    model.summary(digits=5)  # compiled
    start = time.process_time()
    assert model.summary().count("Node number") == model.n_nodes_
    assert time.process_time() - start < 2.5 * model.n_nodes_ / 12_000
