"""Every Numba option of the package. No other module imports numba.

kernel      compile on first call, with the house options and the house's disk cache
by_type     one name, many implementations: the type of the first argument picks the code, at compile time
part        mark the methods of a NamedTuple as callable from kernels
launch      the one ``prange`` of the package: run a task on several workers
take_ticket hand out work inside a task, so that no core idles at the end
"""

import ctypes
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
from numba.core import config, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload, register_jitable

from dtnumba._absorb import absorbed_options
from dtnumba._cache import keep_on_disk

# Room for a task: one of thirty arrays takes 2 kB.
_TASK_BYTES = 8192
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

    def _value_at(pointer):
        return pointer


run = by_type("run")


@kernel
def _run_at(pointer, worker):
    run(_value_at(pointer), worker)


if COMPILED:

    @intrinsic
    def _store(typingctx, task, buffer):
        """Copy a task into a buffer; return 0, or the bytes it needs where the buffer is too small."""

        def codegen(context, builder, signature, args):
            model = context.data_model_manager[signature.args[0]]
            data = model.as_data(builder, args[0])
            array = context.make_array(signature.args[1])(context, builder, args[1])
            size = ir.Constant(ir.IntType(64), context.get_abi_sizeof(data.type))
            is_large = builder.icmp_signed(">", size, builder.extract_value(array.shape, 0))
            with builder.if_else(is_large) as (large, fits):
                with large:
                    above = builder.block
                with fits:
                    builder.store(data, builder.bitcast(array.data, data.type.as_pointer()), align=8)
                    below = builder.block
            needed = builder.phi(ir.IntType(64))
            needed.add_incoming(size, above)
            needed.add_incoming(ir.Constant(ir.IntType(64), 0), below)
            return needed

        return types.int64(task, buffer), codegen

    @intrinsic
    def _entry_of(typingctx, task):
        """Address of a C function (task's address, worker) -> status, which is 0 unless a kernel raised."""
        pointer = types.CPointer(task)
        arguments = (pointer, types.int64)
        typingctx.resolve_value_type(_run_at).get_call_type(typingctx, arguments, {})  # compiles it

        def codegen(context, builder, signature, args):
            compiled = _run_at.overloads[arguments]
            context.active_code_library.add_linking_library(compiled.library)
            address, word = ir.IntType(8).as_pointer(), ir.IntType(64)
            thunk = ir.Function(
                builder.module, ir.FunctionType(ir.IntType(32), [address, word]), f"{builder.function.name}.entry"
            )
            thunk.linkage = "internal"
            inner = ir.IRBuilder(thunk.append_basic_block())
            called = context.declare_function(builder.module, compiled.fndesc)
            passed = [inner.bitcast(thunk.args[0], context.get_value_type(pointer)), thunk.args[1]]
            status, _ = context.call_conv.call_function(inner, called, types.none, arguments, passed)
            inner.ret(status.code)
            return builder.ptrtoint(thunk, word)

        return types.int64(task), codegen

    @intrinsic
    def _call(typingctx, entry, address, worker):
        """Call the C function at an address."""

        def codegen(context, builder, signature, args):
            kind = ir.FunctionType(ir.IntType(32), [ir.IntType(8).as_pointer(), ir.IntType(64)])
            function = builder.inttoptr(args[0], kind.as_pointer())
            status = builder.call(function, [builder.inttoptr(args[1], ir.IntType(8).as_pointer()), args[2]])
            return builder.sext(status, ir.IntType(64))

        return types.int64(types.int64, types.int64, types.int64), codegen

    @kernel
    def _prepare(task, buffer, needed):
        needed[0] = _store(task, buffer)
        return _entry_of(task)

    # The only parallel kernel, compiled once for all tasks: it knows a task by its address, and calls it by its entry.
    # A prange of its own for each of the six tasks of a large fit took 1 s of compiling each.
    @kernel(parallel=True, _nrt=True)
    def _run_on_workers(entry, address, status):
        for worker in prange(len(status)):
            status[worker] = _call(entry, address, int64(worker))

    _ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64)  # releases the GIL


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
    buffer, needed = np.empty(_TASK_BYTES, np.uint8), np.zeros(1, np.int64)
    entry = _prepare(task, buffer, needed)
    if needed[0] > 0:
        buffer = np.empty(needed[0], np.uint8)
        entry = _prepare(task, buffer, needed)
    address = buffer.ctypes.data
    if workers > 1 and _may_enter_pool(entitled=entitled):
        status = _run_masked(entry, address, workers)
    else:
        status = np.array([_ENTRY(entry)(address, 0)])
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
