"""Summaries of every kind of model."""

import pytest
from exported import ALL_KINDS, made

from dtnumba import DecisionTreeClassifier

pytestmark = pytest.mark.small


@pytest.mark.parametrize("name", ALL_KINDS)
def test_every_model_has_one(name):
    model, _ = made(name)
    text = model.summary()
    if hasattr(model, "rules_"):
        assert text.count("\nif ") == model.n_rules_
    elif hasattr(model, "forest_"):
        assert f"\n{model.n_estimators_} tree" in text
        assert "\nFeature importances\n" in text
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
