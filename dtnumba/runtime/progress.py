"""Long work is watched and stopped: progress, time limits, callbacks and Ctrl-C, while kernels run without the GIL.

The kernels run in a thread of their own and look at one flag; the thread that asked for the work waits, reports and
listens. Python delivers Ctrl-C to the main thread only, which would otherwise sit inside the kernel.
"""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.runtime.notice import NOTICE
from dtnumba.runtime.side_by_side import is_rehearsal
from dtnumba.runtime.tasks import is_compiled, launch, launch_beside, may_be_left

if TYPE_CHECKING:
    from collections.abc import Callable


_TICK, _SHORTEST = 0.05, 0.001  # seconds between two looks, and at least
# Work below this many rows times trees is over before anyone could look; a thread to wait in takes 0.1 ms.
_SMALL = 200_000
_LONG = 10_000_000  # steps of some nanoseconds; a thread to wait in takes a hundredth of their time
_BAR = 30


@dataclass(frozen=True)
class Progress:
    """How far the work is; an estimator with ``verbose=callback`` calls ``callback(progress)``."""

    stage: str  # "trees", then "out of bag" and "importances" where these take work of their own
    done: int
    total: int
    seconds: float  # since the start
    left: float | None  # estimated seconds to go, None before the first tree


@dataclass
class Monitor:
    """Runs tasks, reports on them, and stops them."""

    verbose: int | Callable[[Progress], Any]
    max_seconds: float | None
    total: int
    size: int  # rows times trees
    done: int = 0
    stage: str = "trees"
    stopped: str = ""  # why: "time", "callback" or "interrupt"
    error: BaseException | None = None
    began: float = field(default_factory=time.perf_counter)
    compiled_before: float = field(default_factory=lambda: NOTICE.seconds)  # of compiling, of which no limit tells
    _shown: float = -1.0
    _ended: bool = False
    _told_of_compiling: bool = False

    def run_until(self, task: Any, workers: int, halt: Any, count: Callable[[], int] = lambda: 0) -> bool:
        """Launch a task and return whether it was stopped before its end.

        The task stops where ``halt[0]`` is not 0; ``count`` returns how many trees are done. What has stopped an
        earlier task does not stop this one: it works on what the earlier one left.
        """
        if not self._is_short():
            self._tell_of_compiling(task)
        return self.run_function(lambda _: launch_beside(task, workers), halt, count)

    def run_function(self, go: Callable[[bool], None], halt: Any, count: Callable[[], int]) -> bool:
        """Call a function, given whether the main thread waits for it; return whether it was stopped before its end."""
        if self._is_short():
            go(False)
            return False
        is_main = threading.current_thread() is threading.main_thread()
        self.wait_for(lambda: go(is_main), halt, count)
        return bool(halt[0])

    def in_background(self, function: Callable[[], Any]) -> Any:
        """Return what a function returns that has no flag to look at; None where the work was stopped meanwhile.

        The function then comes to its end in its own thread, unheeded; it must not change what others read.
        """
        if self._is_short():
            return function()
        halt, found = np.zeros(1, np.int64), list[Any]()
        self.wait_for(lambda: found.append(function()), halt, lambda: 0, leaves=True)
        return None if halt[0] else found[0]

    def _is_short(self) -> bool:
        return self.size < _SMALL and not self.verbose and self.max_seconds is None

    def wait_for(self, call: Callable[[], Any], halt: Any, count: Callable[[], int], *, leaves: bool = False) -> None:
        """Run a call in a thread and look around meanwhile; ``leaves``: once stopped, do not wait for its end."""
        before, failed = self.done, list[BaseException]()
        finished = threading.Event()

        def work() -> None:
            try:
                call()
            except BaseException as error:  # noqa: BLE001  it is raised again where it can be caught
                failed.append(error)
            finally:
                finished.set()

        try:
            self._look(halt)
        except BaseException as error:  # noqa: BLE001  likewise
            self._stop(halt, "interrupt" if isinstance(error, KeyboardInterrupt) else "callback", error)
        thread = threading.Thread(target=work, name="dtnumba", daemon=True)
        thread.start()
        while not finished.is_set() and not (leaves and halt[0]):
            try:
                finished.wait(self.until_next_look())
                self.done = before + count()
                self._look(halt)
            except BaseException as error:  # noqa: BLE001, PERF203  Ctrl-C or a callback's error: raised later
                self._stop(halt, "interrupt" if isinstance(error, KeyboardInterrupt) else "callback", error)
        if leaves and halt[0]:
            return
        thread.join()
        self.done = before + count()
        if failed:
            raise failed[0]

    def _tell_of_compiling(self, task: Any) -> None:
        """Say why nothing moves for the first seconds: once, and only where code is compiled and not loaded."""
        if self.verbose and not callable(self.verbose) and not self._told_of_compiling and not is_compiled(task):
            self._told_of_compiling = NOTICE.is_told = True
            _say("compiling, which takes some seconds the first time\n")

    def until_next_look(self) -> float:
        """Return the seconds until a look around: a tick, or what is left of the time where that is less."""
        if self.max_seconds is None or self.stopped:
            return _TICK
        return min(_TICK, max(self.max_seconds - self.seconds_of_work(), _SHORTEST))

    def _look(self, halt: Any) -> None:
        if self.stopped:
            return
        if self.max_seconds is not None and self.seconds_of_work() >= self.max_seconds:
            self._stop(halt, "time", None)
        else:
            self.report(halt)

    def seconds_of_work(self) -> float:
        """Return how long the work has taken, without the seconds in which this process compiled."""
        compiling = NOTICE.seconds - self.compiled_before
        return time.perf_counter() - self.began - compiling

    def _stop(self, halt: Any, why: str, error: BaseException | None) -> None:
        halt[0] = 1
        self.stopped, self.error = self.stopped or why, self.error or error

    def report(self, halt: Any = None) -> None:
        """Tell whoever wants to know how far the work is."""
        if not self.verbose:
            return
        seconds = time.perf_counter() - self.began
        left = seconds * (self.total - self.done) / self.done if self.done else None
        if callable(self.verbose):
            answer = self.verbose(Progress(self.stage, self.done, self.total, seconds, left))
            if isinstance(answer, (bool, np.bool_)) and not answer and halt is not None:
                self._stop(halt, "callback", None)
            return
        if self._ended:
            return
        self._ended = self.done == self.total
        is_terminal = sys.stderr.isatty()
        # Plain lines, where nothing can be overwritten, come one in ten seconds at most.
        if self.done < self.total and seconds - self._shown < (0.2 if is_terminal else 10.0) and self._shown >= 0:
            return
        self._shown = seconds
        rest = "" if left is None else f", {_words(left)} left"
        line = f"{self.done} of {self.total} trees, {_words(seconds)}{rest}"
        if is_terminal:
            full = _BAR * self.done // max(self.total, 1)
            end = "\n" if self.done == self.total or self.stopped else ""
            _say(f"\r[{'#' * full}{'.' * (_BAR - full)}] {line}   {end}")
        else:
            _say(line + "\n")


