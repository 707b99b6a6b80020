"""Trees that take rows and give rows back are, after any calls, the trees of a batch fit of the rows held."""

import copy
import os
import pickle
import tempfile
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.incremental import ID5R
from strategies import interpreted_only, same_trees

import dtnumba
from dtnumba import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    IncrementalTreeClassifier,
    IncrementalTreeRegressor,
    NotFittedError,
    criteria,
    load,
    pruners,
)
from dtnumba.growth.incremental import follow, visit, winner

BATCH = {IncrementalTreeClassifier: DecisionTreeClassifier, IncrementalTreeRegressor: DecisionTreeRegressor}
MOST = int(os.environ.get("DTNUMBA_EXAMPLES", "8"))  # examples of each test
LEARNED = ("classes_", "n_classes_", "n_outputs_", "categories_", "max_features_")


@contextmanager
def everything_is_large():
    """Let small trees take the ways of large ones: tables of codes, columns that are not looked at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(winner, "SORTED_ROWS", 0)
        patch.setattr(visit, "KEPT_ROWS", 8)
        patch.setattr(visit, "FEW_ROWS", 2)
        yield


def batch_of(model, X, y, weight=None):
    """Return the batch tree of some rows, or the error of its fit."""
    names = {*BATCH[type(model)].__dataclass_fields__}
    batch = BATCH[type(model)](**{name: value for name, value in model.get_params(deep=False).items() if name in names})
    return batch.fit(X, y, sample_weight=weight)


def assert_is_batch(model, X, y, weight=None):
    batch = batch_of(model, X, y, weight)
    assert same_trees(model.trees_, batch.trees_)
    for name in LEARNED:
        assert hasattr(model, name) == hasattr(batch, name), name
        one, other = (getattr(it, name, None) for it in (model, batch))
        assert all(map(np.array_equal, one, other)) if isinstance(one, list) else np.array_equal(one, other), name
    assert np.array_equal(model.predict(X), batch.predict(X))


class Program:
    """A model, and the rows that it was given and has not given back."""

    def __init__(self, model, X, y, weight=None):
        self.model, self.X, self.y, self.weight, self.next, self.held = model, X, y, weight, 0, []

    def add(self, n):
        rows = np.arange(self.next, min(self.next + n, len(self.X)))
        if len(rows):
            weight = None if self.weight is None else self.weight[rows]
            if weight is not None and not weight.any():
                weight[0] = self.weight[rows[0]] = 1.0
            self.model.partial_fit(self.X[rows], self.y[rows], sample_weight=weight)
            self.held += rows.tolist()
            self.next += len(rows)

    def forget(self, places, by):
        rows = sorted({self.held[place % len(self.held)] for place in places})
        left = sorted({*self.held} - {*rows})
        if not left or (self.weight is not None and not self.weight[left].any()):
            return
        if by == "ids":
            self.model.forget_ids(rows)
        else:
            self.model.forget(self.X[rows], self.y[rows])
        self.held = self.model.ids_.tolist()

    def through_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            self.model.save(f"{folder}/model")
            self.model = load(f"{folder}/model")

    def check(self):
        held = np.array(self.held)
        assert self.model.ids_.tolist() == self.held
        assert self.model.n_seen_ == self.next
        assert_is_batch(self.model, self.X[held], self.y[held], None if self.weight is None else self.weight[held])


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(1, 12)),
        st.tuples(st.just("add"), st.integers(1, 12)),
        st.tuples(st.sampled_from(["ids", "values"]), st.lists(st.integers(0, 200), min_size=1, max_size=5)),
        st.tuples(st.just("file"), st.none()),
    ),
    min_size=3,
    max_size=9,
)


def table(rng, n, kind):
    """Columns with ties, missing values or categories, a number that hangs on them, and what rows weigh."""
    p = int(rng.integers(1, 4))
    X = rng.integers(0, int(rng.choice([3, 12, 60])), (n, p)).astype(rng.choice([np.float64, np.float32]))
    z = X.sum(axis=1) + rng.normal(size=n) * X.max()
    if kind == "missing":
        X[rng.random(X.shape) < 0.15] = np.nan
    elif kind == "categories":
        X = X.astype(object)
        X[:, 0] = np.array(list("abcdefgh"), object)[X[:, 0].astype(int) % 8]
        X[rng.random(n) < 0.1, 0] = None
    return X, z


def weights_of(rng, n, kind):
    drawn = {"whole": rng.integers(0, 4, n), "real": rng.random(n) * 3, "none": None}[kind]
    if drawn is not None:
        drawn = drawn.astype(float)
        drawn[0] = 1.0
    return drawn


def run(model, data, seed, kind, weight, n_classes):
    rng, n = np.random.default_rng(seed), 70
    X, z = table(rng, n, kind)
    if n_classes:
        places = np.digitize(z, np.quantile(z, [0.3, 0.6, 0.9])) % n_classes
    y = np.array(["no", "yes", "it is", "never"])[places] if n_classes else z
    y = np.abs(y) + 0.1 if model.criterion == "poisson" else y
    program = Program(model, X, y, weights_of(rng, n, weight))
    with everything_is_large():
        program.add(int(rng.integers(2, 40)))
        for action, what in data.draw(STEPS):
            if action == "file":
                program.through_a_file()
            else:
                program.add(what) if action == "add" else program.forget(what, action)
            if model.restructure == "eager" or rng.random() < 0.4:
                program.check()
        program.check()


PLAIN = st.fixed_dictionaries(
    {
        "restructure": st.sampled_from(["eager", "lazy"]),
        "max_depth": st.sampled_from([None, None, 3]),
        "min_samples_leaf": st.sampled_from([1, 1, 3, 0.1]),
        "min_samples_split": st.sampled_from([2, 2, 7]),
    }
)
KINDS = st.sampled_from(["numbers", "numbers", "missing", "categories"])
WEIGHTS = st.sampled_from(["none", "none", "whole", "real"])


@interpreted_only
@given(
    st.data(), st.integers(0, 2**20), PLAIN, KINDS, WEIGHTS,
    st.sampled_from(["gini", "entropy", "gain_ratio", "twoing", "chi2", "error", "mdl"]), st.integers(2, 4),
)  # fmt: skip
@settings(max_examples=MOST)
def test_trees_of_classes_are_batch_trees(data, seed, params, kind, weight, criterion, n_classes):
    run(IncrementalTreeClassifier(criterion=criterion, n_jobs=1, **params), data, seed, kind, weight, n_classes)


@interpreted_only
@given(
    st.data(), st.integers(0, 2**20), PLAIN, KINDS, WEIGHTS,
    st.sampled_from(["squared_error", "squared_error", "friedman_mse", "absolute_error", "poisson"]),
)  # fmt: skip
@settings(max_examples=MOST)
def test_trees_of_numbers_are_batch_trees(data, seed, params, kind, weight, criterion):
    run(IncrementalTreeRegressor(criterion=criterion, n_jobs=1, **params), data, seed, kind, weight, 0)


OTHERS = [
    {"max_leaf_nodes": 5},
    {"max_leaf_nodes": "cv", "random_state": 0},
    {"min_impurity_decrease": 0.02},
    {"min_weight_fraction_leaf": 0.05},
    {"max_features": 1, "random_state": 3},
    {"splitter": "random", "random_state": 3},
    {"max_bins": 4},
    {"min_significance": 0.05},
    {"validation_fraction": 0.3, "random_state": 1},
    {"monotonic_cst": [1, 0, -1]},
    {"interaction_cst": [[0, 1], [2]]},
    {"numeric_split": "interval"},
    {"missing": "branch"},
    {"missing": "majority"},
    {"missing": "fractional"},
    {"missing": "surrogate"},
    {"missing": "error"},
    {"categorical_features": [0]},
    {"categorical_features": [0], "categorical_split": "multiway", "missing": "branch"},
    {"categorical_features": [0], "categorical_split": "one_vs_rest"},
    {"ccp_alpha": 0.01},
    {"prune": "reduced_error", "random_state": 0},
    {"prune": pruners.CostComplexity(cv=3), "random_state": 0},
]
OF_CLASSES = [
    {"class_weight": "balanced"},
    {"class_weight": {0: 2.0, 1: 1.0}},
    {"priors": [0.3, 0.7]},
    {"costs": [[0, 1], [4, 0]]},
    {"costs": [[0, 1], [4, 0]], "criterion": criteria.CostGini},
    {"numeric_split": "multiway"},
    {"prune": "mdl"},
    {"prune": "pessimistic"},
    {"prune": "error_based"},
]


def called_for(params):
    return ", ".join(f"{name}={value!r}" for name, value in params.items())


@interpreted_only
@pytest.mark.parametrize("params", OTHERS + OF_CLASSES, ids=called_for)
@pytest.mark.parametrize("model", [IncrementalTreeClassifier, IncrementalTreeRegressor])
def test_every_parameter_means_what_it_means_to_the_batch_tree(model, params):
    if model is IncrementalTreeRegressor and params in OF_CLASSES:
        params = {"criterion": "absolute_error"}
    rng = np.random.default_rng(5)
    X = rng.integers(0, 9, (60, 3)).astype(float)
    if params.get("missing") not in {"error", None}:
        X[rng.random(X.shape) < 0.1] = np.nan
    z = np.nan_to_num(X) @ [1.0, 0.5, -1.0] + rng.normal(size=60)
    y = (z > 0).astype(int) if model is IncrementalTreeClassifier else z
    program = Program(model(n_jobs=1, **params), X, y)
    program.add(30)
    program.check()
    for n, places in ((1, [3]), (9, [0, 5, 5, 11])):
        program.add(n)
        program.check()
        program.forget(places, "values")
        program.check()


@interpreted_only
@pytest.mark.parametrize("missing", ["branch", "majority", "fractional"])
def test_a_first_missing_value_comes_and_goes(missing):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2))
    X[39, 0] = np.nan
    program = Program(IncrementalTreeClassifier(missing=missing, n_jobs=1), X, (X[:, 1] > 0).astype(int))
    for n in (20, 19, 1):
        program.add(n)
        program.check()
    program.forget([39], "values")
    program.check()


@interpreted_only
def test_parameters_that_change_between_calls_are_heeded():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    program = Program(IncrementalTreeClassifier(n_jobs=1), X, (X.sum(axis=1) + rng.normal(size=60) > 0).astype(int))
    for params in ({}, {"max_depth": 2}, {"criterion": "entropy"}, {"prune": "mdl"}, {"prune": None, "max_bins": 3}):
        program.model.set_params(**params)
        program.add(10)
        program.check()


@interpreted_only
def test_rows_of_weight_zero_are_held_and_count_as_classes_alone():
    X, y = np.arange(7.0)[:, None], np.array(list("aabbcca"))
    weight = np.array([1.0, 1, 1, 1, 0, 0, 2])
    program = Program(IncrementalTreeClassifier(n_jobs=1), X, y, weight)
    program.add(5)
    program.check()
    program.add(2)
    program.check()
    assert program.model.classes_.tolist() == ["a", "b", "c"]
    program.forget([4, 5], "ids")
    program.check()
    assert program.model.classes_.tolist() == ["a", "b"]
    before = program.model.trees_
    with pytest.raises(ValueError, match="all weights are zero"):
        program.model.partial_fit(X[:1], y[:1], sample_weight=[0.0])
    with pytest.raises(ValueError, match="all weights are zero"):
        IncrementalTreeClassifier(n_jobs=1).partial_fit(X, y, sample_weight=weight * 0)
    assert same_trees(before, program.model.trees_)


@interpreted_only
def test_several_outputs_are_followed():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 2))
    pairs = np.stack([X[:, 0] > 0, rng.integers(0, 3, 50)], axis=1)
    numbers = np.stack([X[:, 0], X[:, 1] ** 2], axis=1)
    for model, y in ((IncrementalTreeClassifier, pairs), (IncrementalTreeRegressor, numbers)):
        program = Program(model(n_jobs=1), X, y)
        for n in (30, 1, 12):
            program.add(n)
            program.check()
        program.forget([1, 7, 9], "values")
        program.check()


def test_compiled_trees_of_classes_are_batch_trees():
    """Large enough for tables of codes, and for columns that are not looked at."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 4))
    X[:, 3] = X[:, 3].round(1)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=6000) > 0).astype(int)
    program = Program(IncrementalTreeClassifier(), X, y)
    program.add(5000)
    for k in range(12):
        program.add(1)
        program.forget([37 * k], "values" if k % 2 else "ids")
        if k % 4 == 3:
            program.check()
    program.add(600)
    program.forget(rng.integers(0, 5000, 500), "ids")
    program.check()


