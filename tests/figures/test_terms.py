"""Pictures of splines: what is drawn is what the terms add up to."""

import re

import numpy as np
import pytest

from dtnumba import DecisionTreeRegressor, MARSClassifier, MARSRegressor, plot

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pytestmark = pytest.mark.small


@pytest.fixture(autouse=True)
def _closed():
    yield
    matplotlib.pyplot.close("all")


def table(n=200):
    rng = np.random.default_rng(0)
    X = np.empty((n, 3), object)
    X[:, 0], X[:, 1], X[:, 2] = rng.normal(size=n), rng.normal(size=n), rng.choice(["$a$", "b"], n)
    first, second = X[:, 0].astype(float), X[:, 1].astype(float)
    y = np.abs(first) + np.maximum(first, 0) * np.maximum(second, 0) + 2.0 * (X[:, 2] == "b") * second
    return X, y


def test_every_effect_has_its_axes_and_all_add_up_to_the_prediction():
    X, y = table()
    model = MARSRegressor(max_degree=2).fit(X, y)
    sets = {tuple(sorted({f.column for f in term.factors})) for term in model.terms_} - {()}
    axes = plot.terms(model)
    assert len(axes) == len(sets)
    singles = sum(len(one) == 1 for one in sets)
    assert [bool(ax.collections) for ax in axes] == [False] * singles + [True] * (len(sets) - singles)
    (line,) = axes[0].lines
    x, drawn = line.get_data()
    assert x[0] == X[:, 0].astype(float).min()
    assert x[-1] == X[:, 0].astype(float).max()
    terms = [term for term in model.terms_ if {f.column for f in term.factors} == {0}]
    wanted = sum(
        term.coefficient * (x if f.direction == 2 else np.maximum(f.direction * (x - f.knot), 0))
        for term in terms
        for f in term.factors
    )
    np.testing.assert_allclose(drawn, wanted, atol=1e-12)
    assert axes[0].get_xlabel() == "x0"


def test_axes_may_be_given():
    X, y = table()
    model = MARSRegressor().fit(X[:, :1], y)
    _, ax = matplotlib.pyplot.subplots()
    assert model.plot(ax=ax, feature_names=["dose"]) == [ax]
    assert ax.get_xlabel() == "dose"
    _, many = matplotlib.pyplot.subplots(3, 3)
    assert len(plot.terms(MARSRegressor(max_degree=2).fit(X, y), many)) <= 9
    with pytest.raises(ValueError, match="effects to draw, and ax holds 1 axes"):
        plot.terms(MARSRegressor(max_degree=2).fit(X, y), ax)


def test_categories_missing_values_and_classes_are_drawn():
    X, y = table()
    X[::5, 0] = None
    y = np.where([x is None for x in X[:, 0]], 9.0, y)
    model = MARSRegressor(missing="indicator").fit(X, y)
    axes = model.plot()
    assert any(line.get_gid() == "missing" for line in axes[0].lines)
    assert axes[0].get_title().startswith("missing: ")
    named = [text.get_text() for ax in axes for text in ax.get_xticklabels()]
    if any(f.column == 2 for term in model.terms_ for f in term.factors):
        assert {"$a$", "b"} <= set(named)
    three = MARSClassifier(missing="indicator").fit(X, np.digitize(y, [1, 3]))
    assert len(plot.terms(three, output=1)) >= 1
    with pytest.raises(ValueError, match="output=3: must be a number from 0 to 2"):
        plot.terms(three, output=3)


def test_a_constant_says_so_and_three_columns_are_counted():
    X, y = table()
    (ax,) = plot.terms(MARSRegressor().fit(X, np.ones(len(y))))
    assert ax.get_title() == "a constant: no term has a column"
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(300, 3))
    model = MARSRegressor(max_degree=3, minspan=5, endspan=5).fit(Z, np.maximum(Z, 0).prod(axis=1))
    if any(len(term.factors) > 2 for term in model.terms_):
        assert re.fullmatch(r"(.*to .*; )?[0-9]+ terms? of more columns", plot.terms(model)[-1].get_title())


def test_a_model_of_three_columns_alone_is_no_constant():
    X = np.array([[a, b, c] for a in (0.0, 1.0) for b in (0.0, 1.0) for c in (0.0, 1.0)] * 10)
    model = MARSRegressor(max_degree=3, prune="exhaustive").fit(X, X.prod(axis=1))
    assert [len(term.factors) for term in model.terms_] == [0, 3]
    (ax,) = plot.terms(model)
    assert ax.get_title() == "1 term of more columns"


def test_what_has_no_terms_is_refused():
    X = np.arange(4.0)[:, None]
    with pytest.raises(TypeError, match="DecisionTreeRegressor has no terms; pass a fitted MARS"):
        plot.terms(DecisionTreeRegressor().fit(X, X[:, 0]))
    with pytest.raises(ValueError, match="not fitted"):
        plot.terms(MARSRegressor())
