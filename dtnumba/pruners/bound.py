"""Pruning by a bound on the true error (Shalev-Shwartz & Ben-David 2014, equation 18.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.pruners.contract import Pruner, is_number, pruner
from dtnumba.pruners.engines.by_depth import ROUNDING
from dtnumba.pruners.generic import numbers_of, over_each_tree
from dtnumba.pruners.mdl import cuts_of
from dtnumba.trees.layout import LEAF, joined, one_tree
from dtnumba.trees.message_length import test_bits
from dtnumba.trees.subtrees import class_weights_of, depth_levels, errors_as_leaf, postorder, rebuilt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.pruners.contract import PruningContext
    from dtnumba.pruners.engines.in_postorder import Candidate, NodeNumbers
    from dtnumba.trees.layout import Trees


_CODES = ("notes", "mdl")


@pruner("bound")
@dataclass(frozen=True)
class Bound(Pruner):
    """At every node take the option for which the bound on the true error of the whole tree is least.

    With probability 1 - delta over samples of m rows, the true error of every tree T is at most
    ``errors(T) / m + sqrt((bits(T) + ln(2 / delta)) / (2 m))``. m is the weight of all rows. With costs, errors count
    what they cost in shares of the highest cost.

    Parameters
    ----------
    delta : float
        Between 0 and 1.
    code : "notes" or "mdl"
        How many bits a tree takes. "notes": (n + 1) log2(d + 3) for n nodes over d columns, the prefix code of the
        book; with K classes d + K + 1 symbols, which is d + 3 for two. It takes a test to say no more than its column,
        as with columns of 0 and 1. "mdl" counts thresholds, cuts and groups of categories, too: the code of ``MDL``.
    raising : bool
        Whether a child may take the place of its parent; asks for the rows that the trees were grown on.
    repeat : bool
        A node that went changes the bound, so go over the tree until nothing changes. False: once, as in the book.
    cuts : tuple of int, optional
        With "mdl", how many cuts each column offers; see ``MDL``.

    """

    delta: float = 0.05
    code: str = "notes"
    raising: bool = False
    repeat: bool = True
    cuts: Any = None

    def __post_init__(self) -> None:
        """Check the options."""
        if not (is_number(self.delta) and 0.0 < self.delta < 1.0):
            raise ValueError(f"Bound: delta={self.delta!r}: must be a number between 0 and 1")
        if self.code not in _CODES:
            raise ValueError(f"Bound: code={self.code!r}: must be one of {_CODES}")
        if self.cuts is not None and self.code == "notes":
            raise ValueError("Bound: cuts are counted by code='mdl' alone; pass it, or leave out cuts")
        for name in ("raising", "repeat"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise TypeError(f"Bound: {name}={getattr(self, name)!r}: must be True or False")

    @property
    def needs_rows(self) -> bool:
        """Only a raised child is asked about rows it has not seen."""
        return bool(self.raising)

    which_rows = "They are the rows that the trees were grown on; with raising=False none are needed."

    @staticmethod
    def unit(context: PruningContext) -> float:
        """Return what an error costs at most: the bound is one on the mean of numbers from 0 to this."""
        return 1.0 if context.costs is None else float(context.costs.max())

    def value(self, errors: float, bits: float, weight: float) -> float:
        """Return the right-hand side of the bound; ``bits`` are those of the nodes, without the end of the code."""
        return errors / weight + math.sqrt((bits + math.log(2.0 / self.delta)) / (2.0 * weight))

    def node_bits(self, trees: Trees, context: PruningContext) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what each node takes as a leaf, and what its test takes."""
        n_classes = context.sizes[0]
        if self.code == "notes":
            symbol = np.full(trees.n_nodes, math.log2(context.n_features + n_classes + 1))
            return symbol, symbol
        levels = depth_levels(trees)
        tests = test_bits(trees, levels, context.n_features, cuts_of(self.cuts, context.n_features, "Bound"))
        return np.full(trees.n_nodes, 1.0 + math.log2(n_classes)), 1.0 + tests

    def end_bits(self, context: PruningContext) -> float:
        """Return what the end of the code takes."""
        return math.log2(context.n_features + context.sizes[0] + 1) if self.code == "notes" else 0.0

    def pruned(self, context: PruningContext) -> Trees:
        """Return the trees of the least bounds."""
        context.demand_classes(self.name)
        end, unit = self.end_bits(context), self.unit(context)
        if self.raising:

            def f(option: Candidate) -> float:
                return self.value(option.whole.errors / unit, option.whole.bits + end, option.whole.weight)

            return over_each_tree(context, f, self.node_bits, raising=True, repeat=self.repeat)
        parts = []
        for t in range(context.trees.n_trees):
            tree = one_tree(context.trees, t)
            while True:
                numbers = numbers_of(tree, context, self.node_bits)
                is_leaf = self._cut(tree, numbers._replace(errors=numbers.errors / unit), end)
                smaller = rebuilt(tree, depth_levels(tree), is_leaf)
                has_changed, tree = smaller.n_nodes < tree.n_nodes, smaller
                if not (self.repeat and has_changed):
                    break
            parts.append(tree)
        together = joined(parts)
        assert together is not None
        return together

    def _cut(self, trees: Trees, numbers: NodeNumbers, end: float) -> NDArray[np.bool_]:
        """Return which nodes are leaves after one walk: the template without raising, on plain numbers."""
        is_leaf = np.asarray(trees.feature == LEAF)
        inner = np.flatnonzero(~is_leaf)
        order = inner[np.argsort(postorder(trees, depth_levels(trees))[inner])].tolist()
        left, right = trees.left.tolist(), trees.right.tolist()
        leaf_errors, leaf_bits = numbers.errors.tolist(), numbers.leaf_bits.tolist()
        tests, errors, bits = numbers.test_bits.tolist(), numbers.errors.tolist(), numbers.leaf_bits.tolist()
        weight = float(numbers.weight[0])
        all_errors = float(numbers.errors[is_leaf].sum())
        all_bits = end + float(np.where(is_leaf, numbers.leaf_bits, numbers.test_bits).sum())
        best = self.value(all_errors, all_bits, weight)
        for t in order:
            e, b = 0.0, tests[t]
            for k in range(left[t], right[t] + 1):
                e += errors[k]
                b += bits[k]
            with_leaf = all_errors - e + leaf_errors[t], all_bits - b + leaf_bits[t]
            found = self.value(*with_leaf, weight)
            if best < found - ROUNDING * found:
                errors[t], bits[t] = e, b
            else:
                best, (all_errors, all_bits) = found, with_leaf
                errors[t], bits[t], is_leaf[t] = leaf_errors[t], leaf_bits[t], True
        return is_leaf


def risk_bound(context: PruningContext, delta: float, code: str) -> float:
    """Return the bound on the true error of one tree."""
    bound, trees, unit = Bound(delta, code), context.trees, Bound.unit(context)
    if not context.is_classes:
        raise ValueError(
            f"risk_bound: it bounds the share of wrong labels, and {type(context.model).__name__} predicts numbers"
        )
    context.demand_classes(Bound.name)
    is_leaf = trees.feature == LEAF
    errors = errors_as_leaf(class_weights_of(trees, context.sizes), context.costs)[is_leaf].sum()
    bits = np.where(is_leaf, *bound.node_bits(trees, context)).sum() + bound.end_bits(context)
    return unit * bound.value(float(errors) / unit, float(bits), float(trees.weight[0]))
