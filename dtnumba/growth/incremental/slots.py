"""The rows that a model holds, each in a slot of its own: their values, outcomes and weights, as growth reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.targets.choose import target_of
from dtnumba.tables.labels import Labels, Values, row_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.weights import Weights

_LEAST_SLOTS = 64
_FEW = 8  # so many rows are looked for one by one
_MIXING = np.uint64(0x9E3779B97F4A7C15)
_BY_ROW = ("label", "labels", "weights", "moments", "y")  # what targets hold of each row


class Slots:
    """Rows in slots; slots of rows that went are taken again.

    Parameters
    ----------
    n_features, n_outputs : int
        Columns of the table and of the outcome.
    dtype : dtype
        Of the values: float32 or float64.
    outcome_dtype : dtype
        int64 of codes, float64 of numbers.

    """

    def __init__(self, n_features: int, n_outputs: int, dtype: Any, outcome_dtype: Any) -> None:
        self.values = np.empty((n_features, 0), dtype).T
        self.outcome = np.empty((0, n_outputs), outcome_dtype)
        self.weight = np.empty(0)
        self.ids = np.empty(0, np.int64)
        self.key = np.empty(0, np.uint64)  # one number of what a row holds: equal rows have equal ones
        self.is_held = np.empty(0, bool)
        self.n_with_missing = 0  # rows held that lack a value
        self._free, self._n_free = np.empty(0, np.int64), 0
        self._dropped: list[NDArray[np.int64]] = []
        self.n_rows = 0

    def __len__(self) -> int:
        """Return how many slots there are."""
        return len(self.ids)

    @property
    def n_bytes(self) -> int:
        """How much memory the rows take, and the slots that are free."""
        arrays = self.values, self.outcome, self.weight, self.ids, self.key, self.is_held, self._free
        return sum(array.nbytes for array in arrays)

    @property
    def held(self) -> NDArray[np.int64]:
        """The slots of the rows held, ascending."""
        return np.flatnonzero(self.is_held)

    @property
    def counted(self) -> NDArray[np.int64]:
        """The slots of the rows held that have a weight, ascending."""
        return np.flatnonzero(self.is_held & (self.weight > 0.0))

    def put(
        self, values: NDArray[Any], outcome: NDArray[Any], weight: NDArray[np.float64] | None, ids: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Take rows in; return their slots."""
        n = len(ids)
        if n > self._n_free:
            self._grow(len(self) + n - self._n_free)
        self._n_free -= n
        slots = self._free[self._n_free : self._n_free + n][::-1].copy()
        self.values[slots], self.outcome[slots], self.ids[slots] = values, outcome, ids
        self.weight[slots] = 1.0 if weight is None else weight
        self.key[slots] = _keys(values, outcome)
        self.is_held[slots] = True
        self.n_rows += n
        self.n_with_missing += _n_with_missing(values)
        return slots

    def drop(self, slots: NDArray[np.int64]) -> None:
        """Hold some rows no longer; they stand there until ``release``, as what follows them reads them."""
        self.is_held[slots] = False
        self._dropped.append(slots)
        self.n_rows -= len(slots)
        self.n_with_missing -= _n_with_missing(self.values[slots])

    def hold(self, is_held: NDArray[np.bool_]) -> None:
        """Hold the rows that were held at some time since the last ``release``, and no others."""
        self.is_held[:] = False
        self.is_held[: len(is_held)] = is_held
        self._dropped.clear()
        free = np.flatnonzero(~self.is_held)[::-1]
        self._free = np.empty(len(self), np.int64)
        self._free[: len(free)], self._n_free = free, len(free)
        self.n_rows = int(np.count_nonzero(self.is_held))
        self.n_with_missing = _n_with_missing(self.values[self.is_held])

    def release(self) -> None:
        """Let rows that come take the slots of those dropped."""
        for slots in self._dropped:
            self._free[self._n_free : self._n_free + len(slots)] = slots
            self._n_free += len(slots)
        self._dropped.clear()

    def find(self, values: NDArray[Any], outcome: NDArray[Any]) -> NDArray[np.int64]:
        """Return the slots of rows by what they hold, each another one, the oldest first; an error of one not held."""
        keys, found = _keys(values, outcome), np.empty(len(values), np.int64)
        n_taken: dict[int, int] = {}  # of rows alike, by the oldest one
        if len(keys) <= _FEW:
            among = np.unique(np.concatenate([np.flatnonzero((self.key == key) & self.is_held) for key in keys]))
        else:
            held = self.held
            among = held[np.isin(self.key[held], keys)]
        among = among[np.lexsort((self.ids[among], self.key[among]))]
        first, last = (np.searchsorted(self.key[among], keys, side=side) for side in ("left", "right"))
        for i in range(len(keys)):
            alike = among[first[i] : last[i]]
            alike = alike[self._are(alike, values[i], outcome[i])]
            oldest = int(alike[0]) if len(alike) else -1
            k = n_taken.get(oldest, 0)
            if k >= len(alike):
                what = f"is held {k} times, and asked for once more" if k else "was never given, or has gone"
                raise ValueError(
                    f"forget: row {i} of X with its y {what}; pass rows as partial_fit had them, or use forget_ids"
                )
            n_taken[oldest] = k + 1
            found[i] = alike[k]
        return found

    def _are(self, slots: NDArray[np.int64], values: NDArray[Any], outcome: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell which slots hold just this; a missing value is one, and zero has no sign."""
        own = self.values[slots]
        is_same: NDArray[np.bool_] = ((own == values) | (np.isnan(own) & np.isnan(values))).all(axis=1)
        is_same &= (self.outcome[slots] == outcome).all(axis=1)
        return is_same

    def _grow(self, least: int) -> None:
        n = max(_LEAST_SLOTS, least + least // 2)
        before = len(self)
        for name in ("outcome", "weight", "ids", "key", "is_held"):
            old = getattr(self, name)
            new = np.zeros((n, *old.shape[1:]), old.dtype)
            new[:before] = old
            setattr(self, name, new)
        values = np.zeros((self.values.shape[1], n), self.values.dtype).T
        values[:before] = self.values
        self.values = values
        free = np.empty(n, np.int64)
        free[: n - before] = np.arange(before, n)[::-1]
        free[n - before : n - before + self._n_free] = self._free[: self._n_free]
        self._free, self._n_free = free, self._n_free + n - before


def _n_with_missing(values: NDArray[Any]) -> int:
    return int(np.count_nonzero(np.isnan(values).any(axis=1)))


def _keys(values: NDArray[Any], outcome: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a number for each row, the same where rows are: every missing value is one, and zero has no sign."""
    key = np.zeros(len(values), np.uint64)
    odd = np.arange(1, 2 * (values.shape[1] + outcome.shape[1]), 2, dtype=np.uint64) * _MIXING
    for block in row_blocks(len(values)):
        plain = np.concatenate([values[block], outcome[block]], axis=1, dtype=np.float64) + 0.0
        plain[np.isnan(plain)] = np.nan
        bits = plain.view(np.uint64) * odd
        bits ^= bits >> np.uint64(29)
        bits *= _MIXING
        key[block] = np.bitwise_xor.reduce(bits ^ (bits >> np.uint64(32)), axis=1)
    return key


@dataclass(frozen=True)
class UnitsOfSums:
    """In what a batch fit of the rows held would add them up; while it stays the same, sums can be changed."""

    kind: Any  # type of the target
    sizes: tuple[int, ...]
    unit: float
    units: tuple[float, ...] = ()
    centres: tuple[float, ...] = ()
    n_limbs: int = 1


def measured(outcome: Labels | Values, weights: Weights, criterion: Any) -> tuple[UnitsOfSums, Any]:
    """Return the UnitsOfSums of the rows held, and the target of a batch fit of them."""
    target = target_of(outcome, weights, criterion)
    extra: dict[str, Any] = {}
    if isinstance(outcome, Values):
        extra = {"units": tuple(target.units.tolist())}
        if hasattr(target, "offsets"):
            extra |= {"centres": tuple(target.offsets.tolist()), "n_limbs": int(target.n_limbs)}
    return UnitsOfSums(type(target), tuple(outcome.sizes), float(target.unit), **extra), target


def spread_out(target: Any, slots: Slots) -> Any:
    """Return a target of the rows held as one of all slots."""
    held, n, changed = slots.held, len(slots), {}
    for name in _BY_ROW:
        rows = getattr(target, name, None)
        if rows is not None and len(rows) == len(held):
            out = np.zeros((n, *rows.shape[1:]), rows.dtype)
            out[held] = rows
            changed[name] = out
    return target._replace(**changed)


def update(own: Any, target: Any, slots: Slots, came: NDArray[np.int64]) -> None:
    """Write what a target of the rows held says of rows that came to one of all slots."""
    held = slots.held
    at = np.searchsorted(held, came)
    for name in _BY_ROW:
        rows, there = getattr(target, name, None), getattr(own, name, None)
        if rows is not None and there is not None and len(rows) == len(held) and len(there) == len(slots):
            there[came] = rows[at]
