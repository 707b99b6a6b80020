"""Table, target and sampling to a ForestPlan: codes once for all trees, and the splitter that reads them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.binary.choose_splitter import Source, choose_splitter
from dtnumba.growth.binary.small_classes import OnBits
from dtnumba.growth.binary.small_regression import OnSums
from dtnumba.growth.binary.small_subtrees import small_subtrees
from dtnumba.growth.binary.train import numbers_per_output
from dtnumba.growth.choose_growth import for_binary_growth
from dtnumba.growth.forest.arena import Ends
from dtnumba.growth.forest.bootstrap_rows import Balanced, Bootstrap, Everything, Subset, WeightedBootstrap, count_dtype
from dtnumba.growth.forest.grow import ForestPlan
from dtnumba.growth.policies.limits import limits_of
from dtnumba.growth.targets.choose import counted_once, target_of, with_tables
from dtnumba.growth.targets.reach import in_reach
from dtnumba.runtime import rng
from dtnumba.tables.presort import order_of_targets
from dtnumba.tables.weights import Weights, fixed_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.settings import Settings
    from dtnumba.tables.binned_table import Features


_MOST_DRAWS = 1 << 40  # a tree; so many take hours


@dataclass(frozen=True)
class Draws:
    """How a tree draws its rows."""

    bootstrap: bool
    replace: bool
    max_samples: int | float | None
    balanced: bool
    n_trees: int
    row_keys: NDArray[np.uint64] | None = None  # every row draws for itself, by its key; None: trees draw rows

    def number(self, n_rows: int, weight: NDArray[np.float64] | None) -> int:
        """Return how many draws a tree makes from rows of these weights."""
        whole = n_rows if weight is None else float(weight.sum())
        if self.max_samples is None:
            n = n_rows
        elif isinstance(self.max_samples, (int, np.integer)):
            n = int(self.max_samples)
        else:
            n, plain = (max(round(min(self.max_samples * size, 2.0 * _MOST_DRAWS)), 1) for size in (whole, n_rows))
            # As scikit-learn does, where it is the weights that make them few.
            if weight is not None and n < min(max(10, n_rows ** (1 / 3)), plain):
                warnings.warn(
                    f"max_samples={self.max_samples!r} is a share of the sum of sample_weight, which is {whole:g}, so "
                    f"a tree draws {n} of {n_rows} rows; pass an int, the number of rows to draw",
                    UserWarning,
                    stacklevel=4,
                )
        if n > _MOST_DRAWS:
            is_share = weight is not None and not isinstance(self.max_samples, (int, np.integer))
            of = f" of {whole:g}, the sum of sample_weight," if is_share else ""
            raise ValueError(
                f"max_samples={self.max_samples!r}{of} asks for more than {_MOST_DRAWS} rows a tree; pass an int, the "
                "number of rows to draw"
            )
        if not self.replace and n > n_rows:
            raise ValueError(
                f"max_samples={self.max_samples!r} asks for {n} rows of {n_rows} without replacement: "
                "a row is drawn once at most; pass fewer, or replace=True"
            )
        return n


def plan_forest(
    table: Features,
    outcome: Any,
    weight: NDArray[np.float64] | None,
    criterion: Any,
    draws: Draws,
    settings: Settings,
) -> ForestPlan:
    """Return the plan of a forest: its codes, and how its trees draw rows and features."""
    indicators = None
    if settings.sums is not None:
        from dtnumba.growth.oblique.indicators import widened

        table, indicators = widened(table, settings)
    n, weights = table.n_rows, fixed_weights(weight, table.n_rows)
    outcome, settings, power = in_reach(outcome, weights.kept, criterion, settings)
    sampling: Any = Everything(len(weights.kept))
    counts: Any = None
    most = len(weights.kept)
    if draws.bootstrap:
        kept = weights.kept
        keys = np.array([rng.streams_key(settings.seed, rng.BOOTSTRAP)], np.uint64)
        n_draws = 0 if draws.row_keys is not None else draws.number(len(kept), weight)
        if draws.row_keys is not None:
            from dtnumba.growth.forest.row_draws import draws_by_row

            share = 1.0 if draws.max_samples is None else float(draws.max_samples)
            given = None if weights.are_one else weight
            sampling, counts = draws_by_row(kept, draws.row_keys, share, given, keys, replace=draws.replace)
            n_draws = sampling.n_draws
        elif not draws.replace:
            counts, sampling = np.dtype(np.uint8), Subset(kept, n_draws, keys)
        elif weight is None or weights.are_one:
            counts, sampling = np.dtype(count_dtype(n_draws / len(kept))), Bootstrap(kept, n_draws, keys)
        else:
            share = weight[kept] / weight[kept].sum()
            up_to = np.cumsum(share)
            up_to[-1] = 1.0
            counts = np.dtype(count_dtype(n_draws * float(share.max())))
            sampling = WeightedBootstrap(kept, n_draws, keys, up_to)
        most = most if draws.row_keys is not None else min(most, n_draws)
        weights = Weights(None, 1.0, float(n_draws), kept, n)
        if draws.balanced:
            counts = np.dtype(np.int64)
            # Every output multiplies by at most the number of draws; far below 2**52 in all.
            unit = 2.0**-20
            offsets = np.cumsum([0, *outcome.sizes]).astype(np.int64)
            sampling = Balanced(sampling, outcome.codes.astype(np.int32, copy=False), offsets, unit)
            weights = Weights(None, unit, float(n_draws), kept, n)
        target = target_of(outcome, weights, criterion, counts, n_draws)
    else:
        target = counted_once(target_of(outcome, weights, criterion))
    target = with_tables(target, settings, most, table.n_features)
    is_ranked = target.n_weights == 0
    orders = weights.kept[None]
    if is_ranked:
        orders = order_of_targets(target.y, weights.kept, weights.integers).reshape(target.y.shape[1], -1)
    # Rows are counted apart from weights only where a limit asks how many there are.
    counted = (draws.bootstrap or not weights.are_one) and settings.min_samples_leaf > 1
    splitter: Any = None
    kinds: Any = OnBits, OnSums
    ends: Any = None
    general: Any = None
    binary = for_binary_growth(settings, table)
    if binary is not None:
        made = choose_splitter(Source(table, target, weights.kept, binary, counted, in_forest=True), criterion)
        splitter, drawn = made.splitter, getattr(made.splitter, "draws_thresholds", False)
        if settings.sums is not None:
            from dtnumba.growth.binary.small_sums import SumsOnBits
            from dtnumba.growth.oblique.choose import with_sums

            splitter = with_sums(splitter, table, outcome, fixed_weights(None, n), settings, target)
            kinds = (SumsOnBits,) if hasattr(splitter, "offer") else kinds
        ends = Ends(made.bins.low, made.bins.high, made.bins.first_code, drawn)
    else:
        from dtnumba.growth.forest.grow_multiway import plan_general

        general = plan_general(table, outcome, criterion, fixed_weights(weight, n), settings)
    return ForestPlan(
        splitter=splitter,
        ends=ends,
        target=target,
        criterion=criterion,
        sampling=sampling,
        orders=orders,
        most_rows=most,
        n_table_rows=n if draws.bootstrap else 0,
        n_features=table.n_features,
        n_per_output=numbers_per_output(target),
        width=outcome.width,
        count_type=np.dtype(np.uint8) if counts is None else counts,
        settings=settings,
        small=small_subtrees(kinds, splitter, target, criterion, limits_of(settings, 1.0), settings.groups),
        general=general,
        power=power,
        indicators=indicators,
    )
