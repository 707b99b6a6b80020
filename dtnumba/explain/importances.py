"""Importances of features in a forest, a number a tree: mean and spread, updated as trees are added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.explain.corrected_impurity import corrected_decreases
from dtnumba.explain.permutation import shuffled_losses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from dtnumba.growth.forest.grow import ForestPlan
    from dtnumba.runtime.progress import Monitor
    from dtnumba.tables.binned_table import Features
    from dtnumba.tables.costs import LeastCost
    from dtnumba.trees.layout import Trees


class Importances(NamedTuple):
    """Mean and spread over trees."""

    kind: str
    n_trees: int  # looked at: the first ones of the forest
    n_measured: int  # of these; a tree that left out no row cannot be measured on such rows
    mean: NDArray[np.float64]  # (p,)
    squares: NDArray[np.float64]  # (p,): sum of squared differences from the mean

    @property
    def values(self) -> NDArray[np.float64]:
        """The mean over the trees; NaN where none was measured."""
        return self.mean if self.n_measured else np.full(len(self.mean), np.nan)

    @property
    def std(self) -> NDArray[np.float64]:
        """The standard deviation between the trees; NaN where none was measured."""
        return np.sqrt(self.squares / self.n_measured) if self.n_measured else np.full(len(self.mean), np.nan)

    def with_trees(self, rows: Iterable[NDArray[np.float64]]) -> Importances:
        """Return the Importances with more trees, one after the other: in parts or at once gives the same bits."""
        n_trees, n, mean, squares = self.n_trees, self.n_measured, self.mean, self.squares
        for row in rows:
            n_trees += 1
            if np.isnan(row).any():
                continue
            n += 1
            gap = row - mean
            mean = mean + gap / n
            squares = squares + gap * (row - mean)
        return Importances(self.kind, n_trees, n, mean, squares)


def nothing_measured(kind: str, n_features: int) -> Importances:
    """Return the Importances of no tree."""
    return Importances(kind, 0, 0, np.zeros(n_features), np.zeros(n_features))


def measured(
    earlier: Importances,
    table: Features,
    outcome: Any,
    plan: ForestPlan,
    trees: Trees,
    monitor: Monitor,
    run: Callable[[Any, int], bool],
    rule: LeastCost | None = None,
) -> Importances:
    """Return the Importances of all trees, or of as many as could be measured before the work was stopped.

    ``run(task, workers)`` grows more trees under the monitor and returns whether it was stopped.
    """
    first = earlier.n_trees
    if monitor.stopped or first >= trees.n_trees:
        return earlier
    monitor.stage = "importances"
    try:
        if earlier.kind == "impurity_corrected":
            return earlier.with_trees(corrected_decreases(plan, first, trees.n_trees, run))
        return earlier.with_trees(shuffled_losses(table, outcome, plan, trees, first, monitor, rule))
    except KeyboardInterrupt as error:  # between two kernels: the trees are there already, and must not be lost
        monitor.stopped, monitor.error = "interrupt", error
        return earlier
