# mypy: ignore-errors
# ruff: noqa: D102
"""Sparse sums with drawn weights (Breiman 2001; Tomita et al. 2020): two columns or some more, each weight in [-1, 1].

Draws depend on the seed and on the way to the node alone. Columns are drawn from all that are numbers, whichever of
them the node looks at by themselves: sums of the few that it drew repeat what these say (40 trees of 80,000 rows x 28,
ten sums a node: 81.9 % of new rows right from all, 81.7 % from five; 82.6 % in pairs; 81.3 % by single columns).
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.oblique.projection import stream_of, try_weights
from dtnumba.runtime import rng
from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.runtime.memory import per_worker

MOST_DRAWN = 8  # columns of a sum


@inline
def draw_terms(key, d, most, columns, weights):
    """Draw the terms of a sum: which of d columns, ascending, and their weights; return how many there are."""
    m, at, n = np.int64(2), np.int64(0), np.int64(0)
    while m < most and rng.uniform(rng.mix(key, at)) < 0.5:  # every further column by the flip of a coin
        m, at = m + 1, at + 1
    at += 1
    while n < m:
        k, place = np.int64(rng.below(rng.mix(key, at), d)), n
        while place > 0 and columns[place - 1] > k:
            place -= 1
        if place == 0 or columns[place - 1] != k:
            for i in range(n, place, -1):
                columns[i], weights[i] = columns[i - 1], weights[i - 1]
            columns[place], weights[place] = k, 2.0 * rng.uniform(rng.mix(key, at + 1)) - 1.0
            n += 1
        at += 2
    return n


@kernel_type
class DrawnTerms(NamedTuple):
    """The terms of one sum."""

    columns: np.ndarray  # (MOST_DRAWN,) int64: among those that the node may combine
    weights: np.ndarray  # (MOST_DRAWN,) float64


@kernel_type
class RandomSums(NamedTuple):
    """How many sums a node draws, of which every cut is tried."""

    n_sums: int

    def new_scratch(self, splitter, n, workers):
        return DrawnTerms(per_worker(workers, MOST_DRAWN, np.int64), per_worker(workers, MOST_DRAWN))

    def looks_at_all(self):
        """Tell that it draws from all columns."""
        return True

    def find_few(self, splitter, job, scratch, node, d, total):
        own, here, stream = scratch.own, scratch.own.search, stream_of(job, node)
        for k in range(d):
            own.weights[k] = 0.0
        for q in range(self.n_sums):
            most = min(d, splitter.most_terms)
            n = draw_terms(rng.mix(stream, q), d, most, here.columns, here.weights)
            for i in range(n):
                own.weights[here.columns[i]] = here.weights[i]
            try_weights(splitter, job, scratch, node, d, total)
            for i in range(n):
                own.weights[here.columns[i]] = 0.0
