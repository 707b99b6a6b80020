"""The template of pruning where the estimate may look at the whole tree: one choice after another, in postorder.

Each inner node becomes the best of a leaf, one of its children with all its rows (where that is asked for), and what is
left of its subtree. What is best is a function of a few numbers, so an option costs the same at every node; only rows
that go through a raised child are walked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.pruners.engines.by_depth import ROUNDING
from dtnumba.pruners.engines.raised_subtree_errors import growth_of, growths, put_branch, put_leaf
from dtnumba.trees.layout import LEAF
from dtnumba.trees.subtrees import (
    added_up,
    below,
    depth_levels,
    leaves_below,
    nodes_below,
    parents,
    places_left,
    postorder,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.trees.layout import Trees


class WholeTree(NamedTuple):
    """Errors and size of the whole tree with an option taken."""

    errors: float  # training errors, as those of Candidate
    n_leaves: int
    n_nodes: int
    bits: float  # of its code, see Bound
    weight: float  # of all rows


class ReadsWholeTree:
    """Whether an estimate ever read ``option.whole``.

    If not, its value depends on the node alone, and unchanged nodes need no second call.
    """

    __slots__ = ("at_whole",)

    def __init__(self) -> None:
        self.at_whole = False


class _Option(NamedTuple):
    counts: list[float]  # weight of each class in the node; of a target of numbers, its weight alone
    weight: float
    errors: float  # of what would stand here: weight of wrong labels; of numbers, weight times impurity
    n_leaves: int
    n_nodes: int
    bits: float
    below: float  # what f gave to the children, summed; 0 for a leaf, of a raised child what it gave to those of it
    around: tuple[
        ReadsWholeTree, WholeTree, float, int, int, float
    ]  # the tree as it is, and of that what stands at the node


class Candidate(_Option):
    """One option for what stands at a node: a leaf, a child in its place, or the subtree as it is."""

    __slots__ = ()

    @property
    def whole(self) -> WholeTree:
        """The whole tree with this option taken; made when it is asked for, which few functions do."""
        looks, whole, errors, n_leaves, n_nodes, bits = self.around
        looks.at_whole = True
        return WholeTree(
            whole.errors - errors + self.errors,
            whole.n_leaves - n_leaves + self.n_leaves,
            whole.n_nodes - n_nodes + self.n_nodes,
            whole.bits - bits + self.bits,
            whole.weight,
        )


# A NamedTuple's own constructor is slower, and a large tree has half a million options.
option: Any = tuple.__new__


class NodeNumbers(NamedTuple):
    """Statistics of the nodes of one tree as leaves, and the bits of their splits."""

    counts: NDArray[np.float64]  # (m, k)
    weight: NDArray[np.float64]
    errors: NDArray[np.float64]
    leaf_bits: NDArray[np.float64]
    test_bits: NDArray[np.float64]


class PreviousPass(NamedTuple):
    """Results of the previous pass over a tree, by node; those of settled nodes are used again."""

    is_settled: NDArray[np.bool_]  # nothing changed at the node, below it, or in its rows
    value: NDArray[np.float64]  # what f gave to what stands
    growth: NDArray[np.float64]  # how many errors more what stands makes with all rows of its parent
    has_growth: NDArray[np.bool_]  # whether that is known
    looks: ReadsWholeTree


def nothing_before(n_nodes: int) -> PreviousPass:
    """Return the results before the first pass: no node is settled."""
    none = np.zeros(n_nodes, bool)
    return PreviousPass(none, np.zeros(n_nodes), np.zeros(n_nodes), none, ReadsWholeTree())


class TreeState:
    """One tree while it is pruned: which node stands at each place.

    Parameters
    ----------
    trees : Trees
        Of one tree.
    numbers : NodeNumbers
        Its nodes as leaves.
    f : function (Candidate) -> float
        The estimate; the smallest wins, and on ties the simplest: leaf, children in their order, what is there.
    before : PreviousPass
        Of the same tree. Where it is settled, and f does not look at the whole tree, f would answer the same again.
    branches : Branches or None
        The rows, where children may be raised.

    """

    def __init__(
        self, trees: Trees, numbers: NodeNumbers, f: Callable[[Candidate], float], before: PreviousPass, branches: Any
    ) -> None:
        self.trees, self.numbers, self.f, self.before, self.branches = trees, numbers, f, before, branches
        self.levels = depth_levels(trees)
        self.is_leaf = trees.feature == LEAF
        self.final = np.arange(trees.n_nodes)
        is_asked = ~before.is_settled if not before.looks.at_whole else np.ones(trees.n_nodes, bool)
        self.leaves_asked = np.flatnonzero(self.is_leaf & is_asked).tolist()
        inner = np.flatnonzero(~self.is_leaf & is_asked)
        self.order = inner[np.argsort(postorder(trees, self.levels)[inner])].tolist()
        self._sum_up()
        self.value = before.value.tolist()
        self.growth = self._growths().tolist() if branches is not None else []
        self.changes = [False] * trees.n_nodes  # at the place, or below it

    def _sum_up(self) -> None:
        """Write the errors, sizes and bits of what stands at each place."""
        numbers, leaf, levels = self.numbers, self.is_leaf, self.levels
        errors = below(levels, numbers.errors)
        bits = added_up(levels, np.where(leaf, numbers.leaf_bits, numbers.test_bits))
        self.errors, self.bits = errors.tolist(), bits.tolist()
        self.n_leaves = leaves_below(self.trees, levels).tolist()
        self.n_nodes = nodes_below(self.trees, levels).tolist()
        given = np.zeros(len(leaf))
        for level in levels:
            given[level.inner] = np.add.reduceat(self.before.value[level.children], level.starts)
        self.below = given.tolist()
        weight = float(numbers.weight[0])
        self.whole = WholeTree(self.errors[0], self.n_leaves[0], self.n_nodes[0], self.bits[0], weight)

    def _growths(self) -> NDArray[np.float64]:
        """Return how many errors more each child makes with all rows of its parent, as the tree is before any choice.

        All at once, on all threads; only children in which something changes are asked one by one.
        """
        growth, parent = self.before.growth.copy(), parents(self.trees, self.levels)
        asked = np.flatnonzero(~self.is_leaf & ~self.before.has_growth & (parent >= 0))
        growth[asked] = growths(self.branches, parent[asked], asked)
        return growth

    def run(self) -> TreeState:
        """Choose at every inner node once, in postorder."""
        numbers, f, looks = self.numbers, self.f, self.before.looks
        self.counts, self.weights = numbers.counts, numbers.weight.tolist()
        self.leaf_errors, self.leaf_bits = numbers.errors.tolist(), numbers.leaf_bits.tolist()
        test_bits = numbers.test_bits.tolist()
        first, after = self.trees.left.tolist(), (self.trees.right + 1).tolist()
        errors, bits, n_leaves, n_nodes, value = self.errors, self.bits, self.n_leaves, self.n_nodes, self.value
        for t in self.leaves_asked:
            around = (looks, self.whole, errors[t], 1, 1, bits[t])
            leaf = (self.counts[t].tolist(), self.weights[t], errors[t], 1, 1, bits[t], 0.0, around)
            value[t] = checked(f(option(Candidate, leaf)))
        for t in self.order:
            i, j = first[t], after[t]
            errors[t], n_leaves[t] = sum(errors[i:j]), sum(n_leaves[i:j])
            bits[t], n_nodes[t] = test_bits[t] + sum(bits[i:j]), 1 + sum(n_nodes[i:j])
            self.below[t] = sum(value[i:j])
            self.changes[t] = True in self.changes[i:j]
            self._choose(t, range(i, j))
        return self

    def _choose(self, t: int, kids: range) -> None:
        """Take the best option at a place."""
        f, node = self.f, (self.counts[t].tolist(), self.weights[t])
        there = (self.errors[t], self.n_leaves[t], self.n_nodes[t], self.bits[t])
        around = (self.before.looks, self.whole, *there)
        best = option(Candidate, (*node, self.leaf_errors[t], 1, 1, self.leaf_bits[t], 0.0, around))
        least, stands = checked(f(best)), t
        for k in kids if self.branches is not None else ():
            if self.n_nodes[k] == 1:
                continue  # as a leaf it would say the same
            sizes = (self.n_leaves[k], self.n_nodes[k], self.bits[k], self.below[k])
            raised = option(Candidate, (*node, self._raised_errors(t, k), *sizes, around))
            found = checked(f(raised))
            if found < least - ROUNDING * abs(least):
                best, least, stands = raised, found, k
        kept = checked(f(option(Candidate, (*node, *there, self.below[t], around))))
        if kept < least - ROUNDING * abs(least):
            self.value[t] = kept
            return
        self._put(t, best, stands)
        self.value[t] = least

    def _raised_errors(self, t: int, k: int) -> float:
        """Return the errors of what stands at a child with all rows of its parent."""
        if self.changes[k]:
            self.growth[k] = growth_of(self.branches, t, k)
        errors: float = self.errors[k] + self.growth[k]
        return max(errors, 0.0)  # rounding leaves less than none

    def _put(self, t: int, best: Candidate, stands: int) -> None:
        w = self.whole
        self.whole = WholeTree(
            w.errors - self.errors[t] + best.errors,
            w.n_leaves - self.n_leaves[t] + best.n_leaves,
            w.n_nodes - self.n_nodes[t] + best.n_nodes,
            w.bits - self.bits[t] + best.bits,
            w.weight,
        )
        self.errors[t], self.bits[t], self.below[t] = best.errors, best.bits, best.below
        self.n_leaves[t], self.n_nodes[t], self.changes[t] = best.n_leaves, best.n_nodes, True
        if stands == t:
            self.is_leaf[t] = True
        else:
            self.final[t] = self.final[stands]
        if self.branches is not None:
            put_leaf(self.branches, t) if stands == t else put_branch(self.branches, t, stands)

    @property
    def has_changed(self) -> bool:
        """Whether any place has a leaf or a node that it did not have before."""
        return self.changes[0]

    @property
    def places(self) -> NDArray[np.int64]:
        """The places that are left, in the order in which the nodes that stand there are numbered."""
        return np.flatnonzero(places_left(self.trees, self.levels, self.is_leaf, self.final))

    def after(self) -> PreviousPass:
        """Return the results of this pass for the smaller tree, whose nodes are the places left, in their order."""
        is_raised = self.final != np.arange(len(self.final))
        is_moved = np.zeros(len(is_raised), bool)  # with rows that it did not have
        for level in self.levels:
            is_moved[level.children] = np.repeat((is_moved | is_raised)[level.inner], level.fan)
        is_settled, places = ~(np.array(self.changes) | is_moved), self.places
        value, growth = np.array(self.value), np.array(self.growth or self.value)
        return PreviousPass(is_settled[places], value[places], growth[places], ~is_moved[places], self.before.looks)


def checked(found: Any) -> float:
    """Return what a function gave as a number; raise where it is none."""
    number: float = found
    if type(found) is float and number == number:
        return number  # at once: this is asked for every option
    try:
        number = float(found)
    except (TypeError, ValueError):
        number = float("nan")
    if number != number:
        raise ValueError(f"Generic: f returned {found!r}: it must return a number, the smaller the better")
    return number
