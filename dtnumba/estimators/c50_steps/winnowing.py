"""C5.0's winnowing: which columns a tree of half of the rows needs to label the other half."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnumba.estimators.c50_tree import fit_tree
from dtnumba.prediction.confident_votes import votes_of_trees

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.estimators.c50_tree import C50Options, C50Rows
    from dtnumba.tables.table import Table
    from dtnumba.trees.layout import Trees


class Winnowed(NamedTuple):
    """Columns that are left, and those that are not."""

    dropped: NDArray[np.int64]
    # Of each column, by how much the errors rise without it; NaN of a dropped one, and of all where none would be left
    importance: NDArray[np.float64]


def winnow(
    table: Table,
    rows: C50Rows,
    weight: NDArray[np.float64],
    options: C50Options,
    costs: NDArray[np.float64] | None,
    workers: int,
) -> Winnowed:
    """Return which columns to leave out.

    A tree is grown on every other row of each class. Columns that it does not test before it is pruned go, and those
    without which its pruned form makes fewer errors on the other rows. If the tree without these makes more errors,
    they stay. Where none would be left, all stay.
    """
    n_features = table.n_features
    first = every_other(rows.codes, weight)
    growing, asked = np.where(first, weight, 0.0), np.where(first, 0.0, weight)
    own = replace(options, min_gain=(0.0, 0.0), global_pruning=False)
    used = _tested(fit_tree(rows, growing, replace(own, local_pruning=False), costs))
    tree = fit_tree(rows, growing, own, costs)

    def loss(of: Trees, without: int = -1) -> float:
        label = votes_of_trees(table, of, workers, without).argmax(axis=1)
        lost = label != rows.codes if costs is None else costs[rows.codes, label]
        return float((asked * lost).sum())

    base, importance = loss(tree), np.full(n_features, np.nan)
    importance[used] = 0.0
    harmful = []
    for j in _tested(tree).tolist():
        without = loss(tree, j)
        importance[j] = (without - base) / base if base > 0 else without
        if without < base:
            harmful.append(j)
    if harmful and loss(fit_tree(rows.without(np.array(harmful)), growing, own, costs)) <= base:
        importance[harmful] = np.nan
    if np.isnan(importance).all():
        return Winnowed(np.zeros(0, np.int64), importance)
    return Winnowed(np.flatnonzero(np.isnan(importance)), importance)


def every_other(codes: NDArray[np.int64], weight: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows are of the first half: of the rows of each class that count, every other one."""
    there = np.flatnonzero(weight > 0)
    by_class = there[np.argsort(codes[there], kind="stable")]
    place = np.arange(len(by_class)) - np.searchsorted(codes[by_class], codes[by_class])
    first = np.zeros(len(codes), bool)
    first[by_class[place % 2 == 0]] = True
    return first


def _tested(trees: Trees) -> NDArray[np.int64]:
    return np.unique(trees.feature[trees.feature >= 0]).astype(np.int64)
