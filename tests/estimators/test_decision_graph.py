"""DecisionGraphClassifier: what it learns, what its messages say, graphs of trees and of forests, and bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.graphs import diagram_sizes, message, rows_of
from strategies import examples, interpreted_only, same_trees

from dtnumba import (
    DecisionGraphClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    export,
)
from dtnumba.growth.graphs.diagram import TooLargeError
from dtnumba.growth.graphs.sample import LeafCode
from dtnumba.prediction.tree_view import TreeView
from dtnumba.trees import replicated
from dtnumba.trees.check import check
from dtnumba.trees.graphs import GraphNodes, Question, laid_out

METHODS = ("mml", "merge", "oblivious")
NAN = float("nan")


def replicated_concept(seed, n=1000, noise=0.05):
    """Return rows of four columns of 0 and 1, and x1 x2 + x3 x4 with some labels turned over."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 4)).astype(float)
    y = ((X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3]) > 0).astype(int)
    return X, y ^ (rng.random(n) < noise)


def mixed(seed, n=80, n_classes=3):
    """Return rows of two numbers and two categories, some missing, and labels that they tell something about."""
    rng = np.random.default_rng(seed)
    X = np.stack([rng.integers(0, 6, n), rng.normal(size=n).round(1), rng.integers(0, 4, n), rng.integers(0, 3, n)], 1)
    y = (np.digitize(X[:, 0] + 3 * (X[:, 2] == 1), [2, 5]) + (rng.random(n) < 0.1)) % n_classes
    X[rng.random(X.shape) < 0.1] = NAN
    return X, y, rng.integers(1, 4, n)


@interpreted_only
@pytest.mark.parametrize("seed", range(20))
def test_a_replicated_concept_is_asked_once(seed):
    model = DecisionGraphClassifier().fit(*replicated_concept(seed))
    assert model.n_nodes_ - model.n_leaves_ == 4
    X = rows_of(4)
    assert model.predict(X).tolist() == ((X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3]) > 0).astype(int).tolist()


@interpreted_only
@pytest.mark.parametrize("method", METHODS)
@examples(12)
@given(
    seed=st.integers(0, 1 << 20),
    alpha=st.sampled_from([0.3, 1.0, 2.0]),
    missing=st.sampled_from(["learned", "majority"]),
)
def test_a_message_is_what_its_parts_are(method, seed, alpha, missing):
    X, y, weight = mixed(seed)
    model = DecisionGraphClassifier(method=method, prior=alpha, missing=missing, categorical_features=[2, 3], n_jobs=1)
    model.fit(X, y, weight)
    check(model.trees_, 4)
    levels = [np.unique(column[~np.isnan(column)]).tolist() for column in X.T]
    coded = X.copy()
    for j in (2, 3):
        coded[:, j] = [NAN if np.isnan(x) else levels[j].index(x) for x in X[:, j]]
    assert model.message_length_ == pytest.approx(message(model, coded, y, weight, alpha))
    steps = model.history_
    assert steps[-1][2:5] == pytest.approx(tuple(model.message_length_))
    totals = np.array([step.total for step in steps])
    assert (np.diff(totals) < 0).all()
    assert [step.saved for step in steps[1:]] == pytest.approx((-np.diff(totals)).tolist())
    assert (steps[-1].n_nodes, steps[-1].n_joins) == (model.n_nodes_, model.n_joins_)


@interpreted_only
@pytest.mark.parametrize("n_steps", range(1, 9))
def test_every_step_of_a_growth_is_counted_right(n_steps):
    from dtnumba.growth.graphs.by_length import steps
    from dtnumba.growth.graphs.candidates import Budget
    from dtnumba.growth.graphs.forks import ForkRules
    from dtnumba.growth.graphs.growing import GrowingGraph
    from dtnumba.growth.graphs.sample import sample_of
    from dtnumba.tables.table import read_table
    from dtnumba.tables.weights import fixed_weights

    X, y = replicated_concept(7)
    growing = GrowingGraph(sample_of(read_table(X, "a test"), y, fixed_weights(None, len(y)), 2, 1.0))
    for k, _ in enumerate(steps(growing, Budget(10**6, 10**6), ForkRules()), 1):
        if k == n_steps:
            model = DecisionGraphClassifier().fit(X, y)
            model.tree_.trees = check(growing.trees(), 4)
            assert growing.history[-1][2:5] == pytest.approx(message(model, X, y, np.ones(len(y)), 1.0))


