# mypy: ignore-errors
# ruff: noqa: D102
"""CART's linear combinations (Breiman et al. 1984, section 5.2): from the best column, weight by weight, about points.

A step turns the sum about a point of a column: an end of its range at the node, or a quarter of the range beyond. When
a round gains nothing, columns are deleted whose loss costs less than a tenth of what the costliest would.
"""

from typing import NamedTuple

from dtnumba.criteria.contract import NO_GAIN
from dtnumba.growth.oblique.projection import try_weights
from dtnumba.growth.oblique.searches.turns import (
    along_column,
    best_step,
    new_turn,
    settle_constant,
    start_at_best_column,
    take_step,
)
from dtnumba.runtime.kernels import inline, kernel_type

_ENOUGH = 1e-4  # of the gain: less is no progress
_DELETED = 0.1


@kernel_type
class CartLC(NamedTuple):
    """CART's search; it draws nothing."""

    n_rounds: int

    def new_scratch(self, splitter, n, workers):
        return new_turn(splitter, workers)

    def find(self, splitter, job, scratch, node, d, total):
        own, here = scratch.own, scratch.own.search
        gain = start_at_best_column(splitter, job, scratch, node, d, total)
        if gain == NO_GAIN:
            return
        n_rounds, goes_on = 0, True
        while goes_on and n_rounds < self.n_rounds:
            before = gain
            for m in range(d):
                for q in range(4):
                    along_column(here, d, m, 0.25 * (q // 2), q % 2 == 1)
                    found = best_step(splitter, job, scratch, node, d, total)
                    if found > gain:
                        gain = found
                        take_step(here, d)
            gain = max(gain, settle_constant(splitter, job, scratch, node, d, total))
            n_rounds, goes_on = n_rounds + 1, gain - before > _ENOUGH * abs(before)
        _put(own, here, d)
        try_weights(splitter, job, scratch, node, d, total)
        if _delete(splitter, job, scratch, node, d, total, gain):
            _put(own, here, d)
            try_weights(splitter, job, scratch, node, d, total)


@inline
def _put(own, here, d):
    for k in range(d):
        own.weights[k] = here.weights[k]


@inline
def _delete(splitter, job, scratch, node, d, total, gain):
    """Take columns away that cost little; return whether any was."""
    here, any_left, goes_on = scratch.own.search, False, True
    while goes_on:
        least, cheapest, dearest, n_terms = 0, float("inf"), 0.0, 0
        for m in range(d):
            if here.weights[m] == 0.0:
                continue
            n_terms += 1
            weight, constant = here.weights[m], here.weights[d]
            here.weights[m] = 0.0
            cost = gain - settle_constant(splitter, job, scratch, node, d, total)
            here.weights[m], here.weights[d] = weight, constant
            if cost < cheapest:
                least, cheapest = m, cost
            dearest = max(dearest, cost if cost < float("inf") else 0.0)
        goes_on = n_terms > 2 and cheapest < _DELETED * dearest
        if goes_on:
            here.weights[least], any_left = 0.0, True
            gain = max(settle_constant(splitter, job, scratch, node, d, total), gain - cheapest)
    return any_left
