"""Reports of a fit of CHAID: the test of every predictor at the root, and which nodes a pruned tree has kept."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.chaid.chi_squared_and_f import BETWEEN, F_TEST, LOG_P, STATISTIC, WITHIN
from dtnumba.trees.layout import LEAF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.chaid.grow import GrownChaid
    from dtnumba.growth.chaid.merge_categories import MergeRules
    from dtnumba.growth.chaid.outcome import ChaidOutcome
    from dtnumba.growth.chaid.predictors import Predictors
    from dtnumba.tables.table import Table
    from dtnumba.trees.layout import Trees


class PredictorTest(NamedTuple):
    """The test of one predictor at the root."""

    feature: int  # number of the column
    name: str | None  # its name, where it has one
    groups: list[list[Any]]  # categories that stay together: values, (least, largest) of bins, None of missing values
    table: NDArray[np.float64]  # (groups, classes) weights, or (groups, 3) of numbers: weight, mean, variance
    statistic: float
    df: float
    df_within: float  # 0 of classes
    p_value: float
    adjusted_p_value: float
    n_categories: int


def root_tests(
    table: Table,
    predictors: Predictors,
    grown: GrownChaid,
    outcome: ChaidOutcome,
    rules: MergeRules,
    power: int = 0,
) -> list[PredictorTest]:
    """Return the tests of all predictors at the root; those without a split have no groups.

    Parameters
    ----------
    table : Table
        Features.
    predictors : Predictors
        The predictors as codes, with the values of each code.
    grown : GrownChaid
        The tree.
    outcome : ChaidOutcome
        The target.
    rules : MergeRules
        Of the fit.
    power : int
        The power of two in whose unit the outcome's numbers are.

    """
    found = grown.root
    if not found.n_categories.any():
        return []
    tests = []
    for f in range(table.n_features):
        name = None if table.names is None else str(table.names[f])
        n_groups, n_categories = int(found.n_groups[f]), int(found.n_categories[f])
        if n_groups == 0:
            nothing = np.zeros((0, 3 if rules.statistic == F_TEST else len(outcome.units)))
            tests.append(PredictorTest(f, name, [], nothing, math.nan, math.nan, math.nan, 1.0, 1.0, n_categories))
            continue
        child = found.child[found.first[f] : found.first[f + 1]]
        labels = [*_labels(table, predictors, f), None]
        groups = [[labels[code] for code in np.flatnonzero(child == g)] for g in range(n_groups)]
        own, row_child = found.finding[f], child[predictors.codes[f]]
        own_table = _table_of(row_child, n_groups, outcome, rules)
        tests.append(
            PredictorTest(
                feature=f,
                name=name,
                groups=groups,
                table=np.ldexp(own_table, [0, power, 2 * power]) if power else own_table,
                statistic=float(own[STATISTIC]),
                df=float(own[BETWEEN]),
                df_within=float(own[WITHIN]),
                p_value=math.exp(own[LOG_P]),
                adjusted_p_value=math.exp(found.adjusted[f]),
                n_categories=n_categories,
            )
        )
    return tests


def _labels(table: Table, predictors: Predictors, f: int) -> list[Any]:
    """Return the category, or the least and largest value, of each code of a predictor."""
    low, high = predictors.low[f].tolist(), predictors.high[f].tolist()
    levels = None if table.levels is None else table.levels[f]
    if levels is not None:
        values = levels.tolist()
        return [values[int(level)] for level in low]
    return [a if a == b else (a, b) for a, b in zip(low, high, strict=True)]


def _table_of(child: NDArray[Any], n_groups: int, outcome: ChaidOutcome, rules: MergeRules) -> NDArray[np.float64]:
    """Return the table of the groups."""
    weight, k = outcome.weight * outcome.units[0], len(outcome.units)
    if rules.statistic != F_TEST:
        cells = np.bincount(child.astype(np.int64) * k + outcome.label, weight, minlength=n_groups * k)
        return np.asarray(cells.reshape(n_groups, k))
    total = np.bincount(child, weight, minlength=n_groups)
    mean = np.bincount(child, weight * outcome.y, minlength=n_groups) / total
    variance = np.bincount(child, weight * (outcome.y - mean[child]) ** 2, minlength=n_groups) / total
    return np.stack([total, mean, variance], axis=1)


def same_nodes(before: Trees, after: Trees) -> NDArray[np.int64]:
    """Return which node of a tree each node of a pruned one was; LEAF where another branch took its parent's place."""
    same = np.full(after.n_nodes, LEAF, np.int64)
    waiting = [(0, 0)]
    while waiting:
        old, new = waiting.pop()
        same[new] = old
        if after.feature[new] == LEAF:
            continue
        fan = after.right[new] - after.left[new]
        if after.feature[new] == before.feature[old] and fan == before.right[old] - before.left[old]:
            waiting += [(int(before.left[old]) + k, int(after.left[new]) + k) for k in range(fan + 1)]
        else:
            same[new] = LEAF
    return same
