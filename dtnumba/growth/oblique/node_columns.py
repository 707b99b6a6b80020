# mypy: ignore-errors
"""The columns that a node may combine, scaled to lie between 0 and 1 there.

Searches add up values that are rounded to a grid, so coarse that float64 holds every sum exactly: no order of the rows
changes a bit. The sums of a test itself are of the values as they are.
"""

import math

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.targets.leaf_values import row_at
from dtnumba.runtime.kernels import by_type, inline, outlined

_WEIGHT_BITS = 8  # of a row's weight, to which the searches round it
_MANTISSA = 52
UNIT_RANGE, UNIT_SPREAD, UNIT_WIDEST = range(
    3
)  # what a column is divided by: its range, its spread, that of the widest
LEAST_SPREAD = 1.0 / 16.0  # of a range: of a column of rarer values, or others would lie on too few points


@inline
def grid_of(n_bits):
    """Return the number that adding and subtracting rounds a value in [0, 1] to so many bits behind the point."""
    return 1.5 * 2.0 ** (_MANTISSA - n_bits)


@inline
def rounded(value, grid):
    """Round a value in [0, 1] to a grid."""
    return (value + grid) - grid


@inline
def bits_for_products(n):
    """Return to how many bits values may be rounded so that the products of two of n rows add up exactly."""
    rows = 0
    while (np.int64(1) << rows) < n:
        rows += 1
    return max((_MANTISSA - _WEIGHT_BITS - rows) // 2, 4)


@inline
def weight_of_row(weight):
    """Round a row's weight, at most one, for sums of a search."""
    return max(rounded(weight, grid_of(_WEIGHT_BITS)), 2.0**-_WEIGHT_BITS)


@inline
def value_of(splitter, own, row, k):
    """Return the k-th column's value in a row, scaled and rounded; its mean where it is missing."""
    cells = splitter.cells
    x = float(cells.flat[cells.offset + row * cells.row_step + own.columns[k] * cells.column_step])
    return rounded((x - own.low[k]) * own.scale[k], own.grid[0]) if x == x else own.mean[k]


def _no(search):
    return False


looks_at_all = by_type("looks_at_all", _no)  # whether a search draws from all columns, not those that the node drew


@inline
def look_at_columns(splitter, job, scratch, node, n_listed):
    """List the numbers among the features looked at that vary and are finite at a node; return how many there are.

    A search that draws has them from all features.

    They are listed by ascending columns, with ranges and means. Where there are too many for the rows or for the
    search, those are kept that split the node best by themselves.
    """
    own, nodes, d = scratch.own, job.growing.nodes, np.int64(0)
    start, stop = np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP])
    draws = looks_at_all(splitter.search)
    for i in range(splitter.n_features if draws else n_listed):
        f = np.int64(i) if draws else scratch.listed[i]
        if splitter.is_number[f]:
            own.columns[d] = f
            d += 1
    _put_in_order(own.columns, d)
    _note_ranges(splitter, own, start, stop, d)
    most = d if draws else min(splitter.most_columns, (stop - start) // 2)
    d = _leave_out(own, scratch.candidates.gain, d, most)
    own.grid[0] = grid_of(bits_for_products(stop - start))
    if splitter.scaling == UNIT_SPREAD:
        _divide_by_spread(splitter, own, start, stop, d)
    elif splitter.scaling == UNIT_WIDEST:
        least = np.inf
        for k in range(d):
            least = min(least, own.scale[k])
        for k in range(d):
            own.scale[k] = least
    _note_means(splitter, own, start, stop, d)
    return d


@inline
def _put_in_order(columns, d):
    for i in range(1, d):
        f, j = columns[i], i
        while j > 0 and columns[j - 1] > f:
            columns[j] = columns[j - 1]
            j -= 1
        columns[j] = f


@inline
def _note_ranges(splitter, own, start, stop, d):
    """Write the least value of each column at a node, and in place of the scale the greatest."""
    cells = splitter.cells
    for k in range(d):
        own.low[k], own.scale[k] = np.inf, -np.inf
    for i in range(start, stop):
        at = cells.offset + np.int64(row_at(splitter, i)) * cells.row_step
        for k in range(d):
            x = float(cells.flat[at + own.columns[k] * cells.column_step])
            own.low[k] = min(own.low[k], x)
            own.scale[k] = max(own.scale[k], x)


@inline
def _leave_out(own, gain, d, most):
    """Keep the columns that vary and are finite, and of these the best by themselves; return how many are left."""
    m = np.int64(0)
    for k in range(d):
        span = own.scale[k] - own.low[k]
        scale = 1.0 / span if span > 0.0 else np.inf
        if math.isfinite(span) and math.isfinite(scale) and scale > 0.0:
            own.columns[m], own.low[m], own.scale[m] = own.columns[k], own.low[k], scale
            m += 1
    while m > most:  # the worst one leaves, the last of several
        worst = np.int64(0)
        for k in range(1, m):
            if gain[own.columns[k]] <= gain[own.columns[worst]]:
                worst = k
        m -= 1
        for k in range(worst, m):
            own.columns[k], own.low[k], own.scale[k] = own.columns[k + 1], own.low[k + 1], own.scale[k + 1]
    return m


@inline
def _divide_by_spread(splitter, own, start, stop, d):
    """Divide each column by its spread, all by so much more that none exceeds 1."""
    _note_means(splitter, own, start, stop, d)
    least = 1.0
    for k in range(d):
        own.weights[k] = 0.0
    for i in range(start, stop):
        row = np.int64(row_at(splitter, i))
        for k in range(d):
            away = value_of(splitter, own, row, k) - own.mean[k]
            own.weights[k] += away * away
    for k in range(d):
        own.weights[k] = max(math.sqrt(own.weights[k] / own.known[k]), LEAST_SPREAD)
        least = min(least, own.weights[k])
    for k in range(d):
        own.scale[k] *= least / own.weights[k]


@outlined
def _note_means(splitter, own, start, stop, d):
    cells = splitter.cells
    for k in range(d):
        own.mean[k], own.known[k] = 0.0, 0.0
    for i in range(start, stop):
        at = cells.offset + np.int64(row_at(splitter, i)) * cells.row_step
        for k in range(d):
            x = float(cells.flat[at + own.columns[k] * cells.column_step])
            if x == x:
                own.mean[k] += rounded((x - own.low[k]) * own.scale[k], own.grid[0])
                own.known[k] += 1.0
    for k in range(d):
        own.mean[k] = rounded(own.mean[k] / own.known[k], own.grid[0])
