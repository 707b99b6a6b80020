# mypy: ignore-errors
# ruff: noqa: D102
"""Whether chance alone would explain a node's best split: a test that growth asks before it takes one.

``rejects(test, job, scratch, node, feature)`` says so of the split by ``feature`` among the candidates. It reads the
sums of the node's rows and of those that go left; for numbers it walks the rows once more, because growth does not keep
their squares. A test is a type, so trees without one compile and run as if there were none.
"""

import math
from typing import NamedTuple

import numpy as np

from dtnumba.criteria.significance import chi2_log_tail, f_log_tail
from dtnumba.growth import columns as col
from dtnumba.growth.targets.contract import around, away_of, load, put, rest, weight_of
from dtnumba.growth.targets.leaf_values import row_at, sum_of
from dtnumba.runtime.kernels import by_having, by_type, inline, kernel_type

rejects = by_type("rejects")
# Squares are added up as whole numbers of so fine a step, so that the order of the rows changes no bit.
_STEPS = 2.0**60


@kernel_type
class NoTest(NamedTuple):
    """Every split passes."""

    def rejects(self, job, scratch, node, feature):
        return False


@kernel_type
class Significance(NamedTuple):
    """Chi-squared of classes against sides, or F of the means of the sides; of several outputs the best, Bonferroni."""

    log_level: float

    def rejects(self, job, scratch, node, feature):
        return not _log_p(job.target, job, scratch, node, feature) <= self.log_level


@inline
def _are_kept(job, scratch):
    """Tell whether nodes keep their sums; else those of the node at hand are what growth summed up last."""
    return job.growing.sums.shape[2] == scratch.candidates.sums.shape[1]


def _of_counts(target, job, scratch, node, feature):
    """Logarithm of the p-value of Pearson's test on the table of classes and sides."""
    total = job.growing.sums[node, 0] if _are_kept(job, scratch) else scratch.work.total
    left = scratch.candidates.sums[feature]
    n_outputs, least = len(target.offsets) - 1, 0.0
    for o in range(n_outputs):
        weight = weight_left = np.int64(0)
        for k in range(target.offsets[o], target.offsets[o + 1]):
            weight += total[k]
            weight_left += left[k]
        share, statistic, n_classes = float(weight_left) / float(weight), 0.0, 0
        for k in range(target.offsets[o], target.offsets[o + 1]):
            if total[k] > 0:
                away = float(left[k]) - share * float(total[k])
                statistic += away * away / float(total[k])
                n_classes += 1
        if n_classes > 1:
            statistic *= target.unit / (share * (1.0 - share))
            least = min(least, chi2_log_tail(statistic, n_classes - 1.0) + math.log(n_outputs))
    return least


def _of_means(target, job, scratch, node, feature):
    """Logarithm of the p-value of the F test between both sides."""
    work, least = scratch.work, 0.0
    total = around(target, load(target, job.growing.sums[node, 0], work.total), work)
    left = load(target, scratch.candidates.sums[feature], work.left)
    right = rest(target, total, left, work.right)
    weight, n_outputs = weight_of(target, total), len(target.offsets)
    if weight <= 2.0:
        return least
    for o in range(n_outputs):
        away = away_of(target, left, right, work, o)
        between = away * away / weight_of(target, left) * (weight / weight_of(target, right))
        mean = sum_of(target, total, o, 0) / weight
        within = max(_squares(target, job, scratch, node, o, mean, weight) - between, 0.0)
        if between > 0.0:
            f = between * (weight - 2.0) / within if within > 0.0 else math.inf
            least = min(least, f_log_tail(f, 1.0, weight - 2.0) + math.log(n_outputs))
    return least


_log_p = by_having("moments", _of_means, _of_counts)


@inline
def _squares(target, job, scratch, node, o, mean, weight):
    """Sum of weight * (y - mean)**2 over the rows of a node; both are measured from the target's offset."""
    start, stop = job.growing.nodes[node, col.START], job.growing.nodes[node, col.STOP]
    farthest, sums = 0.0, scratch.work.best
    for i in range(start, stop):
        farthest = max(farthest, abs(_away(target, sums, row_at(job.splitter, i), o, mean)))
    if farthest == 0.0:
        return 0.0
    step, total = farthest * farthest * weight / _STEPS, np.int64(0)
    for i in range(start, stop):
        away = _away(target, sums, row_at(job.splitter, i), o, mean)
        total += np.int64(np.rint(float(sums[0]) * target.unit * away * away / step))
    return float(total) * step


@inline
def _away(target, sums, row, o, mean):
    """How far a row's target lies from the mean; its sums alone are left in ``sums``."""
    for s in range(len(sums)):
        sums[s] = 0
    put(target, sums, np.uint64(0), row)
    return sum_of(target, sums, o, 0) / (float(sums[0]) * target.unit) - mean
