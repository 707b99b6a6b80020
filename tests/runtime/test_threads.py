"""Fit and predict from several Python threads at once, and in forked children, under every threading layer."""

import os
import sys
from pathlib import Path

import legs
import pytest

LAYERS = ("omp", "tbb", "workqueue")
# Threads beyond the cores wait for one another while the system runs others.
MORE_THAN_CORES = (os.cpu_count() or 1) + 2

# One process a layer: each line it prints is a name and what was found. Forks come last, when the pool has been used.
USE = """
import sys
from numba.np.ufunc.parallel import _launch_threads
try:
    _launch_threads()
except ValueError:
    print("lacks the layer")
    sys.exit()

import os, pickle
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import legs
from dtnumba import DecisionTreeClassifier

with ThreadPoolExecutor(8) as pool:
    futures = [pool.submit(legs.large_job, n_jobs) for n_jobs in (2, None) * 4]
    found = [legs.large_job(2), *(future.result() for future in futures)]
print("threads", len(found), *set(found))

X, two, _, _ = legs.table(legs.N_LARGE, 10)
many = np.tile(X, (5, 1))
model = DecisionTreeClassifier(n_jobs=2).fit(X, two)
unpacked = pickle.loads(pickle.dumps(model))
with ThreadPoolExecutor(8) as pool:
    answers = list(pool.map(lambda _: unpacked.apply(many), range(16)))
print("model", *{(answer == model.apply(many)).all() for answer in answers})

if hasattr(os, "fork"):
    import multiprocessing
    with multiprocessing.get_context("fork").Pool(1) as pool:
        found = [pool.apply(legs.large_job, [None]), pool.apply(legs.large_job, [2]), legs.large_job(2)]
    if not os.fork():  # a child that multiprocessing knows nothing of
        os._exit(0 if legs.large_job(None) == found[0] else 1)
    print("forked", os.wait()[1], *set(found))
"""


@pytest.fixture(scope="module")
def expected():
    """Return what one thread gives."""
    return legs.large_job(1)


@pytest.fixture(scope="module", params=[(layer, n) for n in (2, MORE_THAN_CORES) for layer in LAYERS], ids=str)
def found(request, run_python):
    """Use one threading layer with two threads, or with more than there are cores; return what was found."""
    layer, n_threads = request.param
    # A TBB that pip installed stands where the loader does not look.
    library = Path(sys.prefix) / "lib"
    path = {"LD_LIBRARY_PATH": library} if (library / "libtbb.so.12").exists() else {}
    printed = run_python(USE, timeout=200, NUMBA_THREADING_LAYER=layer, NUMBA_NUM_THREADS=n_threads, **path)
    lines = [line.split() for line in printed.splitlines()]
    if lines[0][0] == "lacks":
        pytest.skip(f"Numba finds no {layer} here")
    return {name: values for name, *values in lines}


def test_eight_threads_at_once_grow_the_same_trees(found, expected):
    assert found["threads"] == ["9", expected]


def test_a_model_fresh_from_a_pickle_is_asked_by_eight_threads_at_once(found):
    assert found["model"] == ["True"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_child_forked_after_the_pool_was_used_grows_the_same_trees(found, expected):
    assert found["forked"] == ["0", expected]


@pytest.mark.parametrize("n_threads", sorted({1, 3, MORE_THAN_CORES}))
def test_the_number_of_threads_changes_no_bit(run_python, expected, n_threads):
    code = "import legs\nprint(*{legs.large_job(n_jobs) for n_jobs in (None, 50)})"
    assert run_python(code, NUMBA_NUM_THREADS=n_threads).split() == [expected]
