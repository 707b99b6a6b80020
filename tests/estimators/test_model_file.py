"""Every learner goes into a file and comes back; the learners are those that the package shows."""

import copy
import datetime as dt
import enum
import os
import pickle
import tempfile
import uuid
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from strategies import interpreted_only

import dtnumba
from dtnumba import ModelFileError, criteria, load, pruners
from dtnumba.estimators.incremental.held_rows import HeldRows
from dtnumba.estimators.model_file import LEARNERS
from dtnumba.growth.hoeffding import stored_stream
from dtnumba.growth.hoeffding.stream_tree import StreamTree
from dtnumba.model_files import container, few_rows
from dtnumba.prediction.forest_view import ForestView
from dtnumba.prediction.tree_view import TreeView
from dtnumba.rules.view import RuleList
from dtnumba.tables.costs import LeastCost
from dtnumba.trees.sparse_rows import SparseValues

X = np.random.default_rng(0).normal(size=(120, 4)).round(1)
X[::7, 1] = np.nan
Z = X[:, 0] + np.nan_to_num(X[:, 1]) * X[:, 2]
Y = np.array(["low", "middle", "high"])[np.digitize(Z, [-0.5, 0.5])]
MIXED = np.array([[["red", "blue", "green", None][int(a * 10) % 4], b, c] for a, b, c in X[:, [3, 0, 2]]], object)
STREAM = {"approximate": True, "grace_period": 5, "delta": 0.5, "tie_threshold": 0.3}
FEW = {"n_estimators": 4, "random_state": 3}
# A way to make each learner: parameters, table, target.
CASES = {
    "C45Classifier": [({}, X, Y), ({}, MIXED, Y), ({"subset": True, "laplace": True}, MIXED, Y)],
    "C50Classifier": [
        ({}, X, Y),
        ({}, MIXED, Y),
        ({"subset": False, "costs": [[0, 1, 2], [3, 0, 1], [2, 2, 0]]}, MIXED, Y),
        ({"trials": 3}, MIXED, Y),
        ({"rules": True, "bands": 2}, MIXED, Y),
        ({"rules": True, "trials": 3, "winnow": True}, X, Y),
    ],
    "CHAIDClassifier": [({"min_parent": 6, "min_child": 3}, MIXED, Y)],
    "CHAIDRegressor": [({"min_parent": 6, "min_child": 3}, MIXED, Z)],
    "DecisionGraphClassifier": [
        ({}, X, Y),
        ({"method": "merge", "costs": [[0, 1, 2], [3, 0, 1], [2, 2, 0]]}, MIXED, Y),
        ({"method": "oblivious", "class_weight": "balanced"}, MIXED, Y),
        ({}, np.zeros((4, 1)), [1, 2, 1, 2]),
    ],
    "DecisionListClassifier": [({}, X, Y), ({"max_tests": 1}, MIXED, Y)],
    "DecisionTreeClassifier": [
        ({}, X, Y),
        ({"max_depth": 3, "criterion": "entropy"}, MIXED, Y),
        ({"missing": "surrogate"}, X, Y),
        ({"missing": "fractional", "prune": pruners.Pessimistic()}, X, Y),
        ({"categorical_split": "multiway", "missing": "branch"}, MIXED, Y),
        ({"numeric_split": "interval", "max_depth": 4}, np.nan_to_num(X), Y),
        ({"costs": [[0, 1, 2], [3, 0, 1], [2, 2, 0]], "criterion": criteria.CostGini}, X, Y),
        ({"max_leaf_nodes": "cv", "random_state": np.random.default_rng(1)}, X, Y),
        ({"class_weight": {"low": 2.5}, "random_state": np.random.RandomState(2)}, X, Y),
        ({}, X, np.stack([Y, Y == "low"], axis=1)),
        ({}, np.zeros((4, 1)), [1, 2, 1, 2]),
    ],
    "DecisionTreeRegressor": [({}, X, Z), ({"criterion": "absolute_error"}, X, Z), ({}, X, np.stack([Z, -Z], axis=1))],
    "ExtraTreeClassifier": [({"random_state": 1}, X, Y)],
    "ExtraTreeRegressor": [({"random_state": 1}, MIXED, Z)],
    "ExtraTreesClassifier": [(FEW, X, Y)],
    "ExtraTreesRegressor": [(FEW, X, Z)],
    "ID3Classifier": [({}, MIXED, Y), ({"measure": "gini", "prune": "pessimistic"}, X, Y)],
    "IncrementalTreeClassifier": [
        ({}, X, Y),
        ({"restructure": "lazy", "max_depth": 3}, MIXED, Y),
        ({"max_leaf_nodes": "cv", "random_state": 0, "costs": [[0, 1, 2], [3, 0, 1], [2, 2, 0]]}, X, Y),
        ({}, X.astype(np.float32), np.stack([Y, Y == "low"], axis=1)),
        (STREAM, X, Y),
        (STREAM | {"drift": "handled", "criterion": "entropy", "max_bytes": 1 << 15}, MIXED, Y),
        (STREAM | {"drift": "shown", "leaf_prediction": "majority", "max_depth": 1}, X, Y),
    ],
    "IncrementalTreeRegressor": [
        ({}, X, Z),
        ({"criterion": "absolute_error"}, MIXED, Z),
        (STREAM, MIXED, Z),
    ],
    "MARSClassifier": [
        ({"missing": "indicator", "max_degree": 2}, X, Y),
        ({"missing": "indicator", "class_weight": "balanced"}, MIXED, Y == "low"),
        ({"prune": "cv", "n_folds": 3, "missing": "indicator"}, X, np.where(Y == "low", "low", "other")),
        ({}, np.zeros((4, 1)), [1, 1, 1, 1]),
    ],
    "MARSRegressor": [
        ({"missing": "indicator", "max_degree": 2, "allowed": [[0, 2], [1, 3]]}, X, Z),
        ({"missing": "indicator", "penalty": -1, "linear_features": [1]}, MIXED, np.stack([Z, -Z], axis=1)),
    ],
    "ObliqueForestClassifier": [(FEW | {"max_depth": 3}, X, Y)],
    "ObliqueForestRegressor": [(FEW | {"max_depth": 3}, X, Z)],
    "ObliqueTreeClassifier": [
        ({"search": "lda", "max_depth": 3}, X, Y),
        ({"search": "random", "max_terms": 2, "random_state": 1, "max_depth": 3}, MIXED, Y),
    ],
    "ObliqueTreeRegressor": [({"search": "ridge", "max_depth": 3}, X, Z)],
    "OptimalTreeClassifier": [
        ({"max_depth": 2}, X, Y),
        ({"max_depth": 2, "objective": "bound", "costs": [[0, 1, 2], [3, 0, 1], [2, 2, 0]]}, MIXED, Y),
    ],
    "OptimalTreeRegressor": [({"max_depth": 2, "thresholds": 5, "complexity": 0.01}, MIXED, Z)],
    "RandomForestClassifier": [
        (FEW, X, Y),
        (FEW | {"voting": "hard", "class_weight": "balanced_subsample"}, MIXED, Y),
        (FEW | {"oob_score": True, "importance": "permutation", "n_estimators": 30}, X, Y),
        (FEW | {"costs": [[0, 1, 2], [3, 0, 1], [2, 2, 0]], "replace": False, "max_samples": 0.5}, X, Y),
        (FEW | {"categorical_split": "multiway"}, MIXED, Y),
        (FEW | {"bootstrap": False, "max_features": None}, X, np.stack([Y, Y == "low"], axis=1)),
        (FEW | {"bootstrap": "by_row"}, MIXED, Y),
    ],
    "RandomForestRegressor": [(FEW | {"oob_score": True, "n_estimators": 30}, X, Z), (FEW, MIXED, Z)],
    "RuleSetClassifier": [({}, X, Y), ({"resolve": "confidence", "select": None}, MIXED, Y)],
}
DERIVED = {"_by_row"}  # what a model makes again of the rest where it is asked for it
# Their kernels are compiled once, by their first case; those of forests by the cases without categories.
SLOW = ("DecisionGraph", "Oblique", "Optimal")
SLOW_OF_CATEGORIES = ("RandomForest",)


