"""Local pruning of C5.0: where the lists or the arrays of nodes are too short at first, the tree is the same."""

import numpy as np
import pytest

from dtnumba import C50Classifier
from dtnumba.pruners.engines.c50 import regrown_branches
from dtnumba.trees.layout import depths

pytestmark = pytest.mark.small
COLUMNS = ("feature", "threshold", "left", "right", "branch", "value", "weight", "share", "gain")


def noisy(seed, n=260):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 2)).round(1), rng.integers(0, 5, n)])
    follows = (X[:, 0] > 0).astype(int) + ((X[:, 1] > 0.3) & (X[:, 2] > 2))
    y = np.where(rng.random(n) < 0.6, follows, rng.integers(0, 3, n))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def fitted(seed):
    params = {"confidence": 0.7, "global_pruning": False, "categorical_features": [2], "n_jobs": 1}
    return C50Classifier(**params).fit(*noisy(seed)).trees_


def test_short_lists_change_nothing(monkeypatch):
    wanted = [fitted(seed) for seed in range(6)]
    monkeypatch.setattr(regrown_branches, "_ROOM", 1)
    monkeypatch.setattr(regrown_branches, "_MORE", 0)
    monkeypatch.setattr(regrown_branches, "_NODES", 0)
    for seed, one in enumerate(wanted):
        other = fitted(seed)
        for name in COLUMNS:
            assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name


def test_lists_are_no_longer_in_deep_trees(monkeypatch):
    n = 400
    y = np.arange(n) // 20
    X = y[:, None] == np.arange(20)  # each test parts one class from the rest
    sizes, with_room = [], regrown_branches._with_room
    monkeypatch.setattr(regrown_branches, "_with_room", lambda c, room: sizes.append(room) or with_room(c, room))
    monkeypatch.setattr(regrown_branches, "_ROOM", 3)
    monkeypatch.setattr(regrown_branches, "_MORE", 0)
    trees = C50Classifier(confidence=1.0, global_pruning=False, n_jobs=1).fit(X.astype(float), y).trees_
    assert depths(trees).max() == 19
    assert max(sizes) < 3 * n


def test_subtrees_are_hung_in_place_of_children():
    given = fitted(0)
    tree = regrown_branches._GrowingTree(given, 3, has_costs=False)
    node = int(np.flatnonzero(given.feature >= 0)[-1])
    subtree = fitted(1)
    tree.hang(node, subtree)
    whole = tree.trees()
    assert whole.n_nodes == given.n_nodes + subtree.n_nodes - 1
    first = int(whole.left[node])
    assert (first, whole.right[node] - first) == (given.n_nodes, subtree.right[0] - subtree.left[0])
    assert np.array_equal(whole.feature[first:], subtree.feature[1:])
    inner = 1 + int(np.flatnonzero(subtree.feature[1:] >= 0)[0])
    there = given.n_nodes + inner - 1
    assert whole.left[there] - there == subtree.left[inner] - inner
    for i, at in ((inner, there),):
        own = subtree.branch[subtree.branch_start[i] : subtree.branch_start[i + 1]]
        assert np.array_equal(whole.branch[whole.branch_start[at] : whole.branch_start[at + 1]], own)
