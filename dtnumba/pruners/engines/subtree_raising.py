"""The template of pruning with subtree raising: the heaviest child of a node may replace it, with all rows of the node.

From the deepest level up, a node becomes the cheapest of a leaf, its heaviest branch, and what is left of its subtree.
A raised branch is counted anew with the rows it receives, and gone over again from its leaves up, before the levels
above are looked at (Quinlan 1993). What counts is a sum over leaves, so nodes of one level do not depend on each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.pruners.engines.by_depth import ROUNDING
from dtnumba.pruners.engines.route_rows import route
from dtnumba.trees.layout import LEAF, count_up, depths
from dtnumba.trees.subtrees import below, depth_levels, parents

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.pruners.engines.recount import RowContributions
    from dtnumba.tables.cells import Cells
    from dtnumba.trees.layout import Trees

    Cost = Callable[[NDArray[np.int64], NDArray[np.float64]], NDArray[np.float64]]


class Frame(NamedTuple):
    """A part of the tree to go over: which nodes, which rows, and the deepest level that is left."""

    todo: NDArray[np.int64]  # inner nodes, ascending by depth
    rows: NDArray[np.int64]
    at: NDArray[np.int64]  # the ancestor of each row, no deeper than the level last gone over


class Raising:
    """One tree while it is pruned: which node stands at each place, and which leaf each row is in.

    Parameters
    ----------
    trees : Trees
        Of one tree.
    cells : Cells
        The rows.
    additions : RowContributions
        What they add to the statistics of nodes.
    leaf_of_row : array of int64
        Where each row ends.
    cost : function (nodes, statistics) -> array
        What the nodes cost as leaves with such statistics.
    slack : float
        By how much a leaf, or a branch, may cost more and still win.
    workers : int
        Threads.

    """

    def __init__(
        self,
        trees: Trees,
        cells: Cells,
        additions: RowContributions,
        leaf_of_row: NDArray[np.int64],
        cost: Cost,
        slack: float,
        workers: int,
    ) -> None:
        self.workers = workers
        self.trees, self.cells = trees, cells
        self.additions, self.cost, self.slack = additions, cost, slack
        self.levels, self.depth = depth_levels(trees), depths(trees)
        self.parent = parents(trees, self.levels)
        self.is_leaf = trees.feature == LEAF
        self.final = np.arange(trees.n_nodes)  # the node at each place
        self.leaf = leaf_of_row.copy()
        self.seen = np.empty(trees.n_nodes, np.int64)  # scratch of _distinct
        self.stats = below(self.levels, additions.summed(leaf_of_row, trees.n_nodes))
        self.best = cost(np.arange(trees.n_nodes), self.stats)

    def run(self, rows: NDArray[np.int64], weights_of: Cost) -> Raising:
        """Go over the whole tree; ``weights_of(nodes, statistics)`` says how heavy branches are."""
        self.weights_of = weights_of
        inner = np.flatnonzero(~self.is_leaf)
        frames = [self._frame(inner, rows)]
        while frames:
            frame = frames.pop()
            if len(frame.todo) == 0:
                continue
            depth = self.depth[frame.todo[-1]]
            first = int(np.searchsorted(self.depth[frame.todo], depth))
            at, before = self._moved_up(frame.at, depth)
            frames.append(Frame(frame.todo[:first], frame.rows, at))
            raised = self._choose(frame.todo[first:], frame.rows, at, before)
            if len(raised):
                moved = np.zeros(self.trees.n_nodes, bool)
                moved[raised] = True
                frames.append(self._frame(self._inner_below(self.final[raised]), frame.rows[moved[at]]))
        return self

    def _frame(self, nodes: NDArray[np.int64], rows: NDArray[np.int64]) -> Frame:
        todo = nodes[np.argsort(self.depth[nodes], kind="stable")]
        return Frame(todo, rows, self.leaf[rows])

    def _moved_up(self, at: NDArray[np.int64], depth: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ancestors of nodes at a depth, and the one below it on the way; shallower nodes stay."""
        at, before = at.copy(), at.copy()
        while True:
            deeper = np.flatnonzero(self.depth[at] > depth)
            if len(deeper) == 0:
                return at, before
            before[deeper] = at[deeper]
            at[deeper] = self.parent[at[deeper]]

    def _choose(
        self, nodes: NDArray[np.int64], rows: NDArray[np.int64], at: NDArray[np.int64], before: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Choose for the nodes of one depth; return those that were replaced by their heaviest child."""
        first = self.trees.left[nodes].astype(np.int64)
        fan = self.trees.right[nodes].astype(np.int64) - first + 1
        starts = np.cumsum(fan) - fan
        places = np.repeat(first, fan) + count_up(fan)
        kept = np.add.reduceat(self.best[self.final[places]], starts)
        weights = self.weights_of(self.final[places], self.stats[self.final[places]])
        heaviest = self._heaviest(weights, places, starts, fan)
        leaf = self.cost(nodes, self.stats[nodes])
        branch, moves = self._branch_costs(nodes, heaviest, rows, at, before)
        rounding = ROUNDING * np.abs(kept)
        becomes_leaf = leaf <= np.minimum(branch, kept) + self.slack + rounding
        is_raised = ~becomes_leaf & (branch <= kept + self.slack + rounding)
        self.is_leaf[nodes] = becomes_leaf
        self.best[nodes] = np.where(becomes_leaf, leaf, kept)
        if is_raised.any():
            self._raise(nodes[is_raised], heaviest[is_raised], moves)
        return nodes[is_raised]

    def _heaviest(self, weights: Any, places: Any, starts: Any, fan: Any) -> NDArray[np.int64]:
        """Return the place of the heaviest child of each node, the last one on ties."""
        most = np.repeat(np.maximum.reduceat(weights, starts), fan)
        return np.asarray(np.maximum.reduceat(np.where(weights >= most, places, -1), starts))

    def _branch_costs(
        self, nodes: Any, heaviest: Any, rows: Any, at: Any, before: Any
    ) -> tuple[NDArray[np.float64], tuple[Any, Any, Any]]:
        """Return what the heaviest branch of each node costs with all its rows, infinity where it is a leaf.

        Also the rows that are not in that branch yet: (rows, the node each is at, the leaf it would reach).
        """
        branch, stands = np.full(len(nodes), np.inf), self.final[heaviest]
        is_inner = ~self.is_leaf[stands]
        goes_to = np.full(self.trees.n_nodes, -1, np.int64)
        goes_to[nodes[is_inner]] = heaviest[is_inner]
        moving = np.flatnonzero((goes_to[at] >= 0) & (goes_to[at] != before))
        rows, at = rows[moving], at[moving]
        reached = np.empty(len(rows), np.int64)
        route(self.trees, self.cells, rows, goes_to[at], self.is_leaf, self.final, reached, self.workers)
        leaves, one, place = self._distinct(reached)
        more = self.additions.summed(place, len(leaves), rows)
        change = self.cost(leaves, self.stats[leaves] + more) - self.best[leaves]
        by_node = np.zeros(self.trees.n_nodes)
        np.add.at(by_node, at[one], change)
        branch[is_inner] = self.best[stands[is_inner]] + by_node[nodes[is_inner]]
        return branch, (rows, at, reached)

    def _distinct(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the distinct nodes, where each stands last, and for every item which of them it is.

        By a table over all nodes; a sort of the rows would take longer.
        """
        count = np.arange(len(nodes))
        self.seen[nodes] = count
        last = np.flatnonzero(self.seen[nodes] == count)
        self.seen[nodes[last]] = np.arange(len(last))
        return nodes[last], last, self.seen[nodes]

    def _raise(self, nodes: Any, heaviest: Any, moves: tuple[Any, Any, Any]) -> None:
        """Replace nodes by their heaviest children, and count the rows that these receive."""
        rows, at, reached = moves
        is_raised = np.zeros(self.trees.n_nodes, bool)
        is_raised[nodes] = True
        chosen = np.flatnonzero(is_raised[at])
        rows, node, top = rows[chosen], reached[chosen].copy(), at[chosen]
        self.leaf[rows] = node
        while len(rows):
            nodes_met, _, place = self._distinct(node)
            self.stats[nodes_met] += self.additions.summed(place, len(nodes_met), rows)
            node = self.parent[node]
            goes_on = np.flatnonzero(node != top)
            rows, node, top = rows[goes_on], node[goes_on], top[goes_on]
        self.final[nodes] = self.final[heaviest]
        self.final = self.final[self.final]  # some of these nodes stand at the place of others

    def _inner_below(self, roots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the inner nodes of subtrees as they are now, with the costs of their leaves made anew."""
        found, nodes = [], roots
        while len(nodes):
            leaves, inner = nodes[self.is_leaf[nodes]], nodes[~self.is_leaf[nodes]]
            self.best[leaves] = self.cost(leaves, self.stats[leaves])
            found.append(inner)
            first = self.trees.left[inner].astype(np.int64)
            fan = self.trees.right[inner].astype(np.int64) - first + 1
            nodes = self.final[np.repeat(first, fan) + count_up(fan)]
        return np.concatenate(found)
