"""Tests of a rule against chance, on tables two by two: Fisher's exact test and chi-squared."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.criteria.special_functions import log_gamma

if TYPE_CHECKING:
    from numpy.typing import NDArray


_CLOSE = 1e-17
FEWEST_EXPECTED = 10.0  # rows that chi-squared asks for in each cell


def fisher_tail(a: Any, b: Any, c: Any, d: Any) -> NDArray[np.float64]:
    """Return the chance of a cell as small as ``a``, or smaller, in tables ((a, b), (c, d)) of the same margins.

    With errors in the first row, those of a rule in the first column, it is the chance that a rule no better than the
    rest of its rows errs so rarely.
    """
    a, b, c, d = (np.asarray(cell, np.float64) for cell in np.broadcast_arrays(a, b, c, d))
    shape = a.shape
    a, b, c, d = a.ravel(), b.ravel(), c.ravel(), d.ravel()
    logs = sum(log_gamma(margin + 1.0) for margin in (a + b, c + d, a + c, b + d))
    logs -= sum(log_gamma(cell + 1.0) for cell in (a, b, c, d)) + log_gamma(a + b + c + d + 1.0)
    term = np.exp(logs)
    total, at = term.copy(), np.arange(len(a))
    for k in range(int(max(a.max(initial=0.0), 1.0))):
        left = (a[at] - k > 0) & (d[at] - k > 0) & (term[at] > _CLOSE * total[at])
        at = at[left]
        if not len(at):
            break
        term[at] *= (a[at] - k) * (d[at] - k) / ((b[at] + k + 1) * (c[at] + k + 1))
        total[at] += term[at]
    return np.asarray(np.minimum(total, 1.0).reshape(shape))


def chi2_tail(a: Any, b: Any, c: Any, d: Any) -> NDArray[np.float64]:
    """Return the chance of a chi-squared of one degree of freedom as large as that of tables ((a, b), (c, d)).

    Fisher's test stands in where fewer than ten rows are expected in a cell. A rule that errs no less often than its
    other rows is as likely as can be: 1.
    """
    a, b, c, d = (np.asarray(cell, np.float64) for cell in np.broadcast_arrays(a, b, c, d))
    rows, columns, total = (a + b, c + d), (a + c, b + d), np.maximum(a + b + c + d, 1e-300)
    fewest = np.minimum(rows[0], rows[1]) * np.minimum(columns[0], columns[1]) / total
    margins = np.maximum(rows[0] * rows[1] * columns[0] * columns[1], 1e-300)
    chi2 = total * (a * d - b * c) ** 2 / margins
    # With one degree of freedom the tail is that of the normal distribution, which Python has.
    tail = np.array([math.erfc(math.sqrt(x / 2.0)) for x in chi2.ravel().tolist()]).reshape(chi2.shape)
    tail = np.where(fewest < FEWEST_EXPECTED, fisher_tail(a, b, c, d), tail)
    return np.where(a * d >= b * c, 1.0, tail)
