# mypy: ignore-errors
"""Every option of Numba: how kernels compile, and how the type of an argument picks the code.

kernel       compile on first call, with the house options and the house's disk cache
entry        likewise, for kernels that are called by their address alone
inline       what kernels absorb where they call it
outlined     what kernels call, compiled with them
by_type      one name, many implementations: the type of the first argument picks the code, at compile time
kernel_type  mark the methods of a NamedTuple as callable from kernels
"""

import linecache
import re
from types import FunctionType

import numba
from numba import njit
from numba.core import config, types
from numba.extending import overload, typeof_impl

from dtnumba.runtime import records
from dtnumba.runtime.compiler import absorbed_options, kernel_options
from dtnumba.runtime.disk_cache import keep_on_disk

COMPILED = not config.DISABLE_JIT
_HOUSE = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False, **kernel_options()}


def kernel(function=None, **options):
    """Compile on first call with the house options; ``forceinline=True`` for what runs per row or bin.

    ``error_model="numpy"`` took a division loop from 90 to 20 us; ``fastmath`` is never set, because a histogram loop
    gains nothing from it and trees must not depend on how LLVM reassociates a sum.
    """
    if function is None:
        return lambda found: kernel(found, **options)
    dispatcher = njit(**(_HOUSE | options))(function)
    return keep_on_disk(dispatcher) if COMPILED else dispatcher


def quickly(function):
    """Return a kernel, or its Python body where that is done with little work before the kernel would be compiled."""
    return function.py_func if COMPILED and not function.signatures else function


def entry(function):
    """Compile on first call, to be called by its address alone (see ``addresses``): Python has no way in."""
    return kernel(function, no_cpython_wrapper=True)


_ABSORBED = absorbed_options()
_OUTLINED = _ABSORBED | {"forceinline": False}
_typeof_others = typeof_impl.dispatch(object)


def inline(function):
    """Mark a function that kernels absorb where they call it: called per row or per bin. Python runs it as it is."""
    function.kernel_options = _ABSORBED
    return function


def outlined(function=None, *, in_python=None):
    """Mark a function that kernels call, compiled with them as a function of its own: called per node or per group.

    ``in_python`` is what Python calls instead, where that is quicker there.
    """
    if function is None:
        return lambda found: outlined(found, in_python=in_python)
    function.kernel_options = _OUTLINED
    return function if in_python is None or not COMPILED else _Twin(function, in_python)


class _Twin:
    """A function for kernels, of which Python calls another form."""

    def __init__(self, function, in_python):
        self.of_kernels, self._in_python = function, in_python

    def __call__(self, *args):
        return self._in_python(*args)


@typeof_impl.register(FunctionType)
@typeof_impl.register(_Twin)
def _typeof_function(function, context):
    """Return the type by which kernels know a function that is marked for them, made when the first one calls it.

    Numba's own, made where each of 150 functions is defined, took a sixth of an import.
    """
    function = getattr(function, "of_kernels", function)
    options = getattr(function, "kernel_options", None)
    if options is None:
        return _typeof_others(function, context)
    if not hasattr(function, "of_numba"):
        function.of_numba = njit(**options)(function)
    return typeof_impl(function.of_numba, context)


def kernel_type(cls):
    """Make the public methods of a NamedTuple callable from kernels; returns the class."""
    records.mark(cls)
    for base in reversed(cls.__mro__[:-1]):
        for name, method in vars(base).items():
            if not name.startswith("_") and callable(method) and base.__module__ != "builtins":
                inline(method)
    return cls


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
        return getattr(_class_of(part), name, fallback)

    call.__name__ = name
    return call


def _class_of(part):
    """Return the class that a part's type stands for."""
    return getattr(part, "instance_class", None)


def by_having(name, having, lacking):
    """Make ``f(part, *args)`` that runs ``having`` where the part's type has the method ``name``, else ``lacking``.

    A type may leave out (``leaves_out``) what it inherits.
    """
    return by_class(lambda cls: hasattr(cls, name) and name not in getattr(cls, "leaves_out", ()), having, lacking)


def by_class(question, yes, no):
    """Make ``f(part, *args)`` that runs ``yes`` where ``question`` of the part's class holds, else ``no``."""

    def call(part, *args):
        return (yes if question(type(part)) else no)(part, *args)

    @overload(call, jit_options=_ABSORBED, strict=False)
    def compiled(part, *args):
        return yes if question(_class_of(part)) else no

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
