"""MARSRegressor and MARSClassifier: answers of R's earth, what a fitted model offers, what bad input gets."""

import pickle
import re

import numpy as np
import pytest
from growth.mars.test_forward import TREES

from dtnumba import MARSClassifier, MARSRegressor, NotFittedError, load
from dtnumba.runtime.kernels import COMPILED

pytestmark = pytest.mark.small


def wave(seed=0, n=150, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.abs(X[:, 0]) + np.maximum(X[:, 1], 0) * (X[:, 2] > 0) + 0.2 * rng.normal(size=n)


def test_the_numbers_are_those_of_earth():
    model = MARSRegressor().fit(TREES[:, :2], TREES[:, 2])
    assert [str(term) for term in model.terms_] == ["(Intercept)", "h(x0-14.2)", "h(14.2-x0)", "h(x1-75)"]
    by = [29.059953511, 6.229514342, -3.419806152, 0.581364384]
    np.testing.assert_allclose([term.coefficient for term in model.terms_], by, rtol=1e-8)
    found = [model.rss_, model.gcv_, model.rsq_, model.grsq_]
    np.testing.assert_allclose(found, [209.113855, 11.2543915, 0.974202851, 0.959691954], rtol=1e-7)
    np.testing.assert_allclose(model.path_.gcv, [279.209556, 48.412640, 14.339098, 11.254391, 12.755441], rtol=1e-6)
    np.testing.assert_allclose(model.worth_of_features("gcv").round(1), [100.0, 10.7])
    np.testing.assert_allclose(model.worth_of_features("rss").round(1), [100.0, 11.5])
    assert model.worth_of_features("n_subsets").tolist() == [3, 1]
    assert model.feature_importances_.tolist() == [0.75, 0.25]
    assert len(model.forward_terms_) == 5
    assert model.forward_terms_[4].coefficient == 0
    assert model.score(TREES[:, :2], TREES[:, 2]) == pytest.approx(model.rsq_)


def test_a_summary_is_what_earth_prints():
    model = MARSRegressor().fit(TREES[:, :2], TREES[:, 2])
    said = model.summary().splitlines()
    assert [line.split() for line in said[2:7]] == [
        ["coefficients"],
        ["(Intercept)", "29.059954"],
        ["h(14.2-x0)", "-3.419806"],
        ["h(x0-14.2)", "6.229514"],
        ["h(x1-75)", "0.581364"],
    ]
    assert said[8:] == [
        "Selected 4 of 5 terms, and 2 of 2 predictors",
        "Termination condition: RSq changed by less than 0.001 at 5 terms",
        "Importance: x0, x1",
        "Number of terms at each degree of interaction: 1 3 (additive model)",
        "GCV 11.25439    RSS 209.1139    GRSq 0.959692    RSq 0.9742029",
    ]


def test_several_targets_are_those_of_earth():
    model = MARSRegressor().fit(TREES[:, :1], TREES[:, [2, 1]])
    wanted = {
        "(Intercept)": [30.138796, 83.641038],
        "h(x0-12.9)": [-2.410909, -12.021267],
        "h(13.8-x0)": [-3.826912, -3.129543],
        "h(x0-13.8)": [9.172233, 13.947678],
    }
    assert {str(term) for term in model.terms_} == wanted.keys()
    for term in model.terms_:
        np.testing.assert_allclose(term.coefficient, wanted[str(term)], rtol=1e-6)
    lines = [line.split() for line in model.summary().splitlines()[-3:]]
    assert lines == [
        ["y0", "16.22118", "301.3999", "0.9419032", "0.9628181"],
        ["y1", "36.76109", "683.0448", "0.1237624", "0.4392079"],
        ["All", "52.98227", "984.4447", "0.8350299", "0.8944192"],
    ]
    assert model.predict(TREES[:4, :1]).shape == (4, 2)


@pytest.mark.parametrize("target", ["number", "two numbers", "two classes", "classes"])
def test_a_prediction_is_the_sum_of_terms(target):
    X, z = wave()
    y = {
        "number": z,
        "two numbers": np.stack([z, -(z**2)], axis=1),
        "two classes": z > 1,
        "classes": np.digitize(z, [0.5, 1]),
    }[target]  # fmt: skip
    cls = MARSClassifier if "classes" in target else MARSRegressor
    model = cls(max_degree=2).fit(X, y)
    sums = model.transform(X) @ model.splines_.coefficients
    if cls is MARSRegressor:
        np.testing.assert_allclose(sums.reshape(y.shape), model.predict(X), rtol=1e-9, atol=1e-12)
    else:
        np.testing.assert_allclose(
            sums.reshape(model.decision_function(X).shape), model.decision_function(X), rtol=1e-9
        )
        shares = model.predict_proba(X)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        assert (model.predict(X) == model.classes_[shares.argmax(axis=1)]).all()
        assert model.score(X, y) > 0.75
        assert model.deviance_ < model.null_deviance_
    slopes, step = model.derivative(X), 1e-7
    for j in range(X.shape[1]):
        near, far = X.copy(), X.copy()
        near[:, j] -= step
        far[:, j] += step
        made = (model.transform(far) - model.transform(near)) @ model.splines_.coefficients / (2 * step)
        knots = [f.knot for term in model.terms_ for f in term.factors if f.column == j and f.knot is not None]
        away = (np.abs(X[:, j, None] - np.array([99.0, *knots])) > 1e-6).all(axis=1)
        found = slopes[:, j].reshape(len(X), -1)
        np.testing.assert_allclose(found[away], made[away], rtol=1e-4, atol=1e-4 * np.abs(made).max())
    assert (np.diff(model.path_.rss) <= 1e-9).all()


def test_categories_are_columns_for_each_level_and_one_feature():
    rng = np.random.default_rng(0)
    X = np.empty((200, 2), object)
    X[:, 0], X[:, 1] = rng.choice(["p", "q", "r"], 200), rng.normal(size=200)
    y = (
        np.where(X[:, 0] == "q", 3.0, 0.0)
        + np.where(X[:, 0] == "r", X[:, 1].astype(float), 0)
        + 0.01 * rng.normal(size=200)
    )
    model = MARSRegressor(max_degree=2).fit(X, y)
    plain = np.column_stack([X[:, 0] == "q", X[:, 0] == "r", X[:, 1]]).astype(float)
    other = MARSRegressor(max_degree=2).fit(plain, y)
    np.testing.assert_allclose(model.predict(X), other.predict(plain), rtol=1e-9)
    assert model.gcv_ == pytest.approx(other.gcv_)
    assert len(model.feature_importances_) == 2
    texts = {str(term) for term in model.terms_}
    assert {"x0q", "x0r"} & texts
    levels = {f.knot for term in model.terms_ for f in term.factors if f.direction == "is"}
    assert levels <= {"q", "r"}
    assert np.isnan(model.predict(np.array([["p", 0.0]], object))).sum() == 0
    with pytest.raises(ValueError, match="no value"):
        model.predict(np.array([["unseen", 0.0]], object))


def test_missing_values_are_an_error_or_a_term():
    X, y = wave()
    X[::5, 0] = np.nan
    y = np.where(np.isnan(X[:, 0]), 5.0, y)
    with pytest.raises(ValueError, match=r"missing='error': row 0 of column 0.*missing='indicator'"):
        MARSRegressor().fit(X, y)
    model = MARSRegressor(missing="indicator").fit(X, y)
    assert "missing(x0)" in {str(term) for term in model.terms_}
    assert model.score(X, y) > 0.9
    fill = np.nanmedian(np.sort(X[:, 0]))
    filled = np.where(np.isnan(X), model.splines_.hinges.fill, X)
    assert model.splines_.hinges.fill[0] <= fill
    gone = model.predict(X)[0] - model.predict(filled)[0]
    wanted = next(term.coefficient for term in model.terms_ if str(term) == "missing(x0)")
    assert gone == pytest.approx(wanted, rel=1e-9)
    fine = MARSRegressor(missing="indicator").fit(X[:, 1:], y)
    assert np.isfinite(
        fine.predict(np.full((1, 3), np.nan))
    ).all()  # of columns that missed nothing in fit: their median


def test_weights_are_those_of_least_squares():
    X, y = wave(n=120)
    weight = np.random.default_rng(1).integers(0, 3, 120).astype(float)
    model = MARSRegressor(max_degree=2).fit(X, y, weight)
    rows = weight > 0
    same = MARSRegressor(max_degree=2).fit(X[rows], y[rows], weight[rows])
    assert model.terms_ == same.terms_
    made, root = model.transform(X), np.sqrt(weight)[:, None]
    by = np.linalg.lstsq(made * root, y[:, None] * root, rcond=None)[0]
    np.testing.assert_allclose(model.splines_.coefficients, by, rtol=1e-7)
    doubled = MARSRegressor(max_degree=2).fit(X, y, 4.0 * weight)
    assert [str(term) for term in doubled.terms_] == [str(term) for term in model.terms_]
    np.testing.assert_allclose(doubled.predict(X), model.predict(X), rtol=1e-8)
    assert doubled.gcv_ == pytest.approx(4.0 * model.gcv_)


def test_targets_may_be_very_small_or_large():
    X, y = wave()
    model = MARSRegressor(max_degree=2).fit(X, y)
    for scale in (2.0**-700, 2.0**450, 1e-200):
        other = MARSRegressor(max_degree=2).fit(X, y * scale)
        np.testing.assert_allclose(other.predict(X), model.predict(X) * scale, rtol=1e-9)
        assert other.rsq_ == pytest.approx(model.rsq_)
        assert [str(term) for term in other.terms_] == [str(term) for term in model.terms_]


@pytest.mark.parametrize("centre", [1e6, 1e10, 1e12])
@pytest.mark.parametrize("n_targets", [1, 2])
def test_targets_may_be_far_from_zero(centre, n_targets):
    X, y = wave()
    y = np.round(y, 3) if n_targets == 1 else np.column_stack([np.round(y, 3), -np.round(y, 3)])
    weight = np.random.default_rng(0).uniform(1, 2, len(X)) if n_targets == 2 else None
    plain = MARSRegressor().fit(X, y, weight)
    model = MARSRegressor().fit(X, y + centre, weight)
    rounding = 4 * np.spacing(centre)
    assert [str(term) for term in model.terms_] == [str(term) for term in plain.terms_]
    np.testing.assert_allclose(model.predict(X) - centre, plain.predict(X), atol=rounding + 1e-9)
    assert model.rsq_ == pytest.approx(plain.rsq_, abs=1e-3)
    with_rounding = MARSRegressor().fit(X, np.full(len(X), 0.1 + 0.2) + np.where(X[:, 0] > 0, 5e-17, 0))
    assert with_rounding.n_terms_ == 1


@pytest.mark.parametrize("seed", range(6))
def test_hard_tables_are_fitted(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([2, 5, 30, 90]))
    X = np.empty((n, 5), object)
    X[:, 0], X[:, 1] = rng.normal(size=n) * 1e250, rng.choice(["p", "q", "r", "s"], n)
    X[:, 2], X[:, 3], X[:, 4] = X[:, 0], None, (rng.random(n) < 0.1).astype(float)
    X[rng.random((n, 5)) < 0.1] = None
    y, weight = rng.normal(size=n), rng.integers(0, 3, n).astype(float)
    weight[0] = 1.0
    for given in (
        {},
        {"max_degree": 3, "threshold": 0.0, "minspan": 1, "endspan": 1, "penalty": -1, "max_terms": 1000},
    ):
        model = MARSRegressor(missing="indicator", **given).fit(X, y, weight)
        left = float((weight * (y - model.predict(X)) ** 2).sum())
        null = float((weight * (y - np.average(y, weights=weight)) ** 2).sum())
        assert left <= null * (1 + 1e-9)
        if len(set(weight[weight > 0])) > 1:
            assert left == pytest.approx(model.rss_, rel=1e-6, abs=1e-6 * null)
        classes = MARSClassifier(missing="indicator", **given).fit(X, np.digitize(y, [-0.5, 0.5]), weight)
        np.testing.assert_allclose(classes.predict_proba(X).sum(axis=1), 1.0)
        assert classes.summary()


def test_equal_weights_are_none():
    X, y = wave(n=60)
    plain, other = MARSRegressor().fit(X, y), MARSRegressor().fit(X, y, np.full(60, 2.5))
    assert other.predict(X).tobytes() == plain.predict(X).tobytes()
    assert other.gcv_ == plain.gcv_


@pytest.mark.parametrize("prune", ["exhaustive", "forward", "seqrep", "cv", None])
def test_every_way_to_prune_keeps_terms(prune):
    X, y = wave(n=80)
    model = MARSRegressor(prune=prune, max_terms=11).fit(X, y)
    backward = MARSRegressor(max_terms=11).fit(X, y)
    assert model.n_terms_ == len(model.forward_terms_) if prune is None else model.n_terms_ <= len(model.forward_terms_)
    if prune == "exhaustive":
        assert model.gcv_ <= backward.gcv_ * (1 + 1e-12)
    if prune == "cv":
        assert model.cv_rsq_.shape == model.path_.rss.shape
        assert model.n_terms_ == 1 + model.cv_rsq_.argmax()
        assert not hasattr(model.set_params(prune="backward").fit(X, y), "cv_rsq_")
    most = MARSRegressor(prune=prune, max_terms=11, max_pruned_terms=3).fit(X, y)
    assert most.n_terms_ <= 3


def test_a_knot_at_every_row_is_found():
    X = np.arange(60.0)[:, None]
    y = np.where(X[:, 0] > 41, 3.0 * (X[:, 0] - 41), 0.0)
    model = MARSRegressor(minspan=1, endspan=1).fit(X, y)
    assert [str(term) for term in model.terms_] == ["(Intercept)", "h(x0-41)"]
    assert model.predict([[100.0]])[0] == pytest.approx(3.0 * 59)


def test_what_teaches_nothing_is_a_constant():
    X, _ = wave(n=30)
    one_level = np.full((30, 1), "only", object)
    for table, y in (
        (X, np.full(30, 0.1)),
        (np.ones((30, 2)), np.arange(30.0)),
        (X[:1], [2.0]),
        (one_level, np.arange(30.0)),
    ):
        model = MARSRegressor().fit(table, y)
        assert model.n_terms_ == 1
        np.testing.assert_allclose(model.predict(table), np.mean(y))
        assert model.feature_importances_.tolist() == [0.0] * table.shape[1]
        assert "intercept only model" in model.summary()
        assert "at 1 term\n" in model.summary()
        assert model.grsq_ == 0
    noise = np.random.default_rng(3).normal(size=(30, 2))
    unread = MARSRegressor(max_pruned_terms=1).fit(noise, 0.1 + noise.sum(axis=1))
    assert (unread.grsq_, unread.rsq_) == (0, 0)
    one = MARSClassifier().fit(X, ["only"] * 30)
    assert one.predict(X[:2]).tolist() == ["only", "only"]
    assert one.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"penalty": -2}, ValueError, "penalty.*-1 .terms and knots cost nothing"),
        ({"allowed": [[0, 9]]}, ValueError, r"allowed\[0\].*has no column 9"),
        ({"allowed": [["age"]]}, ValueError, r"allowed\[0\].*cannot find 'age'"),
        ({"allowed": [0, 1]}, TypeError, r"allowed\[0\] must be a list"),
        ({"allowed": [[True, False, True, False]]}, TypeError, r"allowed\[0\]"),
        ({"linear_features": ["x"]}, ValueError, "linear_features"),
        ({"linear_features": "x"}, ValueError, "linear_features"),
        ({"max_degree": 0}, ValueError, "max_degree"),
        ({"minspan": 31}, ValueError, "minspan=31 is more than the 30 rows"),
        ({"endspan": 31}, ValueError, "endspan=31 is more than the 30 rows"),
        ({"endspan": -1}, ValueError, "endspan"),
        ({"threshold": 1.0}, ValueError, "threshold"),
        ({"prune": "leaps"}, ValueError, "prune"),
        ({"prune": "cv", "n_folds": 31}, ValueError, "n_folds=31 is more than the 30 rows"),
        ({"importance": "gain"}, ValueError, "importance"),
        ({"missing": "learned"}, ValueError, "missing"),
    ],
)
def test_bad_parameters_are_named(given, error, words):
    X, y = wave(n=30)
    model = MARSRegressor().fit(X, y)
    before = model.predict(X)
    with pytest.raises(error, match=words):
        model.set_params(**given).fit(X, y)
    assert (model.predict(X) == before).all()


