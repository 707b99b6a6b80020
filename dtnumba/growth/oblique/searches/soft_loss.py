# mypy: ignore-errors
# ruff: noqa: D102
"""What a soft split loses, and its gradient: rows go left in part, the more the further they lie on that side.

A row at u = w.x + b goes left by s = 1 / (1 + exp(u)). Of classes the loss is the entropy of both sides (John 1995),
of numbers their squared error, each per unit of weight. Sums over rows are of terms rounded to a grid, on which float64
holds them exactly, so no order of the rows changes a bit.
"""

import math
from typing import NamedTuple

import numpy as np

from dtnumba.growth.oblique.node_columns import grid_of, rounded
from dtnumba.runtime.kernels import by_type, inline, kernel_type, outlined
from dtnumba.runtime.memory import per_worker

_SUM_BITS = 36  # 2**15 terms of at most one add up exactly
_STEEPEST = 30.0  # a slope of the loss beyond is all that is left of a class that one side has none of
_NONE = 1e-300


@kernel_type
class SoftSample(NamedTuple):
    """Rows of a node, and room for the loss of them."""

    by_column: np.ndarray  # (d, n) float64: values, scaled
    by_row: np.ndarray  # (n, d) float64: the same
    said: np.ndarray  # (n, outputs) float64: codes of classes, or numbers around zero
    weight: np.ndarray  # (n,) float64
    side: np.ndarray  # (n,) float64: u, and then s
    total: np.ndarray  # (k,) float64: weights by class, or the weight and the sums of the outputs
    left: np.ndarray  # (k,) float64: the same of the left side
    slope: np.ndarray  # (k,) float64: of the loss by what goes left
    first: np.ndarray  # (outputs + 1,) int64: where the classes of each output begin
    size: np.ndarray  # (2,) int64: rows and columns


@inline
def _log_part(weight):
    """Return what a weight adds to the entropy of a side."""
    return weight * math.log(weight) if weight > _NONE else 0.0


@kernel_type
class ClassLoss(NamedTuple):
    """Entropy of classes, summed over the outputs."""

    n_numbers: int

    def tally(self, sample, out, i, part):
        for o in range(sample.said.shape[1]):
            out[np.int64(sample.said[i, o])] += part

    def finish(self, sample):
        loss, weight = 0.0, 0.0
        for c in range(sample.first[0], sample.first[1]):
            weight += sample.total[c]
        for o in range(len(sample.first) - 1):
            left = right = 0.0
            for c in range(sample.first[o], sample.first[o + 1]):
                left += sample.left[c]
                right += max(sample.total[c] - sample.left[c], 0.0)
            loss += _log_part(left) + _log_part(right)
            for c in range(sample.first[o], sample.first[o + 1]):
                a, b = sample.left[c], max(sample.total[c] - sample.left[c], 0.0)
                loss -= _log_part(a) + _log_part(b)
                slope = math.log(max(b, _NONE) / max(right, _NONE)) - math.log(max(a, _NONE) / max(left, _NONE))
                sample.slope[c] = min(max(slope, -_STEEPEST), _STEEPEST)
        return loss / weight

    def weight_of(self, sample):
        weight = 0.0
        for c in range(sample.first[0], sample.first[1]):
            weight += sample.total[c]
        return weight

    def slope_at(self, sample, i):
        slope = 0.0
        for o in range(sample.said.shape[1]):
            slope += sample.slope[np.int64(sample.said[i, o])]
        return slope


@kernel_type
class NumberLoss(NamedTuple):
    """Squared error, summed over the outputs, up to what no split changes."""

    n_numbers: int

    def tally(self, sample, out, i, part):
        out[0] += part
        for o in range(sample.said.shape[1]):
            out[1 + o] += rounded(part * sample.said[i, o], grid_of(_SUM_BITS))

    def finish(self, sample):
        left, right, loss = sample.left[0], sample.total[0] - sample.left[0], 0.0
        sample.slope[0] = 0.0
        for o in range(sample.said.shape[1]):
            a = sample.left[1 + o] / left if left > _NONE else 0.0
            b = (sample.total[1 + o] - sample.left[1 + o]) / right if right > _NONE else 0.0
            loss -= a * sample.left[1 + o] + b * (sample.total[1 + o] - sample.left[1 + o])
            sample.slope[0] += a * a - b * b
            sample.slope[1 + o] = 2.0 * (b - a)
        return loss / sample.total[0]

    def weight_of(self, sample):
        return sample.total[0]

    def slope_at(self, sample, i):
        slope = sample.slope[0]
        for o in range(sample.said.shape[1]):
            slope += sample.slope[1 + o] * sample.said[i, o]
        return slope


tally = by_type("tally")
finish_loss = by_type("finish")
weight_of_sample = by_type("weight_of")
slope_at = by_type("slope_at")


def new_sample(n, d, outputs, first, n_numbers, workers):
    """Return room for n rows of d columns, for each worker."""
    shapes = (d, n), (n, d), (n, outputs), (n,), (n,), (n_numbers,), (n_numbers,), (n_numbers,)
    sample = SoftSample(*(per_worker(workers, s) for s in shapes), None, per_worker(workers, 2, np.int64))
    starts = per_worker(workers, len(first), np.int64)
    starts[:] = first
    return sample._replace(first=starts)


@inline
def total_up(loss, sample):
    """Add up all rows of a sample."""
    for c in range(len(sample.total)):
        sample.total[c] = 0.0
    for i in range(sample.size[0]):
        tally(loss, sample, sample.total, i, sample.weight[i])


@outlined
def soft_loss(loss, sample, weights, gradient):
    """Return the loss of the split by d weights and a constant behind them, and write its gradient."""
    n, d, side, grid = np.uint64(sample.size[0]), np.uint64(sample.size[1]), sample.side, grid_of(_SUM_BITS)
    constant = weights[d]
    for i in range(n):
        side[i] = constant
    for k in range(d):
        weight = weights[k]
        for i in range(n):
            side[i] += weight * sample.by_column[k, i]
    for c in range(len(sample.left)):
        sample.left[c] = 0.0
    for i in range(n):
        s = 1.0 / (1.0 + math.exp(min(max(side[i], -700.0), 700.0)))
        side[i] = s
        tally(loss, sample, sample.left, i, rounded(sample.weight[i] * s, grid))
    value = finish_loss(loss, sample)
    for k in range(d + np.uint64(1)):
        gradient[k] = 0.0
    shrunk = 1.0 / _STEEPEST  # of terms of at most one
    for i in range(n):
        s = side[i]
        own = -shrunk * sample.weight[i] * slope_at(loss, sample, i) * s * (1.0 - s)
        gradient[d] += rounded(own, grid)
        for k in range(d):
            gradient[k] += (own * sample.by_row[i, k] + grid) - grid
    unit = 1.0 / (shrunk * weight_of_sample(loss, sample))
    for k in range(d + np.uint64(1)):
        gradient[k] *= unit
    return value
