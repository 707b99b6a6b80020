"""The splitter of a table with categories: one of categories around the splitter of numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.criteria.contract import is_concave
from dtnumba.growth.categories.splitter import CategorySplitter, DrawnCategorySplitter, ManyLevels
from dtnumba.growth.categories.subset_search import DRAWN_SUBSET, IN_ORDER, MOST_TRIED, ONE_VS_REST
from dtnumba.growth.splitters.histogram import DrawnHistogram
from dtnumba.growth.targets.contract import n_sums_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.settings import Settings
    from dtnumba.tables.bins import Bins


class LevelCodes(NamedTuple):
    """The codes of the categorical features of a table."""

    is_level: NDArray[np.uint8]  # (p,)
    n_levels: NDArray[np.int64]  # (p,): the code of a missing value
    codes: NDArray[Any]  # (n, q)
    column: NDArray[np.int64]  # (p,): where a feature stands in ``codes``
    are_shared: bool  # with the splitter of numbers


def part_levels(
    nominal: NDArray[np.bool_] | None, codes: NDArray[Any], bins: Bins, *, narrow: bool
) -> tuple[NDArray[Any], Bins, LevelCodes | None]:
    """Return the codes and the bins of the numbers, and the codes of the categories.

    They share one array of codes, except where ``narrow`` and a feature has more categories than a byte can number:
    numbers keep their byte then, and categories get an array of their own.
    """
    if nominal is None or not nominal.any():
        return codes, bins, None
    is_level, p = nominal.astype(np.uint8), len(nominal)
    if not narrow or codes.dtype == np.uint8:
        return codes, bins, LevelCodes(is_level, bins.n_codes.copy(), codes, np.arange(p), are_shared=True)
    columns = np.flatnonzero(nominal)
    column = np.zeros(p, np.int64)
    column[columns] = np.arange(len(columns))
    levels = np.ascontiguousarray(codes[:, columns])
    numbers = np.where(nominal, 0, codes).astype(np.uint8)
    in_one_bin = replace(bins, n_codes=np.where(nominal, 1, bins.n_codes))
    return numbers, in_one_bin, LevelCodes(is_level, bins.n_codes.copy(), levels, column, are_shared=False)


def levels_of_table(table: Any, nominal: NDArray[np.bool_] | None) -> LevelCodes | None:
    """Return the codes of the categories of a table whose numbers have no codes."""
    if nominal is None or not nominal.any():
        return None
    columns = np.flatnonzero(nominal)
    n_levels, column = np.zeros(len(nominal), np.int64), np.zeros(len(nominal), np.int64)
    column[columns] = np.arange(len(columns))
    levels = np.empty((table.n_rows, len(columns)), np.uint32)
    for j, f in enumerate(columns):
        n_levels[f] = table.n_levels(f)
        values = table.values_at(np.arange(table.n_rows), np.full(table.n_rows, f))
        levels[:, j] = np.where(np.isnan(values), n_levels[f], values)
    return LevelCodes(nominal.astype(np.uint8), n_levels, levels, column, are_shared=False)


def with_categories(
    splitter: Any, levels: LevelCodes | None, target: Any, criterion: Any, settings: Settings, *, counted: bool
) -> Any:
    """Return the splitter, or one around it that splits on categories as well where there are any."""
    if levels is None:
        return splitter
    how = ONE_VS_REST if settings.options.categorical_split == "one_vs_rest" else IN_ORDER
    if getattr(splitter, "draws_thresholds", False):
        how = DRAWN_SUBSET
    is_proven, profile, n_weights = _order_of(target, criterion)
    is_drawn = isinstance(splitter, DrawnHistogram) and target.n_weights > 0
    kind = ManyLevels if not levels.are_shared else DrawnCategorySplitter if is_drawn else CategorySplitter
    return kind(
        splitter,
        levels.is_level,
        levels.n_levels,
        levels.codes,
        levels.column,
        max(int(target.n_stats), 1) + counted,
        counted,
        how,
        0 if is_proven else MOST_TRIED,
        profile,
        n_sums_of(target),
        n_weights,
    )


def _order_of(target: Any, criterion: Any) -> tuple[bool, tuple[int, int, int], int]:
    """Return whether the best subset is proven to be a cut of one order, and where a category's profile is in its sums.

    The profile is (first, step, count) of its shares of the classes, or its means; then how many sums are its weight.
    """
    if target.n_weights == 0:  # ranked
        return False, (0, 1, 1), 0
    if hasattr(target, "n_moments"):
        n_moments, n_outputs = int(target.n_moments), len(target.offsets)
        step = n_moments * int(target.n_limbs)
        return is_concave(criterion) and n_outputs == n_moments == 1, (1, step, n_outputs), 1
    n_classes, n_outputs = int(target.offsets[-1]), len(target.offsets) - 1
    is_proven = is_concave(criterion) and n_classes == 2 and n_outputs == 1
    return is_proven, (0, 1, n_classes), int(target.offsets[1])
