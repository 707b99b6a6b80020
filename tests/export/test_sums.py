"""Tests on sums over several columns: a format says what the model says, on the boundary of every sum, or refuses."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from exported import SUMS, made, of_any_table
from strategies import interpreted_only

from dtnumba import ObliqueTreeClassifier, RuleSetClassifier, export
from dtnumba.export import as_python, pictures
from dtnumba.export.reading import read
from dtnumba.export.replay import hard_rows, model_answers
from dtnumba.trees.linear import sums_of

WAYS = {
    "plain": export.python,
    "loop": export.python,
    "numpy": lambda model: export.python(model, "numpy"),
    "json": export.json,
    "network": export.network,
    "c": export.c,
    "duckdb": lambda model: export.sql(model, proba=True),
    "sqlite": lambda model: export.sql(model, dialect="sqlite"),
    "table": lambda model: export.sql(model, style="table", proba=True),
    "table of sqlite": lambda model: export.sql(model, style="table", dialect="sqlite"),
    "onnx": export.onnx,
    "onnx, opset 3": lambda model: export.onnx(model, opset=3),
    "onnx, opset 1": lambda model: export.onnx(model, opset=1),
}
OF_NUMBERS = {"onnx, opset 3", "onnx, opset 1"}  # which know no sets of categories
IMPORTS = {"duckdb": "duckdb", "table": "duckdb", **dict.fromkeys(("onnx", *OF_NUMBERS), "onnxruntime")}


@interpreted_only
@pytest.mark.parametrize("name", sorted(SUMS))
@pytest.mark.parametrize("way", WAYS)
def test_it_says_what_the_model_says(name, way, monkeypatch):
    if way in IMPORTS:
        pytest.importorskip(IMPORTS[way])
    if way == "loop":
        monkeypatch.setattr(as_python, "_MOST_NODES", 0)
    model, X = made(name)
    if way in OF_NUMBERS and len(model.trees_.level):
        with pytest.raises(export.ExportError, match="sets of categories"):
            WAYS[way](model)
        return
    assert model.trees_.has_sums
    assert export.verify(WAYS[way](model), model, X)


@of_any_table(SUMS)
def test_it_does_so_for_any_table(name, model, X):
    for way in ("plain", "numpy", "json", "sqlite", "network"):
        assert export.verify(WAYS[way](model), model, X)
    if not len(model.trees_.level):
        pytest.importorskip("onnxruntime")
        assert export.verify(WAYS["onnx, opset 1"](model), model, X)


@interpreted_only
def test_rows_that_are_made_lie_on_the_boundaries():
    model, X = made("sums")
    trees = model.trees_
    rows = hard_rows(read(model, sums=True), np.asarray(X, np.float64))
    for node in np.flatnonzero(np.diff(trees.linear.start)).tolist():
        gap = sums_of(trees.linear, node, rows) - trees.threshold[node]
        near = np.abs(gap) <= 1e-12 * max(1.0, abs(trees.threshold[node]))
        assert (gap[near] <= 0).any()
        assert (gap[near] > 0).any()


@interpreted_only
def test_a_network_of_sums_is_three_layers_of_plain_matrices():
    model, X = made("sums")
    net = export.network(model)
    own = net.takes(np.asarray(X, np.float64))
    rows = net.encode(np.asarray(X, np.float64)[own])
    for matrix, bias in net.to_weights():
        rows = (rows @ matrix.T + bias >= 0.0).astype(float)
    assert len(net.layers) == 3
    assert (np.array(model.classes_)[rows.argmax(axis=1)] == model.predict(X)[own]).mean() > 0.98
    with pytest.raises(ValueError, match="row 1 holds an infinity"):
        net.predict([[0.0, 0.0, 0.0, 0.0], [np.inf, 0.0, 0.0, 0.0]])
    with pytest.raises(export.ExportError, match="no column of 0 and 1"):
        export.network(model, boolean=True)


@interpreted_only
@pytest.mark.parametrize("name", ["sums", "sums, a number", "forest of sums", "forest of sums, a number"])
def test_soft_units_come_near_the_model_as_they_get_steep(name):
    model, X = made(name)
    net = export.network(model)
    hard = net.predict_proba(X)
    gaps = [np.abs(net.predict_proba(X, slope=slope) - hard).mean() for slope in (10.0, 100.0, 1e5)]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 0.02
    if hasattr(model, "classes_"):
        assert np.allclose(net.predict_proba(X, slope=5.0).sum(axis=1), 1.0)
    for asked in (net.to_weights, lambda slope: net.predict(X, slope=slope)):
        with pytest.raises(ValueError, match="must be a number above 0"):
            asked(0.0)


@interpreted_only
def test_a_threshold_or_a_stand_in_that_is_off_by_little_is_found():
    model, X = made("sums")
    text = export.json(model)
    linear, node = model.trees_.linear, int(np.flatnonzero(np.diff(model.trees_.linear.start))[0])
    for before in (model.trees_.threshold[node], linear.weight[linear.start[node]]):
        after = before * (1.0 + 1e-14)
        changed = type(text)(text.replace(repr(float(before)), repr(float(after)), 1))
        changed.columns = text.columns
        assert changed != text
        with pytest.raises(export.ExportMismatchError):
            export.verify(changed, model, X)
    is_missing = np.isnan(np.asarray(X)[:, linear.column[linear.start[node]]])
    assert is_missing.any()
    changed = type(text)(text.replace(repr(float(linear.stand_in[linear.start[node]])), "1e9", 1))
    changed.columns = text.columns
    with pytest.raises(export.ExportMismatchError):
        export.verify(changed, model, X)


@interpreted_only
def test_a_sum_is_written_as_it_is_added_up():
    X = np.array([[0, 3], [1, 1], [2, 2], [3, 1], [0, 5], [4, 0]], float)
    tree = ObliqueTreeClassifier().fit(X, ["low", "low", "high", "high", "high", "high"])
    (a, b), cut = tree.trees_.linear.weight.tolist(), float(tree.trees_.threshold[0])
    mean = tree.trees_.linear.stand_in.tolist()
    assert export.python(tree).splitlines()[3] == (
        f"    if (x0 == x0 or x1 == x1) and {a!r} * (x0 if x0 == x0 else {mean[0]!r}) + "
        f"{b!r} * (x1 if x1 == x1 else {mean[1]!r}) > {cut!r}:"
    )
    assert b < 0
    shown = f"{a:.4g}*x0 - {-b:.4g}*x1"
    assert [line.split("  ")[1].strip() for line in export.text(tree).splitlines()[1:]] == [
        f"{shown} <= {cut:.4g} (or missing)",
        f"{shown} > {cut:.4g}",
    ]
    assert f'[label="{shown}\\n6 rows' in export.dot(tree)
    assert export.frame(tree)["var"].tolist() == [shown, "<leaf>", "<leaf>"]
    assert export.splits(tree)["var"].tolist() == [shown]
    assert f"{shown} <= " in export.text(tree, "weka")
    assert f"{shown}>=" in export.text(tree, "rpart")
    assert f"      {shown} < " in tree.summary()
    names = export.text(tree, feature_names=["length", "two words"])
    assert f'{a:.4g}*length - {-b:.4g}*"two words"' in names


ASKED = """
const document = {getElementById: () => ({textContent: %s})};
%s
const number = (x) => x === null ? NaN : Number(x);
console.log(JSON.stringify([Model.way(1), %s.map((row) => Model.answer(row.map(number)))]));
"""


@interpreted_only
@pytest.mark.skipif(shutil.which("node") is None, reason="the script of pages is run by node")
@pytest.mark.parametrize("name", sorted(SUMS))
def test_a_page_walks_rows_as_the_model_does(name):
    model, X = made(name)
    data = re.search(r'<script type="application/json" id="model">(.*?)</script>', export.html(model), re.DOTALL)[1]
    rows = hard_rows(read(model, sums=True), np.array(model.table_of(X).whole, np.float64))
    cells = [[None if x != x else str(x).replace("inf", "Infinity") for x in row] for row in rows.tolist()]
    script = Path(pictures.__file__).with_name("model.js").read_text(encoding="utf-8")
    done = subprocess.run(
        [shutil.which("node"), "-"], input=ASKED % (json.dumps(data), script, json.dumps(cells)), capture_output=True,
        text=True, check=True, encoding="utf-8",
    )  # fmt: skip
    way, said = json.loads(done.stdout)
    expected = model_answers(model, rows)
    assert np.array_equal([one["numbers"] for one in said], expected.numbers)
    if expected.codes is not None:
        assert np.array_equal([one["codes"] for one in said], expected.codes)
    linear = model.trees_.linear
    if linear.start[0] < linear.start[1]:
        assert f"{abs(linear.weight[0]):.3g}\u00b7x{linear.column[0]}" in way


@interpreted_only
def test_of_many_terms_the_first_are_shown():
    X = np.random.default_rng(0).normal(size=(80, 16))
    tree = ObliqueTreeClassifier(search="lda", max_depth=1).fit(X, X.sum(axis=1) > 0)
    assert len(tree.trees_.linear.column) == 16
    assert " + 4 more <= " in export.text(tree)
    assert " + 14 more <= " in export.text(tree, max_levels=2)


@interpreted_only
@pytest.mark.parametrize("name", sorted(SUMS))
def test_a_format_that_knows_no_sums_says_so(name):
    model, _ = made(name)
    with pytest.raises(export.ExportError, match=r"sum over several columns"):
        export.treelite(model)
    with pytest.raises(export.ExportError, match=r"sum over several columns"):
        export.text(model, "c50")
    with pytest.raises(export.ExportError):
        export.to_sklearn(model)


OF_CLASSES = ("sums", "sums, categories", "sums, costs")


@interpreted_only
@pytest.mark.parametrize("name", OF_CLASSES)
def test_rules_and_formulas_say_what_the_tree_says(name):
    model, X = made(name)
    rules = model.to_rules()
    assert np.array_equal(rules.predict(X), model.predict(X))
    assert export.verify(export.rules(model), model, X)
    for one in (rules, RuleSetClassifier(resolve="confidence").from_tree(model, X, model.predict(X))):
        for text in (export.rules(one), export.json(one), export.python(one), export.python(one, "numpy")):
            assert export.verify(text, one, X)
    for label in model.classes_:
        assert export.verify(export.dnf(model, label), model, X)


@of_any_table({name: SUMS[name] for name in OF_CLASSES})
def test_they_do_so_for_any_table(name, model, X):
    rules = model.to_rules()
    assert export.verify(export.rules(model), model, X)
    assert export.verify(export.rules(rules), rules, X)
    assert export.verify(export.dnf(model, model.classes_[0]), model, X)
    shorter = RuleSetClassifier().from_tree(model, X, model.predict(X))
    assert export.verify(export.rules(shorter), shorter, X)


@interpreted_only
def test_a_formula_that_is_off_by_little_is_found():
    model, X = made("sums")
    formula = export.dnf(model, model.classes_[1])
    formula.linear.weight[:] *= 1.0 + 1e-14
    with pytest.raises(export.ExportMismatchError):
        export.verify(formula, model, X)


@interpreted_only
@pytest.mark.parametrize("write", [export.sql, export.html])
def test_what_says_no_sums_in_rules_refuses_them(write):
    model, _ = made("sums")
    with pytest.raises(export.ExportError, match=r"rules about sums.*export\.rules, python or json"):
        write(model.to_rules())
