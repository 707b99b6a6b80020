"""What a fit takes of each worker's memory and of the network, and which way of growing fits.

The figures are those of the rows and of what growth allocates for them; a process with its compiled code takes some
200 MB beside them, and a partition that is being read what its reader takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dtnumba.tables.bins import SAMPLE_ROWS

if TYPE_CHECKING:
    from dtnumba.dask.columns import PartedColumns

# Bytes a row that a thread takes for the tree in hand, fully grown: its rows and counts, nodes and their values.
TREE_BYTES = 64
# Of a row and a tree that grows in parts, a thread: its number and its count, before and after a level; and of a block
# of trees, which are as many as fit into so much.
LIST_BYTES, LISTS_BYTES = 7, 1 << 26
_WORDS = {9: "GB", 6: "MB", 3: "kB", 0: "bytes"}


class Extent(NamedTuple):
    """The extent of a fit."""

    n_rows: int
    n_features: int
    cell_bytes: int  # of a code, or of a value where codes do not do
    target_bytes: int  # a row
    weighted: bool
    value_bytes: int = 0  # of a value of which codes are made; 0 where these are there already


def extent_of(columns: PartedColumns, cell_bytes: int, weighted: bool, value_bytes: int) -> Extent:
    """Return the extent of the rows of a fit."""
    target, sizes = columns.target, columns.target.sizes
    is_narrow = target.kind == "classes" and max(sizes) <= 256
    bytes_a_target = 1 if is_narrow else 4 if target.kind == "classes" else 16  # a number, and its integer
    return Extent(columns.n_rows, columns.n_features, cell_bytes, bytes_a_target * len(sizes), weighted, value_bytes)


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
    away = (n_workers - 1) / n_workers
    return int(away * (rows + sample_bytes(extent)) + rows * (n_workers - 1) + tree_bytes)


def sample_bytes(extent: Extent) -> int:
    """Return the bytes of the rows that edges are made from, which come to one place."""
    return min(extent.n_rows, SAMPLE_ROWS) * extent.n_features * extent.value_bytes


# Of a node, from where it was grown to where its tree is put together, beside its sums.
NODE_BYTES = 64
# Rows that are brought together for one task, in bytes.
GATHERED_BYTES = 1 << 25


class GrownInParts(NamedTuple):
    """What trees that grow in parts had sent, as a fit counts it, or as it is expected."""

    tables: float  # of a feature of a node each, that were added up
    gathered: float  # rows that were brought together
    leaves: float  # rows of which only the targets were
    nodes: float  # of all trees
    groups: float  # of nodes of a tree, each of which is grown by one worker, in turn


def bytes_partition(extent: Extent, n_workers: int, grown: GrownInParts, *, bins: int, sums: int) -> int:
    """Return the bytes that ``strategy="partition"`` sends between workers of a thread each.

    Tables of all but one worker are added to others; rows, targets and nodes stay where they are needed with a chance
    of one in so many workers. Targets go to one place, which knows the weight of each row, and from there to the parts.

    Parameters
    ----------
    extent : Extent
        The rows.
    n_workers : int
        Workers, each with its part of the rows.
    grown : GrownInParts
        What the trees had sent.
    bins : int
        Codes of a feature, the missing one included.
    sums : int
        Numbers that say the rows of a bin: one where there are two classes.

    """
    away = (n_workers - 1) / n_workers
    target = extent.target_bytes + 8 * extent.weighted
    tables = grown.tables * bins * sums * 8 * (n_workers - 1)
    # A tree is put together where most of its nodes are.
    nodes_away = 1 - -(-grown.groups // n_workers) / max(grown.groups, 1)
    rows = grown.gathered * gathered_bytes(extent) + grown.leaves * (1 + extent.target_bytes)
    nodes = grown.nodes * (NODE_BYTES + 16 * max(2, sums))
    rest = rows + 2 * extent.n_rows * target + sample_bytes(extent)
    return int(tables + nodes_away * nodes + away * rest)


def gathered_bytes(extent: Extent) -> int:
    """Return the bytes of a row that is brought together: its codes, its target and how often it counts."""
    return extent.n_features * extent.cell_bytes + extent.target_bytes + 1


def expected(extent: Extent, n_trees: int, n_drawn: int) -> GrownInParts:
    """Return about what trees fully grown on bootstrap samples have sent: nodes of few rows are brought together.

    Of 0.632 of the rows; halves of halves come to nodes of as many rows as are brought together; two in three rows of
    a sample have a node.
    """
    rows, most = 0.632 * extent.n_rows, GATHERED_BYTES / (gathered_bytes(extent) + 7)
    large = max(1.0, 2.0 * rows / most - 1.0)
    groups = -(-rows // most)
    return GrownInParts(n_trees * large * n_drawn, n_trees * rows, 0, n_trees * rows * 2 / 3, groups)


def part_bytes(extent: Extent, n_threads: int) -> int:
    """Return the bytes that a thread takes of its worker's memory by ``strategy="partition"``.

    Its rows; how often a tree counts each row of the table; where rows have weights, the number of each row of the
    table and its share of them; and the row lists of two blocks of trees.
    """
    own = -(-extent.n_rows // n_threads)
    lists = max(LISTS_BYTES, LIST_BYTES * own)
    return own * row_bytes(extent) + extent.n_rows * (1 + 12 * extent.weighted) + 2 * lists


class Chosen(NamedTuple):
    """The way of growing that was chosen."""

    strategy: str
    worker_bytes: int  # of the worker that takes most


def choose(wanted: str, extent: Extent, threads: dict[str, int], limits: dict[str, int], why_not: str) -> Chosen:
    """Return the way of growing: the one that is wanted, or the first that fits into the workers' memory.

    Parameters
    ----------
    wanted : "auto", "replicate" or "partition"
        The parameter.
    extent : Extent
        Of the fit.
    threads, limits : dict of address to int
        Threads and bytes of each worker; 0 bytes where nobody says.
    why_not : str
        What the model asks for that rows in parts do not offer.

    """
    if wanted == "partition" and why_not:
        raise ValueError(f"strategy='partition' does not offer {why_not}: use strategy='replicate', or 'auto'")
    n_threads = sum(threads.values())
    needed = {
        "replicate": {address: replica_bytes(extent, n) for address, n in threads.items()},
        "partition": {address: n * part_bytes(extent, n_threads) for address, n in threads.items()},
    }
    ways = [wanted] if wanted != "auto" else ["replicate"] if why_not else ["replicate", "partition"]
    short = {}
    for way in ways:
        lacking = [address for address, n in needed[way].items() if 0 < limits.get(address, 0) < n]
        if not lacking:
            return Chosen(way, max(needed[way].values()))
        short[way] = lacking[0]
    way, address = next(iter(short.items())) if len(short) == 1 else list(short.items())[-1]
    rest = f"; strategy='partition', which takes less, does not offer {why_not}" if why_not else ""
    raise MemoryError(
        f"strategy={way!r} takes {said(needed[way][address])} of the memory of worker {address}, which has "
        f"{said(limits[address])}: start workers with more memory, or with fewer threads each{rest}"
    )


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
