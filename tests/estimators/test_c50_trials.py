"""Trials, rules and winnowing of C5.0: known answers, the slow way, weights, threads, what is refused."""

import pickle

import numpy as np
import pytest
from estimators.test_c50 import framed, iris, noisy
from naive.c50_boosting import Booster
from naive.c50_winnowing import winnow as slow_winnow

import dtnumba
from dtnumba import C50Classifier, export
from dtnumba.estimators.c50_steps.trials import _is_lost, _shifted
from dtnumba.estimators.c50_tree import c50_mixtures
from dtnumba.export.reading import ExportError
from dtnumba.prediction.confident_votes import votes_of_trees
from dtnumba.rules.c50.votes import RulesSay
from dtnumba.runtime.kernels import COMPILED

pytestmark = pytest.mark.small


def by_hand(X, y, kinds, n_levels, **params):
    """Return the slow way's committee and the model of the same parameters."""
    slow = Booster(X, y, kinds, n_levels, int(y.max()) + 1, **params).fit()
    return slow, C50Classifier(n_jobs=1, **params).fit(framed(X, kinds, n_levels), y)


def test_trials_of_iris():
    X, y = iris()
    model = C50Classifier(trials=5).fit(X, y)
    assert model.trial_errors_.tolist() == [4, 8, 6, 12, 5]
    assert model.errors_ == (model.predict(X) != y).sum() == 2
    assert model.n_trials_ == 5


def test_rules_of_iris():
    X, y = iris()
    model = C50Classifier(rules=True).fit(X, y)
    rules = model.rules_[0]
    assert model.sizes_ == [4]
    assert [rule.confidence for rule in rules] == pytest.approx([51 / 52, 48 / 50, 46 / 48, 45 / 48])
    assert rules[1].tests == ("1.9 < x2 <= 4.9", "x3 <= 1.7")
    assert (model.predict(X) != y).sum() == model.errors_ == 4
    assert model.confusion_.tolist() == [[50, 0, 0], [0, 47, 3], [0, 1, 49]]
    assert model.feature_usage_.tolist() == pytest.approx([0.0, 0.0, 0.96, 94 / 150])


@pytest.mark.parametrize("rules", [False, True])
@pytest.mark.parametrize("gone", [0.0, 0.1])
def test_trials_are_as_the_slow_way(rules, gone):
    n_trials = []
    for seed in range(3):
        X, y, kinds, n_levels = noisy(seed, n=180, gone=gone)
        slow, model = by_hand(X, y, kinds, n_levels, trials=6, rules=rules)
        assert model.sizes_ == slow.sizes
        assert model.trial_errors_.tolist() == slow.errors[: len(slow.sizes)]
        if len(slow.models) > 1:
            sums = slow.sums_of(X)
            shares = model.predict_proba(framed(X, kinds, n_levels))
            assert np.allclose(shares, sums / sums.sum(axis=1, keepdims=True), atol=1e-9)
        n_trials.append(model.n_trials_)
    assert max(n_trials) > 3


def test_rows_that_cannot_be_won_are_given_up_as_the_slow_way():
    X, y, kinds, n_levels = noisy(7, n=200, gone=0.0, n_classes=2)
    slow, model = by_hand(X, y, kinds, n_levels, trials=10, early_stopping=False)
    assert model.errors_ == (slow.labels_of(X) != y).sum()
    assert model.sizes_ == slow.sizes
    assert len(slow.sizes) == 10


def test_votes_tell_the_share_of_their_class_in_the_leaves_alone():
    X, y, kinds, n_levels = noisy(3, gone=0.2)
    model = C50Classifier(n_jobs=1).fit(framed(X, kinds, n_levels), y)
    table, plain = model.read_known(framed(X, kinds, n_levels), y)[0], np.zeros(len(X))
    votes = votes_of_trees(table, model.trees_, 1, plain=plain)
    mixed, stated = c50_mixtures(table, model.trees_, 1)
    at, label = np.arange(len(X)), votes.argmax(axis=1)
    assert np.allclose(plain, mixed[at, label], atol=1e-12)
    assert np.allclose(votes[at, label], stated[at, label], atol=1e-12)
    assert (plain > votes[at, label] + 1e-6).any()


