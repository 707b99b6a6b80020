# mypy: ignore-errors
# ruff: noqa: D102
"""What the best cut of a column can be worth, after rows came and went since somebody looked.

The worth of a cut is the weight of the node times its gain: the spread of the node (weight times impurity) less that
of both sides. Of a concave criterion, spread is superadditive: a row that comes never takes any from a side. So the
worth of the best cut of a column rises by no more than the spread of the node does, also where the row makes a new cut:
without the row, that was another cut, or none. A row that goes takes a bounded part of a side's spread with it
(``spread_lost``). Both are the same for all columns, so that a node keeps what a column was worth when somebody looked,
and one sum of what may have been added to all since.
"""

import math

import numpy as np

from dtnumba.criteria.contract import impurity_of
from dtnumba.growth.targets.contract import weight_of
from dtnumba.runtime.kernels import by_type, inline

# Gains are rounded: columns that come so near are looked at.
SLACK = 1e-7


def _unknown(criterion, weight, total, reach):
    return math.inf


# The most that a side's spread loses with rows of some weight; ``total`` is the weight of the node, ``reach`` how far
# targets lie apart.
spread_lost = by_type("spread_lost", _unknown)


@inline
def _class_spread(target, criterion, sums, seen):
    """Return weight times impurity of exact sums of classes."""
    spread, n_outputs = 0.0, len(target.offsets) - 1
    for o in range(n_outputs):
        first, last, weight = target.offsets[o], target.offsets[o + 1], 0.0
        for k in range(first, last):
            seen[k - first] = float(sums[k]) * target.unit
            weight += seen[k - first]
        if weight > 0.0:
            spread += weight * impurity_of(criterion, seen[: last - first], weight)
    return spread / n_outputs


def _spread_of_numbers(target, criterion, sums, seen):
    return 0.0


spread_of = _class_spread
