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
load(sums, buffer), store(stats, sums)  statistics from and to ``n_sums`` int64: what ``describe`` reads
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
level_key(stats)                     what orders the levels of a category, where one number does: the share of
                                     the second class, or the mean

For forests, where every tree counts the rows in its own way and workers copy the rows of small subtrees:

own_arrays(workers, n_few, n)        (Python) what workers need for the following, every array with a leading worker
                                     axis; its pick(worker) is one worker's: ``own``
with_scratch(own)                    the same target with scratch of this worker
with_counts(own, counts, rows, n)    the same target where rows weigh ``counts``; rows[:n] are the tree's
gather(own, rows, start, stop)       the same target of the rows at positions [start, stop) alone, numbered from 0.
                                     Left out: the target's subtrees are grown on the whole table
"""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import bit_count, by_type, inline, part, with_item
from dtnumba._row_vectors import add_labels, add_moments, add_records
from dtnumba.criteria import gain_of, score_of
from dtnumba.leaf_values import ClassLeaves, NumberLeaves, row_at

zero = by_type("zero")
sum_rows = by_type("sum_rows")
add = by_type("add")
keep = by_type("keep")
rest = by_type("rest")
weight_of = by_type("weight")
is_pure = by_type("is_pure")
split_score = by_type("score")
split_gain = by_type("gain")
put = by_type("put")
take = by_type("take")
rows_in = by_type("rows_in")
bin_sums = by_type("bin_sums")
level_key = by_type("level_key")
load_bits = by_type("load_bits")
bit_planes = by_type("bit_planes")
sums_of_bits = by_type("sums_of_bits")
load_numbers = by_type("load_numbers")
load = by_type("load")
add_left = by_type("add_left")
left_bin = by_type("left_bin")
store = by_type("store")


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


def _nothing_to_rank(target, rows, start, stop):
    pass


def _no_trees(target, n):
    return 0


def _no_blocks(target):
    return 0


rank_rows = by_type("rank_rows", _nothing_to_rank)
tree_size = by_type("tree_size", _no_trees)


def _no_arrays(target, workers, n_few, n):
    return NoOwn()


def _unchanged(target, own):
    return target


def _as_it_is(target, own, rows, start, stop):
    return target


own_arrays = by_type("own_arrays", _no_arrays)
with_scratch = by_type("with_scratch", _unchanged)
with_counts = by_type("with_counts")
gather = by_type("gather", _as_it_is)
pick_own_arrays = by_type("pick")
block_size = by_type("block_size", _no_blocks)


class Work(NamedTuple):
    """Buffers of one worker for statistics that are arrays."""

    total: np.ndarray
    left: np.ndarray
    right: np.ndarray
    best: np.ndarray
    seen: np.ndarray  # (3, size) float64: parent, left and right as the criterion sees them
    trees: np.ndarray  # (4, size) int64: sums by rank, for targets that are ordered rather than summed
    costs: np.ndarray  # (size,) float64: cost of each cut, for the same
    sums: np.ndarray  # (5, n_cuts) int64: sums over a feature's bins up to each
    codes: np.ndarray  # (n_cuts,) uint64: the bins
    scores: np.ndarray  # (n_cuts,) float64
    pairs: np.ndarray  # (n_cuts,) int32: sums of small nodes
    rough: np.ndarray  # (n_cuts,) float32: scores of these


@part
class NoOwn(NamedTuple):
    """Nothing."""

    def pick(self, worker):
        return self


@part
class OwnLabels(NamedTuple):
    """Labels and weights of a few rows."""

    label: np.ndarray
    weights: np.ndarray

    def pick(self, worker):
        return OwnLabels(self.label[worker], self.weights[worker])


@part
class OwnMoments(NamedTuple):
    """Moments and weights: of a few rows, or of all."""

    moments: np.ndarray
    residuals: np.ndarray
    weights: np.ndarray

    def pick(self, worker):
        return OwnMoments(self.moments[worker], self.residuals[worker], self.weights[worker])


class _Tuple:
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


class _Array:
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
        for k in range(len(stats)):
            sums[k] = stats[k]

    def load(self, sums, buffer):
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


class _ClassFields(NamedTuple):
    label: np.ndarray  # (n,) uint8 for two classes, int32 for more
    offsets: np.ndarray  # (2,) int64: 0 and the number of classes
    weights: np.ndarray  # (n,) int64; empty where no row's weight is read
    unit: float  # a weight of 1, in the caller's units
    n_stats: int
    n_weights: int  # the first so many statistics sum to the weight


# Cuts scored at once where that is faster.
BLOCK = 256


class _Labelled:
    """One output with classes."""

    __slots__ = ()

    def own_arrays(self, workers, n_few, n):
        width = n_few if len(self.weights) > 0 else 0
        return OwnLabels(np.empty((workers, n_few), self.label.dtype), np.empty((workers, width), self.weights.dtype))


class _TwoNumbers(_Tuple):
    """Two numbers that are both float64: the rows of each of two classes."""

    __slots__ = ()

    def bin_sums(self, sums, k):
        return (float(sums[0, k]), float(sums[1, k]))

    def block_size(self):
        return BLOCK

    def level_key(self, stats):
        return stats[1] / (stats[0] + stats[1])

    def load(self, sums, buffer):
        return (float(sums[0]), float(sums[1]))

    def is_pure(self, stats, rows, start, stop):
        return stats[0] == 0.0 or stats[1] == 0.0

    def weight(self, stats):
        return stats[0] + stats[1]

    def score(self, criterion, left, right, work):
        return score_of(criterion, left, right, left[0] + left[1], right[0] + right[1])

    def gain(self, criterion, left, right, work):
        both = (left[0] + right[0], left[1] + right[1])
        return gain_of(criterion, both, (left, right), (left[0] + left[1], right[0] + right[1]))


@part
class TwoClasses(_Labelled, _TwoNumbers, ClassLeaves, _ClassFields):
    """One output with two classes and rows of weight 1: (rows of class 0, rows of class 1)."""

    __slots__ = ()

    def gather(self, own, rows, start, stop):
        for i in range(start, stop):
            own.label[i - start] = self.label[rows[i]]
        return TwoClasses(own.label, self.offsets, self.weights, self.unit, self.n_stats, self.n_weights)

    def add(self, stats, row):
        second = float(self.label[row])
        return (stats[0] + (1.0 - second), stats[1] + second)

    def put(self, hist, at, row):
        hist[at + np.uint64(self.label[row])] += 1

    def take(self, stats, hist, at):
        return (stats[0] + float(hist[at]), stats[1] + float(hist[at + np.uint64(1)]))

    def rows_in(self, hist, at, width):
        return hist[at] + hist[at + np.uint64(1)]


@part
class WeightedTwoClasses(_Labelled, _TwoNumbers, ClassLeaves, _ClassFields):
    """One output with two classes: (weight of class 0, weight of class 1), in units of ``unit``."""

    __slots__ = ()

    def with_counts(self, own, counts, rows, n):
        return WeightedTwoClasses(self.label, self.offsets, counts, self.unit, self.n_stats, self.n_weights)

    def gather(self, own, rows, start, stop):
        for i in range(start, stop):
            row = rows[i]
            own.label[i - start], own.weights[i - start] = self.label[row], self.weights[row]
        return WeightedTwoClasses(own.label, self.offsets, own.weights, self.unit, self.n_stats, self.n_weights)

    def add(self, stats, row):
        weight = float(self.weights[row])
        second = weight * float(self.label[row])
        return (stats[0] + (weight - second), stats[1] + second)

    def put(self, hist, at, row):
        hist[at + np.uint64(self.label[row])] += self.weights[row]

    def take(self, stats, hist, at):
        return (stats[0] + float(hist[at]), stats[1] + float(hist[at + np.uint64(1)]))

    def rows_in(self, hist, at, width):
        return hist[at + np.uint64(2)] if width > 2 else hist[at] + hist[at + np.uint64(1)]

    def weight(self, stats):
        return (stats[0] + stats[1]) * self.unit

    def score(self, criterion, left, right, work):
        a, b = (left[0] * self.unit, left[1] * self.unit), (right[0] * self.unit, right[1] * self.unit)
        return score_of(criterion, a, b, a[0] + a[1], b[0] + b[1])

    def gain(self, criterion, left, right, work):
        a, b = (left[0] * self.unit, left[1] * self.unit), (right[0] * self.unit, right[1] * self.unit)
        return gain_of(criterion, (a[0] + b[0], a[1] + b[1]), (a, b), (a[0] + a[1], b[0] + b[1]))


def few_classes(codes, offsets, weights):
    """Return the target of three to eight classes and rows that count several times."""
    n_stats = int(offsets[-1])
    words = (n_stats + 1) // 2
    fits = np.uint64(1), np.int64(32)
    return FewClasses(codes, offsets, weights, (0.0,) * n_stats, 1.0, words, words, n_stats, *fits)


class _CountedClassFields(NamedTuple):
    record: np.ndarray  # (n,) how often a row counts << 1 | its class
    offsets: np.ndarray  # (2,) int64
    unit: float
    n_stats: int  # 1: numbers a bin
    n_weights: int
    n_sums: int  # 2


COUNT_BITS = 3  # of how often a row counts: a bootstrap draws one of 100,000 rows eight times or more


@inline
def counted(rows, ones, twos, fours):
    """Return how often some rows count in all, given which of them have each bit of their count."""
    total = bit_count(rows & ones) + (bit_count(rows & twos) << np.uint64(1))
    return np.int64(total + (bit_count(rows & fours) << np.uint64(2)))


_32 = np.int64(32)
_LOW = np.int64((1 << 32) - 1)


@part
class OwnRecords(NamedTuple):
    """Records of a few rows."""

    record: np.ndarray

    def pick(self, worker):
        return OwnRecords(self.record[worker])


@part
class CountedTwoClasses(_TwoNumbers, ClassLeaves, _CountedClassFields):
    """One output with two classes, and rows that count several times: (rows of class 0, rows of class 1).

    A bin is one int64, rows << 32 | rows of class 1: one addition a row, and half the memory to clear and walk.
    """

    __slots__ = ()

    def own_arrays(self, workers, n_few, n):
        return OwnRecords(np.empty((workers, n_few), self.record.dtype))

    def with_counts(self, own, counts, rows, n):
        """Make the counts records: the labels come along in their lowest bit."""
        for i in range(n):
            row = rows[i]
            counts[row] = (counts[row] << 1) | self.record[row]
        return CountedTwoClasses(counts, self.offsets, self.unit, self.n_stats, self.n_weights, self.n_sums)

    def gather(self, own, rows, start, stop):
        for i in range(start, stop):
            own.record[i - start] = self.record[rows[i]]
        return CountedTwoClasses(own.record, self.offsets, self.unit, self.n_stats, self.n_weights, self.n_sums)

    def item(self, row):
        record = np.int64(self.record[row])
        count = record >> np.int64(1)
        return (count << _32) + (count & -(record & np.int64(1)))

    def put_item(self, hist, at, item):
        hist[at] += item

    def load_bits(self, rows, start, n, planes):
        for b in range(2 * COUNT_BITS):
            planes[b] = np.uint64(0)
        largest = np.uint64(0)
        for i in range(n):
            record = np.uint64(self.record[row_at(rows, start + i)])
            count, first = record >> np.uint64(1), np.uint64(COUNT_BITS) * (record & np.uint64(1))
            largest |= count
            for b in range(np.uint64(COUNT_BITS)):
                planes[first + b] |= ((count >> b) & np.uint64(1)) << np.uint64(i)
        return largest >> np.uint64(COUNT_BITS) == 0

    def may_be_one_word(self):
        """Tell that fills are compiled for bins of one number, too."""
        return True

    def in_one_word(self):
        """Tell that a bin is one number, which its rows make larger."""
        return True

    # Classes beyond two take as many words each, and gain a twentieth where two classes gain a fifth.
    def bit_planes(self, planes):
        return (planes[0], planes[1], planes[2], planes[3], planes[4], planes[5])

    def sums_of_bits(self, left, planes):
        zeros = counted(left, planes[0], planes[1], planes[2])
        return (float(zeros), float(counted(left, planes[3], planes[4], planes[5])))

    def no_item(self):
        return np.int64(0)

    def add_item_if(self, items, item, flag):
        return items + (item & -flag)

    def add_left(self, rows, start, stop, column, cuts, sums, step):
        return add_records(rows.codes, rows.rows, start, stop, column, cuts, self.record, sums, step)

    def left_bin(self, sums, column, step, bins, k):
        bins[0, k] = ((sums[column] + sums[step + column]) << _32) + sums[step + column]

    def put(self, hist, at, row):
        hist[at + np.uint64(self.record[row] & 1)] += np.int64(self.record[row]) >> np.int64(1)

    def add(self, stats, row):
        record = np.int64(self.record[row])
        count = float(record >> np.int64(1))
        second = count * float(record & np.int64(1))
        return (stats[0] + (count - second), stats[1] + second)

    def bin_sums(self, sums, k):
        rows = sums[0, k]
        second = rows & _LOW
        return (float((rows >> _32) - second), float(second))

    def take(self, stats, hist, at):
        rows, second = float(hist[at] >> _32), float(hist[at] & _LOW)
        return (stats[0] + (rows - second), stats[1] + second)

    def rows_in(self, hist, at, width):
        return hist[at + np.uint64(width) - np.uint64(1)] if width > 1 else hist[at] >> _32

    def clear_bin(self, hist, at, width):
        hist[at] = 0
        if width > 1:
            hist[at + np.uint64(1)] = 0


# Classes whose counts fit into four words of two counts each.
FEW_CLASSES = 8
_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)


class _FewClassFields(NamedTuple):
    label: np.ndarray  # (n,) uint8
    offsets: np.ndarray  # (2,) int64
    weights: np.ndarray  # (n,) how often a row counts
    zeros: tuple  # of n_classes float64: kernels know the number of classes
    unit: float
    n_stats: int  # numbers a bin: half of the classes
    n_weights: int
    n_sums: int  # n_classes
    packing: int  # uint64: the binary logarithm of how many classes share a word of a bin
    bits: int  # int64: of a word, for each


@part
class FewClasses(_Labelled, _Tuple, ClassLeaves, _FewClassFields):
    """One output with three to eight classes, and rows that count several times: a tuple of counts.

    A bin holds two classes a word, each in 32 bits: one addition a row, half the memory, and many cuts at once. Where a
    node has little weight it holds four a word, or all: 9 bits for each of seven classes are enough for most nodes.
    """

    __slots__ = ()

    def with_counts(self, own, counts, rows, n):
        return _few_like(self, self.label, counts)

    def gather(self, own, rows, start, stop):
        for i in range(start, stop):
            row = rows[i]
            own.label[i - start], own.weights[i - start] = self.label[row], self.weights[row]
        return _few_like(self, own.label, own.weights)

    def zero(self, buffer):
        return self.zeros

    def packed_for(self, total):
        weight, most = weight_of(self, total), np.int64(64 // len(self.zeros))
        packing, bits = _ONE, _32
        if weight < float(np.int64(1) << most):
            packing, bits = _THREE, most
        elif weight < float(1 << 16):
            packing, bits = _TWO, np.int64(16)
        words = np.int64((np.uint64(len(self.zeros) - 1) >> packing) + _ONE)
        return FewClasses(
            self.label,
            self.offsets,
            self.weights,
            self.zeros,
            self.unit,
            words,
            self.n_weights,
            self.n_sums,
            packing,
            bits,
        )

    def may_be_one_word(self):
        return True

    def item(self, row):
        label = np.uint64(self.label[row])
        place = np.int64(label & ((_ONE << self.packing) - _ONE))
        return (label >> self.packing, np.int64(self.weights[row]) << (place * self.bits))

    def put_item(self, hist, at, item):
        hist[at + item[0]] += item[1]

    def put(self, hist, at, row):
        hist[at + np.uint64(self.label[row])] += np.int64(self.weights[row])

    def add(self, stats, row):
        label = np.int64(self.label[row])
        for k in range(len(stats)):
            stats = with_item(stats, k, stats[k] + float(np.int64(self.weights[row]) * np.int64(label == k)))
        return stats

    def rest(self, total, left, buffer):
        right = total
        for k in range(len(total)):
            right = with_item(right, k, total[k] - left[k])
        return right

    def bin_sums(self, sums, k):
        stats, low = self.zeros, (np.int64(1) << self.bits) - np.int64(1)
        for c in range(len(stats)):
            word, shift = _place_of(self, c)
            stats = with_item(stats, c, float((sums[word, k] >> shift) & low))
        return stats

    def take(self, stats, hist, at):
        low = (np.int64(1) << self.bits) - np.int64(1)
        for c in range(len(stats)):
            word, shift = _place_of(self, c)
            stats = with_item(stats, c, stats[c] + float((hist[at + word] >> shift) & low))
        return stats

    def rows_in(self, hist, at, width):
        if width > self.n_stats:
            return hist[at + np.uint64(width) - np.uint64(1)]
        rows, low = np.int64(0), (np.int64(1) << self.bits) - np.int64(1)
        for c in range(len(self.zeros)):
            word, shift = _place_of(self, c)
            rows += (hist[at + word] >> shift) & low
        return rows

    def holds_rows(self, hist, at, width):
        found = hist[at]
        for k in range(_ONE, np.uint64(self.n_stats)):
            found |= hist[at + k]
        return found != 0

    def clear_bin(self, hist, at, width):
        hist[at] = 0
        if width > 1:
            hist[at + np.uint64(1)] = 0
        if width > 2:
            hist[at + np.uint64(2)] = 0
        if width > 3:
            hist[at + np.uint64(3)] = 0
        if width > 4:
            hist[at + np.uint64(4)] = 0

    def no_item(self):
        return (np.int64(0), np.int64(0), np.int64(0), np.int64(0))

    def add_item_if(self, items, item, flag):
        word, count = item[0], item[1] & -flag
        return (
            items[0] + (count & -np.int64(word == 0)),
            items[1] + (count & -np.int64(word == 1)),
            items[2] + (count & -np.int64(word == 2)),
            items[3] + (count & -np.int64(word == 3)),
        )

    def put_items(self, hist, at, items):
        for k in range(np.uint64(self.n_stats)):
            hist[at + k] += items[k]

    def add_left(self, rows, start, stop, column, cuts, sums, step):
        n, label = np.uint64(self.n_sums), self.label
        return add_labels(rows.codes, rows.rows, start, stop, column, cuts, label, self.weights, sums, step, n)

    def left_bin(self, sums, column, step, bins, k):
        for word in range(np.uint64(self.n_stats)):
            bins[word, k] = 0
        for c in range(np.uint64(self.n_sums)):
            word, shift = _place_of(self, c)
            bins[word, k] += sums[c * step + column] << shift

    def load(self, sums, buffer):
        stats = self.zeros
        for k in range(len(stats)):
            stats = with_item(stats, k, float(sums[k]))
        return stats

    def store(self, stats, sums):
        for k in range(len(stats)):
            sums[k] = np.int64(stats[k])

    def weight(self, stats):
        total = 0.0
        for k in range(len(stats)):
            total += stats[k]
        return total

    def is_pure(self, stats, rows, start, stop):
        present = 0
        for k in range(len(stats)):
            present += stats[k] > 0.0
        return present <= 1

    def score(self, criterion, left, right, work):
        return score_of(criterion, left, right, weight_of(self, left), weight_of(self, right))

    def gain(self, criterion, left, right, work):
        both = left
        for k in range(len(left)):
            both = with_item(both, k, left[k] + right[k])
        return gain_of(criterion, both, (left, right), (weight_of(self, left), weight_of(self, right)))


@inline
def _place_of(target, c):
    """Return the word of a bin that counts a class, and the lowest bit there."""
    place = np.uint64(c)
    return place >> target.packing, np.int64(place & ((_ONE << target.packing) - _ONE)) * target.bits


@inline
def _few_like(target, label, weights):
    return FewClasses(
        label,
        target.offsets,
        weights,
        target.zeros,
        target.unit,
        target.n_stats,
        target.n_weights,
        target.n_sums,
        target.packing,
        target.bits,
    )


@part
class Classes(_Labelled, _Array, ClassLeaves, _ClassFields):
    """One output with any number of classes: weight of each class."""

    __slots__ = ()

    def with_counts(self, own, counts, rows, n):
        return Classes(self.label, self.offsets, counts, self.unit, self.n_stats, self.n_weights)

    def gather(self, own, rows, start, stop):
        for i in range(start, stop):
            row = rows[i]
            own.label[i - start], own.weights[i - start] = self.label[row], self.weights[row]
        return Classes(own.label, self.offsets, own.weights, self.unit, self.n_stats, self.n_weights)

    def add(self, stats, row):
        stats[self.label[row]] += self.weights[row]
        return stats

    def put(self, hist, at, row):
        hist[at + np.uint64(self.label[row])] += self.weights[row]

    def weight(self, stats):
        total = np.int64(0)
        for k in range(len(stats)):
            total += stats[k]
        return float(total) * self.unit

    def is_pure(self, stats, rows, start, stop):
        present = 0
        for k in range(len(stats)):
            present += stats[k] > 0
        return present <= 1

    def score(self, criterion, left, right, work):
        a, b = work.seen[1], work.seen[2]
        weight_left = _see(self, left, 0, len(left), a)
        weight_right = _see(self, right, 0, len(right), b)
        return score_of(criterion, a, b, weight_left, weight_right)

    def gain(self, criterion, left, right, work):
        both, a, b = work.seen[0], work.seen[1], work.seen[2]
        weight_left = _see(self, left, 0, len(left), a)
        weight_right = _see(self, right, 0, len(right), b)
        for k in range(len(both)):
            both[k] = a[k] + b[k]
        return gain_of(criterion, both, (a, b), (weight_left, weight_right))


@inline
def _see(target, stats, start, stop, seen):
    """Write the weights of classes [start, stop) into ``seen``, zeros after them; return their sum."""
    total = 0.0
    for k in range(start, stop):
        weight = float(stats[k]) * target.unit
        seen[k - start] = weight
        total += weight
    for k in range(stop - start, len(seen)):
        seen[k] = 0.0
    return total


class _ManyClassFields(NamedTuple):
    labels: np.ndarray  # (n, n_outputs) int32
    offsets: np.ndarray  # (n_outputs + 1,) int64: where an output's classes stand in the statistics
    weights: np.ndarray
    unit: float
    n_stats: int
    n_weights: int  # the first so many statistics sum to the weight


@part
class ManyClasses(_Array, ClassLeaves, _ManyClassFields):
    """Several outputs with classes, end to end; a criterion's numbers are averaged over the outputs."""

    __slots__ = ()

    def with_counts(self, own, counts, rows, n):
        return ManyClasses(self.labels, self.offsets, counts, self.unit, self.n_stats, self.n_weights)

    def add(self, stats, row):
        weight = self.weights[row]
        for o in range(len(self.offsets) - 1):
            stats[self.offsets[o] + self.labels[row, o]] += weight
        return stats

    def put(self, hist, at, row):
        weight = self.weights[row]
        for o in range(len(self.offsets) - 1):
            hist[at + np.uint64(self.offsets[o] + self.labels[row, o])] += weight

    def weight(self, stats):
        total = np.int64(0)
        for k in range(self.offsets[1]):
            total += stats[k]
        return float(total) * self.unit

    def is_pure(self, stats, rows, start, stop):
        for o in range(len(self.offsets) - 1):
            present = 0
            for k in range(self.offsets[o], self.offsets[o + 1]):
                present += stats[k] > 0
            if present > 1:
                return False
        return True

    def score(self, criterion, left, right, work):
        a, b = work.seen[1], work.seen[2]
        n_outputs = len(self.offsets) - 1
        total = 0.0
        for o in range(n_outputs):
            k = self.offsets[o + 1] - self.offsets[o]
            weight_left = _see(self, left, self.offsets[o], self.offsets[o + 1], a)
            weight_right = _see(self, right, self.offsets[o], self.offsets[o + 1], b)
            total += score_of(criterion, a[:k], b[:k], weight_left, weight_right)
        return total / n_outputs

    def gain(self, criterion, left, right, work):
        both, a, b = work.seen[0], work.seen[1], work.seen[2]
        n_outputs = len(self.offsets) - 1
        total = 0.0
        for o in range(n_outputs):
            weight_left = _see(self, left, self.offsets[o], self.offsets[o + 1], a)
            weight_right = _see(self, right, self.offsets[o], self.offsets[o + 1], b)
            n = self.offsets[o + 1] - self.offsets[o]
            for k in range(n):
                both[k] = a[k] + b[k]
            total += gain_of(criterion, both[:n], (a[:n], b[:n]), (weight_left, weight_right))
        return total / n_outputs


