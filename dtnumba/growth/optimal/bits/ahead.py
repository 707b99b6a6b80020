# mypy: ignore-errors
# ruff: noqa: D102
"""Tests whose sides are solved ahead, by several threads: those that the search will come to next.

A side of two levels is solved whole, whatever it must be better than. So the search finds what it would find alone; all
that may be lost is work on tests that it passes over in the end.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.optimal.bits.rows import BitRows
from dtnumba.growth.optimal.bits.two_levels import Pairs
from dtnumba.growth.optimal.crew import SearchCrew, share
from dtnumba.growth.optimal.known_sets import Known
from dtnumba.growth.optimal.rule import TreeRule
from dtnumba.runtime.addresses import call_at
from dtnumba.runtime.kernels import inline, kernel_type, outlined

# Numbers of an item: asked are a level, a column, which side is solved first and what both together must be below, less
# the bound of the other one; found, of both sides, whether they are solved and the losses by number of tests
I_LEVEL, I_TEST, I_FIRST, I_BELOW, I_SOLVED, I_VALUE = 0, 1, 2, 3, 4, 6
I_SIZE = 14


class Frames(NamedTuple):
    """Levels of the search."""

    state: np.ndarray  # (levels, N_LEVEL_STATE) int64
    order: np.ndarray  # (levels, columns) int64
    score: np.ndarray  # (columns,) float64
    leaf: np.ndarray  # (levels, 2, columns) int64
    # (levels + 1 + helpers, 2, words) uint64: rows of each side, as the level has them; then those of workers' items
    mask: np.ndarray
    seen: np.ndarray  # (levels, 2, words) uint64: the same, as level 0 has them
    key: np.ndarray  # (levels, 2, 2) uint64: two words that name them
    all_bits: np.ndarray  # (columns, words) uint64: level 0, column by column
    best: np.ndarray  # (levels, 2 ** depth) int64: tests of the best tree, root first, children of k at 2k + 1, 2k + 2
    kept: np.ndarray  # (levels, 2 ** depth) int64: of the side that was solved first
    tests: np.ndarray  # (3,) int64: of the tree of two levels just found
    two: np.ndarray  # (levels, 2, 3) int64: of both sides
    counts: np.ndarray  # (columns,) int64
    explored: np.ndarray  # (2,) int64: sets of rows solved, and tests tried
    never: np.ndarray  # (1,) int64: 0, a flag that ends nothing
    ahead: np.ndarray  # (1,) int64: tests that are solved ahead


@kernel_type
class BitJob(NamedTuple):
    """Everything the search reads and writes."""

    rows: BitRows
    sums: object
    loss: object
    rule: TreeRule
    pairs: Pairs
    known: Known
    frames: Frames
    halt: np.ndarray  # (1,) int64
    crew: SearchCrew
    two_at: int  # where ``two_below`` is

    def do_item(self, slot, k):
        _solve_both(self, slot, k)


@outlined
def _solve_both(job, slot, k):
    """Solve the sides of a test; the second one only where the first one leaves it something to find."""
    item, rows, own = job.crew.item[k], job.rows, job.frames.mask[slot]
    level, j = item[I_LEVEL], np.uint64(item[I_TEST])
    for w in range(np.uint64(rows.start[level, rows.start.shape[1] - 1])):
        x = rows.bits[level, w, j]
        own[0, w], own[1, w] = rows.valid[level, w] & ~x, x
    for turn in range(2):
        side = item[I_FIRST] if turn == 0 else 1 - item[I_FIRST]
        if item[I_SOLVED + side] == 1:  # as nobody needs to know it
            continue
        call_at(job.two_at, job, level, 2 + 2 * slot + side, 3)
        for n in range(4):
            item[I_VALUE + 4 * side + n] = job.pairs.value[n]
        item[I_SOLVED + side] = 2
        if turn == 0 and job.pairs.value[3] >= item[I_BELOW]:
            return


@inline
def found_ahead(job, level, j):
    """Return the item that was about a test, -1 if none was."""
    item = job.crew.item
    for k in range(job.frames.ahead[0]):
        if item[k, I_TEST] == j and item[k, I_LEVEL] == level:
            return np.int64(k)
    return np.int64(-1)


@outlined
def solve_ahead(job, level, n, work):
    """Solve the tests that items name."""
    share(job, len(job.frames.order), n, work)
    job.frames.ahead[0] = n
