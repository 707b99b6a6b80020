"""Table and target to Trees: choose the codes, the splitter and the limits, grow, finish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.binary.choose_splitter import Source, choose_splitter
from dtnumba.growth.binary.grow_in_parallel import grow_tree
from dtnumba.growth.binary.to_trees import finish, thresholds_by
from dtnumba.growth.policies.limits import limits_of
from dtnumba.growth.targets.contract import is_ranked

if TYPE_CHECKING:
    from dtnumba.growth.settings import Settings
    from dtnumba.tables.binned_table import Features
    from dtnumba.tables.labels import Labels, Values
    from dtnumba.tables.weights import Weights
    from dtnumba.trees.layout import Trees


def train_binary(
    table: Features, target: Any, criterion: Any, weights: Weights, settings: Settings, outcome: Labels | Values
) -> Trees:
    """Grow one tree of two-way tests over the rows of positive weight; ``target`` is what sums up the outcome."""
    indicators = None
    if settings.sums is not None:
        from dtnumba.growth.oblique.indicators import widened, without_indicators

        table, indicators = widened(table, settings)
    counted = not weights.are_one and not is_ranked(type(target))
    made = choose_splitter(Source(table, target, weights.kept, settings, counted, in_forest=False), criterion)
    splitter = made.splitter
    if settings.sums is not None:
        from dtnumba.growth.oblique.choose import with_sums

        splitter = with_sums(splitter, table, outcome, weights, settings, target)
    growing = grow_tree(
        splitter,
        target,
        criterion,
        limits_of(settings, weights.total),
        table.n_features,
        numbers_per_output(target),
        len(weights.kept),
        settings.workers,
        settings.groups,
    )
    thresholds_of = thresholds_by(table, made.bins, drawn=getattr(made.splitter, "draws_thresholds", False))
    own = growing, target, criterion, made.splitter, thresholds_of
    trees: Trees = finish(*own, outcome.width, settings.workers, table.n_features)
    return trees if indicators is None else without_indicators(trees, indicators)


def numbers_per_output(target: Any) -> int:
    """Return how many numbers of one output the criterion sees at once."""
    if hasattr(target, "n_seen"):
        return int(target.n_seen)
    return int(np.diff(target.offsets).max()) if hasattr(target, "offsets") else 1


def check_f_test(settings: Settings, criterion: Any) -> None:
    """Raise where ``min_significance`` is to test splits by medians."""
    if settings.min_significance is not None and getattr(type(criterion), "target", "") == "ranks":
        raise ValueError(
            f"min_significance={settings.min_significance}: its F test compares means, and "
            "criterion='absolute_error' splits by medians; use criterion='squared_error', or validation_fraction"
        )
