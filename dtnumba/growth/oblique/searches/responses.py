# mypy: ignore-errors
# ruff: noqa: D102
"""The targets as searches of sums read them: numbers between 0 and 1 a row, one a class or an output.

Searches round them; the cut that they lead to is scored by exact sums of the target.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.oblique.node_columns import rounded
from dtnumba.growth.targets.leaf_values import row_at
from dtnumba.runtime.kernels import by_type, kernel_type
from dtnumba.tables.labels import Labels

n_responses_of = by_type("n_responses")
look_at_responses = by_type("look")  # write the least value of each response at a node, and one by its range
said_of = by_type("said_of")  # what a row says of an output: the number of its class, or a number around zero
add_responses = by_type("add")  # add a row's responses, and these times its values, to the sums of a search


@kernel_type
class ClassResponses(NamedTuple):
    """Whether a row is of a class, for each of them."""

    said: np.ndarray  # (n, outputs) int32: classes, counted on over the outputs
    weights: np.ndarray  # (n,) float64: at most one
    n_classes: int
    first: np.ndarray  # (outputs + 1,) int64: where the classes of each output begin

    def n_responses(self):
        return self.n_classes

    def look(self, splitter, start, stop, ranges):
        pass

    def said_of(self, row, o, ranges):
        return float(self.said[row, o])

    def add(self, row, weight, here, grid, d):
        for o in range(self.said.shape[1]):
            c = np.int64(self.said[row, o])
            here.with_responses[c, d] += weight
            for k in range(d):
                here.with_responses[c, k] += weight * here.values[k]


@kernel_type
class NumberResponses(NamedTuple):
    """The number of each output, between its least and its greatest at the node."""

    said: np.ndarray  # (n, outputs) float64: numbers
    weights: np.ndarray  # (n,) float64: at most one

    def n_responses(self):
        return self.said.shape[1]

    def look(self, splitter, start, stop, ranges):
        for o in range(self.said.shape[1]):
            low, high = np.inf, -np.inf
            for i in range(start, stop):
                y = self.said[np.int64(row_at(splitter, i)), o]
                low, high = min(low, y), max(high, y)
            span = high - low
            ranges[o, 0], ranges[o, 1] = low, 1.0 / span if span > 0.0 else 0.0

    def said_of(self, row, o, ranges):
        return (self.said[row, o] - ranges[o, 0]) * ranges[o, 1] - 0.5

    def add(self, row, weight, here, grid, d):
        for o in range(self.said.shape[1]):
            share = rounded((self.said[row, o] - here.ranges[o, 0]) * here.ranges[o, 1], grid)
            here.with_responses[o, d] += weight * share
            for k in range(d):
                here.with_responses[o, k] += weight * share * here.values[k]


def responses_of(outcome, weights):
    """Return the responses of Labels or Values."""
    plain = np.ones(weights.n_rows) if weights.are_one else weights.integers / weights.integers.max()
    if isinstance(outcome, Labels):
        first = np.cumsum([0, *outcome.sizes])
        return ClassResponses((outcome.codes + first[:-1]).astype(np.int32), plain, int(first[-1]), first)
    return NumberResponses(np.ascontiguousarray(outcome.y, np.float64), plain)