def is_slow(name, i):
    return i > 0 and name.startswith(SLOW + SLOW_OF_CATEGORIES * (CASES[name][i][1] is MIXED))


MODELS = [
    pytest.param(name, i, id=f"{name}-{i}", marks=interpreted_only if is_slow(name, i) else [])
    for name, cases in CASES.items()
    for i in range(len(cases))
]


def made(name, i):
    params, table, target = CASES[name][i]
    return getattr(dtnumba, name)(**copy.deepcopy(params)).fit(table, target), table, target


def public_learners():
    shown = {name: getattr(dtnumba, name) for name in dtnumba.__all__}
    return {name for name, one in shown.items() if isinstance(one, type) and hasattr(one, "get_params")}


def test_every_learner_is_stored_and_tested():
    assert set(LEARNERS) == set(CASES) == public_learners()


def same(one, other):
    """Tell whether two values are of one type and one value, to the bit."""
    for view in (TreeView, ForestView):
        if isinstance(one, view) and isinstance(other, view):
            return same(one.__reduce__()[1], other.__reduce__()[1])
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        return one.tolist() == other.tolist() if one.dtype.kind == "O" else one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.random.Generator):
        return same(one.bit_generator.state, other.bit_generator.state)
    if isinstance(one, np.random.RandomState):
        return same(one.get_state(), other.get_state())
    if isinstance(one, (RuleList, SparseValues)):
        return same(one.__reduce__()[1], other.__reduce__()[1])
    if isinstance(one, HeldRows):
        of = HeldRows.stored_columns if one.slots is None else HeldRows.stored
        return same(of(one), of(other))
    if isinstance(one, StreamTree):
        return same(stored_stream.stored(one), stored_stream.stored(other))
    if isinstance(one, (LeastCost, pruners.Pruner)):
        return same(vars(one), vars(other))
    return one == other or one != one