class _NumberFields(NamedTuple):
    moments: np.ndarray  # (n, n_outputs * n_moments) int64: weight * (y - offset), its square; in units of ``units``
    units: np.ndarray  # (n_outputs * n_moments,) float64: a moment of 1, in the caller's units
    n_moments: int
    residuals: np.ndarray  # (n, n_outputs) int64: what rounding took from the first moment, in ``residual_units``
    residual_units: np.ndarray  # (n_outputs,) float64
    offsets: np.ndarray  # (n_outputs,) float64
    moment_unit: float  # units[0]
    weights: np.ndarray  # (n,) int64
    unit: float
    y: np.ndarray  # (n, n_outputs) float64, as passed: equal values make a node pure
    n_stats: int
    n_weights: int  # the first so many statistics sum to the weight


@part
class Number(_Tuple, NumberLeaves, _NumberFields):
    """One output that is a number, and rows of weight 1: (rows, sum of y in units of ``moment_unit``)."""

    __slots__ = ()

    def zero(self, buffer):
        return (0.0, np.int64(0))

    def level_key(self, stats):
        return float(stats[1]) / stats[0]

    def bin_sums(self, sums, k):
        return (float(sums[0, k]), sums[1, k])

    def load(self, sums, buffer):
        return (float(sums[0]), sums[1])

    def add(self, stats, row):
        return (stats[0] + 1.0, stats[1] + self.moments[row, 0])

    def put(self, hist, at, row):
        hist[at] += 1
        hist[at + np.uint64(1)] += self.moments[row, 0]

    def take(self, stats, hist, at):
        return (stats[0] + float(hist[at]), stats[1] + hist[at + np.uint64(1)])

    def rows_in(self, hist, at, width):
        return hist[at]

    def weight(self, stats):
        return stats[0]

    def is_pure(self, stats, rows, start, stop):
        return _all_equal(self.y, rows, start, stop)

    def score(self, criterion, left, right, work):
        a, b = (float(left[1]) * self.moment_unit,), (float(right[1]) * self.moment_unit,)
        return score_of(criterion, a, b, left[0], right[0])

    def gain(self, criterion, left, right, work):
        a, b = (float(left[1]) * self.moment_unit,), (float(right[1]) * self.moment_unit,)
        return gain_of(criterion, (a[0] + b[0],), (a, b), (left[0], right[0]))


