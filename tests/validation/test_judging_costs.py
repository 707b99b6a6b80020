"""Pruners, rows held out and folds count what wrong labels cost, and how common the classes truly are."""

import numpy as np
import pytest
from naive import costs as naive_costs
from naive import pruners as naive
from public_data import kyphosis, train_rows

from dtnumba import DecisionTreeClassifier, RandomForestClassifier, prune, pruners, validation
from dtnumba.pruners.engines.alpha_table import alpha_table
from dtnumba.tables.costs import counted_by_cost

pytestmark = pytest.mark.small

COSTS = np.array([[0.0, 1.0, 6.0], [2.0, 0.0, 1.0], [1.0, 9.0, 0.0]])
GROWN = {"min_samples_split": 20, "min_samples_leaf": 7, "n_jobs": 1, "random_state": 0}
# CP, number of splits and rel error of rpart 4.1.19.
RPART = {
    "costs": [[0.38461538, 0, 1], [0.15384615, 1, 0.61538462], [0.01, 2, 0.46153846]],
    "priors": [[0.20458953, 0, 1], [0.01, 2, 0.59082094]],
}


def noisy(n=70, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n, 3)).astype(float)
    y = np.clip(np.rint(X[:, 0] / 2 + rng.normal(size=n)), 0, 2).astype(int)
    y[:3] = range(3)
    return X, y, rng.integers(1, 4, n).astype(float)


def cost_of(option, X, y, weight, costs=COSTS):
    """What rows cost by the labels of a tree of nested nodes."""
    total = 0.0
    for row, truth, w in zip(X, y, weight, strict=True):
        at = option
        while at.children:
            at = at.children[naive.child_of(at, row)]
        total += w * costs[truth][naive_costs.best_label(at.counts, costs)]
    return total


@pytest.mark.parametrize("seed", range(4))
def test_reduced_error_is_the_smallest_of_the_cheapest_trees(seed):
    X, y, weight = noisy(seed=seed)
    X_new, y_new, weight_new = noisy(seed=seed + 100)
    model = DecisionTreeClassifier(costs=COSTS, max_depth=3, n_jobs=1).fit(X, y, weight)
    found = naive.nested(prune(model, "reduced_error", X_new, y_new, sample_weight=weight_new).trees_)
    options = list(naive.prunings(naive.nested(model.trees_)))
    each = [cost_of(option, X_new, y_new, weight_new) for option in options]
    assert cost_of(found, X_new, y_new, weight_new) == pytest.approx(min(each))
    sizes = [len(naive.leaves(option)) for option, cost in zip(options, each, strict=True) if cost <= min(each) + 1e-9]
    assert len(naive.leaves(found)) == min(sizes)


@pytest.mark.parametrize("kind", ["minimum_error", "niblett", "cp", "generic"])
@pytest.mark.parametrize("seed", range(3))
def test_sums_over_leaves_are_least_in_cost(kind, seed):
    X, y, weight = noisy(seed=seed)
    model = DecisionTreeClassifier(costs=COSTS, max_depth=3, n_jobs=1).fit(X, y, weight)
    root = naive.nested(model.trees_)
    share = root.counts / root.weight
    whole = min(root.counts @ COSTS)

    def of_leaf(leaf):
        if kind in {"cp", "generic"}:
            return min(leaf.counts @ COSTS) / whole + 0.02
        m, prior = (2.0, share) if kind == "minimum_error" else (3.0, np.full(3, 1 / 3))
        label = naive_costs.best_label(leaf.counts, COSTS)
        return leaf.weight * ((leaf.counts + m * prior) / (leaf.weight + m)) @ COSTS[:, label]

    method = {
        "minimum_error": pruners.MinimumError(),
        "niblett": pruners.MinimumError(m=None),
        "cp": pruners.CostComplexity(cp=0.02),
        "generic": pruners.Generic(lambda t: t.errors / whole + 0.02 if t.n_nodes == 1 else t.below),
    }[kind]
    found = naive.nested(prune(model, method).trees_)
    least = min(sum(map(of_leaf, naive.leaves(option))) for option in naive.prunings(root))
    assert sum(map(of_leaf, naive.leaves(found))) == pytest.approx(least)


