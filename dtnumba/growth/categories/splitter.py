# mypy: ignore-errors
# ruff: noqa: D102
"""Splitters of categories, around any splitter of numbers: which categories go left.

The left child is the lighter one, and its categories are what the tree will list. They are kept until the node is
divided; where they were not, they are found again from the kind and number of the split (``subset_search``).

Targets whose rows are ranked, not summed, have a search of their own (``by_median``).
"""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, chooses_by_more
from dtnumba.growth import columns as col
from dtnumba.growth.categories.node_categories import list_marked, new_level_scratch, sum_batch
from dtnumba.growth.categories.search_levels import FIND_LEFT, TWO_ROWS, search, search_levels
from dtnumba.growth.categories.subset_search import has_two_rows_only, log_left, score_sums
from dtnumba.growth.nodes import with_own
from dtnumba.growth.policies.feature_sampling import side_by_side
from dtnumba.growth.splitters.candidates import CONSTANT, NOTHING
from dtnumba.growth.splitters.coded_rows import part_two_rows_by_code, with_code_table
from dtnumba.growth.splitters.contract import (
    divide,
    divide_share,
    finish_division,
    prepare_division,
    score_features,
    shares_of_division,
    with_codes,
    with_rows,
    with_tables_of,
)
from dtnumba.growth.splitters.fill_tables import fill_some
from dtnumba.growth.splitters.scans.scan_bins import Tables, forget_marks, scan_bins
from dtnumba.growth.targets.leaf_values import row_at, row_in_order
from dtnumba.runtime.kernels import by_having, by_type, inline, kernel_type, outlined
from dtnumba.runtime.records import replacing


class _LevelFields(NamedTuple):
    inner: object
    is_level: np.ndarray  # (p,) uint8: which features are categories
    n_levels: np.ndarray  # (p,) int64: the code of a missing value of these
    codes: np.ndarray  # (n, q): levels of the categories, or all codes of the inner splitter
    column: np.ndarray  # (p,) int64: where a feature stands in them
    width: int  # numbers a category
    counted: bool  # the last of which counts its rows
    how: int
    most_tried: int  # categories up to which all subsets are tried; 0 where the order is proven
    profile: tuple  # of a category's sums: first, step, count
    n_sums: int
    n_weights: int


around_inner = replacing("inner")


