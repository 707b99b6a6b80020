# mypy: ignore-errors
# ruff: noqa: D102
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


def squares_of(target, n_slots):
    """Return how many numbers a node adds up, the squares of rows as integers, and their unit."""
    if not hasattr(target, "moments"):
        return target.n_stats, np.empty(0, np.int64), 1.0
    away = np.zeros(n_slots)
    if target.moments.shape[1] == 1:
        weights = np.maximum(np.asarray(target.weights), 1)
        away = target.moments[:, 0].astype(np.float64) * target.moment_unit / (weights * target.unit)
        away *= away * (np.asarray(target.weights) * target.unit)
    unit = 2.0 ** (np.frexp(max(away.max(initial=0.0), 1e-300))[1] + int(n_slots).bit_length() - _BITS)
    return target.n_stats + 1, np.rint(away / unit).astype(np.int64), float(unit)
