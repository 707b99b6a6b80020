# mypy: ignore-errors
# ruff: noqa: D103
"""The one parallel loop of the package: a task runs on several workers, which take tickets for its items."""

import ctypes
import multiprocessing
import os
import sys
import threading

import numba
import numpy as np
from llvmlite import ir
from numba import int64, prange
from numba._dispatcher import compute_fingerprint
from numba.core import config, types
from numba.core.cgutils import alloca_once
from numba.extending import intrinsic

from dtnumba.runtime.addresses import ENTRIES, compiled_entry, pack
from dtnumba.runtime.kernels import COMPILED, by_type, kernel, kernel_type
from dtnumba.runtime.records import own_copy, type_of_record

if COMPILED:

    @intrinsic
    def take_ticket(typingctx, counter):
        """Return counter[0] and add one to it, atomically: the workers of a task share out its items by it."""

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

else:

    def take_ticket(counter):
        ticket = int(counter[0])
        counter[0] += 1
        return ticket

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


@kernel
def _run_at(task, worker):
    run(own_copy(task), worker)


def _entry_of(task):
    """Return the address of the code of a task, compiled where need be.

    A kernel that linked this code in generated it a second time: 3 s of the 14 that a first forest took.
    """
    return compiled_entry(_run_at, task, 1)


def is_compiled(task):
    """Tell whether the code of a task is there, in this process or on disk, so that ``launch`` starts at once."""
    if not COMPILED or (_run_at, compute_fingerprint(task)) in ENTRIES:
        return True
    holds = getattr(_run_at._cache, "holds", None)  # noqa: SLF001  ours, where Numba is one that is known
    return holds is not None and holds((type_of_record(task), int64), _run_at.targetctx.codegen())


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


def n_workers(n_jobs):
    """Resolve ``n_jobs``: None is every core, but one core inside a worker of somebody else's pool."""
    cores = config.NUMBA_NUM_THREADS
    if _pool_is_inherited:
        return 1
    if n_jobs is None:
        is_main = threading.current_thread() is threading.main_thread()
        return cores if is_main and multiprocessing.parent_process() is None else 1
    return min(n_jobs, cores) if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def launch(task, workers=1, *, entitled=False):
    """Run ``type(task).run(task, worker)`` for every worker, on as many threads as there are workers.

    Falls back to one thread, with the same bits, wherever the pool must not be entered: in a forked child, and under
    ``workqueue`` from a second Python thread (unless it is ``entitled``: the main thread waits for it).
    """
    if not COMPILED:
        run(task, 0)
        return
    memory = pack(task)
    entry, address = _entry_of(task), ctypes.addressof(memory)
    if workers > 1 and _may_enter_pool(entitled=entitled):
        status = _run_masked(entry, address, workers)
    else:
        unread = np.empty(2, np.int64)
        status = np.array([_ENTRY(entry)(unread.ctypes.data, unread.ctypes.data + 8, address, 0)])
    if status.any():
        msg = "a kernel raised an exception, which it cannot pass on; NUMBA_DISABLE_JIT=1 shows it"
        raise RuntimeError(msg)


def _may_enter_pool(*, entitled):
    """Several Python threads may enter a parallel kernel at once under tbb and omp; ``workqueue`` would abort."""
    if _pool_is_inherited:
        return False
    _start_pool()
    is_main = entitled or threading.current_thread() is threading.main_thread()
    return is_main or numba.threading_layer() != "workqueue"


def _run_masked(entry, address, workers):
    before = numba.get_num_threads()
    numba.set_num_threads(min(workers, config.NUMBA_NUM_THREADS))
    status = np.zeros(workers, np.int64)
    try:
        _run_on_workers(entry, address, status)
    finally:
        numba.set_num_threads(before)
    return status
