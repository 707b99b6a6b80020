"""Categories at the gate: what counts as one, its levels, and what they become in fit, predict, batches and codes."""

import datetime as dt
import gc
import pickle
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.category_codes import levels_of, numbers_of
from strategies import examples

from dtnumba import bin_batches
from dtnumba.tables import batches
from dtnumba.tables import category_codes as levels_module
from dtnumba.tables.bins import histogram_codes, rank_codes
from dtnumba.tables.categories import LearnedLevels
from dtnumba.tables.category_codes import (
    CodedColumn,
    coded_dictionary,
    coded_numbers,
    coded_objects,
    encode,
    learn,
    numbered,
)
from dtnumba.tables.table import Seen, read_table

WORDS = ["red", "", " ", "a,b", 'say "hi"', "naïve", "日本", "Zebra", "1", "nan"]


def read(X, categorical_features="from_dtype"):
    return read_table(X, "a test", categories=LearnedLevels(categorical_features, "a test"))


def again(X, table):
    return read_table(X, "a test", Seen(table.n_features, table.names, table.levels))


def column(table, j=0):
    """A column as kernels read it, None where it is missing."""
    values = table.values_at(np.arange(table.n_rows), np.full(table.n_rows, j))
    return [None if np.isnan(value) else value for value in values]


def listed(table, j=0):
    return None if table.levels is None or table.levels[j] is None else table.levels[j].tolist()


texts = st.lists(st.sampled_from([*WORDS, None]), min_size=1, max_size=20)


def every_spelling(values):
    """Yield a name and a table of one column of text, in each way that there is."""
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    cells = np.array(values, object)[:, None]
    yield "objects", cells
    yield "list", [[value] for value in values]
    yield "pandas object", pd.DataFrame({"c": pd.Series(values, dtype=object)})
    for dtype in ("str", "string[python]", "string[pyarrow]", "category"):
        yield dtype, pd.DataFrame({"c": pd.Series(values, dtype=dtype)})
    text = pa.array(values, pa.string())
    arrays = {"arrow": text, "large": text.cast(pa.large_string()), "coded": text.dictionary_encode()}
    for name, array in arrays.items():
        yield f"pandas {name}", pd.DataFrame({"c": pd.Series(array, dtype=pd.ArrowDtype(array.type))})
        yield name, pa.table({"c": array})
    yield "chunks", pa.table({"c": pa.chunked_array([text[:1].dictionary_encode(), text[1:].dictionary_encode()])})
    yield "batch", pa.table({"c": text}).to_batches()[0]
    yield "polars", pl.DataFrame({"c": pl.Series(values, dtype=pl.String)})
    yield "categorical", pl.DataFrame({"c": pl.Series(values, dtype=pl.Categorical)})


@pytest.mark.small
@examples(40)
@given(texts)
def test_text_is_the_same_categories_however_it_is_spelled(values):
    if all(value is None or value in {"1", "nan"} for value in values):
        values = [*values, "red"]  # text of numbers alone is refused where NumPy may have made it
    expected = numbers_of(values, levels_of(values))
    for name, X in every_spelling(values):
        table = read(X)
        in_order = name in {"coded", "pandas coded", "chunks"}  # the dictionary's, which is that of the rows
        levels = list(dict.fromkeys(v for v in values if v is not None)) if in_order else levels_of(values)
        found = [np.nan if code is None else code for code in column(table)]
        wanted = numbers_of(values, levels) if in_order else expected
        assert listed(table) == levels, name
        assert np.array_equal(found, wanted, equal_nan=True), name
        assert table.nominal.tolist() == [True]
        assert table.cells.flat.dtype == np.float32


@examples(40)
@given(texts, texts)
def test_predict_finds_the_levels_of_fit_and_no_others(seen, new):
    seen = [*seen, "red"]
    expected = numbers_of(new, levels_of(seen))
    fitted = read(np.array(seen, object)[:, None])
    fitted = Seen(1, None, fitted.levels)
    for name, X in every_spelling(new):
        names = None if name in {"objects", "list"} else np.array(["c"], object)
        table = read_table(X, "a test", fitted._replace(names=names))
        found = table.values_at(np.arange(len(new)), np.zeros(len(new), int))
        assert np.array_equal(found, expected, equal_nan=True), name