def test_one_trial_is_the_tree():
    X, y, kinds, n_levels = noisy(2)
    table = framed(X, kinds, n_levels)
    one, tree = C50Classifier(trials=2).fit(table, y), C50Classifier().fit(table, y)
    assert one.n_trials_ == 1  # two trials are one
    assert np.array_equal(one.predict_proba(table), tree.predict_proba(table))


@pytest.mark.parametrize("rules", [False, True])
def test_summary_tells_why_there_are_fewer_trials(rules, tmp_path):
    x, few = np.repeat(np.arange(4.0), 25), "\n\n*** boosting abandoned (too few classifiers)\n\n\nEvaluation on"
    easy = C50Classifier(trials=10, rules=rules).fit(x[:, None], x > 1)
    assert (easy.n_trials_, easy.stopped_after_, easy.stopped_without_errors_) == (1, 1, True)
    reduced = "\n\n*** boosting reduced to {} since last classifier is very {}" + few
    assert reduced.format("1 trial", "accurate") in easy.summary()
    y = np.tile(np.arange(25) < 12, 4)  # of the same shares wherever a cut is
    hard = C50Classifier(trials=10, rules=rules).fit(x[:, None], y)
    assert (hard.n_trials_, hard.stopped_without_errors_) == (1, False)
    text = hard.summary()
    assert reduced.format("1 trial", "inaccurate") in text
    assert "***" not in hard.estimators_[0].summary()
    hard.save(tmp_path / "model")
    assert dtnumba.load(tmp_path / "model").summary() == text
    X, y, kinds, n_levels = noisy(7, n=120, gone=0.0, n_classes=2)
    all_done = C50Classifier(trials=3, rules=rules).fit(framed(X, kinds, n_levels), y)
    assert all_done.stopped_after_ == 0
    assert "***" not in all_done.summary()


@pytest.mark.parametrize("params", [{"trials": 5}, {"rules": True}, {"trials": 5, "rules": True}, {"winnow": True}])
def test_threads_order_pickles_and_files_change_no_bit(params, tmp_path):
    X, y, kinds, n_levels = noisy(5, n=500 if COMPILED else 150)
    table, order = framed(X, kinds, n_levels), np.random.default_rng(0).permutation(len(y))
    one = C50Classifier(n_jobs=1, **params).fit(table, y)
    shares = one.predict_proba(table)
    many = framed(np.tile(X, (5, 1)), kinds, n_levels)
    assert np.array_equal(C50Classifier(n_jobs=2, **params).fit(table, y).predict_proba(many)[: len(y)], shares)
    assert np.array_equal(np.vstack([one.predict_proba(table[:77]), one.predict_proba(table[77:])]), shares)
    assert np.array_equal(pickle.loads(pickle.dumps(one)).predict_proba(table), shares)  # noqa: S301
    one.save(tmp_path / "model")
    assert np.array_equal(dtnumba.load(tmp_path / "model").predict_proba(table), shares)
    if "winnow" not in params:  # which rows are of the first half is a matter of their order
        other = C50Classifier(**params).fit(table.iloc[order], y[order])
        assert other.sizes_ == one.sizes_
        assert np.allclose(other.predict_proba(table), shares, atol=1e-9)


