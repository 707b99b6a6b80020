"""Pruners against recursion, against numbers from books and programs, and what every pruned model keeps."""

import copy
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import pruners as naive
from strategies import descriptions, examples, layout, same_trees, walk

import dtnumba
from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier, prune, pruners
from dtnumba.prediction.tree_view import TreeView
from dtnumba.pruners.engines.binomial_bound import binomial_upper
from dtnumba.pruners.error_based import extra_errors
from dtnumba.pruners.registry import PRUNERS
from dtnumba.tables.costs import LeastCost
from dtnumba.trees.check import check
from dtnumba.trees.layout import joined, one_tree
from dtnumba.trees.message_length import arity_bits, dirichlet_bits, whole_leaf_bits
from dtnumba.trees.subtrees import cut_below, depth_levels

K = 3


def gini(counts):
    return 1.0 - (counts**2).sum() / counts.sum() ** 2 if counts.sum() else 0.0


def counted(spec, X, codes, weight):
    """Return the Trees of a nested description, their statistics those of the rows."""
    trees = layout(spec)
    root = naive.through(naive.nested(trees._replace(value=np.zeros((trees.n_nodes, K)))), X, codes, weight)
    by_id = {node.id: node for node in naive.nodes(root)}
    value, n = np.full((trees.n_nodes, K), 1.0 / K), trees.n_nodes
    columns = {"weight": np.zeros(n), "n_samples": np.zeros(n, np.int64), "impurity": np.zeros(n), "gain": np.zeros(n)}
    for k, node in by_id.items():
        columns["weight"][k], columns["n_samples"][k] = node.weight, node.n_rows
        columns["impurity"][k] = gini(node.counts)
        if node.weight:
            value[k] = node.counts / node.weight
            within = sum(child.weight * gini(child.counts) for child in node.children)
            columns["gain"][k] = gini(node.counts) - within / node.weight if node.children else 0.0
    return check(trees._replace(value=value, **columns))


def model_of(trees):
    """Return a fitted classifier of three columns and three classes that holds these trees."""
    model = DecisionTreeClassifier()
    vars(model).update(tree_=TreeView(trees, 3, [K]), classes_=np.arange(K), n_classes_=K, n_outputs_=1)
    vars(model).update(n_features_in_=3, max_features_=3)
    return model


@st.composite
def grown(draw, kinds=("threshold", "cuts", "map", "both")):
    """Models of trees with tests of these kinds, each with the rows that its statistics are of."""
    spec = draw(descriptions(kinds=kinds, depth=3).filter(lambda spec: isinstance(spec, dict)))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    n = draw(st.integers(3, 40))
    X = rng.choice([-2.0, -1.0, 0.0, 0.7, 1.0, 2.0, 3.0, np.nan], (n, 3))
    codes, weight = rng.integers(0, K, n), rng.choice([0.5, 1.0, 1.0, 2.0], n)
    return model_of(counted(spec, X, codes, weight)), (X, codes, weight)


def outlines(model):
    return naive.outline(naive.nested(model.trees_))


def shape(model):
    return naive.tests_of(naive.nested(model.trees_))


def expected(counts, confidence=0.25):
    n, e = counts.sum(), counts.sum() - counts.max()
    return e + float(extra_errors(np.array([n]), np.array([e]), confidence)[0])


def minimum_error(prior, m):
    def cost(node):
        k = int(node.counts.argmax())
        n = node.weight
        return n * (n - node.counts[k] + m * (1 - prior[k])) / (n + m)

    return cost


@examples(60)
@given(grown(), st.integers(0, 1 << 30))
def test_cutting_leaves_what_stands_above(model_and_rows, seed):
    trees = model_and_rows[0].trees_
    is_leaf = np.random.default_rng(seed).random(trees.n_nodes) < 0.3

    def cut(node):
        if is_leaf[node.id]:
            return naive.as_leaf(node)
        return naive.replace(node, children=[cut(child) for child in node.children])

    found = check(cut_below(trees, is_leaf))
    assert naive.outline(naive.nested(found)) == naive.outline(cut(naive.nested(trees)))
    both = check(cut_below(joined([trees, trees]), np.concatenate([is_leaf, is_leaf])))
    assert same_trees(one_tree(both, 1), found)


