"""The template of pruning where the estimate may look at the whole tree: one choice after another, in postorder.

Each inner node becomes the best of a leaf, one of its children with all its rows (where that is asked for), and what is
left of its subtree. What is best is a function of a few numbers, so an option costs the same at every node; only rows
that go through a raised child are walked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.bottom_up import ROUNDING
from dtnumba.subtrees import below, levels_of
from dtnumba.trees import LEAF

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.recounting import CountedTree
    from dtnumba.subtrees import Level
    from dtnumba.trees import Trees


class Whole(NamedTuple):
    """The whole tree with an option taken."""

    errors: float  # training errors, as those of Candidate
    n_leaves: int
    n_nodes: int
    bits: float  # of its code, see Bound
    weight: float  # of all rows


class Candidate(NamedTuple):
    """One option for what stands at a node: a leaf, a child in its place, or the subtree as it is."""

    counts: list[float]  # weight of each class in the node; of a target of numbers, its weight alone
    weight: float
    errors: float  # of what would stand here: weight of wrong labels; of numbers, weight times impurity
    n_leaves: int
    n_nodes: int
    bits: float
    below: float  # what f gave to the children, summed; 0 for a leaf, of a raised child what it gave to those of it
    whole: Whole


class NodeNumbers(NamedTuple):
    """What nodes of one tree have as leaves, and the bits of their tests, node by node."""

    counts: NDArray[np.float64]  # (m, k)
    weight: NDArray[np.float64]
    errors: NDArray[np.float64]
    leaf_bits: NDArray[np.float64]
    test_bits: NDArray[np.float64]


def postorder(trees: Trees, levels: list[Level]) -> NDArray[np.int64]:
    """Return the place of every node in postorder, for one tree."""
    size = np.ones(trees.n_nodes, np.int64)
    for level in reversed(levels):
        size[level.inner] += np.add.reduceat(size[level.children], level.starts)
    first = np.zeros(trees.n_nodes, np.int64)
    for level in levels:
        sizes = size[level.children]
        ahead = np.cumsum(sizes) - sizes
        first[level.children] = ahead + np.repeat(first[level.inner] - ahead[level.starts], level.fan)
    return first + size - 1


class Standing:
    """What stands at the places of one tree, while it is gone over.

    Parameters
    ----------
    trees : Trees
        Of one tree.
    numbers : NodeNumbers
        Its nodes as leaves.
    f : function (Candidate) -> float
        The estimate; the smallest wins, and on ties the simplest: leaf, children in their order, what is there.
    counted : CountedTree or None
        The rows, where children may be raised.

    """

    def __init__(
        self, trees: Trees, numbers: NodeNumbers, f: Callable[[Candidate], float], counted: CountedTree | None
    ) -> None:
        self.trees, self.numbers, self.f, self.counted = trees, numbers, f, counted
        self.levels = levels_of(trees)
        self.is_leaf = trees.feature == LEAF
        self.final = np.arange(trees.n_nodes)
        self.has_changed = False
        place = postorder(trees, self.levels)
        inner = np.flatnonzero(~self.is_leaf)
        self.order = inner[np.argsort(place[inner])].tolist()
        m = trees.n_nodes
        self.errors, self.bits = numbers.errors.tolist(), numbers.leaf_bits.tolist()
        self.n_leaves, self.n_nodes, self.below = [1] * m, [1] * m, [0.0] * m
        totals = self._totals()
        self.whole = Whole(totals[0], trees.n_leaves, m, totals[1], float(numbers.weight[0]))
        if counted is not None:
            self._sort_rows(counted, place)

    def _totals(self) -> tuple[float, float]:
        numbers, leaf = self.numbers, self.is_leaf
        errors = float(below(self.levels, np.where(leaf, numbers.errors, 0.0))[0])
        return errors, float(np.where(leaf, numbers.leaf_bits, numbers.test_bits).sum())

    def _sort_rows(self, counted: CountedTree, place: NDArray[np.int64]) -> None:
        """Sort rows so that those of each subtree stand together; no choice below a node changes which it has."""
        from dtnumba.rerouting import errors_through

        self._through, self.cells, self.labels = errors_through, counted.cells, counted.additions.parts[0]
        self.scratch = np.zeros((len(place), counted.additions.n_stats)), np.empty(len(self.labels[0]), np.int64)
        leaf = counted.leaf_of_row[counted.kept]
        self.rows = counted.kept[np.argsort(place[leaf], kind="stable")]
        ordered = np.sort(place[leaf])
        size = np.ones(len(place), np.int64)
        for level in reversed(self.levels):
            size[level.inner] += np.add.reduceat(size[level.children], level.starts)
        self.start = np.searchsorted(ordered, place - size + 1)
        self.stop = np.searchsorted(ordered, place, side="right")

    def run(self) -> Standing:
        """Go over the tree once."""
        trees, numbers, f = self.trees, self.numbers, self.f
        counts, weights = numbers.counts.tolist(), numbers.weight.tolist()
        leaf_errors, leaf_bits, test_bits = (
            column.tolist() for column in (numbers.errors, numbers.leaf_bits, numbers.test_bits)
        )
        left, right = trees.left.tolist(), trees.right.tolist()
        errors, bits, n_leaves, n_nodes = self.errors, self.bits, self.n_leaves, self.n_nodes
        value = [0.0] * trees.n_nodes
        for leaf in np.flatnonzero(self.is_leaf).tolist():
            alone = Candidate(counts[leaf], weights[leaf], errors[leaf], 1, 1, bits[leaf], 0.0, self.whole)
            value[leaf] = self._checked(f(alone))
        for t in self.order:
            kids = range(left[t], right[t] + 1)
            errors[t], n_leaves[t] = sum([errors[k] for k in kids]), sum([n_leaves[k] for k in kids])
            bits[t], n_nodes[t] = test_bits[t] + sum([bits[k] for k in kids]), 1 + sum([n_nodes[k] for k in kids])
            self.below[t] = sum([value[k] for k in kids])
            kept = self._option(t, counts[t], weights[t], errors[t], n_leaves[t], n_nodes[t], bits[t], self.below[t])
            cut = self._option(t, counts[t], weights[t], leaf_errors[t], 1, 1, leaf_bits[t], 0.0)
            best, best_value = cut, self._checked(f(cut))
            stands = t
            if self.counted is not None:
                for k in kids:
                    if self.is_leaf[self.final[k]]:
                        continue  # as a leaf it would say the same
                    through = self._errors_through(t, k)
                    raised = self._option(
                        t, counts[t], weights[t], through, n_leaves[k], n_nodes[k], bits[k], self.below[k]
                    )
                    found = self._checked(f(raised))
                    if found < best_value - ROUNDING * abs(best_value):
                        best, best_value, stands = raised, found, k
            kept_value = value[t] = self._checked(f(kept))
            if kept_value < best_value - ROUNDING * abs(best_value):
                continue
            self.has_changed = True
            self._put(t, best, stands)
            value[t] = best_value
        return self

    def _option(self, t: int, counts: Any, weight: float, errors: float, *sizes: Any) -> Candidate:
        """Return what would stand at a node, and the tree around it."""
        n_leaves, n_nodes, bits, below_it = sizes
        w = self.whole
        whole = Whole(
            w.errors - self.errors[t] + errors,
            w.n_leaves - self.n_leaves[t] + n_leaves,
            w.n_nodes - self.n_nodes[t] + n_nodes,
            w.bits - self.bits[t] + bits,
            w.weight,
        )
        return Candidate(counts, weight, errors, n_leaves, n_nodes, bits, below_it, whole)

    def _put(self, t: int, best: Candidate, stands: int) -> None:
        self.whole = best.whole
        self.errors[t], self.bits[t], self.below[t] = best.errors, best.bits, best.below
        self.n_leaves[t], self.n_nodes[t] = best.n_leaves, best.n_nodes
        if stands == t:
            self.is_leaf[t] = True
        else:
            self.final[t] = self.final[stands]

    def _errors_through(self, t: int, child: int) -> float:
        """Return the errors of a child's subtree with all rows of its parent."""
        rows = self.rows[self.start[t] : self.stop[t]]
        return float(
            self._through(self.trees, self.cells, rows, child, self.is_leaf, self.final, *self.labels, *self.scratch)
        )

    @staticmethod
    def _checked(found: Any) -> float:
        try:
            number = float(found)
        except (TypeError, ValueError):
            number = float("nan")
        if number != number:
            raise ValueError(f"Generic: f returned {found!r}: it must return a number, the smaller the better")
        return number
