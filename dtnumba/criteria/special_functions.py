# mypy: ignore-errors
"""Functions that tails of distributions and description lengths are made of: log-gamma, incomplete gamma and beta.

Kernels absorb those of one number; ``log_gamma``, ``log2_choose`` and ``beta_tails`` take arrays of NumPy.
"""

import math

import numpy as np

from dtnumba.runtime.kernels import inline, kernel

LOG2_E = 1.4426950408889634  # bits of a nat
_TINY = 1e-300
_CLOSE = 1e-16
# Far more than any takes: near its worst place, the square root of its smaller parameter.
_MOST_STEPS = 100_000


def log_gamma(x):
    """Return log(gamma(x)) of every number of an array, all > 0."""
    x = np.asarray(x, np.float64)
    return np.array([math.lgamma(value) for value in x.ravel().tolist()]).reshape(x.shape)


def log2_choose(n, k):
    """Return the bits that say which k of n things, for arrays of whole numbers or of weights."""
    return (log_gamma(n + 1.0) - log_gamma(k + 1.0) - log_gamma(n - k + 1.0)) * LOG2_E


@inline
def beyond_stirling(x):
    """Return what log(gamma(x)) has beyond (x - 1/2) log(x) - x + log(2 pi) / 2."""
    if x < 10.0:
        return math.lgamma(x) - ((x - 0.5) * math.log(x) - x + 0.9189385332046727)
    y = 1.0 / (x * x)
    tail = 1.0 / 1188.0 - y * (691.0 / 360360.0 - y / 156.0)
    return (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y * tail)))) / x


@inline
def log_ratio(difference, whole, ratio):
    """Return log(ratio), where ratio = 1 + difference / whole, as exactly as its size allows."""
    return math.log1p(difference / whole) if abs(difference) < 0.5 * whole else math.log(ratio)


@inline
def log_one_minus(log_p):
    """Return log(1 - p) for log(p) below zero."""
    if log_p >= 0.0:
        return -math.inf
    return math.log(-math.expm1(log_p)) if log_p > -0.6931471805599453 else math.log1p(-math.exp(log_p))


@inline
def gamma_series(a, x):
    """Return the sum of x**k / ((a + 1) ... (a + k)) over k >= 0."""
    term = total = 1.0
    for k in range(1, _MOST_STEPS):
        term *= x / (a + k)
        total += term
        if term < _CLOSE * total:
            break
    return total


@inline
def _off_zero(x):
    """Return x, or a tiny number in place of what would be divided by as zero (Lentz)."""
    return x if abs(x) > _TINY else _TINY


@inline
def gamma_fraction(a, x):
    """Return the continued fraction of the upper incomplete gamma function (modified Lentz)."""
    b = x + 1.0 - a
    c, d = 1.0 / _TINY, 1.0 / b
    value = d
    for k in range(1, _MOST_STEPS):
        term = -k * (k - a)
        b += 2.0
        d = 1.0 / _off_zero(term * d + b)
        c = _off_zero(b + term / c)
        value *= c * d
        if abs(c * d - 1.0) < 4.0 * _CLOSE:
            break
    return value


@inline
def beta_fraction(a, b, x):
    """Return the continued fraction of the incomplete beta function (modified Lentz)."""
    c, d = 1.0, 1.0 / _off_zero(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for k in range(1, _MOST_STEPS):
        even = k * (b - k) * x / ((a + 2 * k - 1.0) * (a + 2 * k))
        d = 1.0 / _off_zero(1.0 + even * d)
        c = _off_zero(1.0 + even / c)
        value *= c * d
        odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1.0))
        d = 1.0 / _off_zero(1.0 + odd * d)
        c = _off_zero(1.0 + odd / c)
        value *= c * d
        if abs(c * d - 1.0) < 4.0 * _CLOSE:
            break
    return value


@kernel
def beta_tails(a, b, x, below, slope):
    """Write to ``below`` the regularised incomplete beta function at each x of [0, 1], and its derivative to ``slope``.

    a, b, x (n,) float64; below, slope (n,) float64 out
    """
    for i in range(len(x)):
        p, q, z = a[i], b[i], x[i]
        is_upper = z > (p + 1.0) / (p + q + 2.0)  # the fraction converges fast on the other side
        if is_upper:
            p, q, z = q, p, 1.0 - z
        if z <= 0.0:  # where x rounds to 0 or 1
            below[i], slope[i] = 1.0 if is_upper else 0.0, 0.0
            continue
        # log(z**p * (1 - z)**q / beta(p, q)), from the deviances of z and 1 - z
        away = z * (p + q) - p
        front = p * log_ratio(away, p, z * (p + q) / p) + q * log_ratio(-away, q, (1.0 - z) * (p + q) / q)
        front += 0.5 * math.log(p * q / (2.0 * math.pi * (p + q)))
        front = math.exp(front + beyond_stirling(p + q) - beyond_stirling(p) - beyond_stirling(q))
        tail = front / p * beta_fraction(p, q, z)
        below[i], slope[i] = 1.0 - tail if is_upper else tail, front / (z * (1.0 - z))
