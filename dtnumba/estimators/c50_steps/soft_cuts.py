"""C5.0's soft cuts: how far from a cut of numbers rows go both ways, because they may as well.

Rows near a cut are asked what they would be called below its other branch. From the cut outwards, value by value, they
go both ways as long as there they err little more often: at most one more than twice as often as where they belong, and
no more beyond that than the errors of the node may be off by chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnumba.prediction.confident_votes import EVEN
from dtnumba.prediction.fractional import mixtures_of
from dtnumba.pruners.engines.recount import dense_cells
from dtnumba.rules.c50.node_paths import Visit, rows_below
from dtnumba.tables.cells import values_of
from dtnumba.tables.table import plain_table
from dtnumba.trees.layout import LEAF, last_children
from dtnumba.trees.subtrees import below, depth_levels, errors_of_nodes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.table import Table
    from dtnumba.trees.layout import Trees

_TIMES, _MORE = 2.0, 1.0  # errors below the other branch, of those below the own one, that are borne
_HAIR = 1e-9
_FIRST = 64  # rows beside a cut that are asked at first


class _Rows(NamedTuple):
    """The rows of a fit, and its tree."""

    values: NDArray[np.float64]  # (n, p)
    codes: NDArray[np.int64]
    trees: Trees

    def labels_below(self, node: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what the subtree at a node calls some rows."""
        table = plain_table(self.values[rows], self.values.shape[1])
        assert table is not None, "floats are a table"
        trees = self.trees._replace(root=np.array([node, self.trees.n_nodes], np.int64))
        shares = mixtures_of(table, trees, 1)[0]
        return np.asarray((shares >= shares.max(axis=1, keepdims=True) - EVEN).argmax(axis=1))


def soft_cuts(
    table: Table,
    trees: Trees,
    codes: NDArray[np.int64],
    weight: NDArray[np.float64],
    is_number: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return of each node of a tree its soft cut, NaN where there is none.

    That is three numbers: up to the first rows go left whole, from the last on right, and half of them at the one
    between, the middle of the values next to the cut. ``is_number`` tells which columns have such cuts.
    """
    found, last = np.full((trees.n_nodes, 3), np.nan), last_children(trees)
    wrong = below(depth_levels(trees), errors_of_nodes(trees))
    own = _Rows(np.ascontiguousarray(values_of(dense_cells(table)), np.float64), codes, trees)
    rows = np.flatnonzero(weight > 0)
    waiting = [Visit(0, (), rows, weight[rows])]
    while waiting:
        visit = waiting.pop()
        feature = int(trees.feature[visit.node])
        if feature == LEAF:
            continue
        x = own.values[visit.rows, feature]
        if is_number[feature]:
            found[visit.node] = _soft_cut(own, visit, x, float(wrong[visit.node]))
        children = range(int(trees.left[visit.node]), int(last[visit.node]) + 1)
        waiting += [one for one in (rows_below(visit, child, trees, table, x) for child in children) if len(one.rows)]
    return found


def _soft_cut(own: _Rows, visit: Visit, x: NDArray[np.float64], wrong: float) -> tuple[float, float, float]:
    known = np.flatnonzero(~np.isnan(x))
    order = known[np.argsort(x[known], kind="stable")]
    at = int(np.searchsorted(x[order], own.trees.threshold[visit.node], side="right"))
    if at in (0, len(order)):
        return np.nan, np.nan, np.nan
    total = float(visit.part[known].sum())
    borne = float(np.sqrt(max(wrong * (total - wrong), 0.0) / total))
    left, right = int(own.trees.left[visit.node]), int(own.trees.left[visit.node]) + 1
    low, high = order[:at][::-1], order[at:]
    nearest = x[low[0]], x[high[0]]
    middle = 0.5 * nearest[0] + 0.5 * nearest[1] if np.isfinite(nearest).all() else np.nan
    if not nearest[0] < middle < nearest[1]:  # no number is between, or values have no end
        return np.nan, np.nan, np.nan
    return _reach(own, visit, x, low, (left, right), borne), middle, _reach(own, visit, x, high, (right, left), borne)


def _reach(
    own: _Rows, visit: Visit, x: NDArray[np.float64], outwards: NDArray[np.int64], nodes: tuple[int, int], borne: float
) -> float:
    """Return how far rows on one side of a cut go both ways; ``nodes`` are their own child and the other one."""
    values, start = x[outwards], 0
    ends = np.flatnonzero(np.append(values[1:] != values[:-1], True)) + 1  # of the rows of each value
    errors, k, size = np.zeros(2), 0, _FIRST
    while k < len(ends) - 1:  # the last value stays the bound
        stop = min(max(int(np.searchsorted(ends, start + size)), k + 1), len(ends) - 1)
        places = outwards[start : ends[stop - 1]]
        rows, part = visit.rows[places], visit.part[places]
        more = np.array([part * (own.labels_below(node, rows) != own.codes[rows]) for node in nodes])
        sums = errors[:, None] + np.cumsum(more, axis=1)[:, ends[k:stop] - start - 1]
        fails = (sums[1] > _TIMES * sums[0] + _MORE + _HAIR) | (sums[1] - sums[0] > borne + _HAIR)
        fails |= ~np.isfinite(values[ends[k + 1 : stop + 1] - 1])
        if fails.any():
            return float(values[ends[k + int(fails.argmax())] - 1])
        errors, k, start, size = sums[:, -1], stop, int(ends[stop - 1]), 4 * size
    return float(values[-1])
