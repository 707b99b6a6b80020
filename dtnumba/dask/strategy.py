"""What a fit takes of each worker's memory and of the network, and which way of growing fits.

The figures are those of the rows, of what growth allocates for them, and of a process with its compiled code; a
partition that is being read takes what its reader takes, and is not in them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dtnumba.tables.bins import SAMPLE_ROWS

if TYPE_CHECKING:
    from dtnumba.dask.columns import PartedColumns

# Bytes a row that a thread takes for the tree in hand, fully grown: its rows and counts, nodes and their values.
TREE_BYTES = 64
# Of a block of trees that grow in parts, a thread: as many trees as fit into so much.
LISTS_BYTES = 1 << 26
# Of a process, with the package and its compiled code.
PROCESS_BYTES = 300_000_000
# Of a depth that hardly a tree reaches: the tables of a level do not depend on it.
_DEEP = 40
_WORDS = {9: "GB", 6: "MB", 3: "kB", 0: "bytes"}


class Extent(NamedTuple):
    """The extent of a fit."""

    n_rows: int
    n_features: int
    cell_bytes: int  # of a code, or of a value where codes do not do
    target_bytes: int  # a row
    weighted: bool
    value_bytes: int = 0  # of a value of which codes are made; 0 where these are there already
    count_bytes: int = 1  # of how often a tree counts a row, or of its weight there
    table_bytes: int = 0  # of a node: tables of the features that it draws
    max_depth: int = _DEEP


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
    nodes_away: float  # share of nodes that another worker grows than the one that puts their tree together
    dealt: float = 0  # rows that another worker has than the one that coded them


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
    rows = grown.gathered * gathered_bytes(extent) + grown.leaves * (1 + extent.target_bytes)
    nodes = grown.nodes * (NODE_BYTES + 16 * max(2, sums))
    rest = rows + 2 * extent.n_rows * target + sample_bytes(extent)
    codes = grown.dealt * extent.n_features * extent.cell_bytes
    return int(tables + grown.nodes_away * nodes + codes + away * rest)


def gathered_bytes(extent: Extent) -> int:
    """Return the bytes of a row that is brought together: its codes, its target and how often it counts."""
    return extent.n_features * extent.cell_bytes + extent.target_bytes + 1


def expected(extent: Extent, n_workers: int, n_trees: int, n_drawn: int) -> GrownInParts:
    """Return about what trees fully grown on bootstrap samples have sent: nodes of few rows are brought together.

    Of 0.632 of the rows; halves of halves come to nodes of as many rows as are brought together; two in three rows of
    a sample have a node. A tree is put together where most of its nodes are.
    """
    rows, most = 0.632 * extent.n_rows, GATHERED_BYTES / (gathered_bytes(extent) + 7)
    large = max(1.0, 2.0 * rows / most - 1.0)
    groups = -(-rows // most)
    nodes_away = 1.0 - -(-groups // n_workers) / groups
    return GrownInParts(n_trees * large * n_drawn, n_trees * rows, 0, n_trees * rows * 2 / 3, nodes_away)


def tables_of_level(extent: Extent, n_threads: int) -> int:
    """Return how many nodes of a tree have tables in one level at most.

    Those of more rows than are brought together; and, above the last levels, those whose rows would take more bytes
    than the tables below them. Each of them is a child of another one.
    """
    rows = extent.n_rows * gathered_row_bytes(extent)
    large = 1 + rows // GATHERED_BYTES
    if extent.max_depth >= _DEEP:
        return large
    n = most = 1
    for depth in range(1, extent.max_depth):
        below = ((1 << (extent.max_depth - depth)) - 1) * extent.table_bytes * n_threads
        n = min(2 * n, large + rows // max(below, 1))
        most = max(most, n)
    return most


def gathered_row_bytes(extent: Extent) -> int:
    """Return the bytes that a row counts for where it is decided which are brought together for one task."""
    return extent.n_features + 9


def lists_bytes(extent: Extent, own: int, n_threads: int) -> int:
    """Return the bytes of a tree that grows in parts, of so many rows of a thread.

    The numbers of its rows, before and after a level, and their counts; and the tables of a level: the thread's own,
    those of others, and their sum.
    """
    return own * (8 + extent.count_bytes) + 3 * tables_of_level(extent, n_threads) * extent.table_bytes


def part_bytes(extent: Extent, n_threads: int) -> int:
    """Return the bytes that a thread takes of its worker's memory by ``strategy="partition"``.

    Its rows; the lists of two blocks of trees; and of the tree in hand how often it counts each row of the table, or
    which rows of the part go left; or else the rows that are brought together, four times (as they come, end to end, by
    nodes, and those that come for the next task), and what grows of them.
    """
    own = -(-extent.n_rows // n_threads)
    lists = max(LISTS_BYTES, lists_bytes(extent, own, n_threads))
    row = gathered_row_bytes(extent)
    gathered = min(extent.n_rows, GATHERED_BYTES // row)
    in_hand = max(extent.n_rows * extent.count_bytes, own * (1 + extent.count_bytes), gathered * (4 * row + TREE_BYTES))
    return own * row_bytes(extent) + 2 * lists + in_hand


def whole_bytes(extent: Extent) -> int:
    """Return the bytes that the one worker takes, which knows the targets and the weights of all rows."""
    return extent.n_rows * (3 * extent.target_bytes + 8 + 48 * extent.weighted)


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
        "replicate": {address: replica_bytes(extent, n) + PROCESS_BYTES for address, n in threads.items()},
        "partition": {
            address: n * part_bytes(extent, n_threads) + whole_bytes(extent) + PROCESS_BYTES
            for address, n in threads.items()
        },
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
