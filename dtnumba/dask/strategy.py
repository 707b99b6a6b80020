"""What a fit takes of each worker's memory and of the network, and which way of growing fits.

The figures are those of the rows and of what growth allocates for them; a process with its compiled code takes some
200 MB beside them, and a partition that is being read what its reader takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from dtnumba.dask.columns import PartedColumns

# Bytes a row that a thread takes for the tree in hand, fully grown: its rows and counts, nodes and their values.
TREE_BYTES = 64
_WORDS = {9: "GB", 6: "MB", 3: "kB", 0: "bytes"}


class Extent(NamedTuple):
    """The extent of a fit."""

    n_rows: int
    n_features: int
    cell_bytes: int  # of a code, or of a value where codes do not do
    target_bytes: int  # a row
    weighted: bool


def extent_of(columns: PartedColumns, cell_bytes: int, weighted: bool) -> Extent:
    """Return the extent of the rows of a fit."""
    target, sizes = columns.target, columns.target.sizes
    is_narrow = target.kind == "classes" and max(sizes) <= 256
    bytes_a_target = 1 if is_narrow else 4 if target.kind == "classes" else 8
    return Extent(columns.n_rows, columns.n_features, cell_bytes, bytes_a_target * len(sizes), weighted)


def row_bytes(extent: Extent) -> int:
    """Return the bytes of a row: its codes, its target and its weight."""
    return extent.n_features * extent.cell_bytes + extent.target_bytes + 8 * extent.weighted


def replica_bytes(extent: Extent, threads: int) -> int:
    """Return the bytes that a worker of so many threads takes of its memory by ``strategy="replicate"``.

    Twice the rows, because the worker that puts them together has the parts and the whole, and a tree a thread.
    """
    return extent.n_rows * (2 * row_bytes(extent) + threads * TREE_BYTES)


def bytes_replicate(extent: Extent, n_workers: int, tree_bytes: int) -> int:
    """Return the bytes that ``strategy="replicate"`` sends: rows to one worker, all of them to the others, the trees.

    Parameters
    ----------
    extent : Extent
        The rows.
    n_workers : int
        Workers, each with its share of the partitions.
    tree_bytes : int
        Bytes of all trees.

    """
    rows = extent.n_rows * row_bytes(extent)
    return int(rows * (n_workers - 1) / n_workers + rows * (n_workers - 1) + tree_bytes)


def check_memory(extent: Extent, threads: dict[str, int], limits: dict[str, int]) -> int:
    """Return the bytes a worker takes at most; raise MemoryError where one has not as many."""
    most = 0
    for address, n in threads.items():
        needed, limit = replica_bytes(extent, n), limits.get(address, 0)
        most = max(most, needed)
        if limit and needed > limit:
            raise MemoryError(
                f"strategy='replicate' takes {said(needed)} of the memory of worker {address}, which has {said(limit)}"
                f": {extent.n_rows} rows of {row_bytes(extent)} bytes twice, and {n} trees in the making of "
                f"{TREE_BYTES} bytes a row; start workers with more memory, or with fewer threads each"
            )
    return most


def said(n_bytes: float) -> str:
    """Return a number of bytes in words."""
    for power, word in _WORDS.items():
        if n_bytes >= 10**power or power == 0:
            return f"{n_bytes / 10**power:.3g} {word}"
    raise AssertionError


def memory_limits(client: Any) -> dict[str, int]:
    """Return the bytes that each worker may take, 0 where nobody says."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    return {address: int(worker.get("memory_limit") or 0) for address, worker in workers.items()}
