"""Table and target to Trees: choose the codes, the splitter and the limits, grow, finish."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba import rng
from dtnumba.binned_table import histogram_of
from dtnumba.bins import rank_codes
from dtnumba.category_splits import around, levels_of_table, part_levels
from dtnumba.finish import code_thresholds, drawn_thresholds, exact_thresholds, finish
from dtnumba.grow import NO_LIMIT
from dtnumba.grow_tree import grow_tree
from dtnumba.growers.options import Options
from dtnumba.monotone import AnyShape, Monotonic
from dtnumba.scan import Limits
from dtnumba.sorting import order_of_targets, presort
from dtnumba.split_test import NoTest, Significance
from dtnumba.splitters.histogram import Histogram
from dtnumba.splitters.presorted import Presorted
from dtnumba.splitters.random_threshold import RandomThreshold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.binned_table import Features
    from dtnumba.interactions import Groups
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
    min_significance: float | None = None
    signs: NDArray[np.int8] | None = None  # of the features whose effect is monotonic; None where none is
    groups: Groups | None = None  # of features that may stand on one path; None where all may
    options: Options = field(default_factory=Options)

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
            NoTest() if self.min_significance is None else Significance(math.log(self.min_significance)),
            AnyShape() if self.signs is None else Monotonic(self.signs, -np.inf, np.inf),
        )

    def check_options(self, kind: str, n_outputs: int, criterion: Any) -> None:
        """Raise ValueError where tests and missing values as asked for do not go with the target or with the rest."""
        self.options.check(kind, n_outputs, criterion, self.splitter)
        if self.options.are_plain:
            return
        others = {"monotonic_cst": self.signs, "interaction_cst": self.groups}
        for name, value in (others | {"min_significance": self.min_significance}).items():
            if value is not None:
                raise ValueError(
                    f"{name} is kept by growth in two-way tests with learned missing values, and missing="
                    f"{self.options.missing!r}, categorical_split={self.options.categorical_split!r}, numeric_split="
                    f"{self.options.numeric_split!r} ask for others: leave out {name}, or leave these at their defaults"
                )

    def doubled(self) -> Settings:
        """Return the settings for twice as many features, of which the second half mirrors the first."""
        signs = None if self.signs is None else np.tile(self.signs, 2)
        return replace(self, signs=signs, groups=None if self.groups is None else self.groups.doubled())


def train_tree(table: Features, known: Any, target: Any, criterion: Any, weights: Weights, settings: Settings) -> Trees:
    """Grow one tree over the rows of positive weight, by whichever growth knows the tests that are asked for."""
    if not settings.options.are_plain:
        from dtnumba.growers.grown import train_general

        return train_general(table, known, criterion, weights, settings)
    splitter, thresholds_of = _splitter(table, target, criterion, weights, settings)
    growing = grow_tree(
        splitter,
        target,
        criterion,
        settings.limits(weights.total),
        table.n_features,
        numbers_seen(target),
        len(weights.kept),
        settings.workers,
        settings.groups,
    )
    trees: Trees = finish(growing, target, criterion, splitter, thresholds_of, known.width, settings.workers)
    return trees


def numbers_seen(target: Any) -> int:
    """Return how many numbers of one output the criterion sees at once."""
    if hasattr(target, "n_moments"):
        return int(target.n_moments)
    return int(np.diff(target.offsets).max()) if hasattr(target, "offsets") else 1


def _splitter(table: Features, target: Any, criterion: Any, weights: Weights, settings: Settings) -> tuple[Any, Any]:
    """Return the splitter and the function that turns its splits into thresholds."""
    is_ranked, kept, n = target.n_weights == 0, weights.kept, len(weights.kept)
    n_targets = target.y.shape[1] if is_ranked else 0
    nominal, counted = nominal_of(table), not weights.are_one and not is_ranked
    splitter: Any
    if settings.splitter == "best" and settings.max_bins is None:
        p = table.n_features
        order = presort(table, kept, p + n_targets, settings.workers)
        if is_ranked:
            order[p * n :] = order_of_targets(target.y, kept, target.weights)
        side = np.empty(table.n_rows, np.uint8)
        order_of = Presorted(order, side, n, p + n_targets, p, settings.max_depth)
        splitter, levels = order_of, levels_of_table(table, nominal)
        return around(splitter, levels, target, criterion, settings, counted=counted), exact_thresholds(table)
    if settings.max_bins is None:
        codes, bins = rank_codes(table, kept, settings.workers)
    else:
        codes, bins = histogram_of(table, kept, settings.max_bins, settings.workers)
    codes, bins, levels = part_levels(nominal, codes, bins, narrow=settings.max_bins is not None)
    rows, n_orders = (order_of_targets(target.y, kept, target.weights), n_targets) if is_ranked else (kept, 1)
    thresholds_of: Any
    if settings.splitter == "random":
        low, high = bins.low, bins.high
        splitter = RandomThreshold(codes, bins.n_codes, low, high, bins.first_code, rows, n, n_orders)
        thresholds_of = drawn_thresholds
    else:
        n_bins, width = int(bins.n_codes.max()) + 1, target.n_stats + (not weights.are_one)
        splitter = Histogram(codes, bins.n_codes, rows, n, n_orders, n_bins, width, not weights.are_one)
        thresholds_of = code_thresholds(bins)
    return around(splitter, levels, target, criterion, settings, counted=counted), thresholds_of


def nominal_of(table: Features) -> Any:
    """Return which columns are categories, or None where none is."""
    return getattr(table, "nominal", None)


def demand_means(settings: Settings, criterion: Any) -> None:
    """Raise where ``min_significance`` is to test splits by medians."""
    if settings.min_significance is not None and getattr(type(criterion), "target", "") == "ranks":
        raise ValueError(
            f"min_significance={settings.min_significance}: its F test compares means, and "
            "criterion='absolute_error' splits by medians; use criterion='squared_error', or validation_fraction"
        )


def feature_importances(trees: Trees, n_features: int) -> np.ndarray:
    """Return the share of each feature in the decrease of impurity, summed over the nodes of each tree."""
    inner = trees.feature >= 0
    decrease = trees.weight[inner] * trees.gain[inner]
    importances = np.bincount(trees.feature[inner], weights=decrease, minlength=n_features)
    total = importances.sum()
    return importances / total if total > 0 else importances


UNLIMITED = int(NO_LIMIT)
