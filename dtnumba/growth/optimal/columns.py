"""Features as ordered columns of small numbers, of which "at most c" is a test: the only tests the searches know.

A number is the rank of its value. A category is a column of 0 and 1 for each division of its levels in two, or for each
level against the others where it has many. A feature that lacks values is there twice: with the rows that lack it below
all others, and above them, so that a test may send them to either side, or apart from all that have a value.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

MOST_LEVELS_IN_SUBSETS = 8


@dataclass(frozen=True)
class OrderedColumn:
    """One ordered column, and what its tests are in terms of its feature."""

    feature: int
    codes: NDArray[Any]  # of each row: int32, or uint8
    values: NDArray[np.float64]  # of numbers: the values, ascending, end to end over codes
    last: NDArray[np.int64]  # of numbers: for each code, the place of its last value; -1 if it holds none
    levels: tuple[int, ...] = ()  # of a category: the levels that code 0 stands for
    n_levels: int = 0  # 0: numbers
    missing: int = -1  # the code of rows that lack the feature, -1 if none does
    level: Any = None  # of a category: the level of each row, -1 where it is missing

    @cached_property
    def last_code(self) -> int:
        """How many tests there are: the largest code."""
        return int(self.codes.max())


def columns_of(
    table: Any,
    kept: NDArray[np.int64],
    most: int | None,
    is_over: Callable[[], bool] = lambda: False,
    *,
    by_price: bool = False,
) -> list[OrderedColumn]:
    """Return the columns of a table's rows, those of them until ``is_over``.

    Parameters
    ----------
    table : Table
        The table.
    kept : array
        Which rows.
    most : int or None
        Limits the cuts of a number; None: all.
    is_over : function
        Tells whether to stop at once.
    by_price : bool
        Whether tests of columns that have other numbers of cuts or levels cost differently, so that of columns that
        part rows alike each is kept.

    """
    if table.cells is not None and table.nominal is None:
        all_of_two = _of_two_values(table.whole if len(kept) == table.n_rows else table.whole[kept], is_over)
        if all_of_two is not None:
            return all_of_two
    found: list[OrderedColumn] = []
    for j in range(table.n_features):
        if is_over():
            return found
        values = table.column(j)[kept]
        if table.nominal is not None and table.nominal[j]:
            found += _of_category(j, values, table.n_levels(j))
        else:
            found += _of_number(j, values, most)
    return _distinct(found, is_over, by_price=by_price)


def _of_two_values(X: NDArray[Any], is_over: Callable[[], bool]) -> list[OrderedColumn] | None:
    """Return the columns of a table that has two values in each, or None; those that part rows alike, once.

    Those of them until ``is_over``.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    is_high = high == X
    if not (is_high | (low == X)).all():
        return None
    if is_over():
        return []
    codes = np.ascontiguousarray(is_high.T).view(np.uint8)
    packed = np.packbits(codes ^ codes[:, :1], axis=1)
    first: dict[bytes, int] = {}
    for j in np.flatnonzero(low < high).tolist():
        if is_over():
            return []
        first.setdefault(packed[j].tobytes(), j)
    ends, both = np.stack([low, high], axis=1).astype(np.float64), np.arange(2)
    return [OrderedColumn(j, codes[j], ends[j], both) for j in takewhile(lambda _: not is_over(), first.values())]


def ranked_values(table: Any, kept: NDArray[np.int64], most: int) -> NDArray[np.float64]:
    """Return a table in which each number says between which of so many cuts it is; of rows that are kept."""
    found = np.empty((table.n_rows, table.n_features))
    for j in range(table.n_features):
        values = found[:, j] = table.column(j)
        if table.nominal is None or not table.nominal[j]:
            own = values[kept]
            own[~np.isnan(own)] = _of_number(j, own, most)[0].codes[~np.isnan(own)]
            found[kept, j] = own
    return found


