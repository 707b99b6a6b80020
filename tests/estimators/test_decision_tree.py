import copy
import pickle

import numpy as np
import pytest

from dtnumba import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    NotFittedError,
)
from dtnumba.trees.check import check

ALL = [DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor]
CLASSIFIERS = [tree for tree in ALL if "Classifier" in tree.__name__]
REGRESSORS = [tree for tree in ALL if "Regressor" in tree.__name__]


@pytest.fixture(name="X")
def make_x():
    return np.random.default_rng(0).normal(size=(80, 3))


@pytest.fixture
def y(X):
    return (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)


def answers(model, X):
    """Everything a model says of rows."""
    asked = ["predict", "apply"] + (["predict_proba", "predict_log_proba"] if hasattr(model, "classes_") else [])
    return [getattr(model, ask)(X) for ask in asked]


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("tree", ALL)
def test_a_copy_of_a_model_answers_to_the_bit(tree, X, y):
    model = tree(random_state=0).fit(X, y)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        twin = pickle.loads(pickle.dumps(model, protocol))  # noqa: S301  our own bytes
        assert same(answers(twin, X), answers(model, X))
    assert same(answers(copy.deepcopy(model), X), answers(model, X))
    assert same(answers(copy.copy(model), X), answers(model, X))


def test_the_packed_predictor_is_not_saved(X, y):
    model = DecisionTreeClassifier().fit(X, y)
    size = len(pickle.dumps(model))
    model.predict(X)
    assert len(pickle.dumps(model)) == size


@pytest.mark.parametrize("tree", ALL)
def test_nothing_is_learned_by_predicting(tree, X, y):
    model = tree().fit(X, y)
    before = set(vars(model))
    answers(model, X)
    assert set(vars(model)) == before


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"X": np.array([["red"]] * 40 + [[1.5]] * 40, object)}, "holds 'red'"),
        ({"y": [None] * 80}, "Input y contains NaN"),
        ({"sample_weight": [-1.0] * 80}, "Negative values"),
        ({"max_depth": -1}, "max_depth"),
        ({"criterion": "giny"}, "criterion"),
        ({"criterion": lambda stats, weight: stats.no_such_thing}, "criterion"),
        ({"random_state": "seed"}, "random_state"),
    ],
    ids=["text", "no label", "weight", "depth", "criterion", "own criterion", "seed"],
)
@pytest.mark.parametrize("tree", [DecisionTreeClassifier, ExtraTreeRegressor])
def test_a_model_survives_a_fit_that_fails(tree, given, words, X, y):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(X, columns=["a", "b", "c"])
    model = tree(random_state=0).fit(X, y)
    learned, before = {k: v for k, v in vars(model).items() if k.endswith("_")}, answers(model, X)
    data = {"X": X.to_numpy()[:, :2], "y": np.zeros(80), "sample_weight": None}
    params = {name: value for name, value in given.items() if name not in data}
    with pytest.raises(Exception, match=words):
        model.set_params(**params).fit(**(data | {k: v for k, v in given.items() if k in data}))
    after = {k: v for k, v in vars(model).items() if k.endswith("_")}
    assert after.keys() == learned.keys()
    assert all(after[name] is learned[name] for name in learned)
    assert same(answers(model, X), before)


def test_a_second_fit_replaces_everything_learned(X, y):
    pd = pytest.importorskip("pandas")
    model = DecisionTreeClassifier().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    model.fit(X[:, :2], ["no" if label else "yes" for label in y])
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 2
    assert set(model.predict(X[:, :2])) == {"no", "yes"}


@pytest.mark.parametrize("tree", ALL)
def test_sizes_of_a_model(tree, X, y):
    model = tree(max_depth=3, random_state=0).fit(X, y)
    check(model.trees_, 3)
    assert model.get_depth() == model.depth_ == model.tree_.max_depth <= 3
    assert model.get_n_leaves() == model.n_leaves_ == model.tree_.n_leaves
    assert model.n_nodes_ == 2 * model.n_leaves_ - 1
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.n_features_in_ == 3


def test_features_drawn_are_remembered():
    X, y = np.eye(9), np.arange(9) % 2
    drawn = {None: 9, "sqrt": 3, "log2": 3, 2: 2, 0.5: 4, 1.0: 9, 100: 9}
    for max_features, expected in drawn.items():
        assert DecisionTreeClassifier(max_features=max_features, random_state=0).fit(X, y).max_features_ == expected


@pytest.mark.parametrize("tree", ALL)
def test_asking_before_fit_is_refused(tree, X):
    model = tree()
    for ask in ("predict", "apply", "decision_path"):
        with pytest.raises(NotFittedError, match=f"This {tree.__name__} instance is not fitted yet. Call 'fit'"):
            getattr(model, ask)(X)
    for ask in ("trees_", "depth_", "n_leaves_", "n_nodes_", "feature_importances_", "tree_", "classes_"):
        assert not hasattr(model, ask)
    with pytest.raises(NotFittedError):
        model.get_depth()


def test_score_before_fit_is_refused(X, y):
    for model in (DecisionTreeClassifier(), DecisionTreeRegressor()):
        with pytest.raises(NotFittedError):
            model.score(X, y)


