# mypy: ignore-errors
# ruff: noqa: D102
"""The sums that are tried together at a node: their terms, and the columns that these are of.

Where the values of the columns stand is told by a source: ``cell_at(source, k, i)`` is the value of the k-th column in
use in the i-th row of the node.
"""

import math
from typing import NamedTuple

import numpy as np

from dtnumba.growth.oblique.node_columns import LEAST_SPREAD, UNIT_RANGE, UNIT_SPREAD, rounded
from dtnumba.growth.oblique.projection import LEAST_WEIGHT
from dtnumba.growth.oblique.searches.sparse_sums import MOST_DRAWN, draw_terms
from dtnumba.growth.splitters.histogram import HistogramScratch
from dtnumba.growth.targets.leaf_values import row_at
from dtnumba.runtime import rng
from dtnumba.runtime.kernels import by_type, inline, kernel_type, outlined
from dtnumba.runtime.memory import per_worker

IN_HAND = 8  # sums that are tried together: their codes are a word a row
LANES = 16  # sums are added up for so many rows at once
# Values of a node that are copied side by side; of more rows, each value is read where it stands.
COPIED_BYTES = 1 << 23
UNITS = 1.5 * 2.0**52  # in one, by the number that rounds to a grid

cell_at = by_type("cell_at")


@kernel_type
class SumsInHand(NamedTuple):
    """Scratch of one worker."""

    n_terms: np.ndarray  # (IN_HAND,) int64: of each sum; 0 where it has less than two
    slot: np.ndarray  # (IN_HAND, MOST_DRAWN) int64: of each term, which of the columns in use
    weight: np.ndarray  # (IN_HAND, MOST_DRAWN) float64
    share: np.ndarray  # (IN_HAND, MOST_DRAWN) float64: of the term in the sum
    low: np.ndarray  # (IN_HAND,) float64: least sum of the node's rows
    step: np.ndarray  # (IN_HAND,) float64: bins a unit of the sum; 0 where it has none
    place: np.ndarray  # (p,) int64: which of the columns in use a feature is; -1 between uses
    used: np.ndarray  # (c,) int64: the columns in use
    least: np.ndarray  # (c,) float64: their least values at the node
    scale: np.ndarray  # (c,) float64: one by their ranges; 0 where these are none
    unit: np.ndarray  # (c,) float64: what weights are in units of
    known: np.ndarray  # (c,) int64: rows with a value
    stand_in: np.ndarray  # (c,) float64: what a missing value counts as
    values: np.ndarray  # of the columns in use, side by side
    bytes: np.ndarray  # (IN_HAND * (n + LANES),) uint8: codes, sum by sum
    codes: np.ndarray  # (n_table_rows, IN_HAND) uint8: codes, row by row
    words: np.ndarray  # the same memory as uint64
    bases: np.ndarray  # (LANES,) uint64: where rows begin
    order: np.ndarray  # (IN_HAND,) int64: the numbers of the sums
    tables: HistogramScratch


