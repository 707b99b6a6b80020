"""Arrays as long as a bound: they take no memory untouched, belong to one process, and go like any other array."""

import copy
import os
import pickle
import resource
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

from dtnumba.growth.forest import arena as arenas
from dtnumba.runtime import memory
from dtnumba.runtime.memory import sparse_empty

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc, and forks")

LARGE = 1 << 26


def held(name="VmRSS"):
    """Bytes that this process has in memory, or of address space (VmSize)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(name)).split()[1])


@pytest.mark.parametrize("shape", [0, 1, 7, (3, 0), (2, 5), LARGE, (4, LARGE // 4), (1, 1, LARGE)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float64])
def test_shape_and_type_are_those_of_empty(shape, dtype):
    found, plain = sparse_empty(shape, dtype), np.empty(shape, dtype)
    assert (found.shape, found.dtype, found.strides) == (plain.shape, plain.dtype, plain.strides)
    for flag in ("C_CONTIGUOUS", "WRITEABLE", "ALIGNED"):
        assert found.flags[flag] == plain.flags[flag]


def test_what_is_not_touched_takes_no_memory():
    before = held()
    array = sparse_empty((4, LARGE), np.float64)  # 2 GB
    array[2, :: LARGE // 8] = 1.0
    assert held() - before < 1 << 23  # were these huge pages, eight of them would be 16 MB
    assert array[2].sum() == 8.0


def test_pages_are_of_the_usual_size_on_systems_that_make_all_of_them_huge():
    array = sparse_empty(LARGE, np.uint8)
    own, flags = False, ""
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first, _, last = line.split()[0].partition("-")
        if last:
            own = int(first, 16) <= array.ctypes.data < int(last, 16)
        elif own and first == "VmFlags:":
            flags = line
    if not Path("/sys/kernel/mm/transparent_hugepage").exists() or not flags:
        pytest.skip("this kernel has no huge pages, or does not tell")
    assert " nh" in flags


def test_memory_goes_with_the_last_view():
    before = held("VmSize")
    array = sparse_empty(LARGE, np.uint8)
    part = array[5:9]
    part[:] = 3
    gone = weakref.ref(array)
    del array
    assert held("VmSize") - before >= LARGE
    assert part.tolist() == [3] * 4
    del part
    assert gone() is None
    assert held("VmSize") - before < LARGE


def test_a_fork_writes_into_pages_of_its_own():
    array = sparse_empty(LARGE, np.uint8)
    array[:3] = 1
    child = os.fork()
    if child == 0:
        array[:3] = 2
        os._exit(int(array[0]))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 2
    assert array[:3].tolist() == [1, 1, 1]


def test_copies_and_pickles_hold_what_is_in_them():
    array = sparse_empty(LARGE, np.uint8)[: 1 << 12]
    array[:] = np.arange(1 << 12) % 251
    for again in (
        pickle.loads(pickle.dumps(array)),  # noqa: S301  made here
        pickle.loads(pickle.dumps(array, protocol=5)),  # noqa: S301
        copy.deepcopy(array),
    ):
        again[0] = 9
        assert np.array_equal(again[1:], array[1:])
        assert array[0] == 0
    assert len(pickle.dumps(array)) < 1 << 13


def test_what_the_system_refuses_is_a_memory_error():
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (held("VmSize") + LARGE, before[1]))
    try:
        with pytest.raises(MemoryError, match=f"no room for {8 * LARGE} bytes"):
            sparse_empty(LARGE, np.float64)
        arena = arenas.new_arena(1000, 1 << 19, 2, 0)  # asks for less until it is given
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert 1000 <= len(arena.missing_left) < arenas.ARENA_BYTES // arenas._NODE_BYTES


def test_where_no_such_flags_are_it_is_an_empty_array(monkeypatch):
    monkeypatch.setattr(memory, "_PRIVATE", 0)
    found = sparse_empty((2, LARGE), np.int32)
    assert found.base is None
    assert found.shape == (2, LARGE)


FORESTS = """
import io, os, pickle
import numpy as np
from dtnumba import RandomForestClassifier
from dtnumba.runtime import memory

memory._HUGE_BYTES = 1 << 12  # so that a small forest has such arrays, too
random = np.random.default_rng(0)
X = random.normal(size=(400, 6))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
model = RandomForestClassifier(5, random_state=0, n_jobs=1).fit(X, y)

def is_mapped(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return array is not None

assert is_mapped(model.trees_.value)
expected = model.predict_proba(X)
assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), expected)
assert len(pickle.dumps(model)) < 100 * len(model.trees_.feature)

child = os.fork()
if child == 0:
    again = np.array_equal(model.predict_proba(X), expected)
    model.set_params(n_estimators=7).fit(X, y)
    os._exit(0 if again and model.trees_.n_trees == 7 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert model.trees_.n_trees == 5 and np.array_equal(model.predict_proba(X), expected)

try:
    import joblib
except ImportError:
    pass
else:
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    assert np.array_equal(joblib.load(file).predict_proba(X), expected)
    reduce = joblib._memmapping_reducer
    assert reduce.reduce_array_memmap_backward(model.trees_.value)[0] is not reduce._strided_from_memmap
"""


def test_forests_of_such_arrays_are_pickled_forked_and_sent_like_others(run_python):
    run_python(FORESTS, warnings="default")
