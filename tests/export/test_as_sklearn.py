"""Estimators of scikit-learn made of trees: they predict the same, and its own readers of trees work on them."""

import numpy as np
import pytest
from exported import KINDS, made, table
from strategies import interpreted_only

from dtnumba import DecisionTreeClassifier, export

pytestmark = interpreted_only
pytest.importorskip("sklearn")

REFUSED = {
    "tree": "they ask for categories",
    "tree, costs": "they ask for categories",
    "fractional, a number": "they ask for categories",
    "surrogates": "they ask for categories",
    "surrogates, numbers": "rows without a value end there",
    "c45, float32": "in parts",
    "chaid": "they ask for categories",
    "rules": "3 rules|rules of",
    "forest, hard": "they ask for categories",
}
SAME = {
    *("tree, numbers", "tree, float32", "stump", "leaf", "regression, two outputs", "extra tree, a number"),
    "incremental, a number",
    *("forest, two classes", "forest, two outputs", "forest of one", "extra trees", "extra trees, numbers"),
}


def rows_of(name):
    _, X = made(name)
    more = np.random.default_rng(1).normal(size=(200, X.shape[1])) * 2
    more[np.random.default_rng(2).random(more.shape) < 0.1] = np.nan
    return np.concatenate([np.asarray(X, np.float64), more]).astype(np.float32)


@pytest.mark.parametrize("name", sorted(SAME))
def test_it_predicts_the_same(name):
    model, _ = made(name)
    theirs, X = export.to_sklearn(model), rows_of(name)
    assert type(theirs).__module__.startswith("sklearn.")
    if hasattr(model, "classes_"):
        assert np.array_equal(theirs.predict(X), model.predict(X))
        wanted, found = model.predict_proba(X), theirs.predict_proba(X)
        for one, other in zip(*(part if isinstance(part, list) else [part] for part in (wanted, found)), strict=True):
            assert np.allclose(one, other, atol=1e-12)
    else:
        assert np.allclose(theirs.predict(X), model.predict(X), rtol=1e-12)
    assert np.array_equal(theirs.apply(X), model.apply(X))


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_it_cannot_say_is_refused(name):
    with pytest.raises(export.ExportError, match=REFUSED[name]):
        export.to_sklearn(made(name)[0])


@pytest.mark.parametrize("name", sorted(set(KINDS) - SAME))
def test_every_other_kind_is_refused(name):
    with pytest.raises(export.ExportError, match="to_sklearn: "):
        export.to_sklearn(made(name)[0])


def test_its_readers_work():
    from sklearn.tree import export_text

    X, y, _ = table(dtype=np.float64)
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    theirs = export.to_sklearn(model)
    assert export_text(theirs).count("class:") == model.n_leaves_
    paths = theirs.decision_path(X.astype(np.float32)), model.decision_path(X.astype(np.float32))
    assert (paths[0] != paths[1]).nnz == 0
    assert np.allclose(theirs.feature_importances_, model.feature_importances_)
    assert export.to_sklearn(model).get_depth() == model.get_depth()


def test_costs_and_compact_trees_are_refused():
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    costly = DecisionTreeClassifier(costs=[[0, 1], [9, 0]], max_depth=1).fit(X, [0, 0, 1, 0])
    with pytest.raises(export.ExportError, match=r"node.*largest share"):
        export.to_sklearn(costly)
    with pytest.raises(export.ExportError, match="compact"):
        export.to_sklearn(DecisionTreeClassifier().fit(X, [0, 0, 1, 0]).compact())