def test_with_equal_costs_errors_and_weights_are_themselves():
    counts = np.random.default_rng(0).integers(0, 9, (20, 4)).astype(float) + 0.5
    plain = counted_by_cost(counts, None, counts[0])
    for costs in (1.0 - np.eye(4), 7.0 - 7.0 * np.eye(4)):
        for found, expected in zip(counted_by_cost(counts, costs, counts[0]), plain, strict=True):
            assert found == pytest.approx(expected)
    altered = [counted_by_cost(row[None], COSTS, counts[0, :3])[0] for row in counts[:, :3]]
    weights = [counted_by_cost(row[None], COSTS, counts[0, :3])[1] for row in counts[:, :3]]
    assert (np.array(altered) <= np.array(weights) * 2 / 3 + 1e-12).all()


@pytest.mark.parametrize("method", ["error_based", "pessimistic", "bound", "minimum_error", "cost_complexity", "mdl"])
@pytest.mark.parametrize("model", [DecisionTreeClassifier, RandomForestClassifier])
def test_costs_in_another_unit_prune_the_same(method, model):
    X, y, _ = noisy(120)
    params = {"random_state": 0} | ({"n_estimators": 2} if model is RandomForestClassifier else {})
    options = {"cp": 0.03} if method == "cost_complexity" else {}
    costs = ([[0, 2, 2], [2, 0, 2], [2, 2, 0]], None), (COSTS, 4 * COSTS)
    for pair in costs:
        grown = [model(costs=cost, **params).fit(X, y) for cost in pair]
        one, two = (prune(each, method, X, y, **options).trees_ for each in grown)
        assert np.array_equal(one.feature, two.feature)
    plain = prune(model(**params).fit(X, y), method, X, y, **options).trees_
    assert method == "mdl" or not np.array_equal(one.feature, plain.feature)  # costs do say something


def test_a_bound_on_the_mean_cost():
    X, y, _ = noisy(200)
    costs = [[0, 1, 8], [1, 0, 1], [8, 1, 0]]
    model = DecisionTreeClassifier(costs=costs, max_depth=2).fit(X, y)
    n, d, m = model.n_nodes_, 3, len(y)
    spread = np.sqrt(((n + 1) * np.log2(d + 4) + np.log(2 / 0.1)) / (2 * m))
    assert model.risk_bound(0.1) == pytest.approx(model.expected_cost(X, y) + 8 * spread)


def test_simplify_keeps_the_labels_of_least_cost():
    X, y, weight = noisy(200)
    model = DecisionTreeClassifier(costs=COSTS).fit(X, y, weight)
    found = prune(model, "simplify")
    assert found.n_leaves_ < model.n_leaves_
    assert (found.predict(X) == model.predict(X)).all()


@pytest.mark.parametrize("kind", RPART)
def test_the_path_is_rparts(kind):
    X, y = kyphosis()
    rows = train_rows(len(X))
    X, y = X[rows], y[rows]
    given = {"priors": [0.65, 0.35], "criterion": "entropy"} if kind == "priors" else {"costs": [[0, 1], [2, 0]]}
    found = alpha_table(DecisionTreeClassifier(**GROWN, **given), X, y, cv=3, relative=True, floor=0.01)
    columns = [found.alpha, found.n_leaves - 1, found.risk]
    assert np.allclose(np.column_stack(columns)[::-1], RPART[kind], atol=1e-6)


