"""Oblique trees as models: their parameters, and everything that a fitted tree is asked for."""

import pickle

import numpy as np
import pytest
from strategies import interpreted_only

from dtnumba import (
    DecisionGraphClassifier,
    DecisionTreeClassifier,
    ObliqueForestClassifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    RuleSetClassifier,
    bin_batches,
    export,
    load,
    prune,
    pruners,
)
from dtnumba.pruners.registry import PRUNERS
from dtnumba.runtime.kernels import COMPILED
from dtnumba.trees.check import check
from dtnumba.trees.linear import sums_of

N = 300 if COMPILED else 90
generator = np.random.default_rng(0)
X = generator.normal(size=(N, 3)).round(3)
Z = X[:, 0] - X[:, 1]
Y = np.array(["low", "high"])[(Z + 0.3 * generator.normal(size=N) > 0).astype(int)]
X[::9, 1] = np.nan
X[::27, 0] = np.nan


@pytest.fixture(scope="module")
def model():
    return ObliqueTreeClassifier(search="lda", random_state=0, max_depth=4, n_jobs=1).fit(X, Y)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"search": "best"}, "'search'"),
        ({"max_terms": 0}, "'max_terms'"),
        ({"axis_bias": 0.5}, "'axis_bias'"),
        ({"numeric_scaling": "robust"}, "'numeric_scaling'"),
        ({"missing": "surrogate"}, "'missing'"),
        ({"search": "lda", "n_restarts": 3}, "starts once"),
        ({"n_projections": 3}, "draws no sums"),
    ],
)
def test_parameters_that_are_not_legal_are_named(params, words):
    with pytest.raises(ValueError, match=words):
        ObliqueTreeClassifier(**params).fit(X, Y)


def test_parameters_of_single_columns_are_not_there():
    for name in ("monotonic_cst", "splitter", "numeric_split", "use_surrogate"):
        with pytest.raises(TypeError, match=name):
            ObliqueTreeClassifier(**{name: None})


def test_missing_values_may_be_refused():
    with pytest.raises(ValueError, match="missing"):
        ObliqueTreeClassifier(missing="error").fit(X, Y)


def test_codes_are_refused_because_sums_are_of_values():
    with pytest.raises(TypeError, match="adds up values"):
        ObliqueTreeClassifier().fit(bin_batches(lambda: iter([np.nan_to_num(X)])), Y)


def test_weights_are_those_of_the_test_of_a_node(model):
    weights, trees = model.tree_.weights_, model.trees_
    assert np.asarray(weights).shape == weights.shape == (model.n_nodes_, 3)
    node = int(np.flatnonzero(np.diff(trees.linear.start))[0])
    rows = X[~np.isnan(X).any(axis=1)]
    assert np.allclose(rows @ weights[node], sums_of(trees.linear, node, rows))
    assert not weights[int(np.flatnonzero(trees.feature < 0)[0])].any()
    with pytest.raises(IndexError, match="there is no node"):
        weights[model.n_nodes_]


def test_thresholds_of_sums_are_not_shown_as_those_of_columns(model):
    with pytest.raises(ValueError, match="tests of sums"):
        model.tree_.threshold  # noqa: B018
    assert not hasattr(model.tree_, "threshold")
    assert (model.tree_.children_left[0], model.tree_.children_right[0]) == (1, 2)


def test_importances_are_shared_by_the_columns_of_a_sum(model):
    trees = model.trees_
    expected, root = np.zeros(3), trees.weight[0]
    for node in np.flatnonzero(trees.feature >= 0):
        worth = trees.weight[node] * trees.gain[node] / root
        own = slice(*trees.linear.start[node : node + 2])
        if own.start < own.stop:
            assert trees.linear.share[own].sum() == pytest.approx(1.0)
            expected[trees.linear.column[own]] += worth * trees.linear.share[own]
        else:
            expected[trees.feature[node]] += worth
    assert np.allclose(model.feature_importances_, expected / expected.sum())


def test_one_row_is_answered_like_many(model):
    ask, one = model.compile_predictor(), pickle.loads(pickle.dumps(model.compile_predictor()))  # noqa: S301
    for rows in (X, X.astype(np.float32)):
        expected = model.predict_proba(rows)
        assert all(np.array_equal(ask(row), said) for row, said in zip(rows[:20], expected, strict=False))
        assert np.array_equal(one(rows[3]), expected[3])


def test_a_file_holds_the_whole_tree(model, tmp_path):
    path = tmp_path / "model.dtn"
    for whole in (model, pickle.loads(pickle.dumps(model)).compact()):  # noqa: S301
        whole.save(path)
        again = load(path)
        assert np.array_equal(again.predict_proba(X), whole.predict_proba(X))
        assert np.array_equal(again.apply(X), whole.apply(X))
        check(again.trees_, 3)
        assert np.array_equal(again.feature_importances_, whole.feature_importances_)


def test_a_way_through_the_tree_is_that_of_its_sums(model):
    paths, leaves = model.decision_path(X), model.apply(X)
    assert np.array_equal(np.asarray(paths.sum(axis=0)).ravel(), model.tree_.n_node_samples)
    assert all(paths[i, leaf] == 1 for i, leaf in enumerate(leaves[:10]))


def test_formats_write_sums_and_read_them_back(model):
    assert export.verify(export.json(model), model, X)
    assert export.verify(export.c(model), model, X)


