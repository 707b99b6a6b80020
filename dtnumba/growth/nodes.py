# mypy: ignore-errors
"""Nodes under construction: one row of integers and one of floats a node, shared by every worker.

Workers grow disjoint subtrees into disjoint chunks of these arrays, so nothing is locked and nothing is copied.
"""

from typing import Any, NamedTuple

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.runtime.kernels import COMPILED, inline
from dtnumba.runtime.memory import per_worker, sparse_empty
from dtnumba.runtime.records import replacing


class Limits(NamedTuple):
    """When to stop, and how much of the data a node looks at."""

    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float
    min_decrease: float
    total_weight: float
    max_leaves: int
    n_drawn: int  # candidate features a node
    features_key: int  # uint64 streams of random numbers
    cuts_key: int
    test: object  # NoTest, or what a split must pass (see ``significance_test``)
    monotone: object  # AnyShape or Monotonic


class Growing(NamedTuple):
    """Nodes under construction."""

    nodes: np.ndarray  # (m, N_COLUMNS) int32, and one more for PARENT
    numbers: np.ndarray  # (m, N_NUMBERS) float64, and two more for LOWER and UPPER
    keys: np.ndarray  # (m,) uint64: path from the root, the only thing random draws know of a node
    # (m, 2, n_kept) int64: of a node's rows, and of those that go left; sums[k, 0, 0] may be UNKNOWN, and is where they
    # are too many to be kept.
    sums: np.ndarray
    room: np.ndarray  # (2,) int64
    terms: np.ndarray  # (m, width) float64: of the sums that nodes test (see ``oblique``); width 0 where none may
    halt: np.ndarray  # (1,) int64: not 0 where growth is to stop at the next node, and what was grown will be dropped


class SubtreeKernels(NamedTuple):
    """Addresses of the kernels that growth is made of (``entry_of``), each compiled by itself."""

    below: Any = 0  # grow_subtree
    small: Any = 0  # grow_few_rows; 0: subtrees of few rows are grown like others
    levels: Any = 0  # search_levels; 0: there are no categories
    look: Any = 0  # look_at_some, divide_some and fill_some; 0: one thread grows alone
    divide: Any = 0
    fill: Any = 0  # 0 also where no tables are kept
    offer: Any = 0  # offer_sums; 0: nodes test single columns


class Job(NamedTuple):
    """Everything growth reads, and the nodes it writes."""

    splitter: object
    target: object
    criterion: object
    limits: object
    growing: object
    features: object  # looked at by a node: AllFeatures or SomeFeatures, or Interacting
    n_features: int
    n_per_output: int  # numbers of one output that a criterion sees
    small: object  # how subtrees of few rows are grown: LikeOthers, OnBits or OnSums
    calls: SubtreeKernels = SubtreeKernels()


# The same job, limits or scratch with one field changed; ``with_features`` serves a job and a scratch.
with_splitter, with_target, with_growing = replacing("splitter"), replacing("target"), replacing("growing")
with_limits, with_features, with_candidates = replacing("limits"), replacing("features"), replacing("candidates")
with_own, with_monotone, with_small = replacing("own"), replacing("monotone"), replacing("small")
with_total, with_min_weight = replacing("total_weight"), replacing("min_weight_leaf")
with_features_key, with_cuts_key = replacing("features_key"), replacing("cuts_key")


class Scratch(NamedTuple):
    """Buffers that one worker owns while it grows one subtree."""

    candidates: object
    work: object
    features: np.ndarray  # (p,) int64: a permutation, drawn from and restored at each node
    drawn: np.ndarray  # (p,) int64: with what each drawn feature changed places
    listed: np.ndarray  # (p,) int64: the drawn features in the order of the draw
    frontier: np.ndarray  # (k,) int64: nodes that have a split and wait to be divided
    own: object  # the splitter's
    small: object  # for subtrees of few rows
    place: np.ndarray  # (2,) int64: where the next nodes go, and where their chunk ends
    here: np.ndarray  # (1,) int64: the address of the Subtree in hand


class Subtree(NamedTuple):
    """What a kernel that grows a subtree is handed by address."""

    job: Job
    scratch: Scratch


