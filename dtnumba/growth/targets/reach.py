"""Targets so small or so large that their squares leave float64, grown in another unit: a power of two, so exactly."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.tables.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.settings import Settings
    from dtnumba.trees.layout import Trees

# Powers of two between which the largest target may lie: its square and those of far smaller ones stay in float64.
_LOWEST, _HIGHEST = -100, 300


def in_reach(outcome: Any, kept: NDArray[np.uint32], criterion: Any, settings: Settings) -> tuple[Any, Settings, int]:
    """Return outcome and settings in a unit that growth can work in, and the power of two that this unit is.

    A criterion that does not say how its impurity grows with the targets (``degree``) is given these as they are.
    """
    degree = getattr(type(criterion), "degree", None)
    power = 0 if degree is None else power_of(outcome, kept)
    if degree is None or power == 0:
        return outcome, settings, 0
    with np.errstate(over="ignore"):
        least = float(np.ldexp(settings.min_decrease, -degree * power))
    return in_unit(outcome, power), replace(settings, min_decrease=least), power


def power_of(outcome: Any, kept: NDArray[np.uint32]) -> int:
    """Return the power of two in whose unit the targets are within reach, 0 where they are already."""
    if isinstance(outcome, Labels):
        return 0
    largest = max(float(np.max(outcome.y[kept], initial=0.0)), -float(np.min(outcome.y[kept], initial=0.0)))
    power = int(np.frexp(largest)[1])
    return 0 if largest == 0.0 or _LOWEST <= power <= _HIGHEST else power


def in_unit(outcome: Any, power: int) -> Any:
    """Return the outcome in the unit of this power of two."""
    if power == 0:
        return outcome
    with np.errstate(over="ignore"):
        return replace(outcome, y=np.ldexp(outcome.y, -power))


def restored(trees: Trees, criterion: Any, power: int) -> Trees:
    """Return trees that were grown in this unit with what they say in the caller's."""
    if power == 0:
        return trees
    degree = int(type(criterion).degree)
    with np.errstate(over="ignore"):
        value = np.ldexp(trees.value, power)
        impurity, gain = (np.ldexp(part, degree * power) for part in (trees.impurity, trees.gain))
    return trees._replace(value=value, impurity=impurity, gain=gain)
