"""Kernels compiled side by side: a helper process takes the next one of a list whenever it has done one, as this does.

A helper is a Python of its own, which compiles into the disk cache, where this process finds what the helper has done.
Whoever begins with a kernel claims it, and others take another one first, and then wait for it and load it; so the
workers of a grid search do not all compile the same. A list begins with what takes longest: what is left for the end
is shared out best if it is short.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import sys
import threading
from typing import IO, TYPE_CHECKING, Any, cast

from numba.core import config

from dtnumba.runtime import disk_cache
from dtnumba.runtime.notice import NOTICE

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Sequence

# The path comes first: where the package is imported from may be known to this process alone.
_START = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from {module} import {name}; sys.exit({name}(pickle.load(sys.stdin.buffer)))"
)
# Whether to start helpers; a process that is one of several which compile does not.
STARTS_HELPERS = True
# Seconds of compiling are worth another Python, which takes half of one to start.
_FEWEST = 2


class _Expected(threading.local):
    """What a thread will want after what it compiles now: a function that asks for it, and what it asked for."""

    rehearsal: Callable[[], Any] | None = None
    wanted: list[tuple[Any, tuple[Any, ...]]] | None = None


_EXPECTED = _Expected()


@contextlib.contextmanager
def expecting(rehearsal: Callable[[], Any]) -> Iterator[None]:
    """Let what the body compiles be compiled beside what a function would compile, such as a prediction.

    The function is rehearsed: it meets kernels that only note who asks for them, so what it returns is of no use.
    """
    before, _EXPECTED.rehearsal = _EXPECTED.rehearsal, rehearsal
    try:
        yield
    finally:
        _EXPECTED.rehearsal = before


def is_rehearsal() -> bool:
    """Tell whether kernels are asked for only to be noted."""
    return _EXPECTED.wanted is not None


def note(kernel: Any, types: tuple[Any, ...]) -> None:
    """Note a kernel that a rehearsal asks for."""
    cast("list[Any]", _EXPECTED.wanted).append((kernel, types))


def _rehearsed() -> list[tuple[Any, tuple[Any, ...]]]:
    """Return the kernels that are expected to be wanted later."""
    rehearsal, _EXPECTED.rehearsal = _EXPECTED.rehearsal, None
    if rehearsal is None:
        return []
    wanted: list[tuple[Any, tuple[Any, ...]]] = []
    _EXPECTED.wanted = wanted
    try:
        rehearsal()
    except Exception:  # noqa: BLE001, S110  the answers of a rehearsal make no sense, and it may stumble over them
        pass
    finally:
        _EXPECTED.wanted = None
    return wanted


def compile_together(wanted: Sequence[tuple[Any, tuple[Any, ...]]]) -> None:
    """Compile kernels for argument types, as far as neither this process nor the disk has them."""
    missing = [(kernel, types) for kernel, types in wanted if not _is_there(kernel, types)]
    if not missing:
        return
    missing += [(kernel, types) for kernel, types in _rehearsed() if not _is_there(kernel, types)]
    helper = _helper(missing) if len(missing) >= _FEWEST and _may_help() else None
    waiting = list(missing)
    with NOTICE.while_compiling():
        try:
            while waiting:
                kernel, types = waiting.pop(_first_unclaimed(waiting) or 0)
                kernel.compile(types)
        except BaseException:
            if helper is not None:
                helper.terminate()  # nobody wants what it compiles
            raise
        finally:
            if helper is not None:
                helper.wait()


def _first_unclaimed(waiting: Sequence[tuple[Any, tuple[Any, ...]]]) -> int | None:
    """Return the place of the first kernel that no other process is compiling; None where there is none."""
    return next((k for k, (kernel, types) in enumerate(waiting) if not disk_cache.is_claimed(kernel, types)), None)


def _is_there(kernel: Any, types: tuple[Any, ...]) -> bool:
    return types in kernel.overloads or disk_cache.holds(kernel, types)


def _may_help() -> bool:
    """Tell whether another Python can be started, and finds a core and the same cache."""
    if not STARTS_HELPERS:
        return False
    import multiprocessing

    is_main = multiprocessing.parent_process() is None
    can_start = bool(sys.executable) and not getattr(sys, "frozen", False)
    return is_main and can_start and config.NUMBA_NUM_THREADS > 1 and disk_cache.cache_folder() is not None


def _helper(missing: list[tuple[Any, tuple[Any, ...]]]) -> subprocess.Popen[bytes] | None:
    """Start a process that compiles what this one has not begun with; None where it cannot be started."""
    named = [
        (kernel.py_func.__module__, kernel.py_func.__qualname__, types)
        for kernel, types in missing
        if disk_cache.path_of(kernel, types) is not None
    ]
    if not named:
        return None
    environment = {"NUMBA_CACHE_DIR": config.CACHE_DIR} if config.CACHE_DIR else {}
    try:
        return start_python(help_out, (disk_cache.settings(), named), environment, keep_errors=False)
    except OSError:
        return None


def start_python(
    function: Callable[[Any], Any], message: Any, environment: dict[str, str], *, keep_errors: bool
) -> subprocess.Popen[bytes]:
    """Start a Python that calls a function of the package with a message; what it returns is the exit code."""
    import subprocess

    process = subprocess.Popen(  # noqa: S603  this Python, with the code above
        [sys.executable, "-I", "-c", _START.format(module=function.__module__, name=function.__name__)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE if keep_errors else subprocess.DEVNULL,
        env=os.environ | environment,
    )
    with contextlib.suppress(OSError), cast("IO[bytes]", process.stdin) as to_process:  # it may have died at once
        pickle.dump(sys.path, to_process)
        pickle.dump(message, to_process)
    return process


def help_out(message: tuple[Any, list[tuple[str, str, Any]]]) -> None:
    """Compile what another process asks for, into the disk cache."""
    settings, named = message
    if settings != disk_cache.settings():
        return
    waiting = [(getattr(importlib.import_module(module), name), types) for module, name, types in named]
    while (k := _first_unclaimed(waiting)) is not None:
        kernel, types = waiting.pop(k)
        if not disk_cache.holds(kernel, types):
            kernel.compile(types)
