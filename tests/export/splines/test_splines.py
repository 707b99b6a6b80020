"""Splines in every format that has sums say what the model says; the others refuse them and name those that do not."""

from importlib.util import find_spec

import numpy as np
import pytest
from exported import SPLINES, fitted, made
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, interpreted_only

from dtnumba import MARSClassifier, MARSRegressor, export

pytestmark = pytest.mark.small
TWO = sorted(SPLINES)[:2]
ALL = [name if name in TWO else pytest.param(name, marks=interpreted_only) for name in sorted(SPLINES)]
WAYS = {
    "python": export.python,
    "numpy": lambda model: export.python(model, style="numpy"),
    "c": export.c,
    "json": export.json,
    "json again": lambda model: export.json(export.from_json(export.json(model))),
    "sqlite": lambda model: export.sql(model, "a table", dialect="sqlite", proba=True),
    "duckdb": lambda model: export.sql(model, proba=True),
    "onnx": export.onnx,
    "onnx, float32": lambda model: export.onnx(model, opset=1),
}


def written(way, model):
    needed = {"onnx": "onnxruntime", "duckdb": "duckdb"}.get(way.partition(",")[0])
    if needed and find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    return WAYS[way](model)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("way", WAYS)
def test_it_says_what_the_model_says(way, name):
    model, X = made(name)
    checked = export.verify(written(way, model), model, X)
    assert checked.n_rows == len(X)
    assert checked.n_made > 0


@interpreted_only
@given(
    st.sampled_from(sorted(SPLINES)),
    st.sampled_from(sorted(set(WAYS) - {"c", "onnx, float32"})),
    st.integers(0, 2**16),
    st.integers(6, 60),
)
@examples(40)
def test_it_does_so_for_any_table(name, way, seed, n):
    model, X = fitted(name, seed, n)
    assert export.verify(written(way, model), model, X)


def test_one_class_and_a_constant_are_written():
    X = np.arange(6.0)[:, None]
    for model in (MARSClassifier().fit(X, ["k"] * 6), MARSRegressor().fit(X, np.full(6, 2.5))):
        for way in ("python", "numpy", "c", "json", "sqlite"):
            assert export.verify(written(way, model), model, X)


def test_a_number_that_is_changed_is_found():
    model, X = made("splines")
    source = export.python(model)
    changed = type(source)(source.replace("s0 += t * ", "s0 += 1.000001 * t * ", 1))
    vars(changed).update(vars(source))
    with pytest.raises(export.ExportMismatchError, match="number"):
        export.verify(changed, model, X)


def test_rows_that_the_model_refuses_are_not_asked():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = MARSRegressor().fit(X, np.abs(X[:, 0]))
    source = export.python(model)
    assert source.takes(np.array([[0.0, 1.0], [np.nan, 1.0], [np.inf, 1.0]])).tolist() == [True, False, False]
    filled = MARSRegressor(missing="indicator").fit(X, np.abs(X[:, 0]))
    assert export.python(filled).takes(np.array([[np.nan, 1.0], [np.inf, 1.0]])).tolist() == [True, False]


@pytest.mark.parametrize("name", ["dot", "svg", "html", "network", "treelite", "to_sklearn", "frame"])
def test_formats_of_nodes_refuse_them(name):
    model, _ = made("splines")
    if name == "treelite" and find_spec("treelite") is None:
        pytest.skip("treelite is not installed")
    with pytest.raises(export.ExportError, match=r"a sum of \d+ terms.*export\.text, python, c, sql, json or onnx"):
        getattr(export, name)(model)


def test_styles_of_trees_refuse_them():
    model, _ = made("splines")
    with pytest.raises(export.ExportError, match="a sum of"):
        export.text(model, "rpart")
    with pytest.raises(export.ExportError, match="pass style='case'"):
        export.sql(model, style="table")
    with pytest.raises((export.ExportError, TypeError)):
        export.rules(model)


def test_an_equation_names_columns_and_levels():
    X = np.array([["ab"[k // 3 % 2], float(k)] for k in range(60)], object)
    y = np.where(X[:, 0] == "b", 2.0, 0.0) + np.maximum(X[:, 1].astype(float) - 20.0, 0) - 7.5
    model = MARSRegressor(minspan=1, endspan=1).fit(X, y)
    assert export.text(model, feature_names=["kind", "dose"]).splitlines() == [
        "  - 7.5",
        "  +   1 * h(dose-20)",
        "  +   2 * kindb",
    ]
    three = MARSClassifier().fit(X[:, 1:], [0, 1, 2] * 20)
    assert [line for line in export.text(three).splitlines() if "odds" in line] == [
        "log odds of 1 against 0",
        "log odds of 2 against 0",
    ]


def test_a_page_of_a_notebook_lists_the_terms():
    model, _ = made("splines")
    markup = model._repr_html_()
    assert "Terms" in markup
    assert f"{model.n_terms_} terms" in markup
    assert len(markup) < 60_000


def test_signs_of_control_are_spelled_in_texts():
    pandas = pytest.importorskip("pandas")
    x = np.linspace(0.0, 10.0, 60)
    frame = pandas.DataFrame({"do\x1bse": x, "ne\nw": x[::-1] ** 2})
    for labels in (["go\x85", "st\nop"], ["go\x85", "st\nop", "we\x1bll"]):
        model = MARSClassifier().fit(frame, np.array(labels)[np.digitize(x, [3.3, 6.6][: len(labels) - 1])])
        for text in (model.summary(), export.text(model)):
            assert all(line.isprintable() for line in text.split("\n"))
            assert "do\\x1bse" in text or "ne\\nw" in text
            assert "st\\nop" in text
