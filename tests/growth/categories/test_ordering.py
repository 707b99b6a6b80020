"""The order in which levels are cut: sorted whatever the keys."""

import numpy as np
import pytest

from dtnumba.growth.categories.ordering import order_levels

KEYS = {
    "spread": lambda draw, m: draw.random(m),
    "few": lambda draw, m: draw.integers(0, 3, m),
    "rounded": lambda draw, m: draw.random(m).round(1),
    "crowded": lambda draw, m: np.exp(40 * draw.normal(size=m)),
    "tiny": lambda draw, m: draw.random(m) * 1e-320,
    "huge": lambda draw, m: np.where(draw.random(m) < 0.5, 1e308, -1e308) * draw.random(m),
}


@pytest.mark.small
@pytest.mark.parametrize("kind", KEYS)
def test_places_are_sorted_by_key_and_among_equals_by_number(kind):
    draw = np.random.default_rng(0)
    for m in (1, 2, 5, 24, 25, 60, 300):
        keys, order = np.asarray(KEYS[kind](draw, m), float), np.empty(m, np.int64)
        order_levels(order, np.empty(m, np.int64), keys, np.empty(m, np.int64), m)
        assert order.tolist() == np.argsort(keys, kind="stable").tolist()
