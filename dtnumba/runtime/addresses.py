# mypy: ignore-errors
# ruff: noqa: D103
"""Kernels called by address: from Python with a record written to memory, from kernels without compiling them anew."""

import ctypes
import struct
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import _helperlib, int64
from numba._dispatcher import compute_fingerprint
from numba.core import config, types
from numba.core.cgutils import alloca_once, if_unlikely
from numba.extending import intrinsic

from dtnumba.runtime.disk_cache import holds
from dtnumba.runtime.kernels import COMPILED
from dtnumba.runtime.records import type_of_record
from dtnumba.runtime.side_by_side import compile_together, is_rehearsal, note

if COMPILED:

    @intrinsic
    def call_at(typingctx, entry, pointer, a, b, c):
        """Call a kernel by what ``entry_of`` returned, with a record, or the address of one, and three integers."""

        def codegen(context, builder, signature, args):
            word, address = ir.IntType(64), ir.IntType(8).as_pointer()
            result = alloca_once(builder, word)
            kind = ir.FunctionType(ir.IntType(32), [word.as_pointer(), address, address, word, word, word])
            unread = builder.bitcast(alloca_once(builder, word), address)  # what an exception says
            to_address = builder.inttoptr if args[1].type == word else builder.bitcast
            given = [result, unread, to_address(args[1], address), *args[2:]]
            status = builder.call(builder.inttoptr(args[0], kind.as_pointer()), given)
            if config.BOUNDSCHECK:  # the only reason for which a kernel raises
                with if_unlikely(builder, builder.icmp_signed("!=", status, status.type(0))):
                    context.call_conv.return_user_exc(builder, IndexError, ("a kernel reached past an array",))
            return builder.load(result)

        return types.int64(types.int64, pointer, types.int64, types.int64, types.int64), codegen

else:

    def call_at(entry, pointer, a, b, c):
        return entry(pointer, a, b, c)


class Code(NamedTuple):
    """A kernel for a kind of record, and a record of this kind."""

    function: Any
    record: Any
    n_integers: int  # that it takes after the record
    kind: Any  # as Numba's dispatcher tells kinds of arguments apart

    @property
    def signature(self):
        """The types of its arguments."""
        return type_of_record(self.record), *[int64] * self.n_integers


def code_for(function, record, n_integers=3):
    """Return the kernel of a function for a record."""
    return Code(function, record, n_integers, compute_fingerprint(record) if COMPILED else None)


def codes_for(functions, record):
    """Return the kernels of named functions for a record, whose many arrays are looked at once."""
    one = code_for(None, record)
    return {name: one._replace(function=function) for name, function in functions.items()}


def entry_of(code):
    """Return what ``call_at`` calls a kernel by, compiled where need be.

    A kernel that calls another one by its name generates that one's code once more, and all that it calls.
    """
    return _loaded(code)[0] if COMPILED else code.function


def call_entry(code, a, b, c):
    """Call a kernel from Python, with its record and three integers; return its integer."""
    if not COMPILED:
        return code.function(code.record, a, b, c)
    address, memory = entry_with_memory(code)
    if is_rehearsal():
        return 1
    returned = (ctypes.c_int64 * 2)()
    here = ctypes.addressof(returned)
    demand_success(_ENTRY(address)(here, here + 8, ctypes.addressof(memory), a, b, c))
    return returned[0]


def caller_of(code):
    """Return a function of three integers that calls a kernel from Python, with its record written to memory once."""
    if not COMPILED or is_rehearsal():
        return lambda a, b, c: call_entry(code, a, b, c)
    address, memory = entry_with_memory(code)
    kernel, at = _ENTRY(address), ctypes.addressof(memory)

    def call(a, b, c, _kept=(memory, code)):  # the record is kept as long as it may be read
        returned = (ctypes.c_int64 * 2)()
        here = ctypes.addressof(returned)
        demand_success(kernel(here, here + 8, at, a, b, c))
        return returned[0]

    return call


def demand_success(failed):
    """Raise RuntimeError where the status of a kernel says that it raised, which only those with bounds checks do."""
    if failed:
        msg = "a kernel raised an exception, which it cannot pass on; NUMBA_DISABLE_JIT=1 shows it"
        raise RuntimeError(msg)


