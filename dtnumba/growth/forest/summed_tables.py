# mypy: ignore-errors
# ruff: noqa: D102
"""Splits of nodes whose rows are elsewhere, from tables that were added up: those that splitters of rows find."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import chooses_by_more
from dtnumba.growth import columns as col
from dtnumba.growth.binary.crew import Alone
from dtnumba.growth.binary.grow_subtree import find_split
from dtnumba.growth.categories.splitter import DrawnCategorySplitter, left_levels, score_filled
from dtnumba.growth.nodes import Subtree
from dtnumba.growth.policies.feature_sampling import side_by_side
from dtnumba.growth.splitters.coded_rows import CodedRows, NothingKept
from dtnumba.growth.splitters.fill_tables import mark_occupied
from dtnumba.growth.splitters.histogram import HistogramScratch
from dtnumba.growth.splitters.random_exact import draw_cut
from dtnumba.growth.splitters.random_histogram import OneCutAFeature, RandomBins
from dtnumba.growth.splitters.scans.random_scan import score_at_once, try_one
from dtnumba.growth.splitters.scans.scan_bins import Tables, scan_bins
from dtnumba.growth.targets.contract import holds_rows, store, take, zero
from dtnumba.runtime.kernels import by_having, by_type, inline, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.records import address_of


class _SummedFields(NamedTuple):
    codes: np.ndarray  # (0, p): no rows are here
    n_codes: np.ndarray
    rows: np.ndarray
    n_rows: int
    n_orders: int
    n_bins: int
    width: int
    counted: bool
    tables: np.ndarray  # (k * n_drawn * n_bins * width,) int64: of k nodes
    drawn: np.ndarray  # (k, p) int64: which table of a node a feature has, -1 for none
    n_tables: int  # of a node
    place: np.ndarray  # (2,) int64: the node in hand; not 0 where it asked for a table that is not there


@kernel_type
class SummedTables(NothingKept, CodedRows, _SummedFields):
    """Tables of nodes whose rows are elsewhere, added up."""

    __slots__ = ()

    def new_scratch(self, n, workers):
        table = len(self.n_codes) * self.n_bins * self.width
        return HistogramScratch(
            per_worker(workers, 64, np.int64),
            per_worker(workers, table + 64, np.int64, 0),
            per_worker(workers, len(self.n_codes) * 4, np.uint64, 0),
            per_worker(workers, 258, np.int64),
            per_worker(workers, 1, np.int64),
            per_worker(workers, 1, np.uint32),
        )

    def score_features(self, job, scratch, node, first, last, total):
        own, nodes, size = scratch.own, job.growing.nodes, self.n_bins * self.width
        if not take_tables(self, job.target, own, scratch.features, first, last):
            return np.int64(1)
        n = nodes[node, col.STOP] - nodes[node, col.START]
        varying, step = 0, 1 if chooses_by_more(job.criterion) or side_by_side(job.features) else last - first
        for i in range(first, last, step):
            tables = Tables(own.sparse, (i - first) * size, self.width, True, own.masks[(i - first) * 4 :])
            varying += scan_bins(job.target, self, tables, i, i + step, n, job, scratch, total)
        return varying


@inline
def take_tables(summed, target, own, features, first, last):
    """Write the tables of features[first:last] of the node in hand end to end; return whether all were there."""
    k, size = summed.place[0], summed.n_bins * summed.width
    for i in range(first, last):
        slot = summed.drawn[k, features[i]]
        if slot < 0:
            summed.place[1] = 1
            return False
        begin = (k * summed.n_tables + slot) * size
        for c in range(size):
            own.sparse[(i - first) * size + c] = summed.tables[begin + c]
        if summed.width != 1:
            n_codes = summed.n_codes[features[i]]
            mark_occupied(target, own.sparse, (i - first) * size, summed.width, n_codes, own.masks, i - first)
    return True


class _SummedCutFields(NamedTuple):
    codes: np.ndarray  # (0, p)
    n_codes: np.ndarray
    n_sums: int
    width: int
    counted: bool
    low: np.ndarray  # as ``RandomBins`` has them
    high: np.ndarray
    first_code: np.ndarray
    strides: np.ndarray
    rows: np.ndarray
    n_rows: int
    n_orders: int
    n_bins: int
    tables: np.ndarray  # as ``SummedTables`` has them
    drawn: np.ndarray
    n_tables: int
    place: np.ndarray


@kernel_type
class SummedCuts(OneCutAFeature, _SummedCutFields):
    """Tables of nodes whose rows are elsewhere, added up, of which each feature draws one cut."""

    __slots__ = ()
    code_below = RandomBins.code_below

    def table_of(self, f):
        k = self.place[0]
        return np.uint64((k * self.n_tables + self.drawn[k, f]) * self.n_bins * self.width)

    def score_features(self, job, scratch, node, first, last, total):
        for i in range(first, last):
            if self.drawn[self.place[0], scratch.features[i]] < 0:
                self.place[1] = 1
                return np.int64(1)
        return score_at_once(job.target, self, job, scratch, node, first, last, total)

    def look_for_extremes(self, job, scratch, node, first, last):
        for i in range(first, last):
            f = scratch.features[i]
            smallest, largest = _extremes(self, job.target, f, self.n_codes[f] + 1)
            scratch.own.smallest[f], scratch.own.largest[f] = smallest, largest

    def sum_left_of_cuts(self, job, scratch, node, first, last):
        target, own, step = job.target, scratch.own, len(scratch.own.cuts)
        for i in range(first, last):
            f = scratch.features[i]
            left, table = zero(target, scratch.work.left), table_of(self, f)
            for code in range(min(np.int64(own.cuts[f]), self.n_codes[f]) + 1):
                left = take(target, left, self.tables, table + np.uint64(code) * np.uint64(self.width))
            store(target, left, own.one)
            for s in range(len(own.one)):
                own.left[s * step + f] = own.one[s]

    def score_alone(self, job, scratch, node, i, total):
        own, f, nodes = scratch.own, scratch.features[i], job.growing.nodes
        missing, table, width = self.n_codes[f], table_of(self, f), np.uint64(self.width)
        smallest, largest = _extremes(self, job.target, f, missing)
        cut, threshold = min(smallest, missing - 1), np.inf
        if smallest < largest:
            cut, threshold = draw_cut(self, job, node, f, smallest, largest)
        for code in range(missing + 1):
            at = (np.uint64(i * 3) + np.uint64(code > cut) + np.uint64(code == missing)) * width
            for s in range(width):
                own.sums[at + s] += self.tables[table + np.uint64(code) * width + s]
        n = np.int64(nodes[node, col.STOP] - nodes[node, col.START])
        return try_one(self, job, scratch, i, n, total, (smallest, largest, cut, threshold))


table_of = by_type("table_of")  # where the table of a feature begins, of the node in hand


@inline
def _extremes(summed, target, f, n_codes):
    """Return the smallest and the largest of so many codes of a feature that have rows; (256, -1) where none has."""
    smallest, largest, width = np.int64(256), np.int64(-1), np.uint64(summed.width)
    for code in range(n_codes):
        if holds_rows(target, summed.tables, table_of(summed, f) + np.uint64(code) * width, width):
            smallest, largest = min(smallest, np.int64(code)), np.int64(code)
    return smallest, largest


@kernel_type
class SummedCategories(DrawnCategorySplitter):
    """Tables of nodes whose rows are elsewhere, added up, of which some are of categories."""

    __slots__ = ()

    def n_at_hand(self, n):
        return np.int64(1) << np.int64(40)

    def sum_feature(self, target, own, f, start, stop):
        summed = self.inner
        begin = (summed.place[0] * summed.n_tables + summed.drawn[summed.place[0], f]) * summed.n_bins * summed.width
        for c in range((self.n_levels[f] + 1) * self.width):
            own.tables[c] = summed.tables[begin + c]

    def score_tables(self, job, scratch, node, first, last, total):
        if not take_tables(self.inner, job.target, scratch.own.inner, scratch.features, first, last):
            return np.int64(1)
        return score_filled(self, job, scratch, node, first, last, total)


def _mark_left(splitter, job, scratch, node, sides):
    """Mark the codes that go left at a node that tests a category."""
    f = np.int64(job.growing.nodes[node, col.FEATURE])
    if f >= 0 and splitter.is_level[f]:
        for j in range(left_levels(job, scratch, node, f)):
            sides[scratch.own.kept[j]] = 1
        sides[splitter.n_levels[f]] = np.uint8(job.growing.nodes[node, col.MISSING_LEFT])


def _nothing_marked(splitter, job, scratch, node, sides):
    pass


mark_left = by_having("note_levels", _mark_left, _nothing_marked)


@kernel_type
class FindSplits(NamedTuple):
    """Look for the splits of nodes from their tables; ``missed`` says which nodes lacked one that they asked for."""

    job: object  # with a Summed splitter
    scratch: object
    place: np.ndarray  # the splitter's
    nodes: np.ndarray  # (k,) int64
    at: np.ndarray  # (k,) int64: which of the nodes that have tables each is
    missed: np.ndarray  # (k,) uint8 out
    sides: np.ndarray  # (k, n_bins) uint8 out: codes that go left, of nodes that test a category

    def run(self, worker):
        subtree, place = Subtree(self.job, self.scratch), self.place
        self.scratch.here[0] = address_of(subtree)
        for k in range(len(self.nodes)):
            place[0], place[1] = self.at[k], 0
            find_split(Alone(), self.job, self.scratch, self.nodes[k])
            self.missed[k] = place[1]
            if place[1] == 0:
                mark_left(self.job.splitter, self.job, self.scratch, self.nodes[k], self.sides[k])
