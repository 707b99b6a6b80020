import numpy as np
import pytest
from naive import validation as naive

from dtnumba import (
    C45Classifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    bin_batches,
    validation,
)
from dtnumba.validation import cross_validate, leave_one_out, train_validation_test
from dtnumba.validation.folds import Resamples, k_folds
from dtnumba.validation.resampling import bootstrap

pytestmark = pytest.mark.small


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[rng.random(X.shape) < 0.05] = np.nan
    z = np.nan_to_num(X[:, 0]) + 0.7 * rng.normal(size=n)
    return X, np.where(z > 0, "yes", "no"), z


def r2(y, predicted):
    return 1 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum()


def classifier(**params):
    return DecisionTreeClassifier(**{"max_depth": 3, "random_state": 0} | params)


def regressor(**params):
    return DecisionTreeRegressor(**{"max_depth": 3, "random_state": 0} | params)


def splits_of(n, k, strata=None):
    return list(k_folds(n, k, 0, strata=strata))


def test_folds_score_as_a_plain_loop_of_fits():
    X, y, z = table()
    splits = splits_of(60, 5, np.unique(y, return_inverse=True)[1])
    loop = naive.held_out_predictions(classifier, X, y, splits)
    found = cross_validate(classifier(), X, y, k=5)
    each = [np.mean(predicted == y[test]) for test, predicted in loop]
    assert np.allclose(found.scores, each)
    assert np.isclose(found.mean, np.mean(each))
    assert np.isclose(found.standard_error, np.std(each, ddof=1) / np.sqrt(5))
    for test, predicted in loop:
        assert (found.predictions[test] == predicted).all()
    loop = naive.held_out_predictions(regressor, X, z, splits_of(60, 5))
    found = cross_validate(regressor(), X, z, k=5)
    assert np.allclose(found.scores, [r2(z[test], predicted) for test, predicted in loop])
    pooled = np.concatenate([predicted for _, predicted in loop])
    assert np.isclose(found.pooled, r2(z[np.concatenate([test for test, _ in loop])], pooled))


@pytest.mark.parametrize("params", [{"class_weight": "balanced"}, {"min_samples_leaf": 0.1}, {"max_bins": 255}])
def test_a_fold_sees_its_own_rows_alone(params):
    """Class weights and shares of rows are those of the fold; here no column has more values than bins."""
    X, y, _ = table()
    weight = np.arange(60) % 3 + 0.5
    found = cross_validate(classifier(**params), X, y, k=4, sample_weight=weight)
    for train, test in splits_of(60, 4, np.unique(y, return_inverse=True)[1]):
        model = classifier(**params).fit(X[train], y[train], weight[train])
        assert (found.predictions[test] == model.predict(X[test])).all()


def test_leave_one_out_is_a_fit_a_row():
    X, y, z = table(25)
    one_each = [(np.delete(np.arange(25), i), np.array([i])) for i in range(25)]
    predicted = np.concatenate([predicted for _, predicted in naive.held_out_predictions(classifier, X, y, one_each)])
    found = leave_one_out(classifier(), X, y)
    assert (found.predictions == predicted).all()
    assert np.isclose(found.mean, np.mean(predicted == y))
    assert np.isclose(found.standard_error, np.std(predicted == y, ddof=1) / 5)
    assert cross_validate(classifier(), X, y, cv="loo").mean == found.mean
    numbers = np.concatenate([predicted for _, predicted in naive.held_out_predictions(regressor, X, z, one_each)])
    found = leave_one_out(regressor(), X, z)
    assert np.isclose(found.mean, r2(z, numbers))
    assert np.isclose(found.scores.mean(), found.mean)
    assert leave_one_out(regressor(), X, z, scoring=r2).mean == pytest.approx(found.mean)


def test_the_bootstrap_is_that_of_the_loops():
    X, y, z = table(40)
    samples = list(Resamples(40, 12, 5))
    for make, target, loss in (
        (classifier, y, lambda truth, predicted: float(truth != predicted)),
        (regressor, z, lambda truth, predicted: (truth - predicted) ** 2),
    ):
        found = bootstrap(make(), X, target, 12, random_state=5)
        expected = naive.bootstrap_632_plus(make, X, target, samples, loss)
        ours = [found.train, found.out_of_bag, found.no_information, found.loss_632, found.loss_632_plus]
        assert np.allclose(ours, expected)
    expected = naive.bootstrap_632_plus(regressor, X, z, samples, lambda truth, predicted: abs(truth - predicted))
    assert np.isclose(bootstrap(regressor(), X, z, 12, scoring="mae", random_state=5).loss_632_plus, expected[-1])


