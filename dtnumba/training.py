"""Table and target to Trees: choose the codes, the splitter and the limits, grow, finish."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba import rng
from dtnumba.binned_table import histogram_of
from dtnumba.bins import rank_codes
from dtnumba.finish import code_thresholds, drawn_thresholds, exact_thresholds, finish
from dtnumba.grow import NO_LIMIT
from dtnumba.grow_tree import grow_tree
from dtnumba.scan import Limits
from dtnumba.sorting import order_of_targets, presort
from dtnumba.splitters.histogram import Histogram
from dtnumba.splitters.presorted import Presorted
from dtnumba.splitters.random_threshold import RandomThreshold

if TYPE_CHECKING:
    from dtnumba.binned_table import Features
    from dtnumba.trees import Trees
    from dtnumba.weights import Weights


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The parameters of growth, resolved to numbers."""

    splitter: str  # "best" or "random"
    max_bins: int | None
    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float
    min_decrease: float
    max_leaves: int
    n_drawn: int
    seed: int
    workers: int

    def limits(self, total_weight: float) -> Limits:
        """Return the Limits of one tree."""
        return Limits(
            self.max_depth,
            self.min_samples_split,
            self.min_samples_leaf,
            self.min_weight_leaf,
            self.min_decrease,
            total_weight,
            self.max_leaves,
            self.n_drawn,
            rng.stream(self.seed, rng.FEATURES),
            rng.stream(self.seed, rng.CUT),
        )


def train_tree(table: Features, target: Any, criterion: Any, weights: Weights, width: int, settings: Settings) -> Trees:
    """Grow one tree over the rows of positive weight; ``width`` is the number of values a node holds."""
    splitter, thresholds_of = _splitter(table, target, weights, settings)
    growing = grow_tree(
        splitter,
        target,
        criterion,
        settings.limits(weights.total),
        table.n_features,
        numbers_seen(target),
        len(weights.kept),
        settings.workers,
    )
    trees: Trees = finish(growing, target, criterion, splitter, thresholds_of, width, settings.workers)
    return trees


def numbers_seen(target: Any) -> int:
    """Return how many numbers of one output the criterion sees at once."""
    if hasattr(target, "n_moments"):
        return int(target.n_moments)
    return int(np.diff(target.offsets).max()) if hasattr(target, "offsets") else 1


def _splitter(table: Features, target: Any, weights: Weights, settings: Settings) -> tuple[Any, Any]:
    """Return the splitter and the function that turns its splits into thresholds."""
    is_ranked, kept, n = target.n_weights == 0, weights.kept, len(weights.kept)
    n_targets = target.y.shape[1] if is_ranked else 0
    if settings.splitter == "best" and settings.max_bins is None:
        p = table.n_features
        order = presort(table, kept, p + n_targets, settings.workers)
        if is_ranked:
            order[p * n :] = order_of_targets(target.y, kept, target.weights)
        side = np.empty(table.n_rows, np.uint8)
        return Presorted(order, side, n, p + n_targets, p), exact_thresholds(table)
    if settings.max_bins is None:
        codes, bins = rank_codes(table, kept, settings.workers)
    else:
        codes, bins = histogram_of(table, kept, settings.max_bins, settings.workers)
    rows, n_orders = (order_of_targets(target.y, kept, target.weights), n_targets) if is_ranked else (kept, 1)
    if settings.splitter == "random":
        low, high = bins.low, bins.high
        return RandomThreshold(codes, bins.n_codes, low, high, bins.first_code, rows, n, n_orders), drawn_thresholds
    counted = not weights.are_one
    n_bins = int(bins.n_codes.max()) + 1
    width = target.n_stats + counted
    return Histogram(codes, bins.n_codes, rows, n, n_orders, n_bins, width, counted), code_thresholds(bins)


def feature_importances(trees: Trees, n_features: int) -> np.ndarray:
    """Return the share of each feature in the decrease of impurity, summed over the nodes of each tree."""
    inner = trees.feature >= 0
    decrease = trees.weight[inner] * trees.gain[inner]
    importances = np.bincount(trees.feature[inner], weights=decrease, minlength=n_features)
    total = importances.sum()
    return importances / total if total > 0 else importances


UNLIMITED = int(NO_LIMIT)
