"""Trees whose branches join: equal subtrees stand once, nothing says anything else, and no way leads back."""

from base64 import b64decode

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.graphs import complete_tree, diagram_sizes, distinct, longest_way, rows_of
from strategies import SINGLE, descriptions, examples, layout, same_trees, walk

from dtnumba import DecisionGraphClassifier, DecisionTreeClassifier, export, load
from dtnumba.export import as_network
from dtnumba.prediction.tree_view import TreeView
from dtnumba.tables.table import read_table
from dtnumba.trees.check import check
from dtnumba.trees.compact import compacted
from dtnumba.trees.graphs import laid_out, nodes_of, replicated, replication, rows_through, shared
from dtnumba.trees.layout import depths, nodes_at
from dtnumba.trees.subtrees import depth_levels

pytestmark = pytest.mark.small
NAN, INF = float("nan"), float("inf")
CELLS = [NAN, -INF, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 5.0, INF]
tables = st.lists(st.tuples(*[st.sampled_from(CELLS)] * 3), min_size=1, max_size=30)
PARITY = [i.bit_count() % 2 for i in range(256)]
REPLICATED = [int((i >> 3 & i >> 2 & 1) or (i >> 1 & i & 1)) for i in range(16)]


def few_values(spec):
    """Make leaves alike, so that subtrees are."""
    if not isinstance(spec, dict):
        return float(int(spec) % 2)
    return spec | {"children": [few_values(child) for child in spec["children"]]}


def inner_nodes(trees):
    own = trees.join < 0 if trees.is_graph else np.ones(trees.n_nodes, bool)
    return int(np.count_nonzero((trees.feature >= 0) & own))


def view(trees, n_features=3):
    return TreeView(trees, n_features, [1])


def graph_of(truth):
    n = len(truth).bit_length() - 1
    return check(shared(layout(complete_tree(truth))), n)


@examples(60)
@given(descriptions(kinds=SINGLE, depth=4).map(few_values), tables)
def test_sharing_changes_no_prediction(spec, rows):
    graph = check(shared(layout(spec)), 3)
    said = view(graph).numbers(read_table(np.array(rows), "a test"))[:, 0]
    assert said.tolist() == [walk(spec, row) for row in rows]


@examples(60)
@given(descriptions(kinds=SINGLE, depth=4).map(few_values))
def test_equal_subtrees_stand_once(spec):
    graph = shared(layout(spec))
    n_nodes = graph.n_nodes - int(np.count_nonzero(graph.join >= 0))
    assert n_nodes == len(distinct(spec))
    assert depths(graph).max() == longest_way(graph)


@examples(60)
@given(descriptions(kinds=SINGLE, depth=4))
def test_a_tree_without_repeats_stays_as_it_is(spec):
    tree = layout(spec)
    assert same_trees(laid_out(nodes_of(tree)), tree)


@examples(60)
@given(descriptions(kinds=SINGLE, depth=4).map(few_values))
def test_a_graph_laid_out_again_is_the_same(spec):
    graph = shared(layout(spec))
    assert same_trees(laid_out(nodes_of(graph)), graph)


@examples(60)
@given(st.integers(3, 6).flatmap(lambda n: st.lists(st.integers(0, 1), min_size=1 << n, max_size=1 << n)))
def test_a_complete_tree_becomes_the_reduced_diagram(truth):
    n = len(truth).bit_length() - 1
    graph = graph_of(truth)
    assert (inner_nodes(graph), graph.n_leaves) == diagram_sizes(truth)
    assert view(graph, n).numbers(read_table(rows_of(n), "a test"))[:, 0].tolist() == truth


@pytest.mark.parametrize(("truth", "n_inner"), [(PARITY, 15), (REPLICATED, 4)], ids=["parity", "x1x2 or x3x4"])
def test_known_diagrams(truth, n_inner):
    assert inner_nodes(graph_of(truth)) == n_inner


