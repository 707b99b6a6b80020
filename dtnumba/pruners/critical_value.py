"""Critical value pruning (Mingers 1987): a subtree goes where none of its splits was worth it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dtnumba.pruners.contract import Pruner, is_number, pruner
from dtnumba.trees.subtrees import rebuilt

if TYPE_CHECKING:
    from dtnumba.pruners.contract import PruningContext
    from dtnumba.trees.layout import Trees


@pruner("critical_value")
@dataclass(frozen=True)
class CriticalValue(Pruner):
    """Make a leaf of a node if its own split and every split below it gained less than a value.

    Parameters
    ----------
    value : float
        Least gain: the decrease of impurity per unit of the node's weight, as in ``trees_.gain``. A split that gains
        little stays where a split below it gains as much as this, so that XOR survives.

    """

    value: float

    def __post_init__(self) -> None:
        """Check the value."""
        if not is_number(self.value):
            raise ValueError(f"CriticalValue: value={self.value!r}: must be a finite number, the least gain of a split")

    def pruned(self, context: PruningContext) -> Trees:
        """Return the trees without what gains less."""
        trees = context.trees
        best = trees.gain.copy()
        for level in reversed(context.levels):
            largest = np.maximum.reduceat(best[level.children], level.starts)
            best[level.inner] = np.maximum(best[level.inner], largest)
        return rebuilt(trees, context.levels, best < self.value)
