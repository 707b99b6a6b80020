"""Threads that help one that leads: they take items of what it does now, or jobs that it leaves to whoever is free.

The leader never waits for a thread that has not taken anything, so a core that is busy elsewhere costs it nothing but
the item in hand there; and where even these cost more than they save, it shares no more items.
"""

from __future__ import annotations

import _thread
import contextlib
import heapq
import itertools
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from typing_extensions import Self

_PATIENCE = 0.002  # seconds that waiting may cost more than help has saved


class _Round:
    """Items that are shared now."""

    def __init__(self, function: Callable[[int, int], Any], n: int) -> None:
        self.function = function
        self.n = n
        self.tickets = itertools.count()
        self.n_done = 0
        self.all_done = threading.Condition()
        self.error: BaseException | None = None

    def take(self, worker: int) -> int:
        """Do items until none is left; return how many."""
        n = 0
        try:
            for k in self.tickets:
                if k >= self.n:
                    break
                n += 1
                self.function(k, worker)
        except BaseException as error:  # noqa: BLE001  the leader raises it
            self.error = self.error or error
        with self.all_done:
            self.n_done += n
            self.all_done.notify_all()
        return n


class Hands:
    """Threads that work beside the one that makes this; a context, which ends them.

    Parameters
    ----------
    workers : int
        Threads in all. The leader is worker 0.

    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._wakes = threading.Condition()
        self._round: _Round | None = None
        self._jobs: list[tuple[int, int, Callable[[int], Any]]] = []  # a heap
        self._n_jobs = itertools.count()
        self._n_busy = 0
        self._is_over = False
        self._error: BaseException | None = None
        self._saved = 0.0  # seconds, by helpers in rounds, less what the leader waited
        with contextlib.suppress(RuntimeError):  # the system has no more threads
            for worker in range(1, workers):
                _thread.start_new_thread(self._help, (worker,))

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Let the threads end."""
        with self._wakes:
            self._is_over = True
            self._jobs.clear()
            self._wakes.notify_all()

    def each(self, function: Callable[[int, int], Any], n: int) -> None:
        """Call ``function(k, worker)`` for each k below n, and return when all are done."""
        one = _Round(function, n)
        shares = n > 1 and self.workers > 1 and self._saved > -_PATIENCE
        if shares:
            with self._wakes:
                self._round = one
                self._wakes.notify_all()
        began = time.perf_counter()
        own = one.take(0)
        ended = time.perf_counter()
        self._round = None
        with one.all_done:
            while one.n_done < n and one.error is None:
                one.all_done.wait()
        if shares:
            helped = (n - own) * (ended - began) / max(own, 1)
            self._saved = min(self._saved + helped - (time.perf_counter() - ended), 0.5)
        if one.error is not None:
            raise one.error

    def leave(self, job: Callable[[int], Any], size: int) -> None:
        """Leave ``job(worker)`` to whoever is free, the largest first."""
        with self._wakes:
            heapq.heappush(self._jobs, (-size, next(self._n_jobs), job))
            self._wakes.notify()

    def finish(self) -> None:
        """Do what is left with the others, and return when all is done."""
        while self._do_job(0):
            pass
        with self._wakes:
            while self._n_busy > 0:
                self._wakes.wait()
        if self._error is not None:
            raise self._error

    def _do_job(self, worker: int) -> bool:
        with self._wakes:
            if not self._jobs or self._error is not None:
                return False
            job = heapq.heappop(self._jobs)[2]
            self._n_busy += 1
        try:
            job(worker)
        except BaseException as error:  # noqa: BLE001  the leader raises it
            self._error = self._error or error
        with self._wakes:
            self._n_busy -= 1
            if self._n_busy == 0:
                self._wakes.notify_all()
        return True

    def _help(self, worker: int) -> None:
        """Do items and jobs while there are any, and wait for more until it is over; items come first."""
        seen: _Round | None = None
        while not self._is_over:
            one = self._round
            if one is not None and one is not seen:
                seen = one
                one.take(worker)
            elif not self._do_job(worker):
                with self._wakes:
                    if not self._is_over and not self._jobs and (self._round is None or self._round is seen):
                        self._wakes.wait()