def test_bad_rows_are_named():
    X, y = wave(n=30)
    with pytest.raises(ValueError, match="use a classifier for labels"):
        MARSRegressor().fit(X, np.where(y > 1, "a", "b"))
    endless = X.copy()
    endless[4, 2] = np.inf
    with pytest.raises(ValueError, match="column 2 holds inf in row 4: a hinge at infinity is none"):
        MARSRegressor().fit(endless, y)
    model = MARSRegressor().fit(X, y)
    with pytest.raises(ValueError, match="column 2 holds an infinity in row 4"):
        model.predict(endless)
    with pytest.raises(NotFittedError):
        MARSRegressor().predict(X)
    with pytest.raises(NotFittedError):
        _ = MARSRegressor().terms_
    with pytest.raises(NotFittedError):
        MARSClassifier().predict(X)
    with pytest.raises(NotFittedError):
        MARSClassifier().score(X, y > 1)
    for digits in (0, -1, "x", None, 2.5, True):
        with pytest.raises(ValueError, match=re.escape(f"digits={digits!r}: must be a number of digits")):
            model.summary(digits=digits)
    with pytest.raises(ValueError, match="4 features"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match="2 outputs"):
        MARSClassifier().fit(X, np.stack([y > 1, y > 0], axis=1))


def test_a_model_is_shown_pickled_and_saved(tmp_path):
    X, y = wave()
    model = MARSRegressor(max_degree=2, penalty=2.5).fit(X, y)
    assert repr(model) == "MARSRegressor(max_degree=2, penalty=2.5)"
    model.save(tmp_path / "model")
    for again in (pickle.loads(pickle.dumps(model)), load(tmp_path / "model")):  # noqa: S301  our own bytes
        assert again.predict(X).tobytes() == model.predict(X).tobytes()
        assert again.summary() == model.summary()
        assert again.terms_ == model.terms_
        assert again.path_.gcv.tolist() == model.path_.gcv.tolist()


