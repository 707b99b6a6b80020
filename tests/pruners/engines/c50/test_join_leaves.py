"""Leaves of one class below a test of categories."""

import numpy as np
import pytest

from dtnumba import DecisionTreeClassifier
from dtnumba.pruners.engines.c50.join_leaves import with_leaves_joined
from dtnumba.trees.check import check

pytestmark = pytest.mark.small
MULTIWAY = {"categorical_split": "multiway", "missing": "fractional", "categorical_features": [0]}


def grown(y_of, n_each=4):
    """Return a tree with a branch for each of some levels, whose rows have the classes given for each."""
    x = np.repeat(np.arange(len(y_of)), n_each)[:, None]
    return DecisionTreeClassifier(**MULTIWAY).fit(x, np.concatenate(y_of)).trees_


def test_leaves_of_one_class_are_one_and_take_all_rows():
    trees = grown([[0] * 4, [1] * 4, [0] * 4, [1, 1, 1, 0], [2] * 4])
    joined = check(with_leaves_joined(trees, np.array([True]), keeps_empty=False), 1)
    assert trees.n_nodes == 6 + 2 * (trees.n_leaves > 5)
    inner = np.flatnonzero(joined.feature >= 0)
    assert joined.n_leaves < trees.n_leaves
    assert joined.branch[: joined.branch_start[1]].tolist()[:3] == [0, 1, 0]
    assert joined.weight[joined.feature < 0].sum() == trees.weight[0]
    assert np.isclose(joined.share[joined.left[inner[0]] : joined.right[inner[0]] + 1].sum(), 1.0)


def test_leaves_below_a_cut_stay():
    X = np.arange(12.0)[:, None]
    trees = DecisionTreeClassifier(missing="fractional").fit(X, [0] * 4 + [1] * 4 + [0] * 4).trees_
    assert with_leaves_joined(trees, np.array([False]), keeps_empty=False) is trees


def test_a_test_whose_leaves_are_all_one_is_a_leaf():
    trees = grown([[0, 0, 0, 1], [0, 0, 1, 0]])
    same = trees._replace(value=np.tile([0.75, 0.25], (trees.n_nodes, 1)))
    joined = with_leaves_joined(same, np.array([True]), keeps_empty=False)
    assert (joined.n_nodes, joined.weight.tolist()) == (1, [8.0]) or trees.n_nodes == 1
