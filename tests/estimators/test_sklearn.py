"""The estimators inside scikit-learn: its own checks of an estimator, and the tools that take one."""

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingRegressor, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted
from strategies import interpreted_only

from dtnumba import (
    C45Classifier,
    C50Classifier,
    CHAIDClassifier,
    CHAIDRegressor,
    DecisionGraphClassifier,
    DecisionListClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    ID3Classifier,
    IncrementalTreeClassifier,
    IncrementalTreeRegressor,
    MARSClassifier,
    MARSRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RuleSetClassifier,
)
from dtnumba.tables.costs import class_costs_of

TREES = [DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor]

FORESTS = [RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor]


class DearC50(C50Classifier):
    """C5.0 with costs for as many classes as there are: the first one costs more than the others to overlook."""

    def class_costs(self, labels):
        k = len(labels.classes[0])
        costs = 1.0 - np.eye(k)
        costs[0] *= 1.5
        return class_costs_of(None, costs, labels, alters=False)


def expected_to_fail(estimator):
    """Return the checks that an estimator cannot pass, with the reason; of forests scikit-learn's list is the same."""
    if type(estimator) is OptimalTreeClassifier:
        return {"check_class_weight_classifiers": "rows that hardly count are told apart too, where that costs nothing"}
    if type(estimator) is IncrementalTreeClassifier and estimator.approximate:
        return {
            "check_sample_weight_equivalence_on_dense_data": "a row twice is learned twice, one after the other",
            "check_class_weight_classifiers": "a stream has no rows of which a leaf could have a share",
        }
    reason = "a weight says how likely a row is drawn, so a row twice is drawn otherwise than a row of weight two"
    if type(estimator) in {MARSClassifier, MARSRegressor}:
        reason = "knots and GCV count rows, so a row twice is two rows, and a row of weight two is one"
    elif type(estimator) is C50Classifier and estimator.winnow:
        reason = "every other row of a class is in the half that winnowing grows on, whatever rows weigh"
    elif type(estimator) not in {
        RandomForestClassifier,
        RandomForestRegressor,
        ObliqueForestClassifier,
        ObliqueForestRegressor,
    }:
        return {}
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


with warnings.catch_warnings():
    # They are none of scikit-learn's BaseEstimator, because they need no scikit-learn.
    warnings.filterwarnings("ignore", "Estimator .* does not inherit from `sklearn.base.BaseEstimator`", UserWarning)
    all_checks = parametrize_with_checks(
        [tree(max_bins=bins) for tree in TREES for bins in (None, 255)]
        + [forest(n_estimators=3) for forest in FORESTS]
        + [C45Classifier(), C50Classifier(), ID3Classifier()]
        + [C50Classifier(trials=5), C50Classifier(rules=True), C50Classifier(trials=5, rules=True)]
        + [C50Classifier(winnow=True), DearC50(), DearC50(trials=5, rules=True)]
        + [chaid(min_parent=4, min_child=2) for chaid in (CHAIDClassifier, CHAIDRegressor)]
        + [MARSClassifier(), MARSRegressor()]
        + [RuleSetClassifier(), DecisionListClassifier()]
        + [optimal(max_depth=2) for optimal in (OptimalTreeClassifier, OptimalTreeRegressor)]
        + [IncrementalTreeClassifier(), IncrementalTreeRegressor()]
        + [tree(approximate=True) for tree in (IncrementalTreeClassifier, IncrementalTreeRegressor)]
        + [DecisionGraphClassifier(method=method) for method in ("mml", "merge", "oblivious")],
        expected_failed_checks=expected_to_fail,
    )
    # Every kind of value that these checks bring would compile their kernels anew; interpreted, deep trees take long.
    checks_of_sums = parametrize_with_checks(
        [tree(max_depth=2) for tree in (ObliqueTreeClassifier, ObliqueTreeRegressor)]
        + [forest(n_estimators=2, max_depth=3) for forest in (ObliqueForestClassifier, ObliqueForestRegressor)],
        expected_failed_checks=expected_to_fail,
    )


@all_checks
def test_check_of_scikit_learn(estimator, check):
    check(estimator)


@interpreted_only
@checks_of_sums
def test_check_of_scikit_learn_of_tests_of_several_columns(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


@pytest.mark.parametrize("tree", TREES)
def test_a_clone_has_the_parameters_and_nothing_learned(tree, iris):
    model = tree(max_depth=3, max_bins=16, random_state=np.random.RandomState(0)).fit(*iris)
    twin = clone(model)
    assert type(twin) is tree
    assert twin.get_params()["max_depth"] == 3
    assert not hasattr(twin, "tree_")


def test_kinds_are_known(iris):
    assert [is_classifier(tree()) for tree in TREES] == [True, False, True, False]
    assert [is_regressor(tree()) for tree in TREES] == [False, True, False, True]


def test_not_fitted_is_scikit_learns(iris):
    model = DecisionTreeClassifier()
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    with pytest.raises(NotFittedError):
        model.predict(iris[0])
    check_is_fitted(model.fit(*iris))


def test_grid_search_finds_and_refits(iris):
    grid = {"max_depth": [1, 3], "criterion": ["gini", "entropy"]}
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), grid).fit(*iris)
    assert search.best_params_["max_depth"] == 3
    assert search.best_score_ > 0.9
    assert search.score(*iris) > 0.9


