import datetime as dt
from decimal import Decimal

import numpy as np
import pytest

from dtnumba.tables.categories import KnownLevels, LearnedLevels
from dtnumba.tables.frames import column_names, is_frame, opened
from dtnumba.tables.table import _Reading, read_table, rows_of_table

NAN = np.nan


def read_frame(frame, *, fitting):
    """The array of a frame of numbers."""
    categories = LearnedLevels(None, "a test") if fitting else KnownLevels(None)
    frame = opened(frame, "a test")
    return _Reading("a test", categories, fitting).frame(frame, column_names(frame))[0]


@pytest.fixture
def pd():
    return pytest.importorskip("pandas")


@pytest.fixture
def pl():
    return pytest.importorskip("polars")


@pytest.fixture
def pa():
    return pytest.importorskip("pyarrow")


def same(array, dtype, rows):
    return array.dtype == dtype and np.array_equal(array, np.array(rows), equal_nan=True)


def test_arrays_and_lists_are_no_frames():
    assert not is_frame(np.zeros((2, 2)))
    assert not is_frame([[1]])


def test_pandas_floats_of_one_dtype_are_read_in_place(pd):
    frame = pd.DataFrame(np.arange(6, dtype=np.float32).reshape(3, 2), columns=["a", "b"])
    assert np.shares_memory(read_frame(frame, fitting=True), frame.to_numpy())


def test_the_bits_of_floats_are_known_of_each_column_of_each_library(pd, pl, pa):
    columns = {"a": np.float32([1, 2]), "b": np.float64([1, 2]), "c": np.int8([3, 4])}
    own, arrow = pd.DataFrame(columns), pa.table(columns)
    half = arrow.append_column("d", [np.float16([1, 2])])
    sparse = own.astype({"a": pd.SparseDtype("float32", 0), "b": "Float64"})
    for frame in (own, arrow, pl.DataFrame(columns), sparse, own.astype({"a": "Float32"}), arrow.to_pandas()):
        assert read_table(frame, "a test").bits == (32, 64, 64)
    assert read_table(half, "a test").bits == (32, 64, 64, 16)
    assert read_table(own.astype({"a": "float32[pyarrow]"}), "a test").bits == (32, 64, 64)
    for bits in (16, 32, 64):
        assert read_table(own.astype(f"f{bits // 8}"), "a test").bits == bits
        assert read_table(np.ones((2, 2), f"f{bits // 8}"), "a test").bits == bits
    rows = rows_of_table(read_table(own, "a test"), np.array([1]))
    assert rows.bits == (32, 64, 64)
    assert read_table(np.ones((2, 2), np.int8), "a test").bits == read_table([[1, 2]], "a test").bits == 64


def test_pandas_columns_of_several_dtypes_meet_in_the_narrowest_that_holds_all(pd):
    narrow = pd.DataFrame({"a": np.float32([1, 2]), "b": np.int8([3, 4]), "c": [True, False]})
    assert same(read_frame(narrow, fitting=True), np.float32, [[1, 3, 1], [2, 4, 0]])
    wide = narrow.assign(d=[0.1, 0.2])
    assert same(read_frame(wide, fitting=True), np.float64, [[1, 3, 1, 0.1], [2, 4, 0, 0.2]])


