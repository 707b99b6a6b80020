"""Global pruning: by hand, and as by a look at all subtrees."""

import numpy as np
import pytest
from naive.c50 import Grower, Node

from dtnumba import C50Classifier, DecisionTreeClassifier
from dtnumba.pruners.engines.c50.global_pruning import pruned_globally

pytestmark = pytest.mark.small


def noisy(seed, n=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(2)
    y = np.where(rng.random(n) < 0.6, (X[:, 0] * X[:, 1] > 0) + (X[:, 2] > 1), rng.integers(0, 3, n))
    return X, y.astype(int)


def as_nodes(trees, i=0):
    """Return a tree as nodes of the plain twin."""
    node = Node(trees.value[i] * trees.weight[i])
    if trees.feature[i] >= 0:
        node.feature, node.threshold = int(trees.feature[i]), float(trees.threshold[i])
        node.children = [as_nodes(trees, c) for c in range(trees.left[i], trees.right[i] + 1)]
    return node


@pytest.mark.parametrize("seed", range(6))
def test_links_collapse_as_by_a_look_at_all_of_them(seed):
    X, y = noisy(seed)
    trees = DecisionTreeClassifier(max_depth=7, missing="fractional").fit(X, y).trees_
    root = as_nodes(trees)
    Grower(X, y, ["numeric"] * 3, [0] * 3, 3).prune_globally(root)
    pruned = pruned_globally(trees)
    assert pruned.n_leaves == root.n_leaves() < trees.n_leaves
    assert np.isclose((pruned.weight * (1 - pruned.value.max(axis=1)))[pruned.feature < 0].sum(), root.errors())


def test_a_tree_without_errors_stays():
    X = np.arange(40.0)[:, None]
    trees = C50Classifier(confidence=1.0, global_pruning=False).fit(X, (X[:, 0] // 10).astype(int)).trees_
    assert pruned_globally(trees).n_nodes == trees.n_nodes == 7
