"""Rows of a node in the order of their ranks: by insertion, by comparing, by digits, as they are many."""

import numpy as np
import pytest

from dtnumba.growth.splitters.scans.sorted_scan import sort_rows as sort_rows_of
from dtnumba.growth.splitters.sort_at_node import RankSort
from dtnumba.runtime.kernels import kernel
from dtnumba.runtime.records import worker_part
from dtnumba.tables.presort import MISSING, NEW, ROW


@kernel
def sort_rows(splitter, f, start, stop, own):
    sort_rows_of(splitter, f, start, stop, own)


@pytest.mark.small
@pytest.mark.parametrize("most", [0, 3, 200, 70_000, (1 << 25) - 1])
@pytest.mark.parametrize("n", [1, 2, 48, 49, 50, 63, 64, 65, 191, 192, 193, 1000])
def test_rows_stand_in_the_order_of_their_ranks_and_equal_ones_as_they_stood(n, most):
    random = np.random.default_rng(n + most)
    n_rows, start = n + 7, 5
    codes = random.integers(0, most, (n_rows, 2), endpoint=True).astype(np.uint32)
    n_codes = np.array([9, most], np.int64)  # the largest code is that of missing rows
    # Rows keep the order of the table within a node.
    rows = np.concatenate([np.arange(n_rows - start, n_rows), np.arange(n_rows - start)]).astype(np.uint32)
    splitter = RankSort(codes, n_codes, rows, n_rows, 1)
    own = worker_part(splitter.new_scratch(n_rows, 1), 0)
    sort_rows(splitter, 1, start, start + n, own)
    here = rows[start : start + n]
    expected = here[np.argsort(codes[here, 1], kind="stable")]
    ranks = codes[expected, 1]
    assert (own.buffer[:n] & ROW).tolist() == expected.tolist()
    assert ((own.buffer[:n] & NEW) != 0).tolist() == [False, *(ranks[1:] != ranks[:-1])]
    assert ((own.buffer[:n] & MISSING) != 0).tolist() == (ranks == most).tolist()