def new_sums_in_hand(splitter, bins, n, workers):
    """Return room for nodes of at most n rows, for each worker."""
    p, item = splitter.n_features, splitter.cells.flat.dtype.itemsize
    c, two = min(p, IN_HAND * MOST_DRAWN), (IN_HAND, MOST_DRAWN)
    words = per_worker(workers, splitter.n_table_rows, np.uint64)
    order = per_worker(workers, IN_HAND, np.int64)
    order[:] = np.arange(IN_HAND)
    return SumsInHand(
        per_worker(workers, IN_HAND, np.int64),
        per_worker(workers, two, np.int64),
        per_worker(workers, two),
        per_worker(workers, two),
        per_worker(workers, IN_HAND),
        per_worker(workers, IN_HAND),
        per_worker(workers, p, np.int64, -1),
        per_worker(workers, c, np.int64),
        per_worker(workers, c),
        per_worker(workers, c),
        per_worker(workers, c),
        per_worker(workers, c, np.int64),
        per_worker(workers, c),
        per_worker(workers, min(COPIED_BYTES // item, c * (n + 2 * LANES)), splitter.cells.flat.dtype),
        per_worker(workers, IN_HAND * (n + LANES), np.uint8),
        words.view(np.uint8).reshape(*words.shape, IN_HAND),
        words,
        per_worker(workers, LANES, np.uint64),
        order,
        bins.new_scratch(1, workers),
    )


@kernel_type
class NodeCells(NamedTuple):
    """The cells of a node's rows: side by side, or, where ``stride`` is 0, in the table."""

    splitter: object
    values: np.ndarray
    used: np.ndarray
    start: int
    stride: int

    def cell_at(self, k, i):
        if self.stride > 0:
            return float(self.values[np.uint64(k * self.stride + i)])
        cells, row = self.splitter.cells, np.int64(row_at(self.splitter, self.start + i))
        return float(cells.flat[cells.offset + row * cells.row_step + self.used[k] * cells.column_step])

    def total_of(self, here, k, n, grid, units):
        if self.stride == 0 or here.known[k] < n:
            return _total_one_by_one(self, here, k, n, grid, units)
        least, scale, first, total = here.least[k], here.scale[k], np.uint64(k * self.stride), np.int64(0)
        for i in range(np.uint64(n)):
            share = (float(self.values[first + i]) - least) * scale
            total += np.int64(np.int32(((share + grid) - grid) * units))
        return total


@inline
def draw_together(here, numbers, stream, first, m, most):
    """Draw the terms of sums first .. first + m - 1 of a node from columns; return how many columns are in use."""
    n_used = np.int64(0)
    for q in range(m):
        here.n_terms[q] = draw_terms(rng.mix(stream, first + q), len(numbers), most, here.slot[q], here.weight[q])
        for t in range(here.n_terms[q]):
            f = numbers[here.slot[q, t]]
            if here.place[f] < 0:
                here.place[f], here.used[n_used] = n_used, f
                n_used += 1
            here.slot[q, t] = here.place[f]
    for k in range(n_used):
        here.place[here.used[k]] = -1
    return n_used


@inline
def note_ranges(source, here, n_used, n):
    """Write the least value of each column in use, in place of its scale the largest one, and how many are known."""
    for k in range(n_used):
        least, largest, n_known = np.inf, -np.inf, 0
        for i in range(n):
            x = cell_at(source, k, i)
            n_known += x == x
            least, largest = min(least, x), max(largest, x)
        here.least[k], here.scale[k], here.known[k] = least, largest, n_known


@inline
def settle_weights(scaling, source, here, n_used, n, m, grid):
    """Turn the weights of m sums into the units of the columns, whose ranges are noted, and say what stands in."""
    for k in range(n_used):
        span = here.scale[k] - here.least[k]
        scale = 1.0 / span if span > 0.0 else 0.0
        here.scale[k] = scale if math.isfinite(span) and math.isfinite(scale) else 0.0
        if here.known[k] < n and here.scale[k] > 0.0:
            note_mean(source, here, k, n, grid)
        here.unit[k] = here.scale[k]
        if scaling != UNIT_RANGE and here.scale[k] > 0.0:
            here.unit[k] = here.scale[k] / _spread_of(source, here, k, n, grid) if scaling == UNIT_SPREAD else 1.0
    for q in range(m):
        largest, total, n_terms = 0.0, 0.0, np.int64(0)
        for t in range(here.n_terms[q]):
            if here.scale[here.slot[q, t]] > 0.0:
                largest = max(largest, abs(here.weight[q, t]))
        for t in range(here.n_terms[q] if largest > 0.0 else 0):
            k = here.slot[q, t]
            share = here.weight[q, t] / largest
            weight = share * here.unit[k]
            if here.scale[k] > 0.0 and abs(share) >= LEAST_WEIGHT and abs(weight) > 0.0:
                here.slot[q, n_terms], here.weight[q, n_terms], here.share[q, n_terms] = k, weight, abs(share)
                total += abs(share)
                n_terms += 1
        for t in range(n_terms):
            here.share[q, t] /= total
        here.n_terms[q] = n_terms if n_terms > 1 else 0


@outlined
def note_mean(source, here, k, n, grid):
    """Write what stands in for a missing value of a column: the mean at the node, which no order of rows changes."""
    units = UNITS / grid
    total = float(total_of(source, here, k, n, grid, units)) / units
    here.stand_in[k] = here.least[k] + rounded(total / here.known[k], grid) / here.scale[k]


@inline
def _total_one_by_one(source, here, k, n, grid, units):
    total = np.int64(0)
    for i in range(n):
        x = cell_at(source, k, i)
        if x == x:
            total += np.int64(rounded((x - here.least[k]) * here.scale[k], grid) * units)
    return total


# The values of a column in use, in units of its range, rounded to a grid and added up as whole numbers.
total_of = by_type("total_of", _total_one_by_one)


@inline
def _spread_of(source, here, k, n, grid):
    """Return the standard deviation of a column in units of its range, or the least one that counts."""
    total, squares, n_known = 0.0, 0.0, 0
    for i in range(n):
        x = cell_at(source, k, i)
        if x == x:
            x = rounded((x - here.least[k]) * here.scale[k], grid)
            total, squares, n_known = total + x, squares + x * x, n_known + 1
    mean = total / n_known
    return max(math.sqrt(max(squares / n_known - mean * mean, 0.0)), LEAST_SPREAD)


@inline
def sum_in_hand(source, here, q, i):
    """Return a sum of the i-th row of a node, as prediction adds it up."""
    total, n_known = 0.0, 0
    for t in range(here.n_terms[q]):
        x = cell_at(source, here.slot[q, t], i)
        is_known = x == x
        n_known += is_known
        total += here.weight[q, t] * (x if is_known else here.stand_in[here.slot[q, t]])
    return total if n_known > 0 else np.nan


@inline
def keep_sum(source, here, terms, q, n, most, grid):
    """Write the terms of a sum into a node's row: how many, then columns, weights, what stands in, and shares."""
    terms[0] = here.n_terms[q]
    for t in range(here.n_terms[q]):
        k = here.slot[q, t]
        if here.known[k] == n:  # nobody has asked yet
            note_mean(source, here, k, n, grid)
        terms[1 + t], terms[1 + most + t] = here.used[k], here.weight[q, t]
        terms[1 + 2 * most + t], terms[1 + 3 * most + t] = here.stand_in[k], here.share[q, t]
