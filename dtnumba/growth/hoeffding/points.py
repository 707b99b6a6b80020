# mypy: ignore-errors
"""A column of numbers at a node: sums at a few values, exact between any two of them.

As long as a node has seen few different values, each has its own sums. Then a value is counted with the next larger one
that has. So sums up to a point are exact whatever came; only where cuts may lie was settled by the first values.
"""

import numpy as np

from dtnumba.growth.hoeffding.stream import N_POINTS
from dtnumba.runtime.instructions.bits import lower_bound
from dtnumba.runtime.kernels import inline


@inline
def see_value(n_points, points, mass, value, row_sums):
    """Count a value; return how many points there are then."""
    n = np.int64(n_points)
    at = lower_bound(points, np.int64(0), n, value)
    if at == n or points[at] != value:
        if n < N_POINTS:
            for i in range(n, at, -1):
                points[i] = points[i - 1]
                for k in range(len(row_sums)):
                    mass[i, k] = mass[i - 1, k]
            points[at] = value
            for k in range(len(row_sums)):
                mass[at, k] = 0.0
            n += 1
        elif at == n:
            at -= 1
            points[at] = value  # the last one rises with the largest value
    for k in range(len(row_sums)):
        mass[at, k] += row_sums[k]
    return n
