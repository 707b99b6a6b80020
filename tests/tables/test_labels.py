import datetime as dt

import numpy as np
import pytest

from dtnumba import ID3Classifier
from dtnumba.criteria.regression import Poisson, SquaredError
from dtnumba.growth.targets.choose import target_of
from dtnumba.tables.labels import read_labels, read_values, read_y
from dtnumba.tables.weights import fixed_weights


def labels_of(y):
    return read_labels(y, len(y), "Tree")


def values_of(y):
    return read_values(y, len(y), "Tree")


def pairs(*tuples):
    array = np.empty(len(tuples), object)
    array[:] = tuples
    return array


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (["b", "a", "b"], ["a", "b"]),
        ([b"b", b"a"], [b"a", b"b"]),
        ([5, -3, 5], [-3, 5]),
        ([True, False], [False, True]),
        ([1.0, 0.0, -2.0], [-2.0, 0.0, 1.0]),
        (np.array([-128, 127], np.int8), [-128, 127]),
        (np.array([2**64 - 1, 2**64 - 2], np.uint64), [2**64 - 2, 2**64 - 1]),
        (np.array([2**62 + 1, 2**62]), [2**62, 2**62 + 1]),
        (np.array([1, 3], np.float16), [1.0, 3.0]),
        (["b", 2, 0.5], [0.5, 2, "b"]),
        ([1, "1"], [1, "1"]),
        (pairs(("b", 1), ("a", 2), ("b", 1)), [("a", 2), ("b", 1)]),
        (np.array(["2020-01-02", "2020-01-01"], "M8[D]"), [dt.date(2020, 1, 1), dt.date(2020, 1, 2)]),
        ([dt.date(2020, 1, 2), dt.date(2020, 1, 1)], [dt.date(2020, 1, 1), dt.date(2020, 1, 2)]),
    ],
    ids=str,
)
def test_labels_of_any_hashable_kind_are_sorted_and_kept(y, classes):
    labels = labels_of(y)
    assert labels.classes[0].tolist() == classes
    assert all(classes[code] == label for code, label in zip(labels.codes[:, 0], y, strict=True))
    assert labels.sizes == [len(classes)]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_labels_in_series_of_every_library(library):
    module = pytest.importorskip(library)
    words = ["b", "a", "b"]
    series = {
        "pandas": lambda: [
            module.Series(words),
            module.Series(words, dtype="string"),
            module.Series(words, index=[7, 8, 9]),
            module.Series(module.Categorical(words, categories=["b", "a"])),
        ],
        "polars": lambda: [module.Series(words), module.Series(words, dtype=module.Categorical)],
        "pyarrow": lambda: [
            module.array(words),
            module.chunked_array([words]),
            module.array(words).dictionary_encode(),
        ],
    }[library]()
    for y in series:
        labels = labels_of(y)
        assert labels.classes[0].tolist() == ["a", "b"]
        assert labels.codes[:, 0].tolist() == [1, 0, 1]


def test_nullable_integers_without_nulls_stay_integers():
    pandas = pytest.importorskip("pandas")
    assert labels_of(pandas.Series([2, 1], dtype="Int64")).classes[0].dtype == np.int64


def test_columns_are_outputs_each_with_its_classes():
    labels = labels_of([[0, "x"], [1, "y"], [0, "z"]])
    assert [classes.tolist() for classes in labels.classes] == [[0, 1], ["x", "y", "z"]]
    assert labels.codes.tolist() == [[0, 0], [1, 1], [0, 2]]
    assert labels.width == 5


def test_one_column_is_one_output():
    assert labels_of([[3], [4]]).codes.tolist() == [[0], [1]]
    assert values_of(np.array([[3.0], [4.0]])).sizes == [1]


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1.5, 2.0], "Unknown label type: continuous"),
        ([1.0, np.nan], "Input y contains NaN: row 1"),
        ([1.0, np.inf], "Input y contains infinity"),
        (["a", None], "Input y contains NaN: row 1 has the label None"),
        (np.array(["a", np.nan], object), "Input y contains NaN: row 1 has the label nan"),
        (np.array(["2020-01-01", "NaT"], "M8[D]"), "Input y contains NaN: row 1 has the label NaT"),
        (np.ma.masked_array([1, 2], [False, True]), "Input y contains NaN: row 1 is masked"),
        (np.array([1j, 2]), "Complex data not supported"),
        (np.array([{}, {}], object), "Unknown label type: row 0 of y holds {}; a label must be hashable"),
        ([[1], [2, 3]], "y cannot be read as an array"),
        (np.zeros((2, 1, 1)), r"y should be a 1d array, .* shape \(2, 1, 1\)"),
        (np.zeros((2, 0)), r"y should be a 1d array, .* shape \(2, 0\)"),
    ],
    ids=str,
)
def test_labels_that_cannot_be_learned_are_named(y, words):
    with pytest.raises(ValueError, match=words):
        labels_of(y)


def test_missing_labels_of_pandas_are_named():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="row 1 has the label <NA>"):
        labels_of(np.array(["a", pandas.NA], object))