def test_rows_and_weights_add_up():
    X, rng = rows_of(6), np.random.default_rng(0)
    weight = rng.integers(1, 9, 64)
    tree = DecisionTreeClassifier(random_state=0).fit(X, X.sum(axis=1) % 3, weight).trees_
    graph = check(shared(tree), 6)
    own = np.flatnonzero(graph.join < 0)
    assert len(own) < graph.n_nodes
    through = dict(rows_through(graph, X))
    assert sorted(through) == own.tolist()
    for node, rows in through.items():
        assert graph.n_samples[node] == len(rows)
        assert graph.weight[node] == weight[rows].sum()
    came = graph.weight.copy()
    np.subtract.at(came, graph.join[graph.join >= 0], graph.weight[graph.join >= 0])
    for node in own[graph.feature[own] >= 0]:
        assert came[graph.left[node] : graph.right[node] + 1].sum() == graph.weight[node]
    assert not graph.gain[graph.join >= 0].any()
    assert np.isclose((graph.weight * graph.gain).sum(), (tree.weight * tree.gain).sum())


def model_of(truth):
    n = len(truth).bit_length() - 1
    X = rows_of(n)
    tree = DecisionTreeClassifier().fit(X, truth)
    return tree._with_trees(check(shared(tree.trees_), n)), tree, X


def test_a_model_of_a_graph_answers_as_its_tree():
    model, tree, X = model_of(PARITY)
    assert model.trees_.is_graph
    assert np.array_equal(model.predict_proba(X), tree.predict_proba(X))
    assert np.array_equal(model.predict_proba(X[:1]), tree.predict_proba(X[:1]))
    ask = model.compile_predictor()
    assert all(np.array_equal(ask(row), said) for row, said in zip(X, tree.predict_proba(X), strict=True))
    leaves = model.apply(X)
    assert len(np.unique(leaves)) == model.n_leaves_ == 2
    assert model.depth_ == tree.depth_ == 8
    assert model.compact().trees_.is_graph


def test_paths_hold_the_nodes_that_a_row_passes():
    model, _, X = model_of(PARITY)
    on_path, graph = model.decision_path(X).toarray(), model.trees_
    for row, on in zip(X, on_path, strict=True):
        node, passed = 0, [0]
        while graph.feature[node] >= 0:
            child = graph.left[node] + int(row[graph.feature[node]] > graph.threshold[node])
            node = int(nodes_at(graph, np.array([child]))[0])
            passed.append(node)
        assert np.flatnonzero(on).tolist() == sorted(passed)
    view_of = model.tree_
    assert [view_of.children_left[0], view_of.children_right[0]] == view_of.children(0).tolist()
    assert (graph.join[view_of.children_left[view_of.children_left >= 0]] < 0).all()


def test_files_and_json_hold_graphs(tmp_path):
    model, _, X = model_of(PARITY)
    model.save(tmp_path / "graph.dtn")
    again = load(tmp_path / "graph.dtn")
    assert same_trees(again.trees_, model.trees_)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    read = export.from_json(export.json(model))
    assert same_trees(read.trees_, model.trees_)
    assert np.array_equal(read.predict(X), model.predict(X))


def test_what_asks_for_subtrees_says_that_there_are_none():
    model, _, _ = model_of(PARITY)
    with pytest.raises(ValueError, match="a decision graph has no subtrees"):
        depth_levels(model.trees_)
    assert compacted(model.trees_) is model.trees_


def lied(name, value):
    """Return what changes a column at a place: to a value, or by so much."""

    def change(graph, at):
        column = getattr(graph, name)
        column[at] = value(graph, at) if callable(value) else value

    return change


def moved(graph, at):
    graph.left[at] += 2
    graph.right[at] += 2


BROKEN = {
    "leads back": ("a node that is joined stands behind", lied("join", 0)),
    "joins itself": ("a node that is joined stands behind", lied("join", lambda graph, at: at)),
    "beyond the end": ("join must be a node", lied("join", lambda graph, at: graph.n_nodes)),
    "another test": ("feature of a join", lied("feature", lambda graph, at: graph.feature[at] + 1)),
    "another threshold": ("threshold of a join", lied("threshold", 0.25)),
    "other children": ("left of a join", moved),
    "another value": ("value of a join", lied("value", 0.25)),
    "no join at all": ("exactly one parent", lied("join", -1)),
}
COLUMNS = ("join", "feature", "threshold", "left", "right", "value")