@examples(60)
@given(grown())
def test_sums_over_leaves_are_settled_as_by_recursion(model_and_rows):
    model = model_and_rows[0]
    root = naive.nested(model.trees_)
    prior = root.counts / root.weight
    cases = [
        (pruners.MinimumError(), minimum_error(prior, 2.0), 0.0),
        (pruners.MinimumError(None), minimum_error(np.full(K, 1 / K), K), 0.0),
        (pruners.ErrorBased(raising=False), lambda node: expected(node.counts), 0.1),
        (pruners.ErrorBased(0.1, raising=False), lambda node: expected(node.counts, 0.1), 0.1),
    ]
    for pruner, cost, slack in cases:
        assert outlines(prune(model, pruner)) == naive.outline(naive.cheapest(root, cost, slack=slack)[1]), pruner
    assert outlines(prune(model, pruners.Pessimistic(repeat=False))) == naive.outline(naive.pessimistic(root))
    assert outlines(prune(model, "critical_value", value=0.05)) == naive.outline(naive.critical(root, 0.05))


@examples(60)
@given(grown(), st.integers(0, 1 << 30))
def test_reduced_error_is_the_smallest_of_the_best_prunings(model_and_rows, seed):
    model, (X, _, _) = model_and_rows
    rng = np.random.default_rng(seed)
    codes, weight = rng.integers(0, K, len(X)), rng.integers(0, 3, len(X)).astype(float)
    weight[0] = 1.0
    root = naive.nested(model.trees_)
    if naive.n_prunings(root) > 200:
        return
    options = naive.prunings(root)
    errors = [naive.held_out_errors(option, X, codes, weight) for option in options]
    sizes = [len(naive.leaves(option)) for option in options]
    best = min(range(len(options)), key=lambda i: (errors[i], sizes[i]))
    found = prune(model, "reduced_error", X, codes, sample_weight=weight)
    assert outlines(found) == naive.outline(options[best])


@examples(60)
@given(grown())
def test_raising_is_release_8_by_recursion(model_and_rows):
    model, rows = model_and_rows
    found = prune(model, "error_based", rows[0], rows[1], sample_weight=rows[2])
    assert outlines(found) == naive.outline(naive.error_based(naive.nested(model.trees_), rows, expected)[1])
    again = prune(found, "error_based", rows[0], rows[1], sample_weight=rows[2])
    assert same_trees(again.trees_, found.trees_)


@examples(40)
@given(grown())
def test_what_a_raised_branch_holds_is_counted_anew(model_and_rows):
    model, (X, codes, weight) = model_and_rows
    found = prune(model, pruners.ErrorBased(0.9), X, codes, sample_weight=weight)
    for node in naive.nodes(naive.nested(found.trees_)):
        k = node.id
        if found.trees_.n_samples[k] == model.trees_.n_samples.max() and k > 0:
            continue
        if node.weight:
            within = sum(child.weight * gini(child.counts) for child in node.children)
            gain = gini(node.counts) - within / node.weight if node.children else 0.0
            assert found.trees_.impurity[k] == pytest.approx(gini(node.counts), abs=1e-9)
            assert found.trees_.gain[k] == pytest.approx(gain, abs=1e-9)


def notes(delta, m):
    def f(subtree, whole):
        errors, n = sum(leaf.errors for leaf in naive.leaves(whole)), len(naive.nodes(whole))
        return errors / m + math.sqrt(((n + 1) * math.log2(3 + K + 1) + math.log(2 / delta)) / (2 * m))

    return f


