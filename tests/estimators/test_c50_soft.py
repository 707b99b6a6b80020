"""Soft cuts of C5.0: how far they reach, what is said of rows near them, and who does not know of them."""

import pickle

import numpy as np
import pytest
from estimators.test_c50 import framed, noisy
from hypothesis import given
from hypothesis import strategies as st
from naive.c50 import Grower
from naive.c50_soft import Softener
from strategies import examples

from dtnumba import C50Classifier, export, load
from dtnumba.model_files.container import ModelFileError
from dtnumba.runtime.kernels import COMPILED

pytestmark = pytest.mark.small


def own_cuts(model):
    found = []
    for own, tree in zip(model.soft_cuts_, model.trial_trees_, strict=True):
        nodes = np.flatnonzero(~np.isnan(own[:, 0]))
        found.append(sorted((int(tree.trees.feature[node]), *own[node].tolist()) for node in nodes))
    return found


def compare(seed, n, gone, n_classes, **params):
    X, y, kinds, n_levels = noisy(seed, n, gone, n_classes)
    slow = Softener(Grower(X, y, kinds, n_levels, int(y.max()) + 1, **params).fit())
    table = framed(X, kinds, n_levels)
    model = C50Classifier(fuzzy_threshold=True, n_jobs=1, **params).fit(table, y)
    assert own_cuts(model) == [slow.cuts()]
    assert np.allclose(model.predict_proba(table), slow.shares_of(X), atol=1e-9)
    return slow.cuts(), table


@pytest.mark.parametrize("gone", [0.0, 0.1])
def test_soft_cuts_are_as_the_slow_way(gone):
    n_cuts, n_wide, n_seeds = 0, 0, 5 if COMPILED else 2
    for seed in range(n_seeds):
        cuts, table = compare(seed, 400, gone, 3, confidence=0.9, global_pruning=False)
        n_cuts += len(cuts)
        columns = table.to_numpy()
        for feature, low, _, high in cuts:
            x = columns[:, feature].astype(float)
            n_wide += bool(((low < x) & (x < high)).any())
    assert n_cuts > 2 * n_seeds
    assert n_wide > 0.6 * n_seeds  # beyond the values beside the cut


@given(st.integers(0, 10_000), st.integers(20, 80), st.sampled_from([0.0, 0.2]), st.integers(2, 3))
@examples(30)
def test_soft_cuts_of_small_tables_are_as_the_slow_way(seed, n, gone, n_classes):
    X, y, _, n_levels = noisy(seed, n, gone, n_classes)
    there = [len(np.unique(x[~np.isnan(x)])) for x in X.T]
    if len(np.unique(y)) != y.max() + 1 or any(k and k != m for k, m in zip(n_levels, there, strict=True)):
        return
    compare(seed, n, gone, n_classes)


def steps(n=40):
    X = np.repeat(np.arange(10.0), n)[:, None]
    return X, (X[:, 0] >= 5).astype(int)


def test_rows_between_the_bounds_go_both_ways():
    X, y = steps()
    model = C50Classifier(fuzzy_threshold=True).fit(X, y)
    assert model.soft_cuts_[0][0].tolist() == [4.0, 4.5, 5.0]
    said = model.predict_proba([[4.0], [4.25], [4.5], [4.75], [5.0], [np.nan]])
    sure = (200 + 0.5) / 201
    assert said[0] == pytest.approx([sure, 1 - sure])
    assert said[2] == pytest.approx([0.5, 0.5])
    assert said[5] == pytest.approx([0.5, 0.5])
    assert said[1] == pytest.approx((200 * np.array([0.75, 0.25]) + 0.5) / 201)
    assert said[3] == pytest.approx(said[1][::-1])
    assert model.feature_usage_.tolist() == [1.0]


@pytest.mark.parametrize("trials", [1, 4])
def test_models_are_kept_whole(trials, tmp_path):
    X, y, kinds, n_levels = noisy(3, n=300, gone=0.1)
    table = framed(X, kinds, n_levels)
    model = C50Classifier(fuzzy_threshold=True, trials=trials).fit(table, y)
    said = model.predict_proba(table)
    model.save(tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").predict_proba(table), said)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(table), said)  # noqa: S301
    assert model.errors_ == (model.predict(table) != y).sum()
    assert len(model.estimators_) == len(model.soft_cuts_) == model.n_trials_
    first = C50Classifier(fuzzy_threshold=True).fit(table, y)
    assert np.array_equal(model.estimators_[0].predict_proba(table), first.predict_proba(table))
    assert (said != C50Classifier(trials=trials).fit(table, y).predict_proba(table)).any()


def test_one_row_and_threads_say_the_same():
    X, y = noisy(1, n=3000 if COMPILED else 600, gone=0.1)[:2]
    model = C50Classifier(fuzzy_threshold=True, n_jobs=1).fit(X, y)
    said, predict = model.predict_proba(X), model.compile_predictor()
    assert np.array_equal([predict(row) for row in X[:50]], said[:50])
    again = C50Classifier(fuzzy_threshold=True, n_jobs=2).fit(X, y)
    assert np.array_equal(again.predict_proba(X), said)


def test_a_file_that_lies_about_soft_cuts_is_refused(tmp_path):
    model = C50Classifier(fuzzy_threshold=True).fit(*steps())
    model.soft_cuts_[0][0] = [5.0, 4.5, 4.0]
    model.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="soft_cuts_"):
        load(tmp_path / "model")


def test_text_shows_the_bounds_and_the_middle():
    model = C50Classifier(fuzzy_threshold=True).fit(*steps())
    assert "x0 <= 4 (4.5): 0 (200)" in model.summary()
    assert "x0 >= 5 (4.5): 1 (200)" in export.text(model, style="c50")


@pytest.mark.parametrize("name", ["python", "c", "sql", "json", "onnx", "rules", "text", "to_sklearn"])
def test_formats_that_say_nothing_of_soft_cuts_refuse_them(name):
    model = C50Classifier(fuzzy_threshold=True).fit(*steps())
    with pytest.raises(export.ExportError, match="fuzzy_threshold"):
        getattr(export, name)(model)


def test_what_has_no_soft_cuts_is_refused():
    X, y = steps()
    with pytest.raises(ValueError, match="rules=True"):
        C50Classifier(fuzzy_threshold=True, rules=True).fit(X, y)
    model = C50Classifier(fuzzy_threshold=True).fit(X, y)
    with pytest.raises(ValueError, match="fuzzy_threshold=True"):
        model.prune("pessimistic")
    C50Classifier(fuzzy_threshold=True, prune="pessimistic").fit(X, y)


def test_values_without_end_have_no_middle():
    X = np.repeat([-np.inf, np.inf], 20)[:, None]
    model = C50Classifier(fuzzy_threshold=True).fit(X, (X[:, 0] > 0).astype(int))
    assert np.isfinite(model.predict_proba([[-np.inf], [0.0], [np.inf]])).all()
