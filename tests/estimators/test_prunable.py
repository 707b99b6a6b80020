"""What fits with ``prune=`` and ``prune`` itself ask of the rows they are given."""

import inspect

import numpy as np
import pytest

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier, prune, pruners

pytestmark = pytest.mark.small


def noisy(n=80):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, "yes", "no"), X[:, 0] + rng.normal(size=n)


def test_a_regressor_is_pruned_in_fit_by_rows_of_the_object():
    X, _, y = noisy()
    X_new, y_new = X + 0.01, y[::-1]
    found = DecisionTreeRegressor(prune=pruners.ReducedError(X=X_new, y=y_new)).fit(X, y)
    later = prune(DecisionTreeRegressor().fit(X, y), "reduced_error", X_new, y_new)
    assert found.n_leaves_ == later.n_leaves_ < len(X)
    with pytest.raises(ValueError, match="y has 2 outputs, and the model was fitted to 1"):
        DecisionTreeRegressor(prune=pruners.ReducedError(X=X, y=np.c_[y, y])).fit(X, y)


def test_rows_that_judge_are_not_those_that_are_raised():
    X, y, _ = noisy()
    for model in (DecisionTreeClassifier(), RandomForestClassifier(2)):
        model.set_params(validation_fraction=0.3, prune="error_based", random_state=0).fit(X, y)
    X_val, y_val, _ = noisy(40)
    model = DecisionTreeClassifier(prune="error_based").fit(X, y, X_val=X_val, y_val=y_val)
    assert model.trees_.weight[0] == 80


def test_raising_asks_for_the_very_rows():
    X, y, _ = noisy()
    model = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="X and y are not what this DecisionTreeClassifier was grown on: in leaf"):
        prune(model, "error_based", X[::-1], y)
    with pytest.raises(ValueError, match="sample_weight belongs to X and y"):
        prune(model, "error_based", sample_weight=np.ones(80))


def test_raising_by_whole_rows_refuses_trees_that_part_rows():
    X, y, _ = noisy()
    by_whole_rows = [
        pruners.Generic(lambda option: option.errors + option.n_leaves, raising=True),
        pruners.Bound(raising=True),
        pruners.ErrorBased(estimate="exact"),
    ]
    model = DecisionTreeClassifier(missing="fractional")
    for pruner in by_whole_rows:
        assert prune(model.fit(X, y), pruner, X, y).n_leaves_ < model.n_leaves_
    X[::7, 0] = np.nan
    for pruner in by_whole_rows:
        with pytest.raises(
            ValueError, match=r"raising=True works only with whole rows; .* down several branches in parts"
        ):
            prune(model.fit(X, y), pruner, X, y)
    assert prune(model, "error_based", X, y).n_leaves_ < model.n_leaves_


@pytest.mark.parametrize("signs", [[1, 0, 0], {"a": -1}])
def test_a_raised_branch_would_break_the_order_asked_for(signs):
    pandas = pytest.importorskip("pandas")
    X, y, _ = noisy()
    X = pandas.DataFrame(X, columns=list("abc"))
    model = DecisionTreeClassifier(monotonic_cst=signs, prune="error_based")
    with pytest.raises(ValueError, match="breaks the order that monotonic_cst"):
        model.fit(X, y)
    assert model.set_params(prune=pruners.ErrorBased(raising=False)).fit(X, y).n_leaves_ >= 1
    assert model.set_params(prune="error_based", monotonic_cst=[0, 0, 0]).fit(X, y).n_leaves_ >= 1


def test_missing_values_that_are_not_allowed_are_not_allowed_in_rows_held_out():
    X, y, _ = noisy()
    holes = X.copy()
    holes[3, 1] = np.nan
    model = DecisionTreeClassifier(missing="error")
    with pytest.raises(ValueError, match="X_val and y_val: missing='error': row 3 of column 1"):
        model.fit(X, y, X_val=holes, y_val=y)
    with pytest.raises(ValueError, match="missing='error': row 3 of column 1"):
        prune(model.fit(X, y), "reduced_error", holes, y)


def test_too_few_rows_to_set_aside_are_named():
    X, y, _ = noisy()
    one = np.r_[1.0, np.zeros(79)]
    with pytest.raises(ValueError, match=r"validation_fraction=0\.3: .* at least 2 .* there are 1"):
        DecisionTreeClassifier(validation_fraction=0.3).fit(X, y, one)
    with pytest.raises(ValueError, match="prune: setting rows aside needs at least 2 of positive weight"):
        DecisionTreeClassifier(prune="reduced_error").fit(X, y, one)
    with pytest.raises(ValueError, match="risk_bound: it bounds the share of wrong labels, and DecisionTreeRegressor"):
        DecisionTreeRegressor().fit([[0], [1]], [0.0, 1.0]).risk_bound(0.05)


def test_rows_of_no_weight_do_not_change_which_rows_are_set_aside():
    X, y, _ = noisy()
    weight = np.arange(80) % 4 > 0
    model = DecisionTreeClassifier(prune="reduced_error", random_state=0)
    with_all = model.fit(X, y, weight.astype(float)).trees_
    without = model.fit(X[weight], y[weight]).trees_
    assert np.array_equal(with_all.feature, without.feature)
    assert np.array_equal(with_all.threshold, without.threshold, equal_nan=True)


def test_prune_is_the_method_where_called_and_the_parameter_where_compared():
    model = DecisionTreeClassifier(prune="mdl").fit([[0], [1]] * 9, [0, 1] * 9)
    assert model.prune == "mdl"
    assert model.prune
    assert repr(model.prune) == "<prune='mdl', a parameter of DecisionTreeClassifier; prune(...) is its method>"
    assert model.prune("pessimistic").n_leaves_ == 2
    assert DecisionTreeClassifier(prune=model.prune).get_params()["prune"] == "mdl"
    assert model.get_params()["prune"] == "mdl"
    model.prune = None
    assert model.prune == None  # noqa: E711  what stands in its place may be called
    assert not model.prune
    assert repr(model) == "DecisionTreeClassifier()"
    assert "smaller model" in model.prune.__doc__
    assert list(inspect.signature(model.prune).parameters)[:3] == ["method", "X", "y"]
