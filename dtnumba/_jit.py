"""Every Numba option of the package. No other module imports numba.

kernel      compile on first call, with the house options and the house's disk cache
by_type     one name, many implementations: the type of the first argument picks the code, at compile time
part        mark the methods of a NamedTuple as callable from kernels
launch      the one ``prange`` of the package: run a task on several workers
take_ticket hand out work inside a task, so that no core idles at the end
"""

import linecache
import multiprocessing
import os
import re
import sys
import threading

import numba
import numpy as np
from llvmlite import ir
from numba import int64, njit, prange
from numba.core import cgutils, config, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload, register_jitable

from dtnumba._absorb import absorbed_options
from dtnumba._cache import keep_on_disk

COMPILED = not config.DISABLE_JIT
_HOUSE = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}


def kernel(function=None, **options):
    """Compile on first call with the house options; ``forceinline=True`` for what runs per row or bin.

    ``error_model="numpy"`` took a division loop from 90 to 20 us; ``fastmath`` is never set, because a histogram loop
    gains nothing from it and trees must not depend on how LLVM reassociates a sum.
    """
    if function is None:
        return lambda found: kernel(found, **options)
    dispatcher = njit(**(_HOUSE | options))(function)
    return keep_on_disk(dispatcher) if COMPILED else dispatcher


_ABSORBED = absorbed_options()


def inline(function):
    """Mark a function that kernels absorb where they call it: called per row or per bin, never from Python alone."""
    return njit(**_ABSORBED)(function)


def in_python(function):
    """Return the Python body of an ``inline`` function, for the few calls a fit makes of it outside kernels."""
    return getattr(function, "py_func", function)


def part(cls):
    """Make the public methods of a NamedTuple callable from kernels; returns the class."""
    for base in reversed(cls.__mro__[:-1]):
        for name, method in vars(base).items():
            if not name.startswith("_") and callable(method) and base.__module__ != "builtins":
                jitable(method)
    return cls


_JITABLE = set()


def jitable(method):
    if method not in _JITABLE:
        _JITABLE.add(method)
        register_jitable(**_ABSORBED)(method)


def by_type(name, fallback=None):
    """Make ``f(part, *args)`` that runs ``type(part).<name>``, in Python and inside kernels alike.

    A part without the method gets ``fallback``, a plain function with the same arguments.
    """

    def call(part, *args):
        return getattr(type(part), name, fallback)(part, *args)

    # strict=False: the method itself is the implementation, whatever it calls its arguments. A wrapper around it
    # doubled the number of functions to compile.
    @overload(call, jit_options=_ABSORBED, strict=False)
    def compiled(part, *args):
        return getattr(getattr(part, "instance_class", None), name, fallback)

    call.__name__ = name
    return call


def by_having(name, having, lacking):
    """Make ``f(part, *args)`` that runs ``having`` where the part's type has the method ``name``, else ``lacking``."""

    def call(part, *args):
        return (having if hasattr(type(part), name) else lacking)(part, *args)

    @overload(call, jit_options=_ABSORBED, strict=False)
    def compiled(part, *args):
        return having if hasattr(getattr(part, "instance_class", None), name) else lacking

    return call


def complaint(function, *arguments):
    """Return why a user's function cannot be compiled to give a number for such arguments, or None where it can."""
    if not COMPILED:
        return None
    dispatcher = njit(**_HOUSE)(function)
    try:
        dispatcher.compile(tuple(numba.typeof(argument) for argument in arguments))
    except Exception as error:  # noqa: BLE001, Numba's errors share no class
        return f"does not compile: {_reason(str(error), function)}"
    returned = dispatcher.nopython_signatures[0].return_type
    return None if isinstance(returned, (types.Number, types.Boolean)) else f"must return a number, not {returned}"


def _reason(message, function):
    """Find, in what Numba says, the one sentence and the line of source it is about."""
    if "NRT required" in message or "Only accept returning of array" in message:
        text = "it makes an array or a list, which takes memory; loop over stats[k] instead"
    else:
        said = [line.strip() for line in message.splitlines() if line.strip()]
        said = [line for line in said if not line.startswith("Failed in nopython")] or [type(function).__name__]
        text = " ".join(said[:2]) if said[0].endswith(":") else said[0]
    lines = re.findall(r'File ".*", line (\d+):', message)
    source = linecache.getline(function.__code__.co_filename, int(lines[-1])).strip() if lines else ""
    return f"{text} (line {lines[-1]}: {source})" if source else text


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
    def lowest_bit(typingctx, word):
        """Index of the lowest set bit of a uint64 that is not zero."""

        def codegen(context, builder, signature, args):
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

        return types.uint64(types.uint64), codegen

    @intrinsic
    def _pointer_to(typingctx, value):
        """Address of a value on this frame: ``prange`` cannot carry nested tuples, but it can carry a pointer."""

        def codegen(context, builder, signature, args):
            model = context.data_model_manager[signature.args[0]]
            return cgutils.alloca_once_value(builder, model.as_data(builder, args[0]))

        return types.CPointer(value)(value), codegen

    @intrinsic
    def _value_at(typingctx, pointer):
        def codegen(context, builder, signature, args):
            model = context.data_model_manager[signature.return_type]
            value = model.load_from_data_pointer(builder, args[0])
            return impl_ret_borrowed(context, builder, signature.return_type, value)

        return pointer.dtype(pointer), codegen

else:

    def take_ticket(counter):
        ticket = int(counter[0])
        counter[0] += 1
        return ticket

    def take_many(counter, amount):
        before = int(counter[0])
        counter[0] += amount
        return before

    def lowest_bit(word):
        word = int(word)
        return (word & -word).bit_length() - 1

    def _pointer_to(value):
        return value

    def _value_at(pointer):
        return pointer


run = by_type("run")


@kernel
def _run_at(pointer, worker):
    run(_value_at(pointer), worker)


@kernel
def _run_here(task):
    run(task, int64(0))


@kernel(parallel=True, _nrt=True)
def _run_on_workers(task, finished):
    pointer = _pointer_to(task)
    for worker in prange(len(finished)):
        _run_at(pointer, int64(worker))
        finished[worker] = 1


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
    if workers > 1 and COMPILED and _may_enter_pool(entitled=entitled):
        _run_masked(task, workers)
    else:
        _run_here(task)


def _may_enter_pool(*, entitled):
    """Several Python threads may enter a parallel kernel at once under tbb and omp; ``workqueue`` would abort."""
    if _pool_is_inherited:
        return False
    _start_pool()
    is_main = entitled or threading.current_thread() is threading.main_thread()
    return is_main or numba.threading_layer() != "workqueue"


def _run_masked(task, workers):
    before = numba.get_num_threads()
    numba.set_num_threads(min(workers, config.NUMBA_NUM_THREADS))
    finished = np.zeros(workers, np.uint8)
    try:
        _run_on_workers(task, finished)
    except SystemError as error:  # Numba's word for an exception in this thread's share of the loop
        raise (error.__cause__ or error) from None
    finally:
        numba.set_num_threads(before)
    if not finished.all():  # an exception in another thread's share is lost
        msg = "a worker thread raised an exception, which Numba cannot pass on; n_jobs=1 shows it"
        raise RuntimeError(msg)


__all__ = [
    "COMPILED",
    "by_having",
    "by_type",
    "complaint",
    "in_python",
    "inline",
    "int64",
    "jitable",
    "kernel",
    "launch",
    "lowest_bit",
    "n_workers",
    "part",
    "take_many",
    "take_ticket",
]
