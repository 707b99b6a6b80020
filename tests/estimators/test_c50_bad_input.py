"""C5.0 asked for what makes no sense, or hardly any: a model that is defined, or an error that says what to do."""

import numpy as np
import pandas as pd
import pytest
from estimators.test_c50 import framed, noisy

import dtnumba
from dtnumba import C50Classifier, export

KINDS = [{}, {"trials": 6}, {"rules": True}, {"trials": 6, "rules": True}, {"winnow": True}]
every_kind = pytest.mark.parametrize("params", KINDS, ids=str)
LEVELS = ["a,b", 'he said "no"', " two  blanks ", "ü∑", "it's", "N/A", "?", "100%", "<b>&", "back\\slash"]


def words(n=200, seed=0):
    """Return a column of words that are hard to write, and classes that follow them, as hard to write."""
    rng = np.random.default_rng(seed)
    code, classes = rng.integers(0, len(LEVELS), n), np.array(["yes, so", 'the "other"', "ß"])
    y = classes[np.where(rng.random(n) < 0.9, code % 3, rng.integers(0, 3, n))]
    return pd.DataFrame({"a, column": np.array(LEVELS, object)[code], "x": rng.normal(size=n)}), y


@pytest.mark.small
@every_kind
def test_one_class_is_said_for_sure(params):
    X = np.arange(30.0)[:, None]
    model = C50Classifier(**params).fit(X, ["only"] * 30)
    assert set(model.predict(X)) == set(model.predict([[np.nan]])) == {"only"}
    assert (model.predict_proba(X) == 1.0).all()
    assert model.n_trials_ == 1
    assert model.errors_ == 0
    assert "only" in model.summary()


@pytest.mark.small
@pytest.mark.parametrize("rules", [False, True])
def test_trials_end_where_there_is_nothing_left_to_learn(rules):
    X, y, kinds, n_levels = noisy(1, n=40)
    model = C50Classifier(trials=1000, rules=rules).fit(framed(X, kinds, n_levels), y)
    assert 1 <= model.n_trials_ < 100
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    assert C50Classifier(trials=1000, rules=rules).fit(X, X[:, 0]).n_trials_ == 1  # the first errs nowhere


@pytest.mark.small
@every_kind
def test_levels_and_classes_may_hold_any_sign(params, tmp_path):
    X, y = words()
    model = C50Classifier(**params).fit(X, y)
    assert (model.predict(X) == y).mean() > 0.85
    twin = C50Classifier(**params).fit(
        pd.DataFrame({"a": pd.Categorical.from_codes([LEVELS.index(w) for w in X["a, column"]], LEVELS), "x": X["x"]}),
        y,
    )
    assert (model.predict(X) == twin.predict(X.set_axis(["a", "x"], axis=1))).mean() > 0.95
    text = model.summary()
    assert all(level in text for level in ('he said "no"', "ü∑", "it's"))
    assert 'class the "other"' in text
    model.save(tmp_path / "model")
    assert np.array_equal(dtnumba.load(tmp_path / "model").predict_proba(X), model.predict_proba(X))
    for write in (export.python, export.json, lambda one: export.sql(one, dialect="sqlite", proba=True)):
        assert export.verify(write(model), model, X[:40])


@pytest.mark.small
@every_kind
def test_names_stay_on_their_lines(params):
    X = pd.DataFrame({"a\nb": pd.Categorical(["l1\nl2", "x"] * 50), "c": np.arange(100.0)})
    text = C50Classifier(**params).fit(X, ["p\n1", "q"] * 50).summary()
    assert "a\\nb = l1\\nl2" in text
    assert "(a): class p\\n1\n" in text
    assert "%\ta\\nb\n" in text
    whole = C50Classifier(**params).fit(X, [0.0, 1.0] * 50).summary()
    assert "class 0\n" in whole
    assert "0.0\n" not in whole


@pytest.mark.small
@every_kind
def test_a_level_that_fit_has_not_seen_is_missing(params):
    X, y = words()
    model = C50Classifier(**params).fit(X, y)
    asked = X[:30]
    shares = [model.predict_proba(asked.assign(**{"a, column": level})) for level in ("never met", None)]
    assert np.array_equal(*shares)
    assert np.allclose(shares[0].sum(axis=1), 1.0)


@pytest.mark.small
@every_kind
@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ([[0, 1], [1, 0], [1, 1]], r"shape \(3, 2\).*pass a matrix of shape \(3, 3\)"),
        ([[0, 1], [1, 0]], r"shape \(2, 2\).*3 classes \[0, 1, 2\]"),
        ([[0, -1, 1], [1, 0, 1], [1, 1, 0]], "called 1 costs -1.0; every cost must be >= 0"),
        ([[0, np.nan, 1], [1, 0, 1], [1, 1, 0]], "finite"),
        ([[1, 1, 1], [1, 0, 1], [1, 1, 0]], "a right label must cost 0"),
        ({(0, 7): 2}, r"costs names the classes \[7\]"),
        ("dear", "must be a square array of numbers, a dict"),
    ],
)
def test_costs_that_are_none_are_named(params, costs, words):
    X, y, kinds, n_levels = noisy(0, n=60)
    with pytest.raises(ValueError, match=words):
        C50Classifier(costs=costs, **params).fit(framed(X, kinds, n_levels), y)


