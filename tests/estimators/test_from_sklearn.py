"""Models of scikit-learn taken over: the bits of what they predict, and everything that models here can do."""

import numpy as np
import pytest
from strategies import interpreted_only

import dtnumba
from dtnumba import DecisionTreeClassifier, NotFittedError, export, from_sklearn, load
from dtnumba.trees.check import check

pytestmark = pytest.mark.small
ensemble, tree = pytest.importorskip("sklearn.ensemble"), pytest.importorskip("sklearn.tree")

_GENERATOR = np.random.default_rng(0)


def _holes(X):
    X[_GENERATOR.random(X.shape) < 0.1] = np.nan
    return X


X = _holes(_GENERATOR.normal(size=(200, 4)))
FULL = np.nan_to_num(X)
Y = np.array(["a", "b", "c"])[(FULL[:, 0] + FULL[:, 1] > 0).astype(int) + (FULL[:, 2] > 1)]
Z = FULL[:, 0] * 3 + FULL[:, 1] + _GENERATOR.normal(size=200)
ROWS = _holes(_GENERATOR.normal(size=(120, 4)) * 2)
FEW = {"n_estimators": 10, "random_state": 1, "min_samples_leaf": 8}
LEAVING_OUT = FEW | {"n_estimators": 30, "oob_score": True}  # so many that each row is left out by one
ONE = {"random_state": 1, "min_samples_leaf": 2}

CASES = {
    "tree": (tree.DecisionTreeClassifier, ONE, X, Y),
    "tree, best first": (tree.DecisionTreeClassifier, ONE | {"max_leaf_nodes": 9, "criterion": "entropy"}, X, Y),
    "tree, weights": (tree.DecisionTreeClassifier, {"class_weight": {"a": 0.3, "b": 7.1, "c": 1.7}}, X, Y),
    "tree, outputs": (tree.DecisionTreeClassifier, ONE, X, np.stack([Y, Y == "a"], axis=1)),
    "tree of numbers": (tree.DecisionTreeRegressor, ONE, X, Z),
    "tree of numbers, outputs": (tree.DecisionTreeRegressor, ONE, X, np.stack([Z, Z**2], axis=1)),
    "tree of deviance": (tree.DecisionTreeRegressor, ONE | {"criterion": "poisson"}, FULL, np.abs(Z)),
    "leaf": (tree.DecisionTreeClassifier, {}, FULL, np.zeros(200, int)),
    "extra tree": (tree.ExtraTreeClassifier, ONE, X, Y == "a"),
    "extra tree of numbers": (tree.ExtraTreeRegressor, ONE, X, Z),
    "forest": (ensemble.RandomForestClassifier, FEW | {"class_weight": "balanced"}, X, Y),
    "forest of two classes": (ensemble.RandomForestClassifier, LEAVING_OUT, X, Y == "a"),
    "forest, outputs": (ensemble.RandomForestClassifier, FEW, X, np.stack([Y, Y == "a"], axis=1)),
    "forest of one": (ensemble.RandomForestClassifier, {"n_estimators": 1, "random_state": 3}, X, Y == "a"),
    "forest of numbers": (ensemble.RandomForestRegressor, LEAVING_OUT, X, Z),
    "extra trees": (ensemble.ExtraTreesClassifier, FEW, X, Y == "b"),
    "extra trees of numbers": (ensemble.ExtraTreesRegressor, FEW, X, np.stack([Z, -Z], axis=1)),
}


def taken(name):
    kind, params, rows, target = CASES[name]
    theirs = kind(**params).fit(rows, target)
    return theirs, from_sklearn(theirs)


