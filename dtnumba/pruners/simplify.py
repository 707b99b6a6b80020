"""Simplify: what says the same is said once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dtnumba.pruners.contract import Pruner, pruner
from dtnumba.trees.subtrees import rebuilt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.pruners.contract import PruningContext
    from dtnumba.trees.layout import Trees


@pruner("simplify")
@dataclass(frozen=True)
class Simplify(Pruner):
    """Make a leaf of every subtree whose leaves all say the same.

    ``predict`` stays as it is. Leaves of a classifier say the same where they have the same label, so shares of classes
    may change; where a forest adds up the shares of its trees, they must be the same, too.

    """

    def pruned(self, context: PruningContext) -> Trees:
        """Return the trees with fewer leaves."""
        trees, values = context.trees, _predicted(context)
        lowest, highest = values.copy(), values.copy()
        for level in reversed(context.levels):
            for ends, combine in ((lowest, np.minimum), (highest, np.maximum)):
                within = combine.reduceat(ends[level.children], level.starts)
                ends[level.inner] = combine(ends[level.inner], within)
        return rebuilt(trees, context.levels, (lowest == highest).all(axis=1))


def _predicted(context: PruningContext) -> NDArray[np.float64]:
    """Return what each node answers, a row a node."""
    is_soft = getattr(context.model, "voting", "hard") == "soft"
    if not context.is_classes or is_soft:
        return context.trees.value
    if context.rule is not None:
        return context.rule.codes(context.trees.value)[:, None].astype(np.float64)
    return np.stack([of.argmax(axis=1) for of in context.counts], axis=1).astype(np.float64)