def test_compiled_trees_of_numbers_are_batch_trees():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 4))
    program = Program(IncrementalTreeRegressor(min_samples_leaf=3), X, X[:, 0] + X[:, 1] ** 2 + rng.normal(size=4000))
    program.add(3500)
    for k in range(6):
        program.add(1)
        program.forget([37 * k], "ids")
    program.check()
    program.add(300)
    program.check()


def test_any_number_of_threads_leaves_the_same_bits():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 5))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=3000) > 0).astype(int)
    trees = []
    for n_jobs in (1, 2, 3):
        model = IncrementalTreeClassifier(n_jobs=n_jobs).partial_fit(X[:2500], y[:2500])
        for k in range(5):
            model.partial_fit(X[2500 + k : 2501 + k], y[2500 + k : 2501 + k])
        trees.append(model.partial_fit(X[2505:], y[2505:]).forget_ids(np.arange(100)).trees_)
    assert same_trees(trees[0], trees[1])
    assert same_trees(trees[0], trees[2])


# The worked example: columns are windy, rainy and weekend.
WEATHER = [
    ((0, 0, 0), "play"),
    ((0, 0, 1), "play"),
    ((1, 1, 0), "stay"),
    ((1, 0, 1), "play"),
]


def shown(trees, classes, node=0):
    """Return a tree of columns of 0 and 1 as ID5R shows it."""
    if trees.feature[node] < 0:
        counts = np.rint(trees.value[node] * trees.weight[node]).astype(int).tolist()
        return tuple((label, n) for label, n in zip(classes.tolist(), counts, strict=True) if n)
    children = trees.left[node], trees.right[node]
    return (int(trees.feature[node]), *(shown(trees, classes, child) for child in children))