@pytest.mark.small
@examples(60)
@given(
    st.lists(st.sampled_from([-3, 0, 1, 7, 10**6, 2**40, 2**53 - 1]), min_size=1, max_size=12),
    st.sampled_from(["i8", "f8", "f4", "u4", "i2", "?", "O"]),
)
def test_listed_numbers_are_levels_in_their_order(values, dtype):
    if dtype in {"u4", "i2", "?"}:
        values = [abs(value) % 1000 for value in values]
    X = np.array(values, "f4" if dtype == "f4" else None).astype(dtype)[:, None]
    table = read(X, [0])
    plain = X[:, 0].tolist()
    assert listed(table) == levels_of(plain)
    assert column(table) == numbers_of(plain, levels_of(plain))
    assert column(again(X[::-1], table)) == column(table)[::-1]


@pytest.mark.small
def test_missing_values_of_every_kind_are_missing():
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    there = [1.0, 0.0, None]
    objects = np.array([["red"], ["blue"], [None]], object)
    for hole in (None, np.nan, np.float32("nan"), pd.NA, pd.NaT):
        objects[2, 0] = hole
        assert column(read(objects)) == there
    masked = np.ma.array(np.array([["red"], ["blue"], ["red"]], object), mask=[[False], [False], [True]])
    assert column(read(masked)) == there
    numbers = np.ma.array([[5], [2], [5]], mask=[[False], [False], [True]])
    assert column(read(numbers, [0])) == there
    frames = [
        pd.DataFrame({"c": pd.array([5, 2, None], "Int64")}),
        pd.DataFrame({"c": pd.array([5, 2, None], "int64[pyarrow]")}),
        pd.DataFrame({"c": [5, 2, np.nan]}),
        pd.DataFrame({"c": pd.to_datetime(["2020-02-02", "2020-01-01", None])}),
        pd.DataFrame({"c": pd.Categorical([5, 2, None])}),
        pl.DataFrame({"c": [5, 2, None]}),
        pl.DataFrame({"c": [True, False, None]}),
        pl.DataFrame({"c": [dt.date(2020, 2, 2), dt.date(2020, 1, 1), None]}),
        pa.table({"c": [5, 2, None]}),
        pa.table({"c": [5.5, 2, None]}),
        pa.table({"c": [True, False, None]}),
        pa.table({"c": pa.array([5, 2, None]).dictionary_encode()}),
    ]
    for frame in frames[:-1]:
        assert column(read(frame, ["c"])) == there
    assert column(read(frames[-1])) == [0.0, 1.0, None]  # in the order of the dictionary


@pytest.mark.small
def test_levels_stand_in_the_order_of_the_dtype_and_only_those_that_occur():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    values, order = ["low", "high", None, "low"], ["low", "mid", "high"]
    nominal = read(pd.DataFrame({"c": pd.Categorical(values, order)}))
    ordered = read(pd.DataFrame({"c": pd.Categorical(values, order, ordered=True)}))
    enum = read(pl.DataFrame({"c": pl.Series(values, dtype=pl.Enum(order))}))
    for table in (nominal, ordered, enum):
        assert listed(table) == ["low", "high"]
        assert column(table) == [0.0, 1.0, None, 0.0]
    assert ordered.nominal is None
    assert nominal.nominal.tolist() == enum.nominal.tolist() == [True]
    said = read(pd.DataFrame({"c": pd.Categorical(values, order, ordered=True)}), ["c"])
    assert said.nominal.tolist() == [True]


def test_categories_may_be_of_any_kind():
    pd = pytest.importorskip("pandas")
    cut = read(pd.DataFrame({"c": pd.cut([1.0, 9.0, 2.0], 2)}))
    assert cut.nominal is None
    assert column(cut) == [0.0, 1.0, 0.0]
    pairs = pd.Series([("a", 1), ("b", 2), ("a", 1)])
    assert column(read(pd.DataFrame({"c": pairs}), ["c"])) == [0.0, 1.0, 0.0]
    mixture = pd.DataFrame({"c": pd.Categorical([1, "a", 1])})
    table = read(mixture)
    assert sorted(column(table)) == [0.0, 0.0, 1.0]
    assert column(again(pd.DataFrame({"c": ["a", "a"]}), table)) == [column(table)[1]] * 2


