"""The terms that a function of few variables may be made of, and the cheapest of them that make it (Quine 1952)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


_MOST_WORK = 1_000_000  # looks at a column by the search for the cheapest cover: about a second; then the best serves
_NEVER = 1 << 60


def prime_implicants(allowed: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Return the prime implicants, a row each: 0 and 1 for a variable's sign, 2 where it is left out.

    One array of three places a variable, the third for "left out", which is allowed where the other two are.
    """
    for axis in range(allowed.ndim):
        both = allowed.take([0], axis) & allowed.take([1], axis)
        allowed = np.concatenate([allowed, both], axis)
    prime = allowed.copy()
    for axis in range(allowed.ndim):
        signed = [slice(None)] * allowed.ndim
        signed[axis] = slice(0, 2)
        prime[tuple(signed)] &= ~allowed.take([2], axis)
    # Fewest tests first, then in order
    found = np.argwhere(prime).astype(np.int8)
    return found[np.argsort((found != 2).sum(axis=1), kind="stable")]


def cheapest_cover(covers: NDArray[np.bool_], cost: NDArray[np.int64]) -> list[int]:
    """Return the rows of least cost of which one at least covers each column, or of those that could be tried."""
    return _Search(covers, cost).cheapest()


class _Search:
    """Branch and bound over which rows to take; rows and columns are sets of bits."""

    def __init__(self, covers: NDArray[np.bool_], cost: NDArray[np.int64]) -> None:
        self._rows = [_bits_of(row) for row in covers]
        self._columns = [_bits_of(column) for column in covers.T]
        self._cost: list[int] = cost.tolist()
        self._work = 0
        self._best: list[int] = []

    def cheapest(self) -> list[int]:
        """Return the rows of least cost that cover all columns."""
        columns = list(range(len(self._columns)))
        self._best = self._greedy((1 << len(columns)) - 1)
        self._look(columns, [], (1 << len(self._rows)) - 1)
        return self._best

    def _spent(self, chosen: list[int]) -> int:
        return sum(self._cost[p] for p in chosen)

    def _look(self, left: list[int], chosen: list[int], usable: int) -> None:
        """Try what rows can be added to those chosen to cover the columns left."""
        spent, least = self._spent(chosen), self._spent(self._best)
        if not left:
            self._best = chosen if spent < least else self._best
            return
        if self._work > _MOST_WORK or spent + self._least(left, usable) >= least:
            return
        for p in _members(self._columns[self._rarest(left, usable)] & usable):
            row = self._rows[p]
            self._look([k for k in left if not row >> k & 1], [*chosen, p], usable)
            usable &= ~(1 << p)

    def _greedy(self, left: int) -> list[int]:
        rows, chosen = self._rows, []
        while left:
            p = max(range(len(rows)), key=lambda one: ((rows[one] & left).bit_count(), -self._cost[one], -one))
            chosen.append(p)
            left &= ~rows[p]
        kept = list(chosen)
        for p in chosen:
            others = 0
            for other in kept:
                others |= rows[other] if other != p else 0
            if rows[p] & ~others == 0:
                kept.remove(p)
        return kept

    def _rarest(self, left: list[int], usable: int) -> int:
        """Return the column that the fewest rows cover."""
        self._work += len(left)
        return min(left, key=lambda k: (self._columns[k] & usable).bit_count())

    def _least(self, left: list[int], usable: int) -> int:
        """Return what covering columns costs at least: those of which no row covers two need a row each."""
        total = 0
        while left:
            mine = _members(self._columns[self._rarest(left, usable)] & usable)
            if not mine:
                return _NEVER
            total += min(self._cost[p] for p in mine)
            together = 0
            for p in mine:
                together |= self._rows[p]
            left = [k for k in left if not together >> k & 1]
        return total


def _bits_of(flags: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def _members(bits: int) -> list[int]:
    """Return the places of set bits, ascending."""
    found = []
    while bits:
        found.append((bits & -bits).bit_length() - 1)
        bits &= bits - 1
    return found