def test_the_bits_of_weights_that_are_no_whole_numbers():
    counts, half = np.array([[3, 5], [0, 4]]), LeafCode.of(1.0, 0.5, 100, 2)
    whole = LeafCode.of(1.0, 1.0, 100, 2)
    assert half.bits(2 * counts) == pytest.approx(whole.bits(counts))
    assert whole.bits(np.array([9, 5])) == pytest.approx(14.874117, abs=1e-6)


@interpreted_only
@pytest.mark.parametrize("method", METHODS)
def test_threads_weights_and_order_of_rows_change_no_bit(method):
    X, y, weight = mixed(3, 120)
    made = DecisionGraphClassifier(method=method, categorical_features=[2, 3], n_jobs=1).fit(X, y, weight)
    others = [
        DecisionGraphClassifier(method=method, categorical_features=[2, 3], n_jobs=2).fit(X, y, weight),
        DecisionGraphClassifier(method=method, categorical_features=[2, 3]).fit(X[::-1], y[::-1], weight[::-1]),
    ]
    assert all(same_trees(made.trees_, other.trees_) for other in others)
    twice = DecisionGraphClassifier(method=method, categorical_features=[2, 3])
    twice.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert same_trees(made.trees_, twice.trees_, but=("n_samples",))


@interpreted_only
def test_levels_are_asked_in_one_order():
    X, y = replicated_concept(1)
    model = DecisionGraphClassifier(method="oblivious").fit(X, y)
    trees, order = model.trees_, []
    on_ways = [[]]
    ways = [(0, ())]
    while ways:
        node, asked = ways.pop()
        if trees.feature[node] < 0:
            on_ways.append(asked)
            continue
        ways += [
            (child, (*asked, int(trees.feature[node]))) for child in range(trees.left[node], trees.right[node] + 1)
        ]
    for way in on_ways:
        order += [column for column in way if column not in order]
    before = {(a, b) for way in on_ways for i, a in enumerate(way) for b in way[i + 1 :]}
    assert len(order) == 4
    assert not any((b, a) in before for a, b in before)


@interpreted_only
@pytest.mark.parametrize("method", METHODS)
def test_budgets_hold(method):
    X, y = replicated_concept(0)
    for most in (1, 2, 3, 5, 6):
        assert DecisionGraphClassifier(method=method, max_nodes=most).fit(X, y).n_nodes_ <= most
    for deep in (1, 2, 3):
        assert DecisionGraphClassifier(method=method, max_depth=deep).fit(X, y).depth_ <= deep
    fewest = DecisionGraphClassifier(method=method, min_samples_leaf=150).fit(X, y).trees_
    assert fewest.n_samples[(fewest.feature < 0)].min() >= 100


@interpreted_only
def test_parameters_matter():
    X, y, _ = mixed(5, 300)
    fit = lambda **given: DecisionGraphClassifier(categorical_features=[2, 3], **given).fit(X, y)  # noqa: E731
    plain = fit()
    assert fit(prior=0.05).message_length_ != plain.message_length_
    assert not same_trees(fit(class_weight={0: 9.0}).trees_, plain.trees_)
    dear = fit(costs=[[0, 9, 9], [1, 0, 1], [1, 1, 0]])
    assert np.count_nonzero(dear.predict(X) == 0) > np.count_nonzero(plain.predict(X) == 0)
    with pytest.raises(ValueError, match="missing='error'"):
        fit(missing="error")


def test_what_is_no_graph():
    one = DecisionGraphClassifier().fit(np.zeros((3, 2)), ["only"] * 3)
    assert (one.n_nodes_, one.predict([[5.0, 1.0]]).tolist()) == (1, ["only"])
    torn = DecisionGraphClassifier().fit(np.zeros((4, 1)), [0, 1, 0, 1])  # the same row, and another label
    assert torn.n_nodes_ == 1
    assert torn.predict_proba([[0.0]]).tolist() == [[0.5, 0.5]]
    with pytest.raises(ValueError, match="0 feature"):
        DecisionGraphClassifier().fit(np.zeros((4, 0)), [0, 1, 0, 1])
    for given_, words in (({"method": "best"}, "method"), ({"max_nodes": 0}, "max_nodes"), ({"prior": 0.0}, "prior")):
        with pytest.raises(ValueError, match=words):
            DecisionGraphClassifier(**given_).fit(np.zeros((4, 1)), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="learns one"):
        DecisionGraphClassifier().fit(np.zeros((4, 1)), np.zeros((4, 2)))


