"""Rows set aside at random: for a pruner or a stopping rule that must not see what the tree was grown on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtnumba import rng

if TYPE_CHECKING:
    from numpy.typing import NDArray


def held_out_rows(
    n_rows: int, fraction: float, seed: int, weight: NDArray[np.float64] | None = None
) -> NDArray[np.bool_]:
    """Return which rows are set aside: a share of those of positive weight, rounded, drawn from the seed.

    At least one row is set aside, and at least one is not.
    """
    counted = np.arange(n_rows) if weight is None else np.flatnonzero(weight)
    if len(counted) < 2:
        raise ValueError(
            f"prune: setting rows aside needs at least 2 of positive weight, and there are {len(counted)}; pass more"
        )
    n = min(max(round(fraction * len(counted)), 1), len(counted) - 1)
    draws = rng.mix_all(rng.stream(seed, rng.FOLDS), counted)
    is_held = np.zeros(n_rows, bool)
    is_held[counted[np.argsort(draws, kind="stable")[:n]]] = True
    return is_held
