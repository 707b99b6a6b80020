# mypy: ignore-errors
# ruff: noqa: D102
"""Sums in subtrees of at most 64 rows (see ``small_subtrees``): codes of a sum are those of one more column there."""

from typing import NamedTuple

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.binary.grow_subtree import is_small, write_split
from dtnumba.growth.binary.small_classes import (
    BitScratch,
    OnBits,
    best_of_columns,
    list_cuts,
    new_small_scratch,
    record_best,
)
from dtnumba.growth.binary.small_subtrees import FEW, grow_small_subtree
from dtnumba.growth.nodes import with_candidates, with_features, with_small
from dtnumba.growth.oblique.binned.in_hand import (
    IN_HAND,
    draw_together,
    keep_sum,
    note_ranges,
    settle_weights,
    sum_in_hand,
)
from dtnumba.growth.oblique.binned.search import best_of, candidates_behind, copy_candidate
from dtnumba.growth.oblique.binned.to_codes import code_of, halfway, note_bins
from dtnumba.growth.oblique.node_columns import bits_for_products, grid_of
from dtnumba.growth.oblique.offer import LEAST_ROWS, bar_for_sums
from dtnumba.growth.oblique.projection import stream_of
from dtnumba.growth.oblique.searches.sparse_sums import MOST_DRAWN
from dtnumba.growth.splitters.candidates import LAST_BELOW
from dtnumba.growth.splitters.contract import keeper
from dtnumba.growth.targets.contract import is_pure, weight_of
from dtnumba.runtime.instructions.bits import bit_count
from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.runtime.memory import per_worker

_FEW, _TWO = np.uint64(FEW), 2


@kernel_type
class SumBits(NamedTuple):
    """As BitScratch, and what sums need besides."""

    codes: np.ndarray
    laid: np.ndarray
    planes: np.ndarray
    rows: np.ndarray
    ids: np.ndarray
    members: np.ndarray
    waiting: np.ndarray
    left: np.ndarray
    place: np.ndarray
    values: np.ndarray  # (p * 64,) float64: 64 rows of a feature, then the next feature
    valued: np.ndarray  # (p,) int64: the subtree for which a feature's values were laid out last
    sums: BitScratch  # the same, with the codes and the cuts of sums

    @property
    def n_cuts(self):
        return max(self.left.shape[-1], self.sums.left.shape[-1])


@kernel_type
class FewCells(NamedTuple):
    """The values of the rows of a node in a subtree of few."""

    values: np.ndarray
    used: np.ndarray
    ids: np.ndarray

    def cell_at(self, k, i):
        return self.values[np.uint64(self.used[k]) * _FEW + self.ids[i]]


@kernel_type
class SumsOnBits(NamedTuple):
    """Rows that are counted, as OnBits does; and sums, which are cut as columns are."""

    needs = "sums_of_bits"

    def new_scratch(self, codes, n_drawn, workers):
        bits = new_small_scratch(codes, n_drawn, workers)
        sums = new_small_scratch(np.empty((0, IN_HAND), np.uint8), IN_HAND, workers)
        sums = bits._replace(codes=sums.codes, laid=sums.laid, left=sums.left, place=sums.place)
        p = codes.shape[1]
        return SumBits(*bits, per_worker(workers, p * FEW), per_worker(workers, p, np.int64, 0), sums)

    def is_small(self, job, scratch, node):
        return is_small(OnBits(), job, scratch, node)

    def begin(self, job, scratch, start, n):
        pass

    def split(self, job, scratch, root, node, members, total):
        nodes = job.growing.nodes
        start, stop = nodes[root, col.START], nodes[root, col.STOP]
        if is_pure(job.target, total, job.splitter, start, start):
            nodes[node, col.FEATURE] = col.LEAF
            return np.uint64(0)
        n, columns = stop - start, keeper(job.splitter)
        feature, left_rows = best_of_columns(columns, job, scratch, n, node, members, total)
        if bit_count(members) >= np.uint64(LEAST_ROWS) and _is_heavy(job, total):
            bar = bar_for_sums(job.target, job.splitter, scratch, feature, total)
            if bar < np.inf:
                found = _find_above(job.splitter.search, job.splitter, job, scratch, n, node, members, bar, total)
                if found != 0:
                    feature, left_rows = np.int64(job.splitter.n_features), found
        write_split(job, scratch, node, feature, weight_of(job.target, total))
        return left_rows

    def grow(self, job, scratch, root):
        grow_small_subtree(self, job, scratch, root)

    def leave(self, job, scratch, node, members):
        pass


