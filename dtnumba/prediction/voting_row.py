# mypy: ignore-errors
"""One row to what trees of C5.0 say: a mixture of leaves, or trials that vote; one call of a kernel, without a task."""

from typing import NamedTuple

import numpy as np

from dtnumba.prediction.confident_votes import likeliest, mixture
from dtnumba.runtime.kernels import kernel, kernel_type
from dtnumba.tables.cells import Cells
from dtnumba.trees.layout import last_children, node_values
from dtnumba.trees.routing import as_asked


@kernel_type
class Tests(NamedTuple):
    """What nodes ask, of all that Trees hold: a call of a kernel unpacks each array."""

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    cut_start: np.ndarray
    cut: np.ndarray
    branch_start: np.ndarray
    branch: np.ndarray
    level_start: np.ndarray
    level: np.ndarray
    share: np.ndarray
    weight: np.ndarray


@kernel_type
class OneRow(NamedTuple):
    """A row and the trees that it goes down, as ``VoteByLeaves`` has them."""

    cells: object
    trees: Tests
    last: np.ndarray
    value: np.ndarray
    without: int
    seen: np.ndarray


@kernel
def say(trees, last, value, roots, row, scratch, out):
    """Write the probability of each class; of several trees the share of their votes."""
    waiting, parts, mixed, nobody = scratch
    n_columns = len(row)
    task = OneRow(Cells(row, 0, n_columns, 1, 1, n_columns), trees, last, value, -1, nobody)
    out[:] = 0.0
    for t in range(len(roots)):
        root = np.int64(roots[t])
        cases = mixture(task, root, 0, 0, waiting, parts, mixed)
        if len(roots) == 1:
            for k in range(len(out)):
                out[k] = (mixed[k] * cases + value[root, k]) / (cases + 1.0)
            return
        best = likeliest(mixed)
        out[best] += (mixed[best] * cases + value[root, best]) / (cases + 1.0)
    total = 0.0
    for k in range(len(out)):
        total += out[k]
    for k in range(len(out)):
        out[k] /= total


class VotingRow:
    """Trees as a function of one row of floats of so many bits.

    Parameters
    ----------
    trees : Trees
        Of C5.0.
    bits : int
        Of the floats.

    """

    def __init__(self, trees, bits):
        asked, value = as_asked(trees, bits), np.ascontiguousarray(node_values(trees))
        tests = Tests(*(np.ascontiguousarray(getattr(asked, name)) for name in Tests._fields))
        self._given = tests, last_children(trees), value, np.ascontiguousarray(trees.root[:-1])
        self._sizes, self._nobody = (trees.n_nodes, value.shape[1]), np.zeros((0, 0), np.uint8)

    def __call__(self, row, out):
        """Write what they say of a row; ``out`` is None for a new array."""
        n_nodes, k = self._sizes
        out = np.empty(k) if out is None else out
        # Scratch memory of its own a call, so that threads may ask at once
        scratch = np.empty(n_nodes, np.int64), np.empty(n_nodes), np.empty(k), self._nobody
        say(*self._given, row, scratch, out)
        return out