# Graphs of trees


@examples(20)
@given(st.integers(3, 6).flatmap(lambda n: st.lists(st.integers(0, 1), min_size=1 << n, max_size=1 << n)))
@interpreted_only
def test_a_graph_of_a_tree_says_what_the_tree_says(truth):
    n = len(truth).bit_length() - 1
    X = rows_of(n)
    tree = DecisionTreeClassifier(n_jobs=1).fit(X, truth)
    graph = DecisionGraphClassifier.from_tree(tree)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.3, NAN, X)
    for rows in (X, holes):
        assert np.array_equal(graph.predict_proba(rows), tree.predict_proba(rows))
    assert graph.n_nodes_ <= tree.n_nodes_
    assert graph.n_leaves_ == len(set(truth))


def test_parity_and_a_replicated_concept_by_exact_sharing():
    X = rows_of(8)
    parity = DecisionGraphClassifier.from_tree(DecisionTreeClassifier().fit(X, X.sum(axis=1) % 2))
    assert (parity.n_nodes_, parity.n_leaves_, parity.n_joins_) == (17, 2, 14)
    X = rows_of(4)
    tree = DecisionTreeClassifier().fit(X, (X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3]) > 0)
    graph = DecisionGraphClassifier.from_tree(tree)
    assert (tree.n_nodes_ - tree.n_leaves_, graph.n_nodes_ - graph.n_leaves_) == (6, 4)
    found = replicated(tree)
    assert (found.n_repeats, found.n_nodes_repeated) == (1, 5)
    assert "1 subtree is a repeat: 5 nodes, learned from 4 rows" in tree.summary()
    assert "1 subtree is a repeat" in export.html(tree, X, tree.predict(X))


@interpreted_only
def test_nodes_join_where_rows_say_that_it_pays():
    X, y = replicated_concept(3)
    tree = DecisionTreeClassifier().fit(X, y)
    exact = DecisionGraphClassifier.from_tree(tree)
    joined = DecisionGraphClassifier.from_tree(tree, X, y)
    assert joined.n_nodes_ < exact.n_nodes_
    assert joined.history_[-1].total < joined.history_[0].total
    assert joined.score(X, y) > 0.93


@pytest.mark.parametrize("limit", [{"max_nodes": 12}, {"max_depth": 5}])
def test_a_graph_of_a_tree_keeps_to_the_budget(limit):
    X = rows_of(6)
    tree = DecisionTreeClassifier().fit(X, X.sum(axis=1) % 2)
    (name,) = limit
    assert DecisionGraphClassifier(max_nodes=13, max_depth=6).from_tree(tree).n_nodes_ == 13
    for rows in ((), (X, X.sum(axis=1) % 2)):
        model = DecisionGraphClassifier(**limit)
        with pytest.raises(TooLargeError, match=f"{name}={limit[name]}.*(13 nodes|depth 6).*larger {name}"):
            model.from_tree(tree, *rows)
        assert not hasattr(model, "tree_")


def test_what_is_no_tree():
    X, y = replicated_concept(0, 50)
    for model, kind in ((DecisionTreeRegressor().fit(X, y), TypeError), (object(), TypeError)):
        with pytest.raises(kind, match="classifier of one tree"):
            DecisionGraphClassifier.from_tree(model)
    two = DecisionTreeClassifier().fit(X, np.stack([y, y], axis=1))
    with pytest.raises(ValueError, match="2 outputs"):
        DecisionGraphClassifier.from_tree(two)
    with pytest.raises(ValueError, match="pass both X and y"):
        DecisionGraphClassifier.from_tree(DecisionTreeClassifier().fit(X, y), X)
    with pytest.raises(ValueError, match="to one child"):
        DecisionGraphClassifier.from_tree(DecisionTreeClassifier(missing="fractional").fit(X, y))
    graph = DecisionGraphClassifier.from_tree(DecisionTreeClassifier().fit(rows_of(4), rows_of(4).sum(axis=1) % 2))
    for asks in (lambda: graph.prune("mdl"), graph.risk_bound):
        with pytest.raises(ValueError, match="no subtrees"):
            asks()