@inline
def _is_heavy(job, total):
    return weight_of(job.target, total) >= 2.0 * job.limits.min_weight_leaf


@inline
def _lay_values(splitter, few, n, f):
    """Copy a feature's values of a subtree's n rows side by side, if that was not done yet."""
    if few.valued[f] == few.laid[len(few.laid) - 1]:
        return
    few.valued[f], cells, to = few.laid[len(few.laid) - 1], splitter.cells, np.uint64(f) * _FEW
    for i in range(np.uint64(n)):
        at = cells.offset + np.int64(few.rows[i]) * cells.row_step + f * cells.column_step
        few.values[to + i] = float(cells.flat[np.uint64(at)])


@inline
def _find_above(search, splitter, job, scratch, n_rows, node, members, bar, total):
    """Write the best sum of a node that gains more than ``bar``; return which rows go left, no row where none does."""
    own, here, few, out = scratch.own, scratch.own.search, scratch.small, scratch.candidates
    n, stream, best, most = np.int64(bit_count(members)), stream_of(job, node), splitter.n_features, splitter.most_terms
    n_bins, grid, left_rows = search.bins.n_bins - 1, grid_of(bits_for_products(n)), np.uint64(0)
    source = FewCells(few.values, here.used, few.ids)
    mine = with_candidates(with_features(scratch, here.order), candidates_behind(out, best + 1))
    mine = with_small(mine, few.sums)
    for first in range(0, search.n_sums, IN_HAND):
        m = min(search.n_sums - first, IN_HAND)
        n_used = draw_together(here, search.numbers, stream, first, m, min(most, MOST_DRAWN))
        for k in range(n_used):
            _lay_values(splitter, few, n_rows, here.used[k])
        note_ranges(source, here, n_used, n)
        settle_weights(splitter.scaling, source, here, n_used, n, m, grid)
        n_groups = np.uint64(0)
        for q in range(m):
            if here.n_terms[q] > 0:
                _write_codes(source, own, here, few, q, n, n_bins)
                if here.step[q] > 0.0:
                    n_groups = list_cuts(search.bins, mine, q, members, np.uint64(n), n_groups)
        q, found = np.int64(-1), np.uint64(0)
        if n_groups > 0:
            q, found = record_best(search.bins, job, mine, members, np.uint64(n), total, n_groups)
        if q >= 0 and best_of(mine.candidates.gain[q : q + 1], 1, bar) == 0:
            bar, left_rows = mine.candidates.gain[q], found
            copy_candidate(out, best + 1 + q, best)
            low, step = here.low[q], here.step[q]
            below, above = -np.inf, np.inf
            for i in range(n):
                summed = sum_in_hand(source, here, q, i)
                if summed == summed:
                    is_left = np.int64(code_of(summed, low, step, float(n_bins - 1))) <= out.where[best, LAST_BELOW]
                    below, above = (max(below, summed), above) if is_left else (below, min(above, summed))
            out.cut[best] = halfway(below, above)
            keep_sum(source, here, job.growing.terms[node], q, n, most, grid)
    return left_rows


@inline
def _write_codes(source, own, here, few, q, n, n_bins):
    """Write the codes of a sum of a node's rows."""
    low, high, codes, to, sums, ids = np.inf, -np.inf, few.sums.codes, np.uint64(q) * _FEW, own.sums, few.ids
    k, j, values = here.slot[q, 0], here.slot[q, 1], few.values
    if here.n_terms[q] == _TWO and here.known[k] == n and here.known[j] == n:  # nearly all sums
        weight, other = here.weight[q, 0], here.weight[q, 1]
        first, second = np.uint64(here.used[k]) * _FEW, np.uint64(here.used[j]) * _FEW
        for i in range(n):
            total = (0.0 + weight * values[first + ids[i]]) + other * values[second + ids[i]]
            sums[i], low, high = total, min(low, total), max(high, total)
    else:
        for i in range(n):
            total = sum_in_hand(source, here, q, i)
            sums[i], low, high = total, min(low, total), max(high, total)
    note_bins(here, q, low, high, n_bins)
    low, step, last = here.low[q], here.step[q], float(n_bins - 1)
    for i in range(n if step > 0.0 else 0):
        total, at = sums[i], to + ids[i]
        codes[at] = code_of(total, low, step, last) if total == total else np.uint8(n_bins)