def test_pictures_write_sums_in_few_digits():
    two = ObliqueTreeClassifier(search="lda", max_depth=1, max_terms=2, n_jobs=1).fit(X, Y)
    signs, sizes = np.sign(two.trees_.linear.weight), np.abs(two.trees_.linear.weight)
    names = [f"{size:.3g}\u00b7x{column}" for size, column in zip(sizes, two.trees_.linear.column, strict=True)]
    shown = ("\u2212 " if signs[0] < 0 else "") + names[0] + (" \u2212 " if signs[1] < 0 else " + ") + names[1]
    assert shown in str(export.svg(two))
    assert shown in two._repr_html_()


def test_rules_of_sums_say_what_the_tree_says(model):
    rules = model.to_rules()
    assert rules.n_rules_ == model.n_leaves_
    for rows in (X, X.astype(np.float32)):
        assert np.array_equal(rules.predict(rows), model.predict(rows))
    assert np.array_equal(rules.from_text(rules.to_text()).predict(X), model.predict(X))
    shorter = RuleSetClassifier().from_tree(model, X, Y)
    assert shorter.score(X, Y) > 0.9
    assert shorter.rules_.arrays.tests.feature.max() >= 3


def test_graphs_say_why_they_are_made_of_no_sums(model):
    with pytest.raises(ValueError, match="sums over several; fit it with max_terms=1"):
        DecisionGraphClassifier.from_tree(model, X, Y)


@interpreted_only
@pytest.mark.parametrize("drawn", ["sqrt", "log2"])
def test_a_share_of_few_columns_draws_two_of_them(drawn):
    for few in (ObliqueTreeClassifier(search="lda"), ObliqueForestClassifier(2, search="lda")):
        grown = few.set_params(max_features=drawn, max_depth=2, random_state=0).fit(X, Y)
        assert grown.trees_.has_sums
        single = few.set_params(max_features=1).fit(X, Y)
        assert not single.trees_.has_sums


@pytest.mark.parametrize("name", sorted(PRUNERS))
def test_every_pruner_makes_a_legal_tree_no_larger(name):
    grown = ObliqueTreeClassifier(search="lda", random_state=0, n_jobs=1).fit(X, Y)
    by_size = pruners.Generic(lambda candidate: candidate.errors + 0.5 * candidate.n_leaves)
    given = {"critical_value": pruners.CriticalValue(0.05), "generic": by_size}
    method = given.get(name, name)
    smaller = prune(grown, method, X, Y)
    assert check(smaller.trees_, 3).n_leaves <= grown.n_leaves_
    assert smaller.predict(X).shape == Y.shape


@interpreted_only
def test_a_size_may_be_chosen_by_folds_and_growth_stopped_early():
    by_folds = ObliqueTreeClassifier(search="lda", max_leaf_nodes="cv", random_state=0, n_jobs=1).fit(X, Y)
    early = ObliqueTreeClassifier(search="lda", validation_fraction=0.3, random_state=0, n_jobs=1).fit(X, Y)
    grown = ObliqueTreeClassifier(search="lda", random_state=0, n_jobs=1).fit(X, Y)
    assert by_folds.n_leaves_ == by_folds.max_leaf_nodes_
    assert max(by_folds.n_leaves_, early.n_leaves_) < grown.n_leaves_


def test_limits_on_leaves_take_the_best_node_first():
    trees = [ObliqueTreeClassifier(search="lda", max_leaf_nodes=k, n_jobs=1).fit(X, Y) for k in (2, 3, 5)]
    assert [tree.n_leaves_ for tree in trees] == [2, 3, 5]
    assert len({tree.tree_.weights_[0].tobytes() for tree in trees}) == 1


def test_a_sparse_table_is_searched_like_a_dense_one():
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.where(np.abs(np.nan_to_num(X)) < 0.5, 0.0, np.nan_to_num(X))
    one, other = (
        ObliqueTreeClassifier(search="lda", max_depth=3, n_jobs=1).fit(table, Y)
        for table in (dense, sparse.csr_matrix(dense))
    )
    assert np.array_equal(one.predict_proba(dense), other.predict_proba(dense))


@interpreted_only
def test_several_outputs_share_their_sums():
    both = np.stack([Y == "high", np.nan_to_num(Z) > 0.5], axis=1)
    model = ObliqueTreeClassifier(search="soft_entropy", max_depth=2, n_jobs=1).fit(X, both)
    assert model.trees_.has_sums
    assert model.predict(X).shape == both.shape
    numbers = ObliqueTreeRegressor(search="ridge", max_depth=2, n_jobs=1)
    targets = np.nan_to_num(np.stack([Z, -2 * Z], axis=1))
    assert numbers.fit(X, targets).score(X, targets) > 0.5


def test_costs_and_weights_of_classes_count():
    plain = ObliqueTreeClassifier(search="lda", max_depth=1, n_jobs=1).fit(X, Y)
    wary = ObliqueTreeClassifier(search="lda", max_depth=1, costs={("low", "high"): 20.0}, n_jobs=1).fit(X, Y)
    heavy = ObliqueTreeClassifier(search="lda", max_depth=1, class_weight={"low": 20.0}, n_jobs=1).fit(X, Y)
    counts = [(model.predict(X) == "high").sum() for model in (plain, wary, heavy)]
    assert counts[1] < counts[0]
    assert counts[2] < counts[0]


@interpreted_only
def test_one_sum_tells_more_than_one_column():
    single = DecisionTreeClassifier(max_depth=1, n_jobs=1).fit(X, Y)
    slanted = ObliqueTreeClassifier(search="soft_entropy", max_depth=1, n_jobs=1).fit(X, Y)
    assert slanted.score(X, Y) > single.score(X, Y) + 0.1