def assert_same_answers(model, again, table, target):
    asked = {"predict", "predict_proba", "apply", "predict_log_proba"} & set(dir(model))
    if "trial_trees_" in vars(model) and not hasattr(model, "tree_"):  # several trees have no leaf of a row
        asked -= {"apply"}
    for name in sorted(asked):
        assert same(getattr(model, name)(table), getattr(again, name)(table)), name
    assert model.score(table, target) == again.score(table, target)
    for name in (
        "feature_importances_",
        "n_leaves_",
        "n_rules_",
        "depth_",
        "costs_",
        "importances_std_",
        "cv_errors_",
        "sizes_",
    ):
        if name in dir(type(model)):
            try:
                wanted = getattr(model, name)
            except AttributeError:
                continue
            assert same(wanted, getattr(again, name)), name


@pytest.mark.parametrize(("name", "i"), MODELS)
def test_a_model_comes_back_to_the_bit(name, i, tmp_path):
    model, table, target = made(name, i)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert type(again) is type(model)
    learned = {one: value for one, value in vars(model).items() if one not in DERIVED}
    assert vars(again).keys() == learned.keys()
    for one, value in learned.items():
        assert same(value, vars(again)[one]), one
    assert_same_answers(model, again, table, target)
    copied = pickle.loads(pickle.dumps(again))  # noqa: S301  our own bytes
    assert_same_answers(model, copied, table, target)
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


@pytest.mark.parametrize(("name", "i"), MODELS)
def test_a_compact_file_predicts_the_same(name, i, tmp_path):
    model, table, _ = made(name, i)
    model.save(tmp_path / "model", compact=True)
    again = load(tmp_path / "model")
    assert same(model.predict(table), again.predict(table))
    if hasattr(model, "compact") and not model.trees_.may_stay and not hasattr(model, "adds_prior"):
        assert again.trees_.is_compact
        assert not model.trees_.is_compact
        assert same(model.compact().trees_, again.trees_)


@pytest.mark.parametrize("name", sorted(CASES))
def test_what_a_fitted_model_can_do_a_loaded_one_can(name, tmp_path):
    model, table, target = made(name, 0)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    if hasattr(model, "to_rules") and not model.trees_.has_sums:
        assert str(model.to_rules().rules_) == str(again.to_rules().rules_)
    if callable(getattr(model, "prune", None)):
        assert same(model.prune("simplify").trees_, again.prune("simplify").trees_)
    if hasattr(model, "compile_predictor") and model.trees_.is_two_way:
        row = np.array([0.5, 1.0, -0.5, 2.0][: len(table[0])])
        assert same(model.compile_predictor()(row), again.compile_predictor()(row))
    if hasattr(model, "estimators_samples_"):
        assert same(model.estimators_samples_, again.estimators_samples_)
        assert same([t.trees_ for t in model.estimators_], [t.trees_ for t in again.estimators_])
        for one in (model, again):
            one.set_params(n_estimators=len(one) + 2, warm_start=True).fit(table, target)
    else:
        for one in (model, again):
            one.fit(table, target)
    assert same(model.predict(table), again.predict(table))


