"""The layout of trees: `check` accepts what the invariants allow, and names the node that breaks one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import descriptions, examples, layout, same_trees

from dtnumba.trees.check import check
from dtnumba.trees.layout import depths, joined, one_tree

pytestmark = pytest.mark.small
STUMP = {"feature": 1, "threshold": 0.5, "missing": 1, "children": [1.0, 2.0]}
DEEP = {"feature": 0, "threshold": 0.5, "children": [STUMP, 3.0]}
INTERVAL = {"feature": 0, "cuts": [1.0, 4.0], "map": [1, 0, 1], "missing": 1, "children": [1.0, 2.0]}
RANGES = {"feature": 0, "cuts": [1.0, 2.0, 3.0], "missing": 3, "children": [1.0, 2.0, 3.0, 4.0]}
CATEGORIES = {"feature": 2, "map": [2, 0, 2, 1], "missing": 0, "children": [1.0, 2.0, 3.0]}


def changed(trees, name, at, value):
    """Copy trees with one cell of one column changed."""
    column = getattr(trees, name).copy()
    column[at] = value
    return trees._replace(**{name: column})


@examples(60)
@given(st.lists(descriptions(), min_size=1, max_size=3))
def test_trees_of_any_tests_are_accepted(specs):
    trees = layout(*specs)
    assert check(trees, n_features=3) is trees


def test_one_leaf_is_a_tree():
    trees = check(layout(7.0))
    assert (trees.n_trees, trees.n_nodes, trees.n_leaves, trees.is_binary) == (1, 1, 1, True)


def test_trees_stand_end_to_end():
    trees = check(layout(DEEP, 7.0, INTERVAL))
    assert (trees.n_trees, trees.n_nodes, trees.n_leaves) == (3, 9, 6)
    assert trees.root.tolist() == [0, 5, 6, 9]
    assert not trees.is_binary


def test_trees_of_any_tests_can_be_joined_and_taken_apart():
    specs = [INTERVAL, STUMP, SUM, {"feature": 0, "levels": [1, 3], "children": [1.0, 2.0]}, RANGES, SUM]
    parts = [layout(spec) for spec in specs]
    whole = joined(parts)
    assert same_trees(check(whole), layout(*specs))
    assert all(same_trees(one_tree(whole, t), part) for t, part in enumerate(parts))


SUM = {"feature": 1, "terms": [(0, 2.0, 0.0), (1, -1.0, 0.5)], "threshold": 0.5, "children": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("column", "place", "value", "rule"),
    [
        ("column", 0, 1, "must ascend"),
        ("column", 1, 3, "below 3"),
        ("column", 0, -1, "must name columns"),
        ("weight", 1, np.inf, "must be finite"),
        ("stand_in", 0, np.nan, "must be finite"),
        ("share", 0, 1.5, r"lie in \[0, 1\]"),
        ("start", 3, 1, "from 0 to their end"),
        ("start", slice(1, 3), 0, "a leaf has no terms"),
    ],
)
def test_a_sum_that_breaks_a_rule_is_named(column, place, value, rule):
    trees = check(layout(SUM), n_features=3)
    own = getattr(trees.linear, column).copy()
    own[place] = value
    with pytest.raises(ValueError, match=rule):
        check(trees._replace(linear=trees.linear._replace(**{column: own})), n_features=3)


def test_a_sum_has_a_feature_among_its_columns_and_no_levels():
    with pytest.raises(ValueError, match="column of one of them"):
        check(layout(SUM | {"feature": 2}))
    with pytest.raises(ValueError, match="two children and a threshold"):
        check(layout(SUM | {"levels": [1]}))


def test_levels_must_ascend():
    with pytest.raises(ValueError, match=r"levels must be categories that ascend"):
        check(layout({"feature": 0, "levels": [3, 1], "children": [1.0, 2.0]}))


def test_depths_count_tests_from_the_root():
    ranges_below = {"feature": 0, "threshold": 0.0, "children": [7.0, RANGES]}
    assert depths(layout(ranges_below, 1.0, STUMP)).tolist() == [0, 1, 1, 2, 2, 2, 2, 0, 0, 1, 1]


def test_depths_need_no_recursion():
    spec = 0.0
    for k in range(5000):
        spec = {"feature": 0, "threshold": float(k), "children": [spec, 1.0]}
    assert depths(check(layout(spec))).max() == 5000


# Nodes of layout(DEEP): 0 root, 1 stump, 2 leaf, 3 and 4 leaves of the stump.
@pytest.mark.parametrize(
    ("spec", "column", "node", "value", "rule"),
    [
        (DEEP, "feature", 3, -2, "feature"),
        (DEEP, "feature", 1, 3, "below 3"),
        (DEEP, "left", 3, 4, "leaf has no children"),
        (DEEP, "right", 2, 4, "leaf has no children"),
        (DEEP, "left", 1, 1, "after their parent"),
        (DEEP, "right", 1, 3, "after their parent"),
        (DEEP, "right", 1, 5, "tree of their parent"),
        (DEEP, "threshold", 1, np.nan, "threshold must be a number"),
        (DEEP, "missing_left", 1, 2, "missing"),
        (DEEP, "n_samples", 4, -1, "n_samples"),
        (DEEP, "weight", 2, -1.0, "weight"),
        (DEEP, "weight", 2, np.nan, "weight"),
        (INTERVAL, "missing_left", 0, 2, "missing"),
        (RANGES, "missing_left", 0, 4, "missing"),
        (CATEGORIES, "missing_left", 0, 3, "missing"),
    ],
)
def test_a_broken_node_is_named(spec, column, node, value, rule):
    trees = layout(spec)
    with pytest.raises(ValueError, match=rf"node {node} .*{rule}"):
        check(changed(trees, column, node, value), n_features=3)


def test_a_node_with_two_parents_is_named():
    trees = changed(layout(DEEP), "left", 1, 2)
    with pytest.raises(ValueError, match=r"node 2 .*one parent"):
        check(changed(trees, "right", 1, 3))


@pytest.mark.parametrize(
    ("spec", "column", "at", "value", "rule"),
    [
        (RANGES, "cut", 1, 1.0, "ascend"),
        (RANGES, "cut", 1, np.nan, "ascend"),
        ({"feature": 0, "cuts": [1.0], "children": [1.0, 2.0]}, "cut", 0, np.nan, "number"),
        (INTERVAL, "branch", 1, 2, "map must name children"),
        (CATEGORIES, "branch", 3, -2, "map must name children"),
    ],
)
def test_a_broken_side_column_names_its_node(spec, column, at, value, rule):
    above = {"feature": 0, "threshold": 0.0, "children": [7.0, spec]}
    with pytest.raises(ValueError, match=rf"node 2 .*{rule}"):
        check(changed(layout(above), column, at, value))


@pytest.mark.parametrize("spec", [RANGES | {"cuts": [1.0, 2.0]}, INTERVAL | {"map": [1, 0]}])
def test_a_side_column_of_the_wrong_length_names_its_node(spec):
    with pytest.raises(ValueError, match="node 0 "):
        check(layout(spec))


def test_three_children_need_cuts_or_a_map():
    with pytest.raises(ValueError, match=r"node 0 .*two children"):
        check(layout({"feature": 0, "threshold": 1.0, "children": [1.0, 2.0, 3.0]}))


@pytest.mark.parametrize("column", ["branch_start", "cut_start"])
@pytest.mark.parametrize("damage", [lambda start: start[:-1], lambda start: start + 1, lambda start: start[::-1]])
def test_starts_of_side_columns_must_cover_them(column, damage):
    trees = layout(INTERVAL)
    with pytest.raises(ValueError, match=column):
        check(trees._replace(**{column: damage(getattr(trees, column))}))


@pytest.mark.parametrize("root", [[0, 4], [1, 5], [0, 3, 3, 5], [5, 0]])
def test_roots_must_cover_the_nodes(root):
    with pytest.raises(ValueError, match="roots"):
        check(layout(DEEP)._replace(root=np.array(root)))


@pytest.mark.parametrize("column", ["threshold", "left", "right", "missing_left", "value", "n_samples", "weight"])
def test_columns_must_be_of_one_length(column):
    trees = layout(DEEP)
    with pytest.raises(ValueError, match=rf"{column} has 4 rows for 5 nodes"):
        check(trees._replace(**{column: getattr(trees, column)[:-1]}))
