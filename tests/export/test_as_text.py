"""Outlines and graphs show every kind of tree, one line or statement a node, with names quoted."""

import re

import numpy as np
import pytest
from exported import ALL_KINDS, made

from dtnumba import CHAIDRegressor, DecisionTreeClassifier, DecisionTreeRegressor, RandomForestRegressor, export


@pytest.mark.parametrize("name", ALL_KINDS)
def test_every_node_has_a_line(name):
    model, _ = made(name)
    lines = export.text(model).splitlines()
    if hasattr(model, "rules_"):
        assert len(lines) == model.n_rules_ + 1
        with pytest.raises(export.ExportError, match="rules"):
            export.dot(model)
        return
    assert len(lines) == model.trees_.root[1]
    assert lines[0].startswith("all rows")
    graph = export.dot(model)
    n_joins = np.count_nonzero(model.trees_.join >= 0)
    assert len(re.findall(r"^  \d+ \[label=", graph, re.MULTILINE)) == model.trees_.n_nodes - n_joins
    assert graph.count(" -> ") == model.trees_.n_nodes - model.trees_.n_trees


OUTPUTS = ("tree, two outputs", "regression, two outputs", "forest, two outputs", "extra trees, numbers")
MANY = ("intervals", "ranges", "multiway", "chaid", "chaid, a number", "id3", "c45", "c45, laplace", "forest, multiway")
MANY = (*MANY, "c50, costs")


@pytest.mark.parametrize("style", ["rpart", "weka", "c50"])
@pytest.mark.parametrize("name", ALL_KINDS)
def test_a_style_says_every_node_or_why_not(name, style):
    model, _ = made(name)
    is_tree = not hasattr(model, "rules_")
    reason = None
    if name.startswith("graph"):
        reason = "branches join there"
    elif not is_tree:
        reason = "holds rules"
    elif name in OUTPUTS:
        reason = "2 outputs"
    elif style == "rpart" and name in MANY:
        reason = "more children than two"
    elif style != "rpart" and not hasattr(model, "classes_"):
        reason = "predicts numbers"
    if reason is not None:
        with pytest.raises(export.ExportError, match=reason):
            export.text(model, style)
        return
    text, last = export.text(model, style), int(model.trees_.root[1])
    lines = text.splitlines()
    if style == "rpart":
        assert len(lines) == 5 + last
        assert sum(line.endswith("*") for line in lines[5:]) == np.sum(model.trees_.feature[:last] < 0)
    elif style == "weka":
        assert len(lines) == 6 + last
        assert lines[-1].endswith(f"\t{last}")
    else:
        joints = [line.lstrip(": .") for line in lines[3 - (last == 1) :] if line.strip(": ")]
        tests = [line for line in joints if re.match(r"x\d+ ", line)]
        assert len(tests) == last - 1
    names = [f"column {j}" for j in range(model.n_features_in_)]
    assert "x0" not in export.text(model, style, feature_names=names).replace("x00", "")


def test_names_and_levels_are_what_is_asked_for():
    X = np.array([[f"level {k:02d}"] for k in range(20)], object)
    model = DecisionTreeClassifier(max_depth=1).fit(X, np.arange(20) > 9)
    assert "and 7 more}" not in export.text(model, feature_names=["c"])
    assert '"level 01", and 8 more}' in export.text(model, max_levels=2, feature_names=["c"])
    assert export.text(model, feature_names=["two words"]).count('"two words"') == 2
    with pytest.raises(ValueError, match="feature_names has 2 names, and the model has 1 columns"):
        export.text(model, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="max_levels=0"):
        export.text(model, max_levels=0)
    with pytest.raises(ValueError, match="leave digits out"):
        export.text(model, digits=3)
    with pytest.raises(export.ExportError, match="compact"):
        export.text(model.compact(), "rpart")


