"""Long files that kernels read: the cells and numbers that Python reads, wherever a block ends."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dtnumba.cli.command import DataError
from dtnumba.cli.files import byte_rows, csv_file
from dtnumba.cli.files.byte_rows import ByteCells
from dtnumba.cli.files.read_table import read_table
from dtnumba.cli.files.reading import Reading
from dtnumba.cli.files.spelling import Spelling


def cells_of(texts):
    data = [text.encode() for text in texts]
    stops = np.cumsum([len(one) for one in data]).astype(np.int32)
    starts = stops - np.array([len(one) for one in data], np.int32)
    return ByteCells(np.frombuffer(b"".join(data) or b" ", np.uint8), starts, stops)


def expected_numbers(texts):
    spelled = [Spelling().as_number(text) for text in texts]
    return None if None in spelled else np.array(spelled)


def check(texts):
    found = cells_of(texts).numbers(Spelling())
    expected = expected_numbers(texts)
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert found.view(np.int64).tolist() == np.where(expected != expected, np.nan, expected).view(np.int64).tolist()


HALFWAY = ["9007199254740993", "9007199254740993.0000000000000000001", "4503599627370496.5", "4503599627370497.5",
           "1e23", "8.5e22", "9.5e-322", "2.2250738585072014e-308", "2.2250738585072011e-308", "1.7976931348623157e308",
           "1.7976931348623159e308", "6.631236846766476e-316", "0.000000000000000000000000000000000000001", "5e-324",
           "123456789012345678901234567890", "7.2057594037927933e16", "-0.0", "+.5", "5.", "1e-300", "1e290", "-1E+2",
           "00012", "0e999", "1e99999", "1e-99999"]  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(st.floats(allow_nan=False).map(repr) | st.integers().map(str) | st.sampled_from(HALFWAY), min_size=1))
@example(HALFWAY)
def test_numbers_are_those_of_python(texts):
    check(texts)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.from_regex(r"[+-]?[0-9]{0,21}(\.[0-9]{0,21})?([eE][+-]?[0-9]{1,3})?", fullmatch=True), min_size=1))
def test_digits_of_every_number_and_length(texts):
    for text in texts:
        check([text])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(st.sampled_from("0123456789.eE+-_naNif ?x"), max_size=6), min_size=1, max_size=4))
def test_what_is_no_number_is_told_as_python_tells_it(texts):
    check(texts)


def test_floats_of_any_bits():
    rng = random.Random(0)  # noqa: S311
    texts = []
    for _ in range(3000):
        (value,) = struct.unpack("d", rng.getrandbits(64).to_bytes(8, "little"))
        if value == value:
            texts += [repr(value), f"{value:.16e}", f"{value:.18e}"]
    for start in range(0, len(texts), 100):
        check(texts[start : start + 100])


@pytest.fixture
def long_files(monkeypatch):
    """Read every file as a long one, by blocks of a few bytes."""
    monkeypatch.setattr(csv_file, "LONG_BYTES", 16)
    monkeypatch.setattr(byte_rows, "BLOCK_BYTES", 8)


CELLS = st.sampled_from(["1", "2.5", "", "NA", "-1e5", "red", "blue red", "é", "2020-01-02", " 7", "12345678901234567"])


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=30),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(0, 40),
    st.booleans(),
)
def test_long_files_are_read_as_short_ones(tmp_path_factory, rows, end, at, ends):
    lines = ["alpha,beta,y", *(",".join(row) for row in rows)]
    if at < len(lines):
        lines.insert(at, '"quo""ted",1,"two\nlines"' if at % 2 else "")
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    path.write_bytes((end.join(lines) + (end if ends else "")).encode())

    def outcome():
        try:
            raw = read_table(str(path), None, Reading(categories=("beta",)))
        except DataError as error:
            return str(error)
        return raw.X.tobytes(), raw.levels, raw.target_cells, raw.kinds.said()

    before = csv_file.LONG_BYTES, byte_rows.BLOCK_BYTES
    expected = outcome()
    csv_file.LONG_BYTES, byte_rows.BLOCK_BYTES = 16, 8
    try:
        assert outcome() == expected
    finally:
        csv_file.LONG_BYTES, byte_rows.BLOCK_BYTES = before


def test_ragged_lines_and_other_text_are_told_with_their_line(tmp_path, long_files):
    path = tmp_path / "table.csv"
    path.write_text("alpha,y\n" + "1,a\n" * 50 + "\n2\n")
    with pytest.raises(DataError, match="line 53: 1 cell separated by ',', but the first line has 2"):
        read_table(str(path))
    path.write_text("alpha,y\n" + "1,a\n" * 50 + "red,a\n")
    with pytest.raises(DataError, match="line 52: column 'alpha' holds 'red', which is text"):
        read_table(str(path))
    path.write_bytes(b"alpha,y\n" + b"1,a\n" * 50 + b"1,\xff\n")
    with pytest.raises(DataError, match="is not UTF-8 text"):
        read_table(str(path))


def test_blank_lines_before_the_names(tmp_path, long_files):
    path = tmp_path / "table.csv"
    path.write_text("\n" * 40 + "alpha,y\n" + "1,a\n" * 9)
    assert len(read_table(str(path)).X) == 9


def test_a_marker_that_looks_like_a_number_is_missing(tmp_path, long_files):
    path = tmp_path / "table.csv"
    path.write_text("alpha,y\n" + "1,a\n-999,b\n" * 20)
    raw = read_table(str(path), None, Reading(missing=("-999",)))
    assert np.isnan(raw.X[1::2]).all()
    assert (raw.X[::2] == 1).all()
