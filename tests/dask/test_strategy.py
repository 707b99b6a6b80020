"""What a fit takes, in bytes, and that it is told before it starts."""

import pytest

from dtnumba.dask.strategy import (
    GATHERED_BYTES,
    LISTS_BYTES,
    NODE_BYTES,
    PROCESS_BYTES,
    TREE_BYTES,
    Extent,
    GrownInParts,
    bytes_partition,
    bytes_replicate,
    choose,
    expected,
    lists_bytes,
    part_bytes,
    replica_bytes,
    row_bytes,
    said,
    sample_bytes,
    tables_of_level,
    whole_bytes,
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


def test_bytes_of_a_part_are_its_rows_and_lists_and_what_is_in_hand():
    grown = 1000 * (4 * 19 + TREE_BYTES)
    assert part_bytes(Extent(1000, 10, 1, 1, weighted=False), 4) == 250 * 11 + 2 * LISTS_BYTES + grown
    assert part_bytes(LARGE, 64) == 15_625_000 * 101 + 2 * 9 * 15_625_000 + 10**9
    weighted = LARGE._replace(weighted=True, count_bytes=8)
    assert part_bytes(weighted, 64) == 15_625_000 * 109 + 2 * 16 * 15_625_000 + 8 * 10**9


def test_one_worker_knows_all_targets_and_every_one_is_a_process():
    threads = {"a": 2, "b": 1}
    extent = Extent(1000, 10, 1, 1, weighted=True, count_bytes=8)
    assert whole_bytes(extent) == 1000 * (3 + 8 + 48)
    told = choose("partition", extent, threads, {}, "").worker_bytes
    assert told == 2 * part_bytes(extent, 3) + whole_bytes(extent) + PROCESS_BYTES
    assert choose("replicate", extent, threads, {}, "").worker_bytes == replica_bytes(extent, 2) + PROCESS_BYTES


def test_tables_of_a_level_are_those_of_large_nodes():
    extent = Extent(20_000_000, 28, 1, 1, weighted=False, table_bytes=10_240)
    large = 1 + 20_000_000 * 37 // GATHERED_BYTES
    assert tables_of_level(extent, 4) == large
    assert tables_of_level(extent._replace(max_depth=1), 4) == 1
    assert tables_of_level(extent._replace(max_depth=8), 4) == 2**7
    small = Extent(40_000, 28, 1, 1, weighted=False, table_bytes=10_240)
    own = 1 + 40_000 * 37 // (7 * 40_960)  # at depth 5: rows that take more bytes than three levels of tables
    assert tables_of_level(small._replace(max_depth=8), 4) == 4 * own
    assert lists_bytes(small._replace(max_depth=8), 10_000, 4) == 90_000 + 3 * 4 * own * 10_240


def test_bytes_in_words():
    assert [said(n) for n in (12, 3_400, 5_600_000, 7.8e9)] == ["12 bytes", "3.4 kB", "5.6 MB", "7.8 GB"]


def test_bytes_sent_by_parts_are_tables_and_the_rows_brought_together():
    extent = Extent(1000, 10, 1, 1, weighted=False)
    grown = GrownInParts(tables=15, gathered=600, leaves=100, nodes=70, nodes_away=0.75, dealt=20)
    sent = bytes_partition(extent, 4, grown, bins=256, sums=1)
    assert sent == 15 * 256 * 8 * 3 + 3 * (600 * 12 + 100 * 2 + 70 * (NODE_BYTES + 32) + 2 * 1000) // 4 + 20 * 10
    alone = grown._replace(nodes_away=0.0, dealt=0)
    assert bytes_partition(extent, 1, alone, bins=256, sums=1) == 0


def test_what_is_expected_of_large_trees_is_mostly_rows():
    grown = expected(LARGE, 16, 100, 10)
    assert grown.gathered == pytest.approx(0.632 * 10**11)
    assert 8 * 257 * grown.tables < 0.1 * 102 * grown.gathered
