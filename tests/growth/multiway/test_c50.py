"""C5.0's growth: the least gain, columns that are left out, and budgets of leaves."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dtnumba.estimators.c50_tree import C50Options, c50_mixtures, c50_rows, fit_tree
from dtnumba.growth.multiway.c50 import least_gain
from dtnumba.tables.labels import read_labels
from dtnumba.tables.table import read_table

pytestmark = pytest.mark.small


def rows_of(seed=0, n=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5) * (X[:, 2] > 0)
    table = read_table(X, "test")
    return table, c50_rows(table, read_labels(y, n, "test"), np.arange(n), 1), np.ones(n)


def branches_of_root(trees):
    return int(trees.right[0] - trees.left[0]) + 1


def test_gains_are_compared_with_their_average_where_rows_are_few():
    assert least_gain(500, 1) == (1.0, 0.0)
    assert least_gain(2000, 2) == (0.0, 0.9)
    assert least_gain(2250, 3) == (0.5, 0.45)


def test_columns_that_are_left_out_are_not_tested():
    _, rows, weight = rows_of()
    assert {0, 1, 2} <= set(fit_tree(rows, weight, C50Options()).feature.tolist())
    without = fit_tree(rows.without(np.array([0, 2])), weight, C50Options(local_pruning=False))
    assert without.n_nodes > 1
    assert not {0, 2} & set(without.feature.tolist())


def test_a_budget_of_leaves_ends_growth():
    _, rows, weight = rows_of()
    whole = fit_tree(rows, weight, C50Options(local_pruning=False))
    few = fit_tree(rows, weight, C50Options(local_pruning=False, leaves_a_case=1.5 / 100))
    inner = few.feature >= 0
    assert 1 < few.n_leaves < whole.n_leaves
    assert few.weight[inner].min() >= 100 > whole.weight[whole.feature >= 0].min()


def test_no_test_has_more_branches_than_a_node_may_have_leaves():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 7, 300), rng.integers(0, 2, (2, 300)).T]).astype(float)
    y = np.where(rng.random(300) < 0.8, np.array([0, 1, 2, 0, 1, 2, 3])[X[:, 0].astype(int)], X[:, 1].astype(int))
    frame = pd.DataFrame({"kind": pd.Categorical(X[:, 0]), "a": X[:, 1], "b": X[:, 2]})
    table = read_table(frame, "test")
    rows, weight = c50_rows(table, read_labels(y, 300, "test"), np.arange(300), 1), np.ones(300)
    for subset in (True, False):
        options = C50Options(subset=subset, local_pruning=False)
        fan = branches_of_root(fit_tree(rows, weight, options))
        assert fan > 2
        enough, few = ((fan - part) / 300 for part in (0.49, 0.51))
        assert branches_of_root(fit_tree(rows, weight, replace(options, leaves_a_case=enough))) == fan
        other = fit_tree(rows, weight, replace(options, leaves_a_case=few))
        assert branches_of_root(other) == 2
        assert other.feature[0] > 0


def test_rows_of_weight_zero_take_no_part_in_a_round():
    table, rows, weight = rows_of()
    some = weight * (np.arange(300) % 3 > 0)
    trees = fit_tree(rows, some, C50Options())
    assert trees.weight[0] == some.sum()
    plain, stated = c50_mixtures(table, trees, 1)
    assert np.allclose(plain.sum(axis=1), 1.0)
    assert np.array_equal(plain.argmax(axis=1), stated.argmax(axis=1))
    assert (plain.max(axis=1) >= stated.max(axis=1)).all()
