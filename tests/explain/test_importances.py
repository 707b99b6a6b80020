"""Importances over trees: they add up, and stopping leaves those of the trees that were measured."""

import warnings

import numpy as np
import pytest
from forests import digest, long_work, table

from dtnumba import RandomForestClassifier, RandomForestRegressor
from dtnumba.explain.importances import nothing_measured

KINDS = ["impurity_corrected", "permutation"]


@pytest.mark.small
def test_mean_and_spread_are_those_of_the_rows_in_parts_too():
    rows = np.random.default_rng(0).normal(size=(9, 4))
    rows[5] = np.nan
    whole = nothing_measured("permutation", 4).with_trees(rows)
    parts = nothing_measured("permutation", 4).with_trees(rows[:2]).with_trees(rows[2:])
    assert digest(*parts[1:]) == digest(*whole[1:])
    assert (whole.n_trees, whole.n_measured) == (9, 8)
    assert np.allclose(whole.values, np.nanmean(rows, axis=0))
    assert np.allclose(whole.std, np.nanstd(rows, axis=0))


def test_impurity_sums_to_one_and_has_a_spread():
    X, y, _, _ = table()
    model = RandomForestClassifier(10, random_state=0).fit(X, y)
    shares = np.array([tree.tree_.compute_feature_importances() for tree in model.estimators_])
    assert np.allclose(model.feature_importances_, shares.mean(axis=0))
    assert np.allclose(model.importances_std_, shares.std(axis=0))


@pytest.mark.parametrize("kind", KINDS)
def test_a_warm_start_measures_the_trees_that_are_missing(kind):
    X, y, _, _ = table()
    whole = RandomForestClassifier(9, random_state=5, importance=kind).fit(X, y)
    grown = RandomForestClassifier(4, random_state=5, importance=kind, warm_start=True).fit(X, y)
    assert grown.importances_.n_trees == 4
    grown.set_params(n_estimators=9).fit(X, y)
    assert digest(grown.feature_importances_) == digest(whole.feature_importances_)
    # Trees that were never measured, or otherwise, are measured too.
    other = RandomForestClassifier(4, random_state=5, warm_start=True).fit(X, y)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        other.set_params(importance=kind).fit(X, y)
    assert other.importances_.n_trees == 4
    other.set_params(n_estimators=9).fit(X, y)
    assert digest(other.feature_importances_) == digest(whole.feature_importances_)
    other.set_params(importance="impurity", n_estimators=10).fit(X, y)
    assert abs(other.feature_importances_.sum() - 1.0) < 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_progress_covers_growing_and_measuring(kind):
    X, y = long_work()
    told = []
    RandomForestClassifier(6, random_state=0, max_depth=4, importance=kind, verbose=told.append).fit(X, y)
    assert {one.total for one in told} == {12}
    assert told[-1].done == 12
    assert {one.stage for one in told} == {"trees", "importances"}
    assert [one.done for one in told] == sorted(one.done for one in told)


@pytest.mark.parametrize("kind", KINDS)
def test_stopped_while_it_measures_it_keeps_all_trees_and_what_is_measured(kind):
    X, y = long_work()

    def listen(progress):
        return progress.done < 42

    model = RandomForestClassifier(40, random_state=0, importance=kind, verbose=listen).fit(X, y)
    assert model.n_estimators_ == 40
    n = model.importances_.n_trees
    assert 1 <= n < 40
    alone = RandomForestClassifier(n, random_state=0, importance=kind).fit(X, y)
    assert digest(alone.feature_importances_) == digest(model.feature_importances_)
    model.set_params(warm_start=True, n_estimators=41, verbose=0).fit(X, y)
    assert model.importances_.n_trees == 41


@pytest.mark.parametrize("kind", KINDS)
def test_stopped_before_it_measures_importances_are_nan_with_a_warning(kind):
    X, y = long_work()

    def listen(progress):
        return progress.done < 2

    with pytest.warns(UserWarning, match=rf"importance='{kind}'\) are NaN: the work was stopped"):
        model = RandomForestClassifier(400, random_state=0, importance=kind, verbose=listen).fit(X, y)
    assert 1 <= model.n_estimators_ < 400
    assert np.isnan(model.feature_importances_).all()


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_of_the_callback_while_it_measures_changes_nothing(kind):
    X, y = long_work()
    model = RandomForestClassifier(3, random_state=0).fit(X, y)
    before = digest(*model.trees_)

    def fail(progress):
        if progress.stage == "importances":
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        model.set_params(n_estimators=60, importance=kind, verbose=fail).fit(X, y)
    assert digest(*model.trees_) == before


@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_while_it_measures_keeps_all_trees(kind):
    X, y = long_work()

    def press(progress):
        if progress.stage == "importances":
            raise KeyboardInterrupt

    model = RandomForestClassifier(60, random_state=0, importance=kind, verbose=press)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert model.n_estimators_ == 60
    assert model.importances_.n_trees < 60


def test_an_unknown_importance_is_named():
    X, y, _, _ = table()
    with pytest.raises(ValueError, match=r"'importance' parameter .* among {'impurity', 'impurity_corrected'"):
        RandomForestRegressor(importance="gain").fit(X, y)