def test_y_must_be_there_dense_and_of_the_length_of_x():
    with pytest.raises(ValueError, match="Tree requires y to be passed, but the target y is None"):
        read_y(None, 2, "Tree")
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[3, 2\]"):
        read_y([1, 2], 3, "Tree")
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match=r"y is a sparse matrix: pass y.toarray\(\)"):
        read_y(sparse.csr_matrix([[1], [0]]), 2, "Tree")


@pytest.mark.parametrize(
    "y",
    [
        [1, 2.5],
        np.array([1, 2], np.int8),
        np.array([1.5, 2], object),
        np.array([1.5, 2], ">f8"),
        [True, False],
        np.arange(4.0)[::2],
        np.arange(4.0).reshape(2, 2),
        np.asfortranarray(np.arange(4.0).reshape(2, 2)),
    ],
    ids=str,
)
def test_numbers_of_any_kind_become_writeable_rows_of_float64(y):
    values = values_of(y)
    assert values.y.dtype == np.float64
    assert values.y.flags.c_contiguous
    assert values.y.flags.writeable
    assert np.array_equal(values.y.reshape(np.shape(y)), np.asarray(y, np.float64))


def test_numbers_that_may_not_be_written_are_copied():
    y = np.arange(3.0)
    y.flags.writeable = False
    assert values_of(y).y.flags.writeable
    assert not y.flags.writeable


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (["1", "2"], "y holds '1': a regression target must be numbers; use a classifier"),
        (np.array([1, "x"], object), "y holds 'x'"),
        (np.array(["2020-01-01"], "M8[D]"), "y holds datetime.date"),
        (np.array([{}], object), "y cannot be read as numbers"),
        ([1.0, np.nan], "Input y contains NaN: row 1"),
        ([1.0, None], "Input y contains NaN: row 1"),
        ([1.0, -np.inf], "Input y contains infinity"),
        ([1.0, -3e200], r"y holds -3e\+200 in row 1: targets must lie between -1e\+150 and 1e\+150.*pass y / 1e\+51"),
        ([[1.0, 2.0], [1.0, 2e150]], r"y holds 2e\+150 in row 1, output 1: .*pass y / 10, and mul"),
    ],
    ids=str,
)
def test_targets_that_are_not_numbers_are_named(y, words):
    with pytest.raises(ValueError, match=words):
        values_of(y)


@pytest.mark.parametrize(("y", "words"), [([1, -2], "negative .*: -2.0"), ([0, 0], "Sum of y is not positive")])
def test_poisson_takes_counts_only(y, words):
    values = values_of(y)
    with pytest.raises(ValueError, match=words):
        target_of(values, fixed_weights(None, 2), Poisson())


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1.0, 1e150])
@pytest.mark.parametrize("y", [[3, 3, 3], [1, 2, 4], [0, 0, 0], [-1, 1, 0.5]], ids=str)
def test_moments_are_the_targets_in_fixed_point(y, scale):
    y = np.array(y) * scale
    target = target_of(values_of(y / max(1.0, np.abs(y).max() / 1e150)), fixed_weights(None, 3), SquaredError())
    restored = target.offsets[0] + target.moments[:, 0] * target.moment_unit
    assert restored == pytest.approx(target.y[:, 0], rel=1e-15, abs=0)


def test_a_weight_of_two_is_two_rows():
    y, weight = np.array([0.1, 0.7, 1.3]), np.array([2.0, 1.0, 3.0])
    repeats = weight.astype(int)
    weighted = target_of(values_of(y), fixed_weights(weight, 3), SquaredError())
    repeated = target_of(values_of(y.repeat(repeats)), fixed_weights(None, 6), SquaredError())
    assert weighted.moment_unit == repeated.moment_unit
    assert weighted.moments.sum() == repeated.moments.sum()


@pytest.mark.parametrize("given", [{"a": [1] * 9_999}, "x" * 9_999, 3], ids=["dict", "str", "int"])
def test_what_is_no_column_is_shown_in_short(given):
    with pytest.raises(ValueError, match=rf"^y should be a 1d array.* got a {type(given).__name__} instead") as caught:
        read_labels(given, 3, "Tree")
    assert len(str(caught.value)) < 400


def test_a_plan_of_a_frame_holds_no_labels():
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match=r"y is a LazyFrame, which holds no data yet: pass y.collect\(\)"):
        read_labels(polars.DataFrame({"y": [1, 2]}).lazy(), 2, "Tree")


@pytest.mark.parametrize("y", [[[0], [1]], ([0], [1]), np.array([[0], [1]]), [np.array([0]), np.array([1])]], ids=str)
def test_a_column_is_read_with_a_warning_where_one_output_is_learned(y):
    with pytest.warns(UserWarning, match="A column-vector y was passed"):
        model = ID3Classifier().fit([[0], [1]], y)
    assert model.predict([[0], [1]]).tolist() == [0, 1]
    for flat in ([0, 1], (0, 1), np.array([0, 1]), [np.int64(0), np.int64(1)], ["no", "yes"]):
        ID3Classifier().fit([[0], [1]], flat)  # warnings are errors