@pytest.mark.parametrize(("n", "gone"), [(20, 0.1), (60, 0.0)])
@pytest.mark.parametrize("params", [{"trials": 7}, {"rules": True}, {"trials": 7, "rules": True}])
def test_whole_weights_are_repeated_rows(params, n, gone):
    n_trials = []
    for seed in range(3):
        X, y, kinds, n_levels = noisy(seed, n=n, gone=gone)
        weight, table = np.random.default_rng(seed).integers(0, 4, len(y)), framed(X, kinds, n_levels)
        often, kept = np.repeat(np.arange(len(y)), weight), weight > 0
        once = C50Classifier(**params).fit(table, y, weight)
        other = C50Classifier(**params).fit(table.iloc[often], y[often])
        assert once.sizes_ == other.sizes_
        assert once.n_cases_ == len(often)
        assert once.trial_errors_.tolist() == other.trial_errors_.tolist()
        if (weight > 0)[np.unique(y, return_index=True)[1]].all():
            assert np.allclose(once.predict_proba(table[kept]), other.predict_proba(table[kept]), atol=1e-9)
        n_trials.append(once.n_trials_)
    assert max(n_trials) == params.get("trials", 1)


def test_rows_that_are_given_up_take_no_part_in_what_weights_add_up_to():
    weight, wrong = np.array([0.0, 2.0, 1.0, 1.0, 4.0]), np.array([True, True, False, False, True])
    cases = np.array([1.0, 2.0, 1.0, 1.0, 1.0])
    shifted, left = _shifted(weight, wrong, cases)
    assert left == 5.0
    # Of 8 in all 2 are right: these gain 1, which the wrong ones pay by what they count at first
    whole = np.array([0.0, 2.0 - 2 / 3, 1.5, 1.5, 4.0 - 1 / 3])
    assert shifted == pytest.approx(whole * 5 / 8)
    assert shifted.sum() == pytest.approx(5.0)
    assert _is_lost(np.array([[2.0, 0.9], [2.0, 1.1]]), np.array([1, 1]), 1).tolist() == [True, False]


def test_rules_are_as_sure_as_the_most_specific_one_or_as_all_on_average():
    said = RulesSay(np.array([0, 0, 1, 0]), *(np.array(own) for own in (
        [[900, 0], [900, 0], [0, 600], [0, 0]], [[1800, 0], [1860, 0], [500, 600], [0, 0]], [2, 2, 2, 0])))  # fmt: skip
    assert said.sure().tolist() == [0.9, 0.93, 0.6, 0.5]


@pytest.mark.parametrize("seed", range(4))
def test_winnowing_is_as_the_slow_way(seed):
    X, y, kinds, n_levels = noisy(seed, n=240, gone=0.05 * (seed % 2))
    X = np.column_stack([X, np.random.default_rng(seed).normal(size=(len(y), 3))])
    kinds, n_levels = (*kinds, "numeric", "numeric", "numeric"), [*n_levels, 0, 0, 0]
    kept, importance, _ = slow_winnow(X, y, kinds, n_levels, int(y.max()) + 1)
    model = C50Classifier(winnow=True).fit(framed(X, kinds, n_levels), y)
    if kept:
        assert np.setdiff1d(np.arange(X.shape[1]), model.winnowed_features_).tolist() == kept
        assert np.allclose(model.winnow_importances_[kept], importance[kept])
    else:
        assert len(model.winnowed_features_) == 0
    assert not set(model.trees_.feature.tolist()) & set(model.winnowed_features_.tolist())


def test_winnowing_leaves_out_what_says_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    model = C50Classifier(winnow=True).fit(X, X[:, 2] > 0)
    assert 2 not in model.winnowed_features_
    assert len(model.winnowed_features_) >= 3
    assert "attributes winnowed" in model.summary()


def test_one_row_is_answered_as_many():
    X, y, kinds, n_levels = noisy(6, gone=0.1)
    table = framed(X, kinds, n_levels)
    for params in ({}, {"trials": 4}, {"rules": True}, {"trials": 4, "rules": True}):
        model = C50Classifier(**params).fit(table, y)
        answer, out = model.compile_predictor(), np.zeros(3)
        for row, shares in zip(X[:20], model.predict_proba(table), strict=False):
            assert np.array_equal(answer(row, out), shares)
        with pytest.raises(ValueError, match="pass one row of 5"):
            answer(X[0, :3])
        with pytest.raises(ValueError, match="room for 2 numbers, and the answer has 3"):
            answer(X[0], np.zeros(2))
        with pytest.raises(ValueError, match="writable float64 array"):
            answer(X[0], np.zeros(3, np.float32))