@examples(50)
@given(grown(), st.sampled_from([1e-9, 0.3]), st.booleans())
def test_what_looks_at_the_whole_tree_is_settled_in_postorder(model_and_rows, delta, many):
    model, rows = model_and_rows
    if many:  # the more rows, the more the bound keeps
        rows = tuple(np.concatenate([part] * 8) for part in rows)
        model.tree_ = TreeView(model.trees_._replace(weight=model.trees_.weight * 8), 3, [K])
    m = float(model.trees_.weight[0])
    found = prune(model, pruners.Bound(delta, repeat=False))
    assert outlines(found) == naive.outline(naive.by_whole(naive.nested(model.trees_), notes(delta, m)))
    raised = prune(model, pruners.Bound(delta, repeat=False, raising=True), rows[0], rows[1], sample_weight=rows[2])
    assert shape(raised) == naive.tests_of(naive.by_whole(naive.nested(model.trees_), notes(delta, m), rows))

    def own(t):
        bits = (t.whole.n_nodes + 1) * math.log2(3 + K + 1)
        return t.whole.errors / t.whole.weight + math.sqrt((bits + math.log(2 / delta)) / (2 * t.whole.weight))

    assert same_trees(prune(model, "generic", f=own).trees_, prune(model, "bound", delta=delta).trees_)
    same = prune(model, pruners.Generic(own, raising=True), rows[0], rows[1], sample_weight=rows[2])
    assert same_trees(
        same.trees_, prune(model, pruners.Bound(delta, raising=True), *rows[:2], sample_weight=rows[2]).trees_
    )


@examples(30)
@given(grown())
def test_your_own_function_can_be_a_sum_over_leaves_and_is_called_a_few_times_a_node(model_and_rows):
    model = model_and_rows[0]
    calls = []

    def f(option):
        calls.append(option)
        return expected(np.array(option.counts)) if option.n_nodes == 1 else option.below + 0.1

    found = prune(model, pruners.Generic(f, repeat=False))
    assert len(calls) == model.n_leaves_ + 2 * (model.n_nodes_ - model.n_leaves_)
    cost = naive.cheapest(naive.nested(model.trees_), lambda node: expected(node.counts), lambda node: 0.1)
    assert outlines(found) == naive.outline(cost[1])


def until_nothing_changes(root, f, rows):
    """Go over the template with raising as often as anything changes."""
    while True:
        smaller = naive.by_whole(root, f, rows)
        if naive.tests_of(smaller) == naive.tests_of(root):
            return smaller
        root = smaller


@examples(60)
@given(grown(), st.sampled_from([0.3, 1.0]), st.booleans(), st.booleans())
def test_what_your_function_raises_is_what_going_over_all_of_it_again_raises(rows_of, price, has_costs, looks):
    """Only where something changed is a function asked again that never looks at the whole tree."""
    model, rows = rows_of
    costs = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]]) if has_costs else np.ones((K, K)) - np.eye(K)
    if has_costs:
        vars(model).update(costs=costs, _rule=LeastCost(costs))

    def least(t):
        return sum((leaf.counts @ costs).min() for leaf in naive.leaves(t)) + price * len(naive.leaves(t))

    def f(option):
        return (option.whole if looks else option).errors + price * (option.whole if looks else option).n_leaves

    found = prune(model, pruners.Generic(f, raising=True), *rows[:2], sample_weight=rows[2])
    root = naive.through(naive.nested(model.trees_), *rows)
    wanted = until_nothing_changes(root, lambda t, whole: least(whole if looks else t), rows)
    assert outlines(found) == naive.outline(wanted)


def test_a_function_of_the_node_alone_is_asked_again_only_where_something_changed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    y = (X[:, 0] > 0) ^ (rng.random(2000) < 0.5)
    model = DecisionTreeClassifier(random_state=0).fit(X, y)

    def n_calls(*, looks, repeat):
        calls = []

        def f(option):
            calls.append(option)
            return (option.whole if looks else option).errors + 0.4 * (option.whole if looks else option).n_leaves

        prune(model, pruners.Generic(f, raising=True, repeat=repeat), X, y)
        return len(calls)

    once = n_calls(looks=False, repeat=False)
    assert once == n_calls(looks=True, repeat=False)
    assert n_calls(looks=False, repeat=True) < 1.25 * once < 1.75 * once < n_calls(looks=True, repeat=True)


