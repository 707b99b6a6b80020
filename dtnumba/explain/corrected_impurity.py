"""Importances without the favour that impurity does to columns of many values: a forest with permuted copies.

Beside every column stands a copy with the rows in another order, the same for all copies. A copy is split on as often
as a column with these values is by chance, and what is left after subtracting it is what the column is worth
(Nembrini, Koenig & Wright 2018). Trees of the forest that predicts are not touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.forest.arena import Ends
from dtnumba.growth.forest.grow import grow_forest
from dtnumba.runtime import rng
from dtnumba.trees.layout import decreases

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.growth.forest.grow import ForestPlan, GrowForest


def with_permuted_copies(plan: ForestPlan) -> ForestPlan:
    """Return the plan of a forest on twice as many columns; a node draws as many of them as before.

    Of equal splits the one drawn first wins: were it the first column, a column would win against its copy.
    """
    splitter, ends = plan.splitter, plan.ends
    if hasattr(splitter, "written_out"):
        splitter = splitter.written_out()
    numbers = getattr(splitter, "inner", splitter)  # inside a splitter of categories, too
    kept = np.sort(plan.orders[0])
    # The order of random numbers is a random order.
    draws = rng.mix_all(rng.stream(plan.settings.seed, rng.COPIES), np.arange(len(kept)))
    shuffled = kept[np.argsort(draws, kind="stable")]
    twice = Ends(
        np.tile(ends.low, 2),
        np.tile(ends.high, 2),
        np.concatenate([ends.first_code, ends.first_code[-1] + ends.first_code[1:]]),
        ends.drawn,
    )
    codes = _with_copies(numbers.codes, kept, shuffled)
    wide = numbers.twice(codes, twice)
    if numbers is not splitter:
        are_shared = splitter.codes is numbers.codes
        wide = splitter.twice(wide, codes if are_shared else _with_copies(splitter.codes, kept, shuffled))
    return plan._replace(splitter=wide, ends=twice, n_features=2 * plan.n_features, settings=plan.settings.doubled())


def _with_copies(codes: NDArray[Any], kept: NDArray[Any], shuffled: NDArray[Any]) -> NDArray[Any]:
    """Return the columns of codes, and behind them the same with the rows that are kept in another order."""
    p = codes.shape[1]
    wide = np.zeros((len(codes), 2 * p), codes.dtype)
    wide[:, :p] = codes
    wide[kept, p:] = codes[shuffled]
    return wide


def corrected_decreases(
    plan: ForestPlan, first: int, n_trees: int, run: Callable[[GrowForest, int], bool]
) -> NDArray[np.float64]:
    """Return the decrease of impurity by each column beyond its copy's, in trees first .. n_trees - 1 or a prefix."""
    p = plan.n_features
    trees = grow_forest(with_permuted_copies(plan), first, n_trees, run)
    if trees is None:
        return np.empty((0, p))
    table = decreases(trees, 2 * p)
    return np.asarray(table[:, :p] - table[:, p:])
