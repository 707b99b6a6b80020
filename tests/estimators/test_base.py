import copy
import inspect
import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import dtnumba
from dtnumba import (
    C45Classifier,
    C50Classifier,
    DecisionListClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeRegressor,
    ID3Classifier,
    NotFittedError,
    RandomForestClassifier,
    RuleSetClassifier,
    bin_batches,
)
from dtnumba.estimators.bases.estimator import not_fitted


def test_parameters_come_back_as_they_were_given():
    given = {"max_depth": np.int64(3), "class_weight": {"a": 2}, "random_state": np.random.RandomState(0)}
    model = DecisionTreeClassifier(**given)
    assert all(model.get_params()[name] is value for name, value in given.items())
    assert DecisionTreeClassifier(**model.get_params()).get_params() == model.get_params()


def test_parameters_are_keywords_only():
    with pytest.raises(TypeError, match="positional"):
        DecisionTreeClassifier("gini")


def test_parameters_are_not_looked_at_before_fit():
    assert DecisionTreeClassifier(max_depth="deep").max_depth == "deep"


def test_parameters_are_set_by_name():
    model = DecisionTreeClassifier()
    assert model.set_params(max_depth=2, criterion="entropy") is model
    assert (model.max_depth, model.criterion) == (2, "entropy")
    words = r"Invalid parameter 'depth' for estimator DecisionTree.*Valid parameters are: \['categ"
    with pytest.raises(ValueError, match=words):
        model.set_params(depth=2)


def test_parameters_of_nested_estimators_are_reached():
    inner = DecisionTreeRegressor()
    model = DecisionTreeClassifier(criterion=inner)
    assert model.get_params()["criterion__max_depth"] is None
    assert "criterion__max_depth" not in model.get_params(deep=False)
    model.set_params(criterion__max_depth=4)
    assert inner.max_depth == 4


def test_repr_shows_what_differs_from_the_defaults():
    assert repr(DecisionTreeClassifier()) == "DecisionTreeClassifier()"
    model = DecisionTreeClassifier(max_depth=3, class_weight={"a": 2}, criterion="gini")
    assert repr(model) == "DecisionTreeClassifier(max_depth=3, class_weight={'a': 2})"
    assert repr(ExtraTreeRegressor(max_features=None)) == "ExtraTreeRegressor(max_features=None)"
    odd = DecisionTreeClassifier(class_weight=np.ones(2))
    assert repr(odd) == "DecisionTreeClassifier(class_weight=array([1., 1.]))"


def test_estimators_are_themselves_only():
    assert DecisionTreeClassifier() != DecisionTreeClassifier()
    assert len({DecisionTreeClassifier(), DecisionTreeClassifier()}) == 2


def test_not_fitted_is_caught_as_either_builtin():
    for builtin in (ValueError, AttributeError):
        with pytest.raises(builtin, match="not fitted"):
            DecisionTreeClassifier().predict([[1]])


def test_not_fitted_is_scikit_learns_where_that_is_loaded(monkeypatch):
    class TheirError(ValueError, AttributeError):
        pass

    monkeypatch.setitem(sys.modules, "sklearn.exceptions", SimpleNamespace(NotFittedError=TheirError))
    error = not_fitted("not fitted")
    assert isinstance(error, NotFittedError)
    assert isinstance(error, TheirError)
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301  our own bytes
    assert isinstance(copy, NotFittedError)
    assert copy.args == ("not fitted",)
    monkeypatch.delitem(sys.modules, "sklearn.exceptions")
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(copy) is NotFittedError


def test_estimators_need_nothing_but_numpy_and_numba(run_python):
    """Growing, asking, copying and showing import no optional package, and work where none is installed."""
    code = """
import sys
optional = ["sklearn", "scipy", "pandas", "polars", "pyarrow", "matplotlib"]
sys.modules |= dict.fromkeys(optional)
import copy, pickle
import dtnumba
X, y = [[0.0], [1.0], [2.0]], ["a", "b", "b"]
model = dtnumba.DecisionTreeClassifier(random_state=0).fit(X, y)
assert pickle.loads(pickle.dumps(copy.deepcopy(model))).predict(X).tolist() == y
assert model.score(X, y) == 1.0
try:
    model.decision_path(X)
except ImportError as error:
    print(error)
print(repr(model.set_params(max_depth=1)))
"""
    said = run_python(code).splitlines()
    assert said == [
        "decision_path returns a SciPy matrix, and SciPy is not installed: pip install scipy",
        "DecisionTreeClassifier(max_depth=1, random_state=0)",
    ]


