"""Splits of categories, around any splitter of numbers: which levels go left.

The rows of a node are summed up by level, the levels present are put in an order (``level_order``) and cut like the
bins of a number; where no order is known to hold the best subset, all subsets of up to eight levels are tried. What a
split says is found again when the node is divided, from the same sums, so a candidate costs no list of levels. Of the
two children the left one is the lighter, and its levels are what the tree will list.

Targets whose rows are ranked, not summed, are scored by walking the rows in the order of the levels.
"""

from typing import NamedTuple

import numpy as np

from dtnumba import rng
from dtnumba._jit import by_having, by_type, inline, jitable, part, prefetch
from dtnumba.criteria import NO_GAIN
from dtnumba.growing import FEATURE, FIRST_RIGHT, LAST_LEFT, MISSING_LEFT, START, STOP, Scratch
from dtnumba.leaf_values import row_at, row_in_order
from dtnumba.level_order import key_levels, sort_levels
from dtnumba.scan import (
    BARREN,
    CONSTANT,
    FOUND,
    MISSING,
    NEW,
    NOTHING,
    bar_above,
    heavy_enough,
    is_heavier,
    record_split,
    scan_order,
)
from dtnumba.scan import FIRST_RIGHT as KIND
from dtnumba.scan import LAST_LEFT as WHICH
from dtnumba.splitters import begin, divide, inherit, look, pick_own, release, with_codes, with_rows
from dtnumba.targets import clear_bin, item_of, keep, put_item, rest, rows_in, split_score, take, zero

AHEAD = 16  # rows whose codes are asked for ahead
# How subsets are looked for (Levels.how).
IN_ORDER, ONE_VS_REST, DRAWN_SUBSET = 0, 1, 2
# Levels up to which all subsets are tried where no order is proven.
MOST_TRIED = 8

# What FIRST_RIGHT of a split of levels means; LAST_LEFT has the number. NOTHING: all values left, missing ones right.
PREFIX, SUFFIX = 0, 1  # levels before, or from, a place of the order
AMONG = 2  # levels whose bit is set, counted in the order of the levels' numbers
ONE, ALL_BUT_ONE = 3, 4  # a level
DRAWN, NOT_DRAWN = 5, 6  # a draw by the key of the node
_TURNED = np.int64((1 << 62) + 1)  # no level: the draw of the one that turns where all fell on one side
_OPPOSITE = 1  # an odd kind is the other side of the one before; of bits, the other bits


