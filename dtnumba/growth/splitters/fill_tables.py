# mypy: ignore-errors
"""Histograms of the features that a node looks at, filled end to end, and which of their bins hold rows.

Where many rows are, a pass fills the tables of several features at once. Plain targets fill one cell after another.
"""

import numpy as np

from dtnumba.growth.targets.contract import holds_rows, is_plain, item_of, put_item
from dtnumba.runtime.instructions.bits import prefetch
from dtnumba.runtime.kernels import by_class, by_having, inline

_ONE, _TWO, _FOUR, _SIX = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(6)
_THREE, _FIVE = 3, 5  # tables filled at once: sqrt(28) features are five
_63, _64 = np.uint64(63), np.uint64(64)
# From this many rows on most bins are touched, and looking for them afterwards is cheaper than marking every cell.
MARKED_ROWS = 512
# Rows whose codes are asked for ahead.
_AHEAD = np.uint64(16)


@inline
def _fill_plainly(target, splitter, bin_width, own, features, first, last, start, stop):
    width = np.uint64(bin_width)
    _fill_marking(splitter, width, target, own, features, first, last, start, stop)
    if splitter.counted:
        _count_rows(splitter, width, own, features, first, last, start, stop)


@inline
def _fill_some(target, splitter, bin_width, own, features, first, last, start, stop):
    """Fill the tables of features[first:last], end to end, and mark the bins touched where these are looked for so.

    Positions are unsigned and tables stand in the order of the draw: a signed index and a product a cell cost a third.
    A pass over the rows fills five tables at once, what is left over three or one: loops of known length are unrolled.
    """
    width = np.uint64(bin_width)
    if width != _ONE and stop - start < MARKED_ROWS:
        _fill_marking(splitter, width, target, own, features, first, last, start, stop)
    else:
        at = first
        while at + _FIVE <= last:
            fill_five(target, splitter, width, own, features, at, first, start, stop)
            at += _FIVE
        while at + _THREE <= last:
            fill_three(target, splitter, width, own, features, at, first, start, stop)
            at += _THREE
        while at < last:
            _fill_one(splitter, width, target, own, features, at, first, start, stop)
            at += 1
    if splitter.counted:
        _count_rows(splitter, width, own, features, first, last, start, stop)
    if width != _ONE and stop - start >= MARKED_ROWS:
        for j in range(last - first):
            base, n_codes = j * splitter.n_bins * bin_width, splitter.n_codes[features[first + j]]
            mark_occupied(target, own.sparse, base, bin_width, n_codes, own.masks, j)


fill_some = by_class(is_plain, _fill_plainly, _fill_some)


@inline
def _count_rows(splitter, width, own, features, first, last, start, stop):
    """Count rows apart from their weights, in the last number of each bin."""
    stride = np.uint64(splitter.n_bins) * width
    for i in range(np.uint64(start), np.uint64(stop)):
        row, at = np.uint64(splitter.rows[i]), width - _ONE
        for j in range(np.uint64(first), np.uint64(last)):
            own.sparse[at + np.uint64(splitter.codes[row, np.uint64(features[j])]) * width] += 1
            at += stride


@inline
def _fill_one(splitter, width, target, own, features, at, first, start, stop):
    """Fill the table of features[at]."""
    stride = np.uint64(splitter.n_bins) * width
    table, end, f = np.uint64(at - first) * stride, np.uint64(stop - 1), np.uint64(features[np.uint64(at)])
    for i in range(np.uint64(start), np.uint64(stop)):
        row = np.uint64(splitter.rows[i])
        prefetch(splitter.codes, np.uint64(splitter.rows[min(i + _AHEAD, end)]), f)
        put_item(target, own.sparse, table + np.uint64(splitter.codes[row, f]) * width, item_of(target, row))


@inline
def _three_from(features, k, to, stride):
    """Return three features from the k-th on, and where their tables begin, the first at ``to``."""
    a, b, c = np.uint64(features[k]), np.uint64(features[k + _ONE]), np.uint64(features[k + _TWO])
    return (a, b, c), (to, to + stride, to + stride + stride)


