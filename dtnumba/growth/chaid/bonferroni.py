# mypy: ignore-errors
"""How many ways there are to merge c categories into r groups: Bonferroni's multipliers, as logarithms."""

import math

from dtnumba.runtime.kernels import inline, outlined

NOMINAL, ORDINAL, FLOATING = 0, 1, 2  # kinds of predictors; FLOATING: in order, but for missing values
KASS, BIGGS, SPSS, NONE = 0, 1, 2, 3


@inline
def log_choose(n, k):
    """Return the logarithm of n over k, both whole numbers.

    A sum of logarithms: a difference of log-gammas of many categories would lose digits, and few terms are needed.
    """
    if k < 0 or k > n:
        return -math.inf
    total = 0.0
    for i in range(1, min(k, n - k) + 1):
        total += math.log((n - min(k, n - k) + i) / i)
    return total


@inline
def _log_sum(a, b):
    high, low = max(a, b), min(a, b)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


@inline
def _log_partitions(c, r, row):
    """Return the logarithm of the ways to make r sets of c things (Stirling numbers of the second kind).

    By S(n, k) = k S(n - 1, k) + S(n - 1, k - 1); the alternating sum for them loses all digits at 30 things.
    row (r + 1,) float64 scratch
    """
    for k in range(r + 1):
        row[k] = -math.inf
    row[0] = 0.0
    for n in range(1, c + 1):
        for k in range(min(n, r), 0, -1):
            row[k] = _log_sum(row[k] + math.log(float(k)), row[k - 1])
        row[0] = -math.inf
    return row[r]


@outlined
def log_multiplier(rule, kind, c, r, row):
    """Return the logarithm of the multiplier of the chance of r groups of c categories; missing ones count as one."""
    if rule == NONE or (r >= c and rule == KASS):
        return 0.0
    if rule == KASS:
        if kind == NOMINAL:
            return _log_partitions(c, r, row)
        if kind == ORDINAL:
            return log_choose(c - 1, r - 1)
        return _log_sum(log_choose(c - 2, r - 2), math.log(float(r)) + log_choose(c - 2, r - 1))
    if kind == NOMINAL:  # the pairs compared on the way from c groups to two
        return math.log(c * (c * c - 1.0) / (6.0 if rule == BIGGS else 2.0))
    if kind == FLOATING and rule == BIGGS:
        return 2.0 * math.log(c - 1.0)
    return math.log(c * (c - 1.0) / 2.0)
