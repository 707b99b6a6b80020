"""From the nodes of CHAID to Trees: maps of categories, cuts of bins, what nodes say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.chaid.multipliers import NOMINAL
from dtnumba.finish import midpoint
from dtnumba.trees import LEAF, NO_MAP, Trees

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.chaid.growth import GrownChaid, Parting
    from dtnumba.chaid.outcomes import WhatNodesSay
    from dtnumba.chaid.predictors import Predictors


class _Tests:
    """The columns of the tests, filled node by node."""

    def __init__(self, n_nodes: int) -> None:
        self.feature = np.full(n_nodes, LEAF, np.int32)
        self.threshold = np.full(n_nodes, np.nan)
        self.missing = np.zeros(n_nodes, np.uint8)
        self.cuts: dict[int, NDArray[np.float64]] = {}
        self.maps: dict[int, NDArray[np.int32]] = {}

    def ragged(self, given: dict[int, Any], dtype: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return where the entries of each node begin, and the entries."""
        if not given:
            return NO_MAP, np.zeros(0, dtype)
        lengths = np.zeros(len(self.feature), np.int64)
        lengths[list(given)] = [len(entries) for entries in given.values()]
        entries = np.concatenate([given[node] for node in sorted(given)]).astype(dtype)
        return np.concatenate([[0], np.cumsum(lengths)]), entries


def _write_test(tests: _Tests, node: int, split: Parting, predictors: Predictors, heaviest: int) -> None:
    """Write what a node asks of a value, and where those go that it cannot tell."""
    f, way = split.feature, split.way
    values, missing = way[:-1], int(way[-1])
    tests.feature[node] = f
    missing = heaviest if missing == LEAF else missing
    if predictors.kinds[f] == NOMINAL:
        tests.missing[node], tests.maps[node] = missing, values
        return
    there = np.flatnonzero(values != LEAF)
    ends = np.flatnonzero(np.diff(values[there]))
    cuts = midpoint(predictors.high[f][there[ends]], predictors.low[f][there[ends + 1]])
    if split.n_children == 2:
        # A threshold; of one that all values are below, missing ones alone go right.
        tests.threshold[node] = cuts[0] if len(cuts) else np.inf
        tests.missing[node] = missing == 0
        return
    tests.cuts[node], tests.missing[node] = cuts, missing
    ranges = values[there[np.append(ends, len(there) - 1)]]
    if len(ranges) < split.n_children or (np.diff(ranges) < 0).any():
        tests.maps[node] = ranges


def to_trees(grown: GrownChaid, predictors: Predictors, said: WhatNodesSay) -> Trees:
    """Return the Trees of one grown tree.

    Parameters
    ----------
    grown : GrownChaid
        Its nodes.
    predictors : Predictors
        What codes stand for.
    said : WhatNodesSay
        What the nodes say.

    """
    m, tests = len(grown.start), _Tests(len(grown.start))
    right = np.full(m, LEAF, np.int64)
    gain = np.zeros(m)
    for node, split in enumerate(grown.splits):
        if split is None:
            continue
        left = int(grown.left[node])
        right[node] = left + split.n_children - 1
        share = said.weight[left : right[node] + 1] / said.weight[node]
        gain[node] = max(said.impurity[node] - float(share @ said.impurity[left : right[node] + 1]), 0.0)
        _write_test(tests, node, split, predictors, int(share.argmax()))
    branch_start, branch = tests.ragged(tests.maps, np.int32)
    cut_start, cut = tests.ragged(tests.cuts, np.float64)
    return Trees(
        root=np.array([0, m], np.int64),
        feature=tests.feature,
        threshold=tests.threshold,
        left=grown.left.astype(np.int32),
        right=right.astype(np.int32),
        missing_left=tests.missing,
        value=said.value,
        branch_start=branch_start,
        branch=branch,
        cut_start=cut_start,
        cut=cut,
        n_samples=grown.stop - grown.start,
        weight=said.weight,
        impurity=said.impurity,
        gain=gain,
    )