@pytest.mark.small
def test_numbers_and_categories_stand_side_by_side():
    X = np.array([["red", 1.5, True], ["blue", None, False]], object)
    table = read(X)
    assert [listed(table, j) for j in range(3)] == [["blue", "red"], None, None]
    assert table.nominal.tolist() == [True, False, False]
    assert [column(table, j) for j in range(3)] == [[1.0, 0.0], [1.5, None], [1.0, 0.0]]
    as_list = read([["red", 1.5, True], ["blue", None, False]])
    assert [column(as_list, j) for j in range(3)] == [column(table, j) for j in range(3)]
    plain = read(np.zeros((2, 2)))
    assert plain.levels is None
    assert plain.nominal is None


@pytest.mark.small
def test_numbers_keep_their_precision_beside_categories():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"c": ["x", "y"], "wide": [0.1, 0.2]})
    assert column(read(frame), 1) == [0.1, 0.2]
    assert read(frame.astype({"wide": "float32"})).cells.flat.dtype == np.float32
    codes = np.array([[5, 7], [6, 8]], np.int64)
    assert read(codes, [0, 1]).cells.flat.dtype == np.float32
    assert read(codes, [0]).cells.flat.dtype == np.float64


@pytest.mark.small
@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (["b"], [False, True, False]),
        (["c", 0], [True, False, True]),
        (np.array([0, 2]), [True, False, True]),
        ([False, True, True], [False, True, True]),
        (np.array([True, False, False]), [True, False, False]),
        (("a",), [True, False, False]),
        ([], [False, False, False]),
        (None, [False, False, False]),
        ("from_dtype", [False, False, False]),
    ],
    ids=str,
)
def test_columns_are_listed_by_name_by_index_or_by_a_mask(wanted, expected):
    pd = pytest.importorskip("pandas")
    table = read(pd.DataFrame({"a": [1, 2], "b": [3, 3], "c": [0.5, 1]}), wanted)
    assert [listed(table, j) is not None for j in range(3)] == expected


@pytest.mark.small
@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (["z"], r"categorical_features=\['z'\]: a test has no column 'z'; there are 'a', 'b'"),
        ([2], "no column 2: indices go from 0 to 1"),
        ([-1], "no column -1"),
        ([True], "a test has 2 columns, and the mask 1 entries"),
        ([0], "column 'b' has dtype category and holds x, .*list it in categorical_features, too"),
        (None, "column 'b' has dtype category and holds x, .*pass categorical_features='from_dtype' if it is"),
    ],
    ids=str,
)
def test_a_list_that_does_not_fit_the_table_is_refused(wanted, words):
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=words):
        read(pd.DataFrame({"a": [1, 2], "b": pd.Categorical(["x", "y"])}), wanted)


@pytest.mark.small
@pytest.mark.parametrize(
    ("X", "wanted", "words"),
    [
        (np.array([["red"], [1]], object), "from_dtype", "column 0 holds 'red', which is text, and 1, which is a numb"),
        (np.array([["1", "a"], ["2", "b"]]), "from_dtype", "column 0 holds '1', which is text.*pass an object array"),
        ([["1.5", "a"]], "from_dtype", "could not convert string to float: column 0 holds '1.5'"),
        (np.zeros((2, 2)), ["a"], "cannot find 'a', because X has no column names"),
        (np.array([[1], [dt.date(2020, 1, 1)]], object), [0], "holds datetime.date.*and 1, which is a number"),
    ],
    ids=["mixed", "numbers as text", "numbers as text in a list", "names", "listed mixture"],
)
def test_what_cannot_be_a_category_is_refused(X, wanted, words):
    with pytest.raises(ValueError, match=words):
        read(X, wanted)


def test_cells_that_cannot_be_compared_are_refused():
    with pytest.raises(TypeError, match=r"column 0 cannot be a category: .*unhashable"):
        read(np.array([[{"a": 1}], [{"b": 2}]], object), [0])
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(ValueError, match=r"X is sparse, .*pass X.toarray\(\)"):
        read(sparse.csr_array(np.eye(3)), [0])
    assert read(sparse.csr_array(np.eye(3))).levels is None


