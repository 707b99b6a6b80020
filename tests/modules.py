"""Run each test module in a forked process of its own, some at once: compiled code is let go with its process.

One process for all modules grew to 7 GB and used one core. A process that dies fails its test and not the run. Reports
travel through a pipe and come out in the order of the modules, as if there were one process.
"""

import contextlib
import gc
import multiprocessing
import os
import signal
import sys
from collections import deque
from multiprocessing.connection import wait

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# One more than cores: a module may wait for a kernel that another one is compiling, or for a process it has started.
N_AT_ONCE = min(4, (os.cpu_count() or 1) + 1)
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
    _run_modules(session, deque(modules[path] for path in begin))
    return True


@settings(max_examples=1, deadline=None, database=None, derandomize=True)
@given(st.integers())
def _let_hypothesis_read_all_modules(_):
    """Its first example reads the sources of every module that is imported, once here and not in every process."""


def _run_modules(session, waiting):
    running = deque()
    try:
        while waiting or running:
            while waiting and sum(not child.ended for child in running) < N_AT_ONCE:
                running.append(_Child(session, waiting.popleft()))
            for pipe in wait([child.pipe for child in running if not child.ended]):
                next(child for child in running if child.pipe is pipe).receive()
            while running and running[0].has_all_told():
                running.popleft()
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
            if session.shouldstop:
                raise session.Interrupted(session.shouldstop)
    finally:
        for child in running:
            child.end()


class _Child:
    """A process that runs the tests of one module, and what it has told."""

    def __init__(self, session, items):
        self.config = session.config
        self.ended = False
        self.told = deque()
        self.last = items[0]
        self.by_id = {item.nodeid: item for item in items}
        self.pipe, theirs = multiprocessing.Pipe(duplex=False)
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.pipe.close()
                _run_items(session, items, theirs)
            finally:
                os._exit(0)
        theirs.close()

    def receive(self):
        try:
            kind, what = self.pipe.recv()
        except (EOFError, OSError):
            self._note_death()
            return
        if kind == "end":
            self.end()
            return
        if kind == "pytest_runtest_logreport":
            what["report"] = self.config.hook.pytest_report_from_serializable(config=self.config, data=what["report"])
        elif kind == "pytest_runtest_logstart":
            self.last = self.by_id[what["nodeid"]]
        self.told.append((kind, what))

    def _note_death(self):
        _, status = os.waitpid(self.pid, 0)
        self.pid, self.ended = None, True
        words = f"the process of this module ended with status {os.waitstatus_to_exitcode(status)} during this test"
        report = pytest.TestReport(self.last.nodeid, self.last.location, {}, "failed", words, "call")
        self.told.append(("pytest_runtest_logreport", {"report": report}))

    def has_all_told(self):
        """Report what is there; return whether nothing more can come."""
        while self.told:
            kind, what = self.told.popleft()
            getattr(self.config.hook, kind)(**what)
        return self.ended

    def end(self):
        self.ended = True
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


def _run_items(session, items, pipe):
    plugins = session.config.pluginmanager
    plugins.unregister(name="terminalreporter")
    plugins.register(_Teller(session.config, pipe))
    capture = plugins.getplugin("capturemanager")
    capture.stop_global_capturing()  # its files are shared with the other processes
    capture.start_global_capturing()
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail or session.shouldstop:
            break
    capture.stop_global_capturing()
    pipe.send(("end", None))
    pipe.close()
