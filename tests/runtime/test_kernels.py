"""The one module over Numba: dispatch by type, launching on threads, what a user's function is told."""

import gc
import pkgutil
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import NamedTuple

import numba
import numpy as np
import pytest

import dtnumba
from dtnumba.runtime import kernels, tasks
from dtnumba.runtime.instructions.bits import lowest_bit
from dtnumba.runtime.kernels import by_type, complaint, inline, kernel, kernel_type
from dtnumba.runtime.tasks import launch, n_workers, take_ticket

compiled_only = pytest.mark.skipif(not kernels.COMPILED, reason="interpreted, everything runs on one thread")


def _by_default(shape, scale):
    return -scale


area = by_type("area", _by_default)


class _Sized:
    __slots__ = ()

    def area(self, scale):
        return scale * self.side * self.side


class _SideField(NamedTuple):
    side: float


@kernel_type
class Square(_Sized, _SideField):
    __slots__ = ()


@kernel_type
class Point(NamedTuple):
    x: float


@kernel
def scaled_area(shape, scale):
    return area(shape, scale)


@pytest.mark.small
def test_the_type_of_the_part_picks_the_method():
    assert scaled_area(Square(3.0), 2.0) == area(Square(3.0), 2.0) == 18.0


@pytest.mark.small
def test_a_part_without_the_method_gets_the_fallback():
    assert scaled_area(Point(3.0), 2.0) == area(Point(3.0), 2.0) == -2.0


@inline
def _lowest_bits(words, bits):
    for i in range(len(words)):
        bits[i] = lowest_bit(words[i])


@kernel
def write_lowest_bits(words, bits):
    _lowest_bits(words, bits)


@pytest.mark.small
def test_the_lowest_bit_is_found():
    words = np.array([1, 2, 12, 1 << 63, (1 << 63) | (1 << 40)], np.uint64)
    bits = np.empty(len(words), np.int64)
    write_lowest_bits(words, bits)
    assert bits.tolist() == [0, 1, 2, 63, 40]


@compiled_only
@pytest.mark.parametrize("is_on", [True, False])
def test_no_garbage_is_collected_while_a_kernel_compiles(is_on, monkeypatch):
    seen, compile_extra = [], numba.core.compiler.Compiler.compile_extra

    def noting(compiler, function):
        seen.append(gc.isenabled())
        return compile_extra(compiler, function)

    monkeypatch.setattr(numba.core.compiler.Compiler, "compile_extra", noting)
    (gc.enable if is_on else gc.disable)()
    try:
        fresh = kernels.njit(**kernels._HOUSE)(lambda x: x + 1)  # a kernel that the disk does not keep
        assert fresh(1.0) == 2.0
        after = gc.isenabled()
    finally:
        gc.enable()
    assert seen == [False]
    assert after is is_on


@kernel_type
class DealOut(NamedTuple):
    """Mark each item by every worker that is dealt it."""

    dealt: np.ndarray
    workers: np.ndarray
    counter: np.ndarray

    def run(self, worker):
        self.workers[worker] += 1
        while True:
            item = take_ticket(self.counter)
            if item >= len(self.dealt):
                break
            self.dealt[item] += 1


def new_deal(n_workers):
    return DealOut(np.zeros(5000, np.int64), np.zeros(n_workers, np.int64), np.zeros(1, np.int64))


@pytest.mark.small
@pytest.mark.parametrize("n_workers", [1, 2, 5])
def test_every_item_is_dealt_to_one_worker(n_workers):
    task = new_deal(n_workers)
    launch(task, n_workers)
    assert (task.dealt == 1).all()


@compiled_only
def test_every_worker_runs_once_even_if_there_are_more_than_threads():
    task = new_deal(7)
    launch(task, 7)
    assert task.workers.tolist() == [1] * 7


@kernel_type
class Complain(NamedTuple):
    """Raise in some workers."""

    first: int

    def run(self, worker):
        if worker >= self.first:
            raise ValueError("as told")