def test_frames_give_their_names():
    pandas = pytest.importorskip("pandas")
    X, y = wave()
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    model = MARSRegressor(max_degree=2, allowed=[["b", "c"]], linear_features=["d"]).fit(frame, y)
    same = MARSRegressor(max_degree=2, allowed=[[1, 2]], linear_features=[3]).fit(X, y)
    np.testing.assert_array_equal(model.predict(frame), same.predict(X))
    assert any("h(a-" in str(term) for term in model.terms_)
    assert {f.name for term in model.terms_ if len(term.factors) > 1 for f in term.factors} <= {"b", "c"}


def test_coefficients_that_leave_float64_are_an_error():
    X, y = wave(n=60)
    for table, target in ((X * 1e-250, y * 1e100), (np.round(X, 1) * 5e-322, y)):
        with pytest.raises(ValueError, match=r"column 'x[0-3]' leave float64.*multiply the column, or y"):
            MARSRegressor().fit(table, target)
    assert MARSRegressor().fit(X * 1e-250, y).score(X * 1e-250, y) > 0.5


def test_a_missing_value_moves_nothing():
    X, y = wave()
    X[::5, 0] = np.nan
    model = MARSRegressor(max_degree=2, missing="indicator").fit(X, np.where(np.isnan(X[:, 0]), 5.0, y))
    lines = MARSRegressor(linear_features=[0, 1, 2, 3], missing="indicator").fit(
        X, np.where(np.isnan(X[:, 0]), 5.0, X[:, 0])
    )
    for one in (model, lines):
        assert {f.column for term in one.terms_ for f in term.factors if f.direction in (1, -1, 2)} >= {0}
        slopes = one.derivative(X)
        assert (slopes[::5, 0] == 0).all()
        assert (slopes[np.isfinite(X[:, 0]), 0] != 0).any()