@interpreted_only
def test_the_worked_example_of_id5r():
    """The test of the root gives way to a better one when a row comes, and comes back when the row has gone.

    Of the four rows, windy = 0 holds 2 that play, and windy = 1 one of each: 2 bits are left. rainy = 0 holds 3 that
    play, rainy = 1 one that stays: no bit is left, and rainy is the test of the root. After ((0, 1, 0), play) rainy = 1
    holds one of each, and so does windy = 1: 2 bits both. They are equal, so the first column is pulled up, and rainy
    stands below it.
    """
    tree, model = ID5R(3), IncrementalTreeClassifier(criterion="entropy", n_jobs=1)
    for row, label in WEATHER:
        tree.add(row, label)
        model.partial_fit([row], [label])
    first = (1, (("play", 3),), (("stay", 1),))
    assert tree.shown() == shown(model.trees_, model.classes_) == first
    tree.add((0, 1, 0), "play")
    model.partial_fit([(0, 1, 0)], ["play"])
    second = (0, (("play", 3),), (1, (("play", 1),), (("stay", 1),)))
    assert tree.shown() == shown(model.trees_, model.classes_) == second
    tree.remove((0, 1, 0), "play")
    model.forget([(0, 1, 0)], ["play"])
    assert tree.shown() == shown(model.trees_, model.classes_) == first


