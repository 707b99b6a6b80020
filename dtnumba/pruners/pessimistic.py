"""Pessimistic pruning (Quinlan 1987): half an error more a leaf, and one standard error in favour of the leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dtnumba.pruners.contract import Pruner, pruner
from dtnumba.tables.costs import counted_by_cost
from dtnumba.trees.subtrees import below, class_weights_of, depth_levels, leaves_below, rebuilt

if TYPE_CHECKING:
    from dtnumba.pruners.contract import PruningContext
    from dtnumba.trees.layout import Trees


@pruner("pessimistic")
@dataclass(frozen=True)
class Pessimistic(Pruner):
    """Make a leaf of a node where ``e + 1/2`` is not above ``E + SE``, from the root down.

    e are the errors of the node as a leaf, E those of its subtree and 1/2 for each of its leaves, and SE is
    ``sqrt(E (N - E) / N)`` for a node of weight N.

    Parameters
    ----------
    repeat : bool
        A node that went changes the E of those above it: go over the tree again until nothing changes. False: once, as
        in the paper.

    """

    repeat: bool = True

    def __post_init__(self) -> None:
        """Check the option."""
        if not isinstance(self.repeat, (bool, np.bool_)):
            raise TypeError(f"Pessimistic: repeat={self.repeat!r}: must be True or False")

    def pruned(self, context: PruningContext) -> Trees:
        """Return the trees without what is not worth its leaves."""
        context.demand_classes(self.name)
        trees = context.trees
        while True:
            smaller = _once(trees, context)
            if not self.repeat or smaller.n_nodes == trees.n_nodes:
                return smaller
            trees = smaller


def _once(trees: Trees, context: PruningContext) -> Trees:
    levels, counts = depth_levels(trees), class_weights_of(trees, context.sizes)[0]
    errors, n = np.empty(len(counts)), np.empty(len(counts))
    for start, stop in zip(trees.root, trees.root[1:], strict=False):
        errors[start:stop], n[start:stop] = counted_by_cost(counts[start:stop], context.costs, counts[start])
    within = below(levels, errors) + 0.5 * leaves_below(trees, levels)
    spread = np.divide(within * np.maximum(n - within, 0.0), n, out=np.zeros(len(n)), where=n > 0)
    return rebuilt(trees, levels, errors + 0.5 <= within + np.sqrt(spread))
