"""Trees of rows in slots are those of a batch fit, whatever bounds let columns and codes go unseen."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import interpreted_only, same_trees

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor
from dtnumba.criteria.contract import resolve_criterion
from dtnumba.growth.incremental import visit, winner
from dtnumba.growth.incremental.follow_rows import RowTree
from dtnumba.growth.incremental.slots import Slots
from dtnumba.tables.labels import Labels, Values
from dtnumba.tables.weights import fixed_weights


class Rows:
    """Rows in slots, their tree, and the batch tree of the same."""

    def __init__(self, X, y, weight, batch):
        self.X, self.y, self.weight, self.batch = X, y, weight, batch
        self.n_classes = len(np.unique(y)) if isinstance(batch, DecisionTreeClassifier) else 0
        self.slots = Slots(X.shape[1], 1, X.dtype, np.int64 if self.n_classes else np.float64)
        self.tree, self.slot = RowTree(self.slots), np.full(len(X), -1)

    def change(self, come, go):
        slots = self.slots
        went = self.slot[go]
        slots.drop(went)
        came = slots.put(self.X[come], self.y[come, None], None if self.weight is None else self.weight[come], come)
        self.slot[come] = came
        rows = slots.outcome[slots.held]
        outcome = Labels([np.arange(self.n_classes)], rows.astype(np.uint8)) if self.n_classes else Values(rows.copy())
        weights = fixed_weights(slots.weight[slots.held], slots.n_rows)
        criterion = resolve_criterion(self.batch.criterion, outcome.kind, 1000.0, self.X.shape[1])
        settings_ = self.batch.growth_settings(slots.n_rows, self.X.shape[1], weights.total, 0)
        is_followed = self.tree.change(came, went, outcome, weights, criterion, settings_)
        slots.release()
        return is_followed

    def check(self, held):
        weight = None if self.weight is None else self.weight[held]
        self.batch.fit(self.X[held], self.y[held], weight)
        assert same_trees(self.tree.trees(max(self.n_classes, 1)), self.batch.trees_)


@interpreted_only
@given(
    st.integers(0, 2**30),
    st.sampled_from(["gini", "gini", "entropy", "twoing", "squared_error", "squared_error", "poisson"]),
    st.sampled_from([(0, 8, 2), (0, 30, 5), (48, 2048, 16)]),
)
@settings(max_examples=6)
def test_followed_trees_are_batch_trees(seed, criterion, sizes):
    rng = np.random.default_rng(seed)
    n, p, levels = int(rng.integers(20, 200)), int(rng.integers(1, 5)), int(rng.integers(2, 40))
    X = rng.integers(0, levels, (n, p)).astype(float)
    if rng.random() < 0.3:
        X[rng.random(X.shape) < 0.1] = np.nan
    s = np.nan_to_num(X).sum(axis=1)
    is_classes = criterion in {"gini", "entropy", "twoing"}
    n_classes = int(rng.choice([2, 3, 5]))
    y = np.abs(s + rng.normal(size=n)) + 0.01
    if is_classes:
        y = np.clip((s / (levels * p) * n_classes + rng.normal(size=n) * 0.5).astype(int), 0, n_classes - 1)
        y[:n_classes] = range(n_classes)
    weight = [None, rng.integers(1, 4, n).astype(float), rng.random(n) + 0.1][rng.integers(3)]
    limits = {"min_samples_leaf": int(rng.choice([1, 3])), "max_depth": [None, 4][rng.integers(2)], "n_jobs": 1}
    batch = (DecisionTreeClassifier if is_classes else DecisionTreeRegressor)(criterion=criterion, **limits)
    rows, held = Rows(X, y, weight, batch), np.zeros(n, bool)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(winner, "SORTED_ROWS", sizes[0])
        patch.setattr(visit, "KEPT_ROWS", sizes[1])
        patch.setattr(visit, "FEW_ROWS", sizes[2])
        for step in range(20):
            most = int(rng.integers(1, n // 2)) if step % 7 == 0 else int(rng.integers(1, 6))
            come = rng.permutation(np.flatnonzero(~held))[: most if step % 3 != 1 else 0]
            there = np.flatnonzero(held)
            go = rng.permutation(there)[: min(int(rng.integers(0, most + 1)), max(len(there) - 4, 0))]
            if len(come) + len(go) == 0:
                continue
            held[come], held[go] = True, False
            assert rows.change(come, go)
            if not is_classes or len(np.unique(y[held])) == n_classes:
                rows.check(np.flatnonzero(held))


def test_targets_that_need_ranks_are_not_followed():
    y = np.arange(8.0)
    rows = Rows(y[:, None].copy(), y, None, DecisionTreeRegressor(criterion="absolute_error"))
    assert not rows.change(np.arange(8), np.empty(0, np.int64))
