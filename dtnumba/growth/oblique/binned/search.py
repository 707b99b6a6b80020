# mypy: ignore-errors
# ruff: noqa: D102
"""The best of the sums that a node draws, by the histograms of single columns: a sum is a column of codes there."""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, TIE
from dtnumba.growth import columns as col
from dtnumba.growth.nodes import Candidates, with_candidates, with_features, with_own
from dtnumba.growth.oblique.binned.in_hand import (
    IN_HAND,
    NodeCells,
    draw_together,
    keep_sum,
    new_sums_in_hand,
    note_ranges,
    settle_weights,
)
from dtnumba.growth.oblique.binned.to_codes import (
    hand_out_codes,
    lay_side_by_side,
    note_codes,
    note_no_codes,
    settle_sides,
    stride_of,
    write_sums,
)
from dtnumba.growth.oblique.node_columns import bits_for_products, grid_of
from dtnumba.growth.oblique.projection import stream_of
from dtnumba.growth.oblique.searches.sparse_sums import MOST_DRAWN
from dtnumba.growth.splitters.candidates import LAST_BELOW, MISSING_BELOW
from dtnumba.growth.splitters.contract import keeper, with_codes, with_rows
from dtnumba.growth.splitters.histogram import DrawnHistogram, score_codes
from dtnumba.runtime.kernels import inline, kernel_type


@kernel_type
class BinnedSums(NamedTuple):
    """How many sums a node draws, and into how many bins each is cut there."""

    n_sums: int
    numbers: np.ndarray  # int64: the features that may be terms
    bins: DrawnHistogram  # of the sums in hand, without rows

    n_together = IN_HAND

    def new_scratch(self, splitter, n, workers):
        return new_sums_in_hand(splitter, self.bins, n, workers)

    def find_above(self, splitter, job, scratch, node, bar, total):
        return _find_above(self, splitter, job, scratch, node, bar, total)


def binned_sums(n_sums, numbers, n_bins, inner):
    """Return the search for a splitter of codes."""
    n_codes = np.full(IN_HAND, n_bins)
    codes, rows = np.empty((0, IN_HAND), np.uint8), np.empty(0, np.uint32)
    bins = DrawnHistogram(codes, n_codes, rows, 0, 1, n_bins + 1, inner.width, inner.counted)
    return BinnedSums(n_sums, np.flatnonzero(numbers), bins)


@inline
def candidates_behind(out, first):
    """Return the places for the sums in hand behind those of the features and the best sum."""
    last = first + IN_HAND
    return Candidates(
        out.gain[first:last],
        out.information[first:last],
        out.cut[first:last],
        out.where[first:last],
        out.sums[first:last],
    )


@inline
def best_of(gain, m, bar):
    """Return which of m sums gains most, -1 for none that gains more than ``bar`` by more than a tie."""
    best = np.int64(-1)
    for q in range(m):
        if gain[q] > bar and (bar == NO_GAIN or gain[q] > bar + TIE * abs(bar)):
            best, bar = np.int64(q), gain[q]
    return best


@inline
def copy_candidate(out, source, target):
    """Copy the best cut of one candidate to another."""
    out.gain[target], out.information[target] = out.gain[source], out.information[source]
    for k in range(4):
        out.where[target, k] = out.where[source, k]
    for k in range(out.sums.shape[1]):
        out.sums[target, k] = out.sums[source, k]


@inline
def _find_above(search, splitter, job, scratch, node, bar, total):
    """Write the best sum of a node that gains more than ``bar``, and which rows it sends left; tell if there is one."""
    own, here, nodes, out, is_found = scratch.own, scratch.own.search, job.growing.nodes, scratch.candidates, False
    start, stop = np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP])
    n, stream, best, rows = stop - start, stream_of(job, node), splitter.n_features, keeper(splitter)
    bins = with_codes(with_rows(search.bins, rows.rows, rows.n_rows), here.codes)
    n_bins = bins.n_bins - 1
    mine = with_candidates(with_features(scratch, here.order), candidates_behind(out, best + 1))
    mine, grid, most = with_own(mine, here.tables), grid_of(bits_for_products(n)), splitter.most_terms
    for first in range(0, search.n_sums, IN_HAND):
        m = min(search.n_sums - first, IN_HAND)
        n_used = draw_together(here, search.numbers, stream, first, m, min(most, MOST_DRAWN))
        stride = stride_of(n)
        if n_used * stride <= len(here.values):
            lay_side_by_side(splitter, here, start, n, n_used, stride)
        else:
            stride = np.int64(0)
            note_ranges(NodeCells(splitter, here.values, here.used, start, stride), here, n_used, n)
        source = NodeCells(splitter, here.values, here.used, start, stride)
        settle_weights(splitter.scaling, source, here, n_used, n, m, grid)
        for q in range(m):
            if here.n_terms[q] > 0:
                write_sums(splitter, here, own.sums, q, start, n, stride)
                note_codes(here, own.sums, q, n, n_bins)
            else:
                note_no_codes(here, q, n)
        hand_out_codes(splitter, here, start, n)
        score_codes(job.target, bins, job, mine, node, np.int64(0), m, total)
        q = best_of(mine.candidates.gain, m, bar)
        if q >= 0:
            is_found, bar = True, mine.candidates.gain[q]
            copy_candidate(out, best + 1 + q, best)
            split = out.where[best, LAST_BELOW], out.where[best, MISSING_BELOW], n_bins
            write_sums(splitter, here, own.sums, q, start, n, stride)
            out.cut[best] = settle_sides(splitter, here, own.sums, own.sides, q, start, n, split)
            keep_sum(source, here, job.growing.terms[node], q, n, most, grid)
    return is_found
