# mypy: ignore-errors
"""Tests of several columns at once: the weights of every node that compares a sum with its threshold.

Such a node tests, in place of a value, the sum of weight * value over its terms, added up in their order from zero.
A missing value counts as the term's ``stand_in``. Where all of them are missing, or the sum is no number, the row goes
where a missing value goes. The value of a term with a level is the indicator of this level: 1 where the category of its
column is that one, and else 0, a missing category's too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.runtime.kernels import by_class, inline

if TYPE_CHECKING:
    from numpy.typing import NDArray


class AxisTests(NamedTuple):
    """No node tests more than one column."""


class LinearTests(NamedTuple):
    """The terms of the nodes that have any, those of a node side by side.

    Columns of numbers come first, by ascending columns, then indicators, by columns and levels.
    """

    start: np.ndarray  # (m + 1,) int64
    column: np.ndarray  # (s,) int32
    weight: np.ndarray  # (s,) float64
    stand_in: np.ndarray  # (s,) float64: what a missing value counts as
    share: np.ndarray  # (s,) float64: of the column in the test, for importances; those of a node sum to one
    level: np.ndarray  # (s,) int32: whose indicator is meant, -1 of a number; empty where no term has a level

    def terms(self, names):
        """Return the terms by these names, as they stand; levels are -1 where no term has one."""
        level = np.full(len(self.column), -1, np.int32) if not len(self.level) else self.level
        return [level if name == "level" else getattr(self, name) for name in names]


AXIS_TESTS = AxisTests()
BY_TERM = ("column", "weight", "stand_in", "share")
NO_INDICATORS = np.zeros(0, np.int32)


def _count_up(lengths):
    return np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def n_terms_of(linear, m):
    """Return how many terms each of m nodes has."""
    return np.diff(linear.start) if isinstance(linear, LinearTests) else np.zeros(m, np.int64)


def has_indicators(linear):
    """Tell whether a sum has an indicator of a level among its terms."""
    return isinstance(linear, LinearTests) and len(linear.level) > 0


def tests_of_levels(linear):
    """Return the nodes of which the sum has an indicator of a level among its terms."""
    if not has_indicators(linear):
        return np.zeros(0, np.int64)
    return np.unique(np.repeat(np.arange(len(linear.start) - 1), np.diff(linear.start))[linear.level >= 0])


def linear_tests(lengths, column, weight, stand_in, share, level=NO_INDICATORS):
    """Return the tests of nodes of which each has so many terms; AXIS_TESTS where none has any."""
    if not len(column):
        return AXIS_TESTS
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    level = level.astype(np.int32, copy=False) if bool((level >= 0).any()) else NO_INDICATORS
    return LinearTests(start, column.astype(np.int32, copy=False), weight, stand_in, share, level)


def picked(linear, nodes, is_leaf=None):
    """Return the tests of some nodes, in this order; those that become leaves have none."""
    if not isinstance(linear, LinearTests):
        return AXIS_TESTS
    lengths = np.diff(linear.start)[nodes]
    if is_leaf is not None:
        lengths = np.where(is_leaf, 0, lengths)
    at = np.repeat(linear.start[:-1][nodes], lengths) + _count_up(lengths)
    return linear_tests(lengths, *(own[at] for own in linear.terms((*BY_TERM, "level"))))


def joined_tests(tests, sizes):
    """Return the tests of several Trees of these sizes, end to end."""
    given = [one for one in tests if isinstance(one, LinearTests)]
    if not given:
        return AXIS_TESTS
    lengths = np.concatenate([n_terms_of(one, m) for one, m in zip(tests, sizes, strict=True)])
    parts = [one.terms((*BY_TERM, "level")) for one in given]
    return linear_tests(lengths, *map(np.concatenate, zip(*parts, strict=True)))


@inline
def value_of_term(linear, k, x):
    """Return what term k makes of the value of its column: the value, or the indicator of a level."""
    if len(linear.level) > 0 and linear.level[k] >= 0:
        return 1.0 if x == float(linear.level[k]) else 0.0
    return x


@inline
def sum_of_terms(linear, first, last, cells, at):
    """Return the sum that terms [first, last) make of a row that begins at ``at``; NaN where all values are missing."""
    total, n_known = 0.0, 0
    for k in range(first, last):
        x = value_of_term(linear, k, float(cells.flat[at + np.int64(linear.column[k]) * cells.column_step]))
        is_known = x == x
        n_known += is_known
        total += float(linear.weight[k]) * (x if is_known else float(linear.stand_in[k]))
    return total if n_known > 0 else np.nan


@inline
def _value_or_sum(linear, feature, node, cells, at):
    first, last = linear.start[node], linear.start[node + 1]
    if first < last:
        return sum_of_terms(linear, first, last, cells, at)
    return np.float64(cells.flat[at + np.int64(feature) * cells.column_step])


@inline
def _value(linear, feature, node, cells, at):
    return np.float64(cells.flat[at + np.int64(feature) * cells.column_step])


# What a node tests of the row that begins at ``at``: the value of its feature, or a sum.
tested_value = by_class(lambda cls: cls is LinearTests, _value_or_sum, _value)


def sums_of(linear, node, rows):
    """Return the sums that a node tests of rows, an array (rows, columns), as kernels add them up."""
    own = slice(int(linear.start[node]), int(linear.start[node + 1]))
    total, n_known = np.zeros(len(rows)), np.zeros(len(rows), np.int64)
    with np.errstate(all="ignore"):
        parts = (one[own].tolist() for one in linear.terms(("column", "weight", "stand_in", "level")))
        for column, weight, stand_in, level in zip(*parts, strict=True):
            x = rows[:, column].astype(np.float64)
            x = np.where(x == level, 1.0, 0.0) if level >= 0 else x
            is_known = ~np.isnan(x)
            n_known += is_known
            total += weight * np.where(is_known, x, stand_in)
    return np.where(n_known > 0, total, np.nan)


class NodeWeights:
    """The weights of every node's test, a row a node, made when they are asked for.

    Parameters
    ----------
    trees : Trees
        Of one tree.
    n_features : int
        Columns of the table.

    """

    def __init__(self, trees: Any, n_features: int) -> None:
        self._trees, self.shape = trees, (trees.n_nodes, n_features)

    def __len__(self) -> int:
        """Return the number of nodes."""
        return self.shape[0]

    def __getitem__(self, node: int) -> NDArray[np.float64]:
        """Return the weight of every column in the test of a node; NaN of a category whose levels have weights."""
        if not -len(self) <= node < len(self):
            raise IndexError(f"there is no node {node}: there are {len(self)}")
        row, node, linear = np.zeros(self.shape[1]), node % len(self), self._trees.linear
        own = slice(*linear.start[node : node + 2].tolist()) if isinstance(linear, LinearTests) else slice(0)
        if own.start is not None and own.start < own.stop:
            column, weight, level = (one[own] for one in linear.terms(("column", "weight", "level")))
            row[column] = np.where(level < 0, weight, np.nan)
        elif self._trees.feature[node] >= 0:
            row[self._trees.feature[node]] = 1.0
        return row

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the table of all nodes."""
        return np.stack([self[node] for node in range(len(self))]).astype(dtype or np.float64)
