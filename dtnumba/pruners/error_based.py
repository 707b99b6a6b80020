"""Error-based pruning (Quinlan 1993, C4.5): errors are counted as high as a confidence level lets them be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.pruners.contract import Pruner, is_number, pruner
from dtnumba.pruners.engines.binomial_bound import binomial_upper
from dtnumba.pruners.engines.by_depth import cut_where_cheaper
from dtnumba.pruners.engines.expected_errors import Costs, extra_of_leaves
from dtnumba.pruners.engines.fractional_subtree_raising import pruned_with_cases
from dtnumba.tables.costs import counted_by_cost
from dtnumba.trees.layout import BY_SHARE, joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.pruners.contract import PruningContext
    from dtnumba.trees.layout import Trees


_ESTIMATES = ("release8", "j48", "exact")
# By how much a leaf, or a raised branch, may be worse and still win.
SLACK = 0.1
# Tail probabilities of the normal distribution, between which release 8 interpolates.
_TAILS = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0)
_DEVIATES = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0)


@pruner("error_based")
@dataclass(frozen=True)
class ErrorBased(Pruner):
    """Make a leaf of a node, or raise its heaviest branch in its place, where that is expected to err no more.

    A leaf of weight N with e errors is expected to err in e + U(N, e), where U is what a confidence level adds; a
    subtree in the sum of its leaves. A leaf wins up to 0.1 above both others, a branch up to 0.1 above the subtree.

    Parameters
    ----------
    confidence : float
        Between 0 and 1. Smaller means more errors added, and smaller trees.
    raising : bool
        Whether the heaviest branch may take the place of its parent. All rows of the parent then go through it, so this
        asks for the rows that the trees were grown on; a branch so raised is pruned again with them.
    estimate : "release8", "j48" or "exact"
        U: C4.5's normal approximation with its table of quantiles; the same with exact quantiles, and nothing above a
        confidence of 0.5; or the exact binomial bound of Clopper & Pearson.

    """

    confidence: float = 0.25
    raising: bool = True
    estimate: str = "release8"

    def __post_init__(self) -> None:
        """Check the options."""
        if not (is_number(self.confidence) and 0.0 < self.confidence < 1.0):
            raise ValueError(f"ErrorBased: confidence={self.confidence!r}: must be a number between 0 and 1")
        if not isinstance(self.raising, (bool, np.bool_)):
            raise TypeError(f"ErrorBased: raising={self.raising!r}: must be True or False")
        if self.estimate not in _ESTIMATES:
            raise ValueError(f"ErrorBased: estimate={self.estimate!r}: must be one of {_ESTIMATES}")

    @property
    def needs_rows(self) -> bool:
        """Only a branch that is raised is asked about rows it has not seen."""
        return bool(self.raising)

    which_rows = "They are the rows that the trees were grown on; with raising=False none are needed."

    def expected(
        self, counts: NDArray[np.float64], costs: NDArray[np.float64] | None = None, root: Any = None
    ) -> NDArray[np.float64]:
        """Return the expected errors of leaves with these weights of the classes, a row a leaf.

        With costs, in the unit of ``dtnumba.costs.counted_by_cost``; ``root`` are the weights at the root.
        """
        errors, n = counted_by_cost(counts, costs, root)
        return np.asarray(errors + extra_errors(n, errors, float(self.confidence), self.estimate))

    def pruned(self, context: PruningContext) -> Trees:
        """Return the trees of fewest expected errors."""
        context.demand_classes(self.name)
        if self.raising:
            return self._raised(context)
        counts, costs = context.counts[0], context.costs
        ends = zip(context.trees.root, context.trees.root[1:], strict=False)
        expected = [self.expected(counts[start:stop], costs, counts[start]) for start, stop in ends]
        return cut_where_cheaper(context.trees, context.levels, np.concatenate(expected), slack=SLACK)

    def _costs(self) -> Costs:
        z, high = normal_quantile(float(self.confidence), is_table=self.estimate == "release8")
        adds = _adds(float(self.confidence), self.estimate)
        return Costs(math.log(self.confidence), z, high, SLACK, raises=True, adds=adds)

    def _raised(self, context: PruningContext) -> Trees:
        from dtnumba.pruners.engines.recount import counted_trees, final_leaves, with_new_statistics, workers_of
        from dtnumba.pruners.engines.subtree_raising import Raising

        parts = []
        by_cases = context.trees.policy == BY_SHARE and self.estimate != "exact" and context.costs is None
        for tree in counted_trees(context, with_leaves=not by_cases):
            if by_cases:
                (codes, weight), *_ = tree.additions.parts
                rows = tree.cells, codes, weight
                parts.append(pruned_with_cases(tree.trees, tree.asked, *rows, self._costs(), workers_of(context)))
                continue
            root = tree.trees.value[0] * tree.trees.weight[0]

            def cost(nodes: Any, counts: NDArray[np.float64], root: Any = root) -> NDArray[np.float64]:
                return self.expected(counts, context.costs, root)

            given = (tree.asked, tree.cells, tree.additions, tree.leaf_of_row, cost, SLACK)
            state = Raising(*given, workers_of(context))
            state.run(tree.kept, _weights)
            reached = final_leaves(tree.trees, state.levels, state.is_leaf, state.leaf[tree.kept])
            parts.append(with_new_statistics(tree, context, state.levels, state.is_leaf, state.final, reached))
        together = joined(parts)
        assert together is not None
        return together


def _weights(nodes: NDArray[np.int64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(counts.sum(axis=1))


def extra_errors(n: Any, errors: Any, confidence: float, estimate: str = "release8") -> NDArray[np.float64]:
    """Return U(n, errors): how many more errors leaves of weight n are expected to make than they made.

    Parameters
    ----------
    n, errors : array
        Weight of the rows of each leaf, and of those that do not have its class.
    confidence : float
        Probability that there are so few errors, or fewer, by chance.
    estimate : "release8", "j48" or "exact"
        As in ErrorBased.

    """
    n, errors = np.broadcast_arrays(np.asarray(n, np.float64), np.asarray(errors, np.float64))
    if estimate == "exact":
        return np.asarray(n * binomial_upper(n.ravel(), errors.ravel(), confidence).reshape(n.shape) - errors)
    if not _adds(confidence, estimate):
        return np.zeros(n.shape)
    z, high = normal_quantile(confidence, is_table=estimate == "release8")
    extra = np.empty(n.size)
    extra_of_leaves(math.log(confidence), z, high, n.flatten(), errors.flatten(), extra)
    return extra.reshape(n.shape)


def _adds(confidence: float, estimate: str) -> bool:
    """Tell whether anything is added: J48 takes a confidence above one half for an error."""
    return estimate != "j48" or confidence <= 0.5


def normal_quantile(confidence: float, *, is_table: bool) -> tuple[float, float]:
    """Return the quantile, and the share of the rest that is added where nearly all rows are errors."""
    if is_table:
        return float(np.interp(confidence, _TAILS, _DEVIATES)), 0.67
    return max(NormalDist().inv_cdf(1 - confidence), 0.0), 1.0