def run_heeding(go: Callable[[bool], None], size: int, halt: Any = None, workers: int = 1) -> None:
    """Call a function, and let Ctrl-C through at once: what it works on then comes to its end by itself, unheeded.

    Python hears of signals in its main thread alone, so in every other one the function is just called.

    Parameters
    ----------
    go : function
        Given whether the main thread waits for it. Once left, it must not change what others read.
    size : int
        About how many steps of some nanoseconds its work takes. What is over before anyone could look is just called.
    halt : array, optional
        A flag that ends the work early where it is not 0.
    workers : int
        Threads of the pool that it enters, if it does. One that only one may enter is waited for.

    """
    if size < _LONG or threading.current_thread() is not threading.main_thread() or is_rehearsal():
        go(False)
        return
    monitor, halt = Monitor(0, None, 1, size), np.zeros(1, np.int64) if halt is None else halt
    monitor.wait_for(lambda: go(True), halt, lambda: 0, leaves=may_be_left(workers))
    if monitor.error is not None:
        raise monitor.error


def launch_heeding(task: Any, workers: int, size: int, halt: Any = None) -> None:
    """Launch a task of about so many steps; see ``run_heeding``."""
    run_heeding(lambda entitled: launch(task, workers, entitled=entitled), size, halt, workers)


def launch_beside_heeding(task: Any, workers: int, size: int, steps: int | None = None) -> None:
    """Run a task on threads of its own, of about so many steps; see ``run_heeding``."""
    run_heeding(lambda _: launch_beside(task, workers, steps=steps), size)


def _say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _words(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
