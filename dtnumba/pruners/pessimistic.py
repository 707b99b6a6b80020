"""Pessimistic pruning (Quinlan 1987): half an error more a leaf, and one standard error in favour of the leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dtnumba.costs import counted_by_cost
from dtnumba.pruner import Pruner, pruner
from dtnumba.subtrees import below, class_weights_of, leaves_below, levels_of, rebuilt

if TYPE_CHECKING:
    from dtnumba.pruner import Subject
    from dtnumba.trees import Trees


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

    def pruned(self, subject: Subject) -> Trees:
        """Return the trees without what is not worth its leaves."""
        subject.demand_classes(self.name)
        trees = subject.trees
        while True:
            smaller = _once(trees, subject)
            if not self.repeat or smaller.n_nodes == trees.n_nodes:
                return smaller
            trees = smaller


def _once(trees: Trees, subject: Subject) -> Trees:
    levels, counts = levels_of(trees), class_weights_of(trees, subject.sizes)[0]
    errors, n = np.empty(len(counts)), np.empty(len(counts))
    for start, stop in zip(trees.root, trees.root[1:], strict=False):
        errors[start:stop], n[start:stop] = counted_by_cost(counts[start:stop], subject.costs, counts[start])
    within = below(levels, errors) + 0.5 * leaves_below(trees, levels)
    spread = np.divide(within * np.maximum(n - within, 0.0), n, out=np.zeros(len(n)), where=n > 0)
    return rebuilt(trees, levels, errors + 0.5 <= within + np.sqrt(spread))
