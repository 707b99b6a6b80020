# mypy: ignore-errors
"""What both searches hold trees to, and the order in which they try columns."""

from typing import NamedTuple

import numpy as np

from dtnumba.runtime.kernels import inline, outlined

# What a level of a search does next, how a search ends, and the columns of a level's state
NEXT_TEST, ONE_SIDE, OTHER_SIDE = 0, 1, 2
ENDED, HALTED = 0, 1
S_PHASE, S_SIDE, S_DEPTH, S_TESTS, S_UPPER, S_START, S_LOW, S_GOT, S_BEFORE, S_BEST = range(10)
S_BOUND, S_BUDGET, S_LEVEL = range(10, 13)
S_AT, S_LIMIT, S_ASKED, S_OTHER = range(13, 17)  # over bits
S_OWN, S_HEAD, S_TAIL, S_CUT, S_GOT_LOW, S_BEFORE_LOW, S_SPENT, S_TRIED = range(13, 21)  # over ordered columns
N_LEVEL_STATE = 21
ALL_TESTS = 1 << 30  # a budget of discrepancies that leaves out no test
GO_ON = ALL_TESTS + 1  # likewise, and the search goes on where it ended early
# Of every column, how many cuts are tried at most where not all are: the best of each part of the rows
N_PARTS = 4


class TreeRule(NamedTuple):
    """What trees are allowed, and what they cost."""

    depth: int
    most: int  # tests
    least: int  # rows of a leaf
    price: int  # of a test, in units of loss
    gap: float  # a tree is good enough where no other is better by more than this share of what it loses
    no_rows: np.ndarray  # empty; makes this a record


@inline
def note_best(rule, state, level, loss):
    """Note what a level's best tree loses, and what others have to be better than: at the root by some more."""
    state[S_BEST] = loss
    state[S_UPPER] = loss - np.int64(rule.gap * loss) if level == 0 else loss


@inline
def take_up(root, upper):
    """Return the level at which a search that ended early goes on, for trees that lose less than ``upper``."""
    root[S_UPPER] = min(root[S_UPPER], upper)
    return root[S_LEVEL]


@inline
def limit_tests(depth, tests):
    """Return the depth and the tests that make a difference."""
    depth = min(depth, tests)
    return depth, min(tests, (np.int64(1) << depth) - 1)


@outlined
def sort_by(order, score, n):
    """Sort order by score, stably where it is sorted already: a shell sort, ties by number."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            x, k = order[i], i
            while k >= gap and (
                score[order[k - gap]] > score[x] or (score[order[k - gap]] == score[x] and order[k - gap] > x)
            ):
                order[k] = order[k - gap]
                k -= gap
            order[k] = x
        gap //= 3
