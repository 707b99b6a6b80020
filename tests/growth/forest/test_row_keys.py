"""Keys of rows: what a row holds, and which of several equal ones it is, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import forgetting as naive
from strategies import examples

from dtnumba.growth.forest.row_keys import keys_of_values, numbered, numbers_of_equals
from dtnumba.tables.labels import read_labels, read_values
from dtnumba.tables.table import read_table

VALUES = st.sampled_from([0.0, -0.0, 1.0, 0.5, np.nan, np.inf, -2.5])


def keys(X, y, weight=None, read=read_values):
    table = read_table(X, "test")
    return keys_of_values(table, read(y, table.n_rows, "test"), weight)


@given(st.lists(st.tuples(VALUES, VALUES, st.sampled_from([1.0, 2.0])), min_size=1, max_size=12), st.randoms())
@examples(30)
def test_keys_are_those_of_the_definition_in_any_order(rows, random):
    X, weight = np.array([row[:2] for row in rows]), np.array([row[2] for row in rows])
    y = np.arange(len(rows)) % 2
    found = numbered(keys(X, y, weight))
    assert [int(key) for key in found] == naive.keys_of(X, y, weight)
    order = list(range(len(rows)))
    random.shuffle(order)
    assert sorted(numbered(keys(X[order], y[order], weight[order])).tolist()) == sorted(found.tolist())


def test_a_key_depends_on_every_value_the_outcome_and_the_weight_alone():
    X, y = np.array([[1.5, 2.0], [1.5, 3.0], [1.0, 2.0], [1.5, 2.0], [1.5, 2.0]]), np.array([0, 0, 0, 1, 0])
    found = keys(X, y, np.array([1.0, 1.0, 1.0, 1.0, 2.0]))
    assert len(set(found.tolist())) == 5
    np.testing.assert_array_equal(keys(X.astype(np.float32), y), keys(X, y))
    np.testing.assert_array_equal(keys(X[:1], y[:1], np.ones(1)), found[:1])


def test_levels_and_classes_count_by_name():
    """The number of a level or of a class changes where another one is not there."""
    X = np.array([["b", 1.0], ["a", 1.0], [None, 1.0], ["b", 1.0]], object)
    y = np.array(["no", "yes", "no", "no"], object)
    found = keys(X, y, read=read_labels)
    assert found[0] == found[3]
    assert len(set(found.tolist())) == 3
    np.testing.assert_array_equal(keys(X[[0, 3]], y[[0, 3]], read=read_labels), found[[0, 3]])
    assert keys(X[:1], ["yes"], read=read_labels)[0] != found[0]


@pytest.mark.parametrize(("labels", "same"), [([1, 0], [1.0, 0.0]), ([True, False], [1, 0])])
def test_equal_labels_are_one_whatever_their_type(labels, same):
    X = np.zeros((2, 1))
    np.testing.assert_array_equal(keys(X, labels, read=read_labels), keys(X, same, read=read_labels))


def test_equal_rows_are_numbered_from_the_first():
    assert numbers_of_equals(np.array([5, 7, 5, 5, 7], np.uint64)).tolist() == [0, 0, 1, 2, 1]
