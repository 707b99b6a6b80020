# mypy: ignore-errors
"""Systems of equations in place, for kernels: no memory is taken."""

import numpy as np

from dtnumba.runtime.kernels import inline, outlined

_TINY = 1e-12  # of its own size: what a pivot is at least, or the column says nothing that others do not


@inline
def factor(a, d):
    """Replace the lower triangle of a symmetric matrix by its Cholesky factor.

    Where a column is a combination of those before it, its pivot is infinite, and it gets no weight.
    """
    for j in range(d):
        own = a[j, j]
        pivot = own
        for k in range(j):
            pivot -= a[j, k] * a[j, k]
        if not pivot > _TINY * own:
            for i in range(j, d):
                a[i, j] = 0.0
            a[j, j] = np.inf
            continue
        root = np.sqrt(pivot)
        a[j, j] = root
        for i in range(j + 1, d):
            value = a[i, j]
            for k in range(j):
                value -= a[i, k] * a[j, k]
            a[i, j] = value / root


@outlined
def solve(a, d, x):
    """Solve for x in place, by a factor that ``factor`` left."""
    for i in range(d):
        value = x[i]
        for k in range(i):
            value -= a[i, k] * x[k]
        x[i] = value / a[i, i]
    for i in range(d - 1, -1, -1):
        value = x[i]
        for k in range(i + 1, d):
            value -= a[k, i] * x[k]
        x[i] = value / a[i, i]
