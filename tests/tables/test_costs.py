"""Costs and priors do to trees and forests what their definitions say, and what rpart does."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import costs as naive
from public_data import kyphosis, train_rows
from strategies import examples, same_trees, samples

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier
from dtnumba.criteria.classification import CostGini
from dtnumba.tables.costs import LeastCost, read_costs, read_priors, risks
from dtnumba.tables.labels import read_labels

DATA = Path(__file__).parents[1] / "data"
LABELS = read_labels(["a", "b", "c"], 3, "Tree")
EQUAL = 1.0 - np.eye(3)


def codes_of(y):
    return np.unique(y, return_inverse=True)[1]


def drawn(sample, rng):
    """Return codes, weights, costs and priors for the rows of a sample."""
    y = codes_of(sample.y)
    k = y.max() + 1
    costs = rng.choice([0.0, 0.5, 1.0, 2.0, 10.0], (k, k)) * (1.0 - np.eye(k))
    costs[np.arange(k), np.arange(k) - 1] += 0.25
    priors = rng.uniform(0.1, 1.0, k) * (naive.class_totals(y, sample.weight, k) > 0)
    return y, sample.weight, costs, priors / priors.sum()


# What rpart 4.1.19 answers, nodes numbered as here: rows, loss, label, share of "present", feature, threshold, decrease
# of impurity times weight.
ABSENT, PRESENT, AGE, START = 0, 1, 0, 2
RPART = {
    "priors, information": [
        (81, 28.35, ABSENT, 0.35, START, 12.5, 13.152924),
        (35, 16.453125, PRESENT, 0.60323, AGE, 34.5, 4.3356414),
        (46, 3.3352941, ABSENT, 0.084369, None, None, None),
        (10, 1.6676471, ABSENT, 0.18383, None, None, None),
        (25, 9.0492188, PRESENT, 0.72067, None, None, None),
    ],
    "costs, gini": [
        (47, 26.0, ABSENT, 0.2766, START, 12.5, 6.3811058),
        (26, 14.0, PRESENT, 0.46154, AGE, 34.5, 2.3115205),
        (21, 2.0, ABSENT, 0.047619, None, None, None),
        (7, 2.0, ABSENT, 0.14286, None, None, None),
        (19, 8.0, PRESENT, 0.57895, None, None, None),
    ],
}


@pytest.mark.small
@pytest.mark.parametrize("kind", RPART)
def test_trees_with_priors_and_costs_are_those_of_rpart(kind):
    X, y = kyphosis()
    if kind == "costs, gini":
        rows = train_rows(len(X))
        X, y, bits = X[rows], y[rows], 1.0
        given = {"costs": {("present", "absent"): 2}}
    else:
        given, bits = {"priors": [0.65, 0.35], "criterion": "entropy"}, np.log(2.0)  # rpart takes natural logarithms
    model = DecisionTreeClassifier(min_samples_split=20, min_samples_leaf=7, n_jobs=1, **given).fit(X, y)
    trees = model.trees_
    loss = risks(trees.value * trees.weight[:, None], model.costs_)
    costs = 1 - np.eye(2) if model.costs_ is None else model.costs_
    nodes = [0, trees.left[0], trees.right[0], trees.left[trees.left[0]], trees.right[trees.left[0]]]
    for node, (n, dev, label, share, feature, threshold, improve) in zip(nodes, RPART[kind], strict=True):
        assert trees.n_samples[node] == n
        np.testing.assert_allclose(loss[node], dev, rtol=1e-6)
        np.testing.assert_allclose(trees.value[node, PRESENT], share, atol=1e-5)
        assert naive.best_label(trees.value[node], costs) == label
        if feature is not None:  # else rpart's is a leaf, because what follows is pruned by its cp
            assert (trees.feature[node], trees.threshold[node]) == (feature, threshold)
            np.testing.assert_allclose(trees.gain[node] * trees.weight[node] * bits, improve, rtol=1e-6)


@pytest.mark.small
@examples(40)
@given(
    sample=samples(classes=True, narrow=True),
    seed=st.integers(0, 1000),
    use=st.sampled_from(["costs", "priors", "both"]),
)
def test_a_tree_is_grown_with_altered_priors_and_says_the_true_ones(sample, seed, use):
    rng = np.random.default_rng(seed)
    y, weight, costs, priors = drawn(sample, rng)
    true = weight if use == "costs" else naive.true_weight(y, weight, priors)
    costs = 1.0 - np.eye(len(costs)) if use == "priors" else costs
    altered = naive.altered_weight(y, true, costs)
    given = {"costs": costs, "priors": priors}
    given = given if use == "both" else {use: given[use]}
    params = {"n_jobs": 1, "max_depth": 4, "min_weight_fraction_leaf": 0.1}
    model = DecisionTreeClassifier(**params, **given).fit(sample.X, y, weight)
    plain = DecisionTreeClassifier(**params).fit(sample.X, y, altered)
    assert same_trees(model.trees_, plain.trees_, but=("value", "weight", "impurity", "gain"))
    for column in ("impurity", "gain"):
        ours, theirs = (getattr(one.trees_, column) * one.trees_.weight for one in (model, plain))
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9 * weight.sum())
    passed = model.decision_path(sample.X).toarray().astype(bool)
    loss = risks(model.trees_.value * model.trees_.weight[:, None], costs)
    for node in range(model.n_nodes_):
        rows = passed[:, node] & (weight > 0)
        np.testing.assert_allclose(model.trees_.value[node], naive.shares(y[rows], true[rows], len(costs)), atol=1e-9)
        np.testing.assert_allclose(model.trees_.weight[node], true[rows].sum(), rtol=1e-6)
        np.testing.assert_allclose(loss[node], naive.risk(y[rows], true[rows], costs), atol=1e-6)
    shares, predicted = model.predict_proba(sample.X), model.predict(sample.X)
    assert predicted.tolist() == [naive.best_label(share, costs) for share in shares]
    np.testing.assert_allclose(model.expected_cost(sample.X, y, weight), naive.mean_cost(y, predicted, weight, costs))


@pytest.mark.small
def test_what_changes_nothing_changes_no_bit():
    X, y = kyphosis()
    priors = {"absent": np.mean(y == "absent"), "present": np.mean(y == "present")}
    plain = DecisionTreeClassifier(n_jobs=1).fit(X, y)
    for params in (
        {"priors": priors},
        {"costs": 1 - np.eye(2)},
        {"costs": [[0, 7], [7, 0]]},
        {"priors": priors, "costs": {}},
    ):
        model = DecisionTreeClassifier(n_jobs=1, **params).fit(X, y)
        assert same_trees(model.trees_, plain.trees_)
        assert (model.predict(X) == plain.predict(X)).all()
    assert model.costs_ is None
    assert same_trees(DecisionTreeClassifier(n_jobs=1).fit(X, y, np.ones(len(X))).trees_, plain.trees_)


@pytest.mark.small
def test_class_weights_multiply_with_priors_and_costs():
    X, y = kyphosis()
    given = {"priors": [0.3, 0.7], "costs": [[0, 3], [1, 0]]}
    model = DecisionTreeClassifier(n_jobs=1, max_depth=2, class_weight={"absent": 2}, **given).fit(X, y)
    both = {"priors": np.array([0.6, 0.7]) / 1.3, "costs": given["costs"]}
    other = DecisionTreeClassifier(n_jobs=1, max_depth=2, **both).fit(X, y)
    assert same_trees(model.trees_, other.trees_, but=("value", "weight", "impurity", "gain"))
    np.testing.assert_allclose(model.trees_.value, other.trees_.value, rtol=1e-9)


@pytest.mark.small
def test_labels_of_least_cost_take_the_first_class_on_ties():
    rule = LeastCost(np.array([[0.0, 1.0, 4.0], [5.0, 0.0, 1.0], [1.0, 1.0, 0.0]]))
    shares = np.array([[5 / 6, 1 / 6, 0.0], [0.2, 0.1, 0.7], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    assert rule.codes(shares).tolist() == [0, 1, 2, 0]
    assert rule.codes(shares[:0]).tolist() == []
    assert LeastCost(1 - np.eye(2)).codes(np.array([[0.5, 0.5]])).tolist() == [0]


@pytest.mark.small
@pytest.mark.parametrize(
    "given",
    [
        [[0, 2, 1], [1, 0, 1], [1, 5, 0]],
        np.array([[0, 2, 1], [1, 0, 1], [1, 5, 0]], np.int8),
        {("a", "b"): 2, ("c", "b"): 5},
        {"a": {"b": 2}, "c": {"b": 5, "a": 1}},
        {("a", "b"): 2, ("c", "b"): 5, ("b", "a"): 1, ("x", "a"): 9},  # all classes are named: x may come in other rows
    ],
    ids=str,
)
def test_costs_may_be_a_matrix_or_a_dict(given):
    assert read_costs(given, LABELS).tolist() == [[0, 2, 1], [1, 0, 1], [1, 5, 0]]


@pytest.mark.small
@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (
            {"costs": [[0, 1], [1, 0]]},
            ValueError,
            r"costs has the shape \(2, 2\), and y has the 3 classes \['a', 'b', 'c'\]",
        ),
        (
            {"costs": [[0, 1, -2], [1, 0, 1], [1, 1, 0]]},
            ValueError,
            "a row of class 'a' called 'c' costs -2.0; .* >= 0",
        ),
        (
            {"costs": [[0, 1, 1], [np.nan, 0, 1], [1, 1, 0]]},
            ValueError,
            "a row of class 'b' called 'a' costs nan; .* finite",
        ),
        (
            {"costs": [[0, 1, 1], [1, 3, 1], [1, 1, 0]]},
            ValueError,
            "a row of class 'b' called 'b' costs 3.0; a right label",
        ),
        ({"costs": [[0, 1, 1], [0, 0, 0], [1, 1, 0]]}, ValueError, "class 'b' called anything else costs 0"),
        ({"costs": {("a", "z"): 2}}, ValueError, r"names the classes \['z'\], which y does not hold"),
        ({"costs": {"a": 2}}, ValueError, "the key 'a': a key must be a pair"),
        ({"costs": {("a", "b"): "2"}}, TypeError, r"costs\[\('a', 'b'\)\]='2': every cost must be a finite number"),
        ({"costs": [["0", "x"], ["y", "0"]]}, ValueError, "costs cannot be read as numbers"),
        ({"costs": "high"}, ValueError, "The 'costs' parameter of DecisionTreeClassifier must be a square array"),
        ({"costs": 3}, ValueError, "The 'costs' parameter of DecisionTreeClassifier must be a square array"),
        ({"priors": [0.5, 0.5]}, ValueError, r"priors has the shape \(2,\), and y has the 3 classes"),
        ({"priors": [0.5, 0.6, -0.1]}, ValueError, "class 'c' has -0.1; every prior must be a finite number >= 0"),
        ({"priors": [0.5, np.nan, 0.1]}, ValueError, "class 'b' has nan"),
        ({"priors": [1, 1, 1]}, ValueError, "priors sum to 3: they must sum to 1; divide them by their sum"),
        ({"priors": {"a": 0.5, "b": 0.5}}, ValueError, r"the dict leaves out \['c'\]"),
        ({"priors": {"a": 0.5, "b": 0.3, "c": 0.1, "d": 0.1}}, ValueError, r"the dict names \['d'\] as well"),
        ({"priors": "uniform"}, ValueError, "The 'priors' parameter of DecisionTreeClassifier must be"),
        ({"criterion": CostGini}, ValueError, "reads the parameter costs, which is not set"),
        ({"criterion": CostGini(1 - np.eye(2))}, ValueError, r"has costs for 2 classes .* y has \[3\] classes"),
    ],
    ids=str,
)
def test_what_cannot_be_used_is_named(given, error, words):
    X, y = [[0.0], [1.0], [2.0]], ["a", "b", "c"]
    model = DecisionTreeClassifier(n_jobs=1).fit(X, y)
    with pytest.raises(error, match=words):
        model.set_params(**given).fit(X, y)
    assert model.predict([[2.0]]).tolist() == ["c"]


@pytest.mark.small
def test_several_outputs_and_rows_without_weight_are_refused():
    X, y = [[0.0], [1.0], [2.0]], ["a", "b", "c"]
    for params in ({"costs": EQUAL}, {"priors": [0.2, 0.3, 0.5]}):
        with pytest.raises(ValueError, match="defined for one output, and y has 2"):
            DecisionTreeClassifier(**params).fit(X, np.stack([y, y], axis=1))
    with pytest.raises(ValueError, match=r"class 'c' has 0\.5, and none of its rows has weight"):
        DecisionTreeClassifier(priors=[0.2, 0.3, 0.5]).fit(X, y, [1, 1, 0])
    with pytest.raises(ValueError, match="all are zero"):
        DecisionTreeClassifier(priors=[0, 0, 1], class_weight={"c": 0}).fit(X, y)
    model = DecisionTreeClassifier(costs={("a", "b"): 3}, n_jobs=1).fit(X, y)
    with pytest.raises(ValueError, match="holds the label 'z', for which there are no costs"):
        model.expected_cost(X, ["a", "b", "z"])
    with pytest.raises(ValueError, match=r"CostGini: costs has the shape \(2,\)"):
        CostGini([1, 2])
    with pytest.raises(ValueError, match="those on the diagonal 0"):
        CostGini(np.eye(2))


@pytest.mark.small
def test_expected_cost_without_costs_is_the_share_of_wrong_labels():
    X, y = kyphosis()
    model = DecisionTreeClassifier(max_depth=1, n_jobs=1).fit(X, y)
    assert model.expected_cost(X, y) == 1.0 - model.score(X, y)
    assert not hasattr(DecisionTreeRegressor(), "expected_cost")


@pytest.mark.small
def test_the_callers_costs_and_priors_are_left_alone():
    X, y = kyphosis()
    costs, priors = np.array([[0.0, 1.0], [4.0, 0.0]]), np.array([0.5, 0.5])
    model = DecisionTreeClassifier(costs=costs, priors=priors, n_jobs=1).fit(X, y)
    before = model.predict(X)
    costs[:], model.costs_[:] = 1.0, 0.0
    assert (model.predict(X) == before).all()
    assert (pickle.loads(pickle.dumps(model)).predict(X) == before).all()  # noqa: S301  our own bytes
    assert model.costs_.tolist() == [[0, 1], [4, 0]]
    assert priors.tolist() == [0.5, 0.5]


@pytest.mark.small
@examples(10)
@given(sample=samples(classes=True, narrow=True, max_rows=16), seed=st.integers(0, 1000))
def test_gini_with_costs_picks_the_cut_that_saves_most(sample, seed):
    y, _, costs, _ = drawn(sample, np.random.default_rng(seed))
    X, y, weight = np.nan_to_num(sample.X[sample.kept], posinf=9, neginf=-9), y[sample.kept], sample.weight[sample.kept]
    model = DecisionTreeClassifier(criterion=CostGini(costs), max_depth=1, n_jobs=1)
    if len(np.unique(y)) < len(costs):
        return
    model.fit(X, y, weight)
    best = naive.best_cut(X, y, weight, costs)
    np.testing.assert_allclose(model.trees_.impurity[0], naive.cost_gini(y, weight, costs), atol=1e-9)
    if model.n_leaves_ == 2:
        np.testing.assert_allclose(model.trees_.gain[0], best, atol=1e-9)
        reads = DecisionTreeClassifier(criterion=CostGini, costs=costs, max_depth=1, n_jobs=1).fit(X, y, weight)
        assert same_trees(reads.trees_, model.trees_)
    else:
        assert best < 1e-9  # some costs make mixed nodes cheaper than their parts


def forest(voting, **params):
    return RandomForestClassifier(60, max_depth=4, voting=voting, random_state=0, n_jobs=1, **params)


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_forests_label_by_cost_after_the_mean_or_in_every_vote(voting):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = np.digitize(X[:, 0] + rng.normal(size=150), [-0.5, 0.5])
    costs = np.array([[0, 1, 2], [3, 0, 1], [3, 4, 0]])
    model = forest(voting, costs=costs, oob_score=True).fit(X, y)
    each = np.stack([tree.predict_proba(X) for tree in model.estimators_])
    votes = np.stack([[naive.best_label(share, costs) for share in shares] for shares in each])
    assert (votes == np.stack([tree.predict(X) for tree in model.estimators_])).all()
    if voting == "soft":
        expected = each.mean(axis=0)
        labels = [naive.best_label(share, costs) for share in expected]
    else:
        expected = (votes[:, :, None] == np.arange(3)).mean(axis=0)
        labels = expected.argmax(axis=1)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)
    assert model.predict(X).tolist() == list(labels)
    assert (model.compile_predictor()(X[0]) == model.predict_proba(X[:1])[0]).all()
    guess = model.oob_decision_function_
    codes = [naive.best_label(share, costs) for share in guess] if voting == "soft" else guess.argmax(axis=1)
    assert model.oob_score_ == (np.array(codes) == y).mean()
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301  our own bytes
    assert (copy.predict(X) == model.predict(X)).all()
    assert (model.compact().predict(X) == copy.predict(X)).all()


def test_shares_of_a_forest_are_those_of_the_true_priors():
    """Rows that nothing tells apart: a forest says the priors, whatever the costs."""
    X, y = np.zeros((400, 3)), np.array([0, 0, 1, 2] * 100)
    costs = [[0, 1, 1], [1, 0, 1], [20, 20, 0]]
    for params, shares, label in (
        ({"priors": [0.1, 0.8, 0.1]}, [0.1, 0.8, 0.1], 1),
        ({"costs": costs}, [0.5, 0.25, 0.25], 2),
        ({"priors": [0.69, 0.3, 0.01], "costs": costs}, [0.69, 0.3, 0.01], 0),
    ):
        model = forest("soft", **params).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X[:1])[0], shares, atol=0.02)
        assert model.predict(X[:1]).tolist() == [label]


def test_balanced_subsamples_and_priors_are_refused_together():
    X, y = np.zeros((4, 1)), [0, 1, 0, 1]
    with pytest.raises(ValueError, match="balanced_subsample' makes the classes weigh the same"):
        forest("soft", class_weight="balanced_subsample", priors=[0.9, 0.1]).fit(X, y)


def test_labelled_costs_and_priors_are_read_by_their_labels():
    pandas = pytest.importorskip("pandas")
    priors = pandas.Series({"c": 0.5, "a": 0.2, "b": 0.3})
    assert read_priors(priors, LABELS).tolist() == [0.2, 0.3, 0.5]
    matrix = np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]])
    costs = pandas.DataFrame(matrix, index=list("abc"), columns=list("abc"))
    assert read_costs(costs.loc[list("cab"), list("bca")], LABELS).tolist() == matrix.tolist()
    assert read_costs(pandas.DataFrame(matrix), LABELS).tolist() == matrix.tolist()  # numbers of rows are places
    for labelled, read in ((costs.rename(index={"a": "A"}), read_costs), (priors.rename({"a": "A"}), read_priors)):
        with pytest.raises(ValueError, match="label it by these"):
            read(labelled, LABELS)


def test_costs_stay_where_sums_are_finite():
    with pytest.raises(
        ValueError, match=r"a row of class 'a' called 'b' costs 1e\+300; every cost must be .* at most 1e\+100"
    ):
        read_costs({("a", "b"): 1e300}, LABELS)


@pytest.mark.parametrize("costs", [None, [[0, 1, 2], [3, 0, 1], [1, 1, 0]]])
def test_with_priors_and_weights_in_parts_the_order_of_the_rows_changes_no_bit(costs):
    draw = np.random.default_rng(0)
    X, y, weight = draw.normal(size=(60, 3)), draw.integers(0, 3, 60), draw.uniform(0.01, 2.0, 60)
    tree = DecisionTreeClassifier(priors=[0.2, 0.3, 0.5], costs=costs, max_depth=3, n_jobs=1)
    first = tree.fit(X, y, weight).trees_
    for _ in range(6):
        order = draw.permutation(60)
        assert same_trees(first, tree.fit(X[order], y[order], weight[order]).trees_)
