# mypy: ignore-errors
# ruff: noqa: D102
"""Interaction constraints: which features may stand on one path from the root to a leaf.

Either every path keeps to one group of features, or it tests at most so many different ones. A node finds the features
above it by walking up its parents; it looks at, and draws from, what may stand beside these. Where nothing is
constrained there is no such policy, and no column for parents.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.nodes import with_features
from dtnumba.growth.policies.feature_sampling import (
    AllFeatures,
    SomeFeatures,
    draw,
    list_drawn,
    side_by_side,
    with_key,
)
from dtnumba.runtime.kernels import by_type, inline, kernel_type


def _all_of_them(policy, growing, scratch, node):
    return scratch


def _forgotten(policy, growing, node, left):
    pass


allowed = by_type("allowed", _all_of_them)  # scratch whose ``features`` are those that a node may look at
note_parent = by_type("note_parent", _forgotten)


class Groups(NamedTuple):
    """Which features may meet."""

    member: np.ndarray  # (n_groups, p) uint8: 1 where a group holds a feature; no groups: any features may meet
    most: int  # different features on a path; p: as many as there are

    def doubled(self) -> Groups:
        """Return the groups of twice as many features, of which the second half mirrors the first."""
        return Groups(np.tile(self.member, (1, 2)), self.most)


@kernel_type
class Interacting(NamedTuple):
    """Features that may stand beside those above, picked by another policy."""

    inner: object  # AllFeatures or SomeFeatures
    member: np.ndarray
    most: int

    def with_key(self, key):
        return Interacting(with_key(self.inner, key), self.member, self.most)

    def draw(self, scratch, key, first, last):
        draw(self.inner, scratch, key, first, last)

    def side_by_side(self):
        return side_by_side(self.inner)

    def list_drawn(self, scratch, k):
        list_drawn(self.inner, scratch, k)

    def note_parent(self, growing, node, left):
        for child in (left, left + 1):
            growing.nodes[child, col.PARENT] = node

    def allowed(self, growing, scratch, node):
        """List the allowed features in ascending order, in place of all."""
        features, marks, p = scratch.features, scratch.listed, len(scratch.features)
        for f in range(p):
            marks[f] = len(self.member) == 0
        for group in range(len(self.member)):
            if _holds_path(self.member[group], growing.nodes, node):
                for f in range(p):
                    marks[f] |= self.member[group, f]
        needed, n = _mark_path(self, growing.nodes, node, marks), 0
        for f in range(p):
            if marks[f] >= needed:
                features[n] = f
                n += 1
        return with_features(scratch, features[:n])


@inline
def _holds_path(members, nodes, node):
    """Tell whether a group holds every feature above a node."""
    above = nodes[node, col.PARENT]
    while above >= 0:
        if members[nodes[above, col.FEATURE]] == 0:
            return False
        above = nodes[above, col.PARENT]
    return True


@inline
def _mark_path(policy, nodes, node, marks):
    """Mark the features above a node with a 2; return the least mark of a feature that is allowed."""
    n, above = 0, nodes[node, col.PARENT]
    while above >= 0:
        n += marks[nodes[above, col.FEATURE]] != 2
        marks[nodes[above, col.FEATURE]] = 2
        above = nodes[above, col.PARENT]
    return 2 if n >= policy.most else 1


def feature_policy(limits, n_features, groups):
    """Return which features nodes look at; ``groups`` is None where all may meet."""
    inner = SomeFeatures(limits.features_key) if limits.n_drawn < n_features else AllFeatures()
    return inner if groups is None else Interacting(inner, *groups)
