"""Arrow's C data interface by ctypes: schemas, arrays and streams, and who lets go of what they hold.

See arrow.apache.org: format/CDataInterface, format/CStreamInterface, format/CDataInterface/PyCapsuleInterface.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_int64, c_void_p, py_object
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


class CSchema(Structure):
    """struct ArrowSchema."""


class CArray(Structure):
    """struct ArrowArray."""


class CStream(Structure):
    """struct ArrowArrayStream."""


CSchema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_void_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(CSchema))),
    ("dictionary", POINTER(CSchema)),
    ("release", CFUNCTYPE(None, POINTER(CSchema))),
    ("private_data", c_void_p),
]
CArray._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(CArray))),
    ("dictionary", POINTER(CArray)),
    ("release", CFUNCTYPE(None, POINTER(CArray))),
    ("private_data", c_void_p),
]
CStream._fields_ = [
    ("get_schema", CFUNCTYPE(c_int, POINTER(CStream), POINTER(CSchema))),
    ("get_next", CFUNCTYPE(c_int, POINTER(CStream), POINTER(CArray))),
    ("get_last_error", CFUNCTYPE(c_char_p, POINTER(CStream))),
    ("release", CFUNCTYPE(None, POINTER(CStream))),
    ("private_data", c_void_p),
]

_pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_in.restype, _pointer_in.argtypes = c_void_p, [py_object, c_char_p]


def _moved(capsule: Any, name: bytes, kind: Any) -> Any:
    """Return the structure that a capsule holds, which from now on is ours to let go of; the capsule holds none."""
    theirs = kind.from_address(_pointer_in(capsule, name))
    if not theirs.release:
        raise ValueError("X has been read already, and gives its rows once: make it anew")
    ours = kind()
    ctypes.memmove(byref(ours), byref(theirs), ctypes.sizeof(kind))
    theirs.release = type(theirs.release)()
    return ours


class Held:
    """A structure that is ours; what it holds is let go of when nobody reads it any more."""

    def __init__(self, structure: Any) -> None:
        self.structure = structure
        weakref.finalize(self, _let_go, structure).atexit = False


def _let_go(structure: Any) -> None:
    if structure.release:
        structure.release(byref(structure))


class Batch(NamedTuple):
    """Some rows, or one of their columns."""

    array: CArray
    held: Held  # whoever keeps a view of the memory keeps this


class Producer:
    """The schema of a table, and its batches, each of which is yielded once."""

    def __init__(self, X: Any) -> None:
        self._stream: Held | None = None
        self._one: Held | None = None
        if hasattr(X, "__arrow_c_stream__"):
            self._stream = Held(_moved(X.__arrow_c_stream__(), b"arrow_array_stream", CStream))
            self.held_schema = Held(CSchema())
            self._call(self._stream.structure.get_schema, self.held_schema.structure)
        else:
            schema, array = X.__arrow_c_array__()
            self.held_schema = Held(_moved(schema, b"arrow_schema", CSchema))
            self._one = Held(_moved(array, b"arrow_array", CArray))

    @property
    def schema(self) -> CSchema:
        """The schema of the whole, which is a struct where this is a table."""
        schema: CSchema = self.held_schema.structure
        return schema

    def batches(self) -> Iterator[Batch]:
        """Yield the batches; at their end, or where nobody asks for more, the producer may let go of what it holds."""
        if self._one is not None:
            one, self._one = self._one, None
            yield Batch(one.structure, one)
        if self._stream is None:
            return
        stream, self._stream = self._stream, None
        try:
            while True:
                held = Held(CArray())
                self._call(stream.structure.get_next, held.structure, stream)
                if not held.structure.release:
                    return
                yield Batch(held.structure, held)
                del held  # before the next batch is made
        finally:
            _let_go(stream.structure)

    def _call(self, ask: Any, answer: Structure, stream: Held | None = None) -> None:
        stream = self._stream if stream is None else stream
        assert stream is not None
        code = ask(byref(stream.structure), byref(answer))
        if code:
            said = stream.structure.get_last_error(byref(stream.structure))
            words = os.strerror(code) if not said else said.decode(errors="replace")
            raise ValueError(f"X cannot be read, its producer says: {words.strip()}")


class _Memory:
    """Memory of others as NumPy sees it, kept while an array looks at it."""

    def __init__(self, address: int, n: int, dtype: np.dtype[Any], held: object) -> None:
        self.__array_interface__ = {"version": 3, "shape": (n,), "typestr": dtype.str, "data": (address, True)}
        self.held = held


def view(address: int | None, n: int, dtype: Any, held: object) -> NDArray[Any]:
    """Return n values at an address, read-only and where they lie."""
    dtype = np.dtype(dtype)
    return np.asarray(_Memory(address, n, dtype, held)) if n and address else np.empty(0, dtype)
