"""Leaves without rows: counted where a row may still come to them."""

import numpy as np
import pytest

from dtnumba.trees.layout import BY_SHARE, Trees
from dtnumba.trees.leaf_counts import with_rows, within_reach

pytestmark = pytest.mark.small


def tree(first, second):
    """Return a tree that asks for one column of four levels, and asks for it again below the first branch."""
    feature = np.array([0, 0, -1, -1, -1, -1])
    left, right = np.array([1, 3, -1, -1, -1, -1]), np.array([2, 5, -1, -1, -1, -1])
    blank = Trees.of_leaves(6, 2, BY_SHARE)
    return blank._replace(
        root=np.array([0, 6]),
        feature=feature,
        left=left,
        right=right,
        weight=np.array([9.0, 5.0, 4.0, 2.0, 3.0, 0.0]),
        branch_start=np.array([0, 4, 8, 8, 8, 8, 8]),
        branch=np.array([*first, *second], np.int32),
    )


def test_levels_that_a_test_above_takes_elsewhere_do_not_come():
    away = tree([0, 0, 1, 1], [0, 1, 2, 2])
    assert (with_rows(away), within_reach(away)) == (3, 3)
    near = tree([0, 0, 0, 1], [0, 1, 2, 2])
    assert (with_rows(near), within_reach(near)) == (3, 4)


def test_a_tree_of_one_leaf_has_one():
    leaf = Trees.of_leaves(1, 2, BY_SHARE)
    assert (with_rows(leaf), within_reach(leaf)) == (1, 1)
