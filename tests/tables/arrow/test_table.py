"""Tables read through Arrow's C interface: what pandas and polars frames of the same values give, without a copy."""

import datetime as dt
import gc
import weakref
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnumba import (
    C45Classifier,
    CHAIDClassifier,
    DecisionListClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ID3Classifier,
    RandomForestClassifier,
    RuleSetClassifier,
    bin_batches,
)
from dtnumba.tables.arrow.interface import Producer
from dtnumba.tables.arrow.number_texts import _in_python, in_a_table
from dtnumba.tables.arrow.table import arrow_batches, read_arrow
from dtnumba.tables.categories import LearnedLevels
from dtnumba.tables.cells import values_of
from dtnumba.tables.table import read_table

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")


class Speaker:
    """A library of which nothing is known but that it speaks Arrow."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class OneBatch:
    def __init__(self, batch):
        self._batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self._batch.__arrow_c_array__(requested_schema)


def read(X, listed="from_dtype"):
    return read_table(X, "a test", categories=LearnedLevels(listed, "a test"))


def same_tables(one, other):
    a, b = values_of(one.cells), values_of(other.cells)
    assert a.dtype == b.dtype
    np.testing.assert_array_equal(a, b)
    assert one.bits == other.bits
    assert one.names.tolist() == other.names.tolist()
    levels = [[None if own is None else own.tolist() for own in table.levels or ()] for table in (one, other)]
    assert levels[0] == levels[1]
    assert (one.nominal is None) == (other.nominal is None)
    assert one.nominal is None or (one.nominal == other.nominal).all()


INTEGERS = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64]


@st.composite
def columns(draw, n):
    """A polars column of any dtype that trees read."""
    kind = draw(st.sampled_from([*INTEGERS, pl.Float32, pl.Float64, pl.Boolean, pl.String, pl.Null]))
    if kind in INTEGERS:
        low, high = (0, 2**7 - 1) if str(kind).startswith("U") else (-(2**7), 2**7 - 1)
        value = st.integers(low, high)
    elif kind in {pl.Float32, pl.Float64}:
        value = st.floats(width=32)
    elif kind == pl.Boolean:
        value = st.booleans()
    elif kind == pl.Null:
        value = st.none()
    else:
        value = st.text(st.sampled_from("ab é\u1234"), max_size=30)
    cells = draw(st.lists(value | st.none() if draw(st.booleans()) else value, min_size=n, max_size=n))
    return pl.Series(cells, dtype=kind)


@st.composite
def frames(draw):
    n = draw(st.integers(1, 40))
    frame = pl.DataFrame({f"c{j}": draw(columns(n)) for j in range(draw(st.integers(1, 4)))})
    cuts = sorted(draw(st.lists(st.integers(0, n), max_size=3)))
    return frame, [0, *cuts, n]


@settings(max_examples=200, deadline=None)
@given(frames())
def test_arrow_gives_what_the_polars_frame_gives(drawn):
    frame, cuts = drawn
    expected = read(frame)
    table = frame.to_arrow()
    parts = [table.slice(start, stop - start) for start, stop in pairwise(cuts)]
    whole = table.combine_chunks().to_batches()[0]
    for X in (Speaker(table), Speaker(pa.concat_tables(parts)), OneBatch(whole)):
        same_tables(read(X), expected)
    listed = [frame.columns[0]]
    same_tables(read(Speaker(pa.concat_tables(parts).select(listed)), listed), read(frame.select(listed), listed))


@settings(max_examples=50, deadline=None)
@given(frames())
def test_views_and_wide_offsets_are_the_same_texts(drawn):
    frame, _ = drawn
    frame = frame.select([name for name, dtype in frame.schema.items() if dtype == pl.String])
    if frame.width:
        texts = [pa.chunked_array([column.to_arrow()]) for column in frame.get_columns()]
        for kind in (pa.string(), pa.large_string(), pa.string_view()):
            table = pa.table([column.cast(kind) for column in texts], frame.columns)
            same_tables(read(table.slice(0)), read(frame))
            if len(frame) > 1:
                same_tables(read(table.slice(1)), read(frame[1:]))


def test_floats_of_one_batch_that_lie_like_an_array_are_read_where_they_lie():
    for dtype in (np.float32, np.float64):
        X = np.asfortranarray(np.arange(12.0).reshape(4, 3), dtype)
        table = pa.table([pa.array(X[:, j]) for j in range(3)], list("abc"))
        found = read(Speaker(table))
        assert np.shares_memory(values_of(found.cells), X)
        np.testing.assert_array_equal(values_of(found.cells), X)
        np.testing.assert_array_equal(values_of(read(Speaker(table.slice(1, 2))).cells), X[1:3])
    apart = pa.table([pa.array(np.arange(3.0)), pa.array(np.arange(7.0))[4:]], ["a", "b"])
    np.testing.assert_array_equal(values_of(read(Speaker(apart)).cells), [[0, 4], [1, 5], [2, 6]])
    holes = pa.table({"a": [1.0, None]})
    np.testing.assert_array_equal(values_of(read(Speaker(holes)).cells), [[1], [np.nan]])


def test_what_is_read_lives_as_long_as_somebody_reads_it_and_no_longer():
    memory = np.arange(1000.0)
    gone = weakref.ref(memory)
    table = pa.table([pa.Array.from_buffers(pa.float64(), 1000, [None, pa.py_buffer(memory)])], ["a"])
    found = read(Speaker(table))
    del table, memory
    gc.collect()
    assert gone() is not None
    assert values_of(found.cells).sum() == 499_500
    del found
    gc.collect()
    assert gone() is None


def test_batches_are_let_go_of_before_the_next_one_and_at_an_early_end():
    alive = []

    def batches():
        for k in range(5):
            memory = np.full(10, float(k))
            alive.append(weakref.ref(memory))
            yield pa.record_batch([pa.Array.from_buffers(pa.float64(), 10, [None, pa.py_buffer(memory)])], ["a"])
            del memory

    def reader():
        return pa.RecordBatchReader.from_batches(pa.schema([("a", pa.float64())]), batches())

    most = 0
    for batch in arrow_batches(reader()):
        gc.collect()
        most = max(most, sum(one() is not None for one in alive))
        del batch
    assert most <= 2
    assert len(alive) == 5
    iterator = arrow_batches(reader())
    next(iterator)
    iterator.close()
    gc.collect()
    assert not any(one() is not None for one in alive)


def test_a_reader_is_consumed_once_and_says_so_the_second_time():
    table = pa.table({"a": [1.0, 2.0, 3.0], "b": [1, 2, 3]})
    reader = table.to_reader()
    assert len(read_arrow(reader)) == 3
    model = DecisionTreeRegressor().fit(table, [1.0, 2.0, 3.0])
    for ask in (lambda: read(reader), lambda: model.predict(reader)):
        with pytest.raises(ValueError, match=r"0 sample.* A RecordBatchReader that gives its rows once has none left"):
            ask()
    with pytest.raises(ValueError, match="used up yields none, and so does a reader"):
        bin_batches(lambda: reader)
    with pytest.raises(ValueError, match=r"0 sample.*a test\.$"):
        read(table.slice(0, 0))

    class Kept:
        capsule = table.__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema=None):
            return self.capsule

    kept = Kept()
    assert len(read_arrow(kept)) == 3
    with pytest.raises(ValueError, match="read already, and gives its rows once"):
        read_arrow(kept)


def test_what_goes_wrong_at_the_producer_is_told():
    def batches():
        yield pa.record_batch({"a": [1.0]})
        raise RuntimeError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.float64())]), batches())
    with pytest.raises(ValueError, match=r"X cannot be read, its producer says: .*the disk is gone"):
        read(reader)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1], [2]]),
        pa.array([{"x": 1}, {"x": 2}]),
        pa.array([[1.0, 2.0]] * 2, pa.list_(pa.float64(), 2)),
        pa.array([[("a", 1)]] * 2, pa.map_(pa.string(), pa.int64())),
    ],
)
def test_nested_columns_are_refused_by_name(column):
    table = pa.table({"fine": [1, 2], "nest": column})
    for listed in ("from_dtype", ["nest"]):
        with pytest.raises(ValueError, match=r"column 'nest' has dtype .*, of which a cell is no"):
            read(Speaker(table), listed)
    assert np.isnan(values_of(read(Speaker(pa.table({"nest": pa.nulls(2, column.type)}))).cells)).all()


MOMENTS = [
    pa.array([dt.date(2020, 1, 2), None, dt.date(1969, 12, 31)]),
    pa.array([dt.date(2020, 1, 2), None, dt.date(1969, 12, 31)], pa.date64()),
    pa.array([dt.datetime(2020, 1, 2, 3, 4, tzinfo=dt.timezone.utc), None], pa.timestamp("us", "UTC")),
    pa.array([dt.time(1, 2, 3), None, dt.time(0)], pa.time64("us")),
    pa.array([dt.timedelta(days=-1), None, dt.timedelta(0)], pa.duration("ms")),
    pa.array([b"\xff\x00", None, b"a"]),
    pa.array([b"ab", None, b"cd"], pa.binary(2)),
    pa.array([Decimal("1.50"), None, Decimal("-7.25")]),
]


@pytest.mark.parametrize("column", MOMENTS, ids=lambda column: str(column.type))
def test_dates_and_the_like_are_categories_where_listed_and_refused_elsewhere(column):
    table = pa.table({"when": column})
    found = read(Speaker(table), ["when"])
    assert found.levels[0].tolist() == sorted(column.drop_null().to_pylist())
    assert np.isnan(values_of(found.cells)[1, 0])
    if not pa.types.is_decimal(column.type):
        with pytest.raises(ValueError, match=r"column 'when' has dtype .* holds .*, which is not a number: encode"):
            read(Speaker(table))


@given(st.lists(st.decimals(-(10**20), 10**20, places=3) | st.none(), min_size=1))
@settings(deadline=None)
def test_decimals_are_the_nearest_floats(cells):
    column = pa.array(cells, pa.decimal128(38, 3))
    expected = [np.nan if cell is None else float(cell) for cell in cells]
    np.testing.assert_array_equal(values_of(read(Speaker(pa.table({"a": column}))).cells)[:, 0], expected)
    for kind in (pa.decimal256(60, 3), pa.decimal128(38, 3)):
        table = pa.table({"a": column.cast(kind)})
        np.testing.assert_array_equal(values_of(read(Speaker(table)).cells)[:, 0], expected)


def test_chunks_with_dictionaries_of_their_own_share_their_levels():
    one = pa.array(["b", "a", None]).dictionary_encode()
    other = pa.array(["c", "a", "b"]).dictionary_encode()
    found = read(Speaker(pa.table({"c": pa.chunked_array([one, other, one])})))
    assert found.levels[0].tolist() == ["b", "a", "c"]
    np.testing.assert_array_equal(values_of(found.cells)[:, 0], [0, 1, np.nan, 2, 1, 0, 0, 1, np.nan])


def test_integers_that_float64_cannot_tell_apart_are_refused_over_chunks():
    table = pa.table({"id": pa.chunked_array([[2**53], [None, 2**53 + 1]])})
    with pytest.raises(ValueError, match="column 'id' holds 9007199254740992 and 9007199254740993"):
        read(Speaker(table))


def test_rows_that_the_struct_around_them_lacks_are_missing():
    struct = pa.StructArray.from_arrays([pa.array([1.0, 2.0, 3.0])], ["a"], mask=pa.array([False, True, False]))
    found = read_arrow(OneBatch(struct.slice(1)))
    np.testing.assert_array_equal(found.columns[0].numbers(fitting=True), [np.nan, 3.0])


def test_one_column_of_arrow_is_no_table():
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array instead"):
        read(pa.array([1.0, 2.0]))
    assert read_arrow(pa.chunked_array([[1.0]])) is None
    with pytest.raises(TypeError, match="is one column"):
        next(arrow_batches(pa.chunked_array([[1.0]])))


def test_no_rows_are_refused_as_of_any_table():
    with pytest.raises(ValueError, match=r"0 sample\(s\) \(shape=\(0, 1\)\)"):
        read(Speaker(pa.table({"a": pa.array([], pa.float64())})))
    with pytest.raises(ValueError, match=r"0 sample"):
        read(Speaker(pa.table({"a": pa.array([], pa.string())})), ["a"])


LEARNERS = [
    DecisionTreeClassifier, RandomForestClassifier, ID3Classifier, C45Classifier, CHAIDClassifier,
    RuleSetClassifier, DecisionListClassifier,
]  # fmt: skip


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_reads_what_is_read_once(learner):
    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.normal(size=120), "c": rng.choice(["x", "y"], 120)})
    y = np.where(table["a"].to_numpy() > 0, "up", "down")
    model = learner().fit(table.to_reader(max_chunksize=50), y)
    frame = pl.from_arrow(table)
    assert model.predict(table.to_reader(max_chunksize=7)).tolist() == model.predict(frame).tolist()
    assert model.feature_names_in_.tolist() == ["a", "c"]


def test_batches_come_from_a_relation_or_a_function_that_makes_readers():
    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.normal(size=300), "c": rng.choice(["x", "y"], 300)})
    expected = bin_batches(lambda: [table], 16, "from_dtype")
    relation = Speaker(table)
    relation.columns = ["a", "c"]
    for source in (table, relation, lambda: table.to_reader(max_chunksize=64), lambda: relation):
        found = bin_batches(source, 16, "from_dtype")
        assert (found.codes == expected.codes).all()
        assert found.levels[1].tolist() == ["x", "y"]
    with pytest.raises(TypeError, match="RecordBatchReader, which can be read once, and there are two passes"):
        bin_batches(table.to_reader())


def test_duckdb_relations_are_tables():
    duckdb = pytest.importorskip("duckdb")
    sql = """select i::double as a, case when i % 7 = 0 then null else i end as b, 'x' || (i % 3) as c,
             (i % 5)::decimal(9, 2) as d, i % 2 = 0 as e, (i % 100)::hugeint as f from range(5000) t(i)"""
    relation = duckdb.sql(sql)
    model = DecisionTreeClassifier(max_depth=3).fit(relation, np.arange(5000) % 3)
    same_tables(read(relation), read(relation.pl()))
    assert model.predict(relation).tolist() == model.predict(relation.pl()).tolist()
    assert bin_batches(relation, 32, ["c"]).shape == (5000, 6)


def test_a_producer_that_is_never_read_is_let_go_of():
    source = Producer(pa.table({"a": [1.0]}))
    assert source.schema.format == b"+s"
    del source
    gc.collect()


LONG = st.builds(bytes.__add__, st.sampled_from([b"", b"a", b"a" * 7, b"a" * 8, b"b" * 17]), st.binary(max_size=10))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=3) | LONG | st.sampled_from([b"a" * n for n in range(20)]), max_size=60))
def test_texts_are_numbered_by_the_table_as_by_python(texts):
    stops = np.cumsum([len(text) for text in texts], dtype=np.int64)
    starts = stops - [len(text) for text in texts] if texts else stops
    memory = np.frombuffer(b"".join(texts) or b" ", np.uint8)
    for n_slots in (4, 64):
        both = in_a_table(memory, starts, stops, n_slots), _in_python(memory, starts, stops)
        for found, expected in zip(*both, strict=True):
            assert found.tolist() == expected.tolist()
