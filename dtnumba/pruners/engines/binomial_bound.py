"""Upper bounds on the chance of an error, exact by the binomial distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtnumba.criteria.special_functions import beta_tails

if TYPE_CHECKING:
    from numpy.typing import NDArray


_MOST_STEPS = 20_000


def binomial_upper(n: NDArray[np.float64], errors: NDArray[np.float64], tail: float) -> NDArray[np.float64]:
    """Return the chance of an error at which so few errors of n rows, or fewer, still have the probability ``tail``.

    The exact one-sided bound of Clopper & Pearson (1934); with weights, that of the beta distribution. One where all
    rows are errors. Found by Newton's method, and by halving where a step leaves the bracket.
    """
    pairs, place = np.unique(n + 1j * errors, return_inverse=True)  # of a large tree few are different
    a, b = pairs.imag + 1.0, pairs.real - pairs.imag
    low, high = np.zeros(len(a)), np.ones(len(a))
    x, at = np.where(b > 0.0, a / (a + np.maximum(b, 0.0)), 1.0), np.flatnonzero(b > 0.0)
    for _ in range(_MOST_STEPS):
        if len(at) == 0:
            break
        now, below, slope = x[at], np.empty(len(at)), np.empty(len(at))
        beta_tails(a[at], b[at], now, below, slope)
        missed = below - (1.0 - tail)
        low[at], high[at] = np.where(missed < 0.0, now, low[at]), np.where(missed < 0.0, high[at], now)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = now - missed / slope
        is_inside = (step > low[at]) & (step < high[at])
        x[at] = np.where(is_inside, step, low[at] / 2 + high[at] / 2)
        at = at[(np.abs(x[at] - now) > 1e-14 * now) & (high[at] - low[at] > 1e-15 * now)]
    return np.asarray(x[place.ravel()])
