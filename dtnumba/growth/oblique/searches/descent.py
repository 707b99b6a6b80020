# mypy: ignore-errors
"""Downhill by L-BFGS (Nocedal 1980), in place."""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.oblique.searches.soft_loss import soft_loss
from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.runtime.memory import per_worker

_KEPT = 5  # steps remembered
_SHRINKS = 8  # of a step that does not lead down far enough
_ENOUGH, _CURVED = 1e-4, 1e-10
_STILL = 1e-5  # of the loss: less is no progress


@kernel_type
class Descent(NamedTuple):
    """Room for a descent in m dimensions."""

    at: np.ndarray  # (m,) float64: where it is
    slope: np.ndarray  # (m,) float64: the gradient there
    next_at: np.ndarray
    next_slope: np.ndarray
    way: np.ndarray  # (m,) float64: the direction of a step
    moves: np.ndarray  # (5, m) float64: the last steps
    turns: np.ndarray  # (5, m) float64: what they changed of the gradient
    products: np.ndarray  # (5,) float64: of both
    shares: np.ndarray  # (5,) float64


def new_descent(m, workers):
    """Return room for each worker."""
    shapes = (m,), (m,), (m,), (m,), (m,), (_KEPT, m), (_KEPT, m), (_KEPT,), (_KEPT,)
    return Descent(*(per_worker(workers, shape) for shape in shapes))


@inline
def _dot(a, b, m):
    total = 0.0
    for k in range(m):
        total += a[k] * b[k]
    return total


@inline
def _choose_way(here, m, n_kept, newest):
    """Write the direction of the next step, by the curvature that the last ones met."""
    way = here.way
    for k in range(m):
        way[k] = -here.slope[k]
    for j in range(n_kept):
        q = (newest - j) % _KEPT
        here.shares[q] = _dot(here.moves[q], way, m) / here.products[q]
        for k in range(m):
            way[k] -= here.shares[q] * here.turns[q, k]
    if n_kept > 0:
        scale = here.products[newest] / _dot(here.turns[newest], here.turns[newest], m)
        for k in range(m):
            way[k] *= scale
    for j in range(n_kept - 1, -1, -1):
        q = (newest - j) % _KEPT
        share = here.shares[q] - _dot(here.turns[q], way, m) / here.products[q]
        for k in range(m):
            way[k] += share * here.moves[q, k]


@inline
def descend(loss, sample, here, most_steps):
    """Go down from ``here.at`` by at most so many steps; return the loss where it ends."""
    m = np.int64(sample.size[1]) + 1
    value = soft_loss(loss, sample, here.at, here.slope)
    n_kept, newest, n_steps, goes_on = np.int64(0), np.int64(-1), 0, True
    while goes_on and n_steps < most_steps:
        _choose_way(here, m, n_kept, newest)
        fall = _dot(here.way, here.slope, m)
        if not fall < 0.0:
            break
        step = 1.0
        if n_kept == 0:  # as far as the point lies from zero, or by one
            length = np.sqrt(_dot(here.way, here.way, m))
            step = max(np.sqrt(_dot(here.at, here.at, m)), 1.0) * 0.25 / length
        next_value, n_shrinks = np.inf, 0
        while n_shrinks < _SHRINKS:
            for k in range(m):
                here.next_at[k] = here.at[k] + step * here.way[k]
            next_value = soft_loss(loss, sample, here.next_at, here.next_slope)
            if next_value <= value + _ENOUGH * step * fall:
                break
            step, n_shrinks = step * 0.4, n_shrinks + 1
        if not next_value < value:
            break
        goes_on = value - next_value > _STILL * abs(value)
        newest = (newest + 1) % _KEPT
        for k in range(m):
            here.moves[newest, k] = here.next_at[k] - here.at[k]
            here.turns[newest, k] = here.next_slope[k] - here.slope[k]
            here.at[k], here.slope[k] = here.next_at[k], here.next_slope[k]
        here.products[newest] = _dot(here.moves[newest], here.turns[newest], m)
        if here.products[newest] > _CURVED * _dot(here.turns[newest], here.turns[newest], m):
            n_kept = min(n_kept + 1, _KEPT)
        else:
            n_kept, newest = np.int64(0), np.int64(-1)
        value, n_steps = next_value, n_steps + 1
    return value
