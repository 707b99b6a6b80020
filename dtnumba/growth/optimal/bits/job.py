"""Columns of 0 and 1 made ready for their search: rows as bits, and the memory of all levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.optimal.bits.ahead import I_SIZE, BitJob, Frames
from dtnumba.growth.optimal.bits.rows import BitRows, Counted, Summed
from dtnumba.growth.optimal.bits.search import search
from dtnumba.growth.optimal.bits.two_levels import Pairs, two_below
from dtnumba.growth.optimal.crew import new_crew
from dtnumba.growth.optimal.known_sets import Known
from dtnumba.growth.optimal.objectives import lost_alike
from dtnumba.growth.optimal.rule import N_LEVEL_STATE
from dtnumba.runtime.addresses import code_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.optimal.rule import TreeRule
    from dtnumba.runtime.addresses import Code

FEW_GROUPS = 32  # of rows of the same class and weight, counted as bits


def bit_job(
    columns: NDArray[np.uint8],
    groups: Any,
    values: Any,
    loss: Any,
    rule: TreeRule,
    worst: Any,
    places: int,
    helpers: int = 0,
) -> BitJob:
    """Return the search over ``columns`` (columns, rows) of 0 and 1.

    Parameters
    ----------
    columns : array
        The tests' outcomes: 1 for rows that go right.
    groups : tuple or None
        Of each row, the number of its group; and of each group, which sum it adds to and how much. None: ``values``.
    values : array of shape (rows, sums), int64
        What each row adds to each sum.
    loss, rule : parts
        What a leaf loses, and what trees are allowed.
    worst : array
        Of each group, what one row can lose at most; empty where nobody can say.
    places : int
        Sets of rows that are remembered.
    helpers : int
        Threads that may come to help.

    """
    n_columns, n_rows = columns.shape
    group = np.zeros(n_rows, np.int64) if groups is None else groups[0]
    n_groups = 1 if groups is None else len(groups[1])
    order = np.argsort(group, kind="stable")
    counts = np.bincount(group, minlength=n_groups)
    words = -(-counts // 64)
    start = np.concatenate([[0], np.cumsum(words)]).astype(np.int64)
    n_words = max(int(start[-1]), 1)
    first = np.concatenate([[0], np.cumsum(counts)])[:-1]
    place = np.empty(n_rows, np.int64)
    place[order] = np.arange(n_rows) - first[group[order]] + 64 * start[group[order]]
    spread = np.zeros((n_columns + 1, 64 * n_words), np.uint8)
    for g in range(n_groups):
        own, at = order[first[g] : first[g] + counts[g]], 64 * start[g]
        np.take(columns, own, axis=1, out=spread[:n_columns, at : at + counts[g]], mode="clip")
        spread[n_columns, at : at + counts[g]] = 1
    words_of = np.packbits(spread, axis=1, bitorder="little").view(np.uint64)  # (columns + 1, words)
    levels = max(rule.depth, 2)
    bits = np.zeros((levels, n_words, n_columns), np.uint64)
    valid = np.zeros((levels, n_words), np.uint64)
    bits[0], valid[0] = words_of[:n_columns].T, words_of[n_columns]
    starts = np.zeros((levels, n_groups + 1), np.int64)
    starts[0] = start
    row = np.zeros((levels, 64 * n_words), np.int64)
    row[0, place] = np.arange(n_rows)
    column = np.zeros((levels, n_columns), np.int64)
    column[0] = np.arange(n_columns)
    width = np.zeros(levels, np.int64)
    width[0] = n_columns
    rows = BitRows(bits, valid, starts, width, column, row)
    if groups is None:
        n_sums = values.shape[1]
        value = np.zeros((levels, 64 * n_words, n_sums), np.int64)
        value[0, place] = values
        sums: Any = Summed(value)
    else:
        n_sums = int(groups[1].max()) + 1
        sums = Counted(*(np.ascontiguousarray(one, np.int64) for one in groups[1:]))
    shape = (n_columns,)
    pairs = Pairs(
        np.zeros((n_sums, n_columns), np.int64),
        np.zeros(n_sums, np.int64),
        np.zeros((n_sums, n_columns + 1), np.int64),
        np.zeros((4, n_columns), np.int64),
        np.zeros(shape, np.int64),
        np.zeros(shape, np.int64),
        np.zeros((2, n_columns), np.int64),
        np.zeros((2, n_columns), np.int64),
        *(np.zeros(4, np.int64) for _ in range(4)),
    )
    known = Known(
        np.zeros((places, 2), np.uint64),
        np.zeros(places, np.int64),
        np.zeros(places, np.uint8),
        np.zeros((levels, 2, n_words), np.uint64),
        np.zeros((levels, 2, 3), np.int64),
        np.zeros(levels, np.int64),
        np.asarray(worst, np.int64),
        *_lost_alike(columns, values, loss, rule, place, n_words),
    )
    size = 1 << rule.depth
    frames = Frames(
        np.zeros((levels, N_LEVEL_STATE), np.int64),
        np.zeros((levels, n_columns), np.int64),
        np.zeros(n_columns),
        np.zeros((levels, 2, n_columns), np.int64),
        np.zeros((levels + 1 + helpers, 2, n_words), np.uint64),
        np.zeros((levels, 2, n_words), np.uint64),
        np.zeros((levels, 2, 2), np.uint64),
        words_of[:n_columns].copy(),
        np.full((levels + 1, size), -1, np.int64),
        np.full((levels + 1, size), -1, np.int64),
        np.zeros(3, np.int64),
        np.zeros((levels, 2, 3), np.int64),
        np.zeros(n_columns, np.int64),
        np.zeros(2, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
    )
    return BitJob(rows, sums, loss, rule, pairs, known, frames, np.zeros(1, np.int64), new_crew(I_SIZE), 0)


def _lost_alike(
    columns: NDArray[np.uint8], values: Any, loss: Any, rule: TreeRule, place: NDArray[np.int64], n_words: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return one row of those that no column parts, and what they lose, as ``Known`` has it."""
    nothing = np.zeros(0, np.uint64), np.zeros(0, np.int64)
    if rule.depth <= 2 or len(columns) == 0:
        return nothing
    first, loses = lost_alike(columns, values, loss)
    alike, lost = np.zeros(64 * n_words, np.uint8), np.zeros(64 * n_words, np.int64)
    at = place[first[loses > 0]]
    alike[at], lost[at] = 1, loses[loses > 0]
    if len(at) == 0:
        return nothing
    return np.packbits(alike, bitorder="little").view(np.uint64), lost


def bit_helper(job: BitJob) -> BitJob:
    """Return the job as a thread that helps has it: what it writes is its own."""
    return job._replace(pairs=Pairs(*map(np.zeros_like, job.pairs)))


def bit_kernels(job: BitJob) -> tuple[Code, Code]:
    """Return the codes of a search: of two levels, and of what is above them."""
    return code_for(two_below, job), code_for(search, job)