def test_columns_of_a_transform_have_names():
    pandas = pytest.importorskip("pandas")
    X, y = wave()
    model = MARSRegressor(max_degree=2).fit(X, y)
    assert model.get_feature_names_out().tolist() == [str(term) for term in model.terms_]
    named = MARSRegressor(max_degree=2).fit(pandas.DataFrame(X, columns=["a", "b", "c", "d"]), y)
    wanted = named.get_feature_names_out().tolist()
    assert model.get_feature_names_out(["a", "b", "c", "d"]).tolist() == wanted
    assert wanted == [str(term) for term in named.terms_]
    with pytest.raises(ValueError, match=r"number of features \(4\), got 1"):
        model.get_feature_names_out(["a"])
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        named.get_feature_names_out(["a", "b", "c", "e"])
    with pytest.raises(NotFittedError):
        MARSRegressor().get_feature_names_out()
    far = MARSRegressor().fit(X + 1e9, y)
    assert len(set(far.get_feature_names_out())) == far.n_terms_
    assert far.summary().count("h(x0-1e+09)") <= 1


@pytest.mark.skipif(not COMPILED, reason="of compiled code")
def test_time_and_memory_grow_with_rows():
    import tracemalloc

    X, y = wave(n=100_000, p=5)
    MARSRegressor().fit(X[:5000], y[:5000])
    tracemalloc.start()
    model = MARSRegressor(n_jobs=1).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.score(X, y) > 0.5
    assert peak < 10 * X.nbytes  # 21 columns of the basis are four times these five
