import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dtnumba.tables.categories import LearnedLevels
from dtnumba.tables.columns import CATEGORY, NUMBER, SPELLED_NUMBER, ObjectColumn, array_columns
from dtnumba.tables.table import Seen, read_table

BIG = 2**53


def numbers(X, *, fitting=True):
    """Every value of a table that holds no categories."""
    seen = None if fitting else Seen(np.shape(X)[1], None)
    table = read_table(X, "a test", seen, LearnedLevels(None, "a test") if fitting else None)
    rows, columns = np.indices((table.n_rows, table.n_features))
    return table.values_at(rows, columns)


def test_objects_are_read_as_numbers_and_none_is_missing():
    cells = np.array([[1, None, Decimal("1.5")], [True, np.float32(2.5), Fraction(1, 4)]], object)
    assert np.array_equal(numbers(cells), [[1.0, np.nan, 1.5], [1.0, 2.5, 0.25]], equal_nan=True)


def test_missing_values_of_pandas_are_missing():
    pandas = pytest.importorskip("pandas")
    assert np.isnan(numbers(np.array([[pandas.NA, pandas.NaT]], object))).all()


@pytest.mark.parametrize(
    ("cells", "error", "words"),
    [
        ([[1, "red"]], ValueError, "could not convert string to float: column 1 holds 'red', which is text"),
        ([["1.5", 2]], ValueError, r"column 0 holds '1.5', which is text.*\.astype\(float\)"),
        ([["1", "red"]], ValueError, "column 0 holds '1'"),
        ([[b"x"]], ValueError, "column 0 holds b'x'"),
        ([[{"a": 1}]], TypeError, "column 0 holds {'a': 1}: every cell must be a number.*argument must be a string"),
        ([[1, 1j]], ValueError, "Complex data not supported"),
        ([[None, 1j]], TypeError, "column 1 holds 1j"),
        ([[10**400]], ValueError, "column 0 holds 1000.*: every cell must be a number; int too large"),
        ([[dt.date(2020, 1, 2)]], TypeError, "column 0 holds datetime.date"),
    ],
    ids=["text", "number in text", "text after a number in text", "bytes", "dict", "complex", "complex object", "long",
         "date"],
)  # fmt: skip
def test_what_is_not_a_number_is_named(cells, error, words):
    with pytest.raises(error, match=words):
        numbers(cells)


@pytest.mark.parametrize("column", [[2**70, 2**70 + 1], [BIG, BIG + 1, None, 0.5]], ids=["long", "mixed"])
def test_integers_that_would_become_the_same_float_are_refused_in_fit_and_rounded_in_predict(column):
    X = np.array(column, object)[:, None]
    with pytest.raises(ValueError, match=r"column 0 holds .* and .*, which are the same number in float64"):
        numbers(X)
    assert numbers(X, fitting=False)[0, 0] == float(column[0])


@pytest.mark.parametrize(
    ("objects", "kind"),
    [
        ([1, 2.5, None, True, np.float32(3)], NUMBER),
        ([None, np.nan], NUMBER),
        (["red", None, np.nan, "blue"], CATEGORY),
        ([np.str_("red"), "", " "], CATEGORY),
        ([b"red", None], CATEGORY),
        (["1", "2"], CATEGORY),
    ],
    ids=str,
)
def test_objects_are_a_category_where_they_are_text(objects, kind):
    assert ObjectColumn(objects, "a").kind == kind


@pytest.mark.parametrize(
    ("objects", "words"),
    [
        (["red", 1], "column 'a' holds 'red', which is text, and 1, which is a number: .*astype"),
        ([None, 2.5, "red"], "column 'a' holds 'red', which is text, and 2.5, which is a number"),
        (["red", b"blue"], "holds 'red', which is text, and b'blue', which is text"),
        (["red", dt.date(2020, 1, 2)], r"and datetime.date\(2020, 1, 2\), which is of the type date"),
    ],
    ids=str,
)
def test_objects_of_several_kinds_are_refused(objects, words):
    with pytest.raises(ValueError, match=words):
        _ = ObjectColumn(objects, "a").kind


def test_text_that_says_numbers_is_told_apart_where_it_may_have_been_numbers():
    objects = np.array([["1", "1"], ["-2e5", "5more"], [None, None]], object)
    assert [column.kind for column in array_columns(objects, is_spelled=True)] == [SPELLED_NUMBER, CATEGORY]
    assert [column.kind for column in array_columns(objects)] == [CATEGORY, CATEGORY]


@pytest.mark.parametrize("array", [np.array([[1, 2]]), np.array([[np.nan, 1.5], [np.nan, 2]]), np.array([[True]])])
def test_the_first_value_is_one_that_is_not_missing(array):
    for column, values in zip(array_columns(array), array.T, strict=True):
        there = values[~np.isnan(values)]
        assert column.first() == (there[0] if len(there) else None)
