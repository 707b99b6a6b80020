"""Orders and ranks of columns, against NumPy's sorts."""

import numpy as np
import pytest
from hypothesis import given
from strategies import examples, matrices

from dtnumba.tables.bins import rank_codes
from dtnumba.tables.presort import MISSING, NEW, PARALLEL_CELLS, ROW, order_of_targets, presort
from dtnumba.tables.table import read_table

pytestmark = pytest.mark.usefixtures("few_cells")


def rows_of(X):
    return np.arange(len(X), dtype=np.uint32)


def records(X, kept=None, n_jobs=1):
    """Return (rows, is_new, is_missing), a line a column."""
    kept = rows_of(X) if kept is None else kept
    order = presort(read_table(X, "a test"), kept, X.shape[1], n_jobs).reshape(X.shape[1], len(kept))
    return order & ROW, (order & NEW) > 0, (order & MISSING) > 0


@pytest.mark.small
@examples(60)
@given(matrices())
def test_rows_stand_in_the_order_of_their_values_and_equal_ones_by_number(X):
    rows, _, _ = records(X)
    for f, x in enumerate(X.T):
        assert np.array_equal(rows[f], np.argsort(x, kind="stable"))  # missing values last


@examples(60)
@given(matrices())
def test_a_record_says_whether_its_value_is_new_and_whether_it_is_missing(X):
    rows, is_new, is_missing = records(X)
    for f, x in enumerate(X.T):
        in_order = x[rows[f]]
        assert np.array_equal(is_missing[f], np.isnan(in_order))
        both = np.isnan(in_order[1:]) & np.isnan(in_order[:-1])
        assert np.array_equal(is_new[f][1:], (in_order[1:] != in_order[:-1]) & ~both)
        assert not is_new[f][0]


@pytest.mark.small
@pytest.mark.parametrize(("dtype", "bits"), [(np.float32, np.uint32), (np.float64, np.uint64)])
def test_signs_of_zero_are_one_value_and_all_nans_one_missing(dtype, bits):
    X = np.array([0.0, -0.0, 0.0, np.nan, -np.nan, np.nan, -np.nan], dtype)[:, None]
    X.view(bits)[5:] |= bits(5)  # other NaNs
    rows, is_new, is_missing = records(X)
    assert rows[0].tolist() == list(range(7))
    assert is_new[0].tolist() == [False] * 3 + [True] + [False] * 3
    assert is_missing[0].tolist() == [False] * 3 + [True] * 4


@pytest.mark.small
def test_only_kept_rows_are_sorted():
    X = np.array([[3.0], [1.0], [2.0], [0.0]])
    rows, _, _ = records(X, np.array([0, 1, 2], np.uint32))
    assert rows.tolist() == [[1, 2, 0]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_sort_alike(dtype):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(PARALLEL_CELLS // 4, 6)).astype(dtype)
    X[:, 2] = X[:, 2].round(1)
    X[generator.random(X.shape) < 0.1] = np.nan
    alone = records(X)
    assert all(np.array_equal(alone[0][f], np.argsort(X[:, f], kind="stable")) for f in range(6))
    for n_jobs in (2, 3, 8):
        assert all(np.array_equal(a, b) for a, b in zip(alone, records(X, n_jobs=n_jobs), strict=True))


@pytest.mark.parametrize("form", ["csr_matrix", "csc_matrix"])
def test_sparse_columns_sort_like_dense_ones(form):
    sparse = pytest.importorskip("scipy.sparse")
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[np.abs(X) < 1] = 0
    found = presort(read_table(getattr(sparse, form)(X), "a test"), rows_of(X), 3, 1)
    assert np.array_equal(found, presort(read_table(X, "a test"), rows_of(X), 3, 1))


# Ranks


@pytest.mark.small
@examples(60)
@given(matrices())
def test_ranks_count_the_distinct_values_below(X):
    codes, bins = rank_codes(read_table(X, "a test"), rows_of(X), 1)
    for f, x in enumerate(X.T):
        distinct = np.unique(x[~np.isnan(x)])
        assert bins.n_codes[f] == len(distinct)
        assert np.array_equal(bins.low[bins.first_code[f] : bins.first_code[f + 1]], distinct)
        assert np.array_equal(codes[:, f], np.where(np.isnan(x), len(distinct), np.searchsorted(distinct, x)))


@pytest.mark.parametrize(("n", "dtype"), [(255, np.uint8), (256, np.uint16), (65_535, np.uint16), (65_536, np.uint32)])
def test_ranks_take_the_narrowest_type_that_holds_the_missing_one_too(n, dtype):
    X = np.append(np.random.default_rng(0).permutation(n).astype(np.float32), np.nan)[:, None]
    codes, bins = rank_codes(read_table(X, "a test"), rows_of(X), 1)
    assert codes.dtype == dtype
    assert bins.n_codes.tolist() == [n]
    assert codes[-1, 0] == n
    assert np.array_equal(codes[:-1, 0], X[:-1, 0])


def test_threads_rank_alike():
    X = np.random.default_rng(0).normal(size=(PARALLEL_CELLS // 4, 5)).round(2)
    table = read_table(X, "a test")
    alone, bins = rank_codes(table, rows_of(X), 1)
    shared, same = rank_codes(table, rows_of(X), 3)
    assert np.array_equal(alone, shared)
    assert np.array_equal(bins.low, same.low)


# Targets


@pytest.mark.small
def test_targets_are_ordered_output_by_output_and_ties_by_weight():
    y = np.array([[2.0, 0.0], [1.0, 0.0], [2.0, -1.0], [0.0, 5.0]])
    kept = np.array([0, 1, 2], np.uint32)
    assert order_of_targets(y, kept, np.ones(4)).tolist() == [1, 0, 2, 2, 0, 1]
    assert order_of_targets(y, kept, np.array([3, 1, 2, 1])).tolist() == [1, 2, 0, 2, 1, 0]
