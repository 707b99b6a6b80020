# mypy: ignore-errors
# ruff: noqa: D102
"""Sums found by going downhill on a soft split's loss (John 1995): from the discriminant, and from the best column.

A start is scaled so that most rows lie on the slope of the curve, and weights may grow, which hardens the split. Large
nodes go downhill on a sample of their rows, drawn by what the rows hold; all rows are scanned for the cut.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.oblique.node_columns import value_of, weight_of_row
from dtnumba.growth.oblique.projection import scan_sum, stream_of, try_weights
from dtnumba.growth.oblique.searches.descent import Descent, descend, new_descent
from dtnumba.growth.oblique.searches.discriminant import (
    DirectionScratch,
    lead,
    new_direction_scratch,
    sum_up,
    try_fewer,
)
from dtnumba.growth.oblique.searches.responses import look_at_responses, said_of
from dtnumba.growth.oblique.searches.soft_loss import SoftSample, new_sample, total_up
from dtnumba.growth.splitters.candidates import FIRST_ABOVE, LAST_BELOW, NOTHING
from dtnumba.growth.targets.leaf_values import row_at
from dtnumba.runtime import rng
from dtnumba.runtime.kernels import inline, kernel_type

DESCENT_ROWS = 4096  # of a sample
_SHARE = 0.9  # of these that are drawn on the average
_STEPS = 20  # of a descent
_SPREAD = 3.0  # of the rows at a start, where the curve's slope is about one wide
_HASH = float(1 << 20)


@kernel_type
class SoftScratch(NamedTuple):
    """Room for one node."""

    direction: DirectionScratch
    sample: SoftSample
    descent: Descent

    def room(self):
        return self.direction


@kernel_type
class SoftEntropy(NamedTuple):
    """Descents from so many starts: the discriminant, the best column, and then drawn ones."""

    responses: object
    loss: object  # ClassLoss or NumberLoss
    first: np.ndarray  # (outputs + 1,) int64: where the classes of each output begin
    penalty: float  # of the discriminant
    n_starts: int

    def new_scratch(self, splitter, n, workers):
        d, rows = min(splitter.most_columns, splitter.n_features), min(n, DESCENT_ROWS)
        outputs = self.responses.said.shape[1]
        sample = new_sample(rows, d, outputs, self.first, self.loss.n_numbers, workers)
        direction = new_direction_scratch(splitter, self.responses, workers)
        return SoftScratch(direction, sample, new_descent(d + 1, workers))

    def find(self, splitter, job, scratch, node, d, total):
        own, here = scratch.own, scratch.own.search
        sum_up(self, splitter, job, scratch, node, d)
        lead(self, own, here.direction, d)
        try_fewer(self, splitter, job, scratch, node, d, total)
        for q in range(self.n_starts):
            _take_sample(self, splitter, job, scratch, node, d)
            if q == 0:
                lead(self, own, here.direction, d)
            elif q == 1:
                _best_column(own, scratch.candidates.gain, d)
            else:
                stream = rng.mix(stream_of(job, node), q)
                for k in range(d):
                    own.weights[k] = 2.0 * rng.uniform(rng.mix(stream, k)) - 1.0
            if scan_sum(splitter, job, scratch, node, d, total) > 0:
                _begin(splitter, scratch, d)
                _go_down(self, splitter, job, scratch, node, d, total)


@inline
def _best_column(own, gain, d):
    best = np.int64(0)
    for k in range(d):
        own.weights[k] = 0.0
        if gain[own.columns[k]] > gain[own.columns[best]]:
            best = np.int64(k)
    own.weights[best] = 1.0


@inline
def _take_sample(search, splitter, job, scratch, node, d):
    """Copy the rows of a node, or those of which the values say so, scaled."""
    own, nodes, sample = scratch.own, job.growing.nodes, scratch.own.search.sample
    start, stop = np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP])
    ranges, most, m = scratch.own.search.direction.ranges, np.int64(len(sample.weight)), np.int64(0)
    look_at_responses(search.responses, splitter, start, stop, ranges)
    share = 1.0 if stop - start <= most else _SHARE * float(most) / float(stop - start)
    for i in range(start, stop):
        row, hashed = np.int64(row_at(splitter, i)), np.uint64(1)
        if share < 1.0:
            for k in range(d):
                hashed = rng.mix(hashed, np.uint64(np.int64(value_of(splitter, own, row, k) * _HASH)))
        if share < 1.0 and rng.uniform(hashed) >= share:
            continue
        for k in range(d):
            sample.by_row[m, k] = value_of(splitter, own, row, k) - own.mean[k]
            sample.by_column[k, m] = sample.by_row[m, k]
        sample.weight[m] = weight_of_row(search.responses.weights[row])
        for o in range(sample.said.shape[1]):
            sample.said[m, o] = said_of(search.responses, row, o, ranges)
        m += 1
        if m == most:
            break
    sample.size[0], sample.size[1] = m, d
    total_up(search.loss, sample)


@inline
def _begin(splitter, scratch, d):
    """Begin a descent at ``own.weights`` and the cut just scanned."""
    own, descent, sample = scratch.own, scratch.own.search.descent, scratch.own.search.sample
    where, now, spread, mean = scratch.candidates.where, splitter.n_features + 1, 0.0, 0.0
    cut = _sum_of(splitter, own, where[now, LAST_BELOW], d)
    if where[now, FIRST_ABOVE] != NOTHING:
        cut = 0.5 * (cut + _sum_of(splitter, own, where[now, FIRST_ABOVE], d))
    n = np.int64(sample.size[0])
    for i in range(n):
        sample.side[i] = 0.0
        for k in range(d):
            sample.side[i] += own.weights[k] * sample.by_row[i, k]
    low, high = np.inf, -np.inf
    for i in range(n):
        low, high = min(low, sample.side[i]), max(high, sample.side[i])
    span = high - low
    for i in range(n):  # spread around the middle, on a grid
        away = (sample.side[i] - low) / span if span > 0.0 else 0.0
        away = (away + _GRID) - _GRID
        mean += away
        spread += (away * away + _GRID) - _GRID
    spread = span * np.sqrt(max(spread / n - (mean / n) * (mean / n), 0.0))
    scale = _SPREAD / spread if spread > 0.0 else 1.0
    for k in range(d):
        descent.at[k] = own.weights[k] * scale
    descent.at[d] = -cut * scale


@inline
def _sum_of(splitter, own, row, d):
    total = 0.0
    for k in range(d):
        total += own.weights[k] * (value_of(splitter, own, np.int64(row), k) - own.mean[k])
    return total


_GRID = 1.5 * 2.0**16  # 36 bits behind the point


@inline
def _go_down(search, splitter, job, scratch, node, d, total):
    """Descend, and try where it ends; while there are too many terms, leave out half of them and go on."""
    own, here, most = scratch.own, scratch.own.search, np.int64(splitter.most_terms)
    sizes = here.direction.sizes
    kept = np.int64(d)
    while True:
        descend(search.loss, here.sample, here.descent, _STEPS)
        kept = np.int64(0)
        for k in range(d):
            own.weights[k] = here.descent.at[k]
            if not abs(own.weights[k]) < np.inf:
                own.weights[k] = 0.0
            kept += own.weights[k] != 0.0
        if kept <= most:
            break
        target = max(most, kept // 2)
        while kept > target:
            least = np.int64(-1)
            for k in range(d):
                size = abs(own.weights[k]) * sizes[k]
                if own.weights[k] != 0.0 and (least < 0 or size <= abs(own.weights[least]) * sizes[least]):
                    least = np.int64(k)
            own.weights[least] = here.descent.at[least] = 0.0
            for i in range(np.int64(here.sample.size[0])):
                here.sample.by_row[i, least] = here.sample.by_column[least, i] = 0.0
            kept -= 1
    try_weights(splitter, job, scratch, node, d, total)
