# mypy: ignore-errors
"""Several threads on one search: one leads, and shares out what it would do next; others take items of that.

What an item finds does not depend on who does it, nor when, and the leader uses what was found in its own order. So
trees, losses and bounds are the same on any number of threads. Others may come at any time; until then, and where they
would keep the leader waiting because the system runs something else on their cores, it does all items by itself.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.runtime.addresses import call_at
from dtnumba.runtime.kernels import COMPILED, by_type, entry, inline
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.records import own_copy
from dtnumba.runtime.threads.board import (
    Board,
    add_to,
    begin_phase,
    has_item,
    is_closed,
    item_in,
    look_at,
    new_board,
    rest,
    take_word,
    wait_for,
)

MOST_TOGETHER = 16  # that are shared out at once
MOST_HELPERS = 15
# Work is counted in steps of some nanoseconds. Less than this, of all items, is not shared; and what would have been
# done while a thread slept.
LEAST_WORK, _NAP_WORK = 12_000, 60_000
# Entries of an account: all work so far, what others did of it, what the leader might have done while it waited.
_ALL, _HELPED, _LOST = range(3)

do_item = by_type("do_item")  # (job, slot, k): do item k with the memory of a worker


class SearchCrew(NamedTuple):
    """What the threads of a search share."""

    board: Board
    item: np.ndarray  # (MOST_TOGETHER, n) int64: what is asked, and what was found
    present: np.ndarray  # (1,) int64: helpers that have come
    share_at: np.ndarray  # (1,) int64: where the kernel is that works with them
    account: np.ndarray  # (3,) float64


def new_crew(n_numbers):
    """Return a crew whose items are so many numbers each."""
    item = np.zeros((MOST_TOGETHER, n_numbers), np.int64)
    share_at = np.zeros(1, np.int64 if COMPILED else object)
    return SearchCrew(new_board(), item, per_worker(1, 1, np.int64, 0)[0, 0], share_at, np.zeros(3))


@inline
def is_helped(crew):
    """Tell whether anybody has come to help."""
    return crew.present[0] > 0


@inline
def do_items(job, slot, n, work):
    """Do n items, of so much work in all, together with whoever is there."""
    if n > 1 and work >= LEAST_WORK and is_helped(job.crew):
        call_at(job.crew.share_at[0], job, slot, n, work)
    else:
        for k in range(n):
            do_item(job, slot, k)


@entry
def share_out(job, slot, n, work):
    """Do n items together with others; compiled once there are any."""
    job = own_copy(job)
    share(job, slot, n, work)
    return np.int64(0)


@inline
def share(job, slot, n, work):
    """Post n items, take some of them, and wait for those that others have taken."""
    account, board = job.crew.account, job.crew.board
    account[_ALL] += work
    is_shared = 16.0 * account[_LOST] <= account[_ALL] + 4.0 * account[_HELPED]
    mine, word = np.int64(0), np.int64(0)
    if is_shared:
        begin_phase(board, n)
        word = take_word(board)
    # One loop for both, so that the code of an item is here once
    while (has_item(word) if is_shared else mine < n) != 0:
        do_item(job, slot, item_in(word) if is_shared else mine)
        mine += 1
        if is_shared:
            word = take_word(board)
    if is_shared:
        naps = wait_for(board, board.done, n - mine)
        account[_HELPED] += work * (n - mine) / n
        account[_LOST] += max(naps * _NAP_WORK - 2.0 * work / n, 0.0)


@entry
def help_out(job, slot, _number, _unused):
    """Take items until the leader has closed the board."""
    job = own_copy(job)
    board, n_looks = job.crew.board, np.int64(0)
    add_to(job.crew.present, np.int64(1))
    word = np.int64(look_at(board.word))
    while not is_closed(word):
        n_looks += 1
        if has_item(word):
            word = take_word(board)
            if has_item(word):
                do_item(job, slot, item_in(word))
                add_to(board.done, np.int64(1))
                n_looks = np.int64(0)
        else:
            rest(board, n_looks)
        word = np.int64(look_at(board.word))
    return np.int64(0)
