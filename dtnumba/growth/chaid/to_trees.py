"""From the nodes of CHAID to Trees: maps of categories, cuts of bins, values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtnumba.growth.chaid.bonferroni import NOMINAL
from dtnumba.tables.floats import midpoint
from dtnumba.trees.assemble import ragged_of_rows
from dtnumba.trees.layout import LEAF, Trees

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.chaid.grow import ChaidSplit, GrownChaid
    from dtnumba.growth.chaid.outcome import NodeValues
    from dtnumba.growth.chaid.predictors import Predictors


class _Splits:
    """The columns of the splits, filled node by node."""

    def __init__(self, n_nodes: int) -> None:
        self.feature = np.full(n_nodes, LEAF, np.int32)
        self.threshold = np.full(n_nodes, np.nan)
        self.missing = np.zeros(n_nodes, np.uint8)
        self.cuts: dict[int, NDArray[np.float64]] = {}
        self.maps: dict[int, NDArray[np.int32]] = {}


def _write_test(tests: _Splits, node: int, split: ChaidSplit, predictors: Predictors, heaviest: int) -> None:
    """Write the split of a node, and the child of missing values: the heaviest one where no row of the node has any."""
    f, child = split.feature, split.child
    values, missing = child[:-1], int(child[-1])
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


def to_trees(grown: GrownChaid, predictors: Predictors, node_values: NodeValues) -> Trees:
    """Return the Trees of one grown tree.

    Parameters
    ----------
    grown : GrownChaid
        Its nodes.
    predictors : Predictors
        The predictors as codes, with the values of each code.
    node_values : NodeValues
        The values of the nodes.

    """
    m, tests = len(grown.start), _Splits(len(grown.start))
    right = np.full(m, LEAF, np.int64)
    gain = np.zeros(m)
    for node, split in enumerate(grown.splits):
        if split is None:
            continue
        left = int(grown.left[node])
        right[node] = left + split.n_children - 1
        share = node_values.weight[left : right[node] + 1] / node_values.weight[node]
        gain[node] = max(node_values.impurity[node] - float(share @ node_values.impurity[left : right[node] + 1]), 0.0)
        _write_test(tests, node, split, predictors, int(share.argmax()))
    branch_start, branch = ragged_of_rows(tests.maps, m, np.int32)
    cut_start, cut = ragged_of_rows(tests.cuts, m, np.float64)
    return Trees(
        root=np.array([0, m], np.int64),
        feature=tests.feature,
        threshold=tests.threshold,
        left=grown.left.astype(np.int32),
        right=right.astype(np.int32),
        missing_left=tests.missing,
        value=node_values.value,
        branch_start=branch_start,
        branch=branch,
        cut_start=cut_start,
        cut=cut,
        n_samples=grown.stop - grown.start,
        weight=node_values.weight,
        impurity=node_values.impurity,
        gain=gain,
    )
