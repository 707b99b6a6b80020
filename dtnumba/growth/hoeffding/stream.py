# mypy: ignore-errors
"""Nodes of a tree of a stream, and what they saw of each column."""

from typing import NamedTuple

import numpy as np

LEAF = -1
NO_SLOT = -1
# Columns of Stream.link
FEATURE, LEFT, N_BRANCHES, SEEN_AT, STREAM_DEPTH, MISSING_BRANCH = range(6)
N_STREAM_LINKS = 6
# Columns of Stream.number
# SEEN_WEIGHT is the weight of the rows in the slot, TRIED what it was when a split was last tried; BY_MAJORITY and
# BY_BAYES are the weight of the rows that each answer would have been right about, before it saw them.
THRESHOLD, BEST_GAIN, SEEN_WEIGHT, TRIED, BY_MAJORITY, BY_BAYES = range(6)
N_STREAM_NUMBERS = 6
# Entries of Stream.used
NEXT_NODE, N_FREE, N_SPLITS, N_REPLACED = range(4)
# Values at which the sums of a column of numbers are kept
N_POINTS = 64


class SeenColumns(NamedTuple):
    """Which columns are numbers, and which have levels."""

    place: np.ndarray  # (p,) int64: of numbers which one of these, of levels where its levels begin
    n_levels: np.ndarray  # (p,) int64: 0 of numbers


class Stream(NamedTuple):
    """A tree of a stream. Sums are the weight of each class, or of numbers weight, sum and sum of squares."""

    link: np.ndarray  # (m, N_STREAM_LINKS) int32
    number: np.ndarray  # (m, N_STREAM_NUMBERS) float64
    sums: np.ndarray  # (m, S) float64: of the rows that a node saw, and of those that its parent saw for it
    # What nodes with a slot saw
    n_points: np.ndarray  # (n_slots, n_numeric) int32
    point: np.ndarray  # (n_slots, n_numeric, N_POINTS) float64, ascending
    mass: np.ndarray  # (n_slots, n_numeric, N_POINTS, S) float64: sums of the values above the point before, up to each
    moments: np.ndarray  # (n_slots, n_numeric, K, 3) float64: weight, mean and squares of each class; no classes: empty
    level_mass: np.ndarray  # (n_slots, n_levels, S) float64
    free: np.ndarray  # (n_slots,) int32
    used: np.ndarray  # (4,) int64
    columns: SeenColumns

    @classmethod
    def new(cls, capacity, n_slots, n_sums, n_classes, n_levels):
        """Return a tree of one leaf; ``n_levels`` has 0 for each column of numbers."""
        is_numeric = n_levels == 0
        place = np.where(is_numeric, np.cumsum(is_numeric) - 1, np.cumsum(n_levels) - n_levels)
        q = int(is_numeric.sum())
        link = np.full((capacity, N_STREAM_LINKS), -1, np.int32)
        link[:, STREAM_DEPTH] = 0
        return cls(
            link,
            np.zeros((capacity, N_STREAM_NUMBERS)),
            np.zeros((capacity, n_sums)),
            np.zeros((n_slots, q), np.int32),
            np.zeros((n_slots, q, N_POINTS)),
            np.zeros((n_slots, q, N_POINTS, n_sums)),
            np.zeros((n_slots, q, n_classes, 3)),
            np.zeros((n_slots, int(n_levels.sum()), n_sums)),
            np.arange(n_slots - 1, -1, -1, dtype=np.int32),
            np.array([1, n_slots, 0, 0], np.int64),
            SeenColumns(place.astype(np.int64), n_levels.astype(np.int64)),
        )
