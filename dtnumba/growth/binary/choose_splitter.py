"""Which splitter finds the splits of a tree or of a forest, and what its splits mean.

Adding a splitter is one class in a module of ``growth/splitters`` (see its contract) and one line in SPLITTERS here:
the function that makes it, under the name that ``splitter=`` takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.splitters.histogram import DrawnHistogram, Histogram
from dtnumba.growth.splitters.presorted import Presorted
from dtnumba.growth.splitters.random_exact import RandomThreshold
from dtnumba.growth.splitters.random_histogram import random_bins
from dtnumba.growth.splitters.random_ranks import random_ranks
from dtnumba.growth.splitters.random_values import random_values
from dtnumba.growth.splitters.sort_at_node import RankSort
from dtnumba.growth.targets.contract import is_ranked, is_wide, n_sums_of
from dtnumba.tables.binned_table import BinnedTable, histogram_of
from dtnumba.tables.bins import rank_codes
from dtnumba.tables.presort import order_of_targets, presort

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.growth.settings import Settings
    from dtnumba.tables.binned_table import Features


class Source(NamedTuple):
    """Table, target and settings that a splitter is made of."""

    table: Features
    target: Any
    kept: NDArray[Any]  # rows of positive weight
    settings: Settings
    counted: bool  # rows are counted apart from their weights
    in_forest: bool  # each tree brings rows of its own

    @property
    def nominal(self) -> Any:
        """Which columns are categories, or None where none is."""
        return getattr(self.table, "nominal", None)

    @property
    def has_categories(self) -> bool:
        """Whether a column is one; what splits them is imported only then, which takes a fifth of the import."""
        return self.nominal is not None and bool(self.nominal.any())

    @property
    def n_targets(self) -> int:
        """How many orders of targets are kept beside those of the features."""
        return self.target.y.shape[1] if is_ranked(type(self.target)) else 0

    def rows(self) -> tuple[NDArray[Any], int, int]:
        """Return the rows in node order, how many these are, and in how many orders; of a forest, none yet."""
        if self.in_forest:
            return np.empty(0, np.uint32), 0, max(1, self.n_targets)
        if self.n_targets == 0:
            return self.kept, len(self.kept), 1
        return order_of_targets(self.target.y, self.kept, self.target.weights), len(self.kept), self.n_targets

    def codes(self) -> Any:
        """Return (codes, what they stand for, the categories among them): ranks, or those of a histogram."""
        workers, most = self.settings.workers, self.settings.max_bins
        if most is None and not isinstance(self.table, BinnedTable):
            codes, bins = rank_codes(self.table, self.kept, workers)
        else:
            codes, bins = histogram_of(self.table, self.kept, most or 0, workers)
        if not self.has_categories:
            return codes, bins, None
        from dtnumba.growth.categories.choose import part_levels

        return part_levels(self.nominal, codes, bins, narrow=most is not None)


class Made(NamedTuple):
    """A splitter, the categories beside it, and what its codes stand for; None where its splits name rows."""

    splitter: Any
    levels: Any
    bins: Any


def _of_stored_values(source: Source) -> Made | None:
    """Return the splitter of a sparse table; None where it does not serve, and the table is written out."""
    if getattr(source.table, "sparse", None) is None or source.n_targets > 0:
        return None
    from dtnumba.growth.splitters.sparse_histogram import sparse_histogram
    from dtnumba.tables.sparse_codes import stored_codes

    settings = source.settings
    found = stored_codes(source.table, source.kept, settings.max_bins, settings.workers)
    if found is None:
        return None
    return Made(sparse_histogram(found, source.target, source.counted, settings.n_drawn, source.rows()), None, found[1])


def best_splitter(source: Source) -> Made:
    """Return the splitter that looks at every cut: of a histogram, of sorted rows, or of rows sorted at each node."""
    settings, table, target = source.settings, source.table, source.target
    made = _of_stored_values(source)
    if made is not None:
        return made
    if settings.max_bins is None and not source.in_forest:
        n, p, n_targets = len(source.kept), table.n_features, source.n_targets
        order = presort(table, source.kept, p + n_targets, settings.workers)
        if n_targets:
            order[p * n :] = order_of_targets(target.y, source.kept, target.weights)
        side = np.empty(table.n_rows, np.uint8)
        splitter = Presorted(order, side, n, p + n_targets, p, settings.max_depth)
        if not source.has_categories:
            return Made(splitter, None, None)
        from dtnumba.growth.categories.choose import levels_of_table

        return Made(splitter, levels_of_table(table, source.nominal), None)
    codes, bins, levels = source.codes()
    if settings.max_bins is None or is_wide(type(target)):  # a table of bins and classes would be nearly empty
        return Made(RankSort(codes, bins.n_codes, *source.rows()), levels, bins)
    kind = DrawnHistogram if source.in_forest and settings.n_drawn < table.n_features else Histogram
    tables = int(bins.n_codes.max()) + 1, target.n_stats + source.counted, source.counted
    return Made(kind(codes, bins.n_codes, *source.rows(), *tables), levels, bins)


def random_splitter(source: Source) -> Made:
    """Return the splitter that draws one threshold a feature."""
    rows, n_rows, n_orders = source.rows()
    # Passes over all columns at once are for what a forest sums up; targets that are ranked have no histograms.
    if not source.in_forest or source.n_targets > 0:
        codes, bins, levels = source.codes()
        of_codes = bins.low, bins.high, bins.first_code
        return Made(RandomThreshold(codes, bins.n_codes, *of_codes, rows, n_rows, n_orders), levels, bins)
    sums = n_orders, source.target.n_stats + source.counted, source.counted, n_sums_of(source.target)
    is_exact, has_values = source.settings.max_bins is None, not isinstance(source.table, BinnedTable)
    reads_values = is_exact and has_values and not source.has_categories
    made = random_values(source.table, source.kept, rows, *sums) if reads_values else None
    if made is not None:
        return Made(made[0], None, made[1])
    codes, bins, levels = source.codes()
    make: Any = random_ranks if is_exact else random_bins
    return Made(make(codes, bins, rows, *sums), levels, bins)


# By the names that ``splitter=`` takes.
SPLITTERS: dict[str, Callable[[Source], Made]] = {"best": best_splitter, "random": random_splitter}


def choose_splitter(source: Source, criterion: Any) -> Made:
    """Return the splitter that the settings ask for; where there are categories, inside one that splits these too."""
    made = SPLITTERS[source.settings.splitter](source)
    if made.levels is None:
        return made
    from dtnumba.growth.categories.choose import with_categories

    counted = source.counted
    around = with_categories(made.splitter, made.levels, source.target, criterion, source.settings, counted=counted)
    return made._replace(splitter=around)
