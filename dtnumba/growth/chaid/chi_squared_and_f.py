# mypy: ignore-errors
"""How little two or more groups of rows tell about the target: chi-squared of classes, F of numbers, and their chance.

A group is a row of sums: the weight of each class, or (weight, sum of y, sum of y squared) of a number. A finding is a
row of numbers, see LOG_P and those after it.
"""

import math

from dtnumba.criteria.significance import chi2_log_tail, f_log_tail
from dtnumba.runtime.kernels import inline, outlined

PEARSON, LIKELIHOOD, F_TEST = 0, 1, 2
# Numbers of a finding: degrees of freedom between groups, and within them (of F only)
LOG_P, STATISTIC, BETWEEN, WITHIN, N_FINDING = 0, 1, 2, 3, 4
# Of the sum of squares: what lies within groups below this is rounding.
_NO_SPREAD = 1e-12


@outlined
def log_chance(statistic, value, between, within):
    """Return the logarithm of the chance of a value as large; of no degrees of freedom that is no evidence at all."""
    if between <= 0.0 or (statistic == F_TEST and within <= 0.0):
        return 0.0
    if statistic == F_TEST:
        return f_log_tail(value, between, within)
    return chi2_log_tail(value, between)


@inline
def _excess(a, total, row, column, statistic):
    """Return what a cell adds to a statistic; exactly nothing where the cell is what independence says.

    The difference a * total - row * column is exact where weights are whole, so equal shares make a chi-squared of 0.
    """
    away, product = a * total - row * column, row * column
    if statistic == PEARSON:
        return away * away / (total * product)
    if a == 0.0:
        return 2.0 * product / total
    ratio = away / product
    logarithm = math.log1p(ratio) if abs(ratio) < 0.5 else math.log(a * total / product)
    return 2.0 * (a * logarithm - away / total)


@inline
def ratio_of_spreads(between, within, squares, df_between, df_within):
    """Return F; infinity where groups differ and nothing does within them."""
    if between <= 0.0 or df_within <= 0.0:
        return 0.0
    if within <= _NO_SPREAD * squares:
        return math.inf
    return between / df_between / (within / df_within)


@inline
def compare(statistic, sums, i, j):
    """Return (value, degrees of freedom between, within) of two groups."""
    width = sums.shape[1]
    if statistic == F_TEST:
        a, b = sums[i, 0], sums[j, 0]
        apart = b * sums[i, 1] - a * sums[j, 1]
        between = apart * apart / (a * b * (a + b))
        within = max(sums[i, 2] - sums[i, 1] * sums[i, 1] / a, 0.0)
        within += max(sums[j, 2] - sums[j, 1] * sums[j, 1] / b, 0.0)
        return ratio_of_spreads(between, within, sums[i, 2] + sums[j, 2], 1.0, a + b - 2.0), 1.0, a + b - 2.0
    row_i = row_j = 0.0
    for k in range(width):
        row_i += sums[i, k]
        row_j += sums[j, k]
    total, value, n_columns = row_i + row_j, 0.0, 0
    for k in range(width):
        column = sums[i, k] + sums[j, k]
        if column > 0.0:
            n_columns += 1
            value += _excess(sums[i, k], total, row_i, column, statistic)
            value += _excess(sums[j, k], total, row_j, column, statistic)
    return max(value, 0.0), n_columns - 1.0, 0.0


@outlined
def find(statistic, sums, alive, m, whole, finding):
    """Write the finding of all living groups among the first m.

    sums (m, width) · alive (m,) uint8 · whole (width,) scratch · finding (N_FINDING,) out
    """
    width, n_groups, n_columns, value = sums.shape[1], 0, 0, 0.0
    for k in range(width):
        whole[k] = 0.0
    for g in range(m):
        if alive[g]:
            n_groups += 1
            for k in range(width):
                whole[k] += sums[g, k]
    between, within = n_groups - 1.0, 0.0
    if statistic == F_TEST:
        spread = inside = 0.0
        for g in range(m):
            if alive[g]:
                apart = sums[g, 1] * whole[0] - whole[1] * sums[g, 0]
                spread += apart * apart / (sums[g, 0] * whole[0] * whole[0])
                inside += max(sums[g, 2] - sums[g, 1] * sums[g, 1] / sums[g, 0], 0.0)
        within = whole[0] - n_groups
        value = ratio_of_spreads(spread, inside, whole[2], between, within)
    else:
        total = 0.0
        for k in range(width):
            total += whole[k]
            n_columns += whole[k] > 0.0
        between *= n_columns - 1.0
        for g in range(m):
            row = 0.0
            for k in range(width):
                row += sums[g, k]
            for k in range(width):
                if alive[g] and whole[k] > 0.0:
                    value += _excess(sums[g, k], total, row, whole[k], statistic)
        value = max(value, 0.0)
    finding[STATISTIC], finding[BETWEEN], finding[WITHIN] = value, between, within
    finding[LOG_P] = log_chance(statistic, value, between, within)


@inline
def weight_of(statistic, sums, g):
    """Return how much a group weighs."""
    if statistic == F_TEST:
        return sums[g, 0]
    weight = 0.0
    for k in range(sums.shape[1]):
        weight += sums[g, k]
    return weight
