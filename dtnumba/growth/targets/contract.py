# mypy: ignore-errors
# ruff: noqa: D102
"""The label side of a split: what one row adds to the statistics of a node, and how a criterion sees them.

Every sum is an exact integer: weights count in int64, real weights and targets are scaled once to fixed point. So
neither threads nor the order of rows nor a subtraction changes a bit of any statistic.

A target kind implements, for kernels (``stats`` is a tuple where the number of statistics is small and fixed, so that
LLVM keeps it in registers, and an int64 array otherwise; ``buffer`` is the array to use in that case):

zero(buffer)                         statistics of no rows
add(stats, row)                      statistics with one more row
sum_rows(rows, stats, start, stop)   statistics with the rows at positions [start, stop) of a splitter's order
keep(stats, buffer)                  a copy that later ``add`` calls do not change
rest(total, left, buffer)            total - left
weight(stats)                        weight of the rows, in the caller's units
is_pure(stats, rows, start, stop)    whether no split of the node's rows can help
score(criterion, left, right, work)  what the scan of cuts maximises
gain(criterion, left, right, work)   decrease of impurity by the split, per unit of the node's weight
put(hist, at, row), take(stats, hist, at)   the same over histograms, ``n_stats`` numbers a bin, from uint64 ``at`` on
item(row), put_item(hist, at, item)  ``put`` in two steps: what is read of a row, and adding it to a bin
bin_sums(sums, k)                    statistics from the sums over bins up to cut k, where a bin is at most four numbers
load(sums, buffer), store(stats, sums)  statistics from and to ``n_sums`` int64: what ``describe`` reads. Where these
                                     are many, no node keeps them (``n_kept_of``): ``store`` does nothing then, and
                                     ``load`` returns the buffer, where they stand already
rows_in(hist, at, width)             rows in a bin: its weight, or its last number where rows are counted apart
packed_for(total)                    the same target with bins as narrow as a node of these statistics allows; its
                                     ``n_stats`` says how narrow
add_left(rows, start, stop, column, cuts, sums, step)   of 32 columns of codes: add rows of code <= cut to ``n_sums``
                                     numbers a column, which stand ``step`` apart; returns where it stopped
left_bin(sums, column, step, bins, k)  these numbers as a bin that ``bin_sums`` reads
load_bits(rows, start, n, planes)    words that say, bit by bit, what each of n <= 64 rows counts; whether they can
bit_planes(planes)                   these words as a tuple
sums_of_bits(left, planes)           statistics of the rows whose bits are set in a word
load_numbers(rows, start, n, targets, numbers)  the same where statistics are two numbers: what each row adds to them,
                                     side by side, and a number that says which rows have the same target
around(total, work)                  statistics of a node, with what scores and gains of its splits are measured from:
                                     ``rest`` hands it on, or ``work.own`` holds it
away(left, right, work, o)           of numbers: how far the sum of an output on the left lies from what the mean of the
                                     node makes of its rows; ``right`` is the rest of what ``around`` returned
level_key(stats)                     what orders the levels of a category, where one number does: the share of
                                     the second class, or the mean

For forests, where every tree counts the rows in its own way and workers copy the rows of small subtrees:

own_arrays(workers, n_small, n)        (Python) what workers need for the following, every array with a leading worker
                                     axis, a NamedTuple of which ``worker_part`` takes one worker's: ``own``
with_scratch(own)                    the same target with scratch of this worker
with_counts(own, counts, rows, n)    the same target where rows weigh ``counts``; rows[:n] are the tree's
gather(own, rows, start, stop)       the same target of the rows at positions [start, stop) alone, numbered from 0.
                                     Left out: the target's subtrees are grown on the whole table
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.targets.leaf_values import row_at
from dtnumba.runtime.kernels import by_type, kernel_type
from dtnumba.runtime.records import replacing


def is_ranked(kind):
    """Tell whether a target kind's order counts, not its sums: it has ranks at a node, and no histograms."""
    return getattr(kind, "is_ranked", False)


def is_wide(kind):
    """Tell whether a target kind has so many classes that a node is scanned by those that it has rows of."""
    return getattr(kind, "is_wide", False)


def is_plain(kind):
    """Tell whether a target kind leaves out what only large work repays (see ``plain``)."""
    return getattr(kind, "is_plain", False)


zero, sum_rows, add, keep, rest, is_pure, put, take = map(
    by_type, ("zero", "sum_rows", "add", "keep", "rest", "is_pure", "put", "take")
)
rows_in, bin_sums, level_key, load_bits, bit_planes = map(
    by_type, ("rows_in", "bin_sums", "level_key", "load_bits", "bit_planes")
)
sums_of_bits, load_numbers, load, add_left, left_bin = map(
    by_type, ("sums_of_bits", "load_numbers", "load", "add_left", "left_bin")
)
store = by_type("store")

weight_of = by_type("weight")
split_score = by_type("score")
split_gain = by_type("gain")


def _row_itself(target, row):
    return row


def _put_one(target, hist, at, items):
    put_item(target, hist, at, items)


def _put_row(target, hist, at, row):
    put(target, hist, at, row)


