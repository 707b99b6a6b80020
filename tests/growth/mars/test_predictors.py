"""Tables as the forward pass reads them: in order, of one scale, without missing values."""

import numpy as np
import pytest

from dtnumba.growth.mars.predictors import read_predictors
from dtnumba.growth.mars.scan import KNOTS, ONLY_LEVELS, ONLY_LINE
from dtnumba.tables.categories import LearnedLevels
from dtnumba.tables.table import read_table
from dtnumba.trees.hinges import OF_LEVEL, OF_MISSING

pytestmark = pytest.mark.small


def read(X, linear=(), fills=False, categories="from_dtype"):
    table = read_table(X, "test", None, LearnedLevels(categories, "test"))
    return table, read_predictors(table, np.isin(np.arange(table.n_features), linear), fills, "test", 1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_stand_in_order_and_reach_at_most_from_end_to_end_one(dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(40, 4)) * [1.0, 1e-30, 1e30, 0.0] + [0.0, 0.0, 0.0, 5.0]).astype(dtype)
    X[:, 0] = X[:, 0].round()
    table, found = read(X)
    for j in range(4):
        scale = found.each[j].scale
        assert np.log2(scale) == round(np.log2(scale))
        column = X[:, j].astype(float) * scale
        assert np.array_equal(column[found.order[j]], found.values[j])
        assert (np.diff(found.values[j]) >= 0).all()
        reach = found.values[j, -1] - found.values[j, 0]
        assert reach == 0 if j == 3 else 0.25 <= reach <= 1.0
        assert np.array_equal(found.column(j, 0.0), column)
    assert found.n_columns == table.n_features


def test_columns_of_two_values_have_no_knots():
    X = np.column_stack([np.arange(6.0), np.arange(6.0) % 2, np.arange(6.0) % 3, np.arange(6.0)])
    _, found = read(X, linear=[3])
    assert [one.kind for one in found.each] == [KNOTS, ONLY_LINE, KNOTS, ONLY_LINE]
    assert [one.is_line for one in found.each] == [False, False, False, True]


def test_levels_are_columns_but_for_the_first():
    X = np.array([["a", 1.0], ["c", 2.0], ["b", 3.0], ["a", 4.0]], object)
    _, found = read(X)
    assert found.each[0][:3] == (0, ONLY_LEVELS, OF_LEVEL)
    assert found.n_columns == 3
    assert found.column(0, 2.0).tolist() == [0.0, 1.0, 0.0, 0.0]


def test_a_missing_value_is_the_lower_median_and_a_predictor():
    X = np.array([[1.0, "a"], [None, "b"], [4.0, None], [2.0, "a"], [9.0, "b"]], object)
    _, found = read(X, fills=True)
    assert found.fill.tolist() == [2.0, -1.0]
    assert [one[:3] for one in found.each] == [
        (0, KNOTS, 0),
        (1, ONLY_LEVELS, OF_LEVEL),
        (0, ONLY_LEVELS, OF_MISSING),
        (1, ONLY_LEVELS, OF_MISSING),
    ]
    assert found.column(2, 1.0).tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]
    assert (found.column(0, 0.0) / found.each[0].scale).tolist() == [1.0, 2.0, 4.0, 2.0, 9.0]
    assert np.count_nonzero(found.values[3]) == 1
    assert found.order[3, -1] == 2


def test_infinity_is_an_error_that_names_the_cell():
    with pytest.raises(ValueError, match="column 1 holds -inf in row 2: a hinge at infinity is none"):
        read(np.array([[1.0, 2.0], [2.0, 3.0], [3.0, -np.inf]]))


def test_sparse_columns_are_read():
    sparse = pytest.importorskip("scipy.sparse")
    X = np.random.default_rng(1).normal(size=(30, 3)) * (np.random.default_rng(2).random((30, 3)) < 0.3)
    (_, dense), (_, found) = read(X), read(sparse.csr_matrix(X))
    assert np.array_equal(dense.values, found.values)
    assert dense.each == found.each