@pytest.mark.small
def test_listed_text_that_says_numbers_is_a_category():
    assert listed(read(np.array([["10"], ["9"]]), [0])) == ["10", "9"]
    assert listed(read(np.array([["10"], ["9"]], object))) == ["10", "9"]
    assert listed(read(np.array([[b"y"], [b"x"]]))) == [b"x", b"y"]


@pytest.mark.small
def test_a_kind_that_changed_since_fit_is_refused():
    text, numbers = np.array([["red"], ["blue"]], object), np.array([[1.0], [2.0]])
    for seen, new, words in [
        (text, numbers, "column 0 holds 1.0, which is a number, and in fit it held 'blue', which is text"),
        (numbers, text, "column 0 holds 'red', which is text, and in fit the column held numbers"),
    ]:
        with pytest.raises(ValueError, match=words):
            again(new, read(seen))
    with pytest.raises(ValueError, match=r"column 0 holds 'red', which is text, and in fit it held 1\.0"):
        again(text, read(numbers, [0]))
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1, 2]})
    with pytest.raises(ValueError, match="column 'a' holds 1, which is a number, and in fit the column held numbers"):
        again(frame.astype("category"), read(frame))


@pytest.mark.small
def test_one_value_of_another_kind_among_known_levels_is_refused():
    text, numbers = np.array([["red"], ["blue"]], object), np.array([[1.0], [2.0]])
    with pytest.raises(ValueError, match=r"column 0 holds 7, which is a number, and in fit it held 'blue'"):
        again(np.array([["red"], [7], [None]], object), read(text))
    with pytest.raises(ValueError, match=r"column 0 holds 'none', which is text, and in fit it held 1\.0"):
        again(np.array([[1.0], ["none"]], object), read(numbers, [0]))
    pd = pytest.importorskip("pandas")
    mixture = read(pd.DataFrame({"c": pd.Categorical([1, "a", 1])}))
    assert column(again(pd.DataFrame({"c": ["a", "new"]}), mixture))[1] is None


@pytest.mark.small
def test_a_column_without_values_has_no_kind():
    pd = pytest.importorskip("pandas")
    text, numbers = pd.DataFrame({"a": ["red", "blue"]}), pd.DataFrame({"a": [1.5, 2]})
    empty = [pd.DataFrame({"a": pd.Series([None, None], dtype=dtype)}) for dtype in ("str", "category", object, float)]
    for frame in empty:
        assert column(again(frame, read(text))) == [None, None]
        assert column(again(frame, read(numbers))) == [None, None]
        assert column(read(frame)) == [None, None]
    known = read(empty[0])
    assert listed(known) == []
    assert column(again(text, known)) == [None, None]


def test_whole_numbers_with_holes_find_their_levels():
    pd = pytest.importorskip("pandas")
    table = read(pd.DataFrame({"a": [3, 5, 9]}), ["a"])
    assert column(again(pd.DataFrame({"a": [np.nan, 5.0, 4.0, 9.0]}), table)) == [None, 1.0, None, 2.0]
    assert column(again(pd.DataFrame({"a": pd.Categorical([9, 3])}), table)) == [2.0, 0.0]


@pytest.mark.small
def test_values_twice_in_a_dictionary_are_one_level():
    pa = pytest.importorskip("pyarrow")
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None, 3]), pa.array(["b", "a", "b", None]))
    table = read(pa.table({"c": twice}))
    assert listed(table) == ["b", "a"]
    assert column(table) == [0.0, 1.0, 0.0, None, None]
    coded = coded_dictionary(np.array([2, 0, -1]), ["x", "y", "x"], has_order=True)
    assert learn(coded, "c")[0].tolist() == ["x"]


@pytest.mark.small
def test_codes_count_small_ranges_and_sort_wide_ones():
    for numbers in (np.array([5, 3, 5]), np.array([2**60, -(2**60), 2**60]), np.array([0.5, -0.0, 0.0, np.inf])):
        coded = coded_numbers(numbers)
        assert np.array_equal(coded.values[coded.codes], numbers)
    narrow = coded_numbers(np.array([-128, 127, 0], np.int8))
    assert narrow.values[narrow.codes].tolist() == [-128, 127, 0]
    assert coded_numbers(np.empty(0)).values.size == 0
    assert learn(coded_numbers(np.array([0.0, -0.0])), "c")[0].tolist() == [0.0]


