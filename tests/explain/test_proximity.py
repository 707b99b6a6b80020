"""Proximities are the share of equal leaves, pair by pair."""

import numpy as np
import pytest
from forests import digest, table
from naive import binary as naive

from dtnumba import ExtraTreesRegressor, RandomForestClassifier
from dtnumba.explain import proximity


@pytest.fixture(scope="module")
def fitted():
    X, y, _, _ = table(120)
    return RandomForestClassifier(7, random_state=0, min_samples_leaf=3).fit(X, y), X


@pytest.mark.parametrize("cells", [1, 300, 1 << 22])
def test_it_is_the_share_of_trees_with_one_leaf_for_both_rows(fitted, monkeypatch, cells):
    monkeypatch.setattr(proximity, "CELLS", cells)
    model, X = fitted
    found = model.proximity(X)
    assert found.dtype == np.float32
    assert np.array_equal(found, naive.proximity(model.trees_, X, X).astype(np.float32))
    assert (np.diag(found) == 1).all()
    assert np.array_equal(found, found.T)
    other = table(50, seed=1)[0]
    assert np.array_equal(model.proximity(other, X), naive.proximity(model.trees_, other, X).astype(np.float32))


def test_parts_are_parts_of_the_whole(fitted):
    model, X = fitted
    parts = [model.proximity(part, X) for part in np.array_split(X, 3)]
    assert digest(np.concatenate(parts)) == digest(model.proximity(X))


def test_no_bit_depends_on_threads_or_storage():
    sparse = pytest.importorskip("scipy.sparse")
    X, _, _, z = table(1500, missing=0.0)
    X[np.abs(X) < 0.5] = 0
    model = ExtraTreesRegressor(20, random_state=0, max_depth=5).fit(X, z)
    found = set()
    for n_jobs in (1, 2, 8):
        model.set_params(n_jobs=n_jobs)
        found |= {digest(model.proximity(X)), digest(model.proximity(sparse.csr_matrix(X), np.asfortranarray(X)))}
    assert len(found) == 1


@pytest.mark.small
def test_one_leaf_is_one_for_all():
    model = RandomForestClassifier(2, max_depth=1, n_jobs=1).fit(np.zeros((4, 1)), [0, 1, 0, 1])
    assert np.array_equal(model.proximity([[0.0], [5.0]]), np.ones((2, 2)))


def test_columns_are_checked_as_in_predict(fitted):
    model, X = fitted
    with pytest.raises(ValueError, match="X has 5 features, but RandomForestClassifier is expecting 6"):
        model.proximity(X, X[:, :5])
    with pytest.raises(ValueError, match="not fitted"):
        RandomForestClassifier().proximity(X)