@pytest.mark.parametrize("style", ["outline", "rpart", "weka", "c50"])
def test_names_levels_and_labels_stay_on_their_line(style):
    X = np.array([["line\nend"], ["tab\t"], ["\u05d0\u05d1"]], object)
    model = DecisionTreeClassifier().fit(X, np.array(["a\nb", "<b>", 3], object))
    text = export.text(model, style, feature_names=["two\nlines " + "x" * 300])
    plainer = DecisionTreeClassifier().fit(X, ["1", "2", "3"])
    wanted = export.text(plainer, style, feature_names=["two_lines_" + "x" * 300])
    assert len(text.splitlines()) == len(wanted.splitlines())
    assert "a\\nb" in text
    assert "<b>" in text


def test_costs_and_weights_are_shown():
    X, y = [[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "a"]
    costly = DecisionTreeClassifier(costs=[[0, 1], [9, 0]], max_depth=1).fit(X, y)
    assert export.text(costly).splitlines()[0].endswith("a 75%, b 25% -> b")
    weighed = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight=[1.0, 1.0, 5.5, 1.0])
    assert ", weight 8.5" in export.text(weighed).splitlines()[0]
    assert export.text(weighed, "rpart").splitlines()[5].startswith("1) root 4 3 b (0.3529412 0.6470588)")


def test_depth_is_cut_and_a_tree_of_a_forest_is_chosen():
    forest = RandomForestRegressor(n_estimators=3, random_state=0).fit(np.arange(40.0)[:, None], np.arange(40.0))
    lines = export.text(forest, max_depth=1, tree=2).splitlines()
    assert len(lines) == 3
    below = [int(line.split(" ... ")[1].removesuffix(" nodes below")) for line in lines[1:]]
    assert sum(below) == np.diff(forest.trees_.root)[2] - 3
    assert export.dot(forest, tree=1, max_depth=0).count("label") == 1
    with pytest.raises(ValueError, match="tree=3: must be the number of a tree, from 0 to 2"):
        export.text(forest, tree=3)
    with pytest.raises(ValueError, match="style='R': must be one of 'outline', 'rpart', 'weka', 'c50'"):
        export.text(forest, style="R")
    with pytest.raises(ValueError, match="max_depth=-1"):
        export.text(forest, max_depth=-1)


def test_names_are_quoted_for_graphviz():
    X = np.array([['a"b\\', 1.0], ["line\nend", 2.0]], object)
    graph = export.dot(DecisionTreeClassifier().fit(X, ["yes", 'say "no"']))
    for label in re.findall(r"label=(.*)\];", graph):
        assert re.fullmatch(r'"(?:[^"\\\n]|\\.)*"', label), label


def test_compact_trees_have_no_counts_to_show():
    model = DecisionTreeClassifier().fit([[1.0], [2.0]], [0, 1]).compact()
    assert "row" not in export.text(model).replace("all rows", "")
    assert export.dot(model).count("label") == 5
    assert 'label="size' in export.dot(model, feature_names=["size"] * model.n_features_in_)


def test_the_way_of_missing_values_alone_is_said_so():
    X = np.array([[np.nan], [np.nan], [1.0], [2.0]])
    said = export.text(DecisionTreeClassifier().fit(X, [1, 1, 0, 0])).splitlines()[1:]
    assert sorted(line.split("  ")[1] for line in said) == ["x0 is known", "x0 is missing"]


def test_the_remedy_is_a_style_that_the_tree_has():
    X, y = np.repeat(np.arange(4.0), 30)[:, None], np.repeat([0.0, 5.0, 1.0, 9.0], 30)
    wide, binary = CHAIDRegressor().fit(X, y), DecisionTreeRegressor().fit(X, y)
    assert wide.n_nodes_ - wide.n_leaves_ == 1
    with pytest.raises(export.ExportError, match=r'print it with style="outline"$'):
        export.text(wide, "weka")
    with pytest.raises(export.ExportError, match=r'print it with style="outline"$'):
        export.text(wide, "rpart")
    with pytest.raises(export.ExportError, match=r'print it with style="rpart" or style="outline"$'):
        export.text(binary, "weka")
