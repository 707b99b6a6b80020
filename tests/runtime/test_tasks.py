"""Tasks on threads of their own: nobody waits for a thread that has not begun."""

import _thread
import threading
import time
import weakref
from typing import NamedTuple

import numpy as np
import pytest

from dtnumba.runtime import tasks
from dtnumba.runtime.addresses import code_for
from dtnumba.runtime.kernels import COMPILED, entry, kernel_type
from dtnumba.runtime.tasks import call_each, each_item, launch_beside

pytestmark = pytest.mark.skipif(not COMPILED, reason="interpreted, one thread does all")


@each_item
class Count(NamedTuple):
    """Add 1 to every number."""

    numbers: np.ndarray
    counter: np.ndarray

    def n_items(self):
        return len(self.numbers)

    def do_item(self, k, worker):
        self.numbers[k] += 1


def counted(workers, n=10_000):
    task = Count(np.zeros(n, np.int64), np.zeros(1, np.int64))
    launch_beside(task, workers)
    return task.numbers


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_every_item_is_done_once(workers):
    for _ in range(50):
        assert (counted(workers) == 1).all()


def test_a_thread_that_never_begins_is_not_waited_for(monkeypatch):
    late = []
    monkeypatch.setattr(_thread, "start_new_thread", lambda function, args: late.append((function, args)))
    began = time.perf_counter()
    assert (counted(5) == 1).all()
    assert time.perf_counter() - began < 5
    assert len(late) == 4
    for function, args in late:  # and does nothing when it does begin
        function(*args)


def test_a_thread_that_has_not_begun_keeps_no_arrays(monkeypatch):
    late = []
    monkeypatch.setattr(_thread, "start_new_thread", lambda function, args: late.append((function, args)))
    seen = weakref.ref(counted(3))
    assert len(late) == 2
    assert seen() is None


def test_a_system_without_more_threads_does_it_on_one(monkeypatch):
    def refuse(function, args):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", refuse)
    assert (counted(5) == 1).all()


def test_a_thread_that_has_begun_is_waited_for(monkeypatch):
    """Until it has left: it may be writing."""
    run, left = tasks._Help.run, []

    def run_slowly(self, worker):
        if worker == 0:
            time.sleep(0.1)  # so that others begin
        run(self, worker)
        if worker:
            time.sleep(0.2)
            left.append(worker)

    monkeypatch.setattr(tasks._Help, "run", run_slowly)
    counted(3)
    assert sorted(left) == [1, 2]


@kernel_type
class Own(NamedTuple):
    """What one worker has to itself."""

    numbers: np.ndarray


@entry
def third_of(own, a, b, c):
    own.numbers[0] += 1
    return np.int64(a + 10 * b + 100 * c)


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_kernels_are_called_for_every_item_with_the_record_of_who_took_it(workers):
    records = [Own(np.zeros(1, np.int64)) for _ in range(workers)]
    items = [[(k, 0, 3) for k in range(500)]] * workers
    assert call_each([code_for(third_of, record) for record in records], items) == [k + 300 for k in range(500)]
    assert sum(record.numbers[0] for record in records) == 500


def test_an_error_in_another_thread_is_raised_by_the_one_who_launched_it(monkeypatch):
    came = threading.Event()

    def call(code, k, *_):
        if code == "other":
            came.set()
            raise MemoryError
        assert came.wait(20)
        return k

    monkeypatch.setattr(tasks, "call_entry", call)
    with pytest.raises(MemoryError):
        call_each(["mine", "other"], [[(k, 0, 0) for k in range(50)]] * 2)
