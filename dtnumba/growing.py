"""What a growing tree looks like: one row of integers and one of floats a node, shared by every worker.

Workers grow disjoint subtrees into disjoint chunks of these arrays, so nothing is locked and nothing is copied.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.per_worker import per_worker
from dtnumba.sparse_memory import sparse_empty

# Columns of Growing.nodes
FEATURE, LEFT, LAST_LEFT, FIRST_RIGHT, MISSING_LEFT, START, STOP, DEPTH, SLOT, LEFT_ROWS = range(10)
N_COLUMNS = 10
PARENT = N_COLUMNS  # only where interactions are constrained
LEAF = -1
# In the column SLOT: no table. Less: minus the number of nodes below, where these lie in the order of their numbers.
NO_SLOT = -1

# Columns of Growing.numbers
GAIN, CUT, PRIORITY = range(3)
N_NUMBERS = 3
LOWER, UPPER = N_NUMBERS, N_NUMBERS + 1  # of a node's value; only where a feature is monotonic


# Workers take room for nodes in chunks, so that the nodes of a tree lie together whoever grew them. Where a node lies
# differs from run to run; ``finish`` numbers them anew.
CHUNK = 1024
UNKNOWN = -1  # first sum of a node of which nobody took the sums yet; no sum that comes first is negative
NEXT_CHUNK, FIRST_CHUNK = 0, 1  # entries of Growing.room: the next free chunk, and the node at which chunk 0 begins


class Growing(NamedTuple):
    """Nodes under construction."""

    nodes: np.ndarray  # (m, N_COLUMNS) int32, and one more for PARENT
    numbers: np.ndarray  # (m, N_NUMBERS) float64, and two more for LOWER and UPPER
    keys: np.ndarray  # (m,) uint64: path from the root, the only thing random draws know of a node
    sums: np.ndarray  # (m, 2, n_sums) int64: of a node's rows, and of those that go left; sums[k, 0, 0] may be UNKNOWN
    room: np.ndarray  # (2,) int64
    halt: np.ndarray  # (1,) int64: not 0 where growth is to stop at the next node, and what was grown will be dropped


class Job(NamedTuple):
    """Everything growth reads, and the nodes it writes."""

    splitter: object
    target: object
    criterion: object
    limits: object
    growing: object
    order: object  # of division: DepthFirst or BestFirst
    features: object  # looked at by a node: AllFeatures or SomeFeatures, or Interacting
    n_features: int
    n_seen: int  # numbers of one output that a criterion sees


class Scratch(NamedTuple):
    """What one worker owns while it grows one subtree."""

    candidates: object
    work: object
    features: np.ndarray  # (p,) int64: a permutation, drawn from and restored at each node
    drawn: np.ndarray  # (p,) int64: with what each drawn feature changed places
    listed: np.ndarray  # (p,) int64: the drawn features in the order of the draw
    frontier: np.ndarray  # (k,) int64: nodes that have a split and wait to be divided
    own: object  # the splitter's
    few: object  # for subtrees of few rows: NothingFew where these are grown like others


def new_growing(most_nodes: int, n_sums: int, workers: int, bounded: bool, linked: bool) -> Growing:
    """Allocate room for a tree of at most so many nodes; what no node touches costs no memory.

    ``bounded``: nodes have ranges for their values; ``linked``: they know their parents.
    """
    nodes, numbers, keys, sums = _columns((), most_nodes + (workers + 1) * CHUNK, n_sums, bounded, linked)
    return Growing(nodes, numbers, keys, sums, np.array([0, 1], np.int64), np.zeros(1, np.int64))


def new_growings(most_nodes: int, n_sums: int, workers: int, bounded: bool, linked: bool) -> Growing:
    """Allocate room for a tree a worker; every array but ``halt`` has a leading worker axis."""
    nodes, numbers, keys, sums = _columns((workers,), most_nodes + 2 * CHUNK, n_sums, bounded, linked)
    return Growing(nodes, numbers, keys, sums, per_worker(workers, 2, np.int64, 0), np.zeros(1, np.int64))


def _columns(
    axis: tuple[int, ...], capacity: int, n_sums: int, bounded: bool, linked: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    nodes = sparse_empty((*axis, capacity, N_COLUMNS + linked), np.int32)
    numbers = sparse_empty((*axis, capacity, N_NUMBERS + 2 * bounded), np.float64)
    # What growth writes at the children of a node only is said of the root here.
    if linked:
        nodes[..., 0, PARENT] = -1
    if bounded:
        numbers[..., 0, LOWER], numbers[..., 0, UPPER] = -np.inf, np.inf
    keys, sums = sparse_empty((*axis, capacity), np.uint64), sparse_empty((*axis, capacity, 2, n_sums), np.int64)
    return nodes, numbers, keys, sums
