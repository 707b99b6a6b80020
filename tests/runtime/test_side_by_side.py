"""Kernels compiled by two processes at once: each by one of them, whatever becomes of the other."""

import subprocess
import sys
import time

import pytest

from dtnumba.runtime import disk_cache, side_by_side
from dtnumba.runtime.kernels import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")

FIT = """
import numpy as np
from dtnumba import DecisionTreeClassifier
from dtnumba.runtime import disk_cache
compiled = []
disk_cache.ON_MISS = compiled.append
X = np.random.default_rng(0).normal(size=(100, 3))
DecisionTreeClassifier().fit(X, X[:, 0] > 0).predict(X)
print(*sorted(compiled), sep=",")
"""


def test_processes_that_start_at_once_share_the_work(run_python, tmp_path):
    """One compiles, the other waits and loads: the workers of a grid search do."""
    import os

    variables = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_NUM_THREADS": "1", "DTNUMBA_QUIET": "1"}
    started = [
        subprocess.Popen([sys.executable, "-c", FIT], env=variables, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    said = [process.communicate(timeout=300)[0].strip() for process in started]
    assert [process.returncode for process in started] == [0, 0, 0]
    compiled = [name for text in said for name in text.split(",") if name]
    entries, locks = list(tmp_path.rglob("*.nbc")), list(tmp_path.rglob("*.lock"))
    assert len(entries) == len(compiled) > 0
    assert locks == []
    assert run_python(FIT, NUMBA_CACHE_DIR=tmp_path).strip() == ""


def test_a_process_that_dies_leaves_no_claim(tmp_path):
    path = tmp_path / "kernel.nbc"
    code = (
        "import time; from pathlib import Path; from dtnumba.runtime.disk_cache import claimed\n"
        f"with claimed(Path({str(path)!r})):\n    print('mine', flush=True); time.sleep(100)"
    )
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline().strip() == "mine"
    assert disk_cache._try_lock(disk_cache._lock_file(path)[0]) is None
    other.kill()
    other.communicate()
    began = time.perf_counter()
    with disk_cache.claimed(path):
        pass
    assert time.perf_counter() - began < 5.0


def test_what_is_there_is_not_waited_for(tmp_path, monkeypatch):
    """A child that is forked while its parent compiles has the parent's lock as well, for as long as it lives."""
    path = tmp_path / "kernel.nbc"
    other = disk_cache._lock_file(path)[0]
    assert disk_cache._try_lock(other)
    descriptor = disk_cache._lock_file(path)[0]
    path.touch()
    began = time.perf_counter()
    assert not disk_cache._wait_for(descriptor, path)
    assert time.perf_counter() - began < 5.0


def test_without_a_helper_all_is_compiled_here(monkeypatch):
    class Kernel:
        overloads, compiled, _cache = {}, [], None

        def compile(self, types):
            self.compiled.append(types)

    monkeypatch.setattr(side_by_side, "STARTS_HELPERS", False)
    kernel = Kernel()
    side_by_side.compile_together([(kernel, (1,)), (kernel, (2,))])
    assert kernel.compiled == [(1,), (2,)]


def test_a_helper_ends_with_a_compilation_that_is_broken_off(monkeypatch):
    class Kernel:
        overloads, _cache = {}, None

        def compile(self, types):
            raise KeyboardInterrupt

    helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
    monkeypatch.setattr(side_by_side, "_may_help", lambda: True)
    monkeypatch.setattr(side_by_side, "_helper", lambda _: helper)
    with pytest.raises(KeyboardInterrupt):
        side_by_side.compile_together([(Kernel(), (k,)) for k in range(side_by_side._FEWEST)])
    assert helper.returncode is not None


def test_a_rehearsal_notes_what_is_asked_for_and_may_stumble(monkeypatch):
    noted = []

    class Kernel:
        overloads, _cache = {}, None

        def compile(self, types):
            noted.append(types)

    monkeypatch.setattr(side_by_side, "STARTS_HELPERS", False)
    kernel = Kernel()

    def rehearsal():
        assert side_by_side.is_rehearsal()
        side_by_side.note(kernel, ("later",))
        raise ZeroDivisionError

    with side_by_side.expecting(rehearsal):
        side_by_side.compile_together([(kernel, ("now",))])
        side_by_side.compile_together([(kernel, ("after",))])  # it is expected once
    assert noted == [("now",), ("later",), ("after",)]
    assert not side_by_side.is_rehearsal()


def test_what_another_process_compiles_comes_last(monkeypatch):
    compiled, claimed_once = [], {"a": True, "b": False, "c": False}

    class Kernel:
        overloads, _cache = {}, None

        def compile(self, types):
            compiled.append(*types)

    monkeypatch.setattr(side_by_side, "STARTS_HELPERS", False)
    monkeypatch.setattr(disk_cache, "is_claimed", lambda _, types: claimed_once[types[0]])
    side_by_side.compile_together([(Kernel(), (name,)) for name in "abc"])
    assert compiled == ["b", "c", "a"]


def test_a_claim_of_another_process_is_seen(monkeypatch, tmp_path):
    path = tmp_path / "kernel.nbc"
    monkeypatch.setattr(disk_cache, "path_of", lambda *_: path)
    assert not disk_cache.is_claimed(None, ())
    code = (
        "import sys; from pathlib import Path; from dtnumba.runtime.disk_cache import claimed\n"
        f"with claimed(Path({str(path)!r})):\n    print('mine', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline().strip() == "mine"
    assert disk_cache.is_claimed(None, ())
    other.communicate("", timeout=60)
    assert not disk_cache.is_claimed(None, ())
