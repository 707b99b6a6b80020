# mypy: ignore-errors
# ruff: noqa: D102
"""Who grows a subtree: one thread alone, or a thread that leads and others that help it.

The leader grows the tree as any thread would. Where a node has many rows, it posts the work on a board: features to be
looked at, rows to be divided, tables to be filled, each cut into items that whoever is free takes. Nodes of few rows
are handed out whole. The leader takes items too and waits for those only that others have taken. Where they keep it
waiting, because the system runs something else on their cores, it posts less and less: a share of the time is all that
it risks. What is shared out never changes a bit.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.nodes import Subtree, in_hand, smaller_child, with_candidates, with_features, with_own
from dtnumba.growth.splitters.contract import (
    add_table,
    begin,
    clear_table,
    divide,
    fill_table,
    finish_division,
    inherit,
    keeper,
    of_keeper,
    prepare_division,
    release,
    score_features,
    shares_of_division,
    spare_slot,
    subtract,
    table_cells,
    with_tables_of,
)
from dtnumba.runtime.addresses import call_at
from dtnumba.runtime.kernels import by_having, by_type, inline, kernel_type, outlined
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.records import worker_part
from dtnumba.runtime.threads.board import (
    Board,
    add_to,
    begin_phase,
    close,
    has_item,
    is_closed,
    item_in,
    look_at,
    new_board,
    rest,
    take_away,
    take_word,
    wait_for,
)

# Entries of Board.phase
_KIND, _NODE, _FIRST, _LAST, _STEP, _SLOT, _NUMBER = range(7)
_LOOK, _DIVIDE, _FILL_ROWS, _FILL_COLUMNS = range(4)
# Work is counted in rows times columns, of some 1.5 ns each. Less than this is not posted; items are about so large.
_LEAST_WORK, _ITEM_WORK = 12_000, 40_000
_NAP_WORK = 60_000  # that a thread would have done while it slept
# Entries of Crew.account: all work so far, what others did of it, what the leader might have done while it waited.
_ALL, _HELPED, _LOST = range(3)
# A table larger than this is filled by columns, all workers in one; smaller ones by rows, and then added up.
_TABLE_CELLS = 1 << 17
_MOST_ITEMS = 4096
# A range of rows, or of columns, is one number: its first, so many bits up, and its end.
ROW_BITS = 31


class Alone(NamedTuple):
    """One thread grows a subtree."""


@kernel_type
class Crew(NamedTuple):
    """One thread leads, worker 0, and others help it."""

    board: Board
    scratches: object  # of all workers
    workers: int
    roots: np.ndarray  # (m,) int64: subtrees handed out, each its root + 1; 0: not yet, or taken
    handed: np.ndarray  # (1,) int64: how many so far
    finished: np.ndarray  # (1,) int64: how many of them are grown
    account: np.ndarray  # (3,) float64
    borders: np.ndarray  # (items,) int64: of the blocks of rows that are divided
    took: np.ndarray  # (workers,) int64: the last phase in which a worker filled its own table
    passed: np.ndarray  # (workers, places, 1) int64: how many of ``roots`` a worker has seen taken

    def look(self, job, own_job, scratch, node, first, last, total):
        return _look_together(self, job, scratch, node, first, last)

    def divide(self, job, scratch, node):
        return _divide_together(self, job, scratch, node)

    def fill(self, job, scratch, slot, start, stop):
        _fill_together(self, job, scratch, slot, start, stop)

    def leave(self, job, scratch, node):
        release(keeper(job.splitter), job.growing, of_keeper(job.splitter, scratch.own), node)
        self.roots[self.handed[0]] = node + 1
        add_to(self.handed, np.int64(1))


# Functions of their own to LLVM, as all that is called once a node or less: the launch compiles in 1.3 s, not 1.7.
@outlined
def _look_together(crew, job, scratch, node, first, last):
    n_rows = np.int64(job.growing.nodes[node, col.STOP]) - job.growing.nodes[node, col.START]
    work = n_rows * (last - first)
    if last - first < 2 or not _is_shared(crew, work):
        return call_at(job.calls.look, in_hand(job, scratch), np.int64(node), first, last)
    _describe(crew, _LOOK, node, first, last, _step(work, last - first, crew.workers))
    _post(crew, job, scratch, work)
    return np.int64(look_at(crew.board.sum))


@outlined
def _divide_together(crew, job, scratch, node):
    splitter = job.splitter
    first, last, work = shares_of_division(splitter, job, node)
    if last - first < 2 or not _is_shared(crew, work):
        return call_at(job.calls.divide, in_hand(job, scratch), np.int64(node), np.int64(0), np.int64(-1))
    prepare_division(splitter, job, node)
    step = _step(work, last - first, crew.workers)
    _describe(crew, _DIVIDE, node, first, last, step)
    _post(crew, job, scratch, work)
    return np.int64(finish_division(splitter, job, scratch, node, crew.borders, step))


@outlined
def _fill_together(crew, job, scratch, slot, start, stop):
    tables, own = keeper(job.splitter), of_keeper(job.splitter, scratch.own)
    p, phase = np.int64(job.n_features), crew.board.phase
    clear_table(tables, own, slot)
    work, rows = (stop - start) * p, start << ROW_BITS | stop
    if not _is_shared(crew, work):
        call_at(job.calls.fill, in_hand(job, scratch), slot, rows, p)
        return
    by_columns = table_cells(tables) > _TABLE_CELLS
    if by_columns:
        _describe(crew, _FILL_COLUMNS, rows, np.int64(0), p, _step(work, p, crew.workers))
    else:
        _describe(crew, _FILL_ROWS, p, start, stop, _step(work, stop - start, crew.workers))
    phase[_SLOT] = slot
    _post(crew, job, scratch, work)
    for worker in range(1, 0 if by_columns else crew.workers):
        if crew.took[worker] == phase[_NUMBER]:
            other = worker_part(crew.scratches, np.int64(worker)).own
            add_table(tables, own, slot, of_keeper(job.splitter, other))


def _look_alone(crew, job, own_job, scratch, node, first, last, total):
    return score_features(job.splitter, own_job, scratch, node, first, last, total)


def _divide_alone(crew, job, scratch, node):
    return divide(job.splitter, job, scratch, node)


def _fill_alone(crew, job, scratch, slot, start, stop):
    tables, own = keeper(job.splitter), of_keeper(job.splitter, scratch.own)
    clear_table(tables, own, slot)
    fill_table(tables, job.target, own, slot, start, stop, np.int64(0), np.int64(job.n_features))


def _leave_alone(crew, job, scratch, node):
    release(keeper(job.splitter), job.growing, of_keeper(job.splitter, scratch.own), node)


def new_crew(scratches, workers, most_roots):
    """Return a crew for a tree of which at most so many subtrees are handed out."""
    return Crew(
        new_board(),
        scratches,
        workers,
        np.zeros(most_roots, np.int64),
        per_worker(1, 1, np.int64, 0)[0, 0],
        per_worker(1, 1, np.int64, 0)[0, 0],
        np.zeros(3),
        np.empty(_MOST_ITEMS, np.int64),
        np.zeros(workers, np.int64),
        per_worker(workers, 1, np.int64, 0),
    )


look = by_type("look", _look_alone)  # fill the candidates of features [first, last) of a node; return how many vary
part_rows = by_type("divide", _divide_alone)  # move the rows of a node that has its split; return the border
fill = by_type("fill", _fill_alone)  # make a table that of the rows at [start, stop)
leave = by_type("leave", _leave_alone)  # leave an open node to whoever grows it


@inline
def _prepare_table(tables, crew, job, scratch, node):
    slot = begin(tables, job.growing, job.limits, of_keeper(job.splitter, scratch.own), node)
    if slot >= 0:
        nodes = job.growing.nodes
        fill(crew, job, scratch, slot, np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP]))


@inline
def _hand_on_table(tables, crew, job, scratch, node, left):
    growing, nodes, own = job.growing, job.growing.nodes, of_keeper(job.splitter, scratch.own)
    slot = inherit(tables, growing, own, node, left)
    if slot >= 0:
        small = smaller_child(nodes, left)
        fill(crew, job, scratch, slot, np.int64(nodes[small, col.START]), np.int64(nodes[small, col.STOP]))
        subtract(tables, growing, own, node, left, slot)


def _prepare_nothing(tables, crew, job, scratch, node):
    begin(tables, job.growing, job.limits, of_keeper(job.splitter, scratch.own), node)


def _hand_on_nothing(tables, crew, job, scratch, node, left):
    inherit(tables, job.growing, of_keeper(job.splitter, scratch.own), node, left)


# Prepare to look at a node, and hand on to the children of a divided one what they can use; asked of a ``keeper``.
prepare = by_having("fill_table", _prepare_table, _prepare_nothing)
hand_on = by_having("fill_table", _hand_on_table, _hand_on_nothing)


@inline
def _is_shared(crew, work):
    """Whether work is to be posted; keeps the account."""
    account = crew.account
    account[_ALL] += work
    return work >= _LEAST_WORK and 16.0 * account[_LOST] <= account[_ALL] + 4.0 * account[_HELPED]


@inline
def _step(work, n, workers):
    """Return how many of n pieces of work make an item: two items a worker at least, more where work is large."""
    n_items = min(max(np.int64(work) // _ITEM_WORK, 2 * workers), n, np.int64(_MOST_ITEMS))
    return (n + n_items - 1) // n_items


@inline
def _describe(crew, kind, node, first, last, step):
    phase = crew.board.phase
    phase[_KIND], phase[_NODE], phase[_FIRST], phase[_LAST], phase[_STEP] = kind, node, first, last, step
    phase[_NUMBER] += 1


@outlined
def _post(crew, job, scratch, work):
    """Post the phase described, take items of it, and wait for those that others have taken."""
    board, phase = crew.board, crew.board.phase
    n = (phase[_LAST] - phase[_FIRST] + phase[_STEP] - 1) // phase[_STEP]
    begin_phase(board, n)
    mine, word = np.int64(0), take_word(board)
    while has_item(word):
        here = in_hand(job, scratch)
        add_to(board.sum, _do_item(crew, job, here, here, phase[_SLOT], item_in(word)))
        mine += 1
        word = take_word(board)
    naps = wait_for(board, board.done, n - mine)
    crew.account[_HELPED] += work * (n - mine) / n
    crew.account[_LOST] += max(naps * _NAP_WORK - 2.0 * work / n, 0.0)


@outlined
def _do_item(crew, job, looking, filling, slot, k):
    """Do item k of the phase in hand; return what the kernel of its kind returns.

    ``looking`` is a Subtree whose candidates and tables are the leader's, ``filling`` that whose tables are filled.
    """
    phase = crew.board.phase
    kind, node = phase[_KIND], phase[_NODE]
    first = phase[_FIRST] + k * phase[_STEP]
    last = min(first + phase[_STEP], phase[_LAST])
    if kind == _LOOK:
        return call_at(job.calls.look, looking, node, first, last)
    if kind == _DIVIDE:
        crew.borders[k] = call_at(job.calls.divide, looking, node, first, last)
        return np.int64(0)
    if kind == _FILL_ROWS:
        return call_at(job.calls.fill, filling, slot, first << ROW_BITS | last, node)
    return call_at(job.calls.fill, filling, slot, node, first << ROW_BITS | last)


@outlined
def grow_handed(crew, job, scratch, worker):
    """Grow a subtree that was handed out, if there is one; return whether there was."""
    n, passed = np.int64(look_at(crew.handed)), crew.passed[worker, 0]
    while passed[0] < n:
        root = np.int64(take_away(crew.roots, passed[0]))
        passed[0] += 1
        if root > 0:
            call_at(job.calls.below, Subtree(job, scratch), root - 1, np.int64(0), np.int64(0))
            add_to(crew.finished, np.int64(1))
            return True
    return False


@inline
def finish_together(crew, job, scratch):
    """Grow what was handed out and nobody has taken yet, and wait for the rest."""
    while grow_handed(crew, job, scratch, np.int64(0)):
        pass
    wait_for(crew.board, crew.finished, crew.handed[0])
    close(crew.board)


@outlined
def help_out(crew, job, scratch, leads, worker):
    """Take items and subtrees until the leader has closed the board."""
    board, n_looks, number = crew.board, np.int64(0), np.int64(0)
    tables = with_own(scratch, with_tables_of(job.splitter, scratch.own, leads.own))
    looking = Subtree(job, with_candidates(with_features(tables, leads.features), leads.candidates))
    own = Subtree(job, scratch)
    keeping, kept = keeper(job.splitter), of_keeper(job.splitter, scratch.own)
    spare = spare_slot(keeping, kept)
    word = np.int64(look_at(board.word))
    while not is_closed(word):
        n_looks += 1
        if has_item(word):
            word = take_word(board)
            if has_item(word):
                phase, k, n_looks = board.phase, item_in(word), np.int64(0)
                if phase[_KIND] == _FILL_ROWS:
                    if number != phase[_NUMBER]:
                        number = crew.took[worker] = phase[_NUMBER]
                        clear_table(keeping, kept, spare)
                    returned = _do_item(crew, job, looking, own, spare, k)
                else:
                    returned = _do_item(crew, job, looking, looking, phase[_SLOT], k)
                add_to(board.sum, returned)
                add_to(board.done, np.int64(1))
        elif grow_handed(crew, job, scratch, worker):
            n_looks = np.int64(0)
        else:
            rest(board, n_looks)
        word = np.int64(look_at(board.word))