@interpreted_only
@given(st.integers(0, 2**20), st.integers(1, 4), st.integers(2, 3))
@settings(max_examples=MOST)
def test_transpositions_lead_to_the_same_tree(seed, n_columns, n_classes):
    rng = np.random.default_rng(seed)
    tree, model, held = ID5R(n_columns), IncrementalTreeClassifier(criterion="entropy", n_jobs=1), []
    for _ in range(25):
        if len(held) > 1 and rng.random() < 0.35:
            row, label = held.pop(int(rng.integers(len(held))))
            tree.remove(row, label)
            model.forget([row], [label])
        else:
            row, label = tuple(rng.integers(0, 2, n_columns).tolist()), "abc"[rng.integers(n_classes)]
            held.append((row, label))
            tree.add(row, label)
            model.partial_fit([row], [label])
        assert shown(model.trees_, model.classes_) == tree.shown()


def few_rows(n=40):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, 3)).round(2)
    return X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)


def fitted(**params):
    X, y = few_rows()
    return IncrementalTreeClassifier(**params).partial_fit(X[:30], y[:30]), X, y


def pandas_of(X):
    return pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c"])


BAD = {
    "a row that never came": (lambda model, X, y: model.forget(X[:1] + 9, y[:1]), "row 0 of X with its y was never"),
    "a row with another label": (lambda model, X, y: model.forget(X[:1], 1 - y[:1]), "was never given, or has gone"),
    "a row with a new label": (lambda model, X, y: model.forget(X[:1], [7]), "was never given, or has gone"),
    "a row twice": (lambda model, X, y: model.forget(X[[3, 5, 3]], y[[3, 5, 3]]), "row 2 .* is held 1 times, and"),
    "a row that went": (lambda model, X, y: model.forget_ids([2]).forget(X[[2]], y[[2]]), "was never given, or has"),
    "an id that never came": (lambda model, X, y: model.forget_ids([30]), "no row with id 30 is held; .*30 of 30"),
    "many ids, and one that never came": (lambda model, X, y: model.forget_ids([*range(20), 99]), "no row with id 99"),
    "an id that went": (lambda model, X, y: model.forget_ids([4]).forget_ids([5, 4]), "no row with id 4 is held"),
    "an id twice": (lambda model, X, y: model.forget_ids([4, 5, 4]), "an id stands there twice"),
    "ids that are none": (lambda model, X, y: model.forget_ids([0.5]), "ids are whole numbers"),
    "ids of two axes": (lambda model, X, y: model.forget_ids([[1, 2]]), "pass a list of ids"),
    "fewer columns": (lambda model, X, y: model.partial_fit(X[:, :2], y), "X has 2 features, .* expecting 3"),
    "fewer columns to forget": (lambda model, X, y: model.forget(X[:3, :2], y[:3]), "X has 2 features"),
    "text in a column of numbers": (
        lambda model, X, y: model.partial_fit(np.array([["a", 1.0, 2.0]], object), [1]),
        "'a'",
    ),
    "labels of another length": (lambda model, X, y: model.partial_fit(X, y[:3]), "inconsistent numbers of samples"),
    "two outputs after one": (lambda model, X, y: model.partial_fit(X, np.stack([y, y], axis=1)), "y has 2 outputs"),
    "no rows": (lambda model, X, y: model.partial_fit(X[:0], y[:0]), "0 sample"),
    "no rows to forget": (lambda model, X, y: model.forget(X[:0], y[:0]), "0 sample"),
    "a weight below zero": (lambda model, X, y: model.partial_fit(X[:1], y[:1], sample_weight=[-1.0]), "Negative"),
    "labels without a value": (lambda model, X, y: model.partial_fit(X[:1], [None]), "row 0 has the label None"),
    "classes of two outputs": (lambda model, X, y: model.partial_fit(X, y, classes=[[0, 1], [2]]), "of 2 outputs"),
    "a parameter out of its range": (lambda model, X, y: model.set_params(max_depth=0).partial_fit(X, y), "max_depth"),
    "a sparse table": (
        lambda model, X, y: model.partial_fit(pytest.importorskip("scipy.sparse").csr_matrix(X), y),
        r"pass X\.toarray",
    ),
}


