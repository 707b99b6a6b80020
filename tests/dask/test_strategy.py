"""What a fit takes, in bytes, and that it is told before it starts."""

import pytest

from dtnumba.dask.strategy import (
    LISTS_BYTES,
    TREE_BYTES,
    Extent,
    bytes_partition,
    bytes_replicate,
    choose,
    part_bytes,
    replica_bytes,
    row_bytes,
    said,
)


def test_bytes_of_a_replica_are_twice_the_rows_and_a_tree_a_thread():
    extent = Extent(1000, 28, 1, 1, weighted=True)
    assert row_bytes(extent) == 37
    assert replica_bytes(extent, 2) == 1000 * (2 * 37 + 2 * TREE_BYTES)


def test_bytes_sent_are_the_rows_to_each_worker_once_and_the_trees():
    extent = Extent(1000, 10, 2, 8, weighted=False)
    assert bytes_replicate(extent, 1, 500) == 500
    assert bytes_replicate(extent, 4, 500) == 28_000 * 3 // 4 + 28_000 * 3 + 500


LARGE = Extent(10**9, 100, 1, 1, weighted=False)


def test_a_worker_of_too_little_memory_is_named_before_it_starts():
    with pytest.raises(MemoryError, match=r"'replicate' takes 266 GB of the memory of worker b, which has 16 GB"):
        choose("replicate", LARGE, {"a": 1, "b": 1}, {"a": 0, "b": 16 * 10**9}, "")
    with pytest.raises(MemoryError, match=r"'replicate'.*'partition', which takes less, does not offer categories"):
        choose("auto", LARGE, {"a": 1}, {"a": 10**9}, "categories")


def test_what_fits_into_memory_is_chosen():
    threads = {str(k): 1 for k in range(64)}
    small = Extent(1000, 28, 1, 1, weighted=False)
    assert choose("auto", small, threads, dict.fromkeys(threads, 10**9), "").strategy == "replicate"
    assert choose("auto", LARGE, threads, dict.fromkeys(threads, 64 * 10**9), "").strategy == "partition"
    assert choose("auto", LARGE, threads, dict.fromkeys(threads, 0), "").strategy == "replicate"
    with pytest.raises(ValueError, match="'partition' does not offer categories"):
        choose("partition", small, threads, {}, "categories")


def test_bytes_of_a_part_are_its_rows_and_lists_and_the_target_of_all():
    assert part_bytes(Extent(1000, 10, 1, 1, weighted=False), 4) == 2 * 250 * 11 + 2 * 1000 + 2 * LISTS_BYTES
    assert part_bytes(LARGE, 64) == 2 * 15_625_000 * 101 + 2 * 10**9 + 2 * 7 * 15_625_000


def test_bytes_in_words():
    assert [said(n) for n in (12, 3_400, 5_600_000, 7.8e9)] == ["12 bytes", "3.4 kB", "5.6 MB", "7.8 GB"]


def test_bytes_sent_by_parts_are_tables_and_the_rows_brought_together():
    extent = Extent(1000, 10, 1, 1, weighted=False)
    tables = 5 * (4 - 1) * 3 * 256 * 8
    sent = bytes_partition(extent, 4, nodes=5, n_drawn=3, bins=256, gathered=600, tree_bytes=70)
    assert sent == tables + 600 * 15 + 70