def test_the_worked_632_plus():
    from dtnumba.validation.resampling import mixed_632

    assert np.allclose(mixed_632(0.1, 0.3, 0.5), (0.5, 0.2264, 0.254902), atol=1e-6)


def test_three_parts_choose_by_the_second_and_score_on_the_third():
    X, y, _ = table(200)
    found = train_validation_test({"stump": classifier(max_depth=1), "deep": classifier(max_depth=None)}, X, y)
    parts = found.train, found.validation, found.test
    assert sorted(np.concatenate(parts)) == list(range(200))
    assert [len(part) for part in parts] == [120, 40, 40]
    for name, depth in (("stump", 1), ("deep", None)):
        model = classifier(max_depth=depth).fit(X[found.train], y[found.train])
        assert found.validation_scores[name] == model.score(X[found.validation], y[found.validation])
    assert found.validation_scores[found.best] == max(found.validation_scores.values())
    assert found.test_score == found.model.score(X[found.test], y[found.test])


def test_threads_change_no_bit():
    X, y, z = table(80)
    for n_jobs in (1, 2):
        model = classifier(max_features=2)
        scores = cross_validate(model, X, y, k=7, repeats=2, scoring="log_loss", n_jobs=n_jobs)
        forest = cross_validate(RandomForestClassifier(3, random_state=1), X, y, k=3, n_jobs=n_jobs)
        loss = bootstrap(regressor(), X, z, 5, n_jobs=n_jobs).loss_632_plus
        found = scores.scores.tolist(), forest.scores.tolist(), loss
        if n_jobs == 1:
            expected = found
    assert found == expected


@pytest.mark.parametrize("scoring", ["accuracy", "log_loss", "brier", "mae", "r2"])
def test_scores_are_scikit_learns(scoring):
    metrics = pytest.importorskip("sklearn.metrics")
    X, y, z = table()
    if scoring in {"mae", "r2"}:
        found = cross_validate(regressor(), X, z, k=3, scoring=scoring)
        measure = {"mae": metrics.mean_absolute_error, "r2": metrics.r2_score}[scoring]
        assert np.isclose(found.pooled, measure(z, found.predictions))
        return
    found = cross_validate(classifier(), X, y, k=3, scoring=scoring)
    predicted = found.predictions
    if scoring == "accuracy":
        assert np.isclose(found.pooled, metrics.accuracy_score(y, predicted))
    elif scoring == "log_loss":
        assert np.isclose(found.pooled, metrics.log_loss(y, predicted))
    else:
        assert np.isclose(found.pooled, metrics.brier_score_loss((y == "yes").astype(int), predicted[:, 1]))


def test_a_class_that_a_fit_lacks_has_no_share():
    X, y = np.arange(9.0)[:, None], np.array(list("aaaabbbbc"))
    found = leave_one_out(classifier(), X, y, scoring="log_loss")
    assert found.predictions.shape == (9, 3)
    assert np.isclose(found.scores[8], -np.log(np.finfo(float).eps))


def test_models_of_others_are_fitted_to_slices():
    tree = pytest.importorskip("sklearn.tree")
    pandas = pytest.importorskip("pandas")
    X, y, _ = table()
    theirs = tree.DecisionTreeClassifier(max_depth=2, random_state=0)
    found = cross_validate(theirs, pandas.DataFrame(X, columns=list("abc")), y, k=4, scoring="brier")
    for train, test in splits_of(60, 4, np.unique(y, return_inverse=True)[1]):
        shares = tree.DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[train], y[train]).predict_proba(X[test])
        assert np.allclose(found.predictions[test], shares)
    assert not hasattr(theirs, "tree_")

    class Majority:
        def fit(self, X, y):
            self.label = max(set(y), key=list(y).count)
            return self

        def predict(self, X):
            return np.full(len(X), self.label)

    predicted = leave_one_out(Majority(), X, y).predictions
    majority = max(set(y), key=list(y).count)
    assert (predicted == majority).all() or np.mean(y == majority) < 0.55


def test_sparse_frames_and_codes_are_tables_too():
    sparse, polars = pytest.importorskip("scipy.sparse"), pytest.importorskip("polars")
    X, y, _ = table()
    X = np.where(np.isnan(X), 0.0, X).round(1)
    plain = cross_validate(classifier(), X, y, k=3)
    for other in (sparse.csr_matrix(X), polars.DataFrame(X, schema=["a", "b", "c"]), X[::-1][::-1]):
        assert (cross_validate(classifier(), other, y, k=3).predictions == plain.predictions).all()
    coded = cross_validate(classifier(max_bins=255), bin_batches(X), y, k=3)
    assert (coded.predictions == cross_validate(classifier(max_bins=255), X, y, k=3).predictions).all()


