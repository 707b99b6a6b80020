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
# N_DROPPED counts nodes whose slot another one took, NOT_SPLIT leaves that had to stay for want of room for nodes.
# N_CLEARED is what N_REPLACED was when nodes that nobody has any more were last left out.
N_DROPPED, NOT_SPLIT, N_CLEARED, IS_CLOGGED = 4, 5, 6, 7
# Values at which the sums of a column of numbers are kept
N_POINTS = 64
WINDOW_BYTES = 3_232  # of an adaptive window (``drift``)


class SeenColumns(NamedTuple):
    """Which columns are numbers, and which have levels."""

    place: np.ndarray  # (p,) int64: of numbers which one of these, of levels where its levels begin
    n_levels: np.ndarray  # (p,) int64: 0 of numbers


def bytes_of_slot(n_numeric, n_levels, n_sums, n_classes, *, watched):
    """Return how much memory the statistics of a node take."""
    numbers = n_numeric * (4 + 8 * (N_POINTS * (1 + n_sums) + 3 * n_classes)) + 8 * n_levels * n_sums
    return numbers + 8 + (WINDOW_BYTES if watched else 0)


def bytes_of_node(n_sums):
    """Return how much memory a node takes beside its statistics."""
    return 4 * N_STREAM_LINKS + 8 * (N_STREAM_NUMBERS + n_sums)


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
    owner: np.ndarray  # (n_slots,) int32: the node of a slot, -1 of a free one
    used: np.ndarray  # (8,) int64
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
            np.full(n_slots, -1, np.int32),
            np.array([1, n_slots, *[0] * 6], np.int64),
            SeenColumns(place.astype(np.int64), n_levels.astype(np.int64)),
        )