def everything(rows):
    """Return every pruner, with options that cut some and leave some."""
    X, codes, weight = rows
    return [
        pruners.Bound(0.3),
        pruners.Bound(0.3, code="mdl"),
        pruners.Bound(0.3, raising=True),
        pruners.MDL(),
        pruners.MDL("wallace_patrick", 0.5),
        pruners.MDL(cuts=(1, 2, 3)),
        pruners.ErrorBased(),
        pruners.ErrorBased(0.6, estimate="j48"),
        pruners.ErrorBased(raising=False, estimate="exact"),
        pruners.Pessimistic(),
        pruners.MinimumError(),
        pruners.CriticalValue(0.05),
        pruners.ReducedError(X[::2], codes[::2]),
        pruners.ReducedError(X[::2], codes[::2], raising=True, sample_weight=weight[::2]),
        pruners.Simplify(),
        pruners.Generic(lambda option: option.errors + 0.4 * option.n_leaves),
        pruners.Generic(lambda option: option.errors + 0.4 * option.n_leaves, raising=True),
    ]


@examples(40)
@given(grown())
def test_pruning_again_changes_nothing_and_the_given_model_stays(model_and_rows):
    model, rows = model_and_rows
    before = copy.deepcopy(model.trees_)
    for pruner in everything(rows):
        once = prune(model, pruner, rows[0], rows[1], sample_weight=rows[2])
        twice = prune(once, pruner, rows[0], rows[1], sample_weight=rows[2])
        check(once.trees_, 3)
        assert same_trees(once.trees_, twice.trees_), pruner
        assert once.n_nodes_ <= model.n_nodes_
    assert same_trees(model.trees_, before)
    assert {type(pruner).name for pruner in everything(rows)} | {"cost_complexity"} >= set(PRUNERS)


@examples(40)
@given(grown())
def test_simplify_answers_the_same(model_and_rows):
    model, (X, _, _) = model_and_rows
    found = prune(model, "simplify")
    assert (found.predict(X) == model.predict(X)).all()
    for node in naive.nodes(naive.nested(found.trees_)):
        labels = {int(leaf.counts.argmax()) for leaf in naive.leaves(node)}
        assert len(labels) > 1 or not node.children


@examples(40)
@given(grown(), st.booleans())
def test_reduced_error_of_numbers_is_least_squares(model_and_rows, raising):
    model, (X, _, weight) = model_and_rows
    rng = np.random.default_rng(len(X))
    trees = model.trees_._replace(value=rng.normal(size=(model.n_nodes_, 1)))
    regressor = DecisionTreeRegressor()
    vars(regressor).update(tree_=TreeView(trees, 3, [1]), n_outputs_=1, n_features_in_=3, max_features_=3)
    y = rng.normal(size=len(X)) + 1000.0
    regressor.tree_ = TreeView(trees._replace(value=trees.value + 1000.0), 3, [1])
    found = prune(regressor, pruners.ReducedError(raising=raising), X, y, sample_weight=weight)

    def loss(model):
        return float(weight @ (model.predict(X) - y) ** 2)

    assert loss(found) <= loss(regressor) * (1 + 1e-9)
    root = naive.nested(model.trees_)
    if not raising and naive.n_prunings(root) <= 100:
        losses = [loss_of_cut(regressor, option, X, y, weight) for option in naive.prunings(root)]
        assert loss(found) <= min(losses) * (1 + 1e-9)


def loss_of_cut(regressor, option, X, y, weight):
    total, value = 0.0, regressor.trees_.value[:, 0]
    for row, truth, w in zip(X, y, weight, strict=True):
        at = option
        while at.children:
            at = at.children[naive.child_of(at, row)]
        total += w * (value[at.id] - truth) ** 2
    return total


# Numbers from books and programs.


