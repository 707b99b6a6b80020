# mypy: ignore-errors
"""Codes of values for forests of which rows may leave: edges that most rows have no part in.

Quantiles over all rows move with every row. So edges are quantiles of the rows of smallest keys, which stay the same
until one of these leaves. A column of few values has one code a value, as in every histogram; a value that no row has
any longer leaves a code that nothing reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.tables.binned_table import BinnedTable
from dtnumba.tables.bins import (
    bins_of_sample,
    code_dtype,
    ordered,
    rank_codes,
    with_levels,
    write_codes,
)
from dtnumba.tables.table import rows_of_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.table import Table

# With a sixteenth of them in a bin of 255, a bin's share of the rows is right to a quarter. A row that leaves 100,000
# is one of them in 4 cases of 100.
SAMPLED = 4096


class KeyedCodes(NamedTuple):
    """Codes of all rows, and what they depend on."""

    table: BinnedTable
    sample: NDArray[np.int64]  # the rows of smallest keys; none where every value has a code
    rare: NDArray[np.int64]  # columns of which the sample holds few values, and all rows many


def coded_by_key(
    table: Table, kept: NDArray[np.uint32], keys: NDArray[np.uint64], most: int | None, workers: int
) -> KeyedCodes:
    """Return the codes of a table: of at most ``most`` values a column, or ranks where that is None."""
    none = np.empty(0, np.int64)
    if most is None:
        codes, bins = rank_codes(table, kept, workers)
        return KeyedCodes(_coded(table, codes, bins, 255), none, none)
    sample = sampled(kept, keys)
    part = rows_of_table(table, sample)
    values: list[Any] = [None] * table.n_features
    rare = []
    for f in np.flatnonzero(ordered(table)):
        few = len(_distinct(part, f, np.arange(part.n_rows))) <= most
        values[f] = _distinct(table, f, kept) if few else None
        if few and len(values[f]) > most:
            values[f] = None
            rare.append(f)
    bins = bins_of_sample(part, most, values, workers)
    codes = np.empty((table.n_rows, table.n_features), np.uint8)
    write_codes(table, bins, codes, workers)
    codes, bins = with_levels(table, codes, bins)
    codes = codes.astype(code_dtype(bins), copy=False)
    all_have_codes = all(values[f] is not None for f in np.flatnonzero(ordered(table)))
    return KeyedCodes(_coded(table, codes, bins, most), none if all_have_codes else sample, np.array(rare, np.int64))


def sampled(kept: NDArray[np.uint32], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the kept rows of smallest keys, ascending."""
    rows = kept.astype(np.int64)
    if len(rows) > SAMPLED:
        rows = np.sort(rows[np.argpartition(keys[rows], SAMPLED)[:SAMPLED]])
    return rows


def codes_without(
    coded: KeyedCodes, table: Table, kept: NDArray[np.uint32], keys: NDArray[np.uint64], rest: NDArray[np.int64]
) -> KeyedCodes | None:
    """Return the codes of the rows that stay, where these are coded as they were; None where all are coded anew.

    Parameters
    ----------
    coded : KeyedCodes
        Of all rows.
    table, kept, keys : Table, array, array
        The rows that stay, those of them that count, and their keys.
    rest : array of int
        Which of all rows they are.

    """
    sample = coded.sample
    if len(sample):
        stays = np.isin(sample, rest)
        sample = np.searchsorted(rest, sample)
        is_whole = bool(stays.all()) and len(sample) == min(SAMPLED, len(kept))
        if not is_whole or any(len(_distinct(table, f, kept)) <= coded.table.max_bins for f in coded.rare):
            return None
    return KeyedCodes(coded.table.rows(rest), sample, coded.rare)


def _coded(table: Table, codes: NDArray[Any], bins: Any, most: int) -> BinnedTable:
    return BinnedTable(codes, bins, most, table.dtype, table.names, table.levels, table.nominal)


def _distinct(table: Table, f: int, rows: NDArray[Any]) -> NDArray[np.float64]:
    values = np.unique(table.values_at(rows, np.full(len(rows), f)))
    return values[~np.isnan(values)] + 0.0
