"""Records in memory: a kernel that is handed an address reads what Python wrote there."""

import ctypes
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnumba.runtime.addresses import Layout, call_entry, code_for, compile_entries
from dtnumba.runtime.kernels import COMPILED, kernel, kernel_type

compiled_only = pytest.mark.skipif(not COMPILED, reason="interpreted kernels read no memory")


@kernel_type
class Part(NamedTuple):
    flag: bool
    short: int
    table: np.ndarray


class Nothing(NamedTuple):
    pass


@kernel_type
class Whole(NamedTuple):
    small: int
    part: Part
    nothing: Nothing
    real: float
    column: np.ndarray
    byte: int
    none: None
    last: float


@kernel
def read(whole, a, b, c):
    part, column = whole.part, whole.column
    found = whole.small + whole.real * 10.0 + whole.byte * 1000.0 + whole.last * 100000.0
    found += part.short + part.table[a, b] + column[c] + (0.5 if part.flag else 0.0) + len(column) + part.table.shape[1]
    return np.int64(found * 2.0)


def whole(small, real, byte, last, flag):
    table = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    column = np.arange(20, dtype=np.uint16)[::2]
    part = Part(flag, np.int16(-7), table)
    return Whole(np.uint8(small), part, Nothing(), np.float32(real), column, np.int8(byte), None, last)


def in_python(record, a, b, c):
    return int(getattr(read, "py_func", read)(record, a, b, c))


@given(
    st.integers(0, 255),
    st.integers(-100, 100),
    st.integers(-100, 100),
    st.integers(-1000, 1000),
    st.booleans(),
    st.integers(0, 2),
    st.integers(0, 3),
    st.integers(0, 9),
)
def test_a_kernel_reads_what_python_wrote(small, real, byte, last, flag, a, b, c):
    record = whole(small, real, byte, float(last), flag)
    assert call_entry(code_for(read, record), a, b, c) == in_python(record, a, b, c)


@compiled_only
def test_memory_is_as_long_as_kernels_think_it_is():
    from numba.core.registry import cpu_target

    from dtnumba.runtime.records import type_of_record

    record = whole(1, 1, 1, 1.0, True)
    kind, context = type_of_record(record), cpu_target.target_context
    assert ctypes.sizeof(Layout(kind).pack(record)) == context.get_abi_sizeof(context.get_data_type(kind))


@compiled_only
def test_entries_that_are_there_are_not_compiled_again():
    record = whole(1, 1, 1, 1.0, True)
    compile_entries([code_for(read, record)])
    n = len(read.signatures)
    compile_entries([code_for(read, record)])
    assert len(read.signatures) == n == 1


OUTSIDE = """
import numpy as np
from typing import NamedTuple
from dtnumba.runtime.addresses import call_at, call_entry, code_for, entry_of
from dtnumba.runtime.kernels import entry, kernel_type

@kernel_type
class Row(NamedTuple):
    numbers: np.ndarray
    inner: int

@entry
def read(row, a, b, c):
    return np.int64(row.numbers[a])

@entry
def hand_on(row, a, b, c):
    return call_at(row.inner, row, a, b, c)

row = Row(np.arange(5), 0)
row = row._replace(inner=entry_of(code_for(read, row)))
for kernel in (read, hand_on):
    print(call_entry(code_for(kernel, row), 4, 0, 0))
    try:
        call_entry(code_for(kernel, row), 5, 0, 0)
    except RuntimeError as error:
        print(type(error).__name__)
"""


@compiled_only
def test_the_leg_with_bounds_checks_hears_of_kernels_called_by_address(run_python):
    assert run_python(OUTSIDE, NUMBA_BOUNDSCHECK=1).split() == ["4", "RuntimeError"] * 2
