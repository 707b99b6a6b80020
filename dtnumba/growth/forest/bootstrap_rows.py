# mypy: ignore-errors
# ruff: noqa: D102
"""How often each row counts in a tree of a forest.

A way of sampling is a NamedTuple with ``sample(tree, counts, totals, halt)``, which writes the weight of every row of
the table (0 where the tree does not see it; ``totals`` is scratch, a number a class). Draws are functions of the tree's
key alone, so the first trees of a larger forest are the trees of a smaller one. Where ``halt[0]`` is not 0, drawing
ends at once, and what was drawn is of no use.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.targets.contract import with_counts
from dtnumba.runtime import rng
from dtnumba.runtime.kernels import by_type, kernel, kernel_type

# Expected draws of a row up to which a byte holds them: beyond 255 with a chance below 1e-180.
_BYTE_DRAWS = 16
# Draws between two looks at the flag that stops the work: about a millisecond.
_DRAWS = 1 << 16


def _list_drawn(sampling, order, counts, rows, at):
    """List the rows that count, in the given order, from rows[at] on; return how many. No branch: it is a coin flip."""
    k = np.uint64(at)
    for i in range(len(order)):
        row = order[i]
        rows[k] = row
        k += np.uint64(counts[row] > 0)
    return np.int64(k) - at


def _weigh_by_counts(sampling, target, own, counts, rows, n):
    return with_counts(target, own, counts, rows, n)


sample = by_type("sample")
list_rows = by_type("list_rows", _list_drawn)
weigh = by_type("weigh", _weigh_by_counts)


@kernel_type
class Everything(NamedTuple):
    """Every tree sees all rows, as heavy as they are."""

    n_draws: int  # rows of positive weight

    def sample(self, tree, counts, totals, halt):
        pass

    def list_rows(self, order, counts, rows, at):
        for i in range(len(order)):
            rows[at + i] = order[i]
        return np.int64(len(order))

    def weigh(self, target, own, counts, rows, n):
        return target


@kernel_type
class Bootstrap(NamedTuple):
    """So many draws with replacement, all rows alike."""

    kept: np.ndarray  # (k,) uint32: rows that may be drawn
    n_draws: int
    keys: np.ndarray  # (1,) uint64: of the streams of all trees

    def sample(self, tree, counts, totals, halt):
        key, n, start = rng.mix(self.keys[0], tree), len(self.kept), np.int64(0)
        for i in range(len(counts)):
            counts[i] = 0
        while start < self.n_draws and halt[0] == 0:
            stop = min(start + _DRAWS, self.n_draws)
            if n == len(counts):  # every row: not looking it up halves the time
                for i in range(start, stop):
                    counts[np.uint64(rng.below(rng.mix(key, i), n))] += 1
            else:
                for i in range(start, stop):
                    counts[self.kept[rng.below(rng.mix(key, i), n)]] += 1
            start = stop


@kernel_type
class WeightedBootstrap(NamedTuple):
    """So many draws with replacement, a row as likely as it is heavy."""

    kept: np.ndarray
    n_draws: int
    keys: np.ndarray  # (1,) uint64
    up_to: np.ndarray  # (k,) float64: share of the weight up to and with each row, ascending to 1

    def sample(self, tree, counts, totals, halt):
        key, start = rng.mix(self.keys[0], tree), np.int64(0)
        for i in range(len(counts)):
            counts[i] = 0
        while start < self.n_draws and halt[0] == 0:
            stop = min(start + _DRAWS, self.n_draws)
            for i in range(start, stop):
                u, low, high = rng.uniform(rng.mix(key, i)), np.int64(0), np.int64(len(self.up_to) - 1)
                while low < high:
                    middle = (low + high) // 2
                    if self.up_to[middle] > u:
                        high = middle
                    else:
                        low = middle + 1
                counts[self.kept[low]] += 1
            start = stop


@kernel_type
class Subset(NamedTuple):
    """So many rows without replacement: each in turn is taken with a chance that leaves all subsets equally likely."""

    kept: np.ndarray
    n_draws: int
    keys: np.ndarray  # (1,) uint64

    def sample(self, tree, counts, totals, halt):
        key, n, left, start = rng.mix(self.keys[0], tree), len(self.kept), self.n_draws, np.int64(0)
        for i in range(len(counts)):
            counts[i] = 0
        while start < n and halt[0] == 0:
            stop = min(start + _DRAWS, n)
            for i in range(start, stop):
                if rng.below(rng.mix(key, i), n - i) < left:
                    counts[self.kept[i]] = 1
                    left -= 1
            start = stop


@kernel_type
class Balanced(NamedTuple):
    """Another way of sampling, with the classes weighing the same in every tree; ``counts`` are weights then."""

    draws: object
    codes: np.ndarray  # (n, n_outputs) int32
    offsets: np.ndarray  # (n_outputs + 1,) int64
    unit: float  # a weight of 1 in ``counts``, in the caller's units

    def sample(self, tree, counts, totals, halt):
        sample(self.draws, tree, counts, totals, halt)
        n_draws = np.int64(0)
        for k in range(len(totals)):
            totals[k] = 0.0
        for row in range(len(counts)):
            n_draws += counts[row]
            for o in range(self.codes.shape[1]):
                totals[self.offsets[o] + self.codes[row, o]] += counts[row]
        for row in range(len(counts)):
            weight = float(counts[row])
            if weight > 0.0:
                for o in range(self.codes.shape[1]):
                    n_classes = self.offsets[o + 1] - self.offsets[o]
                    weight *= n_draws / (n_classes * totals[self.offsets[o] + self.codes[row, o]])
                counts[row] = max(np.int64(np.rint(weight / self.unit)), 1)


def count_dtype(most_expected):
    """Return the type of counts of rows of which none is expected to be drawn more often than this."""
    return np.uint8 if most_expected <= _BYTE_DRAWS else np.int64


@kernel
def draw_rows(sampling, tree, counts, totals, halt):
    """Write how often a tree of a forest draws each row."""
    sample(sampling, tree, counts, totals, halt)
