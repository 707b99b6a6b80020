# mypy: ignore-errors
"""Tests of several columns at once: the weights of every node that compares a sum with its threshold.

Such a node tests, in place of a value, the sum of weight * value over its terms, added up in their order from zero.
A missing value counts as the term's ``stand_in``. Where all of them are missing, or the sum is no number, the row goes
where a missing value goes.
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
    """The terms of the nodes that have any, those of a node side by side, by ascending columns."""

    start: np.ndarray  # (m + 1,) int64
    column: np.ndarray  # (s,) int32
    weight: np.ndarray  # (s,) float64
    stand_in: np.ndarray  # (s,) float64: what a missing value counts as
    share: np.ndarray  # (s,) float64: of the column in the test, for importances; those of a node sum to one


AXIS_TESTS = AxisTests()
BY_TERM = ("column", "weight", "stand_in", "share")


def _count_up(lengths):
    return np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def n_terms_of(linear, m):
    """Return how many terms each of m nodes has."""
    return np.diff(linear.start) if isinstance(linear, LinearTests) else np.zeros(m, np.int64)


def linear_tests(lengths, column, weight, stand_in, share):
    """Return the tests of nodes of which each has so many terms; AXIS_TESTS where none has any."""
    if not len(column):
        return AXIS_TESTS
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return LinearTests(start, column.astype(np.int32, copy=False), weight, stand_in, share)


def picked(linear, nodes, is_leaf=None):
    """Return the tests of some nodes, in this order; those that become leaves have none."""
    if not isinstance(linear, LinearTests):
        return AXIS_TESTS
    lengths = np.diff(linear.start)[nodes]
    if is_leaf is not None:
        lengths = np.where(is_leaf, 0, lengths)
    at = np.repeat(linear.start[:-1][nodes], lengths) + _count_up(lengths)
    return linear_tests(lengths, *(getattr(linear, name)[at] for name in BY_TERM))


def joined_tests(tests, sizes):
    """Return the tests of several Trees of these sizes, end to end."""
    given = [one for one in tests if isinstance(one, LinearTests)]
    if not given:
        return AXIS_TESTS
    lengths = np.concatenate([n_terms_of(one, m) for one, m in zip(tests, sizes, strict=True)])
    return linear_tests(lengths, *(np.concatenate([getattr(one, name) for one in given]) for name in BY_TERM))


@inline
def sum_of_terms(linear, first, last, cells, at):
    """Return the sum that terms [first, last) make of a row that begins at ``at``; NaN where all values are missing."""
    total, n_known = 0.0, 0
    for k in range(first, last):
        x = float(cells.flat[at + np.int64(linear.column[k]) * cells.column_step])
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
        for column, weight, stand_in in zip(
            linear.column[own].tolist(), linear.weight[own].tolist(), linear.stand_in[own].tolist(), strict=True
        ):
            x = rows[:, column].astype(np.float64)
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
        """Return the weight of every column in the test of a node."""
        if not -len(self) <= node < len(self):
            raise IndexError(f"there is no node {node}: there are {len(self)}")
        row, node, linear = np.zeros(self.shape[1]), node % len(self), self._trees.linear
        own = slice(*linear.start[node : node + 2].tolist()) if isinstance(linear, LinearTests) else slice(0)
        if own.start is not None and own.start < own.stop:
            row[linear.column[own]] = linear.weight[own]
        elif self._trees.feature[node] >= 0:
            row[self._trees.feature[node]] = 1.0
        return row

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the table of all nodes."""
        return np.stack([self[node] for node in range(len(self))]).astype(dtype or np.float64)
