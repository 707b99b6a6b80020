"""Narrow columns give every number back to the bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dtnumba.model_files.columns import coded, narrowed

FLOATS = st.one_of(
    st.floats(), st.integers(-300, 300).map(float), st.sampled_from([0.0, -0.0, np.nan, np.inf, 0.1, 2.0**40])
)


def assert_same(found, wanted):
    assert found.astype(wanted.dtype).tobytes() == wanted.tobytes()


@given(arrays(np.float64, st.integers(0, 40), elements=FLOATS))
def test_floats_come_back(column):
    assert_same(narrowed(column), column)


@given(arrays(np.int64, st.integers(0, 40), elements=st.integers(-(2**63), 2**63 - 1) | st.integers(-200, 70_000)))
def test_whole_numbers_come_back(column):
    assert_same(narrowed(column), column)
    assert narrowed(column).nbytes <= column.nbytes


@pytest.mark.parametrize(
    ("low", "high", "dtype"), [(0, 255, "u1"), (0, 256, "<u2"), (-1, 3, "i1"), (0, 1 << 32, "<i8")]
)
def test_the_type_is_the_narrowest(low, high, dtype):
    assert narrowed(np.array([low, high, low])).dtype == np.dtype(dtype)
    if high < 1 << 20:
        assert narrowed(np.array([low, high, low], np.float64)).dtype == np.dtype(dtype)


FEW = st.sampled_from([0.0, -0.0, np.nan, 0.1])


@given(arrays(np.float64, st.tuples(st.integers(1, 60), st.integers(1, 3)), elements=FEW))
def test_codes_stand_for_rows(column):
    pair = coded(column)
    if pair is not None:
        table, codes = pair
        assert_same(table[codes], column)
        assert table.nbytes + codes.nbytes < column.nbytes


def test_few_numbers_are_coded_and_many_are_not():
    draw = np.random.default_rng(0)
    for dtype in (np.uint16, np.uint32, np.float64):
        few = draw.choice(draw.integers(300, 60_000, 9).astype(dtype), 5000)
        table, codes = coded(few)
        assert (table[codes] == few).all()
        assert codes.dtype == np.uint8
    assert coded(draw.random(5000)) is None
    assert coded(np.arange(5000, dtype=np.uint32)) is None