# Diagrams of forests


@interpreted_only
@examples(15)
@given(
    st.integers(0, 1 << 20),
    st.sampled_from(
        [{}, {"voting": "hard"}, {"costs": [[0, 1, 2], [3, 0, 1], [2, 2, 0]]}, {"categorical_split": "multiway"}]
    ),
)
def test_a_diagram_says_what_the_forest_says(seed, params):
    X, y, weight = mixed(seed, 60)
    X = np.nan_to_num(X)
    y[:3] = [0, 1, 2]
    forest = RandomForestClassifier(
        n_estimators=5, max_depth=3, random_state=seed, n_jobs=1, categorical_features=[2, 3], **params
    ).fit(X, y, weight)
    graph = DecisionGraphClassifier.from_forest(forest)
    check(graph.trees_, 4)
    rng = np.random.default_rng(seed)
    cuts = forest.trees_.threshold[(forest.trees_.feature == 1)]
    rows = np.stack(
        [rng.integers(-1, 7, 400), rng.normal(size=400), rng.integers(0, 4, 400), rng.integers(0, 3, 400)], 1
    )
    rows[: min(len(cuts), 300), 1] = cuts[:300]  # on the very thresholds
    for asked in (X, rows):
        assert graph.predict(asked).tolist() == forest.predict(asked).tolist()
    assert set(np.unique(graph.predict_proba(rows))) <= {0.0, 1.0}


@interpreted_only
@examples(15)
@given(st.integers(3, 6).flatmap(lambda n: st.lists(st.integers(0, 1), min_size=1 << n, max_size=1 << n)))
def test_a_diagram_of_a_boolean_function_is_reduced(truth):
    n = len(truth).bit_length() - 1
    X = rows_of(n)
    forest = RandomForestClassifier(n_estimators=1, bootstrap=False, max_features=None, n_jobs=1).fit(X, truth)
    if len(set(truth)) == 1:
        assert DecisionGraphClassifier.from_forest(forest).n_nodes_ == 1
        return
    graph = DecisionGraphClassifier.from_forest(forest)
    assert graph.predict(X).tolist() == truth
    order = []
    for node in np.flatnonzero(graph.trees_.feature >= 0):
        order += [j for j in [int(graph.trees_.feature[node])] if j not in order]
    sizes = {diagram_sizes([truth[_place(row, p)] for row in X.astype(int)]) for p in _orders_of(graph, n)}
    assert (graph.n_nodes_ - graph.n_leaves_, graph.n_leaves_) in sizes


def _orders_of(graph, n):
    """Yield the orders of all columns in which the ways of a graph may ask."""
    from itertools import permutations

    trees = graph.trees_
    pairs = set()
    for node in np.flatnonzero(trees.feature >= 0):
        for child in range(trees.left[node], trees.right[node] + 1):
            if trees.feature[child] >= 0:
                pairs.add((int(trees.feature[node]), int(trees.feature[child])))
    for order in permutations(range(n)):
        if all(order.index(a) < order.index(b) for a, b in pairs):
            yield order


def _place(row, order):
    """Return where the row with its columns put into an order stands in a truth table asked in that order."""
    n, number = len(row), 0
    for at, j in enumerate(order):
        number |= row[at] << (n - 1 - j)
    return number


