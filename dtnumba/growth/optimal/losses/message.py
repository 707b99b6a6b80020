# mypy: ignore-errors
# ruff: noqa: D102
"""The bits of a tree and of the labels for one who knows it (Quinlan & Rivest 1989): the code of the pruner ``mdl``.

A leaf says that it is one, its class, and which rows are exceptions. A test says that it is one, its column among those
that are not spent, and its cut among those that the column offers; a column of one cut is spent by its test. A category
takes a bit for each level, at most one a row.

Bits are whole numbers of a small part of one, added up from those of whole numbers: so no set of rows takes fewer bits
than a part of it.
"""

import math
from typing import NamedTuple

import numpy as np

from dtnumba.growth.optimal.losses.lane_by_lane import along_counts, leaf_by_tables
from dtnumba.runtime.kernels import kernel_type, outlined

_LOG2_E = 1.0 / math.log(2.0)


@kernel_type
class MessageLength(NamedTuple):
    """Bits of a leaf, and of tests; the sums are weights of classes, and the number of rows."""

    unit: float  # of one loss, in bits
    weight: float  # of one unit of the sums
    of_size: np.ndarray  # of two classes: bits of a leaf of so much weight, without exceptions; empty for any others
    of_class: np.ndarray  # log2(x!) of whole numbers in units; empty where weights are none
    n_classes: int
    price: np.ndarray  # (spent, columns) int64: of a test; that of a category lacks its levels
    levels: np.ndarray  # (columns,) int64: how many levels a category has; 0 for numbers
    is_single: np.ndarray  # (columns,) int64: 1 where the only cut of a number is spent

    def leaf(self, sums):
        return _bits(self, sums)

    def spread(self, sums):
        return float(_bits(self, sums))

    def test_price(self, rule, column, spent, sums):
        found = self.price[spent, column]
        if self.levels[column] > 0:
            n_rows = sums[len(sums) - 1]
            found += np.int64(round(min(self.levels[column], n_rows) / self.unit))
        return found

    def spends(self, column):
        return self.is_single[column]

    def along_column(self, rows, level, side, g, rule, least, lanes, n_lanes):
        along_counts(self, rows, level, side, g, rule, least, lanes, n_lanes)


@outlined
def _bits(loss, sums):
    """Return the bits of a leaf: the commonest class first, then those of its exceptions, and so on."""
    if len(loss.of_size) > 0:
        return leaf_by_tables(loss, sums)
    found, n = 1.0, 0.0
    ways = np.int64(0)
    for k in range(loss.n_classes):
        n += sums[k] * loss.weight
        if len(loss.of_class) > 0:
            ways -= loss.of_class[sums[k]]
        else:
            found -= math.lgamma(sums[k] * loss.weight + 1.0) * _LOG2_E
    # The ways to place all exceptions, class after class, are those to place all labels.
    if len(loss.of_class) > 0:
        ways += loss.of_class[np.int64(n)]
    else:
        found += math.lgamma(n + 1.0) * _LOG2_E
    bound, at = np.int64(1) << np.int64(62), -1
    for left in range(loss.n_classes, 1, -1):
        largest, next_at = np.int64(-1), -1
        for k in range(loss.n_classes):
            is_below = sums[k] < bound or (sums[k] == bound and k > at)
            if is_below and sums[k] > largest:
                largest, next_at = sums[k], k
        others = max(n - largest * loss.weight, 0.0)
        if others <= 1e-12 * n:
            others = 0.0
        most = max(float(math.floor((n + 1.0) * (left - 1.0) / left)), others)
        found += math.log2(left) + math.log2(most + 1.0)
        n, bound, at = others, largest, next_at
        if n == 0.0:
            break
    return ways + np.int64(math.floor(found / loss.unit))
