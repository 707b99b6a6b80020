"""A table as multiway growth reads it: which columns stay in order, with which keys, and what that takes."""

import tracemalloc

import numpy as np
import pytest

from dtnumba.growth.multiway.coded_columns import in_order
from dtnumba.tables.table import read_table

N, P = 20_000, 12
RNG = np.random.default_rng(0)


def table_of(few):
    X = RNG.normal(size=(N, P))
    X[:, few] = RNG.integers(0, 5, (N, len(few)))
    return X, read_table(X, "tests")


@pytest.mark.parametrize("few", [[], [3], [0, 11], list(range(1, 12)), list(range(12))])
def test_columns_of_many_values_are_kept_in_order_and_others_as_codes(few):
    X, table = table_of(few)
    own = in_order(table, np.arange(N, dtype=np.uint32), 1, in_parts=True)
    assert np.flatnonzero(own.order_at < 0).tolist() == few == np.flatnonzero(own.code_at >= 0).tolist()
    for f in range(P):
        values, ranks = np.unique(X[:, f], return_inverse=True)
        assert own.n_codes[f] == len(values)
        if f in few:
            assert np.array_equal(own.codes[own.code_at[f]], ranks)
        else:
            keys = (ranks.astype(np.uint64) << np.uint64(32)) | np.arange(N, dtype=np.uint64)
            assert np.array_equal(own.orders[own.order_at[f], :N], np.sort(keys))


def test_a_column_of_few_values_does_not_copy_the_orders_of_the_others():
    _, table = table_of([3])
    kept = np.arange(N, dtype=np.uint32)
    in_order(table, kept, 1, in_parts=True)  # what is compiled takes memory, too
    tracemalloc.start()
    own = in_order(table, kept, 1, in_parts=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.4 * own.orders.nbytes
