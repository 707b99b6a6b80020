# mypy: ignore-errors
# ruff: noqa: D102
"""Categories of a tree that follows its rows: the best subset at a node, from its sums by level.

Rows name levels by the numbers under which they were met, which stay, and are their codes in ``lists``, too: every code
holds one level, so that sums by code say all there is to know. Growth cuts levels in their own order, which levels that
arrive change: ``rank`` is the place of each number in that order.
"""

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.categories.choose import LevelCodes, with_categories
from dtnumba.growth.categories.node_categories import new_level_scratch
from dtnumba.growth.categories.splitter import ManyLevels
from dtnumba.growth.categories.subset_search import score_sums
from dtnumba.growth.incremental.lists import LEVELS_WITH_CODES, MISSING_CODE, N_CODES
from dtnumba.growth.targets.contract import around, load
from dtnumba.runtime.kernels import kernel_type

_WORD = np.uint64(6)
_BITS = np.uint64(63)
_ONE = np.uint64(1)
# More rows than any node has: levels are listed by their sums.
_NOT_AT_HAND = 1 << 40


@kernel_type
class SummedLevels(ManyLevels):
    """The splitter of categories at nodes that know the sums of each level."""

    __slots__ = ()

    def new_scratch(self, n, workers):
        most = np.full(len(self.n_levels), LEVELS_WITH_CODES)
        return new_level_scratch(self._replace(n_levels=most), N_CODES, workers)

    def n_at_hand(self, n):
        return np.int64(_NOT_AT_HAND)

    def is_category(self, column):
        return self.is_level[column] != 0

    def keeps_bounds(self, column):
        """Tell whether the best of all subsets is found, of which bounds hold, and not the best in some order."""
        return self.is_level[column] == 0 or self.most_tried == 0

    def score_level_sums(self, visit, node, column, n, table):
        """Write the best split of a column of categories among the candidates."""
        job, scratch = visit.job, visit.scratch
        own, target, m, j = scratch.own, job.target, table.shape[1] - 1, self.column[column]
        for b in range(N_CODES):
            if table[b, m] > 0:
                rank = self.n_levels[column] if b == MISSING_CODE else np.int64(visit.held.rank[j, b])
                for k in range(target.n_stats):
                    own.tables[rank * self.width + k] = table[b, k]
                if self.counted:
                    own.tables[rank * self.width + self.width - 1] = table[b, m]
        growing = job.growing.nodes
        growing[0, col.START], growing[0, col.STOP] = 0, n
        own.kept_of[0, 0] = -1
        total = around(target, load(target, visit.nodes.sums[node, : target.n_stats], scratch.work.total), scratch.work)
        score_sums(target, self, job, scratch, np.int64(0), column, own.tables, np.uint64(0), total)

    def note_left(self, visit, column):
        """Write which levels the best split of the column that was scored last sends left."""
        own, left, j = visit.scratch.own, visit.left, self.column[column]
        for k in range(len(left)):
            left[k] = np.uint64(0)
        for k in range(own.kept_of[0, 2] if own.kept_of[0, 0] == 0 else 0):
            level = np.uint64(visit.held.met[j, own.kept[k]])
            left[level >> _WORD] |= _ONE << (level & _BITS)


class TreeLevels:
    """What a followed tree knows of its categories.

    Parameters
    ----------
    ranks : list of array or None, by column
        Of a category, the place of each number met in the order of its levels.
    n_slots : int
        Rows that there is room for.
    target, criterion, settings, counted
        As ``with_categories`` takes them.

    """

    def __init__(self, ranks, n_slots, target, criterion, settings, counted):
        self.is_level = np.array([one is not None for one in ranks], np.uint8)
        self.columns = np.flatnonzero(self.is_level)
        self._ranks = [np.empty(0) for _ in self.columns]
        column = np.zeros(len(ranks), np.int64)
        column[self.columns] = np.arange(len(self.columns))
        n_levels, codes = np.zeros(len(ranks), np.int64), np.zeros((n_slots, len(self.columns)), np.uint32)
        self.codes = LevelCodes(self.is_level, n_levels, codes, column, are_shared=False)
        self._own = target, criterion, settings, counted

    def around(self, inner):
        """Return growth's splitter of categories around one of numbers."""
        target, criterion, settings, counted = self._own
        return with_categories(inner, self.codes, target, criterion, settings, counted=counted)

    def summed(self, inner):
        """Return the splitter of nodes that know the sums of each level."""
        return SummedLevels(*self.around(inner))

    def know(self, held, ranks, rows):
        """Know the order of the levels, and the levels of rows that came."""
        codes = self.codes
        for j, c in enumerate(self.columns):
            rank, some = ranks[c].astype(np.int64), rows
            if not np.array_equal(rank, self._ranks[j]):
                self._ranks[j], codes.n_levels[c] = rank, len(rank)
                held.rank[j, : len(rank)], held.met[j, rank] = rank, np.arange(len(rank))
                # Those of rows that are held no longer are nobody's, and may be numbers that nobody met.
                some = np.arange(len(codes.codes))
            values = held.values[some, c]
            there = ~np.isnan(values)
            codes.codes[some, j] = len(rank)
            met = np.clip(values[there], 0, len(rank) - 1).astype(np.int64)
            codes.codes[some[there], j] = rank[met]