def test_pandas_nullable_arrow_sparse_and_object_columns_are_read(pd, pa):
    frame = pd.DataFrame(
        {
            "nullable": pd.array([1, None], "Int64"),
            "small": pd.array([1.5, None], "Float32"),
            "flag": pd.array([True, None], "boolean"),
            "arrow": pd.array([1, None], "int64[pyarrow]"),
            "arrow flag": pd.array([None, False], "bool[pyarrow]"),
            "decimal": pd.Series([Decimal("1.5"), None], dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
            "sparse": pd.arrays.SparseArray([0, 2.5]),
            "object": pd.Series([1, None], dtype=object),
        }
    )
    expected = [[1, 1.5, 1, 1, NAN, 1.5, 0, 1], [NAN, NAN, NAN, NAN, 0, NAN, 2.5, NAN]]
    assert same(read_frame(frame, fitting=True), np.float64, expected)
    assert read_frame(frame[["small"]], fitting=True).dtype == np.float32


def test_polars_columns_are_read_and_null_is_missing(pl):
    frame = pl.DataFrame({"a": [1, None], "b": [1.5, NAN], "c": [True, None], "d": [None, None]})
    assert same(read_frame(frame, fitting=True), np.float64, [[1, 1.5, 1, NAN], [NAN, NAN, NAN, NAN]])
    narrow = pl.DataFrame({"a": [1, 2], "b": [0.5, None]}, schema={"a": pl.Int16, "b": pl.Float32})
    assert same(read_frame(narrow, fitting=True), np.float32, [[1, 0.5], [2, NAN]])
    chunked = pl.concat([frame, frame], rechunk=False)
    assert len(read_frame(chunked, fitting=True)) == 4


def test_a_lazy_frame_is_refused_with_the_way_out(pl):
    with pytest.raises(TypeError, match=r"LazyFrame, which holds no data yet: pass X.collect\(\)"):
        is_frame(pl.DataFrame({"a": [1]}).lazy())


def test_arrow_tables_and_batches_are_read_and_null_is_missing(pa):
    table = pa.table(
        {
            "a": [1, None],
            "b": pa.array([1.5, None], pa.float32()),
            "c": [True, None],
            "d": pa.nulls(2),
            "e": pa.array([Decimal("1.5"), None]),
            "f": pa.array(np.float16([1, 2])),
        }
    )
    expected = [[1, 1.5, 1, NAN, 1.5, 1], [NAN, NAN, NAN, NAN, NAN, 2]]
    assert same(read_frame(table, fitting=True), np.float64, expected)
    assert same(read_frame(table.to_batches()[0], fitting=True), np.float64, expected)
    assert read_frame(table.select(["b", "c", "f"]), fitting=True).dtype == np.float32


def test_any_other_frame_is_read_as_an_array():
    class Frame:
        columns = ("a", "b")

        def __array__(self, dtype=None, copy=None):
            return np.array([[1, 2]])

    assert same(read_frame(Frame(), fitting=True), np.float64, [[1, 2]])


def test_pandas_columns_that_are_not_numbers_are_named(pd):
    columns = {
        "city": pd.Categorical(["Rome", "Oslo"]),
        "colour": pd.Series(["red", "blue"], dtype="string"),
        "day": pd.to_datetime(["2020-01-02"] * 2),
        "zone": pd.to_datetime(["2020-01-02"] * 2, utc=True),
        "span": pd.interval_range(0, 2),
    }
    for name, values in columns.items():
        words = rf"column '{name}' has dtype .* holds (Rome|red|2020|\(0, 1]).* (pass|list it in) categorical_features"
        with pytest.raises(ValueError, match=words):
            read_frame(pd.DataFrame({"fine": [1, 2], name: values}), fitting=True)
    with pytest.raises(ValueError, match="column 'mix' holds 'x', which is text, and 1, which is a number"):
        read_frame(pd.DataFrame({"mix": pd.Series([1, "x"], dtype=object)}), fitting=True)


def test_polars_and_arrow_columns_that_are_not_numbers_are_named(pl, pa):
    day = dt.date(2020, 1, 2)
    frames = [
        pl.DataFrame({"fine": [1], "c": ["red"]}),
        pl.DataFrame({"c": pl.Series(["red"], dtype=pl.Categorical)}),
        pl.DataFrame({"c": [day]}),
        pl.DataFrame({"c": pl.Series([None], dtype=pl.String)}),
        pa.table({"c": ["red"]}),
        pa.table({"c": pa.array(["red"]).dictionary_encode()}),
        pa.table({"c": [day]}),
    ]
    for frame in frames:
        with pytest.raises(ValueError, match=r"column 'c' has dtype .* holds (red|2020-01-02|None), .* categorical_"):
            read_frame(frame, fitting=True)


def test_integers_that_float64_cannot_tell_apart_are_refused_in_every_library(pd, pl, pa):
    big = {"id": [2**53, 2**53 + 1, None]}
    frames = [
        pd.DataFrame({"id": big["id"][:2]}),
        pd.DataFrame(big, dtype="Int64"),
        pd.DataFrame(big, dtype="int64[pyarrow]"),
        pl.DataFrame(big),
        pa.table(big),
    ]
    for frame in frames:
        with pytest.raises(ValueError, match="column 'id' holds 9007199254740992 and 9007199254740993"):
            read_frame(frame, fitting=True)
        assert read_frame(frame, fitting=False)[0, 0] == 2.0**53


def test_names_are_taken_where_all_are_text(pd, pl, pa):
    columns = {"a": [1], "b": [2]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        assert column_names(frame).tolist() == ["a", "b"]
    assert column_names(pd.DataFrame([[1, 2]])) is None
    with pytest.raises(TypeError, match=r"names, but your input has \['int', 'str'\].*astype\(str\)"):
        column_names(pd.DataFrame([[1, 2]], columns=["a", 1]))