@interpreted_only
def test_a_forest_that_is_too_large_says_how_far_it_got():
    X, y, _ = mixed(0, 200)
    X = np.nan_to_num(X)
    forest = RandomForestClassifier(n_estimators=10, n_jobs=1, random_state=0).fit(X, y)
    with pytest.raises(TooLargeError, match=r"max_nodes=50.*(shallower|fewer).* would help"):
        DecisionGraphClassifier.from_forest(forest, max_nodes=50)
    small = RandomForestClassifier(n_estimators=3, max_depth=2, n_jobs=1, random_state=0).fit(X, y)
    graph = DecisionGraphClassifier.from_forest(small)
    for missing in ([[0.0, 1.0, NAN, 0.0]], [[0.0] * 4, [0.0, 1.0, NAN, 0.0]]):
        for asked in (np.array(missing), np.array(missing)[:, ::-1].copy()[:, ::-1], np.asfortranarray(missing)):
            with pytest.raises(ValueError, match=rf"row {len(missing) - 1} .* column 2 .* knows no missing values"):
                graph.predict(asked)
    with pytest.raises(TooLargeError, match=r"max_depth=1.*larger max_depth"):
        DecisionGraphClassifier(max_depth=1).from_forest(small)
    for form in (export.python, export.c, export.sql, export.json, export.rules):  # of missing values: as its nodes say
        assert export.verify(form(graph), graph, X)
    with pytest.raises(TypeError, match="a fitted forest"):
        DecisionGraphClassifier.from_forest(DecisionTreeClassifier().fit(X, y))
    again = graph.fit(np.array([[NAN], [1.0]]), [0, 1])  # a fit of its own takes missing values
    assert len(again.predict([[NAN]])) == 1


# Other forms


@interpreted_only
def test_rules_formulas_and_pictures_of_a_graph():
    X = rows_of(4)
    y = ((X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3]) > 0).astype(int)
    graph = DecisionGraphClassifier.from_tree(DecisionTreeClassifier().fit(X, y))
    rules = graph.to_rules()
    assert np.array_equal(rules.predict(X), y)
    assert rules.rules_.arrays.covered.sum() == pytest.approx(16)
    assert str(export.dnf(graph, 1)).count(" or ") == 1
    assert export.verify(export.rules(graph), graph, X)
    picture = export.svg(graph)
    assert picture.count('class="box"') == graph.n_nodes_ == 6
    assert picture.count('class="edge"') == 8
    text = export.text(graph)
    assert text.count("goes on at [") == graph.n_joins_
    assert export.dot(graph).count(" -> ") == 8
    with pytest.raises(export.ExportError, match="branches join there"):
        export.text(graph, "rpart")


@interpreted_only
def test_a_graph_without_joins_tells_its_message_too():
    X, y = replicated_concept(0, 200)
    for graph in (DecisionGraphClassifier().fit(X, y * 0), DecisionGraphClassifier(max_nodes=3).fit(X, y)):
        assert not graph.n_joins_
        assert f"0 joins, message of {graph.message_length_.total:.1f} bits" in graph.summary()


@interpreted_only
def test_a_graph_of_many_ways_is_said_node_by_node():
    n = 16
    X = np.random.default_rng(0).integers(0, 2, (100, n))
    graph = DecisionGraphClassifier(max_nodes=1).fit(X, X[:, 0])
    graph.tree_ = TreeView(parity_graph(n), n, [2])
    assert np.array_equal(graph.predict(X), X.sum(axis=1) % 2)
    source = export.python(graph)
    assert len(source) < 10_000  # of 65,536 ways
    assert export.verify(source, graph, X)
    with pytest.raises(export.ExportError, match=r"the graph has 65,536 ways.*pass style='table'"):
        export.sql(graph)
    assert len(export.sql(graph, style="table")) < 10_000
    assert export.verify(export.sql(graph, style="table"), graph, X)
    assert len(export.python(DecisionGraphClassifier.from_tree(DecisionTreeClassifier().fit(X[:, :2], X[:, 0])))) < 500


def parity_graph(n):
    """Return the reduced diagram of the parity of so many columns."""
    places = [(0, 0), *((k, odd) for k in range(1, n + 1) for odd in (0, 1))]
    at = {place: i for i, place in enumerate(places)}
    m = len(places)
    return laid_out(
        GraphNodes(
            [Question(k, 0.5, 1) if k < n else None for k, _ in places],
            [(at[k + 1, odd], at[k + 1, 1 - odd]) if k < n else () for k, odd in places],
            np.array([[1.0 - odd, odd] if k == n else [0.5, 0.5] for k, odd in places]),
            np.ones(m, np.int64),
            np.ones(m),
            np.zeros(m),
            np.zeros(m),
        )
    )
