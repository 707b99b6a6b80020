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
    _running: threading.local = field(default_factory=threading.local)

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
        if self.is_told or getattr(self._running, "is_on", False):
            yield
            return
        timer = threading.Timer(max(self.patience - self._spent, 0.0), self.tell)
        timer.daemon, self._running.is_on = True, True
        timer.start()
        began = time.perf_counter()
        try:
            yield
        finally:
            timer.cancel()
            self._running.is_on = False
            self._spent += time.perf_counter() - began


NOTICE = Notice()
