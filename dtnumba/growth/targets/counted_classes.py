# mypy: ignore-errors
# ruff: noqa: D102
"""Targets of two to eight classes whose rows count several times: bins packed in words, for the trees of forests."""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import gain_of, score_of
from dtnumba.growth.targets.contract import TupleSums, weight_of
from dtnumba.growth.targets.leaf_values import ClassLeaves, row_at
from dtnumba.growth.targets.two_classes import TwoNumbers, WeightedRows, holds_one_class
from dtnumba.runtime.instructions.bits import bit_count, with_item
from dtnumba.runtime.instructions.column_blocks import add_labels, add_records
from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.records import replacing


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


@kernel_type
class OwnRecords(NamedTuple):
    """Records of a few rows."""

    record: np.ndarray


_with_record = replacing("record")


@kernel_type
class CountedTwoClasses(TwoNumbers, ClassLeaves, _CountedClassFields):
    """One output with two classes, and rows that count several times: (rows of class 0, rows of class 1).

    A bin is one int64, rows << 32 | rows of class 1: one addition a row, and half the memory to clear and walk.
    """

    __slots__ = ()

    def own_arrays(self, workers, n_small, n):
        return OwnRecords(per_worker(workers, n_small, self.record.dtype))

    def with_counts(self, own, counts, rows, n):
        """Make the counts records: the labels come along in their lowest bit."""
        for i in range(n):
            row = rows[i]
            counts[row] = (counts[row] << 1) | self.record[row]
        return _with_record(self, counts)

    def gather(self, own, rows, start, stop):
        for i in range(start, stop):
            own.record[i - start] = self.record[rows[i]]
        return _with_record(self, own.record)

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

    def may_pack(self):
        """Tell that fills are compiled for bins of one number, too."""
        return True

    def packs_bin_in_int64(self):
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


@kernel_type
class FewClasses(WeightedRows, TupleSums, ClassLeaves, _FewClassFields):
    """One output with three to eight classes, and rows that count several times: a tuple of counts.

    A bin holds two classes a word, each in 32 bits: one addition a row, half the memory, and many cuts at once. Where a
    node has little weight it holds four a word, or all: 9 bits for each of seven classes are enough for most nodes.
    """

    __slots__ = ()

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

    def may_pack(self):
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
        return holds_one_class(stats)

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