def test_many_levels_are_looked_up_in_a_table_made_once():
    levels = np.array([f"level {k}" for k in range(1000)], object)
    coded = coded_objects(["level 7", "other", None])
    before = len(levels_module._made)
    for _ in range(2):
        codes, others = encode(coded, levels, "c")
        assert codes[0] == 7.0
        assert np.isnan(codes[1:]).all()
        assert others.tolist() == ["other"]
    assert len(levels_module._made) == before + 1
    del levels
    gc.collect()
    assert len(levels_module._made) == before


def test_codes_that_float32_cannot_hold_are_float64():
    coded = CodedColumn(np.array([1, 0, -1]), np.array([5, 6]))
    for most, dtype in (((1 << 24) - 1, np.float32), ((1 << 24) + 1, np.float64)):
        codes = numbered(coded, np.array([0, 1]), np.array([0, most]))
        assert codes.dtype == dtype
        assert codes[:2].tolist() == [most, 0]


# Codes of growth


def codes_of(table, how, most=255):
    kept = np.arange(table.n_rows, dtype=np.uint32)
    return rank_codes(table, kept, 1) if how == "rank" else histogram_codes(table, kept, most, 1)


@pytest.mark.parametrize("how", ["rank", "histogram"])
@pytest.mark.parametrize(("n_rows", "n_levels"), [(500, 3), (500, 255), (500, 256), (80_000, 300), (80_000, 70_000)])
def test_codes_of_a_category_are_its_levels(how, n_rows, n_levels):
    rng = np.random.default_rng(0)
    X = rng.integers(0, min(n_levels, n_rows), (n_rows, 4)).astype(float)
    X[: min(n_levels, n_rows), 1] = np.arange(min(n_levels, n_rows))
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 0], X[:, 2] = rng.normal(size=n_rows), np.where(X[:, 2] == 1, np.nan, 7)
    table = read(X, [1, 2])
    codes, bins = codes_of(table, how, 64)
    narrow, numbers = codes_of(read(X[:, [0, 3]]), how, 64)
    assert np.array_equal(codes[:, [0, 3]], narrow)
    assert np.array_equal(bins.n_codes[[0, 3]], numbers.n_codes)
    for f in (1, 2):
        levels = table.levels[f]
        at = slice(bins.first_code[f], bins.first_code[f + 1])
        assert bins.n_codes[f] == len(levels)
        assert bins.low[at].tolist() == bins.high[at].tolist() == list(range(len(levels)))
        is_there = ~np.isnan(X[:, f])
        assert np.array_equal(levels[codes[is_there, f]], X[is_there, f])
        assert (codes[~is_there, f] == len(levels)).all()
    most = bins.n_codes.max()
    assert codes.dtype == (np.uint8 if most < 256 else np.uint16 if most < 65536 else np.uint32)


@pytest.mark.parametrize("how", ["rank", "histogram"])
def test_ordered_levels_are_coded_as_numbers(how):
    pd = pytest.importorskip("pandas")
    order = [f"{k:03}" for k in range(300)]
    frame = pd.DataFrame({"c": pd.Categorical(order * 2, order, ordered=True)})
    codes, bins = codes_of(read(frame), how, 50)
    assert bins.n_codes[0] == (300 if how == "rank" else 50)
    assert (np.diff(codes[:300, 0].astype(int)) >= 0).all()


# Batches


def frames_of(pd, X, step):
    parts = [X[at : at + step] for at in range(0, len(X), step)]
    return lambda: (pd.DataFrame(part, columns=["c", "n"]).infer_objects() for part in parts)


def cells(n, n_levels, seed=0):
    rng = np.random.default_rng(seed)
    X = np.empty((n, 2), object)
    X[:, 0] = [f"level {k}" for k in rng.integers(0, n_levels, n)]
    X[:, 1] = rng.integers(0, 40, n)
    X[rng.random(n) < 0.1, 0] = None
    return X


