"""Descent by any test a node can hold, against a walk in plain Python."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import INF, descriptions, examples, layout, walk

from dtnumba.prediction.walk_tree import answers_of, leaves_of, pack
from dtnumba.tables.table import read_table
from dtnumba.trees.check import check
from dtnumba.trees.layout import depths

NAN = math.nan
pytestmark = pytest.mark.small
CELLS = [NAN, -INF, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, INF]
tables = st.lists(st.tuples(*[st.sampled_from(CELLS)] * 3), min_size=1, max_size=40)
# Codes of categories: whole, some unknown to any node.
CODES = [NAN, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1e9]
categories = st.lists(st.tuples(*[st.sampled_from(CODES)] * 3), min_size=1, max_size=40)


def values(spec, rows, packed=None):
    """Value of the leaf that every row ends in."""
    trees = check(layout(spec))
    return trees.value[leaves_of(read_table(np.array(rows), "a test"), trees, packed, 1), 0]


def route(node, xs):
    return values(node | {"feature": 0}, np.array(xs, dtype=float)[:, None]).tolist()


def test_values_equal_to_the_threshold_go_left():
    spec = {"threshold": 0.5, "children": [1.0, 2.0]}
    assert route(spec, [-INF, 0.5, np.nextafter(0.5, 1), INF]) == [1.0, 1.0, 2.0, 2.0]


def test_an_infinite_threshold_sends_all_but_missing_values_left():
    assert route({"threshold": INF, "children": [1.0, 2.0]}, [-INF, 0.0, INF, NAN]) == [1.0, 1.0, 1.0, 2.0]


@pytest.mark.parametrize("missing", [0, 1])
def test_missing_values_go_where_the_node_says(missing):
    found = route({"threshold": 0.5, "missing": missing, "children": [1.0, 2.0]}, [NAN, 0.0, 1.0])
    assert found == [1.0 if missing else 2.0, 1.0, 2.0]


def test_an_interval_parts_inside_from_outside():
    spec = {"cuts": [1.0, 4.0], "map": [1, 0, 1], "missing": 1, "children": [1.0, 2.0]}
    assert route(spec, [0.0, 1.0, 1.5, 4.0, 4.5, NAN]) == [2.0, 2.0, 1.0, 1.0, 2.0, 2.0]


def test_cuts_part_into_ranges_closed_on_the_right():
    spec = {"cuts": [1.0, 2.0, 3.0], "missing": 2, "children": [1.0, 2.0, 3.0, 4.0]}
    assert route(spec, [-INF, 1.0, 1.5, 2.0, 3.0, 3.5, INF, NAN]) == [1.0, 1.0, 2.0, 2.0, 3.0, 4.0, 4.0, 3.0]


@pytest.mark.parametrize("missing", [0, 1])
def test_categories_among_the_levels_go_left_and_all_others_right(missing):
    node = {"levels": [1, 4, 5], "missing": missing, "children": [1.0, 2.0]}
    found = route(node, [0.0, 1.0, 3.0, 4.0, 5.0, 6.0, NAN])
    assert found == [2.0, 1.0, 2.0, 1.0, 1.0, 2.0, 1.0 if missing else 2.0]


def test_categories_go_where_the_map_says():
    spec = {"map": [2, 0, 2, 1], "missing": 1, "children": [1.0, 2.0, 3.0]}
    assert route(spec, [0.0, 1.0, 2.0, 3.0]) == [3.0, 1.0, 3.0, 2.0]


def test_unknown_and_missing_categories_go_to_the_same_child():
    spec = {"map": [2, 0, 2, 1], "missing": 1, "children": [1.0, 2.0, 3.0]}
    assert route(spec, [4.0, 1e9, -1.0, NAN, INF]) == [2.0] * 5


@examples(80)
@given(descriptions(kinds=["threshold", "cuts", "both"]), tables)
def test_numeric_tests_of_any_kind_route_as_a_walk_by_hand(spec, rows):
    assert values(spec, rows).tolist() == [walk(spec, row) for row in rows]


@examples(80)
@given(descriptions(), categories)
def test_tests_of_any_kind_route_as_a_walk_by_hand(spec, rows):
    assert values(spec, rows).tolist() == [walk(spec, row) for row in rows]


def test_a_sum_is_compared_with_the_threshold_term_by_term():
    spec = {"feature": 1, "terms": [(0, 2.0, 5.0), (1, -1.0, 0.25)], "threshold": 0.75, "children": [1.0, 2.0]}
    rows = [[1.0, 1.25], [1.0, 1.0], [NAN, 9.5], [NAN, 9.0], [0.5, NAN], [0.6, NAN]]
    assert values(spec, rows).tolist() == [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]


@pytest.mark.parametrize("missing", [0, 1])
def test_a_sum_of_missing_values_alone_or_of_both_infinities_goes_as_a_missing_value(missing):
    terms = [(0, 1.0, 0.0), (1, 1.0, 0.0)]
    spec = {"feature": 0, "terms": terms, "threshold": 0.5, "missing": missing, "children": [1.0, 2.0]}
    rows = [[NAN, NAN], [INF, -INF], [-INF, NAN], [NAN, INF]]
    assert values(spec, rows).tolist() == [1.0 if missing else 2.0] * 2 + [1.0, 2.0]


@examples(80)
@given(descriptions(kinds=["threshold", "terms"], depth=4), tables)
def test_sums_route_as_a_walk_by_hand(spec, rows):
    with np.errstate(all="ignore"):
        assert values(spec, rows).tolist() == [walk(spec, row) for row in rows]


@examples(80)
@given(descriptions(kinds=["threshold"], depth=6), tables)
def test_packed_binary_trees_route_alike(spec, rows):
    trees = layout(spec)
    found = values(spec, rows, pack(trees, int(depths(trees).max())))
    assert found.tolist() == [walk(spec, row) for row in rows]


@examples(30)
@given(st.lists(descriptions(kinds=["threshold"]), min_size=2, max_size=4), tables)
def test_each_of_many_trees_routes_from_its_own_root(specs, rows):
    trees = check(layout(*specs))
    table, depth = read_table(np.array(rows), "a test"), int(depths(trees).max())
    for tree, spec in enumerate(specs):
        for packed in (None, pack(trees, depth)):
            found = trees.value[leaves_of(table, trees, packed, 1, tree=tree), 0]
            assert found.tolist() == [walk(spec, row) for row in rows]


def test_a_row_may_answer_with_anything_of_eight_bytes():
    trees = check(layout({"feature": 0, "threshold": 0.5, "children": [1.0, 2.0]}))
    table = read_table(np.array([[0.0], [1.0]]), "a test")
    for packed in (None, pack(trees, 1)):
        assert answers_of(table, trees, packed, trees.value[:, 0], 1).tolist() == [1.0, 2.0]
        assert answers_of(table, trees, packed, np.array([7, 8, 9]), 1).tolist() == [8, 9]