def _some_rows_in(target, hist, at, width):
    return rows_in(target, hist, at, width) > 0


def _as_wide(target, total):
    return target


holds_rows = by_type("holds_rows", _some_rows_in)  # whether a bin does
packed_for = by_type("packed_for", _as_wide)


def _clear_all(target, hist, at, width):
    for k in range(np.uint64(width)):
        hist[at + k] = 0


clear_bin = by_type("clear_bin", _clear_all)
item_of = by_type("item", _row_itself)
put_item = by_type("put_item", _put_row)
# Of targets whose items are small enough for registers: no rows at all, and one more where a flag is 1.
no_item = by_type("no_item")
put_items = by_type("put_items", _put_one)  # add such a sum to a bin
add_item_if = by_type("add_item_if")


def n_sums_of(target):
    """Return how many sums say all of a node's rows."""
    return getattr(target, "n_sums", target.n_stats)


# Sums up to which a node keeps its own: of more, summing up its rows anew costs less than the memory of all nodes.
MOST_KEPT = 30


def n_kept_of(target):
    """Return how many sums every node has room for; one, of a target whose sums are too many to be kept."""
    n = n_sums_of(target)
    return n if n <= MOST_KEPT or hasattr(target, "n_moments") else 1


def _nothing_to_rank(target, rows, start, stop):
    pass


def _no_own_sums(target, n):
    return 0


def _total_itself(target, total, work):
    return total


def _other_way_round(target, left, right):
    return right, left


def _one_sum(target, sums, at):
    return float(sums[at])


around = by_type("around", _total_itself)
away_of = by_type("away")
swapped = by_type("swapped", _other_way_round)  # the sides of a split, each in the other's place
profile_at = by_type("profile_at", _one_sum)  # a number of a category's profile, from the place of its first sum


def _no_blocks(target):
    return 0


rank_rows = by_type("rank_rows", _nothing_to_rank)
own_size = by_type("own_size", _no_own_sums)


def _no_arrays(target, workers, n_small, n):
    return NoOwn()


def _unchanged(target, own):
    return target


def _as_it_is(target, own, rows, start, stop):
    return target


own_arrays = by_type("own_arrays", _no_arrays)
with_scratch = by_type("with_scratch", _unchanged)
with_counts = by_type("with_counts")
gather = by_type("gather", _as_it_is)
block_size = by_type("block_size", _no_blocks)


# The same target with other numbers of its rows.
with_label, with_weights = replacing("label"), replacing("weights")
with_moments = replacing("moments")


@kernel_type
class NoOwn(NamedTuple):
    """No arrays: the target needs none of its own."""


@kernel_type
class OwnLabels(NamedTuple):
    """Labels and weights of a few rows."""

    label: np.ndarray
    weights: np.ndarray


@kernel_type
class OwnMoments(NamedTuple):
    """Moments and weights: of a few rows, or of all."""

    moments: np.ndarray
    weights: np.ndarray


class TupleSums:
    """Statistics in registers, two numbers if not said otherwise; whole ones below 2**53 in float64 add up exactly."""

    __slots__ = ()

    def zero(self, buffer):
        return (0.0, 0.0)

    def sum_rows(self, rows, stats, start, stop):
        for i in range(start, stop):
            stats = add(self, stats, row_at(rows, i))
        return stats

    def keep(self, stats, buffer):
        return stats

    def rest(self, total, left, buffer):
        return (total[0] - left[0], total[1] - left[1])

    def store(self, stats, sums):
        sums[0], sums[1] = np.int64(stats[0]), np.int64(stats[1])

    def clear_bin(self, hist, at, width):
        # A loop over two or three numbers became a call of memset, a tenth of the time of growth.
        hist[at] = hist[at + np.uint64(1)] = 0
        if width > 2:
            hist[at + np.uint64(2)] = 0


class ArraySums:
    """Statistics that are any number of numbers, in a buffer of the worker."""

    __slots__ = ()

    def zero(self, buffer):
        for k in range(len(buffer)):
            buffer[k] = 0
        return buffer

    def sum_rows(self, rows, stats, start, stop):
        for i in range(start, stop):
            add(self, stats, row_at(rows, i))
        return stats

    def keep(self, stats, buffer):
        for k in range(len(stats)):
            buffer[k] = stats[k]
        return buffer

    def rest(self, total, left, buffer):
        for k in range(len(total)):
            buffer[k] = total[k] - left[k]
        return buffer

    def take(self, stats, hist, at):
        for k in range(len(stats)):
            stats[k] += hist[at + np.uint64(k)]
        return stats

    def store(self, stats, sums):
        if len(sums) == len(stats):
            for k in range(len(stats)):
                sums[k] = stats[k]

    def load(self, sums, buffer):
        if len(sums) == len(buffer):
            for k in range(len(buffer)):
                buffer[k] = sums[k]
        return buffer

    def rows_in(self, hist, at, width):
        if width > self.n_stats:
            return hist[at + np.uint64(width) - np.uint64(1)]
        rows = np.int64(0)
        for k in range(self.n_weights):
            rows += hist[at + np.uint64(k)]
        return rows