@pytest.mark.parametrize("tree", CLASSIFIERS)
def test_labels_come_back_as_they_were_given(tree, X):
    codes = (X[:, 0] > 0).astype(int)
    tuples = np.empty(2, object)
    tuples[:] = [("a", 1), ("b", 2)]
    mixed = np.array([1, "x"], object)
    for labels in (np.array(["no", "yes"]), np.array([False, True]), np.array([-7, 9]), tuples, mixed):
        y = labels[codes]
        model = tree(random_state=0).fit(X, y)
        predicted = model.predict(X)
        assert predicted.dtype == y.dtype
        assert predicted.tolist() == y.tolist()
        assert model.score(X, y) == 1.0


def test_one_class_is_predicted_everywhere(X):
    model = DecisionTreeClassifier().fit(X, ["only"] * 80)
    assert set(model.predict(X)) == {"only"}
    assert model.predict_proba(X).tolist() == [[1.0]] * 80


def test_several_outputs_of_classes(X, y):
    both = np.stack([y, 10 * (X[:, 2] > 0)], axis=1)
    model = DecisionTreeClassifier().fit(X, both)
    assert np.array_equal(model.predict(X), both)
    assert model.score(X, both) == 1.0
    assert [classes.tolist() for classes in model.classes_] == [[0, 1, 2], [0, 10]]
    assert model.n_classes_.tolist() == [3, 2]
    assert model.n_outputs_ == 2
    shares = model.predict_proba(X)
    assert [share.shape for share in shares] == [(80, 3), (80, 2)]
    with np.errstate(divide="ignore"):
        assert same(model.predict_log_proba(X), [np.log(share) for share in shares])


def test_outputs_of_several_kinds_keep_their_kinds(X, y):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"number": y, "word": np.where(X[:, 2] > 0, "up", "down")})
    predicted = DecisionTreeClassifier().fit(X, frame).predict(X)
    assert predicted.tolist() == frame.to_numpy().tolist()


@pytest.mark.parametrize("tree", REGRESSORS)
def test_several_outputs_of_numbers(tree, X):
    both = np.stack([X[:, 0], X[:, 1] ** 2], axis=1)
    model = tree(random_state=0).fit(X, both)
    assert model.predict(X) == pytest.approx(both)
    assert model.score(X, both) == pytest.approx(1.0)
    assert tree(random_state=0).fit(X, both[:, :1]).predict(X).shape == (80,)


def test_score_of_numbers_is_r_squared(X):
    target = X[:, 0] + X[:, 1]
    model = DecisionTreeRegressor(max_depth=2).fit(X, target)
    weight = np.linspace(0, 1, 80)
    for w in (None, weight):
        missed = np.average((target - model.predict(X)) ** 2, weights=w)
        spread = np.average((target - np.average(target, weights=w)) ** 2, weights=w)
        assert model.score(X, target, w) == pytest.approx(1 - missed / spread)
    assert model.score(X, np.full(80, 5.0)) == 0.0
    assert DecisionTreeRegressor().fit(X, np.full(80, 5.0)).score(X, np.full(80, 5.0)) == 1.0


def test_score_of_classes_is_a_weighted_share(X, y):
    model = DecisionTreeClassifier(max_depth=1).fit(X, y)
    right, weight = model.predict(X) == y, np.linspace(0, 1, 80)
    assert model.score(X, y) == pytest.approx(right.mean())
    assert model.score(X, y, weight) == pytest.approx(np.average(right, weights=weight))
    assert model.score(X, ["a word"] * 80) == 0.0


@pytest.mark.parametrize("tree", [DecisionTreeClassifier, DecisionTreeRegressor])
@pytest.mark.parametrize("max_bins", [None, 255])
def test_rows_of_weight_zero_do_not_count(tree, max_bins, X, y):
    weight = np.where(np.arange(80) % 3 == 0, 0.0, 1.0)
    kept = weight > 0
    model = tree(max_bins=max_bins).fit(X, np.where(kept, y, 1), sample_weight=weight)
    assert same(answers(model, X), answers(tree(max_bins=max_bins).fit(X[kept], y[kept]), X))


def test_balanced_classes_weigh_the_same(X):
    y = np.arange(80) >= 70
    tree = DecisionTreeClassifier(class_weight="balanced", max_depth=1).fit(X, y).tree_
    assert tree.value[0, 0] == pytest.approx([0.5, 0.5])


def test_a_constant_target_is_met_exactly(X):
    for value in (0.1, -5.0, 1e150, 5e-324):
        assert set(DecisionTreeRegressor().fit(X, np.full(80, value)).predict(X)) == {value}


def test_poisson_by_name_and_by_object_takes_counts_only(X):
    from dtnumba.criteria.regression import Poisson

    for criterion in ("poisson", Poisson()):
        with pytest.raises(ValueError, match="negative which is not allowed for Poisson"):
            DecisionTreeRegressor(criterion=criterion).fit(X, np.full(80, -1.0))


def test_decision_path_passes_the_root_and_ends_in_the_leaf(X, y):
    pytest.importorskip("scipy")
    model = DecisionTreeClassifier().fit(X, y)
    path = model.decision_path(X)
    assert path.shape == (80, model.n_nodes_)
    assert (path[:, 0].toarray() == 1).all()
    assert (path[np.arange(80), model.apply(X)] == 1).all()


def test_extra_trees_differ_from_decision_trees_in_two_defaults():
    for plain, extra in zip(ALL[:2], ALL[2:], strict=True):
        one, other = plain().get_params(), extra().get_params()
        assert {name for name in one if one[name] != other[name]} == {"splitter", "max_features"}
