"""Limits of the growth of one tree, as kernels read them, from the settings that the caller gave."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dtnumba.growth.nodes import Limits
from dtnumba.growth.policies.monotonic import AnyShape, Monotonic
from dtnumba.growth.policies.significance_test import NoTest, Significance
from dtnumba.runtime import rng

if TYPE_CHECKING:
    from dtnumba.growth.settings import Settings


def limits_of(settings: Settings, total_weight: float) -> Limits:
    """Return the Limits of one tree whose rows have this weight."""
    return Limits(
        settings.max_depth,
        settings.min_samples_split,
        settings.min_samples_leaf,
        settings.min_weight_leaf,
        settings.min_decrease,
        total_weight,
        settings.max_leaves,
        settings.n_drawn,
        rng.stream(settings.seed, rng.FEATURES),
        rng.stream(settings.seed, rng.CUTS),
        NoTest() if settings.min_significance is None else Significance(math.log(settings.min_significance)),
        AnyShape() if settings.signs is None else Monotonic(settings.signs, -np.inf, np.inf),
    )
