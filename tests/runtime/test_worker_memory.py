"""Workers' parts: of the asked shape, filled, and never two in one cache line."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnumba.runtime.memory import aligned, per_worker


@given(
    st.integers(1, 5),
    st.lists(st.integers(1, 40), min_size=1, max_size=3),
    st.sampled_from([np.uint8, np.int32, np.uint64, np.float64]),
    st.sampled_from([None, 0, 7]),
)
def test_no_two_workers_write_to_one_line(workers, shape, dtype, fill):
    parts = per_worker(workers, tuple(shape), dtype, fill)
    assert parts.shape[0] == workers
    assert parts.shape[2:] == tuple(shape)
    assert parts.dtype == dtype
    assert parts.flags.c_contiguous
    if fill is not None:
        assert (parts == fill).all()
    lines = [
        (parts[w, 0].ctypes.data // 64, (parts[w, 0].ctypes.data + parts[w, 0].nbytes - 1) // 64)
        for w in range(workers)
    ]
    for (_, last), (first, _) in itertools.pairwise(lines):
        assert first > last + 1 or parts[0, 0].nbytes >= 1 << 16


@pytest.mark.parametrize("shape", [0, (3, 0)])
def test_nothing_may_be_asked_for(shape):
    assert per_worker(2, shape).size == 0


@pytest.mark.parametrize("fill", [0, -1])
def test_large_parts_are_filled_too(fill):
    parts = per_worker(2, 20_000, np.int64, fill)
    assert parts.shape == (2, 1, 20_000)
    assert (parts == fill).all()


@given(st.integers(1, 300), st.sampled_from([np.uint8, np.uint16, np.float64]))
def test_aligned_arrays_begin_a_line(n, dtype):
    array = aligned(n, dtype)
    assert array.shape == (n,)
    assert array.ctypes.data % 64 == 0
