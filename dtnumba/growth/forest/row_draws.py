# mypy: ignore-errors
# ruff: noqa: D102
"""Draws that each row makes by itself: how often a tree draws it depends on the tree and on the row's key alone.

With replacement the number of draws is a Poisson variable, whose mean is the share of rows to draw times the weight of
the row; without, a row is drawn once with the chance of that share. So the number of draws in all is not fixed, as it
is where rows are drawn from a table. A tree that draws none sees every row once.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

import numpy as np

from dtnumba.growth.forest.bootstrap_rows import count_dtype
from dtnumba.runtime import rng
from dtnumba.runtime.kernels import by_type, inline, kernel, kernel_type

# Larger means are drawn in parts, each of its own random number.
PART = 16
MOST_MEAN = 1 << 20  # a row; it takes a millisecond a tree
_MOST_DRAWS = 128  # of a part: more have a chance below 1e-60
_ROWS = 1 << 14  # between two looks at the flag that stops the work
_TERMS = 24
_EXACT = np.array([float(Decimal(-k).exp()) for k in range(PART + 1)])  # the same on all machines


draws_of = by_type("draws_of")


@inline
def _draws(u, mean, none):
    """Return the number of events of a Poisson variable of this mean, whose chance of none is given."""
    n, chance, up_to = np.int64(0), none, none
    while u >= up_to and n < _MOST_DRAWS:
        n += 1
        chance *= mean / n
        if up_to + chance == up_to:
            break
        up_to += chance
    return n


@inline
def _all_once(sampling, counts):
    for i in range(len(sampling.kept)):
        counts[sampling.kept[i]] = 1


@inline
def _sample_rows(sampling, tree, counts, halt):
    """Write how often a tree draws each row: once each where it draws none."""
    key, start, total = rng.mix(sampling.keys[0], tree), np.int64(0), np.int64(0)
    for i in range(len(counts)):
        counts[i] = 0
    while start < len(sampling.kept) and halt[0] == 0:
        stop = min(start + _ROWS, len(sampling.kept))
        for i in range(start, stop):
            n = draws_of(sampling, key, i)
            counts[sampling.kept[i]] = n
            total += n
        start = stop
    if total == 0:
        _all_once(sampling, counts)


@kernel_type
class ByRow(NamedTuple):
    """Every row draws for itself, all alike."""

    kept: np.ndarray  # (k,) uint32: rows that may be drawn
    n_draws: int  # which all draws of a tree stay below
    keys: np.ndarray  # (1,) uint64: of the streams of all trees
    row_keys: np.ndarray  # (k,) uint64
    chances: np.ndarray  # float64: of no draw, of at most one, two ...

    def sample(self, tree, counts, totals, halt):
        _sample_rows(self, tree, counts, halt)

    def draws_of(self, key, i):
        u, n = rng.uniform(rng.mix(key, self.row_keys[i])), np.int64(0)
        while n < len(self.chances) and u >= self.chances[n]:
            n += 1
        return n


@kernel_type
class WeightedByRow(NamedTuple):
    """Every row draws for itself, as often as it is heavy."""

    kept: np.ndarray
    n_draws: int
    keys: np.ndarray  # (1,) uint64
    row_keys: np.ndarray  # (k,) uint64
    means: np.ndarray  # (k,) float64
    none: np.ndarray  # (k,) float64: the chance that the last part of a mean draws none

    def sample(self, tree, counts, totals, halt):
        _sample_rows(self, tree, counts, halt)

    def draws_of(self, key, i):
        own, n_parts = rng.mix(key, self.row_keys[i]), np.int64(self.means[i] / PART)
        n = _draws(rng.uniform(own), self.means[i] - PART * n_parts, self.none[i])
        for part in range(n_parts):
            n += _draws(rng.uniform(rng.mix(own, part)), float(PART), _NONE_OF_A_PART)
        return n


def _none_of(means):
    """Return exp(-means) for means of at most PART, to the same bit on all machines."""
    whole = np.floor(means)
    rest, series = means - whole, np.ones(len(means))
    for k in range(_TERMS, 0, -1):
        series = 1.0 - series * rest / k
    return series * _EXACT[whole.astype(np.int64)]


_NONE_OF_A_PART = float(_none_of(np.array([float(PART)]))[0])


def _chances_of(mean):
    """Return the chances of at most 0, 1, 2 ... draws, added up as ``_draws`` does."""
    chances, chance = [float(_none_of(np.array([mean]))[0])], float(_none_of(np.array([mean]))[0])
    while len(chances) < _MOST_DRAWS:
        chance *= mean / len(chances)
        if chances[-1] + chance == chances[-1]:
            break
        chances.append(chances[-1] + chance)
    return np.array(chances)


def draws_by_row(kept, row_keys, share, weight, keys, *, replace):
    """Return how rows of these keys draw for themselves, and the type that counts their draws.

    Parameters
    ----------
    kept : array of shape (k,), uint32
        Rows that may be drawn.
    row_keys : array of shape (n,), uint64
        Of all rows.
    share : float
        Draws a row on the average.
    weight : array of shape (n,) or None
        What a row is drawn more often than others by; not heeded without ``replace``.
    keys : array of shape (1,), uint64
        Of the streams of all trees.
    replace : bool
        Whether a row may be drawn several times.

    """
    own = np.ascontiguousarray(row_keys[kept])
    if not replace:
        return ByRow(kept, len(kept), keys, own, np.array([1.0 - min(share, 1.0)])), np.dtype(np.uint8)
    means = np.full(len(kept), share) if weight is None else share * weight[kept]
    largest = float(means.max())
    if largest > MOST_MEAN:
        row = int(kept[int(means.argmax())])
        raise ValueError(
            f"bootstrap='by_row' draws row {row} {largest:g} times in each tree, as its weight times max_samples says: "
            f"at most {MOST_MEAN} are drawn; pass a smaller max_samples, which multiplies the weights"
        )
    # Far above what is ever drawn, and the same for rows of like number.
    most = 2 * int(np.ceil(float(np.sort(means).sum()))) + 256
    if (means == largest).all() and largest < PART:
        return ByRow(kept, most, keys, own, _chances_of(largest)), np.dtype(count_dtype(largest))
    n_parts = (means / PART).astype(np.int64)
    sampling = WeightedByRow(kept, most, keys, own, means, _none_of(means - PART * n_parts))
    return sampling, np.dtype(count_dtype(largest))


@kernel
def _count_some(before, places, after, counts, whole):
    """Write how often each tree draws the rows in some places, and whether it draws none of those that stay."""
    for tree in range(len(whole)):
        key, n = rng.mix(before.keys[0], tree), np.int64(0)
        for i in range(len(places)):
            counts[tree, i] = draws_of(before, key, places[i]) if places[i] >= 0 else 0
        for i in range(len(after.kept)):
            n = draws_of(after, key, i)
            if n > 0:
                break
        whole[tree] = n == 0


def draws_of_gone(before, after, rows, n_trees):
    """Return how often each tree drew the rows that left, (n_trees, g), and which trees draw none that stays.

    A tree that sees every row, because it drew none, is one of the latter.
    """
    places = np.searchsorted(before.kept, rows)
    is_there = before.kept[np.minimum(places, len(before.kept) - 1)] == rows
    counts, whole = np.zeros((n_trees, len(rows)), np.int64), np.zeros(n_trees, np.uint8)
    _count_some(before, np.where(is_there, places, -1), after, counts, whole)
    return counts, whole
