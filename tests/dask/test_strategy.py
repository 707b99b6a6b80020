"""What a fit takes, in bytes, and that it is told before it starts."""

import pytest

from dtnumba.dask.strategy import TREE_BYTES, Extent, bytes_replicate, check_memory, replica_bytes, row_bytes, said


def test_bytes_of_a_replica_are_twice_the_rows_and_a_tree_a_thread():
    extent = Extent(1000, 28, 1, 1, weighted=True)
    assert row_bytes(extent) == 37
    assert replica_bytes(extent, 2) == 1000 * (2 * 37 + 2 * TREE_BYTES)


def test_bytes_sent_are_the_rows_to_each_worker_once_and_the_trees():
    extent = Extent(1000, 10, 2, 8, weighted=False)
    assert bytes_replicate(extent, 1, 500) == 500
    assert bytes_replicate(extent, 4, 500) == 28_000 * 3 // 4 + 28_000 * 3 + 500


def test_a_worker_of_too_little_memory_is_named_before_it_starts():
    extent = Extent(10**9, 100, 1, 1, weighted=False)
    with pytest.raises(MemoryError, match=r"takes 266 GB of the memory of worker b, which has 16 GB"):
        check_memory(extent, {"a": 1, "b": 1}, {"a": 0, "b": 16 * 10**9})
    assert check_memory(Extent(10, 1, 1, 1, weighted=False), {"a": 1}, {"a": 10**9}) == 10 * (4 + TREE_BYTES)


def test_bytes_in_words():
    assert [said(n) for n in (12, 3_400, 5_600_000, 7.8e9)] == ["12 bytes", "3.4 kB", "5.6 MB", "7.8 GB"]
