"""Your own estimate: any function of a node's counts and the size of what stands there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.pruners.contract import Pruner, pruner
from dtnumba.pruners.engines.in_postorder import NodeNumbers, TreeState, nothing_before
from dtnumba.trees.layout import joined, one_tree
from dtnumba.trees.subtrees import class_weights_of, errors_as_leaf, rebuilt

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.pruners.contract import PruningContext
    from dtnumba.pruners.engines.in_postorder import Candidate
    from dtnumba.trees.layout import Trees


@pruner("generic")
@dataclass(frozen=True)
class Generic(Pruner):
    """At every node take the option of which ``f`` returns least: a leaf, a child raised in its place, or as it is.

    Nodes are gone through in postorder. On ties the simplest wins, in this order.

    Parameters
    ----------
    f : function (Candidate) -> float
        A plain Python function of one option for one node. It can read, as attributes of its argument:

        * ``counts``: list of the weights of the classes in the node (outputs end to end; of a target of numbers, its
          weight alone), and ``weight``, the node's weight;
        * ``errors``: training errors of what would stand there (weight of wrong labels, or what they cost where the
          model has ``costs``; of numbers, weight times impurity, summed over its leaves);
        * ``n_leaves``, ``n_nodes``: the size of what would stand there; 1 and 1 for a leaf;
        * ``below``: what f has returned for the children, summed, so that ``leaf(t.counts) if t.n_nodes == 1 else
          t.below`` is any sum over leaves; 0 for a leaf, and not counted anew for a raised child;
        * ``whole``: the same of the whole tree with the option taken: ``whole.errors``, ``whole.n_leaves``,
          ``whole.n_nodes`` and ``whole.weight``.

        It is called once for each leaf, and for each inner node once for each option: twice, and with ``raising`` once
        more for each child that is not a leaf. Should the tree be gone over again, one that has not looked at ``whole``
        is called again only for nodes in which, or in whose rows, something has changed.
    raising : bool
        Whether a child may take the place of its parent. Asks for a target of classes with one output, and for the rows
        that the trees were grown on.
    repeat : bool
        Go over the tree again until nothing changes; False: once.

    """

    f: Callable[[Candidate], float]
    raising: bool = False
    repeat: bool = True

    def __post_init__(self) -> None:
        """Check the options."""
        if not callable(self.f):
            raise TypeError(f"Generic: f={self.f!r}: must be a function of one Candidate (see dtnumba.pruners.Generic)")
        for name in ("raising", "repeat"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise TypeError(f"Generic: {name}={getattr(self, name)!r}: must be True or False")

    @property
    def needs_rows(self) -> bool:
        """Only a raised child is asked about rows it has not seen."""
        return bool(self.raising)

    which_rows = "They are the rows that the trees were grown on; with raising=False none are needed."

    def pruned(self, context: PruningContext) -> Trees:
        """Return the trees of the least estimates."""
        if self.raising:
            context.demand_classes("generic with raising=True")
        return over_each_tree(context, self.f, _no_bits, raising=self.raising, repeat=self.repeat)


def _no_bits(trees: Trees, context: PruningContext) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.zeros(trees.n_nodes), np.zeros(trees.n_nodes)


def over_each_tree(
    context: PruningContext, f: Callable[[Candidate], float], bits_of: Any, *, raising: bool, repeat: bool
) -> Trees:
    """Return the trees, each gone over until nothing changes, or once.

    ``bits_of(trees, context)`` returns what each node takes as a leaf, and what its test takes.
    """
    if raising:
        return _with_raising(context, f, bits_of, repeat=repeat)
    parts = []
    for t in range(context.trees.n_trees):
        tree, before = one_tree(context.trees, t), nothing_before(int(np.diff(context.trees.root)[t]))
        while True:
            found = TreeState(tree, numbers_of(tree, context, bits_of), f, before, None).run()
            tree = rebuilt(tree, found.levels, found.is_leaf)
            if not (repeat and found.has_changed):
                break
            before = found.after()
        parts.append(tree)
    return _together(parts)


def _with_raising(context: PruningContext, f: Callable[[Candidate], float], bits_of: Any, *, repeat: bool) -> Trees:
    from dtnumba.pruners.engines.raised_subtree_errors import new_branches
    from dtnumba.pruners.engines.recount import counted_trees, final_leaves, renumbered, with_new_statistics, workers_of

    parts = []
    for given in counted_trees(context):
        counted, before = given, nothing_before(given.trees.n_nodes)
        while True:
            tree = counted.trees
            branches = new_branches(counted, context.costs, workers_of(context))
            found = TreeState(tree, numbers_of(tree, context, bits_of), f, before, branches).run()
            reached = final_leaves(tree, found.levels, found.is_leaf, branches.leaf)
            counted = counted._replace(kept=branches.rows)
            smaller = with_new_statistics(counted, context, found.levels, found.is_leaf, found.final, reached)
            if not (repeat and found.has_changed):
                break
            before = found.after()
            counted = renumbered(counted, smaller, found.final[found.places], reached)
        parts.append(smaller)
    return _together(parts)


def _together(parts: list[Trees]) -> Trees:
    together = joined(parts)
    assert together is not None
    return together


def numbers_of(trees: Trees, context: PruningContext, bits_of: Any) -> NodeNumbers:
    """Return what the nodes of one tree have as leaves."""
    leaf_bits, test_bits = bits_of(trees, context)
    if context.is_classes:
        counts = class_weights_of(trees, context.sizes)
        errors = errors_as_leaf(counts, context.costs)
        return NodeNumbers(np.concatenate(counts, axis=1), trees.weight, errors, leaf_bits, test_bits)
    return NodeNumbers(trees.weight[:, None], trees.weight, trees.weight * trees.impurity, leaf_bits, test_bits)
