"""What a report says is so: score, confusion, missing values, pruning curve."""

import re

import chromium
import numpy as np
import pytest
from exported import ALL_KINDS, KINDS, made, table
from pictured import NASTY, RULES, kinds, name_of, nasty_model, needs_browser
from strategies import interpreted_only

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, export
from dtnumba.export.pictures.report import pruning_curve
from dtnumba.pruners.engines.weakest_link import cut_weak, impurity_risk, links_of
from dtnumba.trees.layout import LEAF


def target_of(name):
    _, y, z = table(missing=0.0 if name == "no missing" else 0.1, dtype=KINDS[name][2])
    return {
        "labels": y,
        "two": y == "yes",
        "number": z,
        "both labels": np.stack([y, np.where(z > 0, "more", "less")], axis=1),
        "both numbers": np.stack([z, z**2], axis=1),
    }[KINDS[name][1]]


@pytest.mark.parametrize("name", ALL_KINDS)
def test_every_model_has_a_report_with_its_score(name):
    model, X = made(name)
    y = target_of(name)
    page = export.html(model, X, y)
    score = model.score(X, y)
    shown = re.search(r'<div class="big">(.*?)</div>', page)[1]
    assert shown == (f"{score:.1%}" if hasattr(model, "classes_") else f"{score:.4f}")
    assert "Scored on the 90 rows" in page
    assert ("Importances" in page) == (name not in RULES)


def test_it_says_where_the_score_may_be_that_of_training():
    model, X = made("tree")
    y = target_of("tree")
    assert "this is no held-out score" in export.html(model, X, y)
    assert "this is no held-out score" not in export.html(model, X[:50], y[:50])
    assert "Score" not in re.findall("<h2>(.*?)</h2>", export.html(model, X))


def test_confusion_and_missing_values_are_counted():
    X = np.array([[0.0], [1.0], [2.0], [np.nan]])
    model = DecisionTreeClassifier(max_depth=1).fit(X[:3], ["a", "b", "b"])
    page = export.html(model, X, ["b", "a", "b", "z"])
    cells = re.search(r'<table class="grid">(.*?)</table>', page)[1]
    assert re.findall(r"<td[^>]*>([\d,]+)</td>", cells) == ["0", "1", "1", "1"]
    assert "1 rows have a label that was not in fit" in page
    assert "1 values (25%)" in page


@pytest.mark.parametrize("name", kinds("tree", "tree, numbers", "regression", "multiway", "surrogates", "ranges"))
def test_the_pruning_curve_is_that_of_the_pruned_trees(name):
    model, X = made(name)
    y = target_of(name)
    rows = np.random.default_rng(1).integers(0, len(X), 40)
    X, y = X[rows], y[np.random.default_rng(2).permutation(rows)]
    curve = pruning_curve(model, model.table_of(X), y[:, None])
    trees = model.trees_
    risk = impurity_risk(trees)
    at = links_of(trees, risk).at
    alphas = np.unique(at[trees.feature != LEAF])
    assert len(curve.leaves) == len(alphas) + 1
    assert curve.leaves[0] == trees.n_leaves
    assert curve.leaves[-1] == 1
    if hasattr(model, "classes_"):
        assert curve.error[0] == pytest.approx(1 - model.score(X, y))
    for k, alpha in enumerate(alphas):
        smaller = type(model)(**model.get_params())
        vars(smaller).update(vars(model))
        smaller.tree_ = type(model.tree_)(cut_weak(trees, risk, alpha), 4, model.tree_.n_classes.tolist())
        assert smaller.n_leaves_ == curve.leaves[k + 1]
        said = smaller.predict(X)
        wrong = (said != y) if hasattr(model, "classes_") else (said - y) ** 2
        assert curve.error[k + 1] == pytest.approx(wrong.mean())


@pytest.mark.parametrize("name", kinds("forest", "fractional", "tree, costs", "tree, two outputs", "leaf", "rules"))
def test_models_without_such_subtrees_have_no_pruning_curve(name):
    model, X = made(name)
    assert "Pruning by" not in export.html(model, X, target_of(name))


def test_nothing_breaks_out_of_a_report():
    model, X, y = nasty_model()
    page = export.html(model, X, y, feature_names=NASTY)
    assert page.count("<script") == 2
    assert "<img" not in page


@needs_browser
@pytest.mark.parametrize("name", [own for own in ALL_KINDS if name_of(own) in {"tree", "regression", "rules, votes"}])
def test_a_report_is_shown_without_errors(name, tmp_path):
    model, X = made(name)
    browser = chromium.Browser(tmp_path)
    try:
        assert browser.open(export.html(model, X, target_of(name))) == []
        browser.find("a[href='#report']")[0].click()
        assert len(browser.find(".card")) >= 4
        for card in browser.find(".card"):
            assert browser.js("return arguments[0].scrollWidth <= arguments[0].clientWidth + 1", card)
    finally:
        browser.close()


@interpreted_only
def test_a_compact_tree_has_a_report():
    X = np.arange(40.0)[:, None]
    y = np.sin(X[:, 0])
    page = export.html(DecisionTreeRegressor().fit(X, y).compact(), X, y)
    assert "Leaves by depth" in page
    assert "Leaves by rows" not in page