# Releases the GIL. Numba's convention: where the result goes, where an exception goes, the arguments.
_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 3)


def compile_entries(codes):
    """Compile kernels, side by side where more than one is missing."""
    if COMPILED:
        compile_together(_not_loaded(codes))


def are_loaded(codes):
    """Tell whether kernels are there, in this process."""
    return not COMPILED or all((code.function, code.kind) in _ENTRIES for code in codes)


def are_compiled(codes):
    """Tell whether kernels are there, in this process or on disk."""
    return not COMPILED or all(holds(*one) for one in _not_loaded(codes))


def _not_loaded(codes):
    missing = [code for code in codes if (code.function, code.kind) not in _ENTRIES]
    return [(code.function, code.signature) for code in missing]


def _loaded(code):
    """Return the address of a kernel, and the layout of its record."""
    found = _ENTRIES.get((code.function, code.kind))
    if found is None and is_rehearsal():
        note(code.function, code.signature)
        return 0, None
    if found is None:
        signature = code.signature
        code.function.compile(signature)
        compiled = code.function.overloads[signature]
        address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
        found = _ENTRIES[code.function, code.kind] = (address, Layout(signature[0]), compiled)
    return found[:2]


def entry_with_memory(code):
    """Return the address of a kernel, and memory that holds its record as it sees it; good while the record lives."""
    address, layout = _loaded(code)
    return address, layout.pack(code.record) if layout else None


_ENTRIES = {}  # by function and kind of record: address, layout, and what keeps the code alive
# Numba's own reading of an array's address, shape and strides
_read_array = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(_helperlib.c_helpers["adapt_ndarray"])


class Layout:
    """Where the items of a kind of record lie in memory: each at a multiple of its own size, as in C.

    Numba would compile code that puts them there, for each kind: 1.2 of the 10 s that a first forest took.
    """

    def __init__(self, kind):
        self.codes, self.places = [], []  # of the numbers, as ``struct`` calls them; of the arrays
        n_bytes = self._place(kind, 0)
        self.numbers, self.memory = struct.Struct("@" + "".join(self.codes)), ctypes.c_char * max(n_bytes, 1)

    def _place(self, kind, at):
        """Note the items of a type that begins at a place; return where it ends."""
        if isinstance(kind, types.BaseTuple):
            alignment = _alignment_of(kind)
            at = self._pad(at, alignment)
            for item in kind.types:
                at = self._place(item, at)
            return self._pad(at, alignment)
        at = self._pad(at, _alignment_of(kind))
        if isinstance(kind, types.Array):
            self.places.append(at)
            return self._skip(at, 8 * (5 + 2 * kind.ndim))  # two owners, items, bytes of each, address, axes
        if isinstance(kind, types.NoneType):
            return self._skip(at, 8)
        self.codes.append(_code_of(kind))
        return at + struct.calcsize(self.codes[-1])

    def _pad(self, at, alignment):
        return self._skip(at, -at % alignment)

    def _skip(self, at, n):
        if n:
            self.codes.append(f"{n}x")
        return at + n

    def pack(self, record):
        """Return memory that holds a record."""
        numbers, arrays = [], []
        _part(record, numbers, arrays)
        memory = self.memory()
        self.numbers.pack_into(memory, 0, *numbers)
        start = ctypes.addressof(memory)
        for array, place in zip(arrays, self.places, strict=True):
            _read_array(array, start + place)
        return memory


def _part(record, numbers, arrays):
    """Append the numbers and the arrays of a record, each in its order."""
    for item in record:
        if isinstance(item, tuple):
            _part(item, numbers, arrays)
        elif isinstance(item, np.ndarray):
            arrays.append(item)
        elif item is not None:
            numbers.append(item)


def _alignment_of(kind):
    if isinstance(kind, types.BaseTuple):
        return max((_alignment_of(item) for item in kind), default=1)
    return 8 if isinstance(kind, (types.Array, types.NoneType)) else struct.calcsize(_code_of(kind))


def _code_of(kind):
    if isinstance(kind, types.Boolean):
        return "?"
    if isinstance(kind, types.Float):
        return {32: "f", 64: "d"}[kind.bitwidth]
    code = {8: "b", 16: "h", 32: "i", 64: "q"}[kind.bitwidth]
    return code if kind.signed else code.upper()
