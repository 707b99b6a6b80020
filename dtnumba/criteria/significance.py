# mypy: ignore-errors
"""Tails of chi-squared and F, and their logarithms: how likely chance alone makes a statistic as large.

Both are regularised incomplete functions by continued fractions. The factor in front is written as a deviance and what
Stirling's formula leaves over, so that nothing large is subtracted from something as large: tails are right to 1e-12 of
themselves (1e-10 at a million degrees of freedom), and their logarithms far below the smallest number.
"""

import math

from dtnumba.criteria.special_functions import (
    beta_fraction,
    beyond_stirling,
    gamma_fraction,
    gamma_series,
    log_one_minus,
    log_ratio,
)
from dtnumba.runtime.kernels import inline, kernel


@inline
def chi2_log_tail(x, df):
    """Return the logarithm of the chance that chi-squared with ``df`` degrees of freedom exceeds x."""
    if not x > 0.0:
        return 0.0
    if x == math.inf:
        return -math.inf
    a, half = 0.5 * df, 0.5 * x
    # log(half**a * exp(-half) / gamma(a)), from the deviance of half against a
    deviance = a * log_ratio(half - a, a, half / a) - (half - a)
    front = deviance + 0.5 * math.log(a / (2.0 * math.pi)) - beyond_stirling(a)
    if half < a + 1.0:
        return log_one_minus(front + math.log(gamma_series(a, half) / a))
    return front + math.log(gamma_fraction(a, half))


@inline
def f_log_tail(x, df_between, df_within):
    """Return the logarithm of the chance that F with these degrees of freedom exceeds x."""
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
    front = a * log_ratio(df_between * (1.0 - x), whole, both / whole)
    front += b * log_ratio(df_within * (x - 1.0), whole, x * (both / whole))
    front += 0.5 * math.log(a * b / (2.0 * math.pi * (a + b)))
    front += beyond_stirling(a + b) - beyond_stirling(a) - beyond_stirling(b)
    z = df_within / whole
    if z < (a + 1.0) / (a + b + 2.0):
        return front + math.log(beta_fraction(a, b, z) / a)
    return log_one_minus(front + math.log(beta_fraction(b, a, df_between * x / whole) / b))


@kernel
def _chi2_at(x, df):
    return chi2_log_tail(x, df)


@kernel
def _f_at(x, df_between, df_within):
    return f_log_tail(x, df_between, df_within)


def chi2_log_sf(x: float, df: float) -> float:
    """Return the logarithm of ``chi2_sf``, also where that is smaller than any number."""
    return float(_chi2_at(float(x), _degrees("df", df)))


def chi2_sf(x: float, df: float) -> float:
    """Return the chance that chi-squared with ``df`` degrees of freedom exceeds x."""
    return math.exp(chi2_log_sf(x, df))


def f_log_sf(x: float, df_between: float, df_within: float) -> float:
    """Return the logarithm of ``f_sf``, also where that is smaller than any number."""
    return float(_f_at(float(x), _degrees("df_between", df_between), _degrees("df_within", df_within)))


def f_sf(x: float, df_between: float, df_within: float) -> float:
    """Return the chance that F with these degrees of freedom exceeds x."""
    return math.exp(f_log_sf(x, df_between, df_within))


def _degrees(name: str, value: float) -> float:
    if not 0.0 < value < math.inf:
        raise ValueError(f"{name}={value!r}: degrees of freedom must be a finite number > 0")
    return float(value)
