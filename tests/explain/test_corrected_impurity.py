"""Corrected impurity: a column that tells nothing is worth nothing, however many values it has."""

from itertools import product

import numpy as np
import pytest
from forests import digest, table
from strategies import compiled_where, interpreted_only

from dtnumba import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from dtnumba.explain.corrected_impurity import with_permuted_copies
from dtnumba.runtime import rng
from dtnumba.runtime.kernels import COMPILED

FITS = 40


def noise(seed, n=80):
    """Two values, four values, all different, rounded, two values; and targets that know none of them."""
    g = np.random.default_rng(seed)
    columns = [g.integers(0, 2, n), g.integers(0, 4, n), g.normal(size=n), g.normal(size=n).round(1)]
    return np.column_stack([*columns, g.integers(0, 2, n)]).astype(float), g.integers(0, 2, n), g.normal(size=n)


@pytest.mark.parametrize(
    ("family", "params"),
    [
        (RandomForestClassifier, {}),
        (RandomForestClassifier, {"max_bins": None}),
        (ExtraTreesClassifier, {}),
        (RandomForestRegressor, {}),
    ],
    ids=str,
)
def test_noise_is_worth_nothing_whatever_its_values(family, params):
    """A t test of each column over independent tables: 20 tests, each fails by chance once in some 2000 seeds."""
    corrected, plain = [], []
    for seed in range(FITS):
        X, two, z = noise(seed)
        y = z if family is RandomForestRegressor else two
        model = family(20, random_state=seed, n_jobs=1, importance="impurity_corrected", **params).fit(X, y)
        corrected.append(model.feature_importances_)
        plain.append(model.forest_.impurity_importances()[0])
    t = np.mean(corrected, axis=0) / (np.std(corrected, axis=0, ddof=1) / np.sqrt(FITS))
    assert (np.abs(t) < 3.6).all()
    # What is corrected: the column of most values looks best, and every time better than those of two.
    plain = np.array(plain)
    assert (plain[:, 2] > 1.5 * plain[:, [0, 4]].max(axis=1)).all()
    wins = (np.array(corrected)[:, 2] > np.array(corrected)[:, 0]).mean()
    assert 0.25 < wins < 0.75


@pytest.mark.parametrize(
    ("family", "params"),
    [
        (RandomForestClassifier, {}),
        (RandomForestClassifier, {"max_bins": None}),
        (ExtraTreesClassifier, {}),
        (RandomForestRegressor, {}),
        pytest.param(ExtraTreesRegressor, {"max_bins": None}, marks=interpreted_only),
    ],
    ids=str,
)
def test_what_tells_something_is_found_and_the_trees_stay_as_they_are(family, params):
    X, two, _, z = table(300 if COMPILED else 80)
    y = z if family in {RandomForestRegressor, ExtraTreesRegressor} else two
    n_trees = 30 if COMPILED else 6
    model = family(n_trees, random_state=0, importance="impurity_corrected", **params).fit(X, y)
    found = model.feature_importances_
    assert found.argmax() == 3
    assert np.abs(found[[2, 4, 5]]).max() < 0.2 * found[3]
    plain = family(n_trees, random_state=0, **params).fit(X, y)
    assert digest(*plain.trees_) == digest(*model.trees_)


@pytest.mark.parametrize("params", [{}, {"max_bins": None}], ids=str)
def test_no_bit_depends_on_threads(params):
    X, y, _, _ = table()
    found = {
        digest(model.feature_importances_, model.importances_std_)
        for n_jobs in (1, 2, 8)
        for model in [
            RandomForestClassifier(9, random_state=3, n_jobs=n_jobs, importance="impurity_corrected", **params).fit(
                X, y
            )
        ]
    }
    assert len(found) == 1


@pytest.mark.parametrize("max_bins", [255, None])
@pytest.mark.parametrize("family", [RandomForestClassifier, ExtraTreesClassifier])
def test_shadows_hold_the_columns_in_one_other_order(family, max_bins, monkeypatch):
    plans = []

    def look(plan):
        plans.append((plan, with_permuted_copies(plan)))
        return plans[-1][1]

    monkeypatch.setattr("dtnumba.explain.corrected_impurity.with_permuted_copies", look)
    X, y, _, _ = table()
    weight = (np.arange(len(X)) < 250).astype(float)
    family(1, random_state=0, importance="impurity_corrected", max_bins=max_bins).fit(X, y, weight)
    ((plan, wide),) = plans
    codes, twice = plan.splitter.codes, wide.splitter.codes
    assert np.array_equal(twice[:, :6], codes)
    assert type(wide.splitter) is type(plan.splitter)
    assert not np.array_equal(twice[:250, 6:], codes[:250])
    rows = sorted(map(tuple, codes[:250].tolist()))
    assert rows == sorted(map(tuple, twice[:250, 6:].tolist()))  # whole rows move
    for f in range(6):
        own, shadow = (wide.ends.first_code[g : g + 2] for g in (f, f + 6))
        assert np.array_equal(wide.ends.low[slice(*own)], wide.ends.low[slice(*shadow)])
        assert wide.splitter.n_codes[f] == wide.splitter.n_codes[f + 6]


# More levels than a byte can number have codes of their own.
CATEGORIES = list(product([RandomForestClassifier, ExtraTreesClassifier], [255, None], [6, 400]))


@pytest.mark.small
@pytest.mark.parametrize(("family", "max_bins", "n_levels"), compiled_where(CATEGORIES, CATEGORIES[:1]))
def test_categories_have_shadows_too(family, max_bins, n_levels):
    g = np.random.default_rng(0)
    n = 500
    X = np.column_stack([g.normal(size=n), g.integers(0, n_levels, n), g.integers(0, 6, n), g.normal(size=n)])
    y = np.isin(X[:, 2], [1, 4]) ^ (g.random(n) < 0.05)
    model = family(
        10 if COMPILED else 5,
        random_state=0,
        categorical_features=[1, 2],
        max_bins=max_bins,
        importance="impurity_corrected",
        max_depth=4,
    ).fit(X, y)
    found = model.feature_importances_
    assert found.argmax() == 2
    assert np.abs(found[[0, 1, 3]]).max() < 0.25 * found[2]


def test_draws_of_many_counters_are_those_of_each():
    key = rng.stream(5, rng.COPIES)
    assert rng.mix_all(key, np.arange(50)).tolist() == [int(rng._mixed(key, i)) for i in range(50)]
