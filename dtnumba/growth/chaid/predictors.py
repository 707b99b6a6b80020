"""A table as CHAID sees it: few codes a column, and whether these have an order.

Categories are their levels. Numbers are cut into bins of equal weight: of their distinct values each gets a bin if
there are few enough; else a value as heavy as a bin has one to itself, and the others share what bins are left, the
value at the cumulative share s of their weight in bin number ceil(s * bins). Equal values are never parted, missing
ones have the code behind the last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.chaid.bonferroni import NOMINAL, ORDINAL
from dtnumba.tables.bins import rank_codes
from dtnumba.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dtnumba.tables.weights import Weights


_CELLS_TOGETHER = 1 << 20  # ranked at once; of more rows, a column a thread
MOST_CODES = (1 << 16) - 2  # one more for missing values; they take minutes at a node


class Predictors(NamedTuple):
    """The rows that count, as codes."""

    codes: NDArray[Any]  # (p, k) of the k rows of positive weight; uint8, or uint16 where that is too narrow
    kinds: NDArray[np.int64]  # (p,) NOMINAL or ORDINAL
    low: list[NDArray[np.float64]]  # of each predictor, the least value of each code
    high: list[NDArray[np.float64]]

    @property
    def n_codes(self) -> NDArray[np.int64]:
        """How many codes of values each predictor has."""
        return np.array([len(low) for low in self.low], np.int64)


def bins_of(weight: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return the bin of each distinct value of a column, ascending from 0, from the weights of the values.

    Parameters
    ----------
    weight : array of shape (values,)
        What the rows of each value weigh, in the order of the values.
    most : int
        Most bins. More come of it nowhere.

    """
    n = len(weight)
    if n <= most:
        return np.arange(n)
    heavy = weight * most >= weight.sum()
    for n_shared in range(most - np.count_nonzero(heavy), 0, -1):
        found = _numbered(weight, heavy, n_shared)
        if found[-1] < most:
            return found
    return _numbered(weight, np.zeros(n, bool), most)  # heavy values part so many others that these would not fit


def _numbered(weight: NDArray[np.int64], heavy: NDArray[np.bool_], n_shared: int) -> NDArray[np.int64]:
    light = np.where(heavy, 0, weight)
    place = -(-n_shared * np.cumsum(light) // max(int(light.sum()), 1))
    begins = (place[1:] != place[:-1]) | heavy[1:] | heavy[:-1]
    return np.concatenate([[0], np.cumsum(begins)])


def read_predictors(
    table: Table, weights: Weights, ordinal: NDArray[np.bool_], max_bins: int, workers: int
) -> Predictors:
    """Return the predictors of a table.

    Parameters
    ----------
    table : Table
        Features.
    weights : Weights
        What rows count: bins have equal weight.
    ordinal : array of shape (features,)
        Which columns are categories in order, each of their values by itself.
    max_bins : int
        Most bins of a column of numbers.
    workers : int
        Threads.

    """
    kept, p = weights.kept, table.n_features
    counted = weights.integers[kept].astype(np.float64)
    nominal = np.zeros(p, bool) if table.nominal is None else table.nominal
    kinds = np.where(nominal & ~ordinal, NOMINAL, ORDINAL).astype(np.int64)
    codes, low, high = np.empty((p, len(kept)), np.uint8), [], []
    for first, ranks, bins in _ranked_columns(table, kept, workers):
        for j in range(ranks.shape[1]):
            f, values = first + j, bins.low[bins.first_code[j] : bins.first_code[j + 1]]
            place = np.arange(len(values))
            if not ordinal[f] and table.n_levels(f) == 0 and len(values) > max_bins:
                weight = np.bincount(ranks[:, j], counted, minlength=len(values))[: len(values)]
                place = bins_of(weight.astype(np.int64), max_bins)
            begins = np.flatnonzero(np.diff(place, prepend=-1))
            ends = np.append(begins[1:], len(values)).astype(np.int64) - 1
            low.append(values[begins].astype(np.float64))
            high.append(values[ends if len(values) else begins].astype(np.float64))
            if len(begins) > MOST_CODES:
                name = f"column {f}" if table.names is None else f"column {table.names[f]!r}"
                raise ValueError(
                    f"{name} has {len(begins)} categories, and CHAID, which compares all of them, takes at most "
                    f"{MOST_CODES}: leave the column out, or put its rare values together"
                )
            if len(begins) > np.iinfo(codes.dtype).max:
                codes = codes.astype(np.uint16)
            codes[f] = np.append(place, len(begins)).astype(codes.dtype)[ranks[:, j]]
    return Predictors(codes, kinds, low, high)


def _ranked_columns(table: Table, kept: NDArray[np.uint32], workers: int) -> Iterator[tuple[int, NDArray[Any], Any]]:
    """Yield (first column, ranks of the rows that count, Bins) of a few columns at a time: ranks take much memory."""
    n_together = max(_CELLS_TOGETHER // table.n_rows, workers if table.cells is not None else 1)
    for start in range(0, table.n_features, n_together):
        stop = min(start + n_together, table.n_features)
        levels = None if table.levels is None else table.levels[start:stop]
        nominal = None if table.nominal is None else table.nominal[start:stop]
        part = table
        if table.cells is not None:
            ((_, cells),) = table.columns(start, stop)
            part = Table(table.n_rows, stop - start, None, cells, None, None, levels, nominal)
        elif stop - start < table.n_features:
            columns = table.csc[:, start:stop]
            part = Table(table.n_rows, stop - start, None, None, columns, None, levels, nominal)
        ranks, bins = rank_codes(part, kept, workers)
        yield start, ranks[kept] if len(kept) < table.n_rows else ranks, bins
