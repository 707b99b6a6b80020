"""Minimum error pruning (Niblett & Bratko 1987; Cestnik & Bratko 1991): expected errors, shrunk towards a prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dtnumba.pruners.contract import Pruner, is_number, pruner
from dtnumba.pruners.engines.by_depth import cut_where_cheaper
from dtnumba.trees.subtrees import tree_of_nodes

if TYPE_CHECKING:
    from dtnumba.pruners.contract import PruningContext
    from dtnumba.trees.layout import Trees


@pruner("minimum_error")
@dataclass(frozen=True)
class MinimumError(Pruner):
    """Make a leaf of a node whose expected error is not above that of its subtree.

    A leaf of weight n whose commonest class weighs n_c is expected to err in ``(n - n_c + m (1 - p_c)) / (n + m)`` of
    the cases; a subtree in the mean of its leaves. With costs, errors cost what they do, and the classes are shrunk
    towards their priors alike.

    Parameters
    ----------
    m : float or None
        How many rows the prior counts as; larger means smaller trees. None: as many as there are classes, each as
        likely, which is Laplace's estimate and that of Niblett & Bratko. With a number, the prior p_c is the share of
        the class at the root.

    """

    m: float | None = 2.0

    def __post_init__(self) -> None:
        """Check m."""
        if self.m is not None and not (is_number(self.m) and self.m >= 0):
            raise ValueError(f"MinimumError: m={self.m!r}: must be a number >= 0, or None for the number of classes")

    def pruned(self, context: PruningContext) -> Trees:
        """Return the trees of least expected error."""
        context.demand_classes(self.name)
        counts, trees = context.counts[0], context.trees
        n, (n_nodes, n_classes) = counts.sum(axis=1), counts.shape
        m = float(n_classes) if self.m is None else float(self.m)
        root = trees.root[:-1][tree_of_nodes(trees)]
        if context.rule is not None:
            prior = np.full(n_classes, 1.0 / n_classes) if self.m is None else counts[root] / n[root, None]
            label = context.rule.codes(counts)
            cost = ((counts + m * prior) * context.rule.costs.T[label]).sum(axis=1)
            expected = np.divide(n * cost, n + m, out=np.zeros(n_nodes), where=n + m > 0)
            return cut_where_cheaper(trees, context.levels, expected)
        label = counts.argmax(axis=1)
        if self.m is None:
            prior = np.full(n_nodes, 1.0 / n_classes)
        else:
            prior = counts[root, label] / np.maximum(n[root], 1e-300)
        errors = n - counts[np.arange(n_nodes), label]
        expected = np.divide(n * (errors + m * (1.0 - prior)), n + m, out=np.zeros(n_nodes), where=n + m > 0)
        return cut_where_cheaper(trees, context.levels, expected)