def test_extra_errors_are_those_of_release_8_and_j48():
    pairs = [(6, 0), (9, 0), (1, 0), (16, 1), (14, 5), (6, 2), (12, 6), (100, 10), (16, 0.5), (10, 9), (10, 9.6)]
    n, e = np.array(pairs, float).T
    theirs = [1.237834, 1.284781, 0.75, 1.506894, 1.794993, 1.342588, 1.6530, 2.8147, 1.4174, 0.8038, 0.2680]
    assert extra_errors(n, e, 0.25) == pytest.approx(theirs, abs=6e-5)
    j48 = extra_errors(n, e, 0.25, "j48")[[3, 4, 7, 9, 10]]
    assert j48 == pytest.approx([1.4757, 1.7611, 2.7496, 0.7992, 0.4], abs=5e-5)


def test_the_exact_estimate_is_the_binomial_bound():
    special = pytest.importorskip("scipy.special")
    rng = np.random.default_rng(0)
    n = np.concatenate([rng.integers(1, 400, 300), [100_000, 3]]).astype(float)
    e = np.floor(rng.random(len(n)) * n)
    for tail in (0.05, 0.25, 0.9):
        upper = binomial_upper(n, e, tail)
        assert special.bdtr(e, n.astype(int), upper) == pytest.approx(np.full(len(n), tail), rel=1e-9)
        assert extra_errors(n, e, tail, "exact") == pytest.approx(n * upper - e)
    assert binomial_upper(np.array([16.0, 4.0]), np.array([1.0, 4.0]), 0.25) == pytest.approx([0.15961071, 1.0])


def three_leaves():
    """Leaves of 6, 9 and 1 rows, the last of another class."""
    spec = {"feature": 0, "map": [0, 1, 2], "missing": 0, "children": [0.0, 0.0, 0.0]}
    X = np.zeros((16, 3))
    X[:, 0] = np.repeat([0.0, 1.0, 2.0], [6, 9, 1])
    return model_of(counted(spec, X, np.repeat([0, 0, 1], [6, 9, 1]), np.ones(16)))


def test_the_book_case_of_error_based_pruning():
    model = three_leaves()
    assert expected(np.array([6.0, 0, 0])) + expected(np.array([9.0, 0, 0])) + expected(
        np.array([0, 1.0, 0])
    ) == pytest.approx(3.2726, abs=5e-5)
    assert expected(np.array([15.0, 1, 0])) == pytest.approx(2.5069, abs=5e-5)
    assert prune(model, pruners.ErrorBased(raising=False)).n_leaves_ == 1
    assert prune(model, "pessimistic").n_leaves_ == 1
    assert prune(model, "minimum_error").n_leaves_ == 3  # .0625 against .051314


E1 = np.array([[1, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 1]]), np.array([1, 1, 0, 0])


