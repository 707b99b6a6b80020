"""One line on stderr where the code of a fit takes long to compile, and how to have that behind one."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

QUIET = "DTNUMBA_QUIET"  # set to anything but 0: nothing is said
_TEXT = (
    "dtnumba: compiling what this kind of fit needs, once on this machine; `python -m dtnumba warmup` does it ahead "
    f"({QUIET}=1: say nothing)\n"
)


@dataclass
class Notice:
    """What was said, once a process, and the seconds of compiling since its start."""

    patience: float = 2.0  # seconds of compiling that nothing is said about
    is_told: bool = False
    _spent: float = 0.0
    _n_running: int = 0  # threads that compile
    _since: float = 0.0  # when the first of them began
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _running: threading.local = field(default_factory=threading.local)

    @property
    def seconds(self) -> float:
        """How long this process has been compiling, up to now; threads that did it at once count once."""
        with self._lock:
            return self._spent + (time.perf_counter() - self._since if self._n_running else 0.0)

    def _count(self, change: int) -> None:
        with self._lock:
            now = time.perf_counter()
            if self._n_running == 0:
                self._since = now
            self._n_running += change
            if self._n_running == 0:
                self._spent += now - self._since

    def tell(self) -> None:
        """Say it, where it was not said before and may be said."""
        import multiprocessing

        is_main = multiprocessing.parent_process() is None
        if self.is_told or not is_main or os.environ.get(QUIET, "0") != "0":
            return
        self.is_told = True
        with contextlib.suppress(OSError, ValueError, AttributeError):  # a closed stderr, or none
            sys.stderr.write(_TEXT)
            sys.stderr.flush()

    @contextlib.contextmanager
    def while_compiling(self) -> Iterator[None]:
        """Say it once compiling has taken longer, in all, than a user waits without a word."""
        if getattr(self._running, "is_on", False):
            yield
            return
        timer = None if self.is_told else threading.Timer(max(self.patience - self.seconds, 0.0), self.tell)
        if timer is not None:
            timer.daemon = True
            timer.start()
        self._running.is_on = True
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)
            self._running.is_on = False
            if timer is not None:
                timer.cancel()

    @contextlib.contextmanager
    def unheeded(self) -> Iterator[None]:
        """Let this thread compile what nobody waits for: that is no time of compiling, and nothing is said of it."""
        self._running.is_on = True
        try:
            yield
        finally:
            self._running.is_on = False


NOTICE = Notice()
