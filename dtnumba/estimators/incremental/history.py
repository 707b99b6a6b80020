"""Which tests of a tree gave way to others from one look at it to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnumba.trees.layout import last_children

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.trees.layout import Trees

MOST_REMEMBERED = 1000  # older ones are let go


class ReplacedSplit(NamedTuple):
    """A test that gave way to another, or to none.

    Attributes
    ----------
    n_seen, n_held : int
        How many rows had come by then, and how many were held.
    depth, n_samples : int
        Where the node stands, and how many rows it had before; -1 where a compact file did not hold it.
    feature, threshold : int and float
        The test before; the threshold is NaN where the test is of a category.
    by_feature, by_threshold : int and float
        The test after; -1 and NaN where the node has become a leaf.

    """

    n_seen: int
    n_held: int
    depth: int
    n_samples: int
    feature: int
    threshold: float
    by_feature: int
    by_threshold: float


def replaced_splits(before: Trees, after: Trees, n_seen: int, n_held: int) -> list[ReplacedSplit]:
    """Return the tests of one tree that gave way to others in the next, from the root down.

    Below a node that tests another column there is nothing to compare.
    """
    found: list[ReplacedSplit] = []
    is_counted = len(before.n_samples) == before.n_nodes
    last = last_children(before), last_children(after)
    old = new = np.zeros(1, np.int64)
    depth = 0
    while len(old):
        is_inner = before.feature[old] >= 0
        old, new = old[is_inner], new[is_inner]
        thresholds = before.threshold[old], after.threshold[new]
        is_same_column = before.feature[old] == after.feature[new]
        is_moved = (thresholds[0] != thresholds[1]) & ~(np.isnan(thresholds[0]) & np.isnan(thresholds[1]))
        for i in np.flatnonzero(~is_same_column | is_moved):
            a, b = int(old[i]), int(new[i])
            test = int(before.feature[a]), float(before.threshold[a]), int(after.feature[b]), float(after.threshold[b])
            n_samples = int(before.n_samples[a]) if is_counted else -1
            found.append(ReplacedSplit(n_seen, n_held, depth, n_samples, *test))
        n_children = last[0][old] - before.left[old] + 1
        goes_on = is_same_column & (n_children == last[1][new] - after.left[new] + 1)
        old, new = _children(before, after, old[goes_on], new[goes_on], n_children[goes_on])
        depth += 1
    return found


def _children(
    before: Trees, after: Trees, old: NDArray[np.int64], new: NDArray[np.int64], n_children: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the children of pairs of nodes, in pairs."""
    which = np.arange(int(n_children.sum())) - np.repeat(np.cumsum(n_children) - n_children, n_children)
    return np.repeat(before.left[old], n_children) + which, np.repeat(after.left[new], n_children) + which
