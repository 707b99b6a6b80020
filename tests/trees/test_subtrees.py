"""What nodes say of their rows together, from what leaves say of theirs."""

import numpy as np
import pytest

import dtnumba as dt
from dtnumba.trees.subtrees import depth_levels, squares_below


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