@pytest.mark.small
@every_kind
def test_costs_are_a_matrix_or_pairs_or_a_dict_of_dicts(params):
    X, y, kinds, n_levels = noisy(2, n_classes=2)
    table = framed(X, kinds, n_levels)
    given = [[[0, 1], [6, 0]], np.array([[0, 1], [6, 0.0]]), {(1, 0): 6}, {1: {0: 6}, 0: {1: 1}}]
    first, *others = (C50Classifier(costs=costs, **params).fit(table, y) for costs in given)
    for other in others:
        assert np.array_equal(other.predict_proba(table), first.predict_proba(table))
    plain = C50Classifier(**params).fit(table, y)
    assert (first.predict(table)[y == 1] == 1).sum() > (plain.predict(table)[y == 1] == 1).sum()
    assert "Cost" in first.summary()
    assert "Cost" not in plain.summary()
    assert C50Classifier(costs={(1, 0): 1}, **params).fit(table, y).sizes_[0] > 0


@pytest.mark.small
@pytest.mark.parametrize("rules", [False, True])
def test_trials_vote_whatever_wrong_labels_cost(rules):
    X, y, kinds, n_levels = noisy(3)
    table, costs = framed(X, kinds, n_levels), [[0, 9, 9], [1, 0, 1], [1, 1, 0]]
    dear = C50Classifier(trials=5, rules=rules, costs=costs, early_stopping=False).fit(table, y)
    assert dear.n_trials_ > 2
    assert np.array_equal(dear.predict(table), dear.predict_proba(table).argmax(axis=1))
    told = dear.trial_costs_[0]
    assert told >= dear.trial_errors_[0]
    lines = [line for line in dear.summary().splitlines() if line.startswith("   0\t")]
    assert lines[0].endswith(f"{told / len(y):7.2f}")


@pytest.mark.small
@every_kind
def test_rows_of_no_weight_are_as_if_they_were_not_there(params):
    X, y, kinds, n_levels = noisy(4, n=160)
    table, weight = framed(X, kinds, n_levels), np.repeat([1.0, 0.0], 80)
    with_them = C50Classifier(**params).fit(table, y, weight)
    without = C50Classifier(**params).fit(table[:80], y[:80])
    assert with_them.sizes_ == without.sizes_
    assert np.allclose(with_them.predict_proba(table), without.predict_proba(table))
    with pytest.raises(ValueError, match="all weights are zero, so no row counts"):
        C50Classifier(**params).fit(table, y, np.zeros(160))
    with pytest.raises(ValueError, match="every weight must be >= 0"):
        C50Classifier(**params).fit(table, y, -weight)


@pytest.mark.small
@every_kind
def test_columns_without_a_value_say_nothing(params):
    X, y, kinds, n_levels = noisy(5, n=120)
    table = framed(X, kinds, n_levels)
    more = table.assign(none=np.nan, nobody=pd.Categorical([None] * 120, ["a", "b"]))
    bare, wide = C50Classifier(**params).fit(table, y), C50Classifier(**params).fit(more, y)
    assert np.array_equal(wide.predict_proba(more), bare.predict_proba(table))
    alone = C50Classifier(**params).fit(more[["none", "nobody"]], y)
    assert alone.n_nodes_ == 1
    assert set(alone.predict(more[["none", "nobody"]])) == {np.bincount(y).argmax()}
    assert alone.summary()


@pytest.mark.small
@every_kind
def test_infinities_are_numbers(params):
    X, y, kinds, n_levels = noisy(6, n=120)
    ends = np.where(X[:, 0] > 1.0, np.inf, np.where(X[:, 0] < -1.0, -np.inf, X[:, 0]))
    table = framed(X, kinds, n_levels).assign(x0=ends)
    model = C50Classifier(**params).fit(table, y)
    assert np.allclose(model.predict_proba(table).sum(axis=1), 1.0)


@pytest.mark.small
@pytest.mark.parametrize("bands", [1, -3, 2.0, 1001, "5"])
def test_bands_are_parts_of_rules(bands):
    with pytest.raises(ValueError, match="bands"):
        C50Classifier(rules=True, bands=bands).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.small
@pytest.mark.parametrize(("name", "meant"), [("CF", "confidence"), ("minCases", "min_cases"), ("seed", "random_state")])
def test_names_of_r_are_known(name, meant):
    with pytest.raises(TypeError, match=f"no parameter '{name}'; did you mean '{meant}'"):
        C50Classifier(**{name: 1})


@pytest.mark.small
@every_kind
def test_an_error_leaves_a_fitted_model_as_it_was(params):
    X, y, kinds, n_levels = noisy(7, n=80)
    table = framed(X, kinds, n_levels)
    model = C50Classifier(**params).fit(table, y)
    before, text = model.predict_proba(table), model.summary()
    for bad in (y[:10], [None] * 80):
        with pytest.raises(ValueError, match=r"y|samples"):
            model.fit(table, bad)
    assert np.array_equal(model.predict_proba(table), before)
    assert model.summary() == text


@every_kind
def test_ten_thousand_classes(params):
    n = 10_000
    model = C50Classifier(**params).fit(np.zeros((n, 1)), np.arange(n))
    assert model.n_nodes_ == 1
    assert model.predict([[0.0], [5.0]]).tolist() == [0, 0]
    shares = model.predict_proba([[np.nan]])
    assert shares.shape == (1, n)
    assert shares.sum() == pytest.approx(1.0)
    assert f"{n - 1}(100.0%)" in model.summary()
