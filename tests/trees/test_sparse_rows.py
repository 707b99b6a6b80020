"""Rows of which few numbers are not zero read like the array of all numbers."""

import pickle

import numpy as np
import pytest

from dtnumba.trees.sparse_rows import SparseValues

pytestmark = pytest.mark.small


def rows(n=50, width=12, seed=0):
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n, width)) < 0.2, rng.random((n, width)), 0.0)
    return dense, SparseValues.of(dense)


@pytest.mark.parametrize(
    "key",
    [
        3,
        -1,
        slice(2, 9),
        slice(None, None, 3),
        np.array([4, 4, 0, -1]),
        np.arange(50) % 3 == 0,
        (slice(None), slice(1, 4)),
        (5, 2),
        (slice(3, 6), 0),
        (np.array([1, 2]), np.array([0, 3])),
        (slice(None), None),
    ],
    ids=str,
)
def test_what_is_selected_is_what_an_array_selects(key):
    dense, sparse = rows()
    assert np.array_equal(np.asarray(sparse[key]), dense[key])


def test_arithmetic_and_methods_are_those_of_an_array():
    dense, sparse = rows()
    assert (sparse.shape, len(sparse), sparse.ndim) == (dense.shape, len(dense), 2)
    assert np.array_equal(sparse * dense[:, :1], dense * dense[:, :1])
    assert np.array_equal(1.0 - sparse, 1.0 - dense)
    assert np.array_equal(sparse.sum(axis=1), dense.sum(axis=1))
    assert np.array_equal(sparse.argmax(axis=1), dense.argmax(axis=1))
    assert np.array_equal(sparse.argmax(axis=0), dense.argmax(axis=0))
    assert np.array_equal(sparse.take([3, 1], axis=0), dense[[3, 1]])
    assert all(map(np.array_equal, np.split(sparse, [5], axis=1), np.split(dense, [5], axis=1)))
    assert np.array_equal(pickle.loads(pickle.dumps(sparse)), dense)  # noqa: S301  of our own


def test_rows_are_joined_and_spread():
    dense, sparse = rows()
    assert np.array_equal(SparseValues.joined([sparse, sparse[:3]]), np.concatenate([dense, dense[:3]]))
    where = np.arange(100) % 2 == 1
    spread = np.zeros((100, 12))
    spread[where] = dense
    assert np.array_equal(sparse.spread(where), spread)


def test_no_rows_are_rows():
    dense, sparse = rows(0)
    assert np.array_equal(np.asarray(sparse), dense)
    assert sparse[:0].shape == (0, 12)
    assert len(sparse.argmax(axis=1)) == 0
