# mypy: ignore-errors
# ruff: noqa: D102
"""One random threshold a feature over ranks, for the trees of forests: as ``random_exact``, 32 columns at a time.

A rank is a code of two or four bytes, and the passes over the rows are those of ``random_histogram``. What takes time
beside them is to find the rank of a threshold drawn among up to all values of its column. So cells of equal width lie
over the values of a column, and of all its ranks only those of the threshold's cell are searched.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import NO_GAIN
from dtnumba.growth.splitters.random_exact import try_one
from dtnumba.growth.splitters.random_histogram import OneCutAFeature, with_spare
from dtnumba.growth.targets.contract import split_gain, split_score
from dtnumba.runtime.instructions.bits import prefetch
from dtnumba.runtime.instructions.column_blocks import at_most_among_first
from dtnumba.runtime.kernels import inline, kernel_type

# Values a cell: a search takes two steps or three, and cells take a byte a value.
VALUES_A_CELL = 4
_VALUES_AT_ONCE = 1 << 16  # while cells are made, so that they stay in cache
_ZERO, _ONE, _SIXTEEN = np.uint64(0), np.uint64(1), np.uint64(16)


@inline
def _cell_of(cells, f, value):
    """Return the cell of a value; infinite ones lie in the first or the last."""
    inside = min(cells.high[f], max(cells.low[f], value))
    return cells.first[f] + np.uint64(np.int64((inside - cells.low[f]) * cells.scale[f]))


@kernel_type
class RankCells(NamedTuple):
    """Where a value lies among the values of its column."""

    low: np.ndarray  # (p,) float64: where cells start
    high: np.ndarray  # (p,) where they end
    scale: np.ndarray  # (p,) cells per unit
    first: np.ndarray  # (p,) uint64: a column's first cell
    below: np.ndarray  # uint32: values below a cell, and at the end of a column all of them


class ExactMerit:
    """Candidates compared as ``random_exact`` does."""

    __slots__ = ()

    def score_alone(self, job, scratch, node, i, total):
        feature = scratch.features[i]
        found = try_one(job.target, self, job, scratch, node, feature, total)
        return found, scratch.candidates.gain[feature]

    def merit(self, job, left, right, work):
        """Return the gain, by which exact splits are compared."""
        gain = split_gain(job.target, job.criterion, left, right, work)
        return gain if split_score(job.target, job.criterion, left, right, work) > NO_GAIN else NO_GAIN


class _RandomRanksFields(NamedTuple):
    codes: np.ndarray  # (n, p) uint8, uint16 or uint32, and SPARE more behind
    n_codes: np.ndarray  # (p,) int64
    n_sums: int
    width: int
    counted: bool
    low: np.ndarray  # value of each rank, the features end to end, and sixteen more
    high: np.ndarray  # the same
    first_code: np.ndarray  # (p + 1,) int64
    cells: RankCells
    rows: np.ndarray
    n_rows: int
    n_orders: int


@kernel_type
class RandomRanks(ExactMerit, OneCutAFeature, _RandomRanksFields):
    """Ranks."""

    __slots__ = ()

    def twice(self, codes, ends):
        # The copies have the values of their columns.
        first_code = np.concatenate([self.first_code[:-1], self.first_code])
        cells = self.cells._replace(**{name: np.tile(getattr(self.cells, name), 2) for name in RankCells._fields[:-1]})
        changed = {"n_codes": np.tile(self.n_codes, 2), "first_code": first_code, "cells": cells}
        return self._replace(codes=with_spare(codes), **changed)

    def ask_for_codes(self, own, m):
        # Found one after the other, each would be waited for three times: that took a third of the time of a forest.
        for k in range(m):
            prefetch(self.cells.below, _cell_of(self.cells, own.columns[k], own.values[k]), _ZERO)
        for k in range(m):
            f = own.columns[k]
            at = np.uint64(self.first_code[f]) + self.cells.below[_cell_of(self.cells, f, own.values[k])]
            prefetch(self.high, at, _ZERO)
            prefetch(self.high, at + _SIXTEEN - _ONE, _ZERO)

    def code_below(self, feature, threshold, smallest, largest):
        """Return the last code of smallest .. largest - 1 whose value lies at or below the threshold, or smallest."""
        cells, f = self.cells, np.uint64(feature)
        first, cell = np.uint64(self.first_code[f]), _cell_of(cells, f, threshold)
        at, n = first + np.uint64(cells.below[cell]), np.uint64(cells.below[cell + _ONE] - cells.below[cell])
        while n > _SIXTEEN:
            half = n >> _ONE
            at += half if self.high[at + half] <= threshold else _ZERO
            n -= half
        # A search by halves guesses wrong half of the time, and each time costs more.
        at += at_most_among_first(self.high, at, n, threshold) - first
        return min(max(np.int64(at) - 1, smallest), largest - 1)


def random_ranks(codes, bins, rows, n_orders, width, counted, n_sums):
    """Return the splitter of a table's ranks, which it copies: passes read a little beyond the last row."""
    # Cuts are drawn of columns without values, too, and sixteen values are looked at at once.
    values = np.concatenate([bins.high, np.zeros(16, bins.high.dtype)])
    cells = rank_cells(values, bins.n_codes, bins.first_code)
    first_code = bins.first_code
    return RandomRanks(
        with_spare(codes), bins.n_codes, n_sums, width, counted, values, values, first_code, cells, rows, 0, n_orders
    )


def rank_cells(values, n_codes, first_code):
    """Return the cells of columns whose values stand in ascending order, end to end."""
    n_cells = n_codes // VALUES_A_CELL + 1
    first = np.concatenate([[0], np.cumsum(n_cells + 1)])
    low, high, scale = _extents(values, n_codes, first_code, n_cells)
    below, start = np.empty(first[-1], np.uint32), 0
    while start < len(n_codes):
        stop = max(start + 1, int(np.searchsorted(first_code, first_code[start] + _VALUES_AT_ONCE, "right")) - 1)
        own, count = slice(start, stop), n_codes[start:stop]
        low_of, high_of, scale_of, to = (
            np.repeat(part[own], count) for part in (low, high, scale, first[:-1] - first[start])
        )
        inside = np.clip(values[first_code[start] : first_code[stop]], low_of, high_of)
        cell = ((inside - low_of) * scale_of).astype(np.int64) + to
        there = np.bincount(cell, minlength=first[stop] - first[start])
        earlier = np.repeat(first_code[own] - first_code[start], n_cells[own] + 1)
        below[first[start] : first[stop]] = np.cumsum(there) - there - earlier
        start = stop
    return RankCells(low, high, scale, first[:-1].astype(np.uint64), below)


def _extents(values, n_codes, first_code, n_cells):
    """Return the smallest and largest finite value of each column, and how many cells a unit has there."""
    least, last = first_code[:-1], first_code[1:] - 1
    least = least + ((n_codes > 0) & (values[least] == -np.inf))
    last = last - ((n_codes > 0) & (values[last] == np.inf))
    is_used = least < last
    low, high = np.where(is_used, values[least], 0.0), np.where(is_used, values[last], 0.0)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scale = (n_cells - 1) / (high - low)
    return low, high, np.where(np.isfinite(scale), scale, 0.0)