@part
class CountedNumber(_Tuple, NumberLeaves, _NumberFields):
    """One output that is a number, and rows that count several times: (weight, sum of y in ``moment_unit``)."""

    __slots__ = ()

    def own_arrays(self, workers, n_few, n):
        moments = np.empty((workers, n_few, 1), np.int64)
        return OwnMoments(moments, np.empty((workers, 0, 1), np.int64), np.empty((workers, n_few), self.weights.dtype))

    def with_counts(self, own, counts, rows, n):
        return number_like(self, self.moments, counts)

    def gather(self, own, rows, start, stop):
        for i in range(start, stop):
            row = rows[i]
            own.moments[i - start, 0], own.weights[i - start] = self.moments[row, 0], self.weights[row]
        return number_like(self, own.moments, own.weights)

    def zero(self, buffer):
        return (0.0, np.int64(0))

    def level_key(self, stats):
        return float(stats[1]) / stats[0]

    def bin_sums(self, sums, k):
        return (float(sums[0, k]), sums[1, k])

    def load(self, sums, buffer):
        return (float(sums[0]), sums[1])

    def item(self, row):
        count = np.int64(self.weights[row])
        return (count, count * self.moments[row, 0])

    def put_item(self, hist, at, item):
        hist[at] += item[0]
        hist[at + np.uint64(1)] += item[1]

    def no_item(self):
        return (np.int64(0), np.int64(0))

    def add_item_if(self, items, item, flag):
        return (items[0] + (item[0] & -flag), items[1] + (item[1] & -flag))

    def add_left(self, rows, start, stop, column, cuts, sums, step):
        return add_moments(rows.codes, rows.rows, start, stop, column, cuts, self.moments, self.weights, sums, step)

    def left_bin(self, sums, column, step, bins, k):
        bins[0, k], bins[1, k] = sums[column], sums[step + column]

    def add(self, stats, row):
        count = np.int64(self.weights[row])
        return (stats[0] + float(count), stats[1] + count * self.moments[row, 0])

    def put(self, hist, at, row):
        count = np.int64(self.weights[row])
        hist[at] += count
        hist[at + np.uint64(1)] += count * self.moments[row, 0]

    def take(self, stats, hist, at):
        return (stats[0] + float(hist[at]), stats[1] + hist[at + np.uint64(1)])

    def rows_in(self, hist, at, width):
        return hist[at + np.uint64(width) - np.uint64(1)] if width > 2 else hist[at]

    def weight(self, stats):
        return stats[0]

    def load_numbers(self, rows, start, n, targets, numbers):
        for i in range(np.uint64(n)):
            row = row_at(rows, np.uint64(start) + i)
            targets[i], numbers[np.uint64(2) * i] = self.moments[row, 0], np.int64(self.weights[row])
            numbers[np.uint64(2) * i + np.uint64(1)] = self.moments[row, 0] * np.int64(self.weights[row])

    def residual_at(self, row, o):
        return self.residuals[row, o] * np.int64(self.weights[row])

    def is_pure(self, stats, rows, start, stop):
        first = self.moments[row_at(rows, start), 0]
        for i in range(start + 1, stop):
            if self.moments[row_at(rows, i), 0] != first:
                return False
        return True

    def score(self, criterion, left, right, work):
        a, b = (float(left[1]) * self.moment_unit,), (float(right[1]) * self.moment_unit,)
        return score_of(criterion, a, b, left[0], right[0])

    def gain(self, criterion, left, right, work):
        a, b = (float(left[1]) * self.moment_unit,), (float(right[1]) * self.moment_unit,)
        return gain_of(criterion, (a[0] + b[0],), (a, b), (left[0], right[0]))