@pytest.mark.parametrize("name", BROKEN)
def test_check_names_what_is_broken(name):
    rule, change = BROKEN[name]
    graph = graph_of(PARITY)
    graph = graph._replace(**{column: getattr(graph, column).copy() for column in COLUMNS})
    at = int(np.flatnonzero((graph.join >= 0) & (graph.feature >= 0))[0])
    change(graph, at)
    with pytest.raises(ValueError, match=rule):
        check(graph)


@examples(40)
@given(descriptions(kinds=SINGLE, depth=3).map(few_values), st.integers(0, 1 << 30))
def test_a_graph_in_which_a_join_points_elsewhere_is_refused(spec, seed):
    graph, rng = shared(layout(spec)), np.random.default_rng(seed)
    if not graph.is_graph:
        return
    at = int(rng.choice(np.flatnonzero(graph.join >= 0)))
    to = int(rng.integers(0, graph.n_nodes))
    join = graph.join.copy()
    is_same = to == join[at]
    join[at] = to
    if is_same:
        check(graph._replace(join=join))
    elif to <= at:
        with pytest.raises(ValueError, match="breaks the layout"):
            check(graph._replace(join=join))


def test_repeats_are_counted_with_their_nodes_and_rows():
    X = np.repeat(rows_of(4), 3, axis=0)
    tree = DecisionTreeClassifier().fit(X, np.repeat(REPLICATED, 3))
    found = replication(tree.trees_)
    assert (found.n_nodes, found.n_repeats, found.n_nodes_repeated, found.largest) == (13, 1, 5, ((2, 5),))
    assert found.n_rows_repeated == found.weight_repeated == 12  # x3x4 below x1 and not x2: a quarter of the rows
    assert replication(layout(1.0)).n_repeats == 0


def test_trees_that_are_no_graph_yet_are_refused():
    X = np.array([[0.0], [1.0], [NAN], [3.0]])
    for missing, words in (("fractional", "sends a missing value to one child"), ("surrogate", "to one child")):
        tree = DecisionTreeClassifier(missing=missing).fit(np.hstack([X, X]), [0, 1, 1, 0])
        with pytest.raises(ValueError, match=words):
            shared(tree.trees_)
    with pytest.raises(ValueError, match="compact"):
        shared(DecisionTreeClassifier().fit(X, [0, 1, 1, 0]).compact().trees_)


def test_sums_over_several_columns_are_refused():
    spec = {"feature": 0, "terms": [(0, 1.0, 0.0), (1, 1.0, 0.0)], "threshold": 0.5, "children": [1.0, 2.0]}
    with pytest.raises(ValueError, match="sums over several"):
        shared(layout(spec))


def test_repeats_are_counted_where_rows_go_in_parts_too():
    rows = np.array([[i >> 3 & 1, i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(16)] * 4, float)
    model = DecisionTreeClassifier(missing="fractional", n_jobs=1).fit(rows, REPLICATED * 4)
    plain = DecisionTreeClassifier(n_jobs=1).fit(rows, REPLICATED * 4)
    assert replicated(model)[:3] == replicated(plain)[:3]
    assert replicated(model).n_repeats > 0


def test_a_page_of_a_graph_draws_it_in_layers():
    rows = np.array([[i >> 3 & 1, i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(16)], float)
    graph = DecisionGraphClassifier.from_tree(DecisionTreeClassifier(n_jobs=1).fit(rows, REPLICATED))
    page = export.html(graph)
    drawn = b64decode(page.split("data:image/svg+xml;base64,")[1].split('"')[0]).decode()
    assert drawn == export.svg(graph, max_depth=None)
    assert "base64" not in export.html(DecisionTreeClassifier(n_jobs=1).fit(rows, REPLICATED))


def test_a_network_of_a_graph_of_too_many_ways_is_refused(monkeypatch):
    rows = np.array([[i >> 3 & 1, i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(16)], float)
    graph = DecisionGraphClassifier.from_tree(DecisionTreeClassifier(n_jobs=1).fit(rows, REPLICATED))
    assert export.verify(export.network(graph), graph, rows)
    monkeypatch.setattr(as_network, "_MOST_WAYS", 3)
    with pytest.raises(export.ExportError, match=r"network: a unit is a way to a leaf, and this graph has \d+ of them"):
        export.network(graph)