@inline
def smaller_child(nodes, left):
    """Return which of two children, ``left`` and the one behind it, has fewer rows; the left one where it is a tie."""
    n_left = nodes[left, col.STOP] - nodes[left, col.START]
    return left if n_left <= nodes[left + 1, col.STOP] - nodes[left + 1, col.START] else left + 1


@inline
def _address_in_hand(job, scratch):
    return scratch.here[0]


def _subtree_in_hand(job, scratch):
    return Subtree(job, scratch)


# What a kernel called by address is handed: the Subtree in hand, which would take as long to copy as to look at.
in_hand = _address_in_hand if COMPILED else _subtree_in_hand


def new_growing(most_nodes: int, n_kept: int, workers: int, bounded: bool, linked: bool, n_terms: int = 0) -> Growing:
    """Allocate room for a tree of at most so many nodes; what no node touches costs no memory.

    ``bounded``: nodes have ranges for their values; ``linked``: they know their parents; ``n_terms``: numbers that say
    the sum of a node.
    """
    capacity = most_nodes + (workers + 1) * col.CHUNK
    nodes, numbers, keys, sums = _columns((), capacity, n_kept, bounded, linked)
    terms = sparse_empty((capacity, n_terms), np.float64)
    return Growing(nodes, numbers, keys, sums, np.array([0, 1], np.int64), terms, np.zeros(1, np.int64))


def new_growings(most_nodes: int, n_kept: int, workers: int, bounded: bool, linked: bool, n_terms: int = 0) -> Growing:
    """Allocate room for a tree a worker; every array but ``halt`` as ``worker_part`` takes them."""
    capacity = most_nodes + 2 * col.CHUNK
    nodes, numbers, keys, sums = _columns((workers, 1), capacity, n_kept, bounded, linked)
    terms = sparse_empty((workers, 1, capacity, n_terms), np.float64)
    return Growing(nodes, numbers, keys, sums, per_worker(workers, 2, np.int64, 0), terms, np.zeros(1, np.int64))


def _columns(
    axis: tuple[int, ...], capacity: int, n_kept: int, bounded: bool, linked: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    nodes = sparse_empty((*axis, capacity, col.N_COLUMNS + linked), np.int32)
    numbers = sparse_empty((*axis, capacity, col.N_NUMBERS + 2 * bounded), np.float64)
    # What growth writes at the children of a node only is said of the root here.
    if linked:
        nodes[..., 0, col.PARENT] = -1
    if bounded:
        numbers[..., 0, col.LOWER], numbers[..., 0, col.UPPER] = -np.inf, np.inf
    keys, sums = sparse_empty((*axis, capacity), np.uint64), sparse_empty((*axis, capacity, 2, n_kept), np.int64)
    return nodes, numbers, keys, sums


class Candidates(NamedTuple):
    """The best cut of each feature at the node in hand."""

    gain: np.ndarray  # (p,) float64
    information: np.ndarray  # (p,) float64
    cut: np.ndarray  # (p,) float64: a drawn threshold (random splits only)
    where: np.ndarray  # (p, 4) int64: see the columns above
    sums: np.ndarray  # (p, n_sums) int64: of the rows that go left; as few as nodes keep, where no test asks for them


class Work(NamedTuple):
    """Buffers of one worker for statistics that are arrays."""

    total: np.ndarray
    left: np.ndarray
    right: np.ndarray
    best: np.ndarray
    seen: np.ndarray  # (3, size) float64: parent, left and right as the criterion sees them
    own: np.ndarray  # (4, size) int64: the target kind's: trees of sums by rank, or the mean of the node
    costs: np.ndarray  # (size,) float64: likewise; the cost of each cut
    sums: np.ndarray  # (5, n_cuts) int64: sums over a feature's bins up to each
    codes: np.ndarray  # (n_cuts,) uint64: the bins
    scores: np.ndarray  # (n_cuts,) float64
    pairs: np.ndarray  # (n_cuts,) int32: sums of small nodes
    rough: np.ndarray  # (n_cuts,) float32: scores of these