@interpreted_only
@pytest.mark.parametrize("restructure", ["eager", "lazy"])
@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_an_error_that_changes_nothing(what, restructure):
    model, X, y = fitted(n_jobs=1, restructure=restructure)
    call, words = BAD[what]
    gone = {"a row that went": [2], "an id that went": [4]}.get(what, [])
    with pytest.raises((ValueError, TypeError), match=words):
        call(model, X, y)
    model.set_params(max_depth=None)
    held = [k for k in range(30) if k not in gone]
    assert model.ids_.tolist() == held
    assert model.n_seen_ == 30
    assert_is_batch(model, X[held], y[held])
    model.partial_fit(X[30:], y[30:])
    held += range(30, 40)
    assert_is_batch(model, X[held], y[held])


@interpreted_only
def test_float64_after_float32_is_an_error_and_the_other_way_is_not():
    X, y = few_rows()
    model = IncrementalTreeClassifier().partial_fit(X[:30].astype(np.float32), y[:30])
    with pytest.raises(ValueError, match="float64, and the first rows were float32"):
        model.partial_fit(X[30:], y[30:])
    model = IncrementalTreeClassifier().partial_fit(X[:30], y[:30]).partial_fit(X[30:].astype(np.float32), y[30:])
    assert_is_batch(model, np.concatenate([X[:30], X[30:].astype(np.float32)]), y)


