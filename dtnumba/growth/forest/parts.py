# mypy: ignore-errors
# ruff: noqa: D102
"""A tree whose rows lie in several parts: what each step of its growth is, where growth leaves one machine.

Large nodes are split by the sums of the tables that every part fills of its own rows; their rows stay where they are.
What is below nodes of few rows is grown where these have been brought together. Tables are whole numbers, so their sum
does not depend on the parts, and all else is the growth of a tree on one machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import chooses_by_more
from dtnumba.growth import columns as col
from dtnumba.growth.binary.crew import Alone
from dtnumba.growth.binary.grow_subtree import add_node, find_split
from dtnumba.growth.categories.splitter import DrawnCategorySplitter, left_levels, score_filled
from dtnumba.growth.forest.arena import put_away
from dtnumba.growth.forest.bootstrap_rows import sample, weigh
from dtnumba.growth.nodes import (
    Subtree,
    with_cuts_key,
    with_features_key,
    with_growing,
    with_limits,
    with_min_weight,
    with_splitter,
    with_target,
    with_total,
)
from dtnumba.growth.nodes import with_features as with_drawing
from dtnumba.growth.policies.feature_sampling import side_by_side, with_key
from dtnumba.growth.splitters.coded_rows import CodedRows, NothingKept
from dtnumba.growth.splitters.contract import note_levels, with_rows
from dtnumba.growth.splitters.fill_tables import mark_occupied
from dtnumba.growth.splitters.histogram import HistogramScratch
from dtnumba.growth.splitters.scans.scan_bins import Tables, scan_bins
from dtnumba.growth.targets.contract import item_of, put_item, store, sum_rows, with_scratch, zero
from dtnumba.growth.targets.leaf_values import describe
from dtnumba.runtime import rng
from dtnumba.runtime.addresses import call_at
from dtnumba.runtime.kernels import by_having, inline, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.records import address_of


@kernel_type
class DrawPart(NamedTuple):
    """How often a tree counts each row; the rows of a part among these, and their sums."""

    sampling: object
    tree: int
    counts: np.ndarray  # (n_table_rows,) out
    totals: np.ndarray
    halt: np.ndarray

    def run(self, worker):
        sample(self.sampling, self.tree, self.counts, self.totals, self.halt)


@kernel_type
class FillTables(NamedTuple):
    """Add the rows of nodes to tables of the features that each looks at."""

    sampling: object
    target: object  # of the part's rows
    own: object
    splitter: object
    counts: np.ndarray  # of the part's rows: changed
    rows: np.ndarray  # (n,) uint32 in node order
    starts: np.ndarray  # (k,) int64
    stops: np.ndarray
    features: np.ndarray  # (k, n_drawn) int64
    tables: np.ndarray  # (k * n_drawn * n_bins * width,) int64 out
    work: np.ndarray  # scratch of statistics
    sums: np.ndarray  # (n_sums,) int64 out: of all rows

    def run(self, worker):
        target = with_scratch(self.target, self.own)
        splitter = with_rows(self.splitter, self.rows, len(self.rows))
        target = weigh(self.sampling, target, self.own, self.counts, self.rows, len(self.rows))
        if len(self.sums) > 0:
            total = sum_rows(target, splitter, zero(target, self.work), np.int64(0), np.int64(len(self.rows)))
            store(target, total, self.sums)
        width, n_drawn = np.uint64(splitter.width), np.uint64(self.features.shape[1])
        stride = np.uint64(splitter.n_bins) * width
        for k in range(len(self.starts)):
            base = np.uint64(k) * n_drawn * stride
            for i in range(self.starts[k], self.stops[k]):
                row, at = self.rows[i], base
                item = item_of(target, row)
                for j in range(n_drawn):
                    cell = at + np.uint64(splitter.codes[row, self.features[k, j]]) * width
                    put_item(target, self.tables, cell, item)
                    if splitter.counted:
                        self.tables[cell + width - np.uint64(1)] += 1
                    at += stride


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


@kernel_type
class GrowRoots(NamedTuple):
    """Grow what is below some nodes of a tree, whose rows have been brought together."""

    job: object
    scratch: object
    sampling: object
    own: object
    counts: np.ndarray  # (n,): how often each row counts; changed
    rows: np.ndarray  # (n,) uint32
    starts: np.ndarray  # (k,) int64
    stops: np.ndarray
    depths: np.ndarray
    keys: np.ndarray  # (k,) uint64
    sums: np.ndarray  # (k, n_kept) int64
    min_weight_share: float
    total: float
    seed: int  # uint64: of the tree
    summary: object  # a Summary with room for all nodes, where rows say more of a leaf than its sums; out
    levels: np.ndarray  # int32 out: categories that go left, by node
    level_stop: np.ndarray  # (m,) int64 out: where those of each node end

    def run(self, worker):
        n = len(self.rows)
        splitter, growing, scratch = with_rows(self.job.splitter, self.rows, n), self.job.growing, self.scratch
        target = weigh(self.sampling, with_scratch(self.job.target, self.own), self.own, self.counts, self.rows, n)
        job = of_tree(self.job, growing, splitter, target, self.seed, self.min_weight_share, self.total)
        n_roots = len(self.starts)
        growing.room[col.NEXT_CHUNK], growing.room[col.FIRST_CHUNK] = 0, n_roots
        scratch.place[0] = scratch.place[1] = 0
        for k in range(n_roots):
            add_node(growing, job.limits, k, self.starts[k], self.stops[k], self.depths[k], self.keys[k])
            for s in range(growing.sums.shape[2]):
                growing.sums[k, 0, s] = self.sums[k, s]
        for k in range(n_roots):
            if growing.nodes[k, col.FEATURE] == col.OPEN:
                call_at(job.calls.below, Subtree(job, scratch), np.int64(k), np.int64(0), np.int64(0))
        for k in range(max(scratch.place[0], n_roots)):  # whoever puts the tree together has no rows
            if growing.sums[k, 0, 0] == col.UNKNOWN:
                total = zero(target, scratch.work.total)
                total = sum_rows(target, splitter, total, growing.nodes[k, col.START], growing.nodes[k, col.STOP])
                store(target, total, growing.sums[k, 0])
        describe_leaves(target, self, splitter, max(scratch.place[0], n_roots))
        list_left(splitter, self, max(scratch.place[0], n_roots))


def _list_each(splitter, task, n_nodes):
    """List the categories that go left at each node."""
    nodes, at = task.job.growing.nodes, np.int64(0)
    for k in range(n_nodes):
        if nodes[k, col.FEATURE] >= 0:
            child, feature = np.int64(nodes[k, col.LEFT]), np.int64(nodes[k, col.FEATURE])
            start, stop = np.int64(nodes[child, col.START]), np.int64(nodes[child, col.STOP])
            kind = np.int64(nodes[k, col.FIRST_RIGHT])
            at = note_levels(splitter, task.scratch.own, feature, kind, start, stop, task.levels, at)
        task.level_stop[k] = at


def _none_listed(splitter, task, n_nodes):
    pass


list_left = by_having("note_levels", _list_each, _none_listed)


def _describe_each(target, task, splitter, n_nodes):
    """Describe the leaves by their rows."""
    growing, summary = task.job.growing, task.summary
    for k in range(n_nodes):
        if growing.nodes[k, col.FEATURE] == col.LEAF:
            summary.start[k], summary.stop[k] = growing.nodes[k, col.START], growing.nodes[k, col.STOP]
            seen = task.scratch.work.seen[0]
            describe(target, task.job.criterion, splitter, summary, np.int64(k), growing.sums[k, 0], seen)


def _sums_say_all(target, task, splitter, n_nodes):
    pass


describe_leaves = by_having("describe_inner", _describe_each, _sums_say_all)


@inline
def of_tree(job, growing, splitter, target, seed, min_weight_share, total):
    """Return the job of growing one tree of a forest."""
    limits = with_total(with_min_weight(job.limits, min_weight_share * total), total)
    features_key = rng.first_stream(seed, rng.FEATURES)
    limits = with_cuts_key(with_features_key(limits, features_key), rng.first_stream(seed, rng.CUTS))
    job = with_drawing(with_growing(job, growing), with_key(job.features, features_key))
    return with_target(with_splitter(with_limits(job, limits), splitter), target)


@kernel_type
class KnownLeaves(NamedTuple):
    """What takes a tree whose leaves are described already."""

    job: object
    ends: object
    arena: object
    value: np.ndarray  # (m, width) by node
    weight: np.ndarray
    impurity: np.ndarray

    def recall(self, nodes, node, summary, k):
        is_leaf = summary.left[k] < 0
        if is_leaf:
            for j in range(summary.value.shape[1]):
                summary.value[k, j] = self.value[node, j]
            summary.weight[k], summary.impurity[k] = self.weight[node], self.impurity[node]
        return is_leaf


@kernel_type
class ListedLevels(NamedTuple):
    """What says which categories go left, of nodes that begin at the number of each."""

    rows: np.ndarray  # (m,) uint32, of which none is read
    listed: np.ndarray  # (m, 2) int64: of a left child, where they stand and how many they are
    levels: np.ndarray  # int32

    def row_at(self, i):
        return self.rows[i]

    def note_levels(self, own, feature, kind, start, stop, out, at):
        first, n = self.listed[start, 0], self.listed[start, 1]
        for j in range(n):
            out[at + j] = self.levels[first + j]
        return at + n


@kernel_type
class PutTogether(NamedTuple):
    """Number and describe the nodes of a tree that has been grown in parts."""

    forest: object  # a GrowForest, or KnownLeaves, of which the arena takes the tree
    splitter: object
    target: object
    scratch: object
    room: object
    growing: object

    def run(self, worker):
        put_away(self.forest, np.int64(0), self.splitter, self.target, self.scratch, self.room, self.growing)
