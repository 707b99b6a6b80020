# mypy: ignore-errors
# ruff: noqa: D102
"""The sum that explains most of the target, in closed form: Fisher's discriminant, and ridge regression.

Both solve S w = g, where S holds the products of the columns around their means and g is a mix of their products with
the responses: of numbers the one of an output, of two classes the difference of their means. Of more classes or
outputs it is the leading direction, found by powers, and then, class by class, what parts one from the rest. Sums are
of rounded values, so that they are exact; the cut that they lead to is scored by exact sums of the target.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.oblique.node_columns import value_of, weight_of_row
from dtnumba.growth.oblique.projection import try_weights
from dtnumba.growth.oblique.searches.linear_algebra import factor, solve
from dtnumba.growth.oblique.searches.responses import add_responses, look_at_responses, n_responses_of
from dtnumba.growth.targets.leaf_values import row_at
from dtnumba.runtime.kernels import by_type, inline, kernel_type, outlined
from dtnumba.runtime.memory import per_worker

_POWERS = 30
_SMALL = 1e-9


def _itself(room):
    return room


room_of = by_type("room", _itself)  # of scratch of a search: what sums of directions need


@kernel_type
class DirectionScratch(NamedTuple):
    """Room for the sums of one node."""

    values: np.ndarray  # (d,) float64: of a row
    products: np.ndarray  # (d, d) float64: of the columns, in the lower triangle
    root: np.ndarray  # (d, d) float64: its factor
    sums: np.ndarray  # (d + 1,) float64: of the columns, and of the weights
    with_responses: np.ndarray  # (r, d + 1) float64: of columns and responses, and of the responses
    mix: np.ndarray  # (r,) float64
    sizes: np.ndarray  # (d,) float64: spread of each column, in units of its range
    ranges: np.ndarray  # (r, 2) float64: of the responses


def new_direction_scratch(splitter, responses, workers):
    """Return room for nodes of at most as many columns as a search looks at."""
    d, r = min(splitter.most_columns, splitter.n_features), n_responses_of(responses)
    shapes = (d,), (d, d), (d, d), (d + 1,), (r, d + 1), (r,), (d,), (r, 2)
    return DirectionScratch(*(per_worker(workers, shape) for shape in shapes))


@kernel_type
class Discriminant(NamedTuple):
    """Fisher's discriminant, or ridge regression on responses between 0 and 1."""

    responses: object
    penalty: float  # of a squared weight, in rows
    n_more: int  # directions tried beyond the leading one

    def new_scratch(self, splitter, n, workers):
        return new_direction_scratch(splitter, self.responses, workers)

    def find(self, splitter, job, scratch, node, d, total):
        sum_up(self, splitter, job, scratch, node, d)
        solve_for(self, splitter, job, scratch, node, d, total)


@inline
def sum_up(search, splitter, job, scratch, node, d):
    """Add up the products of a node's columns with each other and with the responses, around their means."""
    own, here, nodes = scratch.own, room_of(scratch.own.search), job.growing.nodes
    start, stop, r = np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP]), len(here.mix)
    look_at_responses(search.responses, splitter, start, stop, here.ranges)
    for k in range(d + 1):
        here.sums[k] = 0.0
        for j in range(r):
            here.with_responses[j, k] = 0.0
        for j in range(d if k < d else 0):
            here.products[k, j] = 0.0
    for i in range(start, stop):
        row = np.int64(row_at(splitter, i))
        weight = weight_of_row(search.responses.weights[row])
        for k in range(d):
            here.values[k] = value_of(splitter, own, row, k)
        for k in range(d):
            weighted = weight * here.values[k]
            here.sums[k] += weighted
            for j in range(k + 1):
                here.products[k, j] += weighted * here.values[j]
        here.sums[d] += weight
        add_responses(search.responses, row, weight, here, own.grid[0], d)
    n = here.sums[d]
    for k in range(d):
        for j in range(k + 1):
            here.products[k, j] -= here.sums[k] / n * here.sums[j]
        here.sizes[k] = np.sqrt(max(here.products[k, k] / n, 0.0))
    for j in range(r):
        for k in range(d):
            here.with_responses[j, k] -= here.with_responses[j, d] / n * here.sums[k]


@inline
def _factor_sums(search, own, here, d):
    for k in range(d):
        for j in range(k + 1):
            here.root[k, j] = here.products[k, j]
        here.root[k, k] += search.penalty + _SMALL * here.products[k, k]
    factor(here.root, d)


@inline
def solve_for(search, splitter, job, scratch, node, d, total):
    """Try the leading direction of the responses, and then those of single ones."""
    own, here = scratch.own, room_of(scratch.own.search)
    r = len(here.mix)
    lead(search, own, here, d)
    try_fewer(search, splitter, job, scratch, node, d, total)
    if r > 2:
        for j in range(min(r, search.n_more)):
            if here.with_responses[j, d] > 0.0:
                for k in range(d):
                    own.weights[k] = here.with_responses[j, k]
                solve(here.root, d, own.weights)
                try_fewer(search, splitter, job, scratch, node, d, total)


@outlined
def lead(search, own, here, d):
    """Write the direction along which the responses differ most, in units of the spread of the columns."""
    _factor_sums(search, own, here, d)
    r = len(here.mix)
    at, most = np.int64(0), -1.0
    for j in range(r):
        size = 0.0
        for k in range(d):
            size += here.with_responses[j, k] * here.with_responses[j, k]
        size *= _share_of(here, j, d)
        if size > most:
            at, most = np.int64(j), size
    for k in range(d):
        own.weights[k] = here.with_responses[at, k]
    solve(here.root, d, own.weights)
    for _ in range(_POWERS if r > 2 else 0):
        for j in range(r):
            mix = 0.0
            for k in range(d):
                mix += here.with_responses[j, k] * own.weights[k]
            here.mix[j] = mix * _share_of(here, j, d)
        largest = 0.0
        for k in range(d):
            value = 0.0
            for j in range(r):
                value += here.mix[j] * here.with_responses[j, k]
            own.weights[k] = value
            largest = max(largest, abs(value))
        if not 0.0 < largest < np.inf:
            return
        for k in range(d):
            own.weights[k] /= largest
        solve(here.root, d, own.weights)


@inline
def _share_of(here, j, d):
    """Return by what a response is divided, so that rare classes count like common ones."""
    total = here.with_responses[j, d]
    return 1.0 / total if total > 0.0 else 0.0


@outlined
def try_fewer(search, splitter, job, scratch, node, d, total):
    """Try the weights at hand; where they are too many, after leaving out the least ones."""
    own, here = scratch.own, room_of(scratch.own.search)
    kept = np.int64(0)
    for k in range(d):
        if not abs(own.weights[k]) < np.inf:
            own.weights[k] = 0.0
        kept += own.weights[k] != 0.0
    while kept > splitter.most_terms:
        least = np.int64(-1)
        for k in range(d):
            size = abs(own.weights[k]) * here.sizes[k]
            if own.weights[k] != 0.0 and (least < 0 or size <= abs(own.weights[least]) * here.sizes[least]):
                least = np.int64(k)
        own.weights[least] = 0.0
        kept -= 1
    try_weights(splitter, job, scratch, node, d, total)