@part
class LevelScratch(NamedTuple):
    """What one worker needs to look at categories, beside the scratch of the splitter of numbers."""

    inner: object
    tables: np.ndarray  # ((most levels + 1) * width,) int64, zero between uses
    present: np.ndarray  # (most levels + 1,) int64: the levels of a node
    other: np.ndarray  # (most levels + 1,) int64
    starts: np.ndarray  # (most levels + 1,) int64
    keys: np.ndarray  # (most levels + 1,) float64
    side: np.ndarray  # (most levels + 1,) uint8, zero between uses
    axes: np.ndarray  # (3, n_sums) float64
    sums: np.ndarray  # (n_sums,) int64
    n_weights: int
    sequence: np.ndarray  # (n,) uint32: rows by level, of ranked targets
    kept: np.ndarray  # (most levels + 1,) int64: the levels of the best category of a node, in their order
    kept_of: np.ndarray  # (3,) int64: the node (-1: none), the category, how many levels

    def pick(self, worker):
        return LevelScratch(
            pick_own(self.inner, worker),
            self.tables[worker],
            self.present[worker],
            self.other[worker],
            self.starts[worker],
            self.keys[worker],
            self.side[worker],
            self.axes[worker],
            self.sums[worker],
            self.n_weights,
            self.sequence[worker],
            self.kept[worker],
            self.kept_of[worker],
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
        most = int(self.n_levels.max()) + 1
        n_sequence = n if self.n_weights == 0 else 0
        return LevelScratch(
            self.inner.new_scratch(n, workers),
            np.zeros((workers, most * max(self.width, 1)), np.int64),
            np.empty((workers, most), np.int64),
            np.empty((workers, most), np.int64),
            np.empty((workers, most), np.int64),
            np.empty((workers, most)),
            np.zeros((workers, most), np.uint8),
            np.empty((workers, 3, self.n_sums)),
            np.empty((workers, self.n_sums), np.int64),
            self.n_weights,
            np.empty((workers, n_sequence), np.uint32),
            np.empty((workers, most), np.int64),
            np.full((workers, 3), -1),
        )

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
        varying, i = 0, first
        if first == 0:
            scratch.own.kept_of[0] = -1
        while i < last:
            f = scratch.features[i]
            if self.is_level[f]:
                varying += look_at_level(job.target, self, job, scratch, node, f, total) != CONSTANT
                i += 1
            else:
                end = i + 1
                while end < last and not self.is_level[scratch.features[end]]:
                    end += 1
                varying += look(self.inner, job, _inner_scratch(scratch), node, i, end, total)
                i = end
        return varying

    def divide(self, job, scratch, node):
        nodes, own = job.growing.nodes, scratch.own
        f, start, stop = np.int64(nodes[node, FEATURE]), np.int64(nodes[node, START]), np.int64(nodes[node, STOP])
        if not self.is_level[f]:
            return divide(self.inner, job, _inner_scratch(scratch), node)
        m = mark_levels(job.target, self, job, scratch, node, f)
        border = divide_by_level(self.inner, start, stop, self.codes, self.column[f], own.side, own.inner.buffer)
        own.side[self.n_levels[f]] = 0
        _forget_sides(own, m)
        return border

    def note_levels(self, own, feature, kind, start, stop, out, at):
        """Write the levels of rows [start, stop), which went left, in their order; return where they end."""
        if not self.is_level[feature] or kind == NOTHING:
            return at
        m, column, missing = 0, self.column[feature], self.n_levels[feature]
        for i in range(start, stop):
            level = np.int64(self.codes[row_at(self.inner, i), column])
            if own.side[level] == 0 and level != missing:
                own.side[level] = 1
                own.present[m], own.keys[level] = level, 0.0
                m += 1
        sort_levels(own.present, own.other, own.keys, own.starts, m)
        for j in range(m):
            out[at + j] = own.present[j]
            own.side[own.present[j]] = 0
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
def _sum_levels(target, splitter, own, f, start, stop):
    """Sum up rows by level and list the levels present, in the order of the rows; return how many there are."""
    width, column, missing, m = np.uint64(splitter.width), splitter.column[f], splitter.n_levels[f], 0
    for i in range(start, stop):
        row = row_at(splitter.inner, i)
        prefetch(splitter.codes, np.uint64(row_at(splitter.inner, min(i + AHEAD, stop - 1))), np.uint64(column))
        level = np.int64(splitter.codes[row, column])
        at = np.uint64(level) * width
        if level != missing and rows_in(target, own.tables, at, width) == 0:
            own.present[m] = level
            m += 1
        put_item(target, own.tables, at, item_of(target, row))
        if splitter.counted:
            own.tables[at + width - np.uint64(1)] += 1
    return m


@inline
def _forget_sums(target, splitter, own, f, m):
    """Empty the sums of the levels present."""
    width = np.uint64(splitter.width)
    clear_bin(target, own.tables, np.uint64(splitter.n_levels[f]) * width, width)
    for j in range(m):
        clear_bin(target, own.tables, np.uint64(own.present[j]) * width, width)


@inline
def _forget_sides(own, m):
    for j in range(m):
        own.side[own.present[j]] = 0


@inline
def _arrange(target, splitter, job, scratch, node, f, m):
    """Put the levels present in the order in which they are cut; return whether all subsets are to be tried.

    Where a subset is drawn, ``own.side`` says which levels are in it.
    """
    own = scratch.own
    tries_all = 2 <= m <= splitter.most_tried and splitter.how == IN_ORDER
    if tries_all or m <= 2 or splitter.how != IN_ORDER:
        for j in range(m):
            own.keys[own.present[j]] = 0.0
    else:
        key_levels(target, own, m, splitter.width, splitter.profile, scratch.work.left)
    sort_levels(own.present, own.other, own.keys, own.starts, m)
    if splitter.how == DRAWN_SUBSET:
        _draw_subset(job, own, node, f, m)
    return tries_all


@inline
def _draw_subset(job, own, node, f, m):
    """Draw a subset by the key of the node: a coin a level, never none of them and never all."""
    key, chosen = rng.mix(rng.mix(job.limits.cuts_key, job.growing.keys[node]), f), 0
    for j in range(m):
        coin = np.int64(rng.mix(key, own.present[j]) & np.uint64(1))
        own.side[own.present[j]] = np.uint8(coin)
        chosen += coin
    if m > 0 and chosen in (0, m):
        own.side[own.present[rng.below(rng.mix(key, _TURNED), m)]] ^= np.uint8(1)


@inline
def _try(target, job, scratch, total, left, n_left, n, best, best_left, what):
    """Score one division; return what is best now: (bar, scale, what, rows left), and the sums of its left side."""
    work, limits = scratch.work, job.limits
    right = rest(target, total, left, work.right)
    score = split_score(target, job.criterion, left, right, work)
    least = limits.min_samples_leaf
    is_legal = least <= 1 or least <= n_left <= n - least
    if score > best[0] and is_legal and heavy_enough(target, left, right, limits.min_weight_leaf):
        scale = max(best[1], abs(score))
        return (bar_above(score, scale), scale, np.int64(what), np.int64(n_left)), keep(target, left, work.best)
    return best, best_left


_SIDE, _KIND, _NUMBER = 1, 1, 5  # of ``what``: bit 0, whether missing rows go left; the kind, plus 1; the number


def _look_by_sums(target, splitter, job, scratch, node, f, total):
    own, work, nodes, out = scratch.own, scratch.work, job.growing.nodes, scratch.candidates
    start, stop, width = np.int64(nodes[node, START]), np.int64(nodes[node, STOP]), np.uint64(splitter.width)
    n, m = stop - start, _sum_levels(target, splitter, own, f, start, stop)
    missing_at = np.uint64(splitter.n_levels[f]) * width
    has_missing = np.int64(rows_in(target, own.tables, missing_at, width) > 0)
    out.gain[f] = NO_GAIN
    tries_all = _arrange(target, splitter, job, scratch, node, f, m)
    in_order = splitter.how == IN_ORDER and not tries_all
    n_sets = (1 << (m - 1)) - 1 if tries_all else m - 1 if in_order else m if splitter.how == ONE_VS_REST else 1
    if m <= 1:
        n_sets = 0
    best, best_left = (NO_GAIN, 0.0, np.int64(-1), np.int64(0)), zero(target, work.best)
    left, n_left = zero(target, work.left), np.int64(0)
    # Missing rows right, then left; after the last set of the first turn all values go left and missing ones right.
    for side in range(1 + has_missing if m > 0 else 0):
        for k in range(1, n_sets + 1 + has_missing - side):
            first = k - 1 if in_order else 0
            if first == 0:
                left, n_left = zero(target, work.left), np.int64(0)
            for j in range(first - (first == 0 and side == 1), k if in_order else m):
                level, is_in = np.int64(splitter.n_levels[f]), True
                if j >= 0:
                    level = own.present[j]
                    is_in = in_order or k > n_sets or _is_in_set(splitter, own, tries_all, k, j)
                if is_in:
                    at = np.uint64(level) * width
                    left = take(target, left, own.tables, at)
                    n_left += rows_in(target, own.tables, at, width)
            kind, number = np.int64(PREFIX), np.int64(k)
            if k > n_sets:
                kind = np.int64(NOTHING)
            elif tries_all:
                kind = np.int64(AMONG)
            elif splitter.how == ONE_VS_REST:
                kind, number = np.int64(ONE), own.present[k - 1]
            elif splitter.how == DRAWN_SUBSET:
                kind = np.int64(DRAWN)
            what = (number << _NUMBER) | ((kind + 1) << _KIND) | side
            best, best_left = _try(target, job, scratch, total, left, n_left, n, best, best_left, what)
    _forget_sums(target, splitter, own, f, m)
    _forget_sides(own, m)
    if best[2] < 0:
        return CONSTANT if m + has_missing <= 1 or m == 0 else BARREN
    _record(target, job, scratch, f, total, best_left, n, m, best, has_missing)
    if splitter.how != DRAWN_SUBSET and (own.kept_of[0] != node or out.gain[f] > out.gain[own.kept_of[1]]):
        own.kept_of[0], own.kept_of[1], own.kept_of[2] = node, f, m
        for j in range(m):
            own.kept[j] = own.present[j]
    return FOUND


@inline
def _is_in_set(splitter, own, tries_all, k, j):
    """Tell whether level j of those present is in set k of those that are tried."""
    if tries_all:
        return (k >> j) & 1 == 1
    return j == k - 1 if splitter.how == ONE_VS_REST else own.side[own.present[j]] == 1


@inline
def _record(target, job, scratch, f, total, left, n, m, best, has_missing):
    """Write the best division among the candidates, the lighter side as the left one."""
    out, work, what, n_left = scratch.candidates, scratch.work, best[2], best[3]
    side, kind, number = what & _SIDE, ((what >> _KIND) & 15) - 1, what >> _NUMBER
    right = rest(target, total, left, work.right)
    if kind != NOTHING and is_heavier(target, left, right):
        left, right, n_left, side = right, left, n - n_left, 1 - side
        kind, number = _opposite(kind, number, m)
    if not has_missing:
        side = np.int64(0)  # later ones go to the heavier child, the right one
    record_split(out, f, target, job.criterion, left, right, work, (n_left, number, kind, side))


@inline
def _opposite(kind, number, m):
    """Return the kind and the number of the other side of a division of m levels."""
    if kind == AMONG:
        return np.int64(kind), ((1 << m) - 1) ^ number
    if kind in (PREFIX, ONE, DRAWN):
        return np.int64(kind) + (_OPPOSITE), number
    return np.int64(kind) - (_OPPOSITE), number


def _list_by_sums(target, splitter, job, scratch, node, f):
    """List the levels of a node in the order in which they were cut; return how many there are."""
    nodes, own = job.growing.nodes, scratch.own
    if own.kept_of[0] == node and own.kept_of[1] == f:  # what was looked at last, as nodes come depth first
        m = own.kept_of[2]
        for j in range(m):
            own.present[j] = own.kept[j]
        return m
    m = _sum_levels(target, splitter, scratch.own, f, np.int64(nodes[node, START]), np.int64(nodes[node, STOP]))
    _arrange(target, splitter, job, scratch, node, f, m)
    _forget_sums(target, splitter, scratch.own, f, m)
    return m


@inline
def mark_levels(target, splitter, job, scratch, node, f):
    """Mark which levels of a node go left in ``own.side``; return how many are listed in ``own.present``."""
    nodes, own = job.growing.nodes, scratch.own
    kind, number = np.int64(nodes[node, FIRST_RIGHT]), np.int64(nodes[node, LAST_LEFT])
    m = list_levels(target, splitter, job, scratch, node, f)
    for j in range(m):
        level, goes_left = own.present[j], np.int64(1)
        if kind in (PREFIX, SUFFIX):
            goes_left = np.int64((j < number) == (kind == PREFIX))
        elif kind == AMONG:
            goes_left = (number >> j) & 1
        elif kind in (ONE, ALL_BUT_ONE):
            goes_left = np.int64((level == number) == (kind == ONE))
        elif kind in (DRAWN, NOT_DRAWN):
            goes_left = np.int64((own.side[level] == 1) == (kind == DRAWN))
        own.side[level] = np.uint8(goes_left)
    own.side[splitter.n_levels[f]] = np.uint8(nodes[node, MISSING_LEFT])
    return m


@inline
def _list_by_rows(splitter, own, f, start, stop):
    """List the levels present, in the order of the rows; return how many there are."""
    column, missing, m = splitter.column[f], splitter.n_levels[f], 0
    for i in range(start, stop):
        level = np.int64(splitter.codes[row_at(splitter.inner, i), column])
        if level != missing and own.side[level] == 0:
            own.side[level] = 1
            own.present[m] = level
            m += 1
    _forget_sides(own, m)
    return m


@inline
def _key_by_medians(target, splitter, own, f, start, stop, m):
    """Key every level by the median of its rows: walked in the order of the first output."""
    column, missing = splitter.column[f], splitter.n_levels[f]
    for j in range(m):
        own.tables[own.present[j]] = 0
    for i in range(start, stop):
        row = row_in_order(splitter.inner, 0, i)
        own.tables[np.int64(splitter.codes[row, column])] += target.weights[row]
    for i in range(stop - 1, start - 1, -1):  # from the top, so that the last write is where half of the weight begins
        row = row_in_order(splitter.inner, 0, i)
        level = np.int64(splitter.codes[row, column])
        if level != missing and own.tables[level] > 0:
            own.keys[level] = target.y[row, 0]
            own.tables[level] -= 2 * target.weights[row]
    own.tables[missing] = 0
    for j in range(m):
        own.tables[own.present[j]] = 0


def _arrange_by_rows(target, splitter, job, scratch, node, f):
    """List the levels of a node in the order in which they are cut; return how many there are."""
    own, nodes = scratch.own, job.growing.nodes
    start, stop = np.int64(nodes[node, START]), np.int64(nodes[node, STOP])
    m = _list_by_rows(splitter, own, f, start, stop)
    if m <= MOST_TRIED or splitter.how != IN_ORDER:
        for j in range(m):
            own.keys[own.present[j]] = 0.0
    else:
        _key_by_medians(target, splitter, own, f, start, stop, m)
    sort_levels(own.present, own.other, own.keys, own.starts, m)
    if splitter.how == DRAWN_SUBSET:
        _draw_subset(job, own, node, f, m)
    return m


def _look_by_rows(target, splitter, job, scratch, node, f, total):
    own, nodes, out = scratch.own, job.growing.nodes, scratch.candidates
    start, stop = np.int64(nodes[node, START]), np.int64(nodes[node, STOP])
    m, gain, information, found = _arrange_by_rows(target, splitter, job, scratch, node, f), NO_GAIN, 0.0, CONSTANT
    in_order = splitter.how == IN_ORDER
    n_sets = 1 if splitter.how == DRAWN_SUBSET or m > MOST_TRIED else (1 << max(m - 1, 0)) - 1
    if splitter.how == ONE_VS_REST and m > 1:
        n_sets = m
    kind = number = n_left = side = np.int64(0)
    for k in range(1, max(n_sets, 1) + 1):
        # Cut between all levels in their order, or between two groups of them: keys are the places of the levels.
        for j in range(m):
            if in_order and m > MOST_TRIED:
                place = j
            elif in_order:
                place = 1 - ((k >> j) & 1)
            elif splitter.how == ONE_VS_REST:
                place = np.int64(j != k - 1)
            else:
                place = 1 - np.int64(own.side[own.present[j]]) if m > 1 else np.int64(0)
            own.keys[own.present[j]] = float(place)
        has_missing = _put_rows_in_order(splitter, own, f, start, stop, m)
        if scan_order(
            target,
            own.sequence,
            0,
            stop - start,
            start,
            f,
            job.criterion,
            job.limits,
            total,
            scratch.work,
            out,
        ) != CONSTANT and found == CONSTANT:
            found = BARREN
        if out.gain[f] > gain:
            gain, information, found = out.gain[f], out.information[f], FOUND
            n_left, side = out.where[f, 0], out.where[f, 3]
            last = np.int64(splitter.codes[out.where[f, WHICH], splitter.column[f]])
            if out.where[f, KIND] == NOTHING:
                kind, number = np.int64(NOTHING), np.int64(0)
            elif in_order and m > MOST_TRIED:
                kind, number = np.int64(PREFIX), np.int64(own.keys[last]) + 1
            elif in_order:
                kind, number = np.int64(AMONG), np.int64(k)
            elif splitter.how == ONE_VS_REST:
                kind, number = np.int64(ONE), own.present[k - 1]
            else:
                kind, number = np.int64(DRAWN), np.int64(0)
            if kind != NOTHING and 2 * n_left > stop - start:
                kind, number = _opposite(kind, number, m)
                n_left, side = stop - start - n_left, 1 - side
            if not has_missing:
                side = np.int64(0)
    _forget_sides(own, m)
    out.gain[f], out.information[f] = gain, information
    out.where[f, 0], out.where[f, 1], out.where[f, 2], out.where[f, 3] = n_left, number, kind, side
    return found


@inline
def _put_rows_in_order(splitter, own, f, start, stop, m):
    """Write a node's rows as records by the keys of their levels, places below m; tell whether any is missing."""
    column, missing = splitter.column[f], splitter.n_levels[f]
    for j in range(m + 1):
        own.other[j] = 0
    n_missing = 0
    for i in range(start, stop):
        level = np.int64(splitter.codes[row_at(splitter.inner, i), column])
        if level == missing:
            n_missing += 1
        else:
            own.other[np.int64(own.keys[level])] += 1
    at = 0
    for j in range(m):
        n_here = own.other[j]
        own.other[j] = at
        at += n_here
    last = at
    for i in range(start, stop):
        row = row_at(splitter.inner, i)
        level = np.int64(splitter.codes[row, column])
        if level == missing:
            own.sequence[at] = np.uint32(row) | MISSING
            at += 1
        else:
            place = np.int64(own.keys[level])
            own.sequence[own.other[place]] = np.uint32(row)
            own.other[place] += 1
    for j in range(m):  # where one place ends the next one begins
        if 0 < own.other[j] < last:
            own.sequence[own.other[j]] |= NEW
    return n_missing > 0


jitable(_look_by_sums)
jitable(_look_by_rows)
jitable(_list_by_sums)
jitable(_arrange_by_rows)
look_at_level = by_having("rank_rows", _look_by_rows, _look_by_sums)
list_levels = by_having("rank_rows", _arrange_by_rows, _list_by_sums)

__all__ = ["DRAWN_SUBSET", "IN_ORDER", "MOST_TRIED", "ONE_VS_REST", "Levels", "ManyLevels", "note_levels"]
