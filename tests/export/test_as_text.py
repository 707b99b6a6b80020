"""Outlines and graphs show every kind of tree, one line or statement a node, with names quoted."""

import re

import numpy as np
import pytest
from exported import ALL_KINDS, made

from dtnumba import DecisionTreeClassifier, RandomForestRegressor, export

pytestmark = pytest.mark.small


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
    assert len(re.findall(r"^  \d+ \[label=", graph, re.MULTILINE)) == model.trees_.n_nodes
    assert graph.count(" -> ") == model.trees_.n_nodes - model.trees_.n_trees


def test_depth_is_cut_and_a_tree_of_a_forest_is_chosen():
    forest = RandomForestRegressor(n_estimators=3, random_state=0).fit(np.arange(40.0)[:, None], np.arange(40.0))
    lines = export.text(forest, max_depth=1, tree=2).splitlines()
    assert len(lines) == 3
    assert all(line.endswith("...") for line in lines[1:])
    assert export.dot(forest, tree=1, max_depth=0).count("label") == 1
    with pytest.raises(ValueError, match="tree=3: must be the number of a tree, from 0 to 2"):
        export.text(forest, tree=3)
    with pytest.raises(ValueError, match="style='rpart': must be 'outline'"):
        export.text(forest, style="rpart")
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