def impurity(stats, weight):
    return 1.0 - max(stats) / weight


class Ours(NamedTuple):
    """A criterion of a user."""

    q: float = 2.0

    def impurity(self, stats, weight):
        total = 0.0
        for k in range(len(stats)):
            total += (stats[k] / weight) ** self.q
        return 1.0 - total


@pytest.mark.parametrize("criterion", [impurity, Ours(2.0), Ours])
def test_a_criterion_of_a_user_is_named_and_asked_for_by_fit(criterion, tmp_path):
    model = dtnumba.DecisionTreeClassifier(criterion=criterion, max_depth=2).fit(X, Y)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert same(model.predict(X), again.predict(X))
    with pytest.raises(ValueError, match=r"criterion of this .* was .*(impurity|Ours).*set_params\(criterion=\.\.\.\)"):
        again.fit(X, Y)
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    assert same(again.set_params(criterion=criterion).fit(X, Y).predict(X), model.predict(X))


@pytest.mark.skipif(os.name != "posix", reason="a file that is mapped cannot be replaced")
@pytest.mark.parametrize("name", ["DecisionTreeClassifier", "RandomForestClassifier"])
@pytest.mark.parametrize("first", ["nothing", "a row", "the trees"])
def test_a_model_is_saved_over_the_file_that_it_is_read_from(name, first, tmp_path, monkeypatch):
    monkeypatch.setattr(container, "_SMALL", 0)
    monkeypatch.setattr(few_rows, "_NODES_A_ROW", 0.1)
    path = tmp_path / "model"
    model = getattr(dtnumba, name)(random_state=0).fit(X, Y)
    model.save(path)
    whole, again, other = path.read_bytes(), load(path), load(path)
    if first == "a row":
        assert same(again.predict_proba(X[:1]), model.predict_proba(X[:1]))
    elif first == "the trees":
        assert same(again.trees_, model.trees_)
    again.save(path)
    assert path.read_bytes() == whole
    again.save(path, compact=True)
    assert path.read_bytes() != whole
    for one in (again, other):
        assert_same_answers(model, one, X, Y)
        assert same(one.trees_, model.trees_)
    assert same(load(path).predict_proba(X), model.predict_proba(X))
    assert [one.name for one in tmp_path.iterdir()] == ["model"]


def test_parameters_of_every_kind_come_back(tmp_path):
    given = {
        "max_depth": np.int64(3),
        "min_impurity_decrease": 1e-3,
        "class_weight": {"low": 1, "high": np.float32(2.5), ("a", 1): None},
        "monotonic_cst": None,
        "categorical_features": np.array([False, True, False, False]),
        "interaction_cst": [(0, 1), [2, "länge"]],
        "priors": np.array([0.25, 0.25, 0.5]),
        "costs": {("low", "high"): float("inf"), "low": {"middle": -0.0}},
        "random_state": (1 << 64) - 1,
        "prune": pruners.ErrorBased(confidence=0.1),
    }
    model = dtnumba.DecisionTreeClassifier().fit(X, Y).set_params(**given)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    for name, value in given.items():
        assert same(value, vars(again)[name]), name
    assert {field.name for field in fields(again)} == set(again.get_params(deep=False))


@pytest.mark.parametrize(("name", "is_refused"), [("n_jobs", True), ("missing", True), ("random_state", False)])
def test_what_prediction_looks_at_may_not_be_absent(name, is_refused, tmp_path):
    path = tmp_path / "model"
    dtnumba.DecisionTreeClassifier(max_depth=2).fit(X, Y).save(path)
    content = container.read(path)
    content.header["parameters"][name] = {"absent": "a function of a stranger"}
    held = {array: np.array(content.array(array)) for array in content.arrays}
    container.write(path, content.header, held)
    if is_refused:
        with pytest.raises(ModelFileError, match=name):
            load(path)
    else:
        load(path).predict(X)


