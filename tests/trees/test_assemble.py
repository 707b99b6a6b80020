"""Nodes that become Trees: canonical numbers whatever the order of growth, and ragged columns that follow them."""

import numpy as np
import pytest

from dtnumba.trees.assemble import number_general, ragged, ragged_of_rows
from dtnumba.trees.layout import LEAF, NO_MAP

pytestmark = pytest.mark.small


def grown(rng, n_inner):
    """Divide leaves picked at random: (first child, number of children) of every node, children at the end."""
    first, width, leaves = [LEAF], [0], [0]
    for _ in range(n_inner):
        node = leaves.pop(int(rng.integers(len(leaves))))
        first[node], width[node] = len(first), int(rng.integers(2, 5))
        leaves += range(len(first), len(first) + width[node])
        first += [LEAF] * width[node]
        width += [0] * width[node]
    return np.array(first), np.array(width)


@pytest.mark.parametrize("n_inner", [0, 1, 2, 30])
def test_children_are_numbered_when_their_parent_is_reached(n_inner):
    for seed in range(5):
        first, width = grown(np.random.default_rng(seed), n_inner)
        order, left, stack = (np.empty(len(first) + 1, np.int64) for _ in range(3))
        assert number_general(first, width, order, left, stack) == len(first)
        expected, at, n = [0], [0], 1
        while at:
            new = at.pop()
            node = expected[new]
            assert left[new] == (n if width[node] else LEAF)
            expected += range(first[node], first[node] + width[node])
            at += reversed(range(n, n + width[node]))
            n += width[node]
        assert order[: len(first)].tolist() == expected


def test_entries_follow_their_nodes():
    entries = np.array([10, 11, 20, 40, 41, 42])
    starts, lengths = np.array([0, 2, 3, 3]), np.array([2, 1, 0, 3])
    order = np.array([3, 2, 0, 1])
    begin, places = ragged(starts[order], lengths[order])
    assert begin.tolist() == [0, 3, 3, 5, 6]
    assert entries[places].tolist() == [40, 41, 42, 10, 11, 20]


def test_a_column_without_entries_has_no_starts():
    begin, places = ragged(np.zeros(3, np.int64), np.zeros(3, np.int64))
    assert (begin is NO_MAP, len(places)) == (True, 0)
    begin, entries = ragged_of_rows({}, 3, np.float64)
    assert (begin is NO_MAP, len(entries), entries.dtype) == (True, 0, np.float64)


def test_rows_of_nodes_stand_in_the_order_of_the_nodes():
    begin, entries = ragged_of_rows({2: np.array([5, 6]), 0: np.array([7])}, 4, np.int32)
    assert begin.tolist() == [0, 1, 1, 3, 3]
    assert entries.tolist() == [7, 5, 6]
