"""Fast MARS: which parents a step of the forward pass looks at (Friedman 1993)."""

from __future__ import annotations

import math

_EVERY = 1 << 30
_LEAST = 3


class Parents:
    """Parents by what they gained when they were last looked at, further behind for every slot filled since.

    Place k of the queue is slot k. A term without a partner takes one place and two slots, as in R's earth, so that
    after it the newest terms wait for their turn until others are added.
    """

    def __init__(self, total: float, most: int, ageing: float) -> None:
        self._most, self._ageing = max(_LEAST, most) if most > 0 else _EVERY, ageing
        self._gains, self._when = [total], [1]
        self._sort(1)

    def add(self, n_terms: int, slot: int) -> None:
        """Add the terms of a step, the first of which fills a slot."""
        self._gains += [math.inf] * n_terms
        self._when += [slot] * n_terms
        self._sort(slot)

    def looked_at(self, place: int, gain: float, slot: int) -> None:
        """Note what a parent gained at most."""
        self._gains[place], self._when[place] = gain, slot

    def next(self) -> list[int]:
        """Return the slots of the parents to look at, in their order."""
        return self._ranked[: self._most]

    def _sort(self, slot: int) -> None:
        ranked = sorted(range(len(self._gains)), key=lambda k: (-self._gains[k], k))
        if self._ageing > 0:
            aged = {k: rank + self._ageing * (slot - self._when[k]) for rank, k in enumerate(ranked)}
            ranked.sort(key=lambda k: (aged[k], -self._gains[k], k))
        self._ranked = ranked
