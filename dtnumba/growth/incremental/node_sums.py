# mypy: ignore-errors
"""What nodes that follow their rows add up: the statistics of growth, and for numbers squares beside them.

Growth needs no squares to score a cut; how much spread a node has gained, and what rows of one code could gain, are
told by them. They bound what is looked at and decide nothing, so one integer each is fine enough.
"""

import numpy as np

from dtnumba.criteria.contract import impurity_of
from dtnumba.growth.targets.contract import put
from dtnumba.runtime.kernels import by_having, inline

_BITS = 61


@inline
def _with_square(target, held, cell, row):
    put(target, cell, np.uint64(0), row)
    cell[target.n_stats] += held.squares[row]


@inline
def _without_square(target, held, cell, row):
    put(target, cell, np.uint64(0), row)


@inline
def _spread_of_classes(target, criterion, held, sums, seen):
    spread, n_outputs = 0.0, len(target.offsets) - 1
    for o in range(n_outputs):
        first, last, weight = target.offsets[o], target.offsets[o + 1], 0.0
        for k in range(first, last):
            seen[k - first] = float(sums[k]) * target.unit
            weight += seen[k - first]
        if weight > 0.0:
            spread += weight * impurity_of(criterion, seen[: last - first], weight)
    return spread / n_outputs


@inline
def _spread_of_numbers(target, criterion, held, sums, seen):
    if sums[0] == 0:
        return 0.0
    weight, total = float(sums[0]) * target.unit, float(sums[1]) * target.moment_unit
    return max(float(sums[target.n_stats]) * held.square_unit - total * total / weight, 0.0)


add_row = by_having("moments", _with_square, _without_square)  # to the sums of a node or of a code
spread_of = by_having("moments", _spread_of_numbers, _spread_of_classes)  # weight times impurity of sums


def _squares(target, rows):
    """Return weight times square of the targets of rows, measured as the moments are."""
    if target.moments.shape[1] != 1:
        return np.zeros(len(rows))
    weights = target.weights[rows] * target.unit
    moments = target.moments[rows, 0] * target.moment_unit
    return moments * moments / np.where(weights > 0, weights, 1.0)


def squares_of(target, rows):
    """Return how many numbers a node adds up, room for the squares of all slots as integers, and their unit.

    The unit leaves room for targets four times as large as those of the rows.
    """
    if not hasattr(target, "moments"):
        return target.n_stats, np.empty(0, np.int64), 1.0
    n_slots, largest = len(target.moments), _squares(target, rows).max(initial=0.0)
    unit = 2.0 ** (np.frexp(max(16.0 * largest, 1e-290))[1] + int(n_slots).bit_length() - _BITS)
    return target.n_stats + 1, np.zeros(n_slots, np.int64), float(unit)


def whole_squares(target, rows, unit):
    """Return weight times square of the targets of rows in units."""
    return np.rint(_squares(target, rows) / unit).astype(np.int64)
