"""What nodes say of their rows together, from what leaves say of theirs."""

import numpy as np
import pytest

import dtnumba as dt
from dtnumba.trees import subtrees
from dtnumba.trees.subtrees import depth_levels, errors_of_nodes, squares_below


@pytest.mark.parametrize("s", [0.1, 1, 12])
def test_squares_of_the_rows_of_a_node_lose_no_digits_beside_larger_ones(s):
    draw = np.random.default_rng(0)
    X, weight = draw.normal(size=(120, 2)), draw.integers(0, 3, 120) * 1.0
    y = np.exp(s * X[:, 0])
    tree = dt.DecisionTreeRegressor(max_depth=4, n_jobs=1).fit(X, y)
    values = tree.trees_.value[:, 0] * draw.uniform(0.9, 1.1, tree.trees_.n_nodes)
    found = squares_below(depth_levels(tree.trees_), tree.apply(X).astype(np.int64), y, weight, values)
    for node, rows in enumerate(tree.decision_path(X).toarray().T.astype(bool)):
        assert found[node] == pytest.approx((weight * (y - values[node]) ** 2)[rows].sum(), rel=1e-12)


def test_errors_of_nodes_do_not_depend_on_blocks(monkeypatch):
    draw = np.random.default_rng(0)
    trees = dt.DecisionTreeClassifier(n_jobs=1).fit(draw.normal(size=(90, 2)), draw.integers(0, 3, 90)).trees_
    found = errors_of_nodes(trees)
    counts = trees.value * trees.weight[:, None]
    assert found == pytest.approx(counts.sum(axis=1) - counts.max(axis=1))
    monkeypatch.setattr(subtrees, "_BLOCK_CELLS", 7)
    assert np.array_equal(found, errors_of_nodes(trees))
