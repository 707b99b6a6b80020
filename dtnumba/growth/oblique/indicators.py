"""Levels of categories as columns of 0 and 1, which sums may combine: made before growth, and taken back behind it.

Growth sees a wider table. What it grew says of each indicator whose it is, so that no other table is ever widened: in
a sum, a term has a level, and a test of one indicator alone is one of its category.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.tables.cells import cells_of
from dtnumba.tables.floats import bits_of
from dtnumba.trees.layout import LEAF, count_up, n_entries, starts_of
from dtnumba.trees.linear import LinearTests, n_terms_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.settings import Settings
    from dtnumba.tables.table import Table
    from dtnumba.trees.layout import Trees

MOST_INDICATORS = 1000  # of a table: every one is a column of numbers while trees grow


class Indicators(NamedTuple):
    """Columns behind the p columns of a table: the k-th is 1 where a column has a level."""

    n_columns: int  # p
    column: NDArray[np.int64]
    level: NDArray[np.int64]
    n_levels: NDArray[np.int64]  # of its column


def indicators_of(table: Any) -> Indicators | None:
    """Return the indicators of all levels of the categories without an order; None where there is no category."""
    nominal = getattr(table, "nominal", None)
    columns = np.flatnonzero(nominal) if nominal is not None else np.zeros(0, np.int64)
    n_levels = np.array([table.n_levels(int(j)) for j in columns], np.int64)
    total = int(n_levels.sum())
    if total > MOST_INDICATORS:
        worst = int(columns[n_levels.argmax()])
        name = f"column {worst}" if table.names is None else f"column {table.names[worst]!r}"
        raise ValueError(
            f"categories_in_sums=True: the categories of X have {total:,} levels ({name} has {int(n_levels.max()):,}), "
            f"and each would be a column: at most {MOST_INDICATORS:,}; join rare levels, or pass "
            "categories_in_sums=False, which tests categories by themselves"
        )
    if not total:
        return None
    return Indicators(
        int(table.n_features), np.repeat(columns, n_levels), count_up(n_levels), np.repeat(n_levels, n_levels)
    )


def widened(table: Any, settings: Settings) -> tuple[Any, Indicators | None]:
    """Return the table that a fit grows on, and which indicators stand behind its columns, if sums are to have some.

    Where a category is missing, it is none of its levels.
    """
    sums = settings.sums
    if sums is None or not sums.has_indicators or sums.most_terms == 1:
        return table, None
    made = indicators_of(table)
    return (table, None) if made is None else (with_indicators(table, made), made)


def with_indicators(table: Table, indicators: Indicators) -> Table:
    """Return a copy of a table with indicators behind its columns."""
    p, levels = indicators.n_columns, table.levels
    assert levels is not None, "there are categories"
    assert table.nominal is not None, "some have no order"
    n_more = len(indicators.column)
    whole = np.empty((table.n_rows, p + n_more), table.dtype)
    whole[:, :p] = table.whole
    for k, (column, level) in enumerate(zip(indicators.column.tolist(), indicators.level.tolist(), strict=True)):
        whole[:, p + k] = whole[:, column] == level
    return replace(
        table,
        n_features=p + n_more,
        names=None,
        cells=cells_of(whole),
        order=None,
        levels=(*levels, *[None] * n_more),
        nominal=np.append(table.nominal, np.zeros(n_more, bool)),
        given_bits=table.bits if isinstance(table.bits, int) else (*table.bits, *[bits_of(table.dtype)] * n_more),
    )


def without_indicators(trees: Trees, indicators: Indicators | None) -> Trees:
    """Return trees of a widened table as trees of the table itself."""
    if indicators is None:
        return trees
    p, m, linear = indicators.n_columns, trees.n_nodes, trees.linear
    own = np.maximum(trees.feature - p, 0)
    is_new = trees.feature >= p
    feature = np.where(is_new, indicators.column[own], trees.feature).astype(np.int32)
    if isinstance(linear, LinearTests):
        k = np.maximum(linear.column - p, 0)
        is_level = linear.column >= p
        if is_level.any():
            level = np.where(is_level, indicators.level[k], -1).astype(np.int32)
            column = np.where(is_level, indicators.column[k], linear.column).astype(np.int32)
            linear = linear._replace(column=column, level=level)
    tests = np.flatnonzero(is_new & (trees.feature != LEAF) & (n_terms_of(linear, m) == 0))
    if not len(tests):
        return trees._replace(feature=feature, linear=linear)
    # The levels of which the indicator is not above the threshold go left: all others, and itself where it cuts nothing
    parts = [np.arange(n) for n in indicators.n_levels[own[tests]].tolist()]
    lists = [
        part[(part == level) <= cut]
        for part, level, cut in zip(parts, indicators.level[own[tests]], trees.threshold[tests], strict=True)
    ]
    before = n_entries(trees.level_start, m)
    after = before.copy()
    after[tests] = [len(one) for one in lists]
    start, threshold = starts_of(after), trees.threshold.copy()
    listed = np.empty(int(after.sum()), np.int32)
    listed[np.repeat(start[:-1], before) + count_up(before)] = trees.level
    listed[np.repeat(start[tests], after[tests]) + count_up(after[tests])] = np.concatenate(lists)
    missing_left = trees.missing_left.copy()
    missing_left[tests] = trees.threshold[tests] >= 0.0  # as no level
    threshold[tests] = np.nan
    more: dict[str, Any] = {"threshold": threshold, "missing_left": missing_left, "level_start": start, "level": listed}
    return trees._replace(feature=feature, linear=linear, **more)
