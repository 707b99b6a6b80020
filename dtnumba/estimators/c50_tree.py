"""C5.0's single tree: grown, pruned below and as a whole, its leaves joined; and the probabilities that it states."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.multiway.c50 import C50Columns, C50Grower, C50Growth, c50_columns, least_gain
from dtnumba.prediction.fractional import probabilities_of, said_by_leaves, with_prior
from dtnumba.pruners.engines.c50.global_pruning import pruned_globally
from dtnumba.pruners.engines.c50.join_leaves import with_leaves_joined
from dtnumba.pruners.engines.c50.regrown_branches import pruned_with_regrowth
from dtnumba.pruners.engines.case_lists import unit_of
from dtnumba.pruners.engines.collapse import collapsed, collapsed_below
from dtnumba.pruners.engines.expected_errors import Costs
from dtnumba.pruners.engines.recount import dense_cells
from dtnumba.pruners.error_based import SLACK, normal_quantile
from dtnumba.tables.weights import fixed_weights
from dtnumba.trees.layout import BY_SHARE, Trees

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.cells import Cells
    from dtnumba.tables.labels import Labels
    from dtnumba.tables.table import Table


_KEPT_WHOLE = Costs(-1.0, 0.0, 0.0, -np.inf, raises=False, adds=False)


@dataclass(frozen=True, kw_only=True)
class C50Options:
    """What a tree is asked for.

    Parameters
    ----------
    subset : bool
        Whether categories are tested in groups.
    min_cases : float
        At least two branches of every test have so many.
    confidence : float
        Of the errors that leaves are expected to make.
    local_pruning : bool
        Whether subtrees become leaves or give their place to a branch; if not, the tree stays as it was grown.
    global_pruning : bool
        Whether weak links of the pruned tree collapse.
    regrows : bool
        Whether a branch in another place is grown anew.
    min_gain : (float, float) or None
        See ``growth.multiway.c50.least_gain``, which says it where this is None.
    leaves_a_case : float
        So many leaves, rounded, a node may have for a case; one that may not have two is a leaf, and no test has more
        branches.
    for_rules : bool
        Whether rules are made of the tree. One that answers itself is not pruned as a whole where there are costs.

    """

    subset: bool = True
    min_cases: float = 2.0
    confidence: float = 0.25
    local_pruning: bool = True
    global_pruning: bool = True
    regrows: bool = True
    min_gain: tuple[float, float] | None = None
    leaves_a_case: float = math.inf
    for_rules: bool = False

    def growth(self, n_cases: float, n_classes: int, dearer: NDArray[np.float64] | None) -> C50Growth:
        """Return what growth is asked for, over cases of so much weight, dearer by their costs (``dearer_by``)."""
        return C50Growth(
            subset=self.subset,
            min_cases=self.min_cases * (1.0 if dearer is None else float(dearer.min())),
            min_gain=least_gain(n_cases, n_classes) if self.min_gain is None else self.min_gain,
            n_cases=n_cases,
            leaves_a_case=self.leaves_a_case,
            class_cases=None if dearer is None else np.divide(1.0, dearer, out=np.zeros(2), where=dearer > 0.0),
        )

    def errors(self) -> Costs:
        """Return what leaves are expected to err."""
        z, high = normal_quantile(self.confidence, is_table=True)
        return Costs(math.log(self.confidence), z, high, SLACK, raises=True, adds=True)


@dataclass(frozen=True, eq=False)
class C50Rows:
    """Rows that any number of trees are fitted to: as codes for growth, as they are for the rest."""

    columns: C50Columns
    cells: Cells
    codes: NDArray[np.int64]  # class of each row

    @property
    def is_nominal(self) -> NDArray[np.bool_]:
        """Tell of each column whether its categories have no order."""
        return np.asarray(self.columns.columns.nominal == 1)

    @property
    def is_number(self) -> NDArray[np.bool_]:
        """Tell of each column whether it holds numbers, which are no categories in order."""
        return ~self.is_nominal & ~self.columns.is_ordered

    def without(self, features: NDArray[np.int64]) -> C50Rows:
        """Return the rows for trees that do not test some columns."""
        return C50Rows(self.columns.without(features), self.cells, self.codes)


def c50_rows(table: Table, labels: Labels, kept: NDArray[np.integer], workers: int) -> C50Rows:
    """Return a table for trees over no other rows than the kept ones, in ascending order."""
    columns = c50_columns(table, labels, kept.astype(np.uint32), workers)
    return C50Rows(columns, dense_cells(table), labels.codes[:, 0])


def fit_tree(
    rows: C50Rows, weight: NDArray[np.float64], options: C50Options, costs: NDArray[np.float64] | None = None
) -> Trees:
    """Return the tree for rows that count so many cases each; rows of weight 0 take no part.

    ``costs`` are those of calling a row of a class (row) another (column). Of two classes they weigh the cases while
    the tree is made, but for sharing out those that lack a value; the tree that stands counts cases as they are. Of
    more classes they choose labels alone.
    """
    columns, n_classes, dearer = rows.columns, rows.columns.n_classes, dearer_by(rows, weight, costs)
    exact = fixed_weights(weight if dearer is None else weight * dearer[rows.codes], columns.n_rows)
    own = np.ones(columns.n_rows) if exact.are_one else np.asarray(exact.integers * exact.unit, np.float64)
    growth = options.growth(exact.total, n_classes, dearer)
    grower, counted = C50Grower(columns, growth, len(exact.kept)), own if dearer is None else weight
    grain, least = unit_of(own)

    def regrow(lists: Any) -> Trees:
        if dearer is not None:
            weighed = ((rows_of, parts * dearer[rows.codes[rows_of]]) for rows_of, parts in lists)
            weighed = ((rows_of[parts > 0.0], parts[parts > 0.0]) for rows_of, parts in weighed)
            lists = [(rows_of, np.maximum((parts + grain) - grain, least)) for rows_of, parts in weighed]
        return collapsed_below(grower.below(lists))

    is_whole = len(exact.kept) == columns.n_rows
    trees = collapsed(grower.tree(exact.kept, own if is_whole else own[exact.kept]), "release8")
    if options.local_pruning:
        given = rows.cells, rows.codes, counted, rows.is_number, options.errors(), growth.min_cases
        trees = pruned_with_regrowth(trees, *given, regrow if options.regrows else None, dearer)
        if options.global_pruning and (costs is None or options.for_rules):
            trees = pruned_globally(trees)
        trees = with_leaves_joined(trees, rows.is_nominal, keeps_empty=not options.subset)
    return trees if dearer is None else counted_by(rows, trees, weight, None)


def counted_by(rows: C50Rows, trees: Trees, weight: NDArray[np.float64], dearer: NDArray[np.float64] | None) -> Trees:
    """Return a tree with the weights of rows that count so much, and weigh more by ``dearer``."""
    given = rows.cells, rows.codes, weight, rows.is_number, _KEPT_WHOLE, 0.0
    return pruned_with_regrowth(trees, *given, None, dearer)


def rehearse(table: Table, labels: Labels) -> None:
    """Ask for the kernels that prune a tree of such rows."""
    leaf = Trees.of_leaves(1, int(labels.sizes[0]), BY_SHARE)
    given = dense_cells(table), labels.codes[:, 0], np.ones(table.n_rows), np.ones(table.n_features, bool)
    leaf = pruned_with_regrowth(leaf._replace(weight=np.ones(1)), *given, _KEPT_WHOLE, 0.0, None)
    pruned_globally(leaf)


def dearer_by(
    rows: C50Rows, weight: NDArray[np.float64], costs: NDArray[np.float64] | None
) -> NDArray[np.float64] | None:
    """Return by what costs multiply the cases of each of two classes, weighing as much in all as before; or None."""
    if costs is None or rows.columns.n_classes != 2:
        return None
    cases = np.bincount(rows.codes, weight, 2).astype(np.float64)
    each = np.array([costs[0, 1], costs[1, 0]])
    return np.asarray(each / (cases @ each) * cases.sum())


def c50_mixtures(table: Table, trees: Trees, workers: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the shares of the classes in the leaves that every row comes to, mixed, and its probabilities."""
    said = said_by_leaves(table, trees, workers)
    return said[:, :-1], np.asarray(with_prior(said, trees.value[0]))


def c50_shares(table: Table, trees: Trees, workers: int) -> NDArray[np.float64]:
    """Return the probability of each class for every row.

    A row lies in the leaves that it comes to, in parts; one case more, of the shares that the classes have in all, is
    added to the cases of these leaves.
    """
    return np.asarray(probabilities_of(table, trees, workers))