@pytest.mark.parametrize(
    ("m", "start", "after", "n_leaves"),
    [(4, 1.7453, 1.5523, 1), (8, 1.2341, 1.1864, 2), (12, 1.0076, 1.0076, 4), (40, 0.5519, 0.5519, 4)],
)
def test_the_bound_prunes_the_example_of_the_book(m, start, after, n_leaves):
    X, y = (np.tile(part, (m // 4, 1) if part.ndim == 2 else m // 4) for part in E1)
    tree = DecisionTreeClassifier(n_jobs=1).fit(X, y)
    found = prune(tree, "bound", delta=0.05)
    assert (tree.n_nodes_, found.n_leaves_) == (7, n_leaves)
    assert tree.risk_bound(0.05) == pytest.approx(start, abs=5e-5)
    assert found.risk_bound(0.05) == pytest.approx(after, abs=5e-5)
    assert same_trees(prune(tree, pruners.Bound(raising=True), X, y).trees_, found.trees_)
    assert same_trees(DecisionTreeClassifier(n_jobs=1, prune="bound").fit(X, y).trees_, found.trees_)


def test_description_lengths_of_the_literature():
    assert whole_leaf_bits(np.array([[9.0, 5.0]])) == pytest.approx([14.967226])
    assert whole_leaf_bits(np.array([[4.0, 0.0], [3.0, 0.0]])).sum() == pytest.approx(2 + math.log2(9))
    assert dirichlet_bits(np.array([[9.0, 5], [4, 0]]), 1.0) == pytest.approx([14.874117, 2.321928], abs=1e-6)
    assert dirichlet_bits(np.array([[9.0, 5], [4, 0]]), 0.1) == pytest.approx([17.177544, 1.238449], abs=1e-6)
    below = {"feature": 1, "map": [0, 1], "missing": 0, "children": [0.0, 0.0]}
    golf = layout({"feature": 0, "map": [0, 1, 2], "missing": 0, "children": [below, 0.0, below]})
    leaf, test = arity_bits(golf, depth_levels(golf), 4)
    assert np.where(golf.feature < 0, leaf, test)[1:].sum() == pytest.approx(7.7549, abs=5e-5)


@pytest.mark.parametrize(("c", "n_leaves"), [(3, 1), (4, 4), (10, 4)])
def test_description_length_keeps_xor_where_it_pays(c, n_leaves):
    X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], c, axis=0)
    tree = DecisionTreeClassifier(n_jobs=1).fit(X, X[:, 0] ^ X[:, 1])
    assert prune(tree, "mdl", cuts=(1, 1)).n_leaves_ == n_leaves


# Models.


def noisy(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where((X[:, 0] > 0) ^ (rng.random(n) < 0.2), "yes", "no")


def test_a_fit_that_prunes_is_a_fit_and_then_pruning():
    X, y = noisy()
    for method in (pruners.ErrorBased(), "pessimistic"):
        found = DecisionTreeClassifier(n_jobs=1, prune=method).fit(X, y)
        rows = (X, y) if method != "pessimistic" else ()
        assert same_trees(found.trees_, prune(DecisionTreeClassifier(n_jobs=1).fit(X, y), method, *rows).trees_)
        assert found.get_params()["prune"] is method
    assert found.set_params(prune=None).fit(X, y).n_leaves_ > 40
    found.prune = "bound"
    assert found.fit(X, y).n_leaves_ < 5


def test_reduced_error_sets_rows_aside_in_a_fit():
    X, y = noisy()
    found = DecisionTreeClassifier(n_jobs=1, random_state=3, prune="reduced_error").fit(X, y)
    assert found.trees_.n_samples[0] == 210
    assert found.n_leaves_ < DecisionTreeClassifier(n_jobs=1).fit(X, y).n_leaves_ / 3
    again = DecisionTreeClassifier(n_jobs=1, random_state=3, prune=pruners.ReducedError(fraction=0.3)).fit(X, y)
    assert same_trees(found.trees_, again.trees_)
    given_rows = pruners.ReducedError(*noisy(seed=1))
    whole = DecisionTreeClassifier(n_jobs=1, prune=given_rows).fit(X, y)
    assert whole.trees_.n_samples[0] == 300
    assert same_trees(
        whole.trees_, prune(DecisionTreeClassifier(n_jobs=1).fit(X, y), "reduced_error", *noisy(seed=1)).trees_
    )


def test_each_tree_of_a_forest_is_pruned():
    X, y = noisy()
    params = {"n_estimators": 4, "n_jobs": 1, "random_state": 0}
    forest = RandomForestClassifier(**params).fit(X, y)
    for method in (pruners.ErrorBased(), pruners.Bound(0.5), pruners.Generic(lambda t: t.errors + t.n_leaves)):
        found = forest.prune(method, X, y)
        check(found.trees_, 3)
        alone = []
        for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
            alone.append(prune(tree, method, X[rows], y[rows]))
        assert [tree.n_leaves_ for tree in alone] == [tree.n_leaves_ for tree in found.estimators_]
        assert same_trees(RandomForestClassifier(**params, prune=method).fit(X, y).trees_, found.trees_)
    assert type(found) is RandomForestClassifier
    assert found.score(X, y) > 0.7
    held = RandomForestClassifier(**params, prune="reduced_error", oob_score=True).set_params(n_estimators=30).fit(X, y)
    assert held.oob_score_ > 0.6
    assert not hasattr(held.prune("simplify"), "oob_score_")


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"method": "nothing"}, ValueError, "must be a str among"),
        ({"method": 3}, TypeError, "must be a str among"),
        ({"method": "bound", "delta": 1.0}, ValueError, "delta=1.0"),
        ({"method": "bound", "delta": 0}, ValueError, "delta=0"),
        ({"method": "bound", "dleta": 0.1}, TypeError, "no option 'dleta'"),
        ({"method": pruners.Bound(), "delta": 0.1}, ValueError, "options"),
        ({"method": "critical_value"}, ValueError, "no default for 'value'"),
        ({"method": "error_based"}, ValueError, "pass X and y"),
        ({"method": "error_based", "confidence": 1.5}, ValueError, "confidence=1.5"),
        ({"method": "reduced_error"}, ValueError, "has not seen|have not seen"),
        ({"method": "reduced_error", "X": np.zeros((2, 2)), "y": ["no", "no"]}, ValueError, "2 features"),
        ({"method": "reduced_error", "X": np.zeros((2, 3)), "y": ["no", "maybe"]}, ValueError, "maybe"),
        ({"method": "reduced_error", "X": np.zeros((2, 3))}, ValueError, "both X and y"),
        ({"method": "error_based", "X": np.zeros((2, 3)), "y": ["no", "yes"]}, ValueError, "not what this"),
        ({"method": "mdl", "cuts": (1, 2)}, ValueError, "3 columns"),
        ({"method": "mdl", "correction": "more"}, ValueError, "correction"),
        ({"method": "minimum_error", "m": -1}, ValueError, "m=-1"),
        ({"method": "generic", "f": 3}, TypeError, "f=3"),
        ({"method": "generic", "f": lambda option: None}, ValueError, "must return a number"),
    ],
)
def test_bad_input_says_what_to_do_and_leaves_the_model(change, error, said):
    model = DecisionTreeClassifier(n_jobs=1).fit(*noisy(60))
    before = model.trees_
    with pytest.raises(error, match=said):
        prune(model, **change)
    assert model.trees_ is before


