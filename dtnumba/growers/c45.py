"""Trees of C4.5: growth with its choice of tests, cuts at values of the table, and the collapse of useless subtrees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba import rng
from dtnumba._jit import n_workers
from dtnumba.bottom_up import cut_where_cheaper
from dtnumba.grow import NO_LIMIT
from dtnumba.growers.grown import coded, grow_rows, rules_of, sums_of, work_on
from dtnumba.growers.options import MERGED, Options
from dtnumba.growers.quinlan import quinlan_ratio
from dtnumba.monotone import AnyShape
from dtnumba.scan import Limits
from dtnumba.split_test import NoTest
from dtnumba.subtrees import below, class_weights_of, errors_as_leaf, levels_of, rebuilt
from dtnumba.trees import count_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dtnumba.binned_table import Features
    from dtnumba.labels import Labels
    from dtnumba.trees import Trees
    from dtnumba.weights import Weights

# Errors of a subtree and of a leaf that differ by no more are the same.
_SAME = 1e-3


@dataclass(frozen=True, kw_only=True)
class C45Options:
    """The options of a C45Classifier that growth reads."""

    min_objects: float
    subset: bool
    binary_splits: bool
    mdl_correction: bool
    average_gain_rule: bool
    variant: str
    n_jobs: int | None

    def tests(self) -> Options:
        """Return which tests there are."""
        split = MERGED if self.subset else "one_vs_rest" if self.binary_splits else "multiway"
        return Options(missing="fractional", categorical_split=split, empty_leaves=True, two_suffice=True)


def grow_c45(table: Features, known: Labels, weights: Weights, options: C45Options) -> Trees:
    """Grow one tree over the rows of positive weight."""
    kept = weights.kept
    own = coded(table, kept, None, n_workers(options.n_jobs))
    n_classes = int(known.sizes[0])
    criterion = quinlan_ratio(own.bins, own.nominal.astype(bool), len(kept), weights.total, n_classes, options)
    sums = sums_of(known, criterion, kept)
    limits = Limits(
        int(NO_LIMIT),
        2,
        1,
        options.min_objects,
        0.0,
        weights.total,
        int(NO_LIMIT),
        table.n_features,
        rng.stream(0, rng.FEATURES),
        rng.stream(0, rng.CUT),
        NoTest(),
        AnyShape(),
    )
    work = work_on(own, sums, criterion, limits, rules_of(options.tests(), criterion, sums), len(kept))
    weight = np.asarray(weights.integers[kept] * weights.unit, np.float64)
    return at_values(grow_rows(work, kept, weight, own.bins), own.bins)


def at_values(trees: Trees, bins: Any) -> Trees:
    """Return the trees with every threshold at the largest value of the table that is not above it."""
    threshold = trees.threshold.copy()
    nodes = np.flatnonzero((trees.feature >= 0) & np.isfinite(threshold))
    for f in np.unique(trees.feature[nodes]):
        own = nodes[trees.feature[nodes] == f]
        values = bins.low[bins.first_code[f] : bins.first_code[f] + bins.n_codes[f]].astype(np.float64)
        threshold[own] = values[np.searchsorted(values, threshold[own], side="right") - 1]
    return trees._replace(threshold=threshold)


def collapsed(trees: Trees, n_classes: int, variant: str) -> Trees:
    """Return the trees without the subtrees that err as much as a leaf would, on the rows they were grown on."""
    levels, errors = levels_of(trees), errors_as_leaf(class_weights_of(trees, [n_classes]))
    if variant == "release8":  # what is left below counts
        return cut_where_cheaper(trees, levels, errors, slack=_SAME)
    return rebuilt(trees, levels, below(levels, errors) >= errors - _SAME)


def window_size(n_rows: int) -> int:
    """Return how many rows a window has to begin with."""
    return min(int(max(2.0 * math.sqrt(n_rows), n_rows / 5)), n_rows)


def first_windows(codes: NDArray[np.int64], counts: Weights, seed: int, n: int) -> Iterator[NDArray[np.int64]]:
    """Yield drawn orders of the rows that count, in which the classes take turns while they last."""
    generator = np.random.default_rng(seed)
    for _ in range(n):
        order = generator.permutation(counts.kept.astype(np.int64))
        by_class = np.argsort(codes[order], kind="stable")
        n_each = np.bincount(codes[order])
        turn = np.empty(len(order), np.int64)  # the how manieth of its class each row is
        turn[by_class] = count_up(n_each)
        yield order[np.argsort(turn, kind="stable")]
