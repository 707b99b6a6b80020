import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from dtnumba.tables.floats import AtFloats, Between, check_distinct, compared, to_floats

BIG = 2**53


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("view", ["C", "F", "strided", "reversed", "transposed", "read-only", "broadcast"])
def test_floats_are_not_copied(dtype, view):
    base = np.arange(24, dtype=dtype).reshape(4, 6)
    array = {
        "C": base,
        "F": np.asfortranarray(base),
        "strided": base[::2, 1::3],
        "reversed": base[::-1, ::-2],
        "transposed": base.T,
        "read-only": base.view(),
        "broadcast": np.broadcast_to(base[:1], (5, 6)),
    }[view]
    if view == "read-only":
        array.flags.writeable = False
    assert to_floats(array) is array


@pytest.mark.parametrize("dtype", ["f2", "i1", "i2", "u1", "u2", "?"])
def test_narrow_numbers_become_float32(dtype):
    array = np.array([[0, 1], [1, 0]], dtype)
    floats = to_floats(array)
    assert floats.dtype == np.float32
    assert np.array_equal(floats, array)


@pytest.mark.parametrize("dtype", ["i4", "i8", "u4", "u8", "g"])
def test_wide_numbers_become_float64(dtype):
    array = np.array([[0, 2**31 - 1], [2**24 + 1, 0]], dtype)
    floats = to_floats(array)
    assert floats.dtype == np.float64
    assert np.array_equal(floats, array)


@pytest.mark.parametrize("dtype", [">f4", ">f8", ">i8", "<f8"])
def test_any_order_of_bytes_is_read(dtype):
    floats = to_floats(np.array([[1.0, 2.0], [3.0, -4.0]], dtype))
    assert floats.dtype.isnative
    assert floats.tolist() == [[1.0, 2.0], [3.0, -4.0]]


def test_unaligned_memory_and_fields_of_records_are_copied():
    values = np.arange(6.0).reshape(3, 2)
    unaligned = np.zeros(values.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(3, 2)
    unaligned[...] = values
    records = np.zeros(3, [("tag", "i1"), ("pair", "f8", (2,))])
    records["pair"] = values
    for array in (unaligned, records["pair"]):
        floats = to_floats(array)
        assert floats.flags.aligned
        assert all(stride % 8 == 0 for stride in floats.strides)
        assert np.array_equal(floats, values)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([[1, 1j]], "Complex data not supported"),
        (np.array([["2020-01-02"]], "M8[D]"), r"column 0 has dtype datetime64\[D\] and holds 2020-01-02"),
        (np.array([[3]], "m8[D]"), r"column 0 has dtype timedelta64\[D\] and holds 3 days"),
        (np.zeros((1, 1), [("a", "f8")]), "structured dtype.*structured_to_unstructured"),
    ],
    ids=str,
)
def test_what_is_not_a_number_is_named(cells, words):
    with pytest.raises(ValueError, match=words):
        to_floats(np.asarray(cells))


@pytest.mark.parametrize(
    "integers",
    [
        np.array([[BIG], [BIG + 1]]),
        np.array([[0, -BIG], [0, -BIG - 1]]),
        np.array([[2**64 - 1], [2**64 - 2]], np.uint64),
    ],
    ids=["int64", "negative", "uint64"],
)
def test_integers_that_would_become_the_same_float_are_refused_in_fit_and_rounded_in_predict(integers):
    with pytest.raises(ValueError, match=r"column [01] holds .* and .*, which are the same number in float64"):
        to_floats(integers)
    assert to_floats(integers, fitting=False).dtype == np.float64


def test_large_integers_that_stay_apart_are_taken():
    check_distinct(np.array([[2**60, 1], [2**61, 2], [-(2**63), 3]]))
    check_distinct(np.array([2**64 - 1, 0, 0], np.uint64))
    check_distinct(np.empty((0, 2), np.int64))
    # Rounding must not pair a value of one column with one of another.
    check_distinct(np.array([[BIG, BIG + 1]]))


_REACH = 2.0**127
numbers = st.floats(-_REACH, _REACH, width=32) | st.floats(-_REACH, _REACH).map(lambda x: round(x, 1))


@given(numbers, numbers, st.booleans())
@examples(200)
def test_cuts_at_values_are_compared_in_the_coarser_type(cut, x, is_near):
    x = np.nextafter(np.float32(cut), np.float32(x)) if is_near else x
    types = {16: np.float16, 32: np.float32, 64: np.float64}
    with np.errstate(over="ignore"):
        for fitted, asked in itertools.product(types, types):
            cuts = np.array([types[fitted](cut)], np.float64)
            rows = np.array([x, cut, np.nextafter(cut, np.inf), (np.float64(np.float32(cut)) + x) / 2.0])
            rows, coarser = rows.astype(types[asked]), types[min(fitted, asked)]
            found = rows.astype(np.float64) <= compared(cuts, np.zeros(1, int), AtFloats(fitted), asked)
            assert (found == (rows.astype(coarser) <= cuts.astype(coarser))).all()
    cuts, columns = np.array([cut, np.inf, np.nan]), np.zeros(3, int)
    assert compared(cuts, columns, AtFloats(64), 64) is cuts
    assert compared(cuts, columns, Between(), 32) is cuts
    for fitted, asked in ((64, 32), (32, 64), (64, 16)):
        assert np.array_equal(compared(cuts, columns, AtFloats(fitted), asked)[1:], cuts[1:], equal_nan=True)
    each = compared(np.array([cut] * 4), np.array([2, 0, 1, -1]), AtFloats((64, 64, 32)), (32, 64, 64))
    whole = [compared(np.array([cut]), np.zeros(1, int), AtFloats(bits), 64)[0] for bits in (32, 32, 64, 32)]
    assert each.tolist() == whole


def test_the_largest_float32_is_not_above_what_is_rounded_to_it():
    largest = np.finfo(np.float32).max.astype(np.float64)
    (cut,) = compared(np.array([largest]), np.zeros(1, int), AtFloats(32), 64)
    assert largest < cut < 2.0**128
    assert compared(np.array([1e300]), np.zeros(1, int), AtFloats(64), 32)[0] == np.inf
