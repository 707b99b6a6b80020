"""Targets as integers say what the targets are, to the last bit where they take several."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnumba.growth.targets.fixed_point import sums_of_numbers
from dtnumba.tables.weights import fixed_weights

WEIGHTS = {"none": lambda draw, n: None, "whole": lambda draw, n: draw.integers(1, 5, n) * 1.0}


def exactly(found, row, first):
    """Return the number that the integers of a row say."""
    columns = range(first, first + found.n_limbs)
    return sum(Fraction(int(found.moments[row, k])) * Fraction(float(found.units[k])) for k in columns)


@settings(max_examples=40)
@given(st.integers(0, 1000), st.sampled_from(list(WEIGHTS)), st.floats(5.0, 40.0))
def test_several_integers_say_a_target_to_its_last_bit(seed, weights, reach):
    draw = np.random.default_rng(seed)
    y, given_weight = np.exp(reach * draw.normal(size=(30, 1))), WEIGHTS[weights](draw, 30)
    found = sums_of_numbers(y, fixed_weights(given_weight, 30), 1, centred=True)
    if found.n_limbs == 1:
        return
    weight = np.ones(30) if given_weight is None else given_weight
    largest = y.max()
    for row in range(30):
        wanted = Fraction(float(y[row, 0])) * int(weight[row])
        gap = abs(exactly(found, row, 0) + Fraction(float(found.centres[0])) * int(weight[row]) - wanted)
        assert gap <= Fraction(float(largest)) * Fraction(1, 2**395)
    total = np.abs(found.moments.astype(object)).sum(axis=0)
    assert max(total) < 2**61


def test_squares_are_told_apart_too():
    y = np.geomspace(1e-9, 1e9, 100)[:, None]
    found = sums_of_numbers(y, fixed_weights(None, 100), 2, centred=False)
    assert found.n_limbs > 1
    for row in (0, 50, 99):
        assert float(exactly(found, row, 0)) == y[row, 0]
        assert float(exactly(found, row, found.n_limbs)) == pytest.approx(y[row, 0] ** 2, rel=1e-15)


def test_whether_one_integer_serves_depends_on_no_order():
    draw = np.random.default_rng(0)
    for reach in (1.0, 3.0, 5.0, 7.0):
        y = np.exp(reach * draw.normal(size=(20_000, 1)))
        kinds = {sums_of_numbers(part, fixed_weights(None, len(y)), 1, centred=True).n_limbs for part in (y, y[::-1])}
        assert len(kinds) == 1
    assert kinds != {1}


def test_targets_near_zero_are_measured_from_zero_and_others_from_their_middle():
    for y, centre in (([1.0, 9.0], 0.0), ([100.0, 101.0], 100.0), ([-7.0, -7.0], -7.0)):
        found = sums_of_numbers(np.array(y)[:, None], fixed_weights(None, 2), 1, centred=True)
        assert found.centres[0] == centre