def test_folds_are_judged_by_cost_and_by_priors():
    X, y, _ = noisy(90, seed=3)
    folds, priors = np.arange(90) % 3, np.array([0.2, 0.2, 0.6])
    model = DecisionTreeClassifier(costs=COSTS, priors=priors, max_depth=2, random_state=0)
    found = alpha_table(model, X, y, cv=folds)
    lost = np.zeros(90)
    for k in range(3):
        test = folds == k
        own = DecisionTreeClassifier(costs=COSTS, priors=priors, max_depth=2).fit(X[~test], y[~test])
        lost[test] = COSTS[y[test], own.predict(X[test])]
    true = naive_costs.true_weight(y, np.ones(90), priors)
    assert found.alpha[0] == 0.0  # the first mark is 0, too: the whole trees
    assert found.error[0] == pytest.approx(true @ lost / 90)


@pytest.mark.parametrize("costs", [None, np.array([[0.0, 1.0, 2.0], [2.0, 0.0, 1.0], [1.0, 2.0, 0.0]])])
def test_a_branch_ends_where_rows_held_out_cost_no_less(costs):
    X, y, _ = noisy(300, seed=1)
    X_new, y_new, _ = noisy(300, seed=2)
    priors = np.array([0.3, 0.3, 0.4])
    params = {"costs": costs, "priors": priors, "n_jobs": 1}
    found = DecisionTreeClassifier(**params).fit(X, y, X_val=X_new, y_val=y_new)
    costs = 1.0 - np.eye(3) if costs is None else costs
    weight = (priors / np.bincount(y) * len(y))[y_new]

    def cut(node, rows):
        if not node.children:
            return node
        sides = np.array([naive.child_of(node, row) for row in X_new[rows]], int)
        parts = [rows[sides == k] for k in range(2)]
        pairs = list(zip(node.children, parts, strict=True))
        here = cost_of(naive.as_leaf(node), X_new[rows], y_new[rows], weight[rows], costs)
        apart = sum(cost_of(naive.as_leaf(a), X_new[b], y_new[b], weight[b], costs) for a, b in pairs)
        if here <= apart * (1 + 1e-9):
            return naive.as_leaf(node)
        node.children = [cut(*pair) for pair in pairs]
        return node

    whole = naive.nested(DecisionTreeClassifier(**params).fit(X, y).trees_)
    assert naive.outline(naive.nested(found.trees_)) == naive.outline(cut(whole, np.arange(len(X_new))))
    assert found.n_leaves_ > 1


def test_the_size_by_folds_is_the_cheapest():
    X, y, weight = noisy(120, seed=5)
    model = DecisionTreeClassifier(costs=COSTS, max_leaf_nodes="cv", random_state=0).fit(X, y, weight)
    plain = DecisionTreeClassifier(costs=10 * COSTS, max_leaf_nodes="cv", random_state=0).fit(X, y, weight)
    assert model.max_leaf_nodes_ == plain.max_leaf_nodes_
    assert plain.cv_errors_ == pytest.approx(10 * model.cv_errors_)
    curve = validation.complexity_curve(DecisionTreeClassifier(costs=COSTS, random_state=0), X, y, cv=10)
    assert curve.loss == "cost"
    assert curve.train_error[-1] <= curve.train_error[0] < 2.0


def test_folds_may_lack_a_class():
    X, y, _ = noisy(60)
    y[y == 1] = 0
    y[0] = 1
    for given in ({"costs": COSTS}, {"priors": [0.5, 0.2, 0.3]}, {"costs": COSTS, "priors": [0.5, 0.2, 0.3]}):
        model = DecisionTreeClassifier(max_depth=2, random_state=0, **given)
        assert validation.cross_validate(model, X, y, k=3).scores.shape == (3,)
        assert validation.leave_one_out(model, X, y).scores.shape == (60,)
        assert model.set_params(max_leaf_nodes="cv").fit(X, y).n_leaves_ >= 1
        chosen = DecisionTreeClassifier(prune=pruners.CostComplexity(cp="cv", cv=3), random_state=0, **given).fit(X, y)
        assert chosen.n_leaves_ >= 1
        assert (model.costs is COSTS) == ("costs" in given)