def test_one_row_of_any_type_is_answered_as_many():
    X, y = iris()
    narrow, whole = X.astype(np.float32), (10 * X).astype(int)
    for params in ({}, {"trials": 4}, {"rules": True}, {"trials": 4, "rules": True}):
        model = C50Classifier(**params).fit(narrow, y)
        answer = pickle.loads(pickle.dumps(model.compile_predictor()))  # noqa: S301
        for row, shares in zip(narrow[::15], model.predict_proba(narrow[::15]), strict=True):
            assert np.array_equal(answer(row), shares)
        wide = np.nextafter(narrow[::15].astype(np.float64), np.inf)
        for row, shares in zip(wide, model.predict_proba(wide), strict=True):
            assert np.array_equal(answer(row), shares)
        model = C50Classifier(**params).fit(whole, y)
        assert np.array_equal(model.compile_predictor()(list(whole[60])), model.predict_proba(whole[[60]])[0])
    none = C50Classifier(rules=True).fit(np.zeros((6, 1)), list("aabbbb")).compile_predictor()
    assert none(np.zeros(1)).tolist() == [0.5, 0.5]  # no rule holds


def test_trials_have_trees_of_their_own():
    X, y = iris()
    model = C50Classifier(trials=3).fit(X, y)
    assert model.trees_.n_trees == len(model.estimators_) == 3
    assert "x2 <= 1.9" in export.text(model.estimators_[0], style="c50")
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert "<li>" in C50Classifier(rules=True).fit(X, y)._repr_html_()
    assert "trials" in model._repr_html_()
    prunes = lambda: model.prune("mdl")  # noqa: E731
    for ask in (lambda: model.tree_, model.to_rules, prunes, model.risk_bound):
        with pytest.raises(ValueError, match="estimators_"):
            ask()


def test_leaves_and_ways_are_those_of_each_trial():
    pytest.importorskip("scipy")
    X, y = iris()
    model = C50Classifier(trials=3).fit(X, y)
    leaves, (ways, begin) = model.apply(X), model.decision_path(X)
    assert leaves.shape == (150, 3)
    assert begin.tolist() == [0, *np.cumsum([one.n_nodes_ for one in model.estimators_])]
    for t, one in enumerate(model.estimators_):
        assert np.array_equal(leaves[:, t], one.apply(X))
        assert (ways[:, begin[t] : begin[t + 1]] != one.decision_path(X)).nnz == 0


def test_the_first_rule_that_holds_is_told():
    X, y = iris()
    model = C50Classifier(rules=True).fit(X, y)
    assert model.apply(X[:1]).tolist() == [0]
    assert model.apply([[np.nan] * 4]).tolist() == [4]  # none: there are four
    assert C50Classifier(rules=True, trials=4).fit(X, y).apply(X).shape == (150, 4)
    with pytest.raises(ValueError, match="votes of 4 rules"):
        model.decision_path(X)


def test_rules_are_a_model_of_their_own():
    X, y = iris()
    model = C50Classifier(rules=True).fit(X, y)
    assert np.array_equal(model.to_rules().predict(X), model.predict(X))
    assert str(export.rules(model)).startswith('if x2 <= 1.9 then "Iris-setosa"')


