"""Trees of streams beside their nodes: what formats say of leaves that answer by naive Bayes, and one row at a time."""

import pickle

import numpy as np
import pytest
from strategies import interpreted_only

from dtnumba import IncrementalTreeClassifier, IncrementalTreeRegressor, export


def rows(n=500):
    """Two numbers of which each says a little of the class: naive Bayes adds both up."""
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 2)) + y[:, None], y


ANSWERING = {
    "python": export.python,
    "c": export.c,
    "sql": export.sql,
    "json": export.json,
    "rules": export.rules,
    "dnf": lambda model: export.dnf(model, 1),
    "network": export.network,
}


@interpreted_only
@pytest.mark.parametrize("format_", ANSWERING)
def test_formats_refuse_leaves_that_answer_by_naive_bayes(format_):
    X, y = rows()
    model = IncrementalTreeClassifier(approximate=True, leaf_prediction="naive_bayes").partial_fit(X, y)
    assert model.bayes_leaves_.tolist() == np.flatnonzero(model.tree_.feature < 0).tolist()
    with pytest.raises(export.ExportError, match=r"node.* answers by naive Bayes.*leaf_prediction='majority'"):
        ANSWERING[format_](model)
    model = IncrementalTreeClassifier(approximate=True, leaf_prediction="majority").partial_fit(X, y)
    assert model.bayes_leaves_.tolist() == []
    ANSWERING[format_](model)


@interpreted_only
def test_formats_that_show_rows_and_answer_nobody_show_those_of_leaves():
    X, y = rows()
    model = IncrementalTreeClassifier(approximate=True, leaf_prediction="naive_bayes").partial_fit(X, y)
    for shown in (export.text(model), export.dot(model), export.svg(model), str(export.frame(model))):
        assert str(round(float(model.tree_.weighted_n_node_samples[0])))[:3] in shown
    with pytest.raises(ValueError, match=r"to_rules: 1 leaves of this .* naive Bayes"):
        model.to_rules()


@interpreted_only
def test_an_exported_stream_of_majorities_answers_as_it_does():
    X, y = rows(2000)
    options = {"approximate": True, "grace_period": 20, "delta": 0.3}
    model = IncrementalTreeClassifier(leaf_prediction="majority", **options).partial_fit(X, y)
    assert model.n_leaves_ > 3
    assert export.verify(export.python(model), model, X)
    numbers = IncrementalTreeRegressor(**options).partial_fit(X, X[:, 0])
    assert numbers.compile_predictor()(X[3]).tolist() == [numbers.predict(X[3:4])[0]]


@interpreted_only
@pytest.mark.parametrize("leaf_prediction", ["majority", "naive_bayes", "adaptive"])
def test_one_row_is_answered_as_many_are(leaf_prediction):
    X, y = rows()
    X = np.column_stack([X.round(1), np.arange(len(X)) % 3]).astype(object)
    X[:, 2] = np.array(["b", "c", "a"], object)[X[:, 2].astype(int)]
    X[::9, 1] = None
    labels = np.array(["no", "yes", "maybe"], object)[np.where(np.arange(len(X)) > 400, 2, y)]
    model = IncrementalTreeClassifier(
        approximate=True, grace_period=20, delta=0.3, leaf_prediction=leaf_prediction, categorical_features=[2]
    ).partial_fit(X, labels)
    two_way = model.trees_.is_two_way
    if len(model.bayes_leaves_) == 0 and not two_way:
        with pytest.raises(ValueError, match="two-way tests"):
            model.compile_predictor()
        return
    answer, wanted = model.compile_predictor(), model.predict_proba(X)
    coded = X.copy()
    coded[:, 2] = np.searchsorted(model.categories_[2], X[:, 2].astype(str))
    coded = coded.astype(float)
    for i in range(0, 500, 37):
        assert answer(coded[i]).tolist() == wanted[i].tolist()
    copied, out = pickle.loads(pickle.dumps(answer)), np.empty(3)  # noqa: S301  our own bytes
    model.partial_fit(X[:50], labels[:50])  # which changes nothing here
    assert copied(coded[9], out) is out
    assert out.tolist() == wanted[9].tolist()
    with pytest.raises(ValueError, match="pass a single row"):
        answer(coded[:2])
    with pytest.raises(ValueError, match="pass a single row"):
        answer(coded[0, :2])