def test_unknown_parameters_are_named_with_those_they_are_close_to():
    with pytest.raises(
        TypeError, match=r"^DecisionTreeClassifier has no parameter 'max_dept'; did you mean 'max_depth'"
    ):
        DecisionTreeClassifier(max_dept=3)
    with pytest.raises(
        TypeError, match=r"has no parameter 'qqq'; help\(DecisionTreeClassifier\) describes those it has"
    ):
        DecisionTreeClassifier(qqq=3)
    with pytest.raises(ValueError, match=r"did you mean 'max_bins'"):
        DecisionTreeClassifier().set_params(max_bin=3)
    with pytest.raises(ValueError, match=r"'random_state__depth' for estimator .*: random_state=None is no estimator"):
        DecisionTreeClassifier().set_params(random_state__depth=3)


def test_a_class_of_a_user_may_be_made_in_its_own_way():
    class Stump(DecisionTreeClassifier):
        def __init__(self, name, *, size=1):
            super().__init__(max_depth=size)
            self.name = name

    assert Stump("mine", size=2).max_depth == 2
    assert list(inspect.signature(Stump).parameters) == ["name", "size"]
    assert "max_depth" in inspect.signature(DecisionTreeClassifier).parameters


def test_a_value_in_a_message_is_cut_where_it_is_long():
    with pytest.raises(TypeError) as caught:
        DecisionTreeClassifier(max_depth={"a": list(range(10_000))}).fit([[0], [1]], [0, 1])
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("model", [DecisionTreeClassifier(), RandomForestClassifier(3, bootstrap=False)], ids=repr)
def test_a_pickle_of_another_version_is_read_with_a_warning(model, monkeypatch):
    model.fit([[0], [1]], [0, 1])
    written = pickle.dumps(model)
    again = pickle.loads(written)  # noqa: S301
    assert vars(again).keys() == vars(model).keys()
    monkeypatch.setattr(dtnumba, "__version__", "99.1.0")
    words = rf"This {type(model).__name__} was pickled by dtnumba \d+\.\d+\.\d+\S* and is read by dtnumba 99\.1\.0"
    with pytest.warns(UserWarning, match=words):
        again = pickle.loads(written)  # noqa: S301
    assert again.predict([[0], [1]]).tolist() == [0, 1]
    assert copy.copy(again).predict([[0]]).tolist() == [0]  # without a word: this version has made it


READ_VALUES = [C50Classifier, RuleSetClassifier, DecisionListClassifier]


@pytest.mark.parametrize("learner", READ_VALUES, ids=lambda cls: cls.__name__)
def test_codes_are_refused_by_who_reads_values(learner):
    table = bin_batches(lambda: iter([np.arange(6.0)[:, None]]))
    with pytest.raises(TypeError, match=f"X is a BinnedTable, which holds codes, and {learner.__name__} reads values"):
        learner().fit(table, [0, 1] * 3)


@pytest.mark.parametrize("learner", [C45Classifier, ID3Classifier], ids=lambda cls: cls.__name__)
def test_codes_are_taken_where_bins_are_asked_for(learner):
    table = bin_batches(lambda: iter([np.arange(6.0)[:, None]]))
    with pytest.raises(ValueError, match=f"max_bins=None: {learner.__name__} would look for exact thresholds"):
        learner().fit(table, [0, 1] * 3)
    model = learner(max_bins=255).fit(table, [0, 0, 0, 1, 1, 1])
    assert model.predict([[0.0], [5.0]]).tolist() == [0, 1]


def test_a_rule_set_is_named_in_what_its_tree_says():
    assert repr(RuleSetClassifier()._grower()).startswith("RuleSetClassifier(")


def test_rows_that_judge_growth_are_named_in_what_is_wrong_with_them():
    class Plan:
        collect_schema = None

    words = r"^X_val and y_val: X is a Plan, which holds no data yet"
    with pytest.raises(TypeError, match=words):
        DecisionTreeClassifier().fit([[0], [1]], [0, 1], X_val=Plan(), y_val=[0])