def _of_number(j: int, values: NDArray[np.float64], most: int | None) -> list[OrderedColumn]:
    lacks = np.isnan(values)
    distinct, rank = _ranks(values[~lacks])
    last = np.arange(len(distinct))
    if most is not None and len(distinct) - 1 > most:
        # Cuts after equal shares of the rows; a value that holds several shares takes up one.
        seen = np.cumsum(np.bincount(rank))
        wanted = len(rank) * np.arange(1, most + 1) / (most + 1)
        last = np.unique(np.append(np.minimum(np.searchsorted(seen, wanted), len(distinct) - 2), len(distinct) - 1))
        rank = np.searchsorted(last, rank)
    if not lacks.any():
        return [OrderedColumn(j, rank.astype(np.int32), distinct, last)]
    # Above: a code of their own, so that they part from all values. Below: beside the least value.
    above, below = np.full(len(values), len(last), np.int32), np.zeros(len(values), np.int32)
    above[~lacks] = below[~lacks] = rank
    last_above = np.append(last, -1)
    return [
        OrderedColumn(j, above, distinct, last_above, missing=len(last)),
        OrderedColumn(j, below, distinct, last, missing=0),
    ]


def _ranks(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the different values, ascending, and which of them each one is."""
    if len(values):
        low, high = values.min(), values.max()
        is_high = values == high
        if low < high and (is_high | (values == low)).all():
            return np.array([low, high]), is_high.astype(np.int64)
    return np.unique(values, return_inverse=True)


def _of_category(j: int, values: NDArray[np.float64], n_levels: int) -> list[OrderedColumn]:
    lacks = np.isnan(values)
    present = np.unique(values[~lacks]).astype(np.int64)
    groups: list[tuple[int, ...]]
    if len(present) <= MOST_LEVELS_IN_SUBSETS:
        # Each division once: the first level is always in the group.
        first, others = present[:1].tolist(), present[1:].tolist()
        sizes = range(len(others))
        groups = [(*first, *rest) for size in sizes for rest in combinations(others, size)] if len(present) > 1 else []
    else:
        groups = [(int(level),) for level in present]
    if lacks.any():
        groups.append(tuple(present.tolist()))
    found = []
    level = np.where(lacks, -1, values).astype(np.int64)
    for group in groups:
        inside = np.isin(level, group)
        empty = np.zeros(0), np.zeros(0, np.int64)
        sides = (0, 1) if lacks.any() and len(group) < len(present) else (1,)
        for side in sides:
            codes = np.where(inside, 0, 1)
            codes[lacks] = side
            missing = side if lacks.any() else -1
            found.append(OrderedColumn(j, codes.astype(np.int32), *empty, group, n_levels, missing, level))
    return found


def _distinct(columns: list[OrderedColumn], is_over: Callable[[], bool], *, by_price: bool) -> list[OrderedColumn]:
    """Leave out columns that part nothing, and of those of 0 and 1 the ones that part as an earlier one does."""
    seen: set[tuple[bytes, int]] = set()
    kept = list[OrderedColumn]()
    offered: dict[int, int] = {}
    if by_price:
        for column in columns:
            cuts = -len(np.unique(column.level)) if column.n_levels else column.last_code
            offered[column.feature] = max(offered.get(column.feature, cuts), cuts)
    for column in columns:
        if is_over():
            return kept
        codes = column.codes
        if len(codes) == 0 or codes.min() == codes.max():
            continue
        if codes.max() == 1:
            name = np.packbits(codes != codes[0]).tobytes(), offered.get(column.feature, 0)
            if name in seen:
                continue
            seen.add(name)
        kept.append(column)
    return kept


def rows_alike(keys: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return of each kind of rows the first one, and of each row its kind; uint8 says that all are 0 or 1."""
    if keys.dtype == np.uint8:
        packed = np.packbits(keys, axis=1)
        words = np.zeros((len(keys), max(-(-packed.shape[1] // 8), 1) * 8), np.uint8)
        words[:, : packed.shape[1]] = packed
        keys = words.view(">u8").astype(np.uint64)  # in the order of the rows that they stand for
    keys = np.ascontiguousarray(keys)
    names = keys.ravel() if keys.shape[1] == 1 else keys.view([("", keys.dtype)] * keys.shape[1]).ravel()
    _, first, kind = np.unique(names, return_index=True, return_inverse=True)
    return first, kind.ravel()


def has_many_levels(column: OrderedColumn) -> bool:
    """Tell whether a column is of a category whose levels are not divided in all ways."""
    return column.n_levels > MOST_LEVELS_IN_SUBSETS and len(column.levels) == 1


def is_binary(columns: list[OrderedColumn]) -> bool:
    """Tell whether all columns are 0 and 1."""
    return all(column.last_code == 1 for column in columns)


def n_cuts(columns: list[OrderedColumn]) -> int:
    """Return how many tests there are."""
    return sum(column.last_code for column in columns)
