"""The basis is orthonormal, makes up the columns it was given, and explains what they explain."""

import numpy as np
import pytest

from dtnumba.growth.mars.orthonormal import CHUNK, Basis

pytestmark = pytest.mark.small


def basis_of(n, seed=0, outputs=2, pairs=5):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(n, outputs))
    constant = np.full(n, n**-0.5)
    return Basis(constant, y - y.mean(axis=0), pairs, 2), rng, y - y.mean(axis=0)


def whole(basis):
    return np.column_stack([basis.constant, *(column for pair in basis.pairs[: basis.n_pairs] for column in pair.T)])


@pytest.mark.parametrize("n", [7, CHUNK, 2 * CHUNK + 5])
def test_columns_are_made_of_orthonormal_ones(n):
    basis, rng, y = basis_of(n)
    given = []
    for k in range(3):
        first = rng.normal(size=n) + 100.0**k
        second = None if k == 1 else first * 1e-3 + np.maximum(rng.normal(size=n), 0)
        if n == 7 and k == 2:
            break
        assert basis.add(first, second).tolist() == [True, k != 1]
        given += [first, second]
    made = whole(basis)
    used = [0, *(j + 1 for j, one in enumerate(given) if one is not None)]
    np.testing.assert_allclose(made[:, used].T @ made[:, used], np.eye(len(used)), atol=1e-13)
    for j, column in enumerate(given, start=1):
        if column is not None:
            back = made @ basis.made_of[: made.shape[1], j]
            np.testing.assert_allclose(back, column, rtol=1e-10, atol=1e-11 * np.abs(column).max())
    left = y - made @ np.linalg.lstsq(made, y, rcond=None)[0]
    np.testing.assert_allclose(basis.residual, left, atol=1e-12)
    np.testing.assert_allclose(basis.rss, (left**2).sum(axis=0), rtol=1e-10)


def test_a_column_that_adds_nothing_is_left_out():
    basis, rng, _ = basis_of(50)
    first, second = rng.normal(size=(2, 50))
    assert basis.add(first, 3.0 - 2.0 * first).tolist() == [True, False]
    assert basis.add(np.zeros(50), second).tolist() == [False, True]
    assert basis.add(first + second, np.ones(50)).tolist() == [False, False]
    made = whole(basis)
    assert np.linalg.matrix_rank(made) == 3
    assert np.count_nonzero((made != 0).any(axis=0)) == 3


def test_columns_that_are_nearly_alike_are_told_apart():
    basis, rng, _ = basis_of(400)
    x = rng.normal(size=400)
    assert basis.add(x, x + 1e-7 * rng.normal(size=400)).all()
    made = whole(basis)
    np.testing.assert_allclose(made.T @ made, np.eye(3), atol=1e-13)
