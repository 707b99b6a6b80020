"""How likely chance alone makes a statistic as large: tails of chi-squared and F, and their logarithms.

Both are regularised incomplete functions by continued fractions. The factor in front is written as a deviance and what
Stirling's formula leaves over, so that nothing large is subtracted from something as large: tails are right to 1e-12 of
themselves (1e-10 at a million degrees of freedom), and their logarithms far below the smallest number.
"""

import math

from dtnumba._jit import inline, kernel

_TINY = 1e-300
_CLOSE = 1e-16
# Far more than any takes: near its worst place, the square root of its smaller parameter.
_MOST_STEPS = 100_000


@inline
def _beyond_stirling(x):
    """Return what log(gamma(x)) has beyond (x - 1/2) log(x) - x + log(2 pi) / 2."""
    if x < 10.0:
        return math.lgamma(x) - ((x - 0.5) * math.log(x) - x + 0.9189385332046727)
    y = 1.0 / (x * x)
    tail = 1.0 / 1188.0 - y * (691.0 / 360360.0 - y / 156.0)
    return (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y * tail)))) / x


@inline
def _log_ratio(difference, whole, ratio):
    """Return log(ratio), where ratio = 1 + difference / whole, as exactly as its size allows."""
    return math.log1p(difference / whole) if abs(difference) < 0.5 * whole else math.log(ratio)


@inline
def _log_one_minus(log_p):
    """Return log(1 - p) for log(p) below zero."""
    if log_p >= 0.0:
        return -math.inf
    return math.log(-math.expm1(log_p)) if log_p > -0.6931471805599453 else math.log1p(-math.exp(log_p))


@inline
def _gamma_series(a, x):
    """Sum x**k / ((a + 1) ... (a + k)) over k >= 0."""
    term = total = 1.0
    for k in range(1, _MOST_STEPS):
        term *= x / (a + k)
        total += term
        if term < _CLOSE * total:
            break
    return total


@inline
def _gamma_fraction(a, x):
    """Continued fraction of the upper incomplete gamma function (modified Lentz)."""
    b = x + 1.0 - a
    c, d = 1.0 / _TINY, 1.0 / b
    value = d
    for k in range(1, _MOST_STEPS):
        part = -k * (k - a)
        b += 2.0
        d = part * d + b
        d = 1.0 / (d if abs(d) > _TINY else _TINY)
        c = b + part / c
        c = c if abs(c) > _TINY else _TINY
        value *= c * d
        if abs(c * d - 1.0) < 4.0 * _CLOSE:
            break
    return value


@inline
def chi2_log_tail(x, df):
    """Logarithm of the chance that chi-squared with ``df`` degrees of freedom exceeds x."""
    if not x > 0.0:
        return 0.0
    if x == math.inf:
        return -math.inf
    a, half = 0.5 * df, 0.5 * x
    # log(half**a * exp(-half) / gamma(a)), from the deviance of half against a
    deviance = a * _log_ratio(half - a, a, half / a) - (half - a)
    front = deviance + 0.5 * math.log(a / (2.0 * math.pi)) - _beyond_stirling(a)
    if half < a + 1.0:
        return _log_one_minus(front + math.log(_gamma_series(a, half) / a))
    return front + math.log(_gamma_fraction(a, half))


@inline
def _beta_fraction(a, b, x):
    """Continued fraction of the incomplete beta function (modified Lentz)."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    value = d
    for k in range(1, _MOST_STEPS):
        even = k * (b - k) * x / ((a + 2 * k - 1.0) * (a + 2 * k))
        d = 1.0 + even * d
        d = 1.0 / (d if abs(d) > _TINY else _TINY)
        c = 1.0 + even / c
        c = c if abs(c) > _TINY else _TINY
        value *= c * d
        odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1.0))
        d = 1.0 + odd * d
        d = 1.0 / (d if abs(d) > _TINY else _TINY)
        c = 1.0 + odd / c
        c = c if abs(c) > _TINY else _TINY
        value *= c * d
        if abs(c * d - 1.0) < 4.0 * _CLOSE:
            break
    return value


@inline
def f_log_tail(x, df_between, df_within):
    """Logarithm of the chance that F with these degrees of freedom exceeds x."""
    if not x > 0.0:
        return 0.0
    if x == math.inf:
        return -math.inf
    a, b = 0.5 * df_within, 0.5 * df_between
    whole = df_within + df_between * x
    if whole == math.inf:
        return -math.inf
    both = df_between + df_within
    # log(z**a * (1 - z)**b / beta(a, b)) for z = df_within / whole, from the deviances of z and 1 - z
    front = a * _log_ratio(df_between * (1.0 - x), whole, both / whole)
    front += b * _log_ratio(df_within * (x - 1.0), whole, x * (both / whole))
    front += 0.5 * math.log(a * b / (2.0 * math.pi * (a + b)))
    front += _beyond_stirling(a + b) - _beyond_stirling(a) - _beyond_stirling(b)
    z = df_within / whole
    if z < (a + 1.0) / (a + b + 2.0):
        return front + math.log(_beta_fraction(a, b, z) / a)
    return _log_one_minus(front + math.log(_beta_fraction(b, a, df_between * x / whole) / b))


@kernel
def _chi2_at(x, df):
    return chi2_log_tail(x, df)


@kernel
def _f_at(x, df_between, df_within):
    return f_log_tail(x, df_between, df_within)


def chi2_log_sf(x: float, df: float) -> float:
    """Logarithm of ``chi2_sf``, also where that is smaller than any number."""
    return float(_chi2_at(float(x), _degrees("df", df)))


def chi2_sf(x: float, df: float) -> float:
    """Return the chance that chi-squared with ``df`` degrees of freedom exceeds x."""
    return math.exp(chi2_log_sf(x, df))


def f_log_sf(x: float, df_between: float, df_within: float) -> float:
    """Logarithm of ``f_sf``, also where that is smaller than any number."""
    return float(_f_at(float(x), _degrees("df_between", df_between), _degrees("df_within", df_within)))


def f_sf(x: float, df_between: float, df_within: float) -> float:
    """Return the chance that F with these degrees of freedom exceeds x."""
    return math.exp(f_log_sf(x, df_between, df_within))


def _degrees(name: str, value: float) -> float:
    if not 0.0 < value < math.inf:
        raise ValueError(f"{name}={value!r}: degrees of freedom must be a finite number > 0")
    return float(value)