class _Splits:
    """The methods of a splitter of categories around a splitter of numbers."""

    __slots__ = ()

    @property
    def kernel(self):
        """The kernel that growth calls by address for a categorical feature."""
        return search_levels

    @property
    def draws_thresholds(self):
        return getattr(self.inner, "draws_thresholds", False)

    def new_scratch(self, n, workers):
        return new_level_scratch(self, n, workers)

    def with_rows(self, rows, n):
        return around_inner(self, with_rows(self.inner, rows, n))

    def twice(self, inner, codes):
        """Return the splitter for twice as many features: around that of numbers, of twice as many columns of codes."""
        column = np.concatenate([self.column, self.column + self.codes.shape[1]])
        is_level, n_levels = np.tile(self.is_level, 2), np.tile(self.n_levels, 2)
        return self._replace(inner=inner, is_level=is_level, n_levels=n_levels, codes=codes, column=column)

    def row_at(self, i):
        return row_at(self.inner, i)

    def row_in_order(self, o, i):
        return row_in_order(self.inner, o, i)

    @property
    def keeps_tables(self):
        return getattr(self.inner, "keeps_tables", False)

    def keeper(self):
        return self.inner

    def of_keeper(self, own):
        return own.inner

    def with_tables_of(self, own, other):
        return around_inner(own, with_tables_of(self.inner, own.inner, other.inner))

    def shares_of_division(self, job, node):
        first, last, work = shares_of_division(self.inner, job, node)
        return first, first if self.is_level[job.growing.nodes[node, col.FEATURE]] else last, work

    def prepare_division(self, job, node):
        prepare_division(self.inner, job, node)

    def divide_share(self, job, scratch, node, first, last):
        return divide_share(self.inner, job, with_own(scratch, scratch.own.inner), node, first, last)

    def finish_division(self, job, scratch, node, borders, step):
        return finish_division(self.inner, job, with_own(scratch, scratch.own.inner), node, borders, step)

    def score_features(self, job, scratch, node, first, last, total):
        if first == 0:
            scratch.own.kept_of[job.growing.nodes[node, col.START], 0] = -1
        return score_categories(job.target, self, job, scratch, node, first, last, total)

    def divide(self, job, scratch, node):
        nodes, own = job.growing.nodes, scratch.own
        f, start, stop = (
            np.int64(nodes[node, col.FEATURE]),
            np.int64(nodes[node, col.START]),
            np.int64(nodes[node, col.STOP]),
        )
        if not self.is_level[f]:
            return divide(self.inner, job, with_own(scratch, scratch.own.inner), node)
        c = left_levels(job, scratch, node, f)
        for j in range(start, start + c):
            own.side[own.kept[j]] = 1
        own.side[self.n_levels[f]] = np.uint8(nodes[node, col.MISSING_LEFT])
        border = divide_by_level(self.inner, start, stop, self.codes, self.column[f], own.side, own.inner.buffer)
        for j in range(start, start + c):
            own.side[own.kept[j]] = 0
        own.side[self.n_levels[f]] = 0
        log_left(own, node, start, border, c)
        return border

    def note_levels(self, own, feature, kind, start, stop, out, at):
        """Write the categories of rows [start, stop), which went left, ascending; return where they end in ``out``."""
        if not self.is_level[feature] or kind == NOTHING:
            return at
        if stop < len(own.logged) and own.logged[stop, 0] >= 0:
            first, m = own.logged[stop, 0], own.logged[stop, 1]
            for j in range(m):
                out[at + j] = own.log[first + j]
            return at + m
        m = list_marked(self, own, feature, start, stop)
        for j in range(m):
            out[at + j] = own.present[j]
        return at + m


@kernel_type
class CategorySplitter(_Splits, _LevelFields):
    """A splitter of categories whose codes stand among those of the numbers."""

    __slots__ = ()

    @property
    def copies_codes(self):
        return getattr(self.inner, "copies_codes", False)

    def with_codes(self, codes):
        return around_inner(with_code_table(self, codes), with_codes(self.inner, codes))


@kernel_type
class DrawnCategorySplitter(CategorySplitter):
    """A splitter of categories around a ``DrawnHistogram``: one pass over a node's rows sums up all features."""

    __slots__ = ()

    def score_summed(self, job, scratch, node, f, at, total):
        return score_sums(job.target, self, job, scratch, node, f, scratch.own.inner.sparse, at, total)

    def part_two_rows(self, job, scratch, node, i, total):
        return search(job, scratch, node, scratch.features[i], TWO_ROWS)

    def part_by_number(self, job, scratch, node, f, total):
        return part_two_rows_by_code(job.target, self.inner, job, scratch, node, f, total)

    def score_tables(self, job, scratch, node, first, last, total):
        return score_drawn(self, job, scratch, node, first, last, total)


@kernel_type
class ManyLevels(_Splits, _LevelFields):
    """A splitter of categories with codes of their own: they are too many for the codes of numbers."""

    __slots__ = ()

    @property
    def copies_codes(self):
        return len(self.column) == self.codes.shape[1]  # no numbers, whose codes stand elsewhere

    def with_codes(self, codes):
        return with_code_table(self, codes)


divide_by_level = by_type("divide_by_level")


@outlined
def left_levels(job, scratch, node, f):
    """Return how many categories go left; they stand in ``own.kept`` from the node's start on."""
    kept_of = scratch.own.kept_of[job.growing.nodes[node, col.START]]
    if kept_of[0] == node and kept_of[1] == f:
        return np.int64(kept_of[2])
    return search(job, scratch, node, f, FIND_LEFT)


@outlined
def _score_numbers(splitter, job, scratch, node, first, last, total):
    """Write the best split of features that are numbers; return how many vary."""
    return score_features(splitter.inner, job, with_own(scratch, scratch.own.inner), node, first, last, total)


