"""Rows of a node are moved in order, whatever the type of their codes and however many they are."""

import ctypes
import mmap
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnumba.growth.splitters.partition import partition_rows
from dtnumba.runtime.instructions.partition_rows import divide_rows
from dtnumba.runtime.kernels import kernel

TYPES = [np.uint8, np.uint16, np.uint32]


@kernel
def _divided(codes, rows, start, stop, column, shift, bound, buffer):
    words = np.uint64(start), np.uint64(stop), np.uint64(column)
    return divide_rows(codes, rows, words[0], words[1], words[2], np.uint64(shift), np.uint64(bound), buffer)


@kernel
def _partitioned(rows, base, start, stop, codes, feature, cut, missing, missing_left, buffer):
    return partition_rows(rows, base, start, stop, codes, (feature, cut, missing, missing_left), buffer)


def naive_division(rows, start, stop, goes_left):
    here = rows[start:stop]
    return [*rows[:start], *here[goes_left[here]], *here[~goes_left[here]], *rows[stop:]]


@given(
    st.integers(0, 1000),
    st.sampled_from([1, 2, 15, 16, 17, 33, 200]),
    st.sampled_from(TYPES),
    st.booleans(),
    st.integers(0, 4),
)
def test_rows_are_divided_in_order(seed, n, dtype, missing_left, column):
    random, missing = np.random.default_rng(seed), 200
    codes = random.integers(0, missing, (300, 5), endpoint=True).astype(dtype)
    codes[random.random(codes.shape) < 0.1] = missing
    cut, start = int(random.integers(0, missing)), int(random.integers(0, 50))
    rows, buffer = random.permutation(300).astype(np.uint32), np.zeros(n, np.uint32)
    goes_left = (codes[:, column] <= cut) | ((codes[:, column] == missing) & missing_left)
    expected = naive_division(rows, start, start + n, goes_left)
    before = rows.copy()
    shift = missing if missing_left else 0
    bound = (cut - shift) & ((1 << 32) - 1)
    border = _divided(codes, rows, start, start + n, column, shift, bound, buffer)
    assert rows.tolist() == expected
    assert border == start + goes_left[before[start : start + n]].sum()
    again = np.concatenate([np.zeros(7, np.uint32), before])
    border = _partitioned(again, 7, start, start + n, codes, column, cut, missing, int(missing_left), buffer)
    assert again[7:].tolist() == expected
    assert border == start + goes_left[before[start : start + n]].sum()


@pytest.mark.skipif(sys.platform != "linux", reason="asks the C library to protect a page")
@pytest.mark.parametrize("dtype", TYPES)
def test_nothing_is_read_behind_the_last_code(dtype):
    """The codes end where a page begins that nobody may read: reading it ends the process."""
    size = mmap.PAGESIZE
    pages = np.frombuffer(mmap.mmap(-1, 2 * size), np.uint8)
    protect = ctypes.CDLL(None).mprotect
    forbidden = ctypes.c_void_p(pages.ctypes.data + size), ctypes.c_size_t(size)
    assert protect(*forbidden, 0) == 0
    codes = pages[:size].view(dtype).reshape(-1, 1)
    rows, buffer = np.arange(len(codes), dtype=np.uint32), np.zeros(len(codes), np.uint32)
    border = _divided(codes, rows, 0, len(codes), 0, 0, 5, buffer)
    assert protect(*forbidden, mmap.PROT_READ | mmap.PROT_WRITE) == 0
    assert border == len(codes)
    assert rows.tolist() == list(range(len(codes)))
