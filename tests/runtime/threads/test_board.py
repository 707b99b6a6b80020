"""A board on which one worker posts phases of its work, and others take items of them."""

from typing import NamedTuple

import numpy as np
import pytest

from dtnumba.runtime.kernels import COMPILED, kernel, kernel_type
from dtnumba.runtime.tasks import launch_beside
from dtnumba.runtime.threads import board as boards
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

pytestmark = pytest.mark.small


@kernel_type
class Mark(NamedTuple):
    """Add 1 to a range of numbers in each of some phases, every item a number; worker 0 posts them."""

    board: Board
    numbers: np.ndarray  # (n,) int64
    n_phases: int
    by_others: np.ndarray  # (1,) int64 out: items that others did

    def run(self, worker):
        board = self.board
        if worker == 0:
            for phase in range(self.n_phases):
                board.phase[0] = phase
                begin_phase(board, len(self.numbers))
                mine, word = np.int64(0), take_word(board)
                while has_item(word):
                    self.numbers[item_in(word)] += board.phase[0]
                    mine += 1
                    word = take_word(board)
                wait_for(board, board.done, len(self.numbers) - mine)
                self.by_others[0] += len(self.numbers) - mine
            close(board)
        else:
            n_looks, word = np.int64(0), np.int64(look_at(board.word))
            while not is_closed(word):
                n_looks += 1
                if has_item(word):
                    word = take_word(board)
                    if has_item(word):
                        self.numbers[item_in(word)] += board.phase[0]
                        add_to(board.done, np.int64(1))
                        n_looks = np.int64(0)
                else:
                    rest(board, n_looks)
                word = np.int64(look_at(board.word))


@pytest.mark.parametrize("workers", [1, 2, 3, 9])
@pytest.mark.parametrize("n", [0, 1, 5, 2000])
def test_every_item_of_every_phase_is_done_once(workers, n):
    task = Mark(new_board(), np.zeros(n, np.int64), 300, np.zeros(1, np.int64))
    launch_beside(task, workers, leader_ends=True)
    assert (task.numbers == 300 * 299 // 2).all()
    assert is_closed(int(task.board.word[0]))


def test_who_comes_too_late_finds_the_board_closed():
    board = new_board()
    begin_phase(board, 1)
    assert has_item(take_word(board))
    assert not has_item(take_word(board))
    close(board)
    for _ in range(1000):
        assert is_closed(take_word(board))


def test_a_phase_offers_as_many_items_as_it_has_whatever_came_before():
    board = new_board()
    for n in (3, 0, 1, boards.MOST_ITEMS, 2):
        begin_phase(board, n)
        found = [item_in(word) for word in (take_word(board) for _ in range(min(n, 5) + 2)) if has_item(word)]
        assert found == list(range(min(n, 7)))


def test_what_is_taken_away_is_gone():
    array = np.array([0, 7, 8])
    assert [take_away(array, np.int64(i)) for i in (1, 1, 2)] == [7, 0, 8]
    assert not array.any()


@kernel
def _wait(board, counter):
    return wait_for(board, counter, 1)


@pytest.mark.skipif(not COMPILED, reason="interpreted, nobody else works")
def test_who_waits_long_sleeps():
    """A thread that waits gives its core away, and says how often."""
    import threading
    import time

    board, naps = new_board(), []
    _wait(board, np.ones(1, np.int64))  # compiles

    def wait_for_a_while():
        counter = np.zeros(1, np.int64)
        waiter = threading.Thread(target=lambda: naps.append(_wait(board, counter)))
        began = time.process_time()
        waiter.start()
        time.sleep(0.3)
        counter[0] = 1
        waiter.join(20)
        return naps[-1] > 3 and time.process_time() - began < 0.25

    assert any(wait_for_a_while() for _ in range(20))  # on a busy machine, a thread may begin late


def test_a_system_without_such_functions_waits_by_looking(monkeypatch):
    monkeypatch.setattr(boards, "_waits", lambda: (0, 0, 0))
    task = Mark(new_board(), np.zeros(50, np.int64), 20, np.zeros(1, np.int64))
    launch_beside(task, 2, leader_ends=True)
    assert (task.numbers == 190).all()