@pytest.fixture
def one_thread():
    """Let the caller's own setting be one thread."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield 1
    numba.set_num_threads(before)


@compiled_only
def test_the_callers_number_of_threads_is_kept(one_thread):
    launch(new_deal(2), 2)
    assert numba.get_num_threads() == one_thread


@compiled_only
def test_the_callers_number_of_threads_is_kept_when_a_worker_raises(one_thread):
    with pytest.raises((ValueError, RuntimeError)):
        launch(Complain(0), 2)
    assert numba.get_num_threads() == one_thread


@pytest.mark.small
def test_what_the_only_worker_raises_is_noticed():
    with pytest.raises((ValueError, RuntimeError), match=r"as told|kernel"):
        launch(Complain(0), 1)


@compiled_only
def test_what_any_worker_raises_is_noticed():
    """A kernel cannot pass an exception on: the caller learns that there was one."""
    for first in range(4):
        with pytest.raises(RuntimeError, match="kernel"):
            launch(Complain(first), 4)


@compiled_only
def test_launching_from_many_threads_at_once_deals_each_its_own_items():
    tasks = [new_deal(2) for _ in range(32)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda task: launch(task, 2), tasks))
    assert all((task.dealt == 1).all() for task in tasks)


@pytest.mark.small
@pytest.mark.parametrize(
    ("n_jobs", "workers"), [(1, 1), (2, 2), (4, 4), (5, 4), (1000, 4), (-1, 4), (-2, 3), (-9, 1), (None, 4)]
)
def test_n_jobs_is_at_most_the_cores(monkeypatch, n_jobs, workers):
    monkeypatch.setattr(tasks.config, "NUMBA_NUM_THREADS", 4)
    monkeypatch.setattr("multiprocessing.parent_process", lambda: None)
    assert n_workers(n_jobs) == workers


@pytest.mark.small
def test_without_n_jobs_another_thread_gets_one_core(monkeypatch):
    monkeypatch.setattr(tasks.config, "NUMBA_NUM_THREADS", 4)
    found = []
    thread = threading.Thread(target=lambda: found.extend([n_workers(None), n_workers(3)]))
    thread.start()
    thread.join()
    assert found == [1, 3]


@pytest.mark.small
def test_a_forked_child_works_on_one_thread(monkeypatch):
    monkeypatch.setattr(tasks, "_pool_is_inherited", True)
    assert [n_workers(None), n_workers(2), n_workers(-1)] == [1, 1, 1]
    task = new_deal(2)
    launch(task, 2)
    assert (task.dealt == 1).all()


def _unknown_name(x):
    return nowhere(x)  # noqa: F821


def _makes_an_array(x):
    return np.zeros(3).sum() + x


def _no_number(x):
    return "text"


def _no_argument():
    return 1.0


@compiled_only
@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (_unknown_name, "nowhere"),
        (_makes_an_array, r"an array.*line.*np\.zeros"),
        (_no_number, "must return a number"),
        (_no_argument, "takes 0 arguments"),
    ],
)
def test_what_does_not_compile_is_told_in_a_sentence(function, reason):
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(complaint(function, 1.0))
    assert len(complaint(function, 1.0)) < 200


def test_what_compiles_gets_no_complaint():
    assert complaint(lambda x: 2.0 * x, 1.0) is None


def named_tuples():
    for info in pkgutil.walk_packages(dtnumba.__path__, "dtnumba."):
        if not info.name.endswith("__main__"):
            for found in vars(import_module(info.name)).values():
                if isinstance(found, type) and hasattr(found, "_fields") and found.__module__ == info.name:
                    yield found


@pytest.mark.small
def test_no_two_parts_share_a_name():
    """Numba's dispatcher tells NamedTuples apart by their name and the types of their fields alone."""
    names = [cls.__name__ for cls in named_tuples()]
    assert len(names) > 20
    assert sorted(set(names)) == sorted(names)
