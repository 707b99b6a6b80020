# mypy: ignore-errors
"""What the best cut of a column can be worth, after rows came and went since somebody looked.

The worth of a cut is the weight of the node times its gain: the spread of the node (weight times impurity) less that
of both sides. Of a concave criterion, spread is superadditive: a row that comes never takes any from a side. So the
worth of the best cut of a column rises by no more than the spread of the node does, also where the row makes a new cut:
without the row, that was another cut, or none. A row that goes takes a bounded part of a side's spread with it
(``spread_lost``). Both are the same for all columns, so that a node keeps what a column was worth when somebody looked,
and one sum of what may have been added to all since.
"""

import math

from dtnumba.runtime.kernels import by_type

# Gains are rounded: columns that come so near are looked at.
GAIN_SLACK = 1e-7


def _unknown(criterion, weight, total, reach):
    return math.inf


# The most that a side's spread loses with rows of some weight; ``total`` is the weight of the node, ``reach`` how far
# targets lie apart.
spread_lost = by_type("spread_lost", _unknown)