def test_groups_that_are_sets_are_there_for_the_next_fit(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    model = dtnumba.DecisionTreeClassifier(interaction_cst=[{3, 0}, frozenset({1, 2})]).fit(X, Y)
    model.save(one)
    again = load(one)
    assert repr(again) == repr(model)
    again.save(other)
    assert other.read_bytes() == one.read_bytes()
    assert_same_answers(model, again.fit(X, Y), X, Y)


DAYS = [dt.date(2020, 1, 1), dt.date(2021, 2, 3)]
MOMENTS = [dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc), dt.datetime(2020, 1, 1, 1, 2, 3, 4, tzinfo=dt.timezone.utc)]
AMOUNTS = [Decimal("1.10"), Decimal("2E+3")]
LABELS = {
    "int": np.array([1, 2]),
    "bool": np.array([True, False]),
    "float32": np.array([0.0, -1.0], np.float32),
    "text": np.array(["ß", "\U0001f332" * 3]),
    "str": ["a", "ß"],
    "uint8": np.array([1, 2], np.uint8),
    "days": np.array(["2020-01-01", "2021-01-01"], "M8[D]"),
    "ns": np.array([1, 2], "M8[ns]"),
    "25 us": np.array([1, 2], "M8[25us]"),
    "duration": np.array([1, 2], "m8[s]"),
    "big-endian int": np.array([1, 2], ">i4"),
    "big-endian float": np.array([1, 2], ">f8"),
    "big-endian text": np.array(["a", "b"], ">U3"),
    "big-endian moment": np.array([1, 2], ">M8[s]"),
    "bytes": np.array([b"\xff\x00", b""], object),
    "frozenset": np.array([frozenset({1}), frozenset()], object),
    "date": DAYS,
    "datetime": [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 1, 2, 3, 4)],  # noqa: DTZ001  of no zone
    "datetime of a zone": MOMENTS,
    "time": [dt.time(1), dt.time(2, 3)],
    "timedelta": [dt.timedelta(1), dt.timedelta(-1, 3, 7)],
    "Decimal": AMOUNTS,
    "Fraction": [Fraction(1, 2), Fraction(2, 3)],
    "UUID": [uuid.UUID(int=1), uuid.UUID(int=2)],
    "several kinds": [DAYS[0], AMOUNTS[0]],
    "in tuples": [(1, DAYS[0]), (2, AMOUNTS[1])],
}
if hasattr(np.dtypes, "StringDType"):
    LABELS["StringDType"] = np.array(["a", "ß"], np.dtypes.StringDType())


def repeated(labels):
    if isinstance(labels, np.ndarray):
        return np.concatenate([labels, labels])
    array = np.empty(4, object)
    array[:] = labels + labels
    return array


def assert_same_labels(one, other):
    assert one.dtype == other.dtype
    assert [(type(label), repr(label)) for label in one] == [(type(label), repr(label)) for label in other]


@pytest.mark.parametrize("name", LABELS)
def test_labels_keep_their_type(name, tmp_path):
    labels, rows = repeated(LABELS[name]), [[0.0], [1.0], [2.0], [3.0]]
    first = labels[0].item() if isinstance(labels[0], np.generic) else labels[0]
    model = dtnumba.DecisionTreeClassifier(class_weight={first: 2.0}).fit(rows, labels)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert_same_labels(model.classes_, again.classes_)
    assert_same_labels(model.predict(rows), again.predict(rows))
    assert repr(again.class_weight) == repr(model.class_weight)
    assert again.score(rows, labels) == model.score(rows, labels)


@pytest.mark.parametrize("name", ["date", "datetime", "datetime of a zone", "time", "timedelta", "Decimal", "Fraction",
                                  "UUID", "bytes", "frozenset", "in tuples"])  # fmt: skip
def test_levels_keep_their_type(name, tmp_path):
    table = repeated(LABELS[name])[:, None]
    model = dtnumba.DecisionTreeClassifier(categorical_features=[0]).fit(table, [0, 1, 0, 1])
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert_same_labels(model.categories_[0], again.categories_[0])
    assert again.predict(table).tolist() == [0, 1, 0, 1]


def test_labels_and_levels_of_pandas_keep_their_type(tmp_path):
    pd = pytest.importorskip("pandas")
    moments = pd.Series(pd.to_datetime(["2020-01-01", "2021-07-01"] * 6))
    columns = {
        "cut": pd.cut(np.arange(12.0), 3),
        "of days": pd.cut(moments, 2),
        "moment": moments,
        "here": moments.dt.tz_localize("Europe/Berlin"),
        "lasting": pd.to_timedelta([1, 2] * 6),
        "year": pd.PeriodIndex(["2020", "2021"] * 6, freq="Y"),
    }
    for column in columns.values():
        X = pd.DataFrame({"c": column})
        y = np.asarray(X["c"].astype(object))
        model = dtnumba.DecisionTreeClassifier(categorical_features=["c"]).fit(X, y)
        model.save(tmp_path / "model")
        again = load(tmp_path / "model")
        assert_same_labels(model.classes_, again.classes_)
        assert_same_labels(model.categories_[0], again.categories_[0])
        assert_same_labels(model.predict(X), again.predict(X))


