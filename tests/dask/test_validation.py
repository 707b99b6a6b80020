"""Folds on a cluster give the numbers of folds here, to the bit."""

import os
import signal
import time

import numpy as np
import pytest

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, validation

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3)).round(1)
    y = np.where(rng.random(150) < 0.15, "either", np.where(X[:, 0] > 0, "left", "right"))
    return X, y, rng.integers(0, 4, 150).astype(float)


def demand_same(one, other):
    for name, value in vars(one).items():
        np.testing.assert_array_equal(value, vars(other)[name], err_msg=name)


@pytest.mark.parametrize(
    "options", [{}, {"k": 3, "repeats": 2}, {"cv": "loo"}, {"cv": [(range(50), range(50, 150))], "scoring": "log_loss"}]
)
def test_folds(client, rows, options):
    X, y, weight = rows
    tree = DecisionTreeClassifier(max_depth=3, min_samples_leaf=2)
    here = validation.cross_validate(tree, X, y, sample_weight=weight, **options)
    demand_same(here, validation.cross_validate(tree, X, y, sample_weight=weight, client=client, **options))


def test_samples_sizes_and_three_parts(client, rows):
    X, y, _ = rows
    few, many = (DecisionTreeClassifier(max_depth=depth, max_bins=16) for depth in (1, 4))
    here = validation.bootstrap(few, X, y, 12)
    demand_same(here, validation.bootstrap(few, X, y, 12, client=client))
    here = validation.complexity_curve(many, X, y, 5)
    demand_same(here, validation.complexity_curve(many, X, y, 5, client=client))
    held_out = {"X_val": X[:30], "y_val": y[:30]}
    here = validation.complexity_curve(many, X, y, **held_out)
    demand_same(here, validation.complexity_curve(many, X, y, client=client, **held_out))
    here = validation.train_validation_test([few, many], X, y)
    there = validation.train_validation_test([few, many], X, y, client=client)
    assert np.array_equal(here.model.predict_proba(X), there.model.predict_proba(X))
    vars(here)["model"] = vars(there)["model"] = None
    demand_same(here, there)


def test_other_models_and_measures_of_ones_own(client, rows):
    neighbors = pytest.importorskip("sklearn.neighbors")
    X, y, _ = rows

    def share_of_left(truth, predicted):
        return float(np.mean((truth == "left") == (predicted == "left")))

    nearest = neighbors.KNeighborsClassifier(3)
    here = validation.cross_validate(nearest, X, y, 4, scoring=share_of_left)
    demand_same(here, validation.cross_validate(nearest, X, y, 4, scoring=share_of_left, client=client))


def test_an_error_of_a_fit_comes_back_and_leaves_nothing(client, rows):
    X, y, _ = rows

    class Wrong(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            raise ZeroDivisionError("of the fit")

    with pytest.raises(ZeroDivisionError, match="of the fit"):
        validation.cross_validate(Wrong(), X, y, client=client)
    for _ in range(200):  # the scheduler forgets when it comes to it
        held = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))
        if not held:
            break
        time.sleep(0.05)
    assert held == []


def test_a_killed_worker_costs_its_share_again(client, rows, tmp_path):
    X, y, _ = rows
    marker = tmp_path / "killed"

    class Deadly(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            if not marker.exists():
                marker.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().fit(X, y, sample_weight)

    found = validation.cross_validate(Deadly(max_depth=2), X, y, 4, client=client)
    assert marker.exists()
    demand_same(validation.cross_validate(DecisionTreeClassifier(max_depth=2), X, y, 4), found)


def test_what_cannot_be_is_refused(client, rows):
    X, y, _ = rows
    with pytest.raises(ValueError, match="n_jobs=2 counts threads of this process"):
        validation.cross_validate(DecisionTreeClassifier(), X, y, client=client, n_jobs=2)
    with pytest.raises(TypeError, match=r"must be a Client of dask\.distributed"):
        validation.cross_validate(DecisionTreeClassifier(), X, y, client="tcp://127.0.0.1:8786")
    with pytest.raises(ValueError, match="k=1: must be"):
        validation.cross_validate(DecisionTreeClassifier(), X, y, 1, client=client)


def test_a_search_of_scikit_learn_fits_on_the_cluster(client, rows):
    joblib = pytest.importorskip("joblib")
    model_selection = pytest.importorskip("sklearn.model_selection")
    X = rows[0]
    z = X[:, 0] * X[:, 1]

    def search():
        grid = {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 5]}
        return model_selection.GridSearchCV(DecisionTreeRegressor(random_state=0), grid, cv=3)

    here = search().fit(X, z)
    with joblib.parallel_config(backend="dask"):
        there = search().fit(X, z)
    assert there.best_params_ == here.best_params_
    assert np.array_equal(there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"])
    assert np.array_equal(there.predict(X), here.predict(X))
