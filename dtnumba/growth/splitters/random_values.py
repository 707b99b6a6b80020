# mypy: ignore-errors
# ruff: noqa: D102
"""One random threshold a feature over float32 values, for the trees of forests: as ``random_ranks``, without ranks.

A float32 is a code of four bytes itself, once its bits are put in the order of the values. So neither the value of a
code nor the code of a threshold has to be looked up, which took half of the time of a forest; nothing is sorted.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.splitters.random_histogram import OneCutAFeature
from dtnumba.growth.splitters.random_ranks import ExactMerit
from dtnumba.runtime.instructions.column_blocks import SPARE
from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.tables.bins import Bins
from dtnumba.tables.cells import values_of
from dtnumba.tables.presort import Format, bits_from_key, key_of

_FORM = Format(np.uint32(1 << 31), np.uint32(0x7F800000))
_MISSING = (1 << 32) - 1
_CELLS_AT_ONCE = 1 << 16


@inline
def _value_of(code):
    # Compiled, sums of uint32 are wider: without the outer conversion they have bits that a float32 does not.
    return float(np.uint32(bits_from_key(np.uint32(code), _FORM)).view(np.float32))


@inline
def _last_code_at_most(threshold):
    """Return the code of the largest float32 that is not above a float64."""
    nearest = np.float32(threshold)
    return np.int64(np.uint32(key_of(nearest.view(np.uint32), _FORM))) - np.int64(float(nearest) > threshold)


class _RandomValuesFields(NamedTuple):
    codes: np.ndarray  # (n, p) uint32, and SPARE more behind
    n_codes: np.ndarray  # (p,) int64: the code of a missing value
    n_sums: int
    width: int
    counted: bool
    whole: np.ndarray  # (n, p) uint32: the codes of all rows
    kept: np.ndarray  # uint32: those that trees may see
    rows: np.ndarray
    n_rows: int
    n_orders: int


@kernel_type
class RandomValues(ExactMerit, OneCutAFeature, _RandomValuesFields):
    """Values of float32 as integers of their order."""

    __slots__ = ()

    def twice(self, codes, ends):
        codes = _with_room(codes.shape, codes)
        return self._replace(codes=codes, whole=codes, n_codes=np.tile(self.n_codes, 2))

    def value_between(self, u, feature, smallest, largest):
        # Infinite ends are legal values: draw between the finite ones if there are any.
        below, above = max(_value_of(smallest), -1.7e308), min(_value_of(largest), 1.7e308)
        return below * (1.0 - u) + above * u

    def code_below(self, feature, threshold, smallest, largest):
        return min(max(_last_code_at_most(threshold), smallest), largest - 1)

    def at_edge(self, feature, cut, threshold):
        found = _last_code_at_most(threshold)
        if found < cut:
            return _value_of(cut)
        # Rounded up to the node's largest value, as neighbours may be: the largest one of the table below that.
        return threshold if found == cut else _value_of(_largest_below(self, feature, cut + 1))


@inline
def _largest_below(splitter, feature, code):
    found = np.int64(0)
    for row in splitter.kept:
        other = np.int64(splitter.whole[row, feature])
        found = max(found, other if other < code else np.int64(0))
    return found


def random_values(table, kept, rows, n_orders, width, counted, n_sums):
    """Return (splitter, its Bins, which are empty); None of a table whose values float32 does not hold."""
    codes = _codes_of(table)
    if codes is None:
        return None
    p = table.n_features
    nothing, first_code = np.empty(0, np.float32), np.zeros(p + 1, np.int64)
    bins = Bins(np.zeros(p, np.int64), first_code, nothing, nothing, np.ones(p, bool))
    n_codes = np.full(p, _MISSING, np.int64)
    return RandomValues(codes, n_codes, n_sums, width, counted, codes, kept, rows, 0, n_orders), bins


def _with_room(shape, codes=None):
    room = np.zeros(shape[0] * shape[1] + SPARE, np.uint32)
    whole = room[: shape[0] * shape[1]].reshape(shape)
    if codes is not None:
        whole[:] = codes
    return whole


def _codes_of(table):
    codes = _with_room((table.n_rows, table.n_features))
    for first, cells in table.numbers():
        values, n_together = values_of(cells), max(1, _CELLS_AT_ONCE // cells.n_columns)
        for start in range(0, cells.n_rows, n_together):
            part = values[start : start + n_together]
            with np.errstate(over="ignore"):
                # The sum makes a negative zero the other one.
                narrow = part.astype(np.float32) + np.float32(0)
            missing = np.isnan(part)
            if part.dtype != np.float32 and not ((narrow == part) | missing).all():
                return None
            bits = narrow.view(np.uint32)
            keys = np.where(bits >> np.uint32(31), ~bits, bits | _FORM.sign)
            keys[missing] = _MISSING
            codes[start : start + n_together, first : first + cells.n_columns] = keys
    return codes
