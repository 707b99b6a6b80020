# mypy: ignore-errors
# ruff: noqa: D102
"""Sparse sums with drawn weights (Breiman 2001; Tomita et al. 2020): two columns or some more, each weight in [-1, 1].

Draws depend on the seed and on the way to the node alone.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.oblique.projection import stream_of, try_weights
from dtnumba.runtime import rng
from dtnumba.runtime.kernels import kernel_type

FEWEST_SUMS = 10  # sums a node
MOST_DRAWN = 8  # columns of a sum


@kernel_type
class RandomSums(NamedTuple):
    """How many sums a node draws; 0: as many as it has columns, and at least ten."""

    n_sums: int

    def new_scratch(self, splitter, n, workers):
        return self

    def find_few(self, splitter, job, scratch, node, d, total):
        own, stream = scratch.own, stream_of(job, node)
        n_sums, most = self.n_sums if self.n_sums > 0 else max(d, FEWEST_SUMS), min(d, splitter.most_terms, MOST_DRAWN)
        for q in range(n_sums):
            key, m, at = rng.mix(stream, q), np.int64(2), 0
            while m < most and rng.uniform(rng.mix(key, at)) < 0.5:  # every further column by the flip of a coin
                m, at = m + 1, at + 1
            for k in range(d):
                own.weights[k] = 0.0
            at += 1
            while m > 0:
                k = rng.below(rng.mix(key, at), d)
                if own.weights[k] == 0.0:
                    own.weights[k] = 2.0 * rng.uniform(rng.mix(key, at + 1)) - 1.0
                    m -= 1
                at += 2
            try_weights(splitter, job, scratch, node, d, total)
