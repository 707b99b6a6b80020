"""Splits of categories, around any splitter of numbers: which levels go left.

Of the two children the left one is the lighter, and its levels are what the tree will list. They are kept until the
node is divided; where they were not, they are found again from what the split says of them (``level_sums``).

Targets whose rows are ranked, not summed, are looked at in their own way (``level_ranks``).
"""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import by_having, by_type, inline, jitable, part
from dtnumba.criteria import NO_GAIN, chooses_by_more
from dtnumba.frontier import side_by_side
from dtnumba.growing import FEATURE, FIRST_RIGHT, LAST_LEFT, MISSING_LEFT, START, STOP, Scratch
from dtnumba.leaf_values import row_at, row_in_order
from dtnumba.scan import CONSTANT, NOTHING
from dtnumba.scan_bins import forget_marks, scan_bins
from dtnumba.splitters import begin, divide, inherit, look, release, with_codes, with_rows
from dtnumba.splitters.histogram import fill_some
from dtnumba.splitters.level_ranks import arrange_by_rows, look_at_ranks
from dtnumba.splitters.level_rows import forget_sums, list_marked, list_present, new_level_scratch, sum_batch
from dtnumba.splitters.level_sums import (
    DRAWN_SUBSET,
    IN_ORDER,
    MOST_TRIED,
    ONE_VS_REST,
    arrange,
    has_one_way,
    log_left,
    look_at_sums,
    part_two_rows,
    write_left,
)


class _LevelFields(NamedTuple):
    inner: object
    is_level: np.ndarray  # (p,) uint8: which features are categories
    n_levels: np.ndarray  # (p,) int64: the code of a missing value of these
    codes: np.ndarray  # (n, q): levels of the categories, or all codes of the inner splitter
    column: np.ndarray  # (p,) int64: where a feature stands in them
    width: int  # numbers a level
    counted: bool  # the last of which counts its rows
    how: int
    most_tried: int  # levels up to which all subsets are tried; 0 where the order is proven
    profile: tuple  # of a level's sums: first, step, count
    n_sums: int
    n_weights: int


class _Splits:
    """A splitter of numbers, and what it takes to split categories as well."""

    __slots__ = ()

    def new_scratch(self, n, workers):
        return new_level_scratch(self, n, workers)

    def row_at(self, i):
        return row_at(self.inner, i)

    def row_in_order(self, o, i):
        return row_in_order(self.inner, o, i)

    def begin(self, growing, target, limits, own, node):
        begin(self.inner, growing, target, limits, own.inner, node)

    def inherit(self, growing, target, own, node, left):
        inherit(self.inner, growing, target, own.inner, node, left)

    def release(self, growing, own, node):
        release(self.inner, growing, own.inner, node)

    def look(self, job, scratch, node, first, last, total):
        if first == 0:
            scratch.own.kept_of[job.growing.nodes[node, START], 0] = -1
        return look_at_all(job.target, self, job, scratch, node, first, last, total)

    def divide(self, job, scratch, node):
        nodes, own = job.growing.nodes, scratch.own
        f, start, stop = np.int64(nodes[node, FEATURE]), np.int64(nodes[node, START]), np.int64(nodes[node, STOP])
        if not self.is_level[f]:
            return divide(self.inner, job, _inner_scratch(scratch), node)
        c = _left_levels(self, job, scratch, node, f)
        for j in range(start, start + c):
            own.side[own.kept[j]] = 1
        own.side[self.n_levels[f]] = np.uint8(nodes[node, MISSING_LEFT])
        border = divide_by_level(self.inner, start, stop, self.codes, self.column[f], own.side, own.inner.buffer)
        for j in range(start, start + c):
            own.side[own.kept[j]] = 0
        own.side[self.n_levels[f]] = 0
        log_left(own, node, start, border, c)
        return border

    def note_levels(self, own, feature, kind, start, stop, out, at):
        """Write the levels of rows [start, stop), which went left, in their order; return where they end."""
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


