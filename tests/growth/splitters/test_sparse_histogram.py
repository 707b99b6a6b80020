"""Trees of sparse tables, whose codes are never written out, against those of the same tables written out."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from strategies import compiled_where

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier, RandomForestRegressor
from dtnumba.growth.binary import choose_splitter
from dtnumba.runtime.kernels import COMPILED
from dtnumba.tables.sparse_codes import stored_codes
from dtnumba.tables.table import read_table

sparse = pytest.importorskip("scipy.sparse")

CASES = {
    "two classes": (RandomForestClassifier, {"n_estimators": 2}),
    "leaves": (RandomForestClassifier, {"n_estimators": 2, "min_samples_leaf": 2, "max_bins": 3}),
    "five classes": (RandomForestClassifier, {"n_estimators": 2}),
    "twelve classes": (RandomForestClassifier, {"n_estimators": 2}),
    "copies": (RandomForestClassifier, {"n_estimators": 2, "importance": "impurity_corrected"}),
    "ranks": (RandomForestClassifier, {"n_estimators": 2, "max_bins": None}),
    "number": (RandomForestRegressor, {"n_estimators": 2}),
    "number, drawn": (RandomForestRegressor, {"n_estimators": 2, "max_features": 0.3}),
    "tree": (DecisionTreeClassifier, {}),
    "tree, drawn": (DecisionTreeClassifier, {"max_features": "sqrt"}),
    "tree, bins": (DecisionTreeClassifier, {"max_bins": 4, "min_samples_leaf": 3}),
    "best first": (DecisionTreeClassifier, {"max_leaf_nodes": 5, "criterion": "gain_ratio"}),
    "monotonic": (DecisionTreeClassifier, {"monotonic_cst": {0: 1}}),
    "significance": (DecisionTreeClassifier, {"min_significance": 0.3}),
    "tree of numbers": (DecisionTreeRegressor, {"max_bins": 7}),
    "two numbers": (DecisionTreeRegressor, {"max_depth": 3}),
}
FEW = {"two classes", "tree"}  # compiled


@st.composite
def tables(draw):
    """Return a sparse matrix in one of its forms, its cells, a number for each row, and weights."""
    r = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, p = draw(st.integers(6, 300 if COMPILED else 40)), draw(st.integers(12, 50))
    cells = np.where(r.random((n, p)) < 0.05, r.normal(size=(n, p)).round(draw(st.integers(0, 2))), 0.0)
    cells[:, 3] = 0
    if draw(st.booleans()):
        cells[r.random((n, p)) < 0.01] = np.nan
    if draw(st.booleans()):
        cells[:, 5] = r.integers(1, 40, n)  # not sparse
    if draw(st.booleans()):
        cells = cells.astype(np.float32)
    X = (sparse.csr_matrix if draw(st.booleans()) else sparse.csc_matrix)(cells)
    if draw(st.booleans()):
        X.data[r.random(X.nnz) < 0.1] = 0.0  # zeros that are stored
    number = np.nansum(X.toarray()[:, :6], axis=1) + 0.2 * r.normal(size=n)
    weight = r.random(n) * (r.random(n) < 0.8) + 1e-3 if draw(st.booleans()) else None
    if weight is not None:
        weight[2:][r.random(n - 2) < 0.2] = 0.0
    return X, X.toarray(), number, weight


def targets(name, number):
    share = np.argsort(np.argsort(number)) / len(number)
    if name == "two numbers":
        return np.column_stack([number, share])
    if "number" in name:
        return number
    return (share * {"five classes": 5, "twelve classes": 12, "tree, drawn": 3}.get(name, 2)).astype(int)


@pytest.mark.small
@pytest.mark.parametrize("name", compiled_where(CASES, FEW))
def test_trees_are_those_of_the_table_written_out(name):
    kind, params = CASES[name]

    @seed(1)
    @settings(max_examples=25 if COMPILED else 12, deadline=None)
    @given(tables())
    def check(drawn):
        X, cells, number, weight = drawn
        own = {**params}
        if name == "monotonic":
            own["monotonic_cst"] = [1] + [0] * (X.shape[1] - 1)
        y = targets(name, number)
        found, wanted = (kind(random_state=3, n_jobs=1, **own).fit(table, y, weight) for table in (X, cells))
        for field, mine, theirs in zip(found.trees_._fields, found.trees_, wanted.trees_, strict=True):
            if isinstance(mine, np.ndarray):
                np.testing.assert_array_equal(mine, theirs, err_msg=field)
        np.testing.assert_array_equal(found.predict(X), wanted.predict(cells))
        np.testing.assert_array_equal(found.feature_importances_, wanted.feature_importances_)

    check()


@pytest.mark.small
def test_only_sparse_tables_are_read_so(monkeypatch):
    made, whole = [], choose_splitter.best_splitter

    def noting(source):
        one = whole(source)
        made.append(type(one.splitter).__name__)
        return one

    monkeypatch.setitem(choose_splitter.SPLITTERS, "best", noting)
    r = np.random.default_rng(0)
    y = r.integers(0, 2, 40)
    for share in (0.05, 0.5):
        X = sparse.csr_matrix(np.where(r.random((40, 30)) < share, 1.0, 0.0))
        DecisionTreeClassifier(max_depth=2, n_jobs=1).fit(X, y)
    assert made == ["SparseHistogram", "Presorted"]


@pytest.mark.small
def test_codes_take_no_more_than_the_matrix_thrice():
    X = sparse.random(1000, 2000, 0.01, format="csr", random_state=0)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    table, kept = read_table(X, "a test"), np.arange(1000, dtype=np.uint32)
    stored_codes(table, kept, 255, 1)
    tracemalloc.start()
    stored_codes(read_table(X, "a test"), kept, 255, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * size + (1 << 22)  # beside a block of values that are sorted