def test_the_model_and_the_arrays_stay_as_they_are():
    X, y, _ = table()
    X.flags.writeable = False
    model = classifier().fit(X, y)
    before = model.trees_.threshold.copy()
    cross_validate(model, X, y, k=3)
    assert np.array_equal(model.trees_.threshold, before, equal_nan=True)


def test_folds_of_the_caller_and_groups():
    X, y, _ = table()
    folds = np.arange(60) % 3
    found = cross_validate(classifier(), X, y, cv=np.where(folds == 2, -1, folds))
    assert len(found.scores) == 2
    assert found.predictions.mask.sum() == 20
    grouped = cross_validate(classifier(), X, y, k=3, groups=np.arange(60) // 6)
    assert grouped.n_test.sum() == 60


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda X, y: cross_validate(classifier(), X, y, k=1), ValueError, "k=1: must be an int of at least 2"),
        (lambda X, y: cross_validate(classifier(), X, y, k=2.0), TypeError, "k=2.0"),
        (lambda X, y: cross_validate(classifier(), X, y, k=99), ValueError, "k=99: must be from 2 to the number"),
        (lambda X, y: cross_validate(classifier(), X, y, repeats=0), ValueError, "repeats=0"),
        (lambda X, y: cross_validate(classifier(), X, y, scoring="mse"), ValueError, "scoring='mse': must be one of"),
        (
            lambda X, y: cross_validate(DecisionTreeClassifier, X, y),
            TypeError,
            "DecisionTreeClassifier is a class",
        ),
        (lambda X, y: cross_validate(3, X, y), TypeError, "must have fit and predict"),
        (lambda X, y: bootstrap(classifier(), X, y, scoring="accuracy"), ValueError, "mixes losses of rows"),
        (lambda X, y: train_validation_test(classifier(), X, y, (0.5, 0.5, 0.5)), ValueError, "sum to 1"),
        (lambda X, y: train_validation_test([], X, y), ValueError, "at least one model"),
        (lambda X, y: cross_validate(classifier(max_depth=0), X, y), ValueError, "max_depth"),
        (lambda X, y: validation.complexity_curve(RandomForestClassifier(), X, y), TypeError, "is not one tree"),
    ],
)
def test_what_makes_no_sense_is_refused(call, kind, words):
    X, y, _ = table(20)
    with pytest.raises(kind, match=words):
        call(X, y)


def test_an_error_in_a_thread_is_the_callers():
    class Fails:
        def fit(self, X, y):
            raise RuntimeError("no fit today")

        def predict(self, X):
            return X

    X, y, _ = table()
    with pytest.raises(RuntimeError, match="no fit today"):
        cross_validate(Fails(), X, y, n_jobs=2)


@pytest.mark.parametrize("returned", ["good", np.array([1.0, 2.0]), None, 1j])
def test_a_score_of_ones_own_must_be_a_number(returned):
    X, y = np.arange(12.0)[:, None], [0, 1] * 6

    def mine(truth, predicted):
        return returned

    with pytest.raises(TypeError, match=r"scoring=mine: it returned .* must return one number"):
        cross_validate(DecisionTreeClassifier(), X, y, k=3, scoring=mine)


@pytest.mark.parametrize("given", [{}, {"missing": "branch"}, {"missing": "fractional"}, {"missing": "surrogate"}])
def test_levels_that_a_fold_has_not_met_are_missing_as_in_a_fit_by_itself(given):
    rng = np.random.default_rng(0)
    X = np.array([[f"level {i}", z] for i, z in zip(rng.integers(0, 30, 40), rng.normal(size=40), strict=True)], object)
    X[rng.random(X.shape) < 0.2] = None
    y, folds = rng.integers(0, 2, 40), np.arange(40) % 4
    model = DecisionTreeClassifier(min_samples_leaf=3, random_state=0, **given)
    found = cross_validate(model, X, y, cv=folds, scoring="brier").scores
    for k in range(4):
        test = folds == k
        own = DecisionTreeClassifier(min_samples_leaf=3, random_state=0, **given).fit(X[~test], y[~test])
        assert set(X[test, 0]) - set(X[~test, 0])  # some levels are new
        assert found[k] == pytest.approx(np.mean((own.predict_proba(X[test])[:, 1] - y[test]) ** 2))


def test_folds_of_a_list_keep_numbers_beside_text():
    rows = [["a" if i % 2 else "b", float(i)] for i in range(24)]
    y = [i >= 12 for i in range(24)]
    of_list = validation.cross_validate(C45Classifier(), rows, y, k=3)
    of_array = validation.cross_validate(C45Classifier(), np.array(rows, object), y, k=3)
    assert of_list.scores.tolist() == of_array.scores.tolist()
    assert of_list.scores.min() > 0.7  # as text, no level would be seen twice
