"""The rows of a fit as graphs read them: codes by column, and the bits that labels take in a leaf."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.criteria.special_functions import LOG2_E, log_gamma

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.weights import Weights

_MOST_IN_TABLE = 1 << 24


class LeafCode(NamedTuple):
    """Bits of the labels in a leaf, each by the shares of those before (``message_length.dirichlet_bits``)."""

    alpha: float
    unit: float  # of the weights, which are whole numbers of it
    of_class: NDArray[np.float64]  # log-gamma(i + alpha), from 0; empty where weights are no whole numbers
    of_all: NDArray[np.float64]  # log-gamma(i + classes * alpha), from 0
    n_classes: int

    @classmethod
    def of(cls, alpha: float, unit: float, total: int, n_classes: int) -> LeafCode:
        """Return the code for weights that sum to ``total`` units."""
        if unit != 1.0 or total > _MOST_IN_TABLE:
            return cls(alpha, unit, np.zeros(0), np.zeros(0), n_classes)
        steps = np.arange(total, dtype=np.float64)
        tables = []
        for first in (alpha, n_classes * alpha):
            logs = np.concatenate([[0.0], np.cumsum(np.log(steps + first))])
            tables.append(logs * LOG2_E)
        return cls(alpha, unit, tables[0], tables[1], n_classes)

    def bits(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the bits for rows of counts (..., classes)."""
        total = counts.sum(axis=-1)
        if len(self.of_class):
            return np.asarray(self.of_all[total] - self.of_class[counts].sum(axis=-1))
        k = self.n_classes * self.alpha
        nats = log_gamma(total * self.unit + k) - math.lgamma(k)
        own = log_gamma(counts * self.unit + self.alpha) - math.lgamma(self.alpha)
        return np.asarray((nats - own.sum(axis=-1)) * LOG2_E)


class GraphRows(NamedTuple):
    """Rows of positive weight: in each column the rank of a value, or the number of a level; -1 of a missing one."""

    codes: list[NDArray[np.int32]]
    values: list[NDArray[np.float64] | None]  # of each rank; None of categories
    n_levels: list[int]  # of categories; 0 of numbers
    cuts: NDArray[np.float64]  # different values of each column, less one
    labels: NDArray[np.int64]
    weight: NDArray[np.int64]
    code: LeafCode

    @property
    def n_rows(self) -> int:
        """Rows of positive weight."""
        return len(self.labels)

    @property
    def n_features(self) -> int:
        """Columns."""
        return len(self.codes)

    @property
    def n_classes(self) -> int:
        """Classes."""
        return self.code.n_classes

    def counts(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weight of each class among rows."""
        found = np.bincount(self.labels[rows], weights=self.weight[rows], minlength=self.n_classes)
        return found.astype(np.int64)


def sample_of(table: Any, labels: NDArray[np.int64], weights: Weights, n_classes: int, alpha: float) -> GraphRows:
    """Return the rows of positive weight of a table."""
    kept = np.flatnonzero(weights.integers)
    codes, values, n_levels, cuts = [], [], [], np.zeros(table.n_features)
    for j in range(table.n_features):
        column = table.column(j)[kept]
        is_missing = np.isnan(column)
        if table.n_levels(j):
            own = np.where(is_missing, -1, column).astype(np.int32)
            found, levels, n_values = None, table.n_levels(j), len(np.unique(own[~is_missing]))
        else:
            found, rank = np.unique(column[~is_missing] + 0.0, return_inverse=True)
            own, levels, n_values = np.full(len(kept), -1, np.int32), 0, len(found)
            own[~is_missing] = rank
        codes.append(own)
        values.append(found)
        n_levels.append(levels)
        cuts[j] = max(n_values - 1, 0)
    integers = np.asarray(weights.integers[kept], np.int64)
    code = LeafCode.of(alpha, float(weights.unit), int(integers.sum()), n_classes)
    return GraphRows(codes, values, n_levels, cuts, np.asarray(labels[kept], np.int64), integers, code)
