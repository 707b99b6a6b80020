"""The legs: what is shown of compiled kernels holds interpreted, bounds-checked, on one thread and on several."""

from pathlib import Path

import legs
import pytest

TESTS = Path(legs.__file__).parent


@pytest.fixture(scope="module")
def compiled_lines():
    return legs.lines()


def run_legs(run_python, **environment):
    return run_python(Path(legs.__file__), **environment).splitlines()


def test_trees_are_the_same_interpreted(run_python, compiled_lines):
    assert run_legs(run_python, NUMBA_DISABLE_JIT=1) == compiled_lines


def test_trees_are_the_same_with_bounds_checks(run_python, compiled_lines):
    """A kernel that reads or writes past an array raises here."""
    assert run_legs(run_python, NUMBA_BOUNDSCHECK=1) == compiled_lines


def test_trees_that_threads_share_are_the_same_with_bounds_checks(run_python):
    """At the sizes at which one tree is grown by several threads, with tables of many classes and of many columns."""
    code = "import legs\nfor job in (legs.large_job, legs.wide_job):\n    print(*{job(n_jobs) for n_jobs in (1, 2, 3)})"
    jobs = run_python(code, NUMBA_BOUNDSCHECK=1, NUMBA_NUM_THREADS=3, timeout=600).splitlines()
    assert [len(job.split()) for job in jobs] == [1, 1]
    assert jobs[0] == legs.large_job(1)


OUTSIDE = """
from typing import NamedTuple
import numpy as np
from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.runtime.tasks import launch

@inline
def read(array, i):
    return array[i]

@kernel_type
class Copy(NamedTuple):
    array: np.ndarray
    at: int
    out: np.ndarray
    def run(self, worker):
        self.out[worker] = read(self.array, self.at + worker)

for workers, at in ((1, 5), (2, 4)):
    try:
        launch(Copy(np.ones(5), at, np.empty(workers)), workers)
    except RuntimeError as error:
        print(type(error).__name__)
"""


def test_the_leg_with_bounds_checks_catches_a_read_past_the_end(run_python):
    """In a kernel on this thread, and on a thread of the pool."""
    printed = run_python(OUTSIDE, NUMBA_BOUNDSCHECK=1, NUMBA_NUM_THREADS=2).split()
    assert printed == ["RuntimeError"] * 2


def test_tests_marked_small_pass_interpreted(run_python):
    code = f"""
import sys, pytest
sys.exit(pytest.main(["-q", "-x", "-m", "small", "-p", "no:cacheprovider", {str(TESTS)!r}]))
"""
    printed = run_python(code, NUMBA_DISABLE_JIT=1, warnings="default", timeout=900)
    assert " passed" in printed
    assert " failed" not in printed
