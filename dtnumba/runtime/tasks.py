# mypy: ignore-errors
# ruff: noqa: D103
"""A task runs on several workers, which take tickets for its items: in the one parallel loop of the package, or beside.

Predictions run in the loop. Trees, and the tables they are grown on, run on threads beside this one.
"""

import _thread
import contextlib
import ctypes
import itertools
import os
import sys
import threading

import numba
import numpy as np
from llvmlite import ir
from numba import int64, prange
from numba.core import config, types
from numba.core.cgutils import alloca_once
from numba.extending import intrinsic

from dtnumba.runtime.addresses import (
    are_compiled,
    are_loaded,
    call_entry,
    code_for,
    demand_success,
    entry_of,
    entry_with_memory,
)
from dtnumba.runtime.kernels import COMPILED, by_type, entry, kernel, kernel_type
from dtnumba.runtime.records import Twin, own_copy
from dtnumba.runtime.side_by_side import is_rehearsal
from dtnumba.runtime.threads.cores import cores


def take_ticket(counter):
    """Return counter[0] and add one to it, in kernels atomically: the workers of a task share out its items by it."""
    ticket = int(counter[0])
    counter[0] += 1
    return ticket


if COMPILED:

    def _define_ticket(typingctx, counter):
        def codegen(context, builder, signature, args):
            array = context.make_array(signature.args[0])(context, builder, args[0])
            return builder.atomic_rmw("add", array.data, ir.Constant(ir.IntType(64), 1), "monotonic")

        return types.int64(counter), codegen

    @intrinsic
    def take_many(typingctx, counter, amount):
        """Return counter[0] and add an amount to it, atomically."""

        def codegen(context, builder, signature, args):
            array = context.make_array(signature.args[0])(context, builder, args[0])
            return builder.atomic_rmw("add", array.data, args[1], "monotonic")

        return types.int64(counter, types.int64), codegen

    @intrinsic
    def _call(typingctx, entry, address, worker):
        """Call a compiled ``_run_at`` by its address, with Numba's convention; its status is 0 if nothing raised."""

        def codegen(context, builder, signature, args):
            word, address = ir.IntType(64), ir.IntType(8).as_pointer()
            kind = ir.FunctionType(ir.IntType(32), [address, address, address, word])
            # Where a result and an exception would go; nobody looks at them.
            unread = [builder.bitcast(alloca_once(builder, word), address) for _ in range(2)]
            function = builder.inttoptr(args[0], kind.as_pointer())
            status = builder.call(function, [*unread, builder.inttoptr(args[1], address), args[2]])
            return builder.sext(status, word)

        return types.int64(types.int64, types.int64, types.int64), codegen

    # The only parallel kernel, compiled once for all tasks: it knows a task by its address, and calls it by its entry.
    # A prange of its own for each of the six tasks of a large fit took 1 s of compiling each.
    @kernel(parallel=True, _nrt=True)
    def _run_on_workers(entry, address, status):
        for worker in prange(len(status)):
            status[worker] = _call(entry, address, int64(worker))

    # Releases the GIL. Numba's convention: where the result goes, where an exception goes, the arguments.
    _ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)

    take_ticket = Twin("take_ticket", _define_ticket, take_ticket)

else:

    def take_many(counter, amount):
        before = int(counter[0])
        counter[0] += amount
        return before


run = by_type("run")
n_items, do_item = by_type("n_items"), by_type("do_item")


def _run_items(task, worker):
    n = n_items(task)
    while True:
        k = take_ticket(task.counter)
        if k >= n:
            break
        do_item(task, k, worker)


def each_item(cls):
    """Make a task of ``n_items()`` and ``do_item(k, worker)``: each item is done by whichever worker is free."""
    cls.run = _run_items
    return kernel_type(cls)


@entry
def _run_at(task, worker):
    run(own_copy(task), worker)


def code_of(task):
    """Return the kernel that does a task."""
    return code_for(_run_at, task, n_integers=1)


def is_compiled(task):
    """Tell whether the code of a task is there, in this process or on disk, so that ``launch`` starts at once."""
    return are_compiled([code_of(task)])


_pool_is_inherited = False  # a forked child inherits the threads' bookkeeping, but not the threads


def _start_pool():
    from numba.np.ufunc.parallel import _launch_threads

    _launch_threads()


def _after_fork():
    # GNU OpenMP kills a child that enters the pool of its parent, so the child works on one thread.
    global _pool_is_inherited  # noqa: PLW0603, a process is forked or is not
    pool = sys.modules.get("numba.np.ufunc.parallel")
    _pool_is_inherited = _pool_is_inherited or getattr(pool, "_is_initialized", True)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# Turns of a loop, of about two microseconds each in Python, for which no code is compiled: of one task, and of all
# tasks of a kind until it is compiled after all.
PYTHON_STEPS, _ALL_STEPS = 50_000, 100_000
_STEPS = {}


def _is_done_before_it_compiles(code, steps):
    if are_loaded([code]):
        return False
    before = _STEPS.get(code.kind)
    if steps > PYTHON_STEPS or (before or 0) > _ALL_STEPS or (before is None and are_compiled([code])):
        return False
    _STEPS[code.kind] = (before or 0) + steps
    return True


def n_workers(n_jobs):
    """Resolve ``n_jobs``: None is every core, but one core inside a worker of somebody else's pool."""
    if _pool_is_inherited:
        return 1
    most = cores()
    if n_jobs is None:
        import multiprocessing

        is_main = threading.current_thread() is threading.main_thread()
        return most if is_main and multiprocessing.parent_process() is None else 1
    return min(n_jobs, most) if n_jobs > 0 else max(1, most + 1 + n_jobs)