def test_names_of_columns_are_those_of_the_first_call():
    X, y = few_rows()
    frame = pandas_of(X)
    model = IncrementalTreeClassifier().partial_fit(frame[:30], y[:30]).partial_fit(frame[30:], y[30:])
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert_is_batch(model, frame, y)
    with pytest.raises(ValueError, match="names"):
        model.partial_fit(frame.rename(columns={"a": "x"}), y)


def test_without_rows_it_is_unfitted_and_knows_its_columns():
    model, X, y = fitted()
    model.forget(X[:30], y[:30])
    assert model.ids_.tolist() == []
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(ValueError, match="holds no rows: call partial_fit first"):
        model.forget_ids([1])
    with pytest.raises(ValueError, match="X has 2 features"):
        model.partial_fit(X[:, :2], y)
    model.partial_fit(X, y)
    assert model.ids_.tolist() == list(range(30, 70))
    assert_is_batch(model, X, y)
    with pytest.raises(ValueError, match="holds no rows"):
        IncrementalTreeClassifier().forget(X, y)
    assert model.fit(X[:, :2], y).n_features_in_ == 2  # a fit forgets the columns, too


@interpreted_only
def test_rows_alike_go_the_oldest_first():
    X, y = np.array([[1.0], [-0.0], [1.0], [np.nan], [1.0], [np.nan]]), [0, 1, 0, 1, 0, 1]
    model = IncrementalTreeClassifier().partial_fit(X, y).forget([[1.0]], [0])
    assert model.ids_.tolist() == [1, 2, 3, 4, 5]
    assert model.forget([[1.0], [0.0], [np.nan]], [0, 1, 1]).ids_.tolist() == [4, 5]


