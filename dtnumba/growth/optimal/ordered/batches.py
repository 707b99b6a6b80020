# mypy: ignore-errors
# ruff: noqa: D102
"""Cuts above the last two levels, tried several at a time; by several threads, where there are.

How many are tried at a time, and what they have to be better than, was settled before: it does not depend on threads.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.optimal.crew import LEAST_WORK, MOST_TOGETHER, SearchCrew, do_items
from dtnumba.growth.optimal.known_sets import SolvedSets, bound_by_like
from dtnumba.growth.optimal.losses.contract import spends
from dtnumba.growth.optimal.ordered.rows import Lanes, SortedRows, loss_of_set, part
from dtnumba.growth.optimal.ordered.two_levels import (
    R_COLUMN,
    R_LEFT,
    R_PRICE,
    R_RIGHT,
    R_WAY,
    TWO_COLUMN,
    TWO_CUT,
    TWO_LOW,
    TWO_SPENT,
    TWO_UPPER,
    VALUE,
    Levels,
)
from dtnumba.growth.optimal.rule import S_DEPTH, S_OWN, S_SPENT, S_TESTS, S_UPPER, TreeRule, limit_tests
from dtnumba.runtime.addresses import call_at
from dtnumba.runtime.kernels import inline, kernel_type, outlined

# Numbers of an item: asked are a level, the place of its range and a cut; found, of both sides, what they lose, the
# bound, whether that comes from a set that was solved before, column and cut of their roots; and sets solved
I_LEVEL, I_PLACE, I_CUT, I_GOT, I_LOW, I_IS_LIKE, I_COLUMN, I_ROOT, I_SETS = 0, 1, 2, 3, 5, 7, 9, 11, 13
I_SIZE = 14
_BY_ONE, _MORE = 4, 4  # cuts of a set that are tried one by one, and for how many more, one more is tried at a time


@kernel_type
class SortedJob(NamedTuple):
    """Everything the search reads and writes."""

    rows: SortedRows
    loss: object
    rule: TreeRule
    lanes: Lanes
    levels: Levels
    halt: np.ndarray
    known: SolvedSets
    crew: SearchCrew
    two_at: int  # where ``sorted_two_below`` is

    def do_item(self, slot, k):
        _try_cut(self, slot, k)


@inline
def n_together(rows, level, side, n_tried):
    """Return how many cuts of a set are tried at a time, and what work one is."""
    p = rows.row.shape[2]
    work = np.int64(rows.size[level, side]) * p * p * 2
    n = np.int64(1)
    if n_tried > _BY_ONE and 4 * work >= LEAST_WORK:
        n = min(n_tried // _MORE, np.int64(MOST_TOGETHER))
    return n, work


@outlined
def try_together(job, level, n, work):
    """Try the cuts that items name, in the rows of a level."""
    do_items(job, level + 1, n, n * work)
    for k in range(n):
        job.levels.explored[0] += job.crew.item[k, I_SETS]
        job.levels.explored[2] += 1


@outlined
def _try_cut(job, slot, k):
    """Part a set in two, in rows[slot], and solve both of them."""
    rows, levels, item = job.rows, job.levels, job.crew.item[k]
    if job.halt[0] != 0:
        item[I_SETS] = 0
        return  # nobody uses what was found
    level, cut = item[I_LEVEL], item[I_CUT]
    state, one = levels.state[level], levels.ranges[level, item[I_PLACE]]
    f, before = one[R_COLUMN], levels.explored[0]
    part(rows, level, state[S_OWN], f, cut, job.lanes, slot)
    as_left = loss_of_set(job.loss, rows, slot, 0, job.lanes)
    first = np.int64(loss_of_set(job.loss, rows, slot, 1, job.lanes) > as_left)
    spent = state[S_SPENT] + spends(job.loss, f)
    for turn in range(2):
        side = first if turn == 0 else 1 - first
        given = one[R_WAY] if side == 0 else state[S_TESTS] - 1 - one[R_WAY]
        d, t = limit_tests(state[S_DEPTH] - 1, given)
        # What the other side loses at the far end of the range: if this one loses so much more, half of the range is
        # skipped.
        upper = state[S_UPPER] - one[R_PRICE] - (one[R_RIGHT] if side == 0 else one[R_LEFT])
        item[I_IS_LIKE + side] = 1
        item[I_GOT + side] = item[I_LOW + side] = upper
        item[I_COLUMN + side] = -1
        if not bound_by_like(job.known, level + 1, rows, slot, side, (d, t, spent), upper, job.known.own[2 * k + side]):
            levels.two[TWO_UPPER], levels.two[TWO_SPENT] = upper, spent
            call_at(job.two_at, job, slot, side, t)
            item[I_IS_LIKE + side] = 0
            item[I_GOT + side], item[I_LOW + side] = levels.two[VALUE], levels.two[TWO_LOW]
            item[I_COLUMN + side], item[I_ROOT + side] = levels.two[TWO_COLUMN], levels.two[TWO_CUT]
    item[I_SETS] = levels.explored[0] - before
    levels.explored[0] = before
