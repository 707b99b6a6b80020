"""Which growth a fit takes: the binary one, which is faster, wherever its tests are all that is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.tables.binned_table import BinnedTable
from dtnumba.tables.cells import values_of
from dtnumba.trees.layout import BY_SHARE

if TYPE_CHECKING:
    from dtnumba.growth.settings import Options, Settings
    from dtnumba.trees.layout import Trees


_ROWS_AT_ONCE = 1 << 14
# What these do with a missing value changes nothing in a table that has none; surrogates are sought all the same.
_IDLE_WITHOUT_MISSING = {"branch", "majority", "fractional"}


def for_binary_growth(settings: Settings, table: Any) -> Settings | None:
    """Return the settings by which binary growth grows what is asked for; None where only multiway growth can."""
    options = settings.options
    if options.are_plain:
        return settings
    in_two = options.numeric_split == "threshold" and getattr(table, "nominal", None) is None
    if not in_two or options.missing not in _IDLE_WITHOUT_MISSING or _has_missing(table):
        return None
    return replace(settings, options=replace(options, missing="learned"))


def _has_missing(table: Any) -> bool:
    """Tell whether a table has a missing value; a sparse one is said to."""
    if isinstance(table, BinnedTable):
        blocks = (table.codes[k : k + _ROWS_AT_ONCE] for k in range(0, len(table), _ROWS_AT_ONCE))
        return any(bool((block == table.bins.n_codes).any()) for block in blocks)
    if table.cells is None:
        return True
    values = values_of(table.cells)
    blocks = (values[start : start + _ROWS_AT_ONCE] for start in range(0, len(values), _ROWS_AT_ONCE))
    return any(bool(np.isnan(block.min())) for block in blocks)  # of several numbers and NaN, NaN is the least


def with_policy(trees: Trees, options: Options) -> Trees:
    """Return what binary growth made of rows without missing values, as the options want to meet such ones later."""
    if options.are_plain:
        return trees
    inner = np.flatnonzero(trees.feature >= 0)
    left, right = trees.left[inner], trees.right[inner]
    heavier = np.zeros(trees.n_nodes, np.uint8)
    heavier[inner] = trees.weight[left] > trees.weight[right]
    trees = trees._replace(missing_left=heavier)
    if options.missing != "fractional":
        return trees
    share, total = np.ones(trees.n_nodes), trees.weight[left] + trees.weight[right]
    share[left], share[right] = trees.weight[left] / total, trees.weight[right] / total
    return trees._replace(policy=BY_SHARE, share=share)
