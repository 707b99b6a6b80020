"""Sums of terms, terms and slopes of rows, against the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from dtnumba.prediction import splines
from dtnumba.prediction.splines import slopes_of, sums_of, terms_of
from dtnumba.tables.table import read_table
from dtnumba.trees.hinges import DOWN, OF_LEVEL, OF_MISSING, STRAIGHT, UP, Factor, hinges_of

pytestmark = pytest.mark.small


def factor(x, one, fill):
    if one.direction == OF_MISSING:
        return np.isnan(x).astype(float)
    if one.direction == OF_LEVEL:
        return (x == one.knot).astype(float)
    x = np.where(np.isnan(x), fill, x)
    return {UP: np.maximum(x - one.knot, 0), DOWN: np.maximum(one.knot - x, 0), STRAIGHT: x}[one.direction]


def drawn(seed, n, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).round(1)
    X[:, 3] = rng.integers(0, 3, n)
    X[rng.random((n, p)) < 0.1] = np.nan
    terms = [[]]
    for _ in range(rng.integers(1, 6)):
        columns = rng.permutation(p)[: rng.integers(1, 4)]
        terms.append(
            [
                Factor(int(j), OF_LEVEL, float(rng.integers(0, 3))) if j == 3
                else Factor(int(j), int(rng.choice([UP, DOWN, STRAIGHT, OF_MISSING])), float(rng.normal()))
                for j in columns
            ]
        )  # fmt: skip
    fill = np.array([0.3, -0.2, 0.7, -1.0])
    return X, terms, hinges_of(terms, fill), fill, rng


@given(
    st.integers(0, 2**16), st.sampled_from([1, 5, 600]), st.sampled_from([np.float64, np.float32]), st.integers(1, 3)
)
@examples(60)
def test_they_are_those_of_the_definition(seed, n, dtype, outputs):
    X, terms, hinges, fill, rng = drawn(seed, n)
    X = X.astype(dtype)
    wide = X.astype(float)
    made = np.column_stack(
        [
            np.prod([np.ones(n), *(factor(wide[:, f.feature], f, fill[f.feature]) for f in term)], axis=0)
            for term in terms
        ]
    )
    table, by = read_table(X, "test"), rng.normal(size=(len(terms), outputs))
    np.testing.assert_allclose(terms_of(table, hinges, 2), made, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(sums_of(table, hinges, by, 2), made @ by, rtol=1e-9, atol=1e-12)
    slopes, step = slopes_of(table, hinges, by, 2), 1e-6
    assert slopes.shape == (n, 4, outputs)
    for j in range(3):
        moved = wide.copy()
        moved[:, j] += step
        near = wide.copy()
        near[:, j] -= step
        both = [sums_of(read_table(one, "test"), hinges, by, 1) for one in (moved, near)]
        knots = [f.knot for term in terms for f in term if f.feature == j]
        away = ~np.isnan(wide[:, j]) & (np.abs(wide[:, j, None] - np.array([99.0, *knots])) > 1e-5).all(axis=1)
        np.testing.assert_allclose(slopes[away, j], ((both[0] - both[1]) / (2 * step))[away], rtol=1e-5, atol=1e-6)
    assert (slopes[:, 3] == 0).all()


def test_bits_do_not_depend_on_threads_or_layout(monkeypatch):
    monkeypatch.setattr(splines, "_SERIAL_STEPS", 0)
    X, terms, hinges, _, rng = drawn(3, 2000)
    by = rng.normal(size=(len(terms), 2))
    one = sums_of(read_table(X, "test"), hinges, by, 1)
    for table in (X, np.asfortranarray(X), X[::-1][::-1]):
        for workers in (1, 2, 5):
            assert sums_of(read_table(table, "test"), hinges, by, workers).tobytes() == one.tobytes()
    alone = np.concatenate([sums_of(read_table(row[None], "test"), hinges, by, 1) for row in X[:50]])
    assert alone.tobytes() == one[:50].tobytes()


def test_sparse_rows_are_those_written_out():
    sparse = pytest.importorskip("scipy.sparse")
    _, terms, hinges, _, rng = drawn(5, 10)
    X = rng.normal(size=(50, 4)) * (rng.random((50, 4)) < 0.3)
    by = rng.normal(size=(len(terms), 1))
    dense, found = (sums_of(read_table(one, "test"), hinges, by, 1) for one in (X, sparse.csr_matrix(X)))
    assert dense.tobytes() == found.tobytes()