def test_bands_put_the_most_useful_rules_first():
    X, y, kinds, n_levels = noisy(0, n=400, n_classes=2)
    table = framed(X, kinds, n_levels)
    by_class, by_use = C50Classifier(rules=True).fit(table, y), C50Classifier(rules=True, bands=3).fit(table, y)
    assert sorted(rule.text for rule in by_class.rules_[0]) == sorted(rule.text for rule in by_use.rules_[0])
    assert by_use.utility_errors_[-1] == by_use.errors_
    assert "Rule utility summary" in by_use.summary()


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"trials": 0}, "trials"),
        ({"trials": 2.5}, "trials"),
        ({"bands": 1, "rules": True}, "bands"),
        ({"bands": 5}, "rules=True"),
        ({"rules": True, "prune": "mdl"}, "prune=None"),
        ({"trials": 3, "prune": "mdl"}, "trials=1"),
    ],
)
def test_what_is_not_legal_is_named(params, words):
    with pytest.raises(ValueError, match=words):
        C50Classifier(**params).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("params", [{"trials": 10}, {"rules": True}, {"trials": 10, "rules": True}, {"winnow": True}])
@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0], [2.0], [3.0]], [7, 7, 7]),
        ([[float("nan")]] * 4, [0, 1, 0, 1]),
        ([["a,b"], ['c"d'], ["e f"], ["ü"]] * 5, ["x", "y"] * 10),
        ([[0.0], [1.0]] * 20, ["a", "b"] * 20),
    ],
)
def test_small_tables_have_answers(params, X, y):
    model = C50Classifier(**params).fit(X, y)
    assert np.allclose(model.predict_proba(X[:3]).sum(axis=1), 1.0)
    assert set(model.predict(X).tolist()) <= set(y)
    assert model.summary()


def test_what_is_said_of_rows_of_fit_is_said_of_the_trees_of_fit_alone(tmp_path):
    X, y, kinds, n_levels = noisy(2, n=300)
    table = framed(X, kinds, n_levels)
    model = C50Classifier(confidence=0.6, global_pruning=False).fit(table, y)
    smaller = model.prune("mdl")
    assert smaller.n_leaves_ < model.n_leaves_
    many = C50Classifier(trials=4).fit(table, y)
    for other in (smaller, many.estimators_[1]):
        assert "Evaluation" not in other.summary()
        assert not hasattr(other, "errors_")
        with pytest.raises(AttributeError, match=r"confusion_: .* summary\(X, y\) tells it"):
            _ = other.confusion_
        other.save(tmp_path / "other")
        assert dtnumba.load(tmp_path / "other").summary() == other.summary()
    said = smaller.summary(table, y)
    n_wrong = int((smaller.predict(table) != y).sum())
    assert "Evaluation on test data (300 cases):\n\n\t    Decision Tree   \n" in said
    assert f"{n_wrong:4d}({n_wrong / 3:4.1f}%)   <<" in said
    assert said.count("<-classified as") == 1


@pytest.mark.parametrize("params", [{}, {"trials": 4}, {"rules": True}, {"trials": 4, "rules": True}])
def test_a_summary_tells_how_other_rows_are_answered(params):
    X, y, kinds, n_levels = noisy(3, n=300)
    table = framed(X, kinds, n_levels)
    model = C50Classifier(**params).fit(table[:200], y[:200])
    own, said = model.summary(), model.summary(table[200:], y[200:])
    assert said.startswith(own)
    more = said.removeprefix(own)
    n_wrong = int((model.predict(table[200:]) != y[200:]).sum())
    assert "Evaluation on test data (100 cases):" in more
    assert f"{n_wrong:4d}({n_wrong:4.1f}%)   <<" in more
    assert model.summary(feature_names=list("abcde")).count("\tx0") == 0
    assert model.summary() == own  # nothing is learned of these rows
    with pytest.raises(ValueError, match="pass both X and y, got X alone"):
        model.summary(table)
    with pytest.raises(ValueError, match="feature_names has 2 names"):
        model.summary(feature_names=["a", "b"])


def test_figures_draw_a_tree_of_trials():
    pytest.importorskip("matplotlib")
    X, y = iris()
    model = C50Classifier(trials=3).fit(X, y)
    axes = dtnumba.plot.leaves(model, tree=2)
    assert len(axes.patches) >= model.sizes_[2]
    with pytest.raises(ExportError, match="rules"):
        dtnumba.plot(C50Classifier(rules=True).fit(X, y))