def test_many_levels_that_are_dates_are_no_part_of_the_header(tmp_path):
    days = np.array([dt.date.fromordinal(700_000 + i) for i in range(60_000)], object)
    model = dtnumba.DecisionTreeClassifier(categorical_features=[0], max_depth=1)
    model.fit(days[:, None], np.arange(60_000) % 2)
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").categories_[0].tolist() == days.tolist()


def test_labels_of_an_enum_are_refused(tmp_path):
    kind = enum.Enum("Kind", "small large")
    labels = np.array([kind.small, kind.large], object)
    model = dtnumba.DecisionTreeClassifier().fit([[0.0], [1.0]], labels)
    with pytest.raises(TypeError, match=r"classes_ of this DecisionTreeClassifier holds .*Kind.*it holds numbers"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["days", "ns", "date", "Decimal", "duration", "UUID"])
@pytest.mark.parametrize("format_", ["json", "sql", "python"])
def test_formats_that_have_no_such_labels_refuse_them(name, format_):
    model = dtnumba.DecisionTreeClassifier().fit([[0.0], [1.0], [2.0], [3.0]], repeated(LABELS[name]))
    with pytest.raises(dtnumba.export.ExportError, match="is a category or a class of the type"):
        getattr(dtnumba.export, format_)(model)


def test_a_model_that_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(dtnumba.NotFittedError):
        dtnumba.DecisionTreeClassifier().save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_class_of_a_user_is_refused(tmp_path):
    class Stump(dtnumba.DecisionTreeClassifier):
        pass

    with pytest.raises(TypeError, match="Stump is no class of dtnumba"):
        Stump().fit(X, Y).save(tmp_path / "model")


def test_what_is_no_model_file_is_said_so(tmp_path):
    path = tmp_path / "model"
    for content, words in [(b"", "it is empty"), (b"x" * 40, "fewer than"), (b"PK" * 90, "does not begin")]:
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=words) as error:
            load(path)
        assert str(path) in str(error.value)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(IsADirectoryError, match="is a folder"):
        dtnumba.DecisionTreeClassifier().fit(X, Y).save(tmp_path)
    with pytest.raises(TypeError, match="path"):
        load(b"bytes")


NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e300, 1e300), st.sampled_from([np.nan, -0.0, np.inf]))
WEIGHTS = st.one_of(st.integers(1, 5).map(float), st.floats(1e-3, 1e3))


@given(data=st.data(), mapped=st.booleans(), compact=st.booleans())
@settings(max_examples=60)
def test_trees_and_forests_of_any_table_come_back(data, mapped, compact):
    n = data.draw(st.integers(2, 25))
    rows = data.draw(arrays(np.float64, (n, 2), elements=NUMBERS))
    weight = data.draw(st.none() | arrays(np.float64, n, elements=WEIGHTS))
    number = data.draw(arrays(np.float64, n, elements=st.floats(-1e6, 1e6) | st.sampled_from([0.0, -0.0])))
    label = data.draw(arrays(np.int64, n, elements=st.integers(0, 3)))
    missing = data.draw(st.sampled_from(["learned", "fractional", "surrogate", "majority", "branch"]))
    params = {"random_state": 0, "missing": missing, "n_jobs": 1}
    forest = {"n_estimators": 2} | params
    model, target = data.draw(
        st.sampled_from(
            [
                (dtnumba.DecisionTreeClassifier(**params), label),
                (dtnumba.DecisionTreeRegressor(**params), number),
                (dtnumba.RandomForestClassifier(**forest), label),
                (dtnumba.RandomForestRegressor(**forest), number),
                (dtnumba.RandomForestClassifier(**forest), np.stack([label, label > 1], axis=1)),
            ]
        )
    )
    model.fit(rows, target, weight)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(container, "_SMALL", 0 if mapped else 1 << 22)
        patch.setattr(few_rows, "_NODES_A_ROW", 0.1)
        model.save(Path(folder) / "model", compact=compact)
        again = load(Path(folder) / "model")
        assert same(model.predict(rows), again.predict(rows))
        assert same(model.apply(rows), again.apply(rows))
        assert same((model.compact() if compact else model).trees_, again.trees_)
        assert same(model.predict(rows), again.predict(rows))