def test_pipelines_of_frames_keep_names(iris):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(iris[0], columns=["a", "b", "c", "d"])
    kept = {"remainder": "passthrough", "verbose_feature_names_out": False}
    scale = make_column_transformer((StandardScaler(), ["a", "b"]), **kept).set_output(transform="pandas")
    model = make_pipeline(scale, DecisionTreeClassifier(max_depth=3))
    model.fit(frame, iris[1])
    assert model[-1].feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert model.score(frame, iris[1]) > 0.9
    twin = pickle.loads(pickle.dumps(model))  # noqa: S301  our own bytes
    assert np.array_equal(twin.predict(frame), model.predict(frame))


def test_cross_validated_scores_are_scikit_learns(iris, diabetes):
    for ours, theirs, data in (
        (DecisionTreeClassifier, TheirClassifier, iris),
        (DecisionTreeRegressor, TheirRegressor, diabetes),
    ):
        scores = [cross_val_score(tree(max_depth=3, random_state=0), *data).mean() for tree in (ours, theirs)]
        assert scores[0] == pytest.approx(scores[1], abs=0.02)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda tree: BaggingClassifier(tree, n_estimators=5, random_state=0),
        lambda tree: AdaBoostClassifier(tree, n_estimators=5, random_state=0),
        lambda tree: VotingClassifier([("a", tree), ("b", clone(tree))], voting="soft"),
        lambda tree: CalibratedClassifierCV(tree, cv=3),
        lambda tree: make_pipeline(SelectFromModel(clone(tree)), tree),
        lambda tree: make_pipeline(RFE(clone(tree), n_features_to_select=2), tree),
    ],
    ids=["bagging", "boosting", "voting", "calibration", "selection", "elimination"],
)
def test_ensembles_and_selectors_take_a_tree(wrap, iris):
    model = wrap(DecisionTreeClassifier(max_depth=3, random_state=0))
    assert model.fit(*iris).score(*iris) > 0.9


def test_stacking_and_permutation_take_a_tree(diabetes):
    last = ExtraTreeRegressor(max_depth=2)
    stack = StackingRegressor([("tree", DecisionTreeRegressor(max_depth=3))], final_estimator=last).fit(*diabetes)
    assert stack.predict(diabetes[0]).shape == (442,)
    model = DecisionTreeRegressor(max_depth=3).fit(*diabetes)
    importances = permutation_importance(model, *diabetes, n_repeats=2, random_state=0).importances_mean
    assert importances.argmax() in {2, 8}


@pytest.fixture(scope="module")
def ours_and_theirs():
    """The same tree by both: no two cuts of this table gain the same, and float32 holds its values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + rng.normal(size=500) / 10
    return [tree(max_depth=4, min_samples_leaf=5).fit(X, y) for tree in (DecisionTreeRegressor, TheirRegressor)]


@pytest.mark.parametrize(
    "name", ["impurity", "threshold", "value", "feature", "n_node_samples", "weighted_n_node_samples"]
)
def test_columns_of_the_tree_say_what_scikit_learns_say(name, ours_and_theirs):
    columns = [getattr(model.tree_, name) for model in ours_and_theirs]
    assert columns[0].dtype == columns[1].dtype
    assert columns[0].shape == columns[1].shape
    first, second = (np.sort(column.ravel()) for column in columns)  # nodes are numbered in another order
    assert first == pytest.approx(second, rel=1e-6)


def test_importances_are_scikit_learns(ours_and_theirs):
    ours, theirs = (model.feature_importances_ for model in ours_and_theirs)
    assert ours == pytest.approx(theirs)


@pytest.fixture
def routing():
    sklearn.set_config(enable_metadata_routing=True)
    yield
    sklearn.set_config(enable_metadata_routing=False)


def test_weights_are_routed_to_who_requests_them(routing, iris):
    X, y = iris
    weight = np.random.default_rng(0).random(len(X))
    model = (
        DecisionTreeClassifier(max_depth=2).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    )
    steps = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
    steps.fit(X, y, sample_weight=weight)
    scaled = steps[0].transform(X)
    expected = DecisionTreeClassifier(max_depth=2).fit(scaled, y, weight)
    assert np.array_equal(steps[-1].predict_proba(scaled), expected.predict_proba(scaled))
    search = GridSearchCV(steps, {"decisiontreeclassifier__max_depth": [1, 2]}, cv=3)
    assert search.fit(X, y, sample_weight=weight).best_params_ == {"decisiontreeclassifier__max_depth": 2}


def test_weights_that_nobody_requests_are_an_error(routing, iris):
    model = make_pipeline(DecisionTreeClassifier(max_depth=2))
    assert model.fit(*iris).score(*iris) > 0.9
    with pytest.raises(ValueError, match=r"sample_weight.* not explicitly set as requested"):
        model.fit(*iris, sample_weight=np.ones(len(iris[1])))
    with pytest.raises(TypeError, match=r"Unexpected args: \{'weight'\} in fit"):
        model[0].set_fit_request(weight=True)
    assert not hasattr(RandomForestClassifier(), "set_predict_request")


def test_requests_ask_for_routing(iris):
    with pytest.raises(RuntimeError, match=r"sklearn\.set_config\(enable_metadata_routing=True\)"):
        DecisionTreeClassifier().set_fit_request(sample_weight=True)