@part
class Levels(_Splits, _LevelFields):
    """Categories whose levels are codes of the splitter of numbers."""

    __slots__ = ()

    @property
    def copies_codes(self):
        return getattr(self.inner, "copies_codes", False)

    def with_rows(self, rows, n):
        return Levels(*_fields_around(self, with_rows(self.inner, rows, n), self.codes))

    def with_codes(self, codes):
        return Levels(*_fields_around(self, with_codes(self.inner, codes), codes))


@part
class DrawnLevels(Levels):
    """Levels beside a ``DrawnHistogram``: one pass over a node's rows sums up its numbers and categories together."""

    __slots__ = ()

    def with_rows(self, rows, n):
        return DrawnLevels(*_fields_around(self, with_rows(self.inner, rows, n), self.codes))

    def with_codes(self, codes):
        return DrawnLevels(*_fields_around(self, with_codes(self.inner, codes), codes))

    def look_at_tables(self, job, scratch, node, first, last, total):
        return look_at_drawn(self, job, scratch, node, first, last, total)


@part
class ManyLevels(_Splits, _LevelFields):
    """Categories whose levels stand in a table of their own: they are too many for the codes of numbers."""

    __slots__ = ()

    @property
    def copies_codes(self):
        return len(self.column) == self.codes.shape[1]  # no numbers, whose codes stand elsewhere

    def with_rows(self, rows, n):
        return ManyLevels(*_fields_around(self, with_rows(self.inner, rows, n), self.codes))

    def with_codes(self, codes):
        return ManyLevels(*_fields_around(self, self.inner, codes))


divide_by_level = by_type("divide_by_level")


def _no_levels(splitter, own, feature, kind, start, stop, out, at):
    return at


note_levels = by_type("note_levels", _no_levels)


@inline
def _fields_around(splitter, inner, codes):
    """Return the fields of a splitter around another one."""
    return (
        inner,
        splitter.is_level,
        splitter.n_levels,
        codes,
        splitter.column,
        splitter.width,
        splitter.counted,
        splitter.how,
        splitter.most_tried,
        splitter.profile,
        splitter.n_sums,
        splitter.n_weights,
    )


@inline
def _inner_scratch(scratch):
    return Scratch(
        scratch.candidates,
        scratch.work,
        scratch.features,
        scratch.drawn,
        scratch.listed,
        scratch.frontier,
        scratch.own.inner,
        scratch.few,
    )


@inline
def _left_levels(splitter, job, scratch, node, f):
    """Make sure that the levels which go left stand in ``own.kept`` from the node's start on; return how many."""
    nodes, own = job.growing.nodes, scratch.own
    start, kind, number = np.int64(nodes[node, START]), np.int64(nodes[node, FIRST_RIGHT]), nodes[node, LAST_LEFT]
    if own.kept_of[start, 0] == node and own.kept_of[start, 1] == f:
        return np.int64(own.kept_of[start, 2])
    m = arrange_again(job.target, splitter, job, scratch, node, f)
    c = write_left(own, start, m, kind, np.int64(number))
    for j in range(m if splitter.how == DRAWN_SUBSET else 0):
        own.chosen[j] = 0
    return c


def _arrange_by_sums(target, splitter, job, scratch, node, f):
    """List the levels of a node, and the order in which they were cut; return how many there are."""
    nodes, own, base = job.growing.nodes, scratch.own, np.uint64(0)
    start, stop = np.int64(nodes[node, START]), np.int64(nodes[node, STOP])
    own.batch[0] = f
    sum_batch(target, splitter, own, 1, start, stop)
    m = list_present(target, splitter, own, f, own.tables, base, start, stop)
    arrange(target, splitter, job, scratch, node, f, own.tables, base, m)
    forget_sums(target, splitter, own, f, own.tables, base, m)
    return m


