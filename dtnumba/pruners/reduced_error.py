"""Reduced error pruning (Quinlan 1987): rows that the tree has not seen say what to keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.pruners.contract import Pruner, Rows, is_number, pruner
from dtnumba.pruners.engines.by_depth import cut_where_cheaper
from dtnumba.trees.layout import joined, one_tree
from dtnumba.trees.routing import as_asked
from dtnumba.trees.subtrees import below, rebuilt, squares_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.pruners.contract import PruningContext
    from dtnumba.pruners.engines.recount import RowContributions
    from dtnumba.trees.layout import Trees


@pruner("reduced_error")
@dataclass(frozen=True, eq=False)
class ReducedError(Pruner):
    """Make a leaf of every node that errs no more on held-out rows than its subtree does.

    What is left is the smallest of the pruned trees that are best on these rows. Errors are the weight of wrong labels,
    summed over the outputs, or what these cost; of numbers, squared errors. A node that no held-out row reaches becomes
    a leaf.

    Parameters
    ----------
    X, y : rows and their targets, optional
        The held-out rows. Else ``prune(model, "reduced_error", X, y)`` gives them, and a fit with ``prune=`` sets some
        of its rows aside.
    fraction : float
        The share of the rows of positive weight that a fit sets aside, drawn by ``random_state``. Growth does not see
        them; a forest counts them among the rows that no tree drew.
    raising : bool
        Whether the heaviest branch may take the place of its parent, too. Its leaves go on saying what the rows they
        were grown on said.
    sample_weight : array, optional
        What each row of X counts.

    """

    X: Any = None
    y: Any = None
    fraction: float = 0.3
    raising: bool = False
    sample_weight: Any = None

    def __post_init__(self) -> None:
        """Check the options."""
        if (self.X is None) != (self.y is None):
            raise ValueError("ReducedError: pass both X and y, the held-out rows and their targets, or neither")
        if self.X is None and self.sample_weight is not None:
            raise ValueError("ReducedError: sample_weight belongs to X and y; pass these, too")
        if not (is_number(self.fraction) and 0.0 < self.fraction < 1.0):
            raise ValueError(f"ReducedError: fraction={self.fraction!r}: must be a number between 0 and 1")
        if not isinstance(self.raising, (bool, np.bool_)):
            raise TypeError(f"ReducedError: raising={self.raising!r}: must be True or False")

    @property
    def needs_rows(self) -> bool:
        """Rows must be given where the object has none."""
        return self.X is None

    which_rows = "They are rows that the trees have not seen."

    @property
    def held_out(self) -> float | None:
        """The share of the rows that a fit sets aside."""
        return float(self.fraction) if self.X is None else None

    def pruned(self, context: PruningContext) -> Trees:
        """Return the smallest trees that are best on the held-out rows."""
        from dtnumba.pruners.engines.recount import class_additions, leaves_in_trees, square_additions

        rows = context.rows if self.X is None else context.read(self.X, self.y, self.sample_weight)
        assert rows is not None
        trees = context.trees
        cost: Any = _SquaredErrors(context)
        if not context.is_classes and not self.raising:
            return _pruned_numbers(context, rows)
        if context.is_classes:
            additions, cost = class_additions(rows, context.sizes), _WrongLabels(context)
        else:
            additions = square_additions(Rows(rows.table, rows.target - cost.centre, rows.weight))
        leaves = leaves_in_trees(trees, rows.table, 1)
        if self.raising:
            return _raised(context, rows, additions, leaves, cost)
        stats = np.zeros((trees.n_nodes, additions.n_stats))
        for found in leaves:
            stats += additions.summed(found, trees.n_nodes)
        stats = below(context.levels, stats)
        return cut_where_cheaper(trees, context.levels, cost(np.arange(trees.n_nodes), stats))


def _pruned_numbers(context: PruningContext, rows: Rows) -> Trees:
    from dtnumba.pruners.engines.recount import leaves_in_trees

    errors, value = np.zeros(context.trees.n_nodes), context.trees.value
    for found in leaves_in_trees(context.trees, rows.table, 1):
        for o, y in enumerate(rows.target.T):
            errors += squares_below(context.levels, found, y, rows.weight, value[:, o])
    return cut_where_cheaper(context.trees, context.levels, errors)


class _WrongLabels:
    """The weight of held-out rows that do not have the label of a node, or what its label costs them."""

    def __init__(self, context: PruningContext) -> None:
        self.offsets, self.costs = np.cumsum([0, *context.sizes]), context.costs
        shares = np.split(context.trees.value, self.offsets[1:-1], axis=1)
        rule = context.rule
        self.labels = [of.argmax(axis=1) if rule is None else rule.codes(of) for of in shares]
        self.centre: Any = 0.0

    def __call__(self, nodes: NDArray[np.int64], stats: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.costs is not None:
            return np.asarray((stats * self.costs.T[self.labels[0][nodes]]).sum(axis=1))
        errors, each = np.zeros(len(nodes)), np.arange(len(nodes))
        for labels, start, stop in zip(self.labels, self.offsets, self.offsets[1:], strict=False):
            of = stats[:, start:stop].copy()
            of[each, labels[nodes]] = 0.0
            errors += of.sum(axis=1)
        return errors


class _SquaredErrors:
    """The squared errors of held-out rows, measured from the mean of the tree for the sake of rounding."""

    def __init__(self, context: PruningContext) -> None:
        self.centre: Any = context.trees.value[0]
        self.value = context.trees.value - self.centre

    def __call__(self, nodes: NDArray[np.int64], stats: NDArray[np.float64]) -> NDArray[np.float64]:
        w, wy, wyy = stats[:, 0::3], stats[:, 1::3], stats[:, 2::3]
        value = self.value[nodes]
        return np.asarray((wyy - 2.0 * value * wy + value * value * w).sum(axis=1))


def _raised(
    context: PruningContext, rows: Rows, additions: RowContributions, leaves: list[NDArray[np.int64]], cost: Any
) -> Trees:
    from dtnumba.pruners.engines.recount import dense_cells, workers_of
    from dtnumba.pruners.engines.subtree_raising import Raising

    parts, cells, kept = [], dense_cells(rows.table), np.flatnonzero(rows.weight)
    for t, found in enumerate(leaves):
        first, tree = context.trees.root[t], one_tree(context.trees, t)

        def errors(nodes: Any, stats: Any, first: int = first) -> NDArray[np.float64]:
            return np.asarray(cost(nodes + first, stats))

        def weights(nodes: Any, stats: Any, tree: Trees = tree) -> NDArray[np.float64]:
            return np.asarray(tree.weight[nodes])

        asked = as_asked(tree, rows.table.bits)
        state = Raising(asked, cells, additions, found - first, errors, 0.0, workers_of(context)).run(kept, weights)
        parts.append(rebuilt(tree, state.levels, state.is_leaf, state.final))
    together = joined(parts)
    assert together is not None
    return together