def hard_rows(theirs):
    """Return rows at every threshold and next to it, in both types of float."""
    members = theirs.estimators_ if hasattr(theirs, "estimators_") else [theirs]
    thresholds = np.unique(np.concatenate([one.tree_.threshold for one in members]))
    thresholds = thresholds[np.isfinite(thresholds)]
    thresholds = thresholds[:: len(thresholds) // 40 + 1]
    below = thresholds.astype(np.float32)
    middle = below.astype(np.float64) / 2.0 + np.nextafter(below, np.float32(np.inf)).astype(np.float64) / 2.0
    values = np.concatenate([thresholds, below, middle, np.nextafter(below, np.float32(np.inf))])
    values = np.concatenate([values, np.nextafter(values, -np.inf), np.nextafter(values, np.inf)])
    rows = np.repeat(ROWS, -(-len(values) // len(ROWS)), axis=0)[: len(values)]
    rows[np.arange(len(values)), np.arange(len(values)) % 4] = values
    return np.concatenate([ROWS, rows])


def bits(answer):
    parts = answer if isinstance(answer, list) else [answer]
    return [np.ascontiguousarray(part).tobytes() for part in parts]


@pytest.mark.parametrize("name", CASES)
def test_answers_have_the_bits_of_scikit_learn(name, tmp_path):
    theirs, own = taken(name)
    assert type(own) is getattr(dtnumba, type(theirs).__name__)
    check(own.trees_, 4)
    own.save(tmp_path / "model")
    loaded, small = load(tmp_path / "model"), from_sklearn(theirs).compact()
    rows = hard_rows(theirs)
    for given in (rows, rows.astype(np.float32), rows[:3]):
        for model in (own, loaded, small):
            answer, wanted = model.predict(given), theirs.predict(given)
            assert answer.dtype == wanted.dtype
            assert answer.tolist() == wanted.tolist()
            if hasattr(theirs, "classes_"):
                assert bits(model.predict_proba(given)) == bits(theirs.predict_proba(given))
    assert np.allclose(own.feature_importances_, theirs.feature_importances_)
    for found in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
        assert hasattr(own, found) == hasattr(theirs, found)


@interpreted_only
@pytest.mark.parametrize("name", ["tree", "forest of two classes", "forest of numbers", "tree of numbers, outputs"])
def test_what_a_fitted_model_can_do_it_can(name):
    theirs, own = taken(name)
    predictor = own.compile_predictor()
    shares = own.predict_proba(ROWS) if hasattr(own, "classes_") else own.predict(ROWS)
    assert np.array_equal(predictor(ROWS[0]), np.ravel(shares[0]))
    for written in (export.python(own), export.json(own), export.python(own, style="numpy")):
        assert export.verify(written, own, ROWS)
    assert bits(export.from_json(export.json(own)).predict(ROWS)) == bits(own.predict(ROWS))
    again = export.to_sklearn(own)
    assert np.array_equal(again.predict(ROWS), theirs.predict(ROWS))
    assert own.summary()
    smaller = own.prune("cost_complexity", alpha=0.05)
    assert smaller.trees_.n_nodes < own.trees_.n_nodes
    assert smaller.trees_.adds_both == own.trees_.adds_both == hasattr(theirs, "estimators_")


@interpreted_only
def test_pruning_by_rows_gives_a_smaller_model():
    _, own = taken("tree")
    assert own.prune("reduced_error", X[:100], Y[:100]).n_leaves_ < own.n_leaves_


@interpreted_only
def test_trees_of_this_package_come_back_in_their_own_order():
    mine = DecisionTreeClassifier(max_leaf_nodes=12).fit(X.astype(np.float32), Y)
    again = from_sklearn(export.to_sklearn(mine))
    for column in ("left", "right", "feature", "missing_left", "n_samples", "weight", "impurity", "value"):
        assert np.array_equal(getattr(again.trees_, column), getattr(mine.trees_, column)), column
    assert np.allclose(again.trees_.gain, mine.trees_.gain, atol=1e-12)


@interpreted_only
def test_thresholds_are_the_largest_numbers_that_are_rounded_below():
    ends = np.array([0.1, 1.0, np.finfo(np.float32).max, 3.5e38, np.inf, -3.5e38, 1e-46, 0.0, -1.5, 2.0**24 + 1])
    theirs = tree.DecisionTreeRegressor().fit(np.arange(40.0)[:, None], np.arange(40) % 2)
    inner = np.flatnonzero(theirs.tree_.children_left >= 0)[: len(ends)]
    state = theirs.tree_.__getstate__()
    state["nodes"]["threshold"][inner] = ends
    theirs.tree_.__setstate__(state)
    own = from_sklearn(theirs)
    found = {}
    stack = [(0, 0)]
    while stack:
        a, b = stack.pop()
        if theirs.tree_.children_left[a] >= 0:
            found[a] = own.tree_.threshold[b]
            stack += [(theirs.tree_.children_left[a], own.tree_.children_left[b])]
            stack += [(theirs.tree_.children_right[a], own.tree_.children_right[b])]
    with np.errstate(over="ignore"):
        for node, end in zip(inner, ends, strict=True):
            assert np.float64(np.float32(found[node])) <= end
            above = np.nextafter(found[node], np.inf)
            assert np.isinf(found[node]) or np.float64(np.float32(above)) > end


@interpreted_only
def test_names_of_columns_and_parameters_are_kept():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(FULL, columns=["wide", "long", "deep", "far"])
    theirs = tree.DecisionTreeClassifier(max_depth=3, min_samples_leaf=0.02, ccp_alpha=0.001).fit(frame, Y)
    own = from_sklearn(theirs)
    assert own.feature_names_in_.tolist() == ["wide", "long", "deep", "far"]
    assert (own.max_depth, own.min_samples_leaf, own.ccp_alpha, own.missing) == (3, 0.02, 0.001, "learned")
    assert "long" in export.text(own)


@interpreted_only
def test_where_scikit_learn_takes_no_missing_values_neither_does_it():
    theirs = tree.ExtraTreeClassifier(splitter="best", random_state=0).fit(FULL, Y)
    with pytest.raises(ValueError, match="NaN"):
        theirs.predict(X)
    with pytest.raises(ValueError, match="missing='error'"):
        from_sklearn(theirs).predict(X)
    assert np.array_equal(from_sklearn(theirs).predict(FULL), theirs.predict(FULL))


@interpreted_only
def test_rows_that_were_drawn_are_not_known():
    _, own = taken("forest")
    with pytest.raises(ValueError, match="estimators_samples_: which rows the trees drew is not known"):
        own.estimators_samples_  # noqa: B018
    with pytest.raises(ValueError, match="warm_start=True: which rows"):
        own.set_params(warm_start=True, n_estimators=40).fit(X, Y)
    _, whole = taken("extra trees")
    assert [rows.tolist() for rows in whole.estimators_samples_] == [list(range(200))] * 10
    assert len(whole[0].predict(ROWS)) == len(ROWS)


class Derived(tree.DecisionTreeClassifier):
    pass


@interpreted_only
@pytest.mark.parametrize(
    ("model", "words"),
    [
        (ensemble.GradientBoostingClassifier(), r"GradientBoostingClassifier: it takes scikit-learn's DecisionTreeCl"),
        (ensemble.IsolationForest(), "IsolationForest: it takes"),
        (Derived(), "was derived from DecisionTreeClassifier, and may predict otherwise"),
        (tree.DecisionTreeClassifier, "is a class; pass a fitted estimator"),
        (DecisionTreeClassifier(), "it takes scikit-learn's"),
        (None, "NoneType: it takes"),
    ],
)
def test_what_it_cannot_take_is_said_so(model, words):
    with pytest.raises(TypeError, match=words):
        from_sklearn(model)


@interpreted_only
def test_pipelines_and_searches_are_told_what_to_pass():
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline

    with pytest.raises(TypeError, match="pass its last step"):
        from_sklearn(make_pipeline(tree.DecisionTreeClassifier()))
    with pytest.raises(TypeError, match="pass its best_estimator_"):
        from_sklearn(GridSearchCV(tree.DecisionTreeClassifier(), {"max_depth": [1, 2]}).fit(FULL, Y))


@interpreted_only
def test_a_model_that_is_not_fitted_or_of_negative_weights_is_refused():
    with pytest.raises(NotFittedError, match="this RandomForestRegressor is not fitted yet"):
        from_sklearn(ensemble.RandomForestRegressor())
    theirs = tree.DecisionTreeRegressor(max_depth=4, random_state=0).fit(FULL, Z)
    state = theirs.tree_.__getstate__()
    state["nodes"]["weighted_n_node_samples"][3] = -1.0
    theirs.tree_.__setstate__(state)
    with pytest.raises(ValueError, match=r"node 3 of this DecisionTreeRegressor has the weight -1\.0"):
        from_sklearn(theirs)


@interpreted_only
def test_impurities_of_negative_weights_change_no_answer():
    weight = np.ones(200)
    weight[:100] = -0.5  # scikit-learn takes these, and has impurities that are no numbers
    theirs = tree.DecisionTreeRegressor(max_depth=4, random_state=0).fit(FULL, Z, sample_weight=weight)
    assert not np.isfinite(theirs.tree_.impurity).all()
    assert np.array_equal(from_sklearn(theirs).predict(ROWS), theirs.predict(ROWS))
