"""Whether a batch fit would still add rows up in the same units, from those that came and went alone.

As long as it would, a change of few rows costs nothing that grows with the rows held. What is told here is on the safe
side: where nobody knows, the answer is no, and all rows are looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dtnumba.growth.targets.contract import is_ranked
from dtnumba.growth.targets.fixed_point import ROWS_A_CROWD, UNITS_A_CROWD, integers_in
from dtnumba.tables.labels import Labels, Values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.incremental.slots import Slots


class UnitTally(Protocol):
    """What is known of the rows held, each of weight one."""

    def takes(self, came: NDArray[np.int64], went: NDArray[np.int64]) -> bool:
        """Count rows in and out; return whether the units stay. If not, the tally is of no use any more."""

    def rows(self, came: NDArray[np.int64]) -> dict[str, Any]:
        """Return what a target says of rows that came, by its fields."""


def tally_of(slots: Slots, outcome: Labels | Values, target: Any) -> UnitTally | None:
    """Return the tally of the rows held; None where weights or targets ask for a look at all of them."""
    if slots.n_rows == 0 or not (slots.weight[slots.is_held] == 1.0).all():
        return None
    if isinstance(outcome, Labels):
        return ClassTally(slots, outcome)
    if is_ranked(type(target)) or target.n_limbs > 1:
        return None
    return NumberTally(slots, outcome, target)


class ClassTally:
    """Rows of each class: a class that comes, or goes, changes the numbers of all."""

    def __init__(self, slots: Slots, outcome: Labels) -> None:
        self._slots, self._n_rows = slots, slots.n_rows
        self._dtype = outcome.codes.dtype
        met = slots.outcome[slots.held]
        self._counts = [np.bincount(column) for column in met.T]
        self._place = [np.full(len(counts), -1, np.int64) for counts in self._counts]
        for o, place in enumerate(self._place):
            place[met[:, o]] = outcome.codes[:, o]

    def takes(self, came: NDArray[np.int64], went: NDArray[np.int64]) -> bool:
        """Count rows in and out; return whether the units stay."""
        slots = self._slots
        self._n_rows += len(came) - len(went)
        if self._n_rows != slots.n_rows or not (slots.weight[came] == 1.0).all():
            return False
        for o, counts in enumerate(self._counts):
            others = slots.outcome[came, o]
            if (others >= len(counts)).any() or (counts[others] == 0).any():
                return False
            np.add.at(counts, others, 1)
            gone = slots.outcome[went, o]
            np.subtract.at(counts, gone, 1)
            if (counts[gone] == 0).any():
                return False
        return True

    def rows(self, came: NDArray[np.int64]) -> dict[str, Any]:
        """Return what a target says of rows that came, by its fields."""
        met = self._slots.outcome[came]
        codes = np.stack([place[met[:, o]] for o, place in enumerate(self._place)], axis=1)
        return {"label": codes[:, 0], "labels": codes, "weights": 1}


class NumberTally:
    """Targets of several rows: their number, their extremes, and how close to each other they may lie."""

    def __init__(self, slots: Slots, outcome: Values, target: Any) -> None:
        self._slots, self._n_rows, y = slots, slots.n_rows, outcome.y
        self._low, self._high = y.min(axis=0), y.max(axis=0)
        self._bits = self._n_rows.bit_length()
        self._target = target
        n_moments = target.n_moments
        units = target.units.reshape(-1, n_moments).T
        distance = y - target.offsets
        powers = [distance] if n_moments == 1 else [distance, distance * distance]
        self._most = 0  # different targets within so few units that sums do not tell them apart, at most
        for power, own in zip(powers, units, strict=True):
            for values, unit in zip(power.T, own, strict=True):
                self._most = max(self._most, _closest(values, 1.001 * UNITS_A_CROWD * unit))

    def takes(self, came: NDArray[np.int64], went: NDArray[np.int64]) -> bool:
        """Count rows in and out; return whether the units stay."""
        slots, y, gone = self._slots, self._slots.outcome[came], self._slots.outcome[went]
        self._n_rows += len(came) - len(went)
        if self._n_rows != slots.n_rows or not (slots.weight[came] == 1.0).all():
            return False
        if self._n_rows.bit_length() != self._bits:
            return False
        if (y < self._low).any() or (y > self._high).any() or (gone <= self._low).any() or (gone >= self._high).any():
            return False
        # Even if all rows that came lie where most others do
        self._most += len(came)
        return self._most <= self._n_rows // ROWS_A_CROWD + 8

    def rows(self, came: NDArray[np.int64]) -> dict[str, Any]:
        """Return what a target says of rows that came, by its fields."""
        y, target = self._slots.outcome[came], self._target
        return {"y": y, "moments": integers_in(y - target.offsets, target.units, target.n_moments), "weights": 1}


def _closest(values: NDArray[np.float64], span: float) -> int:
    """Return how many different values lie within a span at most."""
    values = np.unique(values)
    return int((np.searchsorted(values, values + span) - np.arange(len(values))).max())
