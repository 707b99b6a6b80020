"""Logarithms of gamma functions and binomial coefficients, and upper bounds on the chance of an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHIFT = 8
_HALF_LOG_TWO_PI = 0.9189385332046727
_BITS = 1.0 / np.log(2.0)
_MOST_STEPS = 20_000


def log_gamma(x: Any) -> NDArray[np.float64]:
    """Return log(gamma(x)) for x > 0, to about 1e-14 of its size: Stirling's series from 8 up, recurrence below."""
    x = np.asarray(x, np.float64)
    is_small = x < _SHIFT
    low = np.where(is_small, x, 1.0)
    product = low.copy()
    for k in range(1, _SHIFT):
        product *= low + k
    y = np.where(is_small, x + _SHIFT, x)
    z = 1.0 / (y * y)
    series = z * (1 / 1260 - z * (1 / 1680 - z * (1 / 1188 - z * (691 / 360360 - z / 156))))
    series = (1 / 12 - z * (1 / 360 - series)) / y
    above = (y - 0.5) * np.log(y) - y + _HALF_LOG_TWO_PI + series
    return np.asarray(np.where(is_small, above - np.log(product), above))


def log2_choose(n: Any, k: Any) -> NDArray[np.float64]:
    """Return the bits that say which k of n things; n and k may be weights."""
    return np.asarray((log_gamma(n + 1.0) - log_gamma(k + 1.0) - log_gamma(n - k + 1.0)) * _BITS)


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
        now, below, slope = x[at], *_beta(a[at], b[at], x[at])
        missed = below - (1.0 - tail)
        low[at], high[at] = np.where(missed < 0.0, now, low[at]), np.where(missed < 0.0, high[at], now)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = now - missed / slope
        is_inside = (step > low[at]) & (step < high[at])
        x[at] = np.where(is_inside, step, low[at] / 2 + high[at] / 2)
        at = at[(np.abs(x[at] - now) > 1e-14 * now) & (high[at] - low[at] > 1e-15 * now)]
    return np.asarray(x[place.ravel()])


def _beta(a: NDArray[np.float64], b: NDArray[np.float64], x: NDArray[np.float64]) -> tuple[Any, Any]:
    """Return the regularised incomplete beta function, and its slope."""
    turned = x > (a + 1.0) / (a + b + 2.0)  # the fraction converges fast on the other side
    a, b, x = np.where(turned, b, a), np.where(turned, a, b), np.where(turned, 1.0 - x, x)
    with np.errstate(divide="ignore"):
        front = np.exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * np.log(x) + b * np.log1p(-x)) / a
    tail = front * _beta_fraction(a, b, x)
    return np.where(turned, 1.0 - tail, tail), front * a / (x * (1.0 - x))


def _beta_fraction(a: NDArray[np.float64], b: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the continued fraction of the incomplete beta function (modified Lentz)."""
    tiny, result, at = 1e-300, np.empty(len(a)), np.arange(len(a))
    c, d = np.ones(len(a)), 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / np.where(np.abs(d) > tiny, d, tiny)
    value = d
    for k in range(1, _MOST_STEPS):
        even = k * (b - k) * x / ((a + 2 * k - 1.0) * (a + 2 * k))
        odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1.0))
        for step in (even, odd):
            d = 1.0 + step * d
            d = 1.0 / np.where(np.abs(d) > tiny, d, tiny)
            c = 1.0 + step / c
            c = np.where(np.abs(c) > tiny, c, tiny)
            value = value * c * d
        if k % 8 == 0:
            is_close = np.abs(c * d - 1.0) < 1e-15
            result[at[is_close]] = value[is_close]
            at = at[~is_close]
            a, b, x, c, d, value = (column[~is_close] for column in (a, b, x, c, d, value))
            if len(at) == 0:
                return result
    result[at] = value
    return result
