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

from dtnumba.growth import columns as col
from dtnumba.growth.binary.grow_subtree import add_node
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
from dtnumba.growth.policies.feature_sampling import with_key
from dtnumba.growth.splitters.contract import note_levels, with_rows
from dtnumba.growth.targets.contract import item_of, put_item, store, sum_rows, with_scratch, zero
from dtnumba.growth.targets.leaf_values import describe
from dtnumba.runtime import rng
from dtnumba.runtime.addresses import call_at
from dtnumba.runtime.kernels import by_having, inline, kernel_type


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
    by_rows: bool  # inner nodes are described by their rows, too

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
    """Describe the leaves by their rows, and inner nodes where these say more than their children."""
    growing, summary = task.job.growing, task.summary
    for k in range(n_nodes):
        if growing.nodes[k, col.FEATURE] == col.LEAF or task.by_rows:
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
    """What takes a tree whose leaves, or all of whose nodes, are described already."""

    job: object
    ends: object
    arena: object
    value: np.ndarray  # (m, width) by node
    weight: np.ndarray
    impurity: np.ndarray
    by_rows: bool  # inner nodes, too

    def recall(self, nodes, node, summary, k):
        is_known = summary.left[k] < 0 or self.by_rows
        if is_known:
            for j in range(summary.value.shape[1]):
                summary.value[k, j] = self.value[node, j]
            summary.weight[k], summary.impurity[k] = self.weight[node], self.impurity[node]
        return is_known


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
