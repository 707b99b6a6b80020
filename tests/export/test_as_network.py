"""Networks say what trees say; Nilsson's shapes: two layers for Boolean trees, three where numbers are compared."""

import itertools

import numpy as np
import pytest
from exported import ALL_KINDS, KINDS, made, of_any_table

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, export

NOT = {name for name in KINDS if name.startswith(("c45", "c50", "fractional", "forest, fractional", "surrogates"))}
NOT |= {"forest, surrogates", "rules", "rules, votes", "decision list"}


@pytest.mark.parametrize("name", ALL_KINDS)
def test_it_says_what_the_model_says(name):
    model, X = made(name)
    if name in NOT:
        with pytest.raises(export.ExportError, match=r"network: nodes? \d+|rules"):
            export.network(model)
        return
    net = export.network(model)
    assert net.verify(X)
    assert net.predict(X).tolist() == model.predict(X).tolist()


@of_any_table(set(KINDS) - NOT)
def test_it_does_so_for_any_table(name, model, X):
    assert export.network(model).verify(X)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_boolean_trees_are_two_layers(n):
    X = np.array(list(itertools.product((0, 1), repeat=n)))
    for seed in range(8):
        y = np.random.default_rng(seed).integers(0, 2, len(X))
        tree = DecisionTreeClassifier().fit(X, y)
        net = export.network(tree, boolean=True)
        assert len(net.layers) == 2
        assert net.predict(X).tolist() == y.tolist()
        assert net.verify(X)
        fired = net.layers[0].fires(net.encode(X))
        assert (fired.sum(axis=1) == 1).all()
        assert set(np.unique(net.layers[0].weights)) <= {-1.0, 0.0, 1.0}
    with pytest.raises(ValueError, match="row 0 holds something else than 0 and 1"):
        export.network(DecisionTreeClassifier().fit([[0], [1]], [0, 1]), boolean=True).predict([[0.5]])


def test_numbers_are_three_layers_and_categories_two():
    X = np.array([[1.0, 0], [2.0, 1], [3.0, 2], [4.0, 1]])
    y = ["a", "b", "a", "c"]
    three = export.network(DecisionTreeClassifier().fit(X, y))
    assert len(three.layers) == 3
    assert three.layers[0].weights.shape[1] == len(three.inputs)
    two = export.network(DecisionTreeClassifier(categorical_features=[0]).fit(X[:, :1], y))
    assert len(two.layers) == 2
    assert "x0 is 1.0" in two.inputs
    numbers = export.network(DecisionTreeRegressor().fit(X, [1.0, 2.0, 3.0, 4.0]))
    assert len(numbers.layers) == 2  # tests and leaves: what leaves say is added up by no threshold
    assert numbers.predict(X).tolist() == [1.0, 2.0, 3.0, 4.0]


def test_it_prints_every_unit():
    X = np.array([[1.0, 0], [2.0, 1], [3.0, 2], [4.0, 1]])
    net = export.network(DecisionTreeClassifier().fit(X[:, :1], ["a", "a", "b", "b"]))
    lines = str(net).splitlines()
    assert lines[0] == repr(net)
    assert any(line.startswith("a0 fires where -1 x0 ") and line.endswith(">= -2.5") for line in lines)
    assert sum(" fires where " in line for line in lines) == sum(len(layer.thresholds) for layer in net.layers)
    assert lines[-1].startswith("leaf 1 says [")
