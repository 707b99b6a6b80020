# mypy: ignore-errors
# ruff: noqa: D102
"""OC1 (Murthy, Kasif & Salzberg 1994): weight by weight downhill, random directions where that ends, and restarts.

The first start is the best column, others are drawn. A step that changes nothing is taken ten times in a row at most.
"""

from typing import NamedTuple

from dtnumba.criteria.contract import NO_GAIN
from dtnumba.growth.oblique.projection import stream_of, try_weights
from dtnumba.growth.oblique.searches.turns import (
    along_column,
    best_step,
    new_turn,
    settle_constant,
    start_at_best_column,
    take_step,
)
from dtnumba.runtime import rng
from dtnumba.runtime.kernels import inline, kernel_type

_SWEEPS, _JUMPS, _STAGNANT = 20, 5, 10


@kernel_type
class OC1(NamedTuple):
    """OC1 from so many starts."""

    n_starts: int

    def new_scratch(self, splitter, n, workers):
        return new_turn(splitter, workers)

    def find(self, splitter, job, scratch, node, d, total):
        own, here, stream = scratch.own, scratch.own.search, stream_of(job, node)
        for q in range(self.n_starts):
            draws = rng.mix(stream, q)
            if q == 0:
                gain = start_at_best_column(splitter, job, scratch, node, d, total)
            else:
                for k in range(d):
                    here.weights[k] = 2.0 * rng.uniform(rng.mix(draws, k)) - 1.0
                here.weights[d] = 0.0
                gain = settle_constant(splitter, job, scratch, node, d, total)
            if gain > NO_GAIN:
                _climb(splitter, job, scratch, node, d, total, gain, rng.mix(draws, d))
                for k in range(d):
                    own.weights[k] = here.weights[k]
                try_weights(splitter, job, scratch, node, d, total)


@inline
def _climb(splitter, job, scratch, node, d, total, gain, draws):
    """Improve the weights at hand, until neither a weight nor a jump does."""
    here, n_same, n_jumps, goes_on, sweep = scratch.own.search, 0, 0, True, 0
    while goes_on and sweep < _SWEEPS:
        before = gain
        for m in range(d):
            along_column(here, d, m, 0.0, False)
            found = best_step(splitter, job, scratch, node, d, total)
            if found > gain or (found == gain and n_same < _STAGNANT):
                n_same = 0 if found > gain else n_same + 1
                gain = found
                take_step(here, d)
        sweep, goes_on, jump = sweep + 1, gain > before, 0
        while not goes_on and jump < _JUMPS:
            _along_drawn(here, d, rng.mix(draws, n_jumps))
            found = best_step(splitter, job, scratch, node, d, total)
            jump, n_jumps = jump + 1, n_jumps + 1
            if found > gain:
                gain, goes_on = found, True
                take_step(here, d)


@inline
def _along_drawn(here, d, draws):
    """Look along a drawn direction; the constant keeps every row's way along it from being below zero."""
    here.direction[d] = 0.0
    for k in range(d):
        here.direction[k] = 2.0 * rng.uniform(rng.mix(draws, k)) - 1.0
        here.direction[d] += max(-here.direction[k], 0.0)
