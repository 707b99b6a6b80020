# mypy: ignore-errors
"""The best step of a sum's weights in one direction: a search along a line, exact as that of a threshold.

A row lies at V = w.x + b, and a step of length a along a direction moves it to V + a R, where R is not below zero for
any row of the node. So it is above zero where a exceeds -V / R: the best step is a cut of these numbers, found by the
scan that finds every cut.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import NO_GAIN
from dtnumba.growth import columns as col
from dtnumba.growth.oblique.node_columns import value_of
from dtnumba.growth.oblique.projection import scan_numbers
from dtnumba.growth.splitters.candidates import FIRST_ABOVE, LAST_BELOW, NOTHING
from dtnumba.growth.targets.leaf_values import row_at
from dtnumba.runtime.kernels import inline, kernel_type, outlined
from dtnumba.runtime.memory import per_worker


@kernel_type
class Turn(NamedTuple):
    """Where a search is, and where it looks; columns in units of their ranges, and behind them a constant."""

    weights: np.ndarray  # (d + 1,) float64
    direction: np.ndarray  # (d + 1,) float64
    step: np.ndarray  # (1,) float64: the best one found
    best: np.ndarray  # (d + 1,) float64: weights that are kept


def new_turn(splitter, workers):
    """Return room for each worker."""
    m = min(splitter.most_columns, splitter.n_features) + 1
    return Turn(*(per_worker(workers, shape) for shape in (m, m, 1, m)))


@inline
def _bar_of(splitter, own, here, row, d):
    """Return the length of a step beyond which a row is above zero."""
    position, reach = here.weights[d], here.direction[d]
    for k in range(d):
        if here.weights[k] != 0.0 or here.direction[k] != 0.0:
            x = value_of(splitter, own, row, k)
            position += here.weights[k] * x
            reach += here.direction[k] * x
    if reach > 0.0:
        return -position / reach
    return -np.inf if position > 0.0 else np.inf


@outlined
def best_step(splitter, job, scratch, node, d, total):
    """Find the best step along the direction at hand; return the gain of the split there."""
    own, here, nodes = scratch.own, scratch.own.search, job.growing.nodes
    start, stop = np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP])
    where, now = scratch.candidates.where, splitter.n_features + 1
    for i in range(stop - start):
        own.sums[i] = _bar_of(splitter, own, here, np.int64(row_at(splitter, start + i)), d)
    if not scan_numbers(splitter, job, scratch, node, total) or where[now, FIRST_ABOVE] == NOTHING:
        return NO_GAIN
    below = _bar_of(splitter, own, here, np.int64(where[now, LAST_BELOW]), d)
    above = _bar_of(splitter, own, here, np.int64(where[now, FIRST_ABOVE]), d)
    if below == -np.inf and above == np.inf:
        here.step[0] = 0.0
    elif below == -np.inf:
        here.step[0] = above - 1.0
    else:
        here.step[0] = below + 1.0 if above == np.inf else 0.5 * (below + above)
    return scratch.candidates.gain[now]


@inline
def take_step(here, d):
    """Take the best step; weights keep a largest one of 1, or nothing would be small in the end."""
    largest = 0.0
    for k in range(d + 1):
        here.weights[k] += here.step[0] * here.direction[k]
        if k < d:
            largest = max(largest, abs(here.weights[k]))
    for k in range(d + 1 if 0.0 < largest < np.inf else 0):
        here.weights[k] /= largest


@inline
def along_constant(here, d):
    """Look along the constant."""
    for k in range(d):
        here.direction[k] = 0.0
    here.direction[d] = 1.0


@inline
def along_column(here, d, m, shift, is_mirrored):
    """Look along a column's weight: steps turn the sum about where the column is ``shift`` beyond an end."""
    along_constant(here, d)
    here.direction[m] = -1.0 if is_mirrored else 1.0
    here.direction[d] = 1.0 + shift if is_mirrored else shift


@inline
def start_at_best_column(splitter, job, scratch, node, d, total):
    """Begin with the column that splits the node best by itself; return the gain."""
    own, here, gain = scratch.own, scratch.own.search, scratch.candidates.gain
    best = np.int64(0)
    for k in range(d):
        here.weights[k] = 0.0
        if gain[own.columns[k]] > gain[own.columns[best]]:
            best = np.int64(k)
    here.weights[best], here.weights[d] = 1.0, 0.0
    return settle_constant(splitter, job, scratch, node, d, total)


@outlined
def settle_constant(splitter, job, scratch, node, d, total):
    """Move the constant to where it is best; return the gain."""
    here = scratch.own.search
    along_constant(here, d)
    gain = best_step(splitter, job, scratch, node, d, total)
    if gain > NO_GAIN:
        here.weights[d] += here.step[0]
    return gain