@inline
def _put_three(target, table, codes, row, features, to, width, item):
    """Add a row's item to the bins of three features."""
    put_item(target, table, to[0] + np.uint64(codes[row, features[0]]) * width, item)
    put_item(target, table, to[1] + np.uint64(codes[row, features[1]]) * width, item)
    put_item(target, table, to[2] + np.uint64(codes[row, features[2]]) * width, item)


@inline
def _fill_three_of(target, splitter, own, features, at, first, start, stop, width):
    """Fill the tables of features[at : at + 3]."""
    codes, rows, k, end = splitter.codes, splitter.rows, np.uint64(at), np.uint64(stop - 1)
    stride = np.uint64(splitter.n_bins) * width
    (a, b, c), (to_a, to_b, to_c) = _three_from(features, k, np.uint64(at - first) * stride, stride)
    for i in range(np.uint64(start), np.uint64(stop)):
        row = np.uint64(rows[i])
        prefetch(codes, np.uint64(rows[min(i + _AHEAD, end)]), a)
        item = item_of(target, row)
        _put_three(target, own.sparse, codes, row, (a, b, c), (to_a, to_b, to_c), width, item)


@inline
def _fill_five_of(target, splitter, own, features, at, first, start, stop, width):
    """Fill the tables of features[at : at + 5]."""
    codes, rows, k, end = splitter.codes, splitter.rows, np.uint64(at), np.uint64(stop - 1)
    stride = np.uint64(splitter.n_bins) * width
    (a, b, c), (to_a, to_b, to_c) = _three_from(features, k, np.uint64(at - first) * stride, stride)
    d, e = np.uint64(features[k + np.uint64(3)]), np.uint64(features[k + _FOUR])
    to_d, to_e = to_c + stride, to_c + stride + stride
    for i in range(np.uint64(start), np.uint64(stop)):
        row = np.uint64(rows[i])
        prefetch(codes, np.uint64(rows[min(i + _AHEAD, end)]), a)
        item = item_of(target, row)
        _put_three(target, own.sparse, codes, row, (a, b, c), (to_a, to_b, to_c), width, item)
        put_item(target, own.sparse, to_d + np.uint64(codes[row, d]) * width, item)
        put_item(target, own.sparse, to_e + np.uint64(codes[row, e]) * width, item)


def _fill_by(fill):
    """Make a fill of several tables, compiled for bins of one number too where the target may have such bins.

    The features of a pass are read once, and a bin of one number is found without a product: a row of five took 11.6
    cycles with seven products, of which one is done a cycle.
    """

    def wide(target, splitter, width, own, features, at, first, start, stop):
        fill(target, splitter, own, features, at, first, start, stop, width)

    def wide_or_one(target, splitter, width, own, features, at, first, start, stop):
        if width == _ONE:
            fill(target, splitter, own, features, at, first, start, stop, _ONE)
        else:
            fill(target, splitter, own, features, at, first, start, stop, width)

    return by_having("may_pack", wide_or_one, wide)


fill_three, fill_five = _fill_by(_fill_three_of), _fill_by(_fill_five_of)


@inline
def _fill_marking(splitter, width, target, own, features, first, last, start, stop):
    """Fill tables and mark the bins touched, one pass over the rows."""
    stride = np.uint64(splitter.n_bins) * width
    for i in range(np.uint64(start), np.uint64(stop)):
        row, at, word = np.uint64(splitter.rows[i]), np.uint64(0), np.uint64(0)
        item = item_of(target, row)
        for j in range(np.uint64(first), np.uint64(last)):
            code = np.uint64(splitter.codes[row, np.uint64(features[j])])
            put_item(target, own.sparse, at + code * width, item)
            own.masks[word + (code >> _SIX)] |= _ONE << (code & _63)
            at += stride
            word += _FOUR


@inline
def mark_occupied(target, table, base, width, n_codes, masks, slot):
    """Mark the bins of a table that hold rows."""
    for word in range(_FOUR):
        mask, begin = np.uint64(0), word << _SIX
        for code in range(begin, min(begin + _64, np.uint64(n_codes + 1))):
            at = np.uint64(base) + code * np.uint64(width)
            mask |= np.uint64(holds_rows(target, table, at, width)) << (code & _63)
        masks[(np.uint64(slot) << _TWO) + word] = mask