@interpreted_only
def test_announced_classes_count_and_others_may_come_all_the_same():
    X, _ = few_rows()
    model = IncrementalTreeClassifier().partial_fit(X[:5], ["b"] * 5, classes=["c", "b", "a"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict_proba(X[:2]).tolist() == [[0.0, 1.0, 0.0]] * 2
    model.partial_fit(X[5:9], ["a", "x", "a", "x"])
    assert model.classes_.tolist() == ["a", "b", "c", "x"]
    model.forget_ids([6, 8])
    assert model.classes_.tolist() == ["a", "b", "c"]
    with pytest.raises(TypeError, match="learns numbers"):
        IncrementalTreeRegressor().partial_fit(X[:5], X[:5, 0], classes=[1, 2])


@interpreted_only
def test_new_levels_arrive_and_levels_go():
    colours = np.array([[c] for c in ["red", "blue", "red", "green", "blue", "grey"]], object)
    program = Program(IncrementalTreeClassifier(), colours, np.array([1, 0, 1, 0, 0, 1]))
    for n in (2, 2, 2):
        program.add(n)
        program.check()
    assert program.model.categories_[0].tolist() == ["blue", "green", "grey", "red"]
    program.forget([3], "values")
    program.check()
    assert program.model.categories_[0].tolist() == ["blue", "grey", "red"]


INTERRUPTED = {
    "partial_fit": lambda model, X, y: model.partial_fit(X[30:40], 1 - y[30:40]),
    "forget": lambda model, X, y: model.forget(X[:3], y[:3]),
    "forget_ids": lambda model, X, y: model.forget_ids([3, 4]),
}


@interpreted_only
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", INTERRUPTED)
def test_an_interrupt_leaves_the_state_before(name, when, monkeypatch):
    model, X, y = fitted(n_jobs=1)
    before, change = model.trees_, follow.FollowedTree.change

    def interrupted(tree, came, went, ranks):
        if when == "after":
            change(tree, came, went, ranks)
        raise KeyboardInterrupt

    monkeypatch.setattr(follow.FollowedTree, "change", interrupted)
    with pytest.raises(KeyboardInterrupt):
        INTERRUPTED[name](model, X, y)
    monkeypatch.undo()
    assert model.ids_.tolist() == list(range(30))
    assert model.n_seen_ == 30
    assert same_trees(model.trees_, before)
    INTERRUPTED["partial_fit"](model, X, y)
    INTERRUPTED["forget_ids"](model, X, y)
    held = model.ids_
    assert_is_batch(model, X[held], np.concatenate([y[:30], 1 - y[30:]])[held])


@interpreted_only
def test_an_interrupt_of_a_lazy_tree_leaves_the_rows(monkeypatch):
    model, X, y = fitted(n_jobs=1, restructure="lazy")
    model.predict(X)
    model.forget_ids([29])

    def interrupted(tree, came, went, ranks):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(follow.FollowedTree, "change", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.predict(X)
    assert_is_batch(model, X[:29], y[:29])
    model.partial_fit(X[29:], y[29:]).forget_ids([0])
    assert_is_batch(model, X[1:], y[1:])


@interpreted_only
def test_an_interrupt_of_a_fit_leaves_the_state_before(monkeypatch):
    model, X, y = fitted(n_jobs=1)
    before = model.trees_

    def interrupted(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(DecisionTreeClassifier, "fit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert model.ids_.tolist() == list(range(30))
    assert same_trees(model.trees_, before)


def test_lazy_trees_follow_when_somebody_asks(monkeypatch):
    model, X, y = fitted(restructure="lazy")
    assert model.predict(X).shape == (40,)
    n_changes, change = [], follow.FollowedTree.change
    monkeypatch.setattr(follow.FollowedTree, "change", lambda *given: n_changes.append(1) or change(*given))
    for k in range(5):
        model.partial_fit(X[30 + k : 31 + k], y[30 + k : 31 + k]).forget_ids([k])
    assert n_changes == []
    assert_is_batch(model, X[5:35], y[5:35])
    assert len(n_changes) == 1


@interpreted_only
@pytest.mark.parametrize("how", ["pickle", "copy", "deepcopy", "file", "compact file"])
@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_a_copy_goes_on_by_itself(how, kind, tmp_path):
    X, y = few_rows()
    if kind == "categories":
        X = X.astype(object)
        X[:, 1] = np.array(["b", "a", "c", None], object)[np.arange(40) % 4]
    model = IncrementalTreeClassifier().partial_fit(X[:30], y[:30], classes=[0, 1, 2]).forget_ids([3])
    if "file" in how:
        model.save(tmp_path / "model", compact=how == "compact file")
        other = load(tmp_path / "model")
    else:
        other = {"pickle": lambda it: pickle.loads(pickle.dumps(it))}.get(how, getattr(copy, how, None))(model)  # noqa: S301
    assert np.array_equal(other.predict_proba(X), model.predict_proba(X))
    before = model.trees_
    other.partial_fit(X[30:], y[30:]).forget(X[:2], y[:2])
    held = [k for k in range(40) if k not in {0, 1, 3}]
    assert other.ids_.tolist() == held
    assert other.classes_.tolist() == [0, 1, 2]
    assert model.ids_.tolist() == [k for k in range(30) if k != 3]
    assert same_trees(model.trees_, before)
    model.partial_fit(X[30:], y[30:]).forget_ids([0, 1])
    assert same_trees(model.trees_, other.trees_)


def test_a_pruned_copy_is_smaller_and_the_model_goes_on():
    model, X, y = fitted()
    pruned = model.prune("simplify")
    assert pruned.n_nodes_ <= model.n_nodes_
    model.partial_fit(X[30:], y[30:])
    assert_is_batch(model, X, y)
    assert pruned.ids_.tolist() == list(range(30))
    assert not hasattr(dtnumba.IncrementalTreeClassifier(), "tree_")
