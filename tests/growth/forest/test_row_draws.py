"""Draws that rows make by themselves: those of the definition, whatever other rows there are."""

import numpy as np
import pytest
from naive import forgetting as naive

from dtnumba.growth.forest.bootstrap_rows import draw_rows
from dtnumba.growth.forest.row_draws import PART, ByRow, WeightedByRow, draws_by_row, draws_of_gone
from dtnumba.runtime import rng

SEED = 7


def sampling(row_keys, share=1.0, weight=None, *, replace=True, kept=None):
    kept = np.arange(len(row_keys), dtype=np.uint32) if kept is None else kept
    keys = np.array([rng.streams_key(SEED, rng.BOOTSTRAP)], np.uint64)
    return draws_by_row(kept, np.array(row_keys, np.uint64), share, weight, keys, replace=replace)


def counts(made, n, tree=0):
    way, dtype = made
    out = np.zeros(n, dtype)
    draw_rows(way, tree, out, np.empty(0), np.zeros(1, np.int64))
    return out


def some_keys(n, seed=0):
    return np.random.default_rng(seed).integers(0, 1 << 63, n).tolist()


@pytest.mark.parametrize(
    ("share", "weights", "replace"),
    [(1.0, None, True), (0.3, None, True), (3.0, (0.25, 1.0, 2.0), True), (0.6, None, False), (1.0, (1.0, 1.0), True)],
)
def test_draws_are_those_of_the_definition(share, weights, replace):
    row_keys = some_keys(60)
    weight = None if weights is None else np.resize(weights, 60)
    heavy = np.ones(60) if weight is None else weight
    for tree in range(3):
        found = counts(sampling(row_keys, share, weight, replace=replace), 60, tree)
        assert found.tolist() == naive.counts_of(row_keys, heavy, SEED, tree, share, replace).tolist()


def test_a_row_draws_the_same_whoever_else_there_is():
    """Also where rows of other weights have it drawn another way."""
    row_keys, weight = some_keys(40), np.ones(40)
    alone = counts(sampling(row_keys), 40)
    weight[3] = 2.0
    others = sampling(row_keys, 1.0, weight)
    assert isinstance(sampling(row_keys)[0], ByRow)
    assert isinstance(others[0], WeightedByRow)
    np.testing.assert_array_equal(np.delete(counts(others, 40), 3), np.delete(alone, 3))
    kept = np.delete(np.arange(40, dtype=np.uint32), 5)
    some = counts(sampling(row_keys, kept=kept), 40)
    assert some[5] == 0
    np.testing.assert_array_equal(np.delete(some, 5), np.delete(alone, 5))


def test_heavy_rows_are_drawn_as_often_as_they_are_heavy():
    row_keys, weight = some_keys(400), np.resize([1.0, 5.0 * PART + 3.5], 400)
    found = counts(sampling(row_keys, 1.0, weight), 400).astype(float)
    heavy = found[1::2]
    assert abs(found[::2].mean() - 1.0) < 0.3
    assert abs(heavy.mean() - weight[1]) < 3 * np.sqrt(weight[1] / 200)
    assert 0.7 < heavy.var() / weight[1] < 1.4
    with pytest.raises(ValueError, match=r"draws row 1 1.04858e\+07 times"):
        sampling(some_keys(2), 10.0, np.array([1.0, float(1 << 20)]))


def test_a_tree_that_draws_no_row_sees_every_one_once():
    assert counts(sampling(some_keys(5), 1e-9), 5).tolist() == [1] * 5


def test_rows_that_left_are_counted_and_trees_left_without_rows_named():
    row_keys = some_keys(3, seed=2)
    before, after = sampling(row_keys, 0.2)[0], sampling(row_keys[:2], 0.2)[0]
    drawn, whole = draws_of_gone(before, after, np.array([2]), 40)
    for tree in range(40):
        own = [naive.draws_of(key, SEED, tree, 0.2) for key in row_keys]
        assert drawn[tree, 0] == own[2]
        assert whole[tree] == (own[0] + own[1] == 0)
    assert 0 < whole.sum() < 40
