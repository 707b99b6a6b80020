"""Run test modules in forked processes, some at once: compiled code is let go with its process.

One process for all modules grew to 7 GB and used one core; one for each module compiled what its neighbours had. So
the modules of a folder share a process until it is large. A process that dies fails its test and not the run. Reports
travel through a pipe and come out in the order in which modules began, as if there were one process.
"""

import contextlib
import gc
import multiprocessing
import os
import signal
import sys
from collections import deque
from multiprocessing.connection import wait
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# One more than cores: a module may wait for a kernel that another one is compiling, or for a process it has started.
N_AT_ONCE = min(4, (os.cpu_count() or 1) + 1)
# A process larger than this takes no further module, so that all of them stay below 6 GB.
MOST_BYTES = 1_200_000_000
# What takes longest begins first: nothing else would be left to run beside it at the end.
_LONGEST = (
    "tests/test_legs.py",
    "growth/binary/test_grow.py",
    "growth/forest/test_grow.py",
    "criteria/test_user_criterion.py",
    "growth/categories/test_choose.py",
    "growth/multiway/test_grow.py",
    "runtime/test_compile_budget.py",
    "splitters/scans/test_scan_packed_bins.py",
)
# Folders of modules that look at the state of their process or change it: each has a process of its own.
_ALONE = ("runtime", "threads", "instructions", Path(__file__).parent.name)
# What looks into a running test, or wants all of them in one place.
_TOGETHER = ("together", "collectonly", "usepdb", "setupshow", "setupplan", "setuponly")


def pytest_addoption(parser):
    parser.addoption(
        "--together", action="store_true", help="run all test modules in this process, e.g. under a debugger"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    modules = {}
    for item in session.items:
        modules.setdefault(item.path, []).append(item)
    option = session.config.option
    can_fork = sys.platform.startswith("linux") and sys.gettrace() is None
    as_ever = any(getattr(option, name, False) for name in _TOGETHER)
    if len(modules) < 2 or session.testsfailed or not can_fork or as_ever:
        return None
    session.config._tmp_path_factory.getbasetemp()  # one for all, which this process will sweep
    _let_hypothesis_read_all_modules()
    gc.collect()
    gc.freeze()  # what is here now stays to the end: processes need not look at it, nor copy it to do so
    begin = sorted(modules, key=lambda path: not path.as_posix().endswith(_LONGEST))
    _run_modules(session, [_Module(path.parent, modules[path]) for path in begin])
    return True


@settings(max_examples=1, deadline=None, database=None, derandomize=True)
@given(st.integers())
def _let_hypothesis_read_all_modules(_):
    """Its first example reads the sources of every module that is imported, once here and not in every process."""


def _run_modules(session, waiting):
    begun, processes = deque(), []
    try:
        while waiting or begun:
            while waiting and len(processes) < N_AT_ONCE:
                begun.append(_take(waiting, {process.module.folder for process in processes}))
                processes.append(_Process(session, begun[-1], processes))
            for pipe in wait([process.pipe for process in processes]):
                process = next(process for process in processes if process.pipe is pipe)
                process.receive()
                if not process.module.ended:
                    continue
                following = process.next_of(waiting)
                if following is None:
                    process.end()
                    processes.remove(process)
                else:
                    begun.append(following)
                    process.begin(following)
            while begun and begun[0].has_all_told(session.config):
                begun.popleft()
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
            if session.shouldstop:
                raise session.Interrupted(session.shouldstop)
    finally:
        for process in processes:
            process.end()


def _take(waiting, at_work):
    """Return a module of a folder of which no module runs, whose process would take it, or else the first."""
    at = next((at for at, module in enumerate(waiting) if module.folder not in at_work), 0)
    return waiting.pop(at)


class _Module:
    """The tests of a module, and what has been told of them."""

    def __init__(self, folder, items):
        self.folder = folder
        self.items = items
        self.last = items[0]
        self.told = deque()
        self.ended = False

    def has_all_told(self, config):
        """Report what is there; return whether nothing more can come."""
        while self.told:
            kind, what = self.told.popleft()
            getattr(config.hook, kind)(**what)
        return self.ended


class _Process:
    """A process that runs the tests of a module, and then of another one."""

    def __init__(self, session, module, others):
        self.config = session.config
        self.module = module
        self.by_id = {item.nodeid: item for item in session.items}
        self.takes_more = False
        self.pipe, theirs = multiprocessing.Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                for process in [self, *others]:  # or none would see that the parent has died
                    process.pipe.close()
                _run_in_turn(session, module.items, theirs)
            finally:
                os._exit(0)
        theirs.close()

    def begin(self, module):
        self.module = module
        self.takes_more = False
        self.pipe.send([item.nodeid for item in module.items])

    def next_of(self, waiting):
        """Take from those that wait a module of the same folder, if there is one that may run here."""
        folder = self.module.folder
        if not self.takes_more or folder.name in _ALONE:
            return None
        at = next((at for at, module in enumerate(waiting) if module.folder == folder), None)
        return None if at is None else waiting.pop(at)

    def receive(self):
        try:
            kind, what = self.pipe.recv()
        except (EOFError, OSError):
            self._note_death()
            return
        if kind == "end":
            self.takes_more = what < MOST_BYTES
            self.module.ended = True
            return
        if kind == "pytest_runtest_logreport":
            what["report"] = self.config.hook.pytest_report_from_serializable(config=self.config, data=what["report"])
        elif kind == "pytest_runtest_logstart":
            self.module.last = self.by_id[what["nodeid"]]
        self.module.told.append((kind, what))

    def _note_death(self):
        _, status = os.waitpid(self.pid, 0)
        self.pid, self.module.ended = None, True
        last = self.module.last
        words = f"the process of this module ended with status {os.waitstatus_to_exitcode(status)} during this test"
        report = pytest.TestReport(last.nodeid, last.location, {}, "failed", words, "call")
        self.module.told.append(("pytest_runtest_logreport", {"report": report}))

    def end(self):
        self.pipe.close()
        if self.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = None


class _Teller:
    """Sends reports instead of printing them."""

    def __init__(self, config, pipe):
        self.config = config
        self.pipe = pipe

    def pytest_runtest_logstart(self, nodeid, location):
        self.pipe.send(("pytest_runtest_logstart", {"nodeid": nodeid, "location": location}))

    def pytest_runtest_logreport(self, report):
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.pipe.send(("pytest_runtest_logreport", {"report": data}))

    def pytest_runtest_logfinish(self, nodeid, location):
        self.pipe.send(("pytest_runtest_logfinish", {"nodeid": nodeid, "location": location}))


def _run_in_turn(session, items, pipe):
    plugins = session.config.pluginmanager
    plugins.unregister(name="terminalreporter")
    plugins.register(_Teller(session.config, pipe))
    capture = plugins.getplugin("capturemanager")
    capture.stop_global_capturing()  # its files are shared with the other processes
    capture.start_global_capturing()
    by_id = {item.nodeid: item for item in session.items}
    with contextlib.suppress(EOFError):  # the parent has died
        while True:
            for item, following in zip(items, [*items[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if session.shouldfail or session.shouldstop:
                    break
            pipe.send(("end", _bytes_used()))
            items = [by_id[name] for name in pipe.recv()]


def _bytes_used():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