@pytest.mark.parametrize("sample", [1000, 60])
@pytest.mark.parametrize("n_levels", [5, 290])
@pytest.mark.parametrize("step", [400, 11])
def test_batches_give_the_codes_of_the_whole_table(monkeypatch, sample, n_levels, step):
    pd = pytest.importorskip("pandas")
    monkeypatch.setattr(batches, "DRAWN_ROWS", sample)
    monkeypatch.setattr(batches, "_SPARE_ROWS", 50)
    X = cells(400, n_levels)
    X[:11, 0] = None  # a batch without a value
    table = bin_batches(frames_of(pd, X, step), categorical_features="from_dtype")
    whole = read(X)
    codes, bins = codes_of(whole, "histogram")
    assert np.array_equal(table.codes, codes)
    assert table.codes.dtype == codes.dtype
    assert np.array_equal(table.bins.n_codes, bins.n_codes)
    assert np.array_equal(table.bins.low, bins.low)
    assert table.bins.exhaustive.all()
    assert listed(table) == listed(whole)
    assert table.nominal.tolist() == [True, False]
    assert len(table.edges[0]) == 0
    assert np.array_equal(table.middles[0, : len(listed(whole))], np.arange(len(listed(whole))))
    assert pickle.loads(pickle.dumps(table)).levels[0].tolist() == listed(whole)  # noqa: S301  our own bytes


@pytest.mark.parametrize("sample", [1000, 10])
def test_ordered_categories_of_batches_keep_their_order(monkeypatch, sample):
    pd = pytest.importorskip("pandas")
    monkeypatch.setattr(batches, "DRAWN_ROWS", sample)
    order, values = ["low", "mid", "high", "top"], ["top", "low", "top", None, "high", "low", "low"] * 3

    def make(orders):
        pairs = zip(values, orders, strict=False)
        frames = [pd.DataFrame({"c": pd.Categorical([value], order, ordered=True)}) for value, order in pairs]
        return lambda: frames

    table = bin_batches(make([order] * 21), categorical_features="from_dtype")
    assert listed(table) == ["low", "high", "top"]
    assert table.nominal is None
    assert table.codes[:7, 0].tolist() == [2, 0, 2, 3, 1, 0, 0]
    with pytest.raises(ValueError, match="column 'c' has ordered categories, and they are not those of the batches"):
        bin_batches(make([order, order[::-1]]), categorical_features="from_dtype")


def test_batches_of_another_kind_or_another_time_are_refused(monkeypatch):
    pd = pytest.importorskip("pandas")
    text, numbers = pd.DataFrame({"c": ["red", "blue"]}), pd.DataFrame({"c": [1, 2]})
    for parts in ([numbers, text], [text, numbers]):
        with pytest.raises(ValueError, match=r"batch 1: .*column 'c' holds '?(red|blue)'?, which is text, and 1"):
            bin_batches(lambda parts=parts: parts, categorical_features="from_dtype")
    with pytest.raises(ValueError, match=r"batch 0: column 'c' has dtype .* pass categorical_features='from_dtype'"):
        bin_batches(lambda: [text])
    with pytest.raises(TypeError, match="categorical_features=3: must be 'from_dtype', a list of names"):
        bin_batches(lambda: [text], categorical_features=3)
    monkeypatch.setattr(batches, "DRAWN_ROWS", 1)
    passes = iter([[text], [text.replace("red", "green")]])
    with pytest.raises(ValueError, match="column 'c' holds 'green', which the first pass had not: make_batches is"):
        bin_batches(lambda: next(passes), categorical_features="from_dtype")


# Speed, with room for a busy machine: what loops over rows in Python takes ten times as long


def seconds(task):
    start = time.process_time()
    task()
    return time.process_time() - start


def test_a_million_rows_of_many_levels_are_encoded_in_parts_of_a_second():
    codes = np.random.default_rng(0).integers(0, 100_000, (1_000_000, 2)).astype(np.int32)
    tables = []
    assert seconds(lambda: tables.append(read(codes, [0, 1]))) < 1.0
    table = tables[0]
    assert seconds(lambda: again(codes, table)) < 1.0
    assert seconds(lambda: again(codes[:1], table)) < 0.05
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"c": pd.Categorical.from_codes(codes[:, 0], np.array([f"{k}" for k in range(100_000)]))})
    known = read(frame)
    assert seconds(lambda: read(frame)) < 1.0
    again(frame[:1], known)
    assert seconds(lambda: again(frame, known)) < 1.0
