"""Pruning by description length (Quinlan & Rivest 1989): the tree and its exceptions in as few bits as can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.pruners.contract import Pruner, is_number, pruner
from dtnumba.pruners.engines.by_depth import cut_where_cheaper
from dtnumba.trees.message_length import arity_bits, dirichlet_bits, test_bits, whole_leaf_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.pruners.contract import PruningContext
    from dtnumba.trees.layout import Trees


_CORRECTIONS = ("none", "wallace_patrick")


@pruner("mdl")
@dataclass(frozen=True)
class MDL(Pruner):
    """Make a leaf of every node that takes no more bits as a leaf than its subtree does, exceptions included.

    Parameters
    ----------
    correction : "none" or "wallace_patrick"
        The code: that of Quinlan & Rivest, a bit a node and exceptions by number and place; or that of Wallace &
        Patrick, which counts by the number of branches and learns the shares of the classes as it goes.
    alpha : float
        With "wallace_patrick", how many rows of each class a leaf is taken to have seen; below 1 favours pure leaves.
    cuts : tuple of int, optional
        How many cuts each column offers to a threshold: its distinct values less one. None: one fewer than the node has
        rows.

    """

    correction: str = "none"
    alpha: float = 1.0
    cuts: Any = None

    def __post_init__(self) -> None:
        """Check the options."""
        if self.correction not in _CORRECTIONS:
            raise ValueError(f"MDL: correction={self.correction!r}: must be one of {_CORRECTIONS}")
        if not (is_number(self.alpha) and self.alpha > 0):
            raise ValueError(f"MDL: alpha={self.alpha!r}: must be a number > 0")

    def pruned(self, context: PruningContext) -> Trees:
        """Return the trees of fewest bits."""
        context.demand_classes(self.name)
        counts, trees, levels = context.counts[0], context.trees, context.levels
        tests = test_bits(trees, levels, context.n_features, cuts_of(self.cuts, context.n_features, "MDL"))
        if self.correction == "none":
            return cut_where_cheaper(trees, levels, 1.0 + whole_leaf_bits(counts), 1.0 + tests)
        leaf, test = arity_bits(trees, levels, context.n_features)
        return cut_where_cheaper(trees, levels, leaf + dirichlet_bits(counts, float(self.alpha)), test + tests)


def cuts_of(cuts: Any, n_features: int, name: str) -> NDArray[np.float64] | None:
    """Return how many cuts each column offers, checked."""
    if cuts is None:
        return None
    array = np.asarray(cuts, np.float64)
    if array.shape != (n_features,) or not (array >= 0).all():
        raise ValueError(f"{name}: cuts={cuts!r}: must be a number >= 0 for each of the {n_features} columns, or None")
    return array