def launch(task, workers=1, *, entitled=False, steps=None):
    """Run ``type(task).run(task, worker)`` for every worker, on as many threads as there are workers.

    Falls back to one thread, with the same bits, wherever the pool must not be entered: in a forked child, and under
    ``workqueue`` from a second Python thread (unless it is ``entitled``: the main thread waits for it). A task of few
    ``steps`` is run as the Python that it is written in where its code would have to be compiled first.
    """
    code = _code_of_large(task, steps)
    if code is None:
        return
    entry, memory = entry_with_memory(code)
    address = ctypes.addressof(memory)
    if workers > 1 and _may_enter_pool(entitled=entitled):
        status = _run_masked(entry, address, workers)
    else:
        unread = np.empty(2, np.int64)
        status = np.array([_ENTRY(entry)(unread.ctypes.data, unread.ctypes.data + 8, address, 0)])
    demand_success(status.any())


class _Help:
    """Threads that run a task beside the thread that launched it, each from when the system first runs it.

    A thread that has not begun when the launcher is done never begins; nobody waits for it.
    """

    def __init__(self, code, leader_ends):
        self.entry, self.memory = entry_with_memory(code)
        self.code, self.leader_ends = code, leader_ends  # the record is kept as long as a thread may read it
        self._begin()

    def _begin(self):
        self.lock, self.all_left = threading.Lock(), threading.Lock()
        self.n_inside, self.is_over, self.status = 0, False, 0

    def run(self, worker):
        unread = (ctypes.c_int64 * 2)()
        here = ctypes.addressof(unread)
        self.status |= _ENTRY(self.entry)(here, here + 8, ctypes.addressof(self.memory), worker)

    def let_go(self):
        """Forget the arrays, which a thread that the system has not run yet would keep as long as it waits."""
        self.code = self.memory = None

    def come(self, worker):
        with self.lock:
            if self.is_over:
                return
            self.n_inside += 1
        self.run(worker)
        with self.lock:
            self.n_inside -= 1
            if self.is_over and self.n_inside == 0:
                self.let_go()
                if self.all_left.locked():
                    self.all_left.release()

    def lead(self, workers):
        with contextlib.suppress(RuntimeError):  # the system has no more threads
            for worker in range(1, workers):
                _thread.start_new_thread(self.come, (worker,))
        self.run(0)
        with self.lock:
            self.is_over, is_alone = True, self.leader_ends or self.n_inside == 0
            if self.n_inside == 0:
                self.let_go()
            if not is_alone:
                self.all_left.acquire()
        if not is_alone:
            self.all_left.acquire()
        return self.status


def launch_beside(task, workers=1, *, leader_ends=False, steps=None):
    """Run a task as ``launch`` does, on threads of its own that join this one as soon as the system runs them.

    A parallel loop ends with all its threads, so that on a busy machine it waits for one that has not even begun. Here
    whoever launches waits for those only that have begun; or for nobody, where ``leader_ends`` the task: worker 0 comes
    to its end when all is done, and the others then write nothing more.
    """
    code = _code_of_large(task, steps)
    if code is not None:
        demand_success(_Help(code, leader_ends).lead(1 if _pool_is_inherited else workers))


class _Calls(_Help):
    """Threads that call a kernel, each with a record of its own, once for each of many items."""

    def __init__(self, codes, items):
        self.codes, self.items, self.leader_ends = codes, items, False
        self.tickets, self.returned, self.failed = itertools.count(), [None] * len(items[0]), []
        self._begin()

    def let_go(self):
        self.codes = self.items = ()

    def run(self, worker):
        try:
            while (k := next(self.tickets)) < len(self.returned):
                self.returned[k] = call_entry(self.codes[worker], *self.items[worker][k])
        except BaseException as error:  # noqa: BLE001  the thread that launched raises it
            self.failed.append(error)


def call_each(codes, items):
    """Call a kernel for each item, on as many threads as it has records here; return what it returned for each.

    ``items[worker]`` are the three integers of each item for a worker's record. Threads join as in ``launch_beside``.
    """
    calls = _Calls(codes, items)
    calls.lead(len(codes) if COMPILED and not _pool_is_inherited else 1)
    if calls.failed:
        raise calls.failed[0]
    return calls.returned


def _code_of_large(task, steps):
    """Return the kernel of a task, or None where it is done: in Python, or because only kernels are asked for."""
    code = code_of(task)
    if not COMPILED or (steps is not None and _is_done_before_it_compiles(code, steps)):
        with np.errstate(all="ignore"):  # as kernels do
            run(task, 0)
        return None
    if is_rehearsal():
        entry_of(code)
        return None
    return code


def _may_enter_pool(*, entitled):
    """Several Python threads may enter a parallel kernel at once under tbb and omp; ``workqueue`` would abort."""
    if _pool_is_inherited:
        return False
    _start_pool()
    is_main = entitled or threading.current_thread() is threading.main_thread()
    return is_main or numba.threading_layer() != "workqueue"


def may_be_left(workers):
    """Whether a thread may launch others while so many workers of the pool are at what it has launched before."""
    if workers <= 1 or not COMPILED:
        return True
    _start_pool()
    return numba.threading_layer() != "workqueue"


def _run_masked(entry, address, workers):
    before = numba.get_num_threads()
    numba.set_num_threads(min(workers, config.NUMBA_NUM_THREADS))
    status = np.zeros(workers, np.int64)
    try:
        _run_on_workers(entry, address, status)
    finally:
        numba.set_num_threads(before)
    return status
