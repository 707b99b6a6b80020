import sys

import numpy as np
import pytest

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor
from dtnumba.validation.folds import given_folds
from dtnumba.validation.size_curve import complexity_curve

pytestmark = pytest.mark.small


def table(n=50, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    z = X[:, 0] + rng.normal(size=n)
    return X, (z > 0).astype(int), z


@pytest.mark.parametrize("of", ["classes", "numbers"])
def test_the_curve_is_that_of_refits_of_every_size(of):
    X, labels, numbers = table()
    make, y = (DecisionTreeClassifier, labels) if of == "classes" else (DecisionTreeRegressor, numbers)
    weight, folds = np.arange(50) % 2 + 1.0, np.arange(50) % 2
    curve = complexity_curve(make(random_state=0), X, y, folds, sample_weight=weight)
    assert curve.loss == ("error" if of == "classes" else "mse")
    assert (np.diff(curve.train_error) <= 1e-12).all()
    for size in range(2, len(curve.sizes) + 1, 4):
        errors = []
        for train, test in given_folds(folds, 50):
            model = make(random_state=0, max_leaf_nodes=size).fit(X[train], y[train], weight[train])
            for rows in (train, test):
                predicted = model.predict(X[rows])
                lost = predicted != y[rows] if of == "classes" else (predicted - y[rows]) ** 2
                errors.append(np.average(lost, weights=weight[rows]))
        assert np.isclose(curve.train_error[size - 1], np.mean(errors[::2]))
        assert np.isclose(curve.validation_error[size - 1], np.mean(errors[1::2]))
        expected = np.std(errors[1::2], ddof=1) / np.sqrt(2)
        assert np.isclose(curve.validation_standard_error[size - 1], expected)


def test_rows_of_your_own_validate_one_tree():
    X, y, _ = table()
    curve = complexity_curve(DecisionTreeClassifier(max_leaf_nodes=6), X[:30], y[:30], X_val=X[30:], y_val=y[30:])
    assert curve.sizes.tolist() == [1, 2, 3, 4, 5, 6]
    model = DecisionTreeClassifier(max_leaf_nodes=curve.best_size).fit(X[:30], y[:30])
    assert np.isclose(curve.validation_error.min(), 1 - model.score(X[30:], y[30:]))
    with pytest.raises(ValueError, match="both X_val and y_val"):
        complexity_curve(DecisionTreeClassifier(), X, y, X_val=X)
    with pytest.raises(ValueError, match="not seen in fit"):
        complexity_curve(DecisionTreeClassifier(), X, y, X_val=X, y_val=y + 1)


def test_a_plot_without_matplotlib_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    X, y, _ = table(20)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        complexity_curve(DecisionTreeClassifier(), X, y, cv=2).plot()


def test_a_plot_draws_both_errors():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    X, y, _ = table(20)
    curve = complexity_curve(DecisionTreeClassifier(), X, y, cv=2)
    lines = curve.plot(Figure().subplots()).get_lines()
    assert np.array_equal(lines[0].get_ydata(), curve.train_error)
    assert np.array_equal(lines[1].get_ydata(), curve.validation_error)
