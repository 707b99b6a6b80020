"""Python source says what the model says, to the bit: of every learner, in both styles, nested and as a loop."""

import numpy as np
import pytest
from exported import ALL_KINDS, KINDS, made, of_any_table

from dtnumba import C45Classifier, DecisionTreeClassifier, DecisionTreeRegressor, export
from dtnumba.export import as_python


@pytest.mark.parametrize("name", ALL_KINDS)
@pytest.mark.parametrize("style", as_python.PYTHON_STYLES)
def test_it_says_what_the_model_says(name, style):
    model, X = made(name)
    assert export.verify(export.python(model, style), model, X)


@pytest.mark.parametrize("name", ALL_KINDS)
def test_large_trees_are_tables_and_a_loop(name, monkeypatch):
    monkeypatch.setattr(as_python, "_MOST_NODES", 0)
    model, X = made(name)
    assert export.verify(export.python(model), model, X)


@of_any_table(KINDS)
def test_it_does_so_for_any_table(name, model, X):
    for style in as_python.PYTHON_STYLES:
        assert export.verify(export.python(model, style), model, X)


def test_a_small_tree_is_one_if_in_another():
    X = [[1.0, "a"], [2.0, "b"], [8.0, "a"], [9.0, None]]
    tree = DecisionTreeRegressor(categorical_features=[1]).fit(X, [1.0, 1.0, 5.0, 6.0])
    assert export.python(tree) == (
        "def predict(row):\n"
        "    x0 = float('nan') if row[0] is None else float(row[0])  # x0\n"
        "    if x0 <= 5.0:\n"
        "        return 1.0\n"
        "    else:\n"
        "        if x0 <= 8.5:\n"
        "            return 5.0\n"
        "        else:\n"
        "            return 6.0\n"
    )


def test_deep_trees_and_many_nodes_are_written_in_time_linear_in_the_nodes():
    for n in (40, 60, 240):
        X = np.arange(float(n))[:, None]
        tree = DecisionTreeRegressor().fit(X, 4.0 ** np.arange(n))  # each test cuts off the last row
        assert tree.depth_ == n - 1
        text = export.python(tree)
        assert len(text) < 200 * tree.n_nodes_
        assert export.verify(text, tree, X[:5])


def test_cuts_of_c45_are_for_rows_of_one_type():
    X = np.array([[0.1], [0.3], [0.7], [0.9]])
    model = C45Classifier(min_objects=1, prune=None).fit(X, ["a", "a", "b", "b"])
    wide, narrow = export.python(model), export.python(model, row_type="float32")
    assert [str(one) for one in wide.columns.row_types + narrow.columns.row_types] == ["float64", "float32"]
    assert wide != narrow
    assert export.verify(wide, model, X)
    assert export.verify(narrow, model, X)


def test_what_cannot_be_written_is_named():
    from datetime import date

    X = np.array([[date(2020, 1, 1)], [date(2021, 1, 1)]], object)
    tree = DecisionTreeClassifier(categorical_features=[0]).fit(X, [0, 1])
    with pytest.raises(export.ExportError, match=r"datetime\.date\(2020, 1, 1\) is a category or a class"):
        export.python(tree)
    with pytest.raises(ValueError, match="style='numpi': must be one of 'plain', 'numpy'"):
        export.python(tree, "numpi")
    with pytest.raises(ValueError, match="not fitted yet"):
        export.python(DecisionTreeClassifier())
    with pytest.raises(TypeError, match="must be a fitted estimator"):
        export.python("tree")