@inline
def number_like(target, moments, weights):
    """Return a target of one number with other moments, whose rows count several times."""
    return CountedNumber(
        moments,
        target.units,
        target.n_moments,
        target.residuals,
        target.residual_units,
        target.offsets,
        target.moment_unit,
        weights,
        target.unit,
        target.y,
        target.n_stats,
        target.n_weights,
    )


@inline
def _all_equal(y, rows, start, stop):
    first = row_at(rows, start)
    for i in range(start + 1, stop):
        row = row_at(rows, i)
        for o in range(y.shape[1]):
            if y[row, o] != y[first, o]:
                return False
    return True


@part
class Numbers(_Array, NumberLeaves, _NumberFields):
    """Outputs that are numbers: weight, then the moments of each; a criterion's numbers are averaged."""

    __slots__ = ()

    def own_arrays(self, workers, n_few, n):
        moments = np.empty((workers, *self.moments.shape), np.int64)
        residuals = np.empty((workers, *self.residuals.shape), np.int64)
        return OwnMoments(moments, residuals, np.empty((workers, 0), np.int64))

    def with_counts(self, own, counts, rows, n):
        for i in range(n):
            row = rows[i]
            for k in range(self.moments.shape[1]):
                own.moments[row, k] = self.moments[row, k] * np.int64(counts[row])
            for o in range(self.residuals.shape[1]):
                own.residuals[row, o] = self.residuals[row, o] * np.int64(counts[row])
        return Numbers(
            own.moments,
            self.units,
            self.n_moments,
            own.residuals,
            self.residual_units,
            self.offsets,
            self.moment_unit,
            counts,
            self.unit,
            self.y,
            self.n_stats,
            self.n_weights,
        )

    def add(self, stats, row):
        stats[0] += self.weights[row]
        for k in range(len(self.units)):
            stats[k + 1] += self.moments[row, k]
        return stats

    def put(self, hist, at, row):
        hist[at] += self.weights[row]
        for k in range(len(self.units)):
            hist[at + np.uint64(k + 1)] += self.moments[row, k]

    def weight(self, stats):
        return float(stats[0]) * self.unit

    def is_pure(self, stats, rows, start, stop):
        return _all_equal(self.y, rows, start, stop)

    def score(self, criterion, left, right, work):
        a, b = work.seen[1], work.seen[2]
        total = 0.0
        for first in range(0, len(self.units), self.n_moments):
            for k in range(self.n_moments):
                a[k] = float(left[first + k + 1]) * self.units[first + k]
                b[k] = float(right[first + k + 1]) * self.units[first + k]
            total += score_of(criterion, a, b, float(left[0]) * self.unit, float(right[0]) * self.unit)
        return total * self.n_moments / len(self.units)

    def gain(self, criterion, left, right, work):
        both, a, b = work.seen[0], work.seen[1], work.seen[2]
        weights = (float(left[0]) * self.unit, float(right[0]) * self.unit)
        total = 0.0
        for first in range(0, len(self.units), self.n_moments):
            for k in range(self.n_moments):
                a[k] = float(left[first + k + 1]) * self.units[first + k]
                b[k] = float(right[first + k + 1]) * self.units[first + k]
                both[k] = a[k] + b[k]
            total += gain_of(criterion, both, (a, b), weights)
        return total * self.n_moments / len(self.units)