@inline
def _score_by_sums(target, splitter, job, scratch, node, first, last, total):
    """Write the best split of every feature, of two rows only of the first that varies; return how many vary."""
    features = scratch.features
    if not has_two_rows_only(splitter, job, node):
        return score_tables(splitter, job, scratch, node, first, last, total)
    for i in range(first, last):
        scratch.candidates.gain[features[i]] = NO_GAIN
    varying, i = 0, first
    while i < last and varying == 0:
        varying += part_two_rows(splitter, job, scratch, node, i, total)
        i += 1
    return varying


@inline
def _score_apart(splitter, job, scratch, node, first, last, total):
    """Write the best split of every feature, numbers side by side and categories by the batch; return how many vary."""
    target, own, nodes, features = job.target, scratch.own, job.growing.nodes, scratch.features
    stride = len(own.present) * splitter.width
    varying, i, k = 0, first, 0
    while i < last:
        end = i + 1
        if splitter.is_level[features[i]]:
            own.batch[k] = features[i]
            k += 1
        else:
            while end < last and not splitter.is_level[features[end]]:
                end += 1
            varying += _score_numbers(splitter, job, scratch, node, i, end, total)
        i = end
        if k == len(own.batch) or (k > 0 and i == last):
            sum_batch(target, splitter, own, k, np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP]))
            for j in range(k):
                varying += search(job, scratch, node, own.batch[j], j * stride) != CONSTANT
            k = 0
    return varying


def _part_two_rows(splitter, job, scratch, node, i, total):
    if splitter.is_level[scratch.features[i]]:
        return search(job, scratch, node, scratch.features[i], TWO_ROWS)
    return _score_numbers(splitter, job, scratch, node, i, i + 1, total)


score_tables = by_type("score_tables", _score_apart)
# Part the only two rows of a node by the i-th feature looked at; return 1 where they differ in it, else 0.
part_two_rows = by_type("part_two_rows", _part_two_rows)


@inline
def score_drawn(splitter, job, scratch, node, first, last, total):
    """Write the best split of every feature, from sums by code of all features in one pass; return how many vary."""
    own, nodes, width = scratch.own.inner, job.growing.nodes, splitter.inner.width
    start, stop = nodes[node, col.START], nodes[node, col.STOP]
    fill_some(job.target, splitter.inner, width, own, scratch.features, first, last, start, stop)
    return score_filled(splitter, job, scratch, node, first, last, total)


@inline
def score_filled(splitter, job, scratch, node, first, last, total):
    """Write the best split of every feature, whose sums by code stand end to end; return how many vary."""
    target, own, nodes, features = job.target, scratch.own.inner, job.growing.nodes, scratch.features
    n, width = nodes[node, col.STOP] - nodes[node, col.START], splitter.inner.width
    stride, is_single = splitter.inner.n_bins * width, chooses_by_more(job.criterion) or side_by_side(job.features)
    varying, i = 0, first
    while i < last:
        f, end, base, slot = features[i], i + 1, (i - first) * stride, i - first
        if splitter.is_level[f]:
            varying += search(job, scratch, node, f, base) != CONSTANT
            forget_marks(own.masks, slot)
        else:
            while end < last and not is_single and not splitter.is_level[features[end]]:
                end += 1
            tables = Tables(own.sparse, base, width, True, own.masks[slot * 4 :])
            varying += scan_bins(target, splitter.inner, tables, i, end, n, job, scratch, total)
        i = end
    return varying


@inline
def _score_by_ranks(target, splitter, job, scratch, node, first, last, total):
    """Write the best split of every feature of a ranked target; return how many vary."""
    varying, i, features = 0, first, scratch.features
    while i < last:
        f, end = features[i], i + 1
        if splitter.is_level[f]:
            varying += search(job, scratch, node, f, 0) != CONSTANT
        else:
            while end < last and not splitter.is_level[features[end]]:
                end += 1
            varying += _score_numbers(splitter, job, scratch, node, i, end, total)
        i = end
    return varying


score_categories = by_having("rank_rows", _score_by_ranks, _score_by_sums)
