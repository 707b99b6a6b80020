"""What a growing tree looks like: one row of integers and one of floats a node, shared by every worker.

Workers grow disjoint subtrees into disjoint regions of these arrays, so nothing is locked and nothing is copied.
"""

from typing import NamedTuple

import numpy as np

# Columns of Growing.nodes
FEATURE, LEFT, LAST_LEFT, FIRST_RIGHT, MISSING_LEFT, START, STOP, DEPTH, SLOT, LEFT_ROWS = range(10)
N_COLUMNS = 10
LEAF = -1

# Columns of Growing.numbers
GAIN, CUT, PRIORITY = range(3)


class Growing(NamedTuple):
    """Nodes under construction."""

    nodes: np.ndarray  # (m, N_COLUMNS) int64
    numbers: np.ndarray  # (m, 3) float64
    keys: np.ndarray  # (m,) uint64: path from the root, the only thing random draws know of a node


class Job(NamedTuple):
    """Everything growth reads, and the nodes it writes."""

    splitter: object
    target: object
    criterion: object
    limits: object
    growing: object
    n_features: int
    n_seen: int  # numbers of one output that a criterion sees


class Scratch(NamedTuple):
    """What one worker owns while it grows one subtree."""

    candidates: object
    work: object
    features: np.ndarray  # (p,) int64: a permutation, drawn from and restored at each node
    drawn: np.ndarray  # (p,) int64: with what each drawn feature changed places
    ascending: np.ndarray  # (p,) int64: the drawn features in feature order
    frontier: np.ndarray  # (k,) int64: nodes that have a split and wait to be divided
    own: object  # the splitter's


def new_growing(capacity):
    """Allocate room for ``capacity`` nodes; pages that no node touches cost no memory."""
    return Growing(
        np.empty((capacity, N_COLUMNS), np.int64), np.empty((capacity, 3), np.float64), np.empty(capacity, np.uint64)
    )
