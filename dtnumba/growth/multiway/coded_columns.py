"""A table as multiway growth reads it: codes a row, and of numbers the order of the rows, too, where that is kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.multiway.columns import NOT_ORDERED
from dtnumba.runtime.progress import launch_beside_heeding
from dtnumba.runtime.threads.hands import Hands
from dtnumba.tables.binned_table import histogram_of
from dtnumba.tables.bins import Bins, add_levels, dtype_of, ordered, rank_codes
from dtnumba.tables.presort import (
    PARALLEL_CELLS,
    RANK_BITS,
    STEPS_A_VALUE,
    RankInOrder,
    bits_of,
    columns_of,
    is_small,
    sort_scratch,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.binned_table import Features


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """Codes of columns, a row a column, and keys of columns in order: ``code << 32 | place of the row``, ascending."""

    codes: NDArray[Any]  # (q, n_table_rows)
    code_at: NDArray[np.int64]  # (p,): row of codes; NOT_ORDERED where a column has none
    orders: NDArray[np.uint64]  # (s, n); the place of a row is where it stands among the rows kept
    order_at: NDArray[np.int64]  # (p,): row of orders; NOT_ORDERED where a column has none
    bins: Any
    nominal: NDArray[np.uint8]
    n_kept: int

    @cached_property
    def may_lack_values(self) -> bool:
        """Tell whether a row may lack a value, which then goes down several branches in parts."""
        n_codes, is_ordered = self.n_codes, self.order_at >= 0
        if is_ordered.any():
            largest = self.orders[self.order_at[is_ordered], self.n_kept - 1] >> RANK_BITS
            if (largest >= n_codes[is_ordered].astype(np.uint64)).any():
                return True
        return any(int(self.codes[k].max(initial=0)) >= n_codes[f] for f, k in enumerate(self.code_at) if k >= 0)

    @property
    def n_codes(self) -> NDArray[np.int64]:
        """Return the number of values of each column, which is the code of a missing one."""
        return np.asarray(self.bins.n_codes, np.int64)


def coded(table: Features, kept: NDArray[np.uint32], max_bins: int | None, workers: int) -> CodedColumns:
    """Return a table as codes of every column: exact ones, or those of a histogram."""
    if max_bins is None:
        codes, bins = rank_codes(table, kept, workers, by_column=True)
    else:
        codes, bins = histogram_of(table, kept, max_bins, workers)
    p, is_wide = table.n_features, int(bins.n_codes.max(initial=0)) >= 1 << 16
    room = codes.base
    if is_wide or codes.dtype != np.uint32 or room is None or not codes.flags.f_contiguous:
        columns = np.ascontiguousarray(codes.T, dtype=np.uint32 if is_wide else np.uint16)
    else:
        del codes
        columns = _narrowed_in_place(room, p)
    none = np.full(p, NOT_ORDERED)
    return CodedColumns(columns, np.arange(p), _NO_ORDERS, none, bins, _nominal(table), 0)


def _narrowed_in_place(room: NDArray[np.uint32], p: int) -> NDArray[np.uint16]:
    """Return the codes of p columns, one behind the other, in 16 bits; the array must be nobody else's."""
    n, narrow = len(room) // p, room.view(np.uint16)
    for f in range(p):
        narrow[f * n : (f + 1) * n] = room[f * n : (f + 1) * n]
    del narrow
    room.resize(-(-len(room) // 2), refcheck=False)
    return room.view(np.uint16)[: n * p].reshape(p, n)


def in_order(table: Any, kept: NDArray[np.uint32], workers: int, *, in_parts: bool) -> CodedColumns:
    """Return a table as exact codes: those of numbers of many values as the order of their rows, others a row.

    ``in_parts``: rows may go down several branches, so that orders become longer, and have room for that.
    """
    is_number, n = ordered(table), len(kept)
    orders, bins = _orders(table, kept, workers, room_of(n, in_parts))
    stays = is_number & (bins.n_codes * _ROWS_A_CODE > n) & (not is_small(table, kept))
    code_at, order_at = np.full(table.n_features, NOT_ORDERED), np.full(table.n_features, NOT_ORDERED)
    code_at[~stays], order_at[stays] = np.arange((~stays).sum()), np.arange(stays.sum())
    width = np.uint32 if int(bins.n_codes[~stays].max(initial=0)) >= 1 << 16 else np.uint16
    codes = np.zeros(((~stays).sum(), table.n_rows), width)
    place = np.cumsum(is_number) - 1

    def write(k: int, _: int) -> None:
        f = by_row[k]
        if is_number[f]:
            keys = orders[place[f], :n]
            codes[k, kept[keys.astype(np.uint32)]] = keys >> RANK_BITS  # the lower half of a key is the place
        else:
            x = table.column(f)
            codes[k] = np.where(np.isnan(x), table.n_levels(f), x)

    by_row = np.flatnonzero(~stays)
    with Hands(workers if n * len(by_row) >= PARALLEL_CELLS else 1) as hands:
        hands.each(write, len(by_row))
    orders = _only(orders, place[stays], n)
    return CodedColumns(codes, code_at, orders, order_at, bins, _nominal(table), n)


# Of a column of fewer values a table of sums is filled in large nodes, and few keys are sorted in small ones. The same
# goes for a small table, for which kernels that keep an order would have to be compiled.
_ROWS_A_CODE = 64
_NO_ORDERS = np.empty((0, 0), np.uint64)


def _only(orders: NDArray[np.uint64], stays: NDArray[np.int64], n: int) -> NDArray[np.uint64]:
    """Return the orders that stay, in place where most do: a copy would touch the room that is not used, too."""
    shape = len(stays), orders.shape[1]
    own = orders[: len(stays)] if 2 * len(stays) >= len(orders) else np.empty(shape, np.uint64)
    for k, at in enumerate(stays):
        own[k, :n] = orders[at, :n]
    return own


def _nominal(table: Any) -> NDArray[np.uint8]:
    nominal = getattr(table, "nominal", None)
    return np.zeros(table.n_features, np.uint8) if nominal is None else np.asarray(nominal).astype(np.uint8)


def room_of(n: int, in_parts: bool) -> int:
    """Return for how many keys an order of n rows has room; what is not used takes no memory."""
    return n + n // 2 if in_parts else n


def _orders(table: Any, kept: NDArray[np.uint32], workers: int, room: int) -> tuple[NDArray[np.uint64], Bins]:
    """Return the keys of the columns with an order, one after the other, and the values of all."""
    numbers, n = np.flatnonzero(ordered(table)), len(kept)
    orders, own_codes = np.empty((len(numbers), room), np.uint64), np.zeros(len(numbers), np.int64)
    distinct, done = np.empty(len(numbers) * n, dtype_of(table)), 0
    if is_small(table, kept):
        for k, column in enumerate(columns_of(table.cells, kept)[numbers]):
            values, ranks = np.unique(column, return_inverse=True)
            orders[k, :n] = np.sort((ranks.astype(np.uint64) << RANK_BITS) | np.arange(n, dtype=np.uint64))
            own_codes[k] = len(values) - np.isnan(values).sum()
            distinct[k * n : k * n + own_codes[k]] = values[: own_codes[k]] + values.dtype.type(0)  # no negative zero
    else:
        for _, cells in table.numbers():
            bits, form = bits_of(cells)
            threads = workers if n * cells.n_columns >= PARALLEL_CELLS else 1
            scratch, counter = sort_scratch(bits.flat, n, threads), np.zeros(1, np.int64)
            out = distinct.view(bits.flat.dtype)
            task = RankInOrder(bits, form, scratch, kept, orders, done, out, own_codes, counter)
            launch_beside_heeding(task, threads, STEPS_A_VALUE * n * cells.n_columns)
            done += cells.n_columns
    n_codes = np.zeros(table.n_features, np.int64)
    n_codes[numbers] = own_codes
    first_code = np.concatenate([[0], np.cumsum(n_codes)])
    for k, f in enumerate(numbers):  # in place: the values of so many rows would not fit twice
        distinct[first_code[f] : first_code[f + 1]] = distinct[k * n : k * n + n_codes[f]]
    values = distinct[: first_code[-1]]
    bins = Bins(n_codes, first_code, values, values, np.ones(table.n_features, bool))
    return orders, add_levels(bins, table.levels, table.nominal)