def _look_by_sums(target, splitter, job, scratch, node, first, last, total):
    """Look at numbers and at categories, or part the only two rows of a node by the first feature that does."""
    features = scratch.features
    if not has_one_way(splitter, job, node):
        return look_at_tables(splitter, job, scratch, node, first, last, total)
    for i in range(first, last):
        scratch.candidates.gain[features[i]] = NO_GAIN
    varying, i = 0, first
    while i < last and varying == 0:
        if splitter.is_level[features[i]]:
            varying += part_two_rows(target, splitter, job, scratch, node, features[i], total)
        else:
            varying += look(splitter.inner, job, _inner_scratch(scratch), node, i, i + 1, total)
        i += 1
    return varying


def _look_apart(splitter, job, scratch, node, first, last, total):
    """Look at runs of numbers, and at categories by the batch."""
    target, own, nodes, features = job.target, scratch.own, job.growing.nodes, scratch.features
    stride = np.uint64(len(own.present)) * np.uint64(splitter.width)
    varying, i, k = 0, first, 0
    while i < last:
        end = i + 1
        if splitter.is_level[features[i]]:
            own.batch[k] = features[i]
            k += 1
        else:
            while end < last and not splitter.is_level[features[end]]:
                end += 1
            varying += look(splitter.inner, job, _inner_scratch(scratch), node, i, end, total)
        i = end
        if k == len(own.batch) or (k > 0 and i == last):
            sum_batch(target, splitter, own, k, nodes[node, START], nodes[node, STOP])
            for j in range(k):
                base, f = np.uint64(j) * stride, own.batch[j]
                varying += look_at_sums(target, splitter, job, scratch, node, f, own.tables, base, total) != CONSTANT
            k = 0
    return varying


look_at_tables = by_type("look_at_tables", _look_apart)


@inline
def look_at_drawn(splitter, job, scratch, node, first, last, total):
    """Sum up the rows by the codes of all features in one pass, and look at the tables one after the other."""
    target, own, nodes, features = job.target, scratch.own.inner, job.growing.nodes, scratch.features
    n, stride = nodes[node, STOP] - nodes[node, START], splitter.inner.n_bins * splitter.inner.width
    is_single = chooses_by_more(job.criterion) or side_by_side(job.features)
    start, stop, width = nodes[node, START], nodes[node, STOP], splitter.inner.width
    fill_some(splitter.inner, width, target, own, features, first, last, start, stop)
    varying, i = 0, first
    while i < last:
        f, end, base, slot = features[i], i + 1, (i - first) * stride, i - first
        if splitter.is_level[f]:
            at = np.uint64(base)
            varying += look_at_sums(target, splitter, job, scratch, node, f, own.sparse, at, total) != CONSTANT
            forget_marks(own.masks, slot)
        else:
            while end < last and not is_single and not splitter.is_level[features[end]]:
                end += 1
            varying += scan_bins(
                target,
                splitter.inner,
                width,
                own.sparse,
                base,
                True,
                own.masks[slot * 4 :],
                features,
                i,
                end,
                n,
                job,
                total,
                scratch.work,
                scratch.candidates,
            )
        i = end
    return varying


def _look_by_ranks(target, splitter, job, scratch, node, first, last, total):
    """Look at runs of numbers, and at one category after the other."""
    varying, i, features = 0, first, scratch.features
    while i < last:
        f, end = features[i], i + 1
        if splitter.is_level[f]:
            varying += look_at_ranks(target, splitter, job, scratch, node, f, total) != CONSTANT
        else:
            while end < last and not splitter.is_level[features[end]]:
                end += 1
            varying += look(splitter.inner, job, _inner_scratch(scratch), node, i, end, total)
        i = end
    return varying


jitable(look_at_ranks)
jitable(arrange_by_rows)
jitable(_arrange_by_sums)
jitable(_look_by_sums)
jitable(_look_apart)
jitable(_look_by_ranks)
look_at_all = by_having("rank_rows", _look_by_ranks, _look_by_sums)
arrange_again = by_having("rank_rows", arrange_by_rows, _arrange_by_sums)

__all__ = [
    "DRAWN_SUBSET",
    "IN_ORDER",
    "MOST_TRIED",
    "ONE_VS_REST",
    "DrawnLevels",
    "Levels",
    "ManyLevels",
    "note_levels",
]