def test_a_pruner_refuses_what_it_is_not_defined_for():
    X, y = noisy(60)
    numbers = DecisionTreeRegressor(n_jobs=1).fit(X, X[:, 0])
    two = DecisionTreeClassifier(n_jobs=1).fit(X, np.stack([y, y], axis=1))
    for method in ("bound", "mdl", "pessimistic", "minimum_error", pruners.ErrorBased(raising=False)):
        with pytest.raises(ValueError, match="predicts numbers"):
            prune(numbers, method)
        with pytest.raises(ValueError, match="works only with one output"):
            prune(two, method)
    with pytest.raises(ValueError, match="predicts numbers"):
        numbers.risk_bound()
    assert prune(two, "reduced_error", X, np.stack([y, y], axis=1)).n_leaves_ <= two.n_leaves_
    assert prune(numbers, "critical_value", value=0.5).n_leaves_ < numbers.n_leaves_
    own = prune(numbers, "generic", f=lambda option: option.errors + option.n_leaves)
    assert 1 < own.n_leaves_ < numbers.n_leaves_
    with pytest.raises(ValueError, match=r"compact\(\) dropped"):
        prune(two.compact(), "simplify")
    with pytest.raises(dtnumba.NotFittedError):
        prune(DecisionTreeClassifier(), "simplify")
    with pytest.raises(TypeError, match="no trees to prune"):
        prune(3, "simplify")
    with pytest.raises(ValueError, match="prune"):
        DecisionTreeClassifier(prune="nothing").fit(X, y)


def test_deep_trees_need_no_recursion():
    spec = 0.0
    for k in range(2000):
        spec = {"feature": 0, "threshold": float(k), "children": [spec, 1.0]}
    trees = layout(spec)
    rows = np.linspace(-1.0, 2001.0, 50)[:, None] * np.ones(3)
    assert len({walk(spec, row) for row in rows}) == 2
    model = model_of(trees._replace(value=np.eye(K)[np.arange(trees.n_nodes) % K]))
    assert prune(model, "simplify").n_nodes_ == trees.n_nodes
    assert prune(model, pruners.CriticalValue(1.0)).n_nodes_ == 1
