"""ONNX models, asked by ONNX Runtime, say what the model says, to the bit."""

from importlib.util import find_spec

import numpy as np
import pytest
from exported import ALL_KINDS, KINDS, made, of_any_table

from dtnumba import DecisionGraphClassifier, DecisionTreeClassifier, RandomForestClassifier, export
from dtnumba.export.as_onnx import OPSETS
from dtnumba.export.languages import unfolded

pytestmark = pytest.mark.skipif(
    find_spec("onnx") is None or find_spec("onnxruntime") is None, reason="onnx or ONNX Runtime is not installed"
)
NO_TREES = {"rules", "rules, votes", "decision list"}
NO_NODES = {"fractional", "fractional, a number", "c45", "c45, float32", "c45, laplace", "forest, fractional, hard"}
NO_NODES |= {"c50", "c50, costs", "c50, trials", "c50, trials, float32"}
NO_NODES |= {"forest, fractional", "forest, surrogates", "intervals", "surrogates", "surrogates, numbers"}
OF_NUMBERS = {
    *("tree, numbers", "tree, float32", "stump", "leaf", "regression, two outputs", "extra tree, a number"),
    "incremental, a number",
    "graph of a tree",
    *("forest, two classes", "forest, two outputs", "forest of one", "extra trees", "extra trees, numbers"),
}


@pytest.mark.parametrize("name", ALL_KINDS)
@pytest.mark.parametrize("opset", OPSETS)
def test_it_says_what_the_model_says(name, opset):
    model, X = made(name)
    if name in NO_TREES:
        with pytest.raises(export.ExportError, match="this format has no nodes for"):
            export.onnx(model, opset)
    elif name in NO_NODES:
        with pytest.raises(export.ExportError, match=r"onnx: nodes? \d+"):
            export.onnx(model, opset)
    elif opset < 5 and name not in OF_NUMBERS:
        with pytest.raises(export.ExportError, match=r"nodes? \d+.* has no tests for sets of categories; pass opset=5"):
            export.onnx(model, opset)
    else:
        assert export.verify(export.onnx(model, opset), model, X)


@of_any_table(set(KINDS) - NO_TREES - NO_NODES)
def test_it_does_so_for_any_table(name, model, X):
    try:
        onnx = export.onnx(model)
    except export.ExportError as error:
        assert "two ranges lead to one child" in str(error)  # noqa: PT017  of some tables
        return
    assert export.verify(onnx, model, X)


def test_the_file_is_a_checked_model_of_doubles():
    import onnx

    model, _ = made("tree")
    made_model = export.onnx(model)
    read = onnx.load_from_string(bytes(made_model))
    onnx.checker.check_model(read)
    assert repr(made_model) == "<ONNX model of 4 columns: label, probabilities>"
    assert {entry.key for entry in read.metadata_props} == {"levels of x2", "levels of x3"}
    assert read.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.DOUBLE


def test_sets_of_many_categories():
    X = np.arange(300)[:, None] % 150
    y = np.random.default_rng(0).integers(0, 2, 150)[X[:, 0]]
    forest = RandomForestClassifier(n_estimators=3, categorical_features=[0], random_state=0).fit(X, y)
    assert export.verify(export.onnx(forest), forest, X)


@pytest.mark.parametrize("opset", OPSETS)
def test_a_graph_whose_tests_are_shared_is_the_tree_that_it_is(opset, monkeypatch):
    X = (np.arange(16)[:, None] >> np.arange(4)) & 1
    graph = DecisionGraphClassifier.from_tree(DecisionTreeClassifier().fit(X, X.sum(axis=1) % 2))
    assert graph.n_joins_ > 2
    assert export.verify(export.onnx(graph, opset), graph, X)
    monkeypatch.setattr(unfolded, "_MOST_WAYS", 15)
    with pytest.raises(export.ExportError, match=r"onnx: its trees do not join.* has 16 ways.*; export it as C"):
        export.onnx(graph, opset)


def test_levels_of_a_graph_whose_tests_are_shared():
    X = np.array([[a, b, c] for a in range(4) for b in range(3) for c in range(2)] * 10)
    y = (X[:, 0] % 2 + X[:, 1] + X[:, 2]) % 3
    params = {"categorical_features": [0, 1], "n_jobs": 1}
    graph = DecisionGraphClassifier.from_tree(DecisionTreeClassifier(categorical_split="multiway", **params).fit(X, y))
    assert (graph.trees_.feature[graph.trees_.join >= 0] >= 0).any()
    assert export.verify(export.onnx(graph), graph, X)


def test_what_it_cannot_say_is_named():
    tree = DecisionTreeClassifier().fit([[1], [2]], [0, 1])
    with pytest.raises(ValueError, match="opset=4: must be one of 5, 3, 1"):
        export.onnx(tree, 4)
    mixed = np.array([b"a", b"b"], object)
    with pytest.raises(export.ExportError, match="not all text or all numbers"):
        export.onnx(DecisionTreeClassifier().fit([[1], [2]], mixed))
