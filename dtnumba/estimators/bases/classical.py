"""The base of the textbooks' learners: one tree of classes, grown by rules of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.estimators.bases.fit import predicting
from dtnumba.estimators.bases.one_tree import ClassTree
from dtnumba.estimators.bases.parameters import CATEGORICAL_FEATURES, N_JOBS, PRUNER, RANDOM_STATE, parameter
from dtnumba.prediction.tree_view import TreeView
from dtnumba.runtime.side_by_side import expecting
from dtnumba.tables.categories import FROM_DTYPE
from dtnumba.tables.weights import fixed_weights
from dtnumba.trees.layout import BY_CHILD, Trees

if TYPE_CHECKING:
    from dtnumba.estimators.bases.fit import TrainingData


class ClassicalTree(ClassTree):
    """One tree of one output of classes, grown by rules of its own and pruned."""

    _is_of_one_output = True
    _policy_of_missing = BY_CHILD
    _grow: Any  # (table, outcome, weights) -> Trees

    def _learned(self, data: TrainingData) -> dict[str, Any]:
        trees = self._learned_trees(data)
        tree = TreeView(trees, data.table.n_features, data.outcome.sizes)
        return {**self._learned_from(data.outcome, data.class_costs), "tree_": tree}

    def _learned_trees(self, data: TrainingData) -> Trees:
        """Return the tree of the rows of positive weight, pruned."""
        with expecting(lambda: self._rehearse(data)):
            grown = self._grow(data.table, data.outcome, fixed_weights(data.weight, data.table.n_rows))
        return self._pruned(data, grown)

    def _rehearse(self, data: TrainingData) -> None:
        """Ask for the kernels that predict and prune what is going to be grown."""
        predicting(data.table, data.outcome, self._policy_of_missing)()
        leaf = Trees.of_leaves(1, data.outcome.width, self._policy_of_missing)
        weights = fixed_weights(data.weight, data.table.n_rows)  # a pruner asks whether the leaf counts these rows
        counts = np.bincount(data.outcome.codes[:, 0], weights.integers * weights.unit, data.outcome.width)
        total = counts.sum()
        self._pruned(data, leaf._replace(value=counts[None] / total, weight=np.array([total])))


@dataclass(kw_only=True, eq=False, repr=False)
class ClassicalParams:
    """Parameters of every learner of one tree.

    Parameters
    ----------
    prune : str, an object of ``dtnumba.pruners`` or None
        How to prune the tree once it is grown.
    random_state : int, generator or None
        Seed of what is drawn: rows set aside, windows.

    """

    prune: Any = parameter(None, PRUNER)  # noqa: RUF009  a field
    categorical_features: Any = parameter(FROM_DTYPE, CATEGORICAL_FEATURES)  # noqa: RUF009
    random_state: Any = parameter(None, RANDOM_STATE)  # noqa: RUF009
    n_jobs: int | None = parameter(None, N_JOBS)
