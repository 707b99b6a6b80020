"""Threads that help: all is done once, whoever does it; errors reach the leader; a busy machine is not waited for."""

import _thread
import threading
import time

import pytest

from dtnumba.runtime.threads.hands import Hands


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 7, 200])
def test_each_item_is_done_once(workers, n):
    done = []
    with Hands(workers) as hands:
        for _ in range(5):
            done.clear()
            hands.each(lambda k, worker: done.append((k, worker)), n)
            assert sorted(k for k, _ in done) == list(range(n))
            assert {worker for _, worker in done} <= set(range(workers))


@pytest.mark.parametrize("workers", [1, 3])
def test_jobs_are_done_by_the_end_and_the_largest_begin_first(workers):
    done = []
    with Hands(workers) as hands:
        for k in range(20):
            hands.leave(lambda _, k=k: done.append(k), size=k)
        hands.finish()
    assert sorted(done) == list(range(20))
    if workers == 1:
        assert done == list(range(19, -1, -1))


def test_a_job_may_leave_others():
    done = []
    with Hands(3) as hands:

        def job(worker, depth=0):
            done.append(depth)
            if depth < 6:
                for _ in range(2):
                    hands.leave(lambda w: job(w, depth + 1), size=1)

        hands.leave(job, 1)
        hands.finish()
    assert len(done) == 2**7 - 1


def test_helpers_help():
    """Each item waits for the other, so one thread alone would never come to an end."""
    meeting = threading.Barrier(2, timeout=20)
    with Hands(2) as hands:
        hands.each(lambda *_: meeting.wait(), 2)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_any_thread_is_the_leaders(workers):
    def fail(k, worker):
        time.sleep(0.001)
        if k == 3:
            raise ZeroDivisionError

    with Hands(workers) as hands, pytest.raises(ZeroDivisionError):
        hands.each(fail, 8)
    with Hands(workers) as hands:
        hands.leave(lambda _: fail(3, 0), 1)
        with pytest.raises(ZeroDivisionError):
            hands.finish()


def test_help_that_costs_more_than_it_saves_is_asked_for_no_more():
    """A helper that sleeps over its items is like one whose core is busy elsewhere."""
    by_helper = []

    def item(k, worker):
        if worker:
            by_helper.append(k)
            time.sleep(0.03)
        else:
            time.sleep(0.0005)

    with Hands(2) as hands:
        for _ in range(30):
            hands.each(item, 4)
    assert 1 <= len(by_helper) < 20


def test_threads_end():
    before = _thread._count()
    with Hands(4) as hands:
        hands.each(lambda *_: time.sleep(0.001), 8)
    deadline = time.perf_counter() + 10
    while _thread._count() > before and time.perf_counter() < deadline:
        time.sleep(0.01)
    assert _thread._count() <= before
