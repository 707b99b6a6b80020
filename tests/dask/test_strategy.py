"""What a fit takes, in bytes, and that it is told before it starts."""

import pytest

from dtnumba.dask.strategy import (
    LISTS_BYTES,
    NODE_BYTES,
    TREE_BYTES,
    Extent,
    GrownInParts,
    bytes_partition,
    bytes_replicate,
    choose,
    expected,
    part_bytes,
    replica_bytes,
    row_bytes,
    said,
    sample_bytes,
)


def test_bytes_of_a_replica_are_twice_the_rows_and_a_tree_a_thread():
    extent = Extent(1000, 28, 1, 1, weighted=True)
    assert row_bytes(extent) == 37
    assert replica_bytes(extent, 2) == 1000 * (2 * 37 + 2 * TREE_BYTES)


def test_bytes_sent_are_the_rows_to_each_worker_once_and_the_trees():
    extent = Extent(1000, 10, 2, 8, weighted=False)
    assert bytes_replicate(extent, 1, 500) == 500
    assert bytes_replicate(extent, 4, 500) == 28_000 * 3 // 4 + 28_000 * 3 + 500
    read = extent._replace(value_bytes=4)
    assert bytes_replicate(read, 4, 500) - bytes_replicate(extent, 4, 500) == 40_000 * 3 // 4
    assert sample_bytes(read._replace(n_rows=10**9)) == 200_000 * 40


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


def test_bytes_of_a_part_are_its_rows_and_lists_and_what_is_drawn_of_all():
    assert part_bytes(Extent(1000, 10, 1, 1, weighted=False), 4) == 250 * 11 + 1000 + 2 * LISTS_BYTES
    assert part_bytes(LARGE, 64) == 15_625_000 * 101 + 10**9 + 2 * 7 * 15_625_000
    assert part_bytes(LARGE._replace(weighted=True), 64) == 15_625_000 * 109 + 13 * 10**9 + 2 * 7 * 15_625_000


def test_bytes_in_words():
    assert [said(n) for n in (12, 3_400, 5_600_000, 7.8e9)] == ["12 bytes", "3.4 kB", "5.6 MB", "7.8 GB"]


def test_bytes_sent_by_parts_are_tables_and_the_rows_brought_together():
    extent = Extent(1000, 10, 1, 1, weighted=False)
    grown = GrownInParts(tables=15, gathered=600, leaves=100, nodes=70, groups=8)
    sent = bytes_partition(extent, 4, grown, bins=256, sums=1)
    assert sent == 15 * 256 * 8 * 3 + 3 * (600 * 12 + 100 * 2 + 70 * (NODE_BYTES + 32) + 2 * 1000) // 4
    assert bytes_partition(extent, 1, grown, bins=256, sums=1) == 0


def test_what_is_expected_of_large_trees_is_mostly_rows():
    grown = expected(LARGE, 100, 10)
    assert grown.gathered == pytest.approx(0.632 * 10**11)
    assert 8 * 257 * grown.tables < 0.1 * 102 * grown.gathered
