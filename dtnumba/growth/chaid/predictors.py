"""A table as CHAID sees it: few codes a column, and whether these have an order.

Categories are their levels. Numbers are cut into bins of equal weight: of their distinct values each gets a bin if
there are few enough; else a value as heavy as a bin has one to itself, and the others share what bins are left, the
value at the cumulative share s of their weight in bin number ceil(s * bins). Equal values are never parted, missing
ones have the code behind the last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnumba.growth.chaid.bonferroni import NOMINAL, ORDINAL
from dtnumba.tables.bins import rank_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.table import Table
    from dtnumba.tables.weights import Weights


MOST_CODES = (1 << 16) - 2  # one more for missing values; they take minutes at a node


class Predictors(NamedTuple):
    """The rows that count, as codes."""

    codes: NDArray[np.uint16]  # (p, k) of the k rows of positive weight
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
    ranks, bins = rank_codes(table, kept, workers)
    if len(kept) < table.n_rows:
        ranks = ranks[kept]
    counted = weights.integers[kept].astype(np.float64)
    nominal = np.zeros(p, bool) if table.nominal is None else table.nominal
    kinds = np.where(nominal & ~ordinal, NOMINAL, ORDINAL).astype(np.int64)
    low, high, places = [], [], []
    for f in range(p):
        values = bins.low[bins.first_code[f] : bins.first_code[f + 1]].astype(np.float64)
        place = np.arange(len(values))
        if not ordinal[f] and table.n_levels(f) == 0 and len(values) > max_bins:
            weight = np.bincount(ranks[:, f], counted, minlength=len(values))[: len(values)]
            place = bins_of(weight.astype(np.int64), max_bins)
        begins = np.flatnonzero(np.diff(place, prepend=-1))
        low.append(values[begins])
        high.append(values[np.append(begins[1:], len(values)).astype(np.int64) - 1] if len(values) else values)
        places.append(np.append(place, len(begins)))
        if len(begins) > MOST_CODES:
            name = f"column {f}" if table.names is None else f"column {table.names[f]!r}"
            raise ValueError(
                f"{name} has {len(begins)} categories, and CHAID, which compares all of them, takes at most "
                f"{MOST_CODES}: leave the column out, or put its rare values together"
            )
    codes = np.empty((p, len(kept)), np.uint16)
    for f, place in enumerate(places):
        codes[f] = place.astype(np.uint16)[ranks[:, f]]
    return Predictors(codes, kinds, low, high)
